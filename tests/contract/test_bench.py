"""The benches: each can be run alone, with options, and beside any other."""

from __future__ import annotations

import importlib
import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest
from bench import field
from bench.__main__ import BENCHES, BY_NAME_ONLY, PAGE, module_of, usual_seconds
from bench.age import code_digest, is_of_this_code
from bench.figure import Figure, median_of
from bench.report import BenchRun, as_json, as_page, as_plot, as_table, summary

ROOT = Path(__file__).parents[2]
WITH_OPTIONS = sorted({module_of(name) for name in BENCHES} | {"bench.intent_train"})


@pytest.mark.parametrize("module", WITH_OPTIONS)
def test_a_bench_takes_its_arguments_from_its_caller(module: str):
    found = inspect.signature(importlib.import_module(module).main)
    answer = "int" if module == "bench.intent_train" else "list[Figure]"
    assert str(found) == f"(arguments: 'Sequence[str]' = ()) -> '{answer}'"


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


QUICK = (
    ("patch_malformed", ("--cases", "1")),
    ("patch_fuzz", ("--seconds", "0.5")),
    ("judge", ()),
    ("machine_speed", ("--rounds", "2")),
    ("durable_step", ("--rounds", "1", "--steps", "5")),
    ("snapshot_cost", ("--files", "200", "--rounds", "1")),
    ("calls", ("--rounds", "2")),
    ("fanout", ("--readers", "3", "--events", "6")),
    ("turn", ("--rounds", "1")),
    ("liars", ("--family", "shell", "--every", "9")),
    ("scale", ("--most", "300")),
)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("name", "options"), QUICK, ids=[name for name, _ in QUICK])
def test_a_bench_returns_figures(name: str, options: tuple[str, ...]):
    """How fast it is is not asked here: other programs may keep the machine busy."""
    figures = importlib.import_module(module_of(name)).main(options)
    assert figures
    assert all(isinstance(figure, Figure) and figure.name for figure in figures)


@pytest.mark.exhaustive
def test_benches_run_one_after_the_other_into_one_report():
    done = bench("judge", "judge", "--json")
    assert done.returncode in (0, 1), done.stderr
    told = json.loads(done.stdout)
    assert [each["bench"] for each in told["benches"]] == ["judge", "judge"]
    assert all(each["figures"] for each in told["benches"])
    assert told["machine"]["python"].startswith("3.")
    assert "== [2/2] judge" in done.stderr and "-- judge" in done.stderr


@pytest.mark.parametrize(
    ("figure", "ratio", "goal", "holds"),
    [
        (Figure("a", 5, "ms", "them", 10, most_ratio=0.5), 0.5, "≤ 0.5×", True),
        (Figure("a", 6, "ms", "them", 10, most_ratio=0.5), 0.6, "≤ 0.5×", False),
        (Figure("a", 5, "ms", "them", None, most_ratio=0.5), None, "≤ 0.5×", None),
        (Figure("a", 5, "ms", "them", 10), 0.5, "", None),
        (Figure("a", 0.8, "%", least=0.85), None, "≥ 85.0 %", False),
        (Figure("a", 1200, "ms", most=1000), None, "≤ 1,000 ms", False),
        (Figure("a", 0, most=0), None, "≤ 0", True),
    ],
)
def test_a_figure_knows_its_ratio_and_whether_its_goal_holds(
    figure: Figure, ratio: float | None, goal: str, holds: bool | None
):
    assert figure.ratio == (None if ratio is None else pytest.approx(ratio))
    assert (figure.goal, figure.holds) == (goal, holds)


RUNS = [
    BenchRun("one", "the first", [Figure("a | b", 5, "ms", "<them>", 10, most_ratio=1)], 1.0),
    BenchRun("two", "the second", [Figure("c", 2, "s", "them", None, most_ratio=1)], 2.0),
    BenchRun("three", "the third", [], 0.5, "no browser"),
]


def test_a_report_tells_what_holds_what_is_missing_and_what_did_not_run():
    assert "1 goals hold; 0 are missed; 1 peers are not installed" in summary(RUNS)
    assert "did not run: three" in summary(RUNS)
    table = as_table(RUNS)
    assert "holds" in table and "not installed" in table and "no browser" in table
    page = as_page(RUNS, "flyball bench --page", "plot.svg", "0" * 16)
    assert "| one | a \\| b | 5 ms | <them> | 10 ms | 0.5× | ≤ 1× | holds |" in page
    assert ElementTree.fromstring(as_plot(RUNS)).tag.endswith("svg")
    assert json.loads(as_json(RUNS))["benches"][2]["trouble"] == "no browser"


