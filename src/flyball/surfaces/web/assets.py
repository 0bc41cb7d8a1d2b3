"""The page's own files: few, small, kept in memory, each with a tag of its content."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from litestar import Request, Response, get
from litestar.params import FromPath

from flyball.errors import NotFound

KINDS = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
NAME = re.compile(r"[a-z_]+\.(?:html|css|js|svg)")


class Asset(NamedTuple):
    """One file of the page."""

    data: bytes
    kind: str
    tag: str


@cache
def asset(name: str) -> Asset:
    """A file of the page by its bare name; no other file can be named."""
    place = files("flyball.surfaces.web") / "page" / name
    if not NAME.fullmatch(name) or not place.is_file():
        raise NotFound("page", name, "The board is at `/`.")
    data = place.read_bytes()
    return Asset(data, KINDS[name.rpartition(".")[2]], hashlib.sha256(data).hexdigest()[:16])


def _answer(name: str, request: Request[Any, Any, Any]) -> Response[bytes]:
    found = asset(name)
    headers = {"etag": f'"{found.tag}"', "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == headers["etag"]:
        return Response(b"", status_code=304, headers=headers, media_type=found.kind)
    return Response(found.data, headers=headers, media_type=found.kind)


@get("/", include_in_schema=False, sync_to_thread=False)
def index(request: Request[Any, Any, Any]) -> Response[bytes]:
    """The page; which screen it shows is in the part of the address that stays in the browser."""
    return _answer("index.html", request)


@get("/page/{name:str}", include_in_schema=False, sync_to_thread=False)
def page_file(name: FromPath[str], request: Request[Any, Any, Any]) -> Response[bytes]:
    """A script, a style or a picture of the page."""
    return _answer(name, request)


ASSET_ROUTES = (index, page_file)
