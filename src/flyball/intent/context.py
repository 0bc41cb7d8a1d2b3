"""Interpret a short reply in its conversation."""

from __future__ import annotations

import re
from typing import NamedTuple

from flyball.intent import lexicon
from flyball.intent.act import DIRECTIVES, Act, hear_order, size_of
from flyball.intent.speech import Clause, Speech, hear
from flyball.intent.text import (
    clauses,
    clean_text,
    contains,
    head_and_tail,
    opening_words,
    says,
)

RANK: tuple[Act, ...] = tuple(Act)
DOINGS = DIRECTIVES | {Act.LOOK, Act.INQUIRE}
CONSENT = frozenset({Act.ASSENT, Act.SOCIAL, Act.ASIDE, Act.CONTINUE})
MANY = 7
BRIEF = 6
FEW = 5
OFFER_PARTS = 2
OFFER_SIGNS = 400


class ReplyMeaning(NamedTuple):
    """The meaning of a reply in its context."""

    act: Act
    reason: str


def follow_up(speech: Speech, offer: str, request: Speech | None) -> ReplyMeaning | None:
    """Return what a reply means after an offer by the assistant and a request by the user."""
    if speech.is_read_only or not speech.acts or speech.has_trouble_paste:
        return None
    return (
        _took_over(speech)
        or _refused(speech, offer, request)
        or _answered(speech, offer, request)
        or _more_of_the_same(speech, request)
        or _agreed(_unrestricted(speech), offer)
        or _went_on(speech, offer, request)
        or _asked_on(speech, request)
    )


_OBSTACLES = {Act.REFUSAL, Act.FORBID, Act.LOOK, Act.INQUIRE, Act.REPORT, Act.ASIDE}
_ORDERS = DIRECTIVES | {Act.ASSENT, Act.CONTINUE, Act.SOCIAL}
_CONDITIONS = "but|unless|if|first|before|after|until|when|once|only"
_POINTS_BACK = r"it|this|that|them|these|those|too|as well|also"


def consents(text: str, command: str) -> bool:
    """Return whether a person clearly approves a command they were asked about.

    A yes with a condition, a question or a request to look first is not clear; an order that names
    what the command does ("push it") is.
    """
    speech = hear(text)
    acts = set(speech.acts)
    if not acts or acts & _OBSTACLES or "?" in text or speech.is_read_only:
        return False
    if speech.acts[0] is Act.ASSENT:
        return True
    named = [word for word in command.split()[1:] if word.isalpha()]
    return acts <= _ORDERS and len(text.split()) <= BRIEF and says(speech.text, *named[:1])


def orders(text: str, command: str) -> bool:
    """Return whether a prompt orders a command by its name ("commit and push"), unasked.

    A clause of its own must say so, without a condition: "push later" or "push the form" does not.
    """
    speech = hear(text)
    if {*speech.acts} & {Act.REFUSAL, Act.FORBID} or "?" in text:
        return False
    if any(opening_words(clause.text, _CONDITIONS) for clause in speech.clauses):
        return False
    name = next((word for word in command.split()[1:] if word.isalpha()), "")
    return any(
        clause.heard.act in _ORDERS and _plain_order(name).fullmatch(clause.text)
        for clause in speech.clauses
    )


def _plain_order(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?:\w+ )?{name}(?: (?:{_POINTS_BACK}|all|everything|now|please|to \w+))*")


def goes_on(text: str, request: str, answer: str = "") -> bool:
    """Return whether a prompt continues the previous request instead of starting a new one."""
    speech = hear(text)
    found = follow_up(speech, answer, hear(request))
    if found is not None:
        return found.act is not Act.REFUSAL
    if opening_words(speech.text, f"and|then|{lexicon.EXTENDS}") and "?" not in text:
        return not set(speech.acts) & {Act.REFUSAL, Act.INQUIRE, Act.FORBID}
    is_order = bool(speech.acts) and set(speech.acts) <= _ORDERS
    return is_order and len(speech.text.split()) <= MANY and says(speech.text, _POINTS_BACK)


def _took_over(speech: Speech) -> ReplyMeaning | None:
    """Return a reply by who will do it without us: "thanks, I'll do it"."""
    is_theirs = any(
        opening_words(each.text, lexicon.MYSELF) and says(each.text, lexicon.DO_IT)
        for each in speech.clauses
    )
    if not is_theirs or set(speech.acts) & (DIRECTIVES | {Act.LOOK, Act.INQUIRE}):
        return None
    return ReplyMeaning(Act.SOCIAL, "leaves it to the speaker")


