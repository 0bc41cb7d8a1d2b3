"""Check `flyball confined`, through which hooks run calls, for `flyball doctor`."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flyball.app.examining.symptom import Symptom
    from flyball.app.project import Home
    from flyball.workspace.process.self_test import AttackReport

_CANARY = "canary-of-the-doctor"
_COMPUTED = 'cat "$(printf .e)nv" "$(realpath .env)"; cat .e?v; echo read'


def examine_confined(home: Home) -> list[Symptom]:
    """Check whether other agents' commands can be confined in this project."""
    from flyball.app.examining.symptom import fine, note
    from flyball.app.hosts.confining import why_unconfined

    if why := why_unconfined(home.repo):
        seen = f"`flyball confined` runs commands plain here: {why}"
        return [note("confined", seen, "Hooks judge commands by text and by effect instead.")]
    return [fine("confined", "commands of other agents can be confined")]


def attack_secret() -> list[AttackReport]:
    """Try to read a secret by a computed name, as another agent's command.

    Skip the attack where no command can be confined: `examine_confined` reports that.
    """
    from flyball.app.hosts.confining import why_unconfined
    from flyball.workspace.process.self_test import AttackReport
    from flyball.workspace.process.spawn import run_sync

    top = Path(os.path.realpath(tempfile.mkdtemp(prefix="flyball-doctor-")))
    try:
        (top / ".env").write_text(f"TOKEN={_CANARY}\n")
        if why_unconfined(top):
            return []
        program = Path(sys.executable).with_name("flyball")
        argv = (os.fspath(program), "confined", "--read-only", "--", "sh", "-c", _COMPUTED)
        env = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ}
        end = run_sync(argv, cwd=top, env=env, seconds=60)
    finally:
        shutil.rmtree(top, ignore_errors=True)
    is_shown = _CANARY.encode() in end.stdout + end.stderr
    words = "a confined command reads .env by a name that it computes"
    seen = "the secret was read" if is_shown else "" if b"read" in end.stdout else "it did not run"
    return [AttackReport("a secret by a computed name", words, not seen, seen)]
