"""The use cases and the wiring: what a surface asks for, made of engine, journal and drivers."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

from flyball.core.event import AnyEvent, RunStarted
from flyball.core.intent import Intent, Turn
from flyball.core.policy import Policy
from flyball.core.state import RunState
from flyball.drivers.deferred import preload
from flyball.drivers.protocol import Driver
from flyball.drivers.relay import open_relay
from flyball.drivers.routing import Models, Providers
from flyball.drivers.scripted import ScriptedDriver, read_script
from flyball.engine.feed import Telemetry
from flyball.engine.hands import EngineHands
from flyball.engine.loop import LEASE_SECONDS, Engine
from flyball.engine.station import Place, Station
from flyball.errors import ConfigError, UsageError
from flyball.home import Home
from flyball.journal.protocol import Lease
from flyball.journal.sqlite import SqliteJournal
from flyball.shellcheck import AllowRule
from flyball.tools.protocol import ToolSettings
from flyball.workspace.process import Limits
from flyball.workspace.redaction import Redactor, secrets_in

NO_MODEL = (
    "No model is configured. Set one with `flyball run --model provider:model`, with "
    "FLYBALL_MODEL_DEFAULT, or in the user's config.toml under [model] default; or drive the run "
    "yourself with `--driver relay:DIR`."
)


class Wish(NamedTuple):
    """What a person asks for when a run starts."""

    request: str
    intent: Intent | None = None
    budget: int | None = None
    images: tuple[str, ...] = ()
    history: tuple[Turn, ...] = ()
    driver: str = ""
    in_place: bool = False
    policy: Policy = Policy()


class Watcher(NamedTuple):
    """Who is told what happens, as it happens."""

    telemetry: Callable[[Telemetry], None]
    text: Callable[[str], None]
    output: Callable[[str], None]


class Governed:
    """One run under way in this process."""

    def __init__(self, home: Home, watcher: Watcher) -> None:
        self.home = home
        self._watcher = watcher
        self._engine: Engine | None = None

    def pause(self, by: str) -> None:
        """Ask the run to rest."""
        if self._engine is not None:
            self._engine.pause(by)

    async def start(self, wish: Wish) -> RunState:
        """Begin a run and drive it until it rests or ends."""
        run = new_run_id()
        driver = wish.driver or self.home.effective.settings.driver_use
        shell = {"driver": driver, "in_place": "yes" if wish.in_place else ""}
        started = RunStarted(
            run=run,
            request=wish.request,
            policy=wish.policy,
            images=wish.images,
            history=wish.history,
            intent=wish.intent,
            budget=wish.budget,
            shell=shell,
        )
        return await self._drive(run, started, shell, ())

    async def go_on(self, run: str, events: Sequence[AnyEvent] = ()) -> RunState:
        """Add what a person said to a run at rest and drive it on."""
        journal = SqliteJournal(self.home.journal_path)
        first = (await journal.events(run))[0].event
        await journal.close()
        assert isinstance(first, RunStarted)
        return await self._drive(run, None, first.shell, events)

    async def _drive(
        self,
        run: str,
        started: RunStarted | None,
        shell: Mapping[str, str],
        events: Sequence[AnyEvent],
    ) -> RunState:
        home = self.home
        redactor = Redactor(secrets_in(home.environ))
        driver = make_driver(home, shell.get("driver", ""))
        place = Place(
            repo=home.repo,
            state_dir=home.state,
            in_place=bool(shell.get("in_place")),
            settings=tool_settings(home),
        )
        station = Station(place, home.environ, redactor, self._watcher.output)
        journal = SqliteJournal(home.journal_path)
        lease = await acquire(journal, run)
        try:
            history = started.history if started else ()
            hands = EngineHands(
                journal, driver, station, history=history, on_text=self._watcher.text
            )
            engine = Engine(journal, lease, hands, clock=time.time, watch=self._watcher.telemetry)
            self._engine = engine
            state = RunState() if started else await journal.load(run)
            if state.branch or state.base:
                station.open(run)
            for event in ((started,) if started else ()) + tuple(events):
                state = await engine.append(state, event)
            return await engine.drive(state)
        finally:
            self._engine = None
            await journal.release(lease)
            await journal.close()
            station.close()
            await driver.close()


def new_run_id() -> str:
    """Sorts by time and is easy to say: date, time, four letters."""
    stamp = datetime.now(UTC).strftime("%m%d-%H%M%S")
    return f"{stamp}-{''.join(secrets.choice('bcdfghjkmnpqrstvwxz') for _ in range(4))}"


def holder() -> str:
    """Who we are, for a lease: a process that can be looked up."""
    return f"process {os.getpid()} on {socket.gethostname()} since {_started(os.getpid())}"


def is_dead(who: str) -> bool:
    """Whether a holder on this machine no longer runs; of other machines we cannot tell."""
    words = who.split(" ")
    if len(words) != 6 or words[3] != socket.gethostname():
        return False
    return _started(int(words[1])) != words[5]


def _started(pid: int) -> str:
    """When a process began, in the kernel's ticks; a reused pid began at another time."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return "never"
    fields = text.rpartition(")")[2].split()
    return "never" if fields[0] == "Z" else fields[19]


async def acquire(journal: SqliteJournal, run: str) -> Lease:
    return await journal.acquire(run, holder(), time.time(), LEASE_SECONDS, is_dead)


def make_driver(home: Home, spec: str) -> Driver:
    """The driver a run was asked to use."""
    kind, _, rest = spec.partition(":")
    settings = home.effective.settings
    if kind == "scripted" and rest:
        return ScriptedDriver(read_script(Path(rest)))
    if kind == "relay" and rest:
        return open_relay(Path(rest), asyncio.sleep)
    if kind in ("", "model"):
        name = rest or settings.model_default
        if not name:
            raise ConfigError(NO_MODEL)
        models = Models(
            default=name,
            vision=settings.model_vision,
            by_role=dict(settings.model_roles),
            by_phase=dict(settings.model_phases),
        )
        return preload(models, providers_of(home, models))
    raise UsageError(
        f"There is no driver {spec!r}.", "Use scripted:FILE, relay:DIR or model:provider:model."
    )


KEYS = {
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "zai": "ZAI_API_KEY",
}


def providers_of(home: Home, models: Models) -> Providers:
    """Keys from the environment only; one base address for all, where the user set one."""
    found = {name: home.environ[var] for name, var in KEYS.items() if home.environ.get(var)}
    url = home.effective.settings.model_base_url
    kinds = {name.partition(":")[0] for name in models.all}
    return Providers(keys=found, base_urls=dict.fromkeys(kinds, url) if url else {})


def tool_settings(home: Home) -> ToolSettings:
    settings = home.effective.settings
    try:
        allow = tuple(msgspec.convert(rule, AllowRule) for rule in settings.bash_allow)
    except msgspec.ValidationError as error:
        raise ConfigError(f"`bash.allow`: {error}.", "See the guide on commands.") from error
    return ToolSettings(
        limits=Limits(seconds=settings.limits_seconds, memory=settings.limits_memory),
        suite_limits=Limits(seconds=settings.limits_suite_seconds, memory=settings.limits_memory),
        allow=allow,
        network=settings.bash_network,
    )
