"""The audit use case: find transcripts, read new ones, and report on all of them."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from flyball.app.runs.agent_trace import Authored, read_agent_trace
from flyball.app.sessions import HOSTED
from flyball.app.settling import state_dir
from flyball.audit.finding import RULES, AuditFinding, Degree
from flyball.audit.formats import LineNotes, host_folders, read_transcripts, transcripts
from flyball.audit.index import AuditIndex, open_index, state_of
from flyball.audit.judging import (
    FLYBALL,
    FileAudit,
    SessionAudit,
    judge_transcripts,
    look_at_command,
    redacted,
)
from flyball.audit.report import INSTALLABLE, AuditReport, AuditTally
from flyball.errors import FlyballError, NotFound, ToolError, ToolUnavailable, UsageError
from flyball.guards.guard import GuardLimits
from flyball.hosts.install.targets import HostPlaces
from flyball.hosts.prove.installed import find_hooks
from flyball.journal.sqlite import SqliteJournal
from flyball.record.observed import OBSERVED, hypothetical_blocks
from flyball.regex import regex
from flyball.run.event import AnyEvent, CallReturned, RunStarted
from flyball.workspace.process.spawn import Companion, run_sync

UNITS = {"h": 3600.0, "d": 86400.0, "w": 7 * 86400.0}
SPAN = regex(r"(\d{1,4})([hdw])")
INDEX = "audit.sqlite"
AGENT_TRACE = "agent-trace"
NEVER = (-1, -1)
"""A state that no file has, so that the next audit reads the file."""


class AuditOptions(NamedTuple):
    """The arguments of an audit: paths, hosts and start time."""

    paths: tuple[Path, ...] = ()
    hosts: tuple[str, ...] = ()
    since: str = ""


class AuditProgress(NamedTuple):
    """The progress of an audit."""

    files: int
    of_files: int
    bytes: int
    of_bytes: int


Watch = Callable[[AuditProgress], None]


def audit(
    options: AuditOptions,
    environ: Mapping[str, str],
    limits: GuardLimits,
    *,
    watch: Watch = lambda _: None,
    clock: Callable[[], float] = time.time,
) -> AuditReport:
    """Run an audit; it writes only the index and sends nothing over the network."""
    since = clock() - seconds_of(options.since) if options.since else 0.0
    files = _files(options, environ, since)
    mark = f"{msgspec.json.encode(limits).decode()}"
    governed = _governed(environ)
    with open_index(state_dir(environ) / INDEX) as index:
        read = _read(index, files, mark, limits, environ, watch)
        index.select(files)
        tally = AuditTally(governed)
        sessions = [
            each
            for each in index.sessions(since)
            if not options.hosts or each.host in options.hosts
        ]
        tally.add_sessions(sessions)
        tally.add_bills(each for each in index.bills(since) if each[0] in tally.sessions)
        effects = Effects(environ)
        findings = [
            effects.settle(found, tally.sessions[found.session].project)
            for found in index.findings(since)
            if found.session in tally.sessions
        ]
        notes = [f"{path}: {note}" for path, told in index.notes() for note in told]
    return tally.report(findings, since=since, files=len(files), read=read, notes=notes)


def seconds_of(span: str) -> float:
    """Return the seconds in a span such as 30d."""
    found = SPAN.fullmatch(span.strip().lower())
    if found is None:
        raise UsageError(f"{span!r} is not a time span.", "Write it like 12h, 30d or 8w.")
    return int(found[1]) * UNITS[found[2]]


def _files(options: AuditOptions, environ: Mapping[str, str], since: float) -> list[Path]:
    folders = host_folders(environ)
    wanted = options.hosts or tuple(folders)
    places = options.paths or tuple(folders[host] for host in wanted if host in folders)
    own = [*journals(environ)] if FLYBALL in options.hosts and not options.paths else []
    for place in options.paths:
        if not place.exists():
            raise NotFound("file", os.fspath(place), "Name a transcript, or a folder of them.")
    found = [*transcripts(places), *own]
    if not found and not options.paths:
        looked = ", ".join(os.fspath(place) for place in places) or "the state directory"
        hint = "Name a folder of transcripts: flyball audit PATH."
        raise NotFound("transcript", f"in {looked}", hint)
    return [file for file in found if state_of(file)[1] >= since * 1e9]


def _governed(environ: Mapping[str, str]) -> list[str]:
    places = HostPlaces(environ, Path.cwd())
    found = {host: find_hooks(host, places)[0] for host in sorted(INSTALLABLE)}
    return [host for host, hooks in found.items() if any(not each.observes for each in hooks)]


def _read(
    index: AuditIndex,
    files: Sequence[Path],
    mark: str,
    limits: GuardLimits,
    environ: Mapping[str, str],
    watch: Watch,
) -> int:
    """Judge files that are not in the index; return how many there were."""
    new = {file: seen for file in files if not index.knows(file, mark, seen := state_of(file))}
    whole, done = sum(size for size, _ in new.values()), 0
    for number, (file, found) in enumerate(judge_files([*new], whole, limits, environ)):
        watch(AuditProgress(number, len(new), done, whole))
        index.keep(file, mark, found, NEVER if found.is_lost else new[file])
        done += new[file][0]
    watch(AuditProgress(len(new), len(new), done, whole))
    return len(new)


LARGEST = 4 << 20
SHORTEST_TRACE = 4
HISTORY_LOOKS = 60
"""Maximum number of git history searches per audit; each is slow in a long history."""
SECONDS = 10.0


class Effects:
    """Checks whether a finding's change is still in the tree or history; caches file texts."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._looks = HISTORY_LOOKS
        self._text = cache(_text_of)

    def settle(self, found: AuditFinding, root: str) -> AuditFinding:
        """Return the finding with its degree and whether its work was kept."""
        if not found.paths or not RULES[found.rule].leaves_effect:
            return found
        is_there = self._is_there(found, root)
        if is_there is None:
            return found
        may = RULES[found.rule].may_be_caught
        degree = Degree.CAUGHT if is_there and may else Degree.SUSPICIOUS
        return replace(found, degree=degree, is_kept=is_there)

    def _is_there(self, found: AuditFinding, root: str) -> bool | None:
        """Return whether the change is present; None if the project left this machine."""
        if not root or not Path(root).is_dir():
            return None
        for name, trace in zip(found.paths, found.traces, strict=True):
            path = Path(os.path.normpath(Path(root) / Path(os.path.expanduser(name))))
            if not trace and found.rule == "outside-edit" and path.exists():
                return True
            if len(trace) >= SHORTEST_TRACE and trace in self._text(path):
                return True
        return any(
            self._is_in_history(root, name, trace, found.at)
            for name, trace in zip(found.paths, found.traces, strict=True)
            if len(trace) >= SHORTEST_TRACE
        )

    def _is_in_history(self, root: str, name: str, trace: str, at: float) -> bool:
        """Return whether a commit since then added this exact line."""
        if self._looks <= 0 or not Path(root, ".git").exists():
            return False
        self._looks -= 1
        words = ("log", "-1", "--format=%H", f"--since=@{int(at)}", f"-S{trace}", "--", name)
        try:
            done = run_sync(
                ("git", *words), cwd=Path(root), env=dict(self._environ), seconds=SECONDS
            )
        except ToolError:
            return False
        return done.exit_code == 0 and bool(done.stdout.strip())


