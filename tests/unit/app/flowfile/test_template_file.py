import os
import textwrap

import pytest

from flyball.app.flowfile.template_file import MAX_BYTES, parse_source, read_source
from flyball.plan.flow import FlowSource, Problem


def parse(name, text):
    data = text if isinstance(text, bytes) else textwrap.dedent(text).encode()
    return parse_source(name, data)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "f.json",
            """\
            {
              "a": 1, "b": [
                "x",
                {"c": null}
              ],
              "d": {},
              "e": [], "f": -1.5e3, "g": true, "h": "\\u00e9\\n"
            }
            """,
        ),
        (
            "f.yaml",
            """\
            ---
            a: 1
            b: [
                "x",
                {c: null}]
            d: {}
            e: []
            f: -1500.0
            g: true
            h: "é\\n"
            """,
        ),
    ],
)
def test_values_are_read_with_their_lines(name, text):
    source = parse(name, text)
    assert source.value == {
        "a": 1,
        "b": ["x", {"c": None}],
        "d": {},
        "e": [],
        "f": -1500.0,
        "g": True,
        "h": "é\n",
    }
    assert source.lines["a",] == 2
    assert source.lines["b", 0] in (3, 4)
    assert source.lines["b", 1, "c"] == source.lines["b", 0] + 1
    assert source.lines["d",] == 6


def test_toml_lines_are_found_in_every_way_to_write_a_key():
    source = parse(
        "f.toml",
        '''\
        # a comment with = and [brackets]
        top = 1
        "quoted.key" = 'x'
        dotted.deep.key = [
          1, # one
          [2, { inner = "x", list = [
            3] }],
        ]
        text = """
        [not.a.table]
        fake = \\"""
        """
        literal = \'\'\'
        [[also.not]]\'\'\'
        when = 1979-05-27T07:32:00Z
        empty = {}

        [table . "with space"]
        key = 1

        [[many]]
        name = "a" # first
        [many.sub]
        x = 1
        [[many.items]]
        y = 1
        [[many.items]]
        y = 2
        [[many]]
        name = "b"
        [[many.items]]
        y = 3
        ''',
    )
    assert isinstance(source, FlowSource)
    expected = {
        ("top",): 2,
        ("quoted.key",): 3,
        ("dotted",): 4,
        ("dotted", "deep", "key"): 4,
        ("dotted", "deep", "key", 0): 5,
        ("dotted", "deep", "key", 1): 6,
        ("dotted", "deep", "key", 1, 1, "inner"): 6,
        ("dotted", "deep", "key", 1, 1, "list", 0): 7,
        ("text",): 9,
        ("literal",): 13,
        ("when",): 15,
        ("empty",): 16,
        ("table", "with space", "key"): 19,
        ("many",): 21,
        ("many", 0): 21,
        ("many", 0, "name"): 22,
        ("many", 0, "sub", "x"): 24,
        ("many", 0, "items", 0): 25,
        ("many", 0, "items", 1, "y"): 28,
        ("many", 1): 29,
        ("many", 1, "items", 0, "y"): 32,
    }
    assert {path: source.lines[path] for path in expected} == expected
    assert ("not", "a", "table") not in source.lines


def test_yaml_anchors_and_merges_are_followed():
    source = parse(
        "f.yaml",
        """\
        base: &base {x: 1, y: 2}
        more: &more {y: 3, z: 4}
        one:
          <<: *base
          y: 5
        two:
          <<: [*base, *more]
        three: *base
        """,
    )
    assert source.value["one"] == {"x": 1, "y": 5}
    assert source.value["two"] == {"x": 1, "y": 2, "z": 4}
    assert source.value["three"] == {"x": 1, "y": 2}
    assert source.lines["one", "y"] == 5
    assert source.lines["one", "x"] == 1


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("f.json", '{"a": 1,\n"b": 2}'),
        ("f.toml", "a = 1\nb = 2\n"),
        ("f.yaml", "a: 1\nb: 2\n"),
    ],
)
def test_byte_order_marks_and_line_endings_do_not_matter(name, text, bom, ending):
    source = parse_source(name, bom + text.replace("\n", ending).encode())
    assert source.value == {"a": 1, "b": 2}
    assert (source.lines["a",], source.lines["b",]) == (1, 2)


def test_exotic_line_separators_do_not_shift_lines():
    source = parse_source("f.yaml", 'a: "x\u2028y"\nb: 2\n'.encode())
    assert source.lines["b",] == 2


