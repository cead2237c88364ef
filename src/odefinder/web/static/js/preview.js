// What was understood of a table: roles over every column, the first rows, notes, and the raw data.

import { SeriesChart } from "./charts.js";
import { byId, el, notesBox, short } from "./dom.js";

const WORDS = {
  observed: "observed", input: "known input", condition: "condition", error: "its error", time: "time",
  trajectory: "trajectory", ignore: "leave out",
};
let charts = [];

export function showPreview(table, roles, changed) {
  const place = byId("preview");
  charts.forEach((chart) => chart.destroy());
  charts = [];
  place.hidden = false;
  const rows = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The first rows" });
  if (table.columns.length) rows.append(tableOf(table, roles, changed));
  const plots = el("div");
  const summary = table.data?.summary ?? `${table.rows} rows`;
  place.replaceChildren(
    el("p", {}, el("strong", {}, table.name), `: ${summary}`),
    ...(table.data ? [factsOf(table.data), notesBox(table.data.notes)].filter(Boolean) : []),
    el("details", { open: true }, el("summary", {}, "The table"), el("div", { class: "beside" }, rows, plots)),
  );
  if (!table.data) return;
  table.data.titles.forEach((title, j) => {
    const chart = el("div", { class: "chart" });
    plots.append(chart);
    charts.push(new SeriesChart(chart, { title, clock: table.data.clock, labels: labelsOf(table.data), height: 160, points: false }));
    charts.at(-1).draw(j, table.data.trajectories);
  });
}

export const labelsOf = (data) => data.trajectories.map((one) => one.label);

export function foldPreview() {
  const details = byId("preview").querySelector("details");
  if (details) details.open = false;
}

function tableOf(table, roles, changed) {
  const mentioned = (title) => (table.error ?? "").includes(`'${title}'`);
  const select = (title) =>
    el("select", { "aria-label": `Role of ${title}`, onchange: (event) => changed({ ...table.roles, [title]: event.target.value }) },
      ...roles.map((role) => el("option", { value: role, selected: table.roles[title] === role }, WORDS[role] ?? role)));
  const head = el("thead", {},
    el("tr", {}, ...table.columns.map((title) => el("th", {}, select(title)))),
    el("tr", {}, ...table.columns.map((title) => el("th", { scope: "col", class: mentioned(title) ? "bad" : "" }, title))));
  const cell = (value) => (typeof value === "number" ? short(value) : value ?? "");
  const body = table.head.map((row) => el("tr", {}, ...row.map((value) => el("td", {}, cell(value)))));
  return el("table", {}, head, el("tbody", {}, ...body));
}

function factsOf(data) {
  const several = data.trajectories.length > 1 ? `${data.trajectories.length} trajectories` : "one trajectory";
  const facts = [several, data.gaps ? `${data.gaps} missing values` : "no gaps"];
  if (data.inputs.length) facts.push(`inputs: ${data.inputs.join(", ")}`);
  if (data.conditions.length) facts.push(`conditions: ${data.conditions.join(", ")}`);
  if (data.errors) facts.push("with standard errors");
  return el("p", { class: "facts" }, facts.join(" · "));
}
