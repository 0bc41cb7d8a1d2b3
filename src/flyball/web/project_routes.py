"""Routes for projects: files, tree, search, the patch route, templates, the ledger."""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from typing import Annotated, Any, Literal

import msgspec
from litestar import Response, get, post
from litestar.openapi import ResponseSpec
from litestar.params import FromQuery, JSONBody, QueryParameter

from flyball.app.board.ledger import mistakes_of
from flyball.app.board.looking import Lines, files_of, look_into, read_lines, search_in
from flyball.app.patching import PatchRequest, patch_project
from flyball.app.templates import project_templates
from flyball.plan.library import LIBRARY
from flyball.record.diagram import as_json, as_mermaid, as_xstate
from flyball.web.board import OurBoard
from flyball.web.run_routes import Name, WebForm
from flyball.workspace.process import levels

Count = Annotated[int, QueryParameter(ge=0, le=1_000_000)]


class PatchForm(WebForm, frozen=True, rename="camel"):
    """A patch request: a diff, whether to check keep regions, and whether to write."""

    diff: Annotated[str, msgspec.Meta(max_length=3_000_000)]
    keep_regions: bool = True
    preview: bool = False
    project: Name = ""


@get("/api/health", sync_to_thread=True, tags=["server"], summary="Whether the server answers.")
def health(board: OurBoard) -> dict[str, Any]:
    level = levels.detect_level()
    return {
        "ok": True,
        "version": version("flyball"),
        "sandbox": str(level),
        "user": board.by,
        "here": board.here,
    }


@get("/api/projects", sync_to_thread=True, tags=["projects"], summary="Every project.")
def projects(board: OurBoard) -> list[dict[str, Any]]:
    rows = board.rows()
    return [
        {
            "name": each.name,
            "title": each.home.repo.name,
            "path": str(each.home.repo),
            "is_here": each.name == board.here,
            "role": board.person.right(each.scope).word,
            "runs": sum(row["project"] == each.name for row in rows),
        }
        for each in board.projects()
    ]


@post(
    "/api/patch/diff",
    status_code=200,
    sync_to_thread=True,
    tags=["patch"],
    summary="Apply a unified diff to a project, or return the reason for the refusal.",
    responses={422: ResponseSpec(dict[str, Any], description="It was refused, and why.")},
)
def patch_diff(board: OurBoard, data: JSONBody[PatchForm]) -> Response[dict[str, Any]]:
    home = board.project(data.project)
    patch = PatchRequest(data.diff, home.repo, keep_regions=data.keep_regions)
    result, snapshot = patch_project(patch, board.environ, writes=not data.preview)
    return Response(result.to_json(snapshot), status_code=200 if result.ok else 422)


@get("/api/file", sync_to_thread=True, tags=["projects"], summary="A file, or a part of it.")
def file(
    board: OurBoard,
    path: Annotated[str, QueryParameter(max_length=4_096)],
    project: FromQuery[str] = "",
    run: FromQuery[str] = "",
    head: Count = 0,
    tail: Count = 0,
    first: Count = 0,
    last: Count = 0,
) -> dict[str, Any]:
    home = board.home_of(run) if run else board.project(project)
    return read_lines(home, look_into(home, run), path, Lines(head, tail, first, last))


@get("/api/tree", sync_to_thread=True, tags=["projects"], summary="The files of a project.")
def tree(
    board: OurBoard,
    path: FromQuery[str] = ".",
    project: FromQuery[str] = "",
    run: FromQuery[str] = "",
) -> dict[str, Any]:
    home = board.home_of(run) if run else board.project(project)
    return files_of(look_into(home, run), path)


@get("/api/search", sync_to_thread=True, tags=["projects"], summary="Search a project's files.")
def search(
    board: OurBoard,
    q: Annotated[str, QueryParameter(max_length=1_000)],
    project: FromQuery[str] = "",
    run: FromQuery[str] = "",
    regex: FromQuery[bool] = False,
) -> dict[str, Any]:
    home = board.home_of(run) if run else board.project(project)
    return search_in(home, look_into(home, run), q, is_regex=regex)


@get("/api/templates", sync_to_thread=True, tags=["projects"], summary="Built-in and own steps.")
def templates(board: OurBoard, project: FromQuery[str] = "") -> dict[str, Any]:
    own = project_templates(board.project(project))
    return {
        "built_in": [msgspec.to_builtins(each) for each in LIBRARY.values()],
        "own": [{**msgspec.to_builtins(each.template), "file": each.file} for each in own.found],
        "notices": list(own.notices),
    }


@get("/api/ledger", sync_to_thread=True, tags=["projects"], summary="Known mistakes.")
def ledger(board: OurBoard, project: FromQuery[str] = "") -> list[dict[str, Any]]:
    found = asyncio.run(mistakes_of(board.project(project)))
    return [msgspec.to_builtins(each) for each in found]


@get(
    "/api/machine",
    sync_to_thread=True,
    tags=["server"],
    summary="The statechart.",
    media_type="*/*",
)
def machine(format: FromQuery[Literal["json", "xstate", "mermaid"]] = "json") -> Response[Any]:
    if format == "mermaid":
        return Response(as_mermaid(), media_type="text/plain")
    found = as_xstate() if format == "xstate" else as_json()
    return Response(found, media_type="application/json")


@get("/api/workers", sync_to_thread=True, tags=["server"], summary="Who drives runs now.")
def workers(board: OurBoard) -> list[dict[str, Any]]:
    return board.workers()


@get(
    "/api/people",
    sync_to_thread=True,
    tags=["server"],
    summary="The people, with their roles in each project.",
)
def people(board: OurBoard) -> list[dict[str, Any]]:
    return [{"name": each.name, "grants": each.grants} for each in board.everybody()]


PROJECT_ROUTES = (
    workers,
    people,
    health,
    projects,
    patch_diff,
    file,
    tree,
    search,
    templates,
    ledger,
    machine,
)
