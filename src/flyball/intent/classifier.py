"""Classify a request by what its clauses ask, what the conversation adds, and a small model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from msgspec.structs import replace

from flyball.intent.act import DIRECTIVES, Act
from flyball.intent.change import read_change
from flyball.intent.context import ReplyMeaning, follow_up
from flyball.intent.model import PriorTalk, likelihoods, rule_features, word_features
from flyball.intent.speech import Speech, hear
from flyball.terms.intent import (
    CONFIDENCE_THRESHOLD,
    LIMITS,
    MAY_MUTATE,
    Alternative,
    Intent,
    Reading,
    Turn,
    take_smaller,
)

SETTLED = 0.9
"""How sure a reading is that the conversation settles."""

MOST_REASONS = 6

ORDERED = 0.55
"""The minimum probability that something is to be changed, when a known verb orders it."""

UNORDERED = 0.9
"""The same without such an order."""

WISHES = ("says how it should be", "wants", "names a", "speaks of", "orders what was said")
"""Cues of clauses that may be part of a question as well as of an order."""

GUESSES = (*WISHES, "seems to tell")
"""Cues that do not rely on a known verb."""

_ORDER: tuple[Intent, ...] = tuple(Intent)

_MEANS: Mapping[Act, Intent] = MappingProxyType(
    {
        Act.ASIDE: Intent.CONVERSATIONAL,
        Act.SOCIAL: Intent.CONVERSATIONAL,
        Act.ASSENT: Intent.CONVERSATIONAL,
        Act.REFUSAL: Intent.CONVERSATIONAL,
        Act.CONTINUE: Intent.AUTONOMOUS,
        Act.LOOK: Intent.STATUS_CHECK,
        Act.INQUIRE: Intent.DIAGNOSE,
        Act.REPORT: Intent.DIAGNOSE,
        Act.FORBID: Intent.SMALL_FIX,
        Act.FIX: Intent.SMALL_FIX,
        Act.BUILD: Intent.FEATURE_BUILD,
        Act.WHOLE: Intent.AUTONOMOUS,
    }
)


def verdict(speech: Speech) -> Intent:
    """Classify a request by the rules alone."""
    acts = set(speech.acts)
    if _only_asks(speech):
        acts -= DIRECTIVES
    if speech.was_talked_up:
        acts -= {Act.CONTINUE, Act.WHOLE}
    if len(acts) > 1:
        acts.discard(Act.FORBID)
    if speech.has_trouble_paste and acts <= {Act.ASIDE, Act.SOCIAL, Act.LOOK}:
        return Intent.DIAGNOSE
    meant = [_MEANS[act] for act in acts]
    if speech.is_read_only:
        meant = [intent for intent in meant if intent not in MAY_MUTATE]
    return max(meant, key=_ORDER.index, default=Intent.CONVERSATIONAL)


def classify(text: str, history: Sequence[Turn] = ()) -> Reading:
    """Classify a request in the context of the conversation."""
    return replace(_intent(text, history), change=read_change(text))


def _intent(text: str, history: Sequence[Turn]) -> Reading:
    speech = hear(text)
    ruled, said = features(speech, history)
    alone = reading_from(speech, likelihoods(ruled + said))
    resolved = _in_context(speech, history)
    if resolved is None:
        return alone
    intent = _MEANS[resolved.act]
    other = Alternative(alone.intent, round(1 - SETTLED, 3))
    return Reading(
        intent=intent,
        budget=LIMITS[intent],
        confidence=SETTLED,
        reasons=(f"the reply {resolved.reason}",),
        alternatives=(other,) if other.intent is not intent else (),
    )


def features(speech: Speech, history: Sequence[Turn]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the model's input: what the rules derived from a request, and its words after earlier
    ones.
    """
    return rule_features(speech, verdict(speech)), word_features(speech, _before(history))


