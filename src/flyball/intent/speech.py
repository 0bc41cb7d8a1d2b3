"""Parse a request into clauses, each with the act it performs."""

from __future__ import annotations

import re
from typing import NamedTuple

from flyball.intent import lexicon
from flyball.intent.act import (
    DIRECTIVES,
    GENERAL,
    Act,
    HeardAct,
    base_form,
    correct_spelling,
    hear_order,
    size_of,
    verb_of,
)
from flyball.intent.text import clauses, clean_text, contains, opening_words, says, says_only

MANNERS = frozenset({Act.SOCIAL, Act.ASSENT, Act.REFUSAL, Act.CONTINUE})


class Clause(NamedTuple):
    """A part of a request, and the act it performs."""

    text: str
    heard: HeardAct


class Speech(NamedTuple):
    """A parsed request: its clauses, and the text that was ignored."""

    clauses: tuple[Clause, ...]
    text: str
    is_read_only: bool
    has_trouble_paste: bool
    was_talked_up: bool

    @property
    def acts(self) -> tuple[Act, ...]:
        """Return the acts in order."""
        return tuple(clause.heard.act for clause in self.clauses)


SHORT = 4
LONG_SIGNS = 8

DOUBTS = frozenset(
    {"we should", "we ought to", "wir sollten", "you should", "why not", "why not just"}
)
JUDGEMENT = HeardAct(Act.INQUIRE, "asks for a judgement", is_question=True)
PART = "belongs to what was told before"
ALONE = HeardAct(Act.WHOLE, "leaves it to be done alone")


def hear(text: str) -> Speech:
    """Parse a request into its clauses."""
    plain = clean_text(text)
    pieces = clauses(plain.text)
    kept = [piece for piece in pieces if not says(piece[0], lexicon.TALK_UP)]
    heard = _tagged(tuple(Clause(piece, _judge(piece, mark)) for piece, mark in kept), kept)
    heard = _listed(heard)
    return Speech(
        clauses=tuple(_in_one_breath(clause, heard) for clause in heard),
        text=plain.text,
        is_read_only=says(plain.text, lexicon.READ_ONLY, lexicon.READ_ONLY_CJK),
        has_trouble_paste=plain.has_trouble_paste,
        was_talked_up=len(kept) < len(pieces),
    )


def _tagged(heard: tuple[Clause, ...], pieces: list[tuple[str, bool]]) -> tuple[Clause, ...]:
    """Return the clauses, with a statement that ends in a tag read as a question: "so we need both,
    right?"."""
    found = list(heard)
    for n in range(1, len(found)):
        tag, has_mark = pieces[n]
        is_order = found[n - 1].heard.cue.startswith("tells to")
        is_tag = re.match(r"or\b", tag) or (not is_order and re.fullmatch(lexicon.TAG, tag))
        if has_mark and is_tag:
            asked = HeardAct(Act.INQUIRE, "asks whether that is so", is_question=True)
            found[n - 1] = found[n - 1]._replace(heard=asked)
    return tuple(found)


def _listed(heard: tuple[Clause, ...]) -> tuple[Clause, ...]:
    """Return the clauses; a few words after an order become its parts: "build it: api, ci"."""
    found = list(heard)
    is_order = False
    for n, clause in enumerate(heard):
        is_part = clause.heard.cue.startswith("names a") and len(clause.text.split()) < SHORT
        if is_order and is_part:
            found[n] = clause._replace(heard=HeardAct(Act.ASIDE, PART))
        else:
            is_order = clause.heard.cue.startswith("tells to") and clause.heard.act in DIRECTIVES
    return tuple(found)


def _in_one_breath(clause: Clause, heard: tuple[Clause, ...]) -> Clause:
    """Return the clause, or the order that directly follows its topic: "live cursors? let's do
    it"."""
    if clause.heard.act is Act.ASIDE and says(clause.text, lexicon.AWAY):
        is_told = any(other.heard.act in DIRECTIVES for other in heard)
        return clause._replace(heard=ALONE) if is_told else clause
    if clause.heard.act is not Act.ASSENT or not says(clause.text, lexicon.DO_IT):
        return clause
    around = " ".join(other.text for other in heard if other.heard.act not in MANNERS)
    order = HeardAct(size_of(around), "orders what was said before")
    return clause._replace(heard=order) if around else clause


