"""`flyball machine`: the statechart, drawn from its table."""

from __future__ import annotations

import click


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
        click.echo(as_mermaid(), nl=False)
    else:
        click.echo(json.dumps(as_xstate() if form == "xstate" else as_json(), indent=2))
