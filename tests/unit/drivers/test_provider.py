from __future__ import annotations

import pytest

from flyball.drivers.provider import build
from flyball.drivers.routing import Providers
from flyball.errors import DriverError


@pytest.fixture(autouse=True)
def _no_settings_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in ("OPENAI", "ANTHROPIC", "OLLAMA", "ZAI"):
        monkeypatch.delenv(f"{provider}_API_KEY", raising=False)
        monkeypatch.delenv(f"{provider}_BASE_URL", raising=False)


@pytest.mark.parametrize(
    ("name", "providers", "model"),
    [
        ("openai:gpt-5", Providers(keys={"openai": "k"}), "OpenAIResponsesModel"),
        ("openai-chat:gpt-5", Providers(keys={"openai": "k"}), "OpenAIChatModel"),
        (
            "openai:any",
            Providers(base_urls={"openai": "http://127.0.0.1:1/v1"}),
            "OpenAIChatModel",
        ),
        ("anthropic:claude-sonnet-5", Providers(keys={"anthropic": "k"}), "AnthropicModel"),
        ("zai:glm-4.6", Providers(keys={"zai": "k"}), "ZaiModel"),
        ("ollama:qwen3", Providers(), "OllamaModel"),
        ("deepseek:deepseek-chat", Providers(keys={"deepseek": "k"}), "OpenAIChatModel"),
    ],
)
def test_a_name_becomes_a_model_of_its_provider(
    name: str, providers: Providers, model: str
) -> None:
    _, built = build(name, providers)

    assert type(built).__name__ == model
    assert built.model_name == name.partition(":")[2]


def test_ollama_is_looked_for_on_this_machine() -> None:
    provider, _ = build("ollama:qwen3", Providers())

    assert provider.base_url.startswith("http://127.0.0.1:11434/v1")


def test_a_base_url_from_the_environment_is_a_server_that_speaks_like_openai(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    _, built = build("openai:any", Providers())

    assert type(built).__name__ == "OpenAIChatModel"


@pytest.mark.parametrize(
    ("name", "providers", "words"),
    [
        ("openai:gpt-5", Providers(), "Set OPENAI_API_KEY"),
        ("anthropic:claude-sonnet-5", Providers(), "Set ANTHROPIC_API_KEY"),
        ("zai:glm-4.6", Providers(), "Set ZAI_API_KEY"),
        ("nobody:model", Providers(), "no provider 'nobody'"),
        ("groq:llama", Providers(keys={"groq": "k"}), "Install"),
        (
            "deepseek:x",
            Providers(keys={"deepseek": "k"}, base_urls={"deepseek": "http://127.0.0.1:1"}),
            "openai:MODEL with that base URL",
        ),
    ],
)
def test_what_is_missing_is_said(name: str, providers: Providers, words: str) -> None:
    with pytest.raises(DriverError) as caught:
        build(name, providers)

    assert words in str(caught.value)
    assert not caught.value.retryable
