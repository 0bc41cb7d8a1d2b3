import os
import stat
from pathlib import Path

import pytest
from tests.repos import put

from flyball.workspace.sandbox import environment
from flyball.workspace.sandbox.confined import Scene, shown_paths

HOSTILE = {
    "PATH": "/usr/bin:.::relative:/bin",
    "HOME": "/home/someone",
    "LANG": "de_DE.UTF-8",
    "TZ": "Europe/Vienna",
    "AWS_SECRET_ACCESS_KEY": "x" * 20,
    "OPENAI_API_KEY": "x" * 20,
    "SSH_AUTH_SOCK": "/run/agent",
    "DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/bus",
    "LD_PRELOAD": "/tmp/evil.so",
    "LD_LIBRARY_PATH": "/tmp",
    "BASH_ENV": "/tmp/evil.sh",
    "ENV": "/tmp/evil.sh",
    "PROMPT_COMMAND": "evil",
    "PS4": "$(evil)",
    "SHELLOPTS": "xtrace",
    "BASH_FUNC_ls%%": "() { evil; }",
    "PYTHONPATH": "/tmp/evil",
    "PYTHONSTARTUP": "/tmp/evil.py",
    "PYTHONHOME": "/tmp/evil",
    "GIT_DIR": "/tmp/evil",
    "GIT_EXTERNAL_DIFF": "evil",
    "GIT_SSH_COMMAND": "evil",
    "NODE_OPTIONS": "--require /tmp/evil.js",
    "PERL5OPT": "-Mevil",
    "RUBYOPT": "-revil",
    "JAVA_TOOL_OPTIONS": "-javaagent:evil",
    "EDITOR": "evil",
    "PAGER": "evil",
    "IFS": "x",
    "HTTP_PROXY": "http://user:pass@proxy",
}


def test_only_a_small_list_comes_through():
    env = environment.clean(HOSTILE)
    passed = {name for name in env if env.get(name) == HOSTILE.get(name)}
    assert passed == {"LANG", "TZ"}
    assert "evil" not in " ".join(env.values())
    assert "HOME" not in env


def test_what_could_run_something_is_set_by_us():
    env = environment.clean(HOSTILE)
    assert env["GIT_CONFIG_GLOBAL"] == os.devnull
    assert env["GIT_CONFIG_NOSYSTEM"] == "1"
    assert (env["PAGER"], env["EDITOR"]) == ("cat", "true")
    assert not {"BASH_ENV", "ENV", "LD_PRELOAD", "PYTHONPATH", "NODE_OPTIONS", "GIT_DIR"} & set(env)


def test_allowed_variables_never_override_flyballs():
    env = environment.clean(HOSTILE, allowed=("HTTP_PROXY",), extra={"TZ": "UTC"})
    assert env["HTTP_PROXY"] == "http://user:pass@proxy"
    assert env["TZ"] == "UTC"


def test_the_path_has_only_absolute_directories_that_others_cannot_write(tmp_path):
    workspace = tmp_path / "workspace"
    inside, loose, link, good = (
        workspace / "bin",
        tmp_path / "loose",
        tmp_path / "link",
        tmp_path / "good",
    )
    for folder in (inside, loose, good):
        folder.mkdir(parents=True)
    loose.chmod(loose.stat().st_mode | stat.S_IWOTH)
    link.symlink_to(inside)
    value = os.pathsep.join(
        [
            "",
            ".",
            "bin",
            "../x",
            str(inside),
            str(loose),
            str(link),
            str(good),
            "/no/such",
            str(good),
        ]
    )
    kept = environment.search_path(value, workspace)
    assert kept[0] == str(good)
    assert kept.count(str(good)) == 1
    assert set(kept) <= {str(good), *environment.STANDARD_PATH}
    assert "/usr/bin" in kept


def test_toolchains_in_the_home_are_pointed_at(tmp_path):
    (tmp_path / ".rustup").mkdir()
    (tmp_path / "elsewhere").mkdir()
    env = environment.clean({"HOME": str(tmp_path), "PYENV_ROOT": str(tmp_path / "elsewhere")})
    assert env["RUSTUP_HOME"] == str(tmp_path / ".rustup")
    assert env["PYENV_ROOT"] == str(tmp_path / "elsewhere")
    assert "NVM_DIR" not in env


def test_an_empty_environment_is_enough():
    env = environment.clean({})
    assert env["PATH"].split(os.pathsep)[-1] in environment.STANDARD_PATH
    assert all(Path(place).is_absolute() for place in env["PATH"].split(os.pathsep))


def test_installation_behind_a_virtual_environment_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Its interpreter is a link to there, whatever the environment is called."""
    installed = tmp_path / "tools" / "python"
    put(installed, {"bin/python3": ""})
    named = f"version = 3\nhome = {installed}/bin\n"
    put(tmp_path, {"shop/env/pyvenv.cfg": named, "shop/old/pyvenv.cfg": "home = /nowhere\n"})
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path / "shop")
    scene = Scene(["true"], {"HOME": str(tmp_path / "home"), "PATH": "/usr/bin"}, read_only=True)
    shown = shown_paths(scene)
    assert str(installed) in shown
    assert str(tmp_path / "tools") not in shown
