// Sliders for constants and initial values, and a forecast: the server simulates, the charts follow.

import * as api from "./api.js";
import { el, short } from "./dom.js";

const STEPS = 200;

export class Playground {
  // show(curves, latex): called with every simulation; null where the sliders are back at the result.
  constructor(place, model, candidate, variables, labels, show) {
    this.model = model;
    this.candidate = candidate;
    this.show = show;
    this.reset();
    this.remark = el("p", { class: "facts", role: "status" }, " ");
    const constants = candidate.constants.map((one, k) => ({ ...one, k })).filter(({ value }) => Math.abs(value) !== 1);
    this.inputs = constants.map(({ equation, value, k }) => this.slider(`in ${equation}'`, value, (now) => { this.constants[k] = now; }));
    candidate.starts.forEach((start, i) => start.forEach((value, j) => {
      if (i >= 3) return; // more would fill the page
      const of = labels.length > 1 ? ` of ${labels[i]}` : "";
      this.inputs.push(this.slider(`start of ${variables[j]}${of}`, value, (now) => { this.starts[i][j] = now; }));
    }));
    const forecast = this.slider("forecast, times the data", 1, (now) => { this.until = now; }, 1, 5);
    place.replaceChildren(
      el("div", { class: "sliders" }, ...this.inputs, forecast),
      el("div", { class: "row" }, el("button", { type: "button", onclick: () => this.back() }, "Back to the result")),
      this.remark,
    );
    this.place = place;
  }

  reset() {
    this.constants = this.candidate.constants.map((one) => one.value);
    this.starts = this.candidate.starts.map((start) => [...start]);
    this.until = 1;
  }

  back() {
    this.reset();
    for (const input of this.place.querySelectorAll("input")) {
      input.value = input.dataset.first;
      input.previousElementSibling.textContent = short(Number(input.dataset.first));
    }
    this.remark.textContent = " ";
    this.show(null);
  }

  slider(name, value, set, low = null, high = null) {
    const width = Math.abs(value) || 1;
    const [min, max] = [low ?? value - width, high ?? value + width];
    const output = el("output", {}, short(value));
    const input = el("input", { type: "range", min: String(min), max: String(max), step: String((max - min) / STEPS), "aria-label": name });
    input.value = String(value);
    input.dataset.first = String(value);
    input.addEventListener("input", () => {
      output.textContent = short(Number(input.value));
      set(Number(input.value));
      this.simulate();
    });
    return el("label", {}, name, output, input);
  }

  // One request at a time; what changed meanwhile goes with the next one.
  async simulate() {
    this.again = this.busy;
    if (this.busy) return;
    this.busy = true;
    try {
      const wish = { row: this.candidate.row, constants: this.constants, starts: this.starts, until: this.until };
      const found = await api.simulate(this.model, wish);
      this.remark.textContent = found.curves.map((one) => one.remark).find(Boolean) ?? " ";
      this.show(found.curves, found.latex);
    } catch (error) {
      this.remark.textContent = error.message;
    }
    this.busy = false;
    if (this.again) this.simulate();
  }
}
