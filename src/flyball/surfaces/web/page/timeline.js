// What happened, line by line, with bands of phases; also the decisions, and the talk.
import { h, fill } from "./dom.js";

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
    case "call": return [line.state === "started" ? "Call" : line.ok === false ? "Failed" : "Came back", `${line.tool} ${line.about || ""}${line.summary ? ` — ${line.summary}` : ""}`];
    case "decision": return [{ allow: "Allowed", deny: "Denied", ask: "Asks" }[line.decision] || line.decision, `${line.tool} ${line.reason || ""}`];
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
    case "final": return ["Ended", `${line.status}: ${line.message}`];
    default: return [line.type, line.text || line.reason || ""];
  }
}

const HIDDEN = new Set(["usage", "budget"]);
const loud = (line) => line.decision === "deny" || line.type === "guard" || line.type === "error" || line.type === "escalation"
  || line.ok === false || line.passing === false || line.kind === "rejection";

// Each line with the phase it fell in.
export function banded(found) {
  const phases = new Map();
  return found.map((line) => {
    if (line.type === "phase") phases.set(line.card, line.phase);
    return { line, phase: phases.get(line.card) || (phases.size ? [...phases.values()].at(-1) : "") };
  });
}

export class TimeLine extends HTMLElement {
  connectedCallback() {
    if (this.list) return;
    this.list = document.createElement("long-list");
    this.list.height = 28;
    this.list.sticks = true;
    this.list.className = "timeline";
    this.list.setAttribute("role", "listbox");
    this.list.setAttribute("aria-label", "Timeline");
    this.detail = h("pre", { class: "detail", tabindex: 0, "aria-label": "The chosen line" });
    this.all = h("input", { type: "checkbox", onchange: () => this.set(this.found) });
    this.at = -1;
    this.list.draw = (row, n) => {
      const [what, text] = lineText(row.line);
      return h("div", { class: `entry p-${row.phase} ${loud(row.line) ? "loud" : ""} ${n === this.at ? "at" : ""}`, role: "option", "aria-selected": String(n === this.at),
        onclick: () => this.pick(n) },
      h("span", { class: "seq" }, row.line.seq ?? ""), h("span", { class: "what" }, what), h("span", { class: "text" }, String(text).split("\n")[0].slice(0, 300)));
    };
    this.append(h("label", { class: "check" }, this.all, "Also budget and usage"), h("div", { class: "bands", "aria-hidden": "true" }), this.list, this.detail);
    this.set(this.found || []);
  }

  set(found) {
    this.found = found;
    if (!this.list) return;
    this.rows = banded(found).filter((row) => this.all.checked || !HIDDEN.has(row.line.type));
    this.list.set(this.rows);
    this.bands();
    if (this.at < 0) fill(this.detail, found.length ? "Choose a line to see all of it." : "Nothing has happened yet.");
  }

  bands() {
    const runs = [];
    for (const row of this.rows) {
      if (runs.at(-1)?.phase === row.phase) runs.at(-1).count += 1;
      else runs.push({ phase: row.phase, count: 1 });
    }
    fill(this.querySelector(".bands"), runs.filter((each) => each.phase).map((each) => h("span", { class: `p-${each.phase}`, vars: { "--n": String(each.count) } }, each.phase)));
  }

  pick(n) {
    if (n < 0 || n >= this.rows.length) return;
    this.at = n;
    this.list.reveal(n);
    fill(this.detail, JSON.stringify(this.rows[n].line, null, 2));
  }

  move(step) { this.pick(Math.max(0, Math.min(this.rows.length - 1, this.at + step))); }
}
customElements.define("time-line", TimeLine);

export function decisionLog(cards) {
  const rows = cards.flatMap((card) => card.decisions.map((each) => ({ ...each, card: card.id }))).sort((a, b) => a.seq - b.seq);
  if (!rows.length) return h("p", { class: "empty" }, "No call was judged yet. Every call that a driver asks for is here, with the answer and the reason.");
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Decisions" },
    h("table", { class: "tests" }, h("thead", {}, h("tr", {}, ["#", "Card", "Call", "Decision", "Why"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, h("td", { class: "num" }, row.seq), h("td", {}, row.card), h("td", { class: "mono" }, row.tool),
        h("td", {}, h("span", { class: `light l-${row.answer}` }, row.answer)), h("td", {}, row.reason || ""))))));
}

const TALK = { run: "You asked", text: "Driver", governor: "Flyball", approval: "Flyball asks", note: "Note", final: "Flyball", error: "Error", extension: "You" };
export function talk(found) {
  const said = found.filter((line) => TALK[line.type]);
  return said.map((line) => {
    const mine = line.type === "run" || line.type === "extension";
    const text = line.type === "final" ? line.message : lineText(line)[1];
    return h("div", { class: `saying ${mine ? "mine" : line.type === "text" ? "driver" : "ours"}` }, h("p", { class: "who" }, TALK[line.type]), h("p", {}, text));
  });
}
