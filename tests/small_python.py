"""The Python of a user's project: pytest and nothing else.

Our own environment has plugins for pytest that take longer to load than most suites of these tests
take to run, and every governed run starts several suites.
"""

from __future__ import annotations

import compileall
import os
import shutil
import sys
import tempfile
import venv
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

NEEDED = ("pytest", "iniconfig", "packaging", "pluggy", "pygments")


def small_python() -> str:
    """The program itself."""
    return str(_made() / "bin" / "python")


@cache
def small_path() -> str:
    """A PATH whose `python` and `pytest` are those of the small Python, and the rest ours."""
    places = (_made() / "bin", Path(sys.executable).parent)
    return os.pathsep.join((*map(str, places), os.environ["PATH"]))


@cache
def system_path() -> str:
    """A PATH with the programs of the small Python first, and the rest the system's."""
    return os.pathsep.join((str(_made() / "bin"), "/usr/local/bin", "/usr/bin", "/bin"))


def _made() -> Path:
    """The small Python beside ours, made where it is missing."""
    place = Path(sys.prefix) / f"small-{'-'.join(distribution(each).version for each in NEEDED)}"
    if not place.exists():
        new = Path(tempfile.mkdtemp(prefix="small-", dir=place.parent))
        _make(new)
        try:
            new.rename(place)
        except OSError:  # Another worker was faster: its Python is the same.
            shutil.rmtree(new)
    return place


def _make(place: Path) -> None:
    venv.create(place, symlinks=True)
    (packages,) = place.glob("lib/*/site-packages")
    for name in NEEDED:
        found = distribution(name)
        for file in found.files or ():
            if file.parts[0] != ".." and file.suffix != ".pyc":
                (packages / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(str(found.locate_file(file)), packages / file)
    # Confined suites cannot write here: what is not compiled now would be compiled by each of them.
    compileall.compile_dir(packages, quiet=2)
    pytest = place / "bin" / "pytest"
    pytest.write_text('#!/bin/sh\nexec "$(dirname "$0")/python" -m pytest "$@"\n')
    pytest.chmod(0o755)
