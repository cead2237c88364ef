// The result: equations, candidates, charts, sliders, and everything to take home.  A click on a candidate
// chooses it, and all the rest follows.

import * as api from "./api.js";
import { SeriesChart } from "./charts.js";
import { byId, el, notesBox, save, short } from "./dom.js";
import { Exports } from "./exports.js";
import { Front } from "./front.js";
import { Pace } from "./pace.js";
import { Playground } from "./play.js";
import { Portrait } from "./portrait.js";
import { inputsOf, looksOf } from "./preview.js";
import { Group } from "./sections.js";

const FILES = {
  "model.json": "Model (JSON)", "curves.csv": "Curves (CSV)", "figure.png": "Figure (PNG)",
  "figure.svg": "Figure (SVG)", "report.html": "Report (HTML)",
};
const MEANING = "Weight: the chance that a system also predicts trajectories from other initial values. Complexity: the number of operators, variables and constants. Click on a row, or on a point of the picture, and everything below follows.";
const FINGERS = window.matchMedia("(hover: none)").matches;
const HINT = FINGERS
  ? "One finger moves, two zoom; values are below each chart."
  : "Drag to zoom, Shift and drag to move, double click to see all; values are below each chart.";
let shown = null;

// again(options): fits once more, with other options; null where there is no table to fit.
export async function showResult(id, targets, again) {
  const result = await api.result(id);
  shown?.destroy();
  shown = new Result(id, result, targets, again);
  await shown.choose(result.chosen);
  byId("result-title").focus({ preventScroll: true }); // whoever cannot see it hears that it is there
  byId("result").scrollIntoView({ behavior: "smooth" });
}

class Result {
  constructor(id, result, targets, again) {
    this.id = id;
    this.result = result;
    this.data = result.data;
    this.equations = el("div", { class: "equations", tabindex: "0", role: "region", "aria-label": "Equations" });
    this.facts = el("p", { class: "facts", role: "status" });
    this.constants = el("div");
    this.downloads = el("div", { class: "row" });
    this.sliders = el("div");
    this.table = this.candidates();
    const [home, series, portrait, front] = [el("div"), el("div"), el("div"), el("div")];
    this.exports = new Exports(home, targets);
    this.front = new Front(front, result.candidates, (row) => this.choose(row));
    const hasPortrait = this.data.variables.length > 1;
    this.group = new Group();
    this.pace = new Pace();
    this.reader = new IntersectionObserver((all) => { this.reads = all.at(-1).isIntersecting; });
    this.reader.observe(this.equations);
    this.notes = again ? result.notes : [...this.data.notes, ...result.notes]; // without a table they are not above
    const several = result.candidates.length > 1;
    const parts = {
      Candidates: heading("Candidates"), "Over time": heading("Over time"), "Try other values": heading("Try other values"),
      "Take it home": heading("Take it home"),
    };
    const place = byId("result");
    place.hidden = false;
    place.replaceChildren(
      el("div", { class: "row" }, el("h2", { id: "result-title", tabindex: "-1" }, "Result"), ways(parts)),
      ...[notesBox(this.notes), again && nextSteps(result.suggestions, again)].filter(Boolean),
      el("div", { class: "columns even" }, el("div", {}, this.equations, this.facts), this.constants),
      parts.Candidates, ...(several ? [el("p", { class: "facts" }, MEANING)] : []),
      el("div", { class: several ? "columns" : "" }, this.table, ...(several ? [front] : [])),
      el("div", { class: "columns" },
        el("div", { class: "stays" }, parts["Try other values"], this.sliders,
          ...(hasPortrait ? [el("h3", {}, "Phase portrait"), portrait] : [])),
        el("div", {}, parts["Over time"], el("p", { class: "facts" }, HINT), this.group.buttons(), series)),
      parts["Take it home"], this.downloads, home,
    );
    this.addCharts(series);
    this.portrait = hasPortrait ? new Portrait(portrait, this.data.variables) : null;
    if (this.portrait) {
      portrait.append(el("button", { type: "button", onclick: () => save(this.portrait.file(), "portrait.svg") }, "Portrait (SVG)"));
    }
  }

