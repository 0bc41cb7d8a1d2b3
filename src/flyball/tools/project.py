"""`project`: what kind of project this is and how it can be verified."""

from __future__ import annotations

from collections import Counter

from flyball.tools.call.protocol import CallContext, Form, Result, Tool, no_facts
from flyball.tools.call.ripgrep import files_below
from flyball.tools.survey import survey

SHOWN = 12


class ProjectForm(Form, frozen=True, kw_only=True):
    """Nothing to fill in."""


async def perform(_form: ProjectForm, context: CallContext) -> Result:
    runners, checks = survey(context.root.path)
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
        f"Tests: {', '.join(runners) or 'no known test runner'}.",
        f"Checks: {', '.join(checks) or 'none'}.",
    ]
    return Result(True, "\n".join(lines), {"runners": list(runners), "checks": list(checks)})


PROJECT = Tool(
    "project",
    "Describe the project: its files, test runners and checks.",
    ProjectForm,
    no_facts,
    perform,
)
