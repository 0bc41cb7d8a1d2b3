"""Events refuse to be built wrong."""

from __future__ import annotations

import msgspec
import pytest
from tests.unit.core.stories import stated

from flyball.core.run.event import EVENTS, AnyEvent, Extended, RunStarted, name_of


def test_a_run_needs_a_name_and_a_request():
    with pytest.raises(ValueError, match="`request` is empty"):
        RunStarted(run="r", request="  ")


def test_a_checkpoint_needs_all_its_parts():
    with pytest.raises(ValueError, match="`goal` is empty"):
        msgspec.structs.replace(stated(), goal="")
    with pytest.raises(ValueError, match="`files` is empty"):
        msgspec.structs.replace(stated(), files=())


def test_an_extension_says_who_why_and_at_least_one():
    with pytest.raises(ValueError, match="at least 1"):
        Extended(by="ann", calls=0, why="more")
    with pytest.raises(ValueError, match="`why` is empty"):
        Extended(by="ann", calls=1, why="")


def test_names_are_kebab_case_and_unique():
    names = [name_of(kind) for kind in EVENTS]
    assert len(set(names)) == len(names)
    assert all(name == name.lower() and "_" not in name for name in names)


def test_an_event_of_no_known_kind_is_refused():
    with pytest.raises(msgspec.ValidationError, match="Invalid value"):
        msgspec.json.decode(b'{"type": "nonsense"}', type=AnyEvent)
