"""What a driver means by a call, as its own habits spell it."""

import pytest

from flyball.run.thread import SpokenCall
from flyball.terms.call import Access
from flyball.tools.call.prepare import prepare
from flyball.tools.toolbox import TOOLS

BY_NAME = {tool.name: tool for tool in TOOLS}

CHECKPOINT = {
    "goal": "g",
    "findings": "f",
    "proposed_action": "p",
    "files": ["a.py"],
    "verify_with": ["pytest"],
}

MEANT = [
    # Names and fields of other agents' tools
    ("read", {"file_path": "a.py"}, "read", {"path": "a.py"}),
    ("Read", {"file_path": "a.py", "offset": 3, "limit": 5}, "read", "path a.py offset 3 limit 5"),
    ("read_file", {"target_file": "a.py"}, "read", {"path": "a.py"}),
    ("functions.read", {"path": "a.py"}, "read", {"path": "a.py"}),
    ("mcp__fs__read_file", {"path": "a.py"}, "read", {"path": "a.py"}),
    ("readFile", {"filePath": "a.py"}, "read", {"path": "a.py"}),
    ("open", {"path": "a.py", "line_number": None}, "read", {"path": "a.py"}),
    ("view", {"path": "a.py", "view_range": [2, 4]}, "read", "path a.py offset 2 limit 3"),
    ("view", {"path": "a.py", "view_range": [2, -1]}, "read", "path a.py offset 2"),
    ("read", {"path": "a.py", "lines": "10-20"}, "read", "path a.py offset 10 limit 11"),
    (
        "read",
        {"path": "a.py", "start_line": 2, "end_line": 3},
        "read",
        "path a.py offset 2 limit 2",
    ),
    ("read", {"path": "a.py", "end_line": 3}, "read", "path a.py limit 3"),
    (
        "read_file",
        {
            "target_file": "a.py",
            "should_read_entire_file": True,
            "start_line_one_indexed": 1,
            "end_line_one_indexed_inclusive": 2,
            "explanation": "to see it",
        },
        "read",
        {"path": "a.py"},
    ),
    ("read", {"paths": ["a.py"]}, "read", {"path": "a.py"}),
    ("read", {"path": ["a.py"]}, "read", {"path": "a.py"}),
    ("read", {"path": "a.py", "offset": 0}, "read", {"path": "a.py"}),
    ("read", {"path": "a.py", "offset": "3"}, "read", "path a.py offset 3"),
    ("read", {"path": "a.py", "limit": ""}, "read", {"path": "a.py", "limit": None}),
    ("read", {"path": "a.py", "limit": None, "head": None}, "read", None),
    ("grep", {"pattern": "x", "path": "src"}, "grep", {"q": "x", "dir": "src"}),
    (
        "Grep",
        {"pattern": "x", "glob": "*.py", "-n": True, "-i": True, "-C": 2, "output_mode": "content"},
        "grep",
        {"q": "x", "globs": ["*.py"], "ignore_case": True, "context": 2},
    ),
    ("grep", {"pattern": "x", "-A": "1", "-B": 3}, "grep", {"q": "x", "context": 3}),
    (
        "grep_search",
        {"query": "x", "include_pattern": "*.py"},
        "grep",
        {"q": "x", "globs": ["*.py"]},
    ),
    ("grep", {"q": "x", "case_sensitive": False}, "grep", {"q": "x", "ignore_case": True}),
    ("grep", {"q": "x", "is_regex": False}, "grep", {"q": "x", "literal": True}),
    ("grep", {"q": "x", "exclude": "docs/**"}, "grep", {"q": "x", "globs": ["!docs/**"]}),
    (
        "grep",
        {"q": "x", "globs": "*.py", "exclude": "d/**"},
        "grep",
        {"q": "x", "globs": ["*.py", "!d/**"]},
    ),
    ("grep", {"q": "x", "type": "py"}, "grep", {"q": "x", "globs": ["*.py"]}),
    ("grep", {"q": 404}, "grep", {"q": "404"}),
    (
        "grep",
        {"q": "x", "globs": '["*.py", "*.md"]'},
        "grep",
        {"q": "x", "globs": ["*.py", "*.md"]},
    ),
    ("grep", {"q": "x", "globs": "*.py"}, "grep", {"q": "x", "globs": ["*.py"]}),
    (
        "grep",
        {"q": "x", "max": "10", "literal": "True"},
        "grep",
        {"q": "x", "max": 10, "literal": True},
    ),
    ("grep", {"q": "x", "max": 10.0, "dir": ""}, "grep", {"q": "x", "max": 10}),
    ("search_dir", {"search_term": "x", "dir": "src"}, "grep", {"q": "x", "dir": "src"}),
    ("list", {"pattern": ""}, "list", {}),
    ("LS", {"path": "src", "ignore": ["x"]}, "list", {"path": "src"}),
    ("Glob", {"pattern": "**/*.py", "path": "src"}, "list", {"pattern": "**/*.py", "path": "src"}),
    ("list", {"path": "src/*.py"}, "list", {"pattern": "src/*.py"}),
    ("list_files", {"directory": "src", "recursive": False}, "list", {"path": "src", "depth": 1}),
    ("list_dir", {"relative_workspace_path": "src"}, "list", {"path": "src"}),
    ("find_file", {"file_name": "a.py", "dir": "src"}, "list", {"pattern": "a.py", "path": "src"}),
    ("bash", {"command": "ls"}, "bash", {"cmd": "ls"}),
    (
        "Bash",
        {"command": "ls", "description": "look", "timeout": 1000, "run_in_background": False},
        "bash",
        {"cmd": "ls"},
    ),
    ("shell", {"command": ["bash", "-lc", "ls -l | wc"]}, "bash", {"cmd": "ls -l | wc"}),
    ("shell", {"command": ["ls", "-l", "a b"]}, "bash", {"cmd": "ls -l 'a b'"}),
    ("shell", {"command": ["ls"], "workdir": "src dir"}, "bash", {"cmd": "cd 'src dir' && ls"}),
    ("execute_bash", {"command": "ls", "cwd": "."}, "bash", {"cmd": "ls"}),
    (
        "Write",
        {"file_path": "n.py", "content": "x"},
        "write_file",
        {"path": "n.py", "content": "x"},
    ),
    (
        "create_file",
        {"path": "n.py", "file_text": "x", "overwrite": True, "encoding": "utf-8"},
        "write_file",
        {"path": "n.py", "content": "x"},
    ),
    (
        "delete_file",
        {"target_file": "a.py", "explanation": "unused"},
        "delete_file",
        {"path": "a.py"},
    ),
    ("run_tests", {"path": "tests/a.py"}, "test", {"args": "tests/a.py"}),
    ("test", {"args": '["-k", "x"]'}, "test", {"args": ["-k", "x"]}),
    ("test", {"args": "- tests/a.py\n- -x"}, "test", {"args": ["tests/a.py", "-x"]}),
    (
        "test",
        {"command": "python -m pytest tests -x"},
        "test",
        {"runner": "pytest", "args": ["tests", "-x"]},
    ),
    ("test", {"command": "npm test -- a"}, "test", {"runner": "npm", "args": ["a"]}),
    ("test", {"runner": "pytest tests"}, "test", {"runner": "pytest", "args": ["tests"]}),
    ("test", {"runner": "PyTest", "verbose": True}, "test", {"runner": "pytest"}),
    ("test", {"runner": "auto", "args": None}, "test", {}),
    ("test", {"path": "tests", "args": ["-x"]}, "test", {"args": ["tests", "-x"]}),
    ("pytest", {"args": ["tests"]}, "test", {"runner": "pytest", "args": ["tests"]}),
    ("lint", {}, "check", {"name": "lint"}),
    ("check", {"kind": "types", "paths": ["a.py"]}, "check", {"name": "types"}),
    ("check", {"name": ""}, "check", {}),
    ("project", {"path": "."}, "project", {}),
    ("git_log", {"n": "5", "file": "a.py"}, "git_log", {"max": 5, "path": "a.py"}),
    ("git_commit", {"message": "x"}, "git", {"action": "commit", "message": "x"}),
    ("git", {"command": "commit -m 'x y'"}, "git", {"action": "commit", "message": "x y"}),
    ("git", {"action": "Branch"}, "git", {"action": "branch"}),
    ("think", {"thought": "hm"}, "note", {"text": "hm"}),
    (
        "TodoWrite",
        {"todos": [{"content": "mend", "status": "done"}, {"step": "test"}]},
        "note",
        {"text": "done: mend\nopen: test"},
    ),
    (
        "note",
        {"risk": "low", "assumptions": "- a\n- b"},
        "note",
        {"risk": "low", "assumptions": ["a", "b"]},
    ),
    ("appeal", {"call": "c1", "why": "because"}, "appeal", {"about": "c1", "reason": "because"}),
    (
        "fetch",
        {"uri": "http://127.0.0.1/", "method": "GET"},
        "http_probe",
        {"url": "http://127.0.0.1/"},
    ),
    ("read", {"path": "a.py:2-3"}, "read", "path a.py offset 2 limit 2"),
    ("read_file", {"files": [{"path": "a.py"}]}, "read", {"path": "a.py"}),
    (
        "read_file",
        {"file_path": "a.py", "mode": "slice", "indentation": {}},
        "read",
        {"path": "a.py"},
    ),
    ("list_dir", {"dir_path": ".", "offset": 1, "depth": 2}, "list", {"path": ".", "depth": 2}),
    ("glob", {"pattern": "*.py", "respect_git_ignore": True}, "list", {"pattern": "*.py"}),
    ("Grep", {"pattern": "x", "head_limit": 0}, "grep", {"q": "x"}),
    ("grep", {"patterns": ["x", "y"], "paths": ["a.py"]}, "grep", {"q": "x|y", "dir": "a.py"}),
    ("rm", {"paths": ["a.py"]}, "delete_file", {"path": "a.py"}),
    (
        "write_file",
        {"path": "n", "content": ["a", "b"]},
        "write_file",
        {"path": "n", "content": "a\nb\n"},
    ),
    (
        "write_file",
        {"path": "n.json", "content": {}},
        "write_file",
        {"path": "n.json", "content": "{}\n"},
    ),
    ("create", {"filename": "n.py"}, "write_file", {"path": "n.py", "content": ""}),
    ("run_command", {"CommandLine": "ls", "Cwd": ".", "Blocking": True}, "bash", {"cmd": "ls"}),
    ("run_shell_command", {"command": "ls", "directory": "d"}, "bash", {"cmd": "cd d && ls"}),
    ("git", {"args": ["commit", "-m", "x"]}, "git", {"action": "commit", "message": "x"}),
    ("git_log", {"n": 5, "oneline": True}, "git_log", {"max": 5}),
    ("test", {"command": "npx jest a"}, "test", {"runner": "jest", "args": ["a"]}),
    ("test", {"command": "cd w && npm test"}, "test", {"runner": "npm", "args": ["w"]}),
    ("test", {"command": "CI=1 ./gradlew test"}, "test", {"runner": "gradle", "args": []}),
    (
        "test",
        {"runner": "python", "args": ["-m", "unittest"]},
        "test",
        {"runner": "unittest", "args": []},
    ),
    ("test", {"file": "a.py", "test_name": "b"}, "test", {"args": "a.py"}),
    ("test", {"pattern": "b"}, "test", {"args": ["-k", "b"]}),
    ("test", {"target": "all"}, "test", {}),
    ("test", {"args": {"path": "a.py"}}, "test", {"args": "a.py"}),
    ("test", {"test_name": "b"}, "test", {"args": ["-k", "b"]}),
    ("go_test", {}, "test", {"runner": "go"}),
    ("mypy", {"path": "."}, "check", {"name": "mypy"}),
    ("check", {"command": "uv run ruff check ."}, "check", {"name": "ruff"}),
    ("check", {"checks": ["lint", "types"]}, "check", {}),
    ("check", {"name": "all"}, "check", {}),
    ("http_probe", {"port": 80, "path": "/x"}, "http_probe", {"url": "http://127.0.0.1:80/x"}),
    (
        "fetch",
        {"url": "localhost:80", "max_length": 9},
        "http_probe",
        {"url": "http://localhost:80"},
    ),
    ("note", {"risk": {"level": "low", "why": "x"}}, "note", {"risk": "level: low; why: x"}),
    (
        "note",
        {"risk_level": "low", "verdict": "ok"},
        "note",
        {"text": "verdict: ok", "risk": "low"},
    ),
    (
        "task_tracker",
        {"command": "plan", "task_list": [{"title": "a", "status": "todo"}]},
        "note",
        {"text": "todo: a\ncommand: plan"},
    ),
    # Wrappers
    ("checkpoint", {"checkpoint": CHECKPOINT}, "checkpoint", CHECKPOINT),
    (
        "checkpoint",
        {
            "objective": "g",
            "root_cause": "f",
            "solution": "p",
            "expected_files": [{"path": "a.py", "why": "x"}],
            "verification": {"command": "pytest"},
        },
        "checkpoint",
        CHECKPOINT,
    ),
    (
        "checkpoint",
        {**CHECKPOINT, "risks": ["r", "s"], "findings": {"a": "f"}, "ready": True, "open": []},
        "checkpoint",
        {**CHECKPOINT, "findings": "a: f\nrisks: r; s"},
    ),
    ("read", {"arguments": {"path": "a.py"}}, "read", {"path": "a.py"}),
    ("read", {"input": '{"path": "a.py"}'}, "read", {"path": "a.py"}),
    ("read", {"name": "read", "parameters": {"path": "a.py"}}, "read", {"path": "a.py"}),
    ("read", {"__raw__": '{"path": "a.py",}'}, "read", {"path": "a.py"}),
    ("read", {"__raw__": '"{\\"path\\": \\"a.py\\"}"'}, "read", {"path": "a.py"}),
    ("read", {"__raw__": '```json\n{"path": "a.py"}\n```'}, "read", {"path": "a.py"}),
    # A checkpoint
    ("checkpoint", {**CHECKPOINT, "verify_with": "pytest"}, "checkpoint", CHECKPOINT),
    ("checkpoint", {**CHECKPOINT, "files": "a.py"}, "checkpoint", CHECKPOINT),
    (
        "checkpoint",
        {**CHECKPOINT, "files": "a.py, b.py"},
        "checkpoint",
        {**CHECKPOINT, "files": ["a.py", "b.py"]},
    ),
    (
        "checkpoint",
        {**CHECKPOINT, "findings": ["f", "g"]},
        "checkpoint",
        {**CHECKPOINT, "findings": "f\ng"},
    ),
    (
        "checkpoint",
        {
            "objective": "g",
            "analysis": "f",
            "plan": "p",
            "filesToTouch": ["a.py"],
            "verification": "pytest",
        },
        "checkpoint",
        CHECKPOINT,
    ),
]


