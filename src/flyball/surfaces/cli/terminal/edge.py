"""The edge to a terminal: every text of every command leaves through `say`, `pour` or a console of
`clean_console`, and nothing of it can do more to a terminal than be read."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from flyball.core.terms.printable import printable

if TYPE_CHECKING:
    from rich.console import Console


def say(text: object = "", *, err: bool = False, nl: bool = True, fg: str | None = None) -> None:
    """Print a text (bytes are UTF-8), in a colour of ours if one is given."""
    whole = text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else str(text)
    clean = printable(whole)
    click.echo(click.style(clean, fg=fg) if fg else clean, err=err, nl=nl)


def pour(data: bytes) -> None:
    """Print a file: as it is into a pipe or another file, as text onto a terminal."""
    if sys.stdout.isatty():
        say(data, nl=False)
    else:
        sys.stdout.buffer.write(data)


def clean_console(**options: Any) -> Console:
    """A console for tables and colours, the texts in which are made visible like any other."""
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    class CleanConsole(Console):
        """Cleans what is rendered, before styles and rich's own movements are added."""

        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterable[Segment]:
            for segment in super().render(renderable, options):
                yield segment if segment.control else segment._replace(text=printable(segment.text))

    return CleanConsole(**options)
