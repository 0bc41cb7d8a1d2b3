"""Examine git and the user's repository: version, identity, and unfinished operations."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from flyball.app.project import Home, redactor_of
from flyball.app.wiring import tool_settings
from flyball.doctor.symptom import Symptom, fine, listed, note, trouble
from flyball.errors import ToolError, ToolUnavailable
from flyball.regex import regex
from flyball.terms.phase import Phase
from flyball.terms.shape import counted
from flyball.tools.call.protocol import CallContext
from flyball.verdict.part import TOP, Part
from flyball.verdict.runners.choice import Choice, choose, not_installed, require
from flyball.verdict.runners.layout import LINKED_OUT, look
from flyball.verdict.runners.parts import survey_parts
from flyball.verdict.runners.start_env import environment as start_environment
from flyball.verdict.runners.start_env import python_of, readable, with_own_programs
from flyball.verdict.runners.table import BY_NAME
from flyball.workspace.files.paths import Root
from flyball.workspace.process import levels, process
from flyball.workspace.process.spawn import run_sync
from flyball.workspace.run.comparing import uncommitted_paths
from flyball.workspace.run.workspace import Workspace, WorkspaceFacts
from flyball.workspace.sandbox import environment
from flyball.workspace.servers.server import RunServers
from flyball.workspace.trees.git import (
    NOBODY,
    OLDEST_GIT,
    Repository,
    find_git,
    find_repository,
    read_user_config,
    user_git,
)
from flyball.workspace.trees.git_trees import open_private
from flyball.workspace.trees.trees import TreeHash

MERGES_TREES = (2, 38)
"""The first git version that merges trees itself; for older ones Flyball does."""

UNDER_WAY = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
}
"""Files in the git directory that indicate an unfinished operation."""

_VERSION = regex(r"(\d+)\.(\d+)")


async def examine_repository(home: Home) -> list[Symptom]:
    """Check git and the repository in the state that a run would see."""
    repository = find_repository(home.repo)
    program = _git()
    found = [program]
    if repository is None:
        return [*found, _no_repository(home.repo)]
    found += _left_open(repository)
    if not program.blocks:
        found += _asked(home, repository)
    return found


def _git() -> Symptom:
    """Check that git is installed and supports the options in use."""
    try:
        path = find_git()
    except ToolUnavailable:
        return trouble("git", "git is not on the PATH", "Install git 2.38 or later.")
    env = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
    said = run_sync((path, "--version"), cwd=Path("/"), env=env, seconds=10)
    text = said.stdout.decode(errors="replace").strip()
    found = _VERSION.search(text)
    oldest = ".".join(map(str, OLDEST_GIT))
    if said.exit_code or not found:
        hint = f"Put a git of {oldest} or later first on the PATH."
        return trouble("git", f"{path} does not say its version", hint)
    version = (int(found[1]), int(found[2]))
    if version < OLDEST_GIT:
        return trouble("git", f"{text} ({path}) is too old", f"Install git {oldest} or later.")
    if version < MERGES_TREES:
        seen = f"{text} ({path}) does not merge trees: Flyball does it, and follows fewer renames"
        return note("git", seen, "Install git 2.38 or later to have git merge.")
    return fine("git", f"{text} ({path})")


def _no_repository(top: Path) -> Symptom:
    if os.path.lexists(top / ".git"):
        seen = f"{top / '.git'} is not a repository that git can use"
        return note("repository", seen, "Restore it, or remove it to work without git.")
    seen = f"{top} is not in a git repository: runs work in place, without branch or commits"
    return note("repository", seen, "Run `git init` there to get a commit for each card.")


def _left_open(repository: Repository) -> Iterator[Symptom]:
    """Yield unfinished git operations, read from git's files without running git."""
    lock = repository.directory / "index.lock"
    if lock.exists():
        seen = f"{lock} is there: git refuses to change its index, and so do merging and reverting"
        hint = f"If no git command is running, a dead one left it behind: rm {lock}"
        yield trouble("index", seen, hint)
    doing = [what for name, what in UNDER_WAY.items() if (repository.directory / name).exists()]
    for what in dict.fromkeys(doing):
        seen = f"{what} is under way: a run begins with its files as they are, conflicts included"
        yield note("unfinished", seen, "Finish or abort it before you merge a run.")


def _asked(home: Home, repository: Repository) -> Iterator[Symptom]:
    """Yield the results of checks that need git."""
    user = user_git(repository, find_git())
    own = Path(home.environ.get("HOME") or Path.home())
    identity = read_user_config(user, repository, own).identity
    who = f"{identity.name} <{identity.email}>"
    if NOBODY.name == identity.name or NOBODY.email == identity.email:
        seen = f"git does not know you: the commits of runs are signed {who}"
        hint = "Run `git config --global user.name NAME` and the same with user.email."
        yield note("identity", seen, hint)
    else:
        yield fine("identity", who)
    if user.resolve("HEAD^{commit}") is None:
        seen = "there is no commit yet: a run starts with all files that are not ignored"
        yield note(
            "commit",
            seen,
            "Commit once, so that `flyball verify` works and there is a state to return to.",
        )
        return
    if not user.call("symbolic-ref", "-q", "HEAD", ok=(0, 1)).stdout:
        seen = "the checkout is on no branch (detached HEAD): a run cannot be merged"
        yield note("branch", seen, "Make one with `git switch -c NAME` before you merge a run.")
    paths = sorted(uncommitted_paths(repository, own))
    if not paths:
        yield fine("checkout", "everything is committed")
        return
    seen = f"{counted(len(paths), 'file')} not committed ({listed(paths)})"
    hint = (
        "A run starts with them as they are. A merge does not touch them, and is refused if it "
        "would overwrite one; commit or stash it first."
    )
    yield note("checkout", seen, hint)


