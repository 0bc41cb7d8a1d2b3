"""Map error classes to HTTP status codes, and give errors one shape."""

from __future__ import annotations

import logging
import os
from typing import Any

import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException
from litestar.openapi.spec import OpenAPI, OpenAPIMediaType, OpenAPIResponse, OpenAPIType, Schema

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


def tell_own(_request: Request[Any, Any, Any], error: FlyballError) -> Response[ErrorBody]:
    """Return the response for one of our own errors."""
    return Response(ErrorBody(error.code, error.message, error.hint), status_code=status_of(error))


def tell_http(_request: Request[Any, Any, Any], error: HTTPException) -> Response[ErrorBody]:
    """Return the response for the framework's errors: an unknown route, an invalid body or
    parameter.
    """
    status = error.status_code
    code = CODES.get(status, "internal" if status >= 500 else "usage")
    hint = "`/api/schema/openapi.json` describes every route."
    return Response(ErrorBody(code, _said(error), hint), status_code=status)


def _said(error: HTTPException) -> str:
    """Return the framework's message, and the field it is about."""
    extra: Any = error.extra
    if not isinstance(extra, list) or not extra:
        return error.detail
    told: list[str] = []
    for each in extra:  # pyright: ignore[reportUnknownVariableType]
        found: dict[str, Any] = each if isinstance(each, dict) else {"message": str(each)}  # pyright: ignore
        key = found.get("key", "")
        told.append(f"{key}: {found.get('message', '')}" if key else str(found.get("message", "")))
    return f"The request does not fit: {'; '.join(told)}"


def tell_bug(_request: Request[Any, Any, Any], error: Exception) -> Response[ErrorBody]:
    """Return a response for an internal error: no details in it, and a traceback in the server's
    log.
    """
    LOG.error("A request failed.", exc_info=error)
    message = f"Flyball itself failed: {type(error).__name__}."
    hint = "The server's log has the rest." if not os.environ.get("FLYBALL_DEBUG") else str(error)
    return Response(ErrorBody("internal", message, hint), status_code=500)


_TEXT = Schema(type=OpenAPIType.STRING)
_TOLD = Schema(
    type=OpenAPIType.OBJECT,
    required=["code", "message", "hint"],
    properties={"code": _TEXT, "message": _TEXT, "hint": _TEXT},
)
"""The error response of every route."""


def promise_failures(document: OpenAPI) -> None:
    """Describe errors in the OpenAPI document in our shape instead of the framework's."""
    for item in (document.paths or {}).values():
        for operation in (item.get, item.post):
            if operation is not None and operation.responses is not None:
                operation.responses.pop("400", None)
                told = {"application/json": OpenAPIMediaType(schema=_TOLD)}
                for status, whose in (("4XX", "The request is refused."), ("5XX", "We failed.")):
                    operation.responses[status] = OpenAPIResponse(whose, content=told)
