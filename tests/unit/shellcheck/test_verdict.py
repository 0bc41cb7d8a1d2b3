"""Phases, reasons, limits and the user's allow-list."""

import msgspec
import pytest

from flyball.shellcheck import (
    AllowRule,
    CommandKind,
    Judgement,
    commands_in,
    findings_of,
    judge,
    phase_of,
)


@pytest.mark.parametrize(
    ("command", "recon", "execute", "verify"),
    [
        ("ls", "allow", "allow", "allow"),
        ("pytest -q", "allow", "allow", "allow"),
        ("touch a", "deny", "allow", "deny"),
        ("rm -rf src", "deny", "ask", "deny"),
        ("frobnicate", "deny", "deny", "deny"),
        ("touch ../a", "deny", "deny", "deny"),
        ("cat .env", "deny", "deny", "deny"),
        ("sudo ls", "deny", "deny", "deny"),
    ],
)
def test_each_phase_answers(command, recon, execute, verify):
    for phase, answer in (("recon", recon), ("execute", execute), ("verify", verify)):
        assert judge(command, phase=phase).decision == answer
    assert judge(command, phase="checkpoint").decision == "deny"
    assert judge(command, phase="final").decision == "deny"


@pytest.mark.parametrize(
    ("name", "phase"),
    [
        ("plan.recon.research", "recon"),
        ("build.execute", "execute"),
        ("plan.checkpoint", "checkpoint"),
        ("Verify", "verify"),
        ("final", "final"),
        ("paused", None),
    ],
)
def test_dotted_phases(name, phase):
    assert phase_of(name) == phase


def test_an_unknown_phase_is_an_error():
    with pytest.raises(ValueError, match="unknown phase"):
        judge("ls", phase="dreaming")


def test_json_says_class_and_round_trips():
    answer = judge("ls; touch a", phase="recon")
    data = msgspec.json.decode(msgspec.json.encode(answer))
    assert data["decision"] == "deny"
    assert data["class"] == "mutating"
    assert [part["class"] for part in data["parts"]] == ["read-only", "mutating"]
    assert set(data) == {"decision", "class", "reason", "parts"}
    assert msgspec.json.decode(msgspec.json.encode(answer), type=Judgement) == answer


def test_refusals_say_what_to_do_instead():
    assert "checkpoint" in judge("touch a", phase="recon").reason
    assert "person" in judge("rm -rf src", phase="execute").reason
    assert "plain commands" in judge("$x", phase="execute").reason
    assert "inside the workspace" in judge("touch /a", phase="execute").reason
    assert judge("ls " + "a" * 200).reason.count("a") < 150


@pytest.mark.parametrize("command", ["", "  \n ", "# only words"])
def test_nothing_to_run(command):
    answer = judge(command)
    assert answer.parts
    assert answer.kind in (CommandKind.UNKNOWN, CommandKind.READ_ONLY)


def test_absolute_paths_inside_the_root_are_inside():
    assert judge("touch /w/a", root="/w/").decision == "allow"
    assert judge("cd /w && git status", phase="recon", root="/w").decision == "allow"
    assert judge("touch /w/a").decision == "deny"


def test_too_many_commands():
    assert judge("; ".join(["ls"] * 50), phase="recon").decision == "allow"
    assert judge("; ".join(["ls"] * 51), phase="recon").decision == "deny"
    assert judge("bash -c 'ls; ls'; " * 26, phase="recon").decision == "deny"


@pytest.mark.parametrize("wrapper", ["env A=b ", "nice ", "timeout 1 ", "xargs "])
def test_programs_that_run_programs_nested_too_deep(wrapper):
    assert judge(f"{wrapper * 8}ls").kind is not CommandKind.UNKNOWN
    found = judge(f"{wrapper * 1_200}ls")
    assert found.decision == "deny"
    assert "nested too deep" in found.reason


@pytest.mark.parametrize(
    "command",
    ["rm -rf /\nif", "ls;" * 60, "nice " * 20 + "ls", "(" * 99 + "ls"],
)
def test_what_nobody_has_read_is_told_from_what_is_not_known(command):
    assert any(each.unread for each in findings_of(command))
    assert not any(each.unread for each in findings_of("some-tool --go; ls"))


def test_shells_nested_too_deep():
    command = "ls"
    for _ in range(6):
        command = "sh -c " + "'" + command.replace("'", "'\\''") + "'"
    answer = judge(command, phase="recon")
    assert answer.decision == "deny"
    assert "nested" in answer.reason


RULES = (
    AllowRule(prefix=("terraform", "apply"), args=("-target=*", "-auto-approve")),
    AllowRule(prefix=("./deploy.sh",), kind=CommandKind.MUTATING),
    AllowRule(prefix=("frobnicate",), args=("*",)),
)


@pytest.mark.parametrize(
    ("command", "recon"),
    [
        ("terraform apply -target=a.b", "allow"),
        ("terraform apply", "allow"),
        ("terraform apply -destroy", "deny"),
        ("terraform destroy", "deny"),
        ("./deploy.sh", "deny"),
        ("frobnicate a b", "allow"),
        ("timeout 5 frobnicate a", "allow"),
        ("frobnicate a > b", "deny"),
        ("frobnicate $(touch b)", "deny"),
        ("frobnicate $x", "deny"),
        ("frobnicate *", "deny"),
        ("frobnicate .env", "deny"),
        ("frobnicate a; touch b", "deny"),
        ("PATH=. frobnicate a", "deny"),
        ("frobnicate", "allow"),
    ],
)
def test_the_allow_list_matches_words_and_loosens_nothing_else(command, recon):
    assert judge(command, phase="recon", allow=RULES).decision == recon
    assert judge("./deploy.sh", phase="execute", allow=RULES).decision == "allow"
    assert judge("./deploy.sh x", phase="recon", allow=RULES).decision == "deny"


@pytest.mark.parametrize("data", [b'{"prefix": []}', b'{"prefix": [""]}',
                                  b'{"prefix": ["x"], "class": "unknown"}',
                                  b'{"prefix": ["x"], "y": 1}'])  # fmt: skip
def test_bad_allow_rules_are_refused(data):
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(data, type=AllowRule)


def test_every_command_is_told_also_those_that_others_run():
    found = commands_in("cd app && env A=1 bash -c 'ls src; timeout 5 git log'", root="/p")
    assert ("cd", "app") in found
    assert ("ls", "src") in found
    assert ("git", "log") in found
    assert commands_in("echo '") == ()