def _refused(speech: Speech, offer: str, request: Speech | None) -> ReplyMeaning | None:
    acts = speech.acts
    if acts[0] is not Act.REFUSAL or set(acts) & (DOINGS - {Act.LOOK}):
        return None
    if len(acts) > 1 and _is_change(request) and says(speech.text, lexicon.MORE):
        return ReplyMeaning(Act.FIX, "corrects the change just made")
    if len(acts) == 2 and "?" not in offer and _is_change(request) and _is_bare(speech.clauses[1]):
        return ReplyMeaning(Act.FIX, "corrects the change just made")
    if len(acts) > 1 and "?" not in offer and says(speech.text, lexicon.STILL):
        return ReplyMeaning(Act.REPORT, "says that it did not help")
    return ReplyMeaning(Act.REFUSAL, "turns the offer down")


def _is_bare(clause: Clause) -> bool:
    """Return whether a clause is a few words that mean nothing without their context."""
    named = clause.heard.cue.startswith(("names a", "says something else"))
    return named and len(clause.text.split()) <= FEW and not says(clause.text, lexicon.STILL)


def _answered(speech: Speech, offer: str, request: Speech | None) -> ReplyMeaning | None:
    """Interpret a few words that answer what the assistant asked, or pick what it named."""
    if request is None or "?" in speech.text or not speech.clauses:
        return None
    first, *more = speech.clauses
    if any(not opening_words(clause.text, "with|without|but|and") for clause in more):
        return None
    if not _is_bare(first) or opening_words(speech.text, lexicon.ELLIPSIS):
        return None
    asked = _end(offer).casefold()
    if asked.rstrip().endswith("?") and says(asked, lexicon.CHOICE):
        act = max(request.acts, key=RANK.index, default=Act.FIX)
        return ReplyMeaning(act, "answers what was asked") if act in DOINGS else None
    is_named = says(asked, re.escape(speech.text)) and says(request.text, "or")
    if is_named and re.search(rf"(?<!\w)(?:{lexicon.PROPOSAL})(?!\w)", asked):
        return ReplyMeaning(size_of(request.text), "picks what was proposed")
    return None


def _more_of_the_same(speech: Speech, request: Speech | None) -> ReplyMeaning | None:
    """Interpret a few words that adjust or extend the last change."""
    if request is None or not _is_change(request) or len(speech.text.split()) > 9:
        return None
    if not says(speech.text, lexicon.MORE) or "?" in speech.text:
        return None
    mild = (CONSENT | {Act.FIX, Act.LOOK, Act.REFUSAL}) - {Act.SOCIAL}
    is_mild = set(speech.acts) <= mild or all(map(_is_bare, speech.clauses))
    is_same = says(speech.text, lexicon.SAME) and not says(speech.text, lexicon.TROUBLE)
    if not is_mild and not is_same:
        return None
    is_extended = Act.BUILD in request.acts and says(speech.text, lexicon.EXTENDS)
    return ReplyMeaning(Act.BUILD if is_extended else Act.FIX, "goes on from the change just made")


def _unrestricted(speech: Speech) -> Speech:
    """Return the reply without clauses that only limit its yes."""
    first, *rest = speech.clauses
    if first.heard.act not in (Act.ASSENT, Act.CONTINUE) and not opening_words(
        first.text, lexicon.DO_IT
    ):
        return speech
    kept = (
        first,
        *[clause for clause in rest if not opening_words(clause.text, lexicon.RESTRICTS)],
    )
    return speech._replace(clauses=kept, text=", ".join(clause.text for clause in kept))


def _agreed(speech: Speech, offer: str) -> ReplyMeaning | None:
    acts = set(speech.acts)
    is_yes = len(speech.text.split()) < BRIEF and opening_words(speech.text, lexicon.ASSENT)
    if not acts & {Act.ASSENT, Act.CONTINUE} and not is_yes and not _picked(speech.text):
        return None
    if acts & {Act.LOOK, Act.INQUIRE, Act.REPORT} or "?" in speech.text:
        return None
    offered = _offered(offer, speech.text)
    if offered is None:
        return _ordered(speech, offer)
    if offered in DIRECTIVES:
        own = {
            clause.heard.act
            for clause in speech.clauses
            if not opening_words(clause.text, lexicon.DO_IT)
        }
        offered = max({offered} | (own & DIRECTIVES), key=RANK.index)
    return ReplyMeaning(offered, "agrees to what was offered")


def _ordered(speech: Speech, offer: str) -> ReplyMeaning | None:
    """Interpret an order to do "it" when nothing was explicitly offered."""
    if set(speech.acts) & (DIRECTIVES | {Act.CONTINUE}):
        return None
    if offer and says(speech.text, lexicon.DO_IT):
        return ReplyMeaning(_weight(clean_text(_end(offer)).text), "orders what was just spoken of")
    return ReplyMeaning(Act.ASSENT, "agrees, with nothing on offer")


