"""`flyball intent`: show how a request is classified, and its budget."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

import click
import msgspec

from flyball.cli.card import HISTORY
from flyball.cli.terminal.edge import say
from flyball.cli.typed.words import complete_file
from flyball.errors import NotFound, UsageError
from flyball.intent.classifier import classify
from flyball.terms.intent import Reading, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator

STDIN = "-"
WORTH_SHOWING = 0.01
WANTED_TURNS = 'History is a list of {"role", "text"} objects or of strings.'
WANTED_LINE = 'Each line is an object like {"text": "fix the typo", "history": []}.'
SPEAKERS = {"human": "user", "ai": "assistant", "model": "assistant", "agent": "assistant"}


@click.command("intent")
@click.argument("text", nargs=-1, metavar="TEXT…")
@HISTORY
@click.option(
    "--batch",
    metavar="FILE",
    shell_complete=complete_file,
    help="Read one JSON request per line; - reads stdin.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def intent(text: tuple[str, ...], history: str | None, batch: str | None, as_json: bool) -> None:
    """Classify a request's intent and budget, and explain why. TEXT may be - for stdin."""
    if batch is not None:
        if text or history:
            raise UsageError("--batch takes its texts and histories from the file.", WANTED_LINE)
        for request, turns in list(_requests(batch)):
            say(_line(classify(request, turns)))
        return
    if not text:
        raise UsageError("There is no text to read.", 'Try `flyball intent "fix the typo"`.')
    if text == (STDIN,) and history == STDIN:
        raise UsageError("Text and history cannot both come from stdin.", "Put one in a file.")
    request = _read(STDIN) if text == (STDIN,) else " ".join(text)
    reading = classify(request, history_from(history) if history else ())
    say(_line(reading) if as_json else _page(reading))


def _line(reading: Reading) -> str:
    return msgspec.json.encode(reading).decode()


def _page(reading: Reading) -> str:
    lines = [f"{reading.intent}: {reading.budget} calls, {reading.confidence:.0%} sure"]
    lines += [f"  because {reason}" for reason in reading.reasons]
    if reading.change.reason:
        lines.append(f"  kind of change: {reading.change.kind}, because {reading.change.reason}")
    likely = [other for other in reading.alternatives if other.confidence >= WORTH_SHOWING]
    lines += [f"  or {other.intent}, {other.confidence:.0%}" for other in likely]
    return "\n".join(lines)


def _read(file: str) -> str:
    from pathlib import Path

    name = _named(file)
    try:
        data = sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound("file", name, "Give the path of a file, or - for stdin.") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{name} cannot be read: {why}.") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{name}:{line}: this is not UTF-8 text.", "Save it as UTF-8.") from None


def _named(file: str) -> str:
    if file == STDIN:
        return "stdin"
    return file.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _requests(file: str) -> Iterator[tuple[str, tuple[Turn, ...]]]:
    """Yield the requests of a batch; every line is validated before the first is answered."""
    for number, line in enumerate(_read(file).split("\n"), start=1):
        if not line.strip():
            continue
        place = f"{_named(file)}:{number}"
        value = _decoded(line, place, WANTED_LINE)
        if isinstance(value, str):
            value = {"text": value}
        fields = _fields(value)
        text = fields.get("text") if fields is not None else None
        if fields is None or not isinstance(text, str):
            raise UsageError(f'{place}: "text" is missing or is not a string.', WANTED_LINE)
        yield text, _turns(fields.get("history"), place)


def history_from(file: str) -> tuple[Turn, ...]:
    """Return the conversation so far, from a file or stdin."""
    text = _read(file)
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) > 1 and all(line.lstrip().startswith(("{", '"')) for line in lines):
        values = [
            _decoded(line, f"{_named(file)}:{number}", WANTED_TURNS)
            for number, line in enumerate(text.split("\n"), start=1)
            if line.strip()
        ]
        return _turns(values, f"{_named(file)}:1")
    return _turns(_decoded(text, f"{_named(file)}:1", WANTED_TURNS), f"{_named(file)}:1")


def _decoded(text: str, place: str, wanted: str) -> object:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise UsageError(f"{place}: this is not JSON: {error}.", wanted) from None


def _fields(value: object) -> dict[str, object] | None:
    return cast("dict[str, object]", value) if isinstance(value, dict) else None


def _turns(value: object, place: str) -> tuple[Turn, ...]:
    if value is None:
        return ()
    fields = _fields(value)
    if fields is not None:
        value = fields.get("messages", fields.get("history"))
    if not isinstance(value, list):
        raise UsageError(f"{place}: the history is not a list.", WANTED_TURNS)
    said = cast("list[object]", value)
    return tuple(_turn(turn, len(said) - n, place) for n, turn in enumerate(said))


def _turn(value: object, from_end: int, place: str) -> Turn:
    """Return one turn of the conversation; bare strings alternate, ending with the assistant's."""
    if isinstance(value, str):
        return _spoken(value, "assistant" if from_end % 2 else "user")
    fields = _fields(value)
    text = _words(fields.get("text", fields.get("content"))) if fields is not None else None
    if fields is None or text is None:
        raise UsageError(f"{place}: a turn of the history has no text.", WANTED_TURNS)
    role = fields.get("role", "user")
    if not isinstance(role, str):
        raise UsageError(f"{place}: a role in the history is not a string.", WANTED_TURNS)
    return Turn(SPEAKERS.get(role, role), text)


def _spoken(line: str, role: str) -> Turn:
    speaker, colon, rest = line.partition(":")
    speaker = SPEAKERS.get(speaker.strip().lower(), speaker.strip().lower())
    if colon and speaker in ("user", "assistant"):
        return Turn(speaker, rest.strip())
    return Turn(role, line)


def _words(value: object) -> str | None:
    """Return a text, or the texts among a message's parts."""
    if not isinstance(value, list):
        return value if isinstance(value, str) else None
    parts = (_fields(part) for part in cast("list[object]", value))
    return "\n".join(str(part["text"]) for part in parts if part and "text" in part)
