"""What language servers say of a change: what it introduced, and nothing that was there before."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from flyball.terms.evidence import CheckKind
from flyball.tools.diagnose import inside
from flyball.tools.diagnose.inside import Diagnostic, introduced

OLD = """import os
import sys


def total(prices: list[int]) -> int:
    return sum(prices)


def label() -> int:
    return "old"


print(sys.argv)
"""
"""A file with an unused import and a wrong type of its own."""
NEW = OLD.replace("import os\n", "import json\nimport os\n").replace(
    "    return sum(prices)\n", "    return str(sum(prices))\n"
)


def problem(line: int, message: str, severity: int = 1) -> Diagnostic:
    return Diagnostic(line, 0, severity, message, "x")


@pytest.mark.parametrize(
    ("before", "after", "new"),
    [
        ([], [problem(0, "bad")], ["bad"]),
        ([problem(0, "bad")], [problem(0, "bad")], []),
        ([problem(0, "bad")], [problem(1, "bad")], ["bad"]),
        ([problem(2, "bad")], [problem(3, "bad")], []),
        ([problem(1, "bad")], [problem(1, "bad")], []),
        ([problem(1, "bad")], [problem(1, "bad"), problem(2, "bad")], ["bad"]),
        ([problem(0, "bad")], [problem(0, "worse")], ["worse"]),
        ([], [problem(0, "a hint", 4), problem(0, "odd", 2)], ["odd"]),
    ],
    ids=[
        "new",
        "on the same line",
        "once more on a new line",
        "on a line that moved",
        "on a line that was edited",
        "twice where it was once",
        "another one",
        "hints do not count",
    ],
)
def test_only_new_problems_are_introduced(before, after, new):
    old_text, new_text = "a\nb\nc\n", "a\nB\nnew\nc\n"
    found = introduced(before, after, old_text, new_text)
    assert [each.message for each in found] == new


SPEAKS = """
import json, sys
def send(**said):
    body = json.dumps({"jsonrpc": "2.0", **said}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\\r\\n\\r\\n" % len(body) + body)
    sys.stdout.buffer.flush()
def publish(uri, version, text):
    lines = text.split("\\n")
    found = [n for n, line in enumerate(lines) if "BAD" in line]
    at = lambda n: {"start": {"line": n, "character": 0}, "end": {"line": n, "character": 1}}
    said = [{"range": at(n), "message": lines[n], "source": "toy"} for n in found]
    params = {"uri": uri, "version": version, "diagnostics": said}
    send(method="textDocument/publishDiagnostics", params=params)
while True:
    length = int(sys.stdin.buffer.readline().split(b":")[1])
    sys.stdin.buffer.readline()
    heard = json.loads(sys.stdin.buffer.read(length))
    params = heard.get("params", {})
    if heard.get("method") == "initialize":
        send(id=9, method="workspace/configuration", params={"items": [{"section": "python"}]})
        send(id=heard["id"], result={"capabilities": {}})
    elif heard.get("method") == "textDocument/didOpen":
        doc = params["textDocument"]
        publish(doc["uri"], doc["version"], doc["text"])
    elif heard.get("method") == "textDocument/didChange":
        doc = params["textDocument"]
        publish(doc["uri"], doc["version"] - 1, "BAD stale")
        publish(doc["uri"], doc["version"], params["contentChanges"][0]["text"])
"""


@pytest.fixture
def hurried(monkeypatch):
    monkeypatch.setattr(inside, "QUIET", 0.2)


def test_a_server_is_shown_both_states_and_old_words_are_not_taken_for_new(tmp_path, hurried):
    files = [
        inside.ChangedText("a.py", "python", "BAD one\n", "BAD one\nBAD two\n"),
        inside.ChangedText("new.py", "python", None, "fine\n"),
    ]
    found = inside.ask([sys.executable, "-c", SPEAKS], tmp_path, files, {"python": {}})
    assert found == ["a.py:2:1: error: BAD two [toy]"]


def test_server_that_exits_at_once_yields_nothing(tmp_path):
    file = inside.ChangedText("a.py", "python", "", "x\n")
    assert inside.ask([sys.executable, "-c", ""], tmp_path, [file], {}) is None


def test_without_a_change_no_server_is_asked(make_bench):
    with pytest.raises(Exception, match="No language server that is installed"):
        make_bench({"a.py": OLD}).do("check", name="diagnostics")


@pytest.mark.exhaustive
def test_language_servers_report_new_problems_only(make_bench):
    bench = make_bench({"a.py": OLD, "b.py": "import re\n", ".gitignore": ".ruff_cache\n"})
    bench.put({"a.py": NEW})
    result = bench.do("check", name="diagnostics")
    assert not result.ok
    reports = {each.command: each for each in result.evidence}
    assert reports["ruff-server"].kind is CheckKind.LINT
    assert all(each.is_of_change for each in reports.values())
    assert len(reports["pyright-server"].problems) == 1
    assert "a.py:7:12: error: Type" in reports["pyright-server"].problems[0]
    assert len(reports["ruff-server"].problems) == 1
    assert "json" in reports["ruff-server"].problems[0]
    bench.put({"a.py": NEW.replace("import json\n", "").replace("str(sum(prices))", "max(prices)")})
    assert bench.do("check", name="diagnostics").ok


def test_the_program_for_the_sandbox_needs_nothing_but_the_standard_library():
    text = Path(inside.__file__).read_text()
    assert "flyball" not in text