def expanded(args, own):
    if own is None:
        return args
    if isinstance(own, dict):
        return own
    words = own.split()
    pairs = zip(words[::2], words[1::2], strict=True)
    return {name: int(value) if value.isdigit() else value for name, value in pairs}


@pytest.mark.parametrize(("spoken", "args", "tool", "own"), MEANT, ids=lambda v: str(v)[:50])
def test_unambiguous_hunk_is_applied(make_bench, spoken, args, tool, own):
    call = make_bench().call(spoken, **args)
    assert call.fault == ""
    assert (call.tool, call.args) == (tool, expanded(args, own))


def test_equivalent_forms_are_the_same_call(make_bench):
    bench = make_bench()
    assert bench.call("Read", file_path="a.py").digest == bench.call("read", path="a.py").digest


def test_interpretation_is_reported(make_bench):
    bench = make_bench()
    call = bench.call("Read", file_path="a.py", limit="5")
    assert call.understood == "`Read` as `read`, `file_path` as `path`, `limit` as the number 5"
    assert bench.call("read", path="a.py", limit=5).understood == ""
    assert bench.call("fs_read", path="a.py").understood == ""
    ranged = bench.call("read", path="a.py", view_range=[1, 4])
    assert ranged.understood == "`view_range` as `offset`, `limit`"


