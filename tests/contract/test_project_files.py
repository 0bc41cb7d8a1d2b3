"""What a stranger finds in the repository: commands that exist, pins that hold, nothing private."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from importlib.metadata import distribution, distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
ROOMS = (".ci", "bench", "docs", "examples", "src", "tests")
LOCK = (ROOT / "requirements.lock").read_text()
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))


def texts() -> Iterator[tuple[Path, str]]:
    """Every file of the project that is text."""
    # In a linked worktree `.git` is a file, and names a place.
    top = [path for path in ROOT.iterdir() if path.is_file() and path.name != ".git"]
    for path in [*top, *(p for room in ROOMS for p in (ROOT / room).rglob("*"))]:
        if path.is_file() and not {"__pycache__", "node_modules"} & set(path.parts):
            try:
                yield path.relative_to(ROOT), path.read_text("utf-8")
            except UnicodeDecodeError:
                continue


def targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def shell_lines(page: Path) -> list[str]:
    """The commands in a page's `sh` blocks."""
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text(), re.DOTALL)
    lines = [line.partition("#")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line]


def test_the_makefile_has_the_targets_that_people_are_told_of():
    wanted = {"setup", "check", "test", "test-slow", "demo", "bench", "docs", "simulate", "lock"}
    assert wanted <= targets()
    told = re.findall(r"`make ([a-z-]+)", (ROOT / "CONTRIBUTING.md").read_text())
    assert wanted <= set(told) <= targets()


def test_the_readme_begins_with_one_command_to_see_it_and_one_to_test_it():
    assert shell_lines(ROOT / "README.md")[:2] == ["make demo", "make test"]


