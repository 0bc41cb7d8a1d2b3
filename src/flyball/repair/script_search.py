"""The search in JavaScript and TypeScript: run the suite, watch it, and try small changes."""

from __future__ import annotations

import json
import math
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from flyball.errors import ToolUnavailable
from flyball.regex import regex
from flyball.repair import inside, localise
from flyball.repair.inside.hot_swap import apply_edits
from flyball.repair.localise import Memo, Once
from flyball.repair.ranking import Survivor, changed_size
from flyball.repair.script_changes import changes_at, clues_of
from flyball.repair.script_source import LANGUAGES, ScriptSource, title_of
from flyball.repair.search import HOLDS, Ends, read_ends
from flyball.repair.site import Candidate, diff_of
from flyball.repair.spectrum import DEEPEST, DEFINED, SuspectLine, Traced
from flyball.repair.trial import ProgressReport, ScratchCopy, Words, follow
from flyball.terms.test_paths import is_test_config, is_test_path
from flyball.tools.call.protocol import CallContext
from flyball.verdict.case import CaseOutcome, SuiteCase
from flyball.verdict.runners.launch import launch, set_up
from flyball.verdict.runners.run_suite import SuiteRun, run_suite
from flyball.verdict.runners.table import BY_NAME
from flyball.verdict.tests import language_of
from flyball.workspace.files.plain import read_within

MOST_FILE = 200_000
MOST_FILES = 300
MOST_CANDIDATES = 6000
MOST_STEPS = 80
LEFT_OUT = frozenset({"node_modules", "dist", "build", "coverage", "vendor", "out", ".git"})
TRACE = ".flyball-trace"
BASE_SIZE = 6
FRAME = regex(r"([\w@./\\-]+\.[cm]?[jt]sx?):(\d+)")
QUOTED = regex(r"'([^'\n]{0,60})'|\"([^\"\n]{0,60})\"|(?<![\w.])(\d{1,6})(?![\w.])")


class WatchedSuite(msgspec.Struct, frozen=True):
    """What is known of a project's scripts: its files, and what their tests ran."""

    sources: dict[str, ScriptSource]
    known: Memo


def scripts_of(root: Path) -> dict[str, ScriptSource]:
    """Return the project's scripts, tests included, that can be read as such."""
    found: dict[str, ScriptSource] = {}
    for top, folders, names in os.walk(root):
        folders[:] = sorted(set(folders) - LEFT_OUT)
        for name in sorted(names):
            path = (Path(top) / name).relative_to(root).as_posix()
            is_script = language_of(path) in LANGUAGES and not name.endswith((".min.js", ".d.ts"))
            if not is_script or is_test_config(path) or len(found) == MOST_FILES:
                continue
            data = read_within(root, path, MOST_FILE + 1)
            if data is not None and len(data) <= MOST_FILE:
                try:
                    found[path] = ScriptSource(path, data)
                except ValueError:
                    continue
    return found


async def watch(stage: ScratchCopy, seconds: float | None) -> Memo:
    """Run the suite as it is, and once more so that it says which test runs which statement."""
    context = stage.context
    limits = msgspec.structs.replace(context.limits, seconds=max(10.0, (seconds or 120.0) / 2))
    context = context._replace(limits=limits, is_shown=False)
    ran = await run_suite("", (), context, "watched")
    if not ran.cases and not ran.report.timed_out:
        raise ToolUnavailable(
            f"The tests could not be loaded:\n{ran.finished.output[-2000:].strip()}",
            "Run `test` to see how they fail.",
        )
    sources = scripts_of(context.root.path)
    hits = await _hits(stage._replace(context=context), sources) if _red(ran) else {}
    known = _memo(stage, ran, sources, hits)
    localise.keep(context, known)
    return known


def _red(ran: SuiteRun) -> bool:
    return ran.report.timed_out or any(case.is_bad for case in ran.cases)


async def _hits(
    stage: ScratchCopy, sources: dict[str, ScriptSource]
) -> dict[str, set[tuple[str, int]]]:
    """Return the lines that each test ran, by the test's title; what ran before is under ''."""
    root = stage.context.root.path
    file = root / TRACE
    file.touch()
    titles: dict[int, str] = {}
    steps: list[tuple[str, int]] = []
    for path, source in sources.items():
        if is_test_path(path):
            text = source.marked(titles, os.fspath(file))
        else:
            text = source.watched(len(steps), os.fspath(file))
            steps += [(path, step.line) for step in source.steps]
        (root / path).write_bytes(text)
    try:
        await run_suite("", (), stage.context, "watched")
        seen = file.read_text("utf-8", "replace").split("\n")
    finally:
        for path, source in sources.items():
            (root / path).write_bytes(source.data)
        file.unlink(missing_ok=True)
    found: dict[str, set[tuple[str, int]]] = {}
    for line in seen:
        test, _, step = line.partition(" ")
        if test.isdigit() and step.isdigit() and int(step) < len(steps):
            found.setdefault(titles.get(int(test), ""), set()).add(steps[int(step)])
    return found