def _judge(piece: str, has_mark: bool) -> HeardAct:
    if manners := _manners(piece, has_mark=has_mark):
        return manners
    bare, opener = _bared(piece)
    if has_mark and not opener and re.match(r"(?:(?:and|but|so) )?if ", piece):
        return JUDGEMENT
    if opening_words(bare, lexicon.ABOUT_ANSWER):
        return HeardAct(Act.ASIDE, "speaks of the answer")
    if opening_words(bare, lexicon.REAL_CHANGE) and not says(bare, lexicon.TROUBLE):
        return HeardAct(Act.FIX, f"tells to {' '.join(bare.split()[:2])}")
    if opening_words(bare, r"(?:don'?t|do not|dont|never) \w+") and not has_mark:
        whole = says(bare, lexicon.WHOLE)
        return HeardAct(Act.WHOLE, "says not to stop") if whole else HeardAct(Act.FORBID, "forbids")
    if contains(bare, lexicon.NO_CJK) and not has_mark:
        return HeardAct(Act.REPORT, "reports trouble")
    if asked := _asked(bare, opener, has_mark):
        return asked
    mended = correct_spelling(bare)
    if order := hear_order(mended, opener) or hear_order(_without_clitic(mended), opener):
        return order
    return _manners(mended, has_mark=has_mark) or _stated(piece, bare)


def _without_clitic(bare: str) -> str:
    """Return the clause without the pronoun attached to its leading verb: montre-moi → montre."""
    bare = re.sub(r"^(?:l[aeo]s?|me) (?=\w+(?:er|ir|re|ar)\b)|^l'(?=\w)", "", bare)
    return re.sub(r"^(\w{3,})-(?:moi|nous|les?|la|l[ao]s?|me|[ao]s?)\b", r"\1", bare)


def _manners(piece: str, *, has_mark: bool) -> HeardAct | None:
    """Interpret a clause that consists only of courtesies, consent or refusal."""
    if opening_words(piece, lexicon.PRAISE) and not (has_mark or says(piece, lexicon.TROUBLE)):
        return HeardAct(Act.SOCIAL, "praises or thanks")
    go_on = (lexicon.CONTINUE, lexicon.CONTINUE_CJK)
    no = (lexicon.REFUSAL, lexicon.REFUSAL_CJK)
    yes = (lexicon.ASSENT, lexicon.MANNERS_CJK)
    small_talk = (lexicon.SOCIAL, lexicon.SOCIAL_CJK)
    if says_only(piece, go_on):
        return HeardAct(Act.CONTINUE, "says to go on")
    if says_only(piece, no):
        return HeardAct(Act.REFUSAL, "refuses", is_question=has_mark)
    if says_only(piece, yes, small_talk, (lexicon.LEAD_IN, "")):
        is_social = says_only(piece, small_talk) or not says(piece, *yes)
        if is_social:
            return HeardAct(Act.SOCIAL, "is small talk", is_question=has_mark)
        return HeardAct(Act.ASIDE if has_mark else Act.ASSENT, "agrees")
    if says(piece, lexicon.TROUBLE) or says(piece, lexicon.WHY, lexicon.WHY_CJK):
        return None
    for kind, act, slack in (
        (go_on, Act.CONTINUE, 4),
        (no, Act.REFUSAL, 1),
        (small_talk, Act.SOCIAL, 3),
    ):
        said = opening_words(piece, *kind)
        if said and len(piece.split()) - len(said.split()) <= slack:
            return HeardAct(act, f"says {said!r}", is_question=has_mark)
    return None


def _bared(clause: str) -> tuple[str, str]:
    """Return the clause without its polite or joining openers, and any request among those."""
    opener = ""
    clause = re.sub(r"@[\w./-]+\s*|^/(?=\w+$)", "", clause) or clause
    while True:
        request = opening_words(clause, lexicon.REQUEST)
        lead = request or opening_words(clause, lexicon.LEAD_IN)
        rest = re.sub(r"^\W+", "", clause[len(lead) :])
        if not lead or not rest:
            return clause, opener
        opener = request or opener
        clause = base_form(rest.removeprefix("to ")) if request else rest


