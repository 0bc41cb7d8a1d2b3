"""Create the parts of a run from settings: its driver, its keys, its tools' limits."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol

import msgspec

from flyball.app.project import Home
from flyball.app.settling import Effective
from flyball.drivers.protocol import Driver, Reply, Request
from flyball.drivers.relay.clipboard import ClipboardDriver, PersonPort
from flyball.drivers.relay.relay import open_relay
from flyball.drivers.routing import Models, Providers, preload
from flyball.drivers.scripted import ScriptedDriver, read_script
from flyball.engine.look.gate_looks import VisionModel
from flyball.engine.notifier import Notifier, post_to
from flyball.engine.telemetry import Telemetry
from flyball.errors import ConfigError, DriverError, MissingExtra, ToolError, UsageError
from flyball.journal.protocol import Journal
from flyball.run.event import AnyEvent
from flyball.run.state import RunState
from flyball.settings import Settings
from flyball.shell import AllowRule
from flyball.tools.call.protocol import ToolSettings
from flyball.workspace.process.process import CommandLimits
from flyball.workspace.process.spawn import run_sync

NO_MODEL = "No model is configured, and the request needs one."
HOW_TO_SET = (
    "Name one with `--model provider:model`, with FLYBALL_MODEL_DEFAULT, or as [model] default in "
    "your config.toml; or drive the run yourself with `--driver relay:DIR`."
)
NO_CLIPBOARD = (
    "relay:clipboard needs a terminal and a clipboard program: pbcopy, wl-copy, xclip or xsel."
)
DRIVERS = "Use repair, scripted:FILE, relay:DIR, relay:clipboard or model:PROVIDER:MODEL."
REPAIR = "repair"
"""The built-in driver, which needs neither key nor network."""
OWN = "own"
"""A driver supplied by the program that started the run."""
REPAIRER = "flyball.repair.driver"
"""Imported for runs that it drives: hooks wire runs as well, and must be fast."""
TRACING = "flyball.engine.tracing"
"""Imported only if a collector is configured: others do not need its extra."""
COLLECTORS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")

KEYS = {
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "zai": "ZAI_API_KEY",
}
"""The key variable of each provider; every other provider reads its own variables."""

BASE_URLS = {"openai": "OPENAI_BASE_URL", "anthropic": "ANTHROPIC_BASE_URL"}
"""The variable of a provider's base URL; such a server may need no key."""

KEYRING_SERVICE = "flyball"
KEYRING_SECONDS = 10.0
KEYRING_NEEDS = (
    "PATH",
    "HOME",
    "USER",
    "LANG",
    "DISPLAY",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
)
"""Variables that a keyring program needs to find the keyring."""

KEYRINGS = (
    ("secret-tool", "lookup", "service", KEYRING_SERVICE, "key", "{}"),
    ("security", "find-generic-password", "-s", KEYRING_SERVICE, "-a", "{}", "-w"),
)


def driver_spec(settings: Settings, requested: str, cwd: Path) -> str:
    """Return the driver of a run, in a form that means the same in any later process."""
    spec = requested or settings.driver_use or ("" if settings.model_default else REPAIR)
    kind, _, rest = spec.partition(":")
    if kind in ("", "model"):
        name = rest or settings.model_default
        if not name:
            raise ConfigError(NO_MODEL, HOW_TO_SET)
        return f"model:{name}"
    if spec == REPAIR:
        return spec
    if spec == "relay:clipboard":
        return spec
    if kind in ("scripted", "relay") and rest:
        return f"{kind}:{os.fspath(cwd / Path(os.path.expanduser(rest)))}"
    if kind == OWN:
        raise UsageError(
            f"The run's driver, {rest}, belongs to the program that started the run.",
            "Continue it there, or with another driver: `flyball runs resume RUN --driver …`. "
            "An answer alone is recorded with --no-drive.",
        )
    raise UsageError(f"There is no driver {spec!r}.", DRIVERS)


