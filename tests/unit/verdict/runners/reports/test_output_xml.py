"""Reports that are made to fill the memory are not read."""

import pytest

from flyball.verdict.runners.reports import output


@pytest.mark.parametrize(
    "data",
    [b"<a>" * 20, b"<a " + b" ".join(b'b%d="1"' % n for n in range(20)) + b"/>", b"<a", b"\xff"],
    ids=["tags", "attributes", "unsound", "noise"],
)
def test_too_much_and_unsound_reports_are_none(monkeypatch, data):
    monkeypatch.setattr(output, "MOST_PARTS", 10)
    assert output.xml_of(data) is None


def test_a_sound_report_is_read(monkeypatch):
    monkeypatch.setattr(output, "MOST_PARTS", 3)
    root = output.xml_of(b"<a b='1'><c/></a>")
    assert root is None
    monkeypatch.setattr(output, "MOST_PARTS", 4)
    root = output.xml_of(b"<a b='1'><c/></a>")
    assert root is not None
    assert root.tag == "a"


def test_a_report_that_is_nested_too_deeply_is_none():
    for levels, is_read in ((output.DEEPEST, True), (output.DEEPEST + 1, False), (100_000, False)):
        root = output.xml_of(b"<a>" * levels + b"</a>" * levels)
        assert (root is not None) is is_read
