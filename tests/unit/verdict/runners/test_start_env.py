import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.repos import put

from flyball.tools.call.protocol import CallContext, ToolSettings
from flyball.verdict.runners.provision import provide
from flyball.verdict.runners.start_env import (
    environment,
    import_path,
    program_of,
    python_of,
    readable,
)
from flyball.workspace.files.paths import Root


@pytest.fixture
def places(tmp_path):
    tree, project = tmp_path / "tree", tmp_path / "project"
    tree.mkdir()
    project.mkdir()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(sys.executable)
    return tree, project


def context(tree, project, **more):
    """A call whose tree lies beside the project; what no start looks at is left out."""
    fields = {**dict.fromkeys(CallContext._fields), **CallContext._field_defaults}
    fields |= {
        "root": Root(tree),
        "workspace": SimpleNamespace(
            project=project,
            directory=tree.parent,
            state_dir=tree.parent.parent.parent,
            in_place=False,
        ),
        "settings": ToolSettings(),
        "env_of": lambda: {"PATH": str(tree.parent / "bin")},
        "shelf": tree.parent / "shelf",
    }
    return CallContext(**(fields | more))


def venv(place: Path) -> Path:
    put(place, {"pyvenv.cfg": "home = /usr/bin\n"})
    (place / "bin").mkdir()
    (place / "bin" / "python").symlink_to(sys.executable)
    return place


def below(tree, paths):
    return [os.path.relpath(path, tree) for path in paths]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"a.py": ""}, ["."]),
        ({"src/pkg/__init__.py": ""}, ["src", "."]),
        ({"src/__init__.py": "", "src/types.py": ""}, ["."]),
        ({"src/types.py": ""}, ["."]),
        ({"queue.py": ""}, []),
        ({"test/__init__.py": ""}, ["."]),
        ({"json/data.txt": ""}, ["."]),
    ],
)
def test_the_trees_own_code_comes_first_unless_it_hides_the_library(places, files, expected):
    put(places[0], files)
    assert below(places[0], import_path(context(*places))) == expected


def test_what_is_installed_from_the_project_is_imported_from_the_tree(places):
    tree, project = places
    site = venv(project / ".venv") / "lib" / "python3.11" / "site-packages"
    mapped = f"MAPPING: dict = {{'c': '{project}/libs/c/c'}}\n"
    put(
        site,
        {
            "a.pth": f"{project}/libs/a/src\nimport os\n/elsewhere\n",
            "__editable__.c.pth": "import __editable___c_finder\n",
            "__editable___c_finder.py": mapped,
            "inner.pth": f"{site}/vendored\n",
        },
    )
    put(tree, {"libs/a/src/a.py": "", "libs/c/c/__init__.py": ""})
    assert below(tree, import_path(context(*places))) == [".", "libs/a/src", "libs/c"]


def test_a_part_of_the_project_has_its_own_places(places):
    tree, project = places
    venv(project / "api" / ".venv")
    put(tree, {"api/src/x.py": "", "src/y.py": ""})
    here = context(tree, project, at="api")
    assert below(tree, import_path(here)) == ["api/src", "api", "src", "."]
    assert python_of(here) == str(project / "api/.venv/bin/python")
    assert python_of(context(tree, project)) == str(tree.parent / "bin/python3")


def test_only_what_is_installed_is_in_reach(places):
    project = places[1]
    venv(project / ".venv")
    put(project, {"node_modules/.bin/jest": "", ".env": "SECRET=1"})
    reach = readable(context(*places))
    assert project not in reach
    assert {project / ".venv", project / "node_modules"} <= set(reach)
    assert program_of(context(*places), "jest") == str(project / "node_modules/.bin/jest")
    assert program_of(context(*places), "cargo") == "cargo"


def test_copies_of_two_trees_are_never_built_in_one_place(places):
    working = context(*places)
    copies = [working.on_tree(working.root, tree * 40) for tree in ("a", "b", "a")]
    first, second, again = (environment(each)["CARGO_TARGET_DIR"] for each in copies)
    assert first == again
    assert len({first, second, environment(working)["CARGO_TARGET_DIR"]}) == 3


def test_without_a_python_on_the_path_the_one_that_we_run_on_serves(places):
    nowhere = context(*places).with_env({"PATH": "/nowhere"})
    own = Path(sys.executable).resolve()
    assert python_of(nowhere) == str(own)
    assert any(own.is_relative_to(place) for place in (Path("/usr"), *readable(nowhere)))


def test_tests_may_configure_git_in_a_home_that_is_thrown_away(places):
    start = context(*places, env_of=lambda: {"PATH": "", "GIT_CONFIG_GLOBAL": "/dev/null"})
    assert "GIT_CONFIG_GLOBAL" not in environment(start)


def test_without_network_nothing_is_fetched(places):
    env = environment(context(*places))
    assert (env["CARGO_NET_OFFLINE"], env["GOPROXY"]) == ("true", "off")
    there = context(*places)
    online = there._replace(settings=ToolSettings(network=True))
    assert "GOPROXY" not in environment(online)
    assert env["CARGO_TARGET_DIR"].startswith(str(places[0].parent / "cache"))