def _text_of(path: Path) -> str:
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return ""
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


WORTH_SEVERAL_READERS = 24 << 20
"""Minimum total bytes at which starting reader processes pays off."""
MOST_READERS = 3
"""Maximum number of readers; each takes about 70 MB, and all of them must stay below 300 MB."""


def judge_file(file: Path, limits: GuardLimits) -> FileAudit:
    """Return the findings of one file; an unreadable file yields a note."""
    notes = LineNotes()
    try:
        if file.name == JOURNAL:
            found = judge_journal(file)
        elif (authored := read_agent_trace(file)) is not None:
            found = FileAudit(_sessions_of(authored))
        else:
            found = judge_transcripts(read_transcripts(file, notes.tell), limits)
    except FlyballError as error:
        found = FileAudit([], [], [])
        notes.tell(f"It was skipped: {error.message}")
    except OSError as error:
        found = FileAudit([], [], [])
        notes.tell(f"It cannot be read: {error.strerror}.")
    found.notes = notes.notes
    return found


def _sessions_of(authored: Iterable[Authored]) -> list[SessionAudit]:
    """Return each author's part of each conversation; a trace tells of lines and of no calls."""
    found: dict[tuple[str, str], SessionAudit] = {}
    for each in authored:
        name = f"{each.conversation} ({each.author})"
        fresh = SessionAudit(name, AGENT_TRACE, model=each.author, began=each.at, ended=each.at)
        known = found.setdefault((each.conversation, each.author), fresh)
        known.lines += each.lines
    return [*found.values()]


class ReadingOrder(msgspec.Struct):
    """A request to judge one file."""

    path: str
    limits: GuardLimits


