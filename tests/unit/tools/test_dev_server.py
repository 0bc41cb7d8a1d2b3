"""Servers of a run: started in a network of their own, asked there, and ended without a trace."""

from __future__ import annotations

import asyncio
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.tiers import IN_CI
from tests.unit.tools.conftest import BY_NAME, Bench

from flyball.errors import FlyballError
from flyball.tools.call.prepare import read_form
from flyball.verdict.settled import ProjectCommands, SettledCommand
from flyball.workspace.servers.network import can_serve

HEAD = "import http.server, os, subprocess, sys, time\n"
SERVE = (
    "class Page(http.server.SimpleHTTPRequestHandler):\n"
    "    def end_headers(self):\n"
    "        super().end_headers()\n"
    "http.server.ThreadingHTTPServer(('127.0.0.1', {port}), Page).serve_forever()\n"
)
ANY_PORT = SERVE.format(port="int(os.environ['PORT'])")
FILES = {"server.py": f"{HEAD}print('here we go', flush=True)\n{ANY_PORT}", "hello.txt": "hello"}


@pytest.fixture(autouse=True)
def _needs_a_network() -> None:
    if not IN_CI and not can_serve():
        pytest.skip("needs a network namespace, which this machine does not give")


def together(bench: Bench, *calls):
    """What each call gives back, all of them made by one process; its servers end with it.

    A function among the calls is called in its turn; an error comes back like a result.
    """

    async def make():
        found = []
        try:
            for call in calls:
                found.append(call() if callable(call) else await one(*call))
        finally:
            bench.context.servers.close()
        return found

    async def one(name, args=None):
        form = read_form(args or {}, BY_NAME[name])
        assert not isinstance(form, str), form
        tree = bench.context.workspace.tree_hash()
        try:
            return await BY_NAME[name].perform(form, bench.context._replace(tree=tree))
        except FlyballError as error:
            return error

    return asyncio.run(make())


