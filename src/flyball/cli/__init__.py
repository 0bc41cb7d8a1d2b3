"""The command line: translation only. Each command's module is imported when the command runs."""

from __future__ import annotations

import gc
import sys
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from flyball.cli.typed.group import cli, exit_code
    from flyball.cli.typed.overview import COMMANDS

__all__ = ["COMMANDS", "cli", "exit_code", "main"]


def main() -> NoReturn:
    """Run the command line; the overview and `confined` import nothing that they do not need."""
    # The tables that a command loads stay until it ends: looking for garbage among them takes a
    # sixth of its start.
    gc.set_threshold(50_000)
    if sys.argv[1:] in (["--help"], ["-h"], ["help"]):
        from flyball.cli.typed.overview import print_overview

        print_overview()
        sys.exit(0)
    if sys.argv[1:2] == ["confined"] and "--" in sys.argv:
        from flyball.cli.confined_quick import confine

        sys.exit(confine(sys.argv[2:]))
    from flyball.cli.typed.group import main as run_command

    try:
        run_command()
    finally:
        # The process ends here, so its last collection would free what ends with it anyway.
        gc.freeze()


def __getattr__(name: str) -> Any:
    """Import the command group on first access."""
    return getattr(import_module("flyball.cli.typed.group"), name)
