// The list of runs, and every run in its column: planner, reviewer and verifier are part of their run.
import { h, fill, pill, meter, ago, lines, plural, longList } from "./dom.js";
import { part } from "./api.js";
import "./inbox.js";

const COLUMNS = [["todo", "To do"], ["doing", "Doing"], ["verifying", "Verifying"], ["review", "Needs you"], ["done", "Done"], ["stopped", "Not done"]];
const UNDER_WAY = ["running", "paused", "queued", "submitted"];
export const FILTERS = [["", "All"], ["review", "Needs you"], ["live", "Running"], ["done", "Done"], ["stopped", "Not done"]];
const HELPERS = ["planner", "reviewer", "verifier"];

export const matches = (row, words) => !words || `${row.request} ${row.run} ${row.title} ${row.branch} ${row.words} ${row.intent} ${row.cards.map((card) => card.title).join(" ")}`.toLowerCase().includes(words);

// Done is what the core calls done: nothing of a run that failed or was taken back stands there.
export function columnOf(row) {
  if (row.asks.length || row.status === "paused") return "review";
  if (!UNDER_WAY.includes(row.status)) return ["success", "answered"].includes(row.status) && row.reverted !== "reverted" ? "done" : "stopped";
  const live = row.cards.filter((card) => !card.ending && card.status !== "todo");
  if (!live.length && !row.cards.some((card) => card.ending)) return "todo";
  return live.length && live.every((card) => card.phase === "verify" || card.role === "verifier") ? "verifying" : "doing";
}

export const passes = (row, filter) => !filter || (filter === "live" ? ["todo", "doing", "verifying"].includes(columnOf(row)) : columnOf(row) === filter);

const DAY = new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "short" });
function dayOf(at, now = new Date()) {
  const day = new Date(at * 1000);
  const days = Math.round((new Date(now.toDateString()) - new Date(day.toDateString())) / 86400000);
  return days <= 0 ? "Today" : days === 1 ? "Yesterday" : DAY.format(day);
}

