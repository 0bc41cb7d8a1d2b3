"""A program's rule as data, and how words of a command are matched against it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from fnmatch import fnmatchcase
from typing import NamedTuple, Protocol

from flyball.shell.judgement import CommandKind, Finding
from flyball.shell.words.listing import may_be_secret
from flyball.shell.words.place import (
    UNKNOWN_PATH,
    Scope,
    is_scratch,
    outside,
    secret,
    write_objection,
)
from flyball.shell.words.word import Word, literal


class Operands(Enum):
    """How the words of a program that are not options are judged."""

    READ = "reads the files it names"
    NAMES = "looks at names, not at contents"
    PATTERN = "takes the first as a pattern and reads the rest"
    TEXT = "takes them as text"
    WRITE = "writes to every one"
    LAST = "writes to the last"
    SECOND = "writes to the second, if there is one"
    NONE = "takes none"


class Inquiry(Protocol):
    """The part of the walk that a rule may use: its scope, and the judgement of nested commands."""

    @property
    def scope(self) -> Scope:
        """Return the scope of the command."""
        ...

    @property
    def fed(self) -> Word | None:
        """Return the text that the command itself pipes into this part of it."""
        ...

    def command(self, words: Sequence[Word]) -> list[Finding]:
        """Judge words that another program will run as a command."""
        ...

    def script(self, text: str) -> list[Finding]:
        """Judge text that another program will give to a shell."""
        ...

    def enter(self, target: str | None) -> None:
        """Record a change of directory; None if the target is unknown."""
        ...


class Rule(NamedTuple):
    """One program, or one subcommand of it."""

    kind: CommandKind = CommandKind.READ_ONLY
    does: str = "only reads"
    operands: Operands = Operands.READ
    writes: frozenset[str] = frozenset()
    """Options whose value is a file that gets written."""
    mutates: frozenset[str] = frozenset()
    destroys: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset()
    """Options whose value is a file, or a pattern of files, of which the contents are shown."""
    places: frozenset[str] = frozenset()
    """Options whose value is a directory or file to work on, which must be inside."""
    runs: frozenset[str] = frozenset()
    """Options that start another program or load code."""
    spares: frozenset[str] = frozenset()
    """Options that make a changing command only look."""
    valued: frozenset[str] = frozenset()
    attached: frozenset[str] = frozenset()
    """Short options whose value, if any, is the rest of their word."""
    known: frozenset[str] = frozenset()
    """Harmless options that could be mistaken for an abbreviation of a dangerous one."""
    subcommands: Mapping[str, Rule] = {}
    bare: Rule | None = None
    """The class without a subcommand."""
    proves: str = ""
    fixed: bool = False
    """Whether every word must be known beforehand (words that leave the machine)."""
    single: bool = False
    """Whether options are long with one dash."""
    reveals: frozenset[str] = frozenset()
    """Options that make it show secrets among other settings; `*` where it always does."""
    check: Check | None = None

    @property
    def has_teeth(self) -> bool:
        """Return whether an option hidden in a word could change the command's effect."""
        return bool(self.writes or self.mutates or self.destroys or self.runs or self.places)

    def takes_value(self, flag: str) -> bool:
        """Return whether the word after this option belongs to it."""
        return any(flag in names for names in self._valued)

    @property
    def _valued(self) -> tuple[frozenset[str], ...]:
        return self.valued, self.writes, self.places, self.runs, self.reads

    def lists_option(self, flag: str) -> bool:
        """Return whether the tables contain this option."""
        return self.takes_value(flag) or flag in self.mutates or flag in self.destroys


Check = Callable[[Inquiry, Rule, Sequence[Word]], Iterable[Finding]]


_ON = frozenset(("true", "t", "1", "yes"))


