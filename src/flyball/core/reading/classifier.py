"""Reading a request: what its clauses do, what the conversation says, what a small model weighs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from flyball.core.intent import (
    CONFIDENCE_THRESHOLD,
    LIMITS,
    MAY_MUTATE,
    Alternative,
    Intent,
    Reading,
    Turn,
    smaller,
)
from flyball.core.reading.act import DIRECTIVES, Act
from flyball.core.reading.context import Resolved, follow_up
from flyball.core.reading.model import features, likelihoods
from flyball.core.reading.speech import Speech, hear

SETTLED = 0.9
"""How sure a reading is that the conversation settles."""

TRUST = 3
"""How much an order with a known verb counts beyond its words."""

MOST_REASONS = 6


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
    """What the rules alone make of a request."""
    acts = set(speech.acts)
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
    """Read a request in the light of the conversation so far."""
    speech = hear(text)
    alone = weighed(speech, likelihoods(features(speech, verdict(speech))))
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


def is_settled(text: str, history: Sequence[Turn]) -> bool:
    """Whether the conversation alone says what a reply means."""
    return _in_context(hear(text), history) is not None


def _in_context(speech: Speech, history: Sequence[Turn]) -> Resolved | None:
    if not history:
        return None
    offer = history[-1].text if history[-1].role == "assistant" else ""
    asked = [turn.text for turn in history if turn.role == "user"]
    return follow_up(speech, offer, hear(asked[-1]) if asked else None)


def weighed(speech: Speech, likely: Sequence[float]) -> Reading:
    """The reading of a request that stands alone, from how likely each intent is."""
    barred = _barred(speech)
    shares = {i: share for i, share in zip(_ORDER, likely, strict=True) if i not in barred}
    ruled = verdict(speech)
    if ruled in shares and _has_order(speech):
        shares[ruled] *= TRUST
    whole = sum(shares.values())
    ranked = sorted(shares, key=lambda intent: (-shares[intent], LIMITS[intent]))
    best, *others = (Alternative(i, round(shares[i] / whole, 3)) for i in ranked)
    reading = Reading(
        intent=best.intent,
        budget=LIMITS[best.intent],
        confidence=best.confidence,
        reasons=tuple(_reasons(speech)),
        alternatives=tuple(others[:2]),
    )
    return reading if reading.confidence >= CONFIDENCE_THRESHOLD else smaller(reading)


def _has_order(speech: Speech) -> bool:
    """Whether a known verb tells to do something."""
    return any(
        clause.heard.act in DIRECTIVES and clause.heard.cue.startswith("tells to")
        for clause in speech.clauses
    )


def _barred(speech: Speech) -> frozenset[Intent]:
    """The intents that a request cannot have, whatever its words weigh."""
    asks = any(clause.heard.is_question for clause in speech.clauses)
    acts = set(speech.acts)
    barred: set[Intent] = set()
    if speech.is_read_only or not acts or (asks and not acts & (DIRECTIVES | {Act.CONTINUE})):
        barred |= MAY_MUTATE
    if speech.was_talked_up:
        barred.add(Intent.AUTONOMOUS)
    if speech.has_trouble_paste:
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
