// The system for other programs: choose one, see the text, copy it or save it.

import * as api from "./api.js";
import { copyText, el, save } from "./dom.js";

export class Exports {
  constructor(place, targets) {
    this.select = el("select", { "aria-label": "Form to copy", onchange: () => this.show() },
      ...targets.map(({ name, title }) => el("option", { value: name }, title)));
    this.text = el("pre", { class: "source", tabindex: "0", "aria-label": "The system as text" });
    this.copy = el("button", { type: "button", onclick: () => this.copied() }, "Copy");
    place.append(
      el("div", { class: "row" }, this.select, this.copy,
        el("button", { type: "button", onclick: () => this.saved() }, "Save")),
      this.text);
  }

  // Another candidate.
  async of(model, row) {
    Object.assign(this, { model, row });
    await this.show();
  }

  async show() {
    const wanted = `${this.row} ${this.select.value}`;
    this.wanted = wanted;
    try {
      const found = await api.exported(this.model, this.row, this.select.value);
      if (this.wanted !== wanted) return; // somebody chose another one meanwhile
      this.found = found;
      this.text.textContent = found.text;
    } catch (error) {
      this.found = null;
      this.text.textContent = error.message;
    }
    this.copy.disabled = !this.found;
  }

  async copied() {
    this.copy.textContent = (await copyText(this.found.text)) ? "Copied" : "Select the text and press Ctrl-C";
    setTimeout(() => { this.copy.textContent = "Copy"; }, 1500);
  }

  saved() {
    if (this.found) save(new Blob([this.found.text], { type: "text/plain" }), this.found.name);
  }
}
