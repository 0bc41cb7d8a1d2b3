import asyncio
import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from flyball.errors import OutsideWorkspace, ToolError, ToolUnavailable
from flyball.workspace.process import process
from flyball.workspace.process.process import CommandLimits
from flyball.workspace.redaction import Redactor
from flyball.workspace.sandbox import environment
from flyball.workspace.sandbox.confinement import Mechanism, Sandbox, SandboxLevel

MEANS = [means for means in Mechanism if process.works(means)]
ENV = environment.clean(os.environ)
DAEMON = (
    "setsid sh -c '(exec 9>alive; flock 9; : > ready; sleep 300) &' ;"
    " until [ -e ready ]; do sleep 0.01; done;"
)


@pytest.fixture
def root(tmp_path):
    place = tmp_path / "workspace"
    place.mkdir()
    return place


def run(command, root, *, means=Mechanism.NONE, limits=None, **options):
    sandbox = Sandbox(level=means.level, root=root, mechanism=means)
    asking = process.run(command, cwd=root, env=ENV, sandbox=sandbox, limits=limits, **options)
    return asyncio.run(asking)


def is_free(path):
    """Whether every process that locked the file is gone."""
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


@pytest.mark.parametrize("means", MEANS)
def test_a_command_runs_and_its_output_and_exit_code_come_back(root, means):
    end = run("echo out; echo err >&2; exit 3", root, means=means)
    assert (end.exit_code, end.signal, end.ok) == (3, None, False)
    assert end.output == "out\nerr\n"
    assert (end.bytes, end.cut_bytes, end.over_limit) == (8, 0, "")


def test_a_list_is_not_given_to_a_shell(root):
    end = run([sys.executable, "-c", "import sys; print(sys.argv[1:])", "$HOME; ls"], root)
    assert end.output == "['$HOME; ls']\n"


def test_signal_differs_from_an_exit_code(root):
    end = run("kill -SEGV $$", root)
    assert (end.exit_code, end.signal) == (None, signal.SIGSEGV)


def test_input_is_nothing_unless_given(root):
    assert run("cat; echo end", root).output == "end\n"
    assert run("cat", root, stdin=b"given\n" * 50_000).bytes == 300_000


def test_a_broken_pipe_ends_a_program_quietly(root):
    end = run("yes | head -1", root)
    assert end.output == "y\n"


def test_no_handle_of_ours_is_inherited(root):
    with (root / "held").open("w") as held:
        os.set_inheritable(held.fileno(), True)
        end = run("ls -l /proc/self/fd", root)
    assert "held" not in end.output
    numbers = {line.split()[-3] for line in end.output.splitlines() if "->" in line}
    assert numbers <= {"0", "1", "2", "3"}


def test_there_is_no_terminal_and_the_session_is_its_own(root):
    end = run("tty; ps -o sid= -p $$", root)
    assert "not a tty" in end.output
    assert int(end.output.split()[-1]) != os.getsid(0)


@pytest.mark.parametrize("means", MEANS)
def test_a_command_that_takes_too_long_is_ended_with_all_its_daemons(root, means):
    # On a busy machine the first limits may pass before the daemon is there.
    for seconds in (1, 10, 100):
        limits = CommandLimits(seconds=seconds)
        end = run(DAEMON + "sleep 300", root, means=means, limits=limits)
        if (root / "ready").exists():
            break
    assert end.timed_out
    assert (end.exit_code, end.over_limit) == (None, "seconds")
    assert end.elapsed < 200
    assert is_free(root / "alive")


@pytest.mark.parametrize("means", MEANS)
def test_a_daemon_does_not_outlive_its_command(root, means):
    end = run(DAEMON + "echo done", root, means=means)
    assert (end.exit_code, end.output) == (0, "done\n")
    assert is_free(root / "alive")


def test_a_process_that_ignores_signals_is_ended_too(root):
    end = run("trap '' TERM INT HUP; sleep 300 & wait", root, limits=CommandLimits(seconds=0.5))
    assert end.timed_out
    assert end.elapsed < 200


def test_output_past_its_limit_ends_the_command(root):
    end = run("yes", root, limits=CommandLimits(output=1 << 20, kept=1000))
    assert end.over_limit == "output"
    assert end.bytes >= 1 << 20
    assert len(end.output) < 1200


def test_memory_past_its_limit_ends_the_command(root):
    hog = "import time; b = [bytearray(1 << 24) for _ in range(20)]; time.sleep(60)"
    many = f"for i in 1 2 3; do {sys.executable} -c '{hog}' & done; wait"
    end = run(many, root, limits=CommandLimits(memory=1 << 29))
    assert end.over_limit == "memory"


def test_one_process_cannot_allocate_past_the_limit(root):
    end = run(
        [sys.executable, "-c", "bytearray(1 << 30)"], root, limits=CommandLimits(memory=1 << 28)
    )
    assert "MemoryError" in end.output