def test_packages_are_linked_and_parts_of_the_project_are_the_trees_own(places):
    tree, project = places
    put(tree, {"package.json": '{"workspaces": ["packages/*"]}', "packages/a/package.json": "{}"})
    put(
        project,
        {
            "packages/a/package.json": "{}",
            "packages/a/node_modules/deep/index.js": "",
            "node_modules/left/index.js": "",
            "node_modules/@s/pkg/index.js": "",
            "node_modules/.cache/x": "",
            "node_modules/.vite-temp/old.mjs": "",
            "node_modules/.prisma/client/index.js": "",
            "node_modules/.bin/left": "",
        },
    )
    (project / "node_modules/@s/a").symlink_to("../../packages/a")
    for _ in range(2):
        provide(tree, project)
    modules = tree / "node_modules"
    assert (modules / "left").readlink() == project / "node_modules/left"
    assert (modules / "@s/pkg").readlink() == project / "node_modules/@s/pkg"
    assert (modules / ".prisma/client").readlink() == project / "node_modules/.prisma/client"
    assert (modules / ".bin").is_symlink()
    # What a tool writes there stays in the tree.
    assert not (modules / ".vite-temp").is_symlink()
    assert (modules / "@s/a").readlink() == tree / "packages/a"
    assert (tree / "packages/a/node_modules/deep").is_symlink()
    assert not modules.is_symlink()
    assert not (modules / ".cache").exists()


def test_packages_of_the_trees_own_are_left_alone(places):
    tree, project = places
    put(tree, {"node_modules/own/index.js": ""})
    put(project, {"node_modules/left/index.js": ""})
    provide(tree, project)
    provide(project, project)
    assert sorted(path.name for path in (tree / "node_modules").iterdir()) == ["own"]
    assert not (project / "node_modules" / ".flyball").exists()


def test_an_environment_is_linked(places):
    tree, project = places
    venv(project / ".venv")
    put(project, {"venv/notes.txt": "no environment"})
    provide(tree, project)
    assert (tree / ".venv").readlink() == project / ".venv"
    assert not (tree / "venv").exists()


def test_what_composer_installed_loads_the_classes_of_the_tree(places):
    tree, project = places
    put(
        project,
        {
            "vendor/autoload.php": "real",
            "vendor/composer/autoload_real.php": "real",
            "vendor/phpunit/phpunit/phpunit": "script",
            "vendor/phpunit/phpunit/src/Case.php": "",
        },
    )
    (project / "vendor/bin").mkdir()
    (project / "vendor/bin/phpunit").symlink_to("../phpunit/phpunit/phpunit")
    put(tree, {"vendor/phpunit/phpunit/phpunit": "the tree's own"})
    for _ in range(2):
        provide(tree, project)
    vendor = tree / "vendor"
    assert (vendor / "autoload.php").resolve() == vendor / "autoload.php"
    assert (vendor / "composer/autoload_real.php").read_text() == "real"
    assert (vendor / "bin/phpunit").resolve().read_text() == "the tree's own"
    assert (vendor / "phpunit/phpunit/src").readlink() == project / "vendor/phpunit/phpunit/src"
    assert project / "vendor" in readable(context(*places))


def test_pnpm_workspaces_are_found(places):
    tree, project = places
    listed = "packages:\n  - 'apps/*'\n  - '!apps/old'\n  - ../out\n"
    put(tree, {"pnpm-workspace.yaml": listed, "apps/web/package.json": "{}"})
    put(project, {"apps/web/node_modules/x/i.js": ""})
    provide(tree, project)
    assert (tree / "apps/web/node_modules/x").is_symlink()


def test_an_environment_that_a_run_planted_in_its_tree_is_not_used(places):
    tree, project = places
    venv(tree / ".venv")
    put(tree, {".venv/bin/ruff": "", "node_modules/.bin/jest": ""})
    put(project, {"node_modules/.bin/jest": ""})
    assert python_of(context(*places)) == str(tree.parent / "bin/python3")
    assert program_of(context(*places), "ruff") == "ruff"
    assert program_of(context(*places), "jest") == str(project / "node_modules/.bin/jest")


def test_caches_are_the_projects_own_and_outlive_a_run(places, tmp_path):
    user = {"PATH": "/usr/bin", "GOCACHE": "/home/u/.cache/go-build", "npm_config_cache": "/home/u"}
    found = [
        environment(
            context(
                *places,
                env_of=lambda: user,
                shared=tmp_path / "caches",
                workspace=SimpleNamespace(
                    project=places[1], directory=tmp_path / run, in_place=False
                ),
            )
        )
        for run in ("r1", "r2")
    ]
    for name, folder in (("GOCACHE", "go"), ("npm_config_cache", "npm")):
        assert {env[name] for env in found} == {str(tmp_path / "caches" / folder)}
    assert len({env["CARGO_TARGET_DIR"] for env in found}) == 2


def test_without_a_place_to_share_caches_end_with_their_run(places, tmp_path):
    there = context(*places)
    assert environment(there)["GOCACHE"] == str(tmp_path / "cache" / "go")
    assert there.kept == (tmp_path / "cache",)
