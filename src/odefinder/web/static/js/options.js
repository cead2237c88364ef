// The options of a fit: few and plain, and only those that this version of odefinder has.

import { byId, el } from "./dom.js";

const FIELDS = {
  time_budget: { label: "Seconds it may take", type: "number", min: "0.5", step: "0.5", placeholder: "10 or more" },
  order: { label: "Order (2: accelerations)", type: "text", placeholder: "1, 2, or theta=2" },
  hidden: { label: "Variables nobody measured", type: "number", min: "0", step: "1" },
  operators: { label: "Allowed functions (empty: all)", type: "text", placeholder: "sin, pow2, inv", list: true },
  known: { label: "Known equations (? is sought)", type: "text", placeholder: "x' = -k*x + ?" },
  guess: { label: "Equations to start from", type: "text", placeholder: "x' = a*x - x*y; y' = ...", more: true },
  fixed: { label: "Known constants and starts", type: "text", placeholder: "g=9.81, x(0)=1", more: true },
  bounds: { label: "Bounds of constants and starts", type: "text", placeholder: "b=0:2, c=0:, x(0)=0:", more: true },
  vary: { label: "Constants of each trajectory", type: "text", placeholder: "k, r: these differ", more: true },
  terms: { label: "Allowed or forbidden (!) terms", type: "text", placeholder: "x = x, x*y; y = !y^2", more: true },
  positive: { label: "Variables that stay positive", type: "text", placeholder: "x, y, or all", more: true },
  conserve: { label: "Sums that stay the same", type: "text", placeholder: "S + I + R", more: true },
  explicit_time: { label: "The equations may contain t", type: "checkbox", more: true },
  samples: { label: "Proposals of the network", type: "number", min: "1", step: "1", more: true },
  round_constants: { label: "Simple numbers where the data allow it", type: "checkbox", more: true },
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
  const some = (chosen) => fields.filter(([, one]) => chosen(one)).map(field);
  const checks = el("div", { class: "checks" }, ...some(({ type }) => type === "checkbox"));
  byId("options").replaceChildren(
    ...some(({ more }) => !more),
    el("details", {}, el("summary", {}, "More"), el("div", {}, ...some(({ more, type }) => more && type !== "checkbox"), checks)),
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

// Next to the field; whether there is one.
export function showOptionError(name, message) {
  const input = byId("options").querySelector(`[name="${name}"]`);
  if (!input) return false;
  const id = `error-${name}`;
  input.after(el("span", { id, class: "error", role: "alert" }, message));
  input.setAttribute("aria-invalid", "true");
  input.setAttribute("aria-describedby", id);
  const more = input.closest("details");
  if (more) more.open = true;
  input.focus();
  return true;
}

export function clearOptionErrors() {
  byId("options").querySelectorAll(".error").forEach((one) => one.remove());
  byId("options").querySelectorAll("[aria-invalid]").forEach((one) => one.removeAttribute("aria-invalid"));
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