class SortedWords(NamedTuple):
    """The words of a program, sorted."""

    flags: tuple[tuple[str, Word | None], ...]
    operands: tuple[Word, ...]
    doubtful: tuple[Word, ...]

    def has(self, *names: str) -> bool:
        """Return whether one of these options is given."""
        return any(flag in names for flag, _ in self.flags)

    def keeps(self, *names: str) -> bool:
        """Return whether one of these options is given, and no other word cancels it."""
        bare = {name.lstrip("-") for name in names}
        for flag, value in self.flags:
            off = value is not None and (value.value or "").lower() not in _ON
            if flag in names and off:
                return False
            lifted = flag.removeprefix("--no").lstrip("-") if flag.startswith("--no") else ""
            if lifted and flag not in names and any(name.startswith(lifted) for name in bare):
                return False
        return self.has(*names)

    def value(self, *names: str) -> Word | None:
        """Return the value of the last of these options."""
        found = [value for flag, value in self.flags if flag in names and value is not None]
        return found[-1] if found else None


def parse(rule: Rule, words: Sequence[Word], *, stop_at_operand: bool = False) -> SortedWords:
    """Sort the words (without the program) into options with values, and operands."""
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
        if text.startswith("--") or rule.single or _is_long(rule, text):
            _take_long(rule, word, rest, flags, doubtful)
        else:
            _take_cluster(rule, word, rest, flags, doubtful)
    return SortedWords(tuple(flags), tuple(operands), tuple(doubtful))


def _is_long(rule: Rule, text: str) -> bool:
    """Return whether a word with one dash is, as a whole, a long name in the tables."""
    name = text.partition("=")[0]
    return len(name) > 2 and rule.lists_option(name)


def _take_long(
    rule: Rule,
    word: Word,
    rest: list[Word],
    flags: list[tuple[str, Word | None]],
    doubtful: list[Word],
) -> None:
    name, equals, value = word.known.partition("=")
    if rule.single and rule.lists_option(name[1:]):
        name = name[1:]
    if equals:
        held = word._replace(head=value) if word.value is None else literal(value)
        flags.append((name, held))
        return
    if word.value is None:
        doubtful.append(word)
    flags.append((name, rest.pop(0) if rule.takes_value(name) and rest else None))


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
        if name in rule.attached:
            tail = letters[i + 1 :]
            flags.append((name, word._replace(head=tail) if word.value is None else literal(tail)))
            return
        if not rule.takes_value(name):
            flags.append((name, None))
            continue
        tail = letters[i + 1 :]
        if word.value is None:
            flags.append((name, word._replace(head=tail)))
        elif tail:
            flags.append((name, literal(tail)))
        else:
            flags.append((name, rest.pop(0) if rest else None))
        return
    if word.value is None:
        doubtful.append(word)


def named(flag: str, names: frozenset[str], rule: Rule) -> bool:
    """Return whether an option is one of these, or may be an abbreviation of one."""
    if flag in names:
        return True
    if not flag.startswith("--") or len(flag) < 3 or flag in rule.known or rule.takes_value(flag):
        return False
    return any(name.startswith(flag) for name in names)


def judge_rule(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> list[Finding]:
    """Judge the words of a program (the first is its name) by its rule."""
    text = " ".join(word.source for word in words)
    if asks_for_help(words):
        return [
            Finding(
                text, CommandKind.READ_ONLY, f"{words[0].source} only prints its help or version"
            )
        ]
    if rule.subcommands:
        return _judge_subcommand(inquiry, rule, words, text)
    if rule.check is not None:
        return list(rule.check(inquiry, rule, words))
    return judge_words(inquiry, rule, words)


def asks_for_help(words: Sequence[Word]) -> bool:
    """Return whether only help or a version is requested."""
    asks = ("--help", "--version", *(("-v",) if words[0].value in ("make", "gmake") else ()))
    return len(words) == 2 and words[1].value in asks


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
            rule.bare or Rule(CommandKind.UNKNOWN, "does nothing known without a subcommand"),
            words,
        )
    name = parsed.operands[0]
    inner = rule.subcommands.get(name.value or "")
    if inner is None:
        reason = f"`{program} {name.source}` is not a known subcommand of {program}"
        return [Finding(text, CommandKind.UNKNOWN, reason)]
    # What runs other programs does so after the subcommand too, unless that reads it otherwise.
    taken = inner.valued | inner.known | inner.writes | inner.places | inner.attached
    inner = inner._replace(runs=inner.runs | (rule.runs - taken))
    shown = name._replace(source=f"{program} {name.source}")
    found = judge_rule(inquiry, inner, [shown, *parsed.operands[1:]])
    return [f._replace(text=text) if f.text.startswith(shown.source) else f for f in found]


