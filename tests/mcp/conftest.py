"""A shop, and somebody in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.governed import Shell, shop
from tests.mcp.serving import flow_shop


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    (tmp_path / "home").mkdir()
    return Shell(shop(tmp_path / "shop"), tmp_path / "home")


@pytest.fixture
def flow_shell(tmp_path: Path) -> Shell:
    (tmp_path / "home").mkdir()
    return Shell(flow_shop(tmp_path / "shop"), tmp_path / "home")
