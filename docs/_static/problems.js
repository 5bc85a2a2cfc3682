// The problem library can be searched: a form above the tables, which are complete without it.
(() => {
  const all = document.querySelector("section#all-problems");
  if (!all) return;
  const columns = ["card", "title", "points", "order", "rows", "expected", "known", "tags"];
  const problems = [...all.querySelectorAll("section")].flatMap((section) =>
    [...section.querySelectorAll("tbody tr")].map((row) => {
      const cells = [...row.cells].map((cell) => cell.textContent.trim());
      const told = Object.fromEntries(columns.map((name, k) => [name, cells[k] || ""]));
      return {
        row,
        section,
        words: cells.join(" ").toLowerCase(),
        method: section.querySelector("h1, h2, h3, h4").firstElementChild.textContent,
        points: Number(told.points.replaceAll(",", "")),
        known: told.known.split(",")[0],
        tags: told.tags.split(",").map((tag) => tag.trim()).filter(Boolean),
      };
    })
  );

  const form = document.createElement("form");
  form.className = "problem-filter";
  form.setAttribute("role", "search");
  const field = (label, control) => {
    const box = document.createElement("label");
    box.append(label, control);
    form.append(box);
    control.addEventListener("input", show);
    return control;
  };
  const select = (label, options) => {
    const control = document.createElement("select");
    control.append(...[["any", ""], ...options].map(([text, value]) => new Option(text, value)));
    return field(label, control);
  };
  const kinds = (values) => [...new Set(values)].sort().map((value) => [value, value]);

  const text = field("Search", Object.assign(document.createElement("input"), { type: "search" }));
  const method = select("Method", kinds(problems.map((problem) => problem.method)));
  const size = select("Points", [20, 100, 1000].map((n) => [`at most ${n}`, n]));
  const known = select("Known", kinds(problems.map((problem) => problem.known)));
  const tag = select("Tag", kinds(problems.flatMap((problem) => problem.tags)));
  const count = form.appendChild(document.createElement("output"));

  function show() {
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const problem of problems) {
      const fits =
        words.every((word) => problem.words.includes(word)) &&
        (!method.value || problem.method === method.value) &&
        (!size.value || problem.points <= Number(size.value)) &&
        (!known.value || problem.known === known.value) &&
        (!tag.value || problem.tags.includes(tag.value));
      problem.row.hidden = !fits;
      found += fits;
    }
    for (const section of new Set(problems.map((problem) => problem.section))) {
      section.hidden = !section.querySelector("tbody tr:not([hidden])");
    }
    count.textContent = `${found} of ${problems.length} problems`;
  }

  form.addEventListener("reset", () => setTimeout(show));
  form.addEventListener("submit", (event) => event.preventDefault());
  const reset = Object.assign(document.createElement("button"), { type: "reset" });
  reset.textContent = "Show all";
  form.append(reset);
  all.querySelector("h1, h2").after(form);
  show();
})();
