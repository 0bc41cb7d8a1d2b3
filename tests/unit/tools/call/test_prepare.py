from unittest.mock import ANY

import pytest

from flyball.terms.call import Access
from flyball.tools.call.prepare import describe, read_form
from flyball.tools.toolbox import TOOLS

SECRET = "hunter2-canary-99aa"
BY_NAME = {tool.name: tool for tool in TOOLS}


@pytest.mark.parametrize(
    ("tool", "args", "words"),
    [
        ("read", {}, "The call has no `path`. Add `path`: text that is not empty."),
        ("read", {"path": ""}, "`path` must be text that is not empty, not empty text."),
        ("read", {"path": "a", "limit": 0}, "`limit` must be a whole number of at least 1 or null"),
        ("read", {"path": "a", "head": 3, "tail": 3}, "give only one of"),
        ("read", {"path": "a", "ofset": 3}, "`ofset` is not a known field. Did you mean `offset`?"),
        ("read", {"path": "a", "offset": "x"}, "`offset` must be a whole number, not the text 'x'"),
        ("grep", {"q": "x", "max": 9_999}, "`max` must be a whole number from 1 to 5000"),
        ("edit_diff", {"diff": "x", "fuzz": 3}, "`fuzz` must be a whole number from 0 to 2"),
        ("write_file", {"path": "a"}, "give exactly one of `content` and `content_base64`."),
        ("write_file", {"path": "a", "content_base64": "?"}, "`content_base64` is not base64"),
        ("git", {"action": "push"}, "`action` must be one of branch, commit, revert"),
        ("git", {"action": "revert"}, "`paths` is empty; name the files to restore."),
        ("git", {"action": "commit"}, "`message` is empty"),
        ("test", {"runner": "nose"}, "`runner` must be one of"),
        ("test", {"args": "'open"}, "`args` cannot be split into words"),
        ("test", {"confirm": "yes"}, "`confirm` must be true or false"),
        ("bash", {"cmd": "  "}, "`cmd` must be text that is not empty"),
        ("http_probe", {"url": "http://127.0.0.1:99999/"}, "`url` is not an address"),
        ("http_probe", {"url": "https://127.0.0.1/"}, "must be an http address"),
        ("http_probe", {"url": "http://example.org/"}, "only this machine may be asked"),
        ("http_probe", {"url": "http://127.0.0.1/", "seconds": 0}, "a number above 0"),
        ("checkpoint", {"goal": "g"}, "The call has no `findings`."),
        ("note", {}, "the note is empty"),
        ("appeal", {"about": "x", "reason": ""}, "`reason` must be text"),
    ],
)
def test_whatever_is_wrong_is_named_with_what_was_expected(make_bench, tool, args, words):
    call = make_bench().call(tool, **args)
    assert call.fault.startswith(f"`{tool}` cannot be called: ")
    assert words in call.fault


def test_an_empty_list_of_files_is_no_checkpoint(make_bench):
    args = {"goal": "g", "findings": "f", "proposed_action": "p", "verify_with": ["test"]}
    assert "`files` is empty" in make_bench().call("checkpoint", **args, files=[]).fault


def test_names_of_the_seeds_are_understood_and_others_suggested(make_bench):
    bench = make_bench()
    assert bench.call("EDIT_DIFF", diff="x").tool == "edit_diff"
    assert bench.call("fs_read", path="README.md").access is Access.READ
    assert "Did you mean `grep`?" in bench.call("grepp", q="x").fault


def test_arguments_that_are_not_json_or_not_unicode_are_faults(make_bench):
    bench = make_bench()
    assert "not valid JSON" in bench.call("read", __raw__="{path").fault
    broken = bench.call("write_file", path="a", content="\ud800")
    assert "not valid Unicode" in broken.fault
    assert broken.args == {}


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("write_file", {"path": "a", "content": f"key = {SECRET}"}),
        ("edit_diff", {"diff": f"--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+{SECRET}\n"}),
        ("bash", {"cmd": f"curl -H 'Authorization: {SECRET}' x"}),
        ("git", {"action": "commit", "message": SECRET}),
    ],
)
def test_a_secret_in_a_write_is_refused_and_not_recorded(make_bench, tool, args):
    call = make_bench().call(tool, **args)
    assert "looks like a secret" in call.fault
    assert "environment variable" in call.fault
    assert SECRET not in str(call)


def test_a_secret_in_a_search_is_only_hidden(make_bench):
    call = make_bench().call("grep", q=SECRET)
    assert call.fault == ""
    assert call.args == {"q": "[redacted]"}


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_has_an_example_that_can_be_read_and_a_flat_schema(tool):
    form = read_form(dict(tool.example), tool)
    assert not isinstance(form, str)
    schema = describe(tool)
    assert schema == {"type": "object", "properties": ANY, "required": ANY, **_closed(schema)}
    assert set(tool.example) <= set(schema["properties"])


def _closed(schema):
    return {"additionalProperties": False} if "additionalProperties" in schema else {}


def test_facts_say_what_a_call_touches(make_bench):
    bench = make_bench({"a.py": "x = 1\n"})
    diff = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"
    call = bench.call("edit_diff", diff=diff, keepRegions=False)
    assert [(fact.path, fact.write, fact.inside) for fact in call.paths] == [("a.py", True, True)]
    assert not call.keeps_regions
    assert not bench.call("read", path="/etc/passwd").paths[0].inside
    assert bench.call("write_file", path=".git/config", content="x").paths[0].protected


@pytest.mark.parametrize(
    ("cmd", "access", "destructive"),
    [
        ("ls -la", Access.READ, False),
        ("pytest -q", Access.VERIFY, False),
        ("touch x", Access.MUTATE, False),
        ("rm -rf src", Access.MUTATE, True),
        ("$(echo x)", Access.MUTATE, False),
    ],
)
def test_a_command_is_of_the_class_it_is_judged_to_be(make_bench, cmd, access, destructive):
    call = make_bench().call("bash", cmd=cmd)
    assert call.access is access
    assert bool(call.destructive) is destructive
    assert call.command.command == cmd
