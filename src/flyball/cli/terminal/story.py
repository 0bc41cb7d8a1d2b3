"""Convert telemetry to lines of text for people, without colours."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from flyball.cli.terminal.story_words import (
    LONGEST_SHOWN,
    StoryLine,
    call_words,
    ending_words,
    evidence_words,
)
from flyball.engine.telemetry import Telemetry
from flyball.run.state import Ending
from flyball.run.thread import cut_middle
from flyball.terms.shape import counted

QUIET_CALLS = frozenset(
    ("checkpoint", "note", "appeal", "test", "check", "edit_diff", "localise_faults")
)
"""Calls whose result has a line of its own."""

TOLD_BY_EVIDENCE = frozenset(("test", "check", "localise_faults"))
"""Calls whose failure is reported as their evidence."""

ENDED = frozenset({*(each.value for each in Ending), "paused"})
"""Phases that other lines report."""

LONGEST_PROMISE = 85
"""Characters of a checkpoint shown here; the person who is asked to accept it sees all of it."""

NO_SANDBOX = "No sandbox works on this machine: commands are not confined."
NO_GIT = "This is not a git repository: files are changed in place; cards can be reverted."
CARRIED = "your uncommitted work is included, as the first commit of that branch"


class Story:
    """Describes one run, without repeating itself.

    Each method is named after a type of telemetry and yields its lines.
    """

    def __init__(self) -> None:
        self._request = ""
        self._is_planned = False
        self._spoken: set[str] = set()
        self._driver = ""
        self._ahead: StoryLine | None = None
        """The heading of the last phase, which is omitted if the phase prints nothing."""
        self._is_red = False
        self._is_judged = False
        self._told_call = ""
        self.next_progress: dict[str, float] = {}
        """Call → the seconds after which its progress is reported again."""
        self._promised: Telemetry = {}
        self._committed = ""
        """The result of the only card, which is reported together with the run's."""
        self._has_git = True

    def tell(self, line: Telemetry) -> Iterator[StoryLine]:
        """Yield the lines for one piece of telemetry, cleaned for a terminal."""
        teller = TELLERS.get(line["type"])
        if teller is not None:
            whose = self._whose(line)
            for said in teller(self, line):
                if self._ahead and line["type"] not in ENDINGS:
                    yield self._ahead
                    self._ahead = None
                yield said._replace(text=(whose + said.text).strip("\n"))

    def _whose(self, line: Telemetry) -> str:
        """Return the card that a line belongs to, if several may be active."""
        card = line.get("card", "") if line["type"] in SPOKEN_BY else ""
        return f"{card}: " if self._is_planned and card else ""

    def run(self, line: Telemetry) -> Iterator[StoryLine]:
        self._request = line["request"]
        yield StoryLine("head", f"run {line['run']}: {line['request']}")
        kind, _, place = line["driver"].partition(":")
        if kind == "relay" and place != "clipboard":
            yield StoryLine("ask", f"Answer the requests that are written to {place}.", "→")
        else:
            self._driver = f"{line['driver']} drives " if kind else ""

    def resumed(self, line: Telemetry) -> Iterator[StoryLine]:
        self._request, self._is_planned = line["request"], line["planned"]
        yield StoryLine("head", f"run {line['run']}: {line['request']}")
        driver = f"driven by {line['driver']}; " if line["driver"] else ""
        yield StoryLine("dim", f"{driver}{line['used']} of {line['limit']} calls used")
        for card in line["cards"]:
            if card["title"] != self._request:
                yield StoryLine("dim", f"card {card['card']}: {card['title']}")
            if card["phase"] not in ENDED:
                yield from self.phase(card)

    def intent(self, line: Telemetry) -> Iterator[StoryLine]:
        sure = f"{line['confidence']:.0%} sure"
        yield StoryLine("dim", f"read as {line['intent']}, {line['budget']} calls ({sure})")

    def workspace(self, line: Telemetry) -> Iterator[StoryLine]:
        where = f"on {line['branch']}" if line["branch"] else "in place, without git"
        runners = ", ".join(line["runners"]) or "nothing to test with"
        yield StoryLine("dim", f"{self._driver}{where}; {runners}; sandbox {line['sandbox']}")
        self._has_git = bool(line["branch"])
        if not self._has_git:
            yield StoryLine("warn", NO_GIT, "!")
        # Older runs do not record it.
        if line.get("carried"):
            yield StoryLine("dim", CARRIED)
        if line["sandbox"] == "none":
            yield StoryLine("warn", NO_SANDBOX, "!")

    def card(self, line: Telemetry) -> Iterator[StoryLine]:
        if "ending" not in line:
            # The previous card printed nothing in its last phase.
            self._ahead = None
            if line["title"] != self._request:
                yield StoryLine("dim", f"card {line['card']}: {line['title']}")
        if line.get("commit"):
            kept = "committed" if self._has_git else "kept as"
            words = f"{kept} {line['commit'][:12]} ({line['proof']})"
            if self._is_planned:
                yield _kept(line["ending"], f"{line['card']}: {words}")
            else:
                self._committed = words

    def phase(self, line: Telemetry) -> Iterator[StoryLine]:
        head = StoryLine("head", f"{line['phase']}: {line['label']}", "▸")
        if line["phase"] == "final" and not self._is_planned:
            self._ahead = head
        elif line["phase"] not in ENDED:
            yield head

    def text(self, line: Telemetry) -> Iterator[StoryLine]:
        is_repeated = line["text"] in self._spoken
        self._spoken.add(line["text"])
        if is_repeated or (self._is_planned and line["role"] in ("planner", "verifier")):
            return
        who = "" if line["role"] == "executor" else f"({line['role']}) "
        yield StoryLine("text", f"{who}{cut_middle(line['text'], LONGEST_SHOWN)}")

    def note(self, line: Telemetry) -> Iterator[StoryLine]:
        if line["text"]:
            yield StoryLine("text", f"({line['role']}) {without_diffs(line['text'])}")
        risk = f"risk: {line['risk']}" if line["risk"] else ""
        assumed = f"assumes: {'; '.join(line['assumptions'])}" if line["assumptions"] else ""
        if risk or assumed:
            yield StoryLine("dim", "; ".join(filter(None, (risk, assumed))))

    def decision(self, line: Telemetry) -> Iterator[StoryLine]:
        if line["decision"] == "deny":
            yield StoryLine("bad", f"refused {line['tool']}: {line['reason']}", "✗")

    def call(self, line: Telemetry) -> Iterator[StoryLine]:
        if line["state"] == "started":
            return
        tool, what = line["tool"], f"{line['tool']} {line['about']}".strip()
        if line["state"] == "interrupted":
            yield StoryLine("bad", f"{what} was interrupted", "✗")
        elif not line["ok"] and not (tool in TOLD_BY_EVIDENCE and line["evidence"]):
            yield StoryLine("bad", f"{what}: {line['summary']}", "✗")
        elif tool not in QUIET_CALLS:
            self._told_call = tool
            yield StoryLine("dim", f"{what}: {line['summary']}", "·")

    def patch(self, line: Telemetry) -> Iterator[StoryLine]:
        for change in line["patch"].get("changes", ()):
            if line["event"] == "PATCH_DIFF_REFUSED":
                continue
            lines = change["diff"].split("\n")
            added = sum(1 for each in lines if each[:1] == "+" and each[:3] != "+++")
            removed = sum(1 for each in lines if each[:1] == "-" and each[:3] != "---")
            verb = "would edit" if line["event"] == "PATCH_DIFF_PREVIEW" else "edited"
            yield StoryLine("good", f"{verb} {change['path']} (+{added} −{removed})", "±")

    def checkpoint(self, line: Telemetry) -> Iterator[StoryLine]:
        self._promised = line
        words = [f"checkpoint: {line['goal']}"]
        if not self._is_red:
            words.append(f"found: {_brief(line['findings'])}")
        words.append(f"will: {_brief(line['proposed_action'])}")
        files, proof = ", ".join(line["files"]), ", ".join(line["verify_with"])
        words.append(f"files: {files}; verify with: {proof}")
        yield StoryLine("plan", "\n".join(words), "◆")

    def evidence(self, line: Telemetry) -> Iterator[StoryLine]:
        kind, item = line["kind"], line["evidence"]
        if kind == "diff-report" and self._is_judged:
            return
        if kind == "command-report" and item["command"].startswith(f"{self._told_call} ("):
            return
        words = evidence_words(kind, item)
        if words:
            yield words
        self._is_judged |= kind == "verdict-report"
        if kind == "suite-report":
            self._is_red = bool(item.get("failed"))

    def guard(self, line: Telemetry) -> Iterator[StoryLine]:
        hard = "stopped by" if line["level"] == "hard" else "nudged by"
        yield StoryLine("warn", f"{hard} guard {line['guard']}: {line['reason']}", "!")

    def governor(self, line: Telemetry) -> Iterator[StoryLine]:
        if line["kind"] == "rejection":
            yield StoryLine("warn", f"not accepted: {line['text']}", "↩")
        elif line["text"] not in self._spoken:
            self._spoken.add(line["text"])
            yield StoryLine("dim", line["text"], "·")

    def undone(self, line: Telemetry) -> Iterator[StoryLine]:
        yield StoryLine(
            "warn", f"reverted, because it is not allowed here: {', '.join(line['paths'])}", "↩"
        )

    def thread(self, line: Telemetry) -> Iterator[StoryLine]:
        yield StoryLine("dim", f"a new thread begins: {line['reason']}", "·")

    def iteration(self, line: Telemetry) -> Iterator[StoryLine]:
        self._is_planned = True
        is_again = line["text"].startswith("Re-planning")
        count = f" iteration {line['iteration']}/{line['limit']}" if is_again else ""
        yield StoryLine("head", f"{line['text']}{count}", "▸")

    def plan(self, line: Telemetry) -> Iterator[StoryLine]:
        steps = [
            f"{n}. {step['title']} ({step['id']}{_after(step)})"
            for n, step in enumerate(line["steps"], 1)
        ]
        yield StoryLine("plan", "\n".join((f"plan: {line['goal']}", *steps)), "◆")

    def rollback(self, line: Telemetry) -> Iterator[StoryLine]:
        yield StoryLine("warn", f"reverted: {', '.join(line['cards'])}", "↶")

    def report(self, line: Telemetry) -> Iterator[StoryLine]:
        if line["goal_achieved"]:
            yield StoryLine("dim", "the verifier says that the goal is reached", "·")
            return
        yield StoryLine("bad", "\n".join(("the goal is not reached", *line["issues"])), "✗")

    def escalation(self, line: Telemetry) -> Iterator[StoryLine]:
        # The retry, and its reason, are reported to the driver.
        if line["escalation"] != "RETRY":
            yield StoryLine("warn", f"{line['escalation']}: {line['reason']}", "!")

    def extension(self, line: Telemetry) -> Iterator[StoryLine]:
        yield StoryLine(
            "dim", f"{line['by']} added {counted(line['calls'], 'call')}: {line['why']}", "+"
        )

    def left(self, line: Telemetry) -> Iterator[StoryLine]:
        yield StoryLine("dim", f"Left to {line['to']}, which drives run {line['run']}.")

    def error(self, line: Telemetry) -> Iterator[StoryLine]:
        yield StoryLine("bad", line["message"], "✗")

    def approval(self, line: Telemetry) -> Iterator[StoryLine]:
        told = max(
            (said for said in self._spoken if line["text"].startswith(said)), key=len, default=""
        )
        question = line["text"].removeprefix(told).lstrip()
        yield StoryLine("ask", f"{question or line['text']}{call_words(line['call'])}", "?")
        if line["kind"] == "checkpoint" and self._promised:
            whole = (
                f"found: {self._promised['findings']}\nwill: {self._promised['proposed_action']}"
            )
            yield StoryLine("plan", whole, "◆")

    def final(self, line: Telemetry) -> Iterator[StoryLine]:
        message = "" if line["message"] in self._spoken else line["message"]
        if self._committed and line["ending"] == Ending.SUCCEEDED:
            yield ending_words(line["ending"])._replace(text=f"succeeded, {self._committed}")
        else:
            yield from (_kept(line["ending"], said) for said in (self._committed,) if said)
            yield ending_words(line["ending"], message, line["proof"])
        said = line.get("answer", "")
        if line["proof"] and said and said not in self._spoken:
            yield StoryLine("dim", f"The driver says: {cut_middle(said, LONGEST_SHOWN)}", "·")
        for issue in line["issues"]:
            # With a single card it only repeats how the run ended.
            if issue.rpartition(": ")[2].lower() not in line["message"].lower():
                yield StoryLine("warn", issue, "!")
        for action in line["next_actions"]:
            yield StoryLine("dim", f"next: {action['description']}", "·")


