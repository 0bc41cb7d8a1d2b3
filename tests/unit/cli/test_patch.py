from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from flyball.app.patching import write_all
from flyball.cli.patch import patch
from flyball.errors import NotFound, ToolError, UsageError
from flyball.patch import apply_diff
from flyball.workspace.files.paths import Root

GOOD = (
    "--- a/cart.py\n+++ b/cart.py\n@@ -1,2 +1,2 @@\n def total():\n-    return 0\n+    return 1\n"
)
NEW = "--- /dev/null\n+++ b/src/new.py\n@@ -0,0 +1 @@\n+x = 1\n"
GONE = "--- a/gone.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"


@pytest.fixture
def repo(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    monkeypatch.setenv("FLYBALL_STATE_DIR", str(tmp_path_factory.mktemp("state")))
    (tmp_path / "cart.py").write_text("def total():\n    return 0\n")
    (tmp_path / "gone.py").write_text("x\n")
    return tmp_path


def _run(repo: Path, *arguments: str, diff: str = GOOD) -> Result:
    command = [arguments[0], "--repo", str(repo), *arguments[1:]]
    return CliRunner().invoke(patch, command, input=diff)


def _raised(repo: Path, *arguments: str, diff: str = GOOD) -> BaseException | None:
    return _run(repo, *arguments, diff=diff).exception


def test_apply_writes_every_file(repo: Path):
    (repo / "cart.py").chmod(0o750)
    result = _run(repo, "apply", diff=GOOD + NEW + GONE)
    assert result.exit_code == 0
    assert "Applied." in result.output
    assert (repo / "cart.py").read_text() == "def total():\n    return 1\n"
    assert (repo / "cart.py").stat().st_mode & 0o777 == 0o750
    assert (repo / "src/new.py").read_text() == "x = 1\n"
    assert not (repo / "gone.py").exists()


@pytest.mark.parametrize("command", [["check"], ["apply", "--preview"]])
def test_check_and_preview_write_nothing(repo: Path, command: list[str]):
    result = _run(repo, *command)
    assert result.exit_code == 0
    assert "nothing was written" in result.output
    assert ("+    return 1" in result.output) == ("--preview" in command)
    assert (repo / "cart.py").read_text() == "def total():\n    return 0\n"


def test_a_refusal_exits_1_with_a_sentence(repo: Path):
    result = _run(repo, "apply", diff=GOOD.replace("    return 0", "return 0"))
    assert result.exit_code == 1
    assert "cart.py, hunk 1: [no_match] The text is at line 1" in result.output
    assert "proposal:" in result.output
    assert "Refused; nothing was changed." in result.output


def test_json_is_the_result(repo: Path):
    said = json.loads(_run(repo, "apply", "--json").stdout)
    assert said["ok"] is True
    assert said["changes"][0]["path"] == "cart.py"
    again = _run(repo, "apply", "--json")
    assert again.exit_code == 1
    assert json.loads(again.stdout)["errors"][0]["code"] == "already_applied"


def test_options_reach_the_engine(repo: Path):
    kept = "# VIBE-KEEP START k\na = 1\n# VIBE-KEEP END k\n"
    (repo / "k.py").write_text("\n" * 50 + kept)
    wide = "--- a/k.py\n+++ b/k.py\n@@ -5,2 +5,2 @@\n-a = 1\n+a = 2\n # VIBE-KEEP END k\n"
    assert "[offset_exceeded]" in _run(repo, "check", "--max-offset", "9", diff=wide).output
    assert "[keep_region]" in _run(repo, "check", diff=wide).output
    released = _run(repo, "check", "--no-keep-regions", diff=wide)
    assert released.exit_code == 0
    assert "was changed" in released.output
    assert "+47 lines" in released.output


def test_partial_and_fuzz(repo: Path):
    fuzzy = GOOD.replace(" def total", " def sum")
    assert _run(repo, "check", diff=fuzzy).exit_code == 1
    assert _run(repo, "check", "--fuzz", "1", diff=fuzzy).exit_code == 0
    half = GOOD + "--- a/none.py\n+++ b/none.py\n@@ -1 +1 @@\n-a\n+b\n"
    assert _run(repo, "apply", diff=half).exit_code == 1
    assert _run(repo, "apply", "--partial", diff=half).exit_code == 0
    assert "return 1" in (repo / "cart.py").read_text()


def test_a_file_with_the_diff(repo: Path, tmp_path: Path):
    (tmp_path / "good.diff").write_text(GOOD)
    assert _run(repo, "check", str(tmp_path / "good.diff")).exit_code == 0


def test_usage_errors(repo: Path):
    assert isinstance(_raised(repo, "check", "no-such.diff"), NotFound)
    assert isinstance(_raised(repo, "check", str(repo)), UsageError)
    assert isinstance(_raised(repo / "nowhere", "check"), UsageError)
    assert _run(repo, "check", "--fuzz", "3").exit_code == 2


def test_links_that_lead_outside_are_refused(repo: Path, tmp_path_factory: pytest.TempPathFactory):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "x.py").write_text("a\n")
    (repo / "out").symlink_to(outside)
    diff = "--- a/out/x.py\n+++ b/out/x.py\n@@ -1 +1 @@\n-a\n+b\n"
    result = _run(repo, "apply", diff=GOOD + diff)
    assert result.exit_code == 1
    assert "[path_forbidden]" in result.output
    assert (outside / "x.py").read_text() == "a\n"
    assert "return 0" in (repo / "cart.py").read_text()


def test_forbidden_paths_are_refused_by_the_engine(repo: Path):
    result = _run(repo, "check", diff=GOOD.replace("cart.py", ".git/config"))
    assert "[path_forbidden]" in result.output


def test_a_failed_write_puts_everything_back(repo: Path):
    (repo / "src").write_text("a file where a directory is wanted\n")
    files = {"cart.py": (repo / "cart.py").read_bytes()}
    changes = apply_diff(files, GOOD + NEW).changes
    with pytest.raises(ToolError, match="Nothing was changed"):
        write_all(Root(repo), changes)
    assert (repo / "cart.py").read_text() == "def total():\n    return 0\n"


def test_what_cannot_be_put_back_is_named(repo: Path):
    files = {"cart.py": (repo / "cart.py").read_bytes()}
    changes = apply_diff(files, GOOD + NEW).changes
    (repo / "src").write_text("a file where a directory is wanted\n")

    class Swapped(Root):
        """A root where somebody puts a directory in the way of the second write."""

        def write_bytes(self, raw: str, data: bytes, *, mode: int | None = None) -> None:
            super().write_bytes(raw, data, mode=mode)
            (self.path / raw).unlink()
            (self.path / raw).mkdir()

    with pytest.raises(ToolError, match=r"cart\.py could not be restored"):
        write_all(Swapped(repo), changes)


def test_a_wrong_path_is_answered_with_the_file_of_that_name(repo: Path):
    (repo / "lib").mkdir()
    (repo / "lib" / "tax.py").write_text("def total():\n    return 0\n")
    result = _run(repo, "check", diff=GOOD.replace("cart.py", "tax.py"))
    assert result.exit_code == 1
    assert "tax.py: [file_missing] There is no such file. Did you mean lib/tax.py?" in result.output
