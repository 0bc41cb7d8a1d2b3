"""`flyball guards` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from flyball.cli.guards import guards
from flyball.errors import FlyballError, NotFound, UsageError


def write(path: Path, *steps: tuple[str, str]) -> str:
    entries = [{"action": action, "observation": seen} for action, seen in steps]
    path.write_text(json.dumps({"trajectory": entries}), encoding="utf-8")
    return str(path)


def run(*args: str) -> tuple[str, FlyballError | None]:
    result = CliRunner().invoke(guards, args)
    error = result.exception
    assert error is None or isinstance(error, FlyballError), error
    return result.output, error


def test_one_json_object_per_file(tmp_path: Path):
    loop = write(tmp_path / "loop.traj", *[("ls", "a")] * 5)
    poll = write(tmp_path / "poll.traj", *[("cat build.log", f"{n} %") for n in range(90)])
    edits = [(f"create f{n}.py", f"[File: f{n}.py]") for n in range(90)]
    edits[::5] = [("python -m pytest", f"{n} passed") for n in range(18)]
    batch = write(tmp_path / "batch.traj", *edits)
    output, error = run("--json", loop, poll, batch)
    assert error is None
    lines = [json.loads(line) for line in output.splitlines()]
    assert [line["file"] for line in lines] == [loop, poll, batch]
    assert [list(line) for line in lines] == [["file", "steps", "trips", "stopped_at"]] * 3
    assert [(line["steps"], line["stopped_at"]) for line in lines] == [
        (5, 5),
        (90, None),
        (90, None),
    ]
    assert lines[0]["trips"][-1] == {
        "step": 5,
        "guard": "repetition",
        "level": "hard",
        "reason": "the same call gave the same outcome 5 times in a row",
    }
    assert lines[1]["trips"] == lines[2]["trips"] == []


def test_people_get_a_table(tmp_path: Path):
    loop = write(tmp_path / "loop [x].traj", *[("ls", "a")] * 5)
    calm = write(tmp_path / "calm.traj", ("ls", "a"))
    output, _ = run(loop, calm)
    header, first, second, third = (line.split() for line in output.splitlines())
    assert header == ["run", "steps", "stopped", "at", "trips"]
    assert first[:2] == [str(tmp_path / "loop"), "[x].traj"]
    assert first[2:7] == ["5", "5", "3", "soft", "repetition:"]
    assert second[:3] == ["5", "hard", "repetition:"]
    assert third == [calm, "1", "-", "none"]


def test_a_missing_file_is_not_found(tmp_path: Path):
    output, error = run(str(tmp_path / "nope.traj"))
    assert output == ""
    assert isinstance(error, NotFound)


@pytest.mark.parametrize("name", [".", "\x00"])
def test_what_cannot_be_read_is_said(tmp_path: Path, name: str):
    _, error = run(str(tmp_path / name))
    assert isinstance(error, UsageError)
    assert "cannot be read" in error.message
    assert error.hint


def test_a_bad_file_does_not_hide_the_good_ones(tmp_path: Path):
    bad = tmp_path / "bad.traj"
    bad.write_bytes(b'{"trajectory": [')
    good = write(tmp_path / "good.traj", ("ls", "a"))
    output, error = run("--json", str(bad), good)
    assert json.loads(output)["file"] == good
    assert isinstance(error, UsageError)
    assert error.message.startswith(f"{bad}: it is not JSON")


def test_limits_can_be_given(tmp_path: Path):
    loop = write(tmp_path / "loop.traj", *[("ls", "a")] * 5)
    strict = tmp_path / "strict.toml"
    strict.write_text("[guards]\nrepetition_hard = 4\n")
    output, _ = run("--json", "--limits", str(strict), loop)
    assert json.loads(output)["stopped_at"] == 4
    off = tmp_path / "off.json"
    off.write_text('{"repetition_hard": 0}')
    output, _ = run("--json", "--limits", str(off), loop)
    assert json.loads(output)["stopped_at"] is None


def test_limits_are_checked(tmp_path: Path):
    loop = write(tmp_path / "loop.traj", ("ls", "a"))
    wrong = tmp_path / "wrong.toml"
    wrong.write_text("repetition = 4\n")
    _, error = run("--limits", str(wrong), loop)
    assert isinstance(error, UsageError)
    assert "repetition" in error.message
    _, error = run("--limits", str(tmp_path / "none.toml"), loop)
    assert isinstance(error, NotFound)
    _, error = run("--limits", str(tmp_path), loop)
    assert isinstance(error, UsageError)


def test_what_was_settled_is_honoured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    loop = write(tmp_path / "loop.traj", *[("ls", "a")] * 5)
    (tmp_path / ".config/flyball").mkdir(parents=True)
    (tmp_path / ".config/flyball/config.toml").write_text("[guards]\nrepetition_hard = 4\n")
    output, _ = run("--json", loop)
    assert json.loads(output)["stopped_at"] == 4


def test_a_file_must_be_named():
    result = CliRunner().invoke(guards, [])
    assert result.exit_code == 2
    assert "Missing argument" in result.output
