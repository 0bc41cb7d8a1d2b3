"""All liars, plain and in disguise."""

from __future__ import annotations

from tests.liars.disguises import DISGUISES
from tests.liars.lies import LIES

FLEET = [*LIES, *DISGUISES]