def test_too_many_processes_end_the_command(root):
    end = run("while :; do sleep 60 & done", root, limits=CommandLimits(processes=40, seconds=60))
    assert end.over_limit == "processes" or "Resource temporarily unavailable" in end.output


def test_long_output_keeps_both_ends_and_the_log_keeps_all(root, tmp_path):
    log = tmp_path / "logs" / "one.log"
    end = run("seq 1 50000", root, limits=CommandLimits(kept=1000), log=log)
    assert end.output.startswith("1\n2\n")
    assert end.output.endswith("49999\n50000\n")
    assert f"{end.cut_bytes} bytes left out; the whole is in {log}" in end.output
    assert end.cut_bytes == end.bytes - 1000
    assert log.read_text() == "".join(f"{n}\n" for n in range(1, 50001))


def test_a_log_that_cannot_be_kept_loses_only_the_log(root):
    end = run("echo result", root, log=Path("/dev/full"))
    assert end.ok
    assert end.output.startswith("result\n")
    assert "could not be kept: No space left on device" in end.output
    assert end.log is None


def test_output_is_streamed_while_the_command_runs(root):
    heard = []
    run("echo one; echo two", root, on_output=heard.append)
    assert "".join(heard) == "one\ntwo\n"


def test_secrets_reach_neither_output_log_nor_stream(root, tmp_path):
    heard = []
    log = tmp_path / "one.log"
    end = run(
        "printf 'my sup3r'; printf 's3cret here\\n'",
        root,
        log=log,
        on_output=heard.append,
        redactor=Redactor(["sup3rs3cret"]),
    )
    assert end.output == log.read_text() == "".join(heard) == "my [redacted] here\n"


def test_bytes_that_are_not_text_do_no_harm(root):
    end = run(r"printf '\xff\xfe\x00ok\n'", root)
    assert end.output.endswith("ok\n")


@pytest.mark.parametrize("means", MEANS)
def test_a_program_that_is_not_there_is_named(root, means):
    with pytest.raises(ToolUnavailable, match="no program 'no-such-program'"):
        run(["no-such-program"], root, means=means)


def test_a_directory_that_is_outside_or_missing_is_refused(root, tmp_path):
    sandbox = Sandbox(level=SandboxLevel.NONE, root=root)
    for cwd, error in ((tmp_path, OutsideWorkspace), (root / "gone", ToolError)):
        with pytest.raises(error):
            asyncio.run(process.run("true", cwd=cwd, env=ENV, sandbox=sandbox))
    (root / "link").symlink_to(tmp_path)
    with pytest.raises(OutsideWorkspace):
        asyncio.run(process.run("true", cwd=root / "link", env=ENV, sandbox=sandbox))


@pytest.mark.parametrize("means", MEANS)
def test_home_and_temporary_directory_are_private_and_gone_afterwards(root, means):
    end = run("echo $HOME $TMPDIR; touch $HOME/a $TMPDIR/b", root, means=means)
    home, scratch = map(Path, end.output.split())
    assert end.ok
    assert end.strays == ("a",)
    assert not home.exists()
    assert not scratch.exists()


def test_a_private_directory_can_be_kept_between_commands(root, tmp_path):
    sandbox = Sandbox(level=SandboxLevel.NONE, root=root, private=tmp_path / "private")

    async def both():
        await process.run("echo x > $HOME/kept", cwd=root, env=ENV, sandbox=sandbox)
        return await process.run("cat $HOME/kept", cwd=root, env=ENV, sandbox=sandbox)

    end = asyncio.run(both())
    assert (end.output, end.strays) == ("x\n", ())


@pytest.mark.parametrize("means", MEANS)
def test_cancelling_leaves_no_orphans(root, means):
    sandbox = Sandbox(level=means.level, root=root, mechanism=means)

    async def cancel():
        ready = asyncio.Event()
        task = asyncio.create_task(
            process.run(
                DAEMON + "echo up; sleep 300",
                cwd=root,
                env=ENV,
                sandbox=sandbox,
                on_output=lambda _: ready.set(),
            )
        )
        await ready.wait()
        assert not is_free(root / "alive")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert is_free(root / "alive")


@pytest.mark.parametrize("means", MEANS)
def test_killing_the_governor_itself_leaves_no_orphans(root, means):
    script = f"""
import asyncio, os, pathlib
from flyball.workspace.process import process
from flyball.workspace.sandbox import environment
from flyball.workspace.sandbox.confinement import Mechanism, Sandbox
means = Mechanism({str(means)!r})
root = pathlib.Path({str(root)!r})
sandbox = Sandbox(level=means.level, root=root, mechanism=means)
end_us = lambda _: os.kill(os.getpid(), 9)
asyncio.run(process.run({DAEMON + "echo up; sleep 300"!r}, cwd=root,
    env=environment.clean(os.environ), sandbox=sandbox, on_output=end_us))
"""
    ended = subprocess.run([sys.executable, "-c", script], timeout=600)
    assert ended.returncode == -signal.SIGKILL
    with (root / "alive").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)