  // One chart for each variable with what it leaves below, then the inputs.
  addCharts(place) {
    const { titles, observed, inputs } = this.data;
    this.charts = [];
    this.rests = [];
    titles.forEach((title, j) => {
      this.charts.push(this.chart(place, title, 230, "fit"));
      if (observed[j]) this.rests.push({ j, chart: this.chart(place, `${title}: data minus system`, 130, "points") });
    });
    this.inputs = inputs.map((name, j) => {
      const chart = this.chart(place, `${name} (input)`, 130, "lines");
      chart.draw(0, inputsOf(this.data, j));
      return chart;
    });
  }

  chart(place, title, height, kind) {
    const box = el("div", { class: "chart" });
    place.append(box);
    return new SeriesChart(box, { title, ...looksOf(this.data), height, kind, group: this.group });
  }

  async choose(row) {
    this.wanted = row;
    const candidate = await api.candidate(this.id, row);
    if (this.wanted !== row) return; // somebody chose another one meanwhile
    this.candidate = candidate;
    this.table.querySelectorAll("tbody tr").forEach((line, k) => {
      line.classList.toggle("chosen", k === row);
      line.querySelector("input").checked = k === row;
    });
    this.front.mark(row);
    const { complexity, weight, source, ...one } = this.result.candidates[row];
    const windows = one.r2_windows === null ? "" : ` (over windows ${rSquared(one.r2_windows)})`;
    this.facts.textContent = `Candidate ${row + 1}: R² ${rSquared(one.r2)}${windows}, complexity ${complexity}, weight ${short(weight)}, from ${source}`;
    this.downloads.replaceChildren(...Object.entries(FILES).map(([file, words]) =>
      el("a", { class: "button", href: api.download(this.id, row, file), download: file }, words)));
    this.exports.of(this.id, row);
    this.bands = [];
    this.latex = candidate.latex;
    const first = () => {
      this.draw(candidate, this.latex, false);
      this.band(1);
    };
    this.playground = new Playground(this.sliders, {
      model: this.id, candidate, data: this.data, back: first,
      show: (found, latex) => { if (this.candidate === candidate) this.draw(found, latex, true); }, forecast: (until) => this.band(until),
      reads: () => this.reads,
    });
    this.constants.replaceChildren(el("p", { class: "facts" }, "The errors of the constants are being computed."));
    first();
    this.trust(candidate); // it comes when it is ready
  }

  // The constants with their errors, which take a moment.
  async trust(candidate) {
    try {
      const found = await api.trust(this.id, candidate.row);
      if (this.candidate !== candidate) return; // somebody chose another one meanwhile
      const said = this.notes.map(words);
      const remarks = found.remarks.filter((one) => !said.includes(words(one)));
      this.constants.replaceChildren(...constantsTable({ ...found, remarks }));
      this.latex = found.latex;
      if (!this.playground.changed) this.draw({}, found.latex, false);
    } catch (error) {
      if (this.candidate === candidate) this.constants.replaceChildren(el("p", { class: "facts" }, error.message));
    }
  }

  // Bands around the curves, as far as the forecast goes.
  async band(until) {
    const { candidate } = this;
    this.until = until;
    const bands = await api.bands(this.id, candidate.row, until).catch(() => []);
    if (this.candidate !== candidate || this.until !== until) return;
    this.bands = bands;
    if (this.curves) this.draw({ curves: this.curves }, null, true);
  }

  // What is given: curves, what they leave, equations.  While somebody plays, the zoom stays.
  draw({ curves, residuals = this.residuals }, latex, playing) {
    if (latex) katex.render(latex, this.equations, { displayMode: true, throwOnError: false });
    if (!curves) return;
    const end = curves[0].times.at(-1);
    const how = { keepZoom: playing && end === this.end, bands: this.bands };
    this.charts.forEach((chart, j) => chart.draw(j, this.data.trajectories, curves, how));
    Object.assign(this, { end, curves, residuals });
    const slow = () => {
      this.rests.forEach(({ j, chart }) => chart.draw(j, residuals, null, { keepZoom: playing }));
      this.portrait?.draw(this.data.trajectories, curves, playing);
    };
    if (playing) this.pace.draw(slow);
    else this.pace.drawNow(slow);
  }

