"""Helpers to write the tables of programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict, Unpack

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


def rule(kind: CommandKind, does: str, **fields: Unpack[Fields]) -> Rule:
    """Build one rule."""
    return Rule(
        kind=kind,
        does=does,
        operands=fields.get("operands", Operands.READ),
        writes=names(fields.get("writes", "")),
        reads=names(fields.get("reads", "")),
        places=names(fields.get("places", "")),
        mutates=names(fields.get("mutates", "")),
        destroys=names(fields.get("destroys", "")),
        runs=names(fields.get("runs", "")),
        spares=names(fields.get("spares", "")),
        valued=names(fields.get("valued", "")),
        attached=names(fields.get("attached", "")),
        known=names(fields.get("known", "")),
        subcommands=fields.get("subcommands", {}),
        bare=fields.get("bare"),
        proves=fields.get("proves", ""),
        fixed=fields.get("fixed", False),
        single=fields.get("single", False),
        reveals=names(fields.get("reveals", "")),
        check=fields.get("check"),
    )


def table(rows: Mapping[str, Rule]) -> dict[str, Rule]:
    """Build a table whose keys may hold several names, separated by spaces."""
    return {name: row for names, row in rows.items() for name in names.split()}


def each(names: str, row: Rule) -> dict[str, Rule]:
    """Return the same rule for several names."""
    return dict.fromkeys(names.split(), row)
