// Sliders for constants, initial values and inputs, and a forecast.  The page simulates; the server writes the
// equations, and helps where a system is too hard for the page.

import * as api from "./api.js";
import { el, short } from "./dom.js";
import { Signals, evaluator, integrate, withColumns, withConstants } from "./integrate.js";

const STEPS = 200; // of a slider
const [POINTS, FEWEST] = [400, 120]; // of a curve that follows a slider; fewer each where there are several
const REST = 400; // milliseconds
const WRITING = 200; // milliseconds between two sets of equations: to set them takes as long as a frame
const SLID = 3; // trajectories with sliders for their starts: more would fill the page
const REMARKS = { "ran away": "The solution runs away; later values are not drawn." };

export class Playground {
  // show({ curves, residuals }, latex): called with every simulation; what did not change is left out.
  // back(): the sliders are at the result again.
  // forecast(until): how many durations of the data the curves last now.
  // reads(): whether somebody sees the equations.
  constructor(place, { model, candidate, data, show, back, forecast, reads }) {
    Object.assign(this, { place, model, candidate, data, show, reads });
    this.columns = [...data.inputs, ...data.conditions];
    this.grids = {};
    this.sizes = sizesOf(candidate.curves, data.variables.length);
    this.reset();
    this.remark = el("p", { class: "facts", role: "status" }, " ");
    place.replaceChildren(
      el("div", { class: "sliders" }, ...this.constantSliders(), ...this.startSliders(), ...this.inputSliders(),
        this.slider("forecast, times the data", 1, (now) => { this.until = now; this.rest(() => forecast(now)); }, 1, 5)),
      el("div", { class: "row" }, el("button", { type: "button", onclick: () => { this.back(); back(); } }, "Back to the result")),
      this.remark,
    );
  }

  reset() {
    this.constants = this.candidate.constants.map((one) => one.value);
    this.varied = this.candidate.varied.map(({ values }) => [...values]);
    this.starts = this.candidate.starts.map((start) => [...start]);
    this.factors = [...this.columns.map(() => 1), 1];
    this.until = 1;
  }

  back() {
    this.reset();
    for (const input of this.place.querySelectorAll("input")) {
      input.value = input.dataset.first;
      say(input, Number(input.dataset.first));
    }
    this.remark.textContent = " ";
    this.changed = false;
  }

  constantSliders() {
    const { constants, varied } = this.candidate;
    const alike = constants.map(({ name, equations, value }, k) =>
      this.slider(`${name} in ${equations.join(", ")}`, value, (now) => { this.constants[k] = now; }));
    const differing = varied.flatMap(({ name, values }, k) => values.slice(0, SLID).map((value, i) =>
      this.slider(`${name} of ${this.data.trajectories[i].label}`, value, (now) => { this.varied[k][i] = now; })));
    return [...alike, ...differing];
  }

  startSliders() {
    const { trajectories, variables } = this.data;
    return this.candidate.starts.slice(0, SLID).flatMap((start, i) => start.map((value, j) => {
      const of = trajectories.length > 1 ? ` of ${trajectories[i].label}` : "";
      return this.slider(`start of ${variables[j]}${of}`, value, (now) => { this.starts[i][j] = now; });
    }));
  }

  inputSliders() {
    const factor = (name, k) => this.slider(`${name}, times its values`, 1, (now) => { this.factors[k] = now; }, -1, 3);
    const doses = this.data.doses ? [factor("doses", this.columns.length)] : [];
    return [...this.columns.map(factor), ...doses];
  }

  slider(name, value, set, low = null, high = null) {
    const width = Math.abs(value) || 1;
    const [min, max] = [low ?? value - width, high ?? value + width];
    const shown = el("span", { class: "value", "aria-hidden": "true" });
    const input = el("input", { type: "range", min: String(min), max: String(max), step: String((max - min) / STEPS), "aria-label": name });
    input.value = String(value);
    input.dataset.first = String(value);
    input.addEventListener("input", () => {
      say(input, Number(input.value));
      set(Number(input.value));
      this.later();
    });
    const label = el("label", {}, el("span", {}, name), shown, input);
    say(input, value);
    return label;
  }

