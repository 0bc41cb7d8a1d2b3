"""What a hook takes inside the real hosts, as a multiple of `python3 -c pass` in the same place.

Each host (Claude Code, Codex, Gemini CLI) works through one session of looks against a scripted
model on loopback, with a journal of five thousand events behind it. Its hook is a script that
starts a bare interpreter and then ours, both with the host's own payload and environment, and notes
how long each took. Once with the governor that stays between hooks, once where none may stay.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.hosts.hooking import HOOK
from tests.hosts.real.test_real import HOSTS, RealHost, says

from bench.durable_step import drive
from bench.figure import Figure, conclude
from flyball.app.project import open_home
from flyball.journal.sqlite import SqliteJournal

EVENTS = 5_000
LOOKS = 25
RESIDENT, ALONE = 2.0, 8.0
CALLS = ("PreToolUse", "PostToolUse", "BeforeTool", "AfterTool")
PROMPTS = ("UserPromptSubmit", "BeforeAgent")

WRAPPER = """\
#!/bin/bash
data=$(mktemp)
cat > "$data"
name=$(grep -o '"hook_event_name": *"[A-Za-z]*"' "$data" | head -1 | cut -d'"' -f4)
t0=$EPOCHREALTIME
"{python}" -c pass < "$data"
t1=$EPOCHREALTIME
"{hook}" "$@" < "$data"
code=$?
t2=$EPOCHREALTIME
echo "$name $t0 $t1 $t2" >> "{log}"
rm "$data"
exit $code
"""

Times = Mapping[str, Sequence[tuple[float, float]]]
"""By the host's event: what a bare interpreter and ours took, in seconds."""


def session(host: str, place: Path, looks: int, **environ: str) -> Times:
    """The times of one session's hooks."""
    place.mkdir()
    # Its path is short: that of a socket has a limit.
    sockets = tempfile.mkdtemp(prefix="fb")
    real = RealHost(host, place, sockets)
    real.shell.env |= environ
    home = open_home(real.repo, real.shell.env, {})
    home.journal_path.parent.mkdir(parents=True)
    asyncio.run(drive(SqliteJournal(home.journal_path), EVENTS))
    log, wrapper = place / "times", place / "hook"
    wrapper.write_text(WRAPPER.format(python=sys.executable, hook=HOOK, log=log))
    wrapper.chmod(0o755)
    turns = [real.shells(f"git log -{n + 1} --oneline") for n in range(looks)]
    real.asks(*turns, says("Seen."), prompt="do every item of the list", hook=str(wrapper))
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for line in log.read_text().splitlines():
        name, *at = line.split()
        before, between, after = (float(each.replace(",", ".")) for each in at)
        found[name].append((between - before, after - between))
    return found


def figures(title: str, times: Times, limit: float) -> list[Figure]:
    """The medians of calls, which are held to the limit, and those of prompts, which are told."""
    found: list[Figure] = []
    for kind, names, most in (("calls", CALLS, limit), ("prompts", PROMPTS, None)):
        pairs = [pair for name in names for pair in times.get(name, ())]
        if not pairs:
            continue
        bare, ours = (statistics.median(column) * 1e3 for column in zip(*pairs, strict=True))
        label = f"{title}: {len(pairs)} hooks of {kind}"
        found.append(Figure(label, ours, "ms", "python3 -c pass", bare, most_ratio=most))
    return found


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--looks", type=int, default=LOOKS, help="calls of a session")
    parser.add_argument("--host", action="append", choices=HOSTS, help="only these")
    options = parser.parse_args(arguments)
    found: list[Figure] = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        for host in options.host or HOSTS:
            resident = session(host, Path(name, host), options.looks)
            found += figures(f"{host}, with the governor", resident, RESIDENT)
            alone = session(
                host, Path(name, f"{host}-alone"), options.looks, FLYBALL_HOOKS_ALONE="true"
            )
            found += figures(f"{host}, where none may stay", alone, ALONE)
    return found


if __name__ == "__main__":
    sys.exit(conclude(main(sys.argv[1:])))
