"""Build the statement about a verdict that was taken on this machine."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from pathlib import Path

import flyball
from flyball.attest.statement import (
    AttestedTree,
    FlyballBuild,
    Statement,
    Surroundings,
    Toolchain,
    build_statement,
)
from flyball.verdict.record import VerdictRecord


def make_statement(
    record: VerdictRecord,
    base: AttestedTree,
    head: AttestedTree,
    sandbox: str,
    redact: Callable[[str], str],
    *,
    run: str = "",
    request: str = "",
) -> Statement:
    """Return the statement about a verdict, without secrets: it may leave this machine."""
    clean = record.redacted(redact)
    surroundings = Surroundings(
        platform=f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        sandbox=sandbox,
        network=clean.network,
        variables=clean.variables,
        toolchains=tuple(_toolchains([each.command for each in record.runs], record.programs)),
    )
    build = FlyballBuild(version("flyball"), _own_digest())
    return build_statement(clean, base, head, build, surroundings, run=run, request=redact(request))


def _toolchains(commands: Iterable[str], path: str) -> Iterator[Toolchain]:
    """Yield the programs that the commands start, with the digests of their files."""
    for name in dict.fromkeys(command.split()[0] for command in commands if command):
        # One that is named by its path belongs to the tree, which is attested itself.
        found = shutil.which(name, path=path) if "/" not in name else None
        if found and os.access(found, os.R_OK):
            yield Toolchain(name, hashlib.sha256(Path(found).read_bytes()).hexdigest())


def _own_digest() -> str:
    """Return the digest of Flyball's own source files."""
    top = Path(flyball.__file__).parent
    digest = hashlib.sha256()
    for file in sorted(top.rglob("*.py")):
        digest.update(f"{file.relative_to(top)}\0".encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()
