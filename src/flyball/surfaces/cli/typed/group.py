"""The group of all commands, and what a failure of one comes to."""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, NoReturn

import click

from flyball.errors import FlyballError, ToolUnavailable, UsageError
from flyball.surfaces.cli.terminal.edge import say

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("flyball.surfaces.cli.run:run", "Make a request and govern whoever works on it."),
    "runs": ("flyball.surfaces.cli.runs:runs", "List, show, follow, resume, cancel, merge runs."),
    "card": ("flyball.surfaces.cli.card:card", "Show a card, take it back, apply it again."),
    "undo": ("flyball.surfaces.cli.undo:undo", "Take the last edit back, or a named one."),
    "approve": ("flyball.surfaces.cli.answer:approve", "Say yes to what a run asks."),
    "deny": ("flyball.surfaces.cli.answer:deny", "Say no to what a run asks."),
    "extend": ("flyball.surfaces.cli.answer:extend", "Add calls to a run's budget."),
    "answer": ("flyball.surfaces.cli.answer:answer", "Answer a run in words."),
    "serve": ("flyball.surfaces.cli.serve:serve", "Show every run on a board in a browser."),
    "worker": ("flyball.surfaces.cli.worker:worker", "Drive runs that a cluster was given."),
    "people": ("flyball.surfaces.cli.people:people", "Say who may do what on a team's board."),
    "checkpoint": ("flyball.surfaces.cli.checkpoint:checkpoint", "State what an agent will do."),
    "wait": ("flyball.surfaces.cli.wait:wait", "Wait for the verdict on an agent's work."),
    "mcp": ("flyball.surfaces.cli.mcp:mcp", "Serve steps to other agents, over MCP."),
    "acp": ("flyball.surfaces.cli.acp:acp", "Be an agent in an editor, over ACP."),
    "off": ("flyball.surfaces.cli.off:off", "Let agents go ungoverned for a while."),
    "on": ("flyball.surfaces.cli.off:on", "Govern agents again."),
    "demo": ("flyball.surfaces.cli.demo:demo", "Watch a governed run on a small broken project."),
    "init": ("flyball.surfaces.cli.init:init", "Govern another agent, or stop governing it."),
    "trust": ("flyball.surfaces.cli.trust:trust", "Let this repository's configuration count."),
    "doctor": (
        "flyball.surfaces.cli.doctor:doctor",
        "Prove what holds here, and say what to mend.",
    ),
    "intent": ("flyball.surfaces.cli.intent:intent", "Read a request's intent and budget."),
    "verify": ("flyball.surfaces.cli.verify:verify", "Show what a change does to the tests."),
    "patch": ("flyball.surfaces.cli.patch:patch", "Apply or check a unified diff."),
    "confined": ("flyball.surfaces.cli.confined:confined", "Run a command that can do no harm."),
    "command": ("flyball.surfaces.cli.command:command", "Judge a shell command."),
    "machine": ("flyball.surfaces.cli.machine:machine", "Draw the statechart."),
    "flow": ("flyball.surfaces.cli.flow:flow", "Check and show flows; print the policy table."),
    "ledger": ("flyball.surfaces.cli.ledger:ledger", "List, show and forget known mistakes."),
    "guards": ("flyball.surfaces.cli.guards:guards", "Judge recorded runs for doom loops."),
    "audit": ("flyball.surfaces.cli.audit:audit", "Show what agents did, by their transcripts."),
    "completion": ("flyball.surfaces.cli.completion:completion", "Complete words in your shell."),
    "judge": ("flyball.surfaces.cli.judge:judge", "Re-judge a run under another policy."),
    "bench": ("flyball.surfaces.cli.bench:bench", "Measure Flyball, or try verifiers on liars."),
}

COMPLETING = "_FLYBALL_COMPLETE"
"""In the environment of a process that a shell asks for words; click makes it of our name."""

EXIT_USAGE = 2
EXIT_FAILED = 1
EXIT_INTERNAL = 70
EXIT_INTERRUPTED = 130


