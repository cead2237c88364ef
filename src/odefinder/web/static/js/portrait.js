// The phase portrait of any two variables, or of three, which can be turned: an SVG of our own.
// Two variables: drag moves, Shift and wheel zooms.  Three: drag turns.  The keys do the same.

import { colour } from "./colours.js";
import { el, short } from "./dom.js";
import { NAMESPACE, Plane, line, range, share, svg } from "./svg.js";

const SIZE = 420;
const MARGIN = { left: 56, right: 12, top: 12, bottom: 44 };
const LONGEST = 24; // letters of a name at an axis
const MANY = 500; // points: smaller dots then
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export class Portrait {
  constructor(place, variables) {
    this.variables = variables;
    const options = (none) => [
      ...(none ? [el("option", { value: "-1" }, "none")] : []),
      ...variables.map((name, j) => el("option", { value: String(j) }, name)),
    ];
    this.selects = ["x", "y", "z"].map((axis) =>
      el("select", { "aria-label": `Variable on the ${axis} axis`, onchange: () => this.reset() }, ...options(axis === "z")));
    this.selects[0].value = "0";
    this.selects[1].value = String(Math.min(1, variables.length - 1));
    if (variables.length < 3) this.selects[2].hidden = true;
    else this.selects[2].value = "2";
    this.svg = svg("svg", {
      viewBox: `0 0 ${SIZE} ${SIZE}`, class: "portrait", role: "img", tabindex: "0",
      "aria-label": "Phase portrait; the arrow keys turn or move it, plus and minus zoom",
    });
    this.value = el("p", { class: "facts" }, " ");
    place.append(el("div", { class: "row" }, ...this.selects), this.svg, this.value);
    this.svg.addEventListener("pointerdown", (event) => this.grab(event));
    this.svg.addEventListener("pointermove", (event) => this.point(event));
    this.svg.addEventListener("dblclick", () => this.reset());
    this.svg.addEventListener("keydown", (event) => this.key(event));
    this.svg.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  // growing: the axes stay, and only grow where a line leaves them.
  draw(data, lines, growing = false) {
    Object.assign(this, { data, lines });
    if (!growing || !this.ranges) {
      this.reset();
      return;
    }
    const needed = this.needed();
    const inside = needed.every(([low, high], i) => low >= this.all[i][0] && high <= this.all[i][1]);
    if (inside) {
      this.drawLines();
      return;
    }
    this.all = needed.map(([low, high], i) => [Math.min(low, this.all[i][0]), Math.max(high, this.all[i][1])]);
    this.ranges = this.all;
    this.redraw();
  }

  // Everything in sight, seen from the first side.
  reset() {
    const axes = this.selects.map((select) => Number(select.value));
    this.three = !this.selects[2].hidden && axes[2] >= 0;
    this.used = this.three ? axes : axes.slice(0, 2);
    this.turn = { around: 0.6, up: 0.4 };
    this.all = this.needed();
    this.ranges = this.all;
    this.redraw();
  }

  needed() {
    return this.used.map((j) => range([...this.data, ...(this.lines ?? [])].flatMap((one) => one.states[j])));
  }

  redraw() {
    const names = this.used.map((j) => cut(this.variables[j]));
    const plane = new Plane({ width: SIZE, height: SIZE, margin: MARGIN }, this.ranges);
    this.map = this.three ? projection(this.ranges, this.turn) : (point) => plane.at(point);
    this.dots = this.data.flatMap((one, k) => pointsOf(one, this.used).map((point) => ({ point, at: this.map(point), k })));
    const size = this.dots.length > MANY ? 3 : 6;
    const dots = this.data.map((_, k) => svg("path", {
      d: this.dots.filter((dot) => dot.k === k).map(({ at }) => `M${at[0].toFixed(1)} ${at[1].toFixed(1)}h0`).join(""),
      stroke: colour(k), "stroke-width": String(size), "stroke-linecap": "round", "stroke-opacity": "0.65",
    }));
    this.curves = this.data.map((_, k) => svg("polyline", { fill: "none", stroke: colour(k), "stroke-width": "2" }));
    const { lines, words } = this.three ? box(this.map, names, this.ranges) : { lines: plane.axes(names), words: [] };
    this.svg.replaceChildren(...lines, ...this.curves, ...dots, ...words);
    this.drawLines();
  }

  drawLines() {
    this.curves.forEach((curve, k) => {
      const one = this.lines?.[k];
      const points = one ? pointsOf(one, this.used).map((point) => this.map(point).map((v) => v.toFixed(1)).join(",")) : [];
      curve.setAttribute("points", points.join(" "));
    });
  }

  // Turn (three variables) or move (two) by this many pixels of the drawing.
  move(dx, dy) {
    if (this.three) {
      this.turn = { around: this.turn.around + dx / 120, up: Math.max(-1.5, Math.min(1.5, this.turn.up + dy / 120)) };
    } else {
      const shift = ([low, high], by) => [low - by * (high - low), high - by * (high - low)];
      this.ranges = [shift(this.ranges[0], dx / SIZE), shift(this.ranges[1], -dy / SIZE)];
    }
    this.redraw();
  }

  zoom(factor) {
    const around = ([low, high]) => [(low + high) / 2 - ((high - low) / 2) * factor, (low + high) / 2 + ((high - low) / 2) * factor];
    this.ranges = this.ranges.map(around);
    this.redraw();
  }

  grab(event) {
    let last = event;
    const scale = SIZE / this.svg.getBoundingClientRect().width;
    const move = (now) => {
      this.move((now.clientX - last.clientX) * scale, (now.clientY - last.clientY) * scale);
      last = now;
    };
    const done = () => this.svg.removeEventListener("pointermove", move);
    this.svg.setPointerCapture(event.pointerId);
    this.svg.addEventListener("pointermove", move);
    for (const name of ["pointerup", "pointercancel"]) this.svg.addEventListener(name, done, { once: true });
  }

  key(event) {
    if (KEYS[event.key]) this.move(...KEYS[event.key].map((by) => by * 20));
    else if (event.key === "+") this.zoom(0.8);
    else if (event.key === "-") this.zoom(1.25);
    else return;
    event.preventDefault();
  }

  wheel(event) {
    if (!event.ctrlKey && !event.shiftKey) return; // the page scrolls
    event.preventDefault();
    this.zoom((event.deltaY || event.deltaX) < 0 ? 0.8 : 1.25);
  }

  // The values of the nearest point.
  point(event) {
    const box = this.svg.getBoundingClientRect();
    const at = [((event.clientX - box.left) / box.width) * SIZE, ((event.clientY - box.top) / box.height) * SIZE];
    let best = null;
    for (const dot of this.dots) {
      const distance = Math.hypot(dot.at[0] - at[0], dot.at[1] - at[1]);
      if (distance < (best?.distance ?? 15)) best = { ...dot, distance };
    }
    this.value.textContent = best ? this.used.map((j, i) => `${this.variables[j]} = ${short(best.point[i])}`).join(", ") : " ";
  }

  // The drawing as a file; the colours of the page are written into it.
  file() {
    const copy = this.svg.cloneNode(true);
    copy.setAttribute("xmlns", NAMESPACE);
    copy.setAttribute("font-family", "sans-serif");
    copy.setAttribute("font-size", "12");
    copy.querySelectorAll("text").forEach((one) => one.setAttribute("fill", "#57606a"));
    copy.querySelectorAll(".axis").forEach((one) => one.setAttribute("stroke", "#999999"));
    return new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" });
  }
}

function pointsOf(one, used) {
  const found = [];
  for (let i = 0; i < one.times.length; i += 1) {
    const point = used.map((j) => one.states[j][i]);
    if (point.every((value) => value !== null)) found.push(point);
  }
  return found;
}

function projection(ranges, { around, up }) {
  const [cosine, sine, high, deep] = [Math.cos(around), Math.sin(around), Math.cos(up), Math.sin(up)];
  return (point) => {
    const [x, y, z] = point.map((value, i) => share(value, ranges[i]) - 0.5);
    const b = x * sine + y * cosine;
    return [SIZE / 2 + (x * cosine - y * sine) * SIZE * 0.56, SIZE / 2 - (z * high - b * deep) * SIZE * 0.56];
  };
}

const cut = (name) => (name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name);
const rough = (value) => String(Number(value.toPrecision(2)));

function box(map, names, [rx, ry, rz]) {
  const lines = [];
  for (const y of ry) for (const z of rz) lines.push(line(map([rx[0], y, z]), map([rx[1], y, z])));
  for (const x of rx) for (const z of rz) lines.push(line(map([x, ry[0], z]), map([x, ry[1], z])));
  for (const x of rx) for (const y of ry) lines.push(line(map([x, y, rz[0]]), map([x, y, rz[1]])));
  const middle = (r) => (r[0] + r[1]) / 2;
  const places = [[middle(rx), ry[0], rz[0]], [rx[1], middle(ry), rz[0]], [rx[0], ry[0], middle(rz)]];
  const words = places.map((place, i) => {
    const [x, y] = map(place);
    const [low, high] = [rx, ry, rz][i];
    return svg("text", { x, y: y + 14, "text-anchor": "middle", class: "halo" }, `${names[i]}: ${rough(low)} to ${rough(high)}`);
  });
  return { lines, words };
}
