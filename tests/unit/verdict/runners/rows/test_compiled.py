import os

import pytest
from tests.repos import put

from flyball.tools.call.protocol import ToolSettings
from flyball.verdict.runners.layout import look
from flyball.verdict.runners.table import BY_NAME


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ([], ["./..."]),
        (["./..."], ["./..."]),
        (["-run", "TestX"], ["-run", "TestX", "./..."]),
        (["-run=TestX", "sub"], ["-run=TestX", "./sub"]),
        (["sub", "-run", "TestX", "-v"], ["-run", "TestX", "-v", "./sub"]),
        (["sub/..."], ["./sub/..."]),
        (["sub/a_test.go", "./sub"], ["./sub"]),
        (["a_test.go"], ["."]),
        (["ex.org/m/sub"], ["ex.org/m/sub"]),
        (["-run"], ["-run", "./..."]),
        (["..."], ["./..."]),
        (["./"], ["."]),
        (["."], ["."]),
        (["./sub/"], ["./sub"]),
        (["sub/", "./..."], ["./sub", "./..."]),
        (["deep"], ["./deep/..."]),
        (["sub/a_test.go::TestX"], ["-run", "^(TestX)$", "./sub"]),
    ],
)
def test_go_is_told_packages_and_patterns_apart(start, args, words):
    top = start.root.path
    put(top, {"go.mod": "", "a_test.go": "", "sub/a_test.go": "", "deep/er/a_test.go": ""})
    assert BY_NAME["go"].argv(start, look(top), args) == ["go", "test", "-json", *words]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ([], ["--workspace"]),
        (["."], ["--workspace"]),
        (["adds"], ["--workspace", "adds"]),
        (["crates/cart"], ["-p", "cart"]),
        (["crates/cart/"], ["-p", "cart"]),
        (["crates/cart/tests/all.rs"], ["-p", "cart", "--test", "all"]),
        (["crates/cart/src/price.rs::tests::adds"], ["-p", "cart", "price::tests::adds"]),
        (["-p", "cart"], ["-p", "cart"]),
        (["adds", "--", "--exact"], ["--workspace", "adds", "--", "--exact"]),
    ],
)
def test_cargo_is_told_crates_and_modules_instead_of_paths(start, args, words):
    top = start.root.path
    crate = '[package]\nname = "cart"\n'
    sources = {f"crates/cart/{each}": "" for each in ("src/price.rs", "tests/all.rs")}
    put(top, {"Cargo.toml": "[workspace]\n", "crates/cart/Cargo.toml": crate, **sources})
    assert BY_NAME["cargo"].argv(start, look(top), args) == [
        *("cargo", "test", "--no-fail-fast"),
        *words,
    ]


def test_a_file_of_java_tests_stands_for_its_class(start):
    top = start.root.path
    put(top, {"pom.xml": "", "src/test/java/shop/CartTest.java": ""})
    argv = BY_NAME["maven"].argv(start, look(top), ["src/test/java/shop/CartTest.java::adds"])
    assert "-Dtest=CartTest#adds" in argv
    argv = BY_NAME["gradle"].argv(start, look(top), ["src/test/java/shop/CartTest.java"])
    assert argv[-2:] == ["--tests", "*CartTest"]


def test_wrappers_of_the_project_are_used_and_nothing_is_fetched(start):
    top = start.root.path
    put(top, {"pom.xml": "", "mvnw": "", "build.gradle": "", "gradlew": ""})
    land = look(top)
    online = start._replace(settings=ToolSettings(network=True))
    assert BY_NAME["maven"].argv(start, land, ())[0] == "./mvnw"
    assert "-o" in BY_NAME["maven"].argv(start, land, ())
    assert "-o" not in BY_NAME["maven"].argv(online, land, ())
    assert BY_NAME["gradle"].argv(start, land, ())[:2] == ["./gradlew", "--console=plain"]
    assert "--offline" in BY_NAME["gradle"].argv(start, land, ())


def test_reports_that_an_earlier_start_left_are_not_read(start):
    top, reports = start.root.path, "target/surefire-reports"
    put(top, {f"{reports}/TEST-old.xml": "", f"core/{reports}/TEST-new.xml": ""})
    old = top / reports / "TEST-old.xml"
    os.utime(old, (1, 1))
    (top / reports / "TEST-link.xml").symlink_to(old)
    assert [path.name for path in BY_NAME["maven"].reports(start)] == ["TEST-new.xml"]


@pytest.mark.parametrize(
    ("presets", "chosen"),
    [
        ('{"configurePresets": [{"name": "base", "hidden": true}, {"name": "dev"}]}', "dev"),
        ('{"configurePresets": [{"name": "dev"}, {"name": "release"}]}', ""),
        ('{"testPresets": [{"name": "all", "configurePreset": "check"}]}', "check"),
        ("not json", ""),
    ],
)
def test_cmake_is_configured_with_the_preset_of_the_projects_tests(start, presets, chosen):
    put(start.root.path, {"CMakePresets.json": presets})
    words = BY_NAME["ctest"].argv(start, look(start.root.path), [])[2]
    assert words.startswith(f"cmake --preset {chosen} -S ." if chosen else "cmake -S .")


def test_cmake_builds_away_from_the_tree(start):
    argv = BY_NAME["ctest"].argv(start, look(start.root.path), ["-R", "a b"])
    assert argv[2].startswith(f"cmake -S . -B {start.shelf}/build && ")
    assert argv[2].endswith(f"--output-junit {start.shelf}/report -R 'a b'")
