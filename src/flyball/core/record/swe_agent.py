"""Recorded SWE-agent runs as steps that the guards can judge.

A recording knows calls and what came back, but not the tree; what is unknown stays empty, so that
the guards which need it are silent. A command whose effect is unclear is of kind `run`, which no
guard counts against a driver.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, cast

from flyball.core.memory.fingerprint import digest, fingerprint
from flyball.core.memory.guard import GuardStep, Kind
from flyball.errors import UsageError

Json = Mapping[str, object]


class RecordedTurn(NamedTuple):
    """One thing the driver did, and what it saw afterwards."""

    action: str | None
    seen: str
    place: str = ""


def steps_of(recording: object) -> tuple[GuardStep, ...]:
    """The steps of a decoded `.traj` file, of its steps alone, or of its messages alone."""
    return tuple(step_of(turn) for turn in _turns(recording))


def _turns(recording: object) -> Iterator[RecordedTurn]:
    name, value = "trajectory", recording
    if isinstance(recording, Mapping):
        document = cast("Json", recording)
        present = [key for key in ("trajectory", "history", "messages") if key in document]
        if not present:
            raise UsageError("it has none of `trajectory`, `history` and `messages`.", WANTED)
        name = next((key for key in present if document[key]), present[0])
        value = document[name]
    entries = _entries(value, name)
    return (_conversed if any("role" in entry for entry in entries) else _recorded)(entries)


WANTED = "Give a SWE-agent .traj file or a run exported with `flyball runs export`."


def _entries(value: object, name: str) -> list[Json]:
    if not isinstance(value, list):
        raise UsageError(f"`{name}` is not a list of steps.", WANTED)
    entries = cast("list[object]", value)
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, Mapping):
            raise UsageError(f"entry {number} of `{name}` is not an object.", WANTED)
    return cast("list[Json]", entries)


def _recorded(entries: Sequence[Json]) -> Iterator[RecordedTurn]:
    for entry in entries:
        said = _text(entry.get("response")) or _text(entry.get("thought"))
        action = _text(entry["action"]) if "action" in entry else _quoted_action(said) or None
        yield RecordedTurn(action, _text(entry.get("observation")), _place(entry.get("state")))


SPEAKERS = frozenset({"assistant", "ai"})


def _conversed(entries: Sequence[Json]) -> Iterator[RecordedTurn]:
    """Pair each thing the driver asked for with the messages that follow it.

    Where no reply at all has an action that can be told from its words, the words stand for it.
    """
    exchanges: list[tuple[Json, list[str]]] = []
    for message in entries:
        if message.get("role") in SPEAKERS and not message.get("is_demo"):
            exchanges.append((message, []))
        elif exchanges:
            exchanges[-1][1].append(_content(message))
    is_legible = any(any(_asked(reply)) for reply, _ in exchanges)
    for reply, answers in exchanges:
        if is_legible:
            yield from _paired(_asked(reply), answers)
        else:
            yield RecordedTurn(None, "\n".join([_content(reply), *answers]))


def _paired(asked: Sequence[str], answers: Sequence[str]) -> Iterator[RecordedTurn]:
    if len(asked) == 1:
        yield RecordedTurn(asked[0], "\n".join(answers))
        return
    for number, action in enumerate(asked):
        yield RecordedTurn(action, answers[number] if number < len(answers) else "")


def _asked(message: Json) -> list[str]:
    calls = message.get("tool_calls")
    if isinstance(calls, list) and len(cast("list[object]", calls)) > 1:
        return [_call_text(call) for call in cast("list[object]", calls)]
    action = message.get("action")
    if action is not None:
        return [_text(action)]
    if isinstance(calls, list) and calls:
        return [_call_text(cast("list[object]", calls)[0])]
    return [_quoted_action(_content(message))]


def _content(message: Json) -> str:
    return _text(message.get("content", message.get("text")))


def _call_text(call: object) -> str:
    """A function call as the command line that it stands for."""
    outer = _object(call)
    function = _object(outer.get("function")) or outer
    name, arguments = _text(function.get("name")), function.get("arguments")
    values = _object(arguments)
    if not values:
        return f"{name} {_text(arguments)}".strip()
    command = values.get("command")
    if name in {"bash", "execute_bash", "shell"} and isinstance(command, str):
        return command
    rest = {key: value for key, value in values.items() if key != "command"}
    shown = f"{_text(command)} {json.dumps(rest, sort_keys=True)}" if command else json.dumps(rest)
    return f"{name} {shown}".strip()


FENCE = re.compile(r"```[\w-]*[ \t]*\n(.*?)\n?```", re.DOTALL)


def _quoted_action(said: str) -> str:
    """The last fenced block of a reply, which is where the text protocols put the command."""
    blocks = cast("list[str]", FENCE.findall(said))
    return blocks[-1] if blocks else ""


def _text(value: object) -> str:
    """The text of a field: plain, in content parts, or whatever else was recorded there."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = cast("list[object]", value)
        return "\n".join(
            _text(cast("Json", part).get("text", "")) if isinstance(part, Mapping) else _text(part)
            for part in parts
        )
    return json.dumps(value, sort_keys=True, default=str)


