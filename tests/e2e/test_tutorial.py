"""Every command of the tutorials is typed, in order, and says what the page says."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.e2e.printed import Printed
from tests.small_python import small_path

PAGES = Path(__file__).parents[2] / "docs" / "tutorials"
RUNS = {"first-run": 3, "first-flow": 1, "pull-request": 0, "board": 1, "claude-code": 0}
"""Each tutorial, and how many runs it names."""
BLOCK = re.compile(r"^(`{3,})(sh|console|text)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
SECONDS = 600


class Reader:
    """Somebody who follows the page with two terminals."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.cwd = home
        self.env = {
            "PATH": small_path(),
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{who}_{what}": "ada@example.org" for who, what in WHO},
        }
        self.printed = Printed(home)
        self.code = 0
        self.waiting: subprocess.Popen[str] | None = None
        self.expected: list[str] = []

    def follow(self, kind: str, body: str) -> None:
        if kind == "sh":
            self._await_request(body)
            self._type(body)
            assert self.code == 0, body
        elif kind == "console":
            for command, lines in commands(body):
                self._try(command, lines)
        elif self.waiting is not None:
            self._finish(body.splitlines())

    def leave(self) -> None:
        """No run is left behind when the page was wrong half-way."""
        if self.waiting is not None:
            self.waiting.kill()
            self.waiting.communicate()

    def _try(self, command: str, lines: Sequence[str]) -> None:
        command = self.printed.ours(command)
        if command == "echo $?":
            assert lines == [str(self.code)]
        elif "relay:" in command:
            self.expected = list(lines)
            self.waiting = subprocess.Popen(
                ["bash", "-c", command],
                cwd=self.cwd,
                env=self.env,
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        else:
            self._await_request(command)
            self.printed.compare(lines, self._type(command))

    def _type(self, command: str) -> str:
        where = self.home / "cwd"
        done = subprocess.run(
            ["bash", "-c", f'{command}\ncode=$?; pwd > "{where}"; exit $code'],
            cwd=self.cwd,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        self.cwd = Path(where.read_text().strip())
        self.code = done.returncode
        return done.stdout + done.stderr

    def _await_request(self, command: str) -> None:
        """A reply is written when its request is there; the run must not end before."""
        number = re.search(r"talk/(\d{4})\.", command)
        if number is None:
            return
        assert self.waiting is not None
        deadline = time.monotonic() + SECONDS
        while not (self.cwd / f"../talk/{number[1]}.request.md").exists():
            assert time.monotonic() < deadline
            with pytest.raises(subprocess.TimeoutExpired):
                self.waiting.wait(0.05)

    def _finish(self, lines: Sequence[str]) -> None:
        assert self.waiting is not None
        output, _ = self.waiting.communicate(timeout=SECONDS)
        assert self.waiting.returncode == 0, output
        self.waiting = None
        self.printed.compare([*self.expected, *lines], output)


WHO = [(who, what) for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")]


def commands(body: str) -> Iterator[tuple[str, list[str]]]:
    """The commands of a block, each with the lines it prints."""
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output.splitlines()


def test_every_tutorial_is_followed():
    assert {page.stem for page in PAGES.glob("*.md")} == set(RUNS)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", RUNS)
def test_a_tutorial_works_as_it_is_written(name: str, tmp_path: Path):
    reader = Reader(tmp_path.resolve())
    blocks = BLOCK.findall((PAGES / f"{name}.md").read_text())
    assert len(blocks) > 4
    try:
        for _, kind, body in blocks:
            reader.follow(kind, body)
    finally:
        reader.leave()
    assert reader.waiting is None
    assert len(reader.printed.names) == RUNS[name]
