// Elements from values. Everything that a run says enters the page as text, never as markup.

export function h(tag, props, ...children) {
  const node = document.createElement(tag);
  // Only a button that says so sends a form.
  if (tag === "button") node.type = "button";
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

const REACHED = "a, button, input, select, textarea, summary, [tabindex]";
const called = (node) => `${node.tagName} ${node.dataset.place || node.getAttribute("aria-label") || node.labels?.[0]?.textContent || node.textContent}`;
const alike = (node, name) => [...node.querySelectorAll(REACHED)].filter((each) => called(each) === name);

// Focus the nearest box, so that the next Tab does not begin at the top of the page.
export const settle = (node) => node.closest("[tabindex]")?.focus({ preventScroll: true });

// A redraw keeps the focus and what was typed: on the same control, or else on its box.
export function fill(node, ...children) {
  const held = document.activeElement !== node && node.contains(document.activeElement) ? document.activeElement : null;
  const name = held && called(held);
  const nth = held && alike(node, name).indexOf(held);
  node.replaceChildren();
  put(node, children);
  if (!held) return node;
  const again = node.contains(held) ? held : alike(node, name)[nth];
  if (again && again !== held && held.matches("textarea, [type=text], [type=number], [type=search]")) again.value = held.value;
  again?.focus({ preventScroll: true });
  if (!node.contains(document.activeElement)) settle(node);
  return node;
}

export const capital = (text) => text[0].toUpperCase() + text.slice(1);

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

// The core chooses the words for a run's status.
export const pill = (told) => h("span", { class: `pill s-${told.status}` }, told.words);

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

export const lines = (added, removed) => (added || removed ? delta(added, removed) : null);

export function longList(name, options) {
  const list = document.createElement("long-list");
  list.setAttribute("role", "list");
  list.setAttribute("aria-label", name);
  return Object.assign(list, options);
}

// What a yes and a no are called for each kind of question; one that only rests needs neither.
export const ANSWERS = {
  extension: ["Extend", "End the run"], promotion: ["Allow changes", "Keep it read-only"], review: ["Accept", "Send back"],
  checkpoint: ["Accept the checkpoint", "Send back"], failure: ["Try again", "Let the step fail"], "weakened-tests": ["Accept the changed tests", "Refuse them"],
};
export const RESTING = ["person", "driver", "content-filter", "limit", "guard"];

let saying = 0;
export function say(text, kind = "", ...more) {
  const place = document.getElementById("said");
  if (!place) return;
  fill(place, h("p", { class: kind }, text, more));
  clearTimeout(saying);
  saying = setTimeout(() => fill(place), kind === "bad" ? 12000 : more.length ? 6000 : 5000);
}

// A list of thousands of rows, each as high as it is: only those near the window are in the
// document, and empty space stands for the others. A row keeps its element while it stays the
// same, so that focus, selection and the place that is being read survive every change.
const NEAR = 500;
export class LongList extends HTMLElement {
  constructor() {
    super();
    this.rows = [];
    this.nodes = new Map();
    this.heights = new Map();
    this.guess = 28;
    this.key = (row, n) => n;
    this.mark = () => "";
    this.draw = () => h("div");
    this.scrolled = (event) => { if (event.target.contains?.(this)) this.show(); };
  }

  connectedCallback() {
    document.addEventListener("scroll", this.scrolled, { capture: true, passive: true });
    this.watch = new ResizeObserver(() => {
      if (this.width !== this.clientWidth) { this.width = this.clientWidth; this.heights.clear(); }
      this.show();
    });
    this.watch.observe(this);
    this.watch.observe(document.documentElement);
    this.show();
  }

  disconnectedCallback() {
    document.removeEventListener("scroll", this.scrolled, { capture: true });
    this.watch?.disconnect();
  }

  set(rows) {
    this.rows = rows;
    this.tops = null;
    this.show();
  }

  // Where each row begins; the last is where the list ends.
  measure() {
    if (this.tops) return this.tops;
    const tops = new Float64Array(this.rows.length + 1);
    for (let n = 0; n < this.rows.length; n += 1) tops[n + 1] = tops[n] + (this.heights.get(this.key(this.rows[n], n)) ?? this.guess);
    this.tops = tops;
    return tops;
  }

  // The first row that ends behind a place.
  rowAt(tops, place) {
    let [low, high] = [0, this.rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (tops[middle + 1] <= place) low = middle + 1; else high = middle;
    }
    return low;
  }

  show(also = -1) {
    if (!this.isConnected) return;
    for (let again = 0; again < 3; again += 1) {
      const tops = this.measure();
      const top = this.getBoundingClientRect().top;
      const first = this.rowAt(tops, -top - NEAR);
      const last = Math.min(this.rows.length, this.rowAt(tops, window.innerHeight - top + NEAR) + 1);
      const wanted = new Set();
      for (let n = first; n < last; n += 1) wanted.add(n);
      if (also >= 0) wanted.add(also);
      const held = this.contains(document.activeElement) ? this.rows.findIndex((row, n) => this.nodes.get(this.key(row, n))?.node.contains(document.activeElement)) : -1;
      if (held >= 0) wanted.add(held);
      this.put([...wanted].sort((a, b) => a - b), tops);
      if (!this.sized()) return;
    }
  }

  put(wanted, tops) {
    const held = this.contains(document.activeElement) ? document.activeElement : null;
    const kept = new Map();
    const found = [];
    let end = 0;
    for (const n of wanted) {
      if (n > end) found.push(this.space(tops[n] - tops[end]));
      const key = this.key(this.rows[n], n);
      const mark = this.mark(this.rows[n], n);
      let known = this.nodes.get(key);
      if (!known || known.mark !== mark) {
        const node = this.draw(this.rows[n], n);
        if (known?.node.contains(document.activeElement)) { known.node.replaceWith(node); (node.querySelector("a, button") || node).focus(); }
        known = { node, mark };
      }
      if (known.node.getAttribute("role")) {
        known.node.setAttribute("aria-setsize", this.rows.length);
        known.node.setAttribute("aria-posinset", n + 1);
      }
      kept.set(key, known);
      found.push(known.node);
      end = n + 1;
    }
    if (end < this.rows.length) found.push(this.space(tops[this.rows.length] - tops[end]));
    this.nodes = kept;
    const stay = new Set(found);
    for (const node of [...this.childNodes]) if (!stay.has(node)) node.remove();
    let at = this.firstChild;
    for (const node of found) { if (node === at) at = at.nextSibling; else this.insertBefore(node, at); }
    if (!held || this.contains(document.activeElement)) return;
    // A moved row lost the focus; a removed one leaves it to the box.
    if (held.isConnected) held.focus({ preventScroll: true }); else settle(this);
  }

  space(height) {
    const node = h("div", { "aria-hidden": "true" });
    node.style.height = `${height}px`;
    return node;
  }

  // Measure the shown rows; return whether any height was wrong.
  sized() {
    let changed = false;
    for (const [key, { node }] of this.nodes) {
      const { height } = node.getBoundingClientRect();
      if (!height || (this.heights.get(key) ?? this.guess) === height) continue;
      this.heights.set(key, height);
      changed = true;
    }
    if (changed) this.tops = null;
    return changed;
  }

  at(n) { return n >= 0 && n < this.rows.length ? this.nodes.get(this.key(this.rows[n], n))?.node : null; }

  reveal(n) {
    if (n < 0 || n >= this.rows.length) return null;
    this.show(n);
    this.at(n)?.scrollIntoView({ block: "nearest" });
    this.show(n);
    return this.at(n);
  }
}
customElements.define("long-list", LongList);
