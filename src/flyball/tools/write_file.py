"""`write_file`: a whole file, as text or as bytes."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated

import msgspec

from flyball.tools.files import lost_regions, path_fact
from flyball.tools.protocol import Desk, Facts, Form, Result, Tool


class WriteForm(Form, frozen=True, kw_only=True):
    """A path and its new content, in exactly one of two forms."""

    path: Annotated[str, msgspec.Meta(min_length=1)]
    content: str | None = None
    content_base64: str | None = None

    def __post_init__(self) -> None:
        if (self.content is None) == (self.content_base64 is None):
            raise ValueError("give exactly one of `content` and `content_base64`")
        try:
            base64.b64decode(self.content_base64 or "", validate=True)
        except binascii.Error as error:
            raise ValueError(f"`content_base64` is not base64: {error}") from error

    @property
    def data(self) -> bytes:
        if self.content is not None:
            return self.content.encode()
        return base64.b64decode(self.content_base64 or "")


def facts(form: WriteForm, desk: Desk) -> Facts:
    return Facts(paths=(path_fact(form.path, desk, write=True),))


async def perform(form: WriteForm, desk: Desk) -> Result:
    before = _now(form.path, desk)
    if before is not None and (touched := lost_regions(form.path, before, form.data)):
        said = " ".join(touched)
        return Result(False, f"Nothing was written. {said}", error="keep_region", same="keep")
    desk.root.write_bytes(form.path, form.data)
    return done(form)


def probe(form: WriteForm, desk: Desk) -> Result | None:
    return done(form) if _now(form.path, desk) == form.data else None


def done(form: WriteForm) -> Result:
    size = len(form.data)
    return Result(True, f"Wrote {form.path}, {size} bytes.", {"path": form.path, "bytes": size})


def _now(path: str, desk: Desk) -> bytes | None:
    if desk.root.fact(path, write=False).kind.value == "missing":
        return None
    return desk.root.read_bytes(path)


WRITE_FILE = Tool(
    "write_file",
    "Write a whole file: `content` for text, `content_base64` for bytes. To change a file that "
    "exists prefer `edit_diff`.",
    WriteForm,
    facts,
    perform,
    probe,
)
