"""Checks for every request before a route sees it: host, origin, token, kind and size."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import ipaddress
import logging
import os
from collections.abc import Callable, Iterable, Sequence
from http.cookies import CookieError, SimpleCookie
from typing import Any, NamedTuple
from urllib.parse import parse_qs

import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException
from litestar.openapi.spec import OpenAPI, OpenAPIMediaType, OpenAPIResponse, OpenAPIType, Schema

from flyball.app.people.person import EVERY, Person, Right, find_person
from flyball.app.runs.summary import STYLE
from flyball.errors import (
    Conflict,
    DriverError,
    FlyballError,
    JournalError,
    LeaseHeld,
    NotAllowed,
    NotAPerson,
    NotFound,
    OutsideWorkspace,
    ToolError,
    ToolTimeout,
    ToolUnavailable,
    UsageError,
)
from flyball.web.http_bounds import (
    MOST_BYTES,
    READING,
    Application,
    BoundedBodies,
    Receive,
    Scope,
    Send,
)

# A run's card brings its own style sheet, and no other that stands in a document is taken.
CARD_STYLE = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
POLICY = (
    f"default-src 'none'; script-src 'self'; style-src 'self' 'sha256-{CARD_STYLE}'; "
    "img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
PERSON = "flyball.person"
"""The key in a request's scope for the person with the valid token."""
SIGN_IN, WRONG_TOKEN = "/", "/#/wrong-token"
"""The page asks for a token where it has none, and says at the second that one was wrong."""
OPEN_IT = "Open the address that `flyball serve` printed, or send `Authorization: Bearer TOKEN`."


class Refused(NamedTuple):
    """The reason for refusing a request."""

    status: int
    failure: ErrorBody


class Protection(NamedTuple):
    """The conditions for requests: token, host names and port."""

    token: str
    port: int
    names: frozenset[str] = frozenset({"localhost"})
    is_local: bool = True
    """Whether only this machine can connect: then only loopback addresses are valid hosts."""
    owner: str = ""
    """The name of who started the server; while there are no people, the token is theirs."""
    people: Callable[[], Sequence[Person]] = lambda: ()

    @property
    def cookie(self) -> str:
        """Return the cookie's name, with the port: cookies of two servers would collide."""
        return f"flyball-{self.port}"

    def refusal(self, scope: Scope) -> Refused | None:
        """Return the first objection to a request; without any, store its person."""
        headers = _headers(scope["headers"])
        host = headers.get("host", "")
        if not self._is_ours(host):
            return _refused(403, "host", f"This server is not {host[:80]!r}.", OPEN_IT)
        origin = headers.get("origin")
        if origin is not None and origin != f"{scope.get('scheme', 'http')}://{host}":
            return _refused(403, "origin", "Requests from other pages are not allowed.", OPEN_IT)
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return _refused(403, "origin", "Requests from other pages are not allowed.", OPEN_IT)
        if scope["path"] == "/" or scope["path"].startswith("/page/"):
            # The page's own files hold no private data. Any other path needs a token, in whatever
            # way it is written: the router takes `//api` for `/api`.
            return None
        try:
            person = self._person(headers)
        except FlyballError as error:
            # A client that cannot be identified is refused.
            return _refused(status_of(error), error.code, error.message, error.hint)
        if person is None:
            return _refused(401, "no-token", "The token is missing or wrong.", OPEN_IT)
        scope[PERSON] = person
        return None if scope["method"] in READING else _why_not_taken(headers)

    def whose(self, token: str) -> Person | None:
        """Return the person with a token; the time it takes reveals nothing about it.

        The server's own token is valid only while the team has no people: a shared token cannot
        identify who decided.
        """
        if people := self.people():
            return find_person(people, token)
        if hmac.compare_digest(token.encode("utf-8", "surrogatepass"), self.token.encode()):
            return Person(self.owner, "", {EVERY: Right.ADMINISTER.word})
        return None

    def _is_ours(self, host: str) -> bool:
        name, port = _split_host(host)
        if port != self.port or not name:
            return False
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            # A foreign host name may resolve to this server: that is DNS rebinding.
            return name.lower() in self.names
        return address.is_loopback or not self.is_local

    def _person(self, headers: dict[str, str]) -> Person | None:
        kind, _, given = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and (person := self.whose(given.strip())):
            return person
        try:
            kept = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return None
        return self.whose(kept.value) if kept is not None else None


def _why_not_taken(headers: dict[str, str]) -> Refused | None:
    """Return why a body is refused: a form on another site can send text, but not JSON."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        return _refused(415, "not-json", "Only JSON is taken.", "Send application/json.")
    length = headers.get("content-length", "0")
    if not length.isdigit() or int(length) > MOST_BYTES:
        most = f"{MOST_BYTES // 1_000_000} MB"
        return _refused(413, "too-large", f"The body is larger than {most}.", "Send less.")
    return None


def _refused(status: int, code: str, message: str, hint: str) -> Refused:
    return Refused(status, ErrorBody(code, message, hint))


def _headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return headers by name; one that occurs twice with different values is dropped."""
    found: dict[str, str] = {}
    for name, value in raw:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = text if found.get(key, text) == text or key == "cookie" else f"\0{text}"
    return found


def _split_host(host: str) -> tuple[str, int]:
    name, colon, port = host.rpartition(":")
    if not colon or host.endswith("]"):
        name, port = host, "80"
    bare = name[1:-1] if name.startswith("[") and name.endswith("]") else name
    if ":" in bare and bare == name:
        return "", 0
    return bare, int(port) if port.isascii() and port.isdigit() and len(port) < 6 else 0


