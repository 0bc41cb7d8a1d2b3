"""`delete_file`: remove one file; the snapshot before it keeps it recoverable."""

from __future__ import annotations

from typing import Annotated

import msgspec

from flyball.tools.files import path_fact
from flyball.tools.protocol import Desk, Facts, Form, Result, Tool


class DeleteForm(Form, frozen=True, kw_only=True):
    """A path; `confirm` says that deleting it is meant."""

    path: Annotated[str, msgspec.Meta(min_length=1)]
    confirm: bool = False


def facts(form: DeleteForm, desk: Desk) -> Facts:
    fact = path_fact(form.path, desk, write=True)
    doomed = f"deletes {fact.path}, which is not in git" if fact.untracked else ""
    return Facts(paths=(fact,), destructive=doomed, confirmed=form.confirm)


async def perform(form: DeleteForm, desk: Desk) -> Result:
    desk.root.delete(form.path)
    return done(form)


def probe(form: DeleteForm, desk: Desk) -> Result | None:
    return None if desk.root.fact(form.path, write=False).exists else done(form)


def done(form: DeleteForm) -> Result:
    return Result(True, f"Deleted {form.path}.", {"path": form.path})


DELETE_FILE = Tool("delete_file", "Delete one file.", DeleteForm, facts, perform, probe)
