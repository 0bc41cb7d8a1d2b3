"""`delete_file`: remove one file; the snapshot before it keeps it recoverable."""

from __future__ import annotations

import msgspec

from flyball.errors import ToolError
from flyball.tools.call.facts import lost_regions, path_fact, present
from flyball.tools.call.protocol import CallContext, CallFacts, Form, Result, Text, Tool
from flyball.workspace.files.paths import PathKind
from flyball.workspace.trees.trees import TreeHash


class DeleteForm(Form, frozen=True, kw_only=True):
    """A path; `confirm` says that deleting it is intended."""

    path: Text
    confirm: bool = False
    keep_regions: bool = msgspec.field(default=True, name="keepRegions")


def facts(form: DeleteForm, context: CallContext) -> CallFacts:
    fact = path_fact(form.path, context, write=True, deletes=True)
    return CallFacts(
        paths=(fact,),
        destructive=f"deletes {fact.path}, which is not in git" if fact.untracked else "",
        confirmed=form.confirm,
        keeps_regions=form.keep_regions,
    )


async def perform(form: DeleteForm, context: CallContext) -> Result:
    kind = context.root.fact(form.path, write=True).kind
    if kind is PathKind.DIR:
        raise ToolError(f"{form.path} is a directory.", "Delete the files in it one by one.")
    before = present(form.path, context) if kind is PathKind.FILE and form.keep_regions else None
    if before is not None and (kept := lost_regions(form.path, before, b"")):
        reasons = " ".join(kept)
        return Result(False, f"Nothing was deleted. {reasons}", error="keep_region", same=kept)
    context.root.delete(form.path)
    return _done(form)


def probe(form: DeleteForm, context: CallContext) -> Result | None:
    """Return a result if the file existed before this call and is gone."""
    fact = context.root.fact(form.path, write=False)
    if fact.exists:
        return None
    before = context.workspace.trees.entries(TreeHash(context.tree), [fact.path])
    return _done(form) if before else None


def _done(form: DeleteForm) -> Result:
    return Result(True, f"Deleted {form.path}.", {"path": form.path})


DELETE_FILE = Tool(
    "delete_file",
    "Delete one file.",
    DeleteForm,
    facts,
    perform,
    probe,
    example={"path": "docs/unused.md"},
)
