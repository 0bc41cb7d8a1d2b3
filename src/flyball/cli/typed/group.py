"""The group of all commands, and its error handling."""

from __future__ import annotations

import importlib
import os
import re
import sys
from typing import TYPE_CHECKING, NoReturn

import click

from flyball.cli.terminal.edge import say
from flyball.cli.typed.examples import EXAMPLES
from flyball.cli.typed.overview import COMMANDS, SECTIONS, overview
from flyball.errors import FlyballError, ToolUnavailable, UsageError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_LINE = 70

COMPLETING = "_FLYBALL_COMPLETE"
"""The variable that a shell sets to request completions; click derives it from our name."""

EXIT_USAGE = 2
EXIT_FAILED = 1
EXIT_INTERNAL = 70
EXIT_INTERRUPTED = 130


def with_examples(command: click.Command, path: str) -> click.Command:
    """Add the examples to the help of a command and its subcommands."""
    if path in EXAMPLES:
        lines = "\n".join(f"  {_typed_in_lines(each)}" for each in EXAMPLES[path])
        command.epilog = f"\b\nExamples:\n{lines}"
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            with_examples(inner, f"{path} {name}")
    return command


def _typed_in_lines(example: str) -> str:
    """Return a command line wrapped for a terminal of 80 columns."""
    line, *others = re.split(r"(?= --)", f"flyball {example}")
    for each in others:
        fits = len(line.rpartition("\n")[2]) + len(each) <= _LINE
        line += each if fits else f" \\\n   {each}"
    return line


class LazyGroup(click.Group):
    """Knows every command's name and summary, and imports a command only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        place = COMMANDS.get(cmd_name)
        if place is None:
            return None
        module, _, name = place.partition(":")
        return with_examples(getattr(importlib.import_module(module), name), cmd_name)

    def get_help(self, ctx: click.Context) -> str:  # noqa: ARG002
        return overview()

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete command names without importing the commands."""
        from click.shell_completion import CompletionItem

        summaries = {
            name: summary
            for rows in SECTIONS.values()
            for names, summary in rows.items()
            for name in names.split(", ")
        }
        found = [
            CompletionItem(name, help=summaries.get(name))
            for name in COMMANDS
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
        """Treat `flyball help WORDS` as `flyball WORDS --help`, also in completion."""
        if ctx.resilient_parsing:
            return self.resolve_command(ctx, words) if words else (None, None, [])
        if not words:
            say(ctx.get_help())
            ctx.exit()
        return self.resolve_command(ctx, [*words, "--help"])


def _meant(name: str, ctx: click.Context) -> str:
    """Return a suggestion for an unknown command; empty during completion."""
    if ctx.resilient_parsing:
        return ""
    from flyball.cli.typed.mistakes import guess_command

    return guess_command(name, ctx) or "`flyball --help` lists the commands."


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="flyball", message="flyball %(version)s")
def cli() -> None:
    """Govern coding agents: decide what they may do next, prove what they did, undo it."""


def main() -> NoReturn:
    """Run a command; report every failure in one sentence with a stable code."""
    if COMPLETING in os.environ:
        from flyball.cli.typed.shells import answer_shells

        answer_shells()
    try:
        code = cli.main(standalone_mode=False)
    except FlyballError as error:
        sys.exit(_tell(error.code, error.message, error.hint, exit_code(error)))
    except click.exceptions.NoArgsIsHelpError as error:
        # A group without a command asks for the list of commands.
        say(error.format_message(), err=True)
        sys.exit(EXIT_USAGE)
    except click.ClickException as error:
        from flyball.cli.typed.mistakes import explain

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
    """Return a problem of the machine if it caused the failure."""
    from flyball.workspace.errors import disk_trouble

    if isinstance(error, ImportError) and os.name != "posix":
        return ToolUnavailable(
            "Flyball does not run natively on Windows.", "Install it in its Linux subsystem (WSL)."
        )
    return disk_trouble(error) if isinstance(error, OSError) else None


def exit_code(error: FlyballError) -> int:
    """Map an error class to its exit code."""
    return EXIT_USAGE if isinstance(error, UsageError) else EXIT_FAILED


def _tell(code: str, message: str, hint: str, exit_code: int) -> int:
    if "--json" in sys.argv[1:]:
        import json

        say(json.dumps({"code": code, "message": message, "hint": hint}))
    else:
        say(f"error[{code}]: {message} {hint}".rstrip(), err=True)
    return exit_code
