"""SWE-agent's recordings, in all the shapes they come in."""

from __future__ import annotations

import json

import pytest

from flyball.agents.swe_agent import RecordedTurn, kind_of, step_of, steps_of
from flyball.errors import UsageError
from flyball.guards.guard import GuardLimits
from flyball.guards.guard_memory import Kind, Memory, remember, trips

COMMANDS: list[tuple[str, Kind]] = [
    ("ls -F", "read"),
    ("open src/a.py 10", "read"),
    ("find_file x.py src", "read"),
    ("search_dir 'def f' src", "read"),
    ("cat a.py | grep -n 'x > y'", "read"),
    ("cd src && ls", "read"),
    ("sed -n '1,20p' a.py", "read"),
    ("git log -3", "read"),
    ("LANG=C grep x y", "read"),
    ("/usr/bin/grep x y", "read"),
    ("ls 2>/dev/null", "read"),
    ("grep x y 2>&1 | head", "read"),
    ("str_replace_editor view /a.py", "read"),
    ("str_replace_editor create /a.py --file_text 'x'", "mutate"),
    ("str_replace_editor", "mutate"),
    ("edit 1:1\nimport os\nls\nend_of_edit", "mutate"),
    ("create a.py", "mutate"),
    ("insert 'x'", "mutate"),
    ("sed -i 's/a/b/' a.py", "mutate"),
    ("perl -i -pe 's/a/b/' a.py", "mutate"),
    ("cat > a.py <<'EOF'\nprint(1)\nEOF", "mutate"),
    ("cat <<EOF > a.py\nls\nEOF\nls", "mutate"),
    ("echo hi >> a.txt", "mutate"),
    ("git apply x.patch", "mutate"),
    ("echo x | tee a.txt", "mutate"),
    ("python reproduce.py", "verify"),
    ("cd x; timeout 5 python -m pytest -q", "verify"),
    ("python - <<'EOF'\nopen('a', 'w')\nEOF", "verify"),
    ("npm test", "verify"),
    ("ls && make test", "verify"),
    ("rm reproduce.py", "run"),
    ("git stash", "run"),
    ("git", "run"),
    ("submit", "run"),
    ("echo hello", "run"),
    ("cd x", "run"),
    ("unheard-of --flag", "run"),
    ("ls && unheard-of", "run"),
]


@pytest.mark.parametrize(("action", "kind"), COMMANDS)
def test_commands_are_distinguished(action: str, kind: Kind):
    assert kind_of(action) == kind


FAILED = [
    "Your proposed edit has introduced new syntax error(s). Please ...",
    "Your edit was not applied (file not modified): Text 'x' not found",
    "No replacement was performed, old_str `x` did not appear verbatim in /a.py.",
    "Your search and replace strings are the same. No changes were made.",
    "No file open. Use the open command first.",
    "Usage: edit <start_line>:<end_line>",
    "Error: <line_number> must be a number",
    "File a.py not found",
    "The path /a does not exist. Please provide a valid path.",
    "<returncode>1</returncode>\n<output></output>",
    "error: patch failed: a.py:3",
    "bash: edit: command not found",
]


@pytest.mark.parametrize("seen", FAILED)
def test_an_edit_that_was_not_applied(seen: str):
    assert not step_of(RecordedTurn("edit 1:1\nx\nend_of_edit", seen)).ok


@pytest.mark.parametrize(
    "seen",
    [
        "[File: /errors.py (9 lines total)]\n1:raise ValueError('Error: invalid')\n2:Usage: x",
        "Text replaced. Please review the changes",
        "The file /a.py has been edited.",
        "<returncode>0</returncode>\n<output>\n</output>",
        "",
    ],
)
def test_an_edit_that_was_applied(seen: str):
    assert step_of(RecordedTurn("edit 1:1\nx\nend_of_edit", seen)).ok


@pytest.mark.parametrize(
    "seen",
    [
        'Traceback (most recent call last):\n  File "a.py", line 1\nValueError: no',
        "=== 2 failed, 3 passed in 0.1s ===",
        "E   assert 1 == 2",
        "error: expected `;`",
        "\nEXECUTION TIMED OUT",
        "<returncode>2</returncode>\n<output>x</output>",
    ],
)
def test_a_failing_run_is_seen_and_with_its_status_has_a_fingerprint(seen: str):
    step = step_of(RecordedTurn("python a.py", seen))
    assert (step.ok, step.error) == (False, "")
    known = step_of(RecordedTurn("python a.py", seen, status=1))
    assert known.error
    assert known.error != step_of(RecordedTurn("python a.py", seen, status=2)).error
    assert step_of(RecordedTurn("python a.py", seen, status=0)).ok
    assert not step_of(RecordedTurn("cat a.py", seen, status=1)).error


