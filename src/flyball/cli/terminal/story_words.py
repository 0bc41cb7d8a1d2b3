"""Format single lines: how a run ended, a call that needs approval, an observation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from flyball.run.state import Ending
from flyball.run.thread import cut_middle
from flyball.terms.change_verdict import ChangeVerdict
from flyball.verdict.words import verdict_lines

LONGEST_SHOWN = 4_000
"""Maximum length of one reply in a terminal; `--json` and the log have all of it."""


PASSED = "●"
"""The mark of a passed observation; only the verdict says whether the work is shown."""


class StoryLine(NamedTuple):
    """One line: its tone, a mark at the start, and the text."""

    tone: str
    text: str
    mark: str = ""

    @property
    def lead(self) -> str:
        """Return the prefix of the text, and the indent of its continuation lines."""
        return ("" if self.tone == "head" else "  ") + (f"{self.mark} " if self.mark else "")

    @property
    def plain(self) -> str:
        """Return the line without colour."""
        return self.lead + self.text.replace("\n", "\n" + " " * len(self.lead))


ENDING_MARKS = {
    Ending.SUCCEEDED: ("good", "✓"),
    Ending.ANSWERED: ("text", "■"),
    Ending.UNCHANGED: ("warn", "!"),
    Ending.UNVERIFIED: ("warn", "!"),
    Ending.NEEDS_YOU: ("ask", "?"),
    Ending.STOPPED: ("warn", "!"),
    Ending.FAILED: ("bad", "✗"),
}
"""Tone and mark of each ending. Only verified work gets the check mark."""


def ending_words(ending: str, message: str = "", proof: str = "") -> StoryLine:
    """Return the line that says how a run ended, and how strong its evidence is."""
    found = Ending(ending)
    tone, mark = ENDING_MARKS[found]
    # "stopped: Cancelled: by Ada" would be redundant.
    message = message.removeprefix("Cancelled: ") if found is Ending.STOPPED else message
    is_told = message and not (found is Ending.SUCCEEDED and proof)
    words = f": {cut_middle(message, LONGEST_SHOWN)}" if is_told else ""
    shown = f" ({proof})" if proof else ""
    return StoryLine(tone, f"{_ENDED[found]}{words}{shown}", mark)


_ENDED = {
    **{each: each.words for each in Ending},
    Ending.UNCHANGED: "ended, nothing changed",
    Ending.UNVERIFIED: "ended unverified",
}


def call_words(call: dict[str, Any] | None) -> str:
    """Return the exact call that needs approval, with its arguments.

    A diff is replaced by its effect on the files.
    """
    if call is None:
        return ""
    lines = [f"call: {call['tool']}"]
    shown = {"diff": call["preview"]} if call.get("preview") else {}
    for name, value in {**call.get("args", {}), **shown}.items():
        text = str(value)
        lines.append(f"{name}:\n{text}" if "\n" in text else f"{name}: {text}")
    return "\n" + "\n".join(lines)


def evidence_words(kind: str, evidence: dict[str, Any]) -> StoryLine | None:
    """Return one observation as a line; None if there is nothing to report."""
    teller = EVIDENCE.get(kind)
    return teller(evidence) if teller else None


def _suite(item: dict[str, Any]) -> StoryLine:
    passed, failed = item.get("passed", 0), item.get("failed", 0)
    skipped = f", {item['skipped']} skipped" if item.get("skipped") else ""
    counts = f"{passed} passed, {failed} failed{skipped} ({item['command']})"
    if item["exit_code"] == 0 and passed and not failed:
        return StoryLine("good", f"tests: {counts}", PASSED)
    first = next((f": {each['name']}" for each in item.get("failures", ())), "")
    reason = f"; {item['reason']}" if item.get("reason") else ""
    return StoryLine("bad", f"tests: {counts}{first}{reason}", "✗")


def _check(item: dict[str, Any]) -> StoryLine:
    if item["exit_code"] == 0:
        return StoryLine("good", f"{item['kind']}: clean ({item['command']})", PASSED)
    count = item.get("count") or len(item.get("problems", ()))
    first = next((f": {each}" for each in item.get("problems", ())), "")
    return StoryLine("bad", f"{item['kind']}: {count} problems ({item['command']}){first}", "✗")


def _command(item: dict[str, Any]) -> StoryLine:
    if nothing := item.get("proves_nothing"):
        return StoryLine("warn", f"`{item['command']}` proves nothing: {nothing}", "!")
    good = item["exit_code"] == 0
    text = f"`{item['command']}` gave exit {item['exit_code']}"
    return StoryLine("good" if good else "bad", text, PASSED if good else "✗")


def _http(item: dict[str, Any]) -> StoryLine:
    good = not item.get("error") and 200 <= item["status"] < 400
    text = f"{item['url']}: {item.get('error') or item['status']}"
    return StoryLine("good" if good else "bad", text, PASSED if good else "✗")


def _base(item: dict[str, Any]) -> StoryLine:
    if item["outcome"] == "red":
        return StoryLine("good", f"red without the change: {item.get('detail', '')}", PASSED)
    return StoryLine("warn", f"not red without the change: {item.get('detail', '')}", "!")


def _verdict(item: dict[str, Any]) -> StoryLine:
    """Return Flyball's verdict on the whole change, in full."""
    verdict = msgspec.convert(item["verdict"], ChangeVerdict)
    first, *rest = verdict_lines(verdict)
    words = "\n".join((f"verdict: {first}", *rest))
    if verdict.blocking:
        return StoryLine("bad", words, "✗")
    return StoryLine(
        "good" if verdict.is_shown else "warn", words, "✓" if verdict.is_shown else "?"
    )


def _weakening(item: dict[str, Any]) -> StoryLine | None:
    findings = item.get("findings", ())
    if not findings:
        return None
    places = (f"{f['path']}:{f['line']} {f.get('detail') or f['kind']}" for f in findings)
    return StoryLine("warn", "tests got easier to pass: " + "; ".join(places), "!")


def _diff(item: dict[str, Any]) -> StoryLine | None:
    files = item.get("files", ())
    if not files:
        return None
    counts = (f"{f['path']} +{f.get('added', 0)} −{f.get('removed', 0)}" for f in files)
    return StoryLine("dim", "changed in all: " + ", ".join(counts), "±")


def _file(item: dict[str, Any]) -> StoryLine:
    asked, held = item.get("asked", ()), item.get("contains", ())
    good = item["exists"] and len(asked) == len(held)
    words = "is there" if item["exists"] else "is not there"
    if item["exists"] and asked:
        words = f"{'holds' if good else 'does not hold'} {asked[0]!r}"
    return StoryLine("good" if good else "bad", f"{item['path']} {words}", PASSED if good else "✗")


def _coverage(item: dict[str, Any]) -> StoryLine:
    return StoryLine("dim", f"coverage: {item['before']:g} % before, {item['after']:g} % now", "·")


def _approval(item: dict[str, Any]) -> StoryLine:
    return StoryLine("good", f"{item['by']} accepted it ({item['what']})", PASSED)


def _gate(item: dict[str, Any]) -> StoryLine:
    return StoryLine("warn", f"not checked for {item['gate']}: {item['why']}", "!")


EVIDENCE: dict[str, Callable[[dict[str, Any]], StoryLine | None]] = {
    "suite-report": _suite,
    "check-report": _check,
    "command-report": _command,
    "http-report": _http,
    "base-run": _base,
    "weakening-report": _weakening,
    "verdict-report": _verdict,
    "diff-report": _diff,
    "file-report": _file,
    "coverage-report": _coverage,
    "approval-report": _approval,
    "gate-report": _gate,
}
