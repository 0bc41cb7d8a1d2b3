"""A driver that replies from a file: for demos, and for tests of what a model might do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from flyball.drivers.form import ReplyError, ReplyForm, read_form, reply_from
from flyball.drivers.protocol import Reply, Request
from flyball.errors import ConfigError
from flyball.plan.template import Role
from flyball.run.event import Finish
from flyball.terms.shape import suggest

MODEL = "scripted"
ENDED = "(the script has ended)"

Script = Mapping[str, Sequence[ReplyForm]]


def read_script(path: Path) -> Script:
    """Return the replies of each role, in order; anything unclear raises before the run."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigError(
            f"The script {path} cannot be read: {why}.", "Name a file of JSON lines."
        ) from None
    script: defaultdict[str, list[ReplyForm]] = defaultdict(list)
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            form = _read_line(line, f"{path}:{number}")
            script[form.role or Role.EXECUTOR.value].append(form)
    return dict(script)


def _read_line(line: str, where: str) -> ReplyForm:
    try:
        form = read_form(line)
    except ReplyError as error:
        raise ConfigError(f"{where}: {error.message}", error.hint) from None
    roles = [role.value for role in Role]
    if form.role and form.role not in roles:
        raise ConfigError(f"{where}: there is no role {form.role!r}.", suggest(form.role, roles))
    return form


class SharedLine(NamedTuple):
    """A shared line given to a card, and the number of replies the card had then."""

    turn: int
    place: int


class ScriptedDriver:
    """Gives each card its own replies in order; cards without any share those of the role.

    The request says how often each card has replied, so a run can resume.
    """

    def __init__(self, script: Script) -> None:
        self._script = script
        self._handed: defaultdict[str, dict[str, SharedLine]] = defaultdict(dict)

    async def think(self, request: Request, on_text: Callable[[str], None]) -> Reply:
        """Return the next line for this card and role, or the end of the script."""
        form = self._line(request)
        if form is None:
            on_text(ENDED)
            return Reply(text=ENDED, finish=Finish.STOP, model=MODEL)
        reply = reply_from(form, request, MODEL)
        if reply.text:
            on_text(reply.text)
        return reply

    def _line(self, request: Request) -> ReplyForm | None:
        lines = self._script.get(request.role, ())
        if own := [line for line in lines if line.card == request.card]:
            place = request.turns.get(request.card, 0)
        else:
            own = [line for line in lines if not line.card]
            place = self._shared_place(request, {line.card for line in lines})
        return own[place] if place < len(own) else None

    def _shared_place(self, request: Request, named: Collection[str]) -> int:
        """Return the index after all lines with a known reply and all lines just given to other
        cards."""
        turns, handed = request.turns, self._handed[request.role]
        turn, last = turns.get(request.card, 0), handed.get(request.card)
        if last is not None and last.turn == turn:
            return last.place
        known = sum(count for card, count in turns.items() if card not in named)
        pending = [card for card, each in handed.items() if turns.get(card, 0) == each.turn]
        handed[request.card] = SharedLine(turn, known + len(pending))
        return handed[request.card].place

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""
