// The page from top to bottom: data, fit, result.

import * as api from "./api.js";
import { byId, el, showError } from "./dom.js";
import { Live } from "./live.js";
import { options, setOptions, showOptions } from "./options.js";
import { foldPreview, showPreview } from "./preview.js";
import { showResult } from "./result.js";

const USUAL_BUDGET = 10; // seconds
let server = null;
let table = null;
let fit = null; // the id of the one that runs

async function start() {
  server = await api.about();
  byId("about").textContent = `odefinder ${server.version}`;
  byId("sample").append(...server.samples.map(({ name, about }) => el("option", { value: name }, `${name}: ${about}`)));
  showOptions(server.parameters, server.operators);
  listen();
}

function listen() {
  const drop = byId("drop");
  byId("sample").addEventListener("change", (event) => {
    if (event.target.value) use(api.sample(event.target.value));
    event.target.value = "";
  });
  byId("file").addEventListener("change", (event) => take(event.target.files[0]));
  for (const name of ["dragover", "dragleave", "drop"]) {
    document.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", name === "dragover");
      if (name === "drop") take(event.dataTransfer.files[0]);
    });
  }
  byId("paste").addEventListener("click", () => {
    byId("paste-area").hidden = !byId("paste-area").hidden;
    byId("paste").setAttribute("aria-expanded", String(!byId("paste-area").hidden));
    if (!byId("paste-area").hidden) byId("pasted").focus();
  });
  byId("use-pasted").addEventListener("click", () => use(api.upload(byId("pasted").value, "pasted.csv")));
  byId("start").addEventListener("click", run);
  byId("stop").addEventListener("click", () => fit && api.stopFit(fit).catch((error) => showError("fit-error", error.message)));
}

// A file: a saved model, or a table.
async function take(file) {
  if (!file) return;
  byId("file").value = "";
  if (file.size > server.upload_limit) {
    showError("data-error", `${file.name} has more than ${server.upload_limit / 2 ** 20} MB; give fewer rows, or use the command line`);
    return;
  }
  const isModel = file.name.endsWith(".json") && (await file.slice(0, 200).text()).includes('"odefinder model"');
  if (!isModel) {
    await use(api.upload(file, file.name));
    return;
  }
  showError("data-error", null);
  try {
    await showResult((await api.openModel(file, file.name)).id, server.exports);
  } catch (error) {
    showError("data-error", error.message);
  }
}

async function use(request) {
  try {
    table = await request;
    if (table.options) {
      setOptions(table.options); // a sample knows how it is fitted, and what its columns are
      table.chosen = true;
    }
    byId("drop").classList.add("small");
    byId("paste-area").hidden = true;
    showError("data-error", table.error);
    showPreview(table, server.roles, changeRoles);
    byId("fit").hidden = !table.data;
  } catch (error) {
    showError("data-error", error.message);
  }
}

async function changeRoles(roles) {
  const one = (role) => Object.keys(roles).filter((title) => roles[title] === role);
  for (const role of ["time", "trajectory"]) { // the new one takes over from the old
    const [old] = one(role).filter((title) => table.roles[title] === role);
    if (one(role).length > 1) roles[old] = "ignore";
  }
  table.chosen = true;
  await use(api.withRoles(table.id, roles).then((found) => ({ ...found, chosen: true })));
}

async function run() {
  showError("fit-error", null);
  byId("start").disabled = true;
  byId("stop").hidden = byId("bar").hidden = false;
  const live = new Live(table.data);
  foldPreview();
  try {
    const wish = options();
    const job = await api.startFit(table.id, table.chosen ? table.roles : null, wish);
    fit = job.id;
    const last = await api.follow(fit, (status) => {
      progress(status, wish.time_budget);
      if (status.best) live.draw(status.best);
    });
    live.close();
    if (last.state === "done") {
      await showResult(fit, server.exports);
    } else {
      showError("fit-error", last.message);
    }
  } catch (error) {
    showError("fit-error", error.message);
  }
  live.close();
  fit = null;
  byId("start").disabled = false;
  byId("stop").hidden = byId("bar").hidden = true;
}

function progress(status, budget) {
  const words = {
    waiting: `waiting: ${status.running} of ${status.processes} processes are busy, ${status.ahead} fits are ahead`,
    running: status.stopping ? "stopping" : status.stage || "starting",
    done: `done in ${status.seconds.toFixed(1)} s`,
  };
  const said = words[status.state] ?? "";
  if (byId("progress").textContent !== said) byId("progress").textContent = said; // it is read aloud
  byId("seconds").textContent = status.state === "running" ? `${status.seconds.toFixed(0)} s` : "";
  byId("bar").value = Math.min(1, status.seconds / (budget ?? USUAL_BUDGET));
}

start().catch((error) => showError("data-error", error.message));
