import pytest

from flyball.core.terms.glob import matches


@pytest.mark.parametrize(
    ("path", "pattern", "expected"),
    [
        ("src/a.py", "src/*.py", True),
        ("src/x/a.py", "src/*.py", False),
        ("src/x/a.py", "src/**/*.py", True),
        ("src/a.py", "src/**/*.py", True),
        ("src/x/a.py", "src", True),
        ("src/x/a.py", "src/", True),
        ("src/x/a.py", "src/**", True),
        ("srcx/a.py", "src", False),
        ("a.py", "?.py", True),
        ("ab.py", "?.py", False),
        ("deep/down/.env", "**/.env", True),
        (".env", "**/.env", True),
        ("./src/a.py", "./src/a.py", True),
        ("a+b.py", "a+b.py", True),
        ("aab.py", "a+b.py", False),
        ("any/thing", "**", True),
        ("app/[id]/page.tsx", "app/[id]/*.tsx", True),
        ("app/i/page.tsx", "app/[id]/*.tsx", False),
    ],
)
def test_pattern_names_path(path, pattern, expected):
    assert matches(path, [pattern]) is expected


def test_no_pattern_names_nothing():
    assert not matches("a", [])
