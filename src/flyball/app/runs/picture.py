"""A run's card as a picture: plain SVG without scripts or fonts, made to be pasted."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from html import escape

from flyball.app.runs.hero import Hero
from flyball.regex import regex

WIDTH, MARGIN = 880, 36
MOST_TESTS = 5
LONGEST_TEST = 92
UNDRAWN = regex(r"[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML cannot hold."""

STYLE = """\
text{font:15px ui-sans-serif,system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#1b2027}
.m{font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:13px}
.s{fill:#56606d;font-size:13px}.r{font-size:21px;font-weight:600}.h{font-size:17px;font-weight:600}
.g{fill:#fff;stroke:#dfe3e8}.red{fill:#b3261e}.green{fill:#176b3a}
.good{fill:#176b3a}.fair{fill:#855300}.bad{fill:#b3261e}.ask{fill:#a8405f}.busy{fill:#2a66c4}
.plain{fill:#56606d}
@media(prefers-color-scheme:dark){text{fill:#e4e8ed}.s,.plain{fill:#a3adb9}
.g{fill:#191d23;stroke:#2b323b}.red,.bad{fill:#ff9c93}.green,.good{fill:#7fd49b}
.fair{fill:#f0c377}.ask{fill:#f2a0b9}.busy{fill:#8db8ff}}"""


class _Sheet:
    """Text set line under line."""

    def __init__(self) -> None:
        self.y = MARGIN
        self.parts: list[str] = []

    def line(self, text: str, kind: str, step: int, x: int = MARGIN) -> None:
        self.y += step
        self.parts.append(f'<text x="{x}" y="{self.y}" class="{kind}">{_safe(text)}</text>')


def draw_card(hero: Hero) -> str:
    """Return a run's card as SVG; the words are those of its page."""
    sheet = _Sheet()
    where = " · ".join(each for each in (hero.project, hero.branch) if each)
    sheet.line(f"{hero.words} · {where}", f"s {hero.tone}", 6)
    for text in _wrapped(hero.request, 68, 3):
        sheet.line(text, "r", 30)
    sheet.y += 8
    for text in _wrapped(hero.headline, 90, 3):
        sheet.line(text, f"h {hero.tone}", 25)
    for text in _wrapped(hero.why, 106, 2):
        sheet.line(text, "", 23)
    _draw_tests(sheet, hero.turned)
    for each in hero.questions[:2]:
        for text in _wrapped(each.sentence, 104, 2):
            sheet.line(text, "bad" if each.is_blocking else "ask", 23)
    sheet.line("   ·   ".join(hero.facts), "s", 32)
    return _page(hero, sheet)


def _draw_tests(sheet: _Sheet, names: Sequence[str]) -> None:
    sheet.y += 4 if names else 0
    for name in names[:MOST_TESTS]:
        y = sheet.y + 18
        for x, light in ((MARGIN + 5, "red"), (MARGIN + 37, "green")):
            sheet.parts.append(f'<circle cx="{x}" cy="{y}" r="5" class="{light}"/>')
        sheet.parts.append(f'<text x="{MARGIN + 15}" y="{y + 4}" class="s">→</text>')
        short = name if len(name) <= LONGEST_TEST else f"…{name[1 - LONGEST_TEST :]}"
        sheet.line(short, "m", 23, MARGIN + 54)
    if len(names) > MOST_TESTS:
        sheet.line(f"and {len(names) - MOST_TESTS} more", "s", 23, MARGIN + 54)


def _page(hero: Hero, sheet: _Sheet) -> str:
    height = sheet.y + 28
    title = _safe(f"{hero.words}: {hero.headline}")
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">'
    box = f'<rect x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="12" class="g"/>'
    bar = f'<rect y="24" width="5" height="{height - 48}" class="{hero.tone}"/>'
    signed = f'<text x="{WIDTH - MARGIN}" y="42" text-anchor="end" class="s">Flyball</text>'
    parts = (f"{head}<title>{title}</title>", f"<style>{STYLE}</style>", box, bar, signed)
    return "\n".join((*parts, *sheet.parts, "</svg>\n"))


def _wrapped(text: str, width: int, most: int) -> Iterator[str]:
    shown = " ".join(text.split())
    yield from textwrap.wrap(shown, width, max_lines=most, placeholder=" …", break_on_hyphens=False)


def _safe(text: str) -> str:
    return escape(UNDRAWN.sub("", text))
