"""Read results of an unknown runner: JUnit XML, TAP, or counts in its text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree.ElementTree import Element

from flyball.regex import regex
from flyball.verdict.case import SuiteCase
from flyball.verdict.runners.reports.console import from_text
from flyball.verdict.runners.reports.junit import OPEN, junit, parameters_apart
from flyball.verdict.runners.reports.output import RunnerOutput, xml_of
from flyball.verdict.runners.start_context import StartContext
from flyball.verdict.runners.tally import Tally, tally_of
from flyball.workspace.files.plain import walk_folders

MOST_DOCUMENTS = 500
LOOKED_AT = 50_000
"""The most entries of a tree to search for reports."""
_PASSED_BY = frozenset({"node_modules", ".git", ".venv", "venv"})
_SUITES = ("testsuite", "testsuites")
_PRINTED = regex(r"<(testsuites?)\b.*</\1>", re.S)


def from_unknown(said: RunnerOutput) -> Tally | None:
    """Return every test that a JUnit document names; without one, parse the printed text.

    Text that names every test takes precedence over documents on disk: a suite may write documents
    as part of a test.
    """
    text = from_text(said.tidy)
    if text is not None and text.cases:
        return text
    shown = _PRINTED.search(said.tidy)
    documents = [*said.reports, *([shown[0].encode()] if shown else [])]
    found = [cases for data in documents if (cases := _read(data, said))]
    return tally_of([case for cases in found for case in cases]) if found else text


def _case(element: Element, said: RunnerOutput) -> SuiteCase:
    """Return the identity that most writers of JUnit XML agree on."""
    name, parameters = parameters_apart(element.get("name", ""))
    owner = element.get("classname") or element.get("class") or ""
    file = said.from_place(element.get("file", ""))
    return SuiteCase(name, OPEN, file, (owner,) if owner else (), parameters)


_READ_ANY = junit(_case)


def _read(data: bytes, said: RunnerOutput) -> Sequence[SuiteCase]:
    root = xml_of(data)
    is_suite = root is not None and root.tag in _SUITES
    return (_READ_ANY(data, said) or ()) if is_suite else ()


def documents_left(context: StartContext) -> Sequence[Path]:
    """Return the XML files that this start wrote, wherever its command puts them."""
    began = context.shelf.stat().st_mtime
    found = [path for path in _xml_files(context.workdir) if path.stat().st_mtime >= began]
    return sorted([*context.shelf.glob("report*"), *found])[:MOST_DOCUMENTS]


def _xml_files(top: Path) -> Iterator[Path]:
    seen = 0
    for folder, folders, files in walk_folders(top):
        folders[:] = sorted(set(folders) - _PASSED_BY)
        seen += len(files)
        for name in files:
            path = Path(folder, name)
            if name.endswith(".xml") and path.is_file() and not path.is_symlink():
                yield path
        if seen > LOOKED_AT:
            return
