"""Write text to a terminal safely: all output of every command passes through `say`, `pour` or a
console of `clean_console`, which make control sequences harmless.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from flyball.terms.printable import printable

if TYPE_CHECKING:
    from rich.console import Console


def say(text: object = "", *, err: bool = False, nl: bool = True, fg: str | None = None) -> None:
    """Print a text (bytes are UTF-8), optionally in colour."""
    whole = text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else str(text)
    clean = printable(whole)
    click.echo(click.style(clean, fg=fg) if fg else clean, err=err, nl=nl)


def pour(data: bytes) -> None:
    """Print a file: unchanged into a pipe or another file, cleaned on a terminal."""
    if sys.stdout.isatty():
        say(data, nl=False)
    else:
        sys.stdout.buffer.write(data)


def clean_console(**options: Any) -> Console:
    """Return a console for tables and colours that makes control characters visible."""
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    class CleanConsole(Console):
        """Cleans rendered text before styles and rich's own control codes are added."""

        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterable[Segment]:
            for segment in super().render(renderable, options):
                yield segment if segment.control else segment._replace(text=printable(segment.text))

    return CleanConsole(**options)