def processes_in(place: Path) -> list[int]:
    """The processes that work below a directory; of a run that ended there must be none."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if (entry / "cwd").readlink().is_relative_to(place):
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


@pytest.mark.slow
def test_a_server_is_found_started_asked_and_stopped(make_bench, tmp_path):
    seen: list[int] = []
    listed, started, again, asked, logs, _, stopped = together(
        make_bench(FILES),
        ("dev_server_list",),
        ("dev_server_start",),
        ("dev_server_start", {"name": "web"}),
        ("http_probe", {"url": "/hello.txt"}),
        ("dev_server_logs",),
        lambda: seen.extend(processes_in(tmp_path)),
        ("dev_server_stop",),
    )
    assert "web: not started; `python server.py`" in listed.text
    assert started.ok and started.data["url"] == "http://127.0.0.1:3000"
    assert "running already" in again.text
    assert asked.text.endswith("answered 200\nhello")
    (report,) = asked.evidence
    assert report.own and report.status == 200
    assert "here we go" in logs.text
    assert stopped.text == "web: stopped"
    assert seen and not processes_in(tmp_path)


@pytest.fixture
def stranger() -> Iterator[int]:
    """A server of the user's own, on the machine's loopback."""

    class Quiet(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            asked.append(self.path)

        def log_message(self, *_):
            pass

    asked: list[str] = []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()
    assert not asked


def test_foreign_server_is_not_asked(make_bench, stranger):
    bench = make_bench({"README.md": "nothing is served here"})
    (refused,) = together(bench, ("http_probe", {"url": f"http://127.0.0.1:{stranger}/"}))
    assert "nothing else may be asked" in str(refused)


@pytest.mark.exhaustive
def test_foreign_server_is_not_asked_while_ours_runs(make_bench, stranger):
    _, refused = together(
        make_bench(FILES),
        ("dev_server_start",),
        ("http_probe", {"url": f"http://127.0.0.1:{stranger}/"}),
    )
    assert "nothing else may be asked" in str(refused)
    assert "This run serves http://127.0.0.1:3000" in str(refused)


@pytest.mark.exhaustive
def test_a_look_after_an_edit_is_at_the_new_tree(make_bench):
    bench = make_bench(FILES)
    first, _, listed, second = together(
        bench,
        ("http_probe", {"url": "/hello.txt"}),
        lambda: bench.put({"hello.txt": "edited"}),
        ("dev_server_list",),
        ("http_probe", {"url": "http://127.0.0.1:3000/hello.txt"}),
    )
    assert "was started from the current tree" in first.text
    assert "running an earlier tree" in listed.text
    assert "ran an earlier tree and was started again" in second.text
    assert second.text.endswith("edited")
    assert first.evidence[0].tree != second.evidence[0].tree


@pytest.mark.exhaustive
def test_crashed_server_is_reported_with_its_output(make_bench, tmp_path):
    bench = make_bench({"server.py": f"{HEAD}raise SystemExit('no database')\n{ANY_PORT}"})
    (error,) = together(bench, ("dev_server_start",))
    assert "ended with exit code 1" in str(error) and "no database" in str(error)
    assert not processes_in(tmp_path)


@pytest.mark.exhaustive
def test_a_server_that_died_is_started_again_by_the_next_look(make_bench):
    mortal = ANY_PORT.replace(
        "        super()", "        self.path == '/die' and os._exit(3)\n        super()"
    )
    files = {"server.py": f"{HEAD}{mortal}", "hello.txt": "hi"}
    _, gone, listed, asked = together(
        make_bench(files),
        ("dev_server_start",),
        ("http_probe", {"url": "/die"}),
        ("dev_server_list",),
        ("http_probe", {"url": "/hello.txt"}),
    )
    assert not gone.ok and gone.evidence[0].error
    assert "web: ended with exit code 3" in listed.text
    assert "had ended and was started again" in asked.text and asked.text.endswith("hi")


@pytest.mark.exhaustive
def test_a_server_that_never_gets_ready_is_ended(make_bench, tmp_path):
    bench = make_bench(
        {"server.py": f"{HEAD}print('warming up', flush=True)\ntime.sleep(999)\n{ANY_PORT}"}
    )
    (error,) = together(bench, ("dev_server_start", {"seconds": 1}))
    assert "listened on no port within 1 s" in str(error) and "warming up" in str(error)
    assert not processes_in(tmp_path)


@pytest.mark.exhaustive
def test_a_server_that_listens_and_never_answers_is_ended(make_bench, tmp_path):
    mute = "import socket\ns = socket.create_server(('127.0.0.1', 3000))\ntime.sleep(999)\n"
    bench = make_bench({"server.py": f"{HEAD}{mute}{ANY_PORT}"})
    (error,) = together(bench, ("dev_server_start", {"seconds": 1}))
    assert "listens on port 3000 and did not answer within 1 s" in str(error)
    assert not processes_in(tmp_path)


@pytest.mark.exhaustive
def test_taken_port_is_reported(make_bench):
    fixed = HEAD + SERVE.format(port=4000)
    bench = make_bench({"a/server.py": fixed, "b/server.py": fixed})
    first, second = together(
        bench, ("dev_server_start", {"name": "a"}), ("dev_server_start", {"name": "b"})
    )
    assert first.ok
    assert "Address already in use" in str(second)


@pytest.mark.exhaustive
def test_where_a_port_can_be_chosen_a_free_one_is(make_bench):
    settled = SettledCommand("python -m http.server {port}", "config.toml")
    commands = ProjectCommands(servers={"a": settled, "b": settled})
    bench = make_bench({"a/x.txt": "a", "b/x.txt": "b"}, commands=commands)
    first, second, asked = together(
        bench,
        ("dev_server_start", {"name": "a"}),
        ("dev_server_start", {"name": "b"}),
        ("http_probe", {"url": "http://127.0.0.1:3001/x.txt"}),
    )
    assert (first.data["port"], second.data["port"]) == (3000, 3001)
    assert asked.text.endswith("answered 200\nb")


@pytest.mark.exhaustive
@pytest.mark.parametrize("leave", ["os.fork() and os._exit(0)", "os.setsid()"])
def test_a_server_that_forks_leaves_no_orphan(make_bench, tmp_path, leave):
    daemon = (
        f"{HEAD}os.fork() and os._exit(0)\n{leave}\nsubprocess.Popen(['sleep', '999'])\n{ANY_PORT}"
    )
    (error,) = together(make_bench({"server.py": daemon}), ("dev_server_start",))
    assert "must stay in the foreground" in str(error)
    assert not processes_in(tmp_path)


@pytest.mark.exhaustive
def test_workers_of_a_server_end_with_it(make_bench, tmp_path):
    forks = f"{HEAD}subprocess.Popen(['setsid', 'sleep', '999'])\n{ANY_PORT}"
    seen: list[int] = []
    started, _, stopped = together(
        make_bench({"server.py": forks}),
        ("dev_server_start",),
        lambda: seen.extend(processes_in(tmp_path)),
        ("dev_server_stop", {"name": "web"}),
    )
    assert started.ok and len(seen) >= 2 and stopped.ok
    assert not processes_in(tmp_path)


@pytest.mark.exhaustive
def test_logs_stay_bounded_on_disk_and_in_output(make_bench):
    lines = "[print(n, 'x' * 100) for n in range(100_000)]\nprint('NEEDLE', flush=True)\n"
    loud = f"{HEAD}{lines}{ANY_PORT}"
    bench = make_bench({"server.py": loud})
    started, logs, found = together(
        bench,
        ("dev_server_start",),
        ("dev_server_logs", {"lines": 5_000}),
        ("dev_server_logs", {"q": "needle"}),
    )
    assert started.ok and len(started.text) < 20_000
    assert len(logs.text) <= bench.context.settings.max_text + 200 and logs.cut
    assert found.text == "NEEDLE"
    assert sum(f.stat().st_size for f in bench.context.servers.place.glob("web.*")) <= 8 << 20


def test_stop_without_a_server_is_reported(make_bench):
    nothing, unknown = together(
        make_bench(FILES), ("dev_server_stop",), ("dev_server_stop", {"name": "api"})
    )
    assert nothing.text == "No server of this run is running."
    assert "started no server 'api'" in str(unknown)


def test_missing_server_names_the_setting(make_bench):
    bench = make_bench({"README.md": "x"})
    listed, refused = together(bench, ("dev_server_list",), ("dev_server_start",))
    assert "says how it is served" in listed.text
    assert "server.command" in str(refused)