  candidates() {
    const windows = this.result.candidates.some((one) => one.r2_windows !== null);
    const rows = this.result.candidates.map((one, k) =>
      el("tr", { onclick: (event) => event.target.type !== "radio" && this.choose(k) },
        el("td", {}, el("input", { type: "radio", name: "candidate", "aria-label": `Candidate ${k + 1}`, onchange: () => this.choose(k) })),
        el("td", {}, share(one.weight)), el("td", {}, rSquared(one.r2)),
        ...(windows ? [el("td", {}, rSquared(one.r2_windows))] : []), el("td", {}, String(one.complexity)),
        el("td", { class: "words" }, one.source),
        el("td", { class: "system" }, one.text)));
    const titles = ["", "weight", "R²", ...(windows ? ["R² over windows"] : []), "complexity", "source", "system"];
    const texts = ["source", "system"];
    const head = el("tr", {}, ...titles.map((title) => el("th", { scope: "col", class: texts.includes(title) ? "words" : "" }, title)));
    return el("div", { class: "candidates tight", tabindex: "0", role: "region", "aria-label": "Candidates" },
      el("table", { class: windows ? "windows" : "" }, el("thead", {}, head), el("tbody", {}, ...rows)));
  }

  destroy() {
    this.pace.stop();
    this.reader.disconnect();
    [...this.charts, ...this.rests.map(({ chart }) => chart), ...this.inputs].forEach((chart) => chart.destroy());
  }
}

const heading = (title) => el("h3", { tabindex: "-1" }, title);

// The way to the parts of a result, for those who do not want to scroll.
function ways(parts) {
  const go = (part) => { part.focus({ preventScroll: true }); part.scrollIntoView({ behavior: "smooth" }); };
  return el("nav", { class: "row ways", "aria-label": "Parts of the result" },
    ...Object.entries(parts).map(([title, part]) => el("button", { type: "button", onclick: () => go(part) }, title)));
}

// A note without its numbers: the same note about other windows is the same note.
const words = (note) => note.replace(/[\d.]+/g, "");

// What to try where a result is poor.
function nextSteps(suggestions, again) {
  if (!suggestions.length) return null;
  return el("div", { class: "row next" }, el("strong", {}, "What may help:"),
    ...suggestions.map(({ words, options }) => el("button", { type: "button", onclick: () => again(options) }, words)),
    el("span", { class: "facts" }, "or another role of a column, more points, trajectories from other initial values."));
}

function constantsTable({ text, level, constants, remarks }) {
  const percent = `${short(100 * level)} %`;
  const head = ["", "estimate", "standard error", `interval, ${percent}`, ""];
  const rows = constants.map(({ name, value, error, low, high, determined, trajectory, ...one }) => {
    const told = determined && !one.fixed;
    const marks = ["fixed", "tied", "rounded"].filter((word) => one[word]).join(", ");
    return el("tr", {},
      el("th", { scope: "row", class: "words" }, trajectory ? `${name} (${trajectory})` : name),
      el("td", {}, within(value, error)), el("td", {}, told ? `± ${two(error)}` : "–"),
      el("td", {}, told ? `${low === null ? "−∞" : within(low, error)} to ${high === null ? "∞" : within(high, error)}` : "–"),
      el("td", { class: "words" }, determined ? marks : "not determined by the data"));
  });
  return [
    el("details", { open: true }, el("summary", {}, "Constants and their errors"),
      el("pre", { class: "source", tabindex: "0" }, text),
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Constants" }, el("table", { class: "tight" }, el("thead", {}, el("tr", {}, ...head.map((title) => el("th", { scope: "col" }, title)))),
        el("tbody", {}, ...rows)))),
    ...[notesBox(remarks)].filter(Boolean),
  ];
}

// As many digits as an error leaves, and at least those of the equations.
function within(value, error) {
  const digits = error > 0 ? Math.ceil(Math.log10(Math.abs(value) / error)) + 2 : 0;
  return digits > 4 ? String(Number(value.toPrecision(Math.min(digits, 12)))) : short(value);
}

// An error has two digits.
const two = (value) => (value === null ? "∞" : String(Number(value.toPrecision(2))));

// R2 is never rounded up to 1, a weight never down to 0.
function rSquared(value) {
  if (value === null || value < -1) return value === null ? "–" : "< −1";
  return value > 0.9999 ? ">0.9999" : value.toFixed(4);
}

function share(weight) {
  return weight >= 0.0005 ? weight.toFixed(3) : "<0.001";
}
