"""Lines that silence a type checker and settings that ask less of it."""

from __future__ import annotations

import pytest

from flyball.terms.change_verdict import FindingKind, Weight
from flyball.terms.evidence import ChangedTest, Comparison
from flyball.verdict.judge import judge_change
from flyball.verdict.reports import AskedFor, ChangeFacts
from flyball.verdict.type_checks import is_type_check, loosened_settings, silenced_lines


@pytest.mark.parametrize(
    "what", ["tsc --noEmit", "npx tsc", "mypy src", "pyright", "npm run typecheck", "vue-tsc -b"]
)
def test_type_checkers_are_known_by_name(what: str):
    assert is_type_check(what)


@pytest.mark.parametrize("what", ["npm test", "pytest -k types_of", "make", "eslint ."])
def test_other_checks_are_not_taken_for_one(what: str):
    assert not is_type_check(what)


@pytest.mark.parametrize(
    ("path", "line", "word"),
    [
        ("a.ts", "  // @ts-ignore", "@ts-ignore"),
        ("a.tsx", "return text as any", "as any"),
        ("a.mts", "x = y as unknown as Z", "as unknown as"),
        ("a.js", "// @ts-nocheck", "@ts-nocheck"),
        ("a.py", "x = f()  # type: ignore[arg-type]", "# type: ignore"),
        ("a.py", "# mypy: ignore-errors", "# mypy: ignore-errors"),
        ("a.py", "x = cast(Any, y)", "cast(Any"),
    ],
)
def test_a_new_line_that_silences_is_told_with_its_place(path: str, line: str, word: str):
    (sentence,) = silenced_lines({path: "first\n"}, {path: f"first\n{line}\n{line}\n"})
    assert sentence == f"{path}:2 silences the type checker: `{word}`."


def test_lines_that_were_there_and_other_files_are_not_told():
    old = {"a.ts": "// @ts-ignore\n", "b.md": ""}
    new = {"a.ts": "x\n// @ts-ignore\n", "b.md": "@ts-ignore\n", "c.ts": None, "d.ts": "as anyone"}
    assert list(silenced_lines(old, new)) == []


def test_the_same_comment_above_another_line_is_told():
    old, new = "// @ts-ignore\na\nb\n", "// @ts-ignore\na\n// @ts-ignore\nb\n"
    (sentence,) = silenced_lines({"a.ts": old}, {"a.ts": new})
    assert sentence.startswith("a.ts:3 ")


def test_settings_that_ask_for_less_are_told():
    less = ChangedTest("web/tsconfig.json", "", Comparison.WEAKER, "strict: true became false")
    more = less._replace(comparison=Comparison.STRONGER)
    other = less._replace(path="package.json")
    assert list(loosened_settings((less, more, other))) == [
        "web/tsconfig.json: strict: true became false."
    ]


@pytest.mark.parametrize(("is_proof", "weight"), [(True, Weight.ASKS), (False, Weight.NOTES)])
def test_it_is_a_question_where_types_are_part_of_the_proof(is_proof: bool, weight: Weight):
    change = ChangeFacts(("a.ts",), silenced=("a.ts:1 silences the type checker: `as any`.",))
    verdict = judge_change((), change, AskedFor(checked=True, checks_types=is_proof))
    assert [(each.kind, each.weight) for each in verdict.findings] == [
        (FindingKind.TYPES_LOOSENED, weight)
    ]
    assert verdict.is_shown is (weight is Weight.NOTES)
