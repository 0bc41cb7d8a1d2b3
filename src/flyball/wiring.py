"""From settings to the parts a run is made of: its driver, its keys, its tools' limits."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from flyball.drivers.clipboard import ClipboardDriver, Hand
from flyball.drivers.deferred import preload
from flyball.drivers.protocol import Driver, Reply, Request
from flyball.drivers.relay import open_relay
from flyball.drivers.routing import Models, Providers
from flyball.drivers.scripted import ScriptedDriver, read_script
from flyball.errors import ConfigError, DriverError, UsageError
from flyball.home import Home
from flyball.settings import Settings
from flyball.shellcheck import AllowRule
from flyball.tools.protocol import ToolSettings
from flyball.workspace.process import Limits

NO_MODEL = "No model is configured, and the request needs one."
HOW_TO_SET = (
    "Name one with `--model provider:model`, with FLYBALL_MODEL_DEFAULT, or as [model] default in "
    "your config.toml; or drive the run yourself with `--driver relay:DIR`."
)
NO_CLIPBOARD = (
    "relay:clipboard needs a terminal and a clipboard program: pbcopy, wl-copy, xclip or xsel."
)
DRIVERS = "Use scripted:FILE, relay:DIR, relay:clipboard or model:PROVIDER:MODEL."

KEYS = {
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "zai": "ZAI_API_KEY",
}
"""Where each provider's key is; every other provider looks in its own variables."""

BASE_URLS = {"openai": "OPENAI_BASE_URL", "anthropic": "ANTHROPIC_BASE_URL"}
"""Where a provider's own client looks for another address; such a server may want no key."""


def driver_spec(settings: Settings, wished: str, cwd: Path) -> str:
    """Which driver a run uses, in words that mean the same in any later process."""
    spec = wished or settings.driver_use
    kind, _, rest = spec.partition(":")
    if kind in ("", "model"):
        name = rest or settings.model_default
        if not name:
            raise ConfigError(NO_MODEL, HOW_TO_SET)
        return f"model:{name}"
    if spec == "relay:clipboard":
        return spec
    if kind in ("scripted", "relay") and rest:
        return f"{kind}:{os.fspath(cwd / Path(rest).expanduser())}"
    raise UsageError(f"There is no driver {spec!r}.", DRIVERS)


def make_driver(home: Home, spec: str, hand: Hand | None) -> Driver:
    """The driver a run was asked to use; whatever it lacks is said before the run begins."""
    kind, _, rest = spec.partition(":")
    if spec == "relay:clipboard":
        if hand is None:
            raise ConfigError(NO_CLIPBOARD, "Use --driver relay:DIR here.")
        return ClipboardDriver(hand)
    if kind == "scripted":
        return ScriptedDriver(read_script(Path(rest)))
    if kind == "relay":
        return open_relay(Path(rest), asyncio.sleep)
    settings = home.effective.settings
    models = Models(
        default=rest,
        vision=settings.model_vision,
        by_role=dict(settings.model_roles),
        by_phase=dict(settings.model_phases),
    )
    return preload(models, providers_of(home, models))


def providers_of(home: Home, models: Models) -> Providers:
    """Keys from the environment only; one base address for all, where the user set one."""
    environ, url = home.environ, home.effective.settings.model_base_url
    families = {family(name) for name in models.all}
    if not url:
        _check_keys(environ, families)
    found = {name: environ[var] for name, var in KEYS.items() if environ.get(var)}
    return Providers(keys=found, base_urls=dict.fromkeys(families, url) if url else {})


def family(model: str) -> str:
    """The provider in a model's name, whichever of its protocols is meant."""
    return model.partition(":")[0].removesuffix("-chat").removesuffix("-responses")


def _check_keys(environ: Mapping[str, str], families: set[str]) -> None:
    for name in sorted(families & KEYS.keys()):
        if environ.get(KEYS[name]) or environ.get(BASE_URLS.get(name, "")):
            continue
        raise ConfigError(
            f"The {name} model needs a key, and {KEYS[name]} is not set.",
            f"Set {KEYS[name]} in the environment, or choose another model with --model.",
        )


class NobodyDriver:
    """For work that needs no thinking, such as ending a run."""

    async def think(self, request: Request, on_text: Callable[[str], None]) -> Reply:  # noqa: ARG002
        """Never asked; if it is, the run rests."""
        raise DriverError(f"Nobody was there to think for card {request.card}.", "Resume the run.")

    async def close(self) -> None:
        """Nothing is held."""


def tool_settings(settings: Settings) -> ToolSettings:
    """What the user settled about tools."""
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
