// Times XState's transition() on one story: stdin has the config and {start, steps}, one per line.
import { readFileSync } from "node:fs";
import { setup, transition } from "xstate";

const [config, story] = readFileSync(0, "utf8").trim().split("\n").map((line) => JSON.parse(line));
const guards = {};
(function collect(node) {
  for (const branches of Object.values(node.on ?? {})) {
    for (const { guard } of branches) guards[guard] = ({ event }) => event.chosen === guard;
  }
  Object.values(node.states ?? {}).forEach(collect);
})(config);
const machine = setup({ guards }).createMachine(config);
const events = story.steps.map(([type, chosen]) => ({ type, chosen }));

function play() {
  let snapshot = machine.resolveState({ value: story.start, context: {} });
  for (const event of events) [snapshot] = transition(machine, snapshot, event);
  return snapshot.value;
}

for (let i = 0; i < 200; i += 1) play();
let best = Infinity;
for (let round = 0; round < story.rounds; round += 1) {
  const began = process.hrtime.bigint();
  for (let i = 0; i < 2; i += 1) play();
  best = Math.min(best, Number(process.hrtime.bigint() - began) / 2 / events.length / 1000);
}
console.log(JSON.stringify({ us: best, end: play() }));