def without_diffs(text: str) -> str:
    """Return the text before the first diff; `flyball runs show` prints all of it."""
    head, mark, _ = text.partition("\n--- ")
    return f"{head.rstrip()} …" if mark else text


def _kept(ending: str, words: str) -> StoryLine:
    """Return the line about a commit, with a check mark only if its work was verified."""
    if ending == Ending.SUCCEEDED:
        return StoryLine("good", words, "✓")
    return StoryLine("dim", words, "·")


def _brief(text: str) -> str:
    """Return the beginning of a text as one line."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_PROMISE else f"{line[:LONGEST_PROMISE].rstrip()} …"


def _progress(story: Story, line: Telemetry) -> Iterator[StoryLine]:
    """Report progress after ten seconds, and again whenever the elapsed time has doubled."""
    if line["elapsed"] >= story.next_progress.get(line["call"], FIRST_PROGRESS):
        story.next_progress[line["call"]] = 2 * line["elapsed"]
        yield StoryLine("dim", line["text"], "…")


FIRST_PROGRESS = 10.0


def _notice(_story: Story, line: Telemetry) -> Iterator[StoryLine]:
    yield StoryLine("warn", line["text"], "!")


TELLERS: dict[str, Callable[[Story, Telemetry], Iterator[StoryLine]]] = {
    "run": Story.run,
    "resumed": Story.resumed,
    "notice": _notice,
    "progress": _progress,
    "intent": Story.intent,
    "workspace": Story.workspace,
    "card": Story.card,
    "phase": Story.phase,
    "text": Story.text,
    "note": Story.note,
    "decision": Story.decision,
    "call": Story.call,
    "patch": Story.patch,
    "checkpoint": Story.checkpoint,
    "evidence": Story.evidence,
    "guard": Story.guard,
    "governor": Story.governor,
    "undone": Story.undone,
    "thread": Story.thread,
    "iteration": Story.iteration,
    "escalation": Story.escalation,
    "plan": Story.plan,
    "rollback": Story.rollback,
    "report": Story.report,
    "extension": Story.extension,
    "left": Story.left,
    "error": Story.error,
    "approval": Story.approval,
    "final": Story.final,
}


ENDINGS = frozenset(("card", "final"))

SPOKEN_BY = frozenset(
    ("phase", "text", "note", "decision", "call", "patch", "checkpoint", "evidence", "guard")
) | {"governor", "undone", "thread", "escalation", "approval"}
"""Telemetry of a card's own actions and messages."""


def _after(step: Telemetry) -> str:
    wanted = step.get("depends_on", ())
    return f", after {', '.join(wanted)}" if wanted else ""
