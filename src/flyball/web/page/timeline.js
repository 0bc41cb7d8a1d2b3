// What happened, line by line; also the decisions, and the talk.
import { h, fill, longList } from "./dom.js";

export function lineText(line) {
  switch (line.type) {
    case "run": return ["Asked", line.request];
    case "resumed": return ["Picked up", line.request];
    case "intent": return ["Intent", `${line.intent}, ${line.budget} calls`];
    case "workspace": return ["Workspace", `${line.branch || "in place"}, ${line.sandbox}`];
    case "phase": return ["Phase", line.label];
    case "card": return ["Card", `${line.status}${line.proof ? `, ${line.proof}` : ""}`];
    case "checkpoint": return ["Checkpoint", line.goal];
    case "budget": return ["Budget", `${line.used} of ${line.limit}`];
    case "call": return [line.ok === false ? "Call failed" : "Call", `${line.tool} ${line.about || ""}${line.summary ? ` — ${line.summary}` : ""}`];
    case "decision": return [{ allow: "Allowed", deny: "Denied", ask: "Asks" }[line.decision] || line.decision, line.reason?.includes(`\`${line.tool}\``) ? line.reason : `${line.tool} ${line.reason || ""}`];
    case "evidence": return [line.passing ? "Evidence" : "Red evidence", `${line.kind}${line.evidence?.command ? ` ${line.evidence.command}` : ""}`];
    case "governor": return [line.kind === "rejection" ? "Rejected" : "Flyball", line.text];
    case "approval": return ["Question", line.text];
    case "guard": return ["Guard", `${line.guard}: ${line.reason}`];
    case "escalation": return ["Escalation", `${line.escalation}: ${line.reason}`];
    case "text": return ["Driver", line.text];
    case "note": return ["Note", [line.text, line.risk && `risk: ${line.risk}`].filter(Boolean).join(" ")];
    case "patch": return ["Patch", line.event || ""];
    case "usage": return ["Usage", `${line.model}: ${line.input_tokens} in, ${line.output_tokens} out`];
    case "error": return ["Error", line.message];
    case "extension": return ["Extended", `${line.calls} calls by ${line.by}: ${line.why}`];
    case "iteration": return ["Iteration", line.text];
    case "plan": return ["Plan", line.goal];
    case "report": return ["Verifier", line.goal_achieved ? "goal achieved" : (line.issues || []).join("; ")];
    case "undone": return ["Undone", (line.paths || []).join(", ")];
    case "final": return ["Ended", `${line.ending || line.status}: ${line.message}`];
    default: return [line.type, line.text || line.reason || ""];
  }
}

const HIDDEN = new Set(["usage", "budget"]);
const loud = (line) => line.decision === "deny" || line.type === "guard" || line.type === "error" || line.type === "escalation"
  || line.ok === false || line.passing === false || line.kind === "rejection";

const words = (line) => { const [what, text] = lineText(line); return `${what} ${String(text).split("\n")[0].slice(0, 300)}`; };

// Lines with their phases; of a growing list only the new lines are read.
class Banded {
  constructor(found) {
    this.found = found;
    this.rows = [];
    this.read = 0;
    this.calls = new Map();
    this.phases = new Map();
    this.last = "";
  }

  take() {
    for (const line of this.found.slice(this.read)) {
      if (line.type === "phase") { this.phases.set(line.card, line.phase); this.last = line.phase; }
      const key = `${line.card} ${line.call}`;
      const begun = line.type === "call" && this.calls.get(key);
      // A call is one row: its result implies that it was allowed and began.
      if (begun) Object.assign(begun, { line, calls: [...begun.calls, line] });
      else if (line.decision !== "allow") {
        const row = { line, calls: [line], phase: this.phases.get(line.card) || this.last, n: this.rows.length };
        this.rows.push(row);
        if (line.type === "call") this.calls.set(key, row);
      }
      this.read += 1;
    }
    return this.rows;
  }
}

export class TimeLine extends HTMLElement {
  connectedCallback() {
    if (this.list) return;
    this.list = longList("Timeline", { guess: 28, key: (row) => row.n, mark: (row, n) => `${n === this.at} ${row.calls.length}`, draw: (row, n) => this.entry(row, n) });
    this.list.setAttribute("role", "listbox");
    this.list.tabIndex = 0;
    this.list.addEventListener("keydown", (event) => this.keyed(event));
    this.list.addEventListener("click", (event) => { const row = event.target.closest(".entry"); if (row) this.pick(Number(row.getAttribute("aria-posinset")) - 1); });
    this.scroller = h("div", { class: "scroller timeline" }, this.list);
    this.detail = h("pre", { class: "detail", tabindex: 0, role: "region", "aria-label": "The selected line" });
    this.all = h("input", { type: "checkbox", onchange: () => this.set(this.found) });
    this.find = h("input", { type: "search", placeholder: "Find in the timeline  /", "aria-label": "Find in the timeline", oninput: () => this.set(this.found) });
    this.count = h("span", { class: "muted num", role: "status" });
    this.at = -1;
    this.append(h("div", { class: "row" }, this.find, h("label", { class: "check" }, this.all, "Also budget and usage"), h("span", { class: "grow" }), this.count), this.scroller, this.detail);
    this.set(this.found || []);
  }

