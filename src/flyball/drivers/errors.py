"""Why a provider gave no reply, in sentences that say what to do about it."""

from __future__ import annotations

from enum import StrEnum
from typing import cast

from flyball.errors import DriverError

WORDS_CAP = 300


class ProviderTrouble(StrEnum):
    """Kinds of failure, by who must act."""

    KEY = "key"
    QUOTA = "quota"
    MODEL = "model"
    WINDOW = "window"
    REQUEST = "request"
    SETTING = "setting"
    PASSING = "passing"


def sentence(trouble: ProviderTrouble, name: str, words: str, wait: float | None) -> DriverError:
    """The error for a model's failure; only what may pass by itself can be retried."""
    kind = name.partition(":")[0]
    key = f"{kind.partition('-')[0].upper()}_API_KEY"
    message, hint = {
        ProviderTrouble.KEY: (
            f"{kind} refused the key for {name}",
            f"Check the key in {key}, and that it may use this model.",
        ),
        ProviderTrouble.QUOTA: (
            f"The account at {kind} is used up",
            "Top up the account, or choose another model.",
        ),
        ProviderTrouble.MODEL: (
            f"{kind} does not know {name}",
            "Check the model's name and the provider's base URL.",
        ),
        ProviderTrouble.WINDOW: (
            f"The thread is too long for {name}",
            "Lower context_tokens, or choose a model with a larger window.",
        ),
        ProviderTrouble.REQUEST: (
            f"{kind} refused the request to {name}",
            "Check the model's name and settings.",
        ),
        ProviderTrouble.SETTING: (f"{name} cannot be asked", "Check the model's settings."),
        ProviderTrouble.PASSING: (
            f"{name} gave no usable reply",
            f"It asks to wait {wait:g} s." if wait else "",
        ),
    }[trouble]
    return DriverError(f"{message}: {words}", hint, retryable=trouble is ProviderTrouble.PASSING)


def in_one_line(words: str, body: object, status: int | None) -> str:
    """The provider's own words where its answer has some, with the status where it has one."""
    said = " ".join((_message_in(body) or words).split())[:WORDS_CAP].rstrip(".")
    return f"{said} (HTTP {status})." if status else f"{said}."


def _message_in(body: object) -> str:
    """The message inside an error's body, which providers wrap in different ways."""
    while isinstance(body, dict):
        known = cast(dict[str, object], body)
        body = known.get("error") or known.get("message")
    return body if isinstance(body, str) else ""