def judge_files(
    files: Sequence[Path], size: int, limits: GuardLimits, environ: Mapping[str, str]
) -> Iterator[tuple[Path, FileAudit]]:
    """Yield each file with its result, in order of completion."""
    readers = min(_cores(), MOST_READERS, len(files))
    if readers < 2 or size < WORTH_SEVERAL_READERS:
        yield from ((file, judge_file(file, limits)) for file in files)
        return
    # Limit unread results, so that a slow index slows the readers down.
    told: Queue[tuple[Path, FileAudit]] = Queue(readers)
    left = iter([*files])
    threads = [
        Thread(target=_ask, args=(left, limits, environ, told), daemon=True) for _ in range(readers)
    ]
    for thread in threads:
        thread.start()
    for _ in files:
        yield told.get()
    for thread in threads:
        thread.join()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _ask(
    left: Iterator[Path],
    limits: GuardLimits,
    environ: Mapping[str, str],
    told: Queue[tuple[Path, FileAudit]],
) -> None:
    """Have one reader judge the remaining files; a reader that never replies is dropped."""
    argv = (sys.executable, "-P", "-m", "flyball.audit.auditing")
    reader: Companion | None = None
    has_answered, is_of_use = False, True
    try:
        # `next` on a list's iterator is a single interpreter step: no file is taken twice.
        for file in left:
            if not is_of_use:
                told.put((file, judge_file(file, limits)))
                continue
            try:
                reader = reader or Companion(argv, cwd=Path.cwd(), env=environ)
                order = ReadingOrder(os.fspath(file.absolute()), limits)
                found = msgspec.json.decode(reader.ask(msgspec.json.encode(order)), type=FileAudit)
                has_answered = True
            except (ToolUnavailable, msgspec.DecodeError):
                reader = _closed(reader)
                # A reader that never replied cannot be started here; otherwise this file caused the
                # failure.
                is_of_use = has_answered
                found = LOST if is_of_use else judge_file(file, limits)
            told.put((file, found))
    finally:
        _closed(reader)


LOST = FileAudit(
    [],
    [],
    [],
    notes=("Its reader ended early; the next audit tries again.",),
    is_lost=True,
)


def _closed(reader: Companion | None) -> None:
    if reader:
        reader.close()


def main() -> int:
    """Read requests from standard input and answer each with the file's result."""
    for line in sys.stdin.buffer:
        order = msgspec.json.decode(line, type=ReadingOrder)
        answer = msgspec.json.encode(judge_file(Path(order.path), order.limits))
        sys.stdout.buffer.write(answer + b"\n")
        sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())


JOURNAL = "journal.sqlite"
SHORT = 12
QUOTED = 200


def journals(environ: Mapping[str, str]) -> Iterator[Path]:
    """Yield the journal of every project of this user."""
    yield from sorted((state_dir(environ) / "projects").glob(f"*/{JOURNAL}"))


def judge_journal(file: Path) -> FileAudit:
    """Return what would have been prevented in each observed run; an unreadable journal raises."""
    audit = FileAudit([], [], [])
    for events in asyncio.run(_observed(file)):
        started = events[0]
        assert isinstance(started, RunStarted)
        audit.sessions.append(_session(started, events))
        for n, each in enumerate(hypothetical_blocks(events, _is_check), 1):
            found = AuditFinding(
                rule=each.rule,
                session=started.run,
                turn=1,
                at=each.at,
                key=f"{started.run}/{n}",
                quote=each.what[:QUOTED],
                detail=f"{each.why} (tree {each.tree[:SHORT]})",
                paths=each.paths,
            )
            audit.findings.append(redacted(found))
    return audit


async def _observed(file: Path) -> list[list[AnyEvent]]:
    """Return the events of every observed run."""
    journal = SqliteJournal(file)
    found: list[list[AnyEvent]] = []
    try:
        for run in await journal.runs():
            events = [entry.event for entry in await journal.events(run.run)]
            if events and isinstance(events[0], RunStarted) and events[0].shell.get(OBSERVED):
                found.append(events)
    finally:
        await journal.close()
    return found


def _session(started: RunStarted, events: Sequence[AnyEvent]) -> SessionAudit:
    result = [event for event in events if isinstance(event, CallReturned)]
    return SessionAudit(
        started.run,
        FLYBALL,
        project=started.target.removeprefix("project/"),
        model=started.shell.get("driver", "").removeprefix(HOSTED),
        began=started.at,
        ended=events[-1].at,
        prompts=1,
        calls=len(result),
        edits=sum(bool(event.changed) for event in result),
        asked=started.request[:300],
    )


def _is_check(command: str) -> bool:
    look = look_at_command(command, "/")
    return look.is_check and not look.cannot_fail
