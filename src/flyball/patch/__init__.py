"""EDIT_DIFF: apply unified diffs as models write them, or say exactly why not: `apply_diff`.

A diff goes through four rooms: `read` takes it apart, `place` finds where each hunk belongs,
`refuse` explains what does not fit, `apply` makes the new content; `lines` compares and merges.
Everything is in memory and pure. Why there is no similarity score: docs/decisions/0007.
"""

from flyball.patch.engine import apply_diff, touched_paths
from flyball.patch.lines.compare import unified_diff
from flyball.patch.lines.merge import LineClash, MergedText, merge3
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
