// The candidates as a front: size against error.  A click chooses one.

import { colour } from "./colours.js";
import { short } from "./dom.js";
import { Plane, range, svg, ticks } from "./svg.js";

const SIZE = { width: 480, height: 240, margin: { left: 76, right: 12, top: 12, bottom: 44 } };
const LEAST = 1e-12; // an error of 0 would have no place on a logarithmic axis

export class Front {
  constructor(place, candidates, choose) {
    this.dots = [];
    const explained = (one) => one.r2_windows ?? one.r2;
    const shown = candidates.map((one, k) => ({ ...one, k })).filter((one) => explained(one) > 0);
    if (!shown.length) return;
    const points = shown.map((one) => [one.complexity, Math.log10(Math.max(1 - explained(one), LEAST))]);
    const plane = new Plane(SIZE, [range(points.map(([x]) => x)), range(points.map(([, y]) => y))]);
    const drawing = svg("svg", { viewBox: `0 0 ${SIZE.width} ${SIZE.height}`, class: "portrait", role: "img", "aria-label": "Complexity and error of the candidates" });
    drawing.append(...plane.axes(["complexity", "error, 1 − R²"], { words: [short, (y) => short(10 ** y)], steps: [wholes, powers] }));
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

const wholes = (range) => ticks(range).filter((x) => Math.abs(x - Math.round(x)) < 1e-6);

// Ticks of a logarithmic axis: powers of 10, with others between them where there are few.
function powers([low, high]) {
  const within = (digits) => {
    const found = [];
    for (let power = Math.floor(low); power <= high; power += 1) {
      for (const digit of digits) found.push(power + Math.log10(digit));
    }
    return found.filter((y) => y >= low && y <= high);
  };
  const choices = [within([1]), within([1, 2, 5]), within([1, 2, 3, 4, 5, 6, 7, 8, 9])];
  const many = choices.find((one) => one.length > 1);
  if (!many) return ticks([low, high]);
  const every = Math.ceil(many.length / 6);
  return many.filter((_, k) => k % every === 0);
}
