"""From settings to drivers and keys."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from flyball.app.project import Home, open_home
from flyball.app.settling import Effective
from flyball.app.wiring import (
    TRACING,
    driver_spec,
    family,
    is_traced,
    make_driver,
    providers_of,
    tool_settings,
    tracer,
    unlocked,
)
from flyball.drivers.relay.clipboard import ClipboardDriver, PersonPort
from flyball.drivers.relay.relay import RelayDriver
from flyball.drivers.routing import Models
from flyball.errors import ConfigError, UsageError
from flyball.journal.sqlite import memory_journal
from flyball.settings import Settings


def home(tmp_path: Path, environ: dict[str, str] | None = None, **flags: object) -> Home:
    env = {"HOME": str(tmp_path), **(environ or {})}
    return open_home(tmp_path, env, flags)


@pytest.mark.parametrize(
    ("settings", "requested", "spec"),
    [
        (Settings(), "scripted:s.jsonl", "scripted:/here/s.jsonl"),
        (Settings(), "relay:talk", "relay:/here/talk"),
        (Settings(), "relay:/abs", "relay:/abs"),
        (Settings(), "relay:clipboard", "relay:clipboard"),
        (Settings(), "model:a:b", "model:a:b"),
        (Settings(), "", "repair"),
        (Settings(model_default="a:b"), "repair", "repair"),
        (Settings(model_default="a:b"), "", "model:a:b"),
        (Settings(model_default="a:b"), "model", "model:a:b"),
        (Settings(driver_use="relay:talk", model_default="a:b"), "", "relay:/here/talk"),
    ],
)
def test_a_driver_is_named_so_that_any_process_finds_it(
    settings: Settings, requested: str, spec: str
):
    assert driver_spec(settings, requested, Path("/here")) == spec


@pytest.mark.parametrize("requested", ["scripted", "scripted:", "relay:", "oracle:x", "modl:a:b"])
def test_an_unknown_driver_is_refused(requested: str):
    with pytest.raises(UsageError, match="There is no driver"):
        driver_spec(Settings(), requested, Path("/here"))


def test_without_a_model_it_says_how_to_name_one():
    with pytest.raises(ConfigError, match=r"No model.*--model.*FLYBALL_MODEL_DEFAULT.*relay:DIR"):
        driver_spec(Settings(), "model", Path("/here"))


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("openai:gpt-5", "OPENAI_API_KEY"),
        ("openai-chat:gpt-5", "OPENAI_API_KEY"),
        ("anthropic:claude", "ANTHROPIC_API_KEY"),
        ("zai:glm", "ZAI_API_KEY"),
    ],
)
def test_a_missing_key_is_named(tmp_path: Path, model: str, variable: str):
    with pytest.raises(ConfigError, match=variable):
        providers_of(home(tmp_path), Models(default=model))
    found = providers_of(home(tmp_path, {variable: "k"}), Models(default=model))
    assert found.keys == {family(model): "k"}


def test_a_vision_model_needs_its_key_as_well(tmp_path: Path):
    models = Models(default="openai:gpt-5", vision="anthropic:claude")
    with pytest.raises(ConfigError, match="ANTHROPIC_API_KEY"):
        providers_of(home(tmp_path, {"OPENAI_API_KEY": "k"}), models)


def test_a_server_of_ones_own_may_want_no_key(tmp_path: Path):
    models = Models(default="openai:local")
    url = "http://127.0.0.1:8080/v1"
    assert providers_of(home(tmp_path, model_base_url=url), models).base_urls == {"openai": url}
    assert providers_of(home(tmp_path, {"OPENAI_BASE_URL": url}), models).keys == {}
    assert providers_of(home(tmp_path), Models(default="ollama:qwen3")).keys == {}


def test_drivers_are_made_as_asked(tmp_path: Path):
    async def read() -> str:
        return "{}"

    hand = PersonPort(lambda _text: None, lambda _text: None, read)
    here = home(tmp_path)
    assert isinstance(make_driver(here, "relay:clipboard", hand), ClipboardDriver)
    assert isinstance(make_driver(here, f"relay:{tmp_path}", None), RelayDriver)
    with pytest.raises(ConfigError, match="clipboard program"):
        make_driver(here, "relay:clipboard", None)


def test_wrong_rules_for_commands_are_refused():
    with pytest.raises(ConfigError, match=r"bash\.allow"):
        tool_settings(Effective(Settings(bash_allow=({"nonsense": 1},)), {}, ()))
    assert tool_settings(Effective(Settings(limits_seconds=3.0), {}, ())).limits.seconds == 3.0
    open_places = Settings(sandbox_readable=("~/tools", "/x"), sandbox_variables=("GOFLAGS",))
    found = tool_settings(Effective(open_places, {}, ()))
    assert [str(place) for place in found.readable] == [str(Path("~/tools").expanduser()), "/x"]
    assert found.variables == ("GOFLAGS",)


KEYRING = """#!/bin/sh
test "$*" = "lookup service flyball key OPENAI_API_KEY" && echo kept-key
"""


def test_a_key_may_be_in_the_systems_keyring(tmp_path: Path):
    program = tmp_path / "bin" / "secret-tool"
    program.parent.mkdir()
    program.write_text(KEYRING)
    program.chmod(0o755)
    locked = home(tmp_path, {"PATH": str(program.parent)})
    opened = unlocked(locked, "model:openai:gpt-5")
    assert opened.environ["OPENAI_API_KEY"] == "kept-key"
    assert providers_of(opened, Models(default="openai:gpt-5")).keys == {"openai": "kept-key"}
    assert unlocked(locked, "model:anthropic:claude") == locked
    assert unlocked(locked, "relay:x") == locked
    assert unlocked(home(tmp_path, {"PATH": ""}), "model:openai:gpt-5").environ["PATH"] == ""


COLLECTOR = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}


@pytest.mark.parametrize(
    ("environ", "is_on"),
    [
        ({}, False),
        (COLLECTOR, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1/t"}, True),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": " "}, False),
        (COLLECTOR | {"OTEL_SDK_DISABLED": "True"}, False),
        (COLLECTOR | {"OTEL_SDK_DISABLED": "false"}, True),
        (COLLECTOR | {"OTEL_TRACES_EXPORTER": "none"}, False),
        (COLLECTOR | {"OTEL_TRACES_EXPORTER": "console,otlp"}, True),
    ],
)
def test_runs_are_traced_where_the_user_named_a_collector(environ: dict[str, str], is_on: bool):
    assert is_traced(environ) is is_on


def notices_of_tracing(tmp_path: Path) -> list[str]:
    told: list[str] = []

    async def ask() -> None:
        journal = memory_journal()
        place = home(tmp_path, COLLECTOR)
        assert await tracer(place, journal, "r", lambda line: told.append(line["text"])) is None
        await journal.close()

    asyncio.run(ask())
    return told


def test_a_collector_without_the_extra_is_a_notice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delitem(sys.modules, TRACING, raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.resources", None)
    (said,) = notices_of_tracing(tmp_path)
    assert said.startswith("This run is not traced.") and "flyball[otel]" in said


def test_a_collector_that_cannot_be_spoken_to_is_a_notice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    (said,) = notices_of_tracing(tmp_path)
    assert "http/protobuf" in said
