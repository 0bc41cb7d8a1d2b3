"""Recognise test files, their expected data, and their configuration."""

from __future__ import annotations

from flyball.regex import regex

TEST_DIRS = frozenset({"test", "tests", "__tests__", "spec", "specs", "e2e", "testing"})
EXPECTED_DIRS = frozenset({"golden", "goldens", "expected", "snapshots", "__snapshots__"})

TEST_NAME = regex(
    r"tests?_.*\.py|.*_tests\.py|.*_test\.(?:py|go|rb|dart|exs|cc|cpp|c)|test.*\.rb|.*_spec\.rb"
    r"|.*[._-](?:tests?|spec)\.[cm]?[jt]sx?|tests?[.-].*\.[cm]?[jt]sx?|tests?\.(?:py|rs|c|cc|cpp"
    r"|sh|lua|[cm]?[jt]sx?)"
    r"|test_.*\.(?:c|cc|cpp|sh|lua|php)|.*_tests?\.(?:rs|sh|lua)|.*_spec\.lua|.*\.bats"
    r"|(?:.*Tests?|.*TestCase|.*IT|.*Spec|Test[A-Z].*)\.(?:java|kt|scala|groovy|cs|php|swift)"
    r"|.*\.(?:snap|golden)"
)
EXPECTED_NAME = regex(r".*\.(?:snap|golden|approved\.\w+|expected|stderr|stdout)|expected[._-].*")

CONFIG_NAME = regex(
    r"\.?pytest\.(?:ini|toml)|tox\.ini|setup\.cfg|pyproject\.toml|conftest\.py|noxfile\.py"
    r"|\.coveragerc|package\.json|deno\.jsonc?|[tj]sconfig.*\.json|\.npmrc|Cargo\.toml|\.taprc"
    r"|(?:jest|vite|vitest|playwright|cypress|karma|ava|web-test-runner)\.(?:config|conf"
    r"|workspace)\.\w+"
    r"|\.mocharc(?:\.\w+)?|phpunit\.xml(?:\.dist)?|\.rspec|nose\.cfg|Rakefile|mix\.exs|pom\.xml"
    r"|build\.gradle(?:\.kts)?|CMakeLists\.txt|(?:GNU)?[Mm]akefile|[Jj]ustfile|\.gitlab-ci\.ya?ml"
    r"|\.travis\.ya?ml|azure-pipelines\.ya?ml|Jenkinsfile"
)
CI_DIRS = (".github/workflows/", ".circleci/", ".ci/", ".buildkite/")
CI_FILES = ("-ci.yml", "-ci.yaml", ".travis.yml", "azure-pipelines.yml", "Jenkinsfile")


SUPPORT_DIRS = frozenset(
    [
        "helper",
        "helpers",
        "support",
        "fixture",
        "fixtures",
        "lib",
        "libs",
        "util",
        "utils",
        "common",
        "mocks",
        "__mocks__",
        "stubs",
        "fakes",
        "integration",
        "resources",
        "data",
    ]
)
SUPPORT_NAME = regex(
    r".*(?:helper|util|support|fixture|setup|common|mock|stub|fake|dummy|server|app)s?[.\d_-].*|.*\.h"
    r"|.*\.d\.[cm]?ts"
)
EXAMPLE_DIRS = frozenset(
    [
        "example",
        "examples",
        "demo",
        "demos",
        "sample",
        "samples",
        "bench",
        "benchmark",
        "benchmarks",
    ]
)


def is_support(path: str) -> bool:
    """Return whether a file in a test directory is, by its name, a helper for tests rather than a
    test."""
    *folders, name = path.split("/")
    if TEST_NAME.fullmatch(name):
        return False
    return bool(SUPPORT_NAME.fullmatch(name.lower())) or not SUPPORT_DIRS.isdisjoint(folders)


def is_example(path: str) -> bool:
    """Return whether a file belongs to an example or a benchmark, which tests leave out."""
    return not EXAMPLE_DIRS.isdisjoint(path.split("/")[:-1])


def is_test_path(path: str) -> bool:
    """Return whether a file holds tests, or data that tests expect."""
    *folders, name = path.split("/")
    return bool(TEST_NAME.fullmatch(name)) or not TEST_DIRS.isdisjoint(folders)


def is_expectation(path: str) -> bool:
    """Return whether a test file is recorded output that tests compare with."""
    *folders, name = path.split("/")
    is_recorded = EXPECTED_NAME.fullmatch(name) or not EXPECTED_DIRS.isdisjoint(folders)
    return is_test_path(path) and bool(is_recorded)


def is_test_config(path: str) -> bool:
    """Return whether a file can decide which tests run, or how."""
    return bool(CONFIG_NAME.fullmatch(path.rpartition("/")[2])) or is_ci(path)


def is_ci(path: str) -> bool:
    """Return whether a file configures continuous integration."""
    return path.startswith(CI_DIRS) or path.endswith(CI_FILES)