class Protected:
    """Wraps the application in its protection; every response has the strict headers."""

    def __init__(self, inner: Application, protection: Protection) -> None:
        self._inner = BoundedBodies(inner)
        self._protection = protection

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._inner(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        # In a thread: the people may be in a slow database.
        refused = await asyncio.to_thread(self._protection.refusal, scope)
        if refused is not None and refused.status == 401 and _is_navigation(scope):
            await _send_to(guarded, SIGN_IN)
        elif refused is not None:
            await _answer(guarded, refused.status, msgspec.json.encode(refused.failure))
        elif scope["path"] == "/" and (token := _given_token(scope)) is not None:
            await self._let_in(guarded, scope, token)
        else:
            await self._inner(scope, receive, guarded)

    async def _let_in(self, send: Send, scope: Scope, token: str) -> None:
        """Move the token from the URL to a cookie that scripts cannot read."""
        if await asyncio.to_thread(self._protection.whose, token) is not None:
            cookie = f"{self._protection.cookie}={token}; HttpOnly; SameSite=Strict; Path=/"
            await _send_to(send, "/", (b"set-cookie", cookie.encode()))
        elif _is_navigation(scope):
            await _send_to(send, WRONG_TOKEN)
        else:
            failure = ErrorBody("no-token", "The token is wrong.", OPEN_IT)
            await _answer(send, 401, msgspec.json.encode(failure))


def _is_navigation(scope: Scope) -> bool:
    """Return whether a person's browser opens an address, and not a program."""
    return "text/html" in _headers(scope["headers"]).get("accept", "")


async def _send_to(send: Send, place: str, *extra: tuple[bytes, bytes]) -> None:
    await _answer(send, 303, b"{}", [(b"location", place.encode()), *extra])


def _given_token(scope: Scope) -> str | None:
    query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
    return query["token"][0] if "token" in query else None


async def _answer(
    send: Send, status: int, body: bytes, extra: Iterable[tuple[bytes, bytes]] = ()
) -> None:
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        # The unread rest of a body would be parsed as the next request.
        *([(b"connection", b"close")] if status == 413 else []),
        *extra,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


LOG = logging.getLogger("flyball.web")

STATUS: tuple[tuple[type[FlyballError], int], ...] = (
    (NotFound, 404),
    (Conflict, 409),
    (LeaseHeld, 409),
    (NotAPerson, 403),
    (NotAllowed, 403),
    (OutsideWorkspace, 403),
    (ToolUnavailable, 503),
    (ToolTimeout, 504),
    (DriverError, 502),
    (UsageError, 400),
    (ToolError, 422),
    (JournalError, 500),
    (FlyballError, 500),
)
"""The first match counts; narrower classes come before wider ones."""

CODES = {400: "usage", 401: "no-token", 404: "not-found", 405: "method", 413: "too-large"}


class ErrorBody(msgspec.Struct, frozen=True):
    """An error's body: a stable code, a sentence, and what to do."""

    code: str
    message: str
    hint: str = ""


def status_of(error: FlyballError) -> int:
    """Return the HTTP status of an error."""
    return next(status for kind, status in STATUS if isinstance(error, kind))


def own_error(_request: Request[Any, Any, Any], error: FlyballError) -> Response[ErrorBody]:
    """Return the response for one of our own errors."""
    return Response(ErrorBody(error.code, error.message, error.hint), status_code=status_of(error))


def http_error(_request: Request[Any, Any, Any], error: HTTPException) -> Response[ErrorBody]:
    """Return the response to the framework's errors: an unknown route, or an invalid value."""
    status = error.status_code
    code = CODES.get(status, "internal" if status >= 500 else "usage")
    hint = "`/api/schema/openapi.json` describes every route."
    return Response(ErrorBody(code, _message(error), hint), status_code=status)


def _message(error: HTTPException) -> str:
    """Return the framework's message, and the field it is about."""
    extra: Any = error.extra
    if not isinstance(extra, list) or not extra:
        return error.detail
    problems: list[str] = []
    for each in extra:  # pyright: ignore[reportUnknownVariableType]
        found: dict[str, Any] = each if isinstance(each, dict) else {"message": str(each)}  # pyright: ignore
        key, message = found.get("key", ""), str(found.get("message", ""))
        problems.append(f"{key}: {message}" if key else message)
    return f"The request does not fit: {'; '.join(problems)}"


def internal_error(_request: Request[Any, Any, Any], error: Exception) -> Response[ErrorBody]:
    """Return the response to an internal error, whose traceback is in the server's log."""
    LOG.error("A request failed.", exc_info=error)
    message = f"Flyball itself failed: {type(error).__name__}."
    hint = "The server's log has the rest." if not os.environ.get("FLYBALL_DEBUG") else str(error)
    return Response(ErrorBody("internal", message, hint), status_code=500)


_TEXT = Schema(type=OpenAPIType.STRING)
_ERROR = Schema(
    type=OpenAPIType.OBJECT,
    required=["code", "message", "hint"],
    properties={"code": _TEXT, "message": _TEXT, "hint": _TEXT},
)
"""The error response of every route."""


def document_errors(document: OpenAPI) -> None:
    """Describe errors in the OpenAPI document in our shape instead of the framework's."""
    for item in (document.paths or {}).values():
        for operation in (item.get, item.post):
            if operation is not None and operation.responses is not None:
                operation.responses.pop("400", None)
                content = {"application/json": OpenAPIMediaType(schema=_ERROR)}
                for status, whose in (("4XX", "The request is refused."), ("5XX", "We failed.")):
                    operation.responses[status] = OpenAPIResponse(whose, content=content)
