// Where a run spent its time: as wide as it took, coloured by how it ended, with a tick for each refused call.
import { h, lasted, plural } from "./dom.js";

const NAMES = { recon: "Recon", checkpoint: "Checkpoint", execute: "Execute", verify: "Verify", final: "Final", paused: "Waiting for you" };
const ENDED = { good: "passed", fair: "not shown", bad: "sent back or failed" };
const MOST_WAITING = 0.3;

function stretch(each, weight, isLast) {
  const { seconds, refused, phase, outcome } = each;
  const said = `${NAMES[phase] || phase}: ${lasted(seconds)}${ENDED[outcome] ? `, ${ENDED[outcome]}` : ""}${refused.length ? `, ${plural(refused.length, "call")} refused` : ""}`;
  return h("li", { class: `p-${phase} ${outcome ? `o-${outcome}` : ""} ${isLast ? "now" : ""}`, title: said, vars: { "--w": String(weight * 1000) } }, h("span", { class: "hidden" }, said), h("span", { class: "name", "aria-hidden": "true" }, NAMES[phase] || phase),
    refused.map((at) => h("span", { class: "refusal", "aria-hidden": "true", vars: { "--at": `${seconds ? Math.min(100, ((at - each.begun) / seconds) * 100) : 0}%` } })));
}

export function ribbon(told) {
  const all = (told.stretches || []).map((each) => ({ ...each }));
  // It is still waiting.
  if (told.status === "paused" && all.length && !told.response) all.at(-1).seconds = Math.max(all.at(-1).seconds, Date.now() / 1000 - all.at(-1).begun);
  if (!all.length) return h("p", { class: "muted ribbonless" }, told.status === "running" ? "It begins." : "");
  const isWaiting = (each) => each.outcome === "waited" || each.phase === "paused";
  const sum = (found) => found.reduce((total, each) => total + each.seconds, 0);
  const work = sum(all.filter((each) => !isWaiting(each)));
  const waited = sum(all.filter(isWaiting));
  // Hours of waiting for a person are not to hide what took minutes.
  const squeeze = waited > work * MOST_WAITING ? (work * MOST_WAITING || 1) / waited : 1;
  const least = (work || 1) / 150;
  const totals = Object.keys(NAMES).map((phase) => [phase, all.filter((each) => each.phase === phase)]).filter(([, found]) => found.length);
  return h("div", { class: "ribbonbox" },
    h("ol", { class: "ribbon", "aria-label": "Where the time went" }, all.map((each, n) => stretch(each, Math.max(least, isWaiting(each) ? each.seconds * squeeze : each.seconds), n === all.length - 1 && told.status === "running"))),
    h("ul", { class: "legend", "aria-hidden": "true" }, totals.map(([phase, found]) => h("li", { class: found.some((each) => !ENDED[each.outcome]) ? `p-${phase}` : "plain" }, NAMES[phase], " ", h("span", { class: "num" }, lasted(sum(found))), found.length > 1 ? h("span", { class: "muted" }, ` in ${found.length}`) : null)),
      Object.entries(ENDED).filter(([name]) => all.some((each) => each.outcome === name)).map(([name, text]) => h("li", { class: `o-${name}` }, text)),
      told.spend?.blocked ? h("li", { class: "bad" }, `${plural(told.spend.blocked, "call")} refused`) : null));
}
