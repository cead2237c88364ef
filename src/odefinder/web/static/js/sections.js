// The section of time that charts show.  Drag zooms, Shift and drag moves, Shift and wheel zooms around the
// pointer, a double click shows everything.  Buttons and keys do the same, and fingers: one moves, two zoom.

import { el } from "./dom.js";

const [CLOSER, FARTHER, ASIDE] = [0.7, 1 / 0.7, 0.2]; // factors of a zoom, and the share of a step aside

// Charts over the same times.
export class Group {
  constructor() {
    this.charts = [];
  }

  // Charts out of sight may wait to be drawn; before the section changes, they all are.
  catchUp() {
    this.charts.forEach((chart) => chart.catchUp());
  }

  get range() {
    this.catchUp();
    const { min, max } = this.charts[0].plot.scales.x;
    return [min, max];
  }

  set(min, max) {
    if (!(max > min)) return;
    this.catchUp();
    this.charts.forEach(({ plot }) => plot.setScale("x", { min, max }));
  }

  all() {
    this.catchUp();
    this.charts.forEach(({ plot }) => plot.setData(plot.data, true));
  }

  // around: a time that stays where it is; without it, the middle.
  zoom(factor, around = null) {
    const [min, max] = this.range;
    const at = around ?? (min + max) / 2;
    this.set(at - (at - min) * factor, at + (max - at) * factor);
  }

  move(share) {
    const [min, max] = this.range;
    this.set(min + share * (max - min), max + share * (max - min));
  }

  buttons() {
    const button = (sign, words, act) => el("button", { type: "button", "aria-label": words, title: words, onclick: act }, sign);
    return el("div", { class: "row tools", role: "group", "aria-label": "Section of time" },
      button("−", "Zoom out", () => this.zoom(FARTHER)), button("+", "Zoom in", () => this.zoom(CLOSER)),
      button("←", "Move to earlier times", () => this.move(-ASIDE)), button("→", "Move to later times", () => this.move(ASIDE)),
      button("All", "Show all times", () => this.all()));
  }

  key(event) {
    const acts = {
      "+": () => this.zoom(CLOSER), "-": () => this.zoom(FARTHER), 0: () => this.all(),
      ArrowLeft: () => this.move(-ASIDE), ArrowRight: () => this.move(ASIDE),
    };
    if (!acts[event.key]) return;
    acts[event.key]();
    event.preventDefault();
  }
}

// What mouse and fingers do to the section of time that a group shows.
export function sections(group) {
  return {
    hooks: {
      setSelect: (plot) => {
        const { left, width } = plot.select;
        if (width > 0) group.set(plot.posToVal(left, "x"), plot.posToVal(left + width, "x"));
        plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      },
      ready: (plot) => {
        plot.over.addEventListener("wheel", (event) => {
          if (!event.ctrlKey && !event.shiftKey) return; // the page scrolls
          event.preventDefault();
          group.zoom((event.deltaY || event.deltaX) < 0 ? CLOSER : FARTHER, plot.posToVal(plot.cursor.left, "x"));
        }, { passive: false });
        plot.over.addEventListener("mousedown", (event) => {
          if (!event.shiftKey) return;
          event.preventDefault();
          event.stopImmediatePropagation();
          let last = event.clientX;
          const move = (now) => {
            group.move((last - now.clientX) / plot.over.clientWidth);
            last = now.clientX;
          };
          document.addEventListener("mousemove", move);
          document.addEventListener("mouseup", () => document.removeEventListener("mousemove", move), { once: true });
        }, { capture: true });
        fingers(plot, group);
      },
    },
  };
}

function fingers(plot, group) {
  let before = null;
  const seen = (event) => {
    const at = [...event.touches].map((one) => one.clientX);
    return {
      count: at.length, middle: at.reduce((a, b) => a + b, 0) / at.length, apart: Math.abs(at[0] - at.at(-1)),
      height: event.touches[0]?.clientY,
    };
  };
  const start = (event) => { before = event.touches.length ? seen(event) : null; };
  plot.over.addEventListener("touchstart", start, { passive: true });
  plot.over.addEventListener("touchend", start, { passive: true });
  plot.over.addEventListener("touchmove", (event) => {
    const now = seen(event);
    const box = plot.over.getBoundingClientRect();
    if (now.count > 1 && before.count > 1 && now.apart > 0) {
      event.preventDefault();
      group.zoom(before.apart / now.apart, plot.posToVal(now.middle - box.left, "x"));
    } else {
      group.move((before.middle - now.middle) / box.width);
    }
    plot.setCursor({ left: now.middle - box.left, top: now.height - box.top });
    before = now;
  }, { passive: false });
}
