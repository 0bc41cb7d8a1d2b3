// The verdict: Flyball's own words first, then what the tests did, then, set apart, what the driver says.
import { h, lasted, plural } from "./dom.js";

const WEIGHTS = { blocks: "Not shown", asks: "Question", notes: "Note" };
const RUNS = { before: "Before", after: "Now" };

export function testsTable(verdict, isListed) {
  const rows = [];
  const add = (names, before, now) => { for (const name of names || []) rows.push([name, before, now]); };
  if (!isListed) add(verdict.mended, "red", "green");
  for (const each of verdict.findings || []) {
    if (each.kind === "regression") add(each.tests, "green", "red");
    else if (each.kind === "fewer-tests") add(each.tests, "green", "gone");
    else if (each.kind === "hidden-red") add(each.tests, "red", "not run");
    else if (each.kind === "promise-changed") add(each.tests, "green", "changed");
  }
  add(verdict.old_failures, "red", "red");
  add(verdict.flaky, "flaky", "flaky");
  if (!rows.length) return null;
  const light = (state) => h("td", {}, h("span", { class: `light l-${state}` }, state));
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Tests" },
    h("table", { class: "tests" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Test"), h("th", { scope: "col" }, "Before"), h("th", { scope: "col" }, "Now"))),
      h("tbody", {}, rows.map(([name, before, now]) => h("tr", {}, h("th", { scope: "row", class: "mono" }, name), light(before), light(now))))));
}

function suites(verdict) {
  if (!verdict.ran?.length) return null;
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "What ran" },
    h("table", { class: "tests" }, h("thead", {}, h("tr", {}, ["Tree", "Command", "Passed", "Failed", "Time"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, verdict.ran.map((line) => h("tr", {}, h("td", {}, RUNS[line.run] || line.run),
        h("td", { class: "mono" }, line.command, line.part && line.part !== "." ? ` in ${line.part}` : "", line.trouble ? h("span", { class: "bad" }, ` no evidence: ${line.trouble}`) : null),
        h("td", { class: "num" }, line.passed || 0, line.of ? ` of ${line.of}` : ""), h("td", { class: `num ${line.failed ? "bad" : ""}` }, line.failed || 0), h("td", { class: "num" }, lasted(line.elapsed || 0)))))));
}

function finding(each) {
  return h("div", { class: `finding w-${each.weight}` }, h("p", {}, h("strong", {}, `${WEIGHTS[each.weight] || each.weight}: `), each.sentence),
    each.before || each.after ? h("div", { class: "pair" },
      h("figure", {}, h("figcaption", {}, "The test before"), h("pre", { tabindex: 0 }, each.before || "(none)")),
      h("figure", {}, h("figcaption", {}, "The test now"), h("pre", { tabindex: 0 }, each.after || "(gone)"))) : null);
}

function share(part) {
  return part > 0 && part < 0.001 ? "less than 0.1 %" : `${Number((part * 100).toPrecision(3))} %`;
}

const TITLES = { before: "Before", after: "After", difference: "Difference" };

// What a page looked like before the change and after it, and where the two differ.
export function pictures(card, at) {
  return (card.pictures || []).map((page) => h("section", { class: "pictures", "aria-label": `Pictures of ${page.url}` },
    h("p", {}, h("strong", {}, "Pictures "), h("span", { class: "mono" }, page.url), page.stale ? h("span", { class: "muted" }, " (on an earlier tree)") : null),
    page.said ? h("p", { class: "muted" }, page.said) : null,
    h("div", { class: "shots" }, Object.entries(page.files).map(([what, name]) => h("figure", {},
      h("figcaption", {}, page.files.before ? TITLES[what] : "Now", what === "difference" ? `: ${share(page.share)} of the pixels` : ""),
      shot(at(card, name), name, `${page.url}, ${TITLES[what].toLowerCase()}`))))));
}

// An exported file shows the pictures inside it, and names those left out.
function shot(src, name, alt) {
  if (!src) return h("code", {}, name);
  const image = h("img", { src, alt, loading: "lazy" });
  return src.startsWith("data:") ? image : h("a", { href: src, target: "_blank", rel: "noopener" }, image);
}

// A page that answers or a check that passes is weaker than a test that ran.
const TESTED = 3;

export function shade(verdict) {
  const strength = verdict.strength || 0;
  if (!strength || (verdict.findings || []).some((each) => each.weight === "blocks")) return "bad";
  return strength >= TESTED && !verdict.findings?.some((each) => each.weight === "asks") ? "good" : "fair";
}

