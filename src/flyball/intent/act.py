"""The acts of a clause, and how an order is recognised by its verb."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

from flyball.intent import lexicon
from flyball.intent.text import contains, opening_words, says


class Act(StrEnum):
    """The act that a clause performs."""

    ASIDE = "aside"
    SOCIAL = "social"
    ASSENT = "assent"
    REFUSAL = "refusal"
    CONTINUE = "continue"
    LOOK = "look"
    INQUIRE = "inquire"
    REPORT = "report"
    FORBID = "forbid"
    FIX = "fix"
    BUILD = "build"
    WHOLE = "whole"


DIRECTIVES = frozenset({Act.FIX, Act.BUILD, Act.WHOLE})


class HeardAct(NamedTuple):
    """An act, and the words that revealed it."""

    act: Act
    cue: str
    is_question: bool = False


GENERAL = HeardAct(Act.SOCIAL, "is a question of general knowledge", is_question=True)


def hear_order(bare: str, opener: str = "") -> HeardAct | None:
    """Return the act of a clause that is an order, by its leading verb."""
    if contains(bare, lexicon.TROUBLE_CJK) and not contains(bare, lexicon.FIX_CJK):
        return None
    if re.match(lexicon.SUBJECT, bare):
        return None
    look = opening_words(bare, lexicon.LOOK, lexicon.LOOK_CJK)
    inquire = opening_words(bare, lexicon.INQUIRE, lexicon.INQUIRE_CJK)
    if says(bare, lexicon.ABOUT_ME):
        return HeardAct(Act.SOCIAL, "is small talk")
    if inquire and len(inquire) > len(look):
        if inquire in ("explain", "describe") and _is_generic(bare):
            return GENERAL
        return HeardAct(Act.INQUIRE, f"tells to {inquire}")
    if look:
        rest = bare[len(look) :].strip()
        if opening_words(rest, "about") and _is_generic(bare):
            return GENERAL
        if says(bare, lexicon.WHY, lexicon.WHY_CJK) or opening_words(rest, lexicon.HOW_ASKED):
            return HeardAct(Act.INQUIRE, f"tells to {look}, and asks how or why")
        return HeardAct(Act.LOOK, f"tells to {look}")
    if verb := verb_of(bare):
        is_wish = bool(opener) and opening_words(opener, lexicon.INTENDS) == opener
        return HeardAct(_size(bare, verb), f"{'wants' if is_wish else 'tells'} to {verb}")
    if (verb := _likely_verb(bare)) or contains(bare, lexicon.ORDER_CJK):
        return HeardAct(size_of(bare), f"seems to tell to {verb}".removesuffix(" to "))
    if re.match(lexicon.VERB_LAST, opener) or re.search(rf"(?:{lexicon.VERB_FINAL})$", bare):
        return _told_last(bare)
    return None


def _is_generic(bare: str) -> bool:
    """Return whether a question is about the world in general rather than this project."""
    # "that" stands for what was quoted.
    if says(bare, lexicon.PROJECT) or says(bare, "that"):
        return False
    return says(bare, lexicon.THEORY) or not says(bare, r"the|this|that|these|it|our|my|how")


def verb_of(bare: str) -> str:
    """Return the action verb that the clause begins with, or an empty string."""
    build = opening_words(bare, lexicon.BUILD, lexicon.BUILD_CJK)
    verb = max(build, opening_words(bare, lexicon.FIX, lexicon.FIX_CJK), key=len)
    # "round(2.5) gives 2" names a function.
    if verb and re.match(rf"\w+\(|(?:{lexicon.NOUN_OR_VERB}) (?:{lexicon.BE})\b", bare):
        return ""
    return verb


def _likely_verb(bare: str) -> str:
    """Return an unknown word in the position of an English imperative, right before its object."""
    found = re.match(lexicon.IMPERATIVE, bare)
    if not found:
        return ""
    verb = found.group(1)
    is_inflected = re.search(r"(?:ed|ing|ly|[^s]s)$", verb) is not None
    return "" if is_inflected or verb in lexicon.NOT_IMPERATIVE.split("|") else verb


def _told_last(bare: str) -> HeardAct | None:
    """Return the act of a clause with its verb at the end, as in German requests."""
    first, _, last = bare.rpartition(" ")
    if first and (order := hear_order(f"{last} {first}")):
        return order
    return HeardAct(size_of(bare), f"seems to tell to {last}") if last.endswith("en") else None


def _size(clause: str, verb: str) -> Act:
    """Return how much a directive asks for: a touch, a piece of work, or the whole."""
    is_small = says(clause, lexicon.SMALL)
    is_big = says(clause, lexicon.BIG)
    if says(clause, lexicon.WHOLE, lexicon.WHOLE_CJK) and not opening_words(
        clause, lexicon.NOT_WHOLE
    ):
        return Act.WHOLE
    if re.match(lexicon.GENERIC_MAKE, clause):
        return Act.BUILD
    if verb in lexicon.EITHER_SIZE.split("|"):
        is_heavy = is_big or says(clause, lexicon.HEAVY)
        return Act.BUILD if is_heavy and not is_small else Act.FIX
    if len(opening_words(clause, lexicon.BUILD, lexicon.BUILD_CJK)) > len(
        opening_words(clause, lexicon.FIX)
    ):
        # "A test for the login page" is a test: what it is for makes it no bigger.
        thing = re.split(lexicon.ABOUT_OBJECT, clause, maxsplit=1)[0]
        is_big = is_big and (says(thing, lexicon.BIG) or not says(thing, lexicon.SMALL))
        return Act.FIX if is_small and not is_big and len(clause.split()) < 14 else Act.BUILD
    return Act.FIX


def size_of(text: str) -> Act:
    """Return how much work a description of a part amounts to."""
    return Act.BUILD if says(text, lexicon.BIG) and not says(text, lexicon.SMALL) else Act.FIX


def base_form(clause: str) -> str:
    """Turn a leading gerund into its verb: adding → add, making → make."""
    found = re.match(r"(\w{2,})ing\b", clause)
    if not found:
        return clause
    stem = found.group(1)
    for verb in (stem, f"{stem}e", stem[:-1]):
        if _is_verb(verb):
            return verb + clause[found.end() :]
    return clause


def _is_verb(word: str) -> bool:
    kinds = (lexicon.FIX, lexicon.BUILD, lexicon.INQUIRE, lexicon.LOOK)
    return any(opening_words(word, kind) == word for kind in kinds)


def correct_spelling(clause: str) -> str:
    """Correct one typo in the first word: chnage → change, adress → address."""
    first, _, rest = clause.partition(" ")
    if not 4 <= len(first) <= 12 or _is_verb(first) or _is_verb(first.removesuffix("s")):
        return clause
    for verb in lexicon.PLAIN_VERBS.split("|"):
        if _is_slip(first, verb):
            return f"{verb} {rest}"
    return clause


def _is_slip(word: str, verb: str) -> bool:
    """Return whether a word is a verb with two letters swapped, or with one lost or doubled."""
    if len(word) == len(verb):
        at = next(
            (n for n, pair in enumerate(zip(word, verb, strict=True)) if pair[0] != pair[1]), 0
        )
        return word[at : at + 2] == verb[at : at + 2][::-1] and word[at + 2 :] == verb[at + 2 :]
    longer, shorter = sorted((word, verb), key=len, reverse=True)
    if len(longer) != len(shorter) + 1:
        return False
    return any(longer[:n] + longer[n + 1 :] == shorter for n in range(1, len(longer)))
