"""Choose the directory and environment in which a project's program is started.

A run works on its own tree, while the project's tools are installed in the user's checkout. They
are used from there; the code under test is the tree's own.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from flyball.regex import regex
from flyball.verdict.runners.layout import VENV, text_of
from flyball.verdict.runners.provision import has_composer
from flyball.verdict.runners.start_context import StartContext
from flyball.workspace.process.process import can_layer
from flyball.workspace.sandbox.confinement import SandboxLevel

VENVS = (".venv", "venv", "env")
_MAPPED = regex(r"['\"](/[^'\"]+)['\"]")


def venv_of(context: StartContext) -> Path | None:
    """Return the project's virtual environment: its own, or the one whose programs come first on
    the PATH."""
    for home in homes_of(context):
        for name in VENVS:
            if _is_users(home / name, context):
                return Path(os.path.realpath(home / name))
    found = _python_on_path(context)
    if found and (Path(found).parent.parent / "pyvenv.cfg").exists():
        return Path(found).parent.parent
    return None


def _is_users(venv: Path, context: StartContext) -> bool:
    """Return whether an environment existed before the run: one made by a run is not trusted.

    The inode's change time is set by the kernel: no program can set it back.
    """
    parts = [venv / "bin" / "python", venv / VENV]
    if not parts[0].exists():
        return False
    if not context.workspace.in_place:
        return True
    began = context.workspace.began
    return all(part.lstat().st_ctime <= began for part in parts if os.path.lexists(part))


def python_of(context: StartContext) -> str:
    """Return the interpreter to use: the environment's, the one on the PATH, or Flyball's.

    Flyball's is used without its environment, because packages installed there are not the
    project's.
    """
    venv = venv_of(context)
    if venv:
        return os.fspath(venv / "bin" / "python")
    return _python_on_path(context) or os.path.realpath(sys.executable)


def _python_on_path(context: StartContext) -> str | None:
    return shutil.which("python3", path=context.env.get("PATH", ""))


def program_of(context: StartContext, name: str) -> str:
    """Return a program of the project's environment or its packages, or else the one on the
    PATH."""
    venv = venv_of(context)
    homes = (*homes_of(context), context.workdir, context.root.path)
    places = [Path(os.path.realpath(home / "node_modules"), ".bin", name) for home in homes]
    places += [venv / "bin" / name] if venv else []
    return next((os.fspath(place) for place in places if place.exists()), name)


def with_own_programs(command: str, context: StartContext) -> str:
    """Return a shell command that finds the project's installed programs first, as its developers
    do."""
    places = [home / "node_modules" / ".bin" for home in (*homes_of(context), context.workdir)]
    venv = venv_of(context)
    places += [venv / "bin"] if venv else []
    path = shlex.quote(os.pathsep.join(map(os.fspath, places)))
    return f'PATH={path}:"$PATH"\nexport PATH\n{command}'


def homes_of(context: StartContext) -> tuple[Path, ...]:
    """Return the user's installation directories, nearest first, without any that a run created."""
    return tuple(dict.fromkeys((context.project / context.at, context.project)))


def readable(context: StartContext) -> tuple[Path, ...]:
    """Return the paths outside the tree that must be readable: installed packages, nothing else."""
    packages = [Path(os.path.realpath(home / "node_modules")) for home in homes_of(context)]
    # A link of that name may lead anywhere; only one to another such folder is meant.
    found = [place for place in packages if place.name == "node_modules"]
    found += [home / "vendor" for home in homes_of(context) if has_composer(home)]
    venv = venv_of(context)
    if venv or not _python_on_path(context):
        python = Path(os.path.realpath(python_of(context)))
        found += [python.parent.parent] if _is_interpreter(python) else []
    if venv:
        is_own = venv.is_relative_to(os.path.realpath(context.project))
        found += [venv] if is_own or (venv / VENV).is_file() else []
    return tuple(sorted({place for place in found if place.is_dir() and len(place.parts) > 2}))


def _is_interpreter(python: Path) -> bool:
    """Return whether a Python link leads to an interpreter rather than to a user's home."""
    is_one = python.parent.name == "bin" and python.name.startswith("python")
    return is_one and not Path.home().is_relative_to(python.parent.parent)


def environment(context: StartContext) -> dict[str, str]:
    """Return the environment for any program of the project; the tree's own code comes first."""
    env = {
        **context.env,
        "PYTHONPATH": os.pathsep.join(map(os.fspath, import_path(context))),
        **_build_caches(context),
        "GOTOOLCHAIN": "local",
        "npm_config_cache": os.fspath(context.caches / "npm"),
        "npm_config_update_notifier": "false",
        "npm_config_fund": "false",
        "npm_config_audit": "false",
        "npm_config_verify_deps_before_run": "false",
        "pnpm_config_verify_deps_before_run": "false",
    }
    # Each start has a home of its own that is thrown away: `git config --global` may write there.
    env.pop("GIT_CONFIG_GLOBAL", None)
    if not context.settings.network:
        env |= {"CARGO_NET_OFFLINE": "true", "GOPROXY": "off"}
    return env


def shares_builds(context: StartContext) -> bool:
    """Return whether a process on a copy of a tree finds earlier builds without being able to
    change them.

    Code that could change them could link anything into another tree's tests.
    """
    return (
        context.is_scratch
        and context.built.is_dir()
        and context.sandbox.level is SandboxLevel.NAMESPACES
        and can_layer(context.workspace.directory)
    )


def _build_caches(context: StartContext) -> dict[str, str]:
    """Return the directories in which compilers cache their builds.

    Cargo rebuilds sources that are newer than the last build. Two copies of trees, both made before
    either was built, would look the same to it, and the tests of one would run the code of the
    other. So each has its own directory, or starts from one that was made for no copy.
    """
    if shares_builds(context):
        go, cargo = context.built / "go", context.built / "cargo"
    else:
        go = context.caches / "go"
        cargo = context.cache / (f"cargo-{context.tree[:16]}" if context.is_scratch else "cargo")
    return {"GOCACHE": os.fspath(go), "CARGO_TARGET_DIR": os.fspath(cargo)}


def import_path(context: StartContext) -> tuple[Path, ...]:
    """Return the directories of the tree that Python imports from."""
    places = [base / name for base in (context.workdir, context.root.path) for name in ("src", ".")]
    places += _editable(context)
    kept = (Path(os.path.normpath(place)) for place in places if place.is_dir())
    return tuple(dict.fromkeys(place for place in kept if not _hides_the_library(place)))


def _hides_the_library(place: Path) -> bool:
    """Return whether something in a directory would shadow the standard library."""
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


def _editable(context: StartContext) -> Iterator[Path]:
    """Yield the tree's counterparts of packages that are installed from the project's own
    sources."""
    venv = venv_of(context)
    for place in _installed_from(venv) if venv else ():
        if place.is_relative_to(context.project) and not place.is_relative_to(venv or ""):
            yield context.root.path / place.relative_to(context.project)


def _installed_from(venv: Path) -> Iterator[Path]:
    """Yield source directories that an environment imports from; its files are read, never run."""
    for site in sorted(venv.glob("lib/python*/site-packages")):
        for file in sorted(site.glob("*.pth")):
            yield from (Path(line) for line in text_of(file).split("\n") if line[:1] == "/")
        for file in sorted(site.glob("__editable__*_finder.py")):
            yield from (Path(path).parent for path in _MAPPED.findall(text_of(file)))
