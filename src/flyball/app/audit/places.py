"""Where hosts keep the transcripts of this user, and which files of a folder are transcripts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from flyball.regex import regex

SUFFIXES = frozenset({".jsonl", ".json", ".traj", ".db"})


def host_folders(environ: Mapping[str, str]) -> dict[str, Path]:
    """The folder in which each host keeps its transcripts, whether or not it is there."""
    home = Path(environ.get("HOME") or "/")
    data = Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    return {
        "claude": Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "projects",
        "codex": Path(environ.get("CODEX_HOME") or home / ".codex") / "sessions",
        "gemini": Path(environ.get("GEMINI_CLI_HOME") or home) / ".gemini" / "tmp",
        "opencode": data / "opencode",
    }


def transcripts(places: Iterable[Path]) -> Iterator[Path]:
    """Every file below these places that may be a transcript, each once, in the order of names."""
    seen: set[str] = set()
    for place in places:
        for path in [place] if place.is_file() else _below(place):
            if (whole := os.path.realpath(path)) not in seen:
                seen.add(whole)
                yield path


EVENT = regex(r"(?:event-)?(\d{1,9})(?:-[\w-]+)?\.json")


def is_event_folder(place: Path) -> bool:
    """Whether this is where OpenHands keeps a session, a file for each event."""
    return place.name == "events" and place.is_dir()


def event_files(folder: Path) -> list[Path]:
    """The files of a session's events, in their order."""
    found = [
        (int(match[1]), file) for file in folder.iterdir() if (match := EVENT.fullmatch(file.name))
    ]
    return [file for _, file in sorted(found)]


def _below(place: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(place):
        if is_event_folder(Path(folder)) and any(map(EVENT.fullmatch, names)):
            folders.clear()
            yield Path(folder)
            continue
        folders.sort()
        # opencode keeps whole copies of projects beside its data base.
        folders[:] = [name for name in folders if name not in ("snapshot", "node_modules", ".git")]
        for name in sorted(names):
            path = Path(folder, name)
            # A link may lead nowhere, and a pipe would never end.
            if path.suffix in SUFFIXES and path.is_file():
                yield path
