"""The application: routes, error shape, OpenAPI document, startup and shutdown."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from litestar import Litestar, Request, get
from litestar.datastructures import State
from litestar.di import Provide
from litestar.exceptions import HTTPException
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.response import Stream

from flyball.errors import FlyballError
from flyball.surfaces.http_bounds import Application
from flyball.surfaces.web.assets import ASSET_ROUTES, Tagged
from flyball.surfaces.web.authority import (
    authorise,
    personal_board,
    promise_roles,
    require_rows,
)
from flyball.surfaces.web.board import Board, OurBoard, PersonalBoard
from flyball.surfaces.web.card_routes import CardRoutes
from flyball.surfaces.web.export import export_html
from flyball.surfaces.web.failure import promise_failures, tell_bug, tell_http, tell_own
from flyball.surfaces.web.project_routes import PROJECT_ROUTES
from flyball.surfaces.web.protection import Protected, Protection
from flyball.surfaces.web.run_routes import STREAM, RunRoutes, card_svg


@get("/api/events", tags=["runs"], summary="Every run that changes, as server-sent events.")
async def board_events(board: OurBoard) -> Stream:
    """Stream the list of runs, then each run that changes."""
    return Stream(board.follow_all(), media_type="text/event-stream", headers=STREAM)


def make_application(board: Board, protection: Protection) -> Application:
    """Return the whole application with its protection."""

    @asynccontextmanager
    async def alive(_app: Litestar) -> AsyncGenerator[None]:
        board.watch.start()
        await asyncio.to_thread(board.runs.go_on)
        try:
            yield
        finally:
            await asyncio.to_thread(board.runs.stop)
            board.watch.stop()
            board.people.close()

    def provide(request: Request[Any, Any, Any]) -> PersonalBoard:
        return personal_board(request.scope)

    handlers: dict[Any, Any] = {
        FlyballError: tell_own,
        HTTPException: tell_http,
        Exception: tell_bug,
    }
    inner = Litestar(
        [
            RunRoutes,
            CardRoutes,
            *PROJECT_ROUTES,
            *ASSET_ROUTES,
            export_html,
            card_svg,
            board_events,
        ],
        dependencies={"board": Provide(provide, sync_to_thread=False)},
        exception_handlers=handlers,
        guards=[authorise],
        state=State({"board": board}, deep_copy=False),
        lifespan=[alive],
        logging_config=None,
        openapi_config=OpenAPIConfig(
            title="Flyball",
            version=version("flyball"),
            path="/api/schema",
            render_plugins=[JsonRenderPlugin()],
        ),
    )
    require_rows(inner)
    promise_failures(inner.openapi_schema)
    promise_roles(inner.openapi_schema)
    protection = protection._replace(owner=board.runs.by, people=board.people.all)
    return Protected(Tagged(inner), protection)  # pyright: ignore[reportArgumentType]
