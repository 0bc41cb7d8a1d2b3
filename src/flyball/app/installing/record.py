"""What was put where, so that taking it out again needs no guess."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from flyball.app.installing.json_hooks import PutIn
from flyball.app.settling import state_dir


class InstallRecord(msgspec.Struct, frozen=True):
    """One installation. It keeps only what is ours: settings of others may hold secrets."""

    path: str
    host: str
    scope: str
    put: tuple[PutIn, ...] = ()
    made_file: bool = False
    made_directories: tuple[str, ...] = ()
    version: int = 1


def record_path(environ: Mapping[str, str], host: str, path: Path) -> Path:
    """Where the record of an installation in this file is kept."""
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    return state_dir(environ) / "installed" / f"{host}-{digest}.json"


def read_record(place: Path) -> InstallRecord | None:
    """The record, if there is one that can be read; a damaged one is none."""
    try:
        return msgspec.json.decode(place.read_bytes(), type=InstallRecord)
    except (OSError, msgspec.MsgspecError):
        return None


def write_record(place: Path, record: InstallRecord) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    spare = place.with_suffix(".new")
    spare.write_bytes(msgspec.json.encode(record))
    spare.replace(place)
