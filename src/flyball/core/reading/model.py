"""A small linear model over the words of a request and the acts heard in it."""

from __future__ import annotations

import re
from binascii import a2b_base64
from collections.abc import Iterator, Sequence
from functools import cache
from math import exp
from zlib import crc32, decompress

from flyball.core.reading.speech import Speech
from flyball.core.reading.weights import BIAS, BUCKETS, SCALE, WEIGHTS

CLASSES = 6
LONGEST = 60


def features(speech: Speech, verdict: str) -> tuple[int, ...]:
    """The buckets that a request falls into."""
    return rule_features(speech, verdict) + word_features(speech)


def rule_features(speech: Speech, verdict: str) -> tuple[int, ...]:
    """What the rules made of the request."""
    return _buckets(_rule_names(speech, verdict))


def word_features(speech: Speech) -> tuple[int, ...]:
    """The words of the request."""
    return _buckets(_word_names(" ".join(clause.text for clause in speech.clauses)))


def _buckets(names: Iterator[str]) -> tuple[int, ...]:
    return tuple(sorted({crc32(name.encode()) % BUCKETS for name in names}))


def _rule_names(speech: Speech, verdict: str) -> Iterator[str]:
    acts = speech.acts
    yield f"verdict {verdict}"
    yield f"acts {min(len(acts), 4)} {verdict}"
    for clause in speech.clauses:
        yield f"act {clause.heard.act}"
        yield f"cue {clause.heard.cue}"
    if acts:
        yield f"first {acts[0]}"
        yield f"last {acts[-1]}"


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


@cache
def _weights() -> bytes:
    return decompress(a2b_base64(WEIGHTS))


def likelihoods(buckets: Sequence[int]) -> tuple[float, ...]:
    """How likely each intent is, from the smallest budget to the largest."""
    table = _weights()
    totals = list(BIAS)
    for bucket in buckets:
        start = bucket * CLASSES
        for n in range(CLASSES):
            totals[n] += (table[start + n] - 128) * SCALE
    top = max(totals)
    shares = [exp(total - top) for total in totals]
    whole = sum(shares)
    return tuple(share / whole for share in shares)
