"""The `flyball confined` command: its options, help and completion."""

from __future__ import annotations

import click


@click.command(context_settings={"allow_interspersed_args": False})
@click.option("--read-only", is_flag=True, help="Discard what it writes to the project.")
@click.option("--project", is_flag=True, help="Let it change the project, except protected paths.")
@click.option(
    "--hide", multiple=True, metavar="PATTERN", help="Hide matching files as secrets too."
)
@click.option("--verbose", is_flag=True, help="Warn when nothing can confine it.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@click.pass_context
def confined(
    ctx: click.Context,
    read_only: bool,
    project: bool,
    hide: tuple[str, ...],
    verbose: bool,
    command: tuple[str, ...],
) -> None:
    """Run a command in the sandbox: no network, no secrets, none of your sockets.

    With --read-only it may write to the project and to caches, but its changes are discarded; they
    are listed at the end. With --project it may change the project, except protected paths. Its
    streams, terminal, signals and exit code are the command's own. If this machine cannot confine
    it, it runs unconfined.
    """
    from flyball.cli.confined_quick import confine

    given = {"--read-only": read_only, "--project": project, "--verbose": verbose}
    options = [name for name, is_given in given.items() if is_given]
    options += [f"--hide={pattern}" for pattern in hide]
    ctx.exit(confine([*options, "--", *command]))
