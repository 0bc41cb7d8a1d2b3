"""Slips of form: each ends where the careful driver ends, with at most two more turns.

Every slip is one that a model which learned with other tools really makes: another name for a tool
or a field, one for a list, a number as text, JSON in a text, a wrong count, a diff in a fence.
"""

import json

import pytest
from tests.sloppy.careful import (
    CART,
    FIX,
    Reply,
    call,
    calls,
    checkpoint_args,
    fix,
    instead_of,
    never,
    say,
)
from tests.tiers import sampled

from flyball.run.event import Finish

OLD = "        result += price\n"
NEW = "        result += price * quantity\n"
STATED = checkpoint_args()


def stated(**other):
    return call("checkpoint", **{**STATED, **other})


def without(name, **other):
    return call("checkpoint", **{**{k: v for k, v in STATED.items() if k != name}, **other})


def hunk(header: str, body: str = "") -> str:
    whole = FIX.partition("@@ -1,5 +1,5 @@\n")[2]
    return f"--- a/cart.py\n+++ b/cart.py\n{header}{body or whole}"


def tagged(tool: str, **args) -> Reply:
    return say(f"Now:\n<tool_call>{json.dumps({'name': tool, 'arguments': args})}</tool_call>")


IN_TAGS = '<tool_call>{"name": "read", "arguments": {"path": "cart.py"}}</tool_call>'
FIXED = CART.replace(OLD, NEW)
BLOCK = f"<<<<<<< SEARCH\n{OLD}=======\n{NEW}>>>>>>> REPLACE\n"
TAIL = "     for price, quantity in items:\n-" + OLD + "+" + NEW

HEADLESS = hunk("@@\n").partition("+++ b/cart.py\n")[2]
MISREMEMBERED = TAIL.replace("quantity in", "qty in")

