"""`flyball init` as a person meets it: the change is shown, asked for, made, and taken back."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tests.governed import Shell, Terminal, shop
from tests.simulation.node import node

from flyball.app.sessions import Session, Sessions

OPENCODE = Path(__file__).parents[1] / "unit/hosts/install/opencode_host.mjs"
CLAUDE = """{
  "model": "opus",
  // Notes of mine.
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [{"type": "command", "command": "guard.sh"}]} // first
    ]
  }
}
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    (home / "project" / ".git").mkdir(parents=True)
    return home


@pytest.fixture
def shell(home: Path) -> Shell:
    return Shell(home / "project", home)


def settings(home: Path, text: str = CLAUDE) -> Path:
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(text)
    return path


def test_without_a_terminal_the_change_is_only_shown(shell: Shell, home: Path):
    path = settings(home)
    done = shell("init", "--host", "claude")

    assert done.returncode == 3
    assert f"+++ {path}" in done.stdout
    assert "flyball-hook claude" in done.stdout
    assert "Nothing was written. Repeat with --yes to write it." in done.stdout
    assert path.read_text() == CLAUDE


def test_in_and_out_again(shell: Shell, home: Path):
    path = settings(home)
    done = shell("init", "--host", "claude", "--yes")
    text = path.read_text()

    assert done.returncode == 0, done.stderr
    assert f"Flyball's hooks are in {path} now." in done.stdout
    assert "settings.json:3:3: Claude Code does not load a file with a line comment" in done.stdout
    assert "Claude Code is not governed until this is fixed:" in done.stdout
    assert text.count("flyball-hook claude") == 14
    assert "// Notes of mine." in text

    again = shell("init", "--host", "claude", "--yes")
    assert again.returncode == 0
    assert f"hooks are in {path} already" in again.stdout
    assert path.read_text() == text

    path.write_text(text.replace("opus", "sonnet"))
    out = shell("init", "--host", "claude", "--remove", "--yes")
    assert out.returncode == 0
    assert f"Flyball's hooks were removed from {path}." in out.stdout
    assert path.read_text() == CLAUDE.replace("opus", "sonnet")
    assert "has no hooks of Flyball" in shell("init", "--host", "claude", "--remove").stdout


def test_it_says_where_it_governs_how_to_see_that_and_how_to_undo_it(shell: Shell, home: Path):
    done = shell("init", "--host", "claude", "--yes")
    words = "flyball init --host claude"
    see = "Check that it works: `flyball doctor --host claude`."

    assert done.returncode == 0
    assert "Claude Code is governed by Flyball in all your projects.\n" in done.stdout
    assert done.stdout.endswith(f"{see} Undo: `{words} --remove`.\n")
    done = shell("init", "--host", "claude", "--scope", "project", "--yes")
    assert "Claude Code is governed by Flyball in this project.\n" in done.stdout
    assert "is a path of this machine" in done.stdout
    assert done.stdout.endswith(f"{see} Undo: `{words} --scope project --remove`.\n")
    shell.cwd = home
    done = shell("init", "--host", "claude", "--scope", "project", "--repo", "project")
    assert f"`{words} --scope project --repo project --remove`" in done.stdout
    for level, verb in (("verdict", "judged"), ("strict", "governed"), ("observe", "observed")):
        done = shell("init", "--host", "claude", "--level", level, "--yes")
        assert f"Claude Code is {verb} by Flyball in all your projects.\n" in done.stdout
        assert f"Level {level}: " in done.stdout
    assert shell("init", "--host", "claude", "--level", "observe", "--remove").returncode == 2
    assert "See what would have been refused: `flyball audit --host flyball`." in done.stdout


@pytest.mark.parametrize("host", ["claude", "codex", "gemini", "opencode"])
def test_who_removes_in_one_scope_is_told_of_the_others(shell: Shell, host: str):
    project = json.loads(shell("init", "--host", host, "--scope", "project", "--json").stdout)
    shell("init", "--host", host, "--scope", "project", "--yes")
    done = shell("init", "--host", host, "--remove")
    command = f"`flyball init --host {host} --scope project --remove` removes them."

    assert done.returncode == 0
    assert "has no hooks of Flyball" in done.stdout
    assert f"Flyball's hooks are in {project['path']}: {command}" in done.stdout
    said = json.loads(shell("init", "--host", host, "--remove", "--json").stdout)
    assert said["elsewhere"] == [{"scope": "project", "path": project["path"]}]


