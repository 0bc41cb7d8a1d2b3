from __future__ import annotations

import pytest

from flyball.drivers.image import data_url, describe, is_address, picture, take_pasted
from flyball.errors import UsageError


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\nrest", "png"),
        (b"\xff\xd8\xff\xe0rest", "jpeg"),
        (b"GIF89arest", "gif"),
        (b"RIFF\x00\x00\x00\x00WEBPrest", "webp"),
    ],
)
def test_the_bytes_say_what_an_image_is(data: bytes, kind: str) -> None:
    url = data_url(data, "whatever.txt")
    shown = picture(url)

    assert url.startswith(f"data:image/{kind};base64,")
    assert shown is not None
    assert (shown.media_type, shown.data, shown.suffix) == (f"image/{kind}", data, kind)
    assert describe(url) == f"image/{kind}, {len(data)} bytes"


@pytest.mark.parametrize("data", [b"", b"hello", b"RIFF\x00\x00\x00\x00WAVE"])
def test_what_is_no_image_is_refused(data: bytes) -> None:
    with pytest.raises(UsageError, match=r"notes\.txt is not a PNG"):
        data_url(data, "notes.txt")


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/a.png",
        "data:text/plain;base64,aGk=",
        "data:image/png,plain",
        "data:image/png;base64,%%%",
        "data:image/png;base64,",
        "/home/me/a.png",
    ],
)
def test_only_data_urls_of_images_hold_one(url: str) -> None:
    assert picture(url) is None
    assert describe(url) == url


def test_addresses_and_long_names() -> None:
    assert is_address("https://example.com/a.png")
    assert not is_address("data:image/png;base64,AA==")
    assert describe("x" * 500) == "x" * 200 + "…"


def test_pasted_images_are_taken_out_of_a_text() -> None:
    one, two = (f"data:image/{kind};base64,aGVsbG8=" for kind in ("png", "svg+xml"))
    text, images = take_pasted(f"Why is {one} not like\n{two}? Not data:image/png;base64,%%%.", 1)
    assert images == (one, two)
    assert text == "Why is (image 2) not like\n(image 3)? Not data:image/png;base64,%%%."
    assert take_pasted("plain") == ("plain", ())
