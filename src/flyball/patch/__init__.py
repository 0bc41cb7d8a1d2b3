"""EDIT_DIFF: apply unified diffs as models write them, or say exactly why not."""

from flyball.patch.engine import apply_diff, touched_paths
from flyball.patch.lines.merge import LineClash, MergedText, merge3
from flyball.patch.lines.unified import unified_diff
from flyball.patch.result import Change, ChangeType, Code, HunkTaken, PatchResult, Refusal

__all__ = [
    "Change",
    "ChangeType",
    "Code",
    "HunkTaken",
    "LineClash",
    "MergedText",
    "PatchResult",
    "Refusal",
    "apply_diff",
    "merge3",
    "touched_paths",
    "unified_diff",
]
