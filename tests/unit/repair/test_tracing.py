"""Which lines of which files run."""

import importlib.util
import unittest
import unittest.case
import unittest.util

import pytest

from flyball.repair.inside.tracing import ProjectFiles, trace_lines

TEXT = "def f(x):\n    if x:\n        return 1\n    return 2\n"


@pytest.fixture
def loaded(tmp_path):
    (tmp_path / "pkg").mkdir()
    return load(tmp_path / "pkg" / "m.py", TEXT)


def load(file, text):
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(f"traced_{file.stem}", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TURNS = """\
def two(x):
    return x + x

def call(back):
    back()
    return 1

def close():
    return 0
"""


def late(tmp_path, test):
    """The lines that count as those that failed, for a test of the functions above."""
    project = load(tmp_path / "m.py", TURNS)
    module = load(tmp_path / "check_m.py", "import pytest\n" + test)
    module.two, module.call, module.close = project.two, project.call, project.close

    def work():
        try:
            module.check()
        except AssertionError:
            clean_up = getattr(module, "clean_up", None)
            if clean_up:
                clean_up()

    ours = ProjectFiles(str(tmp_path), {str(tmp_path / "check_m.py")})
    return {line for line in trace_lines(ours, work)[1].late["m.py"] if line in {2, 5, 6, 9}}


def test_executed_lines_are_reported(loaded, tmp_path):
    result, seen = trace_lines(ProjectFiles(str(tmp_path), set()), lambda: loaded.f(1))
    assert result == 1
    assert {path: found - {1} for path, found in seen.lines.items()} == {"pkg/m.py": {2, 3}}


def test_each_trace_starts_fresh(loaded, tmp_path):
    ours = ProjectFiles(str(tmp_path), set())
    trace_lines(ours, lambda: loaded.f(1))
    assert trace_lines(ours, lambda: loaded.f(0))[1].lines["pkg/m.py"] - {1} == {2, 4}


def test_lines_are_reported_when_reached(loaded, tmp_path):
    told = []
    trace_lines(ProjectFiles(str(tmp_path), set()), lambda: loaded.f(0), told.append)
    assert [line for _, line in told if line > 1] == [2, 4]


def test_files_that_are_not_ours_are_left_out(loaded, tmp_path):
    left_out = {str(tmp_path / "pkg" / "m.py")}
    assert not trace_lines(ProjectFiles(str(tmp_path), left_out), lambda: loaded.f(0))[1].lines
    assert not trace_lines(ProjectFiles(str(tmp_path / "other"), set()), lambda: loaded.f(0))[
        1
    ].lines


def test_installed_packages_and_hidden_places_are_not_ours(tmp_path):
    ours = ProjectFiles(str(tmp_path), set())
    assert ours.path(str(tmp_path / "a" / "b.py")) == "a/b.py"
    assert ours.path(str(tmp_path / "site-packages" / "b.py")) == ""
    assert ours.path(str(tmp_path / ".venv" / "b.py")) == ""
    assert ours.path("<string>") == ""


def test_lines_of_failure_reports_are_omitted(loaded, tmp_path):
    case = unittest.TestCase()

    class Shown:
        def __repr__(self):
            return str(loaded.f(0))

    def fails():
        loaded.f(1)
        with pytest.raises(AssertionError, match="2 is not None"):
            case.assertIsNone(Shown())

    _, seen = trace_lines(ProjectFiles(str(tmp_path), set()), fails)
    assert seen.lines["pkg/m.py"] - {1} == {2, 3}
    assert unittest.case.safe_repr is unittest.util.safe_repr


def test_what_ran_since_the_test_went_on_is_late(tmp_path):
    test = "def check():\n    close()\n    assert two(1) == 2\n    assert call(len) == 2\n"
    assert late(tmp_path, test.replace("len", "list")) == {5, 6}


def test_what_a_test_only_looks_at_ran_before(tmp_path):
    test = "def check():\n    close()\n    found = two(1)\n    assert found == 3\n"
    assert late(tmp_path, test) == {2}


def test_only_the_round_of_a_loop_that_fails_is_late(tmp_path):
    test = "def check():\n    for f in (close, list, lambda: two(1)):\n        assert f() != 2\n"
    assert late(tmp_path, test) == {2}


def test_callback_of_a_test_does_not_restart_the_trace(tmp_path):
    test = "def check():\n    def back():\n        pass\n    assert call(back) == 2\n"
    assert late(tmp_path, test) == {5, 6}


def test_what_cleans_up_after_a_failure_is_not_late(tmp_path):
    test = "def check():\n    assert two(1) == 3\n\ndef clean_up():\n    close()\n    close()\n"
    assert late(tmp_path, test) == {2}


def test_what_looks_at_an_exception_is_late_with_what_raised_it(tmp_path):
    test = (
        "def check():\n    try:\n        two(None)\n"
        "    except TypeError:\n        raise AssertionError(close()) from None\n"
    )
    assert late(tmp_path, test) == {2, 9}


def test_an_exception_that_the_test_expects_does_not_end_it(tmp_path):
    test = (
        "def check():\n    def helper():\n        two(None)\n"
        "    with pytest.raises(TypeError):\n        helper()\n"
        "    pytest.raises(TypeError, helper)\n    assert close() == 1\n"
    )
    assert late(tmp_path, test) == {9}
