"""The files that hosts read their hooks from, where git ignores them."""

from __future__ import annotations

import pytest
from tests.governed import Shell, objects
from tests.hosts.hooking import HostSession

MINE = '{"permissions": {"allow": ["Bash(ls)"]}}'


def limits(host: HostSession) -> list[object]:
    """How many calls each run may make; a person's word makes them more."""
    return [each["limit"] for each in objects(host.shell("runs", "list", "--json").stdout)]


@pytest.mark.parametrize("ignored", [".claude/settings.local.json", ".claude/"])
def test_hooks_are_switched_on_again_in_a_file_that_git_ignores(host: HostSession, ignored: str):
    (host.repo / ".git/info/exclude").write_text(f"{ignored}\n")
    place = host.repo / ".claude/settings.local.json"
    place.parent.mkdir()
    place.write_text(MINE)
    host.prompt()
    host.checkpoint()
    place.write_text(more := MINE.replace("ls", "ls -l"))
    assert host.run("ls").is_allowed
    assert place.read_text() == more, "what the host itself writes down stays"
    args = {"command": "python3 -m unittest"}
    off = '{"disableAllHooks": true}'
    for now in (off, '{"hooks": {}}', "{", off.replace("A", "\\u0041"), f"// x\n{more}"):
        assert host.before("Bash", f"c{now}", **args).is_allowed
        place.write_text(now)
        found = host.after("Bash", f"c{now}", args, {"stdout": ""})
        assert ".claude/settings.local.json had different hooks" in found.told
        assert found.notice
        assert place.read_text() == more


def test_a_refusal_that_a_host_gives_back_is_no_persons_word_with_what_was_put_back(shell: Shell):
    host = HostSession(shell, "gemini")
    (host.repo / ".git/info/exclude").write_text(".gemini/\n")
    host.prompt()
    host.checkpoint()
    host.write("cart.py", "broken(", tool="write_file")
    (host.repo / ".gemini").mkdir()
    (host.repo / ".gemini/settings.json").write_text('{"hooksConfig": {"enabled": false}}')
    refused = host.stop().err
    assert ".gemini/settings.json had different hooks" in refused
    before = limits(host)
    host.prompt(refused)
    assert limits(host) == before
    host.prompt("go on")
    assert limits(host) != before
    host.end()


def test_between_two_prompts_hooks_are_the_persons(host: HostSession):
    (host.repo / ".git/info/exclude").write_text(".claude/\n")
    place = host.repo / ".claude/settings.local.json"
    place.parent.mkdir()
    host.prompt("what does total do?")
    host.stop()
    place.write_text('{"hooks": {"Stop": []}}')
    host.prompt()
    assert host.run("ls").is_allowed
    assert place.read_text() == '{"hooks": {"Stop": []}}'
