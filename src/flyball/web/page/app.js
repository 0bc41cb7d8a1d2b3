// The page: where we are, what is shown there, and what keys do.
import { h, fill, say, settle } from "./dom.js";
import { get, follow, storedFlag, keepFlag } from "./api.js";
import { FILTERS, matches, passes } from "./board.js";
import { undoLast } from "./inbox.js";
import { openPalette } from "./palette.js";
import "./run.js";
import "./chat.js";

const top = document.getElementById("top");
const side = document.getElementById("runs");
const main = document.getElementById("main");
const list = document.createElement("run-list");
const chat = document.createElement("chat-box");
const crew = document.createElement("worker-list");
const rows = new Map();
let projects = [];
let chosen = localStorage.getItem("project") || "";
let asked = new Set();
let frame = 0;
let filter = "";
const filters = h("div", { class: "filters", role: "group", "aria-label": "Show" });

const search = h("input", { type: "search", placeholder: "Search runs  /", "aria-label": "Search runs", oninput: () => draw() });
const choice = h("select", { "aria-label": "Project", onchange: () => { chosen = choice.value; localStorage.setItem("project", chosen); mainProject(); draw(); } });
const bell = h("button", { class: "quiet bell", onclick: notifyMe }, "Notify me");
const link = h("span", { class: "link", title: "Connected", role: "img", "aria-label": "Connected" });

top.append(choice, search, h("span", { class: "grow" }), link, bell,
  h("a", { class: "button quiet", href: "#/dev" }, "Developer"), h("button", { class: "quiet", "aria-label": "Light or dark", onclick: turn }, "◐"), h("button", { class: "quiet keys", "aria-label": "Keys", onclick: help }, "?"));
side.append(filters, list);
// The fragment selects the screen, so this link may not change it.
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });

function turn() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("theme", root.dataset.theme);
}
if (localStorage.getItem("theme")) document.documentElement.dataset.theme = localStorage.getItem("theme");

async function notifyMe() {
  if (!("Notification" in window)) { say("This browser does not support notifications."); return; }
  const told = await Notification.requestPermission();
  keepFlag("notify", told === "granted");
  if (told === "granted") choice.focus();
  bell.hidden = told === "granted";
  say(told === "granted" ? "You will be notified when a run waits for you." : "The browser blocks notifications.");
}
bell.hidden = storedFlag("notify", false);

const shownRows = () => {
  const words = search.value.trim().toLowerCase();
  const near = [...rows.values()].filter((row) => (!chosen || row.project === chosen) && matches(row, words));
  const counts = FILTERS.map(([name, text]) => [name, text, near.filter((row) => passes(row, name)).length]);
  const mark = JSON.stringify([counts, filter]);
  if (filters.mark !== mark) {
    filters.mark = mark;
    fill(filters, counts.map(([name, text, count]) => h("button", { class: "chip", "aria-pressed": String(name === filter), "aria-label": `${text}, ${count}`, onclick: () => { filter = name; draw(); } }, text, " ", h("span", { class: "num" }, count.toLocaleString("en")))));
  }
  return near.filter((row) => passes(row, filter)).sort((a, b) => b.created_at - a.created_at || (b.run > a.run ? 1 : -1));
};

function place() {
  const [, what, run, tab] = location.hash.split("/");
  return { what: what || "", run: run ? decodeURIComponent(run) : "", tab };
}

function draw() {
  cancelAnimationFrame(frame);
  frame = requestAnimationFrame(() => {
    const found = shownRows();
    list.set(found, place().run);
    main.querySelector("card-board")?.set(found, rows.size > 0);
    const waiting = [...rows.values()].filter((row) => row.asks.length).length;
    document.title = `${waiting ? `(${waiting}) ` : ""}Flyball`;
  });
}

function mainProject() {
  const name = chosen || projects.find((each) => each.is_here)?.name || "";
  chat.project = name;
  if (place().what !== "run") chat.about(null, projects, name);
  const dev = main.querySelector("dev-panel");
  if (dev) dev.project = name;
}

function go() {
  const { what, run, tab } = place();
  document.body.dataset.at = what || "board";
  const open = main.querySelector("run-page");
  if (what === "run" && run) {
    if (open?.run === run) { open.show(tab); draw(); return; }
    const page = document.createElement("run-page");
    page.addEventListener("told", (event) => chat.about(event.detail, projects));
    page.addEventListener("lost", () => chat.remove());
    main.className = "split";
    fill(main, page, chat);
    page.open(run, tab);
  } else if (what === "dev") { main.className = ""; fill(main, h("h1", {}, "Developer"), document.createElement("dev-panel")); }
  else { main.className = ""; fill(main, chat, h("h1", { class: "hidden" }, "Board"), document.createElement("card-board"), crew); lookForWorkers(); }
  // Opened from the list or the header: the keys go on in the page.
  if (side.contains(document.activeElement) || top.contains(document.activeElement)) main.focus({ preventScroll: true });
  mainProject();
  draw();
  main.scrollTop = 0;
}

function tell(row) {
  const key = (each) => `${row.run} ${each.card} ${each.text}`;
  for (const each of row.asks) {
    if (asked.has(key(each))) continue;
    asked.add(key(each));
    if (storedFlag("notify", false) && document.hidden) new Notification("Flyball waits for you", { body: each.text, tag: row.run });
  }
}

// At most every other second.
let asksWorkers = 0;
function lookForWorkers() {
  if (asksWorkers || !crew.isConnected) return;
  asksWorkers = setTimeout(() => { asksWorkers = 0; }, 2000);
  get("workers").then((found) => crew.set(found)).catch(() => crew.set([]));
}
setInterval(() => { if (!document.hidden) lookForWorkers(); }, 15000);

