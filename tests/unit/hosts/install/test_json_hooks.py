"""Hooks go into a settings text and come out again, and every other byte stays."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.unit.hosts.install.settings_texts import ODD_TEXTS, TEXTS

from flyball.errors import BrokenSettings
from flyball.hosts.install import json_hooks
from flyball.hosts.install.jsonc import BLOCK_COMMENT, LINE_COMMENT, JsonNode, scan
from flyball.hosts.install.targets import HOSTS, wanted_hooks

EXECUTABLE = "/opt/my tools/bin/flyball-hook"
HOOKS = {name: wanted_hooks(host, EXECUTABLE) for name, host in HOSTS.items() if host.events}
ALL = {**TEXTS, **ODD_TEXTS}
NAMES = sorted(ALL)


def install(text: str, host: str = "claude") -> json_hooks.Merged:
    return json_hooks.put_in(text, "settings.json", HOOKS[host])


def remove(text: str, put: tuple[json_hooks.InsertedText, ...] | None, host: str = "claude") -> str:
    return json_hooks.take_out(text, "settings.json", host, put)


@pytest.mark.parametrize("host", HOOKS)
@pytest.mark.parametrize("name", NAMES)
def test_in_and_out_again_is_the_same_to_the_byte(name: str, host: str):
    merged = install(ALL[name], host)

    assert json_hooks.is_installed(scan(merged.text, ""), HOOKS[host], host)
    assert remove(merged.text, merged.put, host) == ALL[name]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_lost_and_nothing_moves(name: str):
    """What was there is there in the same order: take our bytes away and the rest is the text."""
    before, after = ALL[name], install(ALL[name]).text
    at = 0
    for letter in before:
        at = after.index(letter, at) + 1


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_strict_json_stays_strict_json(name: str):
    text = install(TEXTS[name]).text
    value = json.loads(text.removeprefix("\ufeff"))

    assert value == scan(text, "").value
    assert set(HOOKS["claude"]) <= set(value["hooks"])


@pytest.mark.parametrize("name", NAMES)
def test_no_comment_and_no_comma_is_added(name: str):
    def kinds(text: str) -> Counter[str]:
        return Counter(each.kind for each in scan(text, "").oddities)

    assert kinds(install(ALL[name]).text) == kinds(ALL[name])


@pytest.mark.parametrize("name", NAMES)
def test_hooks_are_removed_without_a_record(name: str):
    value = scan(remove(install(ALL[name]).text, None), "").value
    doc = scan(ALL[name], "").value
    before = doc if isinstance(doc, dict) else {}

    assert isinstance(value, dict)
    rest = {key: each for key, each in value.items() if key != "hooks"}
    assert rest == {key: each for key, each in before.items() if key != "hooks"}
    kept = {e: g for e, g in value.get("hooks", {}).items() if g != []}
    assert kept == {e: g for e, g in before.get("hooks", {}).items() if g != []}


def test_the_layout_of_the_file_is_taken_over():
    text = install(TEXTS["tabs"]).text
    crlf = install(TEXTS["carriage returns"]).text

    assert '\n\t"hooks": {\n\t\t"SessionStart": [' in text
    assert "\n" not in crlf.replace("\r\n", "")
    assert "\n" not in install(TEXTS["one line"]).text


def test_a_note_stays_with_what_it_is_about():
    text = install(ODD_TEXTS["comments everywhere"]).text

    assert '{"x": 1}, // f\n      {"hooks"' in text


def test_we_come_last_because_codex_trusts_hooks_by_their_position():
    value = json.loads(install(TEXTS["our events used by others"]).text)

    stop = value["hooks"]["Stop"]
    assert [len(stop), stop[-1]] == [3, HOOKS["claude"]["Stop"]]


@pytest.mark.parametrize("name", NAMES)
def test_reformatted_file_is_cleaned_by_meaning(name: str):
    """Claude Code itself rewrites its settings when a person allows something for ever."""
    merged = install(ALL[name])
    printed = json.dumps(scan(merged.text, "").value, indent=2)
    before = scan(ALL[name], "").value
    rest = remove(printed, merged.put)

    if before is None:
        assert rest == ""
    else:
        assert json.loads(rest) == before
        assert rest.replace(" ", "").replace("\n", "") == json.dumps(before).replace(" ", "")


def test_what_others_add_to_what_we_made_stays():
    merged = install("{}\n")
    other = {"matcher": "Bash", "hooks": [{"type": "command", "command": "guard.sh"}]}
    value = json.loads(merged.text)
    value["hooks"]["Stop"].append(other)
    value["hooks"]["PreToolUse"][0]["hooks"].insert(0, {"type": "command", "command": "mine"})
    value["model"] = "opus"

    rest = json.loads(remove(json.dumps(value, indent=4), merged.put))

    mine = {"hooks": [{"type": "command", "command": "mine"}]}
    assert rest == {"hooks": {"PreToolUse": [mine], "Stop": [other]}, "model": "opus"}


def test_a_comment_in_what_we_made_is_not_ours():
    merged = install('{\n  "a": 1\n}\n')
    noted = merged.text.replace('"hooks": {', '"hooks": { // since May', 1)

    assert remove(noted, merged.put) == '{\n  "a": 1,\n  "hooks": { // since May\n  }\n}\n'


def test_a_line_comment_never_swallows_what_follows():
    merged = install('{"hooks": {"Stop": [\n  {"x": 1} // note\n]}}')
    joined = merged.text.replace("600}]}\n]", '600}]}, {"y": 2}]')
    assert joined != merged.text

    rest = scan(remove(joined, merged.put), "").value
    assert rest == {"hooks": {"Stop": [{"x": 1}, {"y": 2}]}}


@pytest.mark.parametrize(
    "command",
    ["/x/flyball-hook codex", "flyball-hook", "my-flyball-hook claude", "echo 'open", "", 7],
)
def test_what_is_not_ours_is_not_taken(command: object):
    text = json.dumps({"hooks": {"Stop": [{"hooks": [{"command": command}]}, 7, {"hooks": 1}]}})

    assert remove(text, None) == text


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"a": }', "1:7"),
        ('{\n  "a": 1\n  "b": 2\n}', "3:3"),
        ('{\n  "hooks": []\n}', "2:12"),
        ('{\n  "hooks": {"Stop": {}}\n}', "2:21"),
        ("[]", "1:1"),
        ('{"a": 1} x', "1:10"),
        ('{"a": 1', "1:8"),
        ("{'a': 1}", "1:2"),
        ('{"a": "b\nc"}', "1:9"),
        ('{"a": /* b', "1:7"),
        ("[1,,2]", "1:4"),
        ('{"a": nul}', "1:7"),
        ('{"a": 01}', "1:7"),
        ('{"a" 1}', "1:6"),
        ("[" * 200, "1:101"),
    ],
)
def test_a_broken_file_is_refused_with_its_place(text: str, where: str):
    with pytest.raises(BrokenSettings) as caught:
        install(text)
    assert caught.value.place == where
    assert str(caught.value).startswith(f"settings.json:{where}: ")


# Random documents: any value, laid out in any way, edited elsewhere in between.

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)
EVENTS = st.sampled_from(["Stop", "PreToolUse", "SessionEnd", "Notification", "x"])
SETTINGS = st.one_of(
    st.dictionaries(st.text(max_size=4), VALUES, max_size=3),
    st.builds(
        lambda before, hooks, after: {**before, "hooks": hooks, **after},
        st.dictionaries(st.text(max_size=3), VALUES, max_size=2),
        st.dictionaries(EVENTS, st.lists(VALUES, max_size=2), max_size=3),
        st.dictionaries(st.text(max_size=3), VALUES, max_size=2),
    ),
).filter(lambda value: is_mergeable(value.get("hooks", {})))


def is_mergeable(hooks: object) -> bool:
    return isinstance(hooks, dict) and all(isinstance(each, list) for each in hooks.values())


SPACES = st.sampled_from(
    ["", "", " ", "\n", "\n  ", "\t", "\r\n    ", " /* é */ ", " // c\n", "\n\n"]
)


class Printer:
    """Prints a value with any space, comment and trailing comma that JSON with comments allows."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw

    def space(self) -> str:
        return self.draw(SPACES)

    def value(self, value: object) -> str:
        match value:
            case dict():
                rows = [f"{json.dumps(k)}{self.space()}:{self.around(v)}" for k, v in value.items()]
                return self.container("{", rows, "}")
            case list():
                return self.container("[", [self.around(each) for each in value], "]")
            case _:
                return json.dumps(value, ensure_ascii=self.draw(st.booleans()))

    def around(self, value: object) -> str:
        return self.space() + self.value(value) + self.space()

    def container(self, first: str, rows: list[str], last: str) -> str:
        comma = "," if rows and self.draw(st.integers(0, 5)) == 0 else ""
        inner = ",".join(self.space() + row for row in rows)
        return first + inner + comma + self.space() + last


