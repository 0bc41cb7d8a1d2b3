"""A change that anybody made is verified as a governed run's is."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.governed import CART, HOME_TESTS, TESTS, environment, shop
from tests.repos import git, put, repository
from tests.unit.journal.runs import story

from flyball.app.project import open_home
from flyball.app.verifying import refuse_bad_merge, verify_change
from flyball.errors import Conflict, NotFound
from flyball.terms.change_verdict import ChangeStrength, FindingKind
from flyball.terms.progress import Progress

MENDED = CART.replace("result += price", "result += price * quantity")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    shop(tmp_path / "shop")
    return tmp_path


def home(place: Path):
    return open_home(place / "shop", environment(place), {})


@story
async def test_uncommitted_work_is_compared_with_the_commit_it_was_made_on(place: Path):
    put(place / "shop", {"cart.py": MENDED})
    found = await verify_change(home(place), "", "")
    assert found.has_changed
    assert found.head == "working tree"
    assert found.base == git(place / "shop", "rev-parse", "HEAD")[:12]
    assert found.verdict.is_shown


@story
async def test_without_a_change_it_says_what_fails(place: Path):
    found = await verify_change(home(place), "", "")
    assert not found.has_changed
    assert found.verdict.is_unchanged and not found.verdict.findings
    assert [line.run for line in found.verdict.ran] == ["after"]


@pytest.mark.exhaustive
@story
async def test_whoever_waits_hears_what_is_done_how_far_it_is_and_what_it_took(place: Path):
    slow = TESTS.replace("import unittest", "import time\nimport unittest\n\ntime.sleep(3)", 1)
    assert slow != TESTS
    put(place / "shop", {"test_cart.py": slow})
    git(place / "shop", "commit", "-qam", "slow")
    told: list[Progress] = []
    await verify_change(home(place), "", "", told.append)
    assert told and not any(now.before for now in told)
    put(place / "shop", {"cart.py": MENDED})
    told.clear()
    await verify_change(home(place), "", "", told.append)
    whats = " ".join(now.what for now in told)
    assert "the new code" in whats
    assert all(now.before > 3 for now in told)
    assert [now.elapsed for now in told] == sorted(now.elapsed for now in told)


INDEX = """\
import os
import unittest
{more}

class IndexTest(unittest.TestCase):
    def test_index(self):
        self.assertEqual(os.environ["PIP_ADDRESS"], "here")
"""


@story
@pytest.mark.parametrize("near", [False, True])
async def test_old_tests_that_pass_as_the_user_runs_them_are_set_aside(place: Path, near: bool):
    put(place / "shop", {"test_index.py": INDEX.format(more="import cart\n" if near else "")})
    git(place / "shop", "add", "-A")
    git(place / "shop", "commit", "-qm", "index")
    put(place / "shop", {"cart.py": MENDED})
    own = open_home(place / "shop", {**environment(place), "PIP_ADDRESS": "here"}, {})
    found = await verify_change(own, "", "", is_plain_checked=True)
    (told,) = [each for each in found.verdict.findings if each.kind is FindingKind.OLD_FAILURE]
    assert told.tests == ("test_index.py::IndexTest::test_index",)
    assert "the variable PIP_ADDRESS" in told.sentence
    assert found.verdict.status == ("a question" if near else "shown")
    assert not found.verdict.old_failures
    foreign = await verify_change(home(place), "", "", is_plain_checked=True)
    assert foreign.verdict.old_failures == told.tests


@story
async def test_a_red_test_that_the_change_edits_and_leaves_red_is_asked_about(place: Path):
    red = "import unittest\n\n\nclass BoxTest(unittest.TestCase):\n    def test_box(self):\n"
    put(place / "shop", {"test_box.py": red + "        import box\n        assert box.size == 2\n"})
    git(place / "shop", "add", "-A")
    git(place / "shop", "commit", "-qm", "box")
    put(place / "shop", {"test_box.py": red + "        import box\n"})
    found = await verify_change(home(place), "", "")
    assert found.verdict.status == "a question"


@story
async def test_suites_may_write_below_a_home_that_is_not_the_users(place: Path):
    shop_ = place / "shop"
    put(shop_, {"test_cart.py": HOME_TESTS})
    git(shop_, "commit", "-qam", "home")
    put(shop_, {"cart.py": MENDED})
    before = sorted(path.name for path in place.iterdir())
    found = await verify_change(home(place), "", "")
    assert found.verdict.is_shown
    (now,) = [line for line in found.verdict.ran if line.run == "after"]
    assert (now.passed, now.failed) == (3, 0)
    assert {*before, "state"} == {path.name for path in place.iterdir()}


@story
async def test_an_unknown_revision_leaves_nothing_behind(place: Path):
    with pytest.raises(NotFound, match="nowhere"):
        await verify_change(home(place), "nowhere", "")
    assert not list((home(place).state / "verify").glob("*/run"))


@story
async def test_what_lies_in_the_working_tree_is_not_taken_into_the_tree_from_before(place: Path):
    """A new test would otherwise be told as one from before, and an unfinished one as red."""
    old, _, new = TESTS.partition("    def test_three_pens")
    shop = place / "shop"
    put(shop, {"test_cart.py": old})
    git(shop, "commit", "-qam", "begin")
    added = old.partition("    def")[0] + "    def test_three_pens" + new
    put(shop, {"cart.py": MENDED, "test_more.py": added})
    git(shop, "add", ".")
    git(shop, "commit", "-qm", "mend")
    put(shop, {"test_mine.py": "import nothing_of_the_kind\n"})
    found = await verify_change(home(place), "HEAD^", "HEAD")
    assert found.verdict.is_shown
    assert found.verdict.strength is ChangeStrength.NEW_TESTS


def commits(place: Path, files: dict[str, str]) -> tuple[str, str]:
    """The commit before a change and the one with it."""
    repo = place / "shop"
    before = git(repo, "rev-parse", "HEAD").strip()
    put(repo, files)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "change")
    return before, git(repo, "rev-parse", "HEAD").strip()


@pytest.mark.slow
def test_a_merge_that_breaks_a_test_of_the_branch_is_refused_with_its_name(place: Path):
    before, after = commits(place, {"cart.py": CART.replace("result = 0", "result = 1")})
    with pytest.raises(Conflict, match="test_nothing fails") as refused:
        refuse_bad_merge(home(place), before, after)
    assert "--unverified" in refused.value.hint


@pytest.mark.slow
def test_a_merge_that_holds_or_only_leaves_old_failures_is_let_through(place: Path):
    before, after = commits(place, {"cart.py": CART + "# as it was\n"})
    refuse_bad_merge(home(place), before, after)
    before, after = commits(place, {"cart.py": MENDED})
    refuse_bad_merge(home(place), before, after)


@pytest.mark.slow
def test_a_question_that_the_run_put_to_a_person_does_not_stop_the_merge(place: Path):
    old = "    def test_nothing(self):\n        self.assertEqual(total([]), 0)\n\n"
    before, after = commits(place, {"cart.py": MENDED, "test_cart.py": TESTS.replace(old, "")})
    refuse_bad_merge(home(place), before, after)


@story
async def test_a_shallow_clone_is_named_with_the_line_that_fetches_the_rest(place: Path):
    commits(place, {"cart.py": MENDED})
    git(place, "clone", "-q", "--depth=1", f"file://{place / 'shop'}", "thin")
    thin = open_home(place / "thin", environment(place), {})
    with pytest.raises(NotFound) as refused:
        await verify_change(thin, "HEAD^", "HEAD")
    assert "fetch-depth: 0" in refused.value.hint
    # Its only commit compared with itself would be nothing changed, and look well.
    with pytest.raises(NotFound) as refused:
        await verify_change(thin, "", "HEAD")
    assert "fetch-depth: 0" in refused.value.hint


PROGRAMS = """\
echo 1..2
n=0 bad=0
for each in test_sum test_parts; do
  n=$((n + 1))
  if python3 $each.py; then echo "ok $n - $each"; else echo "not ok $n - $each"; bad=1; fi
