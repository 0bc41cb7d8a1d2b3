"""Programs that run another program, which is judged instead."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from flyball.shell.judgement import CommandKind, Finding
from flyball.shell.rows import READ, UNKNOWN, VERIFY, rule, table
from flyball.shell.rule import (
    Inquiry,
    Rule,
    named,
    named_secret,
    parse,
    secret_among,
    secret_finding,
)
from flyball.shell.words.names import names
from flyball.shell.words.place import outside
from flyball.shell.words.variable import assignment_objection, is_harmless, is_plain
from flyball.shell.words.word import Word, literal, opaque


def _text(words: Sequence[Word]) -> str:
    return " ".join(word.source for word in words)


def _odd(rule: Rule, words: Sequence[Word], flags: Iterable[str]) -> Finding | None:
    """Refuse a wrapper's unknown option, which changes the meaning of its words."""
    for flag in flags:
        if flag not in rule.known and flag not in rule.valued | rule.reads:
            reason = f"{words[0].source} {flag} is not a known option of a wrapper"
            return Finding(_text(words), CommandKind.UNKNOWN, reason)
    return None


def _inner(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `wrapper [options] command…`."""
    parsed = parse(rule, words[1:], stop_at_operand=True)
    if odd := _odd(rule, words, (f for f, _ in parsed.flags)):
        yield odd
    elif parsed.doubtful or not parsed.operands:
        yield Finding(
            _text(words), CommandKind.UNKNOWN, f"what {words[0].source} runs is not known"
        )
    else:
        yield from inquiry.command(parsed.operands)


def _timed(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `timeout [options] duration command…`."""
    parsed = parse(rule, words[1:], stop_at_operand=True)
    if odd := _odd(rule, words, (f for f, _ in parsed.flags)):
        yield odd
    elif len(parsed.operands) < 2 or parsed.operands[0].value is None:
        yield Finding(
            _text(words), CommandKind.UNKNOWN, f"what {words[0].source} runs is not known"
        )
    else:
        yield from inquiry.command(parsed.operands[1:])


def _env(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `env [options] [NAME=value…] [command…]`; alone it prints the environment."""
    parsed = parse(rule, words[1:], stop_at_operand=True)
    text = _text(words)
    if odd := _odd(rule, words, (f for f, _ in parsed.flags)):
        yield odd
        return
    rest = list(parsed.operands)
    given: list[str] = []
    while rest and (match := re.match(r"([A-Za-z_]\w*)=(.*)", rest[0].known, re.S)):
        value = literal(match[2]) if rest.pop(0).value is not None else None
        given.append(match[1])
        if objection := assignment_objection(match[1], value):
            yield Finding(text, CommandKind.UNKNOWN, objection)
            return
    prints = [Finding(text, CommandKind.READ_ONLY, "env prints the environment", reveals=True)]
    found = inquiry.command(rest) if rest else prints
    only_read = all(f.kind is CommandKind.READ_ONLY for f in found)
    for name in given:
        if not (is_plain(name) if only_read else is_harmless(name)):
            reason = f"{name} is not known to be harmless"
            yield Finding(text, CommandKind.MUTATING, reason, runs=True)
    yield from found


def _command(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `command -v name`, which looks up, and `command name…`, which runs."""
    if len(words) > 1 and words[1].value in ("-v", "-V"):
        yield Finding(_text(words), CommandKind.READ_ONLY, "it tells where a program is")
    else:
        yield from _inner(inquiry, rule, words)


def _exec(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `exec command…`; without a command it only redirects, which is judged elsewhere."""
    if len(words) == 1:
        yield Finding(_text(words), CommandKind.READ_ONLY, "it only applies its redirections")
    else:
        yield from _inner(inquiry, rule, words)


def _xargs(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `xargs [options] command…`: the words that it adds are unknown."""
    parsed = parse(rule, words[1:], stop_at_operand=True)
    if odd := _odd(rule, words, (f for f, _ in parsed.flags)):
        yield odd
        return
    if hidden := secret_among(v for f, v in parsed.flags if v and f in ("-a", "--arg-file")):
        yield secret_finding(_text(words), hidden)
        return
    mark = parsed.value("-I", "--replace", "-i")
    slot = (mark.value if mark else None) or ("{}" if parsed.has("-i", "-I", "--replace") else None)
    inner = list(parsed.operands) or [literal("echo")]
    most = parsed.value("-n", "--max-args")
    lines = parsed.has("-L", "-l", "--max-lines")
    added = opaque("…", splits=lines or most is None or most.value != "1")
    if inquiry.fed is not None:
        added = added._replace(likely=inquiry.fed.likely, made=inquiry.fed.made)
    if slot:
        yield from inquiry.command([_filled(word, slot, added) for word in inner])
    else:
        yield from inquiry.command([*inner, added])


def _filled(word: Word, slot: str, added: Word) -> Word:
    """Return the word with the added text in its placeholder."""
    if slot not in word.known:
        return word
    head = word.known.partition(slot)[0]
    likely = " ".join(word.known.replace(slot, guess) for guess in added.likely.split())
    return opaque(word.source, head=head, splits=False)._replace(likely=likely, made=added.made)


def _shell(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `sh -c text` as text, and `sh file` as the workspace's script."""
    text = _text(words)
    parsed = parse(rule, words[1:], stop_at_operand=True)
    flags = [f for f, _ in parsed.flags]
    script = parsed.operands[0] if parsed.operands else None
    modes = [value.value if value else None for flag, value in parsed.flags if flag == "-o"]
    if odd := _odd(rule, words, flags):
        yield odd
    elif not all(mode in _SHELL_MODES for mode in modes) or (
        script is not None and script.known.startswith("+")
    ):
        yield Finding(text, CommandKind.UNKNOWN, "an option takes back what another one promises")
    elif script is None:
        yield Finding(
            text, CommandKind.UNKNOWN, f"{words[0].source} runs whatever it is fed", fed=True
        )
    elif script.value is None and not ("-n" in flags and "-c" not in flags and _is_found(script)):
        yield Finding(text, CommandKind.UNKNOWN, "the script is only known when it runs")
    elif hidden := (secret_among(parsed.operands[1:]) if "-c" in flags else named_secret([script])):
        yield secret_finding(text, hidden)
    elif "-c" in flags:
        found = inquiry.script(script.known)
        yield from found
    elif "-n" in flags:
        yield Finding(text, CommandKind.READ_ONLY, "it only checks syntax", proves="syntax")
    else:
        from_script = script_finding(inquiry, text, script)
        yield from_script


def _is_found(word: Word) -> bool:
    """Return whether a word is the name of a file that `find` found, which is never an option."""
    return word.tame and word.source == "{}"


def script_finding(inquiry: Inquiry, text: str, script: Word) -> Finding:
    """Judge a script file: the workspace's own may run where changes are allowed."""
    path = script.value
    if path is None or script.glob or path == "-":
        return Finding(text, CommandKind.UNKNOWN, f"{script.source} is only known when it runs")
    if outside(path, inquiry.scope) or path.startswith("/dev/"):
        return Finding(text, CommandKind.UNKNOWN, f"{path} is a program from outside the workspace")
    return Finding(text, CommandKind.MUTATING, f"it runs the workspace's program {path}", runs=True)


def _watch(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `watch`, which joins its words and passes them to a shell."""
    parsed = parse(rule, words[1:], stop_at_operand=True)
    values = [w.value for w in parsed.operands]
    if odd := _odd(rule, words, (f for f, _ in parsed.flags)):
        yield odd
    elif not values or None in values:
        yield Finding(_text(words), CommandKind.UNKNOWN, "what watch runs is not known")
    else:
        yield from inquiry.script(" ".join(v for v in values if v is not None))


def _parallel(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge GNU parallel, which passes a line to a shell: only plain words with `:::` values are
    followed."""
    parsed = parse(rule, words[1:], stop_at_operand=True)
    values = [w.value for w in parsed.operands]
    if odd := _odd(rule, words, (f for f, _ in parsed.flags)):
        yield odd
        return
    cut = values.index(":::") if ":::" in values else len(values)
    line = parsed.operands[:cut]
    if not line or any(not re.fullmatch(r"[\w./{}=:-]+", w.value or "") for w in line):
        yield Finding(_text(words), CommandKind.UNKNOWN, "what parallel runs is not known")
        return
    listed = " ".join(v or "" for v in values[cut:])
    fed = inquiry.fed or opaque("…")
    added = opaque("…")._replace(likely=listed or fed.likely, made=fed.made)
    filled = [_filled(w, "{}", added) if "{" in w.known else w for w in line]
    yield from inquiry.command([*filled, added])


def _runner(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `poetry run`, `npx` and similar runners: a known tool from the project's own
    environment.
    """
    parsed = parse(rule, words[1:], stop_at_operand=True)
    places = [value.known if value else "/" for f, value in parsed.flags if f in rule.places]
    away = any(outside(path, inquiry.scope) for path in places)
    if away or parsed.doubtful or any(named(f, rule.runs, rule) for f, _ in parsed.flags):
        yield Finding(
            _text(words), CommandKind.UNKNOWN, f"what {words[0].source} runs is not known"
        )
        return
    if odd := _odd(rule, words, (f for f, _ in parsed.flags if f not in rule.places)):
        yield odd
        return
    if not parsed.operands:
        yield Finding(
            _text(words), CommandKind.UNKNOWN, f"what {words[0].source} runs is not known"
        )
        return
    version = parsed.value("--python", "-p")
    if version is not None and not re.fullmatch(r"(pypy|cpython)?@?[\d.]+", version.value or ""):
        yield Finding(
            _text(words), CommandKind.UNKNOWN, f"{version.source} is not a version of Python"
        )
        return
    options = ["--with", "--from", "--with-requirements", "-y", "--yes"]
    base = words[0].source.rpartition("/")[2]
    fetched = base in _FETCHES or parsed.has(*options) or not _is_plain_name(parsed.operands[0])
    inner = list(parsed.operands)
    name = inner[0].value or ""
    if name.endswith(".py"):
        inner.insert(0, literal("python"))
    for found in inquiry.command(inner):
        yield _as_package(found, words[0].source, fetched=fetched, installed=base in _INSTALLED)


_FETCHES = frozenset(
    ("bunx", "uvx", "pnpx", "pnpm dlx", "yarn dlx", "pipx run", "uv tool run", "bun x")
)
"""Runners that always take the package from a registry, or from what they fetched before."""
_INSTALLED = frozenset(
    (
        *(f"{name} run" for name in ("uv", "poetry", "pdm", "pipenv", "hatch", "rye", "conda")),
        *("bundle exec", "bundler exec", "mamba run", "micromamba run", "pnpm exec", "yarn exec"),
    )
)
"""Runners of what the project has installed, or of what the machine has."""


def _is_plain_name(word: Word) -> bool:
    """Return whether a word names a tool, without version or address."""
    return bool(re.fullmatch(r"[\w.][\w./-]*", word.known))


def _as_package(found: Finding, runner: str, *, fetched: bool, installed: bool) -> Finding:
    """Judge a program from a package, which shares only its name with a known one."""
    if found.veto:
        return found
    if fetched or not (installed or found.kind is CommandKind.VERIFICATION):
        reason = f"{runner} fetches a package and runs it"
        return found.at_least(CommandKind.MUTATING, reason)._replace(runs=True)
    return found.at_least(CommandKind.VERIFICATION, f"{runner} uses the project's own tools")


_SHELL_MODES = names("pipefail errexit nounset xtrace verbose noglob noclobber noexec posix")
_SHELL_FLAGS = "-c -e -u -x -v -n -l --norc --noprofile --posix -o"

RUNNER = rule(
    VERIFY,
    "runs a tool of the project",
    check=_runner,
    runs="-c --call -p --package --shell",
    places="--directory --project --cwd --prefix",
    valued="--with --extra --group --python --env -e --with-requirements --from --filter -w "
    "--workspace",
    known="-y --yes --no --no-install -q --quiet --frozen --locked --no-sync --silent --offline "
    "--prefer-offline --isolated -r -s --all-extras --dev --no-dev --bun -T",
)

WRAPPERS = table(
    {
        "nohup setsid builtin": rule(READ, "runs", check=_inner),
        "nice ionice chrt taskset": rule(
            READ, "runs", valued="-n --adjustment -c -p", check=_inner
        ),
        "time": rule(READ, "runs", known="-p -v --verbose", valued="-f --format", check=_inner),
        "stdbuf": rule(READ, "runs", valued="-i -o -e --input --output --error", check=_inner),
        "unbuffer caffeinate": rule(READ, "runs", known="-i -d -s", check=_inner),
        "timeout gtimeout": rule(
            READ,
            "runs",
            valued="-k --kill-after -s --signal",
            known="--preserve-status --foreground -v --verbose",
            check=_timed,
        ),
        "env": rule(
            READ,
            "runs",
            valued="-u --unset",
            known="-i --ignore-environment -0 --null -",
            check=_env,
        ),
        "command": rule(READ, "runs", known="-p", check=_command),
        "exec": rule(READ, "runs", known="-c -l", check=_exec),
        "xargs gxargs": rule(
            READ,
            "runs",
            check=_xargs,
            reads="-a --arg-file",
            valued="-n -L -P -I -d -s -E --max-args --max-procs --delimiter",
            attached="-i -l -e",
            known="-0 -r -t -x --null --no-run-if-empty --verbose --exit -i -l -e --replace "
            "--max-lines --eof",
        ),
        "sh bash dash ash ksh zsh": rule(
            READ, "runs", known=_SHELL_FLAGS, valued="-o", check=_shell
        ),
        "fish csh tcsh pwsh powershell": rule(UNKNOWN, "is another shell, which is not judged"),
        "watch": rule(
            READ,
            "runs",
            valued="-n --interval",
            known="-d --differences -t --no-title -c --color -g -b -e",
            check=_watch,
        ),
        "parallel": rule(
            READ, "runs", valued="-j --jobs", known="-k --keep-order --bar", check=_parallel
        ),
        "npx bunx pnpx uvx": RUNNER,
        "busybox toybox": rule(READ, "runs", check=_inner),
    }
)
