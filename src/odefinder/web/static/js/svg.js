// Small drawings of our own: the phase portrait and the front of the candidates.

import { short } from "./dom.js";

export const NAMESPACE = "http://www.w3.org/2000/svg";

export function svg(tag, attributes, text) {
  const node = document.createElementNS(NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

export function range(values) {
  const known = values.filter((value) => value !== null);
  const low = known.reduce((a, b) => Math.min(a, b), Infinity);
  const high = known.reduce((a, b) => Math.max(a, b), -Infinity);
  const pad = (high - low) * 0.05 || Math.abs(high) * 0.05 || 1;
  return [low - pad, high + pad];
}

export const share = (value, [low, high]) => (value - low) / (high - low);

export function line(from, to) {
  return svg("line", { x1: from[0], y1: from[1], x2: to[0], y2: to[1], class: "axis" });
}

export function ticks([low, high]) {
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((one) => one >= rough);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high; k += 1) found.push(k * step);
  return found;
}

// A plane with axes: where a point lies, and the shapes of the axes.
export class Plane {
  constructor({ width, height, margin }, [rx, ry]) {
    Object.assign(this, { width, height, margin, rx, ry });
  }

  at([x, y]) {
    const { width, height, margin, rx, ry } = this;
    return [
      margin.left + share(x, rx) * (width - margin.left - margin.right),
      margin.top + (1 - share(y, ry)) * (height - margin.top - margin.bottom),
    ];
  }

  // steps: where the ticks are; words: how a number is written there.
  axes(names, { words = [short, short], steps = [ticks, ticks] } = {}) {
    const { width, height, margin, rx, ry } = this;
    const shapes = [];
    for (const x of steps[0](rx)) {
      shapes.push(line(this.at([x, ry[0]]), this.at([x, ry[1]])));
      shapes.push(svg("text", { x: this.at([x, ry[0]])[0], y: height - margin.bottom + 16, "text-anchor": "middle" }, words[0](x)));
    }
    for (const y of steps[1](ry)) {
      shapes.push(line(this.at([rx[0], y]), this.at([rx[1], y])));
      shapes.push(svg("text", { x: margin.left - 6, y: this.at([rx[0], y])[1] + 4, "text-anchor": "end" }, words[1](y)));
    }
    shapes.push(svg("text", { x: (width + margin.left) / 2, y: height - 8, "text-anchor": "middle" }, names[0]));
    shapes.push(svg("text", { x: 12, y: height / 2, transform: `rotate(-90 12 ${height / 2})`, "text-anchor": "middle" }, names[1]));
    return shapes;
  }
}
