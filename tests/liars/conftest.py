"""The projects to which liars and honest drivers come, one after the other."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.liars.driving import PlaceOf

from flyball.app.liars.changes import BrokenProject


@pytest.fixture(scope="session")
def place_of(tmp_path_factory: pytest.TempPathFactory) -> PlaceOf:
    places: dict[int, Path] = {}

    def found(project: BrokenProject) -> Path:
        return places.setdefault(id(project), tmp_path_factory.getbasetemp() / f"{id(project)}")

    return found
