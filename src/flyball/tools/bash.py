"""`bash`: a shell command, judged part by part and confined by the kernel."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from flyball.core.memory.fingerprint import without_passing_things
from flyball.core.terms.call import Access, CommandFact, PathFact
from flyball.core.terms.evidence import AnyEvidence, CommandReport
from flyball.shellcheck import CommandKind, judge
from flyball.shellcheck.falsifiable import cannot_fail, verification_kind
from flyball.shellcheck.judgement import CommandPart
from flyball.tools.call.protocol import CallContext, CallFacts, Form, Result, Text, Tool, bounded
from flyball.tools.runner.launch import exit_code, launch, set_up
from flyball.tools.runner.reports.console import from_text
from flyball.workspace.process.levels import explain
from flyball.workspace.process.process import Finished
from flyball.workspace.trees.writer import holds_file

ACCESS = {
    CommandKind.READ_ONLY: Access.READ,
    CommandKind.VERIFICATION: Access.VERIFY,
    CommandKind.MUTATING: Access.MUTATE,
    CommandKind.DESTRUCTIVE: Access.MUTATE,
    CommandKind.UNKNOWN: Access.MUTATE,
}

_CHANGING = frozenset(kind for kind, access in ACCESS.items() if access is Access.MUTATE)


class BashForm(Form, frozen=True, kw_only=True):
    """A command; `confirm` says that a destructive one is meant."""

    cmd: Text
    confirm: bool = False


def facts(form: BashForm, context: CallContext, *, fresh: bool = True) -> CallFacts:
    """The judgement for `execute`; what the phase allows is the governor's to say."""
    verdict = judge(
        form.cmd,
        phase="execute",
        allow=context.settings.allow,
        root=os.fspath(context.root.path),
        fresh=fresh,
    )
    doomed = verdict.kind is CommandKind.DESTRUCTIVE and verdict.decision != "deny"
    return CallFacts(
        access=ACCESS[verdict.kind],
        paths=tuple(
            PathFact(path, untracked=True, write=True)
            for path in sorted(_named_untracked(verdict.parts, context))
        ),
        command=CommandFact(form.cmd, verdict.kind.value, verdict.decision, verdict.reason),
        destructive=f"destroys something: {verdict.reason}" if doomed else "",
        confirmed=form.confirm,
    )


def _named_untracked(parts: Sequence[CommandPart], context: CallContext) -> Iterator[str]:
    """The user's files outside of git that a part which changes something names.

    By itself, by a folder above it, by a pattern, or as seen from a folder the command went to:
    rather one question too many than one too few. What a program does without being told the name
    is seen afterwards.
    """
    changing = [part.text for part in parts if part.kind in _CHANGING]
    words = {_inside(word, context) for text in changing for word in _words(text)} - {""}
    for path in context.workspace.untracked.paths if words else ():
        if any(_names(word, path) for word in words) and holds_file(context.root.path, path):
            yield path


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _inside(word: str, context: CallContext) -> str:
    """A word as a path from the root, if it is one."""
    word = word.removeprefix(f"{os.fspath(context.root.path)}/")
    return os.path.normpath(word).removeprefix("../") if word and word != "." else ""


def _names(word: str, path: str) -> bool:
    return (
        path == word
        or path.startswith(f"{word}/")
        or path.endswith(f"/{word}")
        or fnmatchcase(path, word)
    )


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
        same=[end, without_passing_things(finished.output)],
        artifact=str(finished.log or ""),
        cut=cut + finished.cut_bytes,
    )


def _ending(finished: Finished) -> str:
    if finished.over_limit:
        return f"ended: over the limit of {finished.over_limit}"
    if finished.signal:
        return f"ended by signal {finished.signal}"
    return f"exit {finished.exit_code}"


def _evidence(form: BashForm, finished: Finished, context: CallContext) -> tuple[AnyEvidence, ...]:
    """What the command verified, or that it could not have; nothing for any other command."""
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
    """Why a test run that ended well shows nothing: no test ran in it."""
    counted = from_text(finished.output)
    return "no test ran" if counted and not counted.passed and not counted.failed else ""


BASH = Tool(
    "bash",
    "Run a shell command in the workspace, without network.",
    BashForm,
    facts,
    perform,
    example={"cmd": "ls src"},
)
