// Elements from values. Everything that a run says enters the page as text, never as markup.

export function h(tag, props, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props || {})) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "class") node.className = value;
    else if (name === "value") node.value = value;
    else if (name === "vars") for (const [key, each] of Object.entries(value)) node.style.setProperty(key, each);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  put(node, children);
  return node;
}

export function put(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

export function fill(node, ...children) {
  node.replaceChildren();
  return put(node, children);
}

export const plural = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

export function ago(at, now = Date.now() / 1000) {
  const s = Math.max(0, now - at);
  if (s < 60) return "now";
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86400) return `${Math.floor(s / 3600)} h`;
  return `${Math.floor(s / 86400)} d`;
}

export function lasted(seconds) {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const m = Math.floor(seconds / 60);
  return m < 60 ? `${m} min ${Math.round(seconds % 60)} s` : `${Math.floor(m / 60)} h ${m % 60} min`;
}

export const clock = (at) => new Date(at * 1000).toLocaleTimeString("en-GB");

export const STATUS = {
  running: "Running", paused: "Waits for you", success: "Succeeded", failed: "Failed",
  cancelled: "Cancelled", interrupted: "Interrupted", unverified: "Unverified", unchanged: "Nothing changed",
  partial: "Partly done",
};

export function pill(status, text) {
  return h("span", { class: `pill s-${status}` }, text || STATUS[status] || status);
}

export function meter(used, limit, label) {
  const share = limit ? Math.min(1, used / limit) : 0;
  const level = share >= 0.9 ? "high" : share >= 0.6 ? "mid" : "low";
  return h("div", { class: `meter ${level}`, role: "meter", "aria-label": label, "aria-valuemin": 0, "aria-valuemax": limit, "aria-valuenow": used },
    h("span", { class: "fill", vars: { "--share": `${share * 100}%` } }));
}

export function stat(name, value, hint) {
  return h("div", { class: "stat", title: hint }, h("dt", {}, name), h("dd", {}, value));
}

export function delta(added, removed) {
  return h("span", { class: "delta" }, h("span", { class: "plus" }, `+${added}`), " ", h("span", { class: "minus" }, `−${removed}`));
}

export function lines(added, removed) {
  return added || removed ? delta(added, removed) : null;
}

let saying = 0;
export function say(text, kind = "") {
  const place = document.getElementById("said");
  if (!place) return;
  fill(place, h("p", { class: kind }, text));
  clearTimeout(saying);
  saying = setTimeout(() => fill(place), kind === "bad" ? 12000 : 5000);
}

// A list of thousands of rows of one height: only those in sight are in the document.
export class LongList extends HTMLElement {
  constructor() {
    super();
    this.rows = [];
    this.height = 28;
    this.draw = () => h("div");
    this.first = -1;
  }

  connectedCallback() {
    this.tabIndex = 0;
    this.onscroll = () => this.show();
    this.watch = new ResizeObserver(() => { this.first = -1; this.show(); });
    this.watch.observe(this);
    this.show();
  }

  disconnectedCallback() { this.watch?.disconnect(); }

  set(rows) {
    const stick = this.sticks && this.scrollTop + this.clientHeight >= this.scrollHeight - 2 * this.height;
    this.rows = rows;
    this.first = -1;
    this.show();
    if (stick) this.scrollTop = this.scrollHeight;
  }

  show() {
    const first = Math.max(0, Math.floor(this.scrollTop / this.height) - 10);
    const last = Math.min(this.rows.length, first + Math.ceil((this.clientHeight || 600) / this.height) + 20);
    if (first === this.first && last === this.last) return;
    this.first = first;
    this.last = last;
    if (!this.inner) this.inner = this.appendChild(h("div", { class: "long", role: "presentation" }));
    this.inner.style.height = `${this.rows.length * this.height}px`;
    const shown = this.rows.slice(first, last).map((row, n) => {
      const node = this.draw(row, first + n);
      node.style.top = `${(first + n) * this.height}px`;
      return node;
    });
    this.inner.replaceChildren(...shown);
  }

  reveal(n) {
    const top = n * this.height;
    if (top < this.scrollTop) this.scrollTop = top;
    else if (top + this.height > this.scrollTop + this.clientHeight) this.scrollTop = top + this.height - this.clientHeight;
    this.first = -1;
    this.show();
  }
}
customElements.define("long-list", LongList);
