"""Every program known, and how a name finds its rule."""

from __future__ import annotations

import posixpath
from typing import NamedTuple

from flyball.shellcheck.judgement import CommandKind
from flyball.shellcheck.programs.archive import ARCHIVES
from flyball.shellcheck.programs.builtin import BUILTINS
from flyball.shellcheck.programs.checker import CHECKERS
from flyball.shellcheck.programs.cloud import CLOUDS
from flyball.shellcheck.programs.container import CONTAINERS
from flyball.shellcheck.programs.database import DATABASES
from flyball.shellcheck.programs.file import FILES
from flyball.shellcheck.programs.git import GITS
from flyball.shellcheck.programs.interpreter import INTERPRETERS
from flyball.shellcheck.programs.network import NETWORKS
from flyball.shellcheck.programs.package import PACKAGES
from flyball.shellcheck.programs.project import PROJECTS
from flyball.shellcheck.programs.system import SYSTEMS
from flyball.shellcheck.programs.text import TEXTS
from flyball.shellcheck.programs.toolchain import TOOLCHAINS
from flyball.shellcheck.programs.wrapper import WRAPPERS
from flyball.shellcheck.rule import Rule
from flyball.shellcheck.words.names import names
from flyball.shellcheck.words.pattern import Pattern
from flyball.shellcheck.words.place import Scope, outside

PROGRAMS: dict[str, Rule] = {
    **INTERPRETERS,
    **CHECKERS,
    **PROJECTS,
    **PACKAGES,
    **TOOLCHAINS,
    **CONTAINERS,
    **CLOUDS,
    **DATABASES,
    **NETWORKS,
    **GITS,
    **ARCHIVES,
    **FILES,
    **SYSTEMS,
    **TEXTS,
    **BUILTINS,
    **WRAPPERS,
}

SYSTEM_DIRS = names(
    "/bin /usr/bin /usr/local/bin /sbin /usr/sbin /opt/homebrew/bin /usr/local/sbin"
)
_TOOL_DIRS = Pattern(r"(\./)?([\w.@-]+/)*(node_modules/\.bin|\.?venv\w*/bin|env/bin|vendor/bin)")
_LAUNCHERS = frozenset(("gradlew", "mvnw"))


_PROJECT = Pattern(
    r"(python|pypy)[\d.]*|node|nodejs|deno|bun|ruby|php|perl|java|tsx|ts-node|lua|elixir|sh|bash|dash|"
    r"rails|rake|flask|django-admin|alembic|knex|sequelize|typeorm|prisma|flyway|liquibase|mix|artisan|npx|uvx"
)


def runs_project(name: str) -> bool:
    """Whether a name stands for a program of the project, or for one that runs such programs."""
    return "/" in name or bool(_PROJECT.fullmatch(name))


class Known(NamedTuple):
    """A rule for a program, and the least it counts for because of where it lies."""

    rule: Rule | None
    floor: CommandKind
    why: str


def lookup(name: str, scope: Scope) -> Known:
    """The rule for a program as it is called."""
    folder, base = posixpath.split(name)
    found = PROGRAMS.get(base)
    if not folder or folder in SYSTEM_DIRS:
        if found is None:
            return Known(
                None,
                CommandKind.UNKNOWN,
                "is not a program known here (a person can add it to the allow-list)",
            )
        return Known(found, CommandKind.READ_ONLY, "")
    if outside(name, scope):
        return Known(None, CommandKind.UNKNOWN, "is a program from outside the workspace")
    own = "is the workspace's own program"
    if found is not None and (_TOOL_DIRS.fullmatch(folder) or base in _LAUNCHERS):
        return Known(found, CommandKind.VERIFICATION, own)
    return Known(None, CommandKind.MUTATING, own)