function heard(line) {
  setTimeout(lookForWorkers, 300);
  if (line.type === "runs") {
    rows.clear();
    for (const row of line.runs) { rows.set(row.run, row); for (const each of row.asks) asked.add(`${row.run} ${each.card} ${each.text}`); }
    showProjects();
  } else if (line.type === "row") {
    const isNew = !rows.has(line.run);
    rows.set(line.run, line);
    tell(line);
    if (isNew) showProjects();
  }
  draw();
}

async function showProjects() {
  projects = await get("projects").catch(() => projects);
  if (chosen && !projects.some((each) => each.name === chosen)) chosen = "";
  fill(choice, h("option", { value: "" }, "All projects"), projects.map((each) => h("option", { value: each.name }, projects.filter((other) => other.title === each.title).length > 1 ? `${each.title} (${each.path})` : each.title)));
  choice.value = chosen;
  mainProject();
}

function help() {
  const keys = [["Ctrl-K ⌘K", "open the command palette"], ["i", "questions for you: a yes, d no, Enter answer, u undo"], ["j k", "next, previous run, card or line"], ["h l", "previous, next tab or column"], ["Enter", "open"], ["/", "search"], ["Esc", "back"], ["?", "these keys"]];
  const box = h("dialog", { class: "help", "aria-label": "Keys" }, h("h2", {}, "Keys"), h("dl", {}, keys.map(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])),
    h("form", { method: "dialog" }, h("button", { type: "submit", class: "primary" }, "Close")));
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
}

// What can be done from here; the buttons of a run are its commands.
function commands() {
  const goTo = (hash) => () => { location.hash = hash; };
  const buttons = [...main.querySelectorAll(".banner button:not([type=submit]), .actions > *, [role=tab]")].map((each) => ({ text: each.textContent, hint: "this run", act: () => each.click() }));
  const waiting = [...rows.values()].filter((row) => row.asks.length);
  return [...buttons, ...(waiting.length ? [{ text: "Questions for you", hint: `${waiting.length}`, act: () => { location.hash = "#/"; setTimeout(() => main.querySelector("in-box")?.enter(), 300); } }] : []),
    { text: "Board", act: goTo("#/") }, { text: "Start a run", act: () => { location.hash = "#/"; setTimeout(() => chat.text.focus(), 300); } }, ...FILTERS.map(([name, text]) => ({ text: `Filter: ${text}`, hint: "", act: () => { filter = name; draw(); } })),
    { text: "Light or dark", act: turn }, { text: "Keys", act: help }, { text: "Developer", act: goTo("#/dev") }, { text: "Notify me", act: notifyMe },
    ...[...rows.values()].sort((a, b) => b.created_at - a.created_at).map((row) => ({ text: row.request.slice(0, 120), hint: `${row.words} · ${row.title} · ${row.run}`, act: goTo(`#/run/${encodeURIComponent(row.run)}`) }))];
}

function key(event) {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    if (!document.querySelector("dialog[open]")) openPalette(commands());
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName || "");
  if (event.key === "Escape") {
    if (typing) main.contains(document.activeElement) ? settle(document.activeElement.parentElement) : main.focus({ preventScroll: true });
    else if (location.hash && location.hash !== "#/") location.hash = "#/";
    return;
  }
  if (typing) return;
  const page = main.querySelector("run-page");
  const board = main.querySelector("card-board");
  const onList = side.contains(document.activeElement) || (!page && !board?.contains(document.activeElement) && !board?.querySelector(".card"));
  const timeline = main.querySelector("time-line");
  const keys = {
    "/": () => (timeline?.find || search).focus(),
    "?": help,
    i: () => main.querySelector("in-box")?.enter(),
    u: undoLast,
    j: () => (timeline ? timeline.move(1) : onList || page ? list.move(1) : board.move(0, 1)),
    k: () => (timeline ? timeline.move(-1) : onList || page ? list.move(-1) : board.move(0, -1)),
    h: () => (page ? page.step(-1) : board?.move(-1, 0)),
    l: () => (page ? page.step(1) : board?.move(1, 0)),
  };
  if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
}

addEventListener("hashchange", go);
addEventListener("keydown", key);
setInterval(draw, 30000);

const stop = follow("events", heard, async (isOpen) => {
  const said = isOpen ? "Connected" : "Disconnected; reconnecting";
  link.classList.toggle("off", !isOpen);
  link.setAttribute("aria-label", said);
  link.title = said;
  if (isOpen) return;
  const error = await get("health").catch((found) => found);
  if (error.status !== 401) return;
  stop();
  signIn();
});

function signIn() {
  const isWrong = place().what === "wrong-token";
  const token = h("input", { name: "token", type: "password", autocomplete: "off", required: true, "aria-label": "Token", "aria-describedby": "why", "aria-invalid": String(isWrong) });
  // The whole address may have been pasted.
  const pick = () => { token.value = token.value.match(/[?&]token=([^&#\s]+)/)?.[1] || token.value.trim(); };
  document.body.dataset.at = "sign-in";
  fill(main, h("form", { class: "enter", action: isWrong ? "/" : `/${location.hash}`, method: "get", onsubmit: pick }, h("h1", {}, "Sign in"),
    h("p", { id: "why", class: isWrong ? "error" : "", role: isWrong ? "alert" : null }, `${isWrong ? "This token is wrong. " : ""}Open the address that flyball serve printed, or enter the token from it.`),
    h("div", { class: "row" }, token, h("button", { type: "submit", class: "primary" }, "Sign in"))));
  token.focus();
}
go();
