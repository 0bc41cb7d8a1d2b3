"""The parts of a tool: a form, the facts it is judged by, and the action."""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self

import msgspec

from flyball.shell import AllowRule
from flyball.terms.budget import Usage
from flyball.terms.call import Access, CommandFact, PathFact
from flyball.terms.evidence import AnyEvidence
from flyball.terms.finding import AnyFinding
from flyball.terms.phase import Phase
from flyball.terms.progress import Progress, unwatched
from flyball.verdict.settled import NOTHING_SETTLED, ProjectCommands
from flyball.workspace.cards.artifacts import artifact_path
from flyball.workspace.files.paths import Root
from flyball.workspace.process.process import CommandLimits
from flyball.workspace.redaction import Redactor
from flyball.workspace.run.workspace import Workspace
from flyball.workspace.sandbox.confinement import Sandbox
from flyball.workspace.servers.server import RunServers

Text = Annotated[str, msgspec.Meta(min_length=1)]
"""Text that is not empty."""


Timeout = Annotated[float, msgspec.Meta(gt=0)]
"""Seconds after which processes of a call are stopped."""


class Form(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of a tool; unknown and missing fields are errors that name the field."""


class ToolSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The user's settings for tools."""

    limits: CommandLimits = CommandLimits()
    suite_limits: CommandLimits = CommandLimits(seconds=600.0)
    max_text: int = 16_000
    candidates: int | None = None
    """The number of changes a search tries, without a time limit; None: limited by time only."""
    allow: tuple[AllowRule, ...] = ()
    max_offset: int = 200
    paths: tuple[str, ...] = ()
    """The only files that may be written, if the user names some."""
    network: bool = False
    readable: tuple[Path, ...] = ()
    """Paths outside the workspace that the user makes readable for commands."""
    secrets: tuple[str, ...] = ()
    """Patterns of files that hold secrets, in addition to the table's."""
    variables: tuple[str, ...] = ()
    """Variables of the user's environment that are passed to commands."""
    mutant_seconds: float = 0.0
    """Seconds for testing small changes to the new lines."""
    commands: ProjectCommands = NOTHING_SETTLED
    """Configured commands that test and check a directory, in place of detected ones."""


class PictureOpinion(NamedTuple):
    """A vision model's opinion of a picture."""

    model: str = ""
    is_right: bool | None = None
    """Whether it shows what was expected; None without a clear answer."""
    reason: str = ""
    usage: Usage = Usage()


PictureJudge = Callable[[bytes, str], Awaitable[PictureOpinion]]
"""Asks a model whether a picture shows what is expected."""


class CallContext(NamedTuple):
    """Everything that a tool needs for one call."""

    run: str
    card: str
    call: str
    key: str
    """A permanent unique key of this call, by which its results are found after a crash."""
    phase: Phase
    tree: str
    """The hash of the tree before the call."""
    root: Root
    workspace: Workspace
    sandbox_in: Callable[[Root], Sandbox]
    """Returns a process's sandbox; evaluated when one starts, as most calls start none."""
    env_of: Callable[[], Mapping[str, str]]
    """Returns a process's environment; evaluated when one starts, for the same reason."""
    redactor: Redactor
    settings: ToolSettings
    limits: CommandLimits
    """The resource limits of one process of this call."""
    seen: Mapping[str, str]
    """Path → hash of the tree in which the driver last read it."""
    on_output: Callable[[str], None]
    servers_of: Callable[[], RunServers]
    """Returns the run's servers; created on first use."""
    is_to_rest: Callable[[], bool]
    """Returns whether the run was asked to pause: a long call may return early."""
    evidence: tuple[AnyEvidence, ...] = ()
    """All evidence for the card so far."""
    eyes: PictureJudge | None = None
    """None if no vision model may be used."""
    on_progress: Callable[[Progress], None] = unwatched
    """Receives the progress of this call, for whoever waits for it."""
    self_modify: bool = False
    """Whether the run may change Flyball's own files."""
    changed: frozenset[str] = frozenset()
    """The paths that calls of this run have changed so far."""
    made: frozenset[str] = frozenset()
    """Those of them that only programs created."""
    may_replace: Callable[[str], bool] = lambda _path: False
    """Returns whether a person was asked about replacing this uncommitted file of the user's."""
    is_shown: bool = True
    """Whether people see the output of its process as it is printed."""
    is_logged: bool = True
    """Whether the whole output of its process is stored where the driver may read it."""
    at: str = "."
    """The part of the tree in which a process is started."""
    shelf: Path = Path(os.devnull)
    """A private directory for one process, created by `set_up`."""
    shared: Path | None = None
    """The project's cache directory for all runs; None: caches end with the run."""
    is_scratch: bool = False
    """Whether `root` is a scratch copy of the tree."""
    builds: bool = False
    """Whether build results are kept for later processes on a copy."""

    def on_tree(self, root: Root, tree: str) -> CallContext:
        """Return the same call on a scratch copy of a tree."""
        return self._replace(root=root, tree=tree, is_scratch=True)

    def started(self, shelf: Path, at: str) -> Self:
        """Return the same call with a private directory for its process, in a part of the tree."""
        return self._replace(shelf=shelf, at=at)

    def during(self, what: str) -> CallContext:
        """Return the same call, with its progress reported as that of a part of it."""
        whole = self.tell_progress

        def tell(now: Progress) -> None:
            whole(now._replace(what=what))

        tell(Progress(what, 0.0))
        return self._replace(on_progress=tell)

    def with_env(self, env: Mapping[str, str]) -> CallContext:
        """Return the same call with another environment for its processes."""
        return self._replace(env_of=lambda: env)

    def evidence_id(self, n: int = 1) -> str:
        """Return the id of the nth observation of this call."""
        return f"{self.card}.{self.call}.{n}"

    @property
    def env(self) -> Mapping[str, str]:
        """Return the environment of a process."""
        return self.env_of()

    @property
    def sandbox(self) -> Sandbox:
        """Return how a process of this call is confined to its tree."""
        return self.sandbox_in(self.root)

    @property
    def shown(self) -> Callable[[str], None] | None:
        """Return the callback that shows a process's output to people, if they see it."""
        return self.on_output if self.is_shown else None

    @property
    def tell_progress(self) -> Callable[[Progress], None]:
        """Return the callback that reports this call's progress to watchers."""
        return self.on_progress

    @property
    def servers(self) -> RunServers:
        """Return the run's servers, which all its cards and calls share."""
        return self.servers_of()

    @property
    def project(self) -> Path:
        """Return the user's checkout, where the project's tools are installed."""
        return self.workspace.project

    @property
    def artifacts(self) -> Path:
        """Return the card's own directory next to its account, for files its calls produce."""
        return artifact_path(self.project, self.run, self.card, "")

    @property
    def cache(self) -> Path:
        """Return a private directory that the run keeps for its processes."""
        return self.workspace.directory / "cache"

    @property
    def caches(self) -> Path:
        """Return the directory where compilers and package managers cache data for later runs."""
        return self.shared or self.cache

    @property
    def built(self) -> Path:
        """Return the directory of build results of earlier trees, for all runs of the project."""
        return self.workspace.state_dir / "built"

    @property
    def layer(self) -> Path:
        """Return the overlay for one process's build results, until it has ended."""
        return self.workspace.directory / "layers" / self.shelf.name

    @property
    def kept(self) -> tuple[Path, ...]:
        """Return the directories outside the tree that a process may write and later ones read.

        Only these are granted and nothing in them: a program could have put a link there.
        """
        return tuple(dict.fromkeys((self.cache, self.caches)))

    @property
    def workdir(self) -> Path:
        """Return the directory to start a process in."""
        return self.root.path / self.at

    @property
    def report(self) -> Path:
        """Return the path for a runner's machine-readable report."""
        return self.shelf / "report"

    @property
    def log(self) -> Path:
        """Return the path of a call's whole output."""
        return self.artifacts / log_file(self.call)

    @property
    def log_name(self) -> str:
        """Return the log's path as the driver may read it."""
        return f".flyball/artifacts/{self.run}/{self.card}/{self.log.name}"


def log_file(call: str) -> str:
    """Return the file name of a call's log, in which the driver's id cannot change the
    directory."""
    return f"{re.sub(r'[^A-Za-z0-9_-]', '_', call)[:80]}.log"


class CallFacts(NamedTuple):
    """The facts that the judge needs about a call before it is made."""

    access: Access | None = None
    paths: tuple[PathFact, ...] = ()
    command: CommandFact | None = None
    destructive: str = ""
    confirmed: bool = False
    keeps_regions: bool = True


class Result(NamedTuple):
    """A tool's result. `same` decides whether two results are equal, by default by their text."""

    ok: bool
    text: str
    data: dict[str, object] = {}  # noqa: RUF012
    error: str = ""
    evidence: tuple[AnyEvidence, ...] = ()
    same: object = None
    artifact: str = ""
    cut: int = 0
    finding: AnyFinding | None = None


class Tool(NamedTuple):
    """One tool, as the driver sees it and as Flyball runs it."""

    name: str
    description: str
    form: type[Form]
    facts: Callable[[Any, CallContext], CallFacts]
    perform: Callable[[Any, CallContext], Awaitable[Result]]
    probe: Callable[[Any, CallContext], Result | None] | None = None
    """For writes: returns the result of this call if it was already made before a crash."""
    example: Mapping[str, object] = {}


def no_facts(_form: Form, _context: CallContext) -> CallFacts:
    """Return the facts of a tool that names neither a path nor a command."""
    return CallFacts()


def bounded(text: str, limit: int, see: str = "") -> tuple[str, int]:
    """Return the first and last lines of a long text, with a note on how to see the rest."""
    if len(text) <= limit:
        return text, 0
    half = limit // 2
    head = text[:half].rpartition("\n")[0] or text[:half]
    tail = text[-half:].partition("\n")[2] or text[-half:]
    cut = len(text) - len(head) - len(tail)
    lines = text.count("\n", len(head), len(text) - len(tail))
    how = f" {see}" if see else ""
    return f"{head}\n[… {lines} lines, {cut} characters cut.{how} …]\n{tail}", cut
