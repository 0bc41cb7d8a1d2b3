"""`localise_faults`: which lines the failing tests run and the passing ones do not."""

from __future__ import annotations

import time
from typing import Annotated

import msgspec

from flyball.core.call import Access
from flyball.tools.protocol import Desk, Facts, Form, Result, Text, Tool, bounded
from flyball.tools.repair.localising import places_of, sources_of, touched, trace
from flyball.tools.repair.memo import Memo
from flyball.tools.repair.source import Source
from flyball.tools.repair.spectrum import Place
from flyball.tools.repair.trial import staged

SHOWN = 20


class LocaliseForm(Form, frozen=True, kw_only=True):
    """Which tests fail, as `test` names them (all are found out without that), and for how long."""

    failing: tuple[Text, ...] = ()
    seconds: Annotated[float, msgspec.Meta(gt=0, le=600)] = 30.0


def facts(_form: LocaliseForm, _desk: Desk) -> Facts:
    return Facts(access=Access.VERIFY)


async def perform(form: LocaliseForm, desk: Desk) -> Result:
    began = time.monotonic()
    with staged(desk) as stage:
        known = await trace(stage, form.failing, form.seconds)
        sources = sources_of(stage.root, touched(known))
    places = places_of(known, sources)
    elapsed = time.monotonic() - began
    return _result(known, places, sources, desk, elapsed)


def _result(
    known: Memo, places: list[Place], sources: dict[str, Source], desk: Desk, elapsed: float
) -> Result:
    failing = [test for test in known.tests if test.has_failed]
    passing = [test for test in known.tests if test.end == "pass"]
    head = f"{len(failing)} failing and {len(passing)} passing tests traced in {elapsed:.1f} s."
    lines = [head]
    for name, why in known.broken.items():
        lines.append(f"Cannot be loaded: {name}\n{why.strip()[-600:]}")
    if places:
        lines.append("Suspicious lines, the most suspicious first:")
        lines += [_line(place, sources[place.path]) for place in places[:SHOWN]]
    else:
        lines.append("No line of the project outside its tests is run by a failing test.")
    text, cut = bounded("\n".join(lines), desk.settings.max_text)
    data: dict[str, object] = {
        "places": [[place.path, place.line, round(place.score, 3)] for place in places[:SHOWN]],
    }
    return Result(bool(places), text, data, cut=cut, same=data)


def _line(place: Place, source: Source) -> str:
    return f"{place.score:.2f}  {place.path}:{place.line}  {source.line_text(place.line).strip()}"


LOCALISE_FAULTS = Tool(
    "localise_faults",
    "Find suspicious lines of a Python project: those that failing tests run and passing ones do "
    "not. `failing` names the failing tests as `test` does; `seconds` bounds it.",
    LocaliseForm,
    facts,
    perform,
    example={"failing": ["tests/test_cart.py::test_empty"], "seconds": 30},
)
