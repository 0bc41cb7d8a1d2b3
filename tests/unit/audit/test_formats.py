"""Files that are hostile, broken, foreign or of another day: a sentence each, nothing misread."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from tests.unit.audit.recorded import RECORDED

from flyball.audit import formats
from flyball.audit.auditing import judge_file
from flyball.audit.formats import transcripts
from flyball.audit.index import state_of
from flyball.audit.judging import FileAudit
from flyball.guards.guard import GuardLimits

CLEAN = (RECORDED / "claude" / "clean-fix.jsonl").read_text()


def recorded_lines(host: str) -> list[str]:
    return (RECORDED / host / "clean-fix.jsonl").read_text().splitlines()


def judged(file: Path, text: str | bytes) -> FileAudit:
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return judge_file(file, GuardLimits())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "a.jsonl"


def with_line(line: bytes) -> bytes:
    head, _, rest = CLEAN.encode().partition(b"\n")
    return head + b"\n" + line + b"\n" + rest


@pytest.mark.parametrize(
    ("line", "note"),
    [
        (b'{"type": "user", "cut', "Line 2 is not JSON and was skipped."),
        (b"[" * 100_000, "Line 2 is nested too deeply and was skipped."),
        (b'{"a":' * 100_000, "Line 2 is nested too deeply and was skipped."),
        (b'"\xff\xfe"', "Line 2 is not JSON and was skipped."),
        (b'{"type": "user", "x": "\x00\x1b[31m"}', "Line 2 is not JSON and was skipped."),
    ],
)
def test_a_line_that_cannot_be_read_costs_only_itself(file: Path, line: bytes, note: str):
    found = judged(file, with_line(line))
    assert found.notes == (note,)
    assert found.sessions[0].calls == 3


def test_a_line_that_is_too_long_is_passed_over_in_bounded_memory(
    file: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(formats, "LONGEST_LINE", 1 << 16)
    found = judged(file, with_line(b'{"type": "user", "x": "' + b"x" * (1 << 18) + b'"}'))
    assert found.notes == ("Line 2 is longer than 0 MB and was skipped.",)
    assert found.sessions[0].calls == 3


def test_the_last_line_of_a_session_that_goes_on_may_be_cut_off(file: Path):
    found = judged(file, CLEAN + '{"type": "assis')
    assert found.notes[0].endswith("the last one, is cut off and was skipped.")


def test_notes_are_few(file: Path):
    found = judged(file, CLEAN + "broken\n" * 20)
    assert len(found.notes) == 6
    assert found.notes[-1] == "and 15 more of that kind."


def test_circles_of_parents_lead_nowhere(file: Path):
    told = [json.loads(line) for line in CLEAN.splitlines()]
    for number, line in enumerate(told):
        line["parentUuid"] = told[(number + 1) % len(told)].get("uuid")
    found = judged(file, "\n".join(map(json.dumps, told)))
    assert (found.sessions[0].calls, found.findings) == (3, [])


@pytest.mark.parametrize("kind", ["user", "assistant"])
@pytest.mark.parametrize("message", [None, 7, [], {"content": 7}, {"content": [7, {"type": 7}]}])
def test_odd_values_are_nothing(file: Path, kind: str, message: object):
    odd = {"type": kind, "sessionId": "s", "timestamp": {}, "cwd": 7, "message": message}
    found = judged(file, CLEAN + json.dumps(odd) + "\n")
    assert found.sessions[0].calls == 3


def test_control_characters_in_what_was_said_stay_what_they_are(file: Path):
    found = judged(
        file, CLEAN.replace("the total is wrong", "the \\u001b[2J\\u0000 total is wrong")
    )
    assert "\x1b" in found.sessions[0].asked


@pytest.mark.parametrize(
    "text",
    ['{"type": "conversation_v9", "v": 9}\n', '{"request": 1}\n', '{"type": "user"}\n'],
)
def test_an_unknown_format_is_named_and_passed_over(file: Path, text: str):
    found = judged(file, text)
    assert found.notes == ("It is of no format that Flyball knows, and was skipped.",)
    assert found.sessions == []


def test_an_empty_file_is_nothing(file: Path):
    assert judged(file, "").notes == ()


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("{broken", ("It is not JSON, or cut off, and was skipped.",)),
        ("[" * 100_000, ("It is nested too deeply and was skipped.",)),
        ('{"some": "settings"}', ()),
        ('{"messages": 7}', ("It was skipped: `messages` is not a list of steps.",)),
        ("7", ("It was skipped: `trajectory` is not a list of steps.",)),
        ('{"role": "user", "sessionID": "s"}', ()),
    ],
)
def test_a_document_that_is_no_transcript(tmp_path: Path, text: str, note: tuple[str, ...]):
    assert judged(tmp_path / "a.json", text).notes == note


def test_recordings_of_other_agents_are_read(tmp_path: Path):
    steps = [{"action": "ls", "observation": "cart.py"}, {"action": "submit", "observation": ""}]
    found = judged(tmp_path / "run.traj", json.dumps({"trajectory": steps}))
    assert [(each.session, each.host, each.calls) for each in found.sessions] == [
        ("run", "swe-agent", 1)
    ]
    line = json.dumps({"instance_id": "one", "history": [
        {"id": 1, "action": "run", "args": {"command": "ls"}, "source": "agent"}]})  # fmt: skip
    found = judged(tmp_path / "runs.jsonl", f"{line}\n")
    assert [(each.session, each.host) for each in found.sessions] == [("one", "openhands")]


def test_an_older_session_of_gemini_is_one_document(tmp_path: Path):
    told = [json.loads(line) for line in recorded_lines("gemini")]
    messages = [line for line in told if "type" in line]
    found = judged(tmp_path / "a.json", json.dumps({**told[0], "messages": messages}))
    assert [(each.host, each.calls) for each in found.sessions] == [("gemini", 3)]


def test_an_older_opencode_kept_files(tmp_path: Path):
    rows = [json.loads(line) for line in recorded_lines("opencode")]
    store = tmp_path / "storage"

    def put(place: Path, value: object) -> Path:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(value))
        return place

    session = Path()
    for row in rows:
        if row["table"] == "session":
            head = {"id": row["id"], "directory": row["directory"], "projectID": "p"}
            session = put(store / "session" / "p" / f"{row['id']}.json", head)
        elif row["table"] == "message":
            put(store / "message" / row["session_id"] / f"{row['id']}.json", row["data"])
        else:
            put(store / "part" / row["message_id"] / f"{row['id']}.json", row["data"])
    (store / "message" / session.stem / "zzz.json").write_text("{broken")
    found = judge_file(session, GuardLimits())
    assert [(each.host, each.calls) for each in found.sessions] == [("opencode", 3)]


def test_a_data_base_of_another_layout_is_named(tmp_path: Path):
    with sqlite3.connect(tmp_path / "opencode.db") as db:
        db.execute("CREATE TABLE talk (id)")
    db.close()
    assert "no such table" in judge_file(tmp_path / "opencode.db", GuardLimits()).notes[0]
    assert (
        judged(tmp_path / "x.db", b"nothing of the kind" * 99)
        .notes[0]
        .startswith("This is not an opencode database")
    )


def test_rows_that_are_no_json_are_nothing(tmp_path: Path):
    with sqlite3.connect(tmp_path / "opencode.db") as db:
        db.executescript(
            "CREATE TABLE session (id, directory, parent_id, time_created);"
            "CREATE TABLE message (id, session_id, time_created, data);"
            "CREATE TABLE part (id, message_id, data);"
            "INSERT INTO session VALUES ('s', '/shop', NULL, 1);"
            "INSERT INTO message VALUES ('m', 's', 1, '{broken');"
        )
    db.close()
    assert judge_file(tmp_path / "opencode.db", GuardLimits()).notes == ()


def test_a_file_that_cannot_be_opened_is_said(tmp_path: Path):
    assert judge_file(tmp_path / "gone.jsonl", GuardLimits()).notes == (
        "It cannot be read: No such file or directory.",
    )


def event(folder: Path, number: int, **told: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{number}.json").write_text(json.dumps({"id": number, "source": "agent", **told}))


def test_a_session_that_open_hands_keeps_event_by_event_is_one_session(tmp_path: Path):
    folder = tmp_path / "sessions" / "abc-1" / "events"
    event(folder, 2, action="edit", args={"path": "/w/a.py", "old_str": "1", "new_str": "2"})
    event(folder, 10, action="finish", args={"final_thought": "All done."})
    event(folder, 3, observation="edit", cause=2, content="ok", extras={})
    (folder / "notes.json").write_text("{}")
    assert [*transcripts([tmp_path])] == [folder]
    found = judge_file(folder, GuardLimits())
    assert [(each.session, each.host, each.edits) for each in found.sessions] == [
        ("abc-1", "openhands", 1)
    ]
    assert [each.rule for each in found.findings] == ["unchecked", "blind-write"]
    before = state_of(folder)
    event(folder, 11, observation="null", content="", extras={})
    assert state_of(folder) != before


@pytest.mark.exhaustive
def test_a_line_of_a_hundred_megabytes_costs_only_itself(file: Path):
    with file.open("wb") as stream:
        head, _, rest = CLEAN.encode().partition(b"\n")
        stream.write(head + b'\n{"type": "user", "x": "')
        for _ in range(100):
            stream.write(b"x" * (1 << 20))
        stream.write(b'"}\n' + rest)
    found = judge_file(file, GuardLimits())
    assert found.notes == ("Line 2 is longer than 32 MB and was skipped.",)
    assert found.sessions[0].calls == 3
