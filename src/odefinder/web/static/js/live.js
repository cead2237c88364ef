// The best system so far, drawn over the data while a fit runs.

import { SeriesChart } from "./charts.js";
import { byId, el } from "./dom.js";
import { looksOf } from "./preview.js";

const MOST_CHARTS = 6;

export class Live {
  constructor(data) {
    this.data = data;
    this.charts = [];
    byId("live").hidden = true;
  }

  draw({ variables, latex, curves }) {
    const shown = this.data.trajectories.slice(0, curves.length);
    if (!this.equations) this.open({ ...this.data, trajectories: shown });
    katex.render(latex, this.equations, { displayMode: true, throwOnError: false });
    this.charts.forEach((chart, j) => {
      const column = variables.indexOf(this.data.variables[j]);
      const lines = curves.map(({ times, states }) => ({ times, states: { [j]: states[column] } }));
      chart.draw(j, shown, lines);
    });
  }

  // data: with the trajectories that are drawn.
  open(data) {
    this.equations = el("div", { class: "equations" });
    const place = el("div", { class: "grid" });
    byId("live").replaceChildren(el("h3", {}, "The best system so far"), this.equations, place);
    byId("live").hidden = false;
    byId("fit").scrollIntoView({ block: "start" });
    this.charts = data.titles.slice(0, MOST_CHARTS).map((title) => {
      const box = el("div", { class: "chart" });
      place.append(box);
      return new SeriesChart(box, { title, ...looksOf(data), height: 180 });
    });
  }

  close() {
    this.charts.forEach((chart) => chart.destroy());
    byId("live").replaceChildren();
    byId("live").hidden = true;
  }
}
