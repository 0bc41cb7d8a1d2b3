"""Mistakes are recognised, ranked and told."""

from __future__ import annotations

import pytest

from flyball.guards.ledger import (
    Failure,
    Ledger,
    Mistake,
    find_similar,
    fingerprint_failure,
    injection,
    pick_relevant,
    recognise,
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


def entered(*failures: Failure, resolution: str = "") -> Ledger:
    """A ledger that has seen these failures, one after the other; the first was resolved."""
    found: dict[str, Mistake] = {}
    for at, f in enumerate(failures):
        before = found.get(f.fingerprint)
        found[f.fingerprint] = Mistake(
            f.fingerprint, f.error, f.step_kind, f.files,
            count=before.count + 1 if before else 1,
            resolution=resolution if f == failures[0] else "",
            last_seen=float(at),
        )  # fmt: skip
    return tuple(found.values())


def test_the_same_error_in_a_common_file_is_the_same_mistake():
    ledger = entered(fingerprint_failure(ERROR, "step", ["src/a.py", "src/b.py"]))
    assert recognise(ledger, FAILURE) is ledger[0]
    assert recognise(ledger, fingerprint_failure(ERROR, "fix")) is ledger[0]
    assert recognise(ledger, fingerprint_failure(ERROR, "fix", ["src/c.py"])) is None
    assert recognise(ledger, fingerprint_failure("OSError: no", "fix", ["src/a.py"])) is None
    nowhere = entered(fingerprint_failure(ERROR, "step"))
    assert recognise(nowhere, FAILURE) is nowhere[0]


def test_the_very_same_mistake_is_preferred_to_one_like_it():
    ledger = entered(fingerprint_failure(ERROR, "step", ["src/a.py"]), FAILURE)
    assert recognise(ledger, FAILURE) is ledger[1]


def test_what_went_wrong_already_is_reported_first_then_what_is_about_the_files():
    here = fingerprint_failure("OSError: here", "step", ["src/z.py"])
    kind = fingerprint_failure("OSError: often", "fix", ["src/k.py"])
    other = fingerprint_failure("OSError: elsewhere", "step", ["src/k.py"])
    ledger = entered(other, kind, kind, here, FAILURE)
    told_of = [m.error for m in pick_relevant(ledger, step_kind="fix", files=["./src/z.py"])]
    assert told_of == ["OSError: here"]
    akin = pick_relevant(
        ledger, step_kind="fix", files=["./src/z.py"], about="it often ends in a ValueError"
    )
    assert [m.error for m in akin] == ["OSError: here", "OSError: often", FAILURE.error]
    vague = pick_relevant(ledger, step_kind="fix", about="fix it")
    assert [m.error for m in vague] == ["OSError: often", FAILURE.error]
    general = entered(fingerprint_failure("OSError: any", "fix"), other)
    assert [m.error for m in pick_relevant(general, step_kind="fix")] == ["OSError: any"]
    assert len(pick_relevant(general)) == 2
    first, *_ = pick_relevant(
        ledger, failures=[FAILURE, FAILURE], step_kind="fix", files=["src/z.py"]
    )
    assert first.fingerprint == FAILURE.fingerprint
    assert len(pick_relevant(ledger)) == len(ledger)
    assert pick_relevant(ledger, failures=[fingerprint_failure("new")], step_kind="plan") == ()


def test_matches_are_ranked_from_the_very_same_to_the_alike():
    same_step = fingerprint_failure(ERROR, "fix", ["src/other.py"])
    same_file = fingerprint_failure(ERROR, "verify", ["src/a.py"])
    far = fingerprint_failure(ERROR, "verify", ["z.py"])
    unlike = fingerprint_failure("TypeError: no", "fix", ["src/a.py"])
    ledger = entered(far, unlike, same_file, same_step, FAILURE)
    found = [m.fingerprint for m in find_similar(ledger, FAILURE, 10)]
    assert found == [f.fingerprint for f in (FAILURE, same_step, same_file, far)]


def test_a_resolved_mistake_comes_before_an_open_one():
    one, two = (fingerprint_failure(ERROR, "fix", [f]) for f in ("x.py", "y.py"))
    ledger = entered(one, two, two, resolution="did this")
    probe = fingerprint_failure(ERROR, "fix", ["z.py"])
    assert [m.fingerprint for m in find_similar(ledger, probe, 5)] == [
        one.fingerprint,
        two.fingerprint,
    ]


@pytest.mark.parametrize(("limit", "count"), [(-1, 0), (0, 0), (1, 1), (9, 2)])
def test_no_more_matches_than_asked_for(limit: int, count: int):
    ledger = entered(FAILURE, fingerprint_failure(ERROR, "verify"))
    assert len(find_similar(ledger, FAILURE, limit)) == count


def test_failures_without_an_error_are_only_alike_when_they_are_the_same():
    one, two = fingerprint_failure("", "fix", ["a"]), fingerprint_failure("", "fix", ["b"])
    assert [m.files for m in find_similar(entered(one, two), one, 5)] == [("a",)]


def test_the_prompt_says_what_happened_how_often_and_what_helped():
    ledger = entered(FAILURE, FAILURE, resolution="skip the header row")
    heading, entry = injection(ledger).splitlines()
    assert heading.startswith("These failures have occurred in this project before.")
    seen = "- Seen 2 times during fix in src/a.py: ValueError: row N of P is bad."
    assert entry == f"{seen} Resolved by: skip the header row"


def test_an_open_mistake_without_details_is_reported_plainly():
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
