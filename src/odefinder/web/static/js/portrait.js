// The phase portrait of any two variables, or of three, which can be turned: an SVG of our own.

import { colour } from "./colours.js";
import { el, short } from "./dom.js";
import { NAMESPACE, Plane, line, range, share, svg } from "./svg.js";

const SIZE = 420;
const MARGIN = { left: 56, right: 12, top: 12, bottom: 44 };

export class Portrait {
  constructor(place, variables) {
    this.variables = variables;
    this.turn = { around: 0.6, up: 0.4 };
    const options = (none) => [
      ...(none ? [el("option", { value: "-1" }, "none")] : []),
      ...variables.map((name, j) => el("option", { value: String(j) }, name)),
    ];
    this.selects = ["x", "y", "z"].map((axis) =>
      el("select", { "aria-label": `Variable on the ${axis} axis`, onchange: () => this.redraw() }, ...options(axis === "z")));
    this.selects[0].value = "0";
    this.selects[1].value = String(Math.min(1, variables.length - 1));
    if (variables.length < 3) this.selects[2].hidden = true;
    else this.selects[2].value = "2";
    this.svg = svg("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, class: "portrait", role: "img", "aria-label": "Phase portrait" });
    this.value = el("p", { class: "facts" }, " ");
    place.append(el("div", { class: "row" }, ...this.selects), this.svg, this.value);
    this.svg.addEventListener("pointerdown", (event) => this.grab(event));
    this.svg.addEventListener("pointermove", (event) => this.point(event));
  }

  draw(data, lines) {
    this.data = data;
    this.lines = lines;
    this.redraw();
  }

  redraw() {
    const axes = this.selects.map((select) => Number(select.value));
    this.three = !this.selects[2].hidden && axes[2] >= 0;
    const used = this.three ? axes : axes.slice(0, 2);
    const ranges = used.map((j) => range([...this.data, ...(this.lines ?? [])].flatMap((one) => one.states[j])));
    const names = used.map((j) => this.variables[j]);
    const plane = new Plane({ width: SIZE, height: SIZE, margin: MARGIN }, ranges);
    this.map = this.three ? projection(ranges, this.turn) : (point) => plane.at(point);
    const shapes = this.three ? box(this.map, names, ranges) : plane.axes(names);
    (this.lines ?? []).forEach((curve, k) => {
      const points = pointsOf(curve, used).map((point) => this.map(point).map((v) => v.toFixed(1)).join(","));
      shapes.push(svg("polyline", { points: points.join(" "), fill: "none", stroke: colour(k), "stroke-width": "2" }));
    });
    this.dots = this.data.flatMap((one, k) => pointsOf(one, used).map((point) => ({ point, at: this.map(point), k })));
    const size = this.dots.length > 500 ? 1.5 : 3;
    for (const { at, k } of this.dots) shapes.push(svg("circle", { cx: at[0].toFixed(1), cy: at[1].toFixed(1), r: String(size), fill: colour(k), "fill-opacity": "0.65" }));
    this.svg.replaceChildren(...shapes);
    this.used = used;
  }

  // Three variables turn with the pointer.
  grab(event) {
    if (!this.three) return;
    const from = { x: event.clientX, y: event.clientY, ...this.turn };
    const move = (now) => {
      this.turn.around = from.around + (now.clientX - from.x) / 120;
      this.turn.up = Math.max(-1.5, Math.min(1.5, from.up + (now.clientY - from.y) / 120));
      this.redraw();
    };
    this.svg.setPointerCapture(event.pointerId);
    this.svg.addEventListener("pointermove", move);
    this.svg.addEventListener("pointerup", () => this.svg.removeEventListener("pointermove", move), { once: true });
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
  const rows = one.times.map((_, i) => used.map((j) => one.states[j][i]));
  return rows.filter((row) => row.every((value) => value !== null));
}

function projection(ranges, { around, up }) {
  return (point) => {
    const [x, y, z] = point.map((value, i) => share(value, ranges[i]) - 0.5);
    const [a, b] = [x * Math.cos(around) - y * Math.sin(around), x * Math.sin(around) + y * Math.cos(around)];
    return [SIZE / 2 + a * SIZE * 0.56, SIZE / 2 - (z * Math.cos(up) - b * Math.sin(up)) * SIZE * 0.56];
  };
}

function box(map, names, [rx, ry, rz]) {
  const shapes = [];
  for (const y of ry) for (const z of rz) shapes.push(line(map([rx[0], y, z]), map([rx[1], y, z])));
  for (const x of rx) for (const z of rz) shapes.push(line(map([x, ry[0], z]), map([x, ry[1], z])));
  for (const x of rx) for (const y of ry) shapes.push(line(map([x, y, rz[0]]), map([x, y, rz[1]])));
  const middle = (r) => (r[0] + r[1]) / 2;
  const places = [[middle(rx), ry[0], rz[0]], [rx[1], middle(ry), rz[0]], [rx[0], ry[0], middle(rz)]];
  places.forEach((place, i) => {
    const [x, y] = map(place);
    shapes.push(svg("text", { x, y: y + 14, "text-anchor": "middle" }, names[i]));
  });
  return shapes;
}
