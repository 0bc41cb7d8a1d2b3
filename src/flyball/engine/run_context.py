"""The workspace, sandbox, environment and stores of a run, opened once per process."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec

from flyball.engine.ongoing import keep_progress
from flyball.errors import FlyballError, IllegalEvent
from flyball.record.card_account import CardAccount
from flyball.record.pictures import pictures_of
from flyball.run.effect import CloseCard
from flyball.run.event import AnyEvent, CallReturned, DriverReplied
from flyball.run.policy import Project
from flyball.run.state import CardState, RunState
from flyball.terms.budget import spent_limit
from flyball.terms.call import Access, Call
from flyball.terms.evidence import CheckReport, CommandReport, SuiteReport
from flyball.terms.evidence_rows import line_of, percent
from flyball.terms.phase import Phase
from flyball.terms.progress import Progress, Stage
from flyball.terms.tool import BROWSER, SERVERS, TOOL_ROWS
from flyball.tools.call.protocol import (
    CallContext,
    PictureJudge,
    PictureOpinion,
    ToolSettings,
    log_file,
)
from flyball.tools.pages.browser import can_browse
from flyball.tools.pages.detect import server_plans
from flyball.verdict.runners.layout import look
from flyball.verdict.runners.pace import Paces, telling
from flyball.verdict.runners.parts import runners_and_checks
from flyball.verdict.words import verdict_lines
from flyball.workspace.cards.artifacts import (
    CardArtifact,
    CommandRun,
    VerdictNote,
    artifact_path,
    write_artifact,
)
from flyball.workspace.files.path_rules import protected_names
from flyball.workspace.files.paths import Root
from flyball.workspace.files.plain import read_from
from flyball.workspace.process import levels
from flyball.workspace.redaction import Redactor
from flyball.workspace.run.clean import keep_ignored, users_secrets
from flyball.workspace.run.opening import STEPS, open_workspace
from flyball.workspace.run.watch import end_dead_watch
from flyball.workspace.run.workspace import Workspace
from flyball.workspace.run.worktree import CommitKind
from flyball.workspace.sandbox import environment
from flyball.workspace.sandbox.confinement import Sandbox
from flyball.workspace.servers.network import can_serve
from flyball.workspace.servers.server import RunServers, ServerPlan
from flyball.workspace.trees.trees import Clash, TreeHash

ADVICE = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".github/copilot-instructions.md")
MAX_ADVICE = 8_000
OPENING = "opening"
"""Under this name it is remembered how long runs took to open."""
DEFAULT_SETTINGS = ToolSettings()


class Committed(NamedTuple):
    """A committed card: the commit, the resulting tree of the run, or the conflict."""

    commit: str
    tree: TreeHash
    clashes: tuple[Clash, ...] = ()


class Witness(Protocol):
    """A model that accepts images and can be asked about a picture."""

    async def judge(
        self, run: str, card: str, picture: bytes, expectation: str
    ) -> PictureOpinion: ...


def card_of_effect(state: RunState, id: str) -> CardState:
    """Return the card to which an effect is owed."""
    card = state.card(id)
    if card is None:
        raise IllegalEvent(f"an effect is owed to card {id!r}, which is not there")
    return card


class RunContext:
    """Everything shared by a whole run: its workspace, and what its calls need.

    A card that works on a parallel tree has its own context, derived from this one.
    """

    def __init__(
        self,
        repo: Path,
        state_dir: Path,
        *,
        environ: Mapping[str, str],
        redactor: Redactor,
        on_output: Callable[[str], None],
        in_place: bool = False,
        settings: ToolSettings = DEFAULT_SETTINGS,
    ) -> None:
        self.repo = repo
        self.state_dir = state_dir
        self.in_place = in_place
        self.settings = settings
        self.redactor = redactor
        self.seen: dict[str, dict[str, str]] = {}
        """Card → path → the tree in which its driver last saw the file."""
        self.environ = environ
        self._on_output = on_output
        self.is_to_rest: Callable[[], bool] = lambda: False
        self.on_progress: Callable[[dict[str, Any]], None] = lambda _line: None
        self._workspace: Workspace | None = None
        self._project: Project | None = None
        self._beside: dict[str, RunContext] = {}
        self._servers: RunServers | None = None
        self._run_of: RunContext | None = None
        """The run's own context, if this is that of a parallel card."""
        self.eyes: Witness | None = None
        """Judges pictures, if a model that can see is configured."""
        self.signing_key: Path | None = None
        """Flyball's own key for attestations, whether or not it exists."""

    @property
    def workspace(self) -> Workspace:
        if self._workspace is None:
            raise IllegalEvent("the workspace is used before it was opened")
        return self._workspace

    @property
    def opened(self) -> Workspace | None:
        """Return the workspace, if it is open."""
        return self._workspace

    @cached_property
    def env(self) -> dict[str, str]:
        """Return the environment of a command."""
        root, allowed = self.workspace.root, self.settings.variables
        return environment.clean(self.environ, workspace=root, allowed=allowed)

    @property
    def servers(self) -> RunServers:
        """Return the servers of the run, which every card of it shares."""
        if self._run_of is not None:
            return self._run_of.servers
        if self._servers is None:
            self._servers = RunServers(self.workspace.directory / "servers")
        return self._servers

    @property
    def root(self) -> Root:
        return Root(self.workspace.root)

    @property
    def began(self) -> float:
        """Return the time before the first call, when ignored files were saved."""
        return self.workspace.began

    @property
    def branch(self) -> str:
        branch = self.workspace.branch
        return f"flyball/{self.workspace.run}" if branch else ""

    def open(self, run: str, step: Callable[[str], None] = lambda _: None) -> Workspace:
        """Return the run's workspace; opening it twice returns the same one."""
        if self._workspace is None:
            made = open_workspace(self.repo, run, self.state_dir, in_place=self.in_place, step=step)
            step("setting ignored files aside")
            self._settle(made)
        return self.workspace

    async def prepare(self, run: str) -> Project:
        """Open the run's workspace and survey its project, reporting progress.

        A large project takes long. It happens in a thread, so that the run's lease is renewed and
        events are received meanwhile.
        """
        paces, began = Paces(self.state_dir), time.monotonic()
        stage = Stage("opening the run", STEPS + 2, paces.find(OPENING).last)

        def work() -> Project:
            self.open(run, stage.next)
            stage.next("finding its tests")
            return self.survey()

        def tell(now: Progress) -> None:
            self._publish_progress(run, "", "", now)

        opening = asyncio.ensure_future(asyncio.to_thread(work))
        try:
            async with telling(tell, stage.at):
                found = await asyncio.shield(opening)
        except asyncio.CancelledError:
            # A thread cannot be stopped, and what it opens has to be closed.
            await asyncio.gather(opening, return_exceptions=True)
            raise
        paces.keep(OPENING, time.monotonic() - began, 0)
        return found

    def adopt(self, workspace: Workspace, project: Project | None = None) -> None:
        """Work in a workspace that the caller has opened, and possibly surveyed."""
        self._settle(workspace)
        self._project = project

    def at(self, card: CardState) -> RunContext:
        """Return the context of a card: this one, or one with a parallel workspace."""
        if not card.place:
            return self
        found = self._beside.get(card.place)
        if found is None:
            found = RunContext(
                self.repo,
                self.state_dir,
                environ=self.environ,
                redactor=self.redactor,
                on_output=self._on_output,
                in_place=self.in_place,
                settings=self.settings,
            )
            found.seen = self.seen
            found._run_of = self
            found.eyes = self.eyes
            found.signing_key = self.signing_key
            found.is_to_rest = self.is_to_rest
            found.on_progress = self.on_progress
            found._settle(self.workspace.open_side(card.place, TreeHash(card.base)))
            self._beside[card.place] = found
        return found

    def leave(self, card: CardState) -> None:
        """Remove the workspace of a card that has ended."""
        if not card.place:
            return
        if found := self._beside.pop(card.place, None):
            found.close()
        self.workspace.discard_side(card.place)

    def _settle(self, workspace: Workspace) -> None:
        self._workspace = workspace
        if workspace.watch_note.exists():
            # A program was under way when a process before this one died.
            end_dead_watch(workspace)
        # Before anything of the run is started: what is ignored is judged as it was now.
        keep_ignored(workspace)

    def survey(self) -> Project:
        """Return the available means of verifying the project."""
        if self._project is not None:
            return self._project
        runners, checks = runners_and_checks(self.workspace.root, self.settings.commands)
        means = self._means(has_tests=bool(runners))
        return Project(
            runners=runners,
            checks=checks,
            serves=bool(means) and bool(self._server_plans()),
            has_git=self.workspace.branch is not None,
            sandbox=levels.detect_level().value,
            means=means,
        )

    def _server_plans(self) -> Sequence[ServerPlan]:
        return server_plans(look(self.workspace.root), self.settings.commands)

    def _means(self, *, has_tests: bool) -> tuple[str, ...]:
        """Return what tools may depend on: servers, if the project can serve something or may
        later.

        A library with tests is not offered servers, because every tool adds words to each request.
        """
        if not can_serve():
            return ()
        if has_tests and not self._server_plans():
            return ()
        return (SERVERS, BROWSER) if can_browse(self.env) else (SERVERS,)

    def call_context(
        self, state: RunState, card: CardState, call: str, *, key: str, phase: Phase, access: Access
    ) -> CallContext:
        """Return everything that one call works with."""
        workspace = self.workspace
        return CallContext(
            run=state.run,
            card=card.id,
            call=call,
            key=key,
            phase=phase,
            tree=card.tree,
            root=Root(workspace.root, protected_names(self_modify=state.policy.self_modify)),
            workspace=workspace,
            sandbox_in=partial(self._sandbox, read_only=access is Access.READ),
            env_of=lambda: self.env,
            redactor=self.redactor,
            settings=self.settings,
            evidence=card.evidence,
            eyes=self._picture_judge_for(state, card),
            limits=self.settings.suite_limits,
            made=frozenset(state.left_behind(card.id)),
            changed=frozenset(path for each in state.cards for path in each.changed),
            seen=self.seen.setdefault(card.id, {}),
            on_output=self._on_output,
            servers_of=lambda: self.servers,
            is_to_rest=self.is_to_rest,
            on_progress=partial(self._publish_progress, state.run, card.id, call),
            self_modify=state.policy.self_modify,
            shared=self.state_dir / "caches",
        )

    def _publish_progress(self, run: str, card: str, call: str, now: Progress) -> None:
        line = now._replace(what=self.redactor.text(now.what)).line(card, call)
        keep_progress(self.state_dir, run, line)
        self.on_progress(line)

    def _picture_judge_for(self, state: RunState, card: CardState) -> PictureJudge | None:
        """Return the judge of pictures, or none once the run's tokens or money are spent."""
        # The call that looks was counted already; what a model costs beyond it was not.
        outside_calls = msgspec.structs.replace(state.budget, calls=0)
        if self.eyes is None or spent_limit(outside_calls, state.spend):
            return None
        return partial(self.eyes.judge, state.run, card.id)

    def _sandbox(self, root: Root, *, read_only: bool) -> Sandbox:
        """Return the sandbox; it may read the user's checkout for its installed tools and
        history."""
        home = self.environ.get("HOME", "")
        workspace = self.workspace
        readable = [workspace.project, *self.settings.readable]
        if workspace.branch is not None:
            readable.append(workspace.branch.repository.common)
        return Sandbox(
            level=levels.detect_level(),
            root=root.path,
            read_only=read_only,
            network=self.settings.network,
            readable=tuple(readable),
            fixed=root.guarded_places(),
            hidden=self._hidden(root),
            home=Path(home) if home else None,
        )

    def _hidden(self, root: Root) -> tuple[Path, ...]:
        """Return the paths of the user's secrets, in their checkout and in a run's tree."""
        tops = {self.workspace.project, root.path}
        hidden = users_secrets(self.workspace, self.settings.secrets)
        places = [top / path for path in hidden for top in tops]
        return tuple(place for place in places if place.is_file())

    def advice(self) -> str:
        """Return the repository's instructions to agents: advice, never policy."""
        for name in ADVICE:
            # Most repositories have none: only what is there is worth the careful look.
            if not os.path.lexists(self.workspace.root / name):
                continue
            # A link that leads out, a pipe or a folder of that name says nothing.
            with suppress(FlyballError):
                return self.root.read_bytes(name, MAX_ADVICE).decode("utf-8", "replace")
        return ""

    def commit(self, card: CardState, left: Sequence[str] = ()) -> Committed:
        """Commit the exact tree that was judged; return an existing commit of the card.

        The work of a parallel card is merged. Files to leave out stay uncommitted.
        """
        fresh = [item.id for item in card.evidence if item.tree == card.tree]
        base, tree = TreeHash(card.base), TreeHash(card.tree)
        message = "\n".join((card.subject, *map(self.redactor.text, proof_of(card))))
        if card.place:
            theirs = self.workspace.leave_out(tree, base, left)
            return Committed(
                *self.workspace.merge_card(card.id, message, base, theirs, fresh, left)
            )
        for record in self.workspace.cards():
            if record.card == card.id:
                self.workspace.share_index()
                return Committed(record.commit, tree)
        commit = self.workspace.commit_step(CommitKind.CARD, card.id, message, tree, fresh, left)
        return Committed(commit, tree)

    def write_artifacts(
        self,
        state: RunState,
        card: CardState,
        effect: CloseCard,
        commit: str,
        account: CardAccount,
    ) -> None:
        """Write the card's account, for people and for programs."""
        artifact = card_artifact(self.workspace, self.repo, state, card, effect, account, commit)
        write_artifact(self.repo, artifact, self.redactor.text)

    def rest(self) -> None:
        """Stop all servers while the run is not driven: they are restarted when needed."""
        if self._servers is not None:
            self._servers.close()

    def close(self) -> None:
        # First: a server's checkout lies in the workspace.
        self.rest()
        for each in self._beside.values():
            each.close()
        self._beside.clear()
        if self._workspace is not None:
            self._workspace.close()
            self._workspace = None


