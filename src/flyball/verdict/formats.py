"""Write a verdict for programs: a forge's annotations, JUnit, SARIF, Markdown.

All formats show the lines of `words.py` and the findings unchanged; nothing is decided here.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import quote
from xml.etree import ElementTree

from flyball.regex import regex
from flyball.terms.change_verdict import (
    ChangeFinding,
    ChangeVerdict,
    FindingKind,
    VerdictStatus,
    Weight,
)
from flyball.verdict.reports import file_of
from flyball.verdict.words import verdict_lines

IsFile = Callable[[str], bool]
"""Whether a path of the repository is a file of it."""

_LEVELS = {Weight.BLOCKS: "error", Weight.ASKS: "warning", Weight.NOTES: "note"}
_COMMANDS = {Weight.BLOCKS: "error", Weight.ASKS: "warning", Weight.NOTES: "notice"}
_PLACE = regex(r"([^\s:]+\.\w+):(\d+)\b")
_NO_XML = regex(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Place(NamedTuple):
    """The position that a finding refers to."""

    file: str
    line: int = 0


def place_of(finding: ChangeFinding, is_file: IsFile) -> Place | None:
    """Return the line that a finding names, or else the file of the first test that it names."""
    for file, line in _PLACE.findall(finding.sentence):
        if is_file(path := file.removeprefix("./")):
            return Place(path, int(line))
    words = [file_of(test) for test in finding.tests] + finding.sentence.split()
    named = (word.strip("`,;:.()") for word in words)
    return next((Place(word) for word in named if word and is_file(word)), None)


def markdown(verdict: ChangeVerdict, title: str) -> str:
    """Write a verdict as a comment: a heading, the facts, the texts of every question."""
    first, *lines = verdict_lines(verdict)
    if verdict.is_unchanged:
        first = first[:1].upper() + first[1:]
        return "\n".join([f"### {first}\n\n`{title}`\n", *(f"- {line}" for line in lines)])
    said = first.removeprefix(f"{verdict.status}: ")
    head = f"### {verdict.status.capitalize()}: {said}\n\n`{title}`\n\n"
    texts = [
        f"<details><summary>{each.sentence}</summary>\n\n"
        f"{_fenced(each.before)}\n\n{_fenced(each.after)}\n\n</details>\n"
        for each in verdict.questions
        if each.before or each.after
    ]
    return head + "\n".join([*(f"- {line}" for line in lines), *(f"\n{each}" for each in texts)])


def _fenced(text: str) -> str:
    """Put a text between fences longer than any within it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"


def workflow_commands(verdict: ChangeVerdict, is_file: IsFile) -> Iterator[str]:
    """Yield GitHub's workflow commands: an error, a warning or a notice for each finding."""
    if verdict.is_unchanged:
        if verdict.old_failures:
            yield f"::notice title=flyball::{as_data(verdict.headline)}"
        return
    if verdict.status is VerdictStatus.NOT_SHOWN and not verdict.blocking:
        said = ". ".join(filter(None, (verdict.headline, verdict.missing_reason)))
        yield f"::error title=flyball%3A not shown::{as_data(said)}"
    for each in verdict.findings:
        place = place_of(each, is_file)
        keys = [f"title=flyball%3A {_property(each.kind.replace('-', ' '))}"]
        if place is not None:
            keys.insert(0, f"file={_property(place.file)}")
            keys[1:1] = [f"line={place.line}"] if place.line else []
        yield f"::{_COMMANDS[each.weight]} {','.join(keys)}::{as_data(each.sentence)}"


