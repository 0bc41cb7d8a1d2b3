"""`read`: a file, or a part of it, with line numbers."""

from __future__ import annotations

from typing import Annotated

import msgspec

from flyball.errors import ToolError
from flyball.tools.files import decoded, path_fact
from flyball.tools.protocol import Desk, Facts, Form, Result, Tool, bounded

LINES = 2_000
MAX_BYTES = 20_000_000


class ReadForm(Form, frozen=True, kw_only=True):
    """A path, and which lines; a negative offset counts from the end."""

    path: Annotated[str, msgspec.Meta(min_length=1)]
    offset: int = 1
    limit: Annotated[int, msgspec.Meta(ge=1)] = LINES


def facts(form: ReadForm, desk: Desk) -> Facts:
    return Facts(paths=(path_fact(form.path, desk, write=False),))


async def perform(form: ReadForm, desk: Desk) -> Result:
    data = desk.root.read_bytes(form.path, MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ToolError(f"{form.path} is larger than {MAX_BYTES} bytes.", "Use `grep` on it.")
    text = decoded(data)
    if text is None:
        return Result(True, f"{form.path} is binary, {len(data)} bytes.", {"binary": True})
    lines = text.split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    total = len(lines)
    first = max(total + form.offset, 0) if form.offset < 0 else max(form.offset - 1, 0)
    shown = lines[first : first + form.limit]
    numbered = "\n".join(f"{first + n + 1:>6}\t{line}" for n, line in enumerate(shown))
    head = f"{form.path}: lines {first + 1} to {first + len(shown)} of {total}"
    if not shown:
        head = f"{form.path}: {total} lines, none at {form.offset}"
    see = "Read it in parts with offset and limit."
    body, cut = bounded(numbered, desk.settings.max_text, see)
    rest = total - first - len(shown)
    more = (
        f"\n[{rest} more lines: read on with offset {first + len(shown) + 1}]" if rest > 0 else ""
    )
    data_out: dict[str, object] = {"path": desk.root.resolve(form.path), "lines": total}
    return Result(True, f"{head}\n{body}{more}", data_out, cut=cut)


READ = Tool(
    "read",
    "Read a file with line numbers. `offset` is the first line (1-based; negative counts from the "
    "end, so -50 shows the last 50 lines), `limit` how many lines.",
    ReadForm,
    facts,
    perform,
)
