// The list of runs, the inbox, and the cards of all runs in their columns.
import { h, fill, pill, meter, ago, lines, plural } from "./dom.js";
import { part } from "./api.js";

const COLUMNS = [["todo", "To do"], ["doing", "Doing"], ["verifying", "Verifying"], ["review", "Review"], ["done", "Done"], ["stopped", "Not done"]];
// Done is granted by a passed gate alone: what failed or was taken back is not among it.
const COLUMN_OF = { paused: "review", failed: "stopped", reverted: "stopped" };
const MOST = 200;

export const matches = (row, words) => !words || `${row.request} ${row.run} ${row.title} ${row.status} ${row.intent}`.toLowerCase().includes(words);

export class RunList extends HTMLElement {
  connectedCallback() {
    if (this.list) return;
    this.head = h("div", { class: "listhead" });
    this.list = document.createElement("long-list");
    this.list.height = 68;
    this.list.className = "runlist";
    this.list.setAttribute("role", "list");
    this.list.draw = (row, n) => this.draw(row, n);
    this.at = -1;
    this.append(this.head, this.list);
  }

  set(rows, open) {
    this.rows = rows;
    this.open = open;
    fill(this.head, h("h2", {}, "Runs"), h("span", { class: "muted" }, rows.length));
    this.list.set(rows);
  }

  draw(row, n) {
    const at = row.run === this.open;
    return h("div", { class: "runrow", role: "listitem" }, h("a", { href: `#/run/${part(row.run)}`, class: `${at ? "at" : ""} ${n === this.at ? "near" : ""}`, "aria-current": at ? "page" : false },
      h("span", { class: `dot s-${row.status}`, "aria-hidden": "true" }),
      h("span", { class: "ask" }, row.request),
      h("span", { class: "sub" }, pill(row.status), h("span", {}, row.title), h("span", {}, ago(row.updated_at)), row.reverted ? h("span", { class: "bad" }, row.reverted) : null),
      meter(row.used, row.limit, `${row.used} of ${row.limit} calls used`)));
  }

  move(step) {
    if (!this.rows?.length) return;
    this.at = Math.max(0, Math.min(this.rows.length - 1, this.at + step));
    this.list.reveal(this.at);
    this.list.querySelector("a.near")?.focus();
  }
}
customElements.define("run-list", RunList);

function boardCard(row, card) {
  const tone = card.status === "failed" ? "red" : card.proof?.startsWith("red → green") || card.status === "done" ? "green" : "";
  return h("a", { class: `card p-${card.phase || "todo"} c-${card.status}`, href: `#/run/${part(row.run)}${card.status === "done" ? "" : "/cards"}` },
    h("span", { class: "title" }, card.title),
    h("span", { class: "sub" }, row.title, " · ", ago(row.updated_at), card.calls ? [" · ", card.call ? [h("span", { class: "spin", "aria-hidden": "true" }), card.call, " · "] : "", plural(card.calls, "call")] : null, ["paused", "failed", "reverted"].includes(card.status) ? [" · ", h("span", { class: `tag c-${card.status}` }, card.status)] : null),
    h("span", { class: "sub" }, card.proof ? h("span", { class: `proof ${tone}` }, card.proof) : card.status === "paused" ? row.asks[0]?.text || "" : card.status === "failed" ? "" : card.label || "", lines(card.added, card.removed)));
}

export function inbox(rows) {
  const waiting = rows.filter((row) => row.asks.length);
  if (!waiting.length) return null;
  return h("section", { class: "inbox", "aria-label": "Waits for you" }, h("h2", {}, `${plural(waiting.length, "run waits", "runs wait")} for you`),
    h("ul", {}, waiting.slice(0, 20).map((row) => h("li", {}, h("a", { href: `#/run/${part(row.run)}` }, h("span", { class: "tag" }, row.asks[0].kind), h("span", { class: "asked" }, row.asks[0].text), h("span", { class: "sub" }, row.title, " · ", row.request))))));
}

export class CardBoard extends HTMLElement {
  connectedCallback() {
    if (this.columns) return;
    this.box = h("div");
    this.columns = new Map(COLUMNS.map(([name, text]) => [name, { name, text, list: h("div", { class: "stack" }), count: h("span", { class: "muted" }) }]));
    this.append(this.box, h("div", { class: "columns" }, [...this.columns.values()].map((each) => h("section", { class: "column", "aria-label": each.text }, h("h2", {}, each.text, " ", each.count), each.list))));
  }

  set(rows) {
    const mark = JSON.stringify(rows.map((row) => [row.run, row.seq, row.status, row.reverted, row.asks.length]));
    if (mark === this.mark) return;
    this.mark = mark;
    fill(this.box, inbox(rows), rows.length ? null : h("div", { class: "empty big" }, h("p", {}, "No run yet."),
      h("p", { class: "muted" }, "Say above what should be done. Without a model the built-in repairer looks for a small change under which your tests pass; it needs no key. Runs from the command line and from governed agents appear here by themselves.")));
    const found = new Map(COLUMNS.map(([name]) => [name, []]));
    for (const row of rows) for (const card of row.cards) (found.get(COLUMN_OF[card.status] || card.status) || found.get("doing")).push([row, card]);
    for (const [name, cards] of found) {
      const column = this.columns.get(name);
      fill(column.count, cards.length || "");
      const shown = cards.slice(0, this[name] || MOST).map(([row, card]) => boardCard(row, card));
      if (cards.length > shown.length) {
        shown.push(h("button", { type: "button", class: "quiet", onclick: () => { this[name] = (this[name] || MOST) + MOST; this.mark = ""; this.set(rows); } }, `${cards.length - shown.length} more`));
      }
      fill(column.list, shown.length ? shown : h("p", { class: "none" }, "—"));
    }
  }

  move(across, down) {
    const cards = [...this.querySelectorAll(".column")].map((each) => [...each.querySelectorAll(".card")]);
    const filled = cards.filter((each) => each.length);
    if (!filled.length) return;
    let x = filled.findIndex((each) => each.includes(document.activeElement));
    if (x < 0) { filled[0][0].focus(); return; }
    const y = filled[x].indexOf(document.activeElement);
    x = Math.max(0, Math.min(filled.length - 1, x + across));
    filled[x][Math.max(0, Math.min(filled[x].length - 1, across ? Math.min(y, filled[x].length - 1) : y + down))].focus();
  }
}
customElements.define("card-board", CardBoard);
