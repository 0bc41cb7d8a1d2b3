"""Examine the driver that runs would use, the repository's trust, and the hooks of hosts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec

from flyball.app.examining.symptom import Symptom, fine, note, trouble
from flyball.app.installing.targets import HOSTS, HostPlaces
from flyball.app.project import Home, offer
from flyball.app.proving.installed import find_hooks, look_at_settings
from flyball.app.proving.lines import ProofState
from flyball.app.wiring import (
    HOW_TO_SET,
    REPAIR,
    driver_spec,
    family,
    models_of,
    providers_of,
    unlocked,
)
from flyball.core.terms.shape import counted
from flyball.drivers.routing import LIBRARY, Models, check, not_installed
from flyball.errors import DriverError, NotFound, UsageError

REPAIRS = "the built-in repairer needs neither model nor key"


async def examine_driver(home: Home) -> list[Symptom]:
    """Check whether the default driver can be used."""
    settings = home.effective.settings
    try:
        spec = driver_spec(settings, "", home.repo)
        if spec == REPAIR:
            return [fine("model", f"none is configured; {REPAIRS}. {HOW_TO_SET}")]
        kind, _, name = spec.partition(":")
        if kind != "model":
            return [fine("driver", spec)]
        models = models_of(settings, name)
        check(models)
        providers_of(unlocked(home, spec), models)
        _require_packages(models)
    except (UsageError, DriverError) as error:
        hint = f"{error.hint} Meanwhile {REPAIRS}: `--driver repair`."
        return [trouble("model", error.message, hint)]
    return [fine("model", name)]


def _require_packages(models: Models) -> None:
    """Raise if the packages for models are not installed; search only, as loading takes seconds."""
    for name in models.all:
        own = {family(name)} & {"openai", "anthropic"}
        for package in (LIBRARY, *own):
            if find_spec(package) is None:
                raise not_installed(name, package)


async def examine_trust(home: Home) -> list[Symptom]:
    """Check whether the repository's own settings are trusted."""
    try:
        found = offer(home.environ, home.repo)
    except NotFound:
        return []
    files = [found.path.name] if found.text else []
    files += [each.path.name for each in found.templates]
    if found.is_trusted:
        return [fine("trust", f"{', '.join(files)}: accepted")]
    seen = f"{counted(len(files), 'file')} of this repository not accepted: {', '.join(files)}"
    return [note("trust", seen, "Nothing in it counts. Read and accept it with `flyball trust`.")]


async def examine_hooks(home: Home) -> list[Symptom]:
    """Check the hooks installed in other agents' settings; return nothing if there are none."""
    places = HostPlaces(home.environ, home.repo)
    return [each for host in HOSTS for each in _hooks(host, places)]


def _hooks(host: str, places: HostPlaces) -> Iterator[Symptom]:
    name = f"hooks of {HOSTS[host].title}"
    found, unread = find_hooks(host, places)
    for text in unread:
        yield note(
            name,
            text,
            "Fix the file; until then Flyball cannot see whether its hooks are installed.",
        )
    gone = [each for each in found if not os.access(each.executable, os.X_OK)]
    for each in gone:
        seen = f"{each.target.path} names {each.executable}, which is gone: nothing is governed"
        hint = f"Say `flyball init --host {host} --scope {each.target.scope}`"
        yield trouble(name, seen, f"{hint}, or the same with --remove.")
    if not found or gone:
        return
    line, _ = look_at_settings(host, places)
    if line.state is ProofState.FAILED:
        yield note(name, line.seen, line.next)
    else:
        yield fine(name, line.seen)
