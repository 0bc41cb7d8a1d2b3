"""The budget of a run, and how much of it is used."""

from __future__ import annotations

import msgspec

from flyball.terms.call import Access, Call
from flyball.terms.intent import MAX_TOOL_ROUNDS
from flyball.terms.tool import FREE_TOOLS

DEFAULT_RESERVE = 2


class Extension(msgspec.Struct, frozen=True):
    """Calls that a person added: who, how many, why."""

    by: str
    calls: int
    why: str


class Budget(msgspec.Struct, frozen=True, omit_defaults=True):
    """The limit on calls and the extensions of it; the last few calls are kept for verification."""

    calls: int
    reserve: int = DEFAULT_RESERVE
    extensions: tuple[Extension, ...] = ()
    ceiling: int = MAX_TOOL_ROUNDS
    slack: int = 1
    """How many times the limit may be spent before calls are refused."""
    tokens: int = 0
    money: float = 0.0

    @property
    def limit(self) -> int:
        """Return the total number of calls; a person's extensions may exceed the ceiling."""
        limit = min(self.calls, self.ceiling)
        for each in self.extensions:
            limit += each.calls
        return limit

    @property
    def is_reported(self) -> bool:
        """Return whether reaching the limit is only reported, because a host governs its own
        model."""
        return self.slack > 1

    def extend(self, extension: Extension) -> Budget:
        return msgspec.structs.replace(self, extensions=(*self.extensions, extension))


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """The usage of a model's reply."""

    input_tokens: int = 0
    output_tokens: int = 0
    money: float = 0.0
    cached_tokens: int = 0
    """How many of the input tokens the provider had read before."""


class Spend(msgspec.Struct, frozen=True, omit_defaults=True):
    """The used part of a budget. Blocked calls cost nothing but are counted."""

    calls: int = 0
    blocked: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    money: float = 0.0
    cached_tokens: int = 0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


def cost(call: Call) -> int:
    """Return how much of the budget a call uses."""
    return 0 if call.tool in FREE_TOOLS else 1


def spent_limit(budget: Budget, spend: Spend) -> str:
    """Describe the limit that is used up; empty if there is none."""
    limit = budget.limit * budget.slack
    if budget.calls and spend.calls >= limit:
        return f"all {limit} tool calls are spent"
    if budget.tokens and spend.tokens >= budget.tokens:
        return f"all {budget.tokens} tokens are spent"
    if budget.money and spend.money >= budget.money:
        return f"all of the {budget.money:.2f} allowed is spent"
    return ""


def is_reserved(budget: Budget, spend: Spend, call: Call, *, has_mutated: bool) -> bool:
    """Return whether this call would use up calls that are reserved for verification."""
    needs_reserve = (has_mutated or call.access is Access.MUTATE) and not budget.is_reported
    if not needs_reserve or call.access is Access.VERIFY or call.tool in FREE_TOOLS:
        return False
    return budget.limit - spend.calls <= budget.reserve