def test_a_run_that_speaks_of_errors_in_passing_has_none():
    step = step_of(RecordedTurn("python a.py", "handled 0 errors\nno failures"))
    assert (step.kind, step.ok, step.error) == ("verify", True, "")


def test_what_a_file_says_is_not_an_error_of_reading_it():
    assert step_of(RecordedTurn("cat log", "Traceback (most recent call last)")).error == ""


def test_a_stopwatch_and_an_address_do_not_make_a_new_outcome():
    one = step_of(
        RecordedTurn("pytest", "==== 1 failed in 0.12s ====\n<A object at 0x7f0011223344>\r\n")
    )
    two = step_of(
        RecordedTurn("pytest", "==== 1 failed in 3.40s ====\n<A object at 0x7f99aabbccdd>")
    )
    assert one == two
    unittest = [
        step_of(RecordedTurn("python t.py", f"Ran 3 tests in {t}s")) for t in ("0.001", "0.9")
    ]
    assert unittest[0] == unittest[1]


def test_a_count_that_grows_is_a_new_outcome():
    one, two = (
        step_of(RecordedTurn("cat build.log", f"built {n} of 90 in {n}.0s")) for n in (1, 2)
    )
    assert one.call == two.call
    assert one.outcome != two.outcome


def test_another_open_file_is_another_outcome():
    one, two = (
        step_of(RecordedTurn("edit 1:1\nx", "File updated.", place)) for place in ("a.py", "b.py")
    )
    assert one.outcome != two.outcome


def test_scrolling_reads_on_and_is_no_poll():
    pages = [step_of(RecordedTurn("scroll_down", f"page {n}")) for n in range(28)]
    memory = Memory()
    for page in pages:
        memory = remember(memory, page)
    assert [trip.guard for trip in trips(memory, GuardLimits())] == ["reading-on"]


def test_refusals_and_empty_actions():
    blocked = "Interactive operation 'vim' is not supported by this environment"
    assert step_of(RecordedTurn("vim a.py", blocked)).kind == "refused"
    assert step_of(RecordedTurn("  \n", "")).kind == "monologue"


def test_steps_with_fields_missing_or_odd():
    steps = steps_of(
        {
            "trajectory": [
                {"action": "ls\n", "observation": "a\n", "state": '{"open_file": "n/a"}'},
                {"action": "ls", "observation": "a", "state": {"open_file": "n/a"}},
                {"action": "ls", "observation": [{"type": "text", "text": "a"}], "state": "{"},
                {"action": "ls", "observation": ["a"], "state": None},
                {"action": "ls", "observation": None},
                {"action": {"name": "x"}, "observation": 3},
                {"response": "I will look.\n```\nls\n```", "observation": "a"},
                {"action": None, "thought": "I wonder.", "observation": ""},
                {"thought": "I wonder.", "observation": ""},
                {"observation": "only this"},
                {},
            ]
        }
    )
    kinds = [step.kind for step in steps]
    assert kinds == [*["read"] * 5, "run", "read", "monologue", "monologue"]
    assert steps[0] == steps[1]
    assert steps[2].outcome == steps[3].outcome


def test_odd_characters_are_taken_as_they_come():
    recording = json.loads('{"trajectory": [{"action": "ls \\ud800", "observation": "\\udfff"}]}')
    assert steps_of(recording)[0].kind == "read"


def test_a_bare_list_of_steps_or_messages():
    assert [s.kind for s in steps_of([{"action": "ls", "observation": "a"}])] == ["read"]
    said = [{"role": "assistant", "content": "```bash\nls\n```"}, {"role": "user", "content": "a"}]
    assert [s.kind for s in steps_of(said)] == ["read"]
    assert steps_of([]) == ()


