// Everything that can be done from here, by a few letters: Ctrl-K.
import { h, fill } from "./dom.js";

const MOST = 12;

// Whether the letters of what was typed occur in this order, and how closely.
function fits(text, wanted) {
  let at = -1;
  let gaps = 0;
  for (const letter of wanted) {
    const next = text.indexOf(letter, at + 1);
    if (next < 0) return -1;
    if (at >= 0) gaps += next - at - 1;
    at = next;
  }
  return gaps + text.indexOf(wanted[0] || "") / 100;
}

export function openPalette(commands) {
  let found = [];
  let at = 0;
  const list = h("ul", { id: "commands", role: "listbox", "aria-label": "Commands" });
  const box = h("dialog", { class: "palette", "aria-label": "Commands" });
  const act = (n) => { const chosen = found[n]; box.close(); chosen?.act(); };
  const draw = () => {
    fill(list, found.map((each, n) => h("li", { role: "option", id: `command-${n}`, "aria-selected": String(n === at), onclick: () => act(n) }, h("span", {}, each.text), h("span", { class: "muted" }, each.hint || ""))));
    input.setAttribute("aria-activedescendant", found.length ? `command-${at}` : "");
    list.children[at]?.scrollIntoView({ block: "nearest" });
    none.hidden = found.length > 0;
  };
  const look = () => {
    const wanted = input.value.trim().toLowerCase();
    const ranked = commands.map((each) => [fits(`${each.text} ${each.hint || ""}`.toLowerCase(), wanted.replaceAll(" ", "")), each]).filter(([rank]) => rank >= 0);
    if (wanted) ranked.sort(([a], [b]) => a - b);
    found = ranked.slice(0, MOST).map(([, each]) => each);
    at = 0;
    draw();
  };
  const none = h("p", { class: "empty", hidden: true }, "No matches.");
  const input = h("input", { type: "text", role: "combobox", "aria-expanded": "true", "aria-controls": "commands", "aria-autocomplete": "list", autocomplete: "off", placeholder: "Go to a run, or do something", "aria-label": "Command", oninput: look,
    onkeydown: (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step) { event.preventDefault(); at = (at + step + found.length) % (found.length || 1); draw(); }
      if (event.key === "Enter") { event.preventDefault(); act(at); }
    } });
  box.append(input, list, none);
  box.addEventListener("click", (event) => { if (event.target === box) box.close(); });
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
  look();
}
