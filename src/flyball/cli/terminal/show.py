"""Print runs: the list, one run with its cards, and a run's log."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from flyball.app.answering import NextStep
from flyball.app.project import Home
from flyball.app.runs.description import (
    cost_rows,
    describe,
    event_lines,
    messages_of,
    thread_of,
)
from flyball.app.runs.files import diff_of
from flyball.app.runs.following import Follower
from flyball.app.runs.journals import find_run, record_of
from flyball.app.runs.overview import Overview
from flyball.cli.terminal import exits
from flyball.cli.terminal.edge import clean_console, say
from flyball.cli.terminal.plain import View
from flyball.cli.terminal.story_words import (
    LONGEST_SHOWN,
    PASSED,
    StoryLine,
    call_words,
    ending_words,
    evidence_words,
)
from flyball.cli.terminal.view import make_view, tell_steps
from flyball.errors import NotFound, UsageError
from flyball.plan.message import Status
from flyball.run.state import BY_PROVIDER, Ending
from flyball.run.thread import cut_middle
from flyball.terms.shape import counted

REQUEST_WIDTH = 60
MESSAGE_LINES = 40


def read_file(path: Path) -> bytes:
    """Read a file named on the command line."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise NotFound("file", str(path), "Name an existing file.") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None


def print_list(found: Sequence[Overview], *, as_json: bool) -> None:
    """Print the table of runs, or one object per run."""
    if as_json:
        for each in found:
            say(json.dumps(each._asdict(), ensure_ascii=False))
        return
    if not found:
        say("This project has no runs yet.")
        return
    from rich.table import Table
    from rich.text import Text

    table = Table("run", "status", "intent", "request", "age", "calls", box=None, pad_edge=False)
    now = time.time()
    for each in found:
        request = " ".join(each.request.split())
        short = request if len(request) <= REQUEST_WIDTH else f"{request[: REQUEST_WIDTH - 1]}…"
        used = f"{each.used}/{each.limit}"
        merged = "merged" if each.is_merged else ""
        status = ", ".join(filter(None, (each.status, merged, each.reverted)))
        row = (each.run, status, each.intent, short, age(now - each.created_at), used)
        table.add_row(*(Text(cell, no_wrap=True) for cell in row))
    console = clean_console(highlight=False)
    if not console.is_terminal:
        console = clean_console(highlight=False, width=200)
    console.print(table)
    for each in found:
        if each.problem:
            console.print(Text(f"{each.run}: {each.problem}"), soft_wrap=True)


def age(seconds: float) -> str:
    """Return a length of time in its largest unit."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{max(0, int(seconds))} s"


LOG_PARTS = {
    "messages": ("messages", messages_of),
    "threads": ("threads", thread_of),
    "events": ("log", event_lines),
    "cost": ("cost", cost_rows),
}
"""What options add to a description: its key, and what reads it from the log."""


async def show_run(home: Home, name: str, asked: Mapping[str, bool], *, as_json: bool) -> None:
    """Print one run, with the requested parts of its log."""
    run = await find_run(home, name)
    if asked["card"]:
        from flyball.app.board.account import card_picture

        say((await card_picture(home, run)).rstrip())
        return
    described = await describe(home, run)
    parts = {
        "messages": messages_of,
        "threads": thread_of,
        "events": event_lines,
        "cost": cost_rows,
    }
    if any(asked[name] for name in parts):
        entries = (await record_of(home, run)).entries
        described |= {
            "log" if name == "events" else name: read(entries)
            for name, read in parts.items()
            if asked[name]
        }
    if asked["diff"]:
        described["diff"] = await diff_of(home, run)
    if as_json:
        say(json.dumps(described, ensure_ascii=False))
        return
    view = make_view(as_json=False)
    for said in run_words(described):
        view.say(said)
    for message in described.get("messages", ()):
        view.say(message_words(message))
    for line in described.get("threads", ()):
        view.say(_spoken(line))
    for line in described.get("log", ()):
        view.say(StoryLine("dim", f"{line['seq']:>5}  {line['event']}  {line['card']}".rstrip()))
    if diff := described.get("diff", ""):
        say(diff.rstrip())
    if "cost" in described:
        print_costs(described["cost"])
    steps = tuple(NextStep(**step) for step in described["next"])
    tell_steps(view, steps, home.repo)


def print_costs(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print a run's cost as a table, with a row for each card, phase and role."""
    from rich.table import Column, Table
    from rich.text import Text

    console = clean_console(highlight=False)
    if not console.is_terminal:
        console = clean_console(highlight=False, width=200)
    named = [Column("card", overflow="fold"), "phase", "role"]
    columns = [Column(name, justify="right") for name in COST_COLUMNS]
    table = Table(*named, *columns, box=None, pad_edge=False)
    for row in rows:
        cells = [make(row) for make in COST_COLUMNS.values()]
        table.add_row(Text(row["card"]), row["phase"], row["role"], *cells)
    console.print(table)


