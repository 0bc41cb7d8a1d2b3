import json

import pytest
from click.testing import CliRunner

from flyball.cli.intent import intent
from flyball.errors import FlyballError, NotFound, UsageError

FIELDS = ["intent", "budget", "confidence", "reasons", "alternatives", "change"]


def run(*arguments, stdin=None):
    return CliRunner().invoke(intent, arguments, input=stdin)


def refusal(*arguments, stdin=None):
    error = run(*arguments, stdin=stdin).exception
    assert isinstance(error, FlyballError)
    return error


def test_people_get_the_intent_the_budget_and_the_reason():
    result = run("fix", "the", "typo")
    assert result.exit_code == 0
    first, second, *_ = result.stdout.splitlines()
    assert first.startswith("small_fix: 15 calls, ")
    assert second == "  because “fix the typo” tells to fix"


def test_programs_get_one_object():
    reading = json.loads(run("why is the preview blank?", "--json").stdout)
    assert list(reading) == FIELDS
    assert (reading["intent"], reading["budget"]) == ("diagnose", 8)
    assert list(reading["alternatives"][0]) == ["intent", "confidence"]


def test_the_text_may_come_from_stdin():
    assert run("-", "--json", stdin="thanks!").stdout.startswith('{"intent":"conversational"')


@pytest.mark.parametrize(
    "history",
    [
        [{"role": "user", "text": "it is red"}, {"role": "assistant", "text": "Shall I fix it?"}],
        [{"role": "human", "content": "it is red"}, {"role": "ai", "content": "Shall I fix it?"}],
        [{"role": "assistant", "content": [{"type": "text", "text": "Shall I fix it?"}, "x"]}],
        ["it is red", "Shall I fix it?"],
        ["Assistant: Shall I fix it?"],
        {"messages": [{"role": "assistant", "text": "Shall I fix it?"}]},
        {"history": ["Shall I fix it?"]},
    ],
)
def test_the_conversation_is_taken_into_account_in_any_usual_shape(tmp_path, history):
    file = tmp_path / "history.json"
    file.write_text(json.dumps(history))
    output = run("yes, do it", "--history", str(file), "--json").output
    assert json.loads(output)["intent"] == "small_fix"


def test_the_conversation_may_be_one_object_per_line(tmp_path):
    file = tmp_path / "history.jsonl"
    file.write_text('{"role": "user", "text": "hi"}\n\n"assistant: Shall I fix it?"\n')
    assert run("yes", "--history", str(file)).stdout.startswith("small_fix")


def test_a_batch_gives_one_line_for_each_request():
    lines = '{"text": "hello", "label": 1}\n\n"fix the typo"\n{"text": "yes", "history": null}\n'
    readings = [json.loads(line) for line in run("--batch", "-", stdin=lines).stdout.splitlines()]
    assert [r["intent"] for r in readings] == ["conversational", "small_fix", "conversational"]
    assert all(list(reading) == FIELDS for reading in readings)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("nope", "is not JSON"),
        ("[" * 5000, "is not JSON"),
        ("[]", '"text" is missing or is not a string'),
        ('{"text": 3}', '"text" is missing or is not a string'),
        ('{"text": "x", "history": 3}', "the history is not a list"),
        ('{"text": "x", "history": [3]}', "a turn of the history has no text"),
        ('{"text": "x", "history": [{"text": 3}]}', "a turn of the history has no text"),
        ('{"text": "x", "history": [{"role": 1, "text": ""}]}', "a role in the history"),
        ('{"text": "x", "history": {}}', "is not a list"),
    ],
)
def test_a_bad_line_of_a_batch_is_named_and_nothing_is_answered(tmp_path, line, sentence):
    file = tmp_path / "batch.jsonl"
    file.write_text(f'{{"text": "hello"}}\n{line}\n')
    result = run("--batch", str(file))
    assert isinstance(result.exception, UsageError)
    assert result.stdout == ""
    assert str(result.exception).startswith(f"{file}:2: ")
    assert sentence in str(result.exception)


def test_a_bad_history_is_named(tmp_path):
    file = tmp_path / "history.json"
    file.write_text("[1, 2")
    assert str(refusal("yes", "--history", str(file))).startswith(f"{file}:1: this is not JSON")


def test_a_file_that_is_not_text_is_named_with_its_line(tmp_path):
    file = tmp_path / "batch.jsonl"
    file.write_bytes(b'{"text": "hello"}\n\xff\xfe\n')
    assert "batch.jsonl:2: this is not UTF-8 text" in str(refusal("--batch", str(file)))


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    missing = refusal("--batch", str(tmp_path / "none"))
    assert isinstance(missing, NotFound)
    assert "cannot be read" in str(refusal("--batch", str(tmp_path)))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "There is no text to read."),
        (("fix", "--batch", "-"), "--batch takes its texts and histories from the file."),
        (("--history", "-", "--batch", "-"), "--batch takes its texts"),
        (("-", "--history", "-"), "Text and history cannot both come from stdin."),
    ],
)
def test_arguments_that_contradict_each_other_are_refused(arguments, sentence):
    assert str(refusal(*arguments)).startswith(sentence)


@pytest.mark.parametrize("text", ["", "\x00", "🤔", "שלום עולם"])
def test_odd_text_is_answered(text):
    assert run("--json", "--", text).exit_code == 0
