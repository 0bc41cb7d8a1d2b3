// Runs the exported machine in XState v5. One JSON document per line on stdin: first the config,
// then sequences {start, steps: [[event, guard], …]}; one line of state values out per sequence.
import { createInterface } from "node:readline";
import { setup, transition } from "xstate";

function guardNames(node, found = new Set()) {
  for (const branches of Object.values(node.on ?? {})) {
    for (const branch of branches) found.add(branch.guard);
  }
  for (const child of Object.values(node.states ?? {})) guardNames(child, found);
  return found;
}

let machine = null;
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (machine === null) {
    const guards = {};
    for (const name of guardNames(message)) guards[name] = ({ event }) => event.chosen === name;
    machine = setup({ guards }).createMachine(message);
    continue;
  }
  let snapshot = machine.resolveState({ value: message.start, context: {} });
  const values = [];
  for (const [type, chosen] of message.steps) {
    [snapshot] = transition(machine, snapshot, { type, chosen });
    values.push(snapshot.value);
  }
  process.stdout.write(JSON.stringify(values) + "\n");
}
