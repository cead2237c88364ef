// The page from top to bottom: data, fit, result.

import * as api from "./api.js";
import { byId, el, showError } from "./dom.js";
import { Live } from "./live.js";
import { clearOptionErrors, options, setOptions, showOptionError, showOptions } from "./options.js";
import { foldPreview, showPreview } from "./preview.js";
import { showResult } from "./result.js";

const PREPARING = "preparing"; // a stage that does not count
let server = null;
let table = null; // what was understood of it, and `reading`: what the page says about it
let fit = null; // the id of the one that runs

async function start() {
  server = await api.about();
  byId("about").textContent = `odefinder ${server.version}`;
  byId("sample").append(...server.samples.map(({ name, about }) => el("option", { value: name }, `${name}: ${about}`)));
  const last = window.location.hash.slice(1); // a page that is loaded again shows its result again
  if (last) await showResult(last, server.exports, null).catch(() => window.history.replaceState(null, "", "."));
  showOptions(server.parameters, server.operators);
  listen();
}

async function show(id, onceMore) {
  await showResult(id, server.exports, onceMore);
  window.history.replaceState(null, "", `#${id}`);
}

function listen() {
  const drop = byId("drop");
  byId("sample").addEventListener("change", (event) => {
    if (event.target.value) use(api.sample(event.target.value));
    event.target.value = "";
  });
  byId("file").addEventListener("change", (event) => take([...event.target.files]));
  for (const name of ["dragover", "dragleave", "drop"]) {
    document.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", name === "dragover");
      if (name === "drop") take([...event.dataTransfer.files]);
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

// Files: a saved model, or tables, each with trajectories of its own.
async function take(files) {
  if (!files.length) return;
  byId("file").value = "";
  const large = files.find((file) => file.size > server.upload_limit);
  if (large) {
    showError("data-error", `${large.name} has more than ${server.upload_limit / 2 ** 20} MB; give fewer rows, or use the command line`);
    return;
  }
  const [first] = files;
  const isModel = first.name.endsWith(".json") && (await first.slice(0, 200).text()).includes('"odefinder model"');
  await (isModel ? openModel(first) : use(uploaded(files)));
}

async function uploaded(files) {
  let found = null;
  for (const file of files) found = await api.upload(file, file.name, found?.id);
  return found;
}

async function openModel(file) {
  showError("data-error", null);
  try {
    const { id } = await api.openModel(file, file.name);
    byId("preview").hidden = byId("fit").hidden = true; // they are about another table
    await show(id, null);
  } catch (error) {
    showError("data-error", error.message);
  }
}

async function use(request, reading = null) {
  try {
    table = await request;
    if (table.options) setOptions(table.options); // a sample knows how it is fitted
    const roles = table.chosen ? table.roles : null;
    table.reading = reading ?? { roles, time_unit: "", errors: table.errors ?? "" };
    byId("drop").classList.add("small");
    byId("paste-area").hidden = true;
    showError("data-error", table.error);
    clearOptionErrors();
    showPreview(table, server, changeReading);
    byId("fit").hidden = !table.data;
  } catch (error) {
    showError("data-error", error.message);
  }
}

// A table of inputs on times of their own; null: none.
async function changeInputs(file) {
  try {
    await (file ? api.addInputs(table.id, file, file.name) : api.removeInputs(table.id));
    await use(api.read(table.id, table.reading), table.reading);
  } catch (error) {
    showError("data-error", error.message);
  }
}

// change: { roles }, { time_unit }, { errors } or { inputs }, a file.
async function changeReading(change) {
  if ("inputs" in change) {
    await changeInputs(change.inputs);
    return;
  }
  const reading = { ...table.reading, ...change };
  for (const alone of [["time"], ["trajectory", "group"]]) { // the new one takes over from the old
    const titles = Object.keys(reading.roles ?? {}).filter((title) => alone.includes(reading.roles[title]));
    const [old] = titles.filter((title) => alone.includes(table.roles[title]));
    if (titles.length > 1) reading.roles[old] = "ignore";
  }
  await use(api.read(table.id, reading), reading);
}

async function run() {
  showError("fit-error", null);
  clearOptionErrors();
  running(true);
  const live = new Live(table.data);
  foldPreview();
  try {
    const wish = options();
    const job = await api.startFit(table.id, table.reading, wish);
    fit = job.id;
    const last = await api.follow(fit, (status) => {
      progress(status);
      if (status.best) live.draw(status.best);
    });
    live.close();
    if (last.state === "done") await show(fit, again);
    else refused(last.message, last.option);
  } catch (error) {
    refused(error.message, error.option);
  }
  live.close();
  fit = null;
  running(false);
}

// Stop is there while a fit runs, Fit otherwise.  The keyboard's focus goes from one to the other.
function running(now) {
  const focused = [byId("start"), byId("stop")].includes(document.activeElement);
  byId("start").hidden = now;
  byId("stop").hidden = byId("bar").hidden = !now;
  if (focused) byId(now ? "stop" : "start").focus({ preventScroll: true });
}

// A mistake in an option is shown where it was made.
function refused(message, option) {
  byId("progress").textContent = "";
  if (!option || !showOptionError(option, message)) showError("fit-error", message);
}

// Fit with some other options.
function again(change) {
  setOptions({ ...options(), ...change });
  byId("fit").scrollIntoView({ behavior: "smooth" });
  run();
}

function progress(status) {
  const preparing = status.stage === PREPARING || !status.stage;
  const words = {
    waiting: `waiting: ${status.running} of ${status.processes} processes are busy, ${status.ahead} fits are ahead`,
    running: status.stopping ? "stopping" : preparing ? "preparing (the first fit on a machine takes a minute or two more)" : status.stage,
    done: `done in ${status.seconds.toFixed(1)} s`,
  };
  const said = words[status.state] ?? "";
  if (byId("progress").textContent !== said) byId("progress").textContent = said; // it is read aloud
  const seconds = preparing ? `${status.seconds.toFixed(0)} s` : `${status.searching.toFixed(0)} of at most ${status.budget} s`;
  byId("seconds").textContent = status.state === "running" ? seconds : "";
  if (preparing) byId("bar").removeAttribute("value"); // nobody knows how long
  else byId("bar").value = Math.min(1, status.searching / status.budget);
}

start().catch((error) => showError("data-error", error.message));
