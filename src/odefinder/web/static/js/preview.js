// What was understood of a table: roles over every column, the first rows, notes, and the raw data.

import { SeriesChart } from "./charts.js";
import { byId, el, notesBox, short } from "./dom.js";
import { Group } from "./sections.js";

const WORDS = {
  observed: "observed", input: "known input", hold: "known input, held", condition: "condition", error: "its error", time: "time",
  trajectory: "trajectory", group: "trajectory and condition", ignore: "leave out",
};
const MEANING = {
  observed: "a variable that gets an equation.",
  "known input": "a signal that drives the system, such as a force or a voltage. Held: each value stays until the next. One that was recorded at other times goes into a table of its own, below.",
  condition: "a number that stays the same within a trajectory, such as a temperature.",
  "its error": "the standard errors of another column.",
  trajectory: "it tells experiments apart; trajectory and condition: its number is also a condition of each.",
  "leave out": "it is not used.",
};
let charts = [];

// changed: called with what somebody changed, { roles }, { time_unit }, { errors } or { inputs }, a file.
export function showPreview(table, server, changed) {
  const place = byId("preview");
  charts.forEach((chart) => chart.destroy());
  charts = [];
  place.hidden = false;
  const rows = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The first rows" });
  if (table.columns.length) rows.append(tableOf(table, server.roles, changed));
  const plots = el("div");
  const summary = table.data?.summary ?? `${table.rows} rows`;
  const left = el("div", {}, ...(table.columns.length ? [help()] : []), rows, settings(table, server, changed));
  place.replaceChildren(
    el("p", {}, el("strong", {}, table.name), `: ${summary}`),
    ...(table.data ? [factsOf(table.data), notesBox(table.data.notes)].filter(Boolean) : []),
    el("details", { open: true }, el("summary", {}, "The table"), el("div", { class: "beside" }, left, plots)),
  );
  if (!table.data) return;
  const { titles, inputs, trajectories } = table.data;
  const group = new Group();
  const add = (title, height, kind) => {
    const box = el("div", { class: "chart" });
    plots.append(box);
    charts.push(new SeriesChart(box, { title, ...looksOf(table.data), height, kind, group }));
    return charts.at(-1);
  };
  titles.forEach((title, j) => add(title, 160, "points").draw(j, trajectories));
  inputs.forEach((name, j) => add(`${name} (input)`, 120, "lines").draw(0, inputsOf(table.data, j)));
}

// One of the inputs of every trajectory, as a chart reads it.
export const inputsOf = (data, j) =>
  data.trajectories.map(({ inputs }) => ({ times: inputs[j].times, states: [inputs[j].values] }));

// What a chart must know of the data.
export const looksOf = (data) => ({
  clock: data.clock,
  labels: data.trajectories.map((one) => one.label),
  points: Math.max(...data.trajectories.map((one) => one.times.length)),
});

export function foldPreview() {
  const details = byId("preview").querySelector("details");
  if (details) details.open = false;
}

function tableOf(table, roles, changed) {
  const mentioned = (title) => (table.error ?? "").includes(`'${title}'`);
  const select = (title) =>
    el("select", { "aria-label": `Role of ${title}`, onchange: (event) => changed({ roles: { ...table.roles, [title]: event.target.value } }) },
      ...roles.map((role) => el("option", { value: role, selected: table.roles[title] === role }, WORDS[role] ?? role)));
  const head = el("thead", {},
    el("tr", {}, ...table.columns.map((title) => el("th", {}, select(title)))),
    el("tr", {}, ...table.columns.map((title) => el("th", { scope: "col", class: mentioned(title) ? "bad" : "" }, title))));
  const cell = (value) => (typeof value === "number" ? short(value) : value ?? "");
  const body = table.head.map((row) => el("tr", {}, ...row.map((value) => el("td", {}, cell(value)))));
  return el("table", {}, head, el("tbody", {}, ...body));
}

const help = () => el("details", { class: "facts" }, el("summary", {}, "Say over each column what it is (what the roles mean)"),
  el("ul", {}, ...Object.entries(MEANING).map(([role, words]) => el("li", {}, el("strong", {}, role), `: ${words}`))));

// What no column says: the unit of time, and standard errors.
function settings({ reading, data, inputs_name: inputs }, { time_units: units }, changed) {
  const unit = el("select", { "aria-label": "Unit of time", onchange: (event) => changed({ time_unit: event.target.value }) },
    el("option", { value: "" }, "as it is"),
    ...units.map((name) => el("option", { value: name, selected: reading.time_unit === name }, name)));
  const errors = el("input", { type: "text", placeholder: example(data?.variables ?? ["x", "y"]), onchange: (event) => changed({ errors: event.target.value }) });
  errors.value = reading.errors;
  const file = el("input", { type: "file", class: "unseen", onchange: (event) => event.target.files[0] && changed({ inputs: event.target.files[0] }) });
  const remove = el("button", { type: "button", onclick: () => changed({ inputs: null }) }, "Remove it");
  return el("div", { class: "options" }, el("label", {}, "Count the time in", unit),
    el("label", {}, "Standard errors that no column has", errors),
    el("div", { class: "field", role: "group", "aria-label": "Inputs with times of their own" },
      el("span", {}, `Inputs with times of their own: ${inputs || "none"}`),
      el("div", { class: "row" }, el("label", { class: "button" }, inputs ? "Another table" : "Add a table", file), ...(inputs ? [remove] : []))));
}

const example = (names) => names.slice(0, 2).map((name, k) => `${name}=0.${k + 1}`).join(", ");

function factsOf(data) {
  const several = data.trajectories.length > 1 ? `${data.trajectories.length} trajectories` : "one trajectory";
  const facts = [several, data.gaps ? `${data.gaps} missing values` : "no gaps"];
  if (data.inputs.length) facts.push(`inputs: ${data.inputs.join(", ")}`);
  if (data.conditions.length) facts.push(`conditions: ${data.conditions.join(", ")}`);
  if (data.errors) facts.push("with standard errors");
  return el("p", { class: "facts" }, facts.join(" · "));
}
