"""`project`: the kind of project and how it can be verified."""

from __future__ import annotations

from collections import Counter

import msgspec

from flyball.tools.call.protocol import CallContext, Form, Result, Tool, no_facts
from flyball.tools.call.ripgrep import files_below
from flyball.verdict.part import TOP, Part, PartSuite
from flyball.verdict.runners.layout import look
from flyball.verdict.runners.parts import survey_parts

SHOWN = 12


class ProjectForm(Form, frozen=True, kw_only=True):
    """The form has no fields."""


async def perform(_form: ProjectForm, context: CallContext) -> Result:
    parts = survey_parts(look(context.root.path), context.settings.commands)
    endings: Counter[str] = Counter()
    tops: Counter[str] = Counter()
    for path in files_below(context):
        name = path.rpartition("/")[2]
        endings[f".{name.rpartition('.')[2]}" if "." in name else name] += 1
        tops[path.partition("/")[0] + ("/" if "/" in path else "")] += 1
    lines = [
        f"Project {context.workspace.project.name}, {sum(tops.values())} files.",
        f"Top: {', '.join(f'{name} ({n})' for name, n in tops.most_common(SHOWN))}.",
        f"Kinds: {', '.join(f'{name} ({n})' for name, n in endings.most_common(SHOWN))}.",
        *(_line(part) for part in parts),
    ]
    runners = dict.fromkeys(suite.runner for part in parts for suite in part.suites)
    checks = dict.fromkeys(check for part in parts for check in part.checks)
    data: dict[str, object] = {
        "runners": [*runners],
        "checks": [*checks],
        "parts": [msgspec.to_builtins(part) for part in parts],
    }
    return Result(True, "\n".join(lines), data)


def _line(part: Part) -> str:
    """Return one part: its kind, its tests and checks, and the parts it depends on."""
    name = "The top" if part.path == TOP else part.path
    kinds = f" ({', '.join(part.kinds)})" if part.kinds else ""
    needs = f" Needs: {', '.join(part.depends_on)}." if part.depends_on else ""
    tests = ", ".join(map(_suite, part.suites)) or "no known test runner"
    checks = ", ".join(part.checks) or "none"
    if part.check_origin:
        checks = f"`{checks}` (settled in {part.check_origin})"
    return f"{name}{kinds}: tests: {tests}; checks: {checks}.{needs}"


def _suite(suite: PartSuite) -> str:
    """Return a suite's runner, the project's own command for it, and its source."""
    if suite.origin:
        return f"`{suite.command}` (settled in {suite.origin})"
    return f"{suite.runner} (`{suite.command}`)" if suite.command else suite.runner


PROJECT = Tool(
    "project",
    "Describe the project: its parts, test runners and checks.",
    ProjectForm,
    no_facts,
    perform,
)
