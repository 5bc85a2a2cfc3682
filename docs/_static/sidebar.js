// The theme's sidebar opens its parts by buttons without words, which a screen reader cannot name.
"use strict";

for (const summary of document.querySelectorAll(".bd-sidebar-primary summary")) {
  const link = summary.closest("li")?.querySelector("a");
  if (link) summary.setAttribute("aria-label", `Pages of ${link.textContent.trim()}`);
}
