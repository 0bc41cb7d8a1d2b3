"""Provide shell completion scripts and answer completion requests."""

from __future__ import annotations

from typing import ClassVar

from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
)

PROGRAM = "flyball"


class _Quiet(ShellComplete):
    """Offers nothing if completion fails, since any output would garble the typed line."""

    def complete(self) -> str:
        try:
            # A name that is not UTF-8 cannot be sent; the shell finds such files itself.
            return super().complete().encode("utf-8", "replace").decode()
        except Exception:  # noqa: BLE001
            return ""

    def format_completion(self, item: CompletionItem) -> str:
        if item.help:
            item.help = " ".join(item.help.split())
        return super().format_completion(item)


class QuietBash(_Quiet, BashComplete):
    """Bash, with click's own script."""

    def get_completion_args(self) -> tuple[list[str], str]:
        # Bash splits `--flow=FILE` into three words.
        args, incomplete = super().get_completion_args()
        return [word for word in args if word != "="], incomplete


class QuietZsh(_Quiet, ZshComplete):
    """Zsh; click's own script fails the second time, and treats `--flow=` as part of a value."""

    source_template: ClassVar[str] = """\
#compdef %(prog_name)s

%(complete_func)s() {
    local -a response plain described
    local type key descr
    (( ! $+commands[%(prog_name)s] )) && return 1

    response=("${(@f)$(env COMP_WORDS="${words[*]}" COMP_CWORD=$((CURRENT-1)) \
%(complete_var)s=zsh_complete %(prog_name)s)}")
    # What stands before a value, as in --flow=FILE, is part of the word for zsh.
    [[ "$PREFIX" == --*=* ]] && compset -P '*='

    for type key descr in "${(@)response}"; do
        if [[ "$type" == "dir" ]]; then
            _path_files -/
        elif [[ "$type" == "file" ]]; then
            _path_files -f
        elif [[ "$type" == "plain" && "$descr" == "_" ]]; then
            plain+=("$key")
        elif [[ "$type" == "plain" ]]; then
            described+=("$key":"$descr")
        fi
    done

    if (( $#described )); then
        _describe -V unsorted described
    fi
    if (( $#plain )); then
        compadd -V unsorted -a plain
    fi
}

# Found by its name in fpath, this file is the function, now and every later time.
if [[ "$funcstack[1]" == "_%(prog_name)s" ]]; then
    %(complete_func)s "$@"
else
    compdef %(complete_func)s %(prog_name)s
fi
"""


class QuietFish(_Quiet, FishComplete):
    """Fish; click's own script cuts every description at its first comma."""

    source_template: ClassVar[str] = """\
function %(complete_func)s
    set -l response (env %(complete_var)s=fish_complete COMP_WORDS=(commandline -cp) \
COMP_CWORD=(commandline -ct) %(prog_name)s)
    # What stands before a value, as in --flow=FILE, is part of the word for fish.
    set -l before (string match --regex -- '^--[^=]+=' (commandline -ct))

    for completion in $response
        set -l metadata (string split --max 1 "," -- $completion)

        if test "$metadata[1]" = "dir"
            __fish_complete_directories $metadata[2] | string replace --regex -- '^' "$before"
        else if test "$metadata[1]" = "file"
            __fish_complete_path $metadata[2] | string replace --regex -- '^' "$before"
        else if test "$metadata[1]" = "plain"
            echo "$before$metadata[2]"
        end
    end
end

complete --no-files --keep-order --command %(prog_name)s --arguments "(%(complete_func)s)"
"""


SHELLS: dict[str, type[_Quiet]] = {"bash": QuietBash, "zsh": QuietZsh, "fish": QuietFish}


def answer_shells() -> None:
    """Register these shells with click."""
    for name, found in SHELLS.items():
        add_completion_class(found, name)


def script_for(shell: str) -> str:
    """Return the script that enables completion in a shell."""
    from flyball.cli import COMPLETING, cli

    # The class's own `source` may start the shell to ask for its version.
    return ShellComplete.source(SHELLS[shell](cli, {}, PROGRAM, COMPLETING))
