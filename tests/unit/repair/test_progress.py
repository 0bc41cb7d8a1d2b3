"""How far the program is, told while it works; and its end when the run is to rest."""

import asyncio
import json

import pytest

from flyball.repair.trial import ProgressReport, follow
from flyball.workspace.process.process import Finished

FINISHED = Finished(
    0, None, timed_out=False, output="", cut_bytes=0, bytes=0, elapsed=0.0, log=None, over_limit=""
)


class CallContext:
    """The two things that following needs of a call context."""

    def __init__(self, rests_after=None):
        self.said = []
        self._rests_after = rests_after

    def on_output(self, text):
        self.said.append(text)

    def is_to_rest(self):
        return self._rests_after is not None and len(self.said) >= self._rests_after


def written(file, *lines):
    with file.open("a") as report:
        report.writelines(json.dumps(line) + "\n" for line in lines)


def counted(lines):
    return f"{len(lines)} lines"


def test_whole_lines_are_read_once_and_a_broken_one_is_left_for_later(tmp_path):
    file = tmp_path / "found.jsonl"
    report = ProgressReport(file)
    report.read_more()
    assert report.lines == []
    written(file, {"n": 1})
    with file.open("a") as more:
        more.write('nonsense\n7\n{"n": ')
    report.read_more()
    assert report.lines == [{"n": 1}]
    with file.open("a") as more:
        more.write("2}\n")
    report.read_more()
    assert report.lines == [{"n": 1}, {"n": 2}]


def test_a_report_that_is_a_link_is_not_read(tmp_path):
    written(tmp_path / "elsewhere", {"n": 1})
    (tmp_path / "found.jsonl").symlink_to(tmp_path / "elsewhere")
    report = ProgressReport(tmp_path / "found.jsonl")
    report.read_more()
    assert report.lines == []


def test_progress_and_end_are_reported(tmp_path):
    context = CallContext()

    async def work():
        written(tmp_path / "r", {"n": 1}, {"n": 2})
        return FINISHED

    report = ProgressReport(tmp_path / "r")
    assert asyncio.run(follow(work(), report, context, counted)) is FINISHED
    assert context.said == ["2 lines\n"]


def test_work_is_ended_when_the_run_is_to_rest(tmp_path):
    context = CallContext(rests_after=1)
    ended = []

    async def work():
        written(tmp_path / "r", {"n": 1})
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("ended")
            written(tmp_path / "r", {"n": 2})
        return FINISHED

    report = ProgressReport(tmp_path / "r")
    assert asyncio.run(follow(work(), report, context, counted)) is None
    assert ended == ["ended"]
    assert report.lines == [{"n": 1}, {"n": 2}]


def test_trouble_is_handed_on(tmp_path):
    async def work():
        raise OSError("no")

    with pytest.raises(OSError, match="no"):
        asyncio.run(follow(work(), ProgressReport(tmp_path / "r"), CallContext(), counted))
