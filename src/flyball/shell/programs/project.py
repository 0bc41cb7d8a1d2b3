"""Build tools that run the tasks of a project: make, npm run, gradle and similar ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from flyball.shell.judgement import CommandKind, Finding
from flyball.shell.rows import MUTATE, VERIFY, rule, table
from flyball.shell.rule import Inquiry, Rule, SortedWords, judge_words, named, parse, written
from flyball.shell.task import task_kind
from flyball.shell.words.names import names
from flyball.shell.words.pattern import Pattern
from flyball.shell.words.place import outside
from flyball.shell.words.word import Word, literal

_REPORTS = names(
    "tasks dependencies projects properties help dependencyInsight buildEnvironment model "
    "dependency:tree dependency:list dependency:analyze help:effective-pom help:describe "
    "versions:display-dependency-updates"
)
"""Tasks that only print, though they run the project's build scripts to do so."""
_HARMLESS = names("V VERBOSE DEBUG Q CI NO_COLOR JOBS J PORT BUILD_TYPE")


def tasks_finding(
    inquiry: Inquiry, rule: Rule, words: Sequence[Word], parsed: SortedWords, tasks: Sequence[Word]
) -> Finding:
    """Return the worst class that the names of these tasks suggest."""
    text = " ".join(word.source for word in words)
    program = words[0].source
    for flag, value in parsed.flags:
        if named(flag, rule.runs, rule):
            return Finding(
                text, CommandKind.UNKNOWN, f"{program} {flag} loads code or runs a program"
            )
        if named(flag, rule.writes, rule):
            return written(inquiry, text, f"{program} {flag}", [value])
        if named(flag, rule.places, rule) and (
            value is None or outside(value.value or "/", inquiry.scope)
        ):
            return Finding(
                text, CommandKind.UNKNOWN, f"{program} {flag} leads out of the workspace"
            )
    odd = next((w for w in (*parsed.doubtful, *tasks) if w.value is None), None)
    if odd is not None:
        return Finding(
            text, CommandKind.UNKNOWN, f"which task {odd.source} is is only known when it runs"
        )
    worst = Finding(
        text, CommandKind.VERIFICATION, f"{program} builds or checks the project", proves="build"
    )
    for name in tasks:
        kind, proves = task_kind(name.value or "")
        if name.value in _REPORTS:
            kind, proves = CommandKind.VERIFICATION, ""
        if kind.severity > worst.kind.severity:
            reason = f"task {name.value} may change anything in the project"
            worst = Finding(text, kind, reason, runs=True)
        elif worst.kind is CommandKind.VERIFICATION and proves != "build":
            worst = Finding(text, kind, f"{program} {name.value} checks the project", proves=proves)
    return worst


_PLAIN = Pattern(r"\w+[:?+!]*=[\w.@-]*")


def _glued(words: Sequence[Word]) -> list[Word]:
    """Return the words with a number joined to a preceding `-j` or `-l`: no other word is its
    value."""
    found: list[Word] = []
    for word in words:
        number = re.fullmatch(r"[\d.]+", word.value or "")
        if number and found and re.fullmatch(r"-\w*[jl]", found[-1].value or ""):
            word = literal(f"{found.pop().value}{number[0]}")
        found.append(word)
    return found


