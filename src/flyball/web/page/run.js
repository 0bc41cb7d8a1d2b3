// One run, as one page: the verdict on top, then the change with its tests, the calls, the evidence, the cost.
import { ANSWERS, RESTING, capital, h, fill, pill, meter, stat, lasted, lines, plural, say } from "./dom.js";
import { EXPORTED, get, post, part, follow } from "./api.js";
import "./diff.js";
import { besides, summary, shade, verdictPanel } from "./verdict.js";
import { decisionLog } from "./timeline.js";
import { ribbon } from "./ribbon.js";
import "./replay.js";

const TABS = [["run", "Overview"], ["timeline", "Timeline"], ["replay", "Replay"], ["talk", "Talk"]];
const SECTIONS = [["answer", "Answer"], ["changes", "Changes"], ["calls", "Calls"], ["evidence", "Evidence"], ["cost", "Cost"]];

// An address that names no tab of ours shows the first.
const known = (tab) => (TABS.some(([name]) => name === tab) ? tab : TABS[0][0]);

export class RunPage extends HTMLElement {
  open(run, tab) {
    this.run = run;
    this.tab = known(tab);
    this.wanted = tab;
    this.lines = [];
    this.saying = "";
    this.progress = "";
    this.pace = 250;
    this.notes = [];
    this.parts = {};
    this.className = "runpage";
    this.head = h("div", { class: "runhead" }, h("h1", {}, run));
    this.actions = h("div", { class: "actions" });
    this.banner = h("div", { class: "banner", "aria-live": "polite", tabindex: -1 });
    this.tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "About this run", onkeydown: (event) => this.keyed(event) });
    this.panel = h("div", { class: "panel", role: "tabpanel", tabindex: -1 });
    this.busy = h("p", { class: "busy" });
    this.box = h("section", { class: "summary", "aria-label": "Verdict" }, this.head, this.banner);
    this.steps = h("div");
    fill(this, this.box, this.steps, this.busy, this.tabs, this.panel, h("div", { class: "pending" }));
    fill(this.panel, h("p", { class: "empty" }, "Loading …"));
    if (EXPORTED) {
      for (const line of EXPORTED.lines) this.take(line);
      this.told = EXPORTED.run;
      this.draw();
      return;
    }
    // First the result, then the history, which may be long.
    this.refresh().then(() => { if (this.isConnected && !this.isLost) this.listen(); });
  }

  listen() {
    this.stop = follow(`runs/${part(this.run)}/events`, (line) => this.heard(line), (isOpen) => {
      this.classList.toggle("cut", !isOpen);
      // A new connection repeats the text that is being written.
      if (isOpen) this.saying = "";
    });
  }

  disconnectedCallback() {
    this.stop?.();
    clearTimeout(this.timer);
  }

  heard(line) {
    if ("delta" in line) this.saying += line.delta;
    else if (line.type === "progress") this.progress = line.text;
    else this.take(line);
    this.frame ||= requestAnimationFrame(() => { this.frame = 0; this.live(); });
    // A busy run is read now and then, and once more when it rests.
    if (!("delta" in line)) this.refreshLater();
  }

  refreshLater() {
    const last = this.lines.at(-1)?.seq || 0;
    if (!this.told || last <= this.told.events) return;
    this.timer ||= setTimeout(() => { this.timer = 0; this.refresh(); }, this.pace);
  }

  take(line) {
    this.progress = "";
    this.lines.push(line);
    if (line.type === "call") this.lastCall = line;
    if (line.type === "usage") this.saying = "";
    if (line.type === "budget" && this.told) this.told.budget = { used: line.used, limit: line.limit };
  }

  live() {
    if (this.told) { this.drawHead(); this.drawBusy(); }
    this.querySelector("time-line")?.set(this.lines);
    this.querySelector("talk-log")?.set(this.lines, this.saying);
    if (this.told) this.querySelector("re-play")?.heard(this.lines, this.told);
  }

  async refresh() {
    const begun = performance.now();
    try {
      this.told = await get(`runs/${part(this.run)}`);
      // Read a slow run less often.
      this.pace = Math.max(250, 4 * (performance.now() - begun));
    } catch (error) {
      if (error.status === 404) this.lost(error);
      else fill(this.panel, h("p", { class: "empty" }, error.message, " ", error.hint));
      return;
    }
    if (this.isConnected) { this.draw(); this.refreshLater(); }
  }

  // There is no such run: show nothing of one, and no message box.
  lost(error) {
    this.isLost = true;
    this.stop?.();
    fill(this, h("div", { class: "empty big" }, h("h1", {}, error.message), h("p", {}, "The run may have been pruned, or it belongs to another state directory. ", h("a", { href: "#/" }, "All runs"))));
    this.dispatchEvent(new CustomEvent("lost", { bubbles: true }));
  }

  draw() {
    this.drawHead();
    this.drawBusy();
    this.drawBanner();
    this.drawTabs();
    this.drawPanel();
    this.dispatchEvent(new CustomEvent("told", { bubbles: true, detail: this.told }));
  }

  // Redraw only what has changed, so that selections and typed text stay.
  changed(name, value) {
    const mark = JSON.stringify(value);
    if (this.parts[name] === mark) return false;
    this.parts[name] = mark;
    return true;
  }

  drawHead() {
    const { told } = this;
    if (!this.changed("head", [told.summary, told.status, told.stretches, told.driven_by])) return;
    fill(this.head, summary(told.summary, h("div", { class: "row top" }, pill(told),
      h("span", { class: "muted" }, [told.project_title, told.branch, told.intent.replace("_", " "), (told.driver || "").split(":")[0], told.driven_by && told.status === "running" ? "live" : ""].filter(Boolean).join(" · ")), this.actions), told.questions[0]?.text));
    this.box.className = `summary h-${told.summary.tone}`;
    fill(this.steps, ribbon(told));
  }

  // One line of constant height: the call under way, or the end of what the driver is saying.
  drawBusy() {
    const call = this.lastCall;
    const busy = this.told.status !== "running" ? "" : this.saying ? this.saying.trimEnd().slice(-300) : this.progress ? this.progress : call?.state === "started" ? `${call.tool} ${call.about || ""}` : "";
    if (!this.changed("busy", [busy, this.told.status])) return;
    this.busy.hidden = this.told.status !== "running";
    fill(this.busy, busy ? [h("span", { class: "spin", "aria-hidden": "true" }), h("span", { class: this.saying ? "speech" : "" }, h("bdi", {}, busy))] : "");
  }

  drawBanner() {
    const { told } = this;
    if (!this.changed("banner", [told.status, told.questions, told.next, told.decided])) return;
    const [question] = told.questions;
    const parts = [];
    if (question) parts.push(this.question(question));
    const decided = told.decided?.length ? h("ul", { class: "decided who", "aria-label": "Who decided" }, told.decided.slice(-5).map((each) => h("li", {}, h("strong", {}, each.by), ` ${each.what}${each.note ? `: ${each.note}` : ""}`))) : null;
    const act = EXPORTED ? null : this.mainButton();
    if (act || decided) parts.push(h("div", { class: "row" }, act, decided));
    if (!EXPORTED) fill(this.actions, this.otherButtons());
    this.banner.className = `banner ${question ? "b-ask" : ""}`;
    this.banner.hidden = !parts.length;
    fill(this.banner, parts);
    // What takes the place of a question is less high.
    if (document.activeElement === this.banner) this.banner.scrollIntoView({ block: "nearest" });
  }

  button(name, text, kind, body) { return h("button", { class: kind, onclick: () => this.do(name, body?.()) }, text); }

  // What moves the run on.
  mainButton() {
    const { told } = this;
    if (told.status === "interrupted") return this.button("resume", "Resume", "primary");
    if (!told.next.some((step) => step.command.startsWith("flyball runs merge"))) return null;
    return this.button("merge", "Merge into your branch", told.ending === "succeeded" ? "primary" : "");
  }

  otherButtons() {
    const { told } = this;
    const isOpen = ["running", "interrupted", "paused"].includes(told.status);
    return [told.status === "running" ? this.button("pause", "Pause", "quiet") : null, isOpen ? this.button("cancel", "Stop", "quiet") : null,
      h("a", { class: "button quiet", href: `/run/${part(told.run)}/card.svg`, target: "_blank", rel: "noopener", title: "A picture to paste into a pull request" }, "Picture"),
      h("a", { class: "button quiet", href: `/api/runs/${part(told.run)}/export.html`, download: `flyball-${told.run}.html` }, "Export")];
  }

  extension() {
    const calls = h("input", { type: "number", min: 1, max: 1000, value: 5, "aria-label": "Calls to add" });
    return h("form", { class: "extend", onsubmit: (event) => {
      event.preventDefault();
      this.do("extend", { calls: Number(calls.value), why: "extended on the board" });
    } }, calls, h("button", { type: "submit", class: "quiet" }, "Add calls"));
  }

  question(asked) {
    const [yes, no] = ANSWERS[asked.kind] || ["Yes", "No"];
    const why = h("input", { type: "text", placeholder: asked.conflict ? "Or describe what to do instead" : "Message to the driver (optional)", "aria-label": "Message to the driver" });
    const card = this.told.cards.find((each) => each.id === asked.card);
    const resting = RESTING.includes(asked.kind);
    // Both texts of a changed test stand above already.
    const words = asked.kind === "weakened-tests" && this.told.summary.questions.length ? asked.text.trim().split("\n").at(-1) : asked.text;
    const check = asked.kind === "checkpoint" && card?.checkpoint;
    const { conflict, sides } = asked;
    const buttons = conflict
      ? [...sides.map((side) => this.button("answer", capital(side), "primary", () => ({ text: side }))),
        h("button", { onclick: () => (why.value.trim() ? this.do("answer", { text: why.value }) : why.focus()) }, "Change the task")]
      : resting
      ? [h("button", { class: "primary", onclick: () => (why.value.trim() ? this.do("answer", { text: why.value }) : this.do("resume")) }, "Go on")]
      : [this.button("approve", yes, "primary", () => ({ note: why.value })),
        this.button("deny", no, "", () => ({ why: why.value }))];
    return h("div", { class: "question", role: "group", "aria-label": "Flyball asks" },
      h("p", { class: "who" }, "Flyball asks"), h("p", { class: "asked", dir: "auto" }, conflict ? words.split("\n")[0] : words),
      conflict ? h("div", { class: "sides" }, [conflict.says, conflict.but].map((side) => h("figure", { class: "quote" }, h("figcaption", {}, side.place), h("blockquote", {}, side.text)))) : null,
      check ? h("dl", { class: "facts" }, h("dt", {}, "Findings"), h("dd", {}, check.findings), h("dt", {}, "Will do"), h("dd", {}, check.proposed_action),
        h("dt", {}, "Files"), h("dd", { class: "mono" }, check.files.join(", ") || "—"), h("dt", {}, "Verifies with"), h("dd", { class: "mono" }, check.verify_with.join(", "))) : null,
      asked.call ? h("pre", { class: "call", tabindex: 0, "aria-label": "The call" }, asked.call.preview || JSON.stringify(asked.call.args ?? asked.call, null, 2)) : null,
      h("div", { class: "row" }, why, buttons));
  }

  async do(name, body = {}) {
    try {
      await post(`runs/${part(this.run)}/${name}`, body);
      say({ merge: "Merged into your branch.", cancel: "Stopped.", pause: "The run pauses after the current call." }[name] || "Done.");
    } catch (error) {
      say(`${error.message} ${error.hint}`, "bad");
    }
    await this.refresh();
  }

  drawTabs() {
    if (!this.changed("tabs", [this.tab, this.told.run])) return;
    fill(this.tabs, TABS.map(([name, text]) => h("button", { role: "tab", "aria-selected": String(name === this.tab), tabindex: name === this.tab ? 0 : -1,
      onclick: () => this.show(name) }, text)));
    // On a narrow window the chosen tab may lie beyond the edge.
    const chosen = this.tabs.querySelector("[aria-selected=true]");
    this.tabs.scrollLeft += chosen.getBoundingClientRect().left - this.tabs.getBoundingClientRect().left - 60;
  }

  show(name) {
    if (name && known(name) !== this.tab) {
      this.tab = known(name);
      this.parts.panel = "";
      if (!EXPORTED) history.replaceState(null, "", `#/run/${part(this.run)}/${this.tab}`);
      if (!this.told) { this.wanted = name; return; }
      this.drawTabs();
      this.drawPanel();
    }
    this.goTo(name);
  }

  // An address may name a part of the page.
  goTo(name) {
    if (SECTIONS.some(([section]) => section === name)) this.sections?.[name].scrollIntoView({ block: "start" });
  }

  step(by) {
    const names = TABS.map(([name]) => name);
    this.show(names[(names.indexOf(this.tab) + by + names.length) % names.length]);
    this.tabs.querySelector("[aria-selected=true]")?.focus();
  }

  keyed(event) {
    const at = TABS.findIndex(([name]) => name === this.tab);
    const by = { ArrowLeft: -1, ArrowRight: 1, Home: -at, End: TABS.length - 1 - at }[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.step(by);
  }

  drawPanel() {
    const { told, tab } = this;
    this.dataset.tab = tab;
    const isNew = this.changed("panel", [tab, told.run]);
    if (isNew) this.panel.setAttribute("aria-label", TABS.find(([name]) => name === tab)[1]);
    if (tab === "run") this.overview(isNew);
    else if (!isNew) return;
    else if (tab === "timeline") { fill(this.panel, document.createElement("time-line")); this.panel.firstChild.set(this.lines); }
    else if (tab === "talk") { fill(this.panel, document.createElement("talk-log")); this.panel.firstChild.set(this.lines, this.saying); }
    else { fill(this.panel, document.createElement("re-play")); this.panel.firstChild.open(this.run, told, this.lines); }
  }

  overview(isNew) {
    const { told } = this;
    if (isNew) {
      this.sections = Object.fromEntries(SECTIONS.map(([name, title]) => [name, h("section", { class: `part part-${name}`, "aria-label": title }, h("h2", {}, title), h("div", { class: "partbody" }))]));
      for (const [name] of SECTIONS) this.parts[name] = "";
      fill(this.panel, Object.values(this.sections));
    }
    const body = (name) => this.sections[name].lastChild;
    const marks = told.cards.map(({ decisions, ...rest }) => [rest, decisions.length]);
    // Of a run that missed its goal the message is Flyball's, and on top already.
    const said = told.cards.filter((card) => card.answer);
    const { answer } = said.findLast((card) => card.proof) || said.at(-1) || { answer: "" };
    const isChanged = told.cards.some((card) => card.proof || card.added || card.removed);
    this.sections.answer.hidden = !answer;
    if (this.changed("answer", [answer, isChanged])) {
      fill(body("answer"), h("figure", { class: "quote" }, h("figcaption", {}, "The driver says"), h("blockquote", { dir: "auto" }, answer)));
      // The answer to a question comes first; after a change it comes second.
      this.sections[isChanged ? "changes" : "answer"].after(this.sections[isChanged ? "answer" : "changes"]);
    }
    // Before the workspace is there, and after it was pruned, there is nothing to ask for.
    const isKept = Boolean(EXPORTED || (told.workspace && told.cards.length));
    if (this.changed("changes", [isKept, marks.map(([card]) => [card.evidence.length, card.status, card.added, card.removed, card.calls])])) {
      if (isKept) this.changes(body("changes"));
      else fill(body("changes"), h("p", { class: "empty" }, told.status === "running" ? "No changes yet." : "The change is not available: the run's workspace is gone, or it never had one."));
    }
    if (this.changed("calls", told.cards.map((card) => card.decisions.length))) decisionLog(body("calls"), told.cards);
    if (this.changed("evidence", marks)) fill(body("evidence"), told.cards.length ? told.cards.map((card) => this.card(card)) : h("p", { class: "empty" }, "No card has started yet."));
    if (this.changed("cost", [told.budget, told.costs, told.updated_at, told.status])) fill(body("cost"), this.cost());
    if (this.wanted) { const { wanted } = this; this.wanted = ""; requestAnimationFrame(() => this.goTo(wanted)); }
  }

  cost() {
    const { told } = this;
    const costs = told.costs || {};
    const tokens = (costs.input_tokens || 0) + (costs.output_tokens || 0);
    return h("dl", { class: "stats" },
      h("div", { class: "stat wide" }, h("dt", {}, "Budget"), h("dd", {}, meter(told.budget.used, told.budget.limit, "Calls used"), h("span", { class: "num" }, `${told.budget.used} of ${told.budget.limit} calls`), !EXPORTED && ["running", "paused"].includes(told.status) ? this.extension() : null)),
      stat("Refused", told.spend?.blocked || 0), stat("Time", lasted(told.updated_at - told.started_at)), stat("Waiting for the driver", lasted(costs.driver_seconds || 0)), stat("Tokens", tokens.toLocaleString("en")),
      stat("Money", costs.money ? `$${costs.money.toFixed(3)}` : "—"), stat("Run", h("code", {}, told.run)));
  }

  card(card) {
    const act = (name, text) => h("button", { class: "quiet", "data-place": `back or again ${card.id}`, onclick: () => this.move(card, name) }, text);
    const back = card.status === "reverted";
    const isOnly = this.told.cards.filter((each) => each.verdict).length < 2;
    return h("article", { class: `cardbox c-${card.status}` },
      h("header", {}, h("h3", {}, card.title), h("span", { class: `tag c-${card.status}` }, card.status), lines(card.added, card.removed),
        card.commit ? h("code", { class: "muted" }, card.commit.slice(0, 10)) : null),
      card.ending_reason && card.ending_reason !== this.told.summary.headline ? h("p", {}, h("strong", {}, "Why it ended: "), card.ending_reason) : null,
      verdictPanel(card, this.at(), isOnly && this.told.summary),
      card.checkpoint ? h("dl", { class: "facts" }, h("dt", {}, "Goal"), h("dd", {}, card.checkpoint.goal), h("dt", {}, "Findings"), h("dd", {}, card.checkpoint.findings),
        h("dt", {}, "Files"), h("dd", { class: "mono" }, card.checkpoint.files.join(", ") || "—")) : null,
      card.drift.length ? h("p", { class: "bad" }, `Changed beyond the checkpoint: ${card.drift.join(", ")}`) : null,
      this.evidence(card), this.rulings(card),
      card.failed_edits.length ? h("details", {}, h("summary", {}, plural(card.failed_edits.length, "failed edit", "failed edits")), h("ul", {}, card.failed_edits.map((each) => h("li", {}, each.reason)))) : null,
      EXPORTED || !card.commit ? null : h("div", { class: "row" }, back ? act("apply", "Apply again") : act("revert", "Revert"),
        this.told.cards.length < 2 ? null : h("button", { class: "quiet", onclick: () => this.changesOf(card.id) }, "Its changes")));
  }

  // Where a card's picture is; an exported file contains it.
  at() {
    return EXPORTED ? (card, name) => EXPORTED.pictures[card.id]?.[name] : (card, name) => `/api/runs/${part(this.run)}/cards/${part(card.id)}/pictures/${part(name)}`;
  }

  evidence(card) {
    if (!card.evidence.length) return h("p", { class: "muted" }, "No evidence yet.");
    return h("ul", { class: "evidence" }, card.evidence.map((item) => {
      const tone = item.stale ? "stale" : item.verdict ? shade(item.verdict) : item.exit_code > 0 || item.failed > 0 ? "bad" : "good";
      const words = item.command || item.url || (item.files ? plural(item.files.length, "file") : item.verdict ? card.verdict_words[0] : "");
      const counts = "passed" in item || "failed" in item ? `${item.passed || 0} passed, ${item.failed || 0} failed` : "";
      return h("li", { class: tone }, h("span", { class: "badge" }, item.type.replace("-report", "")), h("span", { class: "mono" }, words), counts ? ` ${counts}` : "", item.stale ? " (on an earlier tree)" : "");
    }));
  }

  rulings(card) {
    if (!card.verdicts?.length) return null;
    return h("ul", { class: "rulings" }, card.verdicts.map((each) => {
      const said = typeof each.verdict === "string" ? each.verdict : each.verdict?.type || "";
      const words = each.verdict?.reason || each.verdict?.sentence || each.sentence || "";
      return h("li", { title: each.check || each.gate || "" }, h("span", { class: `light l-${said}` }, said), h("span", {}, words || (each.check || each.gate || "gate").replaceAll("_", " ")));
    }));
  }

  async move(card, name, force = false) {
    try {
      await post(`runs/${part(this.run)}/cards/${part(card.id)}/${name}`, { force });
      say(name === "revert" ? "Reverted. You can apply it again." : "Applied again.");
    } catch (error) {
      if (error.code === "conflict" && !force && confirm(`${error.message}\n\nContinue and lose these changes?`)) return this.move(card, name, true);
      say(`${error.message} ${error.hint}`, "bad");
    }
    return this.refresh();
  }

  changesOf(card) {
    this.only = card;
    this.changes(this.sections.changes.lastChild);
    this.goTo("changes");
  }

  changes(place) {
    const old = place.querySelector("diff-box");
    const route = this.only ? `runs/${part(this.run)}/cards/${part(this.only)}/diff` : `runs/${part(this.run)}/diff`;
    const box = old?.route === route ? old : document.createElement("diff-box");
    if (box !== old) {
      const whole = this.only ? h("button", { class: "quiet", onclick: () => this.changesOf("") }, "All changes of the run") : null;
      fill(place, whole, box);
    }
    box.load(route, EXPORTED ? null : (path, line, side, text) => {
      this.notes.push(`${path}:${line}${side === "old" ? " (before)" : ""}: ${text}`);
      this.drawNotes();
    }, (path) => besides(this.told, path));
  }

  drawNotes() {
    const place = this.querySelector(".pending");
    if (!this.notes.length) { fill(place); return; }
    const over = !["running", "paused", "interrupted"].includes(this.told.status);
    fill(place, h("div", { class: "notes" }, h("p", {}, plural(this.notes.length, "comment")), h("ul", {}, this.notes.map((each) => h("li", {}, each))),
      h("button", { class: "primary", onclick: () => this.sendNotes(over) }, over ? "Start a run with these comments" : "Send to the driver")));
  }

  async sendNotes(over) {
    const text = `Comments on the change:\n${this.notes.join("\n")}`;
    try {
      if (over) {
        const { run } = await post("runs", { request: text, project: this.told.project, follows: this.run, intent: "small_fix" });
        location.hash = `#/run/${part(run)}`;
      } else await post(`runs/${part(this.run)}/instruct`, { text });
      this.notes = [];
      this.drawNotes();
      say("Sent to the driver.");
    } catch (error) {
      say(`${error.message} ${error.hint}`, "bad");
    }
    await this.refresh();
  }
}
customElements.define("run-page", RunPage);