// What tells apart runs of one title: their branches, which are called after them.
const place = (row) => (row.branch || row.run).replace(/^flyball\//, "");

export class RunList extends HTMLElement {
  connectedCallback() {
    if (this.list) return;
    this.list = longList("Runs", { guess: 40, key: (row) => row.run || row.day, draw: (row) => (row.day ? h("div", { class: "day", role: "listitem" }, row.day) : this.draw(row)),
      mark: (row) => `${row.run === this.open} ${row.seq} ${row.words} ${row.reverted} ${row.run && ago(row.updated_at)}` });
    this.append(h("h2", { class: "hidden" }, "Runs"), h("div", { class: "scroller", tabindex: 0, role: "region", "aria-label": "All runs" }, this.list));
  }

  set(rows, open) {
    this.open = open;
    const found = [];
    let last = "";
    for (const row of rows) {
      const day = dayOf(row.created_at);
      if (day !== last) found.push({ day });
      last = day;
      found.push(row);
    }
    this.list.set(found);
  }

  draw(row) {
    const at = row.run === this.open;
    return h("div", { class: "runrow", role: "listitem" }, h("a", { href: `#/run/${part(row.run)}`, class: at ? "at" : "", "aria-current": at ? "page" : false, title: `${row.request.slice(0, 300)}\n${row.title} ${row.branch}` },
      h("span", { class: `dot s-${row.status}`, "aria-hidden": "true" }), h("span", { class: "ask", dir: "auto" }, row.request), h("span", { class: "age" }, ago(row.updated_at)),
      h("span", { class: "sub" }, pill(row), h("span", {}, row.title), h("span", { class: "branch" }, place(row)), row.reverted ? h("span", { class: "bad" }, row.reverted) : null)));
  }

  move(step) {
    const { rows } = this.list;
    if (!rows.length) return;
    const near = document.activeElement.closest?.("run-list [aria-posinset]");
    const open = rows.findIndex((row) => row.run && row.run === this.open);
    let at = (near ? Number(near.getAttribute("aria-posinset")) - 1 : step > 0 ? open : Math.max(open, 1)) + step;
    if (rows[at]?.day) at += at ? step : 1;
    at = Math.max(1, Math.min(rows.length - 1, at));
    this.list.reveal(at)?.querySelector("a").focus();
  }
}
customElements.define("run-list", RunList);

// What the run does at this moment; where it does nothing, what it did last.
function act(card) {
  if (card.call) return h("span", { class: "act" }, h("span", { class: "spin", "aria-hidden": "true" }), `${card.call} ${card.about || ""}`);
  if (!card.last) return null;
  const { tool, about, ok } = card.last;
  return h("span", { class: `act ${ok ? "" : "bad"}`, title: `${tool} ${about}` }, h("span", { "aria-hidden": "true" }, ok ? "· " : "✗ "), h("span", { class: "hidden" }, ok ? "Last call: " : "Last call, failed: "), `${tool} ${about}`);
}

const MOST_STEPS = 4;
function steps(row) {
  const found = row.cards.filter((card) => !HELPERS.includes(card.role));
  if (found.length < 2) return null;
  return h("ul", { class: "substeps" }, found.slice(0, MOST_STEPS).map((card) => h("li", {}, h("span", { class: `tick c-${card.status}`, "aria-hidden": "true" }), h("span", { class: "cut1" }, card.title), h("span", { class: "hidden" }, `, ${card.status}`))),
    found.length > MOST_STEPS ? h("li", { class: "muted" }, `and ${found.length - MOST_STEPS} more`) : null);
}

function boardCard(row) {
  const sum = (name) => row.cards.reduce((all, card) => all + (card[name] || 0), 0);
  const live = row.cards.findLast((card) => !card.ending && card.status !== "todo") || row.cards.at(-1);
  const column = columnOf(row);
  const isEnded = !UNDER_WAY.includes(row.status);
  const turned = column === "done" ? sum("turned") : 0;
  return h("div", { class: "slot", role: "listitem" }, h("a", { class: `card s-${row.status} at-${column}`, href: `#/run/${part(row.run)}` },
    h("span", { class: "title", dir: "auto" }, row.request),
    row.asks.length ? h("span", { class: "asks", dir: "auto" }, row.asks[0].text) : null,
    steps(row),
    !isEnded && live && !row.asks.length ? act(live) : null,
    h("span", { class: "sub meta" }, h("span", { class: "state" }, row.asks.length ? `waits for you: ${row.asks[0].kind.replace("-", " ")}` : isEnded ? row.words : live?.label || "begins"),
      turned ? h("span", { class: "good" }, `${plural(turned, "test")} red → green`) : null, lines(sum("added"), sum("removed")), row.reverted ? h("span", { class: "bad" }, row.reverted) : null),
    h("span", { class: "sub meta where" }, h("span", {}, row.title), h("span", { class: "branch" }, place(row)), h("span", {}, ago(row.updated_at)))));
}

const cardMark = (row) => JSON.stringify([row.cards, row.asks, row.words, row.reverted, row.title, ago(row.updated_at)]);

// Who drives runs: a line each, with its load and the runs whose leases it holds.
function workerRow(worker) {
  const load = worker.limit ? `${worker.load} of ${worker.limit} runs` : plural(worker.load, "run");
  return h("li", {}, h("span", { class: "mono name" }, worker.name), h("span", { class: "num" }, load), worker.limit ? meter(worker.load, worker.limit, `${load} running`) : null,
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
    this.inbox = document.createElement("in-box");
    this.empty = h("div", { class: "empty big", hidden: true });
    this.columns = COLUMNS.map(([name, text]) => ({ name, text, count: h("span", { class: "muted num" }), list: longList(text, { guess: 104, key: (row) => row.run, mark: cardMark, draw: boardCard }) }));
    this.append(this.inbox, this.empty, h("div", { class: "columns" }, this.columns.map((each) => { each.box = h("section", { class: "column", "aria-label": each.text }, h("h2", {}, each.text, " ", each.count), each.list); return each.box; })));
  }

  set(rows, isNarrowed) {
    const held = this.held();
    this.inbox.set(rows);
    this.empty.hidden = rows.length > 0;
    this.lastChild.hidden = !rows.length;
    if (!rows.length) this.explain(isNarrowed);
    const found = new Map(COLUMNS.map(([name]) => [name, []]));
    for (const row of rows) found.get(columnOf(row)).push(row);
    // All boxes first: a list that is shown needs to know where it stands.
    for (const column of this.columns) {
      const count = found.get(column.name).length;
      fill(column.count, count ? count.toLocaleString("en") : "");
      column.box.classList.toggle("bare", !count);
    }
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
    fill(this.empty, isNarrowed ? [h("p", {}, "No matching runs."), h("p", { class: "muted" }, "Change the search, or choose all projects.")] : [h("p", {}, "No runs yet."),
      h("p", { class: "muted" }, "Type above what should be done. Without a model the built-in repairer searches for a small change that makes your tests pass; it needs no key. Runs from the command line and from governed agents appear here automatically.")]);
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
