"""Read the user's settings once, at startup, with the origin of every value.

Four sources, later ones winning where they may: the repository's `flyball.toml` (only once trusted,
and only to tighten), the user's `config.toml`, the environment (`FLYBALL_…`), the command line.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec

from flyball.errors import ConfigError
from flyball.guards.guard import GuardLimits
from flyball.settings import ABOUT, COMMANDS, FIELDS, Settings, key_of
from flyball.terms.shape import closest, suggest
from flyball.verdict.settled import (
    NOTHING_SETTLED,
    ProjectCommands,
    ProjectPlace,
    SettledCommand,
    add_commands,
)

REPO_FILE = "flyball.toml"

ENV_ALIASES = {"FLYBALL_ENABLE_BASH": "bash_enabled"}
ENV_OTHER = frozenset(
    {
        "FLYBALL_STATE_DIR",
        "FLYBALL_CONFIG",
        "FLYBALL_DEBUG",
        "FLYBALL_MCP_TOKEN",
        "FLYBALL_SERVE_TOKEN",
    }
)


class Effective(NamedTuple):
    """The settings in force, the source of each value, and the values that were ignored."""

    settings: Settings
    origins: dict[str, str]
    ignored: tuple[str, ...]
    commands: ProjectCommands = NOTHING_SETTLED


class Sources(NamedTuple):
    """The texts that settings come from; the caller reads them, this module interprets them."""

    repo: str = ""
    repo_is_trusted: bool = False
    user: str = ""
    user_path: str = "config.toml"
    environ: Mapping[str, str] = {}
    flags: Mapping[str, Any] = {}
    top: str = ""

    @property
    def place(self) -> ProjectPlace:
        return ProjectPlace(self.top, self.environ.get("HOME", ""))


def settle(sources: Sources) -> Effective:
    """Combine all sources; an unknown name or wrong type is an error with a suggestion."""
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    ignored: list[str] = []
    commands: dict[str, dict[str, SettledCommand]] = {field: {} for field in COMMANDS}
    layers: list[tuple[str, dict[str, Any]]] = [
        (sources.user_path, _from_toml(sources.user, sources.user_path)),
        ("environment", _from_environ(sources.environ)),
        ("command line", dict(sources.flags)),
    ]
    for origin, layer in layers:
        for field, value in layer.items():
            if field in COMMANDS:
                known = commands[field]
                commands[field] = add_commands(known, value, key_of(field), origin, sources.place)
            else:
                values[field] = value
                origins[field] = origin
    settings = _convert(values, origins)
    if sources.repo and not sources.repo_is_trusted:
        ignored.append(f"{REPO_FILE} is not trusted; run `flyball trust` to apply it")
    elif sources.repo:
        proposed = _from_toml(sources.repo, REPO_FILE)
        for field in COMMANDS.keys() & proposed.keys():
            commands[field] = _added(commands[field], field, proposed.pop(field), ignored)
        settings = _tighten(settings, proposed, origins, ignored)
    return _with_commands(Effective(settings, origins, tuple(ignored)), commands)


def settings_from(text: str, path: str) -> Settings:
    """Return the settings of one file alone, read as the user's own."""
    return settle(Sources(user=text, user_path=path)).settings


def _with_commands(
    effective: Effective, commands: Mapping[str, Mapping[str, SettledCommand]]
) -> Effective:
    """Return settings with these commands; the origin names every source that added to them."""
    sources = {
        field: ", ".join(dict.fromkeys(each.origin for each in table.values()))
        for field, table in commands.items()
        if table
    }
    texts = {
        field: {at: each.command for at, each in table.items()} for field, table in commands.items()
    }
    return Effective(
        msgspec.structs.replace(effective.settings, **texts),
        effective.origins | sources,
        effective.ignored,
        ProjectCommands(*(commands[field] for field in COMMANDS)),
    )


def _added(
    own: Mapping[str, SettledCommand], field: str, proposed: Any, ignored: list[str]
) -> dict[str, SettledCommand]:
    """Return a trusted repository's commands added to the user's own, which take precedence."""
    new = add_commands({}, proposed, key_of(field), REPO_FILE)
    ignored += [
        f"{REPO_FILE}: `{key_of(field)}` for {at!r} is overridden by your own settings"
        for at in new
        if at in own
    ]
    return {**new, **own}


def _from_toml(text: str, file: str) -> dict[str, Any]:
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file} is not valid TOML: {error}.", "Fix that line.") from error
    found: dict[str, Any] = {}
    for section, body in document.items():
        if section in FIELDS:
            found[FIELDS[section]] = body
            continue
        if not isinstance(body, dict):
            raise _unknown(section, file)
        for name, value in cast(dict[str, Any], body).items():
            key = f"{section}.{name}"
            if key not in FIELDS:
                raise _unknown(key, file)
            found[FIELDS[key]] = value
    return found


def _unknown(key: str, file: str) -> ConfigError:
    near = closest(key, FIELDS, 0.5)
    hint = f"Did you mean `{near}`?" if near else "`flyball doctor` lists every setting."
    return ConfigError(f"{file}: there is no setting `{key}`.", hint)


