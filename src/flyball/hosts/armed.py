"""Notice that hooks were disarmed: compare the settings that hold ours with those at a run's start.

Every file is compared that the session's host reads its hooks from: the user's, the project's and
the machine's. Other settings in these files are ignored.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from flyball.agents.event import HostEvent
from flyball.app.project import Home
from flyball.app.sessions import Sessions
from flyball.app.settling import state_dir
from flyball.hosts.hook_files import settings_files
from flyball.hosts.install.json_hooks import ours_in
from flyball.hosts.install.plugin import is_plugin
from flyball.hosts.install.reading import parse_settings, settings_text, table
from flyball.hosts.install.targets import GEMINI_SWITCH, HOSTS, HostPlaces
from flyball.run.event import EvidenceTaken
from flyball.terms.change_verdict import ChangeFinding, ChangeStrength, FindingKind, Weight
from flyball.terms.evidence import AnyEvidence, VerdictReport
from flyball.workspace.process.process_identity import environ_of

GONE = (
    "Flyball's hooks are gone from {files} since this work began. What happens without them is not "
    "seen, so the work counts as unverified. `flyball init --host {host}` installs them again; "
    "`flyball init --host {host} --remove` removes them for good."
)
LOST = (
    "Flyball's state of this session was deleted while the agent worked. What happened before is "
    "no longer known, so the work counts as unverified."
)
_FILE = "armed.json"


class RecordedHookFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """What decides in one settings file whether our hooks run."""

    ours: tuple[str, ...] = ()
    is_off: bool = False
    was_disarmed: bool = False
    """Whether our hooks were once missing here during the run."""


class RecordedHooks(msgspec.Struct, frozen=True, omit_defaults=True):
    """The hooks of a run's host, by file, as they were when the run began."""

    host: str = ""
    files: dict[str, RecordedHookFile] = {}
    is_lost: bool = False
    """Whether the run replaces one whose state was deleted."""


class DisabledHooks(NamedTuple):
    """What to say about missing hooks, and whether it was not found before."""

    text: str = ""
    is_news: bool = False


def record_hook_settings(home: Home, run: str, before: str, event: HostEvent) -> None:
    """Store the hooks as a run begins; those missing since the session's last run still count."""
    # A hook has the host's environment; a host that asks without one has only its own.
    own = {} if event.hook else environ_of(event.process)
    places = HostPlaces({**home.environ, **own}, home.repo)
    files = {
        str(path): _read_hooks(event.host, path) for path in settings_files(event.host, places)
    }
    for name, was in _kept(home.state, before).files.items():
        if name in files and _is_disarmed(was, files[name]):
            files[name] = replace(was, was_disarmed=False)
    _keep(home.state, run, RecordedHooks(event.host, files))


def mark_lost(home: Home, run: str) -> None:
    """Record that a run replaces one whose state was deleted."""
    _keep(home.state, run, replace(_kept(home.state, run), is_lost=True))


def find_disabled_hooks(home: Home, run: str) -> DisabledHooks:
    """Return what to say about hooks that are missing now."""
    kept = _kept(home.state, run)
    if kept.is_lost:
        return DisabledHooks(LOST)
    gone = {
        name: was
        for name, was in kept.files.items()
        if _is_disarmed(was, _read_hooks(kept.host, Path(name)))
    }
    if not gone:
        return DisabledHooks()
    is_news = any(not was.was_disarmed for was in gone.values())
    if is_news:
        marked = {name: replace(was, was_disarmed=True) for name, was in gone.items()}
        _keep(home.state, run, replace(kept, files={**kept.files, **marked}))
    return DisabledHooks(GONE.format(files=", ".join(gone), host=kept.host), is_news)


def unverified(home: Home, seen: EvidenceTaken, run: str) -> EvidenceTaken:
    """Return evidence that shows nothing if the hooks were disarmed while the work was done."""
    find_disabled_hooks(home, run)
    kept = _kept(home.state, run)
    files = ", ".join(name for name, was in kept.files.items() if was.was_disarmed)
    why = LOST if kept.is_lost else GONE.format(files=files, host=kept.host) if files else ""
    if not why:
        return seen
    return replace(seen, evidence=tuple(_unverified(each, why) for each in seen.evidence))


def _unverified(item: AnyEvidence, why: str) -> AnyEvidence:
    if not isinstance(item, VerdictReport):
        return item
    note = ChangeFinding(FindingKind.NOT_EVIDENCE, Weight.NOTES, why)
    findings = (*item.verdict.findings, note)
    verdict = replace(item.verdict, strength=ChangeStrength.UNVERIFIED, findings=findings)
    return replace(item, verdict=verdict)


def accept_hooks(environ: Mapping[str, str], path: Path) -> None:
    """Accept the hooks in a settings file as `flyball init` left them, in every project."""
    base = state_dir(environ) / "projects"
    for state in base.iterdir() if base.is_dir() else ():
        for session in Sessions(state).all():
            kept = _kept(state, session.run)
            now = {
                name: replace(was, ours=_read_hooks(kept.host, Path(name)).ours)
                for name, was in kept.files.items()
                if Path(name).resolve() == path.resolve()
            }
            if now:
                _keep(state, session.run, replace(kept, files={**kept.files, **now}))


def forget_hooks(home: Home, run: str) -> None:
    """Compare nothing more in a run: a person may have changed the hooks unseen."""
    if _record_file(home.state, run).exists():
        _keep(home.state, run, RecordedHooks())


def _is_disarmed(was: RecordedHookFile, now: RecordedHookFile) -> bool:
    return not {*was.ours} <= {*now.ours} or (now.is_off and not was.is_off)


def _read_hooks(host: str, path: Path) -> RecordedHookFile:
    """Return the state of a settings file; one that its host cannot read has no hooks."""
    text = settings_text(path)
    if host == "opencode":
        data = text.encode("utf-8", "surrogateescape")
        return RecordedHookFile((hashlib.sha256(data).hexdigest(),) if is_plugin(text) else ())
    found = parse_settings(path, text)
    values = {} if found.oddities & {*HOSTS[host].refuses} else found.values
    ours = tuple(f"{event} {command}" for event, command in ours_in(values, host))
    return RecordedHookFile(ours, _is_off(host, values))


def _is_off(host: str, found: dict[str, Any]) -> bool:
    match host:
        case "claude":
            return found.get("disableAllHooks") is True
        case "codex":
            features = table(found, "features")
            return features.get("hooks", features.get("codex_hooks")) is False
        case _:
            section, name = GEMINI_SWITCH
            switches = table(found, section)
            named = switches.get("disabled")
            is_named = isinstance(named, list) and HOSTS[host].handler.get("name") in named
            return switches.get(name) is False or is_named


def _record_file(state: Path, run: str) -> Path:
    return state / "runs" / run / _FILE


def _kept(state: Path, run: str) -> RecordedHooks:
    with suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode(_record_file(state, run).read_bytes(), type=RecordedHooks)
    return RecordedHooks()


def _keep(state: Path, run: str, recorded: RecordedHooks) -> None:
    _record_file(state, run).write_bytes(msgspec.json.encode(recorded))
