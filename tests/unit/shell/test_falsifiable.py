"""What a command proves, and commands that prove nothing."""

import pytest

from flyball.shell import cannot_fail, is_single, verification_kind


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("", "empty"),
        ("# nothing", "empty"),
        ("true", "always succeeds"),
        (":", "always succeeds"),
        ("echo ok", "always succeeds"),
        ("exit 0", "always succeeds"),
        ("return 0", "always succeeds"),
        ("pytest || true", "turns every failure"),
        ("true || pytest", "always succeeds"),
        ("pytest; true", "always succeeds"),
        ("pytest\n# done\necho done", "always succeeds"),
        ("true && echo ok", "always succeeds"),
        ("test 1 = 1", "constants"),
        ("test -n x", "constants"),
        ("[ 1 ]", "constants"),
        ("[ 1 -eq 1 ]", "constants"),
        ("[[ -n x ]]", "constants"),
        ("pytest --collect-only", "runs no check"),
        ("pytest --version", "runs no check"),
        ("npm test --if-present", "--if-present"),
        ("flake8 --exit-zero", "--exit-zero"),
        ("make -n test", "only prints"),
        ("go test -run ^$ ./...", "selects no test"),
        ('python -c "pass"', "nothing of the project"),
        ("! false", "always succeeds"),
        ("! exit 1", "always succeeds"),
        ("pytest | tail -3", "hides"),
        ("pytest 2>&1 | tee log", "hides"),
        ("pytest | (cat; true)", "always succeeds"),
        ("pytest | echo", "always succeeds"),
        ("if pytest; then echo a; else echo b; fi", "every branch"),
        ("timeout 5 true", "always succeeds"),
        ("env A=1 true", "always succeeds"),
        ("uv run true", "always succeeds"),
        ("bash -c 'pytest || :'", "turns every failure"),
        ("pytest &", "background"),
        ("x=1", "sets a variable"),
        ("export X=$(pytest)", "hides the status"),
        ("(pytest; exit 0)", "always succeeds"),
        ("{ pytest; true; }", "always succeeds"),
        ("pytest > /dev/null; echo done > log", "always succeeds"),
    ],
)  # fmt: skip
def test_commands_that_cannot_fail(command, reason):
    assert reason in (cannot_fail(command) or "")


@pytest.mark.parametrize(
    "command",
    [
        "pytest -x",
        "pytest && echo ok",
        "x=$(pytest)",
        "[ -f x ]",
        "[ $x = 1 ]",
        "test -f x",
        "test $x = 1",
        "test",
        "make test",
        "{ pytest; }",
        "set -e; pytest; echo done",
        "pytest; exit $?",
        "if pytest; then echo a; else exit 1; fi",
        "if pytest; then false; fi",
        "! grep -q x f",
        "! (false)",
        "pytest | grep passed",
        "pytest | { cat; }",
        "((x))",
        "for f in a b; do pytest $f; done",
        "timeout -k 5 9 pytest -q",
        "timeout",
        "nice pytest -q",
        'bash -c "$x"',
        "bash script.sh",
        'python -c "import app"',
        "python -c",
        "ls (",
        "go test ./...",
    ],
)
def test_commands_that_may_fail(command):
    assert cannot_fail(command) is None


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("pytest", "tests"),
        ("python -m pytest -x", "tests"),
        ("npm test", "tests"),
        ("npm run lint && npm test", "tests"),
        ("cargo test", "tests"),
        ("go test ./...", "tests"),
        ("make test", "tests"),
        ("timeout 5 pytest", "tests"),
        ("uv run pytest", "tests"),
        ("mypy src", "types"),
        ("tsc --noEmit", "types"),
        ("cargo build", "build"),
        ("make", "build"),
        ("ruff check .", "lint"),
        ("black --check .", "lint"),
        ("python -c 'import app'", "import"),
        ("python -m py_compile a.py", "syntax"),
        ("bash -n a.sh", "syntax"),
        ("ls", None),
        ("pytest --version", None),
        ("frobnicate", None),
    ],
)
def test_what_success_would_prove(command, kind):
    assert verification_kind(command) == kind


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("pytest -k 'not x' 'a[!x]'", True),
        ("cd pkg && timeout 60 npx vitest run", True),
        ("! pytest", False),
        ("pytest && false", False),
        ("pytest; exit 1", False),
        ("pytest | false", False),
        ("cd pkg || pytest", False),
        ("cd pkg && false && pytest", False),
        ("cd pkg && ! pytest", False),
        ("pytest 'x", False),
        ("", False),
    ],
)
def test_single_command_has_nothing_around_it_that_can_fail(command: str, expected: bool):
    assert is_single(command) is expected