@pytest.mark.parametrize("target", ["demo", "check", "test", "test-slow"])
def test_these_commands_set_everything_up_themselves(target: str):
    rule = re.search(rf"^{target}:(.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert rule is not None
    assert "setup" in rule[1].split()


def test_continuous_integration_runs_the_whole_suite():
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert script.read_text().splitlines()[-2:] == ["make test", "make test-slow"]


def test_no_target_is_taken_for_a_folder():
    """A target that is also a folder would be up to date for ever."""
    (phony,) = re.findall(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert targets() <= set(phony.split())


def test_every_test_belongs_to_a_target():
    """What `make test` leaves out, `make test-slow` runs."""
    makefile = (ROOT / "Makefile").read_text()
    marks = re.findall(
        r'^\t.*\((?:PYTEST\)|call CROWD,).*?-m "?([a-z ]+[a-z])', makefile, re.MULTILINE
    )
    often = "not exhaustive"
    assert marks == ["not slow and not exhaustive", often, often, "exhaustive", often]


def test_lock_pins_each_package_once_with_hashes_and_names_no_place():
    assert "://" not in LOCK
    assert "index-url" not in LOCK
    entries = [each for each in re.split(r"\n(?=\S)", LOCK.strip()) if not each.startswith("#")]
    for entry in entries:
        assert re.match(r"[a-z0-9][a-z0-9._-]*(\[[a-z0-9, -]+\])?==\S+ ", entry), entry[:60]
        assert "--hash=sha256:" in entry, entry[:60]
    assert len({entry.split()[0] for entry in entries}) == len(entries)


def test_lock_covers_every_requirement():
    sections = re.split(r"^# (\w+)$", LOCK, flags=re.MULTILINE)[1:]
    pip, dev, bench = (set(pinned(text)) for text in sections[1::2])
    extras = PROJECT["optional-dependencies"]
    names = ("dev", "openai", "anthropic", "mcp", "acp")
    needs = [*PROJECT["dependencies"], *(each for name in names for each in extras[name])]
    assert sections[::2] == ["pip", "dev", "bench"]
    assert pip == {"pip"}
    assert required(needs) - {"flyball"} <= dev
    assert required(extras["bench"]) <= dev | bench


def pinned(lock: str) -> dict[str, str]:
    """Return the packages a lock pins, each with its extras."""
    return dict(re.findall(r"^([a-z0-9._-]+)(?:\[(.*?)\])?==", lock, re.MULTILINE))


def required(needs: list[str]) -> set[str]:
    """Return the packages that requirements name."""
    return {re.split(r"[\[<>=]", need)[0] for need in needs}


def test_the_lock_names_every_extra_that_a_package_asks_for():
    """Else pip takes the newest release for it, and refuses that: its hash is not in the lock."""
    locked = {name: set(re.split(r", ?", extras)) for name, extras in pinned(LOCK).items()}
    asked = [
        (package.metadata["Name"], need)
        for package in distributions()
        if canonicalize_name(package.metadata["Name"]) in locked
        for need in map(Requirement, package.requires or ())
        if need.extras and (need.marker is None or need.marker.evaluate({"extra": ""}))
    ]
    assert asked
    assert [
        f"{who} asks for {need}"
        for who, need in asked
        if not need.extras <= locked.get(canonicalize_name(need.name), set())
    ] == []


def test_the_node_lock_names_no_place_either():
    lock = json.loads((ROOT / "tests/contract/xstate/package-lock.json").read_text())
    packages = {name: entry for name, entry in lock["packages"].items() if name}
    assert packages
    for name, entry in packages.items():
        assert "resolved" not in entry, name
        assert entry["integrity"], name


HINTS = ("work", "users", "pypi", "pythonhosted", "registry.", "factory", "frog")
PRIVATE = re.compile(
    r"""(?<![\w./-])/(?:work|Users)/
    | \bpypi\.org | \bpythonhosted\.org | \bregistry\.npmjs | \bregistry\.yarnpkg
    | \bartifactory\b | \bjfrog\b""",
    re.VERBOSE | re.IGNORECASE,
)


def test_no_file_names_a_registry_or_a_place_on_the_machine_it_was_written_on():
    lines = [
        (path, line)
        for path, text in texts()
        for line in text.splitlines()
        # The whole pattern takes its time, and most lines have nothing like it.
        if any(hint in line.lower() for hint in HINTS)
    ]
    assert [f"{path}: {hit[0]}" for path, line in lines for hit in PRIVATE.finditer(line)] == []


def test_the_licence_is_apache_2():
    text = (ROOT / "LICENSE").read_text()
    assert text.split()[:4] == ["Apache", "License", "Version", "2.0,"]
    assert "END OF TERMS AND CONDITIONS" in text
    assert PROJECT["license"] == "Apache-2.0"


def test_the_metadata_offers_what_was_promised():
    assert PROJECT["requires-python"] == ">=3.11"
    extras = {"openai", "anthropic", "mcp", "acp", "web", "browser", "cluster", "otel", "verify"}
    extras |= {"sigstore", "dev", "bench", "all"}
    assert set(PROJECT["optional-dependencies"]) == extras
    assert distribution("flyball").version == PROJECT["version"]


def test_the_installed_command_leads_to_a_function():
    assert set(PROJECT["scripts"]) == {"flyball"}
    (entry,) = distribution("flyball").entry_points.select(group="console_scripts")
    assert entry.value == PROJECT["scripts"]["flyball"]
    assert callable(entry.load())


def test_the_hook_is_installed_as_it_is_written(in_wheel: set[str]):
    assert f"flyball-{PROJECT['version']}.data/scripts/flyball-hook" in in_wheel
    lines = (ROOT / "scripts/flyball-hook").read_text().splitlines()
    assert lines[0] == "#!python", "installers put the interpreter there"
    installed = Path(sys.executable).with_name("flyball-hook")
    assert installed.read_text().splitlines()[1:] == lines[1:]
    assert os.access(installed, os.X_OK)


@pytest.fixture(scope="module")
def in_wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names of the files in a wheel built from this tree."""
    place = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (path,) = place.glob("*.whl")
    with zipfile.ZipFile(path) as wheel:
        return set(wheel.namelist())


def test_the_wheel_carries_types_prompts_demo_and_licence(in_wheel: set[str]):
    source = ROOT / "src"
    for path in (source / "flyball").rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            assert str(path.relative_to(source)) in in_wheel
    assert "flyball/py.typed" in in_wheel
    assert any(name.endswith("licenses/LICENSE") for name in in_wheel)
    assert all(name.startswith(("flyball/", "flyball-")) for name in in_wheel)


def test_the_changelog_speaks_of_this_version():
    assert re.search(
        rf"^## .*{re.escape(PROJECT['version'])}", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE
    )


@pytest.mark.parametrize("page", DECISIONS, ids=lambda path: path.name)
def test_a_decision_is_one_page_with_four_parts_and_listed(page: Path):
    text = page.read_text()
    heads = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert heads == ["Context", "Decision", "Consequences", "What would change our mind"]
    assert text.startswith(f"# {int(page.name[:4])}. ")
    assert len(text) < 6_000
    assert f"]({page.name})" in (page.parent / "README.md").read_text()


def test_no_number_is_used_by_two_decisions():
    numbers = [page.name[:4] for page in DECISIONS]
    assert len(numbers) == len(set(numbers))


def test_the_index_of_the_documents_leads_to_every_page():
    docs = ROOT / "docs"
    index = (docs / "README.md").read_text()
    pages = [p.relative_to(docs) for p in docs.rglob("*.md") if p.parent.name != "decisions"]
    for page in pages:
        assert page.name == "README.md" or f"]({page})" in index, f"{page} is not in docs/README.md"
    assert "](decisions/README.md)" in index


PLACEHOLDER = re.compile("NNNN|NAME")


@pytest.mark.parametrize(
    "page", ["CONTRIBUTING.md", "docs/architecture.md", "docs/glossary.md", "docs/README.md"]
)
def test_a_file_that_is_named_is_there(page: str):
    named = re.findall(
        r"`((?:src|tests|bench|docs|examples|\.ci)/[\w./*-]+)`", (ROOT / page).read_text()
    )
    missing = [name for name in named if not PLACEHOLDER.search(name) and not list(ROOT.glob(name))]
    assert missing == []


def test_no_long_test_is_passed_over_by_the_long_part():
    """It reads a file only if the mark is in it, or comes from the one place that gives it."""
    givers = {
        file.relative_to(ROOT).as_posix()
        for file in (ROOT / "tests").rglob("*.py")
        if "mark.exhaustive" in file.read_text() and not file.name.startswith("test_")
    }
    assert givers == {"tests/tiers.py"}