done
exit $bad
"""
NAMESAKE = """\
def test_sum():
    assert len("ab") == 2

test_sum()
"""


@pytest.mark.slow
@story
async def test_a_test_program_is_altered_and_no_function_of_its_name(place: Path):
    """What still passes because its namesake was altered is not accused."""
    programs = {"run.sh": PROGRAMS, "test_parts.py": NAMESAKE}
    program = "from cart import total\n\nassert total([(2, 3)]) == 6\n"
    (place / "shop" / "test_cart.py").unlink()
    commits(place, {**programs, "test_sum.py": program})
    base, head = commits(place, {"cart.py": MENDED})
    environ = environment(place, FLYBALL_TEST_COMMAND="sh run.sh")
    found = await verify_change(open_home(place / "shop", environ, {}), base, head)
    assert found.verdict.mended == ("test_sum",), found.verdict
    assert found.verdict.is_shown, found.verdict.findings


@story
async def test_tests_that_are_linked_in_from_elsewhere_are_named_as_not_run(place: Path):
    put(place / "elsewhere", {"test_cart.py": TESTS})
    project = home(place)
    (place / "shop" / "test_cart.py").unlink()
    (place / "shop" / "tests").symlink_to("../elsewhere")
    commits(place, {})
    base, head = commits(place, {"cart.py": MENDED})
    found = await verify_change(project, base, head)
    assert not found.verdict.is_shown
    assert any(each.startswith("tests: a link") for each in found.verdict.not_run)


@story
async def test_a_submodule_that_was_moved_and_is_not_here_is_asked_about(place: Path):
    repository(place / "lib", {"lib.py": "x = 1\n"})
    git(place / "shop", "-c", "protocol.file.allow=always", "submodule", "add", "-q", "../lib")
    commits(place, {})
    put(place / "shop" / "lib", {"lib.py": "x = 2\n"})
    git(place / "shop" / "lib", "commit", "-q", "-a", "-m", "two")
    commits(place, {})
    git(place, "clone", "-q", f"file://{place / 'shop'}", "thin")
    thin = open_home(place / "thin", environment(place), {})
    found = await verify_change(thin, "HEAD^", "HEAD")
    (changed,) = found.verdict.changed
    assert changed.startswith("lib (submodule ")
    assert [each.kind for each in found.verdict.questions] == [FindingKind.NOT_EVIDENCE]
    assert found.verdict.ran, "the suite of the part that holds it was to run"
