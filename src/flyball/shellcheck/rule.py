"""What is known of a program, as data, and how its words are held against it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import NamedTuple, Protocol

from flyball.shellcheck.judgement import Finding, Kind
from flyball.shellcheck.place import Scope, secret, write_objection
from flyball.shellcheck.word import Word


class Operands(Enum):
    """What a program does with the words that are not options."""

    READ = "reads the files it names"
    NAMES = "looks at names, not at contents"
    TEXT = "takes them as text"
    WRITE = "writes to every one"
    LAST = "writes to the last"
    SECOND = "writes to the second, if there is one"
    NONE = "takes none"


class Inquiry(Protocol):
    """The walk, as far as a rule may see it: where it stands, and how to judge what is inside."""

    @property
    def scope(self) -> Scope:
        """Where the command stands."""
        ...

    def command(self, words: Sequence[Word]) -> list[Finding]:
        """Judge words that another program will run as a command."""
        ...

    def script(self, text: str) -> list[Finding]:
        """Judge text that another program will give to a shell."""
        ...

    def enter(self, target: str | None) -> None:
        """Note a change of directory; None when it is not known where to."""
        ...


class Rule(NamedTuple):
    """One program, or one subcommand of it."""

    kind: Kind = Kind.READ_ONLY
    does: str = "only reads"
    operands: Operands = Operands.READ
    writes: frozenset[str] = frozenset()
    """Options whose value is a file that gets written."""
    mutates: frozenset[str] = frozenset()
    destroys: frozenset[str] = frozenset()
    runs: frozenset[str] = frozenset()
    """Options that start another program or load code."""
    spares: frozenset[str] = frozenset()
    """Options that make a changing command only look."""
    valued: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()
    """Harmless options that an abbreviation of a dangerous one could be taken for."""
    subcommands: Mapping[str, Rule] = {}
    bare: Rule | None = None
    """What it is without a subcommand."""
    proves: str = ""
    fixed: bool = False
    """Whether every word must be known beforehand (words that leave the machine)."""
    single: bool = False
    """Whether options are long with one dash."""
    check: Check | None = None

    @property
    def has_teeth(self) -> bool:
        """Whether an option that hides in a word could change what it does."""
        return bool(self.writes or self.mutates or self.destroys or self.runs)


Check = Callable[[Inquiry, Rule, Sequence[Word]], Iterable[Finding]]


class Parsed(NamedTuple):
    """The words of a program, sorted."""

    flags: tuple[tuple[str, Word | None], ...]
    operands: tuple[Word, ...]
    doubtful: tuple[Word, ...]

    def has(self, *names: str) -> bool:
        """Whether one of these options is given."""
        return any(flag in names for flag, _ in self.flags)

    def value(self, *names: str) -> Word | None:
        """The value of the last of these options."""
        found = [value for flag, value in self.flags if flag in names and value is not None]
        return found[-1] if found else None


def parse(rule: Rule, words: Sequence[Word], *, stop_at_operand: bool = False) -> Parsed:
    """Sort words (without the program) into options with values, and operands."""
    flags: list[tuple[str, Word | None]] = []
    operands: list[Word] = []
    doubtful: list[Word] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word.value == "--":
            operands.extend(rest)
            break
        text = word.known
        if len(text) < 2 or text[0] != "-":
            if word.may_be_option:
                doubtful.append(word)
            operands.append(word)
            if stop_at_operand:
                operands.extend(rest)
                break
            continue
        if text.startswith("--") or rule.single:
            _take_long(rule, word, rest, flags, doubtful)
        else:
            _take_cluster(rule, word, rest, flags, doubtful)
    return Parsed(tuple(flags), tuple(operands), tuple(doubtful))


def _take_long(
    rule: Rule,
    word: Word,
    rest: list[Word],
    flags: list[tuple[str, Word | None]],
    doubtful: list[Word],
) -> None:
    name, equals, value = word.known.partition("=")
    if equals:
        held = word._replace(head=value) if word.value is None else Word(value, value)
        flags.append((name, held))
        return
    if word.value is None:
        doubtful.append(word)
    wants = name in rule.valued or name in rule.writes or name in rule.runs
    flags.append((name, rest.pop(0) if wants and rest else None))


def _take_cluster(
    rule: Rule,
    word: Word,
    rest: list[Word],
    flags: list[tuple[str, Word | None]],
    doubtful: list[Word],
) -> None:
    letters = word.known[1:]
    for i, letter in enumerate(letters):
        name = "-" + letter
        if name not in rule.valued and name not in rule.writes and name not in rule.runs:
            flags.append((name, None))
            continue
        tail = letters[i + 1 :]
        if word.value is None:
            flags.append((name, word._replace(head=tail)))
        elif tail:
            flags.append((name, Word(tail, tail)))
        else:
            flags.append((name, rest.pop(0) if rest else None))
        return
    if word.value is None:
        doubtful.append(word)


def named(flag: str, names: frozenset[str], rule: Rule) -> bool:
    """Whether an option is one of these, or may be short for one."""
    if flag in names:
        return True
    if not flag.startswith("--") or len(flag) < 3 or flag in rule.known or flag in rule.valued:
        return False
    return any(name.startswith(flag) for name in names)


def judge_rule(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> list[Finding]:
    """Hold the words of a program (the first is its name) against its rule."""
    text = " ".join(word.source for word in words)
    if asks_for_help(words):
        return [Finding(text, Kind.READ_ONLY, f"{words[0].source} only prints its help or version")]
    if rule.subcommands:
        return _judge_subcommand(inquiry, rule, words, text)
    if rule.check is not None:
        return list(rule.check(inquiry, rule, words))
    return judge_words(inquiry, rule, words)


def asks_for_help(words: Sequence[Word]) -> bool:
    """Whether the only thing asked for is help or a version."""
    return len(words) == 2 and words[1].value in ("--help", "--version")


def _judge_subcommand(
    inquiry: Inquiry, rule: Rule, words: Sequence[Word], text: str
) -> list[Finding]:
    parsed = parse(rule, words[1:], stop_at_operand=True)
    program = words[0].source
    if found := _option_finding(inquiry, rule, parsed, program, text):
        return [found]
    if not parsed.operands:
        return judge_words(
            inquiry,
            rule.bare or Rule(Kind.UNKNOWN, "does nothing known without a subcommand"),
            words,
        )
    name = parsed.operands[0]
    inner = rule.subcommands.get(name.value or "")
    if inner is None and rule.bare is not None and "" in rule.subcommands:
        inner = rule.subcommands[""]
    if inner is None:
        reason = f"`{program} {name.source}` is not a known subcommand of {program}"
        return [Finding(text, Kind.UNKNOWN, reason)]
    shown = name._replace(source=f"{program} {name.source}")
    found = judge_rule(inquiry, inner, [shown, *parsed.operands[1:]])
    return [f._replace(text=text) if f.text.startswith(shown.source) else f for f in found]


def judge_words(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> list[Finding]:
    """The general judgement: options first, then operands."""
    text = " ".join(word.source for word in words)
    program = words[0].source
    if rule.fixed and (odd := next((w for w in words if w.value is None), None)):
        reason = f"{program} would send {odd.source}, which is only known when it runs"
        return [Finding(text, Kind.UNKNOWN, reason)]
    parsed = parse(rule, words[1:])
    if found := _option_finding(inquiry, rule, parsed, program, text):
        return [found]
    return [_operand_finding(inquiry, rule, parsed, program, text)]


_SEVERE = ("runs", "destroys", "writes", "mutates")


def _option_finding(
    inquiry: Inquiry, rule: Rule, parsed: Parsed, program: str, text: str
) -> Finding | None:
    if rule.has_teeth and parsed.doubtful:
        odd = parsed.doubtful[0].source
        reason = f"{odd} may become an option of {program} when it runs; put -- or ./ before it"
        return Finding(text, Kind.UNKNOWN, reason)
    for flag, _ in parsed.flags:
        if named(flag, rule.runs, rule):
            return Finding(text, Kind.UNKNOWN, f"{program} {flag} runs another program")
    for flag, value in parsed.flags:
        if named(flag, rule.destroys, rule):
            return Finding(text, Kind.DESTRUCTIVE, f"{program} {flag} destroys or overwrites")
        if named(flag, rule.writes, rule) and (value is None or value.value != "-"):
            return written(inquiry, text, f"{program} {flag}", [value] if value else [])
    for flag, _ in parsed.flags:
        if named(flag, rule.mutates, rule):
            return Finding(text, Kind.MUTATING, f"{program} {flag} changes something")
    return None


def written(inquiry: Inquiry, text: str, program: str, targets: Sequence[Word | None]) -> Finding:
    """A write to these targets: mutating, or refused where none may be."""
    paths = [target.value if target else None for target in targets]
    if targets and all(path in ("/dev/null", "/dev/stdout", "/dev/stderr") for path in paths):
        return Finding(text, Kind.READ_ONLY, f"{program} writes to no file")
    for path in paths:
        if objection := write_objection(path, inquiry.scope):
            return Finding(text, Kind.MUTATING, f"{program} {objection}", veto=True)
    shown = ", ".join(path for path in paths if path) or "a file"
    return Finding(text, Kind.MUTATING, f"{program} writes {shown}")


def _operand_finding(
    inquiry: Inquiry, rule: Rule, parsed: Parsed, program: str, text: str
) -> Finding:
    operands = parsed.operands
    kind = rule.kind
    if rule.spares and any(flag in rule.spares for flag, _ in parsed.flags):
        return Finding(text, Kind.READ_ONLY, f"{program} only shows what it would do")
    reason = f"{program} {rule.does}"
    if kind is Kind.UNKNOWN:
        return Finding(text, kind, reason)
    how = rule.operands
    if how in (Operands.WRITE, Operands.LAST, Operands.SECOND):
        targets = {
            Operands.WRITE: operands,
            Operands.LAST: operands[-1:],
            Operands.SECOND: operands[1:2],
        }[how]
        if targets or how is not Operands.SECOND:
            found = written(inquiry, text, program, targets)
            worst = max(found.kind, kind, key=lambda k: k.severity)
            return found._replace(kind=worst if found.kind is not Kind.READ_ONLY else found.kind)
    if how in (Operands.READ, Operands.LAST, Operands.SECOND) and (
        hidden := secret_among([*operands, *(v for _, v in parsed.flags if v)])
    ):
        return secret_finding(text, hidden)
    return Finding(text, kind, reason, proves=rule.proves)


def secret_among(words: Iterable[Word]) -> str | None:
    """The first word that names a secret."""
    return next((word.source for word in words if secret(word.known)), None)


def secret_finding(text: str, what: str) -> Finding:
    """The refusal to read a secret."""
    return Finding(
        text, Kind.READ_ONLY, f"{what} usually holds a secret, which must not be shown", veto=True
    )
