"""Step templates: the definition of a card, and the form its driver fills in.

What a driver fills in is a claim. The form is checked strictly, but alone it satisfies no gate that
Flyball can check itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated, Any

import msgspec

from flyball.terms.phase import WORKING, Phase
from flyball.terms.shape import closest, is_list, is_map, is_number, value_words

Text = Annotated[str, msgspec.Meta(min_length=1)]

END = "END"
ROUTE_TO_PLANNING = "ROUTE_TO_PLANNING"
SPECIAL_TARGETS: Mapping[str, str] = MappingProxyType(
    {
        END: "the flow is complete",
        ROUTE_TO_PLANNING: "the coordinator replans with what this step found",
    }
)

CHECKLIST = "criteria_checklist"


class Role(StrEnum):
    """The role a driver takes."""

    PLANNER = "planner"
    RESEARCHER = "researcher"
    EXECUTOR = "executor"
    REVIEWER = "reviewer"
    VERIFIER = "verifier"


class Escalation(StrEnum):
    """The reaction to a failed step."""

    RETRY = "RETRY"
    DIAGNOSE = "DIAGNOSE"
    PAUSE_FOR_HUMAN = "PAUSE_FOR_HUMAN"
    ROUTE_TO_PLANNING = "ROUTE_TO_PLANNING"
    FAIL_JOB = "FAIL_JOB"


class FieldKind(StrEnum):
    """The type of a submitted field."""

    TEXT = "text"
    LIST = "list"
    NUMBER = "number"
    BOOLEAN = "boolean"

    @property
    def expected(self) -> str:
        return {
            FieldKind.TEXT: "text that is not empty",
            FieldKind.LIST: "a list of texts",
            FieldKind.NUMBER: "a number",
            FieldKind.BOOLEAN: "true or false",
        }[self]

    def admits(self, value: object) -> bool:
        """Return whether a value has this type."""
        match self:
            case FieldKind.TEXT:
                return isinstance(value, str) and bool(value.strip())
            case FieldKind.LIST:
                return is_list(value) and all(map(FieldKind.TEXT.admits, value))
            case FieldKind.NUMBER:
                return is_number(value)
            case _:
                return isinstance(value, bool)


def _fields(kind: FieldKind, names: str) -> dict[str, FieldKind]:
    return dict.fromkeys(names.split(), kind)


FIELDS: Mapping[str, FieldKind] = MappingProxyType(
    _fields(
        FieldKind.TEXT,
        "answer changelog_entry commit commit_message decision description design devlog_line "
        "diagnosis diff_summary error explanation findings goal log_excerpt notes plan "
        "proposed_action rationale repair_plan reproduction review review_notes risk root_cause "
        "rollback_plan summary test_output test_plan test_results verdict",
    )
    | _fields(
        FieldKind.LIST,
        "acceptance_criteria alternatives artifacts_created assumptions commands_run failing_tests "
        "files_changed files_created files_read issues links next_actions open_questions "
        "references risks screenshots sources steps tests_added tests_run urls verify_with",
    )
    | _fields(FieldKind.NUMBER, "coverage duration exit_code tests_failed tests_passed")
)
"""The evidence that any form may ask for without defining it."""

INJECTIONS: Mapping[str, str] = MappingProxyType(
    {
        "checkpoint": "what the card said it would do",
        "diff": "the change so far, against the card's base",
        "evidence": "what Flyball observed on the current tree",
        "findings": "what the researcher found",
        "handover": "the summary a new thread starts from",
        "invariants": "what must stay true: keep regions and protected paths",
        "issues": "the open issues of the run",
        "ledger": "mistakes of this project that look alike, and what resolved them",
        "plan": "the run's plan and which steps are done",
        "repo_map": "the files of the workspace and their symbols",
        "verdicts": "why the last attempt did not pass its gates",
    }
)


class SchemaError(msgspec.Struct, frozen=True):
    """One error in submitted evidence."""

    field: str
    expected: str
    found: str
    message: str


class EvidenceSchema(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The form that a driver fills in; `fields` defines names that are not in `FIELDS`."""

    required: tuple[Text, ...] = ()
    optional: tuple[Text, ...] = ()
    criteria_checklist: dict[Text, Text] = {}
    fields: dict[Text, FieldKind] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Return every field that may be submitted, except the checklist."""
        return (*self.required, *self.optional)

    def kind(self, name: str) -> FieldKind:
        """Return the type of a field; text by default."""
        return self.fields.get(name) or FIELDS.get(name, FieldKind.TEXT)

    def validate(self, submission: Mapping[str, object]) -> tuple[SchemaError, ...]:
        """Return every error in submitted evidence; nothing is repaired or guessed."""
        wanted: list[str] = [*self.required]
        if self.criteria_checklist and CHECKLIST not in wanted:
            wanted.append(CHECKLIST)
        errors = [self._missing(name) for name in wanted if name not in submission]
        for name, value in submission.items():
            if name == CHECKLIST and self.criteria_checklist:
                errors += self._checklist(value)
            elif name not in self.names:
                errors.append(self._unknown(name, value))
            elif not self.kind(name).admits(value):
                errors.append(_wrong(name, self.kind(name).expected, value))
        return tuple(errors)

    def _missing(self, name: str) -> SchemaError:
        expected = self.kind(name).expected
        if name == CHECKLIST:
            expected = f"true or false for each of {', '.join(self.criteria_checklist)}"
        return SchemaError(
            name, expected, "nothing", f"`{name}` is missing; submit {expected} for it."
        )

    def _unknown(self, name: str, value: object) -> SchemaError:
        known = (*self.names, *([CHECKLIST] if self.criteria_checklist else []))
        expected = f"one of {', '.join(known)}" if known else "no evidence at all"
        near = closest(name, known)
        hint = f"did you mean `{near}`?" if near else f"this step asks for {expected}."
        return SchemaError(name, expected, value_words(value), f"`{name}` is not asked for; {hint}")

    def _checklist(self, value: object) -> list[SchemaError]:
        if not is_map(value):
            return [_wrong(CHECKLIST, "a map from criterion to true or false", value)]
        errors: list[SchemaError] = []
        for name in self.criteria_checklist:
            field = f"{CHECKLIST}.{name}"
            if name not in value:
                message = f"`{field}` is missing; answer it with true or false."
                errors.append(SchemaError(field, "true or false", "nothing", message))
            elif not isinstance(value[name], bool):
                errors.append(_wrong(field, "true or false", value[name]))
        for name in (each for each in value if each not in self.criteria_checklist):
            field = f"{CHECKLIST}.{name}"
            expected = f"one of {', '.join(self.criteria_checklist)}"
            message = f"`{field}` is not a criterion of this step; it has {expected}."
            errors.append(SchemaError(field, expected, value_words(value[name]), message))
        return errors


def _wrong(field: str, expected: str, value: object) -> SchemaError:
    seen = value_words(value)
    return SchemaError(field, expected, seen, f"`{field}` must be {expected}, not {seen}.")


class GateUse(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One gate of a step, with its parameters."""

    type: Text
    parameters: dict[str, Any] = {}
    description: str = ""


