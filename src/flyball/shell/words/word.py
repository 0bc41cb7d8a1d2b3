"""Shell words as values: the result of expanding a word."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tree_sitter import Node

from flyball.shell.words.expansion import changed
from flyball.shell.words.listing import ANY, listed_names, narrows
from flyball.shell.words.pattern import Pattern
from flyball.shell.words.place import aimed, settings
from flyball.shell.words.source import backtick_readings

HOME_NAMES = {"HOME": "~", "PWD": ".", "TMPDIR": "$TMPDIR"}
"""Variables whose value the workspace fixes; they are read as these texts."""

MAX_BRACES = 64
MAX_GUESSES = 64


class Word(NamedTuple):
    """One word: its source, and what is known of its value."""

    source: str
    value: str | None
    """The whole value, if it is known before the shell runs."""
    head: str = ""
    """The part of an unknown value that is known to come first."""
    glob: bool = False
    """Whether unquoted wildcards may turn it into file names."""
    tame: bool = False
    """An unknown value that is known not to be an option."""
    local: bool = False
    """An unknown value that is known to be a relative path without `..`."""
    splits: bool = False
    """Whether an unquoted expansion may turn it into several words."""
    likely: str = ""
    """The value if everything goes as the command itself says, with `*` for gaps; several
    alternatives are separated by spaces.
    """
    made: bool = False
    """Whether the command builds an unknown value from text, in a way not followed here."""

    @property
    def guesses(self) -> list[str]:
        """Return the possible values, with `*` for gaps; none for a path known to stay inside."""
        if self.value is not None:
            return [f"./{self.value}" if self.glob and self.value[:1] == "*" else self.value]
        return [] if self.local else self.likely.split()

    def below(self, cwd: str) -> Word:
        """Return the word as the path it names for a command in this directory."""
        return self._replace(likely=" ".join([self.likely, *(f"{cwd}/{g}" for g in self.guesses)]))

    @property
    def known(self) -> str:
        """Return the value, or the known part of its beginning."""
        return self.head if self.value is None else self.value

    @property
    def may_be_option(self) -> bool:
        """Return whether its value could begin with a dash."""
        if self.value is not None:
            return self.glob and bool(re.match(r"[*?\[]", self.value)) and not _suffixed(self.value)
        return not self.tame and (self.splits or not self.head)


def _suffixed(pattern: str) -> bool:
    """Return whether `*.py` or a similar pattern is unlikely to match an option; `*` is not."""
    return bool(re.search(r"\.\w+$", pattern))


def literal(text: str) -> Word:
    """Return a word that is exactly this text."""
    return Word(text, text)


def opaque(source: str, *, head: str = "", tame: bool = False, splits: bool = True) -> Word:
    """Return a word of which only the beginning is known."""
    return Word(source, None, head, tame=tame, splits=splits, likely=head + "*")


class _Piece(NamedTuple):
    text: str | None
    quoted: bool
    node: Node | None = None
    """The expansion or substitution that an unknown text comes from."""


class VariableFacts(NamedTuple):
    """Facts about the variables of a whole command, collected before the walk."""

    tame: frozenset[str] = frozenset()
    """Names that never hold an option."""
    local: frozenset[str] = frozenset()
    """Names that only hold relative paths without `..`."""
    tainted: frozenset[str] = frozenset()
    """Names whose value an arithmetic context might execute."""
    made: frozenset[str] = frozenset()
    """Names that may hold text which the command builds in a way not followed here."""
    values: Mapping[str, tuple[str, ...]] = {}
    """All that the command gives to a name, `*` for what is not known of it."""
    given: frozenset[str] | None = None
    """Every name the command sets, where the others are sure to be empty; None where not."""

    def is_empty(self, name: str) -> bool:
        """Return whether a name is empty, because nothing has set it."""
        return self.given is not None and name not in self.given and not _SET.fullmatch(name)


_SET = Pattern(
    r"_|REPLY|MAPFILE|OPTARG|DIRSTACK|(BASH|COMP|READLINE|HIST|PROMPT|FUNC|EPOCH|OPT|HOST|ZSH).*|"
    r"PPID|E?[UG]ID|S?RANDOM|SECONDS|LINENO|GROUPS|PIPESTATUS|SHLVL|SHELLOPTS|(OLD)?PWD|"
    r"(OS|MACH|CPU)TYPE|USERNAME|VENDOR|TTY(IDLE)?|argv|path|status|pipestatus|signals|options|"
    r"commands|history|dirstack|PATH|IFS|PS\d|LANG|LC_\w+|TERM|USER|LOGNAME|SHELL|TMPDIR|COLUMNS|LINES"
)
"""Names that a shell or its environment sets, though the command does not mention them."""

NO_FACTS = VariableFacts()


def words_of(node: Node, facts: VariableFacts = NO_FACTS) -> tuple[Word, ...]:
    """Return the words of a node; brace expansion makes several."""
    source = text_of(node)
    pieces = tuple(_pieces(node))
    bare = "".join(p.text or "" for p in pieces if not p.quoted)
    if all(p.text is not None for p in pieces):
        if _has_braces(bare):
            return _expanded(source, pieces)
        value = "".join(p.text or "" for p in pieces)
        return (Word(source, value, glob=bool(re.search(r"[*?\[]", bare))),)
    if _has_braces(bare):
        return (_guessed_braces(source, pieces, facts),)
    head = "".join(p.text or "" for p in itertools.takewhile(lambda p: p.text is not None, pieces))
    splits = any(p.text is None and not p.quoted for p in pieces)
    guesses = ["".join(texts) for texts in _texts(pieces, facts)]
    tame = _is_one_of(source, facts.tame) or _is_idle(pieces, facts) or _is_revision(pieces)
    plain = _is_one_of(source, facts.local) and not re.search(r"\.\.|\$.*\$|[`(~]", source)
    return (
        opaque(source, head=head, splits=splits, tame=tame)._replace(
            local=plain,
            likely=" ".join(guesses),
            made=not guesses or any(_is_made(piece, facts) for piece in pieces),
        ),
    )


def _texts(pieces: Sequence[_Piece], facts: VariableFacts) -> list[tuple[str, ...]]:
    """Return every combination of texts of the pieces; none if there are too many or one is
    unknown."""
    likely = [_likely(piece, facts) for piece in pieces]
    return [] if math.prod(map(len, likely)) > MAX_GUESSES else list(itertools.product(*likely))


def _guessed_braces(source: str, pieces: tuple[_Piece, ...], facts: VariableFacts) -> Word:
    choices = [
        word
        for texts in _texts(pieces, facts)
        for word in _expanded(source, tuple(map(_filled, pieces, texts)))
    ]
    likely = " ".join(word.value or "*" for word in choices)
    return opaque(source)._replace(likely=likely, made=not choices or any(w.made for w in choices))


def _filled(piece: _Piece, text: str) -> _Piece:
    return piece._replace(text=text)


def _is_idle(pieces: tuple[_Piece, ...], facts: VariableFacts) -> bool:
    """Return whether all unknown parts may be empty, and the rest is not an option."""
    empty = all(p.text is not None or facts.is_empty(_name(p.node)) for p in pieces)
    return empty and not "".join(p.text or "" for p in pieces).startswith("-")


_HASHES = Pattern(
    r"git (merge-base|rev-parse|rev-list|log(?= .*--(format|pretty)=))"
    r"( --octopus| --all| --tags| --fork-point| --verify| --short(=\d+)?| -q| --quiet| --count| -s|"
    r" --reverse| --merges| --no-merges| --show-toplevel| --first-parent| -\d+| -n ?\d+|"
    r" --max-(count|parents)=\d+| --(format|pretty)=(format:)?%[HhTtPp]| -- [\w./-]+|"
    r" [\w@^][\w./~^@{}-]*)*"
)
"""What prints hashes of commits, numbers, or the path of the repository."""
_REFERENCE = Pattern(
    r"git (describe( --(tags|abbrev=\d+|always|long|all|first-parent)|"
    r" --(match|exclude)[= ][\w.*/-]+| [\w@^][\w./~^@{}-]*)*|"
    r"branch --show-current|(symbolic-ref|rev-parse --abbrev-ref)( --short| -q)* [\w@][\w./@{}-]*)"
)
"""What prints one name of a tag or branch, which alone may be an option, but hardly in a range."""


def _is_revision(pieces: Sequence[_Piece]) -> bool:
    """Return whether a word is a revision or a range that git prints, and so is no option."""
    shown = [piece for piece in pieces if piece.text != ""]
    said = [_printed(piece) for piece in shown]
    if not all(each or piece.text for each, piece in zip(said, shown, strict=True)):
        return False
    whole = "".join(piece.text or "@" for piece in shown)
    if whole.startswith("-"):
        return False
    is_range = bool(re.fullmatch(r"[^.].*\.\..*|[^@]+@", whole))
    return all(
        piece.text is not None
        or _HASHES.fullmatch(each)
        or (is_range and _REFERENCE.fullmatch(each))
        for each, piece in zip(said, shown, strict=True)
    )


def _printed(piece: _Piece) -> str:
    """Return the words of the command whose output a piece is; empty for any other piece."""
    if piece.node is None or piece.node.type != "command_substitution":
        return ""
    parts = _pipeline_of(piece.node)
    if not parts or not all(narrows(text_of(part)) for part in parts[1:]):
        return ""
    return _said_by(parts[0])


def _said_by(node: Node) -> str:
    """Return the words of a command, ignoring hidden errors; empty if one is unknown."""
    command = node.named_children[0] if node.type == "redirected_statement" else node
    words = [word for child in command.named_children for word in words_of(child)]
    if any(word.value is None or word.glob for word in words):
        return ""
    return " ".join(word.value or "" for word in words)


def _name(node: Node | None) -> str:
    """Return the name in a plain expansion; for any other expansion, a name that no variable
    has."""
    plain = re.fullmatch(r"\$(\w+|[@*])|\$\{(\w+|[@*])\}", text_of(node).strip() if node else "")
    return (plain[1] or plain[2]) if plain else "_"


def _likely(piece: _Piece, facts: VariableFacts) -> Sequence[str]:
    """Return the possible values of a piece, as far as the command shows; empty if unknown."""
    if piece.text is not None or piece.node is None:
        return ["*" if piece.text is None else piece.text]
    if piece.node.type == "process_substitution":
        return ["/dev/fd/63"]
    if backtick_readings(piece.node):
        return []
    if piece.node.type == "command_substitution":
        words = said_words(piece.node)
        return made_names(piece.node) if words is None else [" ".join(words)]
    match = _VARIABLE.fullmatch(text_of(piece.node).strip())
    if match is None:
        return ["*"]
    name = match[1] or match[2]
    held = [""] if facts.is_empty(name) else facts.values.get(name, ("*",))
    return changed(held, match[3] or "")


_VARIABLE = Pattern(r"\$(\w+|[@*])|\$\{(\w+|[@*])(?:\[[^]]*\])?(.*)\}", re.S)


def _is_made(piece: _Piece, facts: VariableFacts) -> bool:
    """Return whether a piece is text that the command builds in an unsupported way."""
    if piece.node is None:
        return False
    if piece.node.type != "command_substitution":
        return _name(piece.node) in facts.made
    return makes_text(piece.node) and said_words(piece.node) is None


SAYS = frozenset(("echo", "printf"))
_SPACED = Pattern(r"(%s|\\[nt0]|\s)+")
_EACH = Pattern(r"(%s(\\[nt0]|\s)+)+")
"""A format that keeps its arguments separate."""


def makes_text(node: Node) -> bool:
    """Return whether a substitution or pipeline starts from text in the command rather than from
    files."""
    first = _first_command(node)
    fed = any(inner.type.startswith("here") for inner in _below(node))
    return fed or (first is not None and _called(first) in SAYS)


def said_words(node: Node) -> list[str] | None:
    """Return the words that a lone `echo` or `printf` prints, or None if the command does more."""
    first = _first_command(node)
    if first is None or _called(first) not in SAYS or sum(map(_is_command, _below(node))) > 1:
        return None
    words = [word for child in first.named_children[1:] for word in words_of(child)]
    values = [word.value for word in words if word.value not in ("-n", "--")]
    plain = [value for value in values if value is not None]
    if len(plain) < len(values):
        return None
    joins = _called(first) == "printf" and len(plain) > 2 and not _EACH.fullmatch(plain[0])
    if joins:
        return None
    listed = [value for value in plain if not _SPACED.fullmatch(value)]
    return None if any(re.search(r"[%\\]", value) for value in listed) else listed


def made_names(node: Node) -> list[str]:
    """Return the names that a substitution or pipeline may print, with `*` for gaps.

    Only the first command may print names, and only filters that drop lines may follow it.
    """
    parts = _pipeline_of(node)
    first = parts[0] if parts else None
    if first is None or not all(narrows(text_of(part)) for part in parts[1:]):
        return [*ANY, *listed_secrets(node)]
    command = first if _is_command(first) else _first_command(first)
    words = [w for child in command.named_children for w in words_of(child)] if command else []
    # Of a word that is not known an empty text is left, or its beginning.
    values = [w.known if w.value is not None else w.head and f"{w.head}*" for w in words]
    return [*listed_names(values), *listed_secrets(node)]


def _pipeline_of(node: Node) -> list[Node]:
    """Return the commands of a substitution or pipeline; none if it contains several."""
    inner = [child for child in node.named_children if child.type != "comment"]
    if node.type in _ALONE:
        return [node]
    if node.type == "pipeline":
        return inner if all(part.type in _ALONE for part in inner) else []
    return _pipeline_of(inner[0]) if len(inner) == 1 and inner[0].type in _CHAINED else []


_ALONE = frozenset(("command", "redirected_statement"))
_CHAINED = _ALONE | {"pipeline"}


_LISTERS = frozenset(("find", "fd", "fdfind", "ls", "locate", "git"))


def listed_secrets(node: Node) -> list[str]:
    """Return the names of secrets that a program looks for, so that another may read them."""
    first = _first_command(node)
    if first is None or _called(first) not in _LISTERS:
        return []
    words = [word.known for child in first.named_children[1:] for word in words_of(child)]
    pairs = zip(["", "", *words], ["", *words], words, strict=False)
    # `! -name .env` leaves it out.
    named = [w for left, _, w in pairs if left not in ("!", "-not", "-E")]
    return [word for word in named if aimed(word) or settings(word)]


def _below(node: Node) -> Iterator[Node]:
    """Yield every descendant of a node, in the order of the source."""
    for child in node.named_children:
        yield child
        yield from _below(child)


def _is_command(node: Node) -> bool:
    return node.type == "command"


def _first_command(node: Node) -> Node | None:
    return node if _is_command(node) else next(filter(_is_command, _below(node)), None)


def _called(command: Node) -> str:
    """Return the name a command is called by, as written."""
    name = command.child_by_field_name("name")
    return text_of(name) if name is not None else ""


def text_of(node: Node) -> str:
    """Return the source text of a node."""
    return (node.text or b"").decode()


def _is_one_of(source: str, names: frozenset[str]) -> bool:
    """Return whether a word begins with one of these variables, unmodified."""
    match = re.match(r'"?\$(?:(\w+)|\{(\w+)\})', source)
    return bool(match) and (match[1] or match[2]) in names


def _pieces(node: Node) -> list[_Piece]:
    kind, text = node.type, text_of(node)
    if kind in ("word", "number"):
        return _unescaped(text)
    if kind == "raw_string":
        return [_Piece(text[1:-1], True)]
    if kind == "ansi_c_string":
        return [_Piece(ansi(text[2:-1]), True)]
    if kind in ("string", "translated_string"):
        return _string_pieces(node)
    if kind in ("concatenation", "command_name", "brace_expression"):
        return [piece for child in node.children for piece in _pieces(child)]
    if kind == "simple_expansion" or (kind == "expansion" and len(node.named_children) == 1):
        return [_Piece(HOME_NAMES.get(text.strip(" \t\n${}")), False, node)]
    if not node.is_named:
        return [_Piece(text, False)]
    return [_Piece(None, False, node)]


def _unescaped(text: str) -> list[_Piece]:
    found: list[_Piece] = []
    for match in re.finditer(r"\\(.)|([^\\]+)", text, re.S):
        found.append(_Piece(match[1], True) if match[1] is not None else _Piece(match[2], False))
    return found


def _string_pieces(node: Node) -> list[_Piece]:
    """Return the contents of double quotes, by offset, since the grammar drops some blanks."""
    raw = node.text or b""
    found: list[_Piece] = []
    at = raw.index(b'"') + 1
    for child in node.named_children:
        if child.type == "string_content":
            continue
        start = child.start_byte - node.start_byte
        inner = child.text or b""
        start += len(inner) - len(inner.lstrip())
        found.append(_Piece(_dequoted(raw[at:start]), True))
        found.extend(p._replace(quoted=True) for p in _pieces(child))
        at = child.end_byte - node.start_byte
    found.append(_Piece(_dequoted(raw[at:-1]), True))
    return found


def _dequoted(raw: bytes) -> str:
    return re.sub(r'\\([$`"\\\n])', lambda m: "" if m[1] == "\n" else m[1], raw.decode())


_ANSI = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}


def ansi(body: str) -> str | None:
    """Return the text of `$'body'`, or None if it is not plain text."""

    def decoded(match: re.Match[str]) -> str:
        octal, hexa, control, other = match.groups()
        if octal:
            return chr(int(octal, 8) & 0xFF)
        if hexa:
            return chr(int(hexa[1:], 16))
        if control:
            return chr(ord(control[1].upper()) & 0x1F)
        return _ANSI.get(other, other)

    pattern = r"\\(?:([0-7]{1,3})|(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,5})|(c.)|(.))"
    value = re.sub(pattern, decoded, body, flags=re.S)
    return None if "\0" in value else value


_BRACES = Pattern(r"\{([^{}]*(?:,|\.\.)[^{}]*)\}")


def _has_braces(bare: str) -> bool:
    return bool(re.search(r"\{.*(,|\.\.).*\}", bare, re.S))


def _expanded(source: str, pieces: tuple[_Piece, ...]) -> tuple[Word, ...]:
    """Expand braces of one level; anything more complex stays unknown."""
    clever = opaque(source)._replace(made=True)
    if any(p.quoted and re.search(r"[{},]", p.text or "") for p in pieces):
        return (clever,)
    value = "".join(p.text or "" for p in pieces)
    if re.search(r"\{[^}]*\{|\}[^{]*\}", value):
        return (clever,)
    values = [""]
    for i, part in enumerate(_BRACES.split(value)):
        choices = _choices(part) if i % 2 else [part]
        values = [v + choice for v in values for choice in choices]
        if not 0 < len(values) <= MAX_BRACES:
            return (clever,)
    glob = bool(re.search(r"[*?\[]", value))
    return tuple(Word(source, v, glob=glob) for v in values if v)


def _choices(body: str) -> list[str]:
    if "," in body:
        return body.split(",")
    match = re.fullmatch(r"(-?\d+)\.\.(-?\d+)(?:\.\.(-?\d+))?", body)
    if match:
        return [str(n) for n in _steps(int(match[1]), int(match[2]), match[3])]
    match = re.fullmatch(r"([a-zA-Z])\.\.([a-zA-Z])(?:\.\.(-?\d+))?", body)
    if match:
        return [chr(n) for n in _steps(ord(match[1]), ord(match[2]), match[3])]
    return []


def _steps(first: int, last: int, step: str | None) -> Sequence[int]:
    size = abs(int(step or 1)) or 1
    steps = range(first, last + 1, size) if first <= last else range(first, last - 1, -size)
    return steps if len(steps) <= MAX_BRACES else ()
