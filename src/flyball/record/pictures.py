"""The pictures of a card: the first and the last one of each page, and the difference."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from flyball.run.state import CardState
from flyball.terms.evidence import ConsoleReport, VisualReport


class PagePictures(msgspec.Struct, frozen=True, omit_defaults=True):
    """Paths of the pictures of one page, relative to the project."""

    url: str
    after: str = ""
    """Empty if the page was only viewed before the change."""
    before: str = ""
    difference: str = ""
    share: float = 0.0
    """Which part of the pixels differs between the two."""
    is_stale: bool = False
    """Whether something was changed after the last one was taken."""
    said: str = ""
    """How the last picture was judged against an expectation, and by whom."""

    @property
    def files(self) -> dict[str, str]:
        """Return the description and the file of each picture."""
        named = {"before": self.before, "after": self.after, "difference": self.difference}
        return {what: path for what, path in named.items() if path}


def pictures_of(card: CardState) -> tuple[PagePictures, ...]:
    """Return the pictures of every page viewed for a card, in the order of the first view."""
    seen: dict[str, list[ConsoleReport | VisualReport]] = {}
    for item in card.evidence:
        if isinstance(item, ConsoleReport | VisualReport) and item.picture:
            seen.setdefault(page_of(item.url), []).append(item)
    return tuple(_pictures(looks, card) for looks in seen.values())


def _pictures(looks: list[ConsoleReport | VisualReport], card: CardState) -> PagePictures:
    last = looks[-1]
    if last.tree == card.base != card.tree:
        return PagePictures(last.url, before=last.picture, is_stale=True)
    # In another size than the first picture the last one has nothing to be held against.
    held = [item for item in looks if item.change is not None and item.tree == last.tree]
    change = held[-1].change if held else None
    shown = held[-1] if held else last
    first = looks[0].picture if looks[0].tree != shown.tree else ""
    return PagePictures(
        shown.url,
        after=shown.picture,
        before=change.before if change else first,
        difference=change.picture if change else "",
        share=change.share if change else 0.0,
        is_stale=shown.tree != card.tree,
        said=_said(looks, shown.tree),
    )


def _said(looks: Iterable[ConsoleReport | VisualReport], tree: str) -> str:
    found = [item for item in looks if isinstance(item, VisualReport) and item.tree == tree]
    if not found:
        return ""
    last = found[-1]
    by = f"judged by {last.judged_by}" if last.judged_by else "not judged by a model"
    how = "as expected" if last.judged_by and last.ok else last.note or "nothing is plainly wrong"
    return f"{last.expectation}: {how} ({by})"


def page_of(url: str) -> str:
    """Return an address without its host and port, which differ from start to start."""
    _, _, rest = url.partition("://")
    return f"/{rest.partition('/')[2]}".partition("#")[0]