def as_data(text: str) -> str:
    """Escape a text as the data of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return as_data(text).replace(":", "%3A").replace(",", "%2C")


def junit(verdict: ChangeVerdict) -> str:
    """Write a verdict as a JUnit report, with a case for the verdict, each repaired test and each
    finding.

    A question is a failure, as in the exit code; tests that were red before are skipped.
    """
    top = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(top, "testsuite", name="flyball verify")
    whole = _case(suite, "flyball", "verdict")
    if verdict.status is not VerdictStatus.SHOWN and not verdict.is_unchanged:
        lines = "\n".join(verdict_lines(verdict))
        _say(whole, "failure", verdict.headline, str(verdict.status), lines)
    ElementTree.SubElement(whole, "system-out").text = _xml("\n".join(verdict_lines(verdict)))
    for name in verdict.mended:
        _case(suite, "red → green", name)
    for each in verdict.findings:
        case = _case(suite, str(each.kind), each.tests[0] if each.tests else each.sentence)
        if each.weight is not Weight.NOTES:
            _say(case, "failure", each.sentence, _LEVELS[each.weight], _with_texts(each))
        elif each.kind is FindingKind.OLD_FAILURE:
            _say(case, "skipped", each.sentence)
    counts = {"tests": "testcase", "failures": "testcase/failure", "skipped": "testcase/skipped"}
    for name, path in counts.items():
        suite.set(name, str(len(suite.findall(path))))
    suite.set("errors", "0")
    suite.set("time", f"{sum(line.elapsed for line in verdict.ran):.3f}")
    for name in ("tests", "failures", "errors", "time"):
        top.set(name, suite.get(name, ""))
    return ElementTree.tostring(top, encoding="unicode", xml_declaration=True) + "\n"


def _case(suite: ElementTree.Element, kind: str, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(suite, "testcase", classname=kind, name=_xml(name), time="0")


def _say(case: ElementTree.Element, tag: str, message: str, kind: str = "", text: str = "") -> None:
    keys = {"message": _xml(message)} | ({"type": kind} if kind else {})
    # Some viewers show the attribute and others the text, so both say it.
    ElementTree.SubElement(case, tag, keys).text = _xml(text or message)


def _with_texts(finding: ChangeFinding) -> str:
    """Return the text of a finding, with the test before and after if it has both."""
    texts = (("before", finding.before), ("now", finding.after))
    return "\n\n".join([finding.sentence, *(f"{name}:\n{text}" for name, text in texts if text)])


def _xml(text: str) -> str:
    """Remove characters that XML does not allow, such as a terminal's colours."""
    return _NO_XML.sub("", text)


def sarif(verdict: ChangeVerdict, is_file: IsFile, version: str) -> str:
    """Write the findings of a verdict as SARIF 2.1.0, for tools that show alerts next to code.

    Each finding has a location, since forges refuse alerts without one: if it names none, the first
    file of the change is used.
    """
    near = next((Place(path) for path in verdict.changed if is_file(path)), None)
    found = [_result(each, place_of(each, is_file) or near) for each in verdict.findings]
    kinds = {str(each.kind): each.kind.in_words for each in verdict.findings}
    if verdict.missing_reason:
        kinds[LACK] = "nothing shows that the change works"
        found.append(_alert(LACK, "error", verdict.missing_reason, near))
    run = {
        "tool": {
            "driver": {
                "name": "flyball verify",
                "version": version,
                "rules": [_rule(kind, said) for kind, said in kinds.items()],
            }
        },
        "results": found,
        "invocations": [{"executionSuccessful": True}],
        "properties": {"status": verdict.status, "label": verdict.headline},
    }
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    document = {"$schema": schema, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


LACK = "unverified"
"""The rule of an alert where nothing speaks for the change, and nothing against it."""


def _rule(kind: str, said: str) -> dict[str, object]:
    text = {"text": f"{said[:1].upper()}{said[1:]}."}
    name = kind.title().replace("-", "")
    return {"id": kind, "name": name, "shortDescription": text, "fullDescription": text}


def _result(finding: ChangeFinding, place: Place | None) -> dict[str, object]:
    return _alert(
        str(finding.kind), _LEVELS[finding.weight], _with_texts(finding), place, finding.tests
    )


def _alert(
    rule: str, level: str, text: str, place: Place | None, tests: Sequence[str] = ()
) -> dict[str, object]:
    # What makes it the same alert on the next commit: its rule and its tests, not its words.
    same = hashlib.sha256("\n".join((rule, *(tests or [text]))).encode()).hexdigest()[:32]
    found: dict[str, object] = {
        "ruleId": rule,
        "level": level,
        "message": {"text": text},
        "partialFingerprints": {"flyballFinding/v1": same},
    }
    if place:
        # An alert without a line is refused by what shows them.
        region = {"startLine": place.line or 1}
        at = {"artifactLocation": {"uri": quote(place.file)}, "region": region}
        found["locations"] = [{"physicalLocation": at}]
    return found
