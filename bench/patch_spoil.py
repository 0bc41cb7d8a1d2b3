"""Ways to spoil a diff, sorted by what an engine should do about them."""

from __future__ import annotations

from bench.patch_spoil_dressed import DRESSED
from bench.patch_spoil_foreign import FOREIGN
from bench.patch_spoil_garbled import GARBLED
from bench.patch_spoil_numbers import NUMBERED
from bench.patch_spoil_parts import Spoil

REPAIRED: tuple[Spoil, ...] = (*NUMBERED, *DRESSED)
REFUSED: tuple[Spoil, ...] = (*GARBLED, *FOREIGN)
