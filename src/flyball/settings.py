"""What the user settled: read once, at the edge, with the origin of every value.

Four sources, later ones winning where they may: the repository's `flyball.toml` (only once trusted,
and only to tighten), the user's `config.toml`, the environment (`FLYBALL_…`), the command line.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, NamedTuple, cast

import msgspec

from flyball.core.memory.guard import GuardLimits
from flyball.core.run.policy import OnWeakened, Policy
from flyball.core.suite.settled import (
    NOTHING_SETTLED,
    ProjectCommands,
    ProjectPlace,
    SettledCommand,
    add_commands,
)
from flyball.core.terms.shape import suggest
from flyball.errors import ConfigError

REPO_FILE = "flyball.toml"

Count = Annotated[int, msgspec.Meta(ge=0)]
AtLeastOne = Annotated[int, msgspec.Meta(ge=1)]
Seconds = Annotated[float, msgspec.Meta(gt=0)]
Strictness = Annotated[str, msgspec.Meta(pattern="^(lenient|normal|strict)$")]


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Every setting with its default. `section_name` is written `section.name` in files."""

    driver_use: str = ""
    model_default: str = ""
    model_vision: str = ""
    model_base_url: str = ""
    model_roles: dict[str, str] = {}
    model_phases: dict[str, str] = {}
    budget_reserve: Count = 2
    budget_max_tool_rounds: AtLeastOne = 150
    budget_max_tokens: Count = 0
    budget_max_money: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    policy_max_scope_drift: Count = 3
    policy_max_rejections: Count = 3
    policy_max_continues: Count = 3
    policy_max_turns: AtLeastOne = 400
    policy_max_driver_errors: Count = 3
    policy_max_iterations: AtLeastOne = 10
    policy_steps_at_once: AtLeastOne = 4
    policy_context_tokens: AtLeastOne = 120_000
    policy_approve_checkpoint: bool = False
    policy_release_keep_regions: bool = False
    policy_self_modify: bool = False
    policy_review: bool = True
    policy_plan: bool = True
    policy_weakened_tests: OnWeakened = OnWeakened.ASK
    policy_strictness: Strictness = "normal"
    bash_enabled: bool = False
    bash_without_sandbox: bool = False
    bash_network: bool = False
    bash_allow: tuple[dict[str, Any], ...] = ()
    patch_max_offset: AtLeastOne = 200
    patch_paths: tuple[str, ...] = ()
    limits_seconds: Seconds = 120.0
    limits_suite_seconds: Seconds = 600.0
    limits_memory: AtLeastOne = 4 << 30
    repair_seconds: Seconds = 120.0
    test_command: dict[str, str] = {}
    check_command: dict[str, str] = {}
    guards: dict[str, Any] = {}

    @property
    def policy(self) -> Policy:
        """What the governor is told."""
        return Policy(
            reserve=self.budget_reserve,
            max_tool_rounds=self.budget_max_tool_rounds,
            max_tokens=self.budget_max_tokens,
            max_money=self.budget_max_money,
            max_scope_drift=self.policy_max_scope_drift,
            max_rejections=self.policy_max_rejections,
            max_continues=self.policy_max_continues,
            max_turns=self.policy_max_turns,
            max_driver_errors=self.policy_max_driver_errors,
            max_iterations=self.policy_max_iterations,
            steps_at_once=self.policy_steps_at_once,
            context_tokens=self.policy_context_tokens,
            approve_checkpoint=self.policy_approve_checkpoint,
            release_keep_regions=self.policy_release_keep_regions,
            self_modify=self.policy_self_modify,
            review=self.policy_review,
            plan_big_requests=self.policy_plan,
            weakened_tests=self.policy_weakened_tests,
            strictness=self.policy_strictness,
            bash=self.bash_enabled,
            bash_without_sandbox=self.bash_without_sandbox,
            guards=msgspec.convert(self.guards, GuardLimits),
        )


class About(NamedTuple):
    """What a setting is for, and in which direction a repository may move it."""

    text: str
    tighter: str = ""

    @property
    def repository_may(self) -> str:
        """What a trusted repository can do with it."""
        if self.tighter == MORE:
            return "add directories that you left open"
        return f"make it {self.tighter}" if self.tighter else "not set it"


