"""Read recorded SWE-agent and mini-SWE-agent runs as steps for the guards.

A recording has calls and results, but not the tree; unknown values stay empty, so the guards that
need them are silent. A command whose effect is unclear is of kind `run`, which no guard counts
against a driver.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, cast

from flyball.errors import UsageError
from flyball.guards.fingerprint import fingerprint
from flyball.guards.guard_memory import GuardStep, Kind
from flyball.regex import regex
from flyball.terms.call import digest

Json = Mapping[str, object]


class RecordedTurn(NamedTuple):
    """One action of the driver, and its result."""

    action: str
    """The action; empty for a reply without a call."""
    seen: str
    place: str = ""
    status: int | None = None
    """The exit status, where the recording has it."""
    reply: int = 0
    """The reply that requested it; empty for a reply of its own."""
    said: str = ""
    """The text next to it."""


def steps_of(recording: object) -> tuple[GuardStep, ...]:
    """Return the steps of a decoded `.traj` file, or of only its steps or messages."""
    return tuple(step_of(turn) for turn in turns_of(recording))


def turns_of(recording: object) -> list[RecordedTurn]:
    """Return the turns of a decoded `.traj` file, or of only its steps or messages."""
    name, value = "trajectory", recording
    if isinstance(recording, Mapping):
        document = cast("Json", recording)
        present = [key for key in ("trajectory", "history", "messages") if key in document]
        if not present:
            raise UsageError("it has none of `trajectory`, `history` and `messages`.", WANTED)
        name = next((key for key in present if document[key]), present[0])
        value = document[name]
    entries = entries_of(value, name)
    is_talk = any("role" in entry for entry in entries)
    turns = [*(_conversed if is_talk else _recorded)(entries)]
    # A format that nobody knows would otherwise come out as a run in which nothing happened.
    if entries and not any(turn.action for turn in turns):
        raise UsageError(f"no recognisable call in its `{name}`.", WANTED)
    return turns


WANTED = (
    "Give a recording of SWE-agent, mini-SWE-agent or OpenHands, or a run exported with "
    "`flyball runs export`."
)


def entries_of(value: object, name: str) -> list[Json]:
    """Return a list of objects; otherwise raise an error that says what was found."""
    if not isinstance(value, list):
        raise UsageError(f"`{name}` is not a list of steps.", WANTED)
    entries = cast("list[object]", value)
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, Mapping):
            raise UsageError(f"entry {number} of `{name}` is not an object.", WANTED)
    return cast("list[Json]", entries)


def _recorded(entries: Sequence[Json]) -> Iterator[RecordedTurn]:
    for entry in entries:
        if not {"action", "response", "thought"} & entry.keys():
            continue
        said = text_of(entry.get("response")) or text_of(entry.get("thought"))
        action = text_of(entry["action"]) if "action" in entry else _quoted_action(said)
        seen = text_of(entry.get("observation"))
        words = text_of(entry["thought"]) if "thought" in entry else said
        yield RecordedTurn(action, seen, _place(entry.get("state")), _status(seen), said=words)


SPEAKERS = frozenset({"assistant", "ai"})


def _conversed(entries: Sequence[Json]) -> Iterator[RecordedTurn]:
    """Pair each request of the driver with the messages that follow it."""
    exchanges: list[tuple[Json, list[str]]] = []
    for message in entries:
        if message.get("role") in SPEAKERS and not message.get("is_demo"):
            exchanges.append((message, []))
        elif exchanges:
            exchanges[-1][1].append(_content(message))
    for number, (reply, answers) in enumerate(exchanges, 1):
        words = text_of(reply.get("thought")) or _content(reply)
        first, *others = _paired(_asked(reply), answers, number)
        yield first._replace(said=words)
        yield from others


def _paired(asked: Sequence[str], answers: Sequence[str], reply: int) -> Iterator[RecordedTurn]:
    if len(asked) == 1:
        seen = "\n".join(answers)
        yield RecordedTurn(asked[0], seen, status=_status(seen), reply=reply)
        return
    for number, action in enumerate(asked):
        seen = answers[number] if number < len(answers) else ""
        yield RecordedTurn(action, seen, status=_status(seen), reply=reply)


RETURN_CODE = regex(r"\s*<returncode>(-?\d+)</returncode>")


def _status(seen: str) -> int | None:
    """Return the exit status that mini-SWE-agent writes before a command's output."""
    found = RETURN_CODE.match(seen)
    return int(found[1]) if found else None


