"""Helpers to write the tables of programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict, Unpack

from flyball.shell.judgement import CommandKind
from flyball.shell.rule import Check, Operands, Rule
from flyball.shell.words.names import names

READ, VERIFY = CommandKind.READ_ONLY, CommandKind.VERIFICATION
MUTATE, DESTROY, UNKNOWN = CommandKind.MUTATING, CommandKind.DESTRUCTIVE, CommandKind.UNKNOWN
TEXT, NAMES, NONE = Operands.TEXT, Operands.NAMES, Operands.NONE


class Fields(TypedDict, total=False):
    """The fields of a rule, with options written as one string of names."""

    operands: Operands
    writes: str
    reads: str
    places: str
    mutates: str
    destroys: str
    runs: str
    spares: str
    valued: str
    attached: str
    known: str
    subcommands: Mapping[str, Rule]
    bare: Rule | None
    proves: str
    fixed: bool
    single: bool
    reveals: str
    check: Check | None


_OPTIONS = names("writes reads places mutates destroys runs spares valued attached known reveals")


def rule(kind: CommandKind, does: str, **fields: Unpack[Fields]) -> Rule:
    """Build one rule."""
    given: dict[str, Any] = {**fields}
    given |= {each: names(given[each]) for each in _OPTIONS & given.keys()}
    return Rule(kind, does, **given)


def table(rows: Mapping[str, Rule]) -> dict[str, Rule]:
    """Build a table whose keys may hold several names, separated by spaces."""
    return {name: row for names, row in rows.items() for name in names.split()}


def each(names: str, row: Rule) -> dict[str, Rule]:
    """Return the same rule for several names."""
    return dict.fromkeys(names.split(), row)
