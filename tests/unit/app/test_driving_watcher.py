"""What a watcher hears when several cards speak at once."""

from __future__ import annotations

from flyball.app.driving import RedactingWatcher, Watcher
from flyball.workspace.redaction import Redactor

SECRET = "sk-verysecret-0123456789abcdef"


class Ear:
    """Everything a watcher was told, in order."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        watcher = Watcher(
            telemetry=lambda line: self.heard.append(f"<{line['type']} {line.get('card', '')}>"),
            text=self.heard.append,
            output=self.heard.append,
        )
        self.told = RedactingWatcher(watcher, Redactor([SECRET]))

    def says(self, card: str, *pieces: str) -> None:
        for piece in pieces:
            self.told.text(card, piece)

    def ends(self, card: str) -> None:
        self.told.telemetry({"type": "text", "card": card})


def test_one_card_is_heard_line_by_line_and_its_rest_when_it_ends() -> None:
    ear = Ear()
    ear.says("a", "one\ntw", "o\nthr", "ee")
    ear.ends("a")
    assert ear.heard == ["one\n", "two\n", "three", "<text a>"]


def test_the_first_to_speak_is_heard_and_the_next_when_it_has_ended() -> None:
    ear = Ear()
    ear.says("a", "a1\n")
    ear.says("b", "b1\n")
    ear.says("a", "a2\n")
    ear.says("b", "b2\n", "b3")
    ear.ends("a")
    ear.says("b", "\n")
    ear.ends("b")
    assert ear.heard == ["a1\n", "a2\n", "<text a>", "b1\nb2\n", "b3\n", "<text b>"]


def test_a_card_that_ends_before_its_turn_is_told_as_a_whole() -> None:
    ear = Ear()
    ear.says("a", "a1\n")
    ear.says("b", "b1\n")
    ear.ends("b")
    ear.says("a", "a2\n")
    assert ear.heard == ["a1\n", "<text b>", "a2\n"]


def test_what_is_not_about_a_card_interrupts_no_card() -> None:
    ear = Ear()
    ear.says("a", "the key is " + SECRET[:9])
    ear.told.telemetry({"type": "budget"})
    ear.says("b", "b1\n")
    ear.says("a", SECRET[9:] + "\n")
    ear.ends("a")
    assert SECRET[:9] not in "".join(ear.heard)
    assert ear.heard[0] == "<budget >"
    assert ear.heard[-2:] == ["<text a>", "b1\n"]


def test_a_secret_split_over_pieces_of_two_cards_is_hidden_in_both() -> None:
    ear = Ear()
    ear.says("a", SECRET[:12])
    ear.says("b", SECRET[:12])
    ear.says("a", SECRET[12:] + "\n")
    ear.says("b", SECRET[12:] + "\n")
    ear.ends("a")
    ear.ends("b")
    assert SECRET[:12] not in "".join(ear.heard)


def test_the_last_question_is_known_until_something_else_is_reported() -> None:
    ear = Ear()
    assert ear.told.asked == ""
    ear.told.telemetry({"type": "approval", "card": "a", "question": "q1"})
    assert ear.told.asked == "q1"
    ear.ends("a")
    assert ear.told.asked == ""
