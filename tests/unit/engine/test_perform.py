"""Making one call: what is undone, what is found after a crash, and what is only reported."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.repos import repository
from tests.unit.journal.runs import story

from flyball.engine.effects import BY_NAME, LONGEST_LOOKUP, LONGEST_QUERY, stored_lookup
from flyball.engine.perform import perform_call
from flyball.engine.run_context import RunContext
from flyball.plan.library import LIBRARY
from flyball.run.event import AnyEvent, CallInterrupted, CallReturned
from flyball.run.state import CardState, RunState
from flyball.terms.call import Access, Call, CommandFact, WebLook
from flyball.terms.phase import Phase
from flyball.tools.call.prepare import read_form
from flyball.workspace.redaction import Redactor

FILES: dict[str, str | bytes] = {"a.py": "one = 1\n", "b.py": "two = 2\n"}
DIFF = "--- a/a.py\n+++ b/a.py\n@@ @@\n-one = 1\n+one = 11\n"
RUN = RunState(run="r1")


class Shop:
    """A real workspace and one call after another in it."""

    def __init__(self, context: RunContext) -> None:
        self.context = context
        self.root = context.workspace.root
        tree = context.workspace.base
        self.card = CardState(id="c", template=LIBRARY["fix"], title="t", base=tree, tree=tree)

    async def call(
        self,
        tool: str,
        args: dict[str, Any],
        *,
        n: int = 1,
        repeat: bool = False,
        phase: Phase = Phase.EXECUTE,
        access: Access = Access.MUTATE,
    ) -> AnyEvent:
        command = CommandFact(args["cmd"], "mutating", "allow", "") if tool == "bash" else None
        asked = Call(id="k", tool=tool, args=args, access=access, digest="d", command=command)
        form = read_form(args, BY_NAME[tool])
        assert not isinstance(form, str)
        context = self.context.call_context(
            RUN, self.card, "k", key=f"r1/{n}", phase=phase, access=access
        )
        return await perform_call(context, asked, BY_NAME[tool], form, is_repeat=repeat)

    def crash_after(self, n: int, files: dict[str, str | None]) -> None:
        """What a process leaves that died in call n after it had written these files."""
        self.context.workspace.snapshot(f"r1/{n}")
        for name, text in files.items():
            if text is None:
                (self.root / name).unlink()
            else:
                (self.root / name).write_text(text)

    def text(self, name: str) -> str | None:
        place = self.root / name
        return place.read_text() if place.exists() else None


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    environ = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}
    context = RunContext(
        repository(tmp_path / "repo", FILES),
        tmp_path / "state",
        environ=environ,
        redactor=Redactor(("s3cret-value-42",)),
        on_output=lambda _: None,
    )
    context.open("r1")
    yield Shop(context)
    context.close()


def returned(event: AnyEvent) -> CallReturned:
    assert isinstance(event, CallReturned), event
    return event


@story
async def test_an_edit_reports_what_changed_and_the_way_back(shop: Shop) -> None:
    event = returned(await shop.call("edit_diff", {"diff": DIFF}))
    assert event.outcome.ok
    assert event.changed == ("a.py",)
    assert event.tree == shop.context.workspace.tree_hash() != shop.card.tree
    assert event.snapshot == shop.card.tree


@story
async def test_a_finished_edit_is_found_and_not_made_again(shop: Shop) -> None:
    shop.crash_after(1, {"a.py": "one = 11\n"})
    event = returned(await shop.call("edit_diff", {"diff": DIFF}, repeat=True))
    assert event.outcome.ok
    assert event.changed == ("a.py",)
    assert shop.text("a.py") == "one = 11\n"


@story
async def test_an_edit_that_never_began_is_made(shop: Shop) -> None:
    event = returned(await shop.call("edit_diff", {"diff": DIFF}, repeat=True))
    assert event.outcome.ok
    assert shop.text("a.py") == "one = 11\n"


@story
async def test_a_half_done_edit_is_undone_and_made_whole(shop: Shop) -> None:
    both = DIFF + "--- a/b.py\n+++ b/b.py\n@@ @@\n-two = 2\n+two = 22\n"
    shop.crash_after(1, {"a.py": "one = 11\n"})
    event = returned(await shop.call("edit_diff", {"diff": both}, repeat=True))
    assert event.outcome.ok
    assert set(event.changed) == {"a.py", "b.py"}
    assert (shop.text("a.py"), shop.text("b.py")) == ("one = 11\n", "two = 22\n")


@story
async def test_a_finished_write_and_delete_are_found(shop: Shop) -> None:
    shop.crash_after(1, {"new.py": "x = 1\n"})
    wrote = await shop.call("write_file", {"path": "new.py", "content": "x = 1\n"}, repeat=True)
    assert returned(wrote).changed == ("new.py",)
    shop.crash_after(2, {"b.py": None})
    deleted = await shop.call("delete_file", {"path": "b.py"}, n=2, repeat=True)
    assert returned(deleted).changed == ("b.py",)
    assert shop.text("b.py") is None


@story
async def test_an_interrupted_command_is_reported_and_not_run_again(shop: Shop) -> None:
    shop.crash_after(1, {"half.txt": "half"})
    event = await shop.call("bash", {"cmd": "echo done > half.txt"}, repeat=True)
    assert isinstance(event, CallInterrupted)
    assert event.tree == shop.context.workspace.tree_hash()
    assert shop.text("half.txt") == "half"


@story
async def test_leftovers_of_an_interrupted_verification_are_undone(shop: Shop) -> None:
    shop.crash_after(1, {"a.py": "spoiled\n"})
    event = await shop.call("test", {}, repeat=True, phase=Phase.VERIFY, access=Access.VERIFY)
    assert isinstance(event, CallInterrupted)
    assert event.tree == shop.card.tree
    assert shop.text("a.py") == "one = 1\n"


@story
async def test_forbidden_write_is_undone_and_reported(shop: Shop) -> None:
    event = await shop.call(
        "bash", {"cmd": "echo spoiled > a.py"}, phase=Phase.VERIFY, access=Access.VERIFY
    )
    assert returned(event).undone == ("a.py",)
    assert returned(event).tree == shop.card.tree
    assert shop.text("a.py") == "one = 1\n"


@story
async def test_a_refused_edit_changes_nothing(shop: Shop) -> None:
    event = returned(await shop.call("edit_diff", {"diff": DIFF.replace("one = 1", "zero")}))
    assert not event.outcome.ok
    assert (event.changed, event.tree) == ((), shop.card.tree)


@story
async def test_what_the_system_refuses_is_an_outcome(shop: Shop) -> None:
    args = {"path": "x" * 300, "content": "too long a name"}
    event = returned(await shop.call("write_file", args))
    assert not event.outcome.ok
    assert event.tree == shop.card.tree


@story
async def test_secrets_are_gone_before_anything_is_reported(shop: Shop) -> None:
    (shop.root / "a.py").write_text("key = 's3cret-value-42'\n")
    event = returned(await shop.call("read", {"path": "a.py"}, access=Access.READ))
    assert "s3cret-value-42" not in event.outcome.text


@story
async def test_a_card_is_committed_once_and_as_it_was_judged(shop: Shop) -> None:
    event = returned(await shop.call("edit_diff", {"diff": DIFF}))
    card = CardState(
        id="c", template=LIBRARY["fix"], title="t", base=shop.card.base, tree=event.tree
    )
    (shop.root / "b.py").write_text("written behind our back\n")
    commit = shop.context.commit(card)
    assert shop.context.commit(card) == commit
    (record,) = shop.context.workspace.cards()
    assert record.after == event.tree
    assert shop.text("b.py") == "written behind our back\n"


@pytest.fixture
def notes(shop: Shop, tmp_path: Path) -> Iterator[Shop]:
    """A workspace into which files of the user's were carried that are in no commit."""
    repo = repository(tmp_path / "noted", FILES)
    (repo / "my").mkdir()
    (repo / "my/notes.txt").write_text("mine\n")
    (repo / "own.txt").write_text("mine\n")
    context = RunContext(
        repo,
        tmp_path / "noted-state",
        environ=shop.context.environ,
        redactor=shop.context.redactor,
        on_output=lambda _: None,
    )
    context.open("r1")
    yield Shop(context)
    context.close()