def check_make(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge make: targets by name; a variable on the command line can hold a command."""
    parsed = parse(rule, _glued(words[1:]))
    names = [w for w in parsed.operands if "=" not in w.known]
    found = tasks_finding(inquiry, rule, words, parsed, names)
    sets = [w.known.partition("=")[0].rstrip(":?+!") for w in parsed.operands if "=" in w.known]
    plain = all(_PLAIN.fullmatch(w.value or "\0") for w in parsed.operands if "=" in w.known)
    if not plain or any(name not in _HARMLESS for name in sets):
        found = found.at_least(CommandKind.MUTATING, "a variable given to make can hold a command")
    if any(re.match(r"SHELL|\.|MAKE", name) for name in sets):
        found = found._replace(kind=CommandKind.UNKNOWN, reason="it changes what make runs")
    if parsed.has("-f", "--file", "--makefile"):
        found = found.at_least(CommandKind.MUTATING, "it uses another makefile")
    yield found


def check_tasks(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge a program whose operands are tasks."""
    parsed = parse(rule, words[1:])
    yield tasks_finding(inquiry, rule, words, parsed, parsed.operands)


def _ninja(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge ninja, which builds, and whose tools (`-t`) show or clean."""
    parsed = parse(rule, words[1:])
    tool = parsed.value("-t")
    if tool is None:
        yield tasks_finding(inquiry, rule, words, parsed, parsed.operands)
        return
    kind = CommandKind.READ_ONLY if tool.value in _NINJA_SHOWS else CommandKind.MUTATING
    yield Finding(" ".join(w.source for w in words), kind, f"ninja -t {tool.source} is a tool")


_NINJA_SHOWS = names("list targets commands query graph deps rules inputs compdb")


def check_script(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `npm run NAME -- arguments`: the first operand is a task; without one it lists the
    tasks."""
    cut = next((i for i, w in enumerate(words) if w.value == "--"), len(words))
    parsed = parse(rule, words[1:cut])
    given = [*parsed.operands, *words[cut + 1 :]]
    if not given:
        text = " ".join(word.source for word in words)
        yield Finding(text, CommandKind.READ_ONLY, f"{words[0].source} lists the scripts")
        return
    found = tasks_finding(inquiry, rule, words, parsed, given[:1])
    if any(
        re.fullmatch(r"-u|--fix|--write|-w|--update\S*|--updateSnapshot", w.known)
        for w in given[1:]
    ):
        found = found.at_least(CommandKind.MUTATING, "its arguments make it change files")
    yield found


def check_test(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `npm test`: the script of that name."""
    yield from check_script(inquiry, rule, [words[0], literal("test"), *words[1:]])


_TOX = names("run r run-parallel p list l config c depends de legacy le")


def _tox(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge tox and nox, which run what the project defines, except for subcommands that run given
    words."""
    cut = next((i for i, w in enumerate(words) if w.value == "--"), len(words))
    odd = [w for w in parse(rule, words[1:cut]).operands if w.value not in _TOX]
    general = judge_words(inquiry, rule, words)[0]
    if odd and general.kind is CommandKind.VERIFICATION:
        reason = f"{words[0].source} {odd[0].source} may run any program"
        general = general._replace(kind=CommandKind.UNKNOWN, reason=reason)
    yield general


NPM_RUNS = (
    "--script-shell --node-options --userconfig --globalconfig --browser --editor --viewer --git "
    "--shell --call"
)
"""Settings of npm that name a program or file to load."""

SCRIPT = rule(
    VERIFY,
    "runs a script of the project",
    check=check_script,
    runs=NPM_RUNS,
    valued="-w --workspace --filter -F --loglevel",
    places="--prefix -C --dir --cwd",
)
SCRIPT_TEST = SCRIPT._replace(check=check_test)

PROJECTS = table(
    {
        "make gmake": rule(
            VERIFY,
            "builds",
            check=check_make,
            runs="--eval -E",
            valued="-o -W",
            attached="-j -l",
            places="-C --directory -I --include-dir -f --file --makefile",
            known="--environment-overrides --jobs --keep-going",
        ),
        "ninja": rule(VERIFY, "builds", check=_ninja, valued="-j -l -k -d -t", places="-C -f"),
        "just task rake invoke inv": rule(
            VERIFY,
            "runs tasks",
            check=check_tasks,
            attached="-j",
            runs="-e --execute --shell --command --evaluate --edit --choose --chooser -r "
            "--require -c --init --global",
            places="-f --justfile -d --working-directory --rakefile --taskfile --dir",
        ),
        "mvn mvnd mvnw": rule(
            VERIFY,
            "builds",
            check=check_tasks,
            single=True,
            valued="-pl -T -P -rf --projects -s",
            writes="-l --log-file",
            runs="-Dmaven.ext.class.path -gs -t --global-toolchains --toolchains",
            places="-f --file",
        ),
        "gradle gradlew": rule(
            VERIFY,
            "builds",
            check=check_tasks,
            single=True,
            runs="-I --init-script -g --gradle-user-home -c --settings-file --include-build",
            places="-p --project-dir -b",
            valued="--configuration --dependency -x --tests --exclude-task --console --max-workers",
        ),
        "sbt mill ant lein": rule(VERIFY, "builds", check=check_tasks, single=True, valued="-f"),
        "tox nox": rule(
            VERIFY,
            "runs the project's checks",
            proves="tests",
            runs="--force-dep --override -x",
            places="-c --conf -f --noxfile",
            valued="-e -s -p -k --session --env",
            mutates="--devenv --notest",
            check=_tox,
        ),
        "pre-commit lefthook husky": rule(MUTATE, "runs hooks that may change files"),
    }
)
