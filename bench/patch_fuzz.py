"""Throw spoilt bytes at the patch engine for a while, guided by which lines of it they reach.

    python -m bench.patch_fuzz [--seconds 20] [--seed 0]

An input that reaches lines no other reached is kept and spoilt further. Nothing may crash, a
refusal must leave every byte, and no keep region may change.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import CodeType, FrameType

import flyball.patch
from bench.figure import Figure, conclude
from flyball.patch import apply_diff, unified_diff
from flyball.patch.keep import changed_regions, regions

_ROOM = str(Path(flyball.patch.__file__).parent)
_FILE = (
    b"import os\n\n\ndef one(x):\n    return x + 1\n\n\n# VIBE-KEEP START k\ny = 2\n"
    b"# VIBE-KEEP END k\n\ndef two(x):\n    return x + 1\n\tz\r\n\xff\xfe\n}\n}\n"
)
_PIECES = """--- a/f|+++ b/f|--- /dev/null|+++ /dev/null|diff --git a/f b/f|@@|@@ -1,3 +1,4 @@
@@ -4,2 +4,2 @@ def one(x):|@@ ... @@|```|```diff| import os|-    return x + 1|+    return x + 2
 def two(x):|| |-|+|\\ No newline at end of file|-y = 2|+# ... existing code ...|-- |rename from f
new file mode 100644|index 0000000..e69de29|\ufeff|\r|\udcff""".replace("\n", "|").split("|")
_Line = tuple[CodeType, int]


class Watcher:
    """Collects which lines of the engine run."""

    def __init__(self) -> None:
        self.seen: set[_Line] = set()

    def __call__(self, frame: FrameType, event: str, arg: object) -> Watcher | None:  # noqa: ARG002
        if not frame.f_code.co_filename.startswith(_ROOM):
            return None
        self.seen.add((frame.f_code, frame.f_lineno))
        return self


def spoilt(diff: str, rng: random.Random) -> str:
    """One random change to a diff."""
    lines = diff.split("\n")
    at = rng.randrange(len(lines))
    match rng.randrange(8):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, rng.choice(_PIECES))
        case 2:
            lines[at] = lines[at][: rng.randint(0, len(lines[at]))]
        case 3:
            lines[at] = rng.choice(" +-@\\") + lines[at]
        case 4:
            lines.insert(at, rng.choice(lines))
        case 5:
            lines[at] = lines[at].replace("1", str(rng.randint(0, 40)), 1)
        case 6:
            lines = lines[:at] + lines[at + rng.randint(0, 4) :]
        case _:
            lines[at] += rng.choice((" ", "\r", "\t", "x", "\x0c", "\u2028"))
    return "\n".join(lines)


def objection(diff: str, options: dict[str, object]) -> str | None:
    """What is wrong with how the engine took this diff."""
    base = {"f": _FILE.replace(b"import os\n", b"import sys\n")} if options.pop("old") else None
    try:
        result = apply_diff({"f": _FILE}, diff, base=base, **options)  # pyright: ignore
        result.to_json()
    except Exception:  # noqa: BLE001 - any crash at all is what is looked for
        return traceback.format_exc(limit=-3)
    now = result.files["f"]
    if not result.ok and result.files != {"f": _FILE}:
        return "a refusal changed the file"
    if changed_regions(regions(_FILE), regions(now or b"")):
        return "a keep region changed"
    return None


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    rng = random.Random(asked.seed)
    edited = _FILE.replace(b"x + 1", b"x + 3").replace(b"import os", b"import re")
    pool = [unified_diff("f", _FILE, edited), "\n".join(_PIECES)]
    known: set[_Line] = set()
    tried = 0
    end = time.monotonic() + asked.seconds
    while time.monotonic() < end:
        diff = rng.choice(pool)
        for _ in range(rng.randint(1, 4)):
            diff = spoilt(diff, rng)
        options: dict[str, object] = {
            "fuzz": rng.randint(0, 2),
            "partial": rng.random() < 0.2,
            "old": rng.random() < 0.2,
        }
        watcher = Watcher()
        sys.settrace(watcher)
        wrong = objection(diff, options)
        sys.settrace(None)
        tried += 1
        if wrong:
            print(f"after {tried} diffs, with {options}:\n{wrong}\n{diff!r}")
            return [Figure("random diffs that do harm", 1, most=0)]
        if watcher.seen - known:
            known |= watcher.seen
            pool.append(diff)
    print(f"{tried} diffs in {asked.seconds:.0f} s, {len(known)} lines reached, {len(pool)} kept")
    return [Figure("random diffs that do harm", 0, most=0), Figure("tried", tried)]


if __name__ == "__main__":
    sys.exit(conclude(main(sys.argv[1:])))