EDITED = "--- a/src/cart.py\n+++ b/src/cart.py\n@@"


@pytest.mark.parametrize(
    ("spoken", "args"),
    [
        ("Edit", {"old_string": "prices[0]", "new_string": "sum(prices)"}),
        (
            "str_replace",
            {"old_str": "    return prices[0]\n", "new_str": "    return sum(prices)\n"},
        ),
        (
            "replace",
            {"old_string": "prices[0]", "new_string": "sum(prices)", "expected_replacements": 1},
        ),
        ("MultiEdit", {"edits": [{"old_string": "prices[0]", "new_string": "sum(prices)"}]}),
        (
            "str_replace_editor",
            {"command": "str_replace", "old_str": "prices[0]", "new_str": "sum(prices)"},
        ),
        (
            "edit_diff",
            {"diff": "@@\n def total(prices):\n-    return prices[0]\n+    return sum(prices)\n"},
        ),
        ("edit_diff", {"diff": f"{EDITED}\n-    return prices[0]\n+    return sum(prices)\n"}),
        ("apply_patch", {"input": f"{EDITED}\n-    return prices[0]\n+    return sum(prices)\n"}),
    ],
)
def test_an_edit_in_any_form_is_a_diff_of_that_file(make_bench, spoken, args):
    bench = make_bench({"src/cart.py": "def total(prices):\n    return prices[0]\n"})
    call = bench.call(spoken, file_path="src/cart.py", **args)
    assert (call.fault, call.tool, list(call.args)) == ("", "edit_diff", ["diff"])
    assert call.access is Access.MUTATE
    assert call.writes == ("src/cart.py",)
    assert "-    return prices[0]\n+    return sum(prices)\n" in call.args["diff"]


