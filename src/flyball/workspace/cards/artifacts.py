"""The account of a card: a page to read and a file to parse, with secrets redacted.

They are stored in the user's project, `.flyball/artifacts/<run>/<card>.md` and `.json`, whether the
run works in a worktree or in place, so they outlast both. The directory has a `.gitignore` that
ignores all of it: git's own files stay unchanged, and `git status` shows nothing. A symbolic link
in place of that directory is not followed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import msgspec

from flyball.errors import UsageError
from flyball.regex import regex
from flyball.terms.printable import printable
from flyball.workspace.files.plain import kind_within, read_within
from flyball.workspace.trees.trees import REGULAR
from flyball.workspace.trees.writer import write_entry

Redact = Callable[[str], str]

_NAME = regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_LONGEST_DIFF = 2_000
_HOME = Path(".flyball", "artifacts")
REVERTED = "reverted"


class CommandRun(msgspec.Struct, frozen=True):
    """A command that Flyball ran for the card."""

    command: str
    exit_code: int | None = None
    elapsed: float = 0.0
    log: str = ""
    """The end of its output."""
    log_file: str = ""
    """The path of the whole output, relative to the project's top."""


class VerdictNote(msgspec.Struct, frozen=True):
    """A gate's verdict on the card."""

    check: str
    verdict: str
    sentence: str = ""


class CardArtifact(msgspec.Struct, frozen=True):
    """The stored account of one card."""

    run: str
    card: str
    title: str
    status: str = ""
    commit: str = ""
    before: str = ""
    after: str = ""
    files: tuple[str, ...] = ()
    left_behind: tuple[str, ...] = ()
    diff: str = ""
    proof: tuple[str, ...] = ()
    """Flyball's own verdict on the change, in the words shown everywhere."""
    commands: tuple[CommandRun, ...] = ()
    verdicts: tuple[VerdictNote, ...] = ()
    evidence: tuple[str, ...] = ()
    pictures: dict[str, str] = {}
    """The description of each picture, and its path relative to the project's top."""
    timings: dict[str, float] = {}
    risk: str = ""
    assumptions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    """The steps it planned."""
    started_at: float = 0.0
    ended_at: float = 0.0
    calls: dict[str, int] = {}
    """The number of calls of each tool."""
    refused_calls: int = 0
    was: str = ""
    """Its status before its work was reverted."""


def artifact_path(project: Path, run: str, card: str, suffix: str = ".json") -> Path:
    """Return the path of a card's account."""
    for name in (run, card):
        if not _NAME.fullmatch(name) or ".." in name:
            raise UsageError(
                f"{name!r} cannot name a file.", "Use letters, digits, dots, dashes, underscores."
            )
    return project / _HOME / run / f"{card}{suffix}"


def hide_artifacts(project: Path) -> None:
    """Make git ignore the directory of accounts, before anything is written there."""
    ignore = _HOME / ".gitignore"
    if not kind_within(project, ignore.as_posix()):
        write_entry(project, ignore.as_posix(), REGULAR, b"*\n")


def write_artifact(project: Path, artifact: CardArtifact, redact: Redact) -> Path:
    """Write both files of a card's account; return the page's path."""
    place = artifact_path(project, artifact.run, artifact.card, ".md")
    clean = cast("dict[str, Any]", _redact(msgspec.to_builtins(artifact), redact))
    hide_artifacts(project)
    texts = {
        place.with_suffix(".json").relative_to(project): json.dumps(clean, indent=2) + "\n",
        place.relative_to(project): printable(_page(msgspec.convert(clean, CardArtifact))),
    }
    for path, text in texts.items():
        write_entry(project, path.as_posix(), REGULAR, text.encode())
    return place


def read_artifact(project: Path, run: str, card: str) -> CardArtifact | None:
    """Return a card's account, or None."""
    place = artifact_path(project, run, card).relative_to(project)
    data = read_within(project, place.as_posix())
    try:
        return None if data is None else msgspec.convert(json.loads(data), CardArtifact)
    except (ValueError, RecursionError, msgspec.MsgspecError):
        # It is in the project, where any program may have written it.
        return None