  // When the slider has come to rest: bands take a while.
  rest(then) {
    clearTimeout(this.timer);
    this.timer = setTimeout(then, REST);
  }

  // Once per frame of the screen, however often a slider moves.
  later() {
    this.changed = true;
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = null;
      if (!this.changed) return;
      const found = this.simulated();
      if (found) {
        this.remark.textContent = found.remark ?? " ";
        this.show(found);
      }
      this.hard = !found;
      clearTimeout(this.writing);
      if (this.hard || this.reads()) this.ask();
      else this.writing = setTimeout(() => this.ask(), REST); // nobody sees the equations now
    });
  }

  // On the page; null if the server must do it.
  simulated() {
    if (!this.candidate.driving) return null;
    const { trajectories, explicit_time: explicit } = this.data;
    const { candidate } = this;
    const derivative = evaluator(withConstants(candidate.program, candidate, this.constants));
    const time = explicit ? this.columns.length : -1;
    const curves = [];
    const residuals = [];
    let remark = null;
    for (const [i, one] of trajectories.entries()) {
      const { times, rows } = this.grid(i);
      const own = candidate.varied.map(({ column }, k) => ({ column, value: this.varied[k][i] }));
      const driving = own.length ? withColumns(candidate.driving[i], own) : candidate.driving[i];
      const signals = new Signals(driving, this.factors, time);
      const { states, status } = integrate(derivative, this.starts[i], times, signals, this.sizes);
      if (status === "too hard") return null;
      remark ??= REMARKS[status];
      curves.push({ times, states });
      const left = one.states.map((column, j) => column.map((value, k) => minus(value, states[j][rows[k]])));
      residuals.push({ times: one.times, states: left });
    }
    return { curves, residuals, remark };
  }

  // A fine grid with the times of the data in it, and where these are.
  grid(i) {
    const key = `${i} ${this.until}`;
    if (this.grids.key !== this.until) this.grids = { key: this.until };
    const { trajectories } = this.data;
    const points = Math.max(FEWEST, POINTS / trajectories.length ** 0.5);
    this.grids[key] ??= merged(trajectories[i].times, this.until, points);
    return this.grids[key];
  }

  // One request at a time, and equations not with every frame; what changed meanwhile goes with the next one.
  async ask() {
    const curves = this.hard;
    this.again = this.busy;
    if (this.busy) return;
    this.busy = true;
    try {
      const { constants, varied, starts, factors, until } = this;
      const wish = { row: this.candidate.row, constants, varied, starts, factors, until, curves };
      const found = await api.simulate(this.model, wish);
      if (this.changed) {
        if (curves) this.remark.textContent = found.curves.map((one) => one.remark).find(Boolean) ?? " ";
        this.show(curves ? found : {}, found.latex);
      }
    } catch (error) {
      this.remark.textContent = error.message;
    }
    if (!curves) await new Promise((next) => setTimeout(next, WRITING));
    this.busy = false;
    if (this.again) this.ask();
  }
}

// The value of a slider, above it and for those who listen.
function say(input, value) {
  input.previousElementSibling.textContent = short(value);
  input.setAttribute("aria-valuetext", short(value));
}

const minus = (a, b) => (a === null || b === null || b === undefined ? null : a - b);

// How large each variable is along the curves of the result.
function sizesOf(curves, dimension) {
  return Array.from({ length: dimension }, (_, j) =>
    curves.reduce((most, { states }) => states[j].reduce((a, b) => Math.max(a, Math.abs(b ?? 0)), most), 0) || 1);
}

function merged(data, until, points) {
  const [begin, end] = [data[0], data.at(-1)];
  const count = Math.floor(points * Math.max(1, until) ** 0.5);
  const fine = Array.from({ length: count }, (_, k) => begin + ((until * (end - begin)) * k) / (count - 1));
  const times = [...new Set([...fine, ...data])].sort((a, b) => a - b);
  const place = new Map(times.map((time, k) => [time, k]));
  return { times, rows: data.map((time) => place.get(time)) };
}
