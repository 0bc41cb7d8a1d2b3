"""Find the runners that the scripts of package.json start."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from flyball.regex import regex
from flyball.verdict.runners.layout import FileIndex, npm_script
from flyball.verdict.runners.start_context import StartContext
from flyball.verdict.runners.start_env import homes_of

DEEPEST = 4
RUNNERS = frozenset({"jest", "vitest", "mocha", "ava", "tape", "tap"})
CHECKERS = frozenset(
    {"xo", "eslint", "standard", "prettier", "biome", "tsd", "semistandard", "oxlint", "publint"}
)
"""Commands in a script, before or after its tests, that are checks of their own."""
CLIENTS = frozenset({"npm", "pnpm", "yarn", "bun"})
TYPE_CHECKERS = frozenset({"tsc", "tsgo", "vue-tsc"})
_BY_CLIENT = regex(
    r"^((?:\w+=\S* +)*)(?:(?:pnpm|yarn|bun)(?: +(?:exec|x|run))?|npm +(?:exec|x))(?: +--)? +"
    rf"(?=(?:{'|'.join(sorted(RUNNERS | CHECKERS | TYPE_CHECKERS))})(?![\w:./-]))"
)
"""A client that starts an installed program: it may not be there, or fetch another of itself."""
WRAPPERS = frozenset({"npx", "c8", "nyc", "cross-env", "cross-env-shell", "env"})
_TAP_VIEWERS = regex(r"\s\|\s*(?:npx )?(?:tap-\w+|faucet|tnyan|colortape)\b[^|&;]*(?=&&|$)")
_ASSIGNMENT = regex(r"[A-Za-z_]\w*=")


class ScriptStep(NamedTuple):
    """One command of a script, as the script writes it, and the runner that it starts."""

    text: str
    runner: str = ""
    is_check: bool = False
    words: tuple[str, ...] = ()
    """Its arguments to the runner."""
    is_bare: bool = False
    """The runner's name comes first."""
    is_after: bool = False
    """It belongs to a `post` script."""


def steps_of(land: FileIndex, name: str = "test", depth: int = 0) -> tuple[ScriptStep, ...] | None:
    """Return the commands of a script and of the scripts it runs; None if they cannot be parsed.

    A `post` script after the last tests is left out: it audits, reports or tidies up, and does not
    affect the tests.
    """
    script = npm_script(land, name)
    parts = commands_in(_TAP_VIEWERS.sub(" ", script))
    if not script or parts is None or depth > DEEPEST:
        return None
    found: list[ScriptStep] = []
    for before in (f"pre{name}", name, f"post{name}"):
        if before != name:
            if npm_script(land, before):
                inner = steps_of(land, before, depth + 1)
                inner = inner if inner is not None else (ScriptStep(f"npm run {before}"),)
                found += [each._replace(is_after=before != f"pre{name}") for each in inner]
            continue
        for part in parts:
            other = _other_script(part)
            inner = steps_of(land, other, depth + 1) if other else None
            found += inner if inner is not None else [_step(_BY_CLIENT.sub(r"\1", part))]
    while depth == 0 and found and found[-1].is_after and not found[-1].runner:
        found.pop()
    return tuple(found)


def commands_in(script: str) -> list[str] | None:
    """Return the commands between the `&&` of a script; None if it does more than that."""
    bare = re.sub(r"'[^']*'|\"(?:[^\"\\`$]|\\.)*\"", lambda m: "q" * len(m[0]), script)
    if re.search(r"[|;<>()`\n]|\$|(?<!&)&(?!&)", bare):
        return None
    cuts = [0, *(place for m in re.finditer(r"&&", bare) for place in m.span()), len(script)]
    return [script[a:b].strip() for a, b in zip(cuts[::2], cuts[1::2], strict=True)]


def _step(text: str) -> ScriptStep:
    try:
        words = shlex.split(text)
    except ValueError:
        return ScriptStep(text)
    rest = list(_unwrapped(words))
    first = rest[0].rpartition("/")[2].removesuffix(".js") if rest else ""
    is_bare = rest == words
    if first == "node" and "--test" in rest:
        return ScriptStep(text, "node", words=tuple(rest[1:]), is_bare=is_bare)
    if first == "node":
        own = next((n for n, word in enumerate(rest[1:], 1) if not word.startswith("-")), 0)
        named = re.search(r"node_modules/(?:\.bin/)?(\w+)", rest[own]) if own else None
        return ScriptStep(text, named[1] if named and named[1] in RUNNERS else "")
    if first in RUNNERS or first == "_mocha":
        return ScriptStep(text, first.removeprefix("_"), words=tuple(rest[1:]), is_bare=is_bare)
    is_check = first in CHECKERS or (first in TYPE_CHECKERS and "--noEmit" in rest)
    return ScriptStep(text, is_check=is_check, words=tuple(rest))


def _unwrapped(words: Sequence[str]) -> Iterator[str]:
    """Yield the words after assignments, and after programs that only start others."""
    waiting = list(words)
    while waiting:
        if _ASSIGNMENT.match(waiting[0]):
            waiting.pop(0)
        elif waiting[0] in WRAPPERS:
            waiting.pop(0)
            while waiting and waiting[0].startswith("-"):
                waiting.pop(0)
        else:
            break
    yield from waiting


def _other_script(text: str) -> str:
    """Return the script that a command runs, if it does nothing else."""
    try:
        words = [word for word in _unwrapped(shlex.split(text)) if word not in ("-s", "--silent")]
    except ValueError:
        return ""
    if len(words) == 3 and words[0] in CLIENTS and words[1] in ("run", "run-script"):
        return words[2]
    if len(words) == 2 and words[0] in ("yarn", "pnpm") and not words[1].startswith("-"):
        return words[1]
    return ""


def starts(runner: str, land: FileIndex) -> bool:
    """Return whether the test script starts a runner."""
    return any(step.runner == runner for step in steps_of(land) or ())


def composed(
    context: StartContext, land: FileIndex, runner: str, tell: Callable[[str, int], str]
) -> list[str]:
    """Return the test script with options added to its runner, without checks and other runners.

    A shell starts it rather than npm, because words can then be added in the middle of it, which
    `npm test -- …` cannot do.
    """
    kept: list[str] = []
    count = 0
    for step in steps_of(land) or ():
        if step.runner == runner:
            count += 1
            kept.append(tell(step.text, count))
        elif not step.runner and not step.is_check:
            kept.append(step.text)
    bins = [str(home / "node_modules" / ".bin") for home in (*homes_of(context), context.workdir)]
    path = shlex.quote(":".join(bins))
    return ["sh", "-c", f'PATH={path}:"$PATH" && export PATH && ' + " && ".join(kept)]


def only_step(land: FileIndex, runner: str) -> ScriptStep | None:
    """Return the runner's command, if it is the whole script and comes first in it."""
    left = [step for step in steps_of(land) or () if not step.is_check]
    return left[0] if len(left) == 1 and left[0].runner == runner and left[0].is_bare else None
