// Time series with uPlot: one chart for each variable, data as points, systems as lines, one colour a trajectory.
// Drag zooms, the wheel zooms around the pointer, Shift and drag moves, a double click shows everything.

import { colour, ofPage } from "./colours.js";
import { short } from "./dom.js";

const HEIGHT = 220;
const SHOWN_IN_LEGEND = 6; // trajectories
const sync = () => uPlot.sync("odefinder");

export class SeriesChart {
  // data, lines: one { times, states } a trajectory; `variable` is the number of the column that is drawn.
  constructor(place, { title, clock, labels, height = HEIGHT, points = true }) {
    this.place = place;
    this.labels = labels;
    const names = labels.length > 1 ? labels : [""];
    const series = [{ label: clock, value: (_, value) => short(value) }];
    names.forEach((label, k) => {
      series.push(pointSeries(`data ${label}`.trim(), k, points));
      if (points) series.push(lineSeries(`system ${label}`.trim(), k));
    });
    this.points = points;
    this.plot = new uPlot(
      {
        title, width: Math.max(place.clientWidth, 280), height, series,
        scales: { x: { time: false } },
        axes: [axis(40), { ...axis(20), size: 56 }],
        cursor: { sync: { key: sync().key }, drag: { x: true, y: false } },
        legend: { show: names.length <= SHOWN_IN_LEGEND },
        plugins: [wheelAndPan()],
      },
      [[]],
      place,
    );
    this.watcher = new ResizeObserver(() => this.plot.setSize({ width: Math.max(place.clientWidth, 280), height }));
    this.watcher.observe(place);
  }

  // Only the lines change while somebody moves a slider; the zoom stays then.
  draw(variable, data, lines, keepZoom = false) {
    const tables = [];
    data.forEach((one, k) => {
      tables.push([one.times, one.states[variable]]);
      if (!this.points) return;
      const line = lines?.[k];
      tables.push(line ? [line.times, line.states[variable]] : [[], []]);
    });
    this.plot.setData(uPlot.join(tables), !keepZoom);
    if (keepZoom) this.plot.redraw();
  }

  png() {
    return new Promise((resolve) => this.plot.ctx.canvas.toBlob(resolve));
  }

  destroy() {
    this.watcher.disconnect();
    this.plot.destroy();
  }
}

function pointSeries(label, k, withLine) {
  return {
    label, stroke: colour(k), width: 0, spanGaps: true, paths: () => null,
    points: { show: true, size: withLine ? 5 : 4, width: 1, fill: colour(k) },
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
