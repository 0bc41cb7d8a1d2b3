import pytest

from flyball.errors import FlyballError, ToolError
from flyball.terms.finding import Match

LINES = "".join(f"line {n}\n" for n in range(1, 101))


def body(result):
    return [line.partition("\t")[2] for line in result.text.split("\n") if "\t" in line]


@pytest.mark.parametrize(
    ("args", "first", "last", "more"),
    [
        ({}, "line 1", "line 100", ""),
        ({"offset": 10, "limit": 3}, "line 10", "line 12", "88 more lines: read on with offset 13"),
        ({"offset": -5}, "line 96", "line 100", ""),
        ({"offset": -10, "limit": 2}, "line 91", "line 92", "8 more lines"),
        ({"head": 2}, "line 1", "line 2", "98 more lines: read on with offset 3"),
        ({"tail": 2}, "line 99", "line 100", ""),
        ({"tail": 500}, "line 1", "line 100", ""),
    ],
)
def test_parts_of_a_file(make_bench, args, first, last, more):
    result = make_bench({"a.txt": LINES}).do("read", path="a.txt", **args)
    assert (body(result)[0], body(result)[-1]) == (first, last)
    assert more in result.text
    assert ("[" in result.text) is bool(more)
    assert result.data == {"path": "a.txt", "lines": 100}


def test_reading_beyond_the_end_says_how_long_the_file_is(make_bench):
    result = make_bench({"a.txt": LINES}).do("read", path="a.txt", offset=500)
    assert result.text == "a.txt: 100 lines, none at 500"


def test_whole_lines_are_shown_and_the_next_offset_named(make_bench):
    bench = make_bench({"a.txt": LINES}, max_text=200)
    seen, offset = [], 1
    while True:
        result = bench.do("read", path="a.txt", offset=offset)
        seen += body(result)
        if "read on with offset" not in result.text:
            break
        assert result.cut
        offset = int(result.text.rpartition("offset ")[2].rstrip("]"))
    assert "\n".join(seen) + "\n" == LINES


def test_odd_files(make_bench):
    bench = make_bench(
        {
            "crlf.txt": b"a\r\nb\r\n",
            "bin": b"\0\1\2",
            "latin": b"caf\xe9\n",
            "empty": b"",
            "min.js": "x" * 50_000,
            "d/inner.txt": "x\n",
        }
    )
    assert "CRLF" in bench.do("read", path="crlf.txt").text
    assert body(bench.do("read", path="crlf.txt")) == ["a", "b"]
    assert bench.do("read", path="bin").text == "bin is binary, 3 bytes."
    assert body(bench.do("read", path="latin")) == ["caf\ufffd"]
    assert bench.do("read", path="empty").text == "empty: 0 lines, none at 1"
    assert "48000 more characters; use `grep`" in bench.do("read", path="min.js").text
    with pytest.raises(ToolError, match="is a directory"):
        bench.do("read", path="d")


@pytest.mark.parametrize(
    ("path", "near"),
    [
        ("cart.py", "src/shop/cart.py"),
        ("src/shop/crat.py", "src/shop/cart.py"),
        ("zzz", "Use `list`"),
    ],
)
def test_a_missing_file_suggests_the_one_that_was_meant(make_bench, path, near):
    with pytest.raises(FlyballError) as caught:
        make_bench({"src/shop/cart.py": "x\n"}).do("read", path=path)
    assert near in str(caught.value)


def test_a_run_may_read_its_own_artifacts_and_no_others(make_bench):
    bench = make_bench()
    for run in ("r1", "r2"):
        place = bench.project / ".flyball" / "artifacts" / run / "k1"
        place.mkdir(parents=True)
        (place / "c1.log").write_text("whole output\n")
    assert body(bench.do("read", path=bench.context.log_name)) == ["whole output"]
    with pytest.raises(FlyballError):
        bench.do("read", path=".flyball/artifacts/r2/k1/c1.log")