def _place(state: object) -> str:
    """Where the driver stands after a step: the open file and the working directory."""
    known = _object(state)
    return f"{_text(known.get('open_file'))} {_text(known.get('working_dir'))}"


def _object(value: object) -> Json:
    """An object, also one that was recorded as its JSON text; empty where there is none."""
    if isinstance(value, str):
        try:
            value = cast("object", json.loads(value))
        except (ValueError, RecursionError):
            return {}
    return cast("Json", value) if isinstance(value, Mapping) else {}


# A test runner's own stopwatch and the addresses of objects differ between equal outcomes.
NOISE = tuple(
    (re.compile(pattern, re.MULTILINE), plain)
    for pattern, plain in (
        (r"\r", ""),
        (r"^(=+ .*) in \d+(?:\.\d+)?s(?: \([\d:]+\))?( =+)$", r"\1\2"),
        (r"^(Ran \d+ tests?) in \d+(?:\.\d+)?s$", r"\1"),
        (r"\bat 0x[0-9a-f]{6,}\b", "at 0x"),
    )
)
REFUSAL = re.compile(
    r"(?:Interactive operation|Operation) '.*' is not supported|Your (?:last )?output was not"
    r" formatted correctly|Your last output did not use any tool calls|Your bash command contained"
    r" syntax errors|Your command was blocked",
    re.DOTALL,
)


def step_of(turn: RecordedTurn) -> GuardStep:
    """One turn, reduced to what the guards compare."""
    seen = turn.seen
    for pattern, plain in NOISE:
        seen = pattern.sub(plain, seen)
    seen = seen.strip()
    outcome = digest([seen, turn.place])
    action = turn.action.strip() if turn.action is not None else None
    if action is None:
        return GuardStep(digest(["unknown", seen]), outcome, "run")
    if not action:
        return GuardStep("", outcome, "monologue")
    if REFUSAL.match(seen):
        return GuardStep(digest(action), "", "refused")
    kind = kind_of(action)
    if kind == "mutate":
        return GuardStep(digest(action), outcome, kind, ok=not FAILED_EDIT.match(seen))
    if kind == "read":
        return GuardStep(digest([action, seen] if SCROLL.match(action) else action), outcome, kind)
    error = fingerprint(seen) if FAILURE.search(seen) else ""
    return GuardStep(digest(action), outcome, kind, ok=not error, error=error)


SCROLL = re.compile(r"scroll_(?:up|down)\b")
"""The same words each time, but every time another page is read: never a poll."""

