// What the server can be asked.  Addresses are relative: they keep the token of the page.

async function ask(path, options = {}) {
  let response;
  try {
    response = await fetch(`api/${path}`, options);
  } catch {
    throw new Error("odefinder does not answer; is it still running in the terminal?");
  }
  const answer = await response.json().catch(() => ({ error: `odefinder answered with ${response.status}` }));
  if (!response.ok) throw Object.assign(new Error(answer.error ?? `odefinder answered with ${response.status}`), { option: answer.option });
  return answer;
}

const post = (path, content) =>
  ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(content) });

export const about = () => ask("about");
export const sample = (name) => post(`samples/${encodeURIComponent(name)}`, {});
// after: the id of a table whose further trajectories these are.
export const upload = (body, name, after) =>
  ask(`tables?name=${encodeURIComponent(name)}${after ? `&after=${after}` : ""}`, { method: "POST", body });
// reading: { roles, time_unit, errors }.
export const read = (table, reading) => post(`tables/${table}/reading`, reading);
export const addInputs = (table, body, name) => ask(`tables/${table}/inputs?name=${encodeURIComponent(name)}`, { method: "POST", body });
export const removeInputs = (table) => ask(`tables/${table}/inputs`, { method: "DELETE" });
export const startFit = (table, reading, options) => post("fits", { table, ...reading, options });
export const stopFit = (id) => post(`fits/${id}/stop`, {});
export const openModel = (body, name) => ask(`models?name=${encodeURIComponent(name)}`, { method: "POST", body });
export const result = (id) => ask(`models/${id}`);
export const candidate = (id, row) => ask(`models/${id}/candidates/${row}`);
export const trust = (id, row) => ask(`models/${id}/candidates/${row}/trust`);
export const bands = (id, row, until) => ask(`models/${id}/candidates/${row}/bands?until=${until}`);
export const simulate = (id, wish) => post(`models/${id}/simulate`, wish);
export async function exported(id, row, target) {
  const response = await fetch(`api/models/${id}/${row}/exports/${target}`);
  const text = await response.text();
  if (!response.ok) throw new Error(errorOf(text, response.status));
  return { text, name: response.headers.get("content-disposition").split("filename=")[1] };
}

function errorOf(text, status) {
  try {
    return JSON.parse(text).error;
  } catch {
    return `odefinder answered with ${status}`;
  }
}

export const download = (id, row, file) => `api/models/${id}/${row}/${file}`;

// Calls `report` with every status of a fit; resolves with the last one.
export function follow(id, report) {
  return new Promise((resolve, reject) => {
    const source = new EventSource(`api/fits/${id}/events`);
    source.onmessage = (event) => {
      const status = JSON.parse(event.data);
      report(status);
      if (["done", "failed", "stopped"].includes(status.state)) {
        source.close();
        resolve(status);
      }
    };
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) reject(new Error("the line to odefinder broke; reload the page"));
    };
  });
}
