"""Installs what was built into clean environments and uses it there; `make dist` runs it."""

import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOT_FOR_USERS = {"dev", "bench"}
PYTHONS = ("3.11", "3.12", "3.13", "3.14")


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


def interpreters() -> dict[str, str]:
    """The other Pythons that we promise to work on and that are found here, by version."""
    found: dict[str, str] = {}
    for version in PYTHONS:
        kept = (Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python")
        for each in (shutil.which(f"python{version}"), *map(str, kept)):
            # A shim of pyenv is there also for what it will not start.
            if each and subprocess.run([each, "-c", ""], capture_output=True).returncode == 0:
                found[version] = each
    found.pop(f"{sys.version_info.major}.{sys.version_info.minor}", None)
    return found


def install(wheel: Path, place: Path, extra: str, python: str = sys.executable) -> Path:
    """A new environment with the wheel, or the source, in it; its directory of programs."""
    subprocess.run([python, "-m", "venv", str(place)], check=True)
    named = f"{wheel}[{extra}]" if extra else str(wheel)
    pip = [str(place / "bin" / "python"), "-m", "pip", "install", "-q"]
    subprocess.run([*pip, "--disable-pip-version-check", named], check=True, cwd=place)
    return place / "bin"


def use(programs: Path, *words: str, said: str = "") -> subprocess.CompletedProcess[str]:
    """What a program of the environment answers, far from our own source."""
    command = [str(programs / words[0]), *words[1:]]
    # Beside the environment: nothing confined may read a home, so none may be one.
    home = programs.parent.with_name(f"{programs.parent.name}-home")
    home.mkdir(exist_ok=True)
    clean = {
        "HOME": str(home),
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


def works(built: Path, extra: str, python: str = sys.executable) -> bool:
    """Whether the demo is mended in a new environment, and no extra that it has is missed."""
    with tempfile.TemporaryDirectory() as place:
        programs = install(built, Path(place, "environment"), extra, python)
        demo = use(programs, "flyball", "demo")
        lacks = missing(programs)
        is_well = demo.returncode == 0 and extra not in lacks and not (extra == "all" and lacks)
    version = Path(python).resolve().name
    told = f"{built.name}[{extra}] on {version}"
    print(f"{told}: {'works' if is_well else 'DOES NOT WORK'}", flush=True)
    if not is_well:
        print(demo.stdout + demo.stderr, lacks)
    return is_well


def main() -> int:
    """Try the wheel with no extra, with each and with all, the source, and other Pythons."""
    (wheel,) = (ROOT / "dist").glob("*.whl")
    (source,) = (ROOT / "dist").glob("*.tar.gz")
    others = interpreters()
    trials = [(wheel, extra, sys.executable) for extra in ("", *extras())]
    trials.append((source, "", sys.executable))
    trials += [(wheel, extra, each) for each in others.values() for extra in ("", "all")]
    failed = [trial for trial in trials if not works(*trial)]
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    if unseen := [each for each in PYTHONS if each not in others and each != own]:
        print(f"Not tried, since not found here: Python {', '.join(unseen)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
