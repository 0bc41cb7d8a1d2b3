"""`flyball judge`: judge a recorded run under another policy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from flyball.cli.card import JSON, REPO
from flyball.cli.terminal.edge import say
from flyball.cli.typed.words import complete_run_or_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flyball.app.project import Home
    from flyball.record.rejudging import Rejudged, Rejudgement
    from flyball.run.event import AnyEvent


@click.command()
@click.argument("run", metavar="RUN|FILE", shell_complete=complete_run_or_file)
@click.option(
    "--policy",
    metavar="FILE.toml",
    type=click.Path(path_type=Path),
    help="Settings to judge by; default: the current ones.",
)
@REPO
@JSON
def judge(run: str, policy: Path | None, repo: Path, as_json: bool) -> None:
    """Re-judge a recorded run under another policy: what would be blocked or allowed?

    Every call is judged at its place in the recorded run, as if nothing before it had changed.
    """
    import msgspec

    from flyball.app.settling import settings_from
    from flyball.cli.terminal.show import read_file
    from flyball.cli.terminal.view import home_at

    home = home_at(repo)
    events = _events(home, run)
    settings = home.effective.settings
    if policy is not None:
        settings = settings_from(read_file(policy).decode("utf-8", "replace"), str(policy))
    from flyball.record.rejudging import rejudge

    found = rejudge(events, settings.policy)
    if as_json:
        for call in found.calls:
            line = {**msgspec.to_builtins(call), "differs": call.differs}
            say(msgspec.json.encode({"type": "call", **line}))
        for question in found.questions:
            say(msgspec.json.encode({"type": "question", **msgspec.to_builtins(question)}))
    else:
        _print(found)


def _events(home: Home, run: str) -> Sequence[AnyEvent]:
    import asyncio

    from flyball.app.archive import read_run
    from flyball.app.runs.journals import find_run, record_of
    from flyball.cli.terminal.show import read_file

    if Path(run).is_file():
        return read_run(home, read_file(Path(run)))
    name = asyncio.run(find_run(home, run))
    return [entry.event for entry in asyncio.run(record_of(home, name)).entries]


VERBS = {"allow": "allowed", "ask": "asked about", "deny": "blocked"}


def _print(found: Rejudgement) -> None:
    for call in found.calls:
        say(_line(call))
        if call.differs and call.now.reason:
            say(f"      {call.now.reason}")
    for question in found.questions:
        say(f"! {question.seq:>5}  a person would have been asked: {question.text}")
    changed, count = len(found.differences), len(found.calls)
    say(f"{changed} of {count} calls would have been answered differently.")


def _line(call: Rejudged) -> str:
    was, now = VERBS[call.was.answer], VERBS[call.now.answer]
    mark = "!" if call.differs else " "
    code = f" ({call.now.code})" if call.now.code else ""
    change = f"{was} → would be {now}{code}" if call.differs else f"{was}{code}"
    return f"{mark} {call.seq:>5}  {call.was.tool:<12} {change}"
