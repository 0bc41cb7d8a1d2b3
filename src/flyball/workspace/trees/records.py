"""Git's records beside files that were written out, so that these are a repository like any."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from flyball.workspace.trees.git import Git, Repository, quoted

_CONFIG = """\
[core]
\trepositoryformatversion = {version}
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
{extensions}"""


def lay_records(depot: Git, repository: Repository, place: Path, commit: str, tree: str) -> None:
    """Make files that were written out a repository of their own, at this commit of the user's.

    It borrows all objects and shares nothing that can be written: what is done to it there is gone
    with it. Its index is the tree, so that git calls staged what is not committed yet.
    """
    records = place / ".git"
    for part in ("objects/info", "refs/heads", "refs/tags", "info"):
        (records / part).mkdir(parents=True)
    extensions = "".join((depot.directory / "config").read_text().partition("[extensions]")[1:])
    version = 1 if extensions else 0
    (records / "config").write_text(_CONFIG.format(version=version, extensions=extensions))
    borrowed = (repository.objects, depot.directory / "objects")
    (records / "objects/info/alternates").write_text(
        "".join(f"{quoted(os.fspath(path))}\n" for path in borrowed)
    )
    # Tags and branches as far as they are packed, as in a clone: builds ask them for a version.
    with suppress(OSError):
        shutil.copyfile(repository.common / "packed-refs", records / "packed-refs")
    head = (repository.directory / "HEAD").read_text().strip()
    if head.startswith("ref: refs/"):
        if commit:
            branch = records / head.removeprefix("ref: ")
            branch.parent.mkdir(parents=True, exist_ok=True)
            branch.write_text(f"{commit}\n")
    else:
        head = commit
    (records / "HEAD").write_text(f"{head}\n")
    depot.with_env(GIT_INDEX_FILE=os.fspath(records / "index")).call("read-tree", tree)