// What one card shows; of what the top of the page says already (`top`) only the rest.
export function verdictPanel(card, at, top) {
  const verdict = card.verdict;
  const parts = [];
  if (verdict) {
    const isSaid = (each) => top && top.questions.some((other) => other.sentence === each.sentence);
    if (!top || top.headline !== card.verdict_words[0]) parts.push(h("p", { class: `headline ${shade(verdict)}` }, card.verdict_words[0]));
    parts.push((verdict.findings || []).filter((each) => !isSaid(each)).map(finding));
    parts.push(testsTable(verdict, top && top.turned.length));
    parts.push(pictures(card, at));
    parts.push(suites(verdict));
    const { unnoticed } = verdict.mutants || {};
    if (unnoticed?.length) parts.push(h("p", {}, h("strong", {}, "No test would notice "), unnoticed.join("; ")));
    if (verdict.not_run?.length) parts.push(h("p", {}, h("strong", {}, "Did not run "), verdict.not_run.join("; ")));
    if (verdict.left_behind?.length) parts.push(h("p", {}, h("strong", {}, "Left behind, not committed "), verdict.left_behind.join(", ")));
    if (verdict.accepted_by) parts.push(h("p", {}, `Changed expectations were accepted by ${verdict.accepted_by}.`));
  } else if (card.pictures?.length) parts.push(pictures(card, at));
  else if (!card.ending) parts.push(h("p", { class: "muted" }, "No verdict yet. When the driver stops, Flyball runs the tests itself, on clean checkouts from before and after."));
  if (card.risk || card.assumptions?.length) {
    parts.push(h("p", { class: "risk" }, h("strong", {}, "Review "), card.risk ? `risk: ${card.risk}` : "", card.assumptions?.length ? `${card.risk ? "; " : ""}assumes ${card.assumptions.join("; ")}` : ""));
  }
  return parts.flat().some(Boolean) ? h("section", { class: "verdict", "aria-label": `Verdict on ${card.title}` }, parts) : null;
}

const LISTED = 5;
const turnedRow = (name) => h("li", {}, h("span", { class: "light l-red", title: "red before" }, h("span", { class: "hidden" }, "red before,")), h("span", { "aria-hidden": "true" }, "→"),
  h("span", { class: "light l-green", title: "green now" }, h("span", { class: "hidden" }, "green now:")), h("code", {}, name));

// The run at a glance, in the core's words, as in its picture.
export function summary(told, top, asked) {
  const { turned, questions } = told;
  const [headline, why] = [told.headline, told.why].map((each) => (each === asked ? "" : each));
  return [top, h("h1", { dir: "auto" }, told.request),
    headline ? h("p", { class: "headline", dir: "auto" }, headline) : null, why ? h("p", { class: "why", dir: "auto" }, why) : null,
    turned.length ? h("ul", { class: "turned", "aria-label": "Red before, green now" }, turned.slice(0, LISTED).map(turnedRow)) : null,
    turned.length > LISTED ? h("details", {}, h("summary", {}, `and ${turned.length - LISTED} more`), h("ul", { class: "turned" }, turned.slice(LISTED).map(turnedRow))) : null,
    questions.map((each) => finding({ ...each, weight: each.is_blocking ? "blocks" : "asks" })),
    told.facts.length ? h("ul", { class: "figures", "aria-label": "Figures" }, told.facts.map((each) => h("li", {}, each))) : null];
}

const inFile = (path) => (name) => name === path || name.startsWith(`${path}::`) || name.startsWith(`${path}:`);
const short = (name) => h("li", { title: name }, h("span", { class: "light l-green" }), h("code", {}, name.split("::").at(-1)));

// What stands next to a file of the change: the tests that were red without it, and what no test notices in it.
export function besides(told, path) {
  const isOfFile = inFile(path);
  const cards = told.cards.filter((card) => card.verdict);
  const touching = cards.filter((card) => card.evidence.some((item) => item.files?.some?.((file) => file.path === path)));
  const verdicts = (touching.length ? touching : cards).map((card) => card.verdict);
  const turned = [...new Set(verdicts.flatMap((verdict) => verdict.mended || []))];
  const own = turned.filter(isOfFile);
  const shown = own.length ? own : turned;
  const blind = verdicts.flatMap((verdict) => verdict.mutants?.unnoticed || []).filter(isOfFile);
  const tries = verdicts.flatMap((verdict) => verdict.findings || []).filter((each) => (each.tests || []).some(isOfFile) || each.sentence?.startsWith(path));
  return h("aside", { class: "besides", "aria-label": `Tests of ${path}` },
    shown.length ? [h("p", { class: "who" }, own.length ? "Tests in this file, red before" : "Red without this change, green with it"), h("ul", {}, shown.slice(0, LISTED).map(short)),
      shown.length > LISTED ? h("p", { class: "muted" }, `and ${shown.length - LISTED} more`) : null] : h("p", { class: "muted" }, verdicts.length ? "No test went from red to green with this file." : "No tests have run on this yet."),
    blind.length ? [h("p", { class: "who" }, "No test notices"), h("ul", {}, blind.map((each) => h("li", { class: "fair" }, each.slice(path.length + 1))))] : null,
    tries.map((each) => h("p", { class: each.weight === "blocks" ? "bad" : "fair" }, each.sentence)));
}
