"""What `dep:` reaches: the sources that are installed for a project, and nothing beside them."""

from __future__ import annotations

import pytest

from flyball.errors import FlyballError, NotFound

SITE = ".venv/lib/python3.11/site-packages"
PYTHON = {
    ".venv/bin/python": "",
    ".venv/pyvenv.cfg": "home = /usr/bin\n",
    f"{SITE}/shipping/__init__.py": "from .rates import rate\n",
    f"{SITE}/shipping/rates.py": "def rate(weight):\n    return weight * 3\n",
    f"{SITE}/shipping/__pycache__/rates.cpython-311.pyc": b"\0rate",
    f"{SITE}/Shipping_Rates-2.4.1.dist-info/METADATA": "Name: Shipping-Rates\nVersion: 2.4.1\n",
    f"{SITE}/Shipping_Rates-2.4.1.dist-info/RECORD": (
        "shipping/__init__.py,,\nshipping/rates.py,,\nShipping_Rates-2.4.1.dist-info/RECORD,,\n"
    ),
    f"{SITE}/eight.py": "EIGHT = 8\n",
    f"{SITE}/eight-1.0.dist-info/METADATA": "Name: eight\nVersion: 1.0\n",
    f"{SITE}/eight-1.0.dist-info/RECORD": "eight.py,,\n",
}
NODE = {
    "node_modules/left/package.json": '{"name": "left", "version": "1.3.0"}',
    "node_modules/left/index.js": "module.exports = 'left'\n",
    "node_modules/@team/pad/package.json": '{"version": "0.2.0"}',
    "node_modules/@team/pad/lib/pad.js": "// pads\n",
    "web/node_modules/deep/package.json": '{"version": "9.9.9"}',
    "web/node_modules/deep/deep.js": "// deep\n",
}
PROJECT = {
    ".gitignore": ".venv\nnode_modules\n",
    "package.json": '{"dependencies": {"left": "^1", "@team/pad": "*", "gone": "*"}}',
    "web/package.json": '{"dependencies": {"deep": "*"}}',
    "app.py": "import shipping\n",
    "./dep:local": "a file with an odd name\n",
}


@pytest.fixture
def bench(make_bench):
    return make_bench(PROJECT, ignored={**PYTHON, **NODE})


@pytest.mark.parametrize(
    ("path", "note", "line"),
    [
        ("dep:shipping/rates.py", "(Shipping-Rates 2.4.1, installed)", "return weight * 3"),
        ("dep:shipping-rates/rates.py", "(Shipping-Rates 2.4.1, installed)", "return weight * 3"),
        ("dep:eight", "(eight 1.0, installed)", "EIGHT = 8"),
        ("dep:eight.py", "(eight 1.0, installed)", "EIGHT = 8"),
        ("dep:left/index.js", "(left 1.3.0, installed)", "module.exports"),
        ("dep:@team/pad/lib/pad.js", "(@team/pad 0.2.0, installed)", "// pads"),
        ("dep:deep/deep.js", "(deep 9.9.9, installed)", "// deep"),
    ],
)
def test_a_source_is_read_with_its_installed_version(bench, path, note, line):
    result = bench.do("read", path=path)
    assert result.ok
    assert note in result.text
    assert line in result.text


@pytest.mark.exhaustive
def test_sources_of_go_modules_and_crates_come_from_their_caches(make_bench, tmp_path):
    bench = make_bench(
        {
            "go.mod": "module x\n\nrequire (\n\tgithub.com/Team/wire v1.2.0\n)\n",
            "Cargo.lock": '[[package]]\nname = "grip"\nversion = "0.4.1"\nsource = "registry"\n',
        }
    )
    wire = tmp_path / "mod/github.com/!team/wire@v1.2.0/inner"
    grip = tmp_path / "cargo/registry/src/index-1/grip-0.4.1/src"
    for place, name in ((wire, "wire.go"), (grip, "lib.rs")):
        place.mkdir(parents=True)
        (place / name).write_text(f"// {name}\n")
    caches = {"GOMODCACHE": str(tmp_path / "mod"), "CARGO_HOME": str(tmp_path / "cargo")}
    bench.context = bench.context.with_env({**bench.context.env, **caches})
    go = bench.do("read", path="dep:github.com/Team/wire/inner/wire.go")
    assert "(github.com/Team/wire v1.2.0, installed)" in go.text
    assert "(grip 0.4.1, installed)" in bench.do("read", path="dep:grip/src/lib.rs").text
    listed = bench.do("list", path="dep:github.com/Team/wire").text
    assert "dep:github.com/Team/wire/inner/wire.go" in listed
    assert "dep:grip/src/lib.rs:1:" in bench.do("grep", q="lib", dir="dep:grip").text


def test_a_dependency_is_listed_and_searched_though_the_project_ignores_it(bench):
    listed = bench.do("list", path="dep:shipping")
    assert listed.text.split("\n")[1:] == ["dep:shipping/__init__.py", "dep:shipping/rates.py"]
    found = bench.do("grep", q="weight", dir="dep:shipping")
    assert "dep:shipping/rates.py:2:     return weight * 3" in found.text
    assert "Shipping-Rates 2.4.1" in found.text
    assert found.finding.shown[0].path == "dep:shipping/rates.py"


def test_all_that_is_installed_can_be_listed(bench):
    text = bench.do("list", path="dep:").text
    for name in ("Shipping-Rates 2.4.1", "eight 1.0", "left 1.3.0", "@team/pad 0.2.0"):
        assert f"dep:{name}" in text
    assert "gone" not in text


def test_a_name_that_is_not_installed_is_answered_with_those_that_are(bench):
    with pytest.raises(NotFound, match=r"no dependency 'shiping") as said:
        bench.do("read", path="dep:shiping-rates/x.py")
    assert "dep:Shipping-Rates" in said.value.hint
    with pytest.raises(NotFound) as said:
        bench.do("read", path="dep:shipping/nothing.py")
    assert "List its directory" in said.value.hint


@pytest.mark.parametrize(
    "path",
    [
        "dep:shipping/../../../../../app.py",
        "dep:../../../../etc/passwd",
        "dep:/etc/passwd",
        "dep:left/../../../app.py",
        "dep:.",
        "dep:..",
    ],
)
def test_it_leads_nowhere_else(bench, path):
    with pytest.raises(FlyballError):
        bench.do("read", path=path)


def test_a_link_in_a_dependency_leads_nowhere_else(bench):
    (bench.project / SITE / "shipping" / "out.py").symlink_to("/etc/passwd")
    with pytest.raises(FlyballError, match="not a path inside"):
        bench.do("read", path="dep:shipping/out.py")


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("write_file", {"path": "dep:shipping/rates.py", "content": "x = 1\n"}),
        ("delete_file", {"path": "dep:shipping/rates.py"}),
    ],
)
def test_what_is_installed_is_not_written(bench, tool, args):
    (fact,) = bench.call(tool, **args).paths
    assert "there to be read" in fact.protected


def test_a_file_of_the_workspace_with_such_a_name_is_still_there(bench):
    assert "odd name" in bench.do("read", path="./dep:local").text
