// A formula wider than the page scrolls, and whoever uses the keyboard has to get there.
"use strict";

(() => {
  const reach = ({ target }) => {
    if (target.scrollWidth > target.clientWidth) target.setAttribute("tabindex", "0");
    else target.removeAttribute("tabindex");
  };
  const watch = new ResizeObserver((changes) => changes.forEach(reach));
  for (const formula of document.querySelectorAll(".math-display")) watch.observe(formula);
})();
