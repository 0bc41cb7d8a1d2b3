"""Mistakes are recognised, ranked and told."""

from __future__ import annotations

import pytest

from flyball.core.ledger import (
    Failure,
    Ledger,
    fingerprint_failure,
    injection,
    is_repeat,
    matches,
    record,
    resolve,
)

ERROR = "ValueError: row 12 of /tmp/x1/data.csv is bad"
FAILURE = fingerprint_failure(ERROR, "fix", ["src/a.py"])


def test_a_failure_is_known_again_on_another_day_and_path():
    again = fingerprint_failure(
        "ValueError: row 7 of /tmp/zz/other.csv is bad", "fix", ["./src/a.py", " src/a.py "]
    )
    assert again == FAILURE
    assert again.files == ("src/a.py",)


@pytest.mark.parametrize(
    "other",
    [
        fingerprint_failure("TypeError: bad", "fix", ["src/a.py"]),
        fingerprint_failure(ERROR, "verify", ["src/a.py"]),
        fingerprint_failure(ERROR, "fix", ["src/b.py"]),
    ],
)
def test_error_step_and_files_make_the_fingerprint(other: Failure):
    assert other.fingerprint != FAILURE.fingerprint


def test_windows_paths_are_the_same_files():
    assert fingerprint_failure("e", "", ["src\\a.py", ""]).files == ("src/a.py",)


def test_a_second_time_is_counted_not_entered_again():
    other = fingerprint_failure("OSError: no", "fix")
    ledger = record(record(record((), FAILURE, 10.0), other, 11.0), FAILURE, 20.0)
    assert [(m.count, m.first_seen, m.last_seen) for m in ledger] == [
        (2, 10.0, 20.0),
        (1, 11.0, 11.0),
    ]
    assert is_repeat(ledger, FAILURE)
    assert not is_repeat((), FAILURE)


def test_what_resolved_it_is_kept_when_it_happens_again():
    ledger = resolve(record((), FAILURE, 1.0), FAILURE.fingerprint, "skip the header row")
    assert record(ledger, FAILURE, 2.0)[0].resolution == "skip the header row"
    assert resolve(ledger, "unknown", "x") == ledger


def entered(*failures: Failure) -> Ledger:
    ledger: Ledger = ()
    for at, failure in enumerate(failures):
        ledger = record(ledger, failure, float(at))
    return ledger


def test_matches_are_ranked_from_the_very_same_to_the_alike():
    same_step = fingerprint_failure(ERROR, "fix", ["src/other.py"])
    same_file = fingerprint_failure(ERROR, "verify", ["src/a.py"])
    far = fingerprint_failure(ERROR, "verify", ["z.py"])
    unlike = fingerprint_failure("TypeError: no", "fix", ["src/a.py"])
    ledger = entered(far, unlike, same_file, same_step, FAILURE)
    found = [m.fingerprint for m in matches(ledger, FAILURE, 10)]
    assert found == [f.fingerprint for f in (FAILURE, same_step, same_file, far)]


def test_a_resolved_mistake_comes_before_an_open_one():
    one, two = (fingerprint_failure(ERROR, "fix", [f]) for f in ("x.py", "y.py"))
    ledger = resolve(entered(one, two, two), one.fingerprint, "did this")
    probe = fingerprint_failure(ERROR, "fix", ["z.py"])
    assert [m.fingerprint for m in matches(ledger, probe, 5)] == [one.fingerprint, two.fingerprint]


@pytest.mark.parametrize(("limit", "count"), [(-1, 0), (0, 0), (1, 1), (9, 2)])
def test_no_more_matches_than_asked_for(limit: int, count: int):
    ledger = entered(FAILURE, fingerprint_failure(ERROR, "verify"))
    assert len(matches(ledger, FAILURE, limit)) == count


def test_failures_without_an_error_are_only_alike_when_they_are_the_same():
    one, two = fingerprint_failure("", "fix", ["a"]), fingerprint_failure("", "fix", ["b"])
    assert [m.files for m in matches(entered(one, two), one, 5)] == [("a",)]


def test_the_prompt_says_what_happened_how_often_and_what_helped():
    ledger = resolve(entered(FAILURE, FAILURE), FAILURE.fingerprint, "skip the header row")
    heading, entry = injection(ledger).splitlines()
    assert heading.startswith("This project has seen these failures before.")
    seen = "- Seen 2 times during fix in src/a.py: ValueError: row N of P is bad."
    assert entry == f"{seen} Resolved by: skip the header row"


def test_an_open_mistake_without_details_is_told_plainly():
    bare = entered(fingerprint_failure("error: one\nerror: two"))
    assert injection(bare).endswith("- Seen once: error: one / error: two. Not resolved yet.")


def test_the_prompt_holds_whole_entries_within_its_cap():
    ledger = entered(*(fingerprint_failure(f"error: {c * 30}") for c in "abc"))
    whole = injection(ledger, 10_000)
    shorter = injection(ledger, len(whole) - 1)
    assert shorter.count("\n- ") == 2
    assert whole.startswith(shorter)
    assert injection(ledger, 50) == ""
    assert injection((), 500) == ""


def test_a_long_error_is_kept_short():
    assert len(fingerprint_failure("error: " + "x" * 5000).error) == 400
