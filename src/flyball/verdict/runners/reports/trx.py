"""TRX, the results that `dotnet test --logger trx` writes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element

from flyball.verdict.case import CaseOutcome, SuiteCase, number_duplicates
from flyball.verdict.runners.reports.output import RunnerOutput, xml_of

NS = "{http://microsoft.com/schemas/VisualStudio/TeamTest/2010}"
ENDS = {
    "Passed": CaseOutcome.PASSED,
    "PassedButRunAborted": CaseOutcome.ERROR,
    "Failed": CaseOutcome.FAILED,
    "Error": CaseOutcome.ERROR,
    "Aborted": CaseOutcome.ERROR,
    "Timeout": CaseOutcome.ERROR,
}


def from_trx(data: bytes, _said: RunnerOutput) -> Sequence[SuiteCase] | None:
    """Return every result under its class; `NotExecuted` and the like did not run."""
    root = xml_of(data)
    if root is None:
        return None
    owners = {
        definition.get("id", ""): method.get("className", "")
        for definition in root.iter(f"{NS}UnitTest")
        for method in definition.iter(f"{NS}TestMethod")
    }
    return number_duplicates([_case(each, owners) for each in root.iter(f"{NS}UnitTestResult")])


def _case(result: Element, owners: dict[str, str]) -> SuiteCase:
    owner = owners.get(result.get("testId", ""), "").partition(",")[0]
    whole = result.get("testName", "").removeprefix(f"{owner}.")
    name, _, parameters = whole.partition("(")
    texts = [
        part.text or "" for tag in ("Message", "StackTrace") for part in result.iter(f"{NS}{tag}")
    ]
    return SuiteCase(
        name,
        ENDS.get(result.get("outcome", ""), CaseOutcome.SKIPPED),
        suite=(owner,) if owner else (),
        parameters=parameters.removesuffix(")"),
        seconds=_seconds(result.get("duration", "")),
        message="\n".join(texts).strip(),
    )


def _seconds(text: str) -> float:
    found = re.fullmatch(r"(\d+):(\d+):(\d+(?:\.\d+)?)", text)
    return round(int(found[1]) * 3600 + int(found[2]) * 60 + float(found[3]), 6) if found else 0.0
