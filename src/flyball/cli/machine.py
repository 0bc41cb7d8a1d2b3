"""`flyball machine`: draw the statechart from its table."""

from __future__ import annotations

import click

from flyball.cli.terminal.edge import say


@click.command()
@click.option(
    "--format",
    "form",
    type=click.Choice(["mermaid", "xstate", "json"]),
    default="mermaid",
    show_default=True,
    help="A Mermaid diagram, an XState v5 config, or plain data.",
)
def machine(form: str) -> None:
    """Print the statechart of a card."""
    import json

    from flyball.record.diagram import as_json, as_mermaid, as_xstate

    if form == "mermaid":
        say(as_mermaid(), nl=False)
    else:
        say(json.dumps(as_xstate() if form == "xstate" else as_json(), indent=2))