@pytest.mark.parametrize(
    ("name", "text", "line", "code"),
    [
        ("f.json", "{", 1, "broken-json"),
        ("f.json", '{"a"', 1, "broken-json"),
        ("f.json", '{"a" 1}', 1, "broken-json"),
        ("f.json", '{"a": 1\n "b": 2}', 2, "broken-json"),
        ("f.json", '{"a": 1,\n}', 2, "broken-json"),
        ("f.json", "{a: 1}", 1, "broken-json"),
        ("f.json", '{"a":\n', 2, "broken-json"),
        ("f.json", "[1,\n]", 2, "broken-json"),
        ("f.json", "[1 2]", 1, "broken-json"),
        ("f.json", "[1,\n2", 2, "broken-json"),
        ("f.json", '["a\nb"]', 1, "broken-json"),
        ("f.json", '["a', 1, "broken-json"),
        ("f.json", '["\\x"]', 1, "broken-json"),
        ("f.json", "[01]", 1, "broken-json"),
        ("f.json", "[1.]", 1, "broken-json"),
        ("f.json", "[NaN]", 1, "broken-json"),
        ("f.json", "\n['a']", 2, "broken-json"),
        ("f.json", "{} {}", 1, "broken-json"),
        ("f.json", "// note\n{}", 1, "broken-json"),
        ("f.json", '{"a": 1}\n# end', 2, "broken-json"),
        ("f.json", "[" + "9" * 5000 + "]", 1, "broken-json"),
        ("f.json", "[" * 100_000, 1, "too-deep"),
        ("f.json", "[" + "1," * 60_000 + "1]", 1, "too-large"),
        ("f.json", '{"a": 1,\n"a": 2}', 2, "duplicate-key"),
        ("f.toml", "a = ", 1, "broken-toml"),
        ("f.toml", "a = 1\nb 2", 2, "broken-toml"),
        ("f.toml", "a = 1\na = 2", 2, "duplicate-key"),
        ("f.toml", "[a]\n[a]", 2, "duplicate-key"),
        ("f.toml", 'a = "x', 1, "broken-toml"),
        ("f.toml", "a = 1\nb = " + "[" * 100_000, 2, "too-deep"),
        ("f.toml", "a = " + "9" * 5000, 1, "broken-toml"),
        ("f.toml", "a = " + "[" * 70 + "]" * 70, 1, "too-deep"),
        ("f.yaml", "a: b: c", 1, "broken-yaml"),
        ("f.yaml", "a: 1\n\tb: 2", 2, "broken-yaml"),
        ("f.yaml", "a: 1\n b: 2", 2, "broken-yaml"),
        ("f.yaml", "a: [1,\nb: 2", 2, "broken-yaml"),
        ("f.yaml", "a: 1\n---\nb: 2", 2, "broken-yaml"),
        ("f.yaml", "a: *nobody", 1, "broken-yaml"),
        ("f.yaml", "a: !mine x", 1, "broken-yaml"),
        ("f.yaml", "a: !mine {x: 1}", 1, "broken-yaml"),
        ("f.yaml", "? [a]\n: 1", 1, "broken-yaml"),
        ("f.yaml", "<<: 3", 1, "broken-yaml"),
        ("f.yaml", "a: 1\nb: \x07", 2, "broken-yaml"),
        ("f.yaml", "x: 1\nwhen: 2020-13-45", 2, "broken-yaml"),
        ("f.yaml", "a: " + "9" * 5000, 1, "broken-yaml"),
        ("f.yaml", 'a: "\\Uffffffff"', 1, "broken-yaml"),
        ("f.yaml", "[" * 100_000, 1, "too-deep"),
        ("f.yaml", "[" * 120 + "]" * 120, 1, "too-deep"),
        ("f.yaml", "a:\n" + "- " * 2_000, 2, "too-deep"),
        ("f.yaml", "&a\n<<: *a\n", 1, "too-deep"),
        ("f.yaml", "a: 1\nb: 2\na: 3", 3, "duplicate-key"),
        ("f.yml", "\u0000", 1, "broken-yaml"),
        ("f.json", "  \n ", 1, "empty-file"),
        ("f.toml", b"", 1, "empty-file"),
        ("f.json", b'{"a":\n"\xff"}', 2, "not-utf8"),
        ("f.json", '{"a": 1}'.encode("utf-16"), 1, "not-utf8"),
        ("f.txt", "{}", 0, "unknown-format"),
        ("flow", "{}", 0, "unknown-format"),
        ("f.json", b" " * (MAX_BYTES + 1), 0, "too-large"),
    ],
)
def test_what_cannot_be_read_is_a_problem_with_a_line(name, text, line, code):
    found = parse(name, text)
    assert isinstance(found, Problem)
    assert (found.line, found.code) == (line, code)
    assert found.message.endswith(".")
    assert found.hint
    assert str(found).isprintable()


def test_a_yaml_merge_bomb_is_refused():
    lines = ["a0: &a0 {k: v}"]
    lines += [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 12)]
    found = parse_source("f.yaml", "\n".join(lines).encode())
    assert found.code == "too-large"


def test_a_yaml_file_of_comments_holds_nothing():
    assert parse("f.yaml", "# nothing\n").value is None


def test_files_are_read_from_disk(tmp_path):
    path = tmp_path / "f.yaml"
    path.write_text("a: 1\n", encoding="utf-8")
    assert read_source(str(path)).value == {"a": 1}


def test_what_is_no_readable_file_is_a_problem(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "link.json").symlink_to(tmp_path / "link.json")
    found = {
        name: read_source(name).code
        for name in (
            str(tmp_path),
            str(tmp_path / "none.json"),
            str(tmp_path / "pipe.json"),
            str(tmp_path / "link.json"),
            str(tmp_path / "none.json" / "x"),
            "nul\0.json",
            "x" * 5000 + ".json",
        )
    }
    assert list(found.values()) == [
        "not-a-file",
        "not-found",
        "not-a-file",
        "not-readable",
        "not-found",
        "not-readable",
        "not-readable",
    ]
