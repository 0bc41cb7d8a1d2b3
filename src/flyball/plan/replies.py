"""Parse the answers of planner and verifier into messages.

Both end with one JSON block. Its form is parsed leniently, but its content is never guessed:
missing values stay missing, and text that cannot be parsed is reported with the line and column at
which it stops being JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from flyball.plan.message import (
    ExecutionPlan,
    Issue,
    NextAction,
    Severity,
    Step,
    VerificationReport,
    Work,
)
from flyball.plan.plan import STEP_ID
from flyball.terms.shape import (
    FENCED,
    is_list,
    is_map,
    json_blocks,
    json_fault,
    json_value,
    value_words,
)

PLAN_FORM = '{"goal": "…", "steps": [{"id": "step-1", "title": "…", "success_criteria": ["…"]}]}'
EMIT_PLAN = "EMIT_PLAN"
REPORT_FORM = '{"goal_achieved": false, "issues": [], "next_actions": []}'


class Unclear(msgspec.Struct, frozen=True):
    """Why an answer cannot be parsed, and what to write instead."""

    why: str


def spoken_plan(text: str, *, id: str, request_id: str) -> ExecutionPlan | Unclear:
    """Return the plan in a planner's answer."""
    value = _plan_block(text)
    if value is None:
        return _unread(text, "plan", PLAN_FORM)
    steps = value.get("steps")
    steps = [steps] if is_map(steps) else steps
    if not is_list(steps):
        return Unclear(f"`steps` must be a list, not {value_words(steps)}. Write {PLAN_FORM}")
    try:
        read = tuple(_step(n, each) for n, each in enumerate(steps, 1))
        work = _choice(value.get("work", Work.KEEP.value), Work, "work")
    except ValueError as error:
        return Unclear(str(error))
    if work is Work.ROLLBACK and read:
        read = (msgspec.structs.replace(read[0], work=work), *read[1:])
    goal = value.get("goal", "")
    if not isinstance(goal, str):
        return Unclear(f"`goal` must be text, not {value_words(goal)}.")
    # A bare list of steps can only mean that reaching them all is the goal.
    goal = goal.strip() or "; ".join(step.title for step in read if step.title)
    return ExecutionPlan(id=id, request_id=request_id, goal=goal, steps=read)


def _unread(text: str, what: str, form: str) -> Unclear:
    """Explain why an answer cannot be parsed: it holds invalid JSON, or none."""
    fault = json_fault(text)
    if not fault:
        return Unclear(f"Your answer contains no {what}. End it with one JSON block: {form}")
    return Unclear(f"The {what} in your answer cannot be read: {fault} Write it as {form}")


def _plan_block(text: str) -> dict[str, Any] | None:
    """Return the JSON object that holds a plan, with its steps under their own name.

    `EMIT_PLAN {"tasks": […]}` and `{"EMIT_PLAN": {…}}` can only mean the same; a `PROCEED` next to
    it is the planner's approval of its own plan, which is ignored.
    """
    if steps := _bare_list(text):
        return {"steps": _tasks(steps)}
    for key in ("steps", "tasks", EMIT_PLAN, "plan"):
        found = _block(text, key)
        if found is None:
            continue
        inner: object = found[key] if key in (EMIT_PLAN, "plan") else found
        if is_list(inner):
            return {**found, "steps": _tasks(inner)}
        if is_map(inner):
            fields = {str(name): item for name, item in inner.items()}
            return fields if "steps" in fields else {**fields, "steps": _tasks(fields.get("tasks"))}
    return None


def _bare_list(text: str) -> list[object]:
    """Return the steps of an answer whose last block is nothing but a list of them."""
    for block in json_blocks(text):
        value = json_value(block)
        if is_map(value):
            return []
        if is_list(value) and value and all(is_map(each) for each in value):
            return list(value)
    return []


def _tasks(value: object) -> object:
    """Return tasks as steps: a plain text is a step's title."""
    if not is_list(value):
        return value
    return [{"title": each} if isinstance(each, str) else each for each in value]


def spoken_report(text: str, *, id: str, request_id: str) -> VerificationReport | Unclear:
    """Return the report in a verifier's answer."""
    value = _block(text, "goal_achieved")
    if value is None:
        return _unread(text, "report", REPORT_FORM)
    achieved = value.get("goal_achieved")
    if isinstance(achieved, str) and achieved.strip().lower() in YES_NO:
        achieved = YES_NO[achieved.strip().lower()]
    if not isinstance(achieved, bool):
        return Unclear(f"`goal_achieved` must be true or false, not {value_words(achieved)}.")
    try:
        issues = tuple(map(_issue, _maps(value, "issues")))
        actions = tuple(map(_action, _maps(value, "next_actions")))
    except ValueError as error:
        return Unclear(str(error))
    return VerificationReport(
        id=id, request_id=request_id, goal_achieved=achieved, issues=issues, next_actions=actions
    )