def _went_on(speech: Speech, offer: str, request: Speech | None) -> ReplyMeaning | None:
    if request is None or Act.CONTINUE not in speech.acts or not set(speech.acts) <= CONSENT:
        return None
    act = max(request.acts, key=RANK.index, default=Act.SOCIAL)
    if act in DIRECTIVES and (_counts_many(offer) or _counts_many(request.text)):
        act = Act.WHOLE
    return ReplyMeaning(act, "goes on with the request before")


def _asked_on(speech: Speech, request: Speech | None) -> ReplyMeaning | None:
    """Interpret a question cut short, such as "and the logs?"."""
    if (
        request is None
        or len(speech.text.split()) > 5
        or not opening_words(speech.text, lexicon.ELLIPSIS)
    ):
        return None
    if says(speech.text, lexicon.WHY, lexicon.WHY_CJK) or set(speech.acts) & DIRECTIVES:
        return None
    if set(request.acts) <= {Act.LOOK, Act.INQUIRE}:
        act = max(request.acts, key=RANK.index, default=Act.LOOK)
        return ReplyMeaning(act, "asks on in the same vein")
    return ReplyMeaning(Act.LOOK, "asks on") if "?" in speech.text else None


def _is_change(request: Speech | None) -> bool:
    return request is not None and bool(set(request.acts) & DIRECTIVES)


def _picked(text: str) -> str:
    """Return the option that a reply picks, a digit or a letter; empty if none."""
    found = re.search(lexicon.OPTION, text)
    if found:
        return next(filter(None, found.groups()))
    for digit, ordinal in enumerate(("first", "second", "third", "fourth"), start=1):
        if says(text, f"(?:the )?{ordinal}(?: one| option)?"):
            return str(digit)
    return ""


def _offered(offer: str, reply: str) -> Act | None:
    """Return the act that the assistant offered to perform."""
    plain = clean_text(_end(offer)).text
    if picked := _picked(reply):
        parts = re.split(r"(?:^|\s)\(?([1-9a-d])[.):]\s", plain)
        if picked in parts[1::2]:
            return _weight(parts[parts.index(picked, 1) + 1])
    pieces = clauses(plain)
    is_asking = any(mark for _, mark in pieces)
    found = [act for piece, _ in pieces if (act := _offer_in(piece, plain, is_asking=is_asking))]
    if not found and any(says(piece, lexicon.ASKS_LEAVE) for piece, _ in pieces):
        found = [_weight(plain)]
    best = max(found, key=RANK.index, default=None)
    return Act.WHOLE if best in DIRECTIVES and _counts_many(plain) else best


def _end(offer: str) -> str:
    """Return the last paragraphs, where a long answer puts its offer."""
    parts = offer.strip().split("\n\n")[-OFFER_PARTS:]
    return "\n\n".join(parts)[-OFFER_SIGNS:]


def _offer_in(piece: str, whole: str, *, is_asking: bool) -> Act | None:
    """Return what one clause offers to do."""
    if contains(piece, lexicon.PROPOSAL_CJK):
        order = hear_order(piece)
        return order.act if order else None
    found = re.search(rf"(?<!\w)(?:{lexicon.PROPOSAL})(?!\w)", piece)
    if not found and not is_asking:
        return None
    rest = piece[found.end() :].strip() if found else piece
    if says(rest, lexicon.TALK_ON):
        return Act.SOCIAL
    if says(rest, lexicon.SEE):
        return Act.LOOK
    order = hear_order(rest)
    if order is None or order.act not in DOINGS:
        return None
    # "Shall I fix it?" is no bigger for what is told of the fault around it.
    is_vague = order.act in DIRECTIVES and re.search(lexicon.VAGUE, rest)
    return _weight(whole) if is_vague and not re.match(lexicon.MENDS, rest) else order.act


def _weight(text: str) -> Act:
    """Return how much work a description asks for."""
    if says(text, lexicon.WHOLE, lexicon.WHOLE_CJK) or _counts_many(text):
        return Act.WHOLE
    orders = {order.act for piece, _ in clauses(text) if (order := hear_order(piece))} & DIRECTIVES
    return max(orders | {size_of(text)}, key=RANK.index)


def _counts_many(text: str) -> bool:
    """Return whether a count refers to many things: "3 of 25", "31 open bugs"."""
    counts = re.findall(lexicon.TALLY, head_and_tail(text).casefold())
    return any(int(a or b) >= MANY for a, b in counts)
