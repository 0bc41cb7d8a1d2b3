"""`write_file`: a whole file, as text or as bytes."""

from __future__ import annotations

import base64
import binascii

import msgspec

from flyball.tools.call.facts import copied_mask, lost_regions, path_fact, present
from flyball.tools.call.protocol import CallContext, CallFacts, Form, Result, Text, Tool


class WriteForm(Form, frozen=True, kw_only=True):
    """A path and its new content, in exactly one of two forms."""

    path: Text
    content: str | None = None
    content_base64: str | None = None
    keep_regions: bool = msgspec.field(default=True, name="keepRegions")

    def __post_init__(self) -> None:
        if (self.content is None) == (self.content_base64 is None):
            raise ValueError("give exactly one of `content` and `content_base64`")
        try:
            base64.b64decode(self.content_base64 or "", validate=True)
        except (binascii.Error, ValueError) as error:
            raise ValueError(f"`content_base64` is not base64: {error}") from error

    @property
    def data(self) -> bytes:
        if self.content is not None:
            return self.content.encode()
        return base64.b64decode(self.content_base64 or "")


def facts(form: WriteForm, context: CallContext) -> CallFacts:
    paths = (path_fact(form.path, context, write=True),)
    return CallFacts(paths=paths, keeps_regions=form.keep_regions)


async def perform(form: WriteForm, context: CallContext) -> Result:
    before = present(form.path, context)
    if mask := copied_mask(form.path, before, form.data):
        return Result(False, f"Nothing was written. {mask}", error="redacted", same="redacted")
    kept = before if form.keep_regions else None
    if kept is not None and (touched := lost_regions(form.path, kept, form.data)):
        reasons = " ".join(touched)
        return Result(False, f"Nothing was written. {reasons}", error="keep_region", same=touched)
    context.root.write_bytes(form.path, form.data)
    return _done(form)


def probe(form: WriteForm, context: CallContext) -> Result | None:
    """Return a result if the file already has the content that this call writes."""
    return _done(form) if present(form.path, context) == form.data else None


def _done(form: WriteForm) -> Result:
    size = len(form.data)
    return Result(True, f"Wrote {form.path}, {size} bytes.", {"path": form.path, "bytes": size})


WRITE_FILE = Tool(
    "write_file",
    "Write a whole file. To change one that exists prefer `edit_diff`.",
    WriteForm,
    facts,
    perform,
    probe,
    example={"path": "notes/plan.md", "content": "# Plan\n"},
)
