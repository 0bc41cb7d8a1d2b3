from __future__ import annotations

from contextlib import suppress
from typing import get_args

import pytest
from pydantic_ai.models import KnownModelName
from pydantic_ai.providers import infer_provider_class

from flyball.drivers.routing import PROVIDERS, Models, Price, check, choose
from flyball.errors import ConfigError
from flyball.terms.phase import Phase

MODELS = Models(
    "a:default",
    vision="a:eyes",
    by_role={"planner": "a:planner", "reviewer": "a:reviewer"},
    by_phase={"verify": "a:verify", "executor.execute": "a:hands", "planner.final": "a:pen"},
)


@pytest.mark.parametrize(
    ("role", "phase", "sees", "expected"),
    [
        ("executor", Phase.ANALYZE_CODE, False, "a:default"),
        ("executor", Phase.EXECUTE, False, "a:hands"),
        ("executor", Phase.VERIFY, False, "a:verify"),
        ("planner", Phase.RESEARCH, False, "a:planner"),
        ("planner", Phase.FINAL, False, "a:pen"),
        ("reviewer", Phase.VERIFY, False, "a:reviewer"),
        ("executor", Phase.EXECUTE, True, "a:eyes"),
    ],
)
def test_the_most_particular_model_answers(
    role: str, phase: Phase, sees: bool, expected: str
) -> None:
    assert choose(MODELS, role, phase, sees=sees) == expected


def test_without_a_vision_model_the_usual_one_is_asked() -> None:
    assert choose(Models("a:b"), "executor", Phase.FINAL, sees=True) == "a:b"


def test_every_model_is_named_once() -> None:
    check(MODELS)
    assert len(MODELS.all) == len(set(MODELS.all)) == 7


@pytest.mark.parametrize(
    ("models", "words"),
    [
        (Models("gpt-5"), "provider:model"),
        (Models("openai:"), "names no model"),
        (Models(":gpt-5"), "names no model"),
        (Models("anthropc:claude"), "Did you mean `anthropic:claude`?"),
        (Models("a:b", by_role={"executor": "opnai:gpt-5"}), "no provider 'opnai'"),
        (Models("a:b", vision="eyes"), "'eyes'"),
        (Models("a:b", by_role={"excutor": "a:b"}), "`executor`"),
        (Models("a:b", by_phase={"verifi": "a:b"}), "`verify`"),
        (Models("a:b", by_phase={"nobody.verify": "a:b"}), "nobody"),
    ],
)
def test_names_that_can_never_be_asked_are_refused(models: Models, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check(models)
    assert words in str(caught.value)


def test_a_price_is_for_a_million_tokens() -> None:
    assert Price(3.0, 15.0).of(1_000_000, 200_000) == pytest.approx(6.0)


def test_every_provider_that_the_library_knows_is_known_here() -> None:
    known = {name.partition(":")[0] for name in get_args(KnownModelName.__value__)}
    assert {name for name in known if not name.startswith("gateway/")} - {"test"} <= {*PROVIDERS}


@pytest.mark.parametrize("name", PROVIDERS)
def test_every_provider_known_here_is_one_of_the_library(name: str) -> None:
    with suppress(ImportError):  # It is one; what it needs is not installed.
        infer_provider_class(name)