def test_an_insertion_and_a_new_file_are_diffs_too(make_bench):
    bench = make_bench({"a.py": "one\ntwo\n"})
    added = bench.call(
        "str_replace_editor", command="insert", path="a.py", insert_line=1, new_str="x"
    )
    assert "@@ -1,2 +1,3 @@\n one\n+x\n two\n" in added.args["diff"]
    top = bench.call(
        "str_replace_editor", command="insert", path="a.py", insert_line=0, new_str="x\n"
    )
    assert "@@ -1,2 +1,3 @@\n+x\n one\n" in top.args["diff"]
    made = bench.call("Edit", file_path="new.py", old_string="", new_string="x\n")
    assert made.writes == ("new.py",)
    seen = bench.call("str_replace_editor", command="view", path="a.py")
    assert (seen.tool, seen.args) == ("read", {"path": "a.py"})
    whole = bench.call("str_replace_editor", command="create", path="b.py", file_text="x")
    assert (whole.tool, whole.args) == ("write_file", {"path": "b.py", "content": "x"})


def test_every_place_is_meant_only_where_that_is_said(make_bench):
    bench = make_bench({"a.py": "x = 1\ny = 1\n"})
    args = {"file_path": "a.py", "old_string": "= 1", "new_string": "= 2"}
    assert "holds the text to replace 2 times, at lines 1, 2" in bench.call("Edit", **args).fault
    both = bench.call("Edit", **args, replace_all=True).args["diff"]
    assert "+x = 2\n+y = 2\n" in both


