"""`flyball worker`: drive the runs of a cluster in one process."""

from __future__ import annotations

import json
import os
import signal

import click

from flyball.cli.card import DATABASE
from flyball.cli.terminal.edge import say

ROLES = ("planner", "executor", "verifier")


def _roles(text: str) -> tuple[str, ...]:
    """Return the roles in a list, each once."""
    from flyball.errors import UsageError

    named = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    wrong = [name for name in named if name not in ROLES]
    if wrong or not named:
        raise UsageError(f"There is no role {', '.join(wrong)!r}.", f"Use {', '.join(ROLES)}.")
    return named


@click.command()
@DATABASE
@click.option(
    "--roles",
    default=",".join(ROLES),
    show_default=True,
    metavar="ROLES",
    help="The roles it works for.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 200),
    default=4,
    show_default=True,
    metavar="N",
    help="Concurrent runs.",
)
@click.option(
    "--per-project",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Concurrent runs per project; 0: no limit.",
)
@click.option(
    "--per-person",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Concurrent runs per person; 0: no limit.",
)
@click.option(
    "--yes", "says_yes", is_flag=True, help="Honour `run --submit --yes` on this machine."
)
@click.option("--json", "as_json", is_flag=True, help="Print the worker's name as a JSON object.")
def worker(
    roles: str,
    concurrency: int,
    per_project: int,
    per_person: int,
    says_yes: bool,
    as_json: bool,
) -> None:
    """Process queued runs of a cluster until stopped.

    SIGTERM and Ctrl-C let running calls finish and leave the runs to other workers. Limits per
    project and person apply across all workers; give each worker the same.
    """
    from flyball.app.project import load_extra
    from flyball.errors import UsageError

    database = os.environ.get("FLYBALL_DATABASE", "")
    if not database:
        raise UsageError(
            "A worker needs the database of its cluster.",
            "Give --database, or set FLYBALL_DATABASE.",
        )
    module = load_extra("flyball.cluster.worker")
    shares = module.Shares(per_project, per_person)
    options = module.WorkerOptions(database, _roles(roles), concurrency, shares, says_yes)
    it = module.Worker(options, dict(os.environ))

    def stop(_number: int, _frame: object) -> None:
        it.stop()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)

    def ready() -> None:
        if as_json:
            say(json.dumps({"worker": it.name, "pid": os.getpid()}))
        else:
            say(f"This is {it.name}. It drives up to {concurrency} runs at once.")

    it.work(ready)
