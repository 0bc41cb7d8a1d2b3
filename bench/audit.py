"""An audit of a gigabyte: how long it takes, how much memory, and how long the second time.

`python -m bench.audit [MEGABYTES]` makes transcripts in the form of Claude Code, audits them, and
audits them again. `python -m bench.audit --recordings FOLDER` tells how often each rule speaks up
in recorded runs of other agents that were resolved, and in those that were not.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench import guards
from bench.figure import Figure, conclude
from flyball.audit.auditing import MOST_READERS, AuditOptions, audit, judge_file
from flyball.audit.finding import RULES
from flyball.guards.guard import GuardLimits

FIRST, SECOND, MEMORY = 60.0, 3.0, 300.0
"""Seconds for a gigabyte, seconds for the second time, megabytes."""
WORDS = [
    "def",
    "total",
    "items",
    "price",
    "quantity",
    "result",
    "return",
    "import",
    "assert",
    "for",
    "in",
    "if",
    "self",
    "value",
]
COMMANDS = (
    "python3 -m pytest -q tests/test_{n}.py",
    "grep -rn total src/part_{n}",
    "git status --short && ls src/{n}",
    "sed -n 1,80p src/module_{n}.py",
    "npm run build --workspace=part-{n}",
)


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    """Print the figures; beyond the aims is a failure."""
    parser = argparse.ArgumentParser(prog="python -m bench audit", description=__doc__)
    parser.add_argument("megabytes", type=int, nargs="?", default=1000)
    parser.add_argument("--recordings", type=Path, help="where recordings and their reports are")
    wanted = parser.parse_args(arguments)
    if wanted.recordings:
        print("\n".join(figures(wanted.recordings)))
        return []
    megabytes = wanted.megabytes
    with tempfile.TemporaryDirectory() as place:
        made = make_transcripts(Path(place) / "projects", megabytes << 20)
        environ = {**os.environ, "HOME": place, "FLYBALL_STATE_DIR": f"{place}/state"}
        before = sum(os.times()[:4])
        first, sessions = _timed(Path(place), environ)
        memory, processor = _memory(), sum(os.times()[:4]) - before
        before = sum(os.times()[:4])
        second, _ = _timed(Path(place), environ)
        again = sum(os.times()[:4]) - before
    rate = made / first / 1e6
    print(f"{made / 1e6:,.0f} MB in {sessions} sessions: {first:.1f} s ({rate:.0f} MB/s)")
    print(f"processor time of all processes: {processor:.1f} s")
    print(f"most memory of all processes: {memory:.0f} MB")
    print(f"the second time: {second:.2f} s, {again:.2f} s of a processor")
    allowed = FIRST * made / 1e9
    return [
        Figure(f"an audit of {made / 1e6:,.0f} MB", first, "s", most=allowed),
        Figure("the second one", second, "s", most=SECOND),
        Figure("memory of all its processes", memory, "MB", most=MEMORY),
    ]


def figures(folder: Path) -> Iterator[str]:
    """For each rule, in how many resolved runs and in how many others it found something."""
    known = dict(guards.reports(folder))
    runs, found = Counter[bool](), Counter[tuple[str, bool]]()
    calls: Counter[bool] = Counter()
    for path in sorted(folder.rglob("*")):
        if path in known or path.suffix not in (".traj", ".json", ".jsonl") or not path.is_file():
            continue
        judged = judge_file(path, GuardLimits())
        for session in judged.sessions:
            data = path.read_bytes() if path.suffix != ".jsonl" else b""
            is_resolved = guards.is_resolved(session.session, path, data, known)
            runs[is_resolved] += 1
            calls[is_resolved] += session.calls
            rules = {each.rule for each in judged.findings if each.session == session.session}
            found.update((rule, is_resolved) for rule in rules)
    good_runs, other_runs = (f"{runs[side]} ({calls[side]} calls)" for side in (True, False))
    yield f"resolved runs: {good_runs}; others: {other_runs}"
    for rule in RULES:
        good, bad = found[rule, True], found[rule, False]
        shares = [100 * n / max(runs[side], 1) for n, side in ((good, True), (bad, False))]
        yield f"| `{rule}` | {good} ({shares[0]:.1f} %) | {bad} ({shares[1]:.1f} %) |"


def _memory() -> float:
    """Megabytes of this process and of its readers, each taken at its largest."""
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    of_reader = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return (own + min(os.cpu_count() or 1, MOST_READERS) * of_reader) / 1024


def _timed(place: Path, environ: dict[str, str]) -> tuple[float, int]:
    began = time.perf_counter()
    report = audit(AuditOptions((place / "projects",)), environ, GuardLimits())
    return time.perf_counter() - began, report.sessions


def make_transcripts(place: Path, size: int) -> int:
    """Sessions of some megabytes each, until that many bytes are there; how many there are."""
    chance, made, number = random.Random(7), 0, 0
    while made < size:
        file = place / f"-home-dev-shop-{number % 20}" / f"{number:08}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("w") as stream:
            for line in _session(chance, number):
                made += stream.write(json.dumps(line) + "\n")
        number += 1
    return made


def _session(chance: random.Random, number: int) -> Iterator[dict[str, Any]]:
    cwd, session = f"/home/dev/shop-{number % 20}", f"session-{number}"
    count = 0

    def line(kind: str, content: object, **more: object) -> dict[str, Any]:
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(1.79e9 + number * 900 + count))
        message = {"role": kind, "content": content, "id": f"msg_{number}_{count}"}
        if kind == "assistant":
            message |= {"model": "claude-sonnet-4-5", "usage": USAGE}
        head = {"type": kind, "sessionId": session, "cwd": cwd, "timestamp": stamp}
        return {**head, "uuid": f"{number}-{count}", "message": message, **more}

    for turn in range(6):
        yield line("user", f"please fix the total of part {turn} in session {number}")
        for _ in range(chance.randint(10, 60)):
            count += 1
            id = f"toolu_{number}_{count}"
            yield line("assistant", [{"type": "text", "text": _text(chance, 30)}])
            if chance.random() < 0.3:
                path = f"{cwd}/src/module_{chance.randint(1, 30)}.py"
                old, new, whole = _text(chance, 20), _text(chance, 20), _text(chance, 900)
                given = {"file_path": path, "old_string": old, "new_string": new}
                told = {"filePath": path, "oldString": old, "newString": new}
                told["originalFile"] = f"{whole}\n{old}"
                name, said = "Edit", "The file has been updated."
            else:
                command = chance.choice(COMMANDS).format(n=chance.randint(1, 40))
                given = {"command": command, "description": "look"}
                said = _text(chance, chance.choice((40, 200, 1500)))
                name, told = "Bash", {"stdout": said, "stderr": ""}
            call = {"type": "tool_use", "id": id, "name": name, "input": given}
            yield line("assistant", [call])
            result = {"type": "tool_result", "tool_use_id": id, "content": said}
            yield line("user", [result], toolUseResult=told)
        yield line("assistant", [{"type": "text", "text": "Done, the tests pass."}])


USAGE = {
    "input_tokens": 12,
    "cache_read_input_tokens": 42_000,
    "cache_creation_input_tokens": 900,
    "output_tokens": 210,
}


def _text(chance: random.Random, words: int) -> str:
    picked = chance.choices(WORDS, k=words)
    return "\n".join(" ".join(picked[at : at + 9]) for at in range(0, words, 9))


if __name__ == "__main__":
    raise SystemExit(conclude(main(sys.argv[1:])))
