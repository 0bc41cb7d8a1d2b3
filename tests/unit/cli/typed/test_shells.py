"""Real shells, on an account that has nothing but what `flyball completion --help` says to type."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from flyball.cli import cli
from flyball.cli.completion import INSTALL
from flyball.cli.typed.shells import SHELLS

BIN = Path(sys.executable).parent
PATIENCE = 120.0
"""Only for what hangs."""


def needs(shell: str) -> pytest.MarkDecorator:
    missing = shutil.which(shell) is None
    return pytest.mark.skipif(missing, reason=f"NO {shell.upper()} HERE: its completion is untried")


@pytest.fixture(scope="module")
def account(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str], tuple[Path, dict[str, str]]]:
    """Makes a fresh home with completion installed for a shell, and the environment there."""

    def make(shell: str) -> tuple[Path, dict[str, str]]:
        home = tmp_path_factory.mktemp(shell)
        (home / "hook.yaml").touch()
        (home / "work" / "src").mkdir(parents=True)
        path = f"{BIN}:{os.environ['PATH']}"
        env = {"PATH": path, "HOME": str(home), "TERM": "dumb", "LANG": "C.UTF-8"}
        pasted = "\n".join(INSTALL[shell])
        done = subprocess.run([shell, "-c", pasted], env=env, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        return home / "work", env

    return make


class Typist:
    """Somebody at a terminal with an interactive shell."""

    def __init__(self, shell: str, place: Path, env: dict[str, str]) -> None:
        self.main, side = pty.openpty()
        self.process = subprocess.Popen(
            [shell, "-i"],
            cwd=place,
            env=env,
            stdin=side,
            stdout=side,
            stderr=side,
            start_new_session=True,
        )
        os.close(side)
        self.typed("echo rea''dy\n", "ready")

    def typed(self, keys: str, wanted: str) -> str:
        """What is seen until the wanted text is, after these keys; a time-out shows the rest."""
        os.write(self.main, keys.encode())
        seen, end = "", time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if select.select([self.main], [], [], 0.1)[0]:
                seen += os.read(self.main, 65536).decode(errors="replace")
            if re.search(wanted, seen):
                return seen
        raise AssertionError(f"{wanted!r} is not in {seen!r}")

    def completes(self, line: str, whole: str) -> None:
        """Type a line with a tab at its end as the word of an echo, and see what it has become."""
        self.typed(f"{line}\t#\x01echo '=' \x05\n", rf"= {re.escape(whole)} ?#?\s*\r?\n")

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.main)


LINES = {
    "flyball run --flow ../ho": "flyball run --flow ../hook.yaml",
    "flyball run --flow=../ho": "flyball run --flow=../hook.yaml",
    "flyball flow check ../ho": "flyball flow check ../hook.yaml",
    "flyball patch apply ../ho": "flyball patch apply ../hook.yaml",
    "flyball runs list --repo s": "flyball runs list --repo src/",
    "flyball machine --format=x": "flyball machine --format=xstate",
    "flyball verif": "flyball verify",
    "flyball runs repl": "flyball runs replay",
}


@pytest.fixture(scope="module", params=[pytest.param(s, marks=needs(s)) for s in ("bash", "zsh")])
def typist(request: pytest.FixtureRequest, account) -> Iterator[Typist]:
    made = Typist(request.param, *account(request.param))
    yield made
    made.close()


@pytest.mark.slow
@pytest.mark.parametrize("line", LINES)
def test_a_line_is_completed_in_an_interactive_shell(line: str, typist: Typist):
    typist.completes(line, LINES[line])


@pytest.mark.slow
def test_where_nothing_can_be_completed_nothing_is_said(typist: Typist):
    typist.completes("flyball zebra x", "flyball zebra x")


OFFERED = {
    "flyball ru": [
        "run\tMake a request; Flyball governs the run.",
        "runs\tList, show, follow, resume, cancel, merge runs.",
    ],
    "flyball run --flow ../ho": ["../hook.yaml"],
    "flyball run --flow=../ho": ["--flow=../hook.yaml"],
    "flyball flow check ../ho": ["../hook.yaml"],
    "flyball patch apply ../ho": ["../hook.yaml"],
    "flyball runs list --repo s": ["src/\tDirectory"],
    "flyball machine --format=x": ["--format=xstate"],
    "flyball zebra ": [],
}


@pytest.mark.slow
@needs("fish")
def test_fish_is_offered_words_with_their_whole_descriptions(account):
    place, env = account("fish")
    for line, words in OFFERED.items():
        command = ["fish", "-c", f'complete -C "{line}"']
        done = subprocess.run(command, cwd=place, env=env, capture_output=True, text=True)
        assert (done.stderr, [each.rstrip() for each in done.stdout.splitlines()]) == ("", words)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_that_asks_strangely_is_told_nothing(shell: str, monkeypatch):
    answer = SHELLS[shell](cli, {}, "flyball", "_FLYBALL_COMPLETE")
    for words, at in (("", ""), ("flyball zebra ", "2"), ("flyball 'run", "zebra")):
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", at)
        answer.complete()
    monkeypatch.delenv("COMP_WORDS")
    assert answer.complete() == ""


@pytest.mark.parametrize("shell", SHELLS)
def test_a_name_that_is_not_utf_8_can_be_sent(shell: str, monkeypatch):
    monkeypatch.setenv("COMP_WORDS", "flyball patch apply caf\udce9")
    monkeypatch.setenv("COMP_CWORD", "caf\udce9" if shell == "fish" else "3")
    answer = SHELLS[shell](cli, {}, "flyball", "_FLYBALL_COMPLETE").complete()
    assert answer.startswith("file") and answer.encode()
