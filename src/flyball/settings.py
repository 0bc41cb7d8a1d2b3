"""All settings: names, defaults, purposes, and in which direction a repository may change them."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import msgspec

from flyball.guards.guard import GuardLimits
from flyball.run.policy import OnWeakened, Policy

Count = Annotated[int, msgspec.Meta(ge=0)]
AtLeastOne = Annotated[int, msgspec.Meta(ge=1)]
Seconds = Annotated[float, msgspec.Meta(gt=0)]
Strictness = Annotated[str, msgspec.Meta(pattern="^(lenient|normal|strict)$")]
Dollars = Annotated[float, msgspec.Meta(ge=0)]
SCOPES = ("session", "week", "project")
HooksFail = Annotated[str, msgspec.Meta(pattern="^(closed|open)$")]
LEVELS = {
    "observe": "nothing is held; the journal records what would have been",
    "verdict": "only the stop is judged, nothing else is touched",
    "govern": "must read before it writes, asks before reaching outside, and its stop is verified",
    "strict": "like govern, and programs that are not known are refused",
}
"""How strictly another agent is governed, from least to most."""
HooksLevel = Annotated[str, msgspec.Meta(pattern=f"^({'|'.join(LEVELS)})$")]
HooksBudget = Annotated[str, msgspec.Meta(pattern="^(reported|strict)$")]


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """All settings with their defaults. `section_name` is written `section.name` in files."""

    driver_use: str = ""
    model_default: str = ""
    model_vision: str = ""
    model_base_url: str = ""
    model_web: bool = False
    model_roles: dict[str, str] = {}
    model_phases: dict[str, str] = {}
    budget_reserve: Count = 2
    budget_max_tool_rounds: AtLeastOne = 150
    budget_max_tokens: Count = 0
    budget_max_money: Dollars = 0.0
    policy_max_scope_drift: Count = 3
    policy_max_rejections: Count = 3
    policy_max_continues: Count = 8
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
    sandbox_readable: tuple[str, ...] = ()
    sandbox_secrets: tuple[str, ...] = ()
    sandbox_variables: tuple[str, ...] = ()
    patch_max_offset: AtLeastOne = 200
    patch_paths: tuple[str, ...] = ()
    limits_seconds: Seconds = 120.0
    limits_suite_seconds: Seconds = 600.0
    limits_memory: AtLeastOne = 4 << 30
    repair_seconds: Seconds = 120.0
    verdict_mutant_seconds: Annotated[float, msgspec.Meta(ge=0)] = 5.0
    test_command: dict[str, str] = {}
    check_command: dict[str, str] = {}
    server_command: dict[str, str] = {}
    hooks_level: HooksLevel = "govern"
    hooks_budget: HooksBudget = "reported"
    hooks_answers_prompts: bool = True
    hooks_read_only: tuple[str, ...] = ()
    hooks_scratch: tuple[str, ...] = ()
    hooks_alone: bool = False
    hooks_patience: Seconds = 60.0
    hooks_fail: HooksFail = "closed"
    caps_session_tokens: Count = 0
    caps_session_money: Dollars = 0.0
    caps_week_tokens: Count = 0
    caps_week_money: Dollars = 0.0
    caps_project_tokens: Count = 0
    caps_project_money: Dollars = 0.0
    notify_command: str = ""
    notify_url: str = ""
    database: str = ""
    guards: dict[str, Any] = {}

    @property
    def has_caps(self) -> bool:
        """Return whether any cap on other agents is set."""
        names = (f"caps_{scope}_{unit}" for scope in SCOPES for unit in ("tokens", "money"))
        return any(getattr(self, name) for name in names)

    @property
    def policy(self) -> Policy:
        """Return the governor's policy."""
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
            web=self.model_web,
            review=self.policy_review,
            plan_big_requests=self.policy_plan,
            weakened_tests=self.policy_weakened_tests,
            strictness=self.policy_strictness,
            bash=self.bash_enabled,
            bash_without_sandbox=self.bash_without_sandbox,
            guards=msgspec.convert(self.guards, GuardLimits),
        )


