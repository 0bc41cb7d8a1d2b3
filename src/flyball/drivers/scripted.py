"""A driver that says what a file tells it to: for demos, and for tests of what a model might do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from flyball.core.event import Finish
from flyball.core.shape import suggest
from flyball.core.template import Role
from flyball.drivers.form import ReplyError, ReplyForm, read_form, reply_from
from flyball.drivers.protocol import Reply, Request
from flyball.errors import ConfigError

MODEL = "scripted"
ENDED = "(the script has ended)"

Script = Mapping[str, Sequence[ReplyForm]]


def read_script(path: Path) -> Script:
    """The replies of each role, in order; anything unclear is an error before the run begins."""
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
        raise ConfigError(f"{where}: {error.message}", error.mend) from None
    roles = [role.value for role in Role]
    if form.role and form.role not in roles:
        raise ConfigError(f"{where}: there is no role {form.role!r}.", suggest(form.role, roles))
    return form


class ScriptedDriver:
    """Each role gets its lines in order; the request's turn says which, so a run can resume."""

    def __init__(self, script: Script) -> None:
        self._script = script

    async def think(self, request: Request, on_text: Callable[[str], None]) -> Reply:
        """The next line of this role, or the end of the script."""
        lines = self._script.get(request.role, ())
        if request.turn >= len(lines):
            on_text(ENDED)
            return Reply(text=ENDED, finish=Finish.STOP, model=MODEL)
        reply = reply_from(lines[request.turn], request, MODEL)
        if reply.text:
            on_text(reply.text)
        return reply

    async def close(self) -> None:
        """Nothing is held."""
