"""A leave: the judge's word in advance, for what only looks and is sure to be allowed.

A process that must load the judge for every call of somebody's agent takes half a second, most of
it for loading. So the judge says beforehand how many different reads pass without a word, and with
which words writes are refused before the checkpoint. Commands that only look pass as well, as long
as the tree shows before and after them what it showed the judge. A hook that finds such a leave and
no governor writes into it what it has answered, and whoever loads the judge next has that journaled
first. What the judge would answer without a word in the journal is not written down either: a stop
before anything was changed, the end of no call, and once more the call that it has just refused.
A prompt is only written down, and whoever let it pass has somebody take it up at once. Nothing but
the standard library is loaded here.

Line one are the terms; each further line is a payload that was let pass. The file is locked while
it is read or written, and gone once everything in it is in the journal.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, Protocol

    class Eyes(Protocol):
        """What a hook can see by itself; loaded when it has to look, for most do not."""

        def only_looks(self, command: str, top: str) -> bool:
            """Whether a command is sure to change nothing."""
            ...

        def shown(self, top: str, apart: Iterable[str], beside: Iterable[str]) -> str:
            """What a directory looks like now, without some folders and with some files beside it.

            Nothing where nobody knows.
            """
            ...

        def host(self) -> str:
            """The process that started this hook."""
            ...


BEFORE = frozenset({"PreToolUse", "BeforeTool"})
AFTER = frozenset({"PostToolUse", "AfterTool"})
STOPS = frozenset({"Stop", "AfterAgent", "SubagentStop"})
PROMPTS = frozenset({"UserPromptSubmit", "BeforeAgent"})
QUIET = frozenset(
    {"PreCompact", "PreCompress", "PostToolBatch", "PermissionRequest", "PermissionDenied"}
)
"""Moments at which the judge has nothing to say. Gemini CLI has one before every request and Claude
Code one after every batch of calls, and to ask the judge there would end a leave each time."""
MOST_BYTES = 1 << 20
"""A payload that is longer is left to the judge."""
SUFFIX = ".leave"
PATIENCE = 0.2
"""Seconds; the judge takes longer to load."""
LOOK_AGAIN = 0.01


def directory(top: str, environ: Mapping[str, str]) -> str:
    """Where the sessions of a project are kept, as `Home` and `Sessions` have it."""
    base = environ.get("XDG_STATE_HOME") or f"{environ.get('HOME', '/')}/.local/state"
    base = environ.get("FLYBALL_STATE_DIR") or f"{base}/flyball"
    name = hashlib.sha256(os.fsencode(top)).hexdigest()[:10]
    return f"{base}/projects/{os.path.basename(top) or 'root'}-{name}/hosts"


def file_name(host: str, session: str) -> str:
    """The name of a session's file, without its ending; a host must not choose a path."""
    digest = hashlib.sha256(session.encode("utf-8", "surrogateescape")).hexdigest()
    return f"{host}-{digest[:16]}"


def mark(environ: Mapping[str, str], files: Iterable[str]) -> list[object]:
    """What is different when anything was journaled, settled or switched since."""
    own = sorted((key, value) for key, value in environ.items() if key.startswith("FLYBALL_"))
    found: list[object] = [hashlib.sha256(repr(own).encode("utf-8", "replace")).hexdigest()]
    for file in files:
        try:
            status = os.stat(file)
            found.append([status.st_mtime_ns, status.st_size, status.st_ino])
        except OSError:
            found.append(None)
    return found