def _memo(
    stage: ScratchCopy,
    ran: SuiteRun,
    sources: dict[str, ScriptSource],
    hits: dict[str, set[tuple[str, int]]],
) -> Memo:
    cases = list(ran.cases)
    if ran.report.timed_out:
        # What did not get to its end is what never ends.
        ended = {case.name for case in cases}
        open_ones = [title for title in hits if title and title not in ended]
        cases += [
            SuiteCase(title, CaseOutcome.FAILED, message="It did not end.") for title in open_ones
        ]
    ends = {CaseOutcome.PASSED: "pass", CaseOutcome.SKIPPED: "skip"}
    runs = [Once(case.label, ends.get(case.outcome, "fail"), case.message, 0.0) for case in cases]
    tests: list[Traced] = []
    for case in cases:
        lines: dict[str, tuple[int, ...]] = {}
        for path, line in sorted(_ran_by(case.name, hits)):
            lines[path] = (*lines.get(path, ()), line)
        frames = tuple(_frames(case.message, stage.context.root.path, sources))
        tests.append(Traced(case.label, ends.get(case.outcome, "fail"), frames, lines))
    return Memo(ran.report.runner, tuple(runs), tuple(tests), len(cases))


def _ran_by(name: str, hits: dict[str, set[tuple[str, int]]]) -> set[tuple[str, int]]:
    if name in hits:
        return hits[name]
    titles = [title for title in hits if (head := title_of(title)) and name.startswith(head)]
    titles = titles or [title for title in hits if title and title in name]
    return set[tuple[str, int]]().union(*(hits[title] for title in titles)) or hits.get("", set())


def _frames(
    message: str, root: Path, sources: dict[str, ScriptSource]
) -> Iterator[tuple[str, int]]:
    """Yield the lines of the project in a traceback, the outermost first."""
    for file, line in reversed(FRAME.findall(message)):
        path = os.path.relpath(root / file, root)
        if path in sources:
            yield path, int(line)


def suspects(known: Memo, sources: dict[str, ScriptSource]) -> list[SuspectLine]:
    """Return the statements that failing tests run, the most suspicious first."""
    failing = [test for test in known.tests if test.has_failed]
    scores: dict[tuple[str, int], float] = {}
    for key in {key for test in failing for key in _lines(test)}:
        red = sum(key in _lines(test) for test in failing)
        green = sum(key in _lines(test) for test in known.tests if test.end == "pass")
        scores[key] = red / math.sqrt(len(failing) * (red + green))
    for test in failing:
        ours = [frame for frame in test.frames if not is_test_path(frame[0])]
        for frame in ours[-1:]:
            scores[frame] = scores.get(frame, 0.3) + DEEPEST / len(failing)
    for key, score in _constants(scores, sources):
        scores[key] = max(scores.get(key, 0.0), score)
    if not scores:
        ours = ((path, each) for path, each in sources.items() if not is_test_path(path))
        scores = {(path, step.line): 0.5 for path, source in ours for step in source.steps}
    top = max(scores.values(), default=1.0)
    places = [SuspectLine(*key, score / top) for key, score in scores.items()]
    return sorted(places, key=lambda place: (-round(place.score, 2), *place))


def _lines(test: Traced) -> set[tuple[str, int]]:
    return {(path, line) for path, lines in test.lines.items() for line in lines}


def _constants(
    scores: dict[tuple[str, int], float], sources: dict[str, ScriptSource]
) -> Iterator[tuple[tuple[str, int], float]]:
    """Yield the definitions at the top of a file that suspicious statements name."""
    for path, source in sources.items():
        tops = [step for step in source.steps if step.kind.endswith("_declaration")]
        named = {
            name.text: step.line
            for step in tops
            if step.parent is not None and step.parent.kind in ("program", "export_statement")
            for each in step.parts
            if each.kind == "variable_declarator" and (name := each.get("name")) is not None
        }
        for step in source.steps:
            score = scores.get((path, step.line), 0.0)
            for name in {node.text for node in source.own(step)} & named.keys() if score else ():
                yield (path, named[name]), DEFINED * score


