"""Every ending as an agent reads it over MCP: the one word that the other surfaces show."""

from __future__ import annotations

import asyncio

from tests.contract.test_endings import STORIES
from tests.governed import Shell
from tests.mcp.serving import play, stdio
from tests.web.test_endings_on_page import write_story

from flyball.app.project import open_home
from flyball.journal.sqlite import SqliteJournal
from flyball.run.ending import ending_of, status_of


def test_the_list_and_each_run_say_the_one_ending(shell: Shell):
    states = {tell.__name__: tell().state for tell, _ in STORIES}
    wanted = {name: (status_of(state), ending_of(state)) for name, state in states.items()}
    write_stories(shell)

    async def look() -> None:
        async with stdio(shell) as agent:
            rows = (await agent("status"))["runs"]
            assert {row["run"]: (row["status"], row["ending"]) for row in rows} == wanted
            for name, (status, ending) in wanted.items():
                detail = (await agent("status", run=name))["detail"]
                assert (detail["status"], detail["ending"]) == (status, ending)

    play(look)


def write_stories(shell: Shell) -> None:
    journal = SqliteJournal(open_home(shell.cwd, shell.env, {}).journal_path)
    for tell, _ in STORIES:
        asyncio.run(write_story(journal, tell.__name__, tell()))
    asyncio.run(journal.close())
