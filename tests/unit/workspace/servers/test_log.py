"""A server's log keeps the end of what was printed, and no more than it may."""

from pathlib import Path

from flyball.workspace.servers.server import ServerLog, read_log


def test_the_end_is_kept_within_bounds(tmp_path: Path):
    log = ServerLog(tmp_path / "logs" / "web.log", largest=100)
    for n in range(50):
        log.feed(f"line {n:04}\n")
    log.close()
    text = log.text()
    assert text.endswith("line 0049\n") and "line 0001" not in text
    assert 100 <= len(text) <= 200
    assert log.bytes == 500


def test_one_piece_larger_than_all_that_may_be_kept_keeps_its_end(tmp_path: Path):
    log = ServerLog(tmp_path / "web.log", largest=10)
    log.feed("x" * 50 + "the end")
    log.close()
    assert log.text().endswith("the end") and len(log.text()) <= 20


def test_a_new_start_begins_a_new_log(tmp_path: Path):
    for words in ("first", "second"):
        log = ServerLog(tmp_path / "web.log")
        log.feed(words)
        log.close()
    assert read_log(tmp_path / "web.log") == "second"
    assert read_log(tmp_path / "other.log") == ""