def judge_words(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> list[Finding]:
    """Return the general judgement: options first, then operands."""
    text = " ".join(word.source for word in words)
    program = words[0].source
    if rule.fixed and (odd := next((w for w in words if w.value is None), None)):
        reason = f"{program} would send {odd.source}, which is only known when it runs"
        return [Finding(text, CommandKind.UNKNOWN, reason)]
    parsed = parse(rule, words[1:])
    if found := _option_finding(inquiry, rule, parsed, program, text):
        return [found]
    return [_operand_finding(inquiry, rule, parsed, program, text)]


def _option_finding(
    inquiry: Inquiry, rule: Rule, parsed: SortedWords, program: str, text: str
) -> Finding | None:
    if rule.has_teeth and parsed.doubtful:
        odd = parsed.doubtful[0].source
        reason = f"{odd} may become an option of {program} when it runs; put -- or ./ before it"
        return Finding(text, CommandKind.UNKNOWN, reason)
    found = [
        _flag_finding(inquiry, rule, flag, value, program, text) for flag, value in parsed.flags
    ]
    telling = [f for f in found if f is not None]
    return max(telling, key=lambda f: (f.veto, f.kind.severity), default=None)


def _flag_finding(
    inquiry: Inquiry, rule: Rule, flag: str, value: Word | None, program: str, text: str
) -> Finding | None:
    """Return the finding for one option, if any."""
    said = f"{program} {flag}"
    if named(flag, rule.runs, rule):
        return Finding(text, CommandKind.UNKNOWN, f"{said} runs another program or loads code")
    if named(flag, rule.places, rule) and (
        value is None or outside(value.value or "/", inquiry.scope)
    ):
        return Finding(text, CommandKind.UNKNOWN, f"{said} leads out of the workspace")
    if named(flag, rule.destroys, rule):
        return Finding(text, CommandKind.DESTRUCTIVE, f"{said} destroys or sends something")
    if named(flag, rule.writes, rule) and (value is None or value.value != "-"):
        found = written(inquiry, text, said, [value] if value else [])
        return None if found.kind is CommandKind.READ_ONLY else found
    if named(flag, rule.mutates, rule):
        return Finding(text, CommandKind.MUTATING, f"{said} changes something")
    return None


def written(inquiry: Inquiry, text: str, program: str, targets: Sequence[Word | None]) -> Finding:
    """Judge a write to these targets: mutating, or refused where no write is allowed."""
    paths = [_path_of(target) for target in targets]
    if targets and all(path in ("/dev/null", "/dev/stdout", "/dev/stderr") for path in paths):
        return Finding(text, CommandKind.READ_ONLY, f"{program} writes to no file")
    for path in paths:
        if objection := write_objection(path, inquiry.scope):
            reason = f"{program} {objection}"
            return Finding(
                text, CommandKind.MUTATING, reason, veto=True, unread=objection is UNKNOWN_PATH
            )
    shown = ", ".join(path for path in paths if path) or "a file"
    is_free = bool(paths) and all(path is not None and is_scratch(path) for path in paths)
    return Finding(text, CommandKind.MUTATING, f"{program} writes {shown}", scratch=is_free)


def _path_of(target: Word | None) -> str | None:
    """Return the path a word names; return one that is known to stay inside as it is."""
    if target is None:
        return None
    return target.source.strip('"') if target.local else target.value


def _operand_finding(
    inquiry: Inquiry, rule: Rule, parsed: SortedWords, program: str, text: str
) -> Finding:
    operands = parsed.operands
    kind = rule.kind
    reveals = any(named(flag, rule.reveals, rule) for flag in ("*", *(f for f, _ in parsed.flags)))
    if rule.spares and parsed.keeps(*rule.spares):
        reason = f"{program} only shows what it would do"
        return Finding(text, CommandKind.READ_ONLY, reason, reveals=reveals)
    reason = f"{program} {rule.does}"
    if kind is CommandKind.UNKNOWN:
        return Finding(text, kind, reason)
    how = rule.operands
    if how is Operands.SECOND and (many := next(filter(_is_many, operands), None)):
        reason = f"{many.source} may be two names, and {program} writes to the second"
        return Finding(text, CommandKind.MUTATING, reason)
    if how in (Operands.WRITE, Operands.LAST, Operands.SECOND):
        targets = {
            Operands.WRITE: operands,
            Operands.LAST: operands[-1:],
            Operands.SECOND: operands[1:2],
        }[how]
        if targets or how is not Operands.SECOND:
            found = written(inquiry, text, program, targets)
            worst = max(found.kind, kind, key=lambda k: k.severity)
            return found._replace(
                kind=worst if found.kind is not CommandKind.READ_ONLY else found.kind
            )
    if hidden := secret_among(_read_words(rule, parsed)):
        return secret_finding(text, hidden)
    return Finding(text, kind, reason, proves=rule.proves, reveals=reveals)


_PATTERN_GIVEN = frozenset(("-e", "--regexp", "-f", "--file", "--files", "--from-file"))


def _is_many(word: Word) -> bool:
    """Return whether a word may expand to several."""
    return word.glob or (word.splits and not word.tame)


def _read_words(rule: Rule, parsed: SortedWords) -> list[Word]:
    """Return the words whose contents would be shown."""
    read = [value for flag, value in parsed.flags if value and named(flag, rule.reads, rule)]
    if rule.operands in (Operands.TEXT, Operands.NAMES, Operands.NONE):
        return read
    if rule.operands is Operands.PATTERN:
        given = any(named(flag, _PATTERN_GIVEN, rule) for flag, _ in parsed.flags)
        return [*read, *(parsed.operands if given else parsed.operands[1:])]
    return [*parsed.operands, *(value for _, value in parsed.flags if value)]


def secret_among(words: Iterable[Word]) -> str | None:
    """Return the first file to read that is or might be a secret."""
    return next((word.source for word in words if word.made or _is_secret(word)), None)


def named_secret(words: Iterable[Word]) -> str | None:
    """Return the first word that names a secret."""
    return next((word.source for word in words if _is_secret(word)), None)


def computed(word: Word) -> bool:
    """Return whether a name is computed at run time and might be a secret's."""
    if word.value is not None:
        return False
    return any(map(may_be_secret, word.likely.split()))


def _is_secret(word: Word) -> bool:
    # In what is guessed a wildcard stands for what is not known, and that may be anything.
    names = [*(word.known.split("/") if word.glob else ()), *re.split(r"[/\s]", word.likely)]
    return (
        any(map(_all_hidden, names))
        or secret(word.known, hidden=not word.glob)
        or secret(word.likely)
    )


def _all_hidden(part: str) -> bool:
    """Return whether a pattern matches all hidden files, including those with secrets."""
    return part.startswith((".*", ".[", ".?")) and fnmatchcase(".env", part)


def secret_finding(text: str, what: str) -> Finding:
    """Return the refusal to read a secret."""
    return Finding(
        text,
        CommandKind.READ_ONLY,
        f"{what} holds or may hold a secret, which must not be shown",
        veto=True,
    )
