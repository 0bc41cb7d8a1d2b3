"""`flyball trust` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.governed import environment, shop

from flyball.app.project import open_home
from flyball.cli.trust import trust
from flyball.errors import ConfigError, NotFound, UsageError

TIGHT = "[budget]\nmax_tool_rounds = 20\n[bash]\nenabled = true\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    shop(tmp_path / "shop")
    (tmp_path / "shop" / "flyball.toml").write_text(TIGHT)
    return tmp_path


def invoke(place: Path, *args: str) -> Result:
    runner = CliRunner(env=environment(place))
    return runner.invoke(trust, [*args, "--repo", str(place / "shop")])


def rounds(place: Path) -> int:
    home = open_home(place / "shop", environment(place), {})
    return home.effective.settings.budget_max_tool_rounds


def test_a_repository_counts_only_once_it_is_trusted(place: Path):
    assert rounds(place) == 150
    result = invoke(place, "--yes")
    assert result.exit_code == 0, result.output
    assert "budget.max_tool_rounds = 20" in result.output
    assert "not heeded: flyball.toml: `bash.enabled` may not be loosened" in result.output
    assert rounds(place) == 20
    assert "trusted already" in invoke(place).output


def test_a_changed_file_is_not_trusted_any_more(place: Path):
    invoke(place, "--yes")
    (place / "shop" / "flyball.toml").write_text(TIGHT + "# more\n")
    assert rounds(place) == 150


def test_trust_is_a_persons_word(place: Path):
    assert isinstance(invoke(place).exception, UsageError)
    assert isinstance(invoke(place, "--json").exception, UsageError)
    assert rounds(place) == 150


def test_json_says_what_counts(place: Path):
    told = json.loads(invoke(place, "--yes", "--json").stdout)
    assert told["settings"] == {"budget.max_tool_rounds": "20"}
    assert told["trusted"] is True


def test_a_wrong_file_is_refused(place: Path):
    (place / "shop" / "flyball.toml").write_text("[budget]\nmax_tool_round = 1\n")
    error = invoke(place, "--yes").exception
    assert isinstance(error, ConfigError)
    assert "`budget.max_tool_rounds`" in str(error)


def test_there_may_be_nothing_to_trust(tmp_path: Path):
    shop(tmp_path / "shop")
    assert isinstance(invoke(tmp_path, "--yes").exception, NotFound)


def test_templates_are_shown_and_accepted_with_the_rest(place: Path):
    folder = place / "shop" / ".flyball" / "templates"
    folder.mkdir(parents=True)
    (folder / "audit.yaml").write_text("step_id: audit\ntitle: \x1b[31mAudit\n")
    result = invoke(place, "--yes")
    assert "step_id: audit" in result.output
    assert "\x1b" not in result.output
    told = json.loads(invoke(place, "--json").stdout)
    assert told["templates"] == [str(folder / "audit.yaml")]
    (folder / "audit.yaml").write_text("step_id: other\n")
    assert isinstance(invoke(place).exception, UsageError)