def test_a_call_id_cannot_lead_out_of_the_artifacts(make_bench):
    context = make_bench().context._replace(call="../../../../etc/x")
    assert context.log.parent == context.artifacts


def test_listing_leaves_out_what_is_ignored_and_what_is_installed(make_bench):
    files = {".gitignore": "*.log\nout/\n", "src/a.py": "", "src/deep/b.py": "", "c.txt": ""}
    extra = {"x.log": "", "out/y": "", "node_modules/m/i.js": "", ".hidden": ""}
    bench = make_bench({**files})
    bench.put(extra)
    result = bench.do("list")
    listed = result.text.split("\n")[1:]
    assert listed == [".gitignore", ".hidden", "c.txt", "src/a.py", "src/deep/b.py"]
    assert result.data == {"count": 5}
    assert bench.do("list", pattern="*.py").text.endswith("src/a.py\nsrc/deep/b.py")
    assert bench.do("list", path="src", pattern="deep/*").text.endswith("src/deep/b.py")
    assert bench.do("list", pattern="src/**/*.py").text.endswith("src/a.py\nsrc/deep/b.py")
    assert bench.do("list", pattern="**/*.py").text.endswith("src/a.py\nsrc/deep/b.py")
    assert bench.do("list", path="src", pattern="**/b.py").text.endswith("src/deep/b.py")
    assert bench.do("list", path="src", pattern="**/a.py").text.endswith("src/a.py")
    assert bench.do("list", pattern="**/deep/").text.endswith("src/deep/b.py")
    assert bench.do("list", pattern="src/*.py").text.endswith("in .\nsrc/a.py")
    assert "src/ (2 files)" in bench.do("list", depth=1).text
    assert bench.do("list", path="src", depth=1).text.endswith("src/a.py\nsrc/deep/ (1 files)")


def test_a_long_listing_is_shown_by_directory_or_cut_with_a_hint(make_bench):
    bench = make_bench({f"d{n % 3}/f{n}.py": "" for n in range(60)})
    assert "d0/ (20 files)\nd1/ (20 files)" in bench.do("list", max=10).text
    cut = bench.do("list", pattern="*.py", max=10)
    assert "[50 more lines. Narrow it with `path`, `pattern` or `depth`.]" in cut.text
    with pytest.raises(FlyballError, match="no directory"):
        bench.do("list", path="nowhere")
    with pytest.raises(FlyballError, match="not a directory"):
        bench.do("list", path="d0/f0.py")


def test_more_context_than_there_is_gives_the_most(make_bench):
    bench = make_bench({"a.py": "x\n" * 200 + "two\n" + "y\n" * 200})
    found = bench.do("grep", q="two", context=110)
    assert found.ok
    lines = found.text.split("\n")[1:]
    assert 3 < len(lines) < 2 * 110 and len(lines) % 2
    assert len(lines) == len(bench.do("grep", q="two", context=50).text.split("\n")[1:])


def test_searching(make_bench):
    bench = make_bench({"a.py": "one\ntwo\nthree\n", "sub/b.txt": "two\n", "c.md": "a.b\naxb\n"})
    found = bench.do("grep", q="two")
    assert found.text == "2 matches in 2 files for two\na.py:2: two\nsub/b.txt:1: two"
    assert found.data == {"matches": 2, "files": 2}
    assert found.finding.shown == (Match("a.py", 2, "two"), Match("sub/b.txt", 1, "two"))
    around = bench.do("grep", q="two", context=1, globs=["*.py"])
    assert around.text.split("\n")[1:] == ["a.py-1- one", "a.py:2: two", "a.py-3- three"]
    assert around.finding.shown == (Match("a.py", 2, "two"),)
    assert bench.do("grep", q="two", dir="sub").data["matches"] == 1
    assert bench.do("grep", q="two", dir="a.py").data["matches"] == 1
    assert bench.do("grep", q="a.b", literal=True).data["matches"] == 1
    assert bench.do("grep", q="TWO", ignore_case=True).data["matches"] == 2
    assert bench.do("grep", q="nothing here").text == "0 matches in 0 files for nothing here"
    assert "[1 more matches." in bench.do("grep", q="two", max=1).text
    assert bench.do("grep", q="-v").ok


