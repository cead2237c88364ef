// Time series with uPlot: one chart for each variable, data as points, systems as lines, one colour a trajectory.
// Charts of a group share their section of time.  Drag zooms, Shift and drag moves, Shift and wheel zooms around
// the pointer, a double click shows everything.  Buttons and keys do the same, and fingers: one moves, two zoom.

import { colour, ofPage } from "./colours.js";
import { el, short } from "./dom.js";

const HEIGHT = 220;
const SHOWN_IN_LEGEND = 6; // trajectories
const BAND = "band";
const [CLOSER, FARTHER, ASIDE] = [0.7, 1 / 0.7, 0.2]; // factors of a zoom, and the share of a step aside
const darkness = window.matchMedia("(prefers-color-scheme: dark)");
const sync = () => uPlot.sync("odefinder");

// Charts over the same times.
export class Group {
  constructor() {
    this.charts = [];
  }

  get range() {
    const { min, max } = this.charts[0].plot.scales.x;
    return [min, max];
  }

  set(min, max) {
    if (max > min) this.charts.forEach(({ plot }) => plot.setScale("x", { min, max }));
  }

  all() {
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

export class SeriesChart {
  // kind: "fit" (data as points, systems as lines with bands), "points" or "lines".
  constructor(place, { title, clock, labels, height = HEIGHT, kind = "fit", group = new Group() }) {
    this.place = place;
    this.kind = kind;
    const names = labels.length > 1 ? labels : [""];
    const series = [{ label: clock, value: (_, value) => short(value) }];
    const bands = [];
    names.forEach((label, k) => {
      if (kind !== "lines") series.push(pointSeries(`data ${label}`.trim(), k, kind === "fit"));
      if (kind === "lines") series.push(lineSeries(label || "value", k));
      if (kind !== "fit") return;
      bands.push({ series: [series.length + 1, series.length + 2], fill: faint(k) });
      series.push(lineSeries(`system ${label}`.trim(), k), edgeSeries(k), edgeSeries(k));
    });
    this.plot = new uPlot(
      {
        title, width: Math.max(place.clientWidth, 280), height, series, bands, pxAlign: 0,
        scales: { x: { time: false } },
        axes: [axis(40), { ...axis(20), size: wide }],
        cursor: {
          sync: { key: sync().key }, drag: { x: true, y: false, setScale: false },
          bind: { dblclick: () => () => { group.all(); return null; } },
        },
        legend: { show: names.length <= SHOWN_IN_LEGEND },
        plugins: [sections(group), legendWithoutBands()],
      },
      [[]],
      place,
    );
    group.charts.push(this);
    Object.entries({ tabindex: "0", role: "img", "aria-label": `${title} over time; plus and minus zoom, arrows move, 0 shows all` })
      .forEach(([name, value]) => place.setAttribute(name, value));
    place.addEventListener("keydown", (event) => group.key(event));
    this.watcher = new ResizeObserver(() => this.plot.setSize({ width: Math.max(place.clientWidth, 280), height }));
    this.watcher.observe(place);
    this.recolour = () => this.plot.redraw(false, true);
    darkness.addEventListener("change", this.recolour);
  }

  // data, lines: one { times, states } per trajectory; bands: { times, low, high } of the first ones.
  // Only the lines change while somebody moves a slider; the zoom stays then.
  draw(variable, data, lines, { keepZoom = false, bands = [] } = {}) {
    const tables = [];
    data.forEach((one, k) => {
      tables.push([one.times, one.states[variable]]);
      if (this.kind !== "fit") return;
      const line = lines?.[k];
      const nothing = [[], []];
      tables.push(line ? [line.times, line.states[variable]] : nothing);
      const band = bands[k];
      tables.push(band ? [band.times, band.high[variable]] : nothing);
      tables.push(band ? [band.times, band.low[variable]] : nothing);
    });
    this.plot.setData(uPlot.join(tables), !keepZoom);
    if (keepZoom) this.plot.redraw();
  }

  destroy() {
    this.watcher.disconnect();
    darkness.removeEventListener("change", this.recolour);
    this.plot.destroy();
  }
}

// Colours are faint where they fill.
const faint = (k) => `${colour(k)}33`;

function edgeSeries(k) {
  return { label: BAND, stroke: faint(k), width: 1, spanGaps: true, points: { show: false }, value: () => "" };
}

// The edges of bands need no entries of their own.
function legendWithoutBands() {
  return {
    hooks: {
      init: (plot) => {
        const rows = plot.root.querySelectorAll(".u-legend .u-series");
        plot.series.forEach((one, k) => { if (one.label === BAND && rows[k]) rows[k].hidden = true; });
      },
    },
  };
}

// Where a line goes through them, points are hollow, so that it is seen.
function pointSeries(label, k, hollow) {
  return {
    label, stroke: colour(k), width: 0, spanGaps: true, paths: () => null,
    points: { show: true, size: hollow ? 6 : 4, width: hollow ? 1.5 : 1, fill: hollow ? () => ofPage("back") : colour(k), space: 0 },
    value: (_, value) => short(value),
  };
}

function lineSeries(label, k) {
  return {
    label, stroke: colour(k), width: 2, spanGaps: true, points: { show: false }, value: (_, value) => short(value),
  };
}

// space: pixels between two ticks at least.  The legend names the axes.
function axis(space) {
  return {
    font: "12px system-ui", stroke: () => ofPage("soft"), size: 32, values: (_, ticks) => ticks.map(short), space,
    grid: { stroke: () => ofPage("line"), width: 1 }, ticks: { stroke: () => ofPage("line"), width: 1 },
  };
}

// The width of an axis: numbers, also negative ones, are never cut.
const wide = (_, values) => Math.max(60, 20 + 7 * Math.max(...(values ?? [""]).map((text) => text.length)));

// What mouse and fingers do to the section of time that a group shows.
function sections(group) {
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
    return { count: at.length, middle: at.reduce((a, b) => a + b, 0) / at.length, apart: Math.abs(at[0] - at.at(-1)) };
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
    plot.setCursor({ left: now.middle - box.left, top: box.height / 2 });
    before = now;
  }, { passive: false });
}
