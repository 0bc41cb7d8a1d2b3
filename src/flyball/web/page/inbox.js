// Questions for a person, answered in place; an answer can be undone for six seconds.
import { ANSWERS, RESTING, capital, h, fill, ago, longList, plural, say, settle } from "./dom.js";
import { part, post } from "./api.js";

const GRACE = 6000;
const held = new Map();
const keyOf = (row) => `${row.run} ${row.asks[0].card} ${row.asks[0].text}`;

// Sent when it can no longer be undone, or at once when the page is left.
function decide(box, row, act, body, said) {
  const key = keyOf(row);
  if (held.has(key)) return;
  const send = async (keepalive) => {
    clearTimeout(held.get(key)?.timer);
    held.set(key, {});
    try {
      await post(`runs/${part(row.run)}/${act}`, body, keepalive);
    } catch (error) {
      held.delete(key);
      say(`${error.message} ${error.hint}`, "bad");
      box.redraw();
    }
  };
  const undo = () => { clearTimeout(held.get(key)?.timer); held.delete(key); say("Cancelled; the question is still open."); box.redraw(); };
  held.set(key, { timer: setTimeout(send, GRACE, false), send, undo });
  say(`${said}: ${row.request.slice(0, 60)} `, "", h("button", { class: "undo", onclick: undo }, "Undo"));
  box.redraw();
}

export const undoLast = () => [...held.values()].findLast((each) => each.undo)?.undo();
addEventListener("pagehide", () => { for (const each of held.values()) each.send?.(true); });

export class InBox extends HTMLElement {
  connectedCallback() {
    if (this.list) return;
    this.list = longList("Waits for you", { guess: 74, key: (row) => row.run, mark: (row) => JSON.stringify([row.asks, row.title, ago(row.updated_at), row.run === this.writing]), draw: (row) => this.row(row) });
    this.head = h("h2");
    this.append(h("section", { class: "inbox", "aria-label": "Inbox" }, h("div", { class: "row" }, this.head, h("span", { class: "muted keysaid", "aria-hidden": "true" }, h("kbd", {}, "a"), " yes ", h("kbd", {}, "d"), " no ", h("kbd", {}, "Enter"), " answer ", h("kbd", {}, "u"), " undo")),
      h("div", { class: "scroller", tabindex: 0, role: "region", "aria-label": "Questions" }, this.list)));
    this.hidden = true;
  }

  set(rows) {
    this.rows = rows;
    const waiting = rows.filter((row) => row.asks.length && !held.has(keyOf(row)));
    for (const key of [...held.keys()]) if (!held.get(key).send && !rows.some((row) => row.asks.length && keyOf(row) === key)) held.delete(key);
    if (!waiting.length && this.contains(document.activeElement)) settle(this.parentElement || this);
    this.hidden = !waiting.length;
    fill(this.head, `${plural(waiting.length, "run waits", "runs wait")} for you`);
    this.list.set(waiting);
  }

  redraw() { if (this.isConnected) this.set(this.rows); }

  row(row) {
    const [asked] = row.asks;
    const [yes, no] = ANSWERS[asked.kind] || ["Yes", "No"];
    const isResting = RESTING.includes(asked.kind);
    const sides = asked.sides || [];
    const follow = (side) => () => decide(this, row, "answer", { text: side }, "Answered");
    const say = sides.length ? {} : isResting ? { yes: () => decide(this, row, "resume", {}, "Continues") }
      : { yes: () => decide(this, row, "approve", { note: "" }, yes), no: () => decide(this, row, "deny", { why: "" }, no) };
    const answer = () => { this.writing = this.writing === row.run ? "" : row.run; this.redraw(); this.querySelector("form.inplace input")?.focus(); };
    const word = h("input", { type: "text", placeholder: "Answer in words", "aria-label": "Answer in words", onkeydown: (event) => { if (event.key === "Escape") { event.stopPropagation(); answer(); this.focusOn(row.run); } } });
    return h("div", { class: "waits", role: "listitem", tabindex: 0, "data-place": row.run, "data-run": row.run, onkeydown: (event) => {
      if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
      const act = { a: say.yes, d: say.no, Enter: answer }[event.key];
      if (act) { event.preventDefault(); event.stopPropagation(); act(); }
    } },
    h("div", { class: "waitstext" }, h("p", { class: "asked", dir: "auto" }, asked.text), h("p", { class: "sub" }, h("a", { href: `#/run/${part(row.run)}`, dir: "auto" }, row.request), h("span", {}, ` ${row.title} · ${ago(row.updated_at)}`))),
    h("div", { class: "row" }, sides.map((side) => h("button", { class: "primary", onclick: follow(side) }, capital(side))), say.yes ? h("button", { class: "primary", onclick: say.yes }, isResting ? "Go on" : yes) : null, say.no ? h("button", { onclick: say.no }, no) : null,
      h("button", { class: "quiet", "aria-expanded": String(this.writing === row.run), onclick: answer }, "Answer")),
    this.writing !== row.run ? null : h("form", { class: "inplace row", onsubmit: (event) => {
      event.preventDefault();
      if (!word.value.trim()) return;
      this.writing = "";
      decide(this, row, "answer", { text: word.value.trim() }, "Answered");
    } }, word, h("button", { type: "submit", class: "primary" }, "Send")));
  }

  focusOn(run) { [...this.querySelectorAll(".waits")].find((each) => each.dataset.run === run)?.focus(); }

  // To the first question, or to the next one.
  enter() {
    const all = [...this.querySelectorAll(".waits")];
    all[(all.indexOf(document.activeElement?.closest?.(".waits")) + 1) % all.length]?.focus();
  }
}
customElements.define("in-box", InBox);
