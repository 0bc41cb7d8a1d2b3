"""Read flows and templates from files: a flow that a person names, and the project's templates."""

from __future__ import annotations

import os
from typing import NamedTuple

from flyball.app.flowfile.template_file import parse_source, read_source
from flyball.app.project import Home, own_templates
from flyball.errors import UsageError
from flyball.plan.flow import Flow, Problem, read_flow
from flyball.plan.library import LIBRARY
from flyball.plan.template import Template
from flyball.terms.intent import MAY_MUTATE, Intent
from flyball.terms.shape import one_line


class FlowReading(NamedTuple):
    """The result of reading a flow file: the flow, or all its errors."""

    file: str
    flow: Flow | None
    problems: tuple[Problem, ...]


def read_flow_file(file: str) -> FlowReading:
    """Read the flow in a file that a person names."""
    source = read_source(file)
    found, problems = (None, (source,)) if isinstance(source, Problem) else read_flow(source)
    return FlowReading(one_line(file), found, problems)


def flow_intent(flow: Flow, requested: Intent | None) -> Intent:
    """Return what a run of a flow may do: naming the flow is consent to its steps."""
    changing = next((step.step_id for step in flow.steps if step.may_mutate), "")
    if requested is None:
        return Intent.FEATURE_BUILD if changing else Intent.DIAGNOSE
    if changing and requested not in MAY_MUTATE:
        able = ", ".join(intent for intent in Intent if intent in MAY_MUTATE)
        raise UsageError(
            f"The step {changing} of the flow changes files, but {requested} is read-only.",
            f"Omit --intent, or use one of {able}.",
        )
    return requested


class ProjectTemplate(NamedTuple):
    """One of a project's own templates, and its file."""

    template: Template
    file: str


class OwnTemplates(NamedTuple):
    """A project's own templates that may be used, and why others may not."""

    found: tuple[ProjectTemplate, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def templates(self) -> tuple[Template, ...]:
        return tuple(own.template for own in self.found)


def project_templates(home: Home) -> OwnTemplates:
    """Return the valid templates in `.flyball/templates` that the user trusts."""
    found: dict[str, ProjectTemplate] = {}
    notices: list[str] = []
    for each in own_templates(home.environ, home.repo):
        file = one_line(os.path.relpath(each.path, home.repo))
        if not each.is_trusted:
            notices.append(f"{file} is not used: type `flyball trust` to see and accept it.")
            continue
        source = parse_source(file, each.data)
        flow, problems = (None, (source,)) if isinstance(source, Problem) else read_flow(source)
        notices += [f"{problem} It is not used." for problem in problems]
        for template in flow.steps if flow else ():
            name = template.step_id
            if name in LIBRARY or name in found:
                owner = "built in" if name in LIBRARY else f"in {found[name].file}"
                notices.append(
                    f"{file}: the template {one_line(name)} is not used: one is {owner}."
                )
            else:
                found[name] = ProjectTemplate(template, file)
    return OwnTemplates(tuple(found.values()), tuple(notices))