def write(file: str, terms: Mapping[str, object]) -> None:
    """Give a leave, in the place of one that was given before."""
    spare = f"{file}.{os.getpid()}"
    handle = os.open(spare, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        os.write(handle, json.dumps(terms).encode() + b"\n")
    finally:
        os.close(handle)
    os.replace(spare, file)


class OpenLeave:
    """A leave that nobody else reads or writes; raises `OSError` where there is none."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._handle = os.open(file, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW)
        fcntl.flock(self._handle, fcntl.LOCK_EX)
        status = os.fstat(self._handle)
        data = os.pread(self._handle, status.st_size, 0)
        # Of a process that was killed over it there is half a line: nobody let that pass.
        self._whole = data.rfind(b"\n") + 1
        self.lines = data[: self._whole].splitlines()
        # Whoever waited for the lock may have waited for its end.
        self.is_there = status.st_nlink > 0 and bool(self.lines)

    def append(self, line: bytes) -> bool:
        """Write one more line, whole or not at all."""
        os.ftruncate(self._handle, self._whole)
        try:
            if os.write(self._handle, line) == len(line):
                return True
        except OSError:
            pass
        os.ftruncate(self._handle, self._whole)
        return False

    def end(self) -> None:
        """It holds no more: what was let pass is in the journal."""
        os.unlink(self._file)

    def close(self) -> None:
        os.close(self._handle)


def _opened(file: str) -> OpenLeave:
    """The leave, once nobody takes it up any more; raises `OSError` where there is none then."""
    until = time.monotonic() + PATIENCE
    leave = OpenLeave(file)
    while not leave.is_there:
        leave.close()
        # Whoever took it up gives the next one.
        while not os.path.exists(file) and time.monotonic() < until:
            time.sleep(LOOK_AGAIN)
        if time.monotonic() > until:
            raise FileNotFoundError(file)
        leave = OpenLeave(file)
    return leave


QUIET_STARTS = frozenset({"claude", "codex"})
"""Hosts whose sessions begin without anything that would have to be seen before their prompt."""


def is_quiet_start(
    host: str,
    data: bytes,
    top_of: Callable[[str], str],
    environ: Mapping[str, str],
    eyes: Eyes,
) -> bool:
    """Whether a payload only tells that a session begins, in the process that is known for it."""
    payload = json.loads(data)
    is_start = payload["hook_event_name"] == "SessionStart" and host in QUIET_STARTS
    if not is_start or payload["source"] not in ("startup", "clear"):
        return False
    place = directory(top_of(payload["cwd"]), environ)
    known = _process_of(f"{place}/{file_name(host, payload['session_id'])}.json")
    return known is None or known == eyes.host()


def _process_of(file: str) -> str | None:
    """The process of a session, as `Sessions` has kept it; None of one that is not known."""
    try:
        with open(file, "rb") as handle:
            lines = handle.read().splitlines()
    except FileNotFoundError:
        return None
    return json.loads(lines[-1]).get("process", "")


def let_pass(
    host: str,
    data: bytes,
    top_of: Callable[[str], str],
    environ: Mapping[str, str],
    eyes: Eyes,
) -> tuple[str, str] | None:
    """What the judge has said of a payload beforehand, which is then written down in the leave.

    The words of its refusal, nothing where it passes; and where a prompt passes, the project in
    which that is to be taken up. None where the judge must be asked.
    """
    if len(data) > MOST_BYTES:
        return None
    payload = json.loads(data)
    if payload["hook_event_name"] in QUIET:
        return "", ""
    top = top_of(payload["cwd"])
    file = f"{directory(top, environ)}/{file_name(host, payload['session_id'])}{SUFFIX}"
    leave = _opened(file)
    try:
        terms = json.loads(leave.lines[0])
        passed = [json.loads(line) for line in leave.lines[1:]]
        is_current = terms["session"] == payload["session_id"] and terms["top"] == top
        if not is_current or terms["mark"] != mark(environ, terms["files"]):
            return None
        is_prompt = payload["hook_event_name"] in PROMPTS
        if not is_prompt and any(each["moment"] in PROMPTS for each in passed):
            # What comes after it belongs to the run that it begins, which nobody knows yet.
            return None
        answer = _answer(terms, passed, payload, eyes)
        if answer is None:
            return None
        words, entry = answer
        if entry is None:
            return words, ""
        line = json.dumps({**entry, "host": host, "payload": payload})
        if not leave.append(line.encode() + b"\n"):
            return None
        return words, top if is_prompt else ""
    finally:
        leave.close()


def _answer(
    terms: dict[str, Any], passed: list[dict[str, Any]], payload: dict[str, Any], eyes: Eyes
) -> tuple[str, dict[str, Any] | None] | None:
    """The words of a refusal, or nothing where it passes, and what is to be written down of it."""
    moment = payload["hook_event_name"]
    if moment in PROMPTS:
        return ("", {"moment": moment}) if _may_wait(terms, payload, eyes) else None
    if moment in STOPS:
        is_quiet = terms["may_rest"] and not _under_way(passed) and _is_as_shown(terms, eyes)
        return ("", None) if is_quiet else None
    if moment in AFTER and terms["has_untold"]:
        return None
    entry = _entry(payload)
    traceless = _traceless(terms, passed, entry, eyes)
    if traceless is not None:
        return traceless, None
    words = _refusal(terms, passed, entry, payload)
    is_look = _is_look(terms, passed, entry, payload, eyes)
    if not words and not is_look and not _covers(terms, passed, entry, payload):
        return None
    return words, {**entry, "is_refused": bool(words), "is_look": is_look}


def _may_wait(terms: dict[str, Any], payload: dict[str, Any], eyes: Eyes) -> bool:
    """Whether a prompt can be taken up after it has passed: nobody but a person can have said it.

    What calls this hook must be the host itself, and not something that its agent has started.
    """
    is_persons = not payload.get("agent_id") and not payload["prompt"].lstrip().startswith("<")
    return is_persons and bool(terms["host"]) and eyes.host() == terms["host"]


def _entry(payload: dict[str, Any]) -> dict[str, str]:
    """What tells a call, and the moment of it, from all others."""
    asked = [payload["tool_name"], payload["tool_input"]]
    text = json.dumps(asked, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    id = payload.get("tool_use_id") or digest
    agent = payload.get("agent_id")
    return {
        "moment": payload["hook_event_name"],
        "digest": digest,
        "call": f"{agent}/{id}" if agent else id,
    }


def _traceless(
    terms: dict[str, Any], passed: list[dict[str, Any]], entry: dict[str, str], eyes: Eyes
) -> str | None:
    """The judge's word for what leaves nothing in the journal; None where something would be."""
    if entry["moment"] in BEFORE and not passed and entry["digest"] in terms["again"]:
        words = terms["again"][entry["digest"]]
    elif entry["moment"] in AFTER:
        words = ""
        if entry["call"] in {*terms["begun"], *(each["call"] for each in passed)}:
            return None
    else:
        return None
    return words if _is_as_shown(terms, eyes) else None


def _is_as_shown(terms: dict[str, Any], eyes: Eyes) -> bool:
    """Whether the tree shows what it showed the judge."""
    if not terms["shown"]:
        return False
    mark, apart, beside = terms["shown"]
    return eyes.shown(terms["top"], apart, beside) == mark


def _under_way(passed: list[dict[str, Any]]) -> set[str]:
    """The calls that were let begin, and have not come back."""
    begun = {each["call"] for each in passed if each["moment"] in BEFORE and not each["is_refused"]}
    return begun - {each["call"] for each in passed if each["moment"] in AFTER}


def _refusal(
    terms: dict[str, Any],
    passed: list[dict[str, Any]],
    entry: dict[str, str],
    payload: dict[str, Any],
) -> str:
    """The judge's words for a write that is sure to be refused; nothing where it is not sure."""
    words = terms["refused"].get(payload["tool_name"], "")
    if not words or entry["moment"] not in BEFORE:
        return ""
    known = {*terms["known"], *(each["digest"] for each in passed)}
    refused = [each for each in passed if each["is_refused"]]
    is_sure = entry["digest"] not in known and len(refused) < terms["refusals"]
    return words if is_sure and _is_common(payload["tool_input"], terms, payload["cwd"]) else ""


def _is_common(given: dict[str, Any], terms: dict[str, Any], cwd: str) -> bool:
    """Whether a call names one file of the project, and none that is judged by its name."""
    named = [given[field] for field in terms["fields"] if given.get(field)]
    if len(named) != 1:
        return False
    whole = os.path.normpath(os.path.join(cwd, named[0]))
    inside = whole.removeprefix(f"{terms['top']}/")
    return inside != whole and not any(part.startswith(".") for part in inside.split("/"))


PLAIN_FIELDS = frozenset({"description", "timeout"})
"""What a shell's call may have beside its command and still be only that."""


def _is_look(
    terms: dict[str, Any],
    passed: list[dict[str, Any]],
    entry: dict[str, str],
    payload: dict[str, Any],
    eyes: Eyes,
) -> bool:
    """Whether it is a command that only looks, or the end of one, and the tree is as it was.

    Whatever changed meanwhile, be it by the command itself, is the judge's to see.
    """
    if not terms["shown"] or payload["tool_name"] not in terms["shells"]:
        return False
    if entry["moment"] in BEFORE:
        command = _command(payload["tool_input"], terms)
        is_sure = _may_begin(terms, passed, entry, terms["looks"]) and bool(command)
        if not is_sure or not eyes.only_looks(command, terms["top"]):
            return False
    elif entry["moment"] not in AFTER or not _ends(terms, passed, entry, payload, is_look=True):
        return False
    return _is_as_shown(terms, eyes)


def _may_begin(
    terms: dict[str, Any], passed: list[dict[str, Any]], entry: dict[str, str], most: int
) -> bool:
    """Whether one more look or read passes: a new one, or one that is under way once more.

    Of the latter the judge has said how often, if there is nothing else in between.
    """
    repeats, digest = terms["repeats"], entry["digest"]
    if digest in repeats:
        is_alone = all(
            (each["moment"], each["digest"]) == (entry["moment"], digest) for each in passed
        )
        return is_alone and len(passed) < repeats[digest]
    begun = [each for each in passed if each["moment"] in BEFORE and not each["is_refused"]]
    known = {each["digest"] for each in begun}
    is_new = digest not in {*terms["known"], *known} and not known & {*repeats}
    return is_new and len(begun) < most


def _command(given: dict[str, Any], terms: dict[str, Any]) -> str:
    """The command that a call is for; nothing where that is not all, or it may name us."""
    named = [given[field] for field in terms["commands"] if field in given]
    text = named[0] if len(named) == 1 and isinstance(named[0], str) else ""
    is_plain = {*given} <= {*terms["commands"], *PLAIN_FIELDS}
    is_apart = not any(mark in text for mark in ("~", "$", "`", terms["state"]))
    return text if is_plain and is_apart and "flyball" not in text.lower() else ""


def _ends(
    terms: dict[str, Any],
    passed: list[dict[str, Any]],
    entry: dict[str, str],
    payload: dict[str, Any],
    *,
    is_look: bool,
) -> bool:
    """Whether a call comes back whole that was let begin, as a look or as a read."""
    begun = [each for each in passed if each["moment"] in BEFORE and not each["is_refused"]]
    ended = {each["call"] for each in passed if each["moment"] in AFTER}
    known = () if is_look else terms["open"]
    open_calls = {*known, *(each["call"] for each in begun if each["is_look"] is is_look)} - ended
    is_whole = not payload.get("is_interrupt") and not _has_failed(payload.get("tool_response"))
    return is_whole and entry["call"] in open_calls


def _covers(
    terms: dict[str, Any],
    passed: list[dict[str, Any]],
    entry: dict[str, str],
    payload: dict[str, Any],
) -> bool:
    if payload["tool_name"] not in terms["tools"]:
        return False
    if entry["moment"] in BEFORE:
        return _may_begin(terms, passed, entry, terms["reads"])
    is_end = entry["moment"] in AFTER
    return is_end and _ends(terms, passed, entry, payload, is_look=False)


def _has_failed(response: Any) -> bool:
    try:
        return bool(response["error"])
    except (LookupError, TypeError):
        return False