SLIPS = {
    # Names of tools
    "Read": ("read", call("Read", file_path="cart.py")),
    "read_file": ("read", call("read_file", target_file="cart.py", should_read_entire_file=True)),
    "a namespace": ("read", call("functions.read", path="cart.py")),
    "an MCP name": ("read", call("mcp__files__read_text_file", path="cart.py")),
    "an editor's view": ("read", call("str_replace_editor", command="view", path="./cart.py")),
    "cat in bash": ("read", call("bash", command="cat cart.py")),
    "a range": ("read", call("read", path="cart.py", start_line="1", end_line="5")),
    "grep by pattern and path": ("read", calls(
        ("Grep", {"pattern": "price", "path": ".", "-n": True, "output_mode": "content"}),
        ("read", {"path": "cart.py"}),
    )),
    "an empty default": ("read", calls(
        ("list", {"pattern": "", "path": ""}), ("read", {"path": "cart.py", "limit": None}),
    )),
    "several in one": ("read", call("multi_tool_use.parallel", tool_uses=[
        {"recipient_name": "functions.read", "parameters": {"path": "cart.py"}},
        {"recipient_name": "functions.read", "parameters": {"path": "test_cart.py"}},
    ])),
    "wrapped arguments": ("read", call("read", arguments={"path": "cart.py"})),
    "arguments as text": ("read", call("read", input='{"path": "cart.py"}')),
    "arguments with a comma too many": ("read", call("read", __raw__='{"path": "cart.py",}')),
    "arguments encoded twice": ("read", call("read", __raw__='"{\\"path\\": \\"cart.py\\"}"')),
    "an explanation beside it": ("read", call("read", path="cart.py", explanation="to see it")),
    "Codex's read_file": ("read", call("read_file", file_path="cart.py", offset=1, limit=50,
                                       mode="slice", indentation={})),
    "Gemini's read_file": ("read", call("read_file", absolute_path="cart.py", offset=0, limit=9)),
    "opencode's read": ("read", call("read", filePath="cart.py")),
    "many files": ("read", call("read_many_files", paths=["cart.py", "test_cart.py"])),
    "lines behind the path": ("read", call("read", path="cart.py:1-5")),
    "a list before it": ("read", calls(
        ("list_directory", {"path": ".", "file_filtering_options": {"respect_git_ignore": True}}),
        ("glob", {"pattern": "**/*.py", "respect_git_ignore": True, "case_sensitive": False}),
        ("search_file_content", {"pattern": "price", "include": "*.py"}),
        ("Grep", {"pattern": "price", "head_limit": 0, "output_mode": "files_with_matches"}),
        ("read", {"path": "cart.py"}),
    )),
    "a list of things to do": ("read", calls(
        ("TodoWrite", {"todos": [{"content": "mend", "status": "pending", "activeForm": "x"}]}),
        ("update_plan", {"plan": [{"step": "mend", "status": "pending"}], "explanation": "so"}),
        ("task_tracker", {"command": "plan", "task_list": [{"title": "mend"}]}),
        ("read", {"path": "cart.py"}),
    )),
    "single quotes": ("read", call("read", __raw__="{'path': 'cart.py'}")),
    "unquoted names": ("read", call("read", __raw__='{path: "cart.py"}')),
    "a bracket too many": ("read", call("read", __raw__='{"path": "cart.py"}}')),
    "keys and values in tags": ("read", say(
        "<tool_call>read\n<arg_key>path</arg_key>\n<arg_value>cart.py</arg_value>\n</tool_call>"
    )),
    "a mark before the calls": ("read", say(
        'Now.\n[TOOL_CALLS] [{"name": "read", "arguments": {"path": "cart.py"}}]'
    )),
    "tokens around a call": ("read", say(
        "<|channel|>commentary to=functions.read <|constrain|>json<|message|>"
        '{"path": "cart.py"}<|call|>'
    )),
    "other tokens around a call": ("read", say(
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0"
        '<|tool_call_argument_begin|>{"path": "cart.py"}<|tool_call_end|>'
        "<|tool_calls_section_end|>"
    )),
    "a call as bare JSON": ("read", say('{"name": "read", "arguments": {"path": "cart.py"}}')),
    "a call in a JSON fence": ("read", say(
        'I read it.\n```json\n{"tool": "read", "args": {"path": "cart.py"}}\n```'
    )),
    "thoughts before a call": ("read", say(f"<think>So.</think>\n{IN_TAGS}")),
    "words behind a call": ("read", say(f"{IN_TAGS}\nI wait for the result.")),
    "a tag left open": ("read", say(IN_TAGS.removesuffix("</tool_call>"))),
    "a call as Python": ("read", say('```python\nread(path="cart.py")\n```')),
    "a call as XML": ("read", say("<read_file>\n<path>cart.py</path>\n</read_file>")),
    "a stop with a call": ("read", calls(("read", {"path": "cart.py"}), finish=Finish.STOP)),
    "a cut with a call": ("read", calls(("read", {"path": "cart.py"}), finish=Finish.LENGTH)),
    "no arguments": ("read", call("read")),
    "null for a path": ("read", call("read", path=None)),
    "a directory": ("read", call("read", path=".")),
    "a search of the web": ("read", call("web_search", query="sum")),
    "an agent of its own": ("read", call("Task", description="look", prompt="find it")),
    "a call in tags": ("read", tagged("read", path="cart.py")),
    "an unknown tool": ("read", call("semantic_search", query="total")),
    # The checkpoint
    "one for a list": ("checkpoint", stated(verify_with="python -m unittest", files="cart.py")),
    "a list in JSON": ("checkpoint", stated(files='["cart.py"]')),
    "a list line by line": ("checkpoint", stated(verify_with="- python -m unittest")),
    "sentences as a list": ("checkpoint", stated(findings=["cart.py:4.", "It is wrong."])),
    "camel case": ("checkpoint", without("proposed_action", proposedAction="Change cart.py.")),
    "another word": ("checkpoint", without("verify_with", verification="python -m unittest")),
    "a missing field": ("checkpoint", without("goal")),
    "expected files, tests, risks": ("checkpoint", call(
        "checkpoint", goal="A right total", findings="cart.py:4", proposed_action="Change it",
        expected_files=["cart.py"], tests=["python -m unittest"], risks=["none"], confidence=0.9,
    )),
    "root cause and solution": ("checkpoint", call(
        "checkpoint", summary="A right total", root_cause="cart.py:4", solution="Change it",
        affected_files=[{"path": "cart.py", "reason": "x"}], validation={"command": "unittest"},
    )),
    "a checkpoint in a checkpoint": ("checkpoint", call("checkpoint", checkpoint=STATED)),
    "findings by name": ("checkpoint", stated(findings={"where": "cart.py:4", "what": "wrong"})),
    "exit plan mode": ("checkpoint", call("ExitPlanMode", plan="Change cart.py.")),
    "a promise with words beside it": ("checkpoint", calls(("checkpoint", STATED), text="Now.")),
    "a checkpoint that lost its last bracket": ("checkpoint", call(
        "checkpoint", __raw__=json.dumps(STATED)[:-1]
    )),
    "a question to the person": ("checkpoint", call("ask_followup_question", question="May I?")),
    "a checkpoint in tags": ("checkpoint", tagged("checkpoint", **STATED)),
    # The edit
    "bare @@": ("edit", call("edit_diff", diff=hunk("@@\n"))),
    "too large counts": ("edit", call("edit_diff", diff=hunk("@@ -1,9 +1,9 @@\n"))),
    "too small counts": ("edit", call("edit_diff", diff=hunk("@@ -1,2 +1,2 @@\n"))),
    "a promised tail": ("edit", call("edit_diff", diff=hunk("@@ -3,7 +3,7 @@\n", TAIL))),
    "a wrong line": ("edit", call("edit_diff", diff=hunk("@@ -101,5 +101,5 @@\n"))),
    "no end of line": ("edit", call("edit_diff", diff=FIX.rstrip("\n"))),
    "a fence": ("edit", call("edit_diff", diff=f"```diff\n{FIX}```")),
    "a path beside the diff": ("edit", call("edit_diff", path="cart.py", diff=FIX)),
    "a path instead of a header": ("edit", call("edit_diff", path="cart.py", diff=HEADLESS)),
    "apply_patch": ("edit", call("apply_patch", input=FIX)),
    "another dialect": ("edit", call("apply_patch", input=(
        f"*** Begin Patch\n*** Update File: cart.py\n@@\n-{OLD}+{NEW}*** End Patch\n"
    ))),
    "apply_patch with a header of code": ("edit", call("apply_patch", input=(
        "*** Begin Patch\n*** Update File: cart.py\n"
        f"@@ def total(items):\n-{OLD}+{NEW}*** End Patch"
    ))),
    "apply_patch in a shell": ("edit", call("shell", command=["bash", "-lc", (
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: cart.py\n"
        f"@@\n-{OLD}+{NEW}*** End Patch\nEOF\n"
    )], workdir=".")),
    "search and replace": ("edit", call("replace_in_file", path="cart.py", diff=BLOCK)),
    "search and replace with a line": ("edit", call("apply_diff", path="cart.py", diff=(
        BLOCK.replace("SEARCH\n", "SEARCH\n:start_line:4\n-------\n")
    ))),
    "search and replace in prose": ("edit", say(f"cart.py\n```python\n{BLOCK}```\n")),
    "a patch in prose": ("edit", say(
        f"So:\n\n*** Begin Patch\n*** Update File: cart.py\n@@\n-{OLD}+{NEW}*** End Patch\n"
    )),
    "opencode's edit": ("edit", call("edit", filePath="cart.py", oldString=OLD, newString=NEW)),
    "Gemini's replace": ("edit", call("replace", file_path="cart.py", old_string=OLD,
                                      new_string=NEW, instruction="mend", expected_replacements=1)),
    "an editor's str_replace": ("edit", call("str_replace_editor", command="str_replace",
                                             path="cart.py", old_str=OLD, new_str=NEW,
                                             security_risk="LOW")),
    "lines by number": ("edit", call("edit_file", path="cart.py", start=4, end=4, content=NEW)),
    "a list of edits": ("edit", call("edit_diff", changes=[
        {"path": "cart.py", "old_string": OLD, "new_string": NEW}
    ])),
    "a list of one diff": ("edit", call("edit_diff", diffs=[FIX])),
    "a path and nothing else": ("edit", call("edit_diff", path="cart.py")),
    "what stays left out": ("edit", call("edit_file", target_file="cart.py", instructions="mend",
                                         code_edit=f"# ... existing code ...\n{NEW}")),
    "search and replace in XML": ("edit", say(
        f"<replace_in_file>\n<path>cart.py</path>\n<diff>\n{BLOCK}</diff>\n</replace_in_file>"
    )),
    "a whole file in prose": ("edit", say(f"cart.py\n```python\n{FIXED}```")),
    "a whole file": ("edit", call("write_file", path="cart.py", content=FIXED)),
    "line ends spelt out": ("edit", call("edit_diff", diff=FIX.replace("\n", "\\n"))),
    "line ends of Windows": ("edit", call("edit_diff", diff=FIX.replace("\n", "\r\n"))),
    "line numbers in the diff": ("edit", call("edit_diff", diff=hunk(
        "@@ -4 +4 @@\n", f"-4\t{OLD}+4\t{NEW}"
    ))),
    "line numbers in the old text": ("edit", call(
        "Edit", file_path="cart.py", old_string=f"     4\t{OLD}", new_string=NEW
    )),
    "tabs for spaces": ("edit", call("Edit", file_path="cart.py", old_string="\t\tresult += price",
                                     new_string="\t\tresult += price * quantity")),
    "a question in words": ("edit", say("Shall I go on with the edit?")),
    "Edit": ("edit", call("Edit", file_path="cart.py", old_string=OLD, new_string=NEW)),
    "part of a line": ("edit", call("str_replace", path="cart.py", old_str="+= price\n",
                                    new_str="+= price * quantity\n")),
    "MultiEdit": ("edit", call("MultiEdit", file_path="cart.py", edits=[
        {"old_string": OLD, "new_string": NEW}
    ])),
    "a text that is not there": ("edit", call("Edit", file_path="cart.py", old_string="x = 1",
                                              new_string="x = 2")),
    "a misremembered line": ("edit", call("edit_diff", diff=hunk("@@\n", MISREMEMBERED))),
    "words for booleans": ("edit", call("edit_diff", diff=FIX, partial="false", fuzz="0")),
    # Tests and the end
    "run_tests": ("test", call("run_tests", path="test_cart.py")),
    "a command line": ("test", call("test", command="python -m unittest")),
    "a runner in capitals": ("test", call("TEST", runner="Unittest", args=[])),
    "a file and a test in it": ("test", call("run_test", file="test_cart.py",
                                             test_name="test_three_pens")),
    "python as the runner": ("test", call("test", runner="python", args=["-m", "unittest"])),
    "a line with cd": ("test", call("test", command="cd . && python -m unittest")),
    "all tests": ("test", call("test", target="all", verbose=True)),
    "tests in a shell": ("test", call("bash", command="python -m unittest")),
    "a test that is not there": ("test", call("test", args=["tests/test_nope.py"])),
    "more words from the tests": ("test", call("test", args=["-v"])),
    "a commit of its own": ("stop", call("git", action="commit", message="Count pieces")),
    "git status first": ("stop", call("git_status")),
    "finish": ("stop", call("finish", message="The total counts every piece.")),
    "attempt_completion": ("stop", call("attempt_completion", result="The total is right.")),
}  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("forms")


@pytest.fixture(scope="module")
def careful(place):
    return fix(place, never)


@pytest.mark.slow
@pytest.mark.parametrize("slip", sampled(SLIPS, 15))
def test_a_slip_of_form_costs_two_turns_at_most(place, careful, slip):
    move, reply = SLIPS[slip]
    ended = fix(place, instead_of(move, reply))
    assert f"slip at {move}" in ended.driver.moves
    assert ended.came_to == careful.came_to, ended.question
    assert ended.turns <= careful.turns + 2


def test_there_are_at_least_thirty():
    assert len(SLIPS) >= 30
