"""Which lines of which files run."""

import importlib.util
import unittest
import unittest.case
import unittest.util

import pytest

from flyball.tools.inside.tracing import Ours, traced

TEXT = "def f(x):\n    if x:\n        return 1\n    return 2\n"


@pytest.fixture
def loaded(tmp_path):
    file = tmp_path / "pkg" / "m.py"
    file.parent.mkdir()
    file.write_text(TEXT)
    spec = importlib.util.spec_from_file_location("traced_m", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_lines_that_ran_are_told(loaded, tmp_path):
    result, lines = traced(Ours(str(tmp_path), set()), lambda: loaded.f(1))
    assert result == 1
    assert {path: found - {1} for path, found in lines.items()} == {"pkg/m.py": {2, 3}}


def test_each_look_starts_anew(loaded, tmp_path):
    ours = Ours(str(tmp_path), set())
    traced(ours, lambda: loaded.f(1))
    assert traced(ours, lambda: loaded.f(0))[1]["pkg/m.py"] - {1} == {2, 4}


def test_lines_can_be_told_as_they_are_reached(loaded, tmp_path):
    told = []
    traced(Ours(str(tmp_path), set()), lambda: loaded.f(0), told.append)
    assert [line for _, line in told if line > 1] == [2, 4]


def test_files_that_are_not_ours_are_left_out(loaded, tmp_path):
    left_out = {str(tmp_path / "pkg" / "m.py")}
    assert not traced(Ours(str(tmp_path), left_out), lambda: loaded.f(0))[1]
    assert not traced(Ours(str(tmp_path / "other"), set()), lambda: loaded.f(0))[1]


def test_installed_packages_and_hidden_places_are_not_ours(tmp_path):
    ours = Ours(str(tmp_path), set())
    assert ours.path(str(tmp_path / "a" / "b.py")) == "a/b.py"
    assert ours.path(str(tmp_path / "site-packages" / "b.py")) == ""
    assert ours.path(str(tmp_path / ".venv" / "b.py")) == ""
    assert ours.path("<string>") == ""


def test_what_only_explains_a_failure_is_not_told(loaded, tmp_path):
    case = unittest.TestCase()

    class Shown:
        def __repr__(self):
            return str(loaded.f(0))

    def fails():
        loaded.f(1)
        with pytest.raises(AssertionError, match="2 is not None"):
            case.assertIsNone(Shown())

    _, lines = traced(Ours(str(tmp_path), set()), fails)
    assert lines["pkg/m.py"] - {1} == {2, 3}
    assert unittest.case.safe_repr is unittest.util.safe_repr