def test_what_is_added_to_one_long_line_can_be_read(shell: Shell, home: Path):
    path = settings(home, '{"hooks": {"Stop": [{"hooks": [{"command": "guard.sh"}]}]}}\n')
    text = path.read_text()
    done = shell("init", "--host", "claude", "--yes")
    (told,) = [line for line in done.stdout.splitlines() if line.startswith("It adds to ")]

    assert max(map(len, done.stdout.splitlines())) < 500
    assert "PreToolUse" in told
    assert told.endswith("flyball-hook claude")
    assert "Everything else in the file stays as it is." in done.stdout
    assert len(path.read_text().splitlines()) == 1
    shell("init", "--host", "claude", "--remove", "--yes")
    assert path.read_text() == text


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("host", ["claude", "codex", "gemini", "opencode"])
def test_every_host_leaves_no_trace(shell: Shell, home: Path, host: str, scope: str):
    def tree() -> list[Path]:
        return sorted(path for path in home.rglob("*") if "state" not in path.parts)

    before = tree()
    words = ("init", "--host", host, "--scope", scope, "--yes", "--json")
    said = json.loads(shell(*words).stdout)

    assert said["applied"]
    assert said["changed"]
    assert "flyball-hook" in Path(said["path"]).read_text()
    assert said["path"].startswith(str(home / "project" if scope == "project" else home))
    if host == "codex":
        assert not said["ready"], "Codex trusts no hook unseen"
        assert any("/hooks" in need["text"] for need in said["needs"])
    out = json.loads(shell(*words, "--remove").stdout)
    assert out["applied"]
    assert tree() == before


def test_a_program_is_shown_the_change_as_one_object(shell: Shell):
    done = shell("init", "--host", "gemini", "--json")
    said = json.loads(done.stdout)

    assert done.returncode == 3
    assert not said["applied"]
    assert said["diff"].startswith("--- /dev/null\n")
    assert not Path(said["path"]).exists()


def test_a_broken_file_is_refused_with_its_place(shell: Shell, home: Path):
    path = settings(home, '{\n  "model": opus\n}\n')
    done = shell("init", "--host", "claude", "--yes")

    assert done.returncode == 2
    assert f"error[settings-broken]: {path}:2:12: 'opus' is not a JSON value." in done.stderr
    assert path.read_text() == '{\n  "model": opus\n}\n'


def test_a_scope_that_a_host_has_not_is_refused(shell: Shell):
    done = shell("init", "--host", "opencode", "--scope", "managed", "--yes")

    assert done.returncode == 2
    assert "opencode has no managed settings" in done.stderr


@pytest.mark.exhaustive
def test_a_governed_agent_cannot_disarm_us_from_anywhere(shell: Shell, home: Path):
    """Also not from another project, or with another one named: these hooks govern everywhere."""
    path = settings(home, "{}\n")
    assert shell("init", "--host", "claude", "--yes").returncode == 0
    text = path.read_text()
    elsewhere = home / "state" / "projects" / "shop-0123456789"
    Sessions(elsewhere).keep(Session("claude", "s1"))
    for words in (["--remove"], ["--level", "observe"], ["--level", "verdict"]):
        done = shell("init", "--host", "claude", *words, "--yes")
        assert done.returncode == 2
        assert "error[not-a-person]" in done.stderr
        assert path.read_text() == text
    added = shell("people", "add", "me", "--role", "approve")
    assert added.returncode == 2 and "error[not-a-person]" in added.stderr, "a token of its own"
    Sessions(elsewhere).end(Session("claude", "s1"))
    assert shell("init", "--host", "claude", "--remove", "--yes").returncode == 0
    assert path.read_text() == "{}\n"


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 3)])
def test_a_person_is_asked(shell: Shell, home: Path, answer: str, code: int):
    path = settings(home, "{}\n")
    with Terminal(shell, "init", "--host", "claude") as terminal:
        shown = terminal.shows("Write this? [y/N]: ")
        ended, after = terminal.ends(f"{answer}\n")
    assert ended == code
    assert "flyball-hook claude" in shown
    assert ("Undo: " if answer == "y" else "Nothing was written.") in after
    assert "--yes" not in after, "who has just answered need not be told how to"
    assert ("flyball-hook" in path.read_text()) is (answer == "y")


@pytest.mark.exhaustive
def test_the_plugin_of_opencode_asks_the_hook_that_is_installed(shell: Shell, home: Path):
    """No opencode here: somebody plays it, with the very files that `init` leaves."""
    project = shop(home / "shop")
    said = json.loads(shell("init", "--host", "opencode", "--yes", "--json").stdout)
    module = home / "flyball.mjs"
    module.write_text(Path(said["path"]).read_text())
    session = {"sessionID": "ses_1"}
    prompt = {"message": {}, "parts": [{"type": "text", "text": "fix the total in cart.py"}]}
    write = {"args": {"filePath": str(project / "cart.py"), "content": "x"}}
    steps = [
        ["chat.message", session, prompt],
        ["tool.execute.before", {**session, "tool": "write", "callID": "c1"}, write],
        # The resident governor ends with its last session.
        ["event", {"event": {"type": "session.deleted", "properties": {"info": {"id": "ses_1"}}}}],
    ]
    done = subprocess.run(
        [node(), str(OPENCODE), str(module), str(project)],
        input=json.dumps(steps),
        env=shell.env,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    prompted, written, _ = json.loads(done.stdout)["results"]

    assert prompted["output"]["parts"][0]["text"].startswith("fix the total in cart.py")
    assert "checkpoint" in written["thrown"]
