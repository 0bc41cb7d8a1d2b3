// A diff as the server parsed and coloured it: inline or side by side, file by file.
import { h, fill, delta, plural } from "./dom.js";
import { EXPORTED, get, part, storedFlag, keepFlag } from "./api.js";

const KINDS = { added: "new", deleted: "gone", renamed: "moved", modified: "" };

function code(tokens) {
  return tokens.map(([kind, text]) => (kind ? h("span", { class: `t-${kind}` }, text) : text));
}

export class DiffBox extends HTMLElement {
  // `path` is the route, `note(path, line, side, text)` takes a comment on a line, `beside(path)` draws what belongs to a file.
  load(path, note, beside) {
    this.route = path;
    this.note = note;
    this.beside = beside;
    this.split = storedFlag("split", window.innerWidth > 1700);
    this.open = this.open || new Map();
    return this.fetch("");
  }

  async fetch(full) {
    let view;
    try {
      view = await get(`${this.route}${full ? `?full=${part(full)}` : ""}`);
    } catch (error) {
      fill(this, h("p", { class: "empty" }, error.message, " ", error.hint));
      return;
    }
    const besides = this.beside ? view.files.map((file) => this.beside(file.path).textContent) : [];
    const mark = JSON.stringify([view, besides]);
    if (mark === this.mark && this.firstChild) return;
    this.mark = mark;
    this.view = view;
    // Do not redraw over a comment that is being written.
    if (this.querySelector("tr.comment textarea")) this.isLate = true;
    else this.render();
  }

  // A change that is at hand already; lines that the one before did not have are marked.
  show(view) {
    const rows = (file) => file.hunks.flatMap((hunk) => hunk.rows.map(([kind, , , tokens]) => `${file.path} ${kind} ${tokens.map(([, text]) => text).join("")}`));
    const known = new Set((this.view?.files || []).flatMap(rows));
    this.isFresh = (file, kind, tokens) => kind !== " " && !known.has(`${file.path} ${kind} ${tokens.map(([, text]) => text).join("")}`);
    Object.assign(this, { route: "replay", view, split: false, open: this.open || new Map() });
    this.render();
  }

  seen(file) { return `seen ${this.route} ${file.path} ${file.added} ${file.removed}`; }

  render() {
    const { files, added, removed } = this.view;
    if (!files.length) {
      fill(this, h("p", { class: "empty" }, "No changes yet. They appear here as soon as the driver edits a file."));
      return;
    }
    const toggle = h("button", { class: "quiet", "aria-pressed": String(this.split), onclick: () => {
      this.split = !this.split;
      keepFlag("split", this.split);
      this.render();
    } }, "Side by side");
    fill(this,
      h("div", { class: "diffbar" }, h("span", {}, plural(files.length, "file"), " ", delta(added, removed)), this.isFresh ? null : toggle),
      files.map((file) => this.file(file)));
  }

  file(file) {
    const isSeen = !EXPORTED && !this.isFresh && storedFlag(this.seen(file), false);
    const box = h("details", { class: "file", open: this.open.get(file.path) ?? !isSeen });
    box.addEventListener("toggle", () => this.open.set(file.path, box.open));
    const seen = EXPORTED || this.isFresh ? null : h("label", { class: "seen" }, h("input", { type: "checkbox", checked: isSeen, onchange: (event) => {
      keepFlag(this.seen(file), event.target.checked);
      // Closed, the box hides this very mark.
      if (event.target.checked) box.querySelector("summary").focus({ preventScroll: true });
      box.open = !event.target.checked;
    } }), "Viewed");
    const name = file.kind === "renamed" ? `${file.was} → ${file.path}` : file.path;
    box.append(h("summary", {}, h("span", { class: "path" }, name),
      KINDS[file.kind] ? h("span", { class: `tag k-${file.kind}` }, KINDS[file.kind]) : null, delta(file.added, file.removed)));
    if (seen) box.append(seen);
    if (file.is_binary) box.append(h("p", { class: "empty" }, "Binary file."));
    else if (file.omitted) {
      box.append(h("p", { class: "empty" }, `${plural(file.added + file.removed, "changed line")}. `,
        this.isFresh ? null : h("button", { onclick: () => this.fetch(file.path) }, "Load anyway")));
    } else box.append(h("div", { class: this.beside ? "besided" : "" }, this.split ? this.sides(file) : this.inline(file), this.beside?.(file.path)));
    return box;
  }

