"""Ways to spoil a diff, sorted by what an engine should do about them."""

from __future__ import annotations

from bench.patch_spoil_parts import Spoil
from bench.patch_spoil_refused import REFUSED
from bench.patch_spoil_repaired import REPAIRED

__all__ = ["REFUSED", "REPAIRED", "Spoil"]
