"""The leaves of one project: given by whoever judges, and journaled by whoever judges next."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from types import MappingProxyType
from typing import NamedTuple

from msgspec.structs import replace

from flyball.app.hosts.leaves import leave
from flyball.app.hosts.leaves.ahead import (
    MOST_REFUSALS,
    begun,
    changes_ahead,
    looks_ahead,
    reads_ahead,
    refusals_ahead,
    repeats_ahead,
)
from flyball.app.hosts.leaves.terms import BEFORE
from flyball.app.project import Home
from flyball.app.sessions import Session
from flyball.app.settling import REPO_FILE, state_dir, user_file
from flyball.core.host.event import HostEvent
from flyball.core.host.tool import (
    COMMAND_FIELDS,
    HOST_TOOLS,
    PATCH_FIELDS,
    PATCHED,
    PATH_FIELDS,
    Naming,
)
from flyball.core.run.decision import may_build
from flyball.core.run.effect import Inspect
from flyball.core.run.state import CardState, RunState
from flyball.core.terms.call import Access, Call
from flyball.core.terms.phase import Phase
from flyball.errors import UsageError
from flyball.workspace.trees.git_trees import TreeLook

Reader = Callable[[str, bytes], HostEvent]
MOST_REPEATED = 4
"""Whoever begins the same call again without awaiting it does so at once."""
NO_CALLS: Mapping[str, object] = {
    "reads": 0,
    "looks": 0,
    "tools": (),
    "shells": (),
    "commands": (),
    "refused": {},
    "refusals": 0,
    "fields": (),
    "known": (),
    "repeats": {},
    "open": (),
    "begun": (),
    "changing": (),
    "changes_after": -1,
    "writable": (),
    "commands_again": (),
    "writers": (),
    "patchers": (),
    "patches": (),
    "patched": "",
}
"""The terms of a leave under which no call passes."""
WRITERS = sorted(name for name, row in HOST_TOOLS.items() if row.names is Naming.A_FILE)
PATCHERS = sorted(name for name, row in HOST_TOOLS.items() if row.names is Naming.A_PATCH)
OURS = sorted({HOST_TOOLS[name].tool for name in (*WRITERS, *PATCHERS)})
"""What their tools that write are to us."""
SHELLS = sorted(name for name, row in HOST_TOOLS.items() if row.names is Naming.A_COMMAND)
READERS = sorted(name for name, row in HOST_TOOLS.items() if row.tool == "read" and row.is_plain)


class PassedMoments(NamedTuple):
    """What was let pass under one leave, and after which event of its run that was given."""

    events: tuple[HostEvent, ...]
    seq: int


class Leaves:
    """The leaves of one project's sessions."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._place = home.state / "hosts"

    def give(
        self,
        session: Session,
        state: RunState | None,
        shown: TreeLook | None = None,
        refused: Mapping[str, str] = MappingProxyType({}),
        likely: Sequence[Call] = (),
    ) -> None:
        """Let calls of a session pass without the judge, as long as nothing else happens here.

        What it has refused without a trace in the journal is refused in the same words again.
        Of what the host is likely to change, each passes that the machine is sure of. Between two
        runs only the next prompt may pass.
        """
        settings = self._home.effective.settings
        # A database has no file whose times would tell that nothing else has happened.
        if settings.has_caps or settings.database:
            return
        # What is said while a slash command is expanded, or after a refused stop, may be nobody's.
        is_clear = not (session.is_fresh or session.tree or session.rejected)
        # Where calls are timed, each of them is to be in the journal when it is made.
        if state is None or _is_timed(state):
            state, shown, refused = None, None, {}
        if state is None and not (is_clear and session.process):
            return
        files = self._files(session)
        name = leave.file_name(session.host, session.session)
        leave.write(
            f"{self._place / name}{leave.SUFFIX}",
            {
                "session": session.session,
                "top": os.fspath(self._home.repo),
                "seq": state.seq if state else 0,
                "host": session.process,
                "takes_prompts": is_clear,
                "has_untold": bool(session.untold or session.unshown),
                "may_rest": state is not None and not session.rejected and _may_rest(state),
                "again": dict(refused),
                "shown": shown,
                "state": os.fspath(self._home.state.parent),
                "files": files,
                "mark": leave.mark(self._home.environ, files),
                **NO_CALLS,
                **(self._for_calls(state, is_looked_at=shown is not None) if state else {}),
                **(_for_changes(state, likely) if state else {}),
            },
        )

    def _for_calls(self, state: RunState, *, is_looked_at: bool) -> dict[str, object]:
        """What holds for the calls of a run."""
        card = state.cards[-1]
        known = [mark.partition(" ")[0] for mark in card.memory.work.tail]
        known += [each.digest for each in card.in_flight]
        writes, after = self._refused(state)
        return {
            # As if all of the refusals had come first: what passes then passes without them too.
            "reads": min(reads_ahead(state), reads_ahead(after)),
            "looks": min(looks_ahead(state), looks_ahead(after)) if is_looked_at else 0,
            "tools": READERS,
            "shells": SHELLS,
            "commands": COMMAND_FIELDS,
            "refused": writes,
            "refusals": MOST_REFUSALS,
            "fields": PATH_FIELDS,
            "known": known,
            "repeats": _repeats(state, card),
            "open": _open_reads(card),
            "begun": [each.id for each in card.in_flight],
        }

    def _refused(self, state: RunState) -> tuple[dict[str, str], RunState]:
        """Each tool that writes, with the words of its refusal; and the state after the last."""
        settings = self._home.effective.settings
        if settings.hooks_scratch or settings.hooks_mode == "advisory":
            return {}, state
        found = {tool: refusals_ahead(state, tool) for tool in WRITERS}
        words = {tool: each.words for tool, each in found.items() if each.words}
        return words, next((found[tool].state for tool in words), state)

    def _files(self, session: Session) -> list[str]:
        home = self._home
        name = leave.file_name(session.host, session.session)
        places = (
            home.journal_path,
            f"{home.journal_path}-wal",
            home.state / "off.json",
            self._place / f"{name}.json",
            home.repo / REPO_FILE,
            user_file(home.environ),
            state_dir(home.environ) / "trusted.json",
        )
        return [os.fspath(each) for each in places]

    @asynccontextmanager
    async def taken(self, read: Reader) -> AsyncGenerator[tuple[PassedMoments, ...]]:
        """What was let pass and is not journaled yet; afterwards the leaves hold no more."""
        opened: list[leave.OpenLeave] = []
        try:
            for file in sorted(self._place.glob(f"*{leave.SUFFIX}")):
                with suppress(FileNotFoundError):
                    opened.append(leave.OpenLeave(os.fspath(file)))
            yield tuple(_passed(each, read) for each in opened)
            for each in opened:
                each.end()
        finally:
            for each in opened:
                each.close()


