"""Where something of the project is started, and what it finds there.

A run works on a tree of its own, while what was installed for the project lies in the user's
checkout. Installed tools are used from there; the code under test is the tree's own.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from flyball.tools.call.protocol import CallContext
from flyball.tools.runner.layout import text_of

VENVS = (".venv", "venv", "env")
_MAPPED = re.compile(r"['\"](/[^'\"]+)['\"]")


def venv_of(context: CallContext) -> Path | None:
    """The project's virtual environment: its own, or the one whose programs come first."""
    for home in homes_of(context):
        for name in VENVS:
            if (home / name / "bin" / "python").exists():
                return Path(os.path.realpath(home / name))
    found = shutil.which("python3", path=context.env.get("PATH", ""))
    if found and (Path(found).parent.parent / "pyvenv.cfg").exists():
        return Path(found).parent.parent
    return None


def python_of(context: CallContext) -> str:
    """The interpreter to use: the environment's, or the one on the path."""
    venv = venv_of(context)
    if venv:
        return os.fspath(venv / "bin" / "python")
    return shutil.which("python3", path=context.env.get("PATH", "")) or "python3"


def program_of(context: CallContext, name: str) -> str:
    """A program of the project's environment or its packages, or else the one on the path."""
    venv = venv_of(context)
    homes = (*homes_of(context), context.workdir, context.root.path)
    places = [Path(os.path.realpath(home / "node_modules"), ".bin", name) for home in homes]
    places += [venv / "bin" / name] if venv else []
    return next((os.fspath(place) for place in places if place.exists()), name)


def with_own_programs(command: str, context: CallContext) -> str:
    """A shell command that finds the project's installed programs first, as its people do."""
    places = [home / "node_modules" / ".bin" for home in (*homes_of(context), context.workdir)]
    venv = venv_of(context)
    places += [venv / "bin"] if venv else []
    path = shlex.quote(os.pathsep.join(map(os.fspath, places)))
    return f'PATH={path}:"$PATH"\nexport PATH\n{command}'


def homes_of(context: CallContext) -> tuple[Path, ...]:
    """Where the user installs things, the nearest first; what a run puts in its tree is not."""
    return tuple(dict.fromkeys((context.project / context.at, context.project)))


def readable(context: CallContext) -> tuple[Path, ...]:
    """What lies outside the tree and must be in reach: installed packages, nothing else."""
    found = [home / "node_modules" for home in homes_of(context)]
    if venv := venv_of(context):
        found += [venv, Path(os.path.realpath(venv / "bin" / "python")).parent.parent]
    real = {Path(os.path.realpath(place)) for place in found if place.is_dir()}
    return tuple(sorted(place for place in real if len(place.parts) > 2))


def environment(context: CallContext) -> dict[str, str]:
    """The environment of anything of the project's; the tree's own code comes first."""
    env = {
        **context.env,
        "PYTHONPATH": os.pathsep.join(map(os.fspath, import_path(context))),
        "GOCACHE": os.fspath(context.cache / "go"),
        "GOTOOLCHAIN": "local",
        "CARGO_TARGET_DIR": os.fspath(context.cache / "cargo"),
        "npm_config_update_notifier": "false",
        "npm_config_fund": "false",
        "npm_config_audit": "false",
        "npm_config_verify_deps_before_run": "false",
        "pnpm_config_verify_deps_before_run": "false",
    }
    if not context.settings.network:
        env |= {"CARGO_NET_OFFLINE": "true", "GOPROXY": "off"}
    return env


def import_path(context: CallContext) -> tuple[Path, ...]:
    """The directories of the tree that Python imports from."""
    places = [base / name for base in (context.workdir, context.root.path) for name in ("src", ".")]
    places += _editable(context)
    kept = (Path(os.path.normpath(place)) for place in places if place.is_dir())
    return tuple(dict.fromkeys(place for place in kept if not _hides_the_library(place)))


def _hides_the_library(place: Path) -> bool:
    """Whether something in a directory would be imported instead of the standard library."""
    if place.name == "src" and (place / "__init__.py").exists():
        return True
    return any(
        name != "test" and name in sys.stdlib_module_names for name in _importable(place.iterdir())
    )


def _importable(entries: Iterable[Path]) -> Iterator[str]:
    for entry in entries:
        if entry.suffix == ".py":
            yield entry.stem
        elif (entry / "__init__.py").exists():
            yield entry.name


def _editable(context: CallContext) -> Iterator[Path]:
    """The tree's counterparts of what is installed from the project's own sources."""
    venv = venv_of(context)
    for place in _installed_from(venv) if venv else ():
        if place.is_relative_to(context.project) and not place.is_relative_to(venv or ""):
            yield context.root.path / place.relative_to(context.project)


def _installed_from(venv: Path) -> Iterator[Path]:
    """Source directories that an environment imports from; read, never run."""
    for site in sorted(venv.glob("lib/python*/site-packages")):
        for file in sorted(site.glob("*.pth")):
            yield from (Path(line) for line in text_of(file).split("\n") if line[:1] == "/")
        for file in sorted(site.glob("__editable__*_finder.py")):
            yield from (Path(path).parent for path in _MAPPED.findall(text_of(file)))
