"""Trains the intent model on the labelled prompts and writes its weights as a file.

Run with `python -m bench.intent_train`. Pure Python, seeded: the same prompts give the same file.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from math import exp, log
from pathlib import Path
from typing import NamedTuple
from zlib import compress, crc32

import msgspec

from flyball.intent.classifier import features, is_settled
from flyball.intent.model import BUCKETS, CLASSES, FILE, feature_share
from flyball.intent.speech import hear
from flyball.terms.intent import Intent, Turn

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "golden" / "intent"
TARGET = ROOT / "src" / "flyball" / "intent" / FILE
FOLDS = 5
EPOCHS = 12
RATE = 0.1
DROPOUT = 0.4
SEEDS = 8
"""How many models are averaged into the one that is written."""
BLIND = 0.4
"""How often an example is shown without what the rules made of it, so that words carry weight."""


class Prompt(msgspec.Struct, frozen=True):
    """One labelled prompt."""

    text: str
    intent: Intent
    group: str = ""
    kind: str = ""
    history: tuple[Turn, ...] = ()


class Example(NamedTuple):
    """One prompt as the model sees it."""

    ruled: tuple[int, ...]
    said: tuple[int, ...]
    label: int
    group: str


class Model(NamedTuple):
    """Weights before they are made small."""

    table: list[list[float]]
    bias: list[float]


def load(name: str) -> list[Prompt]:
    """The labelled prompts of one file."""
    lines = (GOLDEN / name).read_text(encoding="utf-8").splitlines()
    return [msgspec.json.decode(line, type=Prompt) for line in lines]


def examples(prompts: Sequence[Prompt]) -> list[Example]:
    """Prompts that the conversation alone does not settle."""
    order = list(Intent)
    found: list[Example] = []
    for prompt in prompts:
        if is_settled(prompt.text, prompt.history):
            continue
        ruled, said = features(hear(prompt.text), prompt.history)
        found.append(Example(ruled, said, order.index(prompt.intent), prompt.group))
    return found


def shares(model: Model, buckets: Sequence[int], rate_kept: float = 1.0) -> list[float]:
    """The likelihood of each class; of features left out at random, the rest stand for all."""
    even = feature_share(len(buckets) / rate_kept) / rate_kept
    columns = zip(*(model.table[bucket] for bucket in buckets), strict=True)
    sums = [sum(column) for column in columns] or [0.0] * CLASSES
    totals = [total * even + bias for total, bias in zip(sums, model.bias, strict=True)]
    top = max(totals)
    raw = [exp(total - top) for total in totals]
    whole = sum(raw)
    return [share / whole for share in raw]


def fit(data: Sequence[Example], seed: int) -> Model:
    """Softmax regression by stochastic descent, with features left out at random."""
    rng = random.Random(seed)
    model = Model([[0.0] * CLASSES for _ in range(BUCKETS)], [0.0] * CLASSES)
    shuffled = list(data)
    for epoch in range(EPOCHS):
        rng.shuffle(shuffled)
        rate = RATE / (1 + epoch * 0.5)
        for example in shuffled:
            ruled = example.ruled if rng.random() > BLIND else ()
            kept = [bucket for bucket in ruled + example.said if rng.random() > DROPOUT]
            found = shares(model, kept, 1 - DROPOUT)
            misses = [(n == example.label) - share for n, share in enumerate(found)]
            even = feature_share(len(kept) / (1 - DROPOUT))
            for n, miss in enumerate(misses):
                model.bias[n] += rate * miss * 0.1
            steps = [rate * miss * even for miss in misses]
            for bucket in kept:
                row = model.table[bucket]
                for n, step in enumerate(steps):
                    row[n] += step
    return model


def averaged(models: Sequence[Model]) -> Model:
    """The mean of several models, which errs less than each."""
    rows = zip(*(model.table for model in models), strict=True)
    return Model([_mean(row) for row in rows], _mean([model.bias for model in models]))


def _mean(rows: Sequence[Sequence[float]]) -> list[float]:
    return [sum(column) / len(rows) for column in zip(*rows, strict=True)]


def held_out(data: Sequence[Example], folds: int = FOLDS) -> list[tuple[list[float], int, int]]:
    """Each example's likelihoods from a model that never saw its group, its label and its place."""
    found: list[tuple[list[float], int, int]] = []
    for fold in range(folds):
        inside = [e for e in data if crc32(e.group.encode()) % folds != fold]
        model = fit(inside, seed=fold)
        for at, example in enumerate(data):
            if crc32(example.group.encode()) % folds == fold:
                found.append((shares(model, example.ruled + example.said), example.label, at))
    return found


def tempered(likely: Sequence[float], temperature: float) -> list[float]:
    """Likelihoods made less sure of themselves."""
    raw = [share ** (1 / temperature) for share in likely]
    whole = sum(raw)
    return [share / whole for share in raw]


def best_temperature(scored: Sequence[tuple[list[float], int]]) -> float:
    """The temperature at which the likelihoods are honest."""

    def loss(temperature: float) -> float:
        return -sum(log(max(tempered(found, temperature)[n], 1e-12)) for found, n in scored)

    return min((step / 20 for step in range(10, 80)), key=loss)


def packed_weights(model: Model, temperature: float) -> bytes:
    """The weights as the model reads them: scale and biases in a line, then a byte per weight."""
    largest = max(abs(weight) for row in model.table for weight in row)
    scale = largest / 127
    packed = bytes(round(weight / scale) + 128 for row in model.table for weight in row)
    bias = " ".join(f"{weight / temperature:.4f}" for weight in model.bias)
    return f"{scale / temperature:.8f} {bias}\n".encode() + compress(packed, 9)


def main(arguments: Sequence[str] = ()) -> int:
    """Trains, tells how well it does on groups it did not see, and writes the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dry-run", action="store_true", help="measure only, write nothing")
    options = parser.parse_args(arguments)
    data = examples(load("prompts.jsonl"))
    scored = held_out(data)
    right = sum(found.index(max(found)) == label for found, label, _ in scored)
    temperature = best_temperature([(found, label) for found, label, _ in scored])
    print(f"{right} of {len(scored)} right on unseen groups; temperature {temperature:.2f}")
    if not options.dry_run:
        model = averaged([fit(data, seed) for seed in range(SEEDS)])
        TARGET.write_bytes(packed_weights(model, temperature))
        print(f"wrote {TARGET.relative_to(ROOT)}, {TARGET.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