def make_driver(home: Home, spec: str, hand: PersonPort | None) -> Driver:
    """Return the driver that a run requested; raise at the start if anything is missing."""
    kind, _, rest = spec.partition(":")
    if spec == REPAIR:
        return import_module(REPAIRER).RepairDriver(home.effective.settings.repair_seconds)
    if spec == "relay:clipboard":
        if hand is None:
            raise ConfigError(NO_CLIPBOARD, "Use --driver relay:DIR here.")
        return ClipboardDriver(hand)
    if kind == "scripted":
        return ScriptedDriver(read_script(Path(rest)))
    if kind == "relay":
        return open_relay(Path(rest), asyncio.sleep)
    models = models_of(home.effective.settings, rest)
    return preload(models, providers_of(home, models))


def models_of(settings: Settings, default: str) -> Models:
    """Return the models that a run may use."""
    return Models(
        default=default,
        vision=settings.model_vision,
        by_role=dict(settings.model_roles),
        by_phase=dict(settings.model_phases),
    )


SEEING = frozenset({"openai", "anthropic", "google"})
"""Providers whose own models all take images."""


def vision_model(home: Home, spec: str) -> str:
    """Return the model that judges pictures: the configured one, or a driver's with image input."""
    settings = home.effective.settings
    if settings.model_vision:
        return settings.model_vision
    kind, _, name = spec.partition(":")
    is_elsewhere = settings.model_base_url or home.environ.get(BASE_URLS.get(family(name), ""))
    return name if kind == "model" and family(name) in SEEING and not is_elsewhere else ""


def image_model(home: Home, spec: str = "") -> VisionModel | None:
    """Return the model that describes pictures; it is loaded for the first picture."""
    name = vision_model(home, spec)
    if not name:
        return None
    models = Models(default=name, vision=name)
    return VisionModel(lambda: preload(models, providers_of(home, models)))


def unlocked(home: Home, spec: str) -> Home:
    """Return the home with the keys that its driver needs and only the system's keyring has."""
    kind, _, name = spec.partition(":")
    settings = home.effective.settings
    if (kind != "model" and not settings.model_vision) or settings.model_base_url:
        return home
    models = models_of(settings, name if kind == "model" else settings.model_vision)
    missing = _missing_keys(home.environ, models)
    found = {variable: _key_from_keyring(home.environ, variable) for variable in missing.values()}
    kept = {variable: key for variable, key in found.items() if key}
    return home._replace(environ={**home.environ, **kept}) if kept else home


def providers_of(home: Home, models: Models) -> Providers:
    """Return the available keys, and one base URL for all if the user set one."""
    environ, url = home.environ, home.effective.settings.model_base_url
    for name, variable in _missing_keys(environ, models).items():
        if not url:
            raise ConfigError(
                f"The {name} model needs a key, and {variable} is not set.",
                f"Set {variable} in the environment or keep it in your system's keyring.",
            )
    found = {name: environ[var] for name, var in KEYS.items() if environ.get(var)}
    families = {family(name) for name in models.all}
    return Providers(keys=found, base_urls=dict.fromkeys(families, url) if url else {})


def family(model: str) -> str:
    """Return the provider in a model's name, without its protocol."""
    return model.partition(":")[0].removesuffix("-chat").removesuffix("-responses")


def _missing_keys(environ: Mapping[str, str], models: Models) -> dict[str, str]:
    """Return the key variable of each provider whose key is missing."""
    wanted = sorted({family(name) for name in models.all} & KEYS.keys())
    return {
        name: KEYS[name]
        for name in wanted
        if not environ.get(KEYS[name]) and not environ.get(BASE_URLS.get(name, ""))
    }


class NullDriver:
    """A driver for work that needs no thinking, such as ending a run."""

    async def think(self, request: Request, on_text: Callable[[str], None]) -> Reply:  # noqa: ARG002
        """Rest the run; this is never called in normal operation."""
        raise DriverError(f"No driver was available for card {request.card}.", "Resume the run.")

    async def close(self) -> None:
        """Do nothing: no resource is held."""