class OnFail(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The number of retries of a step, and the reaction when they are used up."""

    max_retries: Annotated[int, msgspec.Meta(ge=0, le=100)] = 2
    escalate_policy: Escalation = Escalation.PAUSE_FOR_HUMAN


class OnPass(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The step that follows; with `max_rounds`, an earlier step up to that many times, then
    `then`."""

    next_step_id: Text = END
    max_rounds: Annotated[int, msgspec.Meta(ge=1, le=100)] | None = None
    then: Text = END


DEFAULT_PHASES = (
    Phase.ANALYZE_CODE,
    Phase.CHECKPOINT,
    Phase.EXECUTE,
    Phase.VERIFY,
    Phase.FINAL,
)


class Template(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An author's definition of a kind of card.

    `falsify` also runs the verifying tests on the base tree; the gate `new_test_fails_before`
    requires that they fail there.
    """

    step_id: Text
    title: Text
    objective: Text
    prompt_template: Text
    injections: tuple[str, ...] = ()
    evidence_schema: EvidenceSchema = EvidenceSchema()
    gates: tuple[GateUse, ...] = ()
    on_fail: OnFail = OnFail()
    on_pass: OnPass = OnPass()
    human_review: bool = False
    checkpoint: bool = False
    role: Role = Role.EXECUTOR
    phases: tuple[Phase, ...] = DEFAULT_PHASES
    falsify: bool = False

    def __post_init__(self) -> None:
        if objection := object_to_phases(self.phases, self.role):
            raise ValueError(objection)

    @property
    def may_mutate(self) -> bool:
        return Phase.EXECUTE in self.phases

    def without_study(self) -> Template:
        """Return the template with a read-only phase before its checkpoint."""
        study = (Phase.RESEARCH, Phase.DESIGN)
        phases = tuple([phase for phase in self.phases if phase not in study])
        return msgspec.structs.replace(self, phases=phases)


def object_to_phases(phases: tuple[Phase, ...], role: Role = Role.EXECUTOR) -> str:
    """Explain why a template cannot have these phases, or return an empty string."""
    in_order = tuple(phase for phase in WORKING if phase in phases)
    if phases != in_order:
        return f"`phases` must be some of {', '.join(WORKING)}, each once, in this order"
    if Phase.FINAL not in phases:
        return f"`phases` must end with {Phase.FINAL}, where the answer is given"
    if Phase.EXECUTE not in phases:
        return ""
    if Phase.CHECKPOINT not in phases or Phase.VERIFY not in phases:
        around = f"{Phase.CHECKPOINT} before and {Phase.VERIFY} after it"
        return f"`phases` with {Phase.EXECUTE} need {around}"
    if role is not Role.EXECUTOR:
        return f"A {role} only reads, so `phases` cannot have {Phase.EXECUTE}"
    return ""
