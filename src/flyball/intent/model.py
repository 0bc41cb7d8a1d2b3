"""A small linear model over the words of a request and the acts found in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from math import exp, sqrt
from typing import NamedTuple
from zlib import crc32, decompress

from flyball.intent.speech import Speech

FILE = "weights.bin"
"""Made by `python -m bench.intent_train`: a line with the scale and the biases, then the table."""
BUCKETS = 16384
CLASSES = 6
LONGEST = 60
BRIEF = 6
USUAL = 40
"""The number of features whose weights count in full; more of them count less each."""


class PriorTalk(NamedTuple):
    """The conversation before a request."""

    ends_asking: bool
    verdict: str


def rule_features(speech: Speech, verdict: str) -> tuple[int, ...]:
    """Return what the rules derived from the request."""
    return _buckets(_rule_names(speech, verdict))


def word_features(speech: Speech, before: PriorTalk | None = None) -> tuple[int, ...]:
    """Return the words of the request, and of the message that it answers."""
    text = " ".join(clause.text for clause in speech.clauses)
    return _buckets((*_word_names(text), *_talk_names(speech, before)))


def feature_share(features: float) -> float:
    """Return the weight of each of `n` features, so that a long text does not count more."""
    return sqrt(USUAL / features) if features else 1.0


def _buckets(names: Iterator[str] | Sequence[str]) -> tuple[int, ...]:
    return tuple(sorted({crc32(name.encode()) % BUCKETS for name in names}))


def _rule_names(speech: Speech, verdict: str) -> Iterator[str]:
    acts = speech.acts
    yield f"verdict {verdict}"
    yield f"acts {min(len(acts), 4)} {verdict}"
    yield f"flags {speech.is_read_only} {speech.has_trouble_paste} {speech.was_talked_up}"
    for clause in speech.clauses:
        yield f"asked {clause.heard.act} {clause.heard.is_question}"
        yield f"act {clause.heard.act}"
        yield f"cue {clause.heard.cue}"
    yield f"together {' '.join(sorted(set(acts)))}"
    if acts:
        yield f"first {acts[0]}"
        yield f"last {acts[-1]}"


def _talk_names(speech: Speech, before: PriorTalk | None) -> Iterator[str]:
    if before is None:
        yield "talk none"
        return
    kind = "short" if len(speech.text.split()) < BRIEF else "long"
    yield f"talk {kind}"
    yield f"talk asks {before.ends_asking} {kind}"
    yield f"talk after {before.verdict} {kind}"


def _word_names(text: str) -> Iterator[str]:
    said = re.findall(r"[a-zà-öø-ÿа-яё0-9_'#.-]+|[^\x00-\x7f]", text)[:LONGEST]
    yield f"length {min(len(said), 4) if len(said) < 5 else 5 + min(len(said) // 8, 4)}"
    for n, word in enumerate(said):
        yield f"word {word}"
        if len(word) > 4:
            yield f"stem {word[:4]}"
        if n:
            yield f"pair {said[n - 1]} {word}"
    if said:
        yield f"opens {said[0]}"
        yield f"opens {' '.join(said[:2])}"


class Weights(NamedTuple):
    """Trained weights: a byte per bucket and class, the scale of that byte, and biases."""

    table: bytes
    scale: float
    bias: tuple[float, ...]


@cache
def weights() -> Weights:
    """Return the trained weights, read when a request is first weighed and not on import."""
    from pkgutil import get_data

    # Not importlib.resources: importing that alone takes longer than all of this room.
    data = get_data("flyball.intent", FILE)
    assert data is not None
    head, _, packed = data.partition(b"\n")
    scale, *bias = map(float, head.split())
    return Weights(decompress(packed), scale, tuple(bias))


def likelihoods(buckets: Sequence[int]) -> tuple[float, ...]:
    """Return how likely each intent is, from the smallest budget to the largest."""
    table, scale, bias = weights()
    scale *= feature_share(len(buckets))
    totals = list(bias)
    for bucket in buckets:
        start = bucket * CLASSES
        for n in range(CLASSES):
            totals[n] += (table[start + n] - 128) * scale
    top = max(totals)
    shares = [exp(total - top) for total in totals]
    whole = sum(shares)
    return tuple(share / whole for share in shares)
