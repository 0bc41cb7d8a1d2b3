from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.unit.drivers.asking import line, request_for

from flyball.core.event import Finish, Usage
from flyball.core.thread import Speaker, SpokenCall
from flyball.drivers.protocol import Reply
from flyball.drivers.scripted import ScriptedDriver, read_script
from flyball.errors import ConfigError

SCRIPT = """\
{"text": "Looking.", "calls": [{"tool": "read", "args": {"path": "a.py"}}]}
{"role": "reviewer", "text": "Low risk."}

{"text": "Done.", "usage": {"input_tokens": 5, "output_tokens": 2, "money": 0.5}}
{"finish": "length", "text": "half"}
{"finish": "error", "text": "the provider broke"}
{"finish": "content_filter"}
{}
"""


def driver(tmp_path: Path, text: str = SCRIPT) -> ScriptedDriver:
    path = tmp_path / "script.jsonl"
    path.write_text(text, encoding="utf-8")
    return ScriptedDriver(read_script(path))


def say(scripted: ScriptedDriver, turn: int, role: str = "executor") -> Reply:
    return asyncio.run(scripted.think(request_for(turn=turn, role=role), lambda _: None))


def test_each_role_has_its_own_lines_in_order(tmp_path: Path) -> None:
    scripted = driver(tmp_path)

    first = say(scripted, 0)
    assert first.text == "Looking."
    assert [(call.tool, call.args) for call in first.calls] == [("read", {"path": "a.py"})]
    assert first.finish is Finish.TOOL_CALLS
    assert say(scripted, 0, "reviewer").text == "Low risk."
    second = say(scripted, 1)
    assert (second.text, second.finish) == ("Done.", Finish.STOP)
    assert second.usage == Usage(5, 2, 0.5)


@pytest.mark.parametrize(
    ("turn", "finish"), [(2, Finish.LENGTH), (3, Finish.ERROR), (4, Finish.CONTENT_FILTER)]
)
def test_a_line_may_say_why_it_ends(tmp_path: Path, turn: int, finish: Finish) -> None:
    assert say(driver(tmp_path), turn).finish is finish


def test_an_empty_line_is_an_empty_reply(tmp_path: Path) -> None:
    reply = say(driver(tmp_path), 5)

    assert (reply.text, reply.calls, reply.finish) == ("", (), Finish.STOP)


@pytest.mark.parametrize("script", [SCRIPT, "", "\n\n"])
def test_running_out_is_a_stop_with_words(tmp_path: Path, script: str) -> None:
    for role in ("executor", "verifier"):
        reply = say(driver(tmp_path, script), 99, role)
        assert reply.finish is Finish.STOP
        assert reply.text.strip()
        assert reply.calls == ()


def test_a_new_process_gets_the_same_line_for_the_same_turn(tmp_path: Path) -> None:
    assert say(driver(tmp_path), 1) == say(driver(tmp_path), 1)


def test_text_is_passed_on(tmp_path: Path) -> None:
    heard: list[str] = []
    scripted = driver(tmp_path)
    for turn in (0, 5, 6):
        asyncio.run(scripted.think(request_for(turn=turn), heard.append))
    asyncio.run(scripted.close())

    assert heard == ["Looking.", "(the script has ended)"]


def test_calls_without_ids_get_ids_that_the_thread_does_not_have(tmp_path: Path) -> None:
    call = '{"tool": "read", "args": {}}'
    named = '{"tool": "read", "args": {}, "id": "mine"}'
    scripted = driver(tmp_path, f'{{"calls": [{call}, {call}, {named}, {named}]}}\n')
    before = line(Speaker.DRIVER, calls=(SpokenCall("executor-1-1", "read", {}),))
    request = request_for(lines=(before,))
    reply = asyncio.run(scripted.think(request, lambda _: None))

    ids = [each.id for each in reply.calls]
    assert len({*ids, "executor-1-1"}) == 5
    assert ids[2] == "mine"


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ("{oops", "not JSON"),
        ("[1]", "JSON object"),
        ('{"call": []}', "`calls`"),
        ('{"calls": [{"args": {}}]}', "`tool`"),
        ('{"calls": [{"tool": ""}]}', "calls[0].tool"),
        ('{"calls": [{"tool": "read", "args": []}]}', "calls[0].args"),
        ('{"finish": "done"}', "tool_calls"),
        ('{"text": 3}', "`text`"),
        ('{"role": "excutor"}', "`executor`"),
        ('{"usage": {"input_tokens": -1}}', "input_tokens"),
        ('{"usage": {"tokens": 1}}', "tokens"),
    ],
)
def test_garbage_is_refused_with_its_place(tmp_path: Path, bad: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        driver(tmp_path, f'{{"text": "fine"}}\n{bad}\n')

    assert f"{tmp_path / 'script.jsonl'}:2: " in str(caught.value)
    assert words in str(caught.value)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        read_script(tmp_path / "none.jsonl")
    with pytest.raises(ConfigError, match="cannot be read"):
        read_script(tmp_path)
    binary = tmp_path / "image.png"
    binary.write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(ConfigError, match="not UTF-8"):
        read_script(binary)


def test_a_byte_order_mark_and_windows_lines_are_no_garbage(tmp_path: Path) -> None:
    path = tmp_path / "script.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"text": "a"}\r\n{"text": "b"}\r\n')

    assert [form.text for form in read_script(path)["executor"]] == ["a", "b"]