@story
@pytest.mark.parametrize(
    "command",
    [
        "rm -r my own.txt",
        "echo theirs > my/notes.txt; mv own.txt moved.txt",
        "rm -r my own.txt; mkdir own.txt; touch own.txt/x; echo x > my",
        "rm -r my own.txt; ln -s /tmp my; ln -s a.py own.txt",
        "chmod +x my/notes.txt; : > own.txt",
    ],
)
async def test_damage_to_the_users_files_is_restored(notes: Shop, command: str) -> None:
    event = returned(await notes.call("bash", {"cmd": command}))
    assert event.put_back == ("my/notes.txt", "own.txt")
    assert {"my/notes.txt", "own.txt"}.isdisjoint(event.changed)
    assert (notes.text("my/notes.txt"), notes.text("own.txt")) == ("mine\n", "mine\n")
    assert not (notes.root / "own.txt").is_symlink()
    assert event.tree == notes.context.workspace.tree_hash()


@story
async def test_damage_by_a_killed_command_is_restored(notes: Shop) -> None:
    notes.crash_after(1, {"own.txt": None, "half.txt": "half"})
    event = await notes.call("bash", {"cmd": "true"}, repeat=True)
    assert isinstance(event, CallInterrupted)
    assert event.put_back == ("own.txt",)
    assert (notes.text("own.txt"), notes.text("half.txt")) == ("mine\n", "half")


