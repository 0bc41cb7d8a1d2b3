"""Verify a change of any author: the same verdict as for a governed run."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from flyball.app.project import Home, redactor_of
from flyball.app.wiring import tool_settings
from flyball.errors import Conflict
from flyball.terms.change_verdict import ChangeVerdict
from flyball.terms.phase import Phase
from flyball.terms.progress import Progress, unwatched
from flyball.tools.call.protocol import CallContext
from flyball.verdict.record import VerdictRecord, read_record
from flyball.verdict.reports import AskedFor
from flyball.verdict.take import Wanted, run_unchanged, take_verdict
from flyball.workspace.files.paths import Root
from flyball.workspace.process import levels
from flyball.workspace.run.clean import keep_ignored, users_secrets
from flyball.workspace.run.comparing import ComparedTrees, RevisionTree, compare_trees
from flyball.workspace.sandbox import environment
from flyball.workspace.servers.server import RunServers


class Verified(NamedTuple):
    """The verdict on a change, its trees, and how its tests were confined."""

    verdict: ChangeVerdict
    base: str
    head: str
    has_changed: bool
    sandbox: levels.SandboxLevel
    old: RevisionTree
    new: RevisionTree
    record: VerdictRecord | None = None
    """Every run of the verdict, test by test; None where nothing changed."""


async def verify_change(
    home: Home,
    base: str,
    head: str,
    tell: Callable[[Progress], None] = unwatched,
    *,
    is_plain_checked: bool = False,
) -> Verified:
    """Return the verdict on the change from one revision to another, whoever wrote it.

    There is no checkpoint and no agent to send back. A change whose tests pass without it is
    labelled so, and questions to a person are part of the answer. `is_plain_checked` says to run
    the old tests in the user's own surroundings, too, if some fail.
    """
    directory = home.state / "verify" / f"{os.getpid()}-{secrets.token_hex(3)}"
    user = Path(home.environ.get("HOME", "") or Path.home())
    with compare_trees(home.repo, directory, base=base, head=head, home=user) as compared:
        keep_ignored(compared.workspace, compared.head, compared.present)
        context = _context(home, compared, tell)
        wanted = Wanted(compared.base, compared.head, AskedFor(wants_red=False, repairs=True))
        if is_plain_checked:
            wanted = wanted._replace(plain=partial(_unconfined, home))
        has_changed = compared.base != compared.head
        verdict = await (
            take_verdict(context, wanted) if has_changed else run_unchanged(context, compared.head)
        )
        return Verified(
            verdict,
            compared.base_name,
            compared.head_name,
            has_changed,
            levels.detect_level(),
            compared.old,
            compared.new,
            read_record(compared.workspace.directory, compared.head) if has_changed else None,
        )


def refuse_bad_merge(
    home: Home, before: str, after: str, tell: Callable[[Progress], None] = unwatched
) -> None:
    """Raise if the verdict on a merged tree is negative; a question is no reason.

    The run already asked its questions; the new case here is a test of the branch that the merged
    work breaks.
    """
    verdict = asyncio.run(verify_change(home, before, after, tell)).verdict
    if verdict.blocking:
        said = " ".join(each.sentence for each in verdict.blocking)
        raise Conflict(
            f"Merged into your branch, the change no longer passes: {said}",
            "Nothing was merged. Repair it in a new run, or merge with --unverified.",
        )


def _unconfined(home: Home, context: CallContext) -> CallContext:
    """Return the same call as the user's own: all of their variables, the network, no sandbox."""

    def sandbox_in(root: Root) -> levels.Sandbox:
        return levels.Sandbox(level=levels.SandboxLevel.NONE, root=root.path, network=True)

    settings = msgspec.structs.replace(context.settings, network=True)
    return context._replace(sandbox_in=sandbox_in, settings=settings).with_env(home.environ)


def _discard(_text: str) -> None:
    """Discard what the tests print."""


def _context(home: Home, compared: ComparedTrees, tell: Callable[[Progress], None]) -> CallContext:
    workspace, settings = compared.workspace, tool_settings(home.effective)
    user = home.environ.get("HOME", "")

    def sandbox_in(root: Root) -> levels.Sandbox:
        return levels.Sandbox(
            level=levels.detect_level(),
            root=root.path,
            network=settings.network,
            readable=(workspace.project, *settings.readable),
            hidden=tuple(
                workspace.project / path for path in users_secrets(workspace, settings.secrets)
            ),
            home=Path(user) if user else None,
        )

    servers = RunServers(workspace.directory / "servers")
    # As in the user's own test run: the caller has access to them anyway.
    root, allowed = workspace.root, (*environment.users_names(home.environ), *settings.variables)
    env = environment.clean(home.environ, workspace=root, allowed=allowed)
    return CallContext(
        run="verify",
        card="verify",
        call="verify",
        key="verify",
        phase=Phase.VERIFY,
        tree=compared.head,
        root=Root(workspace.root),
        workspace=workspace,
        sandbox_in=sandbox_in,
        env_of=lambda: env,
        redactor=redactor_of(home),
        settings=settings,
        limits=settings.suite_limits,
        seen={},
        on_output=_discard,
        servers_of=lambda: servers,
        is_to_rest=lambda: False,
        on_progress=tell,
    )
