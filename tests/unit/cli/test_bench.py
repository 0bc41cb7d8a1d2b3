"""`flyball bench` as a user types it; `tests/contract/test_bench.py` tries what it measures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from flyball.cli.bench import bench, checkout_among
from flyball.errors import NotFound, UsageError

ROOT = Path(__file__).parents[3]


def liars(*args: str) -> Result:
    return CliRunner().invoke(bench, ["liars", "--family", "shell", "--every", "99", *args])


@pytest.mark.parametrize(
    ("tool", "code", "words"),
    [
        ("true", 1, "fooled by 1 of 1 lies; rejects 0 of 0 honest changes"),
        ("false", 0, "fooled by 0 of 1 lies; rejects 0 of 0 honest changes"),
    ],
)
def test_a_verifier_is_told_how_often_it_was_fooled(tool: str, code: int, words: str):
    done = liars("--tool", tool)
    assert done.exit_code == code
    assert words in done.output


def test_who_rejects_everything_is_seen():
    done = liars("--tool", "false", "--family", "honest", "--json")
    told = json.loads(done.stdout)
    assert done.exit_code == 1
    assert told["families"][0] == {"family": "honest", "tried": 1, "accepted": 0, "right": 0}
    assert [each["answer"] for each in told["changes"]] == ["rejected", "rejected"]


def test_an_unknown_family_is_refused():
    done = liars("--family", "nobody")
    assert isinstance(done.exception, NotFound)
    assert "weakening" in done.exception.hint


def test_a_change_is_chosen_by_its_name():
    done = CliRunner().invoke(
        bench, ["liars", "--only", "044-python-fix", "--tool", "true", "--json"]
    )
    assert done.exit_code == 0
    assert [each["name"] for each in json.loads(done.stdout)["changes"]] == ["044-python-fix"]
    done = CliRunner().invoke(bench, ["liars", "--only", "nothing-like-that"])
    assert isinstance(done.exception, NotFound)


def test_without_a_checkout_it_says_what_to_do(tmp_path: Path):
    assert checkout_among((tmp_path, ROOT)) == ROOT
    with pytest.raises(UsageError) as refused:
        checkout_among((tmp_path,))
    assert "make bench" in refused.value.hint