  entry(row, n) {
    const [what, text] = lineText(row.line);
    return h("div", { class: `entry p-${row.phase} ${loud(row.line) ? "loud" : ""} ${n === this.at ? "at" : ""}`, role: "option", id: `line-${row.n}`, "aria-selected": String(n === this.at) },
      h("span", { class: "seq" }, row.line.seq ?? ""), h("span", { class: "what" }, what), h("span", { class: "text" }, String(text).split("\n")[0].slice(0, 300)));
  }

  set(found) {
    if (!this.banded || this.banded.found !== found) { this.banded = new Banded(found); this.at = -1; }
    this.found = found;
    if (!this.list) return;
    const chosen = this.at >= 0 ? this.list.rows[this.at] : null;
    const wanted = this.find.value.trim().toLowerCase();
    const rows = this.banded.take().filter((row) => (this.all.checked || !HIDDEN.has(row.line.type)) && (!wanted || words(row.line).toLowerCase().includes(wanted)));
    this.at = chosen ? rows.indexOf(chosen) : -1;
    const { scroller } = this;
    const follows = scroller.scrollTop > 0 && scroller.scrollTop + scroller.clientHeight >= scroller.scrollHeight - 60;
    this.list.set(rows);
    // At the end, follow it; further up, stay.
    if (follows) { scroller.scrollTop = scroller.scrollHeight; this.list.show(); }
    fill(this.count, wanted ? `${rows.length.toLocaleString("en")} of ${this.found.length.toLocaleString("en")} lines` : `${rows.length.toLocaleString("en")} lines`);
    if (this.at < 0) fill(this.detail, found.length ? "Select a line to see all of it." : "Nothing has happened yet.");
  }

  pick(n) {
    const { rows } = this.list;
    if (n < 0 || n >= rows.length) return;
    this.at = n;
    this.list.reveal(n);
    this.list.setAttribute("aria-activedescendant", `line-${rows[n].n}`);
    fill(this.detail, rows[n].calls.map((line) => JSON.stringify(line, null, 2)).join("\n"));
  }

  move(step) { this.pick(Math.max(0, Math.min(this.list.rows.length - 1, this.at + step))); }

  keyed(event) {
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / 28) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (!(event.key in steps) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.move(steps[event.key]);
  }
}
customElements.define("time-line", TimeLine);

const judged = (row) => h("div", { class: "judged", role: "listitem" }, h("span", { class: "num" }, row.seq), h("span", { class: "mono" }, row.tool, " ", h("span", { class: "muted" }, row.several ? `${row.card} ` : "", row.about)),
  h("span", {}, h("span", { class: `light l-${row.answer}` }, row.answer)), h("span", { class: "why" }, row.reason || ""));

export function decisionLog(panel, cards) {
  const rows = cards.flatMap((card) => card.decisions.map((each) => ({ ...each, card: card.id, several: cards.length > 1 }))).sort((a, b) => a.seq - b.seq);
  if (!rows.length) { fill(panel, h("p", { class: "empty" }, "No calls yet. Every call that the driver makes is listed here, with the decision and the reason.")); return; }
  let list = panel.querySelector(".decisions long-list");
  if (!list) {
    list = longList("Decisions", { guess: 32, mark: (row) => row.several, draw: judged });
    fill(panel, h("div", { class: "decisions" }, h("div", { class: "judged heads", "aria-hidden": "true" }, ["#", "Call", "Decision", "Why"].map((name) => h("span", {}, name))), h("div", { class: "scroller", tabindex: 0, role: "region", "aria-label": "Calls and decisions" }, list)));
  }
  list.set(rows);
}

const TALK = { run: "You asked", text: "Driver", governor: "Flyball", approval: "Flyball asks", note: "Note", final: "Flyball", error: "Error", extension: "You" };
const isSaid = (line) => TALK[line.type];

// Everything that was said; the last saying may still be under way.
export class TalkLog extends HTMLElement {
  connectedCallback() {
    if (this.list) return;
    this.className = "talk";
    this.said = [];
    this.read = 0;
    this.list = longList("Talk", { guess: 70, mark: (line) => line.saying || "", draw: (line) => this.saying(line) });
    this.list.setAttribute("role", "log");
    this.append(this.list);
  }

  saying(line) {
    const mine = line.type === "run" || line.type === "extension";
    const text = line.type === "final" ? line.message : line.saying || lineText(line)[1];
    return h("div", { class: "slot" }, h("div", { class: `saying ${mine ? "mine" : line.type === "text" ? "driver" : "ours"} ${line.saying ? "live" : ""}` }, h("p", { class: "who" }, TALK[line.type]), h("p", { dir: "auto" }, text)));
  }

  set(found, saying) {
    for (; this.read < found.length; this.read += 1) if (isSaid(found[this.read])) this.said.push(found[this.read]);
    this.list.set(saying ? [...this.said, { type: "text", saying }] : this.said);
  }
}
customElements.define("talk-log", TalkLog);
