"""What a driver is told is true of its card, and the same for all of the card's life."""

import json
import re
from itertools import product

import pytest
from msgspec.structs import replace

from flyball.engine.prompt.request import BUILDING, CHARS_PER_TOKEN, build_request, specs_of
from flyball.plan.library import LIBRARY, REFACTOR
from flyball.plan.template import Role
from flyball.run.decision import MOST_LOOKS
from flyball.run.effect import Think
from flyball.run.policy import Policy, Project
from flyball.run.state import CardState, RunState
from flyball.terms.budget import Budget
from flyball.terms.intent import MAY_MUTATE, Intent
from flyball.terms.phase import Phase
from flyball.terms.tool import TOOL_ROWS
from flyball.tools.toolbox import TOOLS

SPECS = specs_of(TOOLS)
NAMED = re.compile(r"`(\w+)`")
PYTHON, NODE, BARE = Project(runners=("pytest",)), Project(runners=("vitest",)), Project()
SERVED = Project(runners=("vitest",), means=("servers",))
SEEN = Project(runners=("vitest",), means=("servers", "browser"))
HOSTS = [PYTHON, NODE, BARE, SERVED, SEEN]
INTENTS = (Intent.DIAGNOSE, Intent.SMALL_FIX)


def request(template="fix", phase=Phase.ANALYZE_CODE, role="", *, project=PYTHON, bash=False,
            intent=Intent.SMALL_FIX, text_only=False, limit=15, web=False):  # fmt: skip
    kind = LIBRARY[template]
    run = RunState(
        run="r1", request="Mend it", intent=intent, budget=Budget(calls=limit),
        policy=Policy(bash=bash, web=web), project=project,
    )  # fmt: skip
    card = CardState("k1", kind, "Mend it", "t0", "t0", phase=phase)
    card = replace(card, is_reviewing=role == Role.REVIEWER)
    think = Think(card="k1", role=role or kind.role.value, phase=phase, text_only=text_only)
    return build_request(
        run, card, think, lines=(), tools=SPECS, advice="", injections={}, number=1, turns={}
    )  # fmt: skip


def roles(template):
    helpers = [Role.REVIEWER] if template.may_mutate else []
    helpers += [Role.RESEARCHER] if Phase.RESEARCH in template.phases else []
    return [template.role, *helpers]


def entered(template, role, intent):
    """The phases in which a role is asked."""
    if role == Role.REVIEWER:
        return [Phase.VERIFY]
    phases = LIBRARY[template].phases
    if role == Role.RESEARCHER and LIBRARY[template].role is not Role.RESEARCHER:
        return [Phase.ANALYZE_CODE]
    return [each for each in phases if intent in MAY_MUTATE or each not in BUILDING]


CASES = [(name, role.value) for name, template in LIBRARY.items() for role in roles(template)]
ROUND = [
    {"project": project, "bash": bash, "intent": intent}
    for project, bash, intent in product(HOSTS, (True, False), INTENTS)
]
"""What may be around a card. Many and quick: a test each would take longer than what it tries."""


@pytest.mark.parametrize(("template", "role"), CASES)
def test_no_prompt_names_a_tool_that_is_not_there(template, role):
    asked_for = [
        (each, phase) for each in ROUND for phase in entered(template, role, each["intent"])
    ]
    for each, phase in asked_for:
        asked = request(template, phase, role, **each)
        there = {tool.name for tool in asked.tools}
        told = f"{asked.system}\n{asked.opening}" + "".join(t.description for t in asked.tools)
        assert set(NAMED.findall(told)) & set(TOOL_ROWS) <= there
        assert set(asked.now) <= there


@pytest.mark.parametrize(("template", "role"), CASES)
def test_the_prefix_stays_for_all_of_a_cards_life(template, role):
    for each in ROUND:
        told: set[tuple[str, str]] = set()
        for phase, text_only in product(entered(template, role, each["intent"]), (True, False)):
            asked = request(template, phase, role, **each, text_only=text_only)
            tools = json.dumps([(t.name, t.description, t.schema) for t in asked.tools])
            told.add((asked.system, tools))
        assert len(told) == 1, each


@pytest.mark.parametrize(("template", "role"), CASES)
def test_first_prompt_has_at_most_2150_tokens(template, role):
    for each in ROUND:
        asked = request(template, Phase.ANALYZE_CODE, role, **each)
        tools = [
            {"name": t.name, "description": t.description, "parameters": t.schema}
            for t in asked.tools
        ]
        told = json.dumps(tools, separators=(",", ":"), ensure_ascii=False)
        # Six tools more are there where something is served.
        most = 2_650 if each["project"].means else 2_150
        assert len(asked.system) + len(told) <= most * CHARS_PER_TOKEN, each


def test_only_what_the_phase_allows_is_offered_now():
    recon = request(phase=Phase.ANALYZE_CODE)
    assert {"read", "grep", "test", "checkpoint"} <= set(recon.now)
    assert "edit_diff" not in recon.now
    assert "edit_diff" in {tool.name for tool in recon.tools}
    assert "edit_diff" in request(phase=Phase.EXECUTE).now
    design = request("feature", Phase.DESIGN)
    assert set(design.now) == {"checkpoint", "note", "appeal", "conflict"}
    assert request(phase=Phase.FINAL, text_only=True).now == ()


def test_who_only_looks_is_led_to_no_checkpoint_and_no_edit():
    names = {tool.name for tool in request("diagnose", intent=Intent.DIAGNOSE).tools}
    assert names & {"checkpoint", "edit_diff", "write_file", "git"} == set()
    asked = request("diagnose", intent=Intent.DIAGNOSE)
    assert "checkpoint" not in asked.system


def test_tools_of_a_language_are_there_where_the_language_is():
    python = {"localise_faults", "try_candidates"}
    assert python <= {tool.name for tool in request(project=PYTHON).tools}
    for project in (NODE, BARE):
        asked = request(project=project)
        assert python & {tool.name for tool in asked.tools} == set()
        assert not re.search(r"(?i)python|pytest", asked.system)


def test_refactor_prompt_asks_for_no_repair():
    asked = request("refactor")
    told = f"{asked.system}\n{asked.opening.partition('Mend it')[2]}"
    assert REFACTOR.prompt_template in told
    assert not re.search(r"(?i)\b(cause|symptom|fault|mend|fails without)\b", told)


def test_a_greeting_gets_no_tools_at_all():
    asked = request("answer", Phase.FINAL, limit=0, text_only=True)
    assert asked.tools == ()
    assert "answer in text" in asked.system


def test_schema_omits_bounds_and_rare_fields():
    read = next(tool for tool in SPECS if tool.name == "read").schema
    assert read == {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "offset": {"type": "integer"},
            "limit": {"type": "integer"},
        },
        "required": ["path"],
    }


PAGES = {row.name for row in TOOL_ROWS.values() if row.needs == "browser"}


@pytest.mark.parametrize("phase", [Phase.ANALYZE_CODE, Phase.EXECUTE, Phase.VERIFY])
def test_the_browsers_tools_are_there_where_the_browser_is_and_only_there(phase):
    with_browser, without = (
        {tool.name for tool in request(phase=phase, project=each).tools} for each in (SEEN, SERVED)
    )
    assert PAGES and with_browser - without == PAGES
    assert not PAGES & without


@pytest.mark.parametrize("text_only", [True, False])
def test_a_provider_may_look_at_the_web_only_where_that_is_settled(text_only):
    assert request(text_only=text_only).web == 0
    assert request(text_only=text_only, web=True).web == (0 if text_only else MOST_LOOKS)