@pytest.mark.parametrize(
    ("spoken", "args", "words"),
    [
        ("read", {"paths": ["a", "b"]}, 'One call is for one file: {"path": "docs/prices.md"}'),
        ("read", {"path": "a", "file_path": "b"}, "`file_path` is not a known field"),
        ("read", {"path": "a", "offset": "x"}, "`offset` must be a whole number"),
        ("bash", {"command": "sleep 9", "run_in_background": True}, "run to their end"),
        ("bash", {"commands": ["ls src", "ls tests"]}, '{"cmd": "ls src"}'),
        ("write_file", {"path": "a", "content": "x", "append": True}, "use `edit_diff`"),
        ("test", {"command": "tox -e py311"}, '{"args": ["tests/a"]}'),
        ("test", {"command": "pytest 'x"}, "cannot be split into words"),
        ("Edit", {"file_path": "a.py", "code_edit": "..."}, "Send `diff`"),
        ("Edit", {"file_path": "a.py", "old_string": "no", "new_string": "x"}, "copy it exactly"),
        (
            "Edit",
            {"file_path": "no.py", "old_string": "a", "new_string": "x"},
            "no text file no.py",
        ),
        ("Edit", {"file_path": "a.py", "old_string": "one", "new_string": "one"}, "are the same"),
        ("Edit", {"file_path": "a.py", "edits": [{"old_string": "x"}]}, "needs the old text"),
        ("Edit", {"file_path": "../x", "old_string": "a", "new_string": "b"}, "no text file"),
        (
            "edit_diff",
            {"path": "b.py", "diff": "--- a/a.py\n+++ b/a.py\n@@\n-a\n+b\n"},
            "the diff says a.py",
        ),
        ("insert", {"path": "a.py"}, "There is no tool `insert`"),
        ("str_replace_editor", {"command": "undo_edit", "path": "a.py"}, "There is no tool"),
        (
            "str_replace_editor",
            {"command": "insert", "path": "a.py", "insert_line": 99, "new_str": "x"},
            "not clear",
        ),
    ],
)
def test_what_may_mean_several_things_is_refused_with_the_right_call(
    make_bench, spoken, args, words
):
    call = make_bench({"a.py": "one\n"}).call(spoken, **args)
    assert words in call.fault


def test_a_secret_in_the_file_does_not_come_along_with_an_edit(make_bench):
    bench = make_bench({"a.py": 'key = "hunter2-canary-99aa"\nname = 1\n'})
    call = bench.call("Edit", file_path="a.py", old_string="name = 1", new_string="name = 2")
    assert "looks like a secret" in call.fault
    assert "hunter2" not in str(call.args)


def test_an_unknown_tool_is_answered_with_what_is_offered_now(make_bench):
    bench = make_bench()
    assert "Did you mean `grep`" in bench.call("gerp", q="x").fault
    spoken = SpokenCall("c1", "frobnicate", {})
    call, _ = prepare(spoken, BY_NAME, bench.context, ("read", "checkpoint"))
    assert call.fault.endswith("You can call now: read, checkpoint.")


def test_a_fault_shows_a_right_call(make_bench):
    bench = make_bench()
    fault = bench.call("read", nonsense="a").fault
    assert fault.endswith('Write it like this: {"path":"docs/prices.md","offset":40,"limit":60}')
    raw = bench.call("read", __raw__="{path").fault
    assert "not valid JSON: Expecting" in raw
