// Replay a run: phases advance, the change grows, tests turn, at a chosen speed.
import { h, fill, clock, lasted, meter } from "./dom.js";
import { get, part } from "./api.js";
import "./diff.js";
import { lineText } from "./timeline.js";

// All of a run takes so many seconds at its usual speed; no pause counts for more than `LONGEST`.
const WHOLE = 24;
const LONGEST = 4;
const SPEEDS = [0.5, 1, 2, 4, 8];
const PHASES = ["recon", "checkpoint", "execute", "verify", "final"];
const TOLD = new Set(["call", "decision", "governor", "guard", "approval", "checkpoint", "evidence", "text", "final", "phase"]);

export class RePlay extends HTMLElement {
  async open(run, told, lines) {
    Object.assign(this, { run, told, lines, at: 0, speed: 1 });
    this.out = h("output", {}, "");
    this.playing = h("button", { class: "primary play", onclick: () => this.toggle() }, "▶ Play");
    this.slider = h("input", { type: "range", min: 1, max: told.events, value: told.events, "aria-label": "Event", oninput: () => { this.pause(); this.seek(Number(this.slider.value)); } });
    const speed = h("select", { "aria-label": "Speed", onchange: () => { this.speed = Number(speed.value); } }, SPEEDS.map((each) => h("option", { value: each, selected: each === 1 }, `${each}×`)));
    const step = (by, name, sign) => h("button", { class: "quiet", "aria-label": name, onclick: () => { this.pause(); this.seek(this.at + by); } }, sign);
    this.steps = h("ol", { class: "replayphases", "aria-label": "Phase" });
    this.board = h("div", { class: "then" });
    this.talk = h("ol", { class: "happened", "aria-label": "Latest events" });
    this.tests = h("ul", { class: "turned", "aria-label": "Tests" });
    this.diff = document.createElement("diff-box");
    this.bare = h("p", { class: "empty" }, "Nothing has changed yet.");
    this.board.append(h("div", { class: "replayside" }, this.steps, this.budget = h("div", { class: "row" }), this.cards = h("ul", { class: "thencards" }), this.tests, this.talk), h("div", { class: "replaychange" }, this.bare, this.diff));
    fill(this, h("div", { class: "scrub" }, this.playing, step(-1, "Back", "◂"), this.slider, step(1, "Forward", "▸"), speed), this.out, this.board);
    this.read();
    this.replay = { times: [], scenes: [] };
    this.seek(told.events);
    this.replay = await get(`runs/${part(run)}/replay`).catch(() => this.replay);
    this.timed();
    this.at = 0;
    this.seek(Number(this.slider.value));
  }

  disconnectedCallback() { this.pause(); }

  // What each event changes of what is shown.
  read() {
    this.events = [];
    this.count = this.lines.length;
    for (const line of this.lines) (this.events[line.seq] ||= []).push(line);
    this.turned = [...new Set(this.told.cards.flatMap((card) => card.verdict?.mended || []))].slice(0, 8);
    this.judgedAt = this.lines.findLast((line) => line.type === "evidence" && line.kind.startsWith("verdict") && line.passing)?.seq || (this.turned.length ? this.told.events : Infinity);
  }

  heard(lines, told) {
    if (!this.events || (this.count === lines.length && told.events === this.told.events)) return;
    const isLast = this.at >= this.told.events;
    Object.assign(this, { lines, told });
    this.slider.max = told.events;
    this.read();
    const at = isLast ? told.events : this.at;
    this.at = 0;
    this.seek(at);
  }

  // When each event is shown, in seconds at the usual speed.
  timed() {
    const { times } = this.replay;
    const waits = times.map((at, n) => (n ? Math.min(LONGEST, 0.15 + Math.max(0, at - times[n - 1])) : 0.3));
    const scale = WHOLE / Math.max(WHOLE / 3, waits.reduce((all, each) => all + each, 0));
    let all = 0;
    this.due = waits.map((each) => { all += each * scale; return all; });
  }

  toggle() { if (this.frame) this.pause(); else this.play(); }

  pause() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    if (this.playing) fill(this.playing, "▶ Play");
  }

  play() {
    if (!this.due?.length) return;
    if (this.at >= this.told.events) this.seek(1);
    fill(this.playing, "❚❚ Pause");
    let last = performance.now();
    let passed = this.due[this.at - 1] || 0;
    const tick = (now) => {
      passed += ((now - last) / 1000) * this.speed;
      last = now;
      let at = this.at;
      while (at < this.told.events && this.due[at] <= passed) at += 1;
      if (at !== this.at) this.seek(at);
      if (at >= this.told.events) { this.pause(); return; }
      this.frame = requestAnimationFrame(tick);
    };
    this.frame = requestAnimationFrame(tick);
  }

  // All state follows from the lines up to an event; going forward adds to it, going back starts over.
  seek(to) {
    to = Math.max(1, Math.min(this.told.events, to));
    if (to < this.at || !this.at) { this.at = 0; this.state = { phase: "", cards: new Map(), used: 0, limit: 0, said: [], asks: "" }; }
    const { state } = this;
    for (let seq = this.at + 1; seq <= to; seq += 1) for (const line of this.events[seq] || []) this.take(state, line);
    this.at = to;
    this.slider.value = to;
    const at = this.replay.times[to - 1];
    fill(this.out, `Event ${to} of ${this.told.events}: ${(this.events[to]?.[0] ? lineText(this.events[to][0])[0] : "").toLowerCase()}${at ? `, ${clock(at)}, after ${lasted(at - this.replay.times[0])}` : ""}`);
    this.draw();
  }

  take(state, line) {
    if (line.type === "phase") state.phase = line.phase;
    if (line.type === "card") state.cards.set(line.card, { ...line, title: line.title || state.cards.get(line.card)?.title });
    if (line.type === "budget") Object.assign(state, { used: line.used, limit: line.limit });
    if (TOLD.has(line.type) && line.decision !== "allow" && line.state !== "started") state.said = [...state.said.slice(-4), line];
  }

  draw() {
    const { state, at } = this;
    const phase = PHASES.indexOf(state.phase);
    fill(this.steps, PHASES.map((name, n) => h("li", { class: `p-${name} ${n === phase ? "now" : ""}`, "aria-current": n === phase ? "step" : false }, name)), phase < 0 && state.phase ? h("li", { class: `p-${state.phase} now` }, state.phase) : null);
    fill(this.budget, meter(state.used, state.limit || this.told.budget.limit, "Calls used by then"), h("span", { class: "num" }, `${state.used} of ${state.limit || this.told.budget.limit} calls`));
    fill(this.cards, [...state.cards.values()].map((card) => h("li", {}, h("span", { class: `tag c-${card.status}` }, card.status), " ", h("span", { class: "cut2" }, card.title))));
    const isGreen = at >= this.judgedAt;
    fill(this.tests, this.turned.map((name) => h("li", {}, h("span", { class: `light l-${isGreen ? "green" : "red"}` }, isGreen ? "green" : "red"), h("code", {}, name))));
    fill(this.talk, state.said.map((line) => { const [what, text] = lineText(line); return h("li", { class: line.ok === false || line.decision === "deny" || line.passing === false ? "bad" : "" }, h("strong", {}, what), " ", String(text).split("\n")[0].slice(0, 160)); }));
    const scene = this.replay.scenes.findLast((each) => each.seq <= at);
    if (scene === this.scene) return;
    this.scene = scene;
    const isBare = !scene?.view.files.length;
    this.bare.hidden = !isBare;
    this.diff.hidden = isBare;
    if (!isBare) this.diff.show(scene.view);
  }
}
customElements.define("re-play", RePlay);
