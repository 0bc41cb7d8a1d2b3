from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.unit.drivers.asking import line, request_for

from flyball.drivers.protocol import Reply
from flyball.drivers.scripted import ENDED, ScriptedDriver, read_script
from flyball.errors import ConfigError
from flyball.run.event import Finish, Usage
from flyball.run.thread import Speaker, SpokenCall

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


TOGETHER = """\
{"card": "step-2", "text": "two, first"}
{"text": "shared, first"}
{"card": "step-2", "role": "reviewer", "text": "two is fine"}
{"card": "step-2", "text": "two, second"}
{"text": "shared, second"}
{"role": "reviewer", "text": "fine"}
{"text": "shared, third"}
"""


class Cards:
    """Cards whose replies are counted as the journal would."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.scripted = driver(path, TOGETHER)
        self.turns: dict[tuple[str, str], int] = {}

    def ask(self, card: str, role: str = "executor") -> str:
        turns = {each: count for (each, of), count in self.turns.items() if of == role}
        request = request_for(card=card, role=role, turns=turns, turn=sum(turns.values()))
        return asyncio.run(self.scripted.think(request, lambda _: None)).text

    def hear(self, card: str, role: str = "executor") -> None:
        self.turns[card, role] = self.turns.get((card, role), 0) + 1

    def turn(self, card: str, role: str = "executor") -> str:
        text = self.ask(card, role)
        self.hear(card, role)
        return text

    def resume(self) -> None:
        self.scripted = driver(self.path, TOGETHER)


def test_a_card_has_its_own_lines_and_the_others_share_theirs(tmp_path: Path) -> None:
    cards = Cards(tmp_path)

    assert cards.turn("step-1") == "shared, first"
    assert cards.turn("step-2") == "two, first"
    assert cards.turn("step-3") == "shared, second"
    assert cards.turn("step-2", "reviewer") == "two is fine"
    assert cards.turn("step-1", "reviewer") == "fine"
    assert cards.turn("step-2") == "two, second"
    assert cards.turn("step-2") == ENDED
    assert cards.turn("step-1") == "shared, third"
    assert cards.turn("step-3") == ENDED


def test_a_new_process_goes_on_with_every_card_where_it_was(tmp_path: Path) -> None:
    cards = Cards(tmp_path)
    for card in ("step-2", "step-1"):
        cards.turn(card)
    cards.ask("step-2")
    cards.resume()

    assert cards.ask("step-2") == "two, second"
    assert cards.ask("step-1") == "shared, second"


def test_cards_that_ask_at_once_do_not_get_the_same_shared_line(tmp_path: Path) -> None:
    cards = Cards(tmp_path)

    assert cards.ask("step-1") == "shared, first"
    assert cards.ask("step-3") == "shared, second"
    assert cards.ask("step-1") == "shared, first"
    cards.hear("step-3")
    assert cards.ask("step-3") == "shared, third"
    cards.hear("step-1")
    assert cards.ask("step-1") == ENDED


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
    script = f'{{"calls": [{call}, {call}, {named}, {named}]}}\n'
    before = line(Speaker.DRIVER, calls=(SpokenCall("executor-7-1", "read", {}),))
    requests = (request_for(lines=(before,), number=7), request_for(card="c2", number=8))
    replies = [
        asyncio.run(driver(tmp_path, script).think(request, lambda _: None)) for request in requests
    ]
    ids = [[each.id for each in reply.calls] for reply in replies]

    assert len({*ids[0], "executor-7-1"}) == 5
    assert ids[0][2] == "mine"
    assert set(ids[0]) & set(ids[1]) == {"mine"}


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