class About(NamedTuple):
    """The purpose of a setting, and in which direction a repository may change it."""

    text: str
    tighter: str = ""

    @property
    def repository_may(self) -> str:
        """Return what a trusted repository can do with it."""
        if self.tighter == MORE:
            return "add directories that you left open"
        return f"make it {self.tighter}" if self.tighter else "not set it"


MORE = "more"
"""A trusted repository may add values, and change no existing ones."""


ABOUT: dict[str, About] = {
    "driver_use": About("who thinks: `repair`, `scripted:FILE`, `relay:DIR`, or empty"),
    "model_default": About("the model, as `provider:model`"),
    "model_vision": About("the model for threads with images"),
    "model_base_url": About("an OpenAI-compatible address to use instead of the provider's"),
    "model_web": About(
        "the provider may search the web where its model can; off unless set", "off"
    ),
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
    "sandbox_secrets": About("additional secret files: names, ends of paths, or patterns"),
    "sandbox_readable": About("additional paths that commands may read, such as toolchains"),
    "sandbox_variables": About("further variables of yours that commands get to see"),
    "patch_max_offset": About("how far from its stated line a hunk may be found", "lower"),
    "patch_paths": About("patterns of the only files that edits may write; empty is all", "fewer"),
    "limits_seconds": About("time limit of a command", "lower"),
    "limits_suite_seconds": About("time limit of a test run", "lower"),
    "limits_memory": About("memory limit of a command, in bytes", "lower"),
    "repair_seconds": About("how long the built-in repairer may search", "lower"),
    "verdict_mutant_seconds": About("how long the tests are tried on small changes; 0 is never"),
    "test_command": About("what tests a directory: one command, or one per directory", MORE),
    "check_command": About("what checks a directory: one command, or one per directory", MORE),
    "server_command": About("what serves a directory: one command, or one per directory", MORE),
    "hooks_level": About("around other agents: observe, verdict, govern or strict", "strict"),
    "hooks_budget": About("budgets of other agents: reported, or strict", "strict"),
    "hooks_answers_prompts": About("spare you questions about calls that are safe or undoable"),
    "hooks_read_only": About("patterns of other agents' tools that only read"),
    "hooks_scratch": About("places where other agents may write at any time"),
    "hooks_alone": About("every hook decides by itself; no governor keeps running between them"),
    "hooks_patience": About(
        "how long a stop waits for a verdict before it continues in the background"
    ),
    "hooks_fail": About("what happens to calls that may write when Flyball fails: closed or open"),
    "caps_session_tokens": About("tokens of one session of another agent; 0 is no limit", "lower"),
    "caps_session_money": About("US dollars of one session of another agent", "lower"),
    "caps_week_tokens": About("tokens of other agents here in seven days", "lower"),
    "caps_week_money": About("US dollars of other agents here in seven days", "lower"),
    "caps_project_tokens": About("tokens of other agents in this project altogether", "lower"),
    "caps_project_money": About("US dollars of other agents in this project altogether", "lower"),
    "notify_command": About("a command of yours that is started when a person is needed"),
    "notify_url": About("an address that is posted to when a person is needed"),
    "database": About("the Postgres of a cluster, as `postgresql://…`; empty keeps runs here"),
    "guards": About("soft and hard levels of the guards"),
}

COMMANDS: dict[str, None] = {
    "test_command": None,
    "check_command": None,
    "server_command": None,
}
"""Settings that hold a command per directory: every source adds to them."""


def key_of(field: str) -> str:
    """Return a field's name as written in files."""
    section, _, name = field.partition("_")
    return f"{section}.{name}" if name else section


FIELDS = {key_of(name): name for name in Settings.__struct_fields__}
