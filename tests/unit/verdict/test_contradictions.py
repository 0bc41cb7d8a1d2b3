"""What the request, or another test, says otherwise of the same call is a person's to settle."""

import pytest

from flyball.terms.change_verdict import ChangeVerdict, FindingKind, Weight
from flyball.terms.conflict import REQUEST
from flyball.verdict.contradictions import claims, expectations, with_contradictions
from flyball.verdict.reports import AskedFor

PYTHON = """\
import unittest

class T(unittest.TestCase):
    def test_a(self):
        self.assertEqual(total(2, 3), 7)

    def test_b(self):
        set_rate(2)
        self.assertEqual(total(2, 3), 12)
"""
GO = """\
func TestA(t *testing.T) {
	if got := Total(2, 3); got != 7 {
		t.Fatal(got)
	}
}
"""
JS = 'test("a", () => {\n  assert.strictEqual(total(2, 3), 7);\n});\n'
PYTEST = "def test_a():\n    assert total(2, 3) == 7\n"


@pytest.mark.parametrize("text", [PYTHON, GO, JS, PYTEST])
def test_only_the_first_line_of_a_test_states_an_expectation(text: str):
    (found,) = expectations("t", text)
    assert found.call.lower() == "total(2,3)"
    assert found.value == "7"


@pytest.mark.parametrize(
    ("request_", "values"),
    [
        ("Fix shop.py: total(2, 3) must be 6.", ["6"]),
        ("`total([(2, 3)])` should return 6, but returns 5.", ["6"]),
        ("Make total(2, 3) return 6.", ["6"]),
        ("total(2, 3) is 5 and that is wrong", []),
        ("total(2, 3) must not be 6", []),
        ("the total must be right", []),
    ],
)
def test_a_demand_is_told_from_a_report(request_: str, values: list[str]):
    assert [each.value for each in claims(request_)] == values


def found(request: str, *, decided: tuple[str, ...] = (), **texts: str) -> list[str]:
    """What is asked of a change that mended every test file."""
    files = {f"test_{name}.py": text for name, text in texts.items()}
    mended = tuple(f"{path}::test_a" for path in files)
    verdict = with_contradictions(
        ChangeVerdict(mended=mended),
        "old",
        "new",
        AskedFor(request=request, decided=decided),
        lambda _tree, path: files.get(path),
    )
    assert all(each.kind is FindingKind.CONTRADICTION for each in verdict.findings)
    assert all(each.weight is Weight.ASKS for each in verdict.findings)
    return [each.sentence for each in verdict.findings]


SIX = "total(2, 3) must be 6"


def test_a_green_test_that_says_otherwise_than_the_request_is_asked_about():
    (said,) = found(SIX, a=PYTEST)
    assert "test_a.py:2" in said
    assert found(SIX, a=PYTEST.replace("7", "6")) == []
    assert found(SIX, a=PYTEST.replace("2, 3", "2, 4")) == []
    assert found("Fix the total.", a=PYTEST) == []


def test_two_tests_of_the_same_call_are_asked_about():
    (said,) = found("", a=PYTEST, b=PYTEST.replace("7", "8"))
    assert "test_a.py:2" in said
    assert "test_b.py:2" in said


def test_what_a_person_decided_is_not_asked_again():
    assert found(SIX, decided=(REQUEST,), a=PYTEST) == []
    assert found(SIX, decided=("test_a.py",), a=PYTEST) == []


@pytest.mark.parametrize(
    ("manifest", "text", "path", "is_asked"),
    [
        ("requirements.txt", "acme-rates==2.1\n", "acme_rates.py", True),
        ("requirements.txt", "acme-rates==2.1\n", "acme_rates/__init__.py", True),
        ("requirements.txt", "acme-rates==2.1\n", "rates.py", False),
        ("pyproject.toml", 'dependencies = ["acme-rates>=2"]\n', "src/acme_rates.py", True),
        ("pyproject.toml", 'name = "shop"\ntestpaths = ["tests"]\n', "shop.py", False),
        ("pyproject.toml", 'testpaths = ["tests"]\n', "tests/__init__.py", False),
        (
            "package.json",
            '{"dependencies": {"acme-rates": "2"}}',
            "node_modules/acme-rates/index.js",
            True,
        ),
        ("go.mod", "require example.com/acme/rates v1\n", "rates/go.mod", True),
        ("go.mod", "require example.com/acme/rates v1\n", "prices/go.mod", False),
    ],
)
def test_a_stand_in_for_a_declared_package_is_asked_about(
    manifest: str, text: str, path: str, is_asked: bool
):
    verdict = with_contradictions(
        ChangeVerdict(changed=(path,)),
        "old",
        "new",
        AskedFor(),
        lambda _tree, name: text if name == manifest else None,
    )
    assert bool(verdict.findings) == is_asked


@pytest.mark.parametrize(
    "line",
    [
        "assert total([(2, 3)]) > 5",
        "assert total([(2, 3)]) != 5",
        "self.assertNotEqual(total([(2, 3)]), 5)",
        "assert total([(2, 3)]) in (6, 7)",
        'self.assertRegex(total([(2, 3)]), "5|6")',
        "assert abs(total([(2, 3)]) - 5) < 2",
    ],
)
def test_bounds_and_parts_contradict_no_value(line: str):
    assert [*expectations("tests/test_cart.py", f"def test_a():\n    {line}\n")] == []
