"""Turning a miss into a sentence that says what to change in the diff."""

from __future__ import annotations

from flyball.patch.lines.text import Text
from flyball.patch.place.locate import Miss
from flyball.patch.read.hunk import Hunk
from flyball.patch.refuse.diagnose import HunkFinding, diagnose, show
from flyball.patch.result import Code, Refusal

_SHOWN = 5


def explain(path: str, hunk: Hunk, miss: Miss, text: Text) -> Refusal:
    """The refusal of one hunk."""
    if miss.code is Code.NO_MATCH:
        finding = diagnose(path, hunk, text)
    else:
        finding = HunkFinding(miss.code, _sentence(hunk, miss))
    return Refusal(
        code=finding.code,
        message=finding.sentence,
        path=path,
        hunk=hunk.number,
        lines=finding.lines or miss.lines,
        nearest=finding.nearest,
        proposal=finding.proposal,
    )


def _sentence(hunk: Hunk, miss: Miss) -> str:
    match miss.code:
        case Code.AMBIGUOUS:
            return (
                f"The text to replace occurs at lines {_list_lines(miss.lines)}. Include more of "
                "the unchanged lines around it, name the function it is in after @@, or state its "
                "line."
            )
        case Code.WEAK_CONTEXT:
            return _weak_sentence(hunk)
        case Code.ALREADY_APPLIED:
            return (
                f"The file already reads as this hunk wants (line {miss.lines[0]}). "
                "Leave the hunk out."
            )
        case Code.TRUNCATED:
            missing = max(hunk.missing)
            return (
                "The diff stops in the middle of it; its header promises "
                f"{missing} more line{'s' * (missing != 1)}. Send it whole."
            )
        case Code.PLACEHOLDER:
            return (
                f"{show(miss.what)} stands for code that is not written out. Write the real "
                "lines, or end the hunk before them and begin another with @@ after them."
            )
        case Code.OFFSET_EXCEEDED:
            return _offset_sentence(miss)
        case _:
            if miss.what:
                return f"It says the same as hunk {miss.lines[0]}. Leave one of them out."
            return (
                f"It changes lines that hunk {miss.lines[0]} also changes or shows as unchanged. "
                "Write the two as one hunk."
            )


def _offset_sentence(miss: Miss) -> str:
    if miss.what:
        side = "above" if miss.what == b"top" else "below"
        return (
            f"By its line number and the missing unchanged lines {side} it belongs at the "
            f"{miss.what.decode()} of the file, but the text is at line {miss.lines[0]}. Correct "
            f"the @@ header's line number, or show three unchanged lines {side} the change."
        )
    lines = f"{abs(miss.offset)} line{'s' * (abs(miss.offset) != 1)}"
    return (
        f"The text is at line {miss.lines[0]}, {lines} from where the @@ header says. Correct "
        "the header's line number, or allow a larger max_offset."
    )


def _weak_sentence(hunk: Hunk) -> str:
    if not hunk.old:
        return (
            "It adds lines without saying where. Put two or three unchanged lines of the file "
            "before and after them."
        )
    return (
        "Its unchanged and removed lines hold too few letters and digits to tell the place. "
        "Include neighbouring lines that do."
    )


def _list_lines(lines: tuple[int, ...]) -> str:
    more = f" and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
    return ", ".join(map(str, lines[:_SHOWN])) + more
