"""No sentence sends a driver to a tool that is not there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flyball.plan.gate import GATES, judge, judge_done
from flyball.plan.library import LIBRARY
from flyball.plan.template import GateUse
from flyball.plan.verdict import Case
from flyball.run.decision import RECOVERY
from flyball.terms.tool import ALIASES, TOOL_ROWS
from flyball.tools.call.protocol import Tool
from flyball.tools.toolbox import TOOLS

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src" / "flyball"
PROMPTS = sorted((SRC / "drivers" / "prompts").glob("*.md"))

NO_TOOLS = frozenset(
    [
        "goal",
        "findings",
        "proposed_action",
        "files",
        "verify_with",
        "risk",
        "assumptions",
        "severity",
        "template",
        "work",
        "call",
        "name",
        "value",
        "tool_calls",
    ]
)
"""What sentences set in code besides tools: fields of forms and of answers."""

NAMED = re.compile(r"`([a-z]+(?:_[a-z]+)*)`")


def test_the_two_tables_list_the_same_tools():
    assert [tool.name for tool in TOOLS] == list(TOOL_ROWS)


def test_an_alias_leads_to_a_tool():
    assert set(ALIASES.values()) <= set(TOOL_ROWS)
    assert not set(ALIASES) & set(TOOL_ROWS)


def unknown(text: str) -> set[str]:
    return set(NAMED.findall(text)) - set(TOOL_ROWS) - NO_TOOLS


@pytest.mark.parametrize("path", PROMPTS, ids=lambda path: path.name)
def test_a_prompt_names_only_tools_that_are_there(path: Path):
    assert unknown(path.read_text()) == set()


@pytest.mark.parametrize("name", LIBRARY)
def test_a_template_names_only_tools_that_are_there(name: str):
    template = LIBRARY[name]
    assert unknown(f"{template.objective} {template.prompt_template}") == set()


def test_a_denial_names_only_tools_that_are_there():
    assert unknown(" ".join(RECOVERY.values())) == set()


PARAMETERS = {
    "command_succeeds": {"command": "make build"},
    "diff_within": {"paths": ["src/**"]},
    "diff_size": {"max_files": 3},
    "forbidden_paths_untouched": {"paths": ["src/**"]},
    "file_exists": {"path": "A.md"},
    "file_contains": {"path": "A.md", "text": "B"},
}


@pytest.mark.parametrize("name", GATES)
def test_a_gate_without_evidence_names_only_tools_that_are_there(name: str):
    use = GateUse(name, PARAMETERS.get(name, {}))
    assert unknown(judge(use, Case((), "t", "t0")).sentence) == set()


@pytest.mark.parametrize("has_suite", [True, False])
def test_the_gate_before_done_names_only_tools_that_are_there(has_suite: bool):
    said = judge_done((), "t", "t0", has_suite=has_suite).sentence
    assert NAMED.findall(said)
    assert unknown(said) == set()


LANGUAGE = re.compile(r"\w\.(?:py|js|ts|go|rs|java|rb)\b|pytest|unittest|\bdef |[Pp]ython|\bnpm\b")


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tool_speaks_of_a_language_only_where_it_needs_it(tool: Tool):
    said = f"{tool.description} {tool.example}"
    assert not LANGUAGE.search(said) or TOOL_ROWS[tool.name].needs


@pytest.mark.parametrize("path", PROMPTS, ids=lambda path: path.name)
def test_a_prompt_speaks_of_no_language(path: Path):
    assert not LANGUAGE.search(path.read_text())
