"""`bash`: a shell command, judged part by part and confined by the kernel."""

from __future__ import annotations

import os
from typing import Annotated

import msgspec

from flyball.core.call import Access, CommandFact
from flyball.core.evidence import AnyEvidence, CommandReport
from flyball.shellcheck import Kind, judge
from flyball.shellcheck.proof import cannot_fail, verification_kind
from flyball.tools.protocol import Desk, Facts, Form, Result, Tool, bounded
from flyball.workspace.process import Finished, run
from flyball.workspace.sandbox import explain

ACCESS = {
    Kind.READ_ONLY: Access.READ,
    Kind.VERIFICATION: Access.VERIFY,
    Kind.MUTATING: Access.MUTATE,
    Kind.DESTRUCTIVE: Access.MUTATE,
    Kind.UNKNOWN: Access.MUTATE,
}


class BashForm(Form, frozen=True, kw_only=True):
    """A command; `confirm` says that a destructive one is meant."""

    cmd: Annotated[str, msgspec.Meta(min_length=1)]
    confirm: bool = False


def facts(form: BashForm, desk: Desk) -> Facts:
    """The judgement for `execute`; what the phase allows is the governor's to say."""
    verdict = judge(
        form.cmd, phase="execute", allow=desk.settings.allow, root=os.fspath(desk.root.path)
    )
    doomed = verdict.kind is Kind.DESTRUCTIVE and verdict.decision != "deny"
    return Facts(
        access=ACCESS[verdict.kind],
        command=CommandFact(form.cmd, verdict.kind.value, verdict.decision, verdict.reason),
        destructive=f"destroys something: {verdict.reason}" if doomed else "",
        confirmed=form.confirm,
    )


async def perform(form: BashForm, desk: Desk) -> Result:
    desk.artifacts.mkdir(parents=True, exist_ok=True)
    finished = await run(
        form.cmd,
        cwd=desk.root.path,
        env=desk.env,
        sandbox=desk.sandbox,
        limits=desk.settings.limits,
        log=desk.artifacts / f"{desk.card}.{desk.call}.log",
        on_output=desk.on_output,
        redactor=desk.redactor,
    )
    end = _ending(finished)
    lines = [f"$ {form.cmd}", finished.output.rstrip("\n"), f"[{end}]"]
    lines += [f"[sandbox: {line}]" for line in explain(finished)]
    log = os.fspath(finished.log) if finished.log else ""
    see = f"The whole output is {log}."
    text, cut = bounded("\n".join(filter(None, lines)), desk.settings.max_text, see)
    return Result(
        ok=finished.ok,
        text=text,
        data={"exit_code": finished.exit_code},
        error="" if finished.ok else finished.output[-2_000:] or end,
        evidence=_evidence(form, finished, desk),
        same=[finished.exit_code, finished.output],
        artifact=log,
        cut=cut + finished.cut_bytes,
    )


def _ending(finished: Finished) -> str:
    if finished.over_limit:
        return f"ended: over the limit of {finished.over_limit}"
    if finished.signal:
        return f"ended by signal {finished.signal}"
    return f"exit {finished.exit_code}"


def _evidence(form: BashForm, finished: Finished, desk: Desk) -> tuple[AnyEvidence, ...]:
    if verification_kind(form.cmd) is None and cannot_fail(form.cmd) is None:
        return ()
    code = finished.exit_code if finished.exit_code is not None else -(finished.signal or 1)
    report = CommandReport(
        id=desk.evidence_id(),
        tree=desk.tree,
        elapsed=round(finished.elapsed, 3),
        command=form.cmd,
        exit_code=code or (1 if finished.over_limit else 0),
        verification=verification_kind(form.cmd) is not None,
        proves_nothing=cannot_fail(form.cmd) or "",
    )
    return (report,)


BASH = Tool(
    "bash",
    "Run a shell command in the workspace, without network. In recon and verify only commands that "
    "look or verify are allowed; destructive ones need `confirm: true` and a person.",
    BashForm,
    facts,
    perform,
)