MORE = "more"
"""A repository that is trusted may add to it, and change nothing that stands there."""


ABOUT: dict[str, About] = {
    "driver_use": About("who thinks: `repair`, `scripted:FILE`, `relay:DIR`, or empty"),
    "model_default": About("the model, as `provider:model`"),
    "model_vision": About("the model for threads with images"),
    "model_base_url": About("an OpenAI-compatible address to use instead of the provider's"),
    "model_roles": About("a model per role: planner, researcher, executor, reviewer, verifier"),
    "model_phases": About("a model per phase: recon, checkpoint, execute, verify, final"),
    "budget_reserve": About("calls kept for verification", "higher"),
    "budget_max_tool_rounds": About("the most calls of any run", "lower"),
    "budget_max_tokens": About("the most tokens of a run; 0 is no limit", "lower"),
    "budget_max_money": About("the most money of a run; 0 is no limit", "lower"),
    "policy_max_scope_drift": About("files beyond the checkpoint before a new one", "lower"),
    "policy_max_rejections": About("how often a final answer is sent back", "lower"),
    "policy_max_continues": About("how often a cut-off reply is continued", "lower"),
    "policy_max_turns": About("replies of a driver before a person is asked", "lower"),
    "policy_max_driver_errors": About("how often a failed request is tried again", "lower"),
    "policy_max_iterations": About("plans per run", "lower"),
    "policy_steps_at_once": About("steps of a plan that run side by side", "lower"),
    "policy_context_tokens": About("a thread's size before it is handed over", "lower"),
    "policy_approve_checkpoint": About("a person must accept each checkpoint", "on"),
    "policy_release_keep_regions": About("keep regions may be released", "off"),
    "policy_self_modify": About("a run may change flyball.toml and templates", "off"),
    "policy_review": About("a reviewer notes risk and assumptions", "on"),
    "policy_plan": About("big requests are planned, and verified as a whole", "on"),
    "policy_weakened_tests": About("weakened tests: ask, allow or refuse", "refuse"),
    "policy_strictness": About("lenient, normal or strict escalation", "strict"),
    "bash_enabled": About("the `bash` tool is offered", "off"),
    "bash_without_sandbox": About("`bash` may run where no sandbox exists", "off"),
    "bash_network": About("commands may use the network", "off"),
    "bash_allow": About("further command prefixes, with argument patterns"),
    "patch_max_offset": About("how far from its stated line a hunk may be found", "lower"),
    "patch_paths": About("patterns of the only files that edits may write; empty is all", "fewer"),
    "limits_seconds": About("time limit of a command", "lower"),
    "limits_suite_seconds": About("time limit of a test run", "lower"),
    "limits_memory": About("memory limit of a command, in bytes", "lower"),
    "repair_seconds": About("how long the built-in repairer may search", "lower"),
    "test_command": About("what tests a directory: one command, or one per directory", MORE),
    "check_command": About("what checks a directory: one command, or one per directory", MORE),
    "guards": About("soft and hard levels of the guards"),
}

ENV_ALIASES = {"FLYBALL_ENABLE_BASH": "bash_enabled"}
ENV_OTHER = frozenset({"FLYBALL_STATE_DIR", "FLYBALL_CONFIG", "FLYBALL_DEBUG"})


class Effective(NamedTuple):
    """The settings in force, where each value came from, and what was not heeded."""

    settings: Settings
    origins: dict[str, str]
    ignored: tuple[str, ...]
    commands: ProjectCommands = NOTHING_SETTLED


COMMANDS: dict[str, None] = {"test_command": None, "check_command": None}
"""Settings that hold a command per directory: every source adds to them."""


def key_of(field: str) -> str:
    """A field's name as files write it."""
    section, _, name = field.partition("_")
    return f"{section}.{name}" if name else section


def env_of(field: str) -> str:
    """The environment variable of a field."""
    return f"FLYBALL_{field.upper()}"


FIELDS = {key_of(name): name for name in Settings.__struct_fields__}


