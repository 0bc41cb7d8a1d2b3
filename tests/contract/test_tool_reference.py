from pathlib import Path

from docs.generate_tools import render

from flyball.tools.toolbox import TOOLS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "tools.md"


def test_the_page_is_as_the_tools_say():
    assert PAGE.read_text().endswith(render()), "tools.md has drifted; run `make docs`"


def test_every_tool_has_its_section():
    text = render()
    for tool in TOOLS:
        assert f"\n## {tool.name}\n" in text
        assert tool.description in text
