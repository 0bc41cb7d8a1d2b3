"""A session turn by turn: what was asked, what was done, and the result.

A turn starts with a person's message and ends with the next one. What is kept of it is bounded, so
a transcript of any length can be read.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from functools import lru_cache

import msgspec

from flyball.agents.entry import (
    Billing,
    Called,
    CallResult,
    Entry,
    FileEdit,
    Interrupted,
    Opened,
    Prompted,
    Spoke,
)
from flyball.audit.audited_call import AuditedCall, Looks, action_of, step_of_action
from flyball.guards.guard import GuardLimits, TripLevel
from flyball.guards.guard_memory import Memory, remember, trips
from flyball.terms.test_paths import is_test_config, is_test_path

ACTIONS_KEPT = 5_000
FILES_KEPT = 200
LONGEST_FILE = 400_000
WORDS_KEPT = 2_000


@lru_cache(maxsize=2_000)
def _is_of_tests(path: str) -> bool:
    return is_test_path(path) or is_test_config(path)


class Turned(msgspec.Struct):
    """A complete turn of a session."""

    session: Opened
    number: int
    at: float = 0.0
    prompt: str = ""
    actions: list[AuditedCall] = []
    words: str = ""
    """The model's last message, after its last call."""
    before: dict[str, str | None] = {}
    """The test files as they were before the turn first touched them."""
    after: dict[str, str | None] = {}
    is_interrupted: bool = False
    has_read_before: bool = False
    """Whether anything was read in earlier turns."""
    stopped_at: str = ""
    """The call at which a guard would have stopped it."""
    ended: float = 0.0

    @property
    def is_empty(self) -> bool:
        return not (self.prompt or self.actions or self.words)


class Spent(msgspec.Struct, frozen=True):
    """A bill, its session, and whether a guard would have saved it."""

    session: str
    entry: Billing
    is_after_stop: bool = False


class Trail:
    """Folds entries into turns."""

    def __init__(self, looks: Looks, limits: GuardLimits | None = None) -> None:
        self._looks = looks
        self._limits = limits or GuardLimits()
        self._memory = Memory()
        self._asked: dict[str, Called] = {}
        self._texts: dict[str, str] = {}
        self._replies: dict[str, int] = {}
        self._turn = Turned(Opened(""), 1)

    def follow(self, entries: Iterable[Entry]) -> Iterator[Turned | Spent]:
        """Yield every turn when it ends, and every bill as it arrives."""
        for entry in entries:
            match entry:
                case Opened():
                    if entry.session != self._turn.session.session and not self._turn.is_empty:
                        yield self._close()
                    self._turn.session = entry
                case Prompted():
                    if not self._turn.is_empty:
                        yield self._close()
                    self._turn.at, self._turn.prompt = entry.at, entry.text[:WORDS_KEPT]
                case Billing():
                    session = self._turn.session.session
                    yield Spent(session, entry, bool(self._turn.stopped_at))
                case _:
                    self._take(entry)
        if not self._turn.is_empty:
            yield self._close()

    def _take(self, entry: Spoke | Called | CallResult | Interrupted) -> None:
        turn = self._turn
        turn.at = turn.at or entry.at
        turn.ended = max(turn.ended, entry.at)
        match entry:
            case Spoke():
                turn.words = entry.text[-WORDS_KEPT:] or turn.words
            case Called():
                turn.words = ""
                self._asked[entry.id] = entry
            case CallResult():
                self._record_result(entry)
            case _:
                turn.is_interrupted = turn.is_interrupted or bool(turn.actions or self._asked)

    def _record_result(self, result: CallResult) -> None:
        turn, call = self._turn, self._asked.pop(result.call, None)
        if call is None:
            return
        action = action_of(call, result, self._looks)
        # Numbered as they come: names of replies would be one long list in a long session.
        if call.reply not in self._replies:
            self._replies = {call.reply: max(self._replies.values(), default=0) + 1}
        step = step_of_action(action, call, result, self._replies[call.reply])
        self._memory = remember(self._memory, step)
        found = trips(self._memory, self._limits)
        if found:
            action = action._replace(trips=found)
            if not turn.stopped_at and any(trip.level is TripLevel.HARD for trip in found):
                turn.stopped_at = action.id
        self._texts_of(action, result)
        turn.actions.append(action)
        if len(turn.actions) > ACTIONS_KEPT:
            del turn.actions[0]

    def _texts_of(self, action: AuditedCall, result: CallResult) -> None:
        """Keep both versions of test files, as far as the transcript shows them."""
        for named, text in result.seen:
            is_kept = len(text) <= LONGEST_FILE and len(self._texts) < FILES_KEPT
            if is_kept and _is_of_tests(path := self._inside(named)):
                self._texts[path] = text
        for edit in action.edits:
            if _is_of_tests(path := self._inside(edit.path)):
                self._edit(path, edit)

    def _edit(self, path: str, edit: FileEdit) -> None:
        turn, known = self._turn, self._texts.get(path)
        old, new = edit.old, edit.new
        if not edit.is_whole:
            # What was not seen whole is compared by the piece that was replaced.
            old = known if known is not None and (edit.old or "") in known else edit.old
            new = (
                old.replace(edit.old or "", edit.new or "", 1) if old is known and old else edit.new
            )
        elif old == "":
            old = known if known is not None else old
        if len(old or "") > LONGEST_FILE or len(new or "") > LONGEST_FILE:
            return
        if new is None:
            self._texts.pop(path, None)
        elif len(self._texts) < FILES_KEPT or path in self._texts:
            self._texts[path] = new
        if path in turn.before or len(turn.before) < FILES_KEPT:
            turn.before.setdefault(path, old)
            turn.after[path] = new

    def _inside(self, path: str) -> str:
        root = self._turn.session.cwd
        whole = posixpath.normpath(posixpath.join(root or "", path))
        return whole.removeprefix(f"{root.rstrip('/')}/") if root else whole

    def _close(self) -> Turned:
        turn = self._turn
        has_read = turn.has_read_before or any(action.kind == "read" for action in turn.actions)
        self._turn = Turned(turn.session, turn.number + 1, has_read_before=has_read)
        self._memory, self._asked = Memory(), {}
        return turn
