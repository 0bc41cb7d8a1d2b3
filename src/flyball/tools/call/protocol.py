"""What a tool is: a form, the facts it is judged by, and the deed."""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self

import msgspec

from flyball.core.suite.settled import NOTHING_SETTLED, ProjectCommands
from flyball.core.terms.budget import Usage
from flyball.core.terms.call import Access, CommandFact, PathFact
from flyball.core.terms.evidence import AnyEvidence
from flyball.core.terms.finding import AnyFinding
from flyball.core.terms.phase import Phase
from flyball.core.terms.progress import Progress
from flyball.shellcheck import AllowRule
from flyball.workspace.cards.artifacts import artifact_path
from flyball.workspace.files.paths import Root
from flyball.workspace.process.process import CommandLimits
from flyball.workspace.redaction import Redactor
from flyball.workspace.run.workspace import Workspace
from flyball.workspace.sandbox.confinement import Sandbox
from flyball.workspace.servers.server import RunServers

Text = Annotated[str, msgspec.Meta(min_length=1)]
"""Text that says something."""


Timeout = Annotated[float, msgspec.Meta(gt=0)]
"""Seconds after which what a call starts is stopped."""


class Form(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of a tool; unknown and missing fields are errors that name the field."""


class ToolSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the user settled about tools."""

    limits: CommandLimits = CommandLimits()
    suite_limits: CommandLimits = CommandLimits(seconds=600.0)
    max_text: int = 16_000
    candidates: int | None = None
    """A search tries so many and looks at no clock; None: it tries all there is time for."""
    allow: tuple[AllowRule, ...] = ()
    max_offset: int = 200
    paths: tuple[str, ...] = ()
    """The only files that may be written, where the user names some."""
    network: bool = False
    readable: tuple[Path, ...] = ()
    """Places outside the workspace that the user lets commands read."""
    secrets: tuple[str, ...] = ()
    """Patterns of files that hold secrets, besides the table's."""
    variables: tuple[str, ...] = ()
    """Names in the user's environment that commands get to see."""
    mutant_seconds: float = 0.0
    """How long small changes to the new lines are tried on the tests."""
    commands: ProjectCommands = NOTHING_SETTLED
    """What tests and checks a directory, by somebody's word and not by the survey's."""


class PictureOpinion(NamedTuple):
    """What a model that sees said of a picture."""

    model: str = ""
    is_right: bool | None = None
    """Whether it shows what was expected; None where no clear answer came."""
    reason: str = ""
    usage: Usage = Usage()


Eyes = Callable[[bytes, str], Awaitable[PictureOpinion]]
"""Has a model say whether a picture shows what is expected of it."""


class CallContext(NamedTuple):
    """What holds for one call: everything that its tool works with."""

    run: str
    card: str
    call: str
    key: str
    """Names this very call for ever, so that what it did before a crash can be found."""
    phase: Phase
    tree: str
    """The hash of the tree this call finds."""
    root: Root
    workspace: Workspace
    sandbox_in: Callable[[Root], Sandbox]
    """How a process is confined to a tree; asked when one starts, for most calls start none."""
    env_of: Callable[[], Mapping[str, str]]
    """What a process finds in its environment; made when one starts, for the same reason."""
    redactor: Redactor
    settings: ToolSettings
    limits: CommandLimits
    """What one process of this call may use."""
    seen: Mapping[str, str]
    """Path → hash of the tree in which the driver last read it."""
    on_output: Callable[[str], None]
    servers_of: Callable[[], RunServers]
    """The run's servers, made when a call first wants them."""
    is_to_rest: Callable[[], bool]
    """Whether somebody asked the run to rest: a long call may end with what it has."""
    evidence: tuple[AnyEvidence, ...] = ()
    """All that was observed for the card so far."""
    eyes: Eyes | None = None
    """None where no model that sees may be asked."""
    on_progress: Callable[[dict[str, Any]], None] = lambda _line: None
    """Takes a line of telemetry about how far this call is."""
    self_modify: bool = False
    """Whether the run may change Flyball's own files."""
    changed: frozenset[str] = frozenset()
    """The paths that calls of this run have changed so far."""
    made: frozenset[str] = frozenset()
    """Those of them that only programs made."""
    may_replace: Callable[[str], bool] = lambda _path: False
    """Whether somebody was asked about losing this file of the user's that is in no commit."""
    is_shown: bool = True
    """Whether people see what its process prints while it prints it."""
    is_logged: bool = True
    """Whether the whole output of its process is kept where the driver may read it."""
    at: str = "."
    """The part of the tree in which a process is started."""
    shelf: Path = Path(os.devnull)
    """A private directory for one process; nothing can be put there until `set_up` makes one."""
    shared: Path | None = None
    """Where all runs of the project keep caches; None: what is cached here ends with its run."""
    is_scratch: bool = False
    """Whether `root` is a copy of the tree that nobody works in."""
    builds: bool = False
    """Whether what a process builds is kept for whoever starts something on a copy later."""

    def on_tree(self, root: Root, tree: str) -> CallContext:
        """The same call on a scratch copy of a tree."""
        return self._replace(root=root, tree=tree, is_scratch=True)

    def started(self, shelf: Path, at: str) -> Self:
        """Return the same call with a private directory for its process, in a part of the tree."""
        return self._replace(shelf=shelf, at=at)

    def with_env(self, env: Mapping[str, str]) -> CallContext:
        """The same call with another environment for its processes."""
        return self._replace(env_of=lambda: env)

    def evidence_id(self, n: int = 1) -> str:
        """The name of the nth observation that this call makes."""
        return f"{self.card}.{self.call}.{n}"

    @property
    def env(self) -> Mapping[str, str]:
        """What a process finds in its environment."""
        return self.env_of()

    @property
    def sandbox(self) -> Sandbox:
        """Return how a process of this call is confined to its tree."""
        return self.sandbox_in(self.root)

    @property
    def shown(self) -> Callable[[str], None] | None:
        """Return what shows people the output of a process; None where they do not see it."""
        return self.on_output if self.is_shown else None

    @property
    def tell_progress(self) -> Callable[[Progress], None]:
        """Return what tells watchers how far this call is."""
        return lambda now: self.on_progress(now.line(self.card, self.call))

    @property
    def servers(self) -> RunServers:
        """The servers of the run, which every card and call of it shares."""
        return self.servers_of()

    @property
    def project(self) -> Path:
        """The user's checkout, where the project's tools are installed."""
        return self.workspace.project

    @property
    def artifacts(self) -> Path:
        """The card's own directory beside its account, for what its calls leave to read."""
        return artifact_path(self.project, self.run, self.card, "")

    @property
    def cache(self) -> Path:
        """A private directory that the run keeps for the processes it starts."""
        return self.workspace.directory / "cache"

    @property
    def caches(self) -> Path:
        """Where compilers and package managers keep what the next run may use again."""
        return self.shared or self.cache

    @property
    def built(self) -> Path:
        """Where compilers find what was built of trees from before, for all runs of the project."""
        return self.workspace.directory.parent.parent / "built"

    @property
    def layer(self) -> Path:
        """Where that which one process builds above it goes, until it has ended."""
        return self.workspace.directory / "layers" / self.shelf.name

    @property
    def kept(self) -> tuple[Path, ...]:
        """Beside the tree, the directories that a process may write and later ones find again.

        Only these are granted and nothing in them: a program could have put a link there.
        """
        return tuple(dict.fromkeys((self.cache, self.caches)))

    @property
    def workdir(self) -> Path:
        """The directory to start a process in."""
        return self.root.path / self.at

    @property
    def report(self) -> Path:
        """Where a runner may leave a report for machines."""
        return self.shelf / "report"

    @property
    def log(self) -> Path:
        """Where a call leaves its whole output."""
        return self.artifacts / log_file(self.call)

    @property
    def log_name(self) -> str:
        """The same as the driver may read it."""
        return f".flyball/artifacts/{self.run}/{self.card}/{self.log.name}"


def log_file(call: str) -> str:
    """The name of a call's log; a driver's id cannot lead elsewhere."""
    return f"{re.sub(r'[^A-Za-z0-9_-]', '_', call)[:80]}.log"


class CallFacts(NamedTuple):
    """What the judge needs to know about a call before it is made."""

    access: Access | None = None
    paths: tuple[PathFact, ...] = ()
    command: CommandFact | None = None
    destructive: str = ""
    confirmed: bool = False
    keeps_regions: bool = True


class Result(NamedTuple):
    """What a tool gives back. `same` is what makes two outcomes equal, the text by default."""

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
    """For writes: the result of this call if it was already done before a crash."""
    example: Mapping[str, object] = {}


def no_facts(_form: Form, _context: CallContext) -> CallFacts:
    """A tool that names neither a path nor a command."""
    return CallFacts()


def bounded(text: str, limit: int, see: str = "") -> tuple[str, int]:
    """Head and tail of a long text, in whole lines, saying what was cut and how to see it."""
    if len(text) <= limit:
        return text, 0
    half = limit // 2
    head = text[:half].rpartition("\n")[0] or text[:half]
    tail = text[-half:].partition("\n")[2] or text[-half:]
    cut = len(text) - len(head) - len(tail)
    lines = text.count("\n", len(head), len(text) - len(tail))
    how = f" {see}" if see else ""
    return f"{head}\n[… {lines} lines, {cut} characters cut.{how} …]\n{tail}", cut
