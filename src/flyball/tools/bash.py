"""`bash`: run a shell command, judged part by part and confined by the kernel."""

from __future__ import annotations

from flyball.guards.fingerprint import without_volatile_parts
from flyball.shell import cannot_fail, verification_kind
from flyball.terms.evidence import AnyEvidence, CommandReport
from flyball.tools.call.facts import BashForm, command_facts
from flyball.tools.call.protocol import CallContext, Result, Tool, bounded
from flyball.verdict.runners.launch import exit_code, launch, set_up
from flyball.verdict.runners.reports.console import from_text
from flyball.workspace.process.levels import explain
from flyball.workspace.process.process import Finished


async def perform(form: BashForm, context: CallContext) -> Result:
    with set_up(context._replace(limits=context.settings.limits)) as start:
        finished = await launch(form.cmd, start)
    end = _ending(finished)
    lines = [f"$ {form.cmd}", finished.output.rstrip("\n"), f"[{end}]"]
    lines += [f"[sandbox: {line}]" for line in explain(finished)]
    see = f"The whole output can be read as {context.log_name}."
    text, cut = bounded("\n".join(filter(None, lines)), context.settings.max_text, see)
    return Result(
        ok=finished.ok,
        text=text,
        data={"exit_code": finished.exit_code},
        error="" if finished.ok else finished.output[-2_000:] or end,
        evidence=_evidence(form, finished, context),
        same=[end, without_volatile_parts(finished.output)],
        artifact=str(finished.log or ""),
        cut=cut + finished.cut_bytes,
    )


def _ending(finished: Finished) -> str:
    if finished.cut_off:
        return finished.cut_off
    if finished.signal:
        return f"ended by signal {finished.signal}"
    return f"exit {finished.exit_code}"


def _evidence(form: BashForm, finished: Finished, context: CallContext) -> tuple[AnyEvidence, ...]:
    """Return what the command verified, or that it verified nothing; empty for other commands."""
    kind, hollow = verification_kind(form.cmd), cannot_fail(form.cmd) or ""
    if kind is None and not hollow:
        return ()
    report = CommandReport(
        id=context.evidence_id(),
        tree=context.tree,
        elapsed=round(finished.elapsed, 3),
        command=form.cmd,
        exit_code=exit_code(finished),
        verification=kind is not None,
        proves_nothing=hollow or (_without_tests(finished) if kind == "tests" else ""),
    )
    return (report,)


def _without_tests(finished: Finished) -> str:
    """Return why a successful test run shows nothing: it ran no test."""
    counted = from_text(finished.output)
    return "no test ran" if counted and not counted.passed and not counted.failed else ""


BASH = Tool(
    "bash",
    "Run a shell command in the workspace, without network.",
    BashForm,
    command_facts,
    perform,
    example={"cmd": "ls src"},
)
