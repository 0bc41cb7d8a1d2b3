"""The complete list of paths that a confined command may read outside its workspace.

To let commands read another path, add it here. This module imports nothing, since commands must
start quickly.
"""

import os
import stat
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

SYSTEM = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/nix/store",
    "/gnu/store",
    "/snap",
    "/proc",
    "/sys",
    "/var/lib/dpkg",
    "/var/lib/gems",
    "/home/linuxbrew/.linuxbrew",
    "/var/cache/fontconfig",
    "/run/current-system",
    "/run/systemd/resolve",
)

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")

IN_HOME = (
    ".cargo/bin",
    ".cargo/registry",
    ".cargo/git",
    ".rustup",
    ".pyenv",
    ".nvm",
    ".volta",
    ".rbenv",
    ".rvm",
    ".sdkman",
    ".asdf",
    ".bun/bin",
    ".deno/bin",
    ".ghcup",
    ".juliaup",
    ".dotnet",
    ".local/bin",
    ".local/lib",
    ".local/pipx",
    ".local/share/mise",
    ".local/share/pipx",
    ".local/share/pnpm",
    ".local/share/uv",
    ".m2/repository",
    ".cache/ms-playwright",
    ".goenv",
    ".gvm",
    ".fnm",
    ".local/share/fnm",
    ".nodenv",
    ".nodebrew",
    ".jenv",
    ".jabba/jdk",
    ".jdks",
    ".local/share/rtx",
    ".local/share/mamba",
    ".micromamba",
    ".virtualenvs",
    ".cache/pypoetry/virtualenvs",
    ".local/share/virtualenvs",
    ".local/share/hatch",
    ".npm-global",
    ".proto/tools",
    ".proto/bin",
    ".proto/shims",
    ".pixi/bin",
    ".pixi/envs",
    "go/bin",
    "go/pkg",
    "sdk",
    "miniconda3",
    "anaconda3",
    "miniforge3",
    "mambaforge",
    "micromamba",
)
"""Toolchains that people install at home. Their credential files are outside these paths."""

TOOLCHAINS: dict[str, str] = {
    "CARGO_HOME": ".cargo",
    "RUSTUP_HOME": ".rustup",
    "PYENV_ROOT": ".pyenv",
    "NVM_DIR": ".nvm",
    "VOLTA_HOME": ".volta",
    "RBENV_ROOT": ".rbenv",
    "SDKMAN_DIR": ".sdkman",
    "ASDF_DATA_DIR": ".asdf",
    "MISE_DATA_DIR": ".local/share/mise",
    "GOENV_ROOT": ".goenv",
    "NODENV_ROOT": ".nodenv",
    "FNM_DIR": ".local/share/fnm",
    "UV_PYTHON_INSTALL_DIR": ".local/share/uv/python",
    "GOMODCACHE": "go/pkg/mod",
    "PLAYWRIGHT_BROWSERS_PATH": ".cache/ms-playwright",
}
"""Directories of tool managers' installations; they search HOME, which a command does not get."""

LAYERED_IN_HOME = (
    ".cache/go-build",
    ".cache/deno",
    ".cache/pre-commit",
    ".gradle/caches",
    ".npm/_cacache",
)
"""Caches at home that programs write to at every start: shown with a discarded overlay."""


def readable_paths(env: Mapping[str, str], home: Path | None) -> tuple[str, ...]:
    """Return the outside paths a command may read and run, by its environment and home."""
    paths = [*SYSTEM, sys.prefix, sys.base_prefix, sys.exec_prefix]
    if home:
        paths += [str(home / below) for below in IN_HOME]
    # ~/.cargo itself contains credentials.toml; the necessary parts are in IN_HOME.
    paths += [env[name] for name in TOOLCHAINS if name in env and name != "CARGO_HOME"]
    paths += env.get("PATH", "").split(os.pathsep)
    found = {path for path in paths if path.startswith("/") and os.access(path, os.R_OK)}
    # Both spellings: a program is started by the link in PATH and loads its libraries next to the
    # target.
    found |= {os.path.realpath(path) for path in found}
    return _outermost(path for path in found if not _holds_home(path, home))


def granted_paths(places: Iterable[Path], home: Path | None) -> list[str]:
    """Return the resolved paths that the user or the run names, excluding a whole home."""
    real = (os.path.realpath(place) for place in places)
    return [path for path in real if os.access(path, os.R_OK) and not _holds_home(path, home)]


def _outermost(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the paths that are not below another one, in their given spelling."""
    kept: list[str] = []
    for path in sorted(paths):
        # A link covers nothing: paths below its own spelling still have to be granted.
        if not any(path.startswith(f"{top}/") and not Path(top).is_symlink() for top in kept):
            kept.append(path)
    return tuple(kept)


def _holds_home(path: str, home: Path | None) -> bool:
    """Return whether granting a path would grant the whole home."""
    real = os.path.realpath(path)
    return real == "/" or (home is not None and Path(os.path.realpath(home)).is_relative_to(real))


@cache
def owner_only_entries(top: str) -> tuple[str, ...]:
    """Return entries below a directory that only root may read, if this process is root.

    File modes protect /etc/shadow from every other user, but not from root.
    """
    if os.geteuid() != 0:
        return ()
    found: list[str] = []
    for folder, folders, files in os.walk(top):
        for name in (*folders, *files):
            path = Path(folder, name)
            # Files in /etc may change during the walk.
            with suppress(FileNotFoundError):
                mode = path.lstat().st_mode
                if not stat.S_ISLNK(mode) and not mode & stat.S_IROTH:
                    found.append(str(path))
        folders[:] = [name for name in folders if str(Path(folder, name)) not in found]
    return tuple(found)


def parts_around(top: str, hidden: Sequence[str]) -> list[tuple[str, bool]]:
    """Return paths that cover a directory except for its hidden entries, and whether each is whole.

    Links are excluded: granting one would grant its target, which may be hidden or outside.
    """
    if top in hidden:
        return []
    inner = [path for path in hidden if path.startswith(f"{top}/")]
    if not inner:
        return [(top, True)]
    found = [(top, False)]
    with suppress(OSError), os.scandir(top) as entries:
        for entry in sorted(entries, key=lambda each: each.name):
            if not entry.is_symlink():
                found += parts_around(entry.path, inner)
    return found
