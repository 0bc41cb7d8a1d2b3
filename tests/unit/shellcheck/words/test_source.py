"""Reading a command: the tree must be the one a shell would see."""

from types import SimpleNamespace

import pytest

from flyball.shellcheck.words import source
from flyball.shellcheck.words.source import MAX_DEPTH, MAX_GLOBS, MAX_HEREDOCS, MAX_LENGTH, read


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
        ("r\\\nm x", "join or split"),
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
