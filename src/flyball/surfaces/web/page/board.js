// The list of runs, the inbox, and the cards of all runs in their columns.
import { h, fill, pill, meter, ago, lines, plural, longList, settle } from "./dom.js";
import { part } from "./api.js";

const COLUMNS = [["todo", "To do"], ["doing", "Doing"], ["verifying", "Verifying"], ["review", "Review"], ["done", "Done"], ["stopped", "Not done"]];
// Done is granted by a passed gate alone: what failed or was taken back is not among it.
const COLUMN_OF = { paused: "review", failed: "stopped", reverted: "stopped" };

export const matches = (row, words) => !words || `${row.request} ${row.run} ${row.title} ${row.status} ${row.intent} ${row.cards.map((card) => card.title).join(" ")}`.toLowerCase().includes(words);

export class RunList extends HTMLElement {
  connectedCallback() {
    if (this.list) return;
    this.head = h("div", { class: "listhead" });
    this.list = longList("Runs", { guess: 68, key: (row) => row.run, draw: (row) => this.draw(row),
      mark: (row) => `${row.run === this.open} ${row.seq} ${row.status} ${row.reverted} ${ago(row.updated_at)}` });
    this.append(this.head, h("div", { class: "scroller" }, this.list));
  }

  set(rows, open) {
    this.open = open;
    fill(this.head, h("h2", {}, "Runs"), h("span", { class: "muted num" }, rows.length.toLocaleString("en")));
    this.list.set(rows);
  }

  draw(row) {
    const at = row.run === this.open;
    return h("div", { class: "runrow", role: "listitem" }, h("a", { href: `#/run/${part(row.run)}`, class: at ? "at" : "", "aria-current": at ? "page" : false },
      h("span", { class: `dot s-${row.status}`, "aria-hidden": "true" }),
      h("span", { class: "ask" }, row.request),
      h("span", { class: "sub" }, pill(row), h("span", {}, row.title), h("span", {}, ago(row.updated_at)), row.reverted ? h("span", { class: "bad" }, row.reverted) : null),
      meter(row.used, row.limit, `${row.used} of ${row.limit} calls used`)));
  }

  move(step) {
    const { rows } = this.list;
    if (!rows.length) return;
    const near = document.activeElement.closest?.("run-list [aria-posinset]");
    const open = rows.findIndex((row) => row.run === this.open);
    const at = near ? Number(near.getAttribute("aria-posinset")) - 1 : step > 0 ? open : Math.max(open, 1);
    this.list.reveal(Math.max(0, Math.min(rows.length - 1, at + step)))?.querySelector("a").focus();
  }
}
customElements.define("run-list", RunList);

// What the card does at this moment; where it does nothing, what it did last.
function deed(card) {
  if (card.call) return h("span", { class: "deed" }, h("span", { class: "spin", "aria-hidden": "true" }), `${card.call} ${card.about || ""}`);
  if (!card.last) return null;
  const { tool, about, ok } = card.last;
  return h("span", { class: `deed ${ok ? "" : "bad"}`, title: `${tool} ${about}` }, h("span", { "aria-hidden": "true" }, ok ? "· " : "✗ "), h("span", { class: "hidden" }, ok ? "Last call: " : "Last call, failed: "), `${tool} ${about}`);
}

function boardCard({ row, card }) {
  const tone = card.status === "failed" ? "red" : card.proof?.startsWith("red → green") || card.status === "done" ? "green" : "";
  const said = card.proof ? h("span", { class: `proof ${tone}` }, card.proof) : card.status === "paused" ? row.asks[0]?.text || "" : card.status === "failed" ? "" : card.label || "";
  return h("div", { class: "slot", role: "listitem" }, h("a", { class: `card p-${card.phase || "todo"} c-${card.status}`, href: `#/run/${part(row.run)}${card.status === "done" ? "" : "/cards"}` },
    h("span", { class: "title" }, card.title),
    h("span", { class: "sub meta" }, h("span", {}, row.title), h("span", {}, ago(row.updated_at)), card.calls ? h("span", {}, plural(card.calls, "call")) : null,
      ["paused", "failed", "reverted"].includes(card.status) ? h("span", { class: `tag c-${card.status}` }, card.status) : null),
    deed(card),
    said || card.added || card.removed ? h("span", { class: "sub" }, said, lines(card.added, card.removed)) : null));
}

const cardMark = ({ row, card }) => JSON.stringify([card, row.title, ago(row.updated_at), card.status === "paused" && row.asks[0]?.text]);

function askedRow(row) {
  return h("div", { class: "waits", role: "listitem" }, h("a", { href: `#/run/${part(row.run)}` }, h("span", { class: "tag" }, row.asks[0].kind),
    h("span", { class: "asked" }, row.asks[0].text), h("span", { class: "sub" }, row.title, " · ", row.request)));
}

