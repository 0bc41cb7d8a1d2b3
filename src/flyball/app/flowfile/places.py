"""Record the line of each value in a text."""

from __future__ import annotations

import re
from bisect import bisect_right

from flyball.core.terms.shape import Path

MAX_DEPTH = 64
MAX_OPEN = 2 * MAX_DEPTH
MAX_VALUES = 50_000


class UnreadableError(ValueError):
    """The text is invalid in its format; `line` and `column` give the position."""

    def __init__(self, code: str, message: str, hint: str, line: int, column: int = 0) -> None:
        super().__init__(message)
        self.code = code
        self.message = f"{message} (column {column})." if column else f"{message}."
        self.hint = hint
        self.line = line


class Places:
    """The lines of a text, and the line of each value found in it so far."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines: dict[Path, int] = {}
        self._count = 0
        self._breaks = [match.start() for match in re.finditer("\n", text)]

    def line(self, offset: int) -> int:
        return bisect_right(self._breaks, offset - 1) + 1

    def column(self, offset: int) -> int:
        return offset - (self.text.rfind("\n", 0, offset) + 1) + 1

    def mark(self, path: Path, offset: int) -> None:
        """Record the position of a value; refuse too many values or too deep nesting."""
        if len(path) > MAX_DEPTH:
            raise self.too_deep(offset)
        self._count += 1
        if self._count > MAX_VALUES:
            raise self.unreadable(
                "too-large", f"There are more than {MAX_VALUES} values", "Split the file.", offset
            )
        self.lines.setdefault(path, self.line(offset))

    def reject_deep_nesting(self) -> None:
        """Refuse deep nesting, which costs parsers their stack or quadratic time."""
        depth = 0
        for bracket in re.finditer(r"[\[\]{}]", self.text):
            depth = depth + 1 if bracket[0] in "[{" else max(0, depth - 1)
            if depth > MAX_OPEN:
                raise self.too_deep(bracket.start())

    def too_deep(self, offset: int) -> UnreadableError:
        message = f"Values are nested more than {MAX_DEPTH} deep"
        return self.unreadable("too-deep", message, "Flatten it.", offset)

    def unreadable(self, code: str, message: str, hint: str, offset: int) -> UnreadableError:
        offset = min(offset, len(self.text))
        return UnreadableError(code, message, hint, self.line(offset), self.column(offset))