@story
async def test_a_card_in_a_side_workspace_knows_whose_files_those_are(notes: Shop) -> None:
    (notes.root / "made.txt").write_text("by an earlier card\n")
    workspace = notes.context.workspace
    side = workspace.open_side("s", workspace.tree_hash())
    assert side.untracked.paths == {"my/notes.txt", "own.txt"}
    workspace.discard_side("s")


@story
async def test_in_place_a_file_too_large_to_keep_is_not_lost(tmp_path: Path) -> None:
    repo = repository(tmp_path / "big", FILES)
    with (repo / "big.bin").open("wb") as file:
        file.truncate(11 << 20)
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    context = RunContext(
        repo,
        tmp_path / "state",
        environ=environ,
        redactor=Redactor(()),
        on_output=lambda _: None,
        in_place=True,
    )
    context.open("r1")
    shop = Shop(context)
    event = returned(await shop.call("bash", {"cmd": "rm big.bin; echo x > b.py"}))
    assert event.put_back == ("big.bin",)
    assert (repo / "big.bin").stat().st_size == 11 << 20
    assert event.tree == context.workspace.tree_hash()
    emptied = returned(await shop.call("bash", {"cmd": ": > big.bin"}, n=2))
    assert "too large to restore" in emptied.outcome.text
    assert not (context.workspace.directory / "held").exists()
    context.close()


SECRET = "correct-horse-battery-staple"


def test_a_secret_is_not_halved_by_the_cut():
    head = LONGEST_LOOKUP * 3 // 4 - len(SECRET) // 2
    look = WebLook("w1", "web_fetch", f"{SECRET} {'q' * 9_000}", text=f"{'x' * head}{SECRET}" * 9)
    kept = stored_lookup(look, Redactor([SECRET]))
    told = f"{kept.about} {kept.text}"
    assert "[redacted]" in told and "horse" not in told and "battery" not in told
    assert len(kept.text) < LONGEST_LOOKUP + 100 and len(kept.about) < LONGEST_QUERY + 100