def _asked(bare: str, opener: str, has_mark: bool) -> HeardAct | None:
    """Interpret a clause that asks, unless it is only a polite order."""
    if contains(bare, lexicon.POLITE_CJK) and verb_of(bare):
        return None
    if re.match(lexicon.FRIENDLIER, bare):
        return HeardAct(Act.FIX, "asks for a touch more or less")
    is_why = says(bare, lexicon.WHY, lexicon.WHY_CJK)
    # "The label says Nmae, should be Name" asks nothing.
    is_wish = not has_mark and bool(re.match(r"should (?:be|have|say|read|show)\b", bare))
    by_form = bool(opening_words(bare, lexicon.QUESTION)) or contains(bare, lexicon.QUESTION_CJK)
    # "Do the tests check that?" asks; "could you do the rename?" has an opener.
    by_form = (by_form and not is_wish) or (has_mark and not opener and bare.startswith("do "))
    if opener and not is_why and not (by_form and not verb_of(bare)):
        return _permission(bare, opener, has_mark)
    # "Remove or keep?" orders neither.
    if has_mark and not opener and verb_of(bare) and says(bare, "or"):
        return JUDGEMENT
    if is_why or by_form or (has_mark and (not verb_of(bare) or " " not in bare)):
        return _question(bare)
    return None


def _permission(bare: str, opener: str, has_mark: bool) -> HeardAct | None:
    """Interpret a request for permission as a question: could we drop it without breaking
    anything?"""
    is_ours = opener.startswith(("could we", "can we")) and (
        says(bare, "without|safely|breaking|already|yet") or opening_words(bare, lexicon.REMOVES)
    )
    is_yours = opener.startswith("would you") and re.search(r" (?:here|or not)$", bare)
    is_doubt = opener in DOUBTS
    if has_mark and (is_doubt or is_ours or is_yours):
        return JUDGEMENT
    return None


def _question(bare: str) -> HeardAct:
    is_trouble = says(bare, lexicon.TROUBLE, lexicon.TROUBLE_CJK)
    is_ours = says(bare, lexicon.OURS) or not bare.isascii()
    is_state = says(bare, lexicon.STATE, lexicon.STATE_CJK)
    if says(bare, lexicon.ABOUT_ME, lexicon.ABOUT_ME_CJK):
        return HeardAct(Act.SOCIAL, "asks about Flyball itself", is_question=True)
    if opening_words(bare, lexicon.GENERIC, lexicon.GENERIC_CJK) and not says(bare, lexicon.HERE):
        return GENERAL
    if says(bare, lexicon.WHY, lexicon.WHY_CJK):
        return HeardAct(Act.INQUIRE, "asks for a cause", is_question=True)
    if is_ours and opening_words(bare, lexicon.BEHAVIOUR) and not says(bare, lexicon.STATIVE):
        return HeardAct(Act.INQUIRE, "asks how something behaves", is_question=True)
    if opening_words(bare, lexicon.FACTUAL) and (is_ours or is_state):
        is_open = says(bare, "would|could") or (is_trouble and not is_state)
        return HeardAct(Act.INQUIRE if is_open else Act.LOOK, "asks for a fact", is_question=True)
    if says(bare, lexicon.JUDGE, lexicon.INQUIRE_CJK) and (is_ours or not is_state):
        return JUDGEMENT if is_ours else GENERAL
    if is_state:
        return HeardAct(Act.LOOK, "asks about the present state", is_question=True)
    if is_trouble:
        return HeardAct(Act.INQUIRE, "asks about trouble", is_question=True)
    if says(bare, lexicon.OURS):
        is_behaviour = bool(opening_words(bare, lexicon.BEHAVES))
        act = Act.INQUIRE if is_behaviour else Act.LOOK
        return HeardAct(act, "asks about this project", is_question=True)
    if not bare.isascii() or len(bare.split()) < SHORT or opening_words(bare, "which"):
        return HeardAct(Act.LOOK, "asks something", is_question=True)
    return HeardAct(Act.SOCIAL, "asks something", is_question=True)


