"""`git`: commit or restore within the run's own branch; the user's branches are not accessible."""

from __future__ import annotations

from typing import Literal

from flyball.errors import ToolError, ToolUnavailable
from flyball.terms.call import PathFact
from flyball.tools.call.facts import path_fact
from flyball.tools.call.protocol import CallContext, CallFacts, Form, Result, Text, Tool


class GitForm(Form, frozen=True, kw_only=True):
    """`branch` names the run's branch; `revert` restores paths as they were when the run began."""

    action: Literal["branch", "commit", "revert"]
    paths: tuple[Text, ...] = ()
    message: Text = ""
    confirm: bool = False

    def __post_init__(self) -> None:
        if self.action == "revert" and not self.paths:
            raise ValueError("`paths` is empty; name the files to restore")
        if self.action == "commit" and not self.message.strip():
            raise ValueError("`message` is empty; say what the commit does")


def facts(form: GitForm, context: CallContext) -> CallFacts:
    if form.action != "revert":
        return CallFacts()
    paths: tuple[PathFact, ...] = tuple(path_fact(p, context, write=True) for p in form.paths)
    names = ", ".join(form.paths)
    return CallFacts(
        paths=paths, destructive=f"discards the changes to {names}", confirmed=form.confirm
    )


async def perform(form: GitForm, context: CallContext) -> Result:
    workspace = context.workspace
    if workspace.branch is None:
        raise ToolUnavailable("This project is not in git; snapshots still work.")
    if form.action == "branch":
        return Result(True, f"The run works on flyball/{workspace.run}.")
    if form.action == "commit":
        text = "Noted on the card. Flyball commits it, with its evidence, when it is verified."
        return Result(True, text, {"message": form.message})
    for path in form.paths:
        rel = context.root.resolve(path, write=True)
        before = workspace.file_at(workspace.base, rel)
        if before is not None:
            context.root.write_bytes(rel, before)
        elif context.root.fact(rel, write=True).exists:
            context.root.delete(rel)
        else:
            raise ToolError(f"{rel} exists neither here nor where the run started.")
    return Result(True, f"Restored: {', '.join(form.paths)}.", {"paths": list(form.paths)})


GIT = Tool(
    "git",
    "`branch` names the run's branch, `commit` stores a message, `revert` restores `paths` to "
    "where the run started.",
    GitForm,
    facts,
    perform,
    example={"action": "revert", "paths": ["docs/prices.md"], "confirm": True},
)
