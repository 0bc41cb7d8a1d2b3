"""`flyball bench`: compare costs with peers, and measure how often a verifier is fooled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flyball.cli.card import JSON
from flyball.cli.terminal.edge import say

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from flyball.app.liars.trial import TriedChange

NO_CHECKOUT = "The benchmarks need a checkout of Flyball, and this installation has none."
WHAT_TO_DO = "In a clone of Flyball run `make bench`. `flyball bench liars` needs no checkout."


@click.group(invoke_without_command=True)
@click.option("--only", multiple=True, metavar="NAME", help="Run only this bench; may be repeated.")
@click.option("--page", is_flag=True, help="Write docs/benchmarks.md and its plot.")
@JSON
@click.pass_context
def bench(context: click.Context, only: tuple[str, ...], page: bool, as_json: bool) -> None:
    """Run Flyball's benchmarks and those of comparable tools, in one report.

    The exit code is 0 if every goal is reached. It needs a checkout of Flyball; `make bench` also
    installs the other tools.
    """
    import importlib
    import sys
    from pathlib import Path

    import flyball

    if context.invoked_subcommand is not None:
        return
    sys.path.insert(0, str(checkout_among((Path(flyball.__file__).parents[2], Path.cwd()))))
    words = [*only, *(["--page"] if page else []), *(["--json"] if as_json else [])]
    raise SystemExit(importlib.import_module("bench.__main__").main(words))


@bench.command()
@click.option(
    "--tool",
    metavar="CMD",
    default="",
    help="The verifier, run by sh in each repository; `flyball verify` unless given.",
)
@click.option(
    "--family", multiple=True, metavar="KIND", help="Only changes of this kind; may be repeated."
)
@click.option(
    "--only",
    multiple=True,
    metavar="NAME",
    help="Only changes with this in their name, such as 012; may be repeated.",
)
@click.option(
    "--every",
    type=click.IntRange(1),
    default=1,
    metavar="N",
    help="Try only every n-th change of each kind.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(1),
    default=300.0,
    show_default=True,
    metavar="N",
    help="Maximum seconds per answer.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    metavar="N",
    help="Number of changes to try in parallel.",
)
@JSON
def liars(
    tool: str,
    family: tuple[str, ...],
    only: tuple[str, ...],
    every: int,
    seconds: float,
    jobs: int,
    as_json: bool,
) -> None:
    """Test a verifier with dishonest and honest changes.

    Each change is in its own repository: `main` is a small project with a failing test, and the
    branch `change`, which is checked out, claims to repair it. CMD is run there; {base}, {head},
    {repo} and {suite} (the project's own test command) are filled in, and are also in LIARS_BASE,
    LIARS_HEAD, LIARS_REPO and LIARS_SUITE. Exit code 0 accepts the change, any other rejects it; 3
    says that a person must decide.

    The exit code is 0 if no dishonest change is accepted and every honest one is.
    """
    import os

    from flyball.app.liars.trial import VERIFY, all_cases, ask_all, chosen, make_verifier
    from flyball.errors import NotFound

    cases = all_cases()
    known = list(dict.fromkeys(case.family for case in cases))
    for each in family:
        if each not in known:
            raise NotFound("family", each, f"Known are: {', '.join(known)}.")
    picked = chosen(cases, family, every, only)
    if not picked:
        raise NotFound("change", ", ".join(only), "`flyball bench liars --tool true` lists them.")
    command = tool or VERIFY
    if not as_json:
        say(f"{command}: {len(picked)} of {len(cases)} changes", err=True)
    found = ask_all(
        make_verifier(command, seconds, os.environ),
        picked,
        jobs,
        lambda tried: None if as_json else _say_answer(tried),
    )
    if as_json:
        _print_json(command, found)
    else:
        _print_table(command, found)
    tried = [each for each in found if each.was_tried]
    if not tried or not all(each.is_right for each in tried):
        raise SystemExit(1)


def _say_answer(tried: TriedChange) -> None:
    mark = "·" if not tried.was_tried else "✓" if tried.is_right else "✗"
    say(f"{mark} {tried.family}: {tried.name}: {tried.answer} ({tried.seconds:.1f} s)", err=True)


def _counts(found: Sequence[TriedChange]) -> list[tuple[str, int, int, int]]:
    """Return for each family how many changes were tried, accepted, and answered correctly."""
    tried = [each for each in found if each.was_tried]
    families = dict.fromkeys(each.family for each in tried)
    rows: list[tuple[str, int, int, int]] = []
    for family in families:
        own = [each for each in tried if each.family == family]
        accepted = sum(each.answer == "accepted" for each in own)
        rows.append((family, len(own), accepted, sum(each.is_right for each in own)))
    return rows


def _print_table(command: str, found: Sequence[TriedChange]) -> None:
    from flyball.app.liars.trial import HONEST_WORK

    rows = _counts(found)
    say(f"\n{'family':<16}{'tried':>6}{'accepted':>10}{'right':>7}")
    for family, tried, accepted, right in rows:
        say(f"{family:<16}{tried:>6}{accepted:>10}{right:>7}")
    lies = [row for row in rows if row[0] != HONEST_WORK]
    fooled, all_lies = sum(row[1] - row[3] for row in lies), sum(row[1] for row in lies)
    honest, wrong = next(((r[1], r[1] - r[3]) for r in rows if r[0] == HONEST_WORK), (0, 0))
    say(f"\n{command}")
    say(f"fooled by {fooled} of {all_lies} lies; rejects {wrong} of {honest} honest changes")
    for each in found:
        if each.was_tried and not each.is_right:
            say(f"  {each.family}: {each.name}: {each.answer}")
    if missing := sorted({each.answer for each in found if not each.was_tried}):
        say(f"  {'; '.join(missing)}")


def _print_json(command: str, found: Sequence[TriedChange]) -> None:
    import json

    table = [
        {"family": family, "tried": tried, "accepted": accepted, "right": right}
        for family, tried, accepted, right in _counts(found)
    ]
    told = [{**each._asdict(), "is_right": each.is_right} for each in found]
    say(json.dumps({"tool": command, "families": table, "changes": told}))


def checkout_among(places: Sequence[Path]) -> Path:
    """Return the first directory that is a checkout of Flyball with its benchmarks."""
    from flyball.errors import UsageError

    for place in places:
        if (place / "bench" / "__main__.py").is_file() and (place / "src" / "flyball").is_dir():
            return place
    raise UsageError(NO_CHECKOUT, WHAT_TO_DO)
