// The candidates as a front: size against error.  A click chooses one.

import { colour } from "./colours.js";
import { Plane, range, svg } from "./svg.js";

const SIZE = { width: 480, height: 240, margin: { left: 64, right: 12, top: 12, bottom: 44 } };
const LEAST = 1e-12; // an error of 0 would have no place on a logarithmic axis

export class Front {
  constructor(place, candidates, choose) {
    this.dots = [];
    const explained = (one) => one.r2_windows ?? one.r2;
    const shown = candidates.map((one, k) => ({ ...one, k })).filter((one) => explained(one) > 0);
    if (!shown.length) return;
    const points = shown.map((one) => [one.complexity, Math.log10(Math.max(1 - explained(one), LEAST))]);
    const plane = new Plane(SIZE, [range(points.map(([x]) => x)), range(points.map(([, y]) => y))]);
    const power = (y) => (10 ** y).toPrecision(2).replace(/\.?0+(e|$)/, "$1");
    const drawing = svg("svg", { viewBox: `0 0 ${SIZE.width} ${SIZE.height}`, class: "portrait", role: "img", "aria-label": "Complexity and error of the candidates" });
    drawing.append(...plane.axes(["complexity", "error, 1 − R²"], [String, power]));
    shown.forEach((one, i) => {
      const [cx, cy] = plane.at(points[i]);
      const dot = svg("circle", { cx, cy, class: "dot", "fill-opacity": one.front ? "1" : "0.4" });
      dot.append(svg("title", {}, one.text));
      dot.addEventListener("click", () => choose(one.k));
      this.dots.push({ dot, k: one.k });
      drawing.append(dot);
    });
    place.append(drawing);
  }

  mark(row) {
    for (const { dot, k } of this.dots) {
      dot.setAttribute("r", k === row ? "7" : "4");
      dot.setAttribute("fill", colour(k === row ? 1 : 0));
    }
  }
}