MOST = 6
"""Maximum number of parts to check; a repository may have hundreds."""
SECONDS = 60.0
SETTLE = (
    "Configure its test command in flyball.toml or your config.toml: `[test]` with "
    '`command = "make test"`.'
)


async def examine_tests(home: Home) -> list[Symptom]:
    """Return one finding per part that has tests: the command, and what is missing for it."""
    settled = home.effective.commands
    land = look(home.repo)
    parts = [part for part in survey_parts(land, settled) if part.suites]
    if not parts:
        seen = "no tests that a known runner would find: a change can be made, but not proven"
        seen += "".join(f"; {each} is {LINKED_OUT}" for each in land.tests_linked_out)
        return [note("tests", seen, f"Add tests. {SETTLE}")]
    with tempfile.TemporaryDirectory(prefix="flyball-look-") as name:
        context = _context(home, Path(name))
        found = [await _part(home, part, context) for part in parts[:MOST]]
    if len(parts) > MOST:
        found.append(fine("tests", f"{counted(len(parts) - MOST, 'more part')} not checked"))
    if any(each.holds for each in found):
        # Missing programs for some parts are only a note; without any test no change can be proven.
        return [each._replace(blocks=False) for each in found]
    return found


async def _part(home: Home, part: Part, context: CallContext) -> Symptom:
    name = "tests" if part.path == TOP else f"tests in {part.path}"
    words = () if part.path == TOP else (part.path,)
    context = context._replace(at=part.path)
    try:
        choice = choose("", words, home.repo, home.effective.commands)
        return fine(name, await _start(choice, context))
    except ToolUnavailable as error:
        return trouble(name, error.message, f"{error.hint} Or: {SETTLE}")
    except ToolError as error:
        return note(name, error.message, error.hint)


async def _start(choice: Choice, context: CallContext) -> str:
    """Return the program that runs the tests; raise `ToolUnavailable` if it is missing."""
    if choice.command:
        await _find_first_word(choice.command, context)
        return f"`{choice.command}`, as configured"
    try:
        argv = BY_NAME[choice.name].argv(context, choice.land, choice.args)
        require(choice, argv, context)
        if choice.name == "pytest":
            await _import_pytest(choice, context)
        return f"{choice.name}, started by {argv[0]}"
    except ToolUnavailable as error:
        if not choice.otherwise:
            raise
        return f"{choice.otherwise}, because {error.message.rstrip('.')}"


async def _import_pytest(choice: Choice, context: CallContext) -> None:
    python = python_of(context)
    if not await _succeeds((python, "-c", "import pytest"), context):
        raise not_installed(choice, f"{python} cannot import it")


async def _find_first_word(command: str, context: CallContext) -> None:
    """Ask the shell that runs a configured command whether it can find the program."""
    words = shlex.split(command, comments=True)
    word = next((each for each in words if "=" not in each), "true")
    wanted = with_own_programs(f"command -v -- {shlex.quote(word)} >/dev/null", context)
    if not await _succeeds(("sh", "-c", wanted), context):
        hint = "Install it, or correct `test.command`."
        raise ToolUnavailable(f"`{command}` is configured, but there is no program {word!r}.", hint)


async def _succeeds(argv: Sequence[str], context: CallContext) -> bool:
    """Return whether a command succeeds; the project's programs are confined, as in a run."""
    ended = await process.run(
        argv,
        cwd=context.workdir,
        env=start_environment(context),
        sandbox=context.sandbox_in(context.root),
        limits=context.limits,
    )
    return ended.exit_code == 0


def _discard(_text: str) -> None:
    """Ignore the output; a check shows none."""


def _context(home: Home, directory: Path) -> CallContext:
    """Return the context of a read-only call in the checkout."""
    settings, top, user = tool_settings(home.effective), home.repo, home.environ.get("HOME", "")
    facts = WorkspaceFacts("doctor", str(top), str(top), False, TreeHash(""))
    trees = open_private(directory, top, program="git")
    env = environment.clean(home.environ, workspace=top, allowed=settings.variables)
    workspace = Workspace(facts, directory, trees, None, None)

    def sandbox_in(root: Root) -> levels.Sandbox:
        return levels.Sandbox(
            level=levels.detect_level(),
            root=root.path,
            read_only=True,
            readable=(*settings.readable, *readable(context)),
            home=Path(user) if user else None,
        )

    context = CallContext(
        run="doctor",
        card="doctor",
        call="doctor",
        key="doctor",
        phase=Phase.VERIFY,
        tree="",
        root=Root(top),
        workspace=workspace,
        sandbox_in=sandbox_in,
        env_of=lambda: env,
        redactor=redactor_of(home),
        settings=settings,
        limits=process.CommandLimits(seconds=SECONDS, memory=settings.limits.memory),
        seen={},
        on_output=_discard,
        servers_of=lambda: RunServers(directory / "servers"),
        is_to_rest=lambda: False,
        shelf=directory,
    )
    return context