def split_answer(text: str) -> tuple[Mapping[str, object] | None, str]:
    """Return the last JSON object in an answer, whatever its subject, and the text around it."""
    for match in reversed([*FENCED.finditer(text)]):
        fields = _block(match[2], "")
        if fields is not None:
            return (
                fields,
                f"{text[: match.start()].rstrip()}\n{text[match.end() :].lstrip()}".strip(),
            )
    fields = _block(text, "")
    if fields is None:
        return None, text.strip()
    return fields, f"{text[: text.find('{')].rstrip()}\n{text[text.rfind('}') + 1 :]}".strip()


def _block(text: str, key: str) -> dict[str, Any] | None:
    """Return the last JSON object in an answer that has this key: fenced, or the whole answer."""
    for block in json_blocks(text):
        value = json_value(block)
        if is_map(value) and (not key or key in value):
            return {str(name): item for name, item in value.items()}
    return None


YES_NO = {"true": True, "yes": True, "false": False, "no": False}


def _step(n: int, value: object) -> Step:
    if not is_map(value):
        raise ValueError(f"Step {n} must be an object with id and title, not {value_words(value)}.")
    id = _named(value, "id")
    title = _named(value, "title") or value.get("description") or ""
    criteria, depends = _named(value, "success_criteria"), _named(value, "depends_on")
    return Step(
        id=str(id).strip() if id not in (None, "") else f"step-{n}",
        title=_text(title, f"the title of step {n}"),
        description=_text(value.get("description", ""), f"the description of step {n}"),
        success_criteria=_texts(criteria, f"success_criteria of step {n}"),
        depends_on=_texts(depends, f"depends_on of step {n}"),
        template=_text(value.get("template", ""), f"the template of step {n}"),
        work=_choice(value.get("work", Work.KEEP.value), Work, f"work of step {n}"),
    )


MEANINGS: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "step_id", "stepId", "name"),
    "title": ("title", "task", "summary", "name"),
    "success_criteria": (
        "success_criteria",
        "successCriteria",
        "criteria",
        "acceptance_criteria",
        "acceptanceCriteria",
        "acceptance",
        "done_when",
        "verify_with",
    ),
    "depends_on": ("depends_on", "dependsOn", "depends", "dependencies", "after", "needs"),
}
"""Names that can only mean the same field of a step."""


def _named(value: Mapping[object, object], field: str) -> object:
    """Return a field of a step under any of its names."""
    found = [value[name] for name in MEANINGS[field] if value.get(name) not in (None, "", [])]
    if field == "id" and found and not STEP_ID.fullmatch(str(found[0])):
        # A step's name may be a sentence: that is its title, and it has no id.
        return found[0] if "id" in value else None
    return found[0] if found else None


def _issue(value: Mapping[object, object]) -> Issue:
    text = _text(value.get("issue", value.get("description", "")), "an issue's text")
    if not text:
        raise ValueError("An issue has no `issue`; say what is wrong.")
    severity = _choice(value.get("severity", Severity.HIGH.value), Severity, "severity")
    step = value.get("step_id", value.get("step"))
    return Issue(step_id=str(step or "plan"), issue=text, severity=severity)


def _action(value: Mapping[object, object]) -> NextAction:
    return NextAction(
        type=_text(value.get("type", ""), "a next action's type") or "fix",
        description=_text(value.get("description", ""), "a next action's description"),
        priority=_text(value.get("priority", ""), "a next action's priority") or "medium",
    )


def _maps(value: Mapping[str, object], name: str) -> Iterable[Mapping[object, object]]:
    items = value.get(name) or ()
    if not is_list(items):
        raise ValueError(f"`{name}` must be a list, not {value_words(items)}.")
    for item in items:
        if not is_map(item):
            raise ValueError(f"Each of `{name}` must be an object, not {value_words(item)}.")
        yield item


def _text(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"`{what}` must be text, not {value_words(value)}.")
    return value.strip()


def _texts(value: object, what: str) -> tuple[str, ...]:
    """Return a list of texts; a single text becomes a list of one, and a number its digits."""
    if value is None:
        return ()
    if isinstance(value, str | int):
        return (str(value).strip(),) if str(value).strip() else ()
    if not is_list(value):
        raise ValueError(f"`{what}` must be a list of texts, not {value_words(value)}.")
    return tuple(str(item).strip() for item in value)


E = TypeVar("E", Work, Severity)


def _choice(value: object, kind: type[E], what: str) -> E:
    try:
        return kind(str(value).strip().lower())
    except ValueError:
        known = ", ".join(each.value for each in kind)
        raise ValueError(f"`{what}` must be one of {known}, not {value_words(value)}.") from None