def _for_changes(state: RunState, likely: Sequence[Call]) -> dict[str, object]:
    """What holds for calls that change something, in the phase that builds."""
    card = state.cards[-1]
    if card.phase is not Phase.EXECUTE:
        return {}
    allowed = [each for each in likely if begun(state, each)[1]]
    commands = [each for each in allowed if each.command]
    writes = [each for each in allowed if not each.command]
    # Calls that write all of them: where these pass, each of them does.
    paths = tuple(path for each in writes for path in each.paths)
    together = [replace(writes[0], paths=paths, tool=tool) for tool in OURS] if writes else []
    return {
        "changing": [each.id for each in card.in_flight if each.access is not Access.READ],
        "changes_after": changes_ahead(state, [*together, *commands]),
        "writable": [path.path for path in paths],
        "commands_again": [each.digest for each in commands],
        "writers": WRITERS,
        "patchers": PATCHERS,
        "patches": PATCH_FIELDS,
        "patched": PATCHED,
    }


def _is_timed(state: RunState) -> bool:
    guards = state.policy.guards
    return guards.plan_seconds is not None or guards.build_seconds is not None


def _may_rest(state: RunState) -> bool:
    """Whether a host may stop without a word: nothing was changed yet, and nothing is asked."""
    card = state.cards[-1]
    is_asked = card.phase is Phase.PAUSED or any(isinstance(o.effect, Inspect) for o in state.due)
    return not (is_asked or card.in_flight or card.has_changed) and may_build(state, card)


def _repeats(state: RunState, card: CardState) -> dict[str, int]:
    """How often reads and looks that are under way may begin once more, by their digests."""
    reads = [each for each in card.in_flight if each.access is Access.READ]
    return {each.digest: repeats_ahead(state, each) for each in reads[-MOST_REPEATED:]}


def _open_reads(card: CardState) -> list[str]:
    """The reads that are under way, and of which nobody has heard before."""
    heard = {mark.partition(" ")[0] for mark in card.memory.work.tail}
    reads = [each for each in card.in_flight if each.access is Access.READ and each.tool == "read"]
    return [each.id for each in reads if each.digest not in heard]


def _passed(opened: leave.OpenLeave, read: Reader) -> PassedMoments:
    found: list[HostEvent] = []
    seq = past = 0
    # Somebody else's scribble in the file is nothing that a hook let pass.
    with suppress(ValueError, LookupError, TypeError):
        seq = int(json.loads(opened.lines[0])["seq"])
        for line in opened.lines[1:]:
            with suppress(ValueError, LookupError, TypeError, UsageError):
                passed = json.loads(line)
                found.append(read(passed["host"], json.dumps(passed["payload"]).encode()))
                is_begun = passed["is_change"] and passed["moment"] in BEFORE
                if passed["is_look"] or is_begun:
                    past = len(found)
    # The tree was seen to be as it was known: what has changed since is of what came after that.
    events = (replace(each, is_past=n < past) for n, each in enumerate(found))
    return PassedMoments(tuple(events), seq)