def _stated(piece: str, bare: str) -> HeardAct:
    """Return the act of a clause that is neither a question nor an order."""
    if says(piece, lexicon.UNDERSTAND):
        return HeardAct(Act.INQUIRE, "wants to understand")
    if opening_words(bare, lexicon.SELF) and not any(
        says(piece, kind) for kind in (lexicon.WANT, lexicon.TROUBLE, lexicon.OUGHT)
    ):
        return HeardAct(Act.ASIDE, "tells of the speaker")
    if opening_words(bare, "let me"):
        return HeardAct(Act.BUILD, "wants something")
    if says(piece, lexicon.OKAY):
        return HeardAct(Act.ASIDE, "says that it is well")
    if says(piece, lexicon.WANT, lexicon.WANT_CJK):
        is_small = says(bare, lexicon.SMALL) and not (
            says(bare, lexicon.BIG) or says(bare, lexicon.HEAVY)
        )
        whole = says(bare, lexicon.WHOLE, lexicon.WHOLE_CJK)
        act = Act.WHOLE if whole else Act.FIX if is_small else Act.BUILD
        return HeardAct(act, "wants something")
    if says(piece, lexicon.OUGHT):
        return HeardAct(Act.FIX, "says how it should be")
    if says(piece, lexicon.TROUBLE, lexicon.TROUBLE_CJK):
        return HeardAct(Act.REPORT, "reports trouble")
    if says(bare, lexicon.WHOLE, lexicon.WHOLE_CJK):
        return HeardAct(Act.WHOLE, "speaks of the whole")
    if says(piece, lexicon.SOCIAL, lexicon.SOCIAL_CJK):
        return HeardAct(Act.SOCIAL, "is small talk")
    return _fragment(bare) or _remark(bare)


def _remark(bare: str) -> HeardAct:
    """Return the act of a remark; most remarks to an agent report a problem."""
    is_long = len(bare.split()) >= SHORT or (not bare.isascii() and len(bare) >= LONG_SIGNS)
    return HeardAct(Act.REPORT if is_long else Act.ASIDE, "says something else")


def _fragment(bare: str) -> HeardAct | None:
    """Return the act of a few words that describe what happens, or name what is wanted."""
    size = len(bare.split())
    is_new = re.match(r"(?:an? )?new ", bare) is not None and says(bare, lexicon.BIG)
    if is_new or re.match(lexicon.FEATURE_PHRASE, bare):
        return HeardAct(Act.BUILD, "names a feature")
    # "parse("1e3") gives 13": a call, and what comes of it.
    if says(bare, lexicon.HAPPENS) or re.match(
        r"[\w.]+\([^()]*\) \w+s\b|(?:(?:click|gett|see|runn|try)ing|expected|got|received) ", bare
    ):
        return HeardAct(Act.REPORT, "describes what happens")
    if size <= 5 and re.match(lexicon.SLIP, bare):
        return HeardAct(Act.FIX, "names a detail")
    is_sentence = says(bare, "is|are|was|were|has|have|does|gets|got|isn't|aren't|wasn't")
    if is_sentence and size >= SHORT:
        return HeardAct(Act.REPORT, "describes what happens")
    if size > 4 and re.match(r"(?:the|my|our|it|when|after|since|users?|customers?) ", bare):
        return HeardAct(Act.REPORT, "describes what happens")
    if size <= 8 and says(bare, "instead of|rather than"):
        return HeardAct(Act.FIX, "names a detail")
    if size <= 6 and says(bare, lexicon.BIG):
        return HeardAct(Act.BUILD, "names a feature")
    if size <= 5 and says(bare, lexicon.STATE, lexicon.STATE_CJK):
        return HeardAct(Act.LOOK, "names a state")
    if size <= 5 and says(bare, lexicon.SMALL):
        return HeardAct(Act.FIX, "names a detail")
    return None
