"""A gate of your own: a function from evidence to a verdict. "No evidence" is not "failed"."""

from flyball.plan.verdict import Failed, Missing, Passed
from flyball.terms.evidence import DiffReport, Evidence, FileChange

Answer = Passed | Failed | Missing


def one_folder(evidence: list[Evidence], tree: str) -> Answer:
    """Every changed file lies in one folder."""
    report = next((e for e in reversed(evidence) if isinstance(e, DiffReport)), None)
    if report is None or report.tree != tree:
        return Missing("a diff of the current tree")
    folders = {each.path.rpartition("/")[0] for each in report.files}
    if len(folders) > 1:
        return Failed(f"{len(folders)} folders changed; only one may.")
    return Passed("All changed files lie in one folder.")


def seen(*paths: str, tree: str = "t1") -> list[Evidence]:
    """What Flyball would have observed of a change to these files."""
    files = tuple(FileChange(path, "modified", 1, 1) for path in paths)
    return [DiffReport(id="e1", tree=tree, base="t0", files=files)]


for title, evidence in (
    ("nothing was looked at", []),
    ("an older tree", seen("src/a.py", tree="t0")),
    ("two folders", seen("src/a.py", "docs/a.md")),
    ("one folder", seen("src/a.py", "src/b.py")),
):
    print(f"{title}: {one_folder(evidence, 't1')}")
