"""Parse tests of languages without a grammar, line by line."""

from __future__ import annotations

import re

from flyball.regex import regex
from flyball.verdict.tests._model import Assertion, Reach, Skip, TestCase
from flyball.verdict.tests._text import is_values
from flyball.verdict.tests._tree import Node
from flyball.verdict.tests._words import (
    COMPARISONS,
    EXACT,
    HOLLOW,
    PARTIAL,
    TRUTH,
    canonical,
    strength_of,
)

HEADER = regex(
    r"^[ \t]*(?:@test\s+(?P<bats>\"[^\"]*\"|'[^']*')|(?P<shell>test\w*)\s*\(\)"
    r"|(?:test|it|describe|should)\b[\s(]*(?P<title>\"[^\"]*\"|'[^']*')"
    r"|(?:[\w<>@\[\]]+\s+)*(?:fun|func|def|void|Task|sub|function)\s+(?P<named>`[^`]+`|\w+)\s*[({])",
    re.MULTILINE,
)
ASSERTS = regex(
    r"(?:^|[\s.;&|(!])(?P<name>(?i:assert|refute|expect|check|verify|ensure|should|must|require"
    r"|fail|xctassert)[\w.]*|(?:is|ok|like|isnt)\w*)(?=[\s.(!<\"']|$)"
)
SHELL = regex(
    r"(?:^|[\s;&|(!])(?P<name>\[\[?|test|!|diff|cmp|grep|egrep|run|exit|assert\w*|refute\w*"
    r"|expect\w*|check\w*|verify\w*|fail\w*)(?=[\s(\"']|$)"
)
ROW = regex(r"^\s*[\[@]\s*(?:InlineData|TestCase|DataRow|Arguments|CsvSource|ValueSource)\b.*")
MARK = regex(r"\s*(?:[\[@]|//|#\[).*")
SKIPPED = regex(
    r"^\s*skip\b.*|^\s*exit\s+0\b|^\s*set\s+\+e\b|\bstartSkipping\b|@(?:module|describe)?tag\s+:?"
    r"(?:skip|pending)\b.*|ExUnit\.configure.*exclude|@(?:Disabled|Ignored?|Enabled)\w*"
    r"|\[(?:Ignore|Skip|Explicit)\b|\bSkip\s*=\s*\"|\bAssert\.(?:Ignore|Inconclusive|Pass|Skip)\w*"
    r"|\bXCTSkip\w*|\.disabled\s*\(|\bwithKnownIssue|\b\.\w*[Ii]gnore\b|\bxit\b|\bassumeTrue\b"
    r"|,\s*skip\s*:|\bpending\b"
)
COMMENTED = regex(r"\s*(?:#(?!\[)|//|--|/\*|\*)")


def read_lines(path: str, source: str) -> tuple[TestCase, ...]:
    """Return a case for every header that looks like a test's, or one for the whole file."""
    data = source.encode()
    heads = list(HEADER.finditer(source))
    if not heads:
        return (_case(path, source, "", 0, len(source), data, is_test=True),)
    starts = [_with_marks(source, match.start()) for match in heads]
    ends = [*starts[1:], len(source)]
    cases = [_case(path, source, "", 0, starts[0], data, is_test=False)]
    for match, start, end in zip(heads, starts, ends, strict=True):
        name = next(group for group in match.groups() if group).strip("\"'`")
        is_test = not match["named"] or bool(re.search("(?i)test|should|spec", path + name))
        cases.append(_case(path, source, name, start, end, data, is_test=is_test))
    return tuple(case for case in cases if case.name or case.assertions or case.steps)


def _with_marks(source: str, at: int) -> int:
    """Return the line at which the attributes and annotations above a header begin."""
    while at > 0:
        above = source.rfind("\n", 0, at - 1) + 1
        if not MARK.fullmatch(source[above : at - 1]):
            break
        at = above
    return at


