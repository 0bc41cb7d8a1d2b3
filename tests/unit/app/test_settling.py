"""Settings: four sources, later ones winning where they may, each value with its origin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flyball.app.settling import Sources, is_tighter, settle, state_dir, user_file
from flyball.errors import ConfigError
from flyball.run.policy import OnWeakened, Policy
from flyball.settings import Settings


def trusted(repo: str, user: str = "") -> Sources:
    return Sources(repo=repo, repo_is_trusted=True, user=user)


def test_the_defaults_are_the_policys_own():
    assert settle(Sources()).settings.policy == Policy()


def test_later_sources_win():
    user = "[policy]\nmax_iterations = 4\nmax_continues = 4\nmax_rejections = 4\n"
    found = settle(
        Sources(
            user=user,
            user_path="/c",
            environ={
                "FLYBALL_POLICY_MAX_ITERATIONS": "5",
                "FLYBALL_POLICY_MAX_CONTINUES": "5",
                "OTHER": "x",
            },
            flags={"policy_max_iterations": 6},
        )
    )
    settings = found.settings
    values = (
        settings.policy_max_iterations,
        settings.policy_max_continues,
        settings.policy_max_rejections,
    )
    assert values == (6, 5, 4)
    assert found.origins == {
        "policy_max_iterations": "command line",
        "policy_max_continues": "environment",
        "policy_max_rejections": "/c",
    }


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (Sources(user="[budget\n"), "is not valid TOML"),
        (Sources(user="[budget]\nreserv = 1\n"), "Did you mean `budget.reserve`?"),
        (Sources(user="[zzzz]\nx = 1\n"), "no setting `zzzz.x`"),
        (Sources(user="zzzz = 1\n"), "no setting `zzzz`"),
        (Sources(user='[budget]\nreserve = "two"\n'), "`budget.reserve`: Expected `int`"),
        (Sources(user="[guards]\nrepetition_soft = 'x'\n"), "`guards`"),
        (Sources(user="[guards]\nrepetitions_soft = 2\n"), "Did you mean `repetition_soft`?"),
        (Sources(user="[budget]\nreserve = -1\n"), "`budget.reserve`"),
        (Sources(user="[policy]\nmax_iterations = 0\n"), "`policy.max_iterations`"),
        (Sources(user="[limits]\nseconds = 0\n"), "`limits.seconds`"),
        (Sources(user="[policy]\nstrictness = 'brutal'\n"), "`policy.strictness`"),
        (Sources(user="[policy]\nweakened_tests = 'maybe'\n"), "`policy.weakened_tests`"),
        (Sources(environ={"FLYBALL_POLICY_REVEW": "1"}), "Did you mean FLYBALL_POLICY_REVIEW?"),
        (Sources(environ={"FLYBALL_POLICY_REVIEW": "perhaps"}), "is not true or false"),
        (Sources(environ={"FLYBALL_BUDGET_RESERVE": "two"}), "is not a whole number"),
        (Sources(environ={"FLYBALL_LIMITS_SECONDS": "soon"}), "is not a number"),
        (Sources(environ={"FLYBALL_MODEL_ROLES": "{"}), "is not a TOML value"),
    ],
)
def test_what_is_wrong_is_said_with_what_to_do(source: Sources, words: str):
    with pytest.raises(ConfigError) as caught:
        settle(source)
    assert words in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("name", "text", "field", "value"),
    [
        ("FLYBALL_ENABLE_BASH", "1", "bash_enabled", True),
        ("FLYBALL_ENABLE_BASH", "off", "bash_enabled", False),
        ("FLYBALL_BUDGET_RESERVE", "3", "budget_reserve", 3),
        ("FLYBALL_LIMITS_SECONDS", "1.5", "limits_seconds", 1.5),
        ("FLYBALL_MODEL_DEFAULT", "a:b", "model_default", "a:b"),
        ("FLYBALL_MODEL_ROLES", '{reviewer = "a:b"}', "model_roles", {"reviewer": "a:b"}),
        ("FLYBALL_POLICY_WEAKENED_TESTS", "refuse", "policy_weakened_tests", OnWeakened.REFUSE),
    ],
)
def test_values_from_the_environment(name: str, text: str, field: str, value: Any):
    assert getattr(settle(Sources(environ={name: text})).settings, field) == value


def test_a_repository_that_is_not_trusted_counts_for_nothing():
    found = settle(Sources(repo="this is [not even TOML"))
    assert found.settings == Settings()
    assert "flyball trust" in found.ignored[0]


def test_a_trusted_repository_tightens():
    repo = "[budget]\nreserve = 3\nmax_tool_rounds = 20\nmax_tokens = 9\n"
    repo += (
        "[policy]\napprove_checkpoint = true\nweakened_tests = 'refuse'\nstrictness = 'strict'\n"
    )
    found = settle(trusted(repo))
    settings = found.settings
    assert (settings.budget_reserve, settings.budget_max_tool_rounds) == (3, 20)
    assert settings.budget_max_tokens == 9
    assert settings.policy_approve_checkpoint
    assert settings.policy_weakened_tests is OnWeakened.REFUSE
    assert settings.policy_strictness == "strict"
    assert set(found.origins.values()) == {"flyball.toml"}
    assert found.ignored == ()


@pytest.mark.parametrize(
    "repo",
    [
        "[budget]\nreserve = 0\n",
        "[budget]\nmax_tool_rounds = 900\n",
        "[policy]\nreview = false\n",
        "[policy]\nself_modify = true\n",
        "[policy]\nrelease_keep_regions = true\n",
        "[policy]\nweakened_tests = 'allow'\n",
        "[policy]\nstrictness = 'lenient'\n",
        "[bash]\nenabled = true\n",
        "[bash]\nnetwork = true\n",
        "[bash]\nwithout_sandbox = true\n",
        "[bash]\nallow = [{program = 'make'}]\n",
        "[limits]\nseconds = 9000\n",
        "[model]\nbase_url = 'http://evil.example'\n",
        "[model]\ndefault = 'a:b'\n",
        "[driver]\nuse = 'scripted:x'\n",
        "[guards]\nrepetition_soft = 99\n",
    ],
)
def test_a_repository_never_loosens(repo: str):
    found = settle(trusted(repo))
    assert found.settings == Settings()
    assert len(found.ignored) == 1


def test_a_repository_does_not_undo_the_users_word():
    user = "[budget]\nmax_tool_rounds = 10\n[policy]\napprove_checkpoint = true\n"
    repo = "[budget]\nmax_tool_rounds = 20\n[policy]\napprove_checkpoint = false\n"
    settings = settle(trusted(repo, user)).settings
    assert settings.budget_max_tool_rounds == 10
    assert settings.policy_approve_checkpoint


@pytest.mark.parametrize(
    ("direction", "now", "then", "tighter"),
    [
        ("lower", 5, 4, True),
        ("lower", 5, 6, False),
        ("lower", 0, 6, True),
        ("lower", 5, 0, False),
        ("higher", 2, 3, True),
        ("higher", 2, 2, False),
        ("on", False, True, True),
        ("on", True, False, False),
        ("off", True, False, True),
        ("off", False, True, False),
        ("", 1, 2, False),
    ],
)
def test_directions(direction: str, now: Any, then: Any, tighter: bool):
    assert is_tighter(direction, now, then) is tighter


def test_where_things_are():
    assert str(state_dir({"HOME": "/h"})) == "/h/.local/state/flyball"
    assert str(state_dir({"HOME": "/h", "XDG_STATE_HOME": "/s"})) == "/s/flyball"
    assert str(state_dir({"FLYBALL_STATE_DIR": "/x"})) == "/x"
    assert state_dir({"FLYBALL_STATE_DIR": "state"}) == Path.cwd() / "state"
    assert str(user_file({"HOME": "/h"})) == "/h/.config/flyball/config.toml"
    assert str(user_file({"HOME": "/h", "XDG_CONFIG_HOME": "/c"})) == "/c/flyball/config.toml"
    assert str(user_file({"FLYBALL_CONFIG": "/x"})) == "/x"


def test_commands_are_gathered_per_directory_from_every_source():
    user = '[test.command]\nfw = "mine"\nweb = "mine"\n"/elsewhere" = "other"\n'
    environ = {"FLYBALL_TEST_COMMAND": '{web = "env"}', "FLYBALL_CHECK_COMMAND": "make lint"}
    repo = '[test.command]\n"fw/" = "theirs"\ndocs = "theirs"\n'
    found = settle(
        Sources(repo=repo, repo_is_trusted=True, user=user, environ=environ, top="/srv/shop")
    )
    assert found.settings.test_command == {"docs": "theirs", "fw": "mine", "web": "env"}
    assert {at: each.origin for at, each in found.commands.tests.items()} == {
        "docs": "flyball.toml",
        "fw": "config.toml",
        "web": "environment",
    }
    assert found.commands.checks["."].command == "make lint"
    assert found.origins["test_command"] == "config.toml, flyball.toml, environment"
    assert found.ignored == (
        "flyball.toml: `test.command` for 'fw' is overridden by your own settings",
    )


def test_commands_of_a_repository_that_is_not_trusted_are_not_heard():
    assert settle(Sources(repo='[test]\ncommand = "x"\n')).commands.tests == {}


@pytest.mark.parametrize(
    ("now", "then", "expected"),
    [
        ((), ("src/",), True),
        (("src/",), (), False),
        (("src/", "docs/"), ("src/",), True),
        (("src/",), ("src/", "docs/"), False),
        (("src/",), ("src/",), False),
    ],
)
def test_a_repository_may_only_shorten_the_list_of_paths(now, then, expected):
    assert is_tighter("fewer", now, then) is expected
