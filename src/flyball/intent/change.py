"""The kind of change a request asks for: a fix, a feature, a refactoring or documents.

The intent says how much work a request is; the kind says what has to be shown of the result. Where
a request asks for several kinds, the one with the highest burden counts: a fix before a feature, a
feature before a refactoring, and documents last.
"""

from __future__ import annotations

import re

from flyball.intent.act import DIRECTIVES, Act
from flyball.intent.speech import Clause, hear
from flyball.intent.text import opening_words
from flyball.regex import regex
from flyball.terms.intent import ChangeKind, ChangeReading

_PREFIX = regex(
    r"(?i)^\s*(fix|bugfix|hotfix|feat|feature|refactor(?:ing)?|docs?|documentation)"
    r"(?:\([^()\n]{0,60}\))?!?:"
)
"""The prefix of a conventional commit, or a title like "Refactor: …"."""

_PREFIXES = {
    "fix": ChangeKind.FIX,
    "bugfix": ChangeKind.FIX,
    "hotfix": ChangeKind.FIX,
    "feat": ChangeKind.FEATURE,
    "feature": ChangeKind.FEATURE,
    "refactor": ChangeKind.REFACTORING,
    "refactoring": ChangeKind.REFACTORING,
    "doc": ChangeKind.DOCUMENTS,
    "docs": ChangeKind.DOCUMENTS,
    "documentation": ChangeKind.DOCUMENTS,
}

_SAME_BEHAVIOUR = regex(
    r"(?i)\b(?:no|without(?: any)?|zero) (?:functional|semantic|behaviou?ral|visible|logic|"
    r"(?:change (?:of|in|to) )?(?:the )?behaviou?r) ?(?:changes?)?\b"
    r"|\bwithout (?:changing|altering|touching|affecting|modifying) (?:\w+ ){0,3}?"
    r"(?:behaviou?r|semantics|functionality|what \w+ does|how \w+ (?:works?|behaves?))"
    r"|\bbehaviou?r[- ](?:preserving|neutral)\b"
    r"|\b(?:behaviou?r|semantics|functionality)\b[^.\n]{0,24}\b(?:same|unchanged|intact|preserved"
    r"|identical|as (?:it|is)|is now)\b"
    r"|\b(?:keep|preserve|retain|maintain)(?:s|ing)? (?:\w+ ){0,3}?(?:behaviou?r|semantics)\b"
    r"|\bdo(?:es)?(?: not|n't) change (?:\w+ ){0,3}?(?:behaviou?r|semantics)\b"
    r"|verhalten (?:bleibt|soll)[^.\n]{0,20}gleich|ohne verhaltens\w+"
)
"""A promise that the code will do what it did."""

_REARRANGES = (
    r"refactor|restructure|reorgani[sz]e|rearrange|rename|do the rename|extract|inline|tidy|tidy up"
    "|clean up|clean that up|simplify|dedupe|deduplicate|consolidate|decouple|modernise|modernize"
    "|reformat|rework|untangle|separate out|modulari[sz]e"
    "|benenne|umbenennen|renommer|renommez|renomme|renombrar|renombra|renomeie|renomeia|rinomina"
    "|переименуйте|переименуй|переименовать|refaktorisiere|refaktoriere|refactorise|refactoriza"
    "|重构|重命名|リファクタ"
)
"""Verbs that rearrange code, when nothing else is said about what it should do."""

_MOVES = "split|move|sort|reorder|format|merge|pull|unify|clean|convert|replace|factor|make|turn"
"""Verbs that do so when their object is code."""

_CODE = regex(
    r"\b(?:modules?|class(?:es)?|functions?|methods?|helpers?|imports?|packages?|constants?|loops?"
    r"|code|tests?|fixtures?|subclass(?:es)?|mixins?|variables?|files?|callbacks?|parsers?)\b"
    r"|\b[\w/-]+\.(?:py|js|ts|tsx|jsx|go|rs|java|rb|php|c|h|cc|cpp|cs|kt|swift|sh)\b|\w\(\)"
)

_PURPOSE = regex(
    r"\bso (?:that )?(?!.*\b(?:eas\w+|read\w*|test\w*|reus\w+|clear\w*|simpl\w+)\b)\w+"
)
"""A desired difference in behaviour, as opposed to how the code reads."""

