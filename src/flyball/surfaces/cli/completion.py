"""`flyball completion`: what a shell needs to complete commands and options."""

from __future__ import annotations

import click

from flyball.surfaces.cli.terminal.edge import say

WHERE = {
    "bash": "flyball completion bash > ~/.local/share/bash-completion/completions/flyball",
    "zsh": 'flyball completion zsh > "${fpath[1]}/_flyball"',
    "fish": "flyball completion fish > ~/.config/fish/completions/flyball.fish",
}


@click.command()
@click.argument("shell", type=click.Choice(list(WHERE)))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def completion(shell: str, as_json: bool) -> None:
    """Print the script that has your shell complete Flyball's commands and options.

    Put it where the shell looks for it, once:

    \b
    flyball completion bash > ~/.local/share/bash-completion/completions/flyball
    flyball completion zsh > "${fpath[1]}/_flyball"
    flyball completion fish > ~/.config/fish/completions/flyball.fish
    """
    import json

    from click.shell_completion import ShellComplete, get_completion_class

    from flyball.surfaces.cli import cli

    found = get_completion_class(shell)
    assert found is not None
    # Its own `source` would start the shell to ask for its version.
    script = ShellComplete.source(found(cli, {}, "flyball", "_FLYBALL_COMPLETE"))
    say(
        json.dumps({"shell": shell, "script": script, "install": WHERE[shell]})
        if as_json
        else script
    )
