// Elements without innerHTML: every name from the data is text, never markup.

export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name in node && typeof value !== "string") node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

export const byId = (id) => document.getElementById(id);

export function showError(id, message) {
  const place = byId(id);
  place.textContent = message ?? "";
  place.hidden = !message;
}

export function notesBox(notes) {
  if (!notes.length) return null;
  return el("div", { class: "notes" }, el("ul", {}, ...notes.map((note) => el("li", {}, note))));
}

// Four significant digits, as the equations have.
export function short(value) {
  return value === null || value === undefined ? "–" : String(Number(value.toPrecision(4)));
}

export function save(blob, name) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// Without HTTPS the newer way exists on this machine only.
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = el("textarea", { class: "unseen", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
