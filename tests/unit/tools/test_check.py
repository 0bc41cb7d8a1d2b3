import sys
from pathlib import Path

import pytest

from flyball.errors import ToolError, ToolUnavailable
from flyball.terms.evidence import CheckKind, Strength
from flyball.terms.evidence_rows import strength


@pytest.mark.slow
def test_every_check_of_the_project_is_run_and_reported(make_bench):
    bench = make_bench({"a.py": "import os\nx = 1\n", "ruff.toml": "", "mypy.ini": "[mypy]\n"})
    result = bench.do("check")
    assert not result.ok
    assert "mypy (types): not installed, so not run" in result.text
    assert "compileall (syntax): clean" in result.text
    lint, syntax = result.evidence
    assert (lint.kind, lint.command, lint.exit_code) == (CheckKind.LINT, "ruff", 1)
    assert any("F401" in problem for problem in lint.problems)
    assert strength(syntax) is Strength.PARSES
    assert lint.tree == bench.context.workspace.tree_hash()
    assert bench.do("check").same == result.same


def test_one_check_may_be_named_by_itself_or_its_kind(make_bench):
    bench = make_bench({"a.py": "x = 1\n", "ruff.toml": ""})
    assert [each.command for each in bench.do("check", name="ruff").evidence] == ["ruff"]
    assert [each.command for each in bench.do("check", name="syntax").evidence] == ["compileall"]
    with pytest.raises(ToolError, match=r"no check 'types'\. It has: ruff, compileall\."):
        bench.do("check", name="types")
    with pytest.raises(ToolError, match=r"No language server that is installed knows a file of"):
        bench.do("check", name="diagnostics")
    with pytest.raises(ToolUnavailable, match="mypy \\(types\\): not installed"):
        bench.do("check", name="mypy")


def test_nothing_to_check_is_said(make_bench):
    with pytest.raises(ToolError, match="Nothing in this project can be checked"):
        make_bench({"a.txt": ""}).do("check")


@pytest.mark.slow
def test_syntax_is_checked_without_a_trace_and_without_environments(make_bench):
    broken = "def f(:\n"
    bench = make_bench(
        {"a.py": "x = 1\n", "pkg/b.py": "y = 2\n", ".gitignore": "strange/\n"},
        in_place=True,
        ignored={"strange/pyvenv.cfg": "", "strange/lib/x.py": broken, ".hidden/x.py": broken},
    )
    assert bench.do("check", name="syntax").ok
    assert not list(Path(bench.root).rglob("__pycache__"))
    bench.put({"pkg/bad.py": broken})
    result = bench.do("check", name="syntax")
    assert "bad.py" in result.error
    assert result.evidence[0].exit_code == 1


def test_a_type_error_is_found_with_the_projects_own_checker(make_bench):
    bench = make_bench({"a.py": "x: int = 'no'\n", "pyrightconfig.json": "{}"})
    script = '#!/bin/sh\necho "a.py:1:10 - error: not an int"\nexit 1\n'
    place = bench.project / ".venv" / "bin"
    place.mkdir(parents=True)
    (place / "python").symlink_to(sys.executable)
    (place / "pyright").write_text(script)
    (place / "pyright").chmod(0o755)
    result = bench.do("check", name="types")
    assert result.evidence[0].problems == ("a.py:1:10 - error: not an int",)
    assert result.evidence[0].kind is CheckKind.TYPES


@pytest.mark.slow
def test_a_check_is_stopped_in_time(make_bench):
    bench = make_bench({"Makefile": "build:\n\tsleep 600\n"})
    result = bench.do("check", name="make-build", timeout=1)
    (found,) = result.evidence
    assert not result.ok
    assert found.elapsed < 300
    assert found.problems[0]
