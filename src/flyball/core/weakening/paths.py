"""Which files are tests, what they expect, and what configures them."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

TEST_DIRS = frozenset({"test", "tests", "__tests__", "spec", "specs", "e2e", "testing"})
EXPECTED_DIRS = frozenset({"golden", "goldens", "expected", "snapshots", "__snapshots__"})

TEST_NAME = re.compile(
    r"test_.*\.py|.*_test\.(?:py|go|rb|dart|exs|cc|cpp|c)|test.*\.rb|.*_spec\.rb"
    r"|.*[.-](?:test|spec)\.[cm]?[jt]sx?|tests?\.(?:py|rs)"
    r"|(?:.*Tests?|.*TestCase|.*IT|.*Spec|Test[A-Z].*)\.(?:java|kt|scala|groovy|cs|php|swift)"
    r"|.*\.(?:snap|golden)"
)
EXPECTED_NAME = re.compile(r".*\.(?:snap|golden|approved\.\w+|expected)|expected[._-].*")

CONFIG_NAME = re.compile(
    r"pytest\.ini|\.pytest\.ini|tox\.ini|setup\.cfg|pyproject\.toml|conftest\.py|noxfile\.py"
    r"|\.coveragerc|package\.json|(?:jest|vitest|playwright|cypress|karma|ava)\.(?:config|conf)"
    r"\.\w+|\.mocharc(?:\.\w+)?|phpunit\.xml(?:\.dist)?|\.rspec|nose\.cfg"
    r"|(?:GNU)?[Mm]akefile|justfile|\.gitlab-ci\.ya?ml|\.travis\.ya?ml|azure-pipelines\.ya?ml"
    r"|Jenkinsfile"
)
CI_DIRS = ((".github", "workflows"), (".circleci",), (".ci",), (".buildkite",))


def is_test_path(path: str) -> bool:
    """Whether a file holds tests, or what tests expect."""
    pure = PurePosixPath(path)
    return bool(TEST_NAME.fullmatch(pure.name)) or bool(TEST_DIRS & set(pure.parts[:-1]))


def is_expectation(path: str) -> bool:
    """Whether a test file is recorded output that tests compare with."""
    pure = PurePosixPath(path)
    recorded = EXPECTED_NAME.fullmatch(pure.name) or EXPECTED_DIRS & set(pure.parts[:-1])
    return is_test_path(path) and bool(recorded)


def is_test_config(path: str) -> bool:
    """Whether a file can decide which tests run, or how."""
    pure = PurePosixPath(path)
    return bool(CONFIG_NAME.fullmatch(pure.name)) or is_ci(path)


def is_ci(path: str) -> bool:
    """Whether a file tells a build server what to run."""
    parts = PurePosixPath(path).parts
    in_ci = any(parts[: len(folder)] == folder for folder in CI_DIRS)
    return in_ci or path.endswith(("-ci.yml", "travis.yml", "azure-pipelines.yml", "Jenkinsfile"))
