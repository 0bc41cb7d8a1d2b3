"""What the judge calls reading changes nothing in bash, dash and zsh, whatever its text."""

from pathlib import Path

import pytest
from tests.property.shell_fuzz import SHELLS, Grammar, readings, touching

SEEDS = range(20)
PER_SEED = 10_000


def held(seed: int, count: int, place: Path) -> None:
    commands = readings(Grammar(seed).commands(count))
    assert len(commands) > count // 50, "too few commands are judged to be reading to prove much"
    found = {shell: touching(commands, shell, place / shell) for shell in SHELLS}
    assert not [each for bad in found.values() for each in bad], f"seed {seed}: {found}"


@pytest.mark.slow
def test_a_sample_of_readings_touches_nothing(tmp_path: Path):
    held(1_000, 1_500, tmp_path)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", SEEDS)
def test_readings_touch_nothing(seed: int, tmp_path: Path):
    held(seed, PER_SEED, tmp_path)


def test_the_fuzzer_notices_a_command_that_writes(tmp_path: Path):
    for shell in SHELLS:
        assert touching(["echo a", "touch pwned", "ls"], shell, tmp_path) == ["touch pwned"]
