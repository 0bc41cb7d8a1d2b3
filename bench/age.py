"""Whether the figures of the page were taken of the code that is here: by content, not by date."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parents[1]
MEASURED = ("src/flyball", "bench")
MARK = "<!-- The code that was measured: {} -->"


def code_digest(root: Path = ROOT) -> str:
    """The digest of every file that is measured or measures, by its path and content."""
    whole = sha256()
    for folder in MEASURED:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                whole.update(path.relative_to(root).as_posix().encode() + b"\0")
                whole.update(sha256(path.read_bytes()).digest())
    return whole.hexdigest()[:16]


def is_of_this_code(page: str, digest: str) -> bool:
    """Whether a page says that it measured this code, and says it once."""
    return re.findall(MARK.format("([0-9a-f]{16})"), page) == [digest]