def _from_environ(environ: Mapping[str, str]) -> dict[str, Any]:
    by_name = {env_of(field): field for field in Settings.__struct_fields__} | ENV_ALIASES
    found: dict[str, Any] = {}
    for name, text in environ.items():
        if not name.startswith("FLYBALL_") or name in ENV_OTHER:
            continue
        field = by_name.get(name)
        if field is None:
            near = closest(name, by_name, 0.5)
            hint = f"Did you mean {near}?" if near else "Unset it."
            raise ConfigError(f"The environment variable {name} is not a setting.", hint)
        found[field] = _parse(text, field)
    return found


def _parse(text: str, field: str) -> Any:
    """Parse a value from the environment: texts and switches plain, tables and lists TOML."""
    default = getattr(Settings(), field)
    if isinstance(default, bool):
        if text.lower() in ("1", "true", "yes", "on"):
            return True
        if text.lower() in ("0", "false", "no", "off", ""):
            return False
    elif field in COMMANDS and not text.lstrip().startswith("{"):
        return text
    elif isinstance(default, dict | tuple):
        return _from_toml_value(text, field)
    elif isinstance(default, int | float):
        try:
            return type(default)(text)
        except ValueError:
            pass
    elif isinstance(default, str):
        return text
    raise ConfigError(f"{env_of(field)}={text!r} is not {_expected(default)}.", "Change it.")


def _from_toml_value(text: str, field: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{env_of(field)} is not a TOML value: {error}.", "Fix it.") from error


def _expected(default: object) -> str:
    if isinstance(default, bool):
        return "true or false"
    return "a whole number" if isinstance(default, int) else "a number"


def _convert(values: Mapping[str, Any], origins: Mapping[str, str]) -> Settings:
    """Return settings with these values; a wrong one is an error with its field and origin.

    Values are converted field by field, because an error in a whole struct does not name the field.
    """
    taken: dict[str, Any] = {}
    for field, value in values.items():
        where = origins.get(field, "the settings")
        try:
            taken[field] = getattr(msgspec.convert({field: value}, Settings), field)
            if field == "guards":
                _check_guards(value, where)
        except msgspec.ValidationError as error:
            problem = str(error).partition(" - at")[0]
            raise ConfigError(f"{where}: `{key_of(field)}`: {problem}.", "Change it.") from error
    return Settings(**taken)


def _check_guards(levels: Mapping[str, Any], where: str) -> None:
    for name in levels:
        if name not in GuardLimits.__struct_fields__:
            hint = suggest(name, GuardLimits.__struct_fields__)
            raise ConfigError(f"{where}: there is no guard setting `{name}`.", hint)
    msgspec.convert(levels, GuardLimits)


def _tighten(
    settings: Settings, proposed: Mapping[str, Any], origins: dict[str, str], ignored: list[str]
) -> Settings:
    """Apply the settings that a trusted repository may tighten; report those it may not change."""
    taken: dict[str, Any] = {}
    converted = _convert(proposed, dict.fromkeys(proposed, REPO_FILE))
    for field in proposed:
        now, then = getattr(settings, field), getattr(converted, field)
        if is_tighter(ABOUT[field].tighter, now, then):
            taken[field] = then
            origins[field] = REPO_FILE
        elif now != then:
            ignored.append(f"{REPO_FILE}: `{key_of(field)}` may not be loosened by a repository")
    return msgspec.structs.replace(settings, **taken)


def is_tighter(direction: str, now: Any, then: Any) -> bool:
    """Return whether moving a setting from one value to another only makes it stricter."""
    match direction:
        case "lower":
            return (then < now or now == 0) and then != 0
        case "higher":
            return then > now
        case "on" | "off":
            return then is (direction == "on") and now is not then
        case "fewer":
            return bool(then) and then != now and (not now or {*then} <= {*now})
        case "refuse":
            order = ("allow", "ask", "refuse")
            return order.index(then) > order.index(now)
        case "strict":
            order = ("lenient", "observe", "verdict", "normal", "govern", "reported", "strict")
            return then in order and order.index(then) > order.index(now)
        case _:
            return False


def state_dir(environ: Mapping[str, str]) -> Path:
    """Return the directory of runs: the user's state directory."""
    if given := environ.get("FLYBALL_STATE_DIR"):
        # Programs are started in other directories, and would look for it there.
        return Path(given).absolute()
    base = environ.get("XDG_STATE_HOME") or f"{environ.get('HOME', '/')}/.local/state"
    return Path(base) / "flyball"


def user_file(environ: Mapping[str, str]) -> Path:
    """Return the user's own configuration file."""
    if given := environ.get("FLYBALL_CONFIG"):
        return Path(given)
    base = environ.get("XDG_CONFIG_HOME") or f"{environ.get('HOME', '/')}/.config"
    return Path(base) / "flyball" / "config.toml"


def env_of(field: str) -> str:
    """Return the environment variable of a field."""
    return f"FLYBALL_{field.upper()}"
