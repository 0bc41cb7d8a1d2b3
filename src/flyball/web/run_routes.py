"""Routes for runs: list, start, show, answer, extend, stop, merge, follow, and history."""

from __future__ import annotations

import asyncio
import os
import time
from typing import Annotated, Any

import msgspec
from litestar import Controller, Request, Response, get, post
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter
from litestar.response import Stream

from flyball.app.answering import more, no, words, yes
from flyball.app.archive import export_lines
from flyball.app.board.account import (
    account_at,
    card_picture,
    diff_at,
    picture_of,
    places_of,
    replay_data,
)
from flyball.app.board.feed import read_place
from flyball.app.people.decisions import ACTIONS, MERGED, NotedDecision, note_decision
from flyball.app.people.person import Right
from flyball.app.project import Home, redactor_of
from flyball.app.runs.description import event_lines, messages_of
from flyball.app.runs.files import diff_of
from flyball.app.runs.following import turns_of
from flyball.app.runs.journals import record_of
from flyball.app.starting import RunRequest
from flyball.app.verifying import refuse_bad_merge
from flyball.errors import NotFound
from flyball.run.event import AnyEvent
from flyball.run.state import RunState
from flyball.terms.intent import Intent, Turn
from flyball.web.board import OurBoard, PersonalBoard
from flyball.web.diff import DiffView, ReplayView, view_diff, view_replay
from flyball.workspace.cards.use_cases import foresee, merge, move_card, show_card
from flyball.workspace.run.worktree import CommitKind

Words = Annotated[str, msgspec.Meta(max_length=20_000)]
Asked = Annotated[str, msgspec.Meta(min_length=1, max_length=100_000)]
Name = Annotated[str, msgspec.Meta(max_length=200)]
STREAM = {"cache-control": "no-store", "x-accel-buffering": "no"}


class WebForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request body; unknown fields are refused by name."""


class NewRun(WebForm, frozen=True):
    """A request to start a run."""

    request: Asked
    project: Name = ""
    intent: Intent | None = None
    budget: Annotated[int, msgspec.Meta(ge=0, le=100_000)] | None = None
    driver: Annotated[str, msgspec.Meta(max_length=2_000)] = ""
    approve: bool = False
    """Whether a person accepts each checkpoint."""
    yes: bool = False
    preview: bool = False
    in_place: bool = False
    plan: bool = True
    follows: Name = ""
    """An earlier run of the same project that this one refers to."""


class Approving(WebForm, frozen=True):
    """An approval."""

    note: Words = ""


class Refusing(WebForm, frozen=True):
    """A refusal or a cancellation, with its reason."""

    why: Words = ""


class Answer(WebForm, frozen=True):
    """A message to a run."""

    text: Annotated[str, msgspec.Meta(min_length=1, max_length=100_000)]


class MoreCalls(WebForm, frozen=True):
    """An extension of a budget, with its reason."""

    calls: Annotated[int, msgspec.Meta(ge=1, le=100_000)]
    why: Annotated[str, msgspec.Meta(min_length=1, max_length=20_000)]


class Resuming(WebForm, frozen=True):
    """A request to resume, optionally with another driver."""

    driver: Annotated[str, msgspec.Meta(max_length=2_000)] = ""


class Merging(WebForm, frozen=True):
    """A request to merge a run's cards into the user's branch."""

    remove_untracked: bool = False
    unverified: bool = False


class RunName(msgspec.Struct, frozen=True):
    """The run, and whether the answer was accepted."""

    run: str
    ok: bool = True


class RunRoutes(Controller):
    """Routes below `/api/runs`."""

    path = "/api/runs"
    tags = ["runs"]  # noqa: RUF012

    @get(sync_to_thread=True, summary="The runs of a project or of all, the newest first.")
    def list_all(self, board: OurBoard, project: FromQuery[str] = "") -> list[dict[str, Any]]:
        if project:
            board.project(project)
        return board.rows(project)

    @post(sync_to_thread=True, summary="Start a run; the server drives it.")
    def start(self, board: OurBoard, data: JSONBody[NewRun]) -> RunName:
        flags: dict[str, object] = {}
        if data.approve:
            flags["policy_approve_checkpoint"] = True
        if not data.plan:
            flags["policy_plan"] = False
        home = board.fresh(data.project, flags)
        if data.yes or data.in_place or data.budget is not None:
            # Each is a decision made in advance: about every question, the checkout, the budget.
            board.require(home, Right.APPROVE, "so much without being asked")
        _require_plain_driver(board, home, data.driver)
        wanted = RunRequest(
            request=data.request,
            intent=data.intent,
            budget=data.budget,
            driver=data.driver,
            in_place=data.in_place,
            assume_yes=data.yes,
            preview=data.preview,
            history=_history(board.home_of(data.follows), data.follows) if data.follows else (),
            by=board.by,
        )
        return RunName(board.runs.start(home, wanted))

    @get("/{run:str}", sync_to_thread=True, summary="A run: cards, verdicts, questions, costs.")
    def show(self, board: OurBoard, run: FromPath[str]) -> dict[str, Any]:
        return board.account(run)

    @get("/{run:str}/events", summary="A run's telemetry as server-sent events.")
    async def events(
        self,
        board: OurBoard,
        run: FromPath[str],
        request: Request[Any, Any, Any],
        after: Annotated[str, QueryParameter(max_length=40)] = "",
    ) -> Stream:
        last = request.headers.get("last-event-id", "") or after
        read_place(last)
        home = await asyncio.to_thread(board.home_of, run)
        frames = board.follow(home, run, last)
        return Stream(frames, media_type="text/event-stream", headers=STREAM)

    @get("/{run:str}/log", sync_to_thread=True, summary="The log, one small object per event.")
    def log(self, board: OurBoard, run: FromPath[str]) -> dict[str, Any]:
        record = asyncio.run(record_of(board.home_of(run), run))
        return {"events": event_lines(record.entries), "messages": messages_of(record.entries)}

    @get("/{run:str}/diff", sync_to_thread=True, summary="What a run has changed, highlighted.")
    def diff(self, board: OurBoard, run: FromPath[str], full: FromQuery[str] = "") -> DiffView:
        return view_diff(asyncio.run(diff_of(board.home_of(run), run)), full)

    @get("/{run:str}/at/{seq:int}", sync_to_thread=True, summary="The board as of one event.")
    def at(self, board: OurBoard, run: FromPath[str], seq: FromPath[int]) -> dict[str, Any]:
        return asyncio.run(account_at(board.home_of(run), run, seq))

    @get("/{run:str}/at/{seq:int}/diff", sync_to_thread=True, summary="The change as of one event.")
    def tree_at(
        self, board: OurBoard, run: FromPath[str], seq: FromPath[int], full: FromQuery[str] = ""
    ) -> DiffView:
        return view_diff(asyncio.run(diff_at(board.home_of(run), run, seq)), full)

    @get("/{run:str}/replay", sync_to_thread=True, summary="The data to replay a run.")
    def replay(self, board: OurBoard, run: FromPath[str]) -> ReplayView:
        return view_replay(asyncio.run(replay_data(board.home_of(run), run)))

    @post("/{run:str}/approve", status_code=200, sync_to_thread=True, summary="Say yes.")
    def approve(self, board: OurBoard, run: FromPath[str], data: JSONBody[Approving]) -> RunName:
        home, by = board.spoken_to(run), board.by
        board.runs.say(home, run, lambda state: yes(state, by, data.note), by)
        return RunName(run)

    @post("/{run:str}/deny", status_code=200, sync_to_thread=True, summary="Say no.")
    def deny(self, board: OurBoard, run: FromPath[str], data: JSONBody[Refusing]) -> RunName:
        home, by = board.spoken_to(run), board.by
        board.runs.say(home, run, lambda state: no(state, by, data.why), by)
        return RunName(run)

    @post("/{run:str}/answer", status_code=200, sync_to_thread=True, summary="Answer in words.")
    def answer(self, board: OurBoard, run: FromPath[str], data: JSONBody[Answer]) -> RunName:
        home, by = board.spoken_to(run), board.by
        board.runs.say(home, run, lambda state: words(state, by, data.text), by)
        return RunName(run)

    @post(
        "/{run:str}/instruct",
        status_code=200,
        sync_to_thread=True,
        summary="Send a message to the driver, even while the run is working.",
    )
    def instruct(self, board: OurBoard, run: FromPath[str], data: JSONBody[Answer]) -> RunName:
        home = board.spoken_to(run)
        may_decide = board.may(home, Right.APPROVE)
        board.runs.instruct(home, run, data.text, board.by, may_decide=may_decide)
        return RunName(run)

    @post("/{run:str}/extend", status_code=200, sync_to_thread=True, summary="Add to its budget.")
    def extend(self, board: OurBoard, run: FromPath[str], data: JSONBody[MoreCalls]) -> RunName:
        home, by = board.spoken_to(run), board.by

        def word(state: RunState) -> AnyEvent:
            return more(state, by, data.calls, data.why)

        board.runs.say(home, run, word, by, extends=True)
        return RunName(run)

    @post("/{run:str}/cancel", status_code=200, sync_to_thread=True, summary="End the run.")
    def cancel(self, board: OurBoard, run: FromPath[str], data: JSONBody[Refusing]) -> RunName:
        board.runs.cancel(board.spoken_to(run), run, board.by, data.why)
        return RunName(run)

    @post("/{run:str}/pause", status_code=200, sync_to_thread=True, summary="Pause the run.")
    def pause(self, board: OurBoard, run: FromPath[str], data: JSONBody[Refusing]) -> RunName:  # noqa: ARG002
        board.spoken_to(run)
        board.runs.pause(run, board.by)
        return RunName(run)

    @post("/{run:str}/resume", status_code=200, sync_to_thread=True, summary="Resume the run.")
    def resume(self, board: OurBoard, run: FromPath[str], data: JSONBody[Resuming]) -> RunName:
        home = board.spoken_to(run)
        _require_plain_driver(board, home, data.driver)
        board.runs.resume(home, run, board.by, data.driver)
        return RunName(run)

    @post(
        "/{run:str}/merge",
        status_code=200,
        sync_to_thread=True,
        summary="Merge its cards into your branch and checkout.",
    )
    def merge(self, board: OurBoard, run: FromPath[str], data: JSONBody[Merging]) -> dict[str, Any]:
        home = board.spoken_to(run)

        def approve(before: str, after: str) -> None:
            if not data.unverified:
                refuse_bad_merge(home, before, after)

        report = merge(
            places_of(home), run, remove_untracked=data.remove_untracked, approve=approve
        )
        note_decision(home, NotedDecision(run, time.time(), board.by, MERGED))
        return msgspec.to_builtins(report)

    @get("/{run:str}/export.jsonl", sync_to_thread=True, summary="The whole log as JSON lines.")
    def export_log(self, board: OurBoard, run: FromPath[str]) -> Response[bytes]:
        record = asyncio.run(record_of(board.home_of(run), run))
        data = b"".join(line + b"\n" for line in export_lines(run, record.entries))
        return download(data, "application/jsonl", f"{run}.jsonl")


@get(
    "/run/{run:str}/card.svg",
    sync_to_thread=True,
    tags=["runs"],
    media_type="image/svg+xml",
    summary="A summary image of a run.",
)
def card_svg(board: OurBoard, run: FromPath[str]) -> Response[str]:
    """Return a picture to paste; it contains text and shapes, and nothing that runs."""
    drawn = asyncio.run(card_picture(board.home_of(run), run))
    headers = {"cache-control": "private, no-cache"}
    return Response(drawn, media_type="image/svg+xml", headers=headers)


def download(data: bytes, kind: str, name: str) -> Response[bytes]:
    """Return a response that a browser saves as a file."""
    headers = {"content-disposition": f'attachment; filename="flyball-{name}"'}
    return Response(data, media_type=kind, headers=headers)


def _require_plain_driver(board: PersonalBoard, home: Home, driver: str) -> None:
    """Require an administrator for a driver that is a file or directory on the server."""
    if driver.partition(":")[0] not in ("", "model", "repair"):
        board.require(home, Right.ADMINISTER, f"it with the driver {driver[:80]!r}")


def _history(home: Home, run: str) -> tuple[Turn, ...]:
    """Return the questions and answers of an earlier run."""
    return turns_of(asyncio.run(record_of(home, run)).state)


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
        account = board.account(run)
        for each in account["cards"]:
            if each["id"] == card:
                return each
        known = ", ".join(each["id"] for each in account["cards"])
        raise NotFound("card", card, f"Run {run} has these cards: {known}.")

    @get("/{card:str}/diff", sync_to_thread=True, summary="What a card changed, highlighted.")
    def diff(
        self, board: OurBoard, run: FromPath[str], card: FromPath[str], full: FromQuery[str] = ""
    ) -> DiffView:
        home = board.home_of(run)
        diff = show_card(places_of(home), run, card).diff
        return view_diff(redactor_of(home).text(diff), full)

    @get(
        "/{card:str}/pictures/{name:str}",
        sync_to_thread=True,
        media_type="image/png",
        summary="A screenshot that belongs to a card.",
    )
    def picture(
        self, board: OurBoard, run: FromPath[str], card: FromPath[str], name: FromPath[str]
    ) -> Response[bytes]:
        data = asyncio.run(picture_of(board.home_of(run), run, card, name))
        # A page of the project drew it: it is shown, and never interpreted as code.
        headers = {"cache-control": "private, no-cache"}
        return Response(data, media_type="image/png", headers=headers)

    @post("/{card:str}/revert", status_code=200, sync_to_thread=True, summary="Revert it.")
    def revert(
        self, board: OurBoard, run: FromPath[str], card: FromPath[str], data: JSONBody[Moving]
    ) -> dict[str, Any]:
        return _move(board, run, card, CommitKind.REVERT, data)

    @post("/{card:str}/apply", status_code=200, sync_to_thread=True, summary="Apply it again.")
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
    report: dict[str, Any] = msgspec.to_builtins(moved)
    return {**report, "step": step.name.lower(), "root": os.fspath(root)}