FAILED_EDIT = re.compile(
    r"(?:<returncode>(?!0<)|Your proposed edit has introduced|Your edit was not applied"
    r"|Your search and replace strings are the same|No replacement was performed|No edit"
    r"|No file open|No changes were made|Usage: |Error:|error: (?:corrupt )?patch"
    r"|File [^\n]* not found|The path [^\n]* (?:does not exist|is a directory)"
    r"|File already exists at|The parent directory [^\n]* does not exist|Parameter `"
    r"|Invalid `|Ran into |Traceback \(most recent|(?:/bin/)?(?:ba)?sh: |sed: |patch: )"
)
FAILURE = re.compile(
    r"^(?:Traceback \(most recent call last\)|E   |FAIL|--- FAIL|(?:\w+\.)*\w*(?:Error|Exception)\b"
    r"|error(?:\[\w+\])?: |fatal: |panic: |(?:/bin/)?(?:ba)?sh: .*not found|<returncode>(?!0<))"
    r"|\b[1-9]\d* (?:failed|failing|errors?)\b|EXECUTION TIMED OUT",
    re.MULTILINE,
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


READERS = _words(
    "ag awk blame cat cut diff du egrep env fgrep file filemap find find_file goto grep head jq"
    " less ls more nl open pwd rg scroll_down scroll_up search_dir search_file sort stat strings"
    " tail tree type uniq view view_image wc which whereis xxd"
)
EDITORS = _words("append apply_patch create edit insert patch str_replace tee undo_edit")
VERIFIERS = _words(
    "ant black cargo cmake ctest deno dotnet eslint flake8 g++ gcc go gradle java javac jest make"
    " mocha mvn mypy ninja node nosetests nox npm npx php phpunit pnpm py.test pylint pyright"
    " pytest python python2 python3 rake rspec ruby ruff rustc tox tsc vitest yarn"
)
SILENT = _words("cd echo export printf set sleep source true wait :")
GIT_READERS = _words("blame diff grep log ls-files rev-parse shortlog show status")
EDITOR_TOOLS = _words("str_replace_editor str_replace_based_edit_tool file_editor")

QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"", re.DOTALL)
HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w+)\1(.*?)\n.*?^\s*\2[ \t]*$", re.DOTALL | re.MULTILINE)
WRITES = re.compile(r"(?<![0-9&<>])1?>{1,2}(?!&)\s*(?!/dev/)[^\s&]")
SEPARATOR = re.compile(r"&&|\|\||[;|\n]")
PREFIX = re.compile(r"^\s*(?:\(|\{\s|!\s|sudo\s|time\s|timeout\s+\S+\s|nohup\s|env\s|\w+=\S*\s)+")


def kind_of(action: str) -> Kind:
    """What a command line does, as far as its words tell."""
    words = action.split(None, 2)
    if words[0] in EDITOR_TOOLS:
        return "read" if words[1:2] == ["view"] else "mutate"
    if words[0] in EDITORS:
        return "mutate"
    line = QUOTED.sub("Q", HEREDOC.sub(r"<< \3", action))
    kinds = {_kind_of_part(part) for part in SEPARATOR.split(line)} - {None}
    if WRITES.search(line) or "mutate" in kinds:
        return "mutate"
    if "verify" in kinds:
        return "verify"
    return "read" if kinds == {"read"} else "run"


def _kind_of_part(part: str) -> Kind | None:
    """None for a part that says nothing about the whole, like `cd`."""
    words = PREFIX.sub("", part).split()
    if not words or words[0] in SILENT:
        return None
    head = words[0].rpartition("/")[2]
    if head in EDITORS or (head in {"sed", "perl"} and any(w.startswith("-i") for w in words)):
        return "mutate"
    if head == "git":
        verb = words[1] if len(words) > 1 else ""
        return "read" if verb in GIT_READERS else "mutate" if verb == "apply" else "run"
    if head in READERS or head == "sed":
        return "read"
    return "verify" if head in VERIFIERS else "run"
