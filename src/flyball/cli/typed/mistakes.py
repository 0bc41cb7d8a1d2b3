"""Explain mistyped command lines in whole sentences, with a suggestion."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import cast

import click

from flyball.regex import regex
from flyball.terms.shape import closest

CLOSE = 0.75
"""Minimum similarity of two words: `verfy` matches `verify`, `merge` does not match `serve`."""
SHORTEST = 3
"""Minimum length of a prefix; shorter ones match too many words."""

KNOWN = {
    "version": "--version",
    "status": "runs list",
    "ls": "runs list",
    "log": "runs show last",
    "diff": "runs show last --diff",
    "stop": "runs cancel last",
}
"""Words from other programs, with the equivalent here."""

NO_COMMAND = regex(r"No such command '(.+)'\.", re.DOTALL)
EXTRA = regex(r"Got unexpected extra argument \((.+)\)", re.DOTALL)


def explain(error: click.ClickException) -> tuple[str, str]:
    """Explain the error in a command line, and what to do about it."""
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    text = " ".join(error.format_message().split())
    if isinstance(error, click.MissingParameter) and error.param is not None:
        text = _missing(error.param)
    elif not text.endswith((".", "?", "!")):
        text += "."
    if ctx is None:
        return text, ""
    see = f"See `{ctx.command_path} --help`."
    if found := NO_COMMAND.match(error.message):
        name = " ".join((*_path(ctx), found[1]))
        return f"There is no command {name!r}.", guess_command(found[1], ctx) or see
    if found := EXTRA.fullmatch(error.message):
        option = guess_option(found[1], ctx)
        guess = f"Did you mean `{option} {shlex.quote(found[1])}`? " if option else ""
        return text, guess + see
    return text, see


def _missing(param: click.Parameter) -> str:
    if isinstance(param, click.Argument):
        name = param.human_readable_name.strip("[]…")
    else:
        name = max(param.opts, key=len)
    text = f"Missing {param.param_type_name} {name}"
    choices = _choices(param)
    return f"{text}: choose {either(choices)}." if choices else f"{text}."


def _choices(param: click.Parameter) -> Sequence[str]:
    """Return the allowed values of a parameter; empty if it is not a choice."""
    if not isinstance(param.type, click.Choice):
        return ()
    return cast("click.Choice[str]", param.type).choices


def either(words: Sequence[str]) -> str:
    """Join alternatives for a sentence."""
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


def guess_command(word: str, ctx: click.Context) -> str:
    """Return a "did you mean" question for a command; empty if none is similar."""
    root = ctx.find_root()
    paths = list(_commands(root, root.command))
    meant = [path for path in paths if path[-1] == word] or _close(word, ctx, paths)
    if not meant and word in KNOWN:
        meant = [tuple(KNOWN[word].split())]
    typed = [f"`{' '.join((root.command_path, *path))}`" for path in meant]
    return f"Did you mean {either(typed)}?" if typed else ""


def _close(
    word: str, ctx: click.Context, paths: Sequence[tuple[str, ...]]
) -> Sequence[tuple[str, ...]]:
    """Return commands with a similar spelling or prefix: of this group first, then of any."""
    if word in KNOWN:
        return ()
    own = [path for path in paths if path[:-1] == _path(ctx)]
    for among in (own, paths):
        names = dict.fromkeys(path[-1] for path in among)
        if near := closest(word, names, CLOSE):
            return [path for path in among if path[-1] == near]
        begun = [path for path in among if path[-1].startswith(word)]
        if len(word) >= SHORTEST and len(begun) == 1:
            return begun
    return ()


def _path(ctx: click.Context) -> tuple[str, ...]:
    """Return the words of a command after the program's name."""
    return (*_path(ctx.parent), ctx.info_name or "") if ctx.parent else ()


def _commands(
    ctx: click.Context, group: click.Command, above: tuple[str, ...] = ()
) -> Iterator[tuple[str, ...]]:
    """Yield the words of every command below a group."""
    if isinstance(group, click.Group):
        for name in group.list_commands(ctx):
            yield (*above, name)
            if inner := group.get_command(ctx, name):
                yield from _commands(ctx, inner, (*above, name))


def guess_option(word: str, ctx: click.Context) -> str:
    """Return the option that a word may belong to; empty if unclear."""
    params = ctx.command.params
    if any(isinstance(each, click.Argument) for each in params):
        return ""
    options = [
        each
        for each in params
        if isinstance(each, click.Option) and each.expose_value and not each.is_flag
    ]
    for fits in _FITS:
        for option in options:
            if fits(option, word):
                return max(option.opts, key=len)
    return ""


def _is_choice(option: click.Option, word: str) -> bool:
    return word in _choices(option)


def _is_place(option: click.Option, word: str) -> bool:
    return option.name == "repo" and Path(word).is_dir()


def _is_number(option: click.Option, word: str) -> bool:
    numbers = (click.types.IntParamType, click.types.FloatParamType)
    return isinstance(option.type, numbers) and word.replace(".", "", 1).isdecimal()


def _is_text(option: click.Option, word: str) -> bool:  # noqa: ARG001
    return option.type is click.STRING


_FITS: Sequence[Callable[[click.Option, str], bool]] = (
    _is_choice,
    _is_place,
    _is_number,
    _is_text,
)
"""From the most specific match to the least."""