class Sources(NamedTuple):
    """The texts that settings come from; the shell reads them, this module judges them."""

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
    """Join all sources; anything unknown or of the wrong type is an error with a suggestion."""
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
        ignored.append(f"{REPO_FILE} is not trusted; run `flyball trust` to let it count")
    elif sources.repo:
        wishes = _from_toml(sources.repo, REPO_FILE)
        for field in COMMANDS.keys() & wishes.keys():
            commands[field] = _added(commands[field], field, wishes.pop(field), ignored)
        settings = _tighten(settings, wishes, origins, ignored)
    return _with_commands(Effective(settings, origins, tuple(ignored)), commands)


def _with_commands(
    effective: Effective, commands: Mapping[str, Mapping[str, SettledCommand]]
) -> Effective:
    """The same with these commands; a setting to which several sources added names all of them."""
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
    own: Mapping[str, SettledCommand], field: str, wish: Any, ignored: list[str]
) -> dict[str, SettledCommand]:
    """A trusted repository's commands beside the user's own, which stay as they are."""
    new = add_commands({}, wish, key_of(field), REPO_FILE)
    ignored += [
        f"{REPO_FILE}: `{key_of(field)}` for {at!r} is settled by you" for at in new if at in own
    ]
    return {**new, **own}


def _from_toml(text: str, file: str) -> dict[str, Any]:
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file} is not valid TOML: {error}.", "Mend that line.") from error
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
    near = get_close_matches(key, FIELDS, 1, 0.5)
    hint = f"Did you mean `{near[0]}`?" if near else "`flyball doctor` lists every setting."
    return ConfigError(f"{file}: there is no setting `{key}`.", hint)


def _from_environ(environ: Mapping[str, str]) -> dict[str, Any]:
    by_name = {env_of(field): field for field in Settings.__struct_fields__} | ENV_ALIASES
    found: dict[str, Any] = {}
    for name, text in environ.items():
        if not name.startswith("FLYBALL_") or name in ENV_OTHER:
            continue
        field = by_name.get(name)
        if field is None:
            near = get_close_matches(name, by_name, 1, 0.5)
            hint = f"Did you mean {near[0]}?" if near else "Unset it."
            raise ConfigError(f"The environment variable {name} is not a setting.", hint)
        found[field] = _parse(text, field)
    return found


def _parse(text: str, field: str) -> Any:
    """A value from the environment: plain for texts and switches, TOML for tables and lists."""
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
        raise ConfigError(f"{env_of(field)} is not a TOML value: {error}.", "Mend it.") from error


def _expected(default: object) -> str:
    if isinstance(default, bool):
        return "true or false"
    return "a whole number" if isinstance(default, int) else "a number"


def _convert(values: Mapping[str, Any], origins: Mapping[str, str]) -> Settings:
    """The settings with these values; a wrong one is an error that names its field and origin.

    Field by field, because a whole struct reports only where in it something is wrong.
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
    settings: Settings, wishes: Mapping[str, Any], origins: dict[str, str], ignored: list[str]
) -> Settings:
    """Let a trusted repository make things stricter, and say what it may not."""
    taken: dict[str, Any] = {}
    wished = _convert(wishes, dict.fromkeys(wishes, REPO_FILE))
    for field in wishes:
        now, then = getattr(settings, field), getattr(wished, field)
        if is_tighter(ABOUT[field].tighter, now, then):
            taken[field] = then
            origins[field] = REPO_FILE
        elif now != then:
            ignored.append(f"{REPO_FILE}: `{key_of(field)}` may not be loosened by a repository")
    return msgspec.structs.replace(settings, **taken)


def is_tighter(direction: str, now: Any, then: Any) -> bool:
    """Whether moving a setting from one value to another only makes it stricter."""
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
            order = ("lenient", "normal", "strict")
            return then in order and order.index(then) > order.index(now)
        case _:
            return False


def state_dir(environ: Mapping[str, str]) -> Path:
    """Where runs are kept: the user's state directory."""
    if given := environ.get("FLYBALL_STATE_DIR"):
        return Path(given)
    base = environ.get("XDG_STATE_HOME") or f"{environ.get('HOME', '/')}/.local/state"
    return Path(base) / "flyball"


def user_file(environ: Mapping[str, str]) -> Path:
    """The user's own configuration file."""
    if given := environ.get("FLYBALL_CONFIG"):
        return Path(given)
    base = environ.get("XDG_CONFIG_HOME") or f"{environ.get('HOME', '/')}/.config"
    return Path(base) / "flyball" / "config.toml"
