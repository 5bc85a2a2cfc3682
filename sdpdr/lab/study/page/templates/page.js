"use strict";
(() => {
  // Figures. Their data lies beside them; a finger that scrolls the page must not zoom instead.
  const byFinger = matchMedia("(pointer: coarse)").matches;
  const config = {
    displaylogo: false, responsive: true, showSendToCloud: false, plotlyServerURL: "",
    displayModeBar: byFinger ? false : "hover", toImageButtonOptions: { format: "svg" },
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
  };
  const signs = {
    circle: "●", square: "■", diamond: "◆", cross: "✚", "triangle-up": "▲", x: "✖", star: "★",
    hexagon: "⬢",
  };
  const dashes = { dash: "dashed", dot: "dotted", dashdot: "dashed", longdash: "dashed" };
  const nameOf = trace => trace.legendgroup || trace.name;
  const plain = text => new DOMParser().parseFromString(text, "text/html").body.textContent;

  function swatch(trace) {
    const mark = document.createElement("i");
    if (trace.mode === "lines" && !trace.fill) {
      mark.className = "line";
      mark.style.borderTop = `3px ${dashes[trace.line.dash] || "solid"} ${trace.line.color}`;
    } else {
      mark.textContent = signs[trace.marker?.symbol] || "■";
      mark.style.color = trace.marker?.color || trace.fillcolor;
    }
    return mark;
  }

  function addLegend(plot) {
    const named = plot.data.filter(trace => trace.name && trace.showlegend !== false);
    const list = plot.closest("figure").querySelector(".legend"), hidden = new Set();
    const show = () => {
      for (const button of list.children) button.ariaPressed = !hidden.has(button.value);
      Plotly.restyle(plot, { visible: plot.data.map(trace => !hidden.has(nameOf(trace))) });
    };
    for (const trace of named.length > 1 ? named : []) {
      const button = document.createElement("button");
      Object.assign(button, { type: "button", value: nameOf(trace), ariaPressed: true });
      button.title = "Click to hide or show; twice to show it alone, or all again";
      button.append(swatch(trace), plain(trace.name));
      button.onclick = () => { hidden.delete(button.value) || hidden.add(button.value); show(); };
      button.ondblclick = () => {
        const others = named.map(nameOf).filter(name => name !== button.value);
        const wasAlone = others.every(name => hidden.has(name));
        hidden.clear();
        if (!wasAlone) others.forEach(name => hidden.add(name));
        show();
      };
      list.append(button);
    }
  }

  const plots = [...document.querySelectorAll(".plot")];
  for (const plot of plots) {
    const { data, layout } = JSON.parse(plot.closest("figure").querySelector("script").textContent);
    Plotly.newPlot(plot, data, byFinger ? { ...layout, dragmode: false } : layout, config);
    addLegend(plot);
  }
  const resize = size => () => plots.forEach(plot => Plotly.relayout(plot, size));
  addEventListener("beforeprint", resize({ width: 660 }));
  addEventListener("afterprint", resize({ width: null, autosize: true }));

  // Tables. What is missing stays last, whichever way they are sorted.
  function order(a, b, isNumber, sign) {
    if (a === "" || b === "") return (a === "") - (b === "");
    return sign * (isNumber ? a - b : a.localeCompare(b, undefined, { numeric: true }));
  }
  for (const button of document.querySelectorAll("thead button")) button.onclick = () => {
    const head = button.parentElement, body = head.closest("table").tBodies[0];
    const sign = head.ariaSort === "ascending" ? -1 : 1, isNumber = head.classList.contains("n");
    for (const other of head.parentElement.cells) other.ariaSort = "none";
    head.ariaSort = sign > 0 ? "ascending" : "descending";
    const value = cell => cell.dataset.v ?? cell.textContent;
    const keyed = [...body.rows].map(row => [value(row.cells[head.cellIndex]), row]);
    keyed.sort((a, b) => order(a[0], b[0], isNumber, sign));
    body.append(...keyed.map(pair => pair[1]));
  };
  for (const input of document.querySelectorAll("[data-filters]")) {
    const rows = [...document.getElementById(input.dataset.filters).tBodies[0].rows];
    const texts = rows.map(row => row.textContent.toLowerCase());
    input.oninput = () => {
      const words = input.value.toLowerCase().split(/\s+/);
      rows.forEach((row, k) => { row.hidden = !words.every(word => texts[k].includes(word)); });
      const left = rows.filter(row => !row.hidden).length;
      input.closest(".filter").querySelector("output").value = `${left} of ${rows.length} rows`;
    };
    input.oninput();
  }
})();