COST_COLUMNS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "turns": lambda row: str(row["turns"]),
    "calls": lambda row: str(row["calls"]),
    "blocked": lambda row: str(row["blocked"]),
    "in": lambda row: f"{row['input_tokens']:,}",
    "cached": lambda row: f"{row['cached_tokens']:,}",
    "out": lambda row: f"{row['output_tokens']:,}",
    "money": lambda row: f"{row['money']:.4f}",
    "driver s": lambda row: f"{row['driver_seconds']:.1f}",
    "flyball s": lambda row: f"{row['own_seconds']:.1f}",
}
"""The columns of a run's cost table, each with its formatter."""


def run_words(told: Mapping[str, Any]) -> Iterable[StoryLine]:
    """Return the lines for a run and its cards."""
    budget = told["budget"]
    yield StoryLine("head", f"run {told['run']}: {told['request']}")
    held = f", driven by {told['driven_by']}" if told["driven_by"] else ""
    used = f"{budget['used']}/{budget['limit']} calls"
    yield StoryLine("dim", f"{told['status']}, {told['intent'] or 'not read yet'}, {used}{held}")
    for each in told["decided"]:
        note = f": {each['note']}" if each["note"] else ""
        yield StoryLine("dim", f"{each['by']} {each['what']}{note}", "·")
    if told["branch"]:
        yield StoryLine("dim", f"branch {told['branch']}, worktree {told['workspace']}")
    for card in told["cards"]:
        yield from card_words(card)
    for question in told["questions"]:
        yield StoryLine("ask", f"{question['text']}{call_words(question.get('call'))}", "?")
    if told["response"]:
        message = told["response"]["message"]
        # A card's answer is shown with the card, and need not be repeated.
        is_said = any(message == card["answer"] for card in told["cards"])
        yield ending_words(told["ending"], "" if is_said else message)


def card_words(card: Mapping[str, Any]) -> Iterable[StoryLine]:
    """Return the lines for one card: phase, checkpoint, evidence and decisions."""
    yield StoryLine("head", f"card {card['id']} [{card['status']}] {card['title']}", "▸")
    ending = Ending(card["ending"]).words if card["ending"] else card["label"]
    commit = f"commit {card['commit'][:12]}" if card["commit"] else ""
    back = "its work was reverted" if card["is_taken_back"] else ""
    yield StoryLine("dim", ", ".join(filter(None, (ending, card["proof"], commit, back))))
    if card["ending_reason"]:
        yield StoryLine("warn", card["ending_reason"], "!")
    if point := card["checkpoint"]:
        yield StoryLine("plan", f"{point['goal']}\nwill: {point['proposed_action']}", "◆")
    for path in card["drift"]:
        yield StoryLine("warn", f"changed beyond the checkpoint: {path}", "!")
    for item in card["evidence"]:
        if words := evidence_words(item["type"], item):
            stale = " (on an earlier tree)" if item["stale"] else ""
            yield words._replace(text=words.text + stale)
    for ruling in card["verdicts"]:
        verdict = ruling["verdict"]
        tone, mark = ("good", PASSED) if verdict["type"] == "passed" else ("warn", "!")
        yield StoryLine(tone, f"gate {ruling['gate']}: {verdict.get('sentence') or 'passed'}", mark)
    for note in card["notes"]:
        if note.get("text") and note["text"] != card["risk"]:
            yield StoryLine("dim", f"({note['role']}) {note['text']}")
    if card["risk"]:
        yield StoryLine("dim", f"risk: {card['risk']}")
    if card["assumptions"]:
        yield StoryLine("dim", f"assumes: {'; '.join(card['assumptions'])}")
    for each in card["decisions"]:
        if each.get("code") == BY_PROVIDER:
            yield StoryLine("dim", f"{each['tool']} by the model's provider: {each['reason']}")
        if each["answer"] != "allow":
            verb = "refused" if each["answer"] == "deny" else "asked about"
            yield StoryLine("bad", f"{verb} {each['tool']}: {each['reason']}", "✗")
    for each in card["failed_edits"]:
        yield StoryLine("bad", f"failed {each['tool']}: {each['reason']}", "✗")
    yield StoryLine("dim", f"{counted(card['calls'], 'call')} used, {card['blocked']} blocked")
    if card["answer"]:
        yield StoryLine("text", cut_middle(card["answer"], LONGEST_SHOWN))


