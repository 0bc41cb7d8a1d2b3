"""Record what was installed, so that it can be removed exactly."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from flyball.app.installing.json_hooks import InsertedText
from flyball.app.settling import state_dir


class InstallRecord(msgspec.Struct, frozen=True):
    """One installation. It stores only what is ours: other settings may hold secrets."""

    path: str
    host: str
    scope: str
    put: tuple[InsertedText, ...] = ()
    made_file: bool = False
    made_directories: tuple[str, ...] = ()
    version: int = 1


def record_path(environ: Mapping[str, str], host: str, path: Path) -> Path:
    """Return the path of the record of an installation in this file."""
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    return state_dir(environ) / "installed" / f"{host}-{digest}.json"


def read_record(place: Path) -> InstallRecord | None:
    """Return the record, or None if it is missing or damaged."""
    try:
        return msgspec.json.decode(place.read_bytes(), type=InstallRecord)
    except (OSError, msgspec.MsgspecError):
        return None


def write_record(place: Path, record: InstallRecord) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    spare = place.with_suffix(".new")
    spare.write_bytes(msgspec.json.encode(record))
    spare.replace(place)