def test_a_page_tells_why_a_goal_is_missed():
    assert "Missed" not in as_page(RUNS, "flyball bench --page", "plot.svg", "0" * 16)
    late = [Figure("a", 5, "", "them", 2, most=1, why="it is far."), Figure("b", 5, most=1)]
    runs = [BenchRun("one", "the first", late, 1.0)]
    page = as_page(runs, "flyball bench --page", "plot.svg", "0" * 16)
    assert (
        "## Missed, and why\n\n- **a**, beside them: it is far.\n- **b**: not explained yet.\n\n##"
        in page
    )


def test_several_rounds_are_told_as_median_and_quartiles():
    rounds = [[Figure("a", ours, "ms", "them", 10, most_ratio=0.5)] for ours in (9, 4, 3, 5, 1)]
    taken = median_of(rounds)
    assert (taken[0].ours, taken[0].theirs, taken[0].holds) == (4, 10, True)
    assert (taken[0].spread, taken[0].their_spread) == ((3, 5), (10, 10))
    runs = [BenchRun("one", "the first", taken, 61.0, rounds=5, load=99.0)]
    page = as_page(runs, "flyball bench --page", "plot.svg", "0" * 16)
    assert "| 4 ms (3–5) | them | 10 ms |" in page
    assert "- `one`: the first (61 s, 5 rounds)." in page
    assert "99.0 at most" in page and "That is a busy machine" in page
    assert usual_seconds("one", page) == "61 s, 5 rounds"


def test_how_long_a_bench_without_a_report_takes_is_not_guessed():
    assert usual_seconds("startup", "") == "not timed yet"
    assert usual_seconds("audit", "") == "minutes"


def test_a_page_is_older_than_code_that_was_changed_whatever_the_dates_say(tmp_path: Path):
    code = tmp_path / "src" / "flyball" / "core.py"
    (tmp_path / "bench").mkdir()
    code.parent.mkdir(parents=True)
    code.write_text("a = 1")
    digest = code_digest(tmp_path)
    page = as_page(RUNS, "flyball bench --page", "plot.svg", digest)
    assert is_of_this_code(page, digest)
    seen = code.stat()
    code.write_text("a = 2")
    os.utime(code, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    assert not is_of_this_code(page, code_digest(tmp_path))
    code.write_text("a = 1")
    assert is_of_this_code(page, code_digest(tmp_path))
    assert not is_of_this_code(page + page.replace(digest, "f" * 16), digest)
    code.rename(code.with_name("other.py"))
    assert not is_of_this_code(page, code_digest(tmp_path))


def test_the_page_is_written_of_all_benches_or_of_none():
    done = bench("judge", "--page")
    assert done.returncode == 2
    assert "give --page without names" in done.stderr


def test_the_last_report_is_a_page_of_the_documents():
    text = PAGE.read_text(encoding="utf-8")
    assert "`flyball bench --page`" in text
    whole = [name for name in BENCHES if name not in BY_NAME_ONLY]
    assert [name for name in whole if f"\n- `{name}`: " not in text] == []


def test_the_field_page_counts_only_what_went_as_plainly():
    same = field.Row(
        "a/b", "1" * 40, "Go", "2026-01-01", field.Ran(2, 0, 1.0), field.Ran(2, 0, 3.0)
    )
    lied = msgspec.structs.replace(same, edit="back", confined="same", fix="shown", lie="shown")
    assert not msgspec.structs.replace(lied, lie="", alone="shown").works
    fewer = msgspec.structs.replace(same, tree=field.Ran(1, 1, 3.0), stopped="a | b")
    counts = {each.name: each.ours for each in field.figures([same, lied, fewer])}
    assert counts["the same tests pass and fail as plainly"] == 2
    assert (counts["undone fixes shown"], counts["worked like the plain run"]) == (1, 1)
    assert r"| 3.0× |  |  |  |  |  | a \| b |" in field.as_page([fewer])


def test_the_field_counts_tests_that_hold_no_others():
    said = "--- PASS: TestA (0s)\n    --- PASS: TestA/by/path (0s)\n--- FAIL: TestB (0s)\nok\n"
    assert field.without_outer(said).split() == [
        *("---", "PASS:", "TestA/by/path", "(0s)"),
        *("---", "FAIL:", "TestB", "(0s)"),
    ]
