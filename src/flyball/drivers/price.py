"""What tokens cost where the user says so; for known models the provider's list price is used."""

from __future__ import annotations

from typing import Annotated

import msgspec

PER = 1_000_000

Dollars = Annotated[float, msgspec.Meta(ge=0)]


class Price(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """US dollars for a million tokens."""

    input: Dollars
    output: Dollars

    def of(self, input_tokens: int, output_tokens: int) -> float:
        return (self.input * input_tokens + self.output * output_tokens) / PER