HISTORY = [
    {"role": "system", "content": "be good"},
    {"role": "user", "content": "a demonstration", "is_demo": True},
    {"role": "user", "content": "the issue"},
    {"role": "assistant", "content": "look", "action": "ls", "thought": "look"},
    {"role": "user", "content": "a.py"},
    {"role": "assistant", "content": "Discuss.\n```\nold\n```\nthen\n```\nedit 1:1\nx\n```"},
    {"role": "user", "content": [{"type": "text", "text": "File updated."}]},
    {"role": "assistant", "content": "I am thinking aloud."},
    {"role": "user", "content": "Your last output did not use any tool calls!"},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {"function": {"name": "bash", "arguments": '{"command": "pytest -q"}'}, "id": "1"}
        ],
    },
    {"role": "tool", "content": "1 passed", "tool_call_ids": ["1"]},
    {
        "role": "assistant",
        "content": "two at once",
        "tool_calls": [
            {
                "function": {
                    "name": "str_replace_editor",
                    "arguments": {"command": "view", "path": "/a.py"},
                }
            },
            {"name": "find_file", "arguments": {"file_name": "b.py"}},
            {"function": {"name": "submit", "arguments": "not json"}},
            {"name": "submit"},
            "odd",
        ],
    },
    {"role": "tool", "content": "text of a"},
    {"role": "tool", "content": "found b"},
]


def test_a_history_alone_is_enough():
    steps = steps_of({"history": HISTORY})
    assert [step.kind for step in steps] == [
        "read",
        "mutate",
        "monologue",
        "verify",
        "read",
        "read",
        "run",
        "run",
        "monologue",
    ]


def test_an_empty_trajectory_falls_back_on_its_history():
    assert len(steps_of({"trajectory": [], "history": HISTORY})) == 9
    assert steps_of({"trajectory": []}) == ()
    assert steps_of({"history": []}) == ()
    assert len(steps_of({"messages": HISTORY})) == 9


def test_calls_that_differ_in_arguments_are_different_calls():
    def asked(path: str) -> dict[str, object]:
        call = {"name": "str_replace_editor", "arguments": {"command": "view", "path": path}}
        return {"role": "assistant", "content": "", "tool_calls": [call]}

    one, two = steps_of({"history": [asked("/a.py"), asked("/b.py")]})
    assert one.call != two.call


def test_messages_under_the_name_of_steps():
    said = [
        {"role": "system", "text": None, "system_prompt": "be good"},
        {"role": "user", "text": "the issue"},
        {"role": "ai", "text": "I look.\n```\nls\n```"},
        {"role": "user", "text": "a.py"},
        {"role": "ai", "text": "DISCUSSION\n```\nsubmit\n```"},
    ]
    assert [step.kind for step in steps_of({"trajectory": said})] == ["read", "run"]


def test_an_exit_status_is_read_where_mini_swe_agent_puts_it():
    said = [
        {"role": "assistant", "content": "So:\n```mswea_bash_command\npytest\n```"},
        {"role": "user", "content": "<returncode>2</returncode>\n<output>\nE   no\n</output>"},
    ]
    (step,) = steps_of({"messages": said, "trajectory_format": "mini-swe-agent-1"})
    assert (step.kind, step.ok, bool(step.error)) == ("verify", False, True)


def test_calls_between_tags_are_read():
    command = "<function=execute_bash>\n<parameter=command>\npytest -q\n</parameter>\n</function>"
    view = "<function=str_replace_editor><parameter=command>view</parameter>"
    said = [
        {"role": "assistant", "content": f"I run it.\n{command}"},
        {"role": "user", "content": "ok"},
        {"role": "assistant", "content": f"{view}<parameter=path>/a</parameter>"},
        {"role": "user", "content": "1 x"},
    ]
    assert [step.kind for step in steps_of({"messages": said})] == ["verify", "read"]


def test_calls_of_one_reply_are_one_step():
    wanted = [
        {"function": {"name": "bash", "arguments": json.dumps({"command": f"cat {n}"})}}
        for n in range(3)
    ]
    said = [{"role": "assistant", "tool_calls": wanted, "content": ""}]
    said += [{"role": "tool", "content": str(n)} for n in range(3)]
    assert [step.reply for step in steps_of({"messages": said})] == [1, 1, 1]


def test_replies_in_an_unknown_protocol_are_refused_and_not_misread():
    said = [
        message
        for n in range(6)
        for message in (
            {"role": "assistant", "content": f"<do>look {n // 5}</do>"},
            {"role": "user", "content": "seen"},
        )
    ]
    with pytest.raises(UsageError, match="no recognisable call in its `history`"):
        steps_of({"history": said})
