"""Submit a run to a cluster: push its files to the project's remote and journal its start."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import msgspec

from flyball.app.project import Home, project_name
from flyball.app.runs.journals import opened
from flyball.app.runs.run_bundle import send_first
from flyball.app.starting import RunRequest, started_of
from flyball.app.templates import project_templates
from flyball.app.wiring import driver_spec
from flyball.engine.loop import LEASE_SECONDS
from flyball.errors import UsageError
from flyball.journal.protocol import SUBMITTED
from flyball.run.event import RunStarted
from flyball.run.machine import advance
from flyball.run.state import RunState
from flyball.run.thread import thread_lines
from flyball.workspace.process.process_identity import is_gone, name_this_process
from flyball.workspace.run.opening import open_workspace

TRAVELLING = (
    "model_vision",
    "model_roles",
    "model_phases",
    "patch_max_offset",
    "patch_paths",
    "repair_seconds",
    "verdict_mutant_seconds",
    "test_command",
    "check_command",
    "server_command",
)
"""Settings that travel with a run. What a command may access is up to the worker's own settings."""


async def submit(home: Home, wanted: RunRequest, *, priority: int = 0) -> str:
    """Submit a run to the cluster's workers; return its name once they can find it."""
    _require_portable(home, wanted)
    settings = home.effective.settings
    spec = driver_spec(settings, wanted.driver, Path.cwd())
    extra_data = {
        SUBMITTED: "yes",
        "priority": str(priority),
        "settings": json.dumps(portable_settings(home)),
    }
    own = project_templates(home)
    started = started_of(home, wanted._replace(extra_data=extra_data), spec, own.templates)
    # Parallel steps have files of their own outside the run's, which stay on one machine.
    policy = msgspec.structs.replace(started.policy, steps_at_once=1)
    started = msgspec.structs.replace(started, policy=policy, at=time.time())
    _send_files(home, started.run)
    await _write_down(home, started)
    return started.run


def portable_settings(home: Home) -> dict[str, Any]:
    """Return the settings that travel with a run, because they apply wherever it is driven; never a
    key."""
    settled = msgspec.to_builtins(home.effective.settings)
    origins = home.effective.origins
    return {name: settled[name] for name in TRAVELLING if name in origins}


def arrived(started: RunStarted) -> dict[str, Any]:
    """Return only the settings that may travel with a run, even if its start event has others."""
    told = msgspec.json.decode(started.shell.get("settings", "{}"), type=dict[str, Any])
    return {name: told[name] for name in TRAVELLING if name in told}


def _require_portable(home: Home, wanted: RunRequest) -> None:
    if not home.database:
        raise UsageError(
            "A run is submitted to a cluster, and no database is named.",
            "Give --database, or set FLYBALL_DATABASE.",
        )
    if wanted.in_place:
        raise UsageError(
            "A submitted run works on another machine, not in your checkout.",
            "Leave --in-place out.",
        )


def _send_files(home: Home, run: str) -> None:
    """Pack the current checkout and push it to the remote; keep no copy here."""
    place = Path(home.environ.get("HOME", "/"))
    workspace = open_workspace(home.repo, run, home.state, in_place=False, home=place)
    try:
        if workspace.branch is None:
            raise UsageError(
                f"{home.repo} is not a git repository, so its files cannot be sent.",
                "Create one with `git init` and a first commit.",
            )
        if workspace.skipped:
            first = workspace.skipped[0]
            raise UsageError(
                f"{first.path} cannot travel: {first.reason}.",
                "Let git ignore it, or drive the run here.",
            )
        send_first(workspace, project_name(home), os.environ | dict(home.environ))
    finally:
        if workspace.branch is None:
            workspace.close()
        else:
            workspace.remove()


async def _write_down(home: Home, started: RunStarted) -> None:
    before = RunState()
    state = advance(before, started).state
    async with opened(home) as journal:
        holder, now = name_this_process(), time.time()
        lease = await journal.acquire(started.run, holder, now, LEASE_SECONDS, is_gone)
        await journal.commit(lease, started, state, thread_lines(before, started, state))
        # This notifies the scheduler.
        await journal.release(lease)
