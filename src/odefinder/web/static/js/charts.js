// Time series with uPlot: one chart for each variable, data as points, systems as lines, one colour a trajectory.
// Charts of a group share their section of time (sections.js).

import { colour, ofPage } from "./colours.js";
import { el, short } from "./dom.js";
import { Group, sections } from "./sections.js";

const HEIGHT = 220;
const SHOWN_IN_LEGEND = 6; // trajectories; of more, the value nearest to the pointer is shown
const DENSE = 150; // points: from there on they are small and pale, so that a line among them is seen
const KEYS = "plus and minus zoom, arrows move, 0 shows all";
const BAND = "band";
const darkness = window.matchMedia("(prefers-color-scheme: dark)");
const sync = () => uPlot.sync("odefinder");
const scale = () => parseFloat(getComputedStyle(document.documentElement).fontSize) / 16; // large screens, large letters

export class SeriesChart {
  // kind: "fit" (data as points, systems as lines with bands), "points" or "lines"; points: of a trajectory.
  constructor(place, { title, clock, labels, points = 0, height = HEIGHT, kind = "fit", group = new Group() }) {
    Object.assign(this, { place, kind, title });
    const names = labels.length > 1 ? labels : [""];
    const series = [{ label: clock, value: (_, value) => short(value) }];
    const bands = [];
    names.forEach((label, k) => {
      if (kind !== "lines") series.push(pointSeries(`data ${label}`.trim(), k, kind === "fit", points > DENSE));
      if (kind === "lines") series.push(lineSeries(label || "value", k));
      if (kind !== "fit") return;
      bands.push({ series: [series.length + 1, series.length + 2], fill: faint(k) });
      series.push(lineSeries(`system ${label}`.trim(), k), edgeSeries(k), edgeSeries(k));
    });
    const few = names.length <= SHOWN_IN_LEGEND;
    const size = () => ({ width: Math.max(place.clientWidth, 280), height: Math.round(height * scale()) });
    this.plot = new uPlot(
      {
        title, ...size(), series, bands, pxAlign: 0,
        scales: { x: { time: false } },
        axes: [axis(40), { ...axis(20), size: wide }],
        cursor: {
          sync: { key: sync().key }, drag: { x: true, y: false, setScale: false },
          bind: { dblclick: () => () => { group.all(); return null; } },
        },
        legend: { show: few, markers: { stroke: (plot, s) => plot.series[s].stroke(plot, s) } }, // also of points without an edge
        plugins: [sections(group), few ? legendWithoutBands() : nearestValue(clock)],
      },
      [[]],
      place,
    );
    group.charts.push(this);
    place.setAttribute("tabindex", "0");
    place.setAttribute("role", "img");
    place.addEventListener("keydown", (event) => group.key(event));
    this.watchers = [new ResizeObserver(() => this.plot.setSize(size())), new IntersectionObserver((all) => this.seen(all.at(-1).isIntersecting))];
    this.watchers.forEach((one) => one.observe(place));
    this.recolour = () => this.plot.redraw(false, true);
    darkness.addEventListener("change", this.recolour);
  }

  // data, lines: one { times, states } per trajectory; bands: { times, low, high } of the first ones.
  // Only the lines change while somebody moves a slider; the zoom stays then.  Out of sight, a chart that has
  // been drawn before waits until somebody looks: sliders are faster then.
  draw(variable, data, lines, { keepZoom = false, bands = [] } = {}) {
    const stays = keepZoom && (this.waiting?.stays ?? true);
    this.waiting = { stays, draw: () => this.drawNow(variable, data, lines, stays, bands) };
    if (this.inSight || !this.plot.data[0].length) this.catchUp();
  }

  seen(inSight) {
    this.inSight = inSight;
    if (inSight) this.catchUp();
  }

  catchUp() {
    this.waiting?.draw();
    this.waiting = null;
  }

  drawNow(variable, data, lines, keepZoom, bands) {
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
    else this.describe(tables);
  }

  // For those who cannot see it.
  describe(tables) {
    const values = tables.flatMap(([, column]) => column).filter((value) => value !== null && value !== undefined);
    const [low, high] = [Math.min, Math.max].map((most) => values.reduce((a, b) => most(a, b), values[0]));
    this.place.setAttribute("aria-label", `${this.title} over time, values from ${short(low)} to ${short(high)}; ${KEYS}`);
  }

  destroy() {
    this.watchers.forEach((one) => one.disconnect());
    darkness.removeEventListener("change", this.recolour);
    this.plot.destroy();
  }
}

// Colours are faint where they fill.
const faint = (k) => `${colour(k)}33`;
const pale = (k) => `${colour(k)}66`;

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

// Below a chart of many trajectories: the value that is nearest to the pointer.
function nearestValue(clock) {
  const text = el("p", { class: "facts" }, " ");
  const nearest = (plot) => {
    const { left, top, idxs } = plot.cursor;
    if (left < 0 || !idxs) return " ";
    let best = null;
    plot.series.forEach(({ label }, s) => {
      const [time, value] = [plot.data[0][idxs[s]], plot.data[s]?.[idxs[s]]];
      if (s === 0 || label === BAND || value === null || value === undefined) return;
      const distance = Math.hypot(plot.valToPos(time, "x") - left, plot.valToPos(value, "y") - top);
      if (distance < (best?.distance ?? Infinity)) best = { label, time, value, distance };
    });
    return best ? `${clock}: ${short(best.time)}, ${best.label}: ${short(best.value)}` : " ";
  };
  return { hooks: { ready: (plot) => plot.root.after(text), setCursor: (plot) => { text.textContent = nearest(plot); } } };
}

// Where a line goes through them, points are hollow, or pale where they are dense, so that it is seen.
function pointSeries(label, k, withLine, dense) {
  const looks = { size: 4, width: 0, fill: colour(k), stroke: colour(k) }; // filled without an edge: half as slow to draw
  if (withLine && dense) Object.assign(looks, { fill: pale(k), stroke: pale(k) });
  else if (withLine) Object.assign(looks, { size: 6, width: 1.5, fill: () => ofPage("back") });
  return {
    label, stroke: looks.stroke, width: 0, spanGaps: true, paths: () => null, points: { show: true, space: 0, ...looks },
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
    font: `${12 * scale()}px system-ui`, stroke: () => ofPage("soft"), size: 32 * scale(),
    values: (_, ticks) => ticks.map(short), space: space * scale(),
    grid: { stroke: () => ofPage("line"), width: 1 }, ticks: { stroke: () => ofPage("line"), width: 1 },
  };
}

// The width of an axis: numbers, also negative ones, are never cut.
const wide = (_, values) => scale() * Math.max(60, 20 + 7 * Math.max(...(values ?? [""]).map((text) => text.length)));

