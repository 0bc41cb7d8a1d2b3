import msgspec
import pytest

from flyball.terms.evidence import Strength
from flyball.terms.evidence_rows import strength
from flyball.workspace.process.process import CommandLimits


def test_a_command_runs_in_the_workspace(make_bench):
    bench = make_bench({"a.txt": "hello\n"})
    result = bench.do("bash", cmd="cat a.txt; echo more >&2; exit 3")
    assert not result.ok
    assert result.text == "$ cat a.txt; echo more >&2; exit 3\nhello\nmore\n[exit 3]"
    assert result.data == {"exit_code": 3}
    assert result.evidence == ()


def test_a_command_that_only_reads_cannot_write(make_bench):
    bench = make_bench()
    context = bench.context
    sandbox = msgspec.structs.replace(context.sandbox_in(context.root), read_only=True)
    bench.context = context._replace(sandbox_in=lambda _root: sandbox)
    result = bench.do("bash", cmd="echo x > planted; cat README.md")
    assert "hello" in result.text
    assert not (bench.root / "planted").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cmd", "is_verification", "nothing", "proves"),
    [
        ("ls", None, None, None),
        ("touch x", None, None, None),
        ("python3 -m pytest -q test_a.py", True, "", Strength.CHECKED),
        ("python3 -m unittest", True, "no test ran", Strength.NOTHING),
        ("true", False, "`true` always succeeds", Strength.NOTHING),
        (
            "python3 -m pytest -q || true",
            True,
            "turns every failure into success",
            Strength.NOTHING,
        ),
    ],
)
def test_only_a_real_verification_is_evidence(make_bench, cmd, is_verification, nothing, proves):
    result = make_bench({"test_a.py": "def test_a(): pass\n"}).do("bash", cmd=cmd)
    if is_verification is None:
        assert result.evidence == ()
        return
    (report,) = result.evidence
    assert report.verification is is_verification
    assert nothing in report.proves_nothing
    assert bool(nothing) is bool(report.proves_nothing)
    assert strength(report) is proves


def test_output_is_bounded_and_the_rest_can_be_read(make_bench):
    bench = make_bench(max_text=1_000)
    result = bench.do("bash", cmd="seq 1 5000")
    assert len(result.text) < 1_300
    assert result.cut
    assert bench.context.log_name in result.text
    assert "\t2500" in bench.do("read", path=bench.context.log_name, offset=2_500, limit=1).text


def test_a_command_past_its_limit_is_ended(make_bench):
    result = make_bench(limits=CommandLimits(seconds=1)).do("bash", cmd="sleep 60")
    assert "past its limit (seconds)" in result.text
    assert not result.ok


def test_what_only_varies_in_time_is_the_same(make_bench):
    bench = make_bench()
    one = bench.do("bash", cmd="echo done in 1.5s")
    assert bench.do("bash", cmd="echo done in 2.5s").same == one.same
    assert bench.do("bash", cmd="echo undone in 2.5s").same != one.same


@pytest.mark.parametrize(
    ("cmd", "named"),
    [
        ("rm mine.txt", ["mine.txt"]),
        ("cd my && rm 'a day'", ["my/a day"]),
        ("rm -rf my", ["my/a day"]),
        ("rm m*.txt", ["mine.txt"]),
        ("cat mine.txt > out.txt", []),
        ("cat mine.txt", []),
        ("rm gone.txt", []),
        ("echo 'it isn't closed", []),
    ],
)
def test_the_users_untracked_files_that_a_command_names_are_facts(make_bench, cmd, named):
    theirs = {"mine.txt": "work\n", "my/a day": "x\n", "gone.txt": "y\n"}
    bench = make_bench({"a.py": "x\n"}, ignored=theirs)
    (bench.root / "gone.txt").unlink()
    facts = bench.call("bash", cmd=cmd).paths
    assert [fact.path for fact in facts] == named
    assert all(fact.write and fact.untracked for fact in facts)
