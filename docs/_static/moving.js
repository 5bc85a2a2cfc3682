// Figures that move. Each <figure class="moving"> holds a picture, words, a table and its data; this
// script adds sliders and buttons and moves the picture. Without it the page says the same, standing
// still. Nothing is fetched: it works from a folder, without a server.
"use strict";

(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const WIDTH = 640;
  const SECONDS_A_FRAME = 0.7;
  const calm = matchMedia("(prefers-reduced-motion: reduce)");

  // -- elements ------------------------------------------------------------------------------

  const make = (name, attributes = {}, ...children) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  };

  const draw = (name, attributes = {}, words) => {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (words !== undefined) node.textContent = words;
    return node;
  };

  const canvas = (figure, height, after) => {
    const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${height}` });
    if (after) svg.setAttribute("aria-hidden", "true"); // says what the picture before it says
    else {
      svg.setAttribute("role", "img");
      svg.setAttribute("aria-label", figure.querySelector("figcaption").textContent);
    }
    figure.querySelector(".moving-picture").append(svg);
    return svg;
  };

  const digits = (x, n = 6) => {
    if (x === null) return "none yet";
    return Math.abs(x) < 1e-8 ? "0" : Number(x.toPrecision(n)).toString().replace("-", "−");
  };
  // How far a number has come between two others; where these are equal, all the way.
  const part = (x, low, high) => (high > low ? (x - low) / (high - low) : 1);
  const scientific = (x) => x.toExponential(1).replace("-", "−");

  // -- controls ------------------------------------------------------------------------------

  // A slider with its name; `words(value)` is what a screen reader hears of it.
  const slider = (controls, name, { min = 0, max, step = 1, value, words, wrap = false }, moved) => {
    const input = make("input", { type: "range", min, max, step, value });
    controls.append(make("label", {}, make("span", {}, name), input));
    const tell = () => input.setAttribute("aria-valuetext", words(Number(input.value)));
    input.addEventListener("input", () => { tell(); moved(Number(input.value)); });
    tell();
    return {
      input,
      get value() { return Number(input.value); },
      set(value) {
        const span = max - min;
        input.value = wrap ? min + ((((value - min) % span) + span) % span) : value;
        tell();
      },
    };
  };

  // A button that plays and pauses. `step(seconds)` moves on and says whether there is more.
  const player = (controls, status, step, rewind) => {
    const button = make("button", { type: "button" }, "Play");
    controls.prepend(button);
    let playing = false, last = 0;
    const stop = () => {
      playing = false;
      button.textContent = "Play";
      status.setAttribute("aria-live", "polite"); // silent while it plays, and heard at its end
      status.textContent += " ";
    };
    const tick = (now) => {
      if (!playing) return;
      // The time of a frame may lie before that of the press which asked for it.
      const more = step(Math.min(Math.max((now - last) / 1000, 0), 0.1));
      last = now;
      if (more) requestAnimationFrame(tick); else stop();
    };
    const start = () => {
      status.setAttribute("aria-live", "off");
      rewind();
      playing = true;
      button.textContent = "Pause";
      last = performance.now();
      requestAnimationFrame(tick);
    };
    button.addEventListener("click", () => (playing ? stop() : start()));
    return { start, stop: () => playing && stop() };
  };

  // -- films: frames of the same points --------------------------------------------------------

  const film = (figure, data, controls, status) => {
    const { frames } = data;
    const svg = figure.querySelector("svg");
    const [left, top, scale, margin] = svg.dataset.frame.split(",").map(Number);
    const place = ([x, y]) => [margin + (x - left) * scale, margin + (top - y) * scale];
    const dots = [...svg.querySelectorAll("circle")];
    const group = svg.querySelector(".edges");
    let edges = null, lines = [];

    const join = (wanted) => {
      if (wanted === edges) return;
      edges = wanted;
      lines = edges.map(() => draw("line"));
      group.replaceChildren(...lines);
    };

    // Between two frames points are on their way; value and bound are those of the frame left behind.
    const show = (time) => {
      const k = Math.min(Math.floor(time), frames.length - 1);
      const next = frames[Math.min(k + 1, frames.length - 1)], share = time - k;
      const at = frames[k].Y.map(([x, y], i) =>
        place([x + share * (next.Y[i][0] - x), y + share * (next.Y[i][1] - y)]));
      join(frames[k].edges || data.edges);
      dots.forEach((dot, i) => { dot.setAttribute("cx", at[i][0]); dot.setAttribute("cy", at[i][1]); });
      lines.forEach((line, e) => {
        const [i, j] = edges[e];
        line.setAttribute("x1", at[i][0]); line.setAttribute("y1", at[i][1]);
        line.setAttribute("x2", at[j][0]); line.setAttribute("y2", at[j][1]);
      });
      chart(k);
      const { label, value, bound, words } = frames[k];
      status.textContent = `${label}: value ${digits(value)}, proved bound ${digits(bound)}. ${words}`;
    };

    const chart = closing(figure, frames);
    let time = data.start ?? frames.length - 1;
    const chosen = slider(controls, data.slider, {
      max: frames.length - 1, value: time, words: (k) => frames[k].label,
    }, (k) => { play.stop(); time = k; show(k); });

    const play = player(controls, status, (seconds) => {
      time = Math.min(time + seconds / SECONDS_A_FRAME, frames.length - 1);
      const seen = calm.matches ? Math.floor(time) : time;
      chosen.set(Math.floor(time));
      show(seen);
      return time < frames.length - 1;
    }, () => { if (time >= frames.length - 1) time = 0; });
    show(time);
    return play;
  };

  // Value and bound of every frame, closing in on each other; nothing where they always agree.
  const closing = (figure, frames) => {
    const apart = ({ value, bound }) => bound === null || bound - value > 1e-3 * Math.abs(value);
    if (!frames.some(apart)) return () => {};
    const height = 170, [x0, x1, y0, y1] = [20, 470, 16, 150];
    const svg = canvas(figure, height, true);
    const known = frames.flatMap(({ value, bound }) => (bound === null ? [value] : [value, bound]));
    const [low, high] = [Math.min(...known), Math.max(...known)];
    const x = (k) => x0 + (x1 - x0) * part(k, 0, frames.length - 1);
    const y = (v) => y1 - (y1 - y0) * part(v, low, high);
    const path = (name, upTo) => frames.slice(0, upTo + 1)
      .flatMap((frame, k) => (frame[name] === null ? [] : [`${x(k).toFixed(1)} ${y(frame[name]).toFixed(1)}`]))
      .join(" L");
    const parts = {};
    for (const name of ["bound", "value"]) {
      svg.append(draw("path", { class: `${name} faint`, d: `M${path(name, frames.length - 1)}` }));
      parts[name] = draw("path", { class: name });
      parts[`${name} words`] = draw("text", { x: x1 + 12, class: name });
      svg.append(parts[name], parts[`${name} words`]);
    }
    return (k) => {
      const { value, bound } = frames[k];
      for (const name of ["bound", "value"]) {
        const d = path(name, k);
        parts[name].setAttribute("d", d ? `M${d}` : "");
      }
      const close = bound !== null && y(value) - y(bound) < 18;
      parts["bound words"].setAttribute("y", bound === null ? y0 : y(bound) + (close ? -4 : 5));
      parts["value words"].setAttribute("y", y(value) + (close ? 14 : 5));
      parts["bound words"].textContent = bound === null ? "no bound yet" : `bound ${digits(bound)}`;
      parts["value words"].textContent = `value ${digits(value)}`;
    };
  };

  // -- springs: edges coloured by their multipliers ----------------------------------------------

  const springs = (figure, data, controls, status) => {
    const svg = figure.querySelector("svg");
    const lines = [...svg.querySelectorAll("line")];
    const order = data.weights.map((_, e) => e).sort((a, b) => data.weights[b] - data.weights[a]);
    const words = (e) => {
      const [i, j] = data.edges[e], w = data.weights[e];
      const load = lines[e].matches(".spring") ? `multiplier ${digits(w, 4)}` : `multiplier ${scientific(w)}: it holds next to nothing`;
      return `edge ${i} – ${j}, length ${digits(data.lengths[e], 4)}, ${load}`;
    };
    let chosen = null;
    const choose = (e) => {
      if (chosen !== null) lines[chosen].classList.remove("chosen");
      chosen = e;
      lines[e].classList.add("chosen");
      status.textContent = words(e);
    };
    const walk = slider(controls, data.slider, {
      max: order.length - 1, value: 0, words: (k) => words(order[k]),
    }, (k) => choose(order[k]));
    const rank = new Map(order.map((e, k) => [e, k]));

    // The nearest edge to the pointer, so that thin ones are found as easily.
    svg.addEventListener("pointermove", (event) => {
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      const away = lines.map((line) => distance(at, line));
      const e = away.indexOf(Math.min(...away));
      if (e !== chosen) { choose(e); walk.set(rank.get(e)); }
    });
    choose(order[0]);
  };

  const distance = (p, line) => {
    const [x1, y1, x2, y2] = ["x1", "y1", "x2", "y2"].map((name) => line[name].baseVal.value);
    const [dx, dy] = [x2 - x1, y2 - y1], square = dx * dx + dy * dy;
    const t = square ? Math.min(1, Math.max(0, ((p.x - x1) * dx + (p.y - y1) * dy) / square)) : 0;
    return Math.hypot(p.x - x1 - t * dx, p.y - y1 - t * dy);
  };

  // -- shapes: sets of matrices, to turn --------------------------------------------------------

  const grid = (rows, columns, point) => {
    const faces = [];
    for (let r = 0; r < rows; r++) {
      for (let c = 0; c < columns; c++) {
        faces.push([[r, c], [r + 1, c], [r + 1, c + 1], [r, c + 1]].map(([i, j]) => point(i / rows, j / columns)));
      }
    }
    return faces;
  };

  const SHAPES = {
    // [[p, q], [q, r]] at (p - r, 2 q, p + r): psd where the height is no less than the radius.
    cone: {
      faces: [
        ...grid(8, 36, (s, t) => [s * Math.cos(2 * Math.PI * t), s * Math.sin(2 * Math.PI * t), s]),
        ...grid(4, 36, (s, t) => [s * Math.cos(2 * Math.PI * t), s * Math.sin(2 * Math.PI * t), 1]),
      ],
      point: ([[p, q], [, r]]) => [p - r, 2 * q, p + r],
      goal: ([[p, q], [, r]]) => [(p - r) / 2, q, (p + r) / 2],
      centre: [0, 0, 0.6],
      size: 170,
    },
    // Unit diagonal: (cos a, cos b, cos(a + b)) are the entries of rank one and two.
    elliptope: {
      faces: grid(16, 32, (s, t) => [Math.cos(Math.PI * s), Math.cos(2 * Math.PI * t), Math.cos(Math.PI * (s + 2 * t))]),
      point: (K) => [K[0][1], K[0][2], K[1][2]],
      goal: (C) => [C[0][1], C[0][2], C[1][2]],
      centre: [0, 0, 0],
      size: 120,
    },
  };

  const shape = (figure, data, controls, status) => {
    const { faces, point, goal, centre, size } = SHAPES[data.shape];
    const height = 380, tilt = 0.4, svg = canvas(figure, height, false);
    const project = ([x, y, z], turn) => {
      const [u, v, w] = [x - centre[0], y - centre[1], z - centre[2]];
      const along = u * Math.cos(turn) - v * Math.sin(turn), deep = u * Math.sin(turn) + v * Math.cos(turn);
      return [
        WIDTH / 2 + size * along,
        height / 2 - size * (w * Math.cos(tilt) + deep * Math.sin(tilt)),
        deep * Math.cos(tilt) - w * Math.sin(tilt),
      ];
    };
    const degrees = (value) => `${value} degrees`;
    const list = (M) => `[${M.map((row) => `[${row.join(", ")}]`).join(", ")}]`.replaceAll("-", "−");

    const show = () => {
      const angle = (turn.value * Math.PI) / 180, { C, K, value, bound, rank, certified } = data.goals[way.value];
      const drawn = faces.map((face) => {
        const at = face.map((p) => project(p, angle));
        return { at, deep: at.reduce((sum, p) => sum + p[2], 0) / at.length };
      }).sort((a, b) => b.deep - a.deep);
      const polygons = drawn.map(({ at, deep }) => draw("polygon", {
        points: at.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" "),
        style: `--share:${(0.5 - 0.45 * Math.max(-1, Math.min(1, deep / 1.5))).toFixed(2)}`,
      }));
      const best = project(point(K), angle), to = goal(C);
      const long = 0.55 / Math.hypot(...to);
      const tip = project(point(K).map((x, i) => x + long * to[i]), angle);
      svg.replaceChildren(
        ...polygons,
        draw("line", { class: "goal", x1: best[0], y1: best[1], x2: tip[0], y2: tip[1] }),
        draw("circle", { class: "goal-end", cx: tip[0], cy: tip[1], r: 4 }),
        draw("circle", { class: "optimum", cx: best[0], cy: best[1], r: 7 }),
      );
      status.textContent = `Goal C = ${list(C)}: value ${digits(value, 7)}, proved bound ${digits(bound, 7)}, `
        + `${certified ? "certified" : "not certified"}. The optimum K = ${list(K)} has rank ${rank}.`;
    };
    const turn = slider(controls, "Turn the shape", {
      max: 360, step: 5, value: 30, words: degrees, wrap: true,
    }, () => { play.stop(); show(); });
    const way = slider(controls, "Direction of the goal", {
      max: data.goals.length - 1, value: 0, words: (k) => `${k + 1} of ${data.goals.length}`,
    }, show);
    let turned = 30, passed = 0;
    const play = player(controls, status, (seconds) => {
      passed += seconds;
      turned += seconds * 36;
      turn.set(turned);
      show();
      return passed < 10;
    }, () => { turned = turn.value; passed = 0; });
    let held = null;
    svg.addEventListener("pointerdown", (event) => {
      play.stop();
      held = { x: event.clientX, turn: turn.value };
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener("pointermove", (event) => {
      if (!held) return;
      turn.set(held.turn + (event.clientX - held.x) / 2);
      show();
    });
    svg.addEventListener("pointerup", () => { held = null; });
    svg.addEventListener("pointercancel", () => { held = null; });
    show();
    return play;
  };

  // -- begin ----------------------------------------------------------------------------------------

  const KINDS = { film, springs, shape };
  const begin = (figure) => {
    const data = JSON.parse(figure.querySelector("script").textContent);
    const controls = make("div", { class: "moving-controls" });
    const status = make("p", { class: "moving-status", role: "status", "aria-live": "polite" });
    figure.querySelector(".moving-picture").after(controls, status);
    const play = KINDS[figure.dataset.kind](figure, data, controls, status);
    // It moves by itself only where it is asked to, and never for readers who want none of it.
    if (figure.hasAttribute("data-autoplay") && play && !calm.matches) play.start();
  };
  for (const figure of document.querySelectorAll("figure.moving")) {
    // One that fails stands still, and the others move.
    try { begin(figure); } catch (error) { console.error(error); }
  }
})();
