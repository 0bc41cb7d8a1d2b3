"""`flyball machine`: the statechart, drawn from its table."""

from __future__ import annotations

import click

from flyball.surfaces.cli.terminal.edge import say


@click.command()
@click.option(
    "--format",
    "form",
    type=click.Choice(["mermaid", "xstate", "json"]),
    default="mermaid",
    show_default=True,
    help="A picture for people, a config for XState v5, or plain data.",
)
def machine(form: str) -> None:
    """Draw the statechart that every card moves through."""
    import json

    from flyball.core.record.diagram import as_json, as_mermaid, as_xstate

    if form == "mermaid":
        say(as_mermaid(), nl=False)
    else:
        say(json.dumps(as_xstate() if form == "xstate" else as_json(), indent=2))
