"""What holds for every test."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# By the clock nothing fails: the machine may be busy with something else.
_KIND = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", _KIND, max_examples=30)
settings.register_profile("thorough", _KIND, max_examples=60)
settings.load_profile(os.environ.get("FLYBALL_EXAMPLES", "quick"))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Pass over files without a long test where only these are asked for.

    Each worker would import them all, which takes it longer than most of its tests do.
    """
    if config.option.markexpr != "exhaustive" or not collection_path.name.startswith("test_"):
        return None
    text = collection_path.read_text("utf-8") if collection_path.is_file() else "exhaustive"
    return None if "exhaustive" in text or "tests.tiers" in text else True