class LazyGroup(click.Group):
    """Knows every command's name and summary, and imports a command only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        place = COMMANDS.get(cmd_name)
        if place is None:
            return None
        module, _, name = place[0].partition(":")
        return getattr(importlib.import_module(module), name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Commands by their names alone: a shell that asks for them does not wait for imports."""
        from click.shell_completion import CompletionItem

        found = [
            CompletionItem(name, help=summary)
            for name, (_, summary) in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return found + click.Command.shell_complete(self, ctx, incomplete)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, *others = args
        if name == "help":
            return self._resolve_help(ctx, others)
        if name not in COMMANDS and not name.startswith("-"):
            raise UsageError(f"There is no command {name!r}.", _meant(name, ctx))
        return super().resolve_command(ctx, args)

    def _resolve_help(
        self, ctx: click.Context, words: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """`flyball help WORDS` is `flyball WORDS --help`; a shell completes the words alike."""
        if ctx.resilient_parsing:
            return self.resolve_command(ctx, words) if words else (None, None, [])
        if not words:
            say(ctx.get_help())
            ctx.exit()
        return self.resolve_command(ctx, [*words, "--help"])


def _meant(name: str, ctx: click.Context) -> str:
    """What to type instead of a command that there is not; a shell that asks is told nothing."""
    if ctx.resilient_parsing:
        return ""
    from flyball.surfaces.cli.typed.mistakes import guess_command

    return guess_command(name, ctx) or "`flyball --help` lists the commands."


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="flyball", message="flyball %(version)s")
def cli() -> None:
    """Flyball governs coding agents: it decides what they may do next, proves what they did, and
    can take it back."""


def main() -> NoReturn:
    """Run a command; every failure is one sentence with a stable code."""
    if COMPLETING in os.environ:
        from flyball.surfaces.cli.typed.shells import answer_shells

        answer_shells()
    try:
        code = cli.main(standalone_mode=False)
    except FlyballError as error:
        sys.exit(_tell(error.code, error.message, error.hint, exit_code(error)))
    except click.exceptions.NoArgsIsHelpError as error:
        # Whoever names a group and no command of it asks what there is.
        say(error.format_message(), err=True)
        sys.exit(EXIT_USAGE)
    except click.ClickException as error:
        from flyball.surfaces.cli.typed.mistakes import explain

        sys.exit(_tell("usage", *explain(error), EXIT_USAGE))
    except (click.Abort, KeyboardInterrupt):
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(EXIT_FAILED)
    except Exception as error:
        if trouble := _trouble_behind(error):
            sys.exit(_tell(trouble.code, trouble.message, trouble.hint, EXIT_FAILED))
        if os.environ.get("FLYBALL_DEBUG"):
            raise
        message = f"Flyball itself failed: {type(error).__name__}: {error}"
        hint = "Run it again with FLYBALL_DEBUG=1 and report what it prints."
        sys.exit(_tell("internal", message, hint, EXIT_INTERNAL))
    sys.exit(code if isinstance(code, int) else 0)


def _trouble_behind(error: Exception) -> FlyballError | None:
    """What is wrong with the machine, where that is why we failed."""
    from flyball.workspace.errors import disk_trouble

    if isinstance(error, ImportError) and os.name != "posix":
        return ToolUnavailable(
            "Flyball does not run on Windows itself.", "Install it in its Linux subsystem (WSL)."
        )
    return disk_trouble(error) if isinstance(error, OSError) else None


def exit_code(error: FlyballError) -> int:
    """The one table from error class to exit code."""
    return EXIT_USAGE if isinstance(error, UsageError) else EXIT_FAILED


def _tell(code: str, message: str, hint: str, exit_code: int) -> int:
    if "--json" in sys.argv[1:]:
        import json

        say(json.dumps({"code": code, "message": message, "hint": hint}))
    else:
        say(f"error[{code}]: {message} {hint}".rstrip(), err=True)
    return exit_code