def candidates(known: Memo, sources: dict[str, ScriptSource]) -> list[Candidate]:
    """Return every small change at the suspicious statements, the likeliest first, none twice."""
    messages = [run.why for run in known.failing_runs]
    clues, wanted = clues_of(messages), _wanted(messages)
    scores = {place[:2]: place.score for place in suspects(known, sources)}
    at = [
        (scores[path, step.line], path, step)
        for path, source in sources.items()
        if not is_test_path(path)
        for step in source.steps
        if (path, step.line) in scores
    ]
    at.sort(key=lambda each: -each[0])
    every = [
        each
        for score, path, step in at[:MOST_STEPS]
        for each in changes_at(sources[path], step, score, clues, wanted)
    ]
    every.sort(key=lambda each: -each.chance)
    found: dict[tuple[str, bytes], Candidate] = {}
    for each in every[: 2 * MOST_CANDIDATES]:
        found.setdefault((each.path, apply_edits(sources[each.path].data, each.edits)), each)
    return list(found.values())[:MOST_CANDIDATES]


def _wanted(messages: Iterable[str]) -> list[str]:
    """Return the texts and numbers that failing tests show."""
    found = (a or b or c for message in messages for a, b, c in QUOTED.findall(message))
    return list(dict.fromkeys(found))[:40]


async def try_on_suite(
    stage: ScratchCopy,
    known: Memo,
    proposed: Sequence[Candidate],
    sources: dict[str, ScriptSource],
    limits: tuple[float, float, int],
    words: Words,
) -> tuple[Ends, bool]:
    """Try candidates in order; return how each ended, and whether the run was to pause."""
    seconds, patience, enough = limits
    context = stage.context._replace(is_shown=False)
    context = context._replace(limits=msgspec.structs.replace(context.limits, seconds=seconds + 30))
    with set_up(context, stage.choice.at) as start:
        report = start.shelf / "found.jsonl"
        began = time.monotonic()
        commands = _commands(stage, known, start)
        orders = {
            "report": os.fspath(report),
            "seconds": seconds - (time.monotonic() - began),
            "each": min(15.0, max(5.0, seconds / 6)),
            "shelf": os.fspath(start.shelf),
            "width": min(4, os.cpu_count() or 1),
            "patience": patience,
            "enough": enough,
            "commands": commands,
            "candidates": [
                {
                    "file": os.path.relpath(start.root.path / each.path, start.workdir),
                    "text": apply_edits(sources[each.path].data, each.edits).decode(
                        "utf-8", "replace"
                    ),
                }
                for each in proposed
            ],
        }
        program = start.shelf / "trials.cjs"
        shutil.copyfile(Path(inside.__path__[0]) / "trials.cjs", program)
        (start.shelf / "orders.json").write_text(json.dumps(orders), "utf-8")
        argv = ["node", os.fspath(program), os.fspath(start.shelf / "orders.json")]
        progress = ProgressReport(report)
        finished = await follow(launch(argv, start), progress, context, words)
    return read_ends(len(proposed), progress.lines), finished is None


def _commands(stage: ScratchCopy, known: Memo, start: CallContext) -> list[list[str]]:
    """Return what is run for each candidate: the files with failing tests, then all."""
    choice = stage.choice
    whole = BY_NAME[choice.name].argv(start, choice.land, choice.args)
    red = sorted({run.name.split(" > ")[0] for run in known.failing_runs})
    root = stage.context.root.path
    files = [name for name in red if (root / name).is_file()]
    if choice.name == "node" and len(files) == 1 and files[0].endswith("js"):
        # One file needs no runner above it, which halves the time of a trial.
        return [["node", *files], whole]
    return [whole]


def rank(holding: Sequence[Candidate], sources: dict[str, ScriptSource]) -> list[Survivor]:
    """Return the changes that hold, the likeliest and smallest first."""
    found: list[Survivor] = []
    for each in holding:
        data = sources[each.path].data
        diff = diff_of(each.path, data, apply_edits(data, each.edits))
        merit = each.chance / (BASE_SIZE + changed_size(each, data))
        found.append(Survivor(each.path, each.line, each.template, each.label, diff, merit))
    return sorted(found, key=lambda each: -each.merit)


def holding_of(proposed: Sequence[Candidate], ends: Ends) -> list[Candidate]:
    """Return the candidates under which every test passes."""
    return [proposed[n] for n in sorted(ends) if ends[n] == HOLDS]
