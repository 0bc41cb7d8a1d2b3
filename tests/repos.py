"""Real repositories for tests, made with the machine's own git as a user would."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

USER = (
    "-c",
    "user.name=Ada",
    "-c",
    "user.email=ada@example.org",
    "-c",
    "protocol.file.allow=always",
    # Newer versions of git tidy up in the background, while a test looks at the repository.
    "-c",
    "maintenance.auto=false",
)


def git(where: Path, *args: str, check: bool = True, stdin: str | None = None) -> str:
    """What git prints there."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    env |= {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", *USER, *args],
        cwd=where,
        env=env,
        capture_output=True,
        text=True,
        input=stdin,
        timeout=600,
    )
    if check and done.returncode:
        raise AssertionError(f"git {' '.join(args)}: {done.stderr}")
    return done.stdout


def put(root: Path, files: dict[str, str | bytes]) -> None:
    """Write files, making their directories."""
    for name, content in files.items():
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())


def repository(root: Path, files: dict[str, str | bytes] | None = None) -> Path:
    """A repository with one commit of these files, or none without any."""
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q", "-b", "main")
    if files:
        put(root, files)
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", "start")
    return root


def contents(root: Path) -> dict[str, tuple[str, bytes]]:
    """Every file and link below a directory, git's own records left out."""
    found: dict[str, tuple[str, bytes]] = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != ".git"]
        links = [name for name in folders if Path(folder, name).is_symlink()]
        for name in [*names, *links]:
            place = Path(folder, name)
            if name == ".git":
                continue
            if place.is_symlink():
                found[str(place.relative_to(root))] = ("link", os.fsencode(place.readlink()))
            else:
                bits = "x" if place.stat().st_mode & stat.S_IXUSR else "-"
                found[str(place.relative_to(root))] = (bits, place.read_bytes())
    return found


def own_state(root: Path) -> dict[str, object]:
    """Everything of a user's repository that a run must leave alone."""
    directory = root / ".git"
    records = {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and "objects" not in path.relative_to(directory).parts
    }
    return {
        "files": contents(root),
        "records": records,
        "status": git(root, "status", "--porcelain=v2", "-uall", "--ignored"),
        "refs": git(root, "for-each-ref"),
        "stash": git(root, "stash", "list"),
        "worktrees": git(root, "worktree", "list"),
    }