def test_a_search_that_cannot_be_made_is_a_clear_sentence(make_bench):
    result = make_bench().do("grep", q="(open")
    assert not result.ok
    assert "cannot be made" in result.text
    assert "`literal: true`" in result.text


def test_a_search_follows_no_link_and_obeys_no_planted_settings(make_bench, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("needle\n")
    bench = make_bench({".ripgreprc": "--pre=touch\n", "a.txt": "needle\n"})
    (bench.root / "link").symlink_to(outside)
    (bench.root / "file").symlink_to(outside / "secret.txt")
    assert bench.do("grep", q="needle").text.endswith("\na.txt:1: needle")
    with pytest.raises(ToolError, match="not a path inside the workspace"):
        bench.do("grep", q="needle", dir="link")


def test_search_names_the_files_it_skipped(make_bench):
    bench = make_bench(
        {"a.txt": "needle\n", "fixtures/.env": "needle\n", "certs/test.pem": "needle\n"},
        in_place=True,
        ignored={".env": "needle\n", "k[1]/own {a}*.key": "needle\n"},
    )
    found = bench.do("grep", q="needle")
    assert [each.path for each in found.finding.shown] == [
        "a.txt",
        "certs/test.pem",
        "fixtures/.env",
    ]
    said = "[not searched, because they may contain the user's secrets: .env, k[1]/own {a}*.key]"
    assert said in found.text
    # Nor does what is said depend on what is in them.
    assert said in bench.do("grep", q="nowhere").text
    for named in (".env", "k[1]/own {a}*.key"):
        assert bench.do("grep", q="needle", dir=named).data["matches"] == 0
        assert bench.do("grep", q="needle", globs=["*.env", "*.key"]).data["matches"] == 1


def test_long_lines_and_many_matches_stay_bounded(make_bench):
    bench = make_bench({"min.js": "needle" + "x" * 10_000, "many.txt": "needle\n" * 5_000})
    result = bench.do("grep", q="needle", max=5_000)
    assert len(result.text) < 17_000
    assert result.cut
    assert 500 < len(result.finding.shown) < 2_000
    assert "[… 9606 more characters]" in bench.do("grep", q="needle", globs=["*.js"]).text


def test_history(make_bench, git_in):
    bench = make_bench({"a.py": "x\n", "b.py": "y\n"})
    assert ": start" in bench.do("git_log").text
    assert "+x" in bench.do("git_log", patch=True, path="a.py").text
    assert "+y" not in bench.do("git_log", patch=True, path="a.py").text
    assert bench.do("git_log", path="none.py").text == "No commits."


def test_the_project_is_described(make_bench):
    bench = make_bench({"tests/test_a.py": "def test_a(): pass\n", "src/a.py": "", "Makefile": ""})
    result = bench.do("project")
    assert "Project project, 3 files." in result.text
    assert result.data["runners"] == ["pytest"]
    assert result.data["checks"] == ["compileall"]
    assert "The top (make): tests: pytest; checks: compileall." in result.text


def test_every_part_of_a_project_is_described(make_bench):
    files = {
        "api/pyproject.toml": "",
        "api/test_a.py": "def test_a(): pass\n",
        "web/package.json": '{"name": "web", "scripts": {"test": "node run.js", "build": "x"}}',
        "site/package.json": '{"dependencies": {"web": "*"}}',
    }
    result = make_bench(files).do("project")
    assert "api (python): tests: pytest; checks: none." in result.text
    assert "web (node): tests: npm (`node run.js`); checks: build." in result.text
    assert "site (node): tests: no known test runner; checks: none. Needs: web." in result.text
    assert [part.get("path", ".") for part in result.data["parts"]] == [".", "api", "site", "web"]
