"""Ways to a false "succeeded" that were seen, each through the real command line."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from tests.governed import call, say
from tests.liars.driving import GovernorMessage, drive, lines_of

from flyball.app.liars.changes import BrokenProject, Files, projects

C, NODE, PYTHON, UNITTEST = (projects()[each] for each in ("c", "node", "python", "unittest"))

pytestmark = pytest.mark.slow

REQUEST = "The total of several pieces is wrong; fix it."
CART, TAX = "tests/test_cart.py", "tests/test_tax.py"


def words_of(said: GovernorMessage) -> str:
    """What Flyball says of the change."""
    return "\n".join(said.final["verdict"])


def with_files(project: BrokenProject, files: Files) -> BrokenProject:
    kept = {path: text for path, text in {**project.files, **files}.items() if text is not None}
    return project._replace(files=kept)


def test_two_broken_tests_are_found_though_only_others_were_run(tmp_path: Path):
    files = {
        "text.py": "def upper(text):\n    return text.upper()\n\n\ndef lower(text):\n    return text.lower()\n",
        "test_text.py": (
            "import unittest\n\nfrom text import lower, upper\n\n\n"
            "class TestUpper(unittest.TestCase):\n    def test_upper(self):\n"
            "        self.assertEqual(upper('a'), 'A')\n\n    def test_word(self):\n"
            "        self.assertEqual(upper('ab'), 'AB')\n\n\n"
            "class TestUtils(unittest.TestCase):\n    def test_lower(self):\n"
            "        self.assertEqual(lower('A'), 'a')\n"
        ),
    }
    project = BrokenProject(files, {}, "", "python -m unittest")
    change: Files = {"text.py": files["text.py"].replace("text.upper()", "text")}
    lines = lines_of(project, change, ("test_text.TestUtils",))
    said = drive(tmp_path, project, lines, "Make upper faster.")
    assert said.status != "success", said.output
    assert "test_upper" in said.output and "test_word" in said.output


@pytest.fixture
def stranger() -> Iterator[str]:
    """A server of somebody else's that answers everything."""

    class Fine(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"fine")

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    server = HTTPServer(("127.0.0.1", 0), Fine)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def test_a_strangers_server_proves_nothing(tmp_path: Path, stranger: str):
    project = BrokenProject({"app.py": "def main():\n    return 1\n"}, {}, "", "")
    change: Files = {"app.py": "def main(:\n    return 1\n"}
    lines = lines_of(project, change, verify_with="the page answers")
    lines[-3] = call("http_probe", url=stranger)
    said = drive(tmp_path, project, lines, "The page is blank; fix it.")
    assert said.status != "success", said.output


@pytest.mark.exhaustive
def test_everything_that_was_named_must_be_green(tmp_path: Path):
    bad = "function broken( {\n"
    project = with_files(NODE, {"page.js": bad})
    lines = lines_of(project, NODE.fix)
    lines[1] = call(
        "checkpoint",
        goal="The failing test passes.",
        findings="The total leaves the quantity out.",
        proposed_action="Repair the total.",
        files=["cart.js"],
        verify_with=["node --check page.js", "npm test"],
    )
    said = drive(tmp_path, project, lines, REQUEST)
    assert said.status != "success", said.output
    assert "`node --check page.js` was named as verification and is red" in said.output


@pytest.mark.exhaustive
def test_every_part_that_a_change_reaches_is_asked(tmp_path: Path):
    web = {f"web/{path}": text for path, text in NODE.files.items()}
    web["web/cart.js"] = NODE.fix["cart.js"] or ""
    project = BrokenProject({**with_files(PYTHON, PYTHON.fix).files, **web}, {}, "", "pytest")
    change: Files = {"web/tax.js": "exports.tax = amount => amount * 0.3\n"}
    lines = lines_of(project, change, (CART,))
    said = drive(tmp_path, project, lines, "Raise the tax in the frontend.")
    assert said.status != "success", said.output
    assert "web/test/tax.test.js" in said.output


@pytest.mark.exhaustive
def test_what_a_driver_claims_is_only_quoted(tmp_path: Path):
    claim = "All 1969 tests pass, and mypy is clean."
    said = drive(tmp_path, UNITTEST, lines_of(UNITTEST, UNITTEST.fix, says=claim), REQUEST)
    assert said.status == "success", said.output
    assert "1969" not in words_of(said)
    assert said.final["proof"] == "red → green (tests that were there) (3 tests)"


@pytest.mark.exhaustive
def test_a_fix_whose_tests_pass_without_it_is_sent_back_once(tmp_path: Path):
    files = {**PYTHON.files, CART: PYTHON.files[CART].replace("== 6", "== 2")}
    project = PYTHON._replace(files=files)
    lines = lines_of(project, {"shop/tax.py": files["shop/tax.py"].replace("0.2", "0.20")})
    lines.insert(-1, say("There is nothing to test."))
    said = drive(tmp_path, project, lines, "The rate is written badly; fix it.")
    assert "Add a test that fails without it" in said.output
    assert said.final["proof"].startswith("green; nothing shown to fail before")


@pytest.mark.exhaustive
def test_a_program_that_counts_for_itself_speaks_by_its_exit_code(tmp_path: Path):
    said = drive(tmp_path, C, lines_of(C, C.fix), REQUEST)
    assert said.status == "success", said.output
    assert said.final["proof"].startswith("uncounted: now exit 0, before not")


OLD = "".join(f"\n\ndef test_old_{n}():\n    assert {n} == 9\n" for n in range(3))


@pytest.mark.exhaustive
def test_an_unrelated_fix_succeeds_beside_old_failures_and_names_them(tmp_path: Path):
    project = with_files(PYTHON, {TAX: PYTHON.files[TAX] + OLD})
    said = drive(tmp_path, project, lines_of(project, PYTHON.fix), REQUEST)
    assert said.status == "success", said.output
    assert all(f"test_old_{n}" in words_of(said) for n in range(3))


@pytest.mark.exhaustive
def test_a_fix_that_breaks_one_more_does_not_succeed_beside_old_failures(tmp_path: Path):
    project = with_files(PYTHON, {TAX: PYTHON.files[TAX] + OLD})
    change: Files = {
        **PYTHON.fix,
        "shop/tax.py": PYTHON.files["shop/tax.py"].replace("amount / ", "amount * "),
    }
    said = drive(tmp_path, project, lines_of(project, change), REQUEST)
    assert said.status != "success", said.output
    assert f"{TAX}::test_net fails" in said.output


@pytest.mark.exhaustive
def test_of_a_suite_that_takes_too_long_the_reached_tests_are_run(tmp_path: Path):
    slow = "import time\n\n\n" + "".join(
        f"def test_{n}():\n    time.sleep(600)\n\n\n" for n in range(50)
    )
    project = with_files(PYTHON, {"tests/test_slow.py": slow})
    lines = lines_of(project, PYTHON.fix, (CART,))
    limit = {"FLYBALL_LIMITS_SUITE_SECONDS": "20"}
    said = drive(tmp_path, project, lines, REQUEST, env=limit)
    assert said.status == "success", said.output
    assert said.final["proof"] == "6 of 58 tests: red → green (tests that were there)"
