"""Serve the page's own files with entity tags, so that unchanged content is not sent again."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from litestar import Request, Response, get
from litestar.params import FromPath

from flyball.errors import NotFound
from flyball.regex import regex
from flyball.web.protection import Application, Receive, Scope, Send

KINDS = {
    "html": "text/html",
    "css": "text/css",
    "js": "text/javascript",
    "svg": "image/svg+xml",
}
JSON_KINDS = (b"application/json", b"application/vnd.oai.openapi+json")
NAME = regex(r"[a-z_]+\.(?:html|css|js|svg)")


class Asset(NamedTuple):
    """One file of the page."""

    data: bytes
    kind: str
    tag: str


@cache
def asset(name: str) -> Asset:
    """Return a file of the page by its bare name; no other file can be named."""
    place = files("flyball.web") / "page" / name
    if not NAME.fullmatch(name) or not place.is_file():
        raise NotFound("page", name, "The board is at `/`.")
    data = place.read_bytes()
    return Asset(data, KINDS[name.rpartition(".")[2]], hashlib.sha256(data).hexdigest()[:16])


def _answer(name: str, request: Request[Any, Any, Any]) -> Response[bytes]:
    found = asset(name)
    headers = {"etag": f'"{found.tag}"', "cache-control": "no-cache"}
    if has_tag(request.headers.get("if-none-match", ""), headers["etag"]):
        return Response(b"", status_code=304, headers=headers, media_type=found.kind)
    return Response(found.data, headers=headers, media_type=found.kind)


def has_tag(asked: str, tag: str) -> bool:
    """Return whether an `If-None-Match` contains a tag, weak or strong."""
    return any(each.strip().removeprefix("W/") in ("*", tag) for each in asked.split(","))


class Tagged:
    """An application whose JSON responses carry a tag of their content; streams pass unchanged.

    The tag is a digest of the bytes, so no response can change without it.
    """

    def __init__(self, inner: Application) -> None:
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET":
            await self._inner(scope, receive, send)
            return
        asked = dict(scope["headers"]).get(b"if-none-match", b"").decode("latin-1")
        begun: list[Any] = []

        async def tagging(message: Any) -> None:
            if message["type"] == "http.response.start" and _is_whole_json(message):
                begun.append(message)
            elif not begun:
                await send(message)
            elif message.get("more_body"):
                await send(begun.pop())
                await send(message)
            else:
                await _send_tagged(send, begun.pop(), message, asked)

        await self._inner(scope, receive, tagging)


def _is_whole_json(start: Any) -> bool:
    headers = dict(start["headers"])
    return start["status"] == 200 and headers.get(b"content-type", b"").startswith(JSON_KINDS)


async def _send_tagged(send: Send, start: Any, body: Any, asked: str) -> None:
    tag = f'"{hashlib.sha256(body["body"]).hexdigest()[:20]}"'
    extra = [(b"etag", tag.encode()), (b"cache-control", b"private, no-cache")]
    headers = [*start["headers"], *extra]
    if has_tag(asked, tag):
        kept = [each for each in headers if each[0] not in (b"content-length", b"content-type")]
        await send({**start, "status": 304, "headers": kept})
        await send({**body, "body": b""})
        return
    await send({**start, "headers": headers})
    await send(body)


@get("/", include_in_schema=False, sync_to_thread=False)
def index(request: Request[Any, Any, Any]) -> Response[bytes]:
    """Return the page; the URL fragment, which stays in the browser, selects the screen."""
    return _answer("index.html", request)


@get("/page/{name:str}", include_in_schema=False, sync_to_thread=False)
def page_file(name: FromPath[str], request: Request[Any, Any, Any]) -> Response[bytes]:
    """Return a script, a style or a picture of the page."""
    return _answer(name, request)


ASSET_ROUTES = (index, page_file)