def paths_seen(call: Call, event: CallReturned) -> Iterator[tuple[str, str]]:
    """Yield the paths a call has shown to its card's driver, each with the tree at that time."""
    if not event.outcome.ok:
        return
    if call.tool == "read":
        path = event.outcome.data.get("path")
        if isinstance(path, str):
            yield path, event.tree
    # What a command changed was not shown to the driver, so a diff against it is stale.
    elif call.tool in TOOL_ROWS and TOOL_ROWS[call.tool].writes_text:
        for path in event.changed:
            yield path, event.tree


def recall(events: Iterable[AnyEvent]) -> dict[str, dict[str, str]]:
    """Rebuild the paths seen, card by card, from a run's journal."""
    calls: dict[tuple[str, str], Call] = {}
    seen: dict[str, dict[str, str]] = {}
    for event in events:
        if isinstance(event, DriverReplied):
            calls.update(((event.card, call.id), call) for call in event.calls)
        elif isinstance(event, CallReturned) and (call := calls.get((event.card, event.call))):
            seen.setdefault(event.card, {}).update(paths_seen(call, event))
    return seen


KEPT_LOG = 4_000
"""Bytes of a command's output kept in a card's account; the rest is in its log."""


def card_artifact(
    workspace: Workspace,
    repo: Path,
    state: RunState,
    card: CardState,
    effect: CloseCard,
    account: CardAccount,
    commit: str,
) -> CardArtifact:
    """Return the whole account of a card, before redaction."""
    left = state.left_behind(card.id)
    diff = workspace.diff(card.base, card.tree, without=left) if card.has_changed else b""
    changes = workspace.trees.changes(TreeHash(card.base), TreeHash(card.tree))
    return CardArtifact(
        run=state.run,
        card=card.id,
        title=card.title,
        status=f"{effect.ending} ({effect.proof})",
        commit=commit,
        before=card.base,
        after=card.tree,
        files=tuple(change.path for change in changes if change.path not in left),
        left_behind=card.made,
        diff=diff.decode("utf-8", "replace"),
        proof=proof_of(card),
        commands=tuple(_commands(repo, state, card)),
        verdicts=tuple(
            VerdictNote(ruling.gate, ruling.answer, ruling.verdict.sentence)
            for ruling in card.verdicts
        ),
        evidence=tuple(line_of(item) for item in card.evidence),
        pictures=_pictures(card),
        timings={"plan": card.clock.plan, "build": card.clock.build},
        risk=card.review.risk,
        assumptions=card.review.assumptions,
        warnings=tuple(f"changed beyond the checkpoint: {path}" for path in card.drift),
        steps=tuple(_steps(card)),
        started_at=account.began,
        ended_at=state.at,
        calls=account.calls,
        refused_calls=account.refused,
    )


