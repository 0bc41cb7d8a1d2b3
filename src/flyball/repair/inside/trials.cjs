// Tries candidates, several at a time, each in a copy of the project: a file is written, commands
// run until one fails, and the file is put back.
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

const orders = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const say = (line) => fs.appendFileSync(orders.report, JSON.stringify(line) + "\n");
const KEPT = new Set(["node_modules", ".git"]);
let last = Date.now() + orders.seconds * 1000;
let held = 0;
let next = 0;

function copied(slot) {
  if (slot === 0) return process.cwd();
  const place = path.join(orders.shelf, `slot${slot}`);
  const filter = (from) => !KEPT.has(path.basename(from));
  fs.cpSync(process.cwd(), place, { recursive: true, filter, verbatimSymlinks: true });
  const modules = path.resolve("node_modules");
  if (fs.existsSync(modules)) fs.symlinkSync(modules, path.join(place, "node_modules"));
  return place;
}

// A process group of its own, so that what a runner started ends with it.
const passes = (argv, cwd) =>
  new Promise((resolve) => {
    const child = spawn(argv[0], argv.slice(1), { cwd, stdio: "ignore", detached: true });
    const timer = setTimeout(() => process.kill(-child.pid, "SIGKILL"), orders.each * 1000);
    const end = (code) => (clearTimeout(timer), resolve(code === 0));
    child.on("exit", end).on("error", () => end(1));
  });

async function work(slot) {
  const place = copied(slot);
  while (next < orders.candidates.length && Date.now() < last && held < orders.enough) {
    const n = next++;
    const { file, text } = orders.candidates[n];
    const before = fs.readFileSync(path.join(place, file));
    fs.writeFileSync(path.join(place, file), text);
    let holds = true;
    for (const argv of orders.commands) holds = holds && (await passes(argv, place));
    fs.writeFileSync(path.join(place, file), before);
    say({ n, end: holds ? "hold" : "fail" });
    if (holds && !held++) last = Math.min(last, Date.now() + orders.patience * 1000);
  }
}

for (let slot = 0; slot < orders.width; slot++) work(slot);
