// The result: equations, candidates, charts, sliders, and everything to take home.  A click on a candidate
// chooses it, and all the rest follows.

import * as api from "./api.js";
import { SeriesChart } from "./charts.js";
import { byId, el, notesBox, save, short } from "./dom.js";
import { Front } from "./front.js";
import { Playground } from "./play.js";
import { Portrait } from "./portrait.js";
import { labelsOf } from "./preview.js";

const FILES = {
  "model.json": "Model (JSON)", "curves.csv": "Curves (CSV)", "figure.png": "Figure (PNG)",
  "figure.svg": "Figure (SVG)", "report.html": "Report (HTML)",
};
let shown = null;

export async function showResult(id) {
  const result = await api.result(id);
  shown?.destroy();
  shown = new Result(id, result);
  await shown.choose(result.chosen);
  byId("result").scrollIntoView({ behavior: "smooth" });
}

class Result {
  constructor(id, result) {
    this.id = id;
    this.result = result;
    this.data = result.data;
    this.equations = el("div", { class: "equations", "aria-live": "polite" });
    this.facts = el("p", { class: "facts" });
    this.exports = el("div", { class: "row" });
    this.downloads = el("div", { class: "row" });
    this.sliders = el("div");
    this.table = this.candidates();
    const series = el("div");
    const portrait = el("div");
    const front = el("div");
    this.front = new Front(front, result.candidates, (row) => this.choose(row));
    const hasPortrait = this.data.variables.length > 1;
    const place = byId("result");
    place.hidden = false;
    place.replaceChildren(
      el("h2", { id: "result-title" }, "Result"),
      ...[notesBox(result.notes)].filter(Boolean),
      el("div", { class: "columns" },
        el("div", {}, this.equations, this.facts, el("h3", {}, "Take it home"), this.exports, this.downloads),
        el("div", {}, el("h3", { class: "first" }, "Try other values"), this.sliders)),
      el("h3", {}, "Candidates"), el("div", { class: "columns" }, this.table, front),
      el("div", { class: hasPortrait ? "columns" : "" },
        el("div", {}, el("h3", {}, "Over time"),
          el("p", { class: "facts" }, "Drag to zoom, Shift and drag to move, Shift and wheel to zoom, double click to see all."),
          series),
        ...(hasPortrait ? [el("div", {}, el("h3", {}, "Phase portrait"), portrait)] : [])),
    );
    this.charts = this.data.titles.map((title) => this.chart(series, title, 230, true));
    this.rests = this.data.titles.map((title, j) => {
      const chart = this.chart(series, `${title}: data minus system`, 130, false);
      this.charts[j].place.after(chart.place); // each below its own variable
      return chart;
    });
    this.portrait = hasPortrait ? new Portrait(portrait, this.data.variables) : null;
    if (this.portrait) {
      portrait.append(el("button", { type: "button", onclick: () => save(this.portrait.file(), "portrait.svg") }, "Portrait (SVG)"));
    }
  }

  chart(place, title, height, points) {
    const box = el("div", { class: "chart" });
    place.append(box);
    return new SeriesChart(box, { title, clock: this.data.clock, labels: labelsOf(this.data), height, points });
  }

  async choose(row) {
    const candidate = await api.candidate(this.id, row);
    this.candidate = candidate;
    this.table.querySelectorAll("tbody tr").forEach((line, k) => {
      line.classList.toggle("chosen", k === row);
      line.querySelector("input").checked = k === row;
    });
    this.front.mark(row);
    const { complexity, r2, weight, source } = this.result.candidates[row];
    this.facts.textContent = `R² ${rSquared(r2)}, complexity ${complexity}, weight ${short(weight)}, from ${source}`;
    this.exports.replaceChildren(...Object.entries(candidate.exports).map(([name, text]) => copyButton(name, text)));
    this.downloads.replaceChildren(...Object.entries(FILES).map(([file, words]) =>
      el("a", { class: "button", href: api.download(this.id, row, file), download: file }, words)));
    this.playground = new Playground(this.sliders, this.id, candidate, this.data.variables, labelsOf(this.data),
      (curves, latex) => this.draw(curves ?? candidate.curves, latex ?? candidate.latex, true));
    this.rests.forEach((chart, j) => chart.draw(j, candidate.residuals));
    this.draw(candidate.curves, candidate.latex, false);
  }

  draw(curves, latex, playing) {
    katex.render(latex, this.equations, { displayMode: true, throwOnError: false });
    const longer = playing && curves[0].times.at(-1) !== this.end;
    this.end = curves[0].times.at(-1);
    this.charts.forEach((chart, j) => chart.draw(j, this.data.trajectories, curves, playing && !longer));
    this.portrait?.draw(this.data.trajectories, curves);
  }

  candidates() {
    const rows = this.result.candidates.map((one, k) =>
      el("tr", { onclick: () => this.choose(k) },
        el("td", {}, el("input", { type: "radio", name: "candidate", "aria-label": `Candidate ${k + 1}`, onchange: () => this.choose(k) })),
        el("td", {}, share(one.weight)), el("td", {}, rSquared(one.r2)), el("td", {}, String(one.complexity)),
        el("td", { class: "words" }, one.source),
        el("td", { class: "system" }, one.text)));
    const titles = ["", "weight", "R²", "complexity", "source", "system"];
    const head = el("tr", {}, ...titles.map((title, j) => el("th", { scope: "col", class: j > 3 ? "words" : "" }, title)));
    return el("div", { class: "candidates", tabindex: "0", role: "region", "aria-label": "Candidates" },
      el("table", {}, el("thead", {}, head), el("tbody", {}, ...rows)));
  }

  destroy() {
    [...this.charts, ...this.rests].forEach((chart) => chart.destroy());
  }
}

// R2 is never rounded up to 1, a weight never down to 0.
function rSquared(r2) {
  if (r2 === null) return "–";
  return r2 > 0.9999 ? ">0.9999" : r2.toFixed(4);
}

function share(weight) {
  return weight >= 0.0005 ? weight.toFixed(3) : "<0.001";
}

function copyButton(name, text) {
  const button = el("button", { type: "button" }, `Copy ${name}`);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "The browser does not allow it";
    }
    setTimeout(() => { button.textContent = `Copy ${name}`; }, 1500);
  });
  return button;
}
