"""The graph of templates, and the checks that it is sound.

A flow file holds one template, a list of them, or `{name, start, steps}`. It is checked as plain
values with the line of each, so that every problem can say where it is and how to fix it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from flyball.plan.gate import gate_faults
from flyball.plan.template import (
    CHECKLIST,
    DEFAULT_PHASES,
    END,
    FIELDS,
    INJECTIONS,
    SPECIAL_TARGETS,
    FieldKind,
    Role,
    Template,
    object_to_phases,
)
from flyball.terms.phase import Phase
from flyball.terms.shape import (
    Fault,
    Path,
    closest,
    dotted_path,
    faults,
    is_list,
    is_map,
    one_line,
    suggest,
    value_words,
)

DIAGNOSIS = "D1"
"""A step of this id is the flow's own diagnosis: any step that fails may lead to it."""

_FLOW_FIELDS = ("name", "start", "steps")


class FlowSource(NamedTuple):
    """Plain values from a file, and the line of each."""

    file: str
    value: object
    lines: Mapping[Path, int]

    def line(self, path: Path) -> int:
        """Return the line of a value, or of the nearest thing around it."""
        for length in range(len(path), -1, -1):
            if path[:length] in self.lines:
                return self.lines[path[:length]]
        return 1


class Problem(msgspec.Struct, frozen=True):
    """One problem in a flow file: where, what, and how to fix it."""

    file: str
    line: int
    code: str
    message: str
    hint: str
    """How to fix it."""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{where}: {self.code}: {self.message} {self.hint}".rstrip()


def problem(file: str, line: int, code: str, message: str, hint: str) -> Problem:
    """Build a problem whose texts fit on one line, whatever the file holds."""
    return Problem(one_line(file), line, code, one_line(message), one_line(hint))


class Flow(msgspec.Struct, frozen=True):
    """A graph of templates that lead to one another."""

    name: str
    start: str
    steps: tuple[Template, ...]

    def step(self, step_id: str) -> Template | None:
        return next((step for step in self.steps if step.step_id == step_id), None)


def read_flow(source: FlowSource) -> tuple[Flow | None, tuple[Problem, ...]]:
    """Return the flow in a file, or everything that is wrong with it."""
    problems = check(source)
    if problems:
        return None, problems
    steps = tuple(msgspec.convert(step.value, Template) for step in _steps(source.value))
    head = Authored((), source.value) if is_map(source.value) else Authored((), {})
    name, start = head.at("name") or steps[0].title, head.at("start") or steps[0].step_id
    return Flow(str(name), str(start), steps), ()


def check(source: FlowSource) -> tuple[Problem, ...]:
    """Return every problem in a flow file, in line order."""
    wrong = [*_outline_faults(source.value)]
    steps = _steps(source.value)
    for step in steps:
        wrong += step_faults(step)
    if steps:
        wrong += _graph_faults(source.value, steps)
    problems = {
        problem(source.file, source.line(each.path), each.code, each.message, each.hint)
        for each in wrong
    }
    return tuple(sorted(problems, key=lambda each: (each.line, each.code, each.message)))


def _is_flow(value: Mapping[object, object]) -> bool:
    return "steps" in value or ("step_id" not in value and ("name" in value or "start" in value))


def _steps(value: object) -> tuple[Authored, ...]:
    """Return the steps of a file in any of its three forms."""
    if is_map(value) and not _is_flow(value):
        return (Authored((), value),)
    steps, path = (value.get("steps"), ("steps",)) if is_map(value) else (value, ())
    if not is_list(steps):
        return ()
    return tuple(Authored((*path, i), step) for i, step in enumerate(steps) if is_map(step))


def _outline_faults(value: object) -> Iterator[Fault]:
    """Yield the errors in a file that are outside its steps."""
    steps, path = value, ()
    if is_map(value):
        if not _is_flow(value):
            return
        steps, path = value.get("steps"), ("steps",)
        for name, item in value.items():
            if name not in _FLOW_FIELDS:
                message = f"`{name}` is not a known field of a flow."
                yield Fault(
                    (str(name),), "unknown-field", message, suggest(str(name), _FLOW_FIELDS)
                )
            elif name != "steps" and not (isinstance(item, str) and item.strip()):
                message = f"`{name}` must be text that is not empty, not {value_words(item)}."
                yield Fault((str(name),), "wrong-type", message, "Write a name in quotes.")
        if "steps" not in value:
            yield Fault((), "missing-field", "The flow has no `steps`.", "Add a list of templates.")
            return
    if not is_list(steps):
        wanted = "A flow is a template, a list of templates or a map with `steps`"
        message = f"{wanted}, not {value_words(steps)}."
        yield Fault(path, "wrong-type", message, "Write one of these three.")
        return
    if not steps:
        yield Fault(path, "empty-flow", "The flow has no steps.", "Add at least one template.")
    for i, step in enumerate(steps):
        if not is_map(step):
            message = f"`{dotted_path((*path, i))}` must be a template, not {value_words(step)}."
            yield Fault(
                (*path, i), "wrong-type", message, "Write a map with `step_id` and the rest."
            )