def _case(
    path: str, source: str, name: str, start: int, end: int, data: bytes, *, is_test: bool
) -> TestCase:
    assertions: list[Assertion] = []
    steps: list[str] = []
    skips: list[Skip] = []
    rows: list[str] = []
    is_dead, is_shell = False, bool(re.search(r"\.(?:sh|bash|bats|zsh)$", path))
    text = source[start:end].rstrip()
    at = start
    for number, line in enumerate(text.split("\n")):
        begin = len(source[:at].encode())
        at += len(line) + 1
        head = HEADER.match(line) if name and name in line else None
        line = line[head.end() :] if head else line
        if COMMENTED.match(line) or not re.search(r"\w|\[", line) or _only_opens(line, head):
            continue
        if skip := SKIPPED.search(line):
            skips.append(Skip(re.sub(r"\s+", "", skip[0]), number + 1))
        if ROW.match(line):
            rows.append(re.sub(r"\s+", "", line))
            continue
        is_dead = (is_dead or bool(re.match(r"\s*if false\b", line))) and line.strip() != "fi"
        found = (SHELL if is_shell else ASSERTS).search(line)
        if found is None:
            steps.append(re.sub(r"\s+", " ", line.strip()))
            continue
        node = Node(data, "line", begin, begin + len(line.encode()))
        one = _assertion(found["name"], line.strip(), node)
        assertions.append(one._replace(reach=Reach.DEAD) if is_dead else one)
    first = source.count("\n", 0, start) + 1
    return TestCase(
        path, (), name, text, first, first + text.count("\n"), tuple(assertions), tuple(rows),
        tuple(skips), tuple(steps), frozenset(re.findall(r"\b(\w+)\s*\(", text)), is_test,
    )  # fmt: skip


def _only_opens(line: str, head: re.Match[str] | None) -> bool:
    return head is not None and not ASSERTS.search(line)


COMPARED = regex(r"(?<![=!<>~-])(?P<op>===?|!==?|<=|>=|<|>)(?![=>~])")


def _assertion(name: str, line: str, node: Node) -> Assertion:
    """Return the assertion in a line: a comparison, or its words before the last value, and the
    value."""
    said = re.sub(r"\s+", " ", line)
    compared = COMPARED.search(VALUE.sub("", said)) if not _is_shell_word(name) else None
    if compared is not None and (found := COMPARED.search(said)):
        left, right = said[: found.start()].strip(), said[found.end() :].strip()
        word, _, left = left.partition(name)
        left, right = left.strip(" ("), right.rstrip(";")
        right = right.removesuffix(")") if right.count(")") > right.count("(") else right
        if is_values(left) and not is_values(right):
            left, right = right, left
        op = found["op"].replace("===", "==").replace("!==", "!=")
        return Assertion(op, word + left, (right,), COMPARISONS[op], "line", node)
    words = re.findall(r"\.(\w+)\s*\(", said)
    is_chain = name.lower().startswith(("should", "expect", "assertthat"))
    name = words[-1] if words and is_chain else name.rpartition(".")[2] or name
    strength = _strength_of_shell(said) if _is_shell_word(name) else strength_of(name)
    found_values = list(VALUE.finditer(said))
    if not found_values:
        return Assertion(canonical(name), said, (), strength, "line", node)
    last = found_values[-1]
    subject = said[: last.start()] + said[last.end() :]
    subject = subject.replace(name, "") if not _is_shell_word(name) else subject
    return Assertion(canonical(name), subject, (last[0],), strength, "line", node)


def _is_shell_word(name: str) -> bool:
    return name in ("[", "[[", "test", "diff", "cmp", "grep", "egrep", "run", "exit", "!")


VALUE = regex(r"\"(?:\\.|[^\"\\])*\"|'[^']*'|(?<![\w.$])-?\d[\w.]*|\b(?:true|false|null|nil)\b")


def _strength_of_shell(said: str) -> int:
    if re.search(r"\|\|\s*(?:true|:)\s*$", said):
        return HOLLOW
    if re.search(r"\s==?\s|-eq\b|\bdiff\b|\bcmp\b", said):
        return EXACT
    return PARTIAL if re.search(r"=~|grep|-[gl][te]\b", said) else TRUTH
