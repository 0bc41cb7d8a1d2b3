"""Draws the moving picture of the README from a real `flyball demo`: part of `make pictures`."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import NamedTuple

PICTURE = Path(__file__).parent / "pictures" / "demo.svg"
TYPED = "$ flyball demo"
COLUMNS, ROW, COLUMN, MARGIN = 108, 19, 8.4, 18
SECONDS = 14.0
"""How long the picture plays; the run's own pauses are scaled to it."""
SHORTEST = 0.12
"""Seconds between two lines at least, so that each is seen to come."""
COLOURS = {"✓": "#3fb950", "●": "#3fb950", "✗": "#f85149", "▸": "#58a6ff", "◆": "#d29922"}
PLAIN = "#c9d1d9"


class Line(NamedTuple):
    """A line of output, and how many seconds after the start it came."""

    at: float
    text: str


def main() -> None:
    """Write `docs/pictures/demo.svg`."""
    PICTURE.write_text(draw(paced(list(recorded()))), encoding="utf-8")


def recorded() -> Iterator[Line]:
    """Yield the lines of a real demo as they are printed."""
    start = time.monotonic()
    argv = [sys.executable, "-c", "from flyball.cli import main; main()", "demo"]
    environ = {**os.environ, "COLUMNS": str(COLUMNS), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env=environ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            yield Line(time.monotonic() - start, line.rstrip())
            if line.endswith("calls used\n"):
                break
        process.stdout.read()


def paced(lines: list[Line]) -> list[Line]:
    """Return the lines with their times scaled to the length of the picture."""
    scale = (SECONDS - SHORTEST * len(lines)) / lines[-1].at
    return [
        Line(round(1 + line.at * scale + SHORTEST * number, 2), shortened(line.text))
        for number, line in enumerate(lines)
    ]


def shortened(text: str) -> str:
    """Return a line as far as it fits, with a mark where it was cut."""
    return text if len(text) <= COLUMNS else f"{text[: COLUMNS - 1]}…"


def draw(lines: list[Line]) -> str:
    """Return an SVG in which each line appears at its time; without motion all are there."""
    width, height = round(COLUMNS * COLUMN + 2 * MARGIN), ROW * (len(lines) + 2) + 2 * MARGIN
    rows = [_row(0, Line(0.0, TYPED)), *(_row(n, line) for n, line in enumerate(lines, 2))]
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<title>flyball demo: a failing test, a repair, and a verdict</title>
<style>
text {{ font: 14px ui-monospace, Menlo, Consolas, monospace; white-space: pre; fill: {PLAIN} }}
@media (prefers-reduced-motion: no-preference) {{
  text {{ animation: come 0.2s both }}
  @keyframes come {{ from {{ opacity: 0 }} }}
}}
</style>
<rect width="{width}" height="{height}" rx="10" fill="#0d1117"/>
{chr(10).join(rows)}
</svg>
"""


def _row(number: int, line: Line) -> str:
    y = MARGIN + ROW * (number + 1) - 5
    colour = COLOURS.get(line.text.strip()[:1], PLAIN)
    style = f"animation-delay:{line.at}s;fill:{colour}"
    return f'<text x="{MARGIN}" y="{y}" style="{style}">{escape(line.text)}</text>'


if __name__ == "__main__":
    main()
