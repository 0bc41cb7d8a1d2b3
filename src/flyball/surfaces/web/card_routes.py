"""Routes for a run's cards: show one, its diff, revert it, reapply it."""

from __future__ import annotations

import asyncio
import os
import time
from typing import Any

import msgspec
from litestar import Controller, Response, get, post
from litestar.params import FromPath, FromQuery, JSONBody

from flyball.app.board.account import picture_of, places_of
from flyball.app.people.decisions import ACTIONS, NotedDecision, note_decision
from flyball.app.project import redactor_of
from flyball.errors import NotFound
from flyball.surfaces.web.board import OurBoard, PersonalBoard
from flyball.surfaces.web.diff import DiffView, view_diff
from flyball.surfaces.web.run_routes import WebForm
from flyball.workspace.cards.use_cases import foresee, move_card, show_card
from flyball.workspace.run.worktree import CommitKind


class Moving(WebForm, frozen=True):
    """The files of a card to move, and whether later work may be lost."""

    paths: tuple[str, ...] = ()
    force: bool = False
    preview: bool = False
    """Only report what would be written and lost."""


class CardRoutes(Controller):
    """Routes below a run's `cards`."""

    path = "/api/runs/{run:str}/cards"
    tags = ["cards"]  # noqa: RUF012

    @get("/{card:str}", sync_to_thread=True, summary="A card: evidence, verdicts, decisions.")
    def show(self, board: OurBoard, run: FromPath[str], card: FromPath[str]) -> dict[str, Any]:
        told = board.account(run)
        for each in told["cards"]:
            if each["id"] == card:
                return each
        known = ", ".join(each["id"] for each in told["cards"])
        raise NotFound("card", card, f"Run {run} has these cards: {known}.")

    @get("/{card:str}/diff", sync_to_thread=True, summary="What a card changed, highlighted.")
    def diff(
        self, board: OurBoard, run: FromPath[str], card: FromPath[str], full: FromQuery[str] = ""
    ) -> DiffView:
        home = board.home_of(run)
        said = show_card(places_of(home), run, card).diff
        return view_diff(redactor_of(home).text(said), full)

    @get(
        "/{card:str}/pictures/{name:str}",
        sync_to_thread=True,
        media_type="image/png",
        summary="A picture that was taken of a page for a card.",
    )
    def picture(
        self, board: OurBoard, run: FromPath[str], card: FromPath[str], name: FromPath[str]
    ) -> Response[bytes]:
        data = asyncio.run(picture_of(board.home_of(run), run, card, name))
        # A page of the project drew it: it is shown, and never interpreted as code.
        headers = {"cache-control": "private, no-cache"}
        return Response(data, media_type="image/png", headers=headers)

    @post("/{card:str}/revert", status_code=200, sync_to_thread=True, summary="Take it back.")
    def revert(
        self, board: OurBoard, run: FromPath[str], card: FromPath[str], data: JSONBody[Moving]
    ) -> dict[str, Any]:
        return _move(board, run, card, CommitKind.REVERT, data)

    @post("/{card:str}/apply", status_code=200, sync_to_thread=True, summary="Put it in again.")
    def apply(
        self, board: OurBoard, run: FromPath[str], card: FromPath[str], data: JSONBody[Moving]
    ) -> dict[str, Any]:
        return _move(board, run, card, CommitKind.APPLY, data)


def _move(
    board: PersonalBoard, run: str, card: str, step: CommitKind, data: JSONBody[Moving]
) -> dict[str, Any]:
    home = board.spoken_to(run)
    places = places_of(home)
    if data.preview:
        found = foresee(places, run, card, step, data.paths)
        return {"step": step.name.lower(), "losses": msgspec.to_builtins(found.losses)}
    moved, root = move_card(places, run, card, step, data.paths, force=data.force)
    note_decision(home, NotedDecision(run, time.time(), board.by, ACTIONS[step], card))
    told: dict[str, Any] = msgspec.to_builtins(moved)
    return {**told, "step": step.name.lower(), "root": os.fspath(root)}