@st.composite
def texts(draw: st.DrawFn) -> str:
    printer = Printer(draw)
    mark = "\ufeff" if draw(st.integers(0, 9)) == 0 else ""
    # Lone surrogates cannot be in a UTF-8 file; as escapes they can.
    text = mark + printer.around(draw(SETTINGS))
    return text.encode("utf-8", "backslashreplace").decode()


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(texts())
def test_any_document_comes_back_to_the_byte(text: str):
    merged = install(text)

    assert json_hooks.is_installed(scan(merged.text, ""), HOOKS["claude"], "claude")
    assert remove(merged.text, merged.put) == text
    without = scan(remove(merged.text, None), "")
    assert not json_hooks.has_ours(without, "claude")


def places(node: JsonNode) -> list[tuple[int, int, str]]:
    """Where something can be edited that is not ours: before an element, and in its place."""
    found: list[tuple[int, int, str]] = []
    for part in node.parts:
        found.append((part.start, part.start, '"new": 1, ' if part.key is not None else "7, "))
        if not part.node.parts and not isinstance(part.node.value, dict | list):
            found.append((part.node.start, part.node.end, '"edited"'))
        found += places(part.node)
    return found


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(texts(), st.data())
def test_an_edit_elsewhere_in_between_is_kept_to_the_byte(text: str, data: st.DataObject):
    merged = install(text)
    root = scan(text, "").root
    assert root is not None
    assume(choices := places(root))
    start, end, new = data.draw(st.sampled_from(choices))
    ahead = matching(text, merged.text, start)
    edited = merged.text[:ahead] + new + merged.text[ahead + end - start :]

    assert remove(edited, merged.put) == text[:start] + new + text[end:]


def matching(before: str, after: str, offset: int) -> int:
    """Where the letter at an offset of a text is after our hooks were put in."""
    old, new = scan(before, ""), scan(after, "")
    assert old.root is not None and new.root is not None
    return dict(starts(old.root, new.root))[offset]


def starts(old: JsonNode, new: JsonNode) -> list[tuple[int, int]]:
    found = [(old.start, new.start)]
    for mine, theirs in zip(old.parts, new.parts, strict=False):
        found += [(mine.start, theirs.start), *starts(mine.node, theirs.node)]
    return found


def test_comments_are_recognized():
    doc = scan("{} // a\n/* b */", "")

    assert [each.kind for each in doc.comments()] == [LINE_COMMENT, BLOCK_COMMENT]