def _asked(message: Json) -> list[str]:
    calls = message.get("tool_calls")
    if isinstance(calls, list) and len(cast("list[object]", calls)) > 1:
        return [_call_text(call) for call in cast("list[object]", calls)]
    action = message.get("action")
    if action is not None:
        return [text_of(action)]
    if isinstance(calls, list) and calls:
        return [_call_text(cast("list[object]", calls)[0])]
    return [_quoted_action(_content(message))]


def _content(message: Json) -> str:
    return text_of(message.get("content", message.get("text")))


def _call_text(call: object) -> str:
    """Return a function call as the equivalent command line."""
    outer = object_of(call)
    function = object_of(outer.get("function")) or outer
    name, arguments = text_of(function.get("name")), function.get("arguments")
    values = object_of(arguments)
    return command_line(name, values) if values else f"{name} {text_of(arguments)}".strip()


SHELLS = frozenset({"bash", "execute_bash", "shell", "terminal", "run"})


def command_line(name: str, values: Json) -> str:
    """Return a tool and its arguments as the equivalent command line."""
    command = values.get("command")
    if name in SHELLS and isinstance(command, str):
        return command
    rest = {key: value for key, value in values.items() if key != "command"}
    shown = f"{text_of(command)} {json.dumps(rest, sort_keys=True, default=str)}"
    return f"{name} {shown if command else shown.strip()}".strip()


FENCE = regex(r"```[\w-]*[ \t]*\n(.*?)\n?```", re.DOTALL)
TAGGED = regex(r"<function=(\w+)>(.*?)(?:</function>|\Z)", re.DOTALL)
PARAMETER = regex(r"<parameter=(\w+)>\n?(.*?)\n?</parameter>", re.DOTALL)


def _quoted_action(said: str) -> str:
    """Return the last call in the text of a reply: between tags, or the last fenced block."""
    if tagged := cast("list[tuple[str, str]]", TAGGED.findall(said)):
        name, inside = tagged[-1]
        return command_line(name, dict(PARAMETER.findall(inside)))
    blocks = cast("list[str]", FENCE.findall(said))
    return blocks[-1] if blocks else ""


def text_of(value: object) -> str:
    """Return the text of a field: plain, in content parts, or any other recorded value."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = cast("list[object]", value)
        return "\n".join(
            text_of(cast("Json", part).get("text", ""))
            if isinstance(part, Mapping)
            else text_of(part)
            for part in parts
        )
    return json.dumps(value, sort_keys=True, default=str)


def _place(state: object) -> str:
    """Return the driver's position after a step: the open file and the working directory."""
    known = object_of(state)
    return f"{text_of(known.get('open_file'))} {text_of(known.get('working_dir'))}"


def object_of(value: object) -> Json:
    """Return an object, even one recorded as JSON text; empty if there is none."""
    if isinstance(value, str):
        try:
            value = cast("object", json.loads(value))
        except (ValueError, RecursionError):
            return {}
    return cast("Json", value) if isinstance(value, Mapping) else {}