def proof_of(card: CardState) -> tuple[str, ...]:
    """Return the text of the verdict on the card's change, if one was taken."""
    return verdict_lines(card.verdict) if card.verdict is not None else ()


def _commands(repo: Path, state: RunState, card: CardState) -> Iterator[CommandRun]:
    """Yield the commands run for the card, each with the end of its output and the path of the
    rest."""
    shelf = artifact_path(repo, state.run, card.id, "")
    for item in card.evidence:
        if isinstance(item, SuiteReport | CheckReport | CommandReport):
            call = item.id.removeprefix(f"{card.id}.").rpartition(".")[0]
            log = shelf / log_file(call)
            end = _end_of(log)
            file = log.relative_to(repo).as_posix() if end else ""
            yield CommandRun(item.command, item.exit_code, item.elapsed, end, file)


def _steps(card: CardState) -> Iterator[str]:
    """Yield the card's plan, line by line, and how it would verify it."""
    if point := card.checkpoint:
        yield from filter(None, map(str.strip, point.proposed_action.split("\n")))
        yield from (f"verify with {each}" for each in point.verify_with)


def _pictures(card: CardState) -> dict[str, str]:
    """Return the first and the last picture of every page: before and after the change."""
    found: dict[str, str] = {}
    for page in pictures_of(card):
        for what, path in page.files.items():
            when = what if card.has_changed else "as it is"
            share = f" ({percent(page.share)} of the pixels)" if what == "difference" else ""
            found[f"{page.url} {when}{share}"] = path
    return found


def _end_of(log: Path) -> str:
    """Return the end of a command's output; empty if it is not a plain file."""
    return read_from(log, -KEPT_LOG, KEPT_LOG).decode("utf-8", "replace")