_ARRANGED = regex(
    r"\b(?:dead|unused|duplicate[d]?|unreachable|commented[- ]out|redundant) (?:\w+ ){0,2}?"
    r"(?:code|imports?|functions?|methods?|variables?|class(?:es)?|helpers?|logic|branch(?:es)?)\b"
    r"|\b(?:more|better) (?:readable|maintainable|legible|structured)\b|\breadab\w+"
    r"|\btype (?:hints?|annotations?)\b|\binto (?:\w+ ){0,4}?(?:modules?|class(?:es)?|files?"
    r"|functions?|packages?|methods?|helpers?|dataclass(?:es)?)\b"
)
"""Words that only occur in requests to tidy, with any verb."""

_SHOWN = regex(
    r"\b(?:button|label|header|heading|title|menu|page|link|banner|footer|tab|caption|column"
    r"|colou?r|message|screen|icon)s?\b"
)
"""Visible things: renaming or moving them changes behaviour."""

_DOCUMENTS = regex(
    r"\b(?:readme|changelog|contributing|license|docs?|docstrings?|documentation|comments?|guides?"
    r"|tutorials?|manual|wiki|man ?pages?|faq|glossary)\b"
    r"(?! (?:endpoint|feature|form|page|section|table|model|generator|parser|api|view"
    r"|button|box)s?\b)"
    r"|\b[\w./-]+\.(?:md|rst|adoc)\b"
)
_DOCUMENTS_VERB = "document|dokumentiere|documente|documenta|documenter"
_IN_CODE = regex(r"\b(?:tests?|code|functions?|api|endpoint|parser|generator|builder)\b")

_TROUBLE = regex(
    r"(?i)\b(?:bugs?|wrong|broken|crash\w*|fail(?:s|ed|ing|ure|ures)?|incorrect\w*|regression"
    r"|error|exception|leak\w*|race)\b"
)
_PASSES = regex(r"^(?:make|get|let|bring) .{1,80}\b(?:pass|green|work)\b")
_MENDS = (
    "fix|repair|correct|resolve|solve|patch|mend|handle|behebe|beheb|repariere|corrige|corriger"
)

_DEGREE = (
    ChangeKind.FIX,
    ChangeKind.FEATURE,
    ChangeKind.REFACTORING,
    ChangeKind.DOCUMENTS,
    ChangeKind.UNKNOWN,
)


def read_change(text: str) -> ChangeReading:
    """Return the kind of change that a request asks for, and why it is read so."""
    if prefix := _PREFIX.match(text):
        kind = _PREFIXES[prefix[1].lower()]
        return ChangeReading(kind, f"it begins with \u201c{prefix[0].strip()}\u201d")
    found = [_of_clause(clause) for clause in hear(text).clauses]
    promise = _SAME_BEHAVIOUR.search(text)
    if promise and not any(each.kind is ChangeKind.FIX for each in found):
        return ChangeReading(ChangeKind.REFACTORING, f"it says \u201c{promise[0]}\u201d")
    return min(found, key=lambda each: _DEGREE.index(each.kind), default=ChangeReading())


def _of_clause(clause: Clause) -> ChangeReading:
    kind = _kind(clause)
    quoted = f"\u201c{clause.text[:60]}\u201d"
    return ChangeReading(kind, "" if kind is ChangeKind.UNKNOWN else f"{quoted} asks for it")


def _kind(clause: Clause) -> ChangeKind:
    text, act = clause.text, clause.heard.act
    if act is Act.REPORT:
        return ChangeKind.FIX if _TROUBLE.search(text) else ChangeKind.UNKNOWN
    if act not in DIRECTIVES:
        return ChangeKind.UNKNOWN
    told = re.sub(r"^.*?\bto ", "", clause.heard.cue)
    if _asks_for_documents(text, told):
        return ChangeKind.DOCUMENTS
    if opening_words(told, _MENDS) or _PASSES.search(text):
        return ChangeKind.FIX
    if _rearranges(text, told):
        return ChangeKind.REFACTORING
    if _TROUBLE.search(text):
        return ChangeKind.FIX
    return ChangeKind.FEATURE if act in (Act.BUILD, Act.WHOLE) else ChangeKind.UNKNOWN


def _rearranges(text: str, verb: str) -> bool:
    """Return whether the request is to rearrange code and says nothing about its behaviour."""
    if _ARRANGED.search(text):
        return True
    if _SHOWN.search(text) or _PURPOSE.search(text):
        return False
    is_of_code = bool(opening_words(verb, _MOVES)) and bool(_CODE.search(text))
    return bool(opening_words(verb, _REARRANGES)) or is_of_code


def _asks_for_documents(text: str, verb: str) -> bool:
    """Return whether the text to write is for readers rather than for a program."""
    if opening_words(verb, _DOCUMENTS_VERB):
        return True
    found = _DOCUMENTS.search(text)
    return bool(found) and not _IN_CODE.search(text[: found.start()])