# A test runner's own stopwatch and the addresses of objects differ between equal outcomes.
NOISE = tuple(
    (needed, regex(pattern, re.MULTILINE), plain)
    for needed, pattern, plain in (
        ("\r", r"\r", ""),
        ("= ", r"^(=+ .*) in \d+(?:\.\d+)?s(?: \([\d:]+\))?( =+)$", r"\1\2"),
        ("Ran ", r"^(Ran \d+ tests?) in \d+(?:\.\d+)?s$", r"\1"),
        ("at 0x", r"\bat 0x[0-9a-f]{6,}\b", "at 0x"),
    )
)
"""Each with words without which it fits nowhere: most outcomes are then never searched."""
REFUSAL = regex(
    r"(?:Interactive operation|Operation) '.*' is not supported|Your (?:last )?output was not"
    r" formatted correctly|Your last output did not use any tool calls|Your bash command contained"
    r" syntax errors|Your command was blocked",
    re.DOTALL,
)


def without_noise(seen: str) -> str:
    """Return the output without the parts that differ between equal outcomes."""
    for needed, pattern, plain in NOISE:
        if needed in seen:
            seen = pattern.sub(plain, seen)
    return seen.strip()


def step_of(turn: RecordedTurn) -> GuardStep:
    """Return one turn, reduced to what the guards compare."""
    seen = without_noise(turn.seen)
    outcome = digest([seen, turn.place])
    action = turn.action.strip()
    if not action:
        return GuardStep("", outcome, "monologue")
    if REFUSAL.match(seen):
        return GuardStep(digest(action), "", "refused", reply=turn.reply)
    kind = kind_of(action)
    call = digest([action, seen] if SCROLL.match(action) else action)
    ok = not (FAILED_EDIT if kind in ("mutate", "read") else FAILURE).search(seen)
    if turn.status is not None and kind != "read":
        ok = turn.status == 0
    # Without an exit status nobody knows whether words about an error are one.
    is_error = kind in ("verify", "run") and bool(turn.status)
    error = digest([turn.status, fingerprint(seen)]) if is_error else ""
    return GuardStep(call, outcome, kind, ok=ok, error=error, reply=turn.reply)


SCROLL = regex(r"scroll_(?:up|down)\b")
"""The same words each time, but every time another page is read: never a poll."""

FAILED_EDIT = regex(
    r"\A(?:<returncode>(?!0<)|Your proposed edit has introduced|Your edit was not applied"
    r"|Your search and replace strings are the same|No replacement was performed|No edit"
    r"|No file open|No changes were made|Usage: |Error:|error: (?:corrupt )?patch"
    r"|File [^\n]* not found|The path [^\n]* (?:does not exist|is a directory)"
    r"|File already exists at|The parent directory [^\n]* does not exist|Parameter `"
    r"|Invalid `|Ran into |Traceback \(most recent|(?:/bin/)?(?:ba)?sh: |sed: |patch: )"
)
FAILURE = regex(
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

QUOTED = regex(r"'[^']*'|\"(?:\\.|[^\"\\])*\"", re.DOTALL)
HEREDOC = regex(r"<<-?\s*(['\"]?)(\w+)\1(.*?)\n.*?^\s*\2[ \t]*$", re.DOTALL | re.MULTILINE)
WRITES = regex(r"(?<![0-9&<>])1?>{1,2}(?!&)\s*(?!/dev/)[^\s&]")
SEPARATOR = regex(r"&&|\|\||[;|\n]")
PREFIX = regex(r"^\s*(?:\(|\{\s|!\s|sudo\s|time\s|timeout\s+\S+\s|nohup\s|env\s|\w+=\S*\s)+")


def kind_of(action: str) -> Kind:
    """Return the kind of effect of a command line, as far as its text shows."""
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


def also_runs(action: str) -> bool:
    """Return whether a command line that writes also runs something that can verify the work."""
    line = QUOTED.sub("Q", HEREDOC.sub(r"<< \3", action))
    return any(_kind_of_part(part) == "verify" for part in SEPARATOR.split(line))


def _kind_of_part(part: str) -> Kind | None:
    """Return the kind of one part; None for one like `cd`, which does not affect the whole."""
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
