"""`flyball completion`: install shell completion of commands, options, files, runs and cards."""

from __future__ import annotations

import click

from flyball.cli.terminal.edge import say

INSTALL = {
    "bash": (
        "mkdir -p ~/.local/share/flyball",
        "flyball completion bash > ~/.local/share/flyball/completion.bash",
        "echo 'source ~/.local/share/flyball/completion.bash' >> ~/.bashrc",
    ),
    "zsh": (
        "mkdir -p ~/.zfunc",
        "flyball completion zsh > ~/.zfunc/_flyball",
        "echo 'fpath=(~/.zfunc $fpath); autoload -Uz compinit; compinit' >> ~/.zshrc",
    ),
    "fish": (
        "mkdir -p ~/.config/fish/completions",
        "flyball completion fish > ~/.config/fish/completions/flyball.fish",
    ),
}
"""The commands to run once per shell, on an account without any configuration."""

HELP = """Print a shell completion script.

Run the lines for your shell once; new shells then complete commands, options, files, runs and
cards:

""" + "\n\n".join("\b\n" + "\n".join(lines) for lines in INSTALL.values())


@click.command(help=HELP)
@click.argument("shell", type=click.Choice(list(INSTALL)))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def completion(shell: str, as_json: bool) -> None:
    """Print the completion script of a shell; --json adds the lines that install it."""
    import json

    from flyball.cli.typed.shells import script_for

    script = script_for(shell)
    told = {"shell": shell, "script": script, "install": "\n".join(INSTALL[shell])}
    say(json.dumps(told) if as_json else script)
