"""Shell commands made at random by a grammar, and shells that run what the judge calls reading.

A seed and a number give the same command on every machine. Each command is full of attempts to
make a file called `pwned`; what the judge calls reading is run by real shells in a folder, and the
folder must be afterwards as it was.
"""

from __future__ import annotations

import random
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from flyball.shell import CommandEffect, judge

SHELLS = tuple(shell for shell in ("bash", "dash", "zsh") if shutil.which(shell))
BATCH = 400
FILES = {"f": "a\nb\n", "g.c": "x\n", "evil": "#!/bin/sh\ntouch pwned\n"}
PAYLOADS = ("touch pwned", ">pwned", ": >pwned", "./evil", "tee pwned", "cp f pwned", "echo>pwned")
HELD = (
    "$(touch pwned)", "a[$(touch pwned)]", "touch pwned", "`touch pwned`", "$(>pwned)", "pwned",
    "x[$(>pwned)]=1", ">pwned", "1", "f",
)  # fmt: skip
JOINTS = ("||", "&&", "|| !")
TESTS = ("./evil", "evil", "-f f", "$x == a", "x", '"f" > pwned', "! ./evil")
ODD = (
    "\\\n",
    "\\",
    "'",
    '"',
    "\r",
    "\t",
    "\v",
    "\u00a0",
    "#",
    "\n",
    "$",
    "`",
    "{",
    "}",
    "!",
    "=",
    "\\`",
)

CONTROLLING = ("BASH_ENV", "ENV", "PS4", "LESSOPEN", "PROMPT_COMMAND", "x")
REDIRECTS = (">", ">>", "<", ">|", "&>", "2>", "<>", ">&")

Maker = Callable[["Grammar", int], str]


