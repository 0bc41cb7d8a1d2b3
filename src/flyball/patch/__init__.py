"""EDIT_DIFF: apply unified diffs as models write them, or say exactly why not: `apply_diff`.

`parse` splits a diff, `locate` finds the place of each hunk, `apply` inserts it, `revise` does so
for a file with its keep regions (`keep`) and merges drift, `explain` says what does not fit;
`compare` and `merge` work on lines. Everything is in memory and pure. For the reasons against a
similarity score see docs/decisions/0007.
"""

from flyball.patch.compare import compare, keep_ends, unified_diff
from flyball.patch.engine import apply_diff, touched_paths, why_forbidden
from flyball.patch.hunk import Hunk
from flyball.patch.keep import changed_regions, regions
from flyball.patch.merge import LineClash, MergedText, merge3
from flyball.patch.parse import parse
from flyball.patch.result import Change, ChangeType, Code, HunkTaken, PatchResult, Refusal

__all__ = [
    "Change",
    "ChangeType",
    "Code",
    "Hunk",
    "HunkTaken",
    "LineClash",
    "MergedText",
    "PatchResult",
    "Refusal",
    "apply_diff",
    "changed_regions",
    "compare",
    "keep_ends",
    "merge3",
    "parse",
    "regions",
    "touched_paths",
    "unified_diff",
    "why_forbidden",
]