def message_words(message: Mapping[str, Any]) -> StoryLine:
    """Return the line for a message on the bus: its name, its subject, and all its issues."""
    issues = message.get("previous_issues", ()) or message.get("issues", ())
    words = [each if isinstance(each, str) else _issue_words(each) for each in issues]
    head = f"{message['seq']:>5}  {message['type']}: {_about(message)}"
    return StoryLine("text", "\n".join((head, *(f"       {each}" for each in words))))


def _about(message: Mapping[str, Any]) -> str:
    match message["type"]:
        case "plan_request":
            return f"iteration {message.get('iteration', 1)}"
        case "execution_plan":
            steps = ", ".join(step["id"] for step in message["steps"])
            return f"{message['goal']} ({steps or 'no steps'})"
        case "execute_task":
            return f"{message['step']['id']}: {message['step']['title']}"
        case "execution_results":
            return "; ".join(map(_result_words, message["step_results"]))
        case "verify_request":
            return message["goal"]
        case "verification_report":
            return "reached" if message["goal_achieved"] else "not reached"
        case _:
            # The protocol says success of all that ended well; what was shown, the ending says.
            is_well = message["status"] == Status.SUCCESS
            return message["message"] if is_well else f"{message['status']}: {message['message']}"


def _result_words(result: Mapping[str, Any]) -> str:
    return f"{result['step_id']} {'done' if result['success'] else 'failed'}"


def _issue_words(issue: Mapping[str, Any]) -> str:
    severity = issue.get("severity", "high")
    return f"[{severity}] Step {issue['step_id']}: {issue['issue']}"


def _spoken(line: Mapping[str, Any]) -> StoryLine:
    who = line["role"] if line["speaker"] == "driver" else line["speaker"]
    calls = "".join(
        f"\n→ {call['tool']} {json.dumps(call['args'])}" for call in line.get("calls", ())
    )
    text = line.get("text", "").split("\n")
    if len(text) > MESSAGE_LINES:
        text = [*text[:MESSAGE_LINES], f"… {len(text) - MESSAGE_LINES} more lines (--json has all)"]
    tone = {"driver": "text", "governor": "warn"}.get(line["speaker"], "dim")
    return StoryLine(tone, f"{who}: " + "\n".join(text) + calls)


async def follow_run(home: Home, name: str, *, as_json: bool) -> int:
    """Print a run from its log until it rests or ends."""
    run = await find_run(home, name)
    view: View = make_view(as_json=as_json)
    follower = Follower(home, run)
    with view:
        async for line in follower.lines():
            view.telemetry(line)
    told = await describe(home, run)
    if told["status"] == "interrupted":
        view.say(StoryLine("warn", "Nothing drives this run any more.", "!"))
    tell_steps(view, tuple(NextStep(**step) for step in told["next"]), home.repo)
    return exits.BY_STATUS[told["status"]]
