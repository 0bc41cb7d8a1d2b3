"""Reading a command, and its words as the shell will see them."""

from types import SimpleNamespace

import pytest

from flyball.shell.words import source
from flyball.shell.words.expansion import changed
from flyball.shell.words.source import MAX_DEPTH, MAX_GLOBS, MAX_HEREDOCS, MAX_LENGTH, read
from flyball.shell.words.word import VariableFacts, Word, ansi, literal, opaque, words_of


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
        ('"a\\"b\\$c \\\n d"', ['a"b$c  d']),
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


@pytest.mark.parametrize(
    ("how", "texts"),
    [
        ("", ["a.env"]),
        (",,", ["a.env"]),
        ("^", ["a.env"]),
        (":?gone", ["a.env"]),
        (":-x", ["a.env", "x"]),
        ("='b c'", ["a.env", "b c"]),
        ("-$y", ["a.env", "*"]),
        ("%env", ["a."]),
        ("%%nothing", ["a.env"]),
        ("#a", [".env"]),
        ("##a.", ["env"]),
        ("%$y", ["a.env"[:i] for i in range(6)]),
        ("#*.", ["a.env"[i:] for i in range(6)]),
        (":1", [".env"]),
        (":1:2", [".e"]),
        (": -3", ["env"]),
        (":(-3)", ["env"]),
        (":1:-1", [".en"]),
        ("/a/b", ["b.env"]),
        ("//[a]/b", []),
        ("/a", [".env"]),
        (":n", []),
        ("@U", []),
    ],
)
def test_what_is_followed(how, texts):
    assert list(changed(["a.env"], how)) == texts


def test_what_is_not_known_stays_so():
    assert changed(["*", ""], "%x") == ["*"]


def test_a_long_text_is_not_cut_everywhere():
    assert changed(["x" * 100], "%*") == []


def test_all_that_match_may_be_replaced():
    assert changed(["aa"], "//a/b") == ["bb"]
    assert changed(["aa"], "/a/b") == ["ba"]


@pytest.mark.parametrize(
    "command",
    [
        "ls -la",
        "ls a\\\n b",
        "ls a\\ b",
        'echo " $x  $y "',
        "cat <<-EOF\n\thi\n\tEOF\nls",
        "cat <<'EOF' > x\nhi\nEOF",
        "if a; then b; else c; fi\nls",
        "a=1 b=2 ls $((1+2)) ${x%.*} 2>&1 >/dev/null # hi",
        "echo 'é ü' é",
        "case $x in a) ls;; *) pwd;; esac",
    ],
)
def test_plain_commands_are_read(command):
    assert not isinstance(read(command), str)


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("x" * (MAX_LENGTH + 1), "longer"),
        ("(" * (MAX_DEPTH + 5) + "ls" + ")" * (MAX_DEPTH + 5), "nested"),
        ("cat " + "<<A " * (MAX_HEREDOCS + 1), "here-documents"),
        ("cat " + "@(a)" * (MAX_GLOBS + 1), "extended patterns"),
        ("ls\rrm", "U+000D"),
        ("ls\x0brm", "U+000B"),
        ("ls\u00a0rm", "U+00A0"),
        ("ls \u202e rm", "U+202E"),
        ("ls (", "cannot read"),
        ("ls !(x)", "cannot read"),
        ("cat <<A <<B\na\nA\nb\nB", "cannot read"),
        ("\\ ls", "leaves out"),
        ("r\\\nm x", "joins the lines"),
        ("ls \\ c", "join or split"),
        ('echo $"hi"', "join or split"),
        ("] ]# ] ", "not be a comment"),
        ("} }", "another way"),
        ('cat <<E"O"F\nhi\nEOF\nrm x', "cannot read"),
        ("cat <<EO.F\nhi\nEO.F\nrm x", "here-document"),
        ("cat <<EOF\nhi\n EOF\nrm x\nEOFx", "here-document"),
    ],
)
def test_what_a_shell_may_see_otherwise_is_refused(command, reason):
    found = read(command)
    assert isinstance(found, str)
    assert reason in found


def test_a_grammar_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(source, "PathFinder", SimpleNamespace(find_spec=lambda *_: None))
    source._parser.cache_clear()
    with pytest.raises(ImportError, match="tree_sitter_bash is not installed"):
        source.read("ls")
