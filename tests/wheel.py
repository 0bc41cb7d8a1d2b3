"""Installs the built wheel into clean environments and uses it there; `make dist` runs it."""

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOT_FOR_USERS = {"dev", "bench"}


def build(into: Path, *targets: str) -> Path:
    """Build what is released into a directory; the wheel."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(into), *targets]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = into.glob("*.whl")
    return wheel


def extras() -> list[str]:
    """What a user may ask for besides the package itself."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return sorted(set(settings["project"]["optional-dependencies"]) - NOT_FOR_USERS)


def install(wheel: Path, place: Path, extra: str) -> Path:
    """A new environment with the wheel in it; its directory of programs."""
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    named = f"{wheel}[{extra}]" if extra else str(wheel)
    pip = [str(place / "bin" / "python"), "-m", "pip", "install", "-q"]
    subprocess.run([*pip, "--disable-pip-version-check", named], check=True, cwd=place)
    return place / "bin"


def use(programs: Path, *words: str, said: str = "") -> subprocess.CompletedProcess[str]:
    """What a program of the environment answers, far from our own source."""
    command = [str(programs / words[0]), *words[1:]]
    clean = {
        "HOME": str(programs.parent),
        "PATH": f"{programs}:/usr/bin:/bin",
        "FLYBALL_DATABASE": "postgresql://127.0.0.1:1/none" if "list" in words else "",
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1" if "--scripted" in words else "",
    }
    return subprocess.run(
        command, cwd=programs.parent, env=clean, input=said, capture_output=True, text=True
    )


def missing(programs: Path) -> set[str]:
    """The extras that a command asks for here, because it has to do without them."""
    commands = {
        "web": ("serve", "--port", "0", "--repo", "nowhere"),
        "mcp": ("mcp", "--repo", "nowhere"),
        "acp": ("acp",),
        "cluster": ("runs", "list"),
        "otel": ("demo", "--scripted"),
    }
    said = {extra: use(programs, "flyball", *words) for extra, words in commands.items()}
    # Whoever can do without an extra says so in passing, on the other stream.
    return {
        extra for extra, done in said.items() if f"flyball[{extra}]" in done.stderr + done.stdout
    }


def main() -> int:
    """Try the wheel with no extra, with each, and with all."""
    (wheel,) = (ROOT / "dist").glob("*.whl")
    for extra in ["", *extras()]:
        with tempfile.TemporaryDirectory() as place:
            programs = install(wheel, Path(place), extra)
            demo = use(programs, "flyball", "demo")
            lacks = missing(programs)
            is_well = demo.returncode == 0 and extra not in lacks and not (extra == "all" and lacks)
            print(f"{wheel.name}[{extra}]: {'works' if is_well else 'DOES NOT WORK'}", flush=True)
            if not is_well:
                print(demo.stdout + demo.stderr, lacks)
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