def with_notifications(
    home: Home, run: str, watch: Callable[[Telemetry], None] | None
) -> Callable[[Telemetry], None] | None:
    """Return a watcher that also notifies a person of questions, if the settings ask for it."""
    settings = home.effective.settings
    commands: list[Sequence[str]] = []
    if settings.notify_command:
        try:
            commands.append(shlex.split(settings.notify_command))
        except ValueError as error:
            raise ConfigError(f"`notify.command`: {error}.", "Close the quotes in it.") from error
    if settings.notify_url:
        commands.append(post_to(settings.notify_url))
    if not commands:
        return watch
    return Notifier(run, home.repo, commands, home.environ, watch or _unwatched).telemetry


def _unwatched(_line: Telemetry) -> None:
    """Ignore a line; only questions matter."""


class RunTrace(Protocol):
    """Exports a run to a trace collector while it is driven."""

    def take(self, before: RunState, event: AnyEvent, after: RunState) -> None:
        """Export everything that ended with an event."""
        ...

    async def close(self) -> None:
        """Finish the export."""
        ...


def is_traced(environ: Mapping[str, str]) -> bool:
    """Return whether the user configured a trace collector in the standard variables."""
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    exporters = environ.get("OTEL_TRACES_EXPORTER", "").strip() or "otlp"
    has_collector = any(environ.get(name, "").strip() for name in COLLECTORS)
    return has_collector and "otlp" in exporters.split(",")


async def tracer(
    home: Home, journal: Journal, run: str, watch: Callable[[Telemetry], None]
) -> RunTrace | None:
    """Return an exporter to the user's trace collector; the run does not depend on it."""
    if not is_traced(home.environ):
        return None
    history = [entry.event for entry in await journal.events(run)]
    try:
        return import_module(TRACING).Tracer(run, history, watch)
    except ModuleNotFoundError as error:
        why = str(MissingExtra("It", error.name or "opentelemetry", "otel"))
    except (ConfigError, ValueError, OSError) as error:
        # The configured value for all programs may be unusable.
        why = str(error)
    watch({"type": "notice", "text": f"This run is not traced. {why}"})
    return None


def tool_settings(effective: Effective) -> ToolSettings:
    """Return the user's settings for tools."""
    settings = effective.settings
    try:
        allow = tuple(msgspec.convert(rule, AllowRule) for rule in settings.bash_allow)
    except msgspec.ValidationError as error:
        raise ConfigError(f"`bash.allow`: {error}.", "See the guide on commands.") from error
    return ToolSettings(
        limits=CommandLimits(seconds=settings.limits_seconds, memory=settings.limits_memory),
        suite_limits=CommandLimits(
            seconds=settings.limits_suite_seconds, memory=settings.limits_memory
        ),
        allow=allow,
        max_offset=settings.patch_max_offset,
        paths=settings.patch_paths,
        network=settings.bash_network,
        readable=tuple(Path(os.path.expanduser(place)) for place in settings.sandbox_readable),
        secrets=settings.sandbox_secrets,
        variables=settings.sandbox_variables,
        mutant_seconds=settings.verdict_mutant_seconds,
        commands=effective.commands,
    )


def _key_from_keyring(environ: Mapping[str, str], variable: str) -> str:
    """Return the keyring's key for a variable's name; empty if there is none."""
    for store in KEYRINGS:
        program = shutil.which(store[0], path=environ.get("PATH", os.defpath))
        if program is None:
            continue
        argv = (program, *(part.format(variable) for part in store[1:]))
        env = {name: environ[name] for name in KEYRING_NEEDS if name in environ}
        try:
            found = run_sync(argv, cwd=Path("/"), env=env, seconds=KEYRING_SECONDS)
        except ToolError:
            continue
        if not found.exit_code and (key := found.stdout.decode("utf-8", "replace").strip()):
            return key
    return ""
