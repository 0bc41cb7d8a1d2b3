"""The permissions of each route: one table, and a route without a row is not served."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

from litestar import Litestar
from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler
from litestar.openapi.spec import Components, OpenAPI, SecurityScheme

from flyball.app.people.person import Right
from flyball.errors import NotAllowed
from flyball.regex import regex
from flyball.surfaces.web.board import PersonalBoard
from flyball.surfaces.web.protection import PERSON

TYPED = regex(r":[a-z]+}")

NEEDS: Mapping[str, Right] = {
    # The page itself contains no private data; it still requires a token for requests.
    "GET /": Right.NOTHING,
    "GET /page/{name}": Right.NOTHING,
    "GET /api/health": Right.LOOK,
    "GET /api/machine": Right.LOOK,
    "GET /api/schema": Right.LOOK,
    "GET /api/schema/openapi.json": Right.LOOK,
    "GET /api/schema/{path}": Right.LOOK,
    "GET /api/workers": Right.LOOK,
    "GET /api/projects": Right.LOOK,
    "GET /api/events": Right.LOOK,
    "GET /api/file": Right.LOOK,
    "GET /api/tree": Right.LOOK,
    "GET /api/search": Right.LOOK,
    "GET /api/templates": Right.LOOK,
    "GET /api/ledger": Right.LOOK,
    "GET /api/runs": Right.LOOK,
    "GET /api/runs/{run}": Right.LOOK,
    "GET /api/runs/{run}/events": Right.LOOK,
    "GET /api/runs/{run}/log": Right.LOOK,
    "GET /api/runs/{run}/diff": Right.LOOK,
    "GET /api/runs/{run}/at/{seq}": Right.LOOK,
    "GET /api/runs/{run}/film": Right.LOOK,
    "GET /api/runs/{run}/at/{seq}/diff": Right.LOOK,
    "GET /api/runs/{run}/export.html": Right.LOOK,
    "GET /api/runs/{run}/export.jsonl": Right.LOOK,
    "GET /run/{run}/card.svg": Right.LOOK,
    "GET /api/runs/{run}/cards/{card}": Right.LOOK,
    "GET /api/runs/{run}/cards/{card}/diff": Right.LOOK,
    "GET /api/runs/{run}/cards/{card}/pictures/{name}": Right.LOOK,
    "POST /api/runs": Right.DRIVE,
    "POST /api/runs/{run}/instruct": Right.DRIVE,
    "POST /api/runs/{run}/pause": Right.DRIVE,
    "POST /api/runs/{run}/resume": Right.DRIVE,
    "POST /api/runs/{run}/cancel": Right.DRIVE,
    "POST /api/runs/{run}/approve": Right.APPROVE,
    "POST /api/runs/{run}/deny": Right.APPROVE,
    "POST /api/runs/{run}/answer": Right.APPROVE,
    "POST /api/runs/{run}/extend": Right.APPROVE,
    "POST /api/runs/{run}/merge": Right.APPROVE,
    "POST /api/runs/{run}/cards/{card}/revert": Right.APPROVE,
    "POST /api/runs/{run}/cards/{card}/apply": Right.APPROVE,
    "POST /api/patch/diff": Right.APPROVE,
    "GET /api/people": Right.ADMINISTER,
}
"""Method and path → the right needed in the project concerned.

Some values in a body need more than their route: see `run_routes`.
"""


def route_names(app: Litestar) -> Iterator[str]:
    """Yield every route of an application in the table's form; `OPTIONS` is only about methods."""
    for route in app.routes:
        # Mounted applications have no methods, and so no row.
        for method in sorted(map(str, getattr(route, "methods", ("ANY",)))):
            if method != "OPTIONS":
                yield f"{method} {TYPED.sub('}', route.path)}"


def require_rows(app: Litestar) -> None:
    """Raise if a route has no row in the table."""
    if missing := sorted(set(route_names(app)) - NEEDS.keys()):
        raise LookupError(f"Routes that nobody may use by {__name__}.NEEDS: {', '.join(missing)}")


def promise_roles(document: OpenAPI) -> None:
    """Say in the OpenAPI document which role each route needs, as its `security`."""
    document.components = document.components or Components()
    document.components.security_schemes = {"token": SecurityScheme("http", scheme="bearer")}
    for path, item in (document.paths or {}).items():
        for method, operation in (("GET", item.get), ("POST", item.post)):
            if operation is not None:
                operation.security = [{"token": [NEEDS[f"{method} {path}"].word]}]


def need_of(scope: Mapping[str, Any]) -> Right:
    """Return the right that a request's route needs."""
    return NEEDS[f"{scope['method']} {TYPED.sub('}', scope['path_template'])}"]


async def authorise(
    connection: ASGIConnection[Any, Any, Any, Any], _handler: BaseRouteHandler
) -> None:
    """Refuse a request before its body is read: 404 for other people's projects, 403 otherwise."""
    scope: Any = connection.scope
    if scope["method"] == "OPTIONS" or (need := need_of(scope)) is Right.NOTHING:
        return
    board = personal_board(scope)
    run = connection.path_params.get("run") or connection.query_params.get("run", "")
    project = connection.query_params.get("project", "")
    if run:
        await asyncio.to_thread(board.home_of, run)
    elif project:
        await asyncio.to_thread(board.project, project)
    elif board.person.highest < need:
        raise NotAllowed(
            f"{board.by} may not do this in any project.", f"It needs the role `{need.word}`."
        )


def personal_board(scope: Any) -> PersonalBoard:
    """Return the board restricted to the rights of the person for this request."""
    whole = scope["litestar_app"].state.board
    return PersonalBoard(whole, scope[PERSON], need_of(scope))