def mark_reverted(
    project: Path, run: str, card: str, *, is_reverted: bool, paths: Sequence[str] = ()
) -> None:
    """Record in a card's account that its work, or a part, was reverted or reapplied."""
    artifact = read_artifact(project, run, card)
    if artifact is None:
        return
    before = artifact.was or artifact.status
    if not is_reverted:
        changed = msgspec.structs.replace(artifact, status=before, was="")
    else:
        some = f" in part: {', '.join(paths)}" if paths else ""
        changed = msgspec.structs.replace(artifact, status=f"{REVERTED}{some}", was=before)
    if changed != artifact:
        # The source file has its secrets redacted already.
        write_artifact(project, changed, str)


def _redact(value: object, redact: Redact) -> object:
    if isinstance(value, str):
        return redact(value.encode(errors="replace").decode())
    if isinstance(value, list | tuple):
        return [_redact(item, redact) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        items = cast("dict[str, object]", value).items()
        return {redact(key): _redact(item, redact) for key, item in items}
    return value


def _page(card: CardArtifact) -> str:
    parts = [f"# {card.title}", _facts(card)]
    parts += [_section("Verdict", [f"- {each}" for each in card.proof])]
    parts += [_section("Steps", [f"- {each}" for each in card.steps])]
    parts += [_section("Risk", [card.risk] if card.risk else [])]
    parts += [_section("Assumptions", [f"- {each}" for each in card.assumptions])]
    parts += [_section("Warnings", [f"- {each}" for each in card.warnings])]
    parts += [_section("Gates", [_verdict(each) for each in card.verdicts])]
    parts += [_section("Evidence", [f"- {each}" for each in card.evidence])]
    pictures = [_picture(card, *each) for each in card.pictures.items()]
    parts += [_section("Pictures", pictures)]
    parts += [_section("Commands", [_command(each) for each in card.commands])]
    times = [f"- {name}: {seconds:.2f} s" for name, seconds in card.timings.items()]
    parts += [_section("Time", times)]
    parts += [_section("Files", [f"- `{each}`" for each in card.files])]
    left = [f"- `{each}`" for each in card.left_behind]
    parts += [_section("Left behind, not committed", left)]
    parts += [_section("Diff", [_diff(card)] if card.diff else [])]
    return "\n\n".join(part for part in parts if part) + "\n"


def _facts(card: CardArtifact) -> str:
    calls = ", ".join(f"{tool} {count}" for tool, count in card.calls.items())
    refused = f"{card.refused_calls} refused" if card.refused_calls else ""
    rows = {
        "Run": card.run,
        "Card": card.card,
        "Status": f"{card.status}; it was {card.was}" if card.was else card.status,
        "Commit": card.commit,
        "Started": _time(card.started_at),
        "Ended": _time(card.ended_at),
        "Calls": "; ".join(filter(None, (calls, refused))),
    }
    return "\n".join(f"- {name}: {value}" for name, value in rows.items() if value)


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds") if at else ""


def _section(title: str, lines: list[str]) -> str:
    return "\n".join([f"## {title}", "", *lines]) if lines else ""


def _verdict(verdict: VerdictNote) -> str:
    return f"- {verdict.check}: {verdict.verdict}. {verdict.sentence}".rstrip()


def _command(run: CommandRun) -> str:
    code = "did not end by itself" if run.exit_code is None else f"exit code {run.exit_code}"
    whole = f" (all of it: `{run.log_file}`)" if run.log_file else ""
    line = f"- `{run.command}`: {code}, {run.elapsed:.2f} s{whole}"
    return f"{line}\n\n{_fenced(run.log)}\n" if run.log else line


def _picture(card: CardArtifact, what: str, path: str) -> str:
    """Return a picture as the page in the same directory shows it."""
    return f"![{what}]({path.removeprefix(f'{_HOME.as_posix()}/{card.run}/')})"


def _diff(card: CardArtifact) -> str:
    lines = card.diff.split("\n")
    shown = "\n".join(lines[:_LONGEST_DIFF])
    rest = len(lines) - _LONGEST_DIFF
    note = f"\n\n{rest} more lines are in `{card.card}.json`." if rest > 0 else ""
    return _fenced(shown, "diff") + note


def _fenced(text: str, language: str = "") -> str:
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
