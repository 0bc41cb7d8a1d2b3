"""Paths judged by their spelling."""

import pytest

from flyball.shell.words.place import Scope, outside, protected, secret, write_objection

ROOTED = Scope("/home/me/project")


@pytest.mark.parametrize(
    "path",
    [
        "~/.ssh/id_rsa", ".env", "a/.env", ".env.production", "/etc/shadow", "~/.s?h/x",
        "/proc/self/environ", "/proc/12/environ", "HEAD:.env", "if=.env", "~/.config/gh/hosts.yml",
        "~/.aw[s]/credentials", ".ENV", ".[^x]nv", ".[[:alpha:]]nv", "?env", "*env", "*.env",
        "*.key", "*.p[e]m", ".env?", "certs/server.k?y", "data=@.env",
        "/etc/./shadow", "/etc/x/../shadow", "/etc/shadow-", ":(top).env", "require('./.env')",
    ],
)  # fmt: skip
def test_secrets(path):
    assert secret(path)


@pytest.mark.parametrize(
    "path",
    [
        ".env.example", "src/env.py", "*", ".*", "shadow.css", "environ", "docs/hosts.yml", "a/b.c",
        "/proc/cpuinfo", "*.json", "*.cnf", ":!.env", "[[:alpha:]]*",
    ],
)  # fmt: skip
def test_ordinary_paths_are_no_secret(path):
    assert not secret(path)


def test_the_shell_hides_dotted_names_from_wildcards():
    assert not secret("*env", hidden=False)
    assert secret("*_rsa", hidden=False)


@pytest.mark.parametrize(
    ("path", "scope", "leaves"),
    [
        ("a/b", Scope(), False),
        ("../a", Scope(), True),
        ("a/../../b", Scope(), True),
        ("/etc/x", Scope(), True),
        ("/home/me/project/a", ROOTED, False),
        ("/home/me/project", ROOTED, False),
        ("/home/me/project2/a", ROOTED, True),
        ("~/a", ROOTED, True),
        ("$TMPDIR/a", ROOTED, False),
        ("$TMPDIR/../a", ROOTED, True),
        ("../a", Scope(cwd="sub"), True),
        ("a", Scope(cwd="sub"), False),
        ("a", Scope(cwd=None), True),
        ("a", Scope(cwd="/etc"), True),
    ],
)
def test_outside(path, scope, leaves):
    assert outside(path, scope) is leaves


def test_cd_is_followed_while_it_is_certain():
    assert Scope().entered("a").cwd == "a"
    assert Scope().entered("..").cwd == ".."
    assert Scope().entered("a").entered("..").cwd is None
    assert Scope().entered(None).entered("a").cwd is None
    assert Scope("/w").entered("/w").at_root
    assert not Scope().entered("a").at_root


def test_protected_and_devices():
    assert protected(".git/config")
    assert protected("a/.GIT/x")
    assert not protected(".github/x")
    assert write_objection("/dev/fd/2", Scope()) is None
    assert "protected" in (write_objection(".git/x", Scope()) or "")
    assert "only known" in (write_objection(None, Scope()) or "")
