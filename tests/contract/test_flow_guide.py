"""The guides to flows and gates are kept in step by machine."""

import re
from pathlib import Path

import pytest

from flyball.app.flowfile.template_file import parse_source
from flyball.plan.flow import FlowSource, Problem, check
from flyball.plan.gate import GATES
from flyball.plan.library import LIBRARY
from flyball.plan.template import INJECTIONS, SPECIAL_TARGETS, FieldKind, Role, Template
from flyball.terms.phase import WORKING

ROOT = Path(__file__).parents[2]
GUIDES = ROOT / "docs" / "guides"
PARTS = ("flows.md", "gates.md", "flow-failures.md")
GUIDE = "".join((GUIDES / name).read_text(encoding="utf-8") for name in PARTS)


def test_the_flow_in_the_guide_is_sound():
    (example,) = re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)
    source = parse_source("guide.yaml", example.encode())
    assert isinstance(source, FlowSource)
    assert check(source) == ()


@pytest.mark.parametrize(
    "names",
    [
        GATES,
        INJECTIONS,
        LIBRARY,
        WORKING,
        SPECIAL_TARGETS,
        Role,
        FieldKind,
        Template.__struct_fields__,
    ],
    ids=["gates", "injections", "library", "phases", "targets", "roles", "kinds", "fields"],
)
def test_the_guide_names_them_all(names):
    assert [name for name in names if f"`{name}`" not in GUIDE] == []


def test_the_guide_has_each_gate_with_its_parameters():
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \| .* \|$", GUIDE, re.MULTILINE))
    for name, gate in GATES.items():
        assert re.findall(r"`(\w+)`", rows[name]) == [*gate.parameters.__struct_fields__]


def test_the_guide_names_every_problem():
    golden = ROOT / "tests" / "golden" / "flow" / "bad"
    lines = [line for path in golden.glob("*.problems") for line in path.read_text().splitlines()]
    codes = {line.split(": ")[1] for line in lines}
    assert len(codes) > 15
    assert [code for code in codes if f"`{code}`" not in GUIDE] == []
    assert [name for name in Problem.__struct_encode_fields__ if f'"{name}"' not in GUIDE] == []