  inline(file) {
    const body = h("tbody");
    for (const hunk of file.hunks) {
      body.append(h("tr", { class: "head" }, h("td", { colspan: 3 }, hunk.head)));
      for (const [kind, old, now, tokens] of hunk.rows) {
        const row = h("tr", { class: `${kind === "+" ? "add" : kind === "-" ? "del" : ""} ${this.isFresh?.(file, kind, tokens) ? "fresh" : ""}` },
          now ? h("td", { class: "no" }, old || "") : this.number(file, old, now), now ? this.number(file, old, now) : h("td", { class: "no" }),
          h("td", { class: "code" }, h("span", { class: "sign", "aria-hidden": "true" }, kind === " " ? " " : kind), code(tokens)));
        body.append(row);
      }
    }
    return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Changes in ${file.path}` }, h("table", { class: "diff" }, body));
  }

  number(file, old, now) {
    const line = now || old;
    if (!this.note || !line) return h("td", { class: "no" }, line || "");
    const side = now ? "new" : "old";
    return h("td", { class: "no" }, h("button", { class: "line", "aria-label": `Comment on ${side} line ${line} of ${file.path}`,
      onclick: (event) => this.comment(event.target.closest("tr"), file, line, side) }, line));
  }

  sides(file) {
    const body = h("tbody");
    const cell = (kind, number, tokens, side) => (number
      ? [side === "new" ? this.number(file, 0, number) : h("td", { class: "no" }, number), h("td", { class: `code ${kind === "+" ? "add" : kind === "-" ? "del" : ""}` }, code(tokens))]
      : [h("td", { class: "no none" }), h("td", { class: "code none" })]);
    for (const hunk of file.hunks) {
      body.append(h("tr", { class: "head" }, h("td", { colspan: 4 }, hunk.head)));
      let gone = [];
      let fresh = [];
      const flush = () => {
        for (let n = 0; n < Math.max(gone.length, fresh.length); n += 1) {
          const [a, b] = [gone[n], fresh[n]];
          body.append(h("tr", {}, cell("-", a?.[1], a?.[3], "old"), cell("+", b?.[2], b?.[3], "new")));
        }
        gone = [];
        fresh = [];
      };
      for (const row of hunk.rows) {
        if (row[0] === "-") gone.push(row);
        else if (row[0] === "+") fresh.push(row);
        else {
          flush();
          if (row[0] === " ") body.append(h("tr", {}, cell(" ", row[1], row[3], "old"), cell(" ", row[2], row[3], "new")));
        }
      }
      flush();
    }
    return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Changes in ${file.path}` }, h("table", { class: "diff split" }, h("colgroup", {}, h("col", { class: "no" }), h("col"), h("col", { class: "no" }), h("col")), body));
  }

  comment(row, file, line, side) {
    const writing = row.nextSibling?.querySelector?.("form.comment textarea");
    if (writing) { writing.focus(); return; }
    const text = h("textarea", { rows: 2, "aria-label": `Comment on line ${line}`, placeholder: "What should the driver do here?" });
    const form = h("form", { class: "comment", onsubmit: (event) => {
      event.preventDefault();
      if (!text.value.trim()) return;
      this.note(file.path, line, side, text.value.trim());
      fill(form, h("p", {}, text.value.trim(), " ", h("span", { class: "muted" }, "saved; send it below")));
      this.left(row);
    } }, text, h("div", { class: "row" }, h("button", { type: "submit", class: "primary" }, "Save comment"),
      h("button", { class: "quiet", onclick: () => { holder.remove(); this.left(row); } }, "Cancel")));
    const holder = h("tr", { class: "comment" }, h("td", { colspan: 4 }, form));
    row.after(holder);
    text.focus();
  }

  // Focus the commented line; show a change that came meanwhile.
  left(row) {
    row.querySelector("button.line")?.focus({ preventScroll: true });
    if (!this.isLate || this.querySelector("tr.comment textarea")) return;
    this.isLate = false;
    this.render();
  }
}
customElements.define("diff-box", DiffBox);
