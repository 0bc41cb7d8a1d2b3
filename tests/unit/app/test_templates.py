"""Flows that a person names, and the project's own templates once they are trusted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.run.walking import look, step

from flyball.app.project import Home, offer, open_home, trust
from flyball.app.templates import (
    flow_intent,
    project_templates,
    read_flow_file,
)
from flyball.errors import NotFound, UsageError
from flyball.plan.flow import Flow
from flyball.terms.intent import Intent

AUDIT = {"step_id": "audit", "title": "Audit", "objective": "o", "prompt_template": "p"}


class Shop:
    """A project with a folder of templates."""

    def __init__(self, place: Path) -> None:
        self.place = place / "shop"
        self.folder = self.place / ".flyball" / "templates"
        self.folder.mkdir(parents=True)
        self.env = {"HOME": str(place), "FLYBALL_STATE_DIR": str(place / "state")}

    def write(self, name: str, text: object) -> None:
        content = text if isinstance(text, str) else json.dumps(text)
        (self.folder / name).write_text(content)

    def trust(self) -> None:
        trust(self.env, offer(self.env, self.place))

    @property
    def home(self) -> Home:
        return open_home(self.place, self.env, {})


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def test_templates_count_once_they_are_trusted(shop: Shop):
    shop.write("audit.json", AUDIT)
    shop.write("read-me.txt", "no template")
    found = project_templates(shop.home)
    assert found.templates == ()
    assert found.notices == (
        ".flyball/templates/audit.json is not used: type `flyball trust` to see and accept it.",
    )
    shop.trust()
    found = project_templates(shop.home)
    assert [each.step_id for each in found.templates] == ["audit"]
    assert found.notices == ()
    assert offer(shop.env, shop.place).is_trusted


def test_a_changed_template_must_be_accepted_again_and_the_others_count(shop: Shop):
    shop.write("audit.json", AUDIT)
    shop.write("other.json", {**AUDIT, "step_id": "other"})
    shop.trust()
    shop.write("audit.json", {**AUDIT, "title": "Another"})
    found = project_templates(shop.home)
    assert [each.step_id for each in found.templates] == ["other"]
    assert "audit.json is not used" in found.notices[0]
    assert not offer(shop.env, shop.place).is_trusted


def test_a_broken_template_is_reported_with_its_line_and_not_used(shop: Shop):
    shop.write("bad.yaml", "step_id: bad\ntitle: Bad\nobjective: o\npromt_template: p\n")
    shop.write("worse.json", "{")
    shop.trust()
    found = project_templates(shop.home)
    assert found.templates == ()
    said = "\n".join(found.notices)
    assert ".flyball/templates/bad.yaml:4: unknown-field: " in said
    assert ".flyball/templates/worse.json:1: broken-json: " in said


def test_a_name_counts_once_and_never_hides_what_is_built_in(shop: Shop):
    shop.write("fix.json", {**AUDIT, "step_id": "fix"})
    shop.write("twice.json", AUDIT)
    shop.write("zwice.json", AUDIT)
    shop.trust()
    fix, again = project_templates(shop.home).notices
    assert fix == ".flyball/templates/fix.json: the template fix is not used: one is built in."
    assert again.startswith(".flyball/templates/zwice.json: the template audit is not used")
    assert again.endswith("one is in .flyball/templates/twice.json.")


def test_what_cannot_be_read_is_no_template(shop: Shop):
    (shop.folder / "folder.json").mkdir()
    with pytest.raises(NotFound, match="nothing to trust"):
        shop.trust()
    assert project_templates(shop.home).found == ()


def test_trusting_templates_leaves_the_configuration_as_it_was(shop: Shop):
    shop.write("audit.json", AUDIT)
    shop.trust()
    (shop.place / "flyball.toml").write_text("[budget]\nreserve = 4\n")
    assert shop.home.effective.settings.budget_reserve == 2
    shop.trust()
    assert shop.home.effective.settings.budget_reserve == 4


def test_a_flow_file_is_read_or_every_problem_is_named(tmp_path: Path):
    good = tmp_path / "good.json"
    good.write_text(json.dumps([AUDIT]))
    reading = read_flow_file(str(good))
    assert reading.flow is not None
    assert reading.flow.start == "audit"
    missing = read_flow_file(str(tmp_path / "nowhere.json"))
    assert missing.flow is None
    assert missing.problems[0].code == "not-found"


READING = Flow("f", "S1", (look(),))
CHANGING = Flow("f", "S1", (look(), step("S2")))


@pytest.mark.parametrize(
    ("flow", "requested", "intent"),
    [
        (READING, None, Intent.DIAGNOSE),
        (CHANGING, None, Intent.FEATURE_BUILD),
        (CHANGING, Intent.SMALL_FIX, Intent.SMALL_FIX),
        (READING, Intent.STATUS_CHECK, Intent.STATUS_CHECK),
    ],
)
def test_naming_a_flow_is_consent_to_what_it_does(
    flow: Flow, requested: Intent | None, intent: Intent
):
    assert flow_intent(flow, requested) is intent


def test_an_intent_that_only_looks_does_not_fit_a_flow_that_changes():
    with pytest.raises(UsageError, match="S2 of the flow changes files, but diagnose is read-only"):
        flow_intent(CHANGING, Intent.DIAGNOSE)
