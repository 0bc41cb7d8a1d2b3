"""A shop, and a host that works in it; its resident governor ends with the test."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
from tests.governed import Shell, shop
from tests.hosts.hooking import HostSession


@pytest.fixture
def shell(tmp_path: Path) -> Generator[Shell]:
    """Somebody in the shop, whose governors' sockets have short names of their own."""
    (tmp_path / "home").mkdir()
    sockets = tempfile.mkdtemp(prefix="fb")
    yield Shell(shop(tmp_path / "shop"), tmp_path / "home", XDG_RUNTIME_DIR=sockets)
    shutil.rmtree(sockets, ignore_errors=True)


@pytest.fixture
def host(shell: Shell) -> Generator[HostSession]:
    session = HostSession(shell)
    yield session
    session.end()
