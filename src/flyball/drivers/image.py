"""Images in messages: `data:` URLs that contain their bytes, or web addresses."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from flyball.errors import NotFound, UsageError
from flyball.regex import regex

SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"GIF87a", "gif"),
    (b"GIF89a", "gif"),
)


class Picture(NamedTuple):
    """An image's bytes and its type."""

    media_type: str
    data: bytes

    @property
    def suffix(self) -> str:
        """Return the usual file extension for these bytes, such as `png`."""
        return self.media_type.partition("/")[2].partition("+")[0]


def data_url(data: bytes, name: str) -> str:
    """Return the bytes of an image file as a `data:` URL, with the type that the bytes show."""
    kind = next((kind for start, kind in SIGNATURES if data.startswith(start)), None)
    if kind is None and data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        kind = "webp"
    if kind is None:
        raise UsageError(
            f"{name} is not a PNG, JPEG, GIF or WebP image.", "Convert it to one of these first."
        )
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def picture(url: str) -> Picture | None:
    """Return the image in a `data:` URL; None for an address, or if it holds no image."""
    head, comma, body = url.partition(",")
    media_type, *options = head.removeprefix("data:").split(";")
    if not head.startswith("data:image/") or not comma or "base64" not in options:
        return None
    try:
        data = base64.b64decode(unquote_to_bytes(body), validate=True)
    except (ValueError, binascii.Error):
        return None
    return Picture(media_type, data) if data else None


_PASTED = regex(r"data:image/[\w.+-]+;base64,[A-Za-z0-9+/=%]+")


def take_pasted(text: str, known: int = 0) -> tuple[str, tuple[str, ...]]:
    """Return a text without its pasted images, and the images, numbered after `known`."""
    found: list[str] = []

    def placeholder(match: re.Match[str]) -> str:
        if picture(match[0]) is None:
            return match[0]
        found.append(match[0])
        return f"(image {known + len(found)})"

    return _PASTED.sub(placeholder, text), tuple(found)


def is_address(url: str) -> bool:
    """Return whether the viewer has to fetch an image."""
    return url.startswith(("https://", "http://"))


def describe(url: str) -> str:
    """Describe an image in a few words for places that cannot show it."""
    if shown := picture(url):
        return f"{shown.media_type}, {len(shown.data)} bytes"
    return url if len(url) <= 200 else f"{url[:200]}…"


def load_images(paths: Sequence[Path]) -> tuple[str, ...]:
    """Load image files to send with a request."""
    found: list[str] = []
    for path in paths:
        try:
            found.append(data_url(path.read_bytes(), str(path)))
        except FileNotFoundError:
            raise NotFound("file", str(path), "Name an image file.") from None
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
    return tuple(found)