def _before(history: Sequence[Turn]) -> PriorTalk | None:
    if not history:
        return None
    asked = [turn.text for turn in history if turn.role == "user"]
    return PriorTalk(
        ends_asking=history[-1].role == "assistant" and history[-1].text.rstrip().endswith("?"),
        verdict=verdict(hear(asked[-1])) if asked else "",
    )


def is_settled(text: str, history: Sequence[Turn]) -> bool:
    """Return whether the conversation alone decides the meaning of a reply."""
    return _in_context(hear(text), history) is not None


def _in_context(speech: Speech, history: Sequence[Turn]) -> ReplyMeaning | None:
    if not history:
        return None
    offer = history[-1].text if history[-1].role == "assistant" else ""
    asked = [turn.text for turn in history if turn.role == "user"]
    return follow_up(speech, offer, hear(asked[-1]) if asked else None)


def reading_from(speech: Speech, likely: Sequence[float]) -> Reading:
    """Return the reading of a request without context, from how likely each intent is."""
    barred = _barred(speech)
    shares = {i: share for i, share in zip(_ORDER, likely, strict=True) if i not in barred}
    ranked = sorted(shares, key=lambda intent: (-shares[intent], LIMITS[intent]))
    is_timid = ranked[0] in MAY_MUTATE and _is_doubtful(speech, shares)
    if is_timid:
        ranked.remove(Intent.DIAGNOSE)
        ranked.insert(0, Intent.DIAGNOSE)
    whole = sum(shares.values())
    best, *others = (Alternative(i, round(shares[i] / whole, 3)) for i in ranked)
    reading = Reading(
        intent=best.intent,
        budget=LIMITS[best.intent],
        confidence=best.confidence,
        reasons=tuple(_reasons(speech)),
        alternatives=tuple(others[:2]),
    )
    is_sure = is_timid or reading.confidence >= CONFIDENCE_THRESHOLD
    return reading if is_sure else take_smaller(reading)


def _is_doubtful(speech: Speech, shares: Mapping[Intent, float]) -> bool:
    """Return whether a change is unlikely to have been requested, given the conversation."""
    bold = sum(share for intent, share in shares.items() if intent in MAY_MUTATE)
    is_order = _orders(speech, GUESSES) or bool(set(speech.acts) & {Act.CONTINUE, Act.FORBID})
    return bold < (ORDERED if is_order else UNORDERED) * sum(shares.values())


def _only_asks(speech: Speech) -> bool:
    """Return whether a message has questions, requests for an opinion or remarks, but no order."""
    asks = any(clause.heard.is_question for clause in speech.clauses)
    return asks and not _orders(speech) and Act.CONTINUE not in speech.acts


def _orders(speech: Speech, unlike: tuple[str, ...] = WISHES) -> bool:
    """Return whether any clause orders a change, by a cue other than these."""
    return any(
        clause.heard.act in DIRECTIVES and not clause.heard.cue.startswith(unlike)
        for clause in speech.clauses
    )


def _barred(speech: Speech) -> frozenset[Intent]:
    """Return the intents that a request cannot have, whatever the model's weights say."""
    barred: set[Intent] = set()
    is_bare_paste = speech.has_trouble_paste and not _orders(speech)
    if speech.is_read_only or not speech.clauses or is_bare_paste or _only_asks(speech):
        barred |= MAY_MUTATE
    if speech.was_talked_up:
        barred.add(Intent.AUTONOMOUS)
    if speech.has_trouble_paste or (_orders(speech, GUESSES) and not _only_asks(speech)):
        barred.add(Intent.CONVERSATIONAL)
    return frozenset(barred)


def _reasons(speech: Speech) -> Iterator[str]:
    if speech.was_talked_up:
        yield "words about intents, budgets and rules are set aside"
    if speech.is_read_only:
        yield "it says not to change anything"
    if speech.has_trouble_paste:
        yield "an error or trace is pasted"
    for clause in speech.clauses[:MOST_REASONS]:
        yield f"\u201c{clause.text[:60]}\u201d {clause.heard.cue}"
    if not speech.clauses and not speech.has_trouble_paste:
        yield "there is no request in it"
