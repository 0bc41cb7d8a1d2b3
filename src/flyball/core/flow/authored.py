"""A step as its author wrote it: plain values, where they stand, what is wrong with it alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import NamedTuple

from flyball.core.flow.gates.gate import gate_faults
from flyball.core.flow.template import (
    CHECKLIST,
    DEFAULT_PHASES,
    END,
    FIELDS,
    INJECTIONS,
    FieldKind,
    Role,
    Template,
    object_to_phases,
)
from flyball.core.terms.phase import Phase
from flyball.core.terms.shape import Fault, Path, faults, is_list, is_map, suggest


class Authored(NamedTuple):
    """A step as it stands in the file, and where."""

    path: Path
    value: Mapping[object, object]

    def at(self, *names: str) -> object:
        """A value inside the step, or nothing."""
        value: object = self.value
        for name in names:
            value = value.get(name) if is_map(value) else None
        return value

    def entries(self, *names: str) -> dict[str, object]:
        """The entries of a map inside the step."""
        value = self.at(*names)
        return {str(key): item for key, item in value.items()} if is_map(value) else {}

    def texts(self, *names: str) -> list[tuple[Path, str]]:
        """The texts of a list inside the step, each with its path."""
        value = self.at(*names)
        items = enumerate(value) if is_list(value) else ()
        return [((*self.path, *names, i), item) for i, item in items if isinstance(item, str)]

    @property
    def id(self) -> str:
        value = self.at("step_id")
        return value if isinstance(value, str) else ""

    @property
    def targets(self) -> dict[str, str]:
        """Where the step leads, by the name of the field that says so."""
        fields = ["next_step_id"]
        if self.at("on_pass", "max_rounds") is not None:
            fields.append("then")
        found = {name: self.at("on_pass", name) or END for name in fields}
        return {name: target for name, target in found.items() if isinstance(target, str)}

    @property
    def gates(self) -> Iterator[Authored]:
        """The gates of the step, each as it was written."""
        gates = self.at("gates")
        for i, gate in enumerate(gates if is_list(gates) else ()):
            if is_map(gate):
                yield Authored((*self.path, "gates", i), gate)


def step_faults(step: Authored) -> Iterator[Fault]:
    """What is wrong with one step by itself."""
    own = faults(step.value, Template, step.path)
    yield from own
    for gate in step.gates:
        yield from gate_faults(gate.entries(), gate.path)
    for path, name in step.texts("injections"):
        if name not in INJECTIONS:
            message = f"There is no injection `{name}`."
            yield Fault(path, "unknown-injection", message, suggest(name, INJECTIONS))
    yield from _evidence_faults(step)
    misshapen = {each.path[len(step.path)] for each in own if len(each.path) > len(step.path)}
    if not misshapen & {"phases", "role"}:
        yield from _phase_faults(step)


def _phase_faults(step: Authored) -> Iterator[Fault]:
    """Phases in the wrong order, or ones that the role may not enter."""
    phases, place = DEFAULT_PHASES, "role"
    if "phases" in step.value:
        phases, place = tuple(Phase(name) for _, name in step.texts("phases")), "phases"
    objection = object_to_phases(phases, Role(str(step.value.get("role", Role.EXECUTOR))))
    if objection:
        yield Fault((*step.path, place), "bad-phases", f"{objection}.", f"Change `{place}`.")


def _evidence_faults(step: Authored) -> Iterator[Fault]:
    """Evidence that a gate asks for and no form lists, or that nobody knows."""
    listed = [
        *step.texts("evidence_schema", "required"),
        *step.texts("evidence_schema", "optional"),
    ]
    own = step.entries("evidence_schema", "fields")
    criteria = step.entries("evidence_schema", CHECKLIST)
    asked = [*_asked_by_gates(step)]
    form = {name for _, name in listed} | ({CHECKLIST} if criteria else set[str]())
    known = {*FIELDS, *own, *(name for _, name in asked), *([CHECKLIST] if criteria else [])}
    for path, name in listed:
        if name not in known:
            message = f"No gate and no schema knows the evidence `{name}`."
            near = get_close_matches(name, known, 1)
            guess = f"Did you mean `{near[0]}`? Or define" if near else "Define"
            hint = f"{guess} it in `evidence_schema.fields` as one of {', '.join(FieldKind)}."
            yield Fault(path, "unknown-evidence", message, hint)
    for path, name in asked:
        if name not in form:
            message = f"The gate asks for `{name}`, which `evidence_schema` does not list."
            hint = suggest(name, form) if form else "Add it to `evidence_schema.required`."
            yield Fault(path, "unknown-evidence", message, hint)
    for name in own:
        if name not in form:
            message = f"`evidence_schema.fields` defines `{name}`, which the form does not list."
            path = (*step.path, "evidence_schema", "fields", name)
            yield Fault(path, "unknown-evidence", message, "Add it to `required` or `optional`.")
    for gate in step.gates:
        if gate.at("type") == "criteria_checklist_complete" and not criteria:
            message = "The gate asks for a checklist that `evidence_schema` does not define."
            hint = "Add `evidence_schema.criteria_checklist` with at least one criterion."
            yield Fault((*gate.path, "type"), "unknown-evidence", message, hint)


def _asked_by_gates(step: Authored) -> Iterator[tuple[Path, str]]:
    for gate in step.gates:
        if gate.at("type") == "evidence_present":
            yield from gate.texts("parameters", "names")
