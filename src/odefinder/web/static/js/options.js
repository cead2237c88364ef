// The options of a fit: few and plain, and only those that this version of odefinder has.

import { byId, el } from "./dom.js";

const FIELDS = {
  time_budget: { label: "Seconds it may take", type: "number", min: "0.5", step: "0.5", placeholder: "10 or more" },
  order: { label: "Order (2: accelerations)", type: "text", placeholder: "1, 2, or theta=2" },
  hidden: { label: "Variables nobody measured", type: "number", min: "0", max: "3", step: "1" },
  operators: { label: "Allowed functions; empty: all", type: "text", placeholder: "sin, pow2, inv", list: true },
  known: { label: "What you know of the equations", type: "text", placeholder: "x' = -k*x + ?" },
  guess: { label: "Equations to start from", type: "text", placeholder: "x' = a*x - x*y; y' = ...", more: true },
  fixed: { label: "Constants that you know", type: "text", placeholder: "g=9.81", more: true },
  bounds: { label: "Bounds of constants", type: "text", placeholder: "b=0:2, c=0:", more: true },
  positive: { label: "Variables that stay positive", type: "text", placeholder: "x, y", more: true },
  conserve: { label: "Sums that stay the same", type: "text", placeholder: "S + I + R", more: true },
  explicit_time: { label: "The equations may contain t", type: "checkbox", more: true },
  samples: { label: "Systems that the network proposes", type: "number", min: "1", step: "1", more: true },
  random_state: { label: "Seed", type: "number", min: "0", step: "1", more: true },
  network: { label: "The network proposes systems", type: "checkbox", more: true },
  sparse: { label: "Sparse regression proposes equations", type: "checkbox", more: true },
};

export function showOptions(parameters, operators) {
  const fields = Object.entries(FIELDS).filter(([name]) => name in parameters);
  const field = ([name, { label, more, list, ...attributes }]) => {
    const value = parameters[name];
    const input = el("input", { name, ...attributes, ...(list ? { title: operators.join(", ") } : {}) });
    if (attributes.type === "checkbox") input.checked = value;
    else input.value = value ?? "";
    input.dataset.first = String(value ?? "");
    return attributes.type === "checkbox" ? el("label", { class: "check" }, input, label) : el("label", {}, label, input);
  };
  const more = fields.filter(([, one]) => one.more).map(field);
  byId("options").replaceChildren(
    ...fields.filter(([, one]) => !one.more).map(field),
    el("details", {}, el("summary", {}, "More"), el("div", {}, ...more)),
  );
  byId("options").addEventListener("submit", (event) => event.preventDefault());
}

// The defaults with these values instead.
export function setOptions(values) {
  for (const input of byId("options").querySelectorAll("input")) {
    const value = values[input.name] ?? input.dataset.first;
    if (input.type === "checkbox") input.checked = value === true || value === "true";
    else input.value = value;
  }
}

// What differs from nothing: an empty field leaves the default.
export function options() {
  const found = {};
  for (const input of byId("options").querySelectorAll("input")) {
    if (input.type === "checkbox") found[input.name] = input.checked;
    else if (input.value.trim() !== "") found[input.name] = input.type === "number" ? Number(input.value) : input.value;
  }
  return found;
}
