// The place to speak: begin a run, answer one, or ask for more after it has ended.
import { h, fill, say } from "./dom.js";
import { post, part } from "./api.js";

const INTENTS = [["", "Infer from the request"], ["status_check", "Status check"], ["diagnose", "Diagnose"], ["small_fix", "Small fix"], ["feature_build", "Feature"], ["autonomous", "Autonomous"]];

export class ChatBox extends HTMLElement {
  connectedCallback() {
    if (this.text) return;
    this.text = h("textarea", { rows: 1, "aria-label": "What to say", onkeydown: (event) => {
      if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); this.form.requestSubmit(); }
    } });
    this.send = h("button", { type: "submit", class: "primary" }, "Start");
    this.intent = h("select", { "aria-label": "Intent" }, INTENTS.map(([value, text]) => h("option", { value }, text)));
    this.budget = h("input", { type: "number", min: 0, max: 1000, placeholder: "usual", "aria-label": "Budget in calls" });
    this.driver = h("input", { type: "text", placeholder: "settings decide", "aria-label": "Driver" });
    this.approve = h("input", { type: "checkbox" });
    this.more = h("details", { class: "more" }, h("summary", {}, "Options"),
      h("div", { class: "row" }, h("label", {}, "Intent ", this.intent), h("label", {}, "Budget ", this.budget), h("label", {}, "Driver ", this.driver),
        h("label", { class: "check" }, this.approve, "Ask me about each checkpoint")));
    this.form = h("form", { class: "chat", onsubmit: (event) => { event.preventDefault(); this.go(); } }, this.text, this.more, this.send);
    this.append(this.form);
    this.about(null, []);
  }

  about(told, projects, chosen) {
    this.told = told;
    this.project = chosen;
    const ended = told && !["running", "paused", "interrupted"].includes(told.status);
    this.mode = !told ? "start" : ended ? "after" : told.questions.length ? "answer" : "instruct";
    const title = projects.find((each) => each.name === chosen)?.title || "this project";
    this.text.placeholder = { start: `What should be done in ${title}?`, after: "Ask for more in a new run", answer: "Answer in words", instruct: "Message to the driver" }[this.mode];
    fill(this.send, { start: "Start", after: "Start", answer: "Answer", instruct: "Send" }[this.mode]);
    if (!["start", "after"].includes(this.mode) && this.more.contains(document.activeElement)) this.text.focus();
    this.more.hidden = this.mode !== "start" && this.mode !== "after";
  }

  async go() {
    const text = this.text.value.trim();
    if (!text) { this.text.focus(); return; }
    // `disabled` would lose the focus.
    if (this.send.ariaDisabled === "true") return;
    this.send.ariaDisabled = "true";
    try {
      if (this.mode === "start" || this.mode === "after") {
        const body = { request: text, project: this.told?.project || this.project || "", driver: this.driver.value.trim(), approve: this.approve.checked };
        if (this.intent.value) body.intent = this.intent.value;
        if (this.budget.value) body.budget = Number(this.budget.value);
        if (this.mode === "after") body.follows = this.told.run;
        const { run } = await post("runs", body);
        this.text.value = "";
        if (this.more.contains(document.activeElement)) this.text.focus();
        this.more.open = false;
        location.hash = `#/run/${part(run)}`;
      } else {
        await post(`runs/${part(this.told.run)}/${this.mode}`, { text });
        this.text.value = "";
        say("Sent.");
      }
    } catch (error) {
      say(`${error.message} ${error.hint}`, "bad");
    }
    this.send.ariaDisabled = "false";
  }
}
customElements.define("chat-box", ChatBox);

export class DevPanel extends HTMLElement {
  connectedCallback() {
    if (this.out) return;
    this.strict = h("input", { type: "checkbox", checked: true });
    this.diff = h("textarea", { rows: 10, class: "mono", "aria-label": "Unified diff", placeholder: "--- a/file\n+++ b/file\n@@ …" });
    this.out = h("div", { "aria-live": "polite" });
    this.append(h("h2", {}, "Apply a diff to the project"), h("p", { class: "muted" }, "The engine of a driver's edits repairs a diff where that is safe, and otherwise refuses it with a reason. A preview writes nothing; flyball undo undoes an edit."),
      this.diff, h("div", { class: "row" }, h("label", { class: "check" }, this.strict, "Keep regions strict"),
        h("button", { class: "quiet", onclick: () => this.send(true) }, "Preview"), h("button", { class: "primary", onclick: () => this.send(false) }, "Apply")), this.out,
      h("p", { class: "muted" }, h("a", { href: "/api/schema/openapi.json" }, "OpenAPI document"), " · ", h("a", { href: "/api/machine?format=json" }, "Statechart")));
  }

  async send(preview) {
    try {
      const told = await post("patch/diff", { diff: this.diff.value, keepRegions: this.strict.checked, preview, project: this.project || "" });
      fill(this.out, h("p", { class: told.ok ? "good" : "bad" }, told.ok ? (preview ? "The diff applies; nothing was written." : `Applied. flyball undo ${told.snapshotId} undoes it.`) : "Refused; nothing was changed."),
        h("ul", {}, told.errors.map((each) => h("li", { class: "bad" }, each.path ? `${each.path}: ` : "", each.message)), told.warnings.map((each) => h("li", {}, each))),
        told.diff ? h("pre", { tabindex: 0, "aria-label": "What it changes" }, told.diff) : null);
    } catch (error) {
      fill(this.out, h("p", { class: "bad" }, error.message, " ", error.hint));
    }
  }
}
customElements.define("dev-panel", DevPanel);
