"""A model that sees: one short question about a picture, one answer with its reason."""

from __future__ import annotations

import re
from collections.abc import Callable

from flyball.core.flow.template import Role
from flyball.core.terms.phase import Phase
from flyball.drivers.image import data_url
from flyball.drivers.prompt import text_of
from flyball.drivers.protocol import Driver, Request
from flyball.errors import DriverError, FlyballError
from flyball.regex import regex
from flyball.tools.call.protocol import PictureOpinion

LONGEST = 600
"""Characters of a reason that are kept."""
_ANSWER = regex(r"\W*(yes|no)\b[\W_]*(.*)", re.IGNORECASE | re.DOTALL)


class VisionModel:
    """Asks a driver about pictures; it is created for the first picture."""

    def __init__(self, make: Callable[[], Driver]) -> None:
        self._make = make
        self._driver: Driver | None = None

    async def judge(self, run: str, card: str, picture: bytes, expectation: str) -> PictureOpinion:
        """Return whether a picture shows what is expected; or, if it could not be judged, why
        not.
        """
        request = Request(
            run=run,
            card=card,
            role=Role.VERIFIER,
            phase=Phase.VERIFY,
            system=text_of("eyes"),
            opening=f"What the picture is expected to show:\n\n{expectation.strip()}",
            images=(data_url(picture, "the picture"),),
        )
        try:
            if self._driver is None:
                self._driver = self._make()
            reply = await self._driver.think(request, _unheard)
        except DriverError as error:
            return PictureOpinion(reason=f"A model was asked and could not answer: {error}")
        except FlyballError as error:
            return PictureOpinion(reason=str(error))
        return read_opinion(reply.text)._replace(model=reply.model, usage=reply.usage)

    async def close(self) -> None:
        """Close the driver, if one was created."""
        if self._driver is not None:
            await self._driver.close()
            self._driver = None


def read_opinion(text: str) -> PictureOpinion:
    """Parse a yes or a no at the start of an answer, and the reason after it."""
    found = _ANSWER.match(text)
    if found is None:
        return PictureOpinion(reason="The model answered neither yes nor no.")
    reason = " ".join(found[2].split())[:LONGEST]
    return PictureOpinion(is_right=found[1].lower() == "yes", reason=reason)


def _unheard(_text: str) -> None:
    """Ignore what is said while it speaks."""
