"""Words as the shell will see them."""

import pytest

from flyball.shellcheck.words.source import read
from flyball.shellcheck.words.word import VariableFacts, Word, ansi, literal, opaque, words_of


def words(text: str, facts: VariableFacts | None = None) -> list[Word]:
    root = read(f"x {text}")
    assert not isinstance(root, str), root
    found = []
    for node in root.children[0].children[1:]:
        found.extend(words_of(node, facts or VariableFacts()))
    return found


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("plain", ["plain"]),
        ("'a b' \"c d\"", ["a b", "c d"]),
        ("a\\ b t'ou'ch", ["a b", "touch"]),
        ("$'\\x72\\155'", ["rm"]),
        ('" a  "', [" a  "]),
        ('"a\\"b\\$c\\\nd"', ['a"b$cd']),
        ('"$HOME/x" ${HOME}/y $PWD $TMPDIR/z', ["~/x", "~/y", ".", "$TMPDIR/z"]),
        ("{a,b}c", ["ac", "bc"]),
        ("{a,b}{1..2}", ["a1", "a2", "b1", "b2"]),
        ("{c..a}", ["c", "b", "a"]),
        ("stash@{0} @{u} {}", ["stash@{0}", "@{u}", "{}"]),
        ('"$" $', ["$", "$"]),
    ],
)
def test_known_values(text, values):
    assert [word.value for word in words(text)] == values


@pytest.mark.parametrize(
    "text",
    ["$x", '"a$x"', "$(ls)", "{a,$x}", "{a,{b,c}}", "{1..999}", "{a..}", "{'a,b',c}", "$'\\0'"],
)
def test_values_that_only_the_shell_knows(text):
    assert [word.value for word in words(text)] == [None]


def test_long_brace_lists_are_not_followed():
    assert words("{1..9}{1..9}{1..9}")[0].value is None


@pytest.mark.parametrize(
    ("text", "hides"),
    [
        ("$x", True),
        ("a$x", True),
        ('"a$x"', False),
        ('"$x"', True),
        ("*", True),
        ("*.py", False),
        ("./*", False),
        ("plain", False),
    ],
)
def test_a_word_that_may_become_an_option_says_so(text, hides):
    assert words(text)[0].may_be_option is hides


def test_facts_tame_a_variable():
    facts = VariableFacts(tame=frozenset("f"), local=frozenset("f"))
    for text in ('"$f"', "${f}", '"$f.txt"'):
        word = words(text, facts)[0]
        assert word.local
        assert not word.may_be_option
    assert not words('"$f/../x"', facts)[0].local
    assert not words('"$g"', facts)[0].local


def test_a_variable_may_hold_one_of_several_texts():
    facts = VariableFacts(values={"d": ("env", "x"), "many": tuple("abcdefghi")})
    assert words(".$d", facts)[0].guesses == [".env", ".x"]
    assert words(".{a,$d}", facts)[0].guesses == [".a", ".env", ".a", ".x"]
    assert words("$many$many", facts)[0].made


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("\\n\\t\\q", "\n\tq"),
        ("\\u0041", "A"),
        ("\\cA", "\x01"),
        ("\\101", "A"),
        ("\\x00", None),
    ],
)
def test_ansi_strings_are_decoded(body, text):
    assert ansi(body) == text


def test_words_can_be_made():
    assert literal("a").known == "a"
    assert opaque("$a", head="b").known == "b"
