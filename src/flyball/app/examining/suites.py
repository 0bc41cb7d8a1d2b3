"""Examine how the project would be tested, and whether the test programs are installed."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Sequence
from pathlib import Path

from flyball.app.examining.symptom import Symptom, fine, note, trouble
from flyball.app.project import Home, redactor_of
from flyball.app.wiring import tool_settings
from flyball.core.suite.part import TOP, Part
from flyball.core.terms.phase import Phase
from flyball.core.terms.shape import counted
from flyball.errors import ToolError, ToolUnavailable
from flyball.tools.call.protocol import CallContext
from flyball.verdict.runners.choice import Choice, choose, not_installed, require
from flyball.verdict.runners.layout import look
from flyball.verdict.runners.parts import survey_parts
from flyball.verdict.runners.start_env import environment as start_environment
from flyball.verdict.runners.start_env import python_of, readable, with_own_programs
from flyball.verdict.runners.table import BY_NAME
from flyball.workspace.files.paths import Root
from flyball.workspace.process import levels, process
from flyball.workspace.run.workspace import Workspace, WorkspaceFacts
from flyball.workspace.sandbox import environment
from flyball.workspace.servers.server import RunServers
from flyball.workspace.trees.plain_trees import PlainTrees
from flyball.workspace.trees.trees import TreeHash

MOST = 6
"""Maximum number of parts to check; a repository may have hundreds."""
SECONDS = 60.0
SETTLE = (
    "Settle what tests it, in flyball.toml or your config.toml: `[test]` with "
    '`command = "make test"`.'
)


async def examine_tests(home: Home) -> list[Symptom]:
    """Return one finding per part that has tests: the command, and what is missing for it."""
    settled = home.effective.commands
    parts = [part for part in survey_parts(look(home.repo), settled) if part.suites]
    if not parts:
        seen = "no tests that a known runner would find: a change can be made, but not proven"
        return [note("tests", seen, f"Add tests. {SETTLE}")]
    with tempfile.TemporaryDirectory(prefix="flyball-look-") as name:
        context = _context(home, Path(name))
        found = [await _part(home, part, context) for part in parts[:MOST]]
    if len(parts) > MOST:
        found.append(fine("tests", f"{counted(len(parts) - MOST, 'more part')} not looked at"))
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
    """Return the program that a choice starts; raise `ToolUnavailable` if it is missing."""
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


def _unheard(_text: str) -> None:
    """Ignore the output; a check shows none."""


def _context(home: Home, directory: Path) -> CallContext:
    """Return the context of a read-only call in the checkout."""
    settings, top, user = tool_settings(home.effective), home.repo, home.environ.get("HOME", "")
    facts = WorkspaceFacts("doctor", str(top), str(top), False, TreeHash(""))
    trees = PlainTrees(directory / "objects", top)
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
        on_output=_unheard,
        servers_of=lambda: RunServers(directory / "servers"),
        is_to_rest=lambda: False,
        shelf=directory,
    )
    return context