// Who drives runs: a line each, with its load and the runs whose leases it holds.
function workerRow(worker) {
  const load = worker.limit ? `${worker.load} of ${worker.limit} runs` : plural(worker.load, "run");
  return h("li", {}, h("span", { class: "mono name" }, worker.name), h("span", { class: "num" }, load), worker.limit ? meter(worker.load, worker.limit, `${load} under way`) : null,
    worker.roles.length ? h("span", { class: "muted" }, worker.roles.join(", ")) : null, h("span", { class: "muted" }, worker.is_leaving ? "leaving" : worker.load ? `last moved ${ago(worker.last_seen)}` : "idle"),
    h("span", { class: "leases" }, worker.leases.map((lease) => h("a", { href: `#/run/${part(lease.run)}`, title: lease.request }, `${lease.title}: ${lease.request}`))));
}

export class WorkerList extends HTMLElement {
  set(workers) {
    if (this.told === JSON.stringify(workers)) return;
    this.told = JSON.stringify(workers);
    this.hidden = !workers.length;
    fill(this, h("section", { class: "workers", "aria-label": "Workers" }, h("h2", {}, "Workers ", h("span", { class: "muted num" }, String(workers.length))), h("ul", {}, workers.map(workerRow))));
  }
}
customElements.define("worker-list", WorkerList);

export class CardBoard extends HTMLElement {
  connectedCallback() {
    if (this.columns) return;
    this.waiting = longList("Waits for you", { guess: 30, key: (row) => row.run, mark: (row) => JSON.stringify(row.asks), draw: askedRow });
    this.count = h("h2");
    this.inbox = h("section", { class: "inbox", "aria-label": "Inbox", hidden: true }, this.count, h("div", { class: "scroller", tabindex: 0, role: "region", "aria-label": "Questions" }, this.waiting));
    this.empty = h("div", { class: "empty big", hidden: true });
    this.columns = COLUMNS.map(([name, text]) => ({ name, text, count: h("span", { class: "muted num" }), none: h("p", { class: "none" }, "—"),
      list: longList(text, { guess: 92, key: ({ row, card }) => `${row.run} ${card.id}`, mark: cardMark, draw: boardCard }) }));
    this.append(this.inbox, this.empty, h("div", { class: "columns" }, this.columns.map((each) => h("section", { class: "column", "aria-label": each.text }, h("h2", {}, each.text, " ", each.count), each.none, each.list))));
  }

  set(rows, isNarrowed) {
    const waiting = rows.filter((row) => row.asks.length);
    const held = this.held();
    if (!waiting.length && this.inbox.contains(document.activeElement)) settle(this);
    this.inbox.hidden = !waiting.length;
    fill(this.count, `${plural(waiting.length, "run waits", "runs wait")} for you`);
    this.empty.hidden = rows.length > 0;
    if (!rows.length) this.explain(isNarrowed);
    const found = new Map(COLUMNS.map(([name]) => [name, []]));
    for (const row of rows) for (const card of row.cards) (found.get(COLUMN_OF[card.status] || card.status) || found.get("doing")).push({ row, card });
    // All boxes first: a list that is shown needs to know where it stands.
    for (const column of this.columns) {
      const count = found.get(column.name).length;
      fill(column.count, count ? count.toLocaleString("en") : "");
      column.none.hidden = count > 0;
    }
    this.waiting.set(waiting);
    for (const column of this.columns) column.list.set(found.get(column.name));
    if (held && !this.columns.some((column) => column.list.contains(document.activeElement))) this.hold(held);
  }

  // The card that has the focus, as its list calls it.
  held() {
    for (const { list } of this.columns) for (const [key, { node }] of list.nodes) if (node.contains(document.activeElement)) return key;
    return "";
  }

  // A card that has gone to another column takes the focus along.
  hold(key) {
    for (const { list } of this.columns) {
      const n = list.rows.findIndex((row) => list.key(row) === key);
      if (n >= 0) { list.show(n); list.at(n)?.querySelector("a").focus({ preventScroll: true }); }
    }
  }

  explain(isNarrowed) {
    fill(this.empty, isNarrowed ? [h("p", {}, "No run fits."), h("p", { class: "muted" }, "Search for something else, or choose all projects.")] : [h("p", {}, "No run yet."),
      h("p", { class: "muted" }, "Say above what should be done. Without a model the built-in repairer looks for a small change under which your tests pass; it needs no key. Runs from the command line and from governed agents appear here by themselves.")]);
  }

  move(across, down) {
    const filled = this.columns.filter((each) => each.list.rows.length);
    if (!filled.length) return;
    const near = document.activeElement.closest?.("card-board .column [aria-posinset]");
    let x = near ? filled.findIndex((each) => each.list.contains(near)) : -1;
    let y = x < 0 ? 0 : Number(near.getAttribute("aria-posinset")) - 1 + down;
    x = x < 0 ? 0 : Math.max(0, Math.min(filled.length - 1, x + across));
    y = Math.max(0, Math.min(filled[x].list.rows.length - 1, y));
    filled[x].list.reveal(y)?.querySelector("a").focus();
  }
}
customElements.define("card-board", CardBoard);
