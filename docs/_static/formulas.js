// A formula or picture wider than the page scrolls, and whoever uses the keyboard has to get there.
"use strict";

(() => {
  const reach = ({ target }) => {
    if (target.scrollWidth > target.clientWidth) target.setAttribute("tabindex", "0");
    else target.removeAttribute("tabindex");
  };
  const watch = new ResizeObserver((changes) => changes.forEach(reach));
  const wide = document.querySelectorAll(".math-display, .one-picture");
  for (const part of wide) watch.observe(part);
})();
