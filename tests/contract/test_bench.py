"""The benches: each can be run alone, with options, and beside any other."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest
from bench.__main__ import BENCHES, module_of

ROOT = Path(__file__).parents[2]
WITH_OPTIONS = sorted({module_of(name) for name in BENCHES} | {"bench.intent_train"})


@pytest.mark.parametrize("module", WITH_OPTIONS)
def test_a_bench_takes_its_arguments_from_its_caller(module: str):
    found = inspect.signature(importlib.import_module(module).main)
    assert str(found) == "(arguments: 'Sequence[str]' = ()) -> 'int'"


@pytest.mark.parametrize("module", WITH_OPTIONS)
def test_a_bench_tells_its_options(module: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as end:
        importlib.import_module(module).main(["--help"])
    assert end.value.code == 0
    assert "usage:" in capsys.readouterr().out


def test_every_program_among_the_benches_is_listed():
    files = [path for path in (ROOT / "bench").glob("*.py") if path.stem != "__main__"]
    programs = {f"bench.{path.stem}" for path in files if "__main__" in path.read_text()}
    assert programs <= set(WITH_OPTIONS)


def bench(*names: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bench", *names]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_a_bench_that_does_not_exist_is_refused_before_any_is_run():
    done = bench("startup", "nothing")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "there is no bench 'nothing'" in done.stderr


@pytest.mark.exhaustive
def test_several_benches_run_one_after_the_other():
    """How fast they are is not asked here: other programs may keep the machine busy."""
    names = ["import_cost", "patch_malformed", "durable_step", "patch_fuzz", "exhaust"]
    done = bench(*names)
    assert done.returncode in (0, 1), done.stderr
    assert done.stderr == ""
    begun = [line.split()[1].rstrip(":") for line in done.stdout.splitlines() if line[:2] == "=="]
    ended = [line.split()[1].rstrip(":") for line in done.stdout.splitlines() if line[:2] == "--"]
    assert begun == ended == names
    for name in ("patch_malformed", "patch_fuzz", "exhaust"):
        assert f"-- {name}: held" in done.stdout
