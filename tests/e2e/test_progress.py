"""What takes long says what it does, how far it is and what it took: here and elsewhere."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.governed import CART, GOOD, TESTS, Shell, objects, rest_of, script, shop
from tests.repos import git, repository

SLOW = TESTS.replace("import unittest", "import time\nimport unittest\n\ntime.sleep(5)", 1)


def progress(output: str, call: str | None = None) -> list[dict[str, object]]:
    lines = [line for line in objects(output) if line["type"] == "progress"]
    return [line for line in lines if call is None or line["call"] == call]


@pytest.mark.exhaustive
def test_a_verdict_is_told_to_who_drives_and_to_who_follows(tmp_path: Path):
    repo = shop(tmp_path / "shop", {"cart.py": CART, "test_cart.py": SLOW})
    shell = Shell(repo, tmp_path)
    driver = script(tmp_path / "good.jsonl", *GOOD)
    with shell.begin("run", "Fix the total", "--driver", driver, "--json") as run:
        assert run.stdout is not None
        first = run.stdout.readline()
        name = objects(first)[0]["run"]
        with shell.begin("runs", "follow", name, "--json") as follower:
            followed = rest_of(follower)
        said = first + rest_of(run)
    taken = progress(said, "verdict")
    assert any("the new code" in str(line["what"]) for line in taken)
    assert progress(followed, "verdict")
    again = shell("verify", "--head", f"flyball/{name}", "--json")
    assert again.returncode == 0, again.stderr
    assert len(objects(again.stdout)) == 1
    assert all(line["before"] for line in progress(again.stderr))
    assert progress(again.stderr)


def shop_with_a_submodule(place: Path) -> Path:
    """Make a shop that poetry sets up and that has a submodule."""
    poetry = '[tool.poetry]\nname = "shop"\nversion = "1"\ndescription = ""\nauthors = []\n'
    made = {"cart.py": CART, "test_cart.py": TESTS, "pyproject.toml": poetry, "poetry.lock": ""}
    repo = shop(place / "shop", made)
    data = repository(place / "data", {f"{n}.txt": f"{n}\n" for n in range(50)})
    git(repo, "submodule", "--quiet", "add", str(data), "vendor/data")
    git(repo, "commit", "-q", "-m", "Add data")
    return repo


@pytest.mark.exhaustive
@pytest.mark.parametrize("make", [lambda place: shop(place / "shop"), shop_with_a_submodule])
def test_opening_a_run_on_a_slow_disk_is_told(tmp_path: Path, make: Callable[[Path], Path]):
    repo = make(tmp_path)
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text(f'#!/bin/sh\nsleep 0.3\nexec {shutil.which("git")} "$@"\n')
    slow.chmod(0o755)
    driver = script(tmp_path / "good.jsonl", *GOOD)
    shell = Shell(repo, tmp_path)
    shell.env["PATH"] = f"{slow.parent}:{shell.env['PATH']}"
    told = [progress(shell("run", "Fix the total", "--driver", driver, "--json").stdout, "")]
    told.append(progress(shell("run", "Fix the total", "--driver", driver, "--json").stdout, ""))
    for lines in told:
        assert lines
        assert all(str(line["what"]).startswith("opening the run: ") for line in lines)
        assert all(0 <= line["done"] <= line["of"] for line in lines)
    assert not any(line["before"] for line in told[0])
    assert all(line["before"] for line in told[1])