def test_a_started_command_can_be_watched_and_stopped(root):
    sandbox = Sandbox(level=SandboxLevel.NONE, root=root)

    async def serve():
        ready = asyncio.Event()
        running = process.start(
            "echo serving; sleep 300",
            cwd=root,
            env=ENV,
            sandbox=sandbox,
            on_output=lambda _: ready.set(),
        )
        await ready.wait()
        assert running.text == "serving\n"
        assert not running.is_over
        end = running.stop()
        assert running.is_over
        assert running.stop() is end
        assert await running.wait() is end
        return end

    end = asyncio.run(serve())
    assert end.output == "serving\n"
    assert end.exit_code is None


def test_many_commands_run_side_by_side(root):
    sandbox = Sandbox(level=SandboxLevel.NONE, root=root)

    async def many():
        return await asyncio.gather(
            *(process.run(f"echo {n}", cwd=root, env=ENV, sandbox=sandbox) for n in range(8))
        )

    assert [end.output for end in asyncio.run(many())] == [f"{n}\n" for n in range(8)]


def test_no_handle_leaks_over_many_commands(root):
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        run("true", root)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_level_that_cannot_be_had_is_refused_and_nothing_runs(root):
    sandbox = Sandbox(level=SandboxLevel.KERNEL, root=root, mechanism=Mechanism.NONE)
    with pytest.raises(ToolUnavailable, match="cannot confine a command at level kernel"):
        asyncio.run(process.run("touch ran", cwd=root, env=ENV, sandbox=sandbox))
    assert not (root / "ran").exists()


@pytest.mark.parametrize("planted", ["logs", "logs/one.log"])
def test_a_log_is_not_written_through_a_link_planted_in_the_workspace(root, tmp_path, planted):
    (tmp_path / "canary").write_text("alive")
    if planted == "logs":
        (root / "logs").symlink_to(tmp_path)
    else:
        (root / "logs").mkdir()
        (root / planted).symlink_to(tmp_path / "canary")
    with pytest.raises(OutsideWorkspace, match="there is a link in its path"):
        run("echo dead", root, log=root / "logs" / "one.log")
    assert (tmp_path / "canary").read_text() == "alive"
    assert not (tmp_path / "one.log").exists()


def test_a_nul_character_is_refused(root):
    with pytest.raises(ToolError, match="NUL"):
        run("echo a\0b", root)


@pytest.mark.parametrize("means", MEANS)
def test_links_planted_in_a_kept_private_directory_lead_nowhere(root, tmp_path, means):
    """The first command aims the next one's HOME, TMPDIR and mount points at the user's files."""
    real = tmp_path / "real-home"
    (real / ".rustup").mkdir(parents=True)
    target = tmp_path / "target"
    target.mkdir()
    sandbox = Sandbox(
        level=means.level, root=root, mechanism=means, home=real, private=tmp_path / "private"
    )
    plant = (
        f"cd $HOME; rm -rf .rustup; ln -s {target} .rustup; ln -s {target}/made .cargo; cd ..;"
        f" mv home gone; ln -s {target} home; rm -rf tmp; ln -s {target} tmp; ls -la"
    )
    strike = f"echo x > $HOME/pwned; echo x > $TMPDIR/pwned; echo x > {real}/.rustup/pwned; id"

    async def both():
        await process.run(plant, cwd=root, env=ENV, sandbox=sandbox)
        return await process.run(strike, cwd=root, env=ENV, sandbox=sandbox)

    if means is Mechanism.NONE:
        asyncio.run(both())
        assert (target / "pwned").exists()
    else:
        assert "uid=" in asyncio.run(both()).output
        assert list(target.iterdir()) == []
        assert list(real.rglob("*")) == [real / ".rustup"]


@pytest.mark.parametrize("means", [m for m in MEANS if m is not Mechanism.NONE])
def test_a_workspace_that_holds_the_home_is_refused(root, means):
    sandbox = Sandbox(level=means.level, root=root, mechanism=means, home=root)
    with pytest.raises(ToolUnavailable, match="holds the whole home"):
        asyncio.run(process.run("touch ran", cwd=root, env=ENV, sandbox=sandbox))
    assert not (root / "ran").exists()


def test_a_confinement_that_fails_half_way_runs_nothing(root, tmp_path):
    """A private directory whose stage is a file: the new root cannot be put in place."""
    private = tmp_path / "private"
    for name in ("home", "tmp"):
        (private / name).mkdir(parents=True)
    (private / "stage").symlink_to("/proc/self/no-such-place")
    sandbox = Sandbox(
        level=SandboxLevel.NAMESPACES, root=root, private=private, mechanism=Mechanism.NAMESPACES
    )
    with pytest.raises(ToolError):
        asyncio.run(process.run("touch ran", cwd=root, env=ENV, sandbox=sandbox))
    assert not (root / "ran").exists()
