"""Resolve `dep:NAME/PATH` to the installed source, or a sentence about what is available."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import NamedTuple

from flyball.errors import NotFound
from flyball.tools.call.facts import DEPENDENCY, is_dependency
from flyball.tools.call.protocol import CallContext, Result, bounded
from flyball.tools.dependencies.installed import (
    Installed,
    in_cargo,
    in_go,
    in_node,
    in_python,
    packages,
)
from flyball.workspace.files.paths import Root

_PLACES = (in_python, in_node, in_go, in_cargo)
_WITHOUT_IGNORES = ("--no-ignore", "--glob=!__pycache__")
"""Disables ignore rules, as a project ignores the packages it installs."""


class Located(NamedTuple):
    """A path that a driver may read, with how it is searched and displayed."""

    root: Root
    env: Mapping[str, str]
    path: str
    prefix: str = ""
    note: str = ""
    words: tuple[str, ...] = ()


def located(raw: str, context: CallContext) -> Located:
    """Return the location of a path, in the workspace or in an installed dependency."""
    if not is_dependency(raw):
        return Located(context.root, context.env, raw)
    found = _installed(raw.removeprefix(DEPENDENCY).strip("/"), context)
    what = f"{found.name} {found.version}".rstrip()
    return Located(
        root=found.root,
        env=context.env,
        path=found.path,
        prefix=found.prefix,
        note=f" ({what}, installed)",
        words=_WITHOUT_IGNORES,
    )


def _installed(asked: str, context: CallContext) -> Installed:
    for look in _PLACES if asked else ():
        if found := look(asked, context):
            return found
    raise NotFound("dependency", asked, _near(asked, context))


def overview(context: CallContext, limit: int) -> Result:
    """Return every installed dependency of the project, with its version."""
    lines = sorted(
        {f"{DEPENDENCY}{each.name} {each.version}".rstrip() for each in packages(context)}
    )
    text, cut = bounded("\n".join(lines[:limit]), context.settings.max_text)
    head = f"{len(lines)} dependencies are installed for this project"
    return Result(True, f"{head}\n{text}".rstrip(), {"count": len(lines)}, cut=cut)


def _near(asked: str, context: CallContext) -> str:
    known = sorted({each.name for each in packages(context)})
    near = get_close_matches(asked.partition("/")[0], known, 3, 0.6)
    if near:
        return f"Did you mean {' or '.join(DEPENDENCY + name for name in near)}?"
    return f"List `{DEPENDENCY}` to see what is installed for this project."
