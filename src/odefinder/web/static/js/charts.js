// Time series with uPlot: one chart for each variable, data as points, systems as lines, one colour a trajectory.
// Drag zooms, the wheel zooms around the pointer, Shift and drag moves, a double click shows everything.

import { colour, ofPage } from "./colours.js";
import { short } from "./dom.js";

const HEIGHT = 220;
const SHOWN_IN_LEGEND = 6; // trajectories
const BAND = "band";
const sync = () => uPlot.sync("odefinder");

export class SeriesChart {
  // kind: "fit" (data as points, systems as lines with bands), "points" or "lines".
  constructor(place, { title, clock, labels, height = HEIGHT, kind = "fit" }) {
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
        axes: [axis(40), { ...axis(20), size: 56 }],
        cursor: { sync: { key: sync().key }, drag: { x: true, y: false } },
        legend: { show: names.length <= SHOWN_IN_LEGEND },
        plugins: [wheelAndPan(), legendWithoutBands()],
      },
      [[]],
      place,
    );
    this.watcher = new ResizeObserver(() => this.plot.setSize({ width: Math.max(place.clientWidth, 280), height }));
    this.watcher.observe(place);
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

function pointSeries(label, k, withLine) {
  return {
    label, stroke: colour(k), width: 0, spanGaps: true, paths: () => null,
    points: { show: true, size: withLine ? 5 : 4, width: 1, fill: colour(k), space: 0 },
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

function wheelAndPan() {
  return {
    hooks: {
      ready: (plot) => {
        const over = plot.over;
        const range = () => [plot.scales.x.min, plot.scales.x.max];
        const set = (min, max) => plot.setScale("x", { min, max });
        over.addEventListener("wheel", (event) => {
          if (!event.ctrlKey && !event.shiftKey) return; // the page scrolls
          event.preventDefault();
          const factor = (event.deltaY || event.deltaX) < 0 ? 0.8 : 1.25;
          const at = plot.posToVal(plot.cursor.left, "x");
          const [min, max] = range();
          set(at - (at - min) * factor, at + (max - at) * factor);
        }, { passive: false });
        over.addEventListener("mousedown", (event) => {
          if (!event.shiftKey) return;
          event.preventDefault();
          event.stopImmediatePropagation();
          const [min, max] = range();
          const from = event.clientX;
          const move = (now) => {
            const shift = ((from - now.clientX) / over.clientWidth) * (max - min);
            set(min + shift, max + shift);
          };
          const done = () => document.removeEventListener("mousemove", move);
          document.addEventListener("mousemove", move);
          document.addEventListener("mouseup", done, { once: true });
        }, { capture: true });
      },
    },
  };
}
