"""The command line: translation only. Each command's module is imported when the command runs."""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from flyball.cli.typed.group import COMMANDS, cli, exit_code

__all__ = ["COMMANDS", "cli", "exit_code", "main"]


def main() -> NoReturn:
    """Run the command line; `confined` imports nothing else, since agents start it often."""
    if sys.argv[1:2] == ["confined"] and "--" in sys.argv:
        from flyball.cli.confined_quick import confine

        sys.exit(confine(sys.argv[2:]))
    from flyball.cli.typed.group import main as run_command

    run_command()


def __getattr__(name: str) -> Any:
    """Import the command group on first access."""
    return getattr(import_module("flyball.cli.typed.group"), name)
