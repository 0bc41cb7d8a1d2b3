"""A project to examine: its own home, its own state, and nothing of this machine's user."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

from flyball.app.project import Home, open_home
from flyball.doctor.symptom import Symptom

Examiner = Callable[[Home], Awaitable[list[Symptom]]]


def home_of(place: Path, repo: Path, **environ: str) -> Home:
    own = place / "home"
    own.mkdir(exist_ok=True)
    env = {"HOME": str(own), "FLYBALL_STATE_DIR": str(place / "state"), "PATH": os.environ["PATH"]}
    return open_home(repo, {**env, **environ}, {})


def seen_by(examiner: Examiner, home: Home) -> dict[str, Symptom]:
    """What an examiner says, by the names of what it looked at."""

    async def ask() -> list[Symptom]:
        return await examiner(home)

    return {each.name: each for each in asyncio.run(ask())}
