"""What a hook takes inside the real hosts, as a multiple of `python3 -c pass` in the same place.

Each host (Claude Code, Codex, Gemini CLI, opencode) works through sessions against a scripted model
on loopback, with a journal of five thousand events behind it. Its hook is a script that starts a
bare interpreter and then ours, both with the host's own payload and environment, and notes how long
each took; so does the plugin in opencode. A session of looks, and one that repairs, with every hook
counted up to the last stop: each once with the governor that stays between hooks and once where
none may stay. The model does not think, so what is judged behind a hook is often waited for.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path

from tests.hosts.hooking import HOOK
from tests.hosts.real.test_real import HOSTS, RIGHT, WRONG, RealHost, Turn, says

from bench.durable_step import drive
from bench.figure import Figure, conclude
from flyball.app.project import open_home
from flyball.journal.sqlite import SqliteJournal

EVENTS = 5_000
LOOKS = 25
RESIDENT, ALONE = 2.0, 8.0
CALLS = ("PreToolUse", "PostToolUse", "BeforeTool", "AfterTool")
ALL_HOSTS = (*HOSTS, "opencode")
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


Turns = Callable[[RealHost, int], Sequence[Turn]]


def looking(real: RealHost, looks: int) -> Sequence[Turn]:
    """A session in which nothing is changed."""
    return [real.shells(f"git log -{n + 1} --oneline") for n in range(looks)]


def repairing(real: RealHost, looks: int) -> Sequence[Turn]:
    """A session with a refused write, a checkpoint and two writes, and looks around them."""
    seen = [*looking(real, looks)]
    first, second = looks // 2, looks * 3 // 4
    begun = [*seen[:first], real.write(WRONG), real.states(), real.write(WRONG)]
    return [*begun, *seen[first:second], real.write(RIGHT, WRONG), *seen[second:]]


def session(host: str, place: Path, turns: Turns, looks: int, **environ: str) -> Times:
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
    for plugin in real.home.glob(".config/opencode/plugin*/*.js"):
        plugin.write_text(plugin.read_text().replace(str(HOOK), str(wrapper)))
    real.asks(*turns(real, looks), says("Done."), prompt="do every item", hook=str(wrapper))
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for line in log.read_text().splitlines():
        name, *at = line.split()
        before, between, after = (float(each.replace(",", ".")) for each in at)
        found[name].append((between - before, after - between))
    return found


def figure(title: str, times: Times, names: Iterable[str], most: float | None) -> Figure:
    """The median of the hooks with these names."""
    pairs = [pair for name in names for pair in times.get(name, ())]
    bare, ours = (statistics.median(column) * 1e3 for column in zip(*pairs, strict=True))
    label = f"{title}: median of {len(pairs)} hooks"
    return Figure(label, ours, "ms", "python3 -c pass", bare, most_ratio=most)


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--looks", type=int, default=LOOKS, help="calls of a session")
    parser.add_argument("--host", action="append", choices=ALL_HOSTS, help="only these")
    options = parser.parse_args(arguments)
    found: list[Figure] = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        for host, turns in product(options.host or ALL_HOSTS, (looking, repairing)):
            place, looks = Path(name, f"{host}-{turns.__name__}"), options.looks
            stays = session(host, place, turns, looks)
            apart = place.with_name(f"{place.name}-alone")
            alone = session(host, apart, turns, looks, FLYBALL_HOOKS_ALONE="true")
            what = "calls that look" if turns is looking else "all of a repair"
            both = ("a governor", stays, RESIDENT), ("none may stay", alone, ALONE)
            for who, times, most in both:
                names = CALLS if turns is looking else times
                found.append(figure(f"{host}, {what}, {who}", times, names, most))
            found.append(figure(f"{host}, prompts, a governor", stays, PROMPTS, None))
    return found


if __name__ == "__main__":
    sys.exit(conclude(main(sys.argv[1:])))
