"""Prints how well requests are read, on prompts that the model did not learn from.

Run with `python -m bench.intent_report`, or `make intent-report`.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from bench.figure import Figure, conclude
from bench.intent_train import Prompt, best_temperature, examples, held_out, load, tempered
from flyball.intent.classifier import classify, is_settled, reading_from
from flyball.intent.speech import hear
from flyball.terms.intent import MAY_MUTATE, Intent, Reading

_RIGHT = 0.9
BANDS = (0.0, 0.5, 0.7, 0.9, 0.97, 1.01)


class Judged(NamedTuple):
    """A labelled prompt and how it was read."""

    prompt: Prompt
    reading: Reading

    @property
    def is_right(self) -> bool:
        """Whether the reading is the label."""
        return self.reading.intent is self.prompt.intent


def unseen_groups(prompts: Sequence[Prompt]) -> list[Judged]:
    """Each prompt read by a model that never saw its group."""
    open_ones = [prompt for prompt in prompts if not is_settled(prompt.text, prompt.history)]
    settled = [prompt for prompt in prompts if is_settled(prompt.text, prompt.history)]
    scored = held_out(examples(open_ones))
    temperature = best_temperature([(shares, label) for shares, label, _ in scored])
    found = [
        Judged(open_ones[at], reading_from(hear(open_ones[at].text), tempered(shares, temperature)))
        for shares, _, at in scored
    ]
    return found + [Judged(prompt, classify(prompt.text, prompt.history)) for prompt in settled]


def report(title: str, judged: Sequence[Judged]) -> str:
    """Accuracy, the confusion matrix, the share of questions that may mutate, and calibration."""
    right = sum(one.is_right for one in judged)
    asked = [one for one in judged if one.prompt.intent not in MAY_MUTATE]
    loose = sum(one.reading.intent in MAY_MUTATE for one in asked)
    cells = Counter((one.prompt.intent, one.reading.intent) for one in judged)
    lines = [
        f"{title}: {right} of {len(judged)} right ({right / len(judged):.1%})",
        f"questions given a mutating budget: {loose} of {len(asked)} ({loose / len(asked):.1%})",
        "",
        f"{'labelled / read as':20}" + "".join(f"{intent:>16}" for intent in Intent),
    ]
    for row in Intent:
        lines.append(f"{row:20}" + "".join(f"{cells[row, column]:16}" for column in Intent))
    lines += ["", "confidence   prompts   right"]
    for low, high in pairwise(BANDS):
        band = [one for one in judged if low <= one.reading.confidence < high]
        share = f"{sum(one.is_right for one in band) / len(band):.0%}" if band else "-"
        lines.append(f"{low:.2f}-{min(high, 1):.2f}{len(band):12}{share:>8}")
    return "\n".join(lines)


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    """Prints both reports."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only the prompts that were held out")
    if not parser.parse_args(arguments).quick:
        print(report("unseen groups", unseen_groups(load("prompts.jsonl"))), end="\n\n")
    return [*_held("held-out", "heldout.jsonl"), *_held("fresh", "fresh.jsonl")]


def _held(title: str, name: str) -> list[Figure]:
    """The figures of a file of prompts that the model did not learn from."""
    held = [Judged(p, classify(p.text, p.history)) for p in load(name)]
    print(report(f"{title} prompts", held))
    for kind in sorted({one.prompt.kind for one in held}):
        of_kind = [one for one in held if one.prompt.kind == kind]
        print(f"  {kind:10} {sum(one.is_right for one in of_kind)} of {len(of_kind)}")
    asked = [one for one in held if one.prompt.intent not in MAY_MUTATE]
    loose = sum(one.reading.intent in MAY_MUTATE for one in asked)
    return [
        Figure(f"{title} requests read rightly", _share(held), "%", least=_RIGHT),
        Figure(f"{title} questions given a mutating budget", loose, most=0),
    ]


def _share(judged: Sequence[Judged]) -> float:
    return sum(one.is_right for one in judged) / len(judged)


if __name__ == "__main__":
    sys.exit(conclude(main(sys.argv[1:])))