def _graph_faults(value: object, steps: Sequence[Authored]) -> Iterator[Fault]:
    """Yield the errors in how the steps lead to one another."""
    by_id: dict[str, Authored] = {}
    for step in steps:
        path = (*step.path, "step_id")
        if step.id in SPECIAL_TARGETS:
            yield Fault(
                path, "duplicate-step", f"`{step.id}` is a reserved name.", "Choose another."
            )
        elif step.id in by_id:
            message = f"Two steps have the id `{step.id}`."
            yield Fault(path, "duplicate-step", message, "Give each step a unique id.")
        elif step.id:
            by_id[step.id] = step
    stated = value.get("start") if is_map(value) and _is_flow(value) else None
    start = stated or steps[0].id
    places = {step.path: step.targets for step in steps}
    for path, targets in places.items():
        for name, target in targets.items():
            if target not in by_id and target not in SPECIAL_TARGETS:
                yield _missing_target((*path, "on_pass", name), target, by_id)
    if start in by_id:
        yield from _unreachable(str(start), by_id)
    elif isinstance(start, str) and start:
        yield _missing_target(("start",), start, by_id, specials=())
    yield from _unbounded(by_id)


def _missing_target(
    path: Path, target: str, known: Iterable[str], specials: Iterable[str] = SPECIAL_TARGETS
) -> Fault:
    message = f"`{dotted_path(path)}` points to `{target}`, but there is no such step."
    return Fault(path, "missing-target", message, suggest(target, [*known, *specials]))


def _unreachable(start: str, by_id: Mapping[str, Authored]) -> Iterator[Fault]:
    """Yield steps that cannot be reached from the start."""
    reached: set[str] = set()
    frontier = [start]
    while frontier:
        step_id = frontier.pop()
        if step_id in reached or step_id not in by_id:
            continue
        reached.add(step_id)
        frontier += [*by_id[step_id].targets.values(), DIAGNOSIS]
    for step_id, step in by_id.items():
        if step_id not in reached:
            message = f"No way from `{start}` reaches the step `{step_id}`."
            hint = f"Let another step's `on_pass.next_step_id` be `{step_id}`, or remove it."
            yield Fault((*step.path, "step_id"), "unreachable-step", message, hint)


def _unbounded(by_id: Mapping[str, Authored]) -> Iterator[Fault]:
    """Yield cycles of steps that can repeat forever.

    Each step has one exit that may be taken any number of times: `then` where `max_rounds` limits
    the other.
    """
    ways = {step_id: [*step.targets.items()] for step_id, step in by_id.items()}
    judged: set[str] = set()
    for first in by_id:
        trail: list[str] = []
        here = first
        while here in by_id and here not in judged and ways[here]:
            judged.add(here)
            trail.append(here)
            here = ways[here][-1][1]
        if here not in trail:
            continue
        circle = trail[trail.index(here) :]
        last = circle[-1]
        around = " → ".join(f"`{each}`" for each in (*circle, here))
        message = f"The steps {around} can repeat forever."
        hint = f"Set `on_pass.max_rounds` on `{last}`, or point it to {END}."
        path = (*by_id[last].path, "on_pass", ways[last][-1][0])
        yield Fault(path, "unbounded-cycle", message, hint)


class Authored(NamedTuple):
    """A step as written in the file, and its position."""

    path: Path
    value: Mapping[object, object]

    def at(self, *names: str) -> object:
        """Return a value inside the step, or None."""
        value: object = self.value
        for name in names:
            value = value.get(name) if is_map(value) else None
        return value

    def entries(self, *names: str) -> dict[str, object]:
        """Return the entries of a map inside the step."""
        value = self.at(*names)
        return {str(key): item for key, item in value.items()} if is_map(value) else {}

    def texts(self, *names: str) -> list[tuple[Path, str]]:
        """Return the texts of a list inside the step, each with its path."""
        value = self.at(*names)
        items = enumerate(value) if is_list(value) else ()
        return [((*self.path, *names, i), item) for i, item in items if isinstance(item, str)]

    @property
    def id(self) -> str:
        value = self.at("step_id")
        return value if isinstance(value, str) else ""

    @property
    def targets(self) -> dict[str, str]:
        """Return where the step leads, keyed by the field that names the target."""
        fields = ["next_step_id"]
        if self.at("on_pass", "max_rounds") is not None:
            fields.append("then")
        found = {name: self.at("on_pass", name) or END for name in fields}
        return {name: target for name, target in found.items() if isinstance(target, str)}

    @property
    def gates(self) -> Iterator[Authored]:
        """Yield the gates of the step as the author wrote them."""
        gates = self.at("gates")
        for i, gate in enumerate(gates if is_list(gates) else ()):
            if is_map(gate):
                yield Authored((*self.path, "gates", i), gate)


def step_faults(step: Authored) -> Iterator[Fault]:
    """Yield the errors of one step by itself."""
    own = faults(step.value, Template, step.path)
    yield from own
    for gate in step.gates:
        yield from gate_faults(gate.entries(), gate.path)
    for path, name in step.texts("injections"):
        if name not in INJECTIONS:
            message = f"There is no injection `{name}`."
            yield Fault(path, "unknown-injection", message, suggest(name, INJECTIONS))
    yield from _evidence_faults(step)
    wrong_type = {each.path[len(step.path)] for each in own if len(each.path) > len(step.path)}
    if not wrong_type & {"phases", "role"}:
        yield from _phase_faults(step)


def _phase_faults(step: Authored) -> Iterator[Fault]:
    """Yield phases that are out of order or that the role may not enter."""
    phases, place = DEFAULT_PHASES, "role"
    if "phases" in step.value:
        phases, place = tuple(Phase(name) for _, name in step.texts("phases")), "phases"
    objection = object_to_phases(phases, Role(str(step.value.get("role", Role.EXECUTOR))))
    if objection:
        yield Fault((*step.path, place), "bad-phases", f"{objection}.", f"Change `{place}`.")


def _evidence_faults(step: Authored) -> Iterator[Fault]:
    """Yield evidence that a gate asks for but no form lists, or that is unknown."""
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
            near = closest(name, known)
            guess = f"Did you mean `{near}`? Or define" if near else "Define"
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
