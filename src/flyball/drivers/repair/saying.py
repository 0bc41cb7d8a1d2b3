"""The sentences of the repairer: what it saw, and never more than that."""

from __future__ import annotations

import re
from collections.abc import Sequence

from flyball.drivers.repair.story import Failed, Ran, Search, Survivor, Suspect

CONFIGURE = """\
Configure a model and ask again, for instance:
  export ANTHROPIC_API_KEY=…    # or OPENAI_API_KEY, ZAI_API_KEY
  flyball run --model anthropic:MODEL "{request}"
A local server works too: FLYBALL_MODEL_BASE_URL=http://localhost:11434/v1 with --model openai:NAME.
Or think yourself, in any chat window: flyball run --driver relay:DIR "{request}\""""
SHOWN = 5


def configure(request: str) -> str:
    """Which lines to type to have a model do it."""
    words = " ".join(request.split())
    short = words if len(words) <= 60 else words[:57] + "…"
    return CONFIGURE.format(request=re.sub(r'["`$\\]', "'", short))


def plausible(before: Ran, after: Ran, change: Survivor, others: int) -> str:
    """What a repair that holds may claim."""
    count = f"{before.failed} failing test{'s' if before.failed != 1 else ''}"
    text = (
        f"A plausible change: the tests pass. {count} of before and all others pass now "
        f"({after.passed} in all) with one small change in {change.path}:{change.line} "
        f"({change.template}: {change.label}).\n"
        "It was found by search and says no more than the tests do: read the diff before you keep "
        "it."
    )
    if others > 0:
        text += f" {others} other change{'s' if others != 1 else ''} would pass too; see the note."
    return text


def could_not(run: Ran, lines: Sequence[Suspect], found: Search | None) -> str:
    """What was learnt where no change was found."""
    parts = ["No change was found under which the tests pass; nothing was changed."]
    if found is not None:
        parts.append(
            f"{found.tried} of {found.generated} small changes were tried in {found.elapsed:.0f} s."
        )
    parts.append(diagnosis(run))
    if lines:
        parts.append("The most suspicious lines:")
        parts += [f"  {each.score}  {each.path}:{each.line}  {each.text}" for each in lines[:SHOWN]]
    else:
        parts.append("No line outside the tests could be made out as suspicious.")
    return "\n".join(parts)


def diagnosis(run: Ran) -> str:
    """Which tests fail, and why, in a few lines."""
    lines = [f"{run.failed} of {run.failed + run.passed} tests fail."]
    lines += [_explained(each) for each in run.failures[:SHOWN]]
    if len(run.failures) > SHOWN:
        lines.append(f"… and {len(run.failures) - SHOWN} more.")
    return "\n".join(lines)


def _explained(failed: Failed) -> str:
    return f"{failed.name}: {failed.reason or 'no reason was given'}"


def nothing_red(run: Ran) -> str:
    """A repairer without a failing test has nothing to go by."""
    return (
        f"All {run.passed} tests pass, so there is nothing to repair: the built-in repairer goes "
        "by failing tests. Write a test that shows the fault and ask again, or configure a model."
    )


def only_together(run: Ran) -> str:
    """Tests that disturb each other are beyond a search for small changes."""
    return (
        "Each test passes by itself, but not all of them together: they depend on each other or on "
        f"what others leave behind. Nothing was changed.\n{diagnosis(run)}"
    )


def suite_trouble(text: str) -> str:
    """No test could be run."""
    first = text.strip().split("\n")
    return "The tests could not be run, so there is nothing to go by.\n" + "\n".join(first[:12])


def reverse(diff: str) -> str:
    """The diff that takes this one back."""
    lines: list[str] = []
    for line in diff.split("\n"):
        if line.startswith(("--- a/", "+++ b/")):
            lines.append(line)
        elif head := re.match(r"@@ -(\S+) \+(\S+) @@(.*)", line):
            lines.append(f"@@ -{head[2]} +{head[1]} @@{head[3]}")
        elif line.startswith("-"):
            lines.append("+" + line[1:])
        elif line.startswith("+"):
            lines.append("-" + line[1:])
        else:
            lines.append(line)
    return "\n".join(lines)