class Grammar:
    """Makes one command after another from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def commands(self, count: int) -> Iterator[str]:
        """Yield commands, some of them spoiled by odd characters."""
        for _ in range(count):
            text = self.line(self.random.choice((1, 2, 2, 3)))
            if self.random.random() < 0.25:
                for _ in range(self.random.choice((1, 1, 2, 3))):
                    at = self.random.randrange(len(text) + 1)
                    text = text[:at] + self.random.choice(ODD) + text[at:]
            yield text

    def line(self, depth: int) -> str:
        """A command or several."""
        return self.random.choice(_LINES)(self, depth) if depth > 0 else self.leaf()

    def leaf(self) -> str:
        if self.random.random() < 0.3:
            return self.random.choice(PAYLOADS)
        return self.random.choice(("echo a", "cat f", ":", "pwd", "true", "ls", "printf a", "wc f"))

    def word(self, depth: int) -> str:
        if depth <= 0 or self.random.random() < 0.3:
            return self.random.choice(
                ("a", "'a b'", '"a"', "$x", '"$x"', "f", "*.c", "-n", "$1", "~")
            )
        return self.random.choice(_WORDS)(self, depth - 1)

    def number(self, depth: int) -> str:
        if depth <= 0:
            return self.random.choice(("1", "x", "$x", "a[0]", "i++", "${#x}"))
        return self.random.choice(_NUMBERS)(self, depth - 1)

    def backticks(self, depth: int) -> str:
        """A substitution in backticks, with its inside escaped in one way or another."""
        inside = self.line(depth)
        match self.random.randrange(5):
            case 0 | 1:
                inside = re.sub(r"([\\`])", r"\\\1", inside)
            case 2:
                inside = re.sub(r"([\\`$])", r"\\\1", inside)
            case 3:
                inside = inside.replace("`", "\\`")
            case _:
                pass
        return f"`{inside}`"

    def held(self) -> str:
        return self.random.choice(HELD)


_WORDS: Sequence[Maker] = (
    lambda g, d: f"$({g.line(d)})",
    lambda g, d: f"$({g.line(d)})",
    lambda g, d: g.backticks(d),
    lambda g, d: g.backticks(d + 1),
    lambda g, d: f'"{g.backticks(d + 1)}"',
    lambda g, d: f'"a {g.word(d)} b"',
    lambda g, d: f'"$({g.line(d)})"',
    lambda g, d: f"$(({g.number(d)}))",
    lambda g, d: f"$[{g.number(d)}]",
    lambda g, d: f"<({g.line(d)})",
    lambda g, d: f"=({g.line(d)})",
    lambda g, d: f"{{a,{g.word(d)}}}",
    lambda g, d: f"${{x:-{g.word(d)}}}",
    lambda g, d: f"${{x:={g.word(d)}}}",
    lambda g, d: f'"${{x:-{g.word(d)}}}"',
    lambda g, d: f"${{x:{g.number(d)}:{g.number(d)}}}",
    lambda g, d: f"${{x/{g.word(d)}/{g.word(d)}}}",
    lambda g, d: f"${{x#{g.word(d)}}}",
    lambda g, d: f"${{x+{g.word(d)}}}",
    lambda g, d: f"${{a[{g.number(d)}]}}",
    lambda g, d: "${x@P}",
    lambda g, d: "${!x}",
    lambda g, d: "${(e)x}",
    lambda g, d: f"$'{g.held()}'",
    lambda g, d: f"$'a\\'; {g.leaf()}; echo \\'b'",
    lambda g, d: f"$[1{g.random.choice('><|&;')}{g.leaf()}]",
    lambda g, d: f"$x[{g.number(d)}]",
    lambda g, d: f"$x:{g.random.choice(('h', 's/a/b/', 'x', 'e'))}",
    lambda g, d: f"<1-{g.word(d)}>",
    lambda g, d: f'$"{g.word(d)}"',
    lambda g, d: f"'{g.line(d)}'",
    lambda g, d: f"*(e:'{g.line(d)}':)",
    lambda g, d: f"f(e'[{g.line(d)}]')",
    lambda g, d: f"~[{g.word(d)}]",
    lambda g, d: f"a\\\n{g.word(d)}",
    lambda g, d: f"@({g.word(d)}|b)",
)  # fmt: skip
_NUMBERS: Sequence[Maker] = (
    lambda g, d: f"{g.number(d)}+{g.number(d)}",
    lambda g, d: f"a[{g.number(d)}]",
    lambda g, d: f"a[$({g.line(d)})]",
    lambda g, d: f"$({g.line(d)})",
    lambda g, d: f"`{g.line(d)}`",
    lambda g, d: f"x={g.number(d)}",
    lambda g, d: f"({g.number(d)})",
    lambda g, d: f"{g.number(d)}?{g.number(d)}:1",
    lambda g, d: f"{g.number(d)}{g.random.choice(('>', '<', '|', '||', '&&', '>='))}{g.word(0)}",
    lambda g, d: g.leaf(),
)
_LINES: Sequence[Maker] = (
    lambda g, d: f"echo {g.word(d)} {g.word(d)}",
    lambda g, d: f"echo {g.word(d)}",
    lambda g, d: f"printf '%s' {g.word(d)}",
    lambda g, d: f"echo >({g.line(d - 1)})",
    lambda g, d: f": {g.word(d)}",
    lambda g, d: f"cat {g.word(d)}",
    lambda g, d: f"ls {g.word(d)}",
    lambda g, d: f"grep a {g.word(d)}",
    lambda g, d: f"test {g.word(d)} = {g.word(d)}",
    lambda g, d: f"[ {g.word(d)} -eq {g.number(d)} ]",
    lambda g, d: f"[[ {g.number(d)} -eq {g.word(d)} ]]",
    lambda g, d: f"[[ -v {g.word(d)} ]]",
    lambda g, d: f"[[ {g.word(d)} {g.random.choice(('<', '>', '==', '=~'))} {g.word(d)} ]]",
    lambda g, d: f"[[ {g.word(d)} {g.random.choice(JOINTS)} {g.random.choice(TESTS)} ]]",
    lambda g, d: f"! [[ a && {g.random.choice(TESTS)} ]]",
    lambda g, d: f"[[ a =~ {g.random.choice(('b|', '(b|', '^x&', 'b;'))}{g.leaf()}) ]]",
    lambda g, d: f"(({g.leaf()}))",
    lambda g, d: f"(({g.random.choice(TESTS)}))",
    lambda g, d: f"(({g.number(d)}{g.random.choice(('>', '<', '|'))}pwned))",
    lambda g, d: f"y='1 PATH=. x=2'; export z=$y; {g.line(d - 1)}",
    lambda g, d: f"echo '{g.leaf()}\\n{g.leaf()}' | {g.random.choice(('sh', 'xargs', 'cat'))}",
    lambda g, d: f"if [[ a ]] {{ {g.line(d - 1)} }}",
    lambda g, d: f"for x ({g.word(d)}) {g.line(d - 1)}",
    lambda g, d: f"{g.random.choice(('-', 'noglob', 'builtin', 'nocorrect'))} {g.line(d - 1)}",
    lambda g, d: f"[[ a =~ {g.word(d)} ]]",
    lambda g, d: f"test -v {g.word(d)}",
    lambda g, d: f"x={g.word(d)}; {g.line(d - 1)}",
    lambda g, d: f"x='{g.held()}'; {g.line(d - 1)}",
    lambda g, d: f"x='{g.held()}'; echo {g.word(1)} $((x))",
    lambda g, d: f"x='{g.held()}'; $x",
    lambda g, d: f"x='{g.held()}' y=$x; echo ${{y:x}} ${{a[y]}}",
    lambda g, d: f"a=({g.word(d)} [{g.number(d)}]=1); echo ${{a[0]}}",
    lambda g, d: f"a[{g.number(d)}]={g.word(d)}",
    lambda g, d: f"declare {g.word(d)}",
    lambda g, d: f"export x={g.word(d)}; {g.line(d - 1)}",
    lambda g, d: f"readonly x={g.word(d)}",
    lambda g, d: f"unset {g.word(d)}",
    lambda g, d: f"read x <<< {g.word(d)}; {g.line(d - 1)}",
    lambda g, d: f"read {g.word(d)} < f",
    lambda g, d: f"printf -v {g.word(d)} b",
    lambda g, d: f"let {g.number(d)}",
    lambda g, d: f"(( {g.number(d)} ))",
    lambda g, d: f"cat <<EOF\n{g.word(d)}\n{g.word(d)}\nEOF\n{g.leaf()}",
    lambda g, d: f"cat <<'EOF'\n{g.line(d)}\nEOF",
    lambda g, d: f"cat <<-EOF | {g.line(d)}\n\t{g.word(d)}\n\tEOF",
    lambda g, d: f"cat <<E\\\nOF\n{g.word(d)}\nEOF\n",
    lambda g, d: f"eval {g.word(d)}",
    lambda g, d: f"alias ls='{g.line(d)}'\nls",
    lambda g, d: f"ls() {{ {g.line(d)}; }}; ls",
    lambda g, d: f"trap {g.word(d)} EXIT",
    lambda g, d: f"command {g.line(d - 1)}",
    lambda g, d: f"env y=1 {g.line(d - 1)}",
    lambda g, d: f"sh -c '{g.line(d - 1)}'",
    lambda g, d: f'bash -c "{g.line(d - 1)}"',
    lambda g, d: f"sh -c {g.word(d)}",
    lambda g, d: f"echo {g.word(d)} | xargs {g.leaf()}",
    lambda g, d: f"find . -name f -exec {g.leaf()} \\;",
    lambda g, d: f"sed {g.word(d)} f",
    lambda g, d: f"sed 's/a/{g.leaf()}/{g.random.choice('egwp')}' f",
    lambda g, d: f"awk '{{print {g.random.choice(chr(34) + 'pwned' + chr(34) + '>' )}$1}}' f",
    lambda g, d: f"sort f -o {g.word(d)}",
    lambda g, d: f"PATH={g.word(d)} ls",
    lambda g, d: f"PAGER='{g.line(d - 1)}' git log",
    lambda g, d: f"{g.random.choice(CONTROLLING)}={g.word(d)} {g.line(d - 1)}",
    lambda g, d: f"set -x; PS4='{g.held()}'; {g.leaf()}",
    lambda g, d: f"for x in {g.word(d)} {g.word(d)}; do {g.line(d - 1)}; done",
    lambda g, d: f"for ((i={g.number(d)};i<1;i++)); do {g.leaf()}; break; done",
    lambda g, d: f"if {g.line(d - 1)}; then {g.line(d - 1)}; fi",
    lambda g, d: f"case {g.word(d)} in {g.word(d)}) {g.line(d - 1)};; esac",
    lambda g, d: f"{g.line(d - 1)}; {g.line(d - 1)}",
    lambda g, d: f"{g.line(d - 1)} && {g.line(d - 1)}",
    lambda g, d: f"{g.line(d - 1)} | {g.line(d - 1)}",
    lambda g, d: f"{{ {g.line(d - 1)}; }}",
    lambda g, d: f"({g.line(d - 1)})",
    lambda g, d: f"! {g.line(d - 1)}",
    lambda g, d: f"time {g.line(d - 1)}",
    lambda g, d: f"coproc {g.line(d - 1)}",
    lambda g, d: f"{g.line(d - 1)} # {g.line(d - 1)}",
    lambda g, d: f"echo a {g.random.choice(REDIRECTS)} {g.word(d)}",
    lambda g, d: f"repeat 1 {g.line(d - 1)}",
    lambda g, d: f"echo a;{g.random.choice(('&', '|', '#', '!', '=', ' '))}{g.line(d - 1)}",
)  # fmt: skip


def readings(commands: Iterable[str]) -> list[str]:
    """Return the commands, each once, that the judge calls plain reading."""
    return [c for c in dict.fromkeys(commands) if judge(c).effect is CommandEffect.READING]


def touching(commands: Sequence[str], shell: str, place: Path) -> list[str]:
    """Return the commands with which a shell changes the folder it stands in."""
    found: list[str] = []
    for at in range(0, len(commands), BATCH):
        found += _touching(commands[at : at + BATCH], shell, place)
    return found


def _touching(commands: Sequence[str], shell: str, place: Path) -> list[str]:
    try:
        if not _run(commands, shell, place):
            return []
    except subprocess.TimeoutExpired:
        # What waits for ever changes nothing; the others of its batch are tried without it.
        if len(commands) == 1:
            return []
    if len(commands) == 1:
        return list(commands)
    half = len(commands) // 2
    return [
        each
        for part in (commands[:half], commands[half:])
        for each in _touching(part, shell, place)
    ]


def _run(commands: Sequence[str], shell: str, place: Path) -> bool:
    """Run commands one after another, each in a child of one shell; whether a file was changed."""
    tree, script = place / "tree", place / "script"
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    for name, text in FILES.items():
        (tree / name).write_text(text)
    (tree / "evil").chmod(0o755)
    script.write_text(
        "\n".join(
            f"(ulimit -t 2; eval {shlex.quote(each)}) </dev/null >/dev/null 2>&1"
            for each in commands
        )
    )
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tree), "TMPDIR": str(place), "LC_ALL": "C.UTF-8"}
    subprocess.run(
        [*_jail(place), shell, *(["-f"] if shell == "zsh" else []), str(script)],
        cwd=tree,
        env=env,
        timeout=600,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    return {each.name: each.read_text() for each in tree.iterdir() if each.is_file()} != FILES


@cache
def _jail(place: Path) -> tuple[str, ...]:
    """Words before a command that let it write nowhere but here, where this machine can."""
    words = ("bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--bind", str(place), str(place))
    words += ("--unshare-net", "--unshare-pid", "--die-with-parent", "--")
    if not shutil.which("bwrap"):
        return ()
    tried = subprocess.run([*words, "true"], capture_output=True, check=False)
    return words if tried.returncode == 0 else ()
