"""Statements, expressions, redirections and assignments."""

import pytest

from flyball.shell import judge
from flyball.shell.judgement import CommandKind
from flyball.shell.walk.expression import examine
from flyball.shell.walk.walk import Walk
from flyball.shell.words.place import Scope
from flyball.shell.words.source import read


def kinds(command: str) -> set[str]:
    return {part.kind.value for part in judge(command).parts}


@pytest.mark.parametrize(
    "command",
    [
        "if test -f a; then cat a; elif test -f b; then cat b; else ls; fi",
        "while read -r x; do echo $x; done < f",
        "until ls; do pwd; done",
        "for ((i=0; i<3; i++)); do echo $i; done",
        "for x; do echo $x; done",
        "i=0; while [ $i -lt 3 ]; do i=$((i + 1)); done",
        "case $x in a|b) ls;; *) pwd;; esac",
        "((i++))",
        "[[ -f a || -f b ]]",
        "! [[ -f a && -d b ]]",
        "[[ $x == a && $y =~ ^(a|b)$ ]]",
        "echo ${x:-y} ${x%.*} ${#x} ${x^^} ${x:1:2} ${a[0]} ${a[@]} ${x:=y}",
        "[[ $x -eq 3 && ( -n $y ) ]]",
        "[ ! -f a ]",
        "export A_b=1 || declare -p || unset x",
        "export",
        "readonly x",
        "x= ls",
        "GIT_PAGER=cat git log",
        "exec 2>&1 3>&-",
        "cat <<EOF a\nhi $x\nEOF",
        "cat <<EOF | wc -l\nhi\nEOF",
        "cat <<'EOF' && ls\n$(touch x) `touch y`\nEOF",
        "echo $(<f)",
        "ls < f 2>/dev/null >&2 2>&-",
        "rev <<< $x",
    ],
)
def test_harmless_constructs(command):
    assert judge(command, phase="execute").decision == "allow", judge(command).reason
    assert "unknown" not in kinds(command)


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("f() { ls; }", "function"),
        ("(ls) > a b", "words follow"),
        ("a[0]=x", "index"),
        ("[[ -v x ]]", "-v"),
        ("unset 'a[1]'", "plain name"),
        ("declare -n a=b", "declares"),
        ("export PATH", "controlling"),
        ("for IFS in a; do ls; done", "IFS"),
        ("echo ${!x}", "holds"),
        ("echo ${x@P}", "holds"),
        ("echo ${PATH:=x}", "controlling"),
        ("x=a; echo $((x))", "evaluates"),
        ("echo $(('a'))", "not understood"),
        ("ls > $x", "only known"),
        ("ls > a*", "only known"),
        ("cat < /dev/tcp/a/1", "network"),
        ("cat <<EOF\n${x@P}\nEOF", "quote it"),
        ("PYTHONPATH=/x pytest", "outside"),
        ("PYTHONPATH=$x pytest", "outside"),
    ],
)
def test_refused_constructs(command, reason):
    answer = judge(command, phase="execute")
    assert answer.decision == "deny"
    assert any(reason in part.reason for part in answer.parts), answer.parts


def test_a_directory_change_ends_with_its_shell():
    assert judge("(cd sub && ls); git status", phase="recon").decision == "allow"
    assert judge("cd sub | ls; git status", phase="recon").decision == "allow"
    assert judge("echo $(cd sub); git status", phase="recon").decision == "allow"
    assert judge("echo $(cd ..); git status", phase="recon").decision == "allow"
    assert judge("cd ..; git status", phase="recon").decision == "deny"


def test_a_repository_in_a_folder_may_run_code_of_the_workspace():
    for command in ("git -C sub status", "cd sub && git status", "git -C sub -c color.ui=no log"):
        assert judge(command, phase="recon").kind is CommandKind.VERIFICATION, command
    for command in ("git -C . status", "git -C sub/.. status"):
        assert judge(command, phase="recon").kind is CommandKind.READ_ONLY, command
    for command in ("git -C ../x status", "git -C $x status", "git -C s* status", "git -C"):
        assert judge(command, phase="recon").kind is CommandKind.UNKNOWN, command


def test_a_name_that_nobody_sets_is_empty_in_a_fresh_shell():
    for command in ('find "$dir" -name x', "find $dir", "git log ${x}", 'sort "$@"', "sort $1"):
        assert judge(command, phase="recon").decision == "allow", command
        assert judge(command, phase="recon", fresh=False).decision == "deny", command
    for command in ("find $_", "find $BASH_COMMAND", "find $dir-delete", "sh -c 'find $dir'"):
        assert judge(command, phase="recon").decision == "deny", command


def test_a_read_file_must_not_be_named_by_made_up_text():
    for command in (
        "cat $(git ls-files)",
        "cat $(echo a)",
        "echo a | xargs cat",
        "cat <(echo .env)",
    ):
        assert judge(command, phase="recon").decision == "allow", command
    for command in ("cat $(echo $x | rev)", "cat $(rev <<< a)", "echo a | rev | xargs cat"):
        assert judge(command, phase="recon").decision == "deny", command
    for command in ("echo a | while read f; do cat $f; done", "echo .env | (cat)"):
        refused = ".env" in command
        assert (judge(command, phase="recon").decision == "deny") is refused, command
    for command in ("x=$(echo a | rev); echo $x", "for i in $(echo a | tr b c); do echo $i; done"):
        assert judge(command, phase="recon").decision == "allow", command


def test_search_paths_inside_let_project_code_run():
    assert judge("PYTHONPATH=src:. ls", phase="recon").kind is CommandKind.VERIFICATION
    assert judge("PYTHONPATH= ls", phase="recon").kind is CommandKind.VERIFICATION


def test_unknown_variables_wait_for_execute():
    assert judge("API_URL=x pytest", phase="recon").decision == "deny"
    assert judge("API_URL=x pytest", phase="execute").decision == "allow"


def test_loops_over_local_paths_may_write_in_execute():
    assert judge('for f in src/*.js; do sed -i s/a/b/ "$f"; done').decision == "allow"
    assert judge('for f in a b; do echo x > "$f.txt"; done').decision == "allow"
    assert judge('for f in ../a /b; do touch "$f"; done').decision == "deny"
    assert judge('for f in $(ls); do touch "$f"; done').decision == "deny"


def test_secrets_in_loops_assignments_and_redirections():
    for command in ("for f in ~/.ssh/*; do cat $f; done", "f=~/.netrc; cat $f", "cat < .env"):
        assert judge(command, phase="recon").decision == "deny"


def test_node_types_without_a_handler_are_unknown():
    root = read("ls -l")
    assert not isinstance(root, str)
    command = root.children[0]
    walk = Walk(Scope())
    walk.visit(command.children[1])
    examine(walk, command)
    assert [finding.kind for finding in walk.findings] == [CommandKind.UNKNOWN, CommandKind.UNKNOWN]
    assert all("not understood" in finding.reason for finding in walk.findings)


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("read <<< x; echo $((REPLY))", "what REPLY holds"),
        ("command read y <<< x; echo $((y))", "what y holds"),
        ("read y <<< x; echo $((${y}))", "what y holds"),
        ("bash -c 'echo $(($1))' a b", "what $1 holds"),
        ("echo $(( $(cat f) ))", "what a command prints"),
        ("declare -a x='(1)'", "evaluated again"),
        ('declare -a x="$y"', "evaluated again"),
        ('x=(1); declare x="$y"', "evaluated again"),
        ("a=([$y]=1)", "not plain"),
        ("y=$(ls); a=([y]=1)", "what y holds"),
        ("PWD=-ox; ls", "setting PWD"),
        ("unset PWD", "not a plain name"),
    ],
)
def test_text_that_a_shell_evaluates_again(command, reason):
    assert any(reason in part.reason for part in judge(command, fresh=False).parts)
    assert judge(command, phase="recon", fresh=False).decision == "deny"


@pytest.mark.parametrize(
    "command",
    [
        "declare -A m=([a]=1 ['b c']=2)",
        'declare x="$y"',
        "echo $(( $(wc -l < f) + ${#x} + ${y:-1} ))",
        "echo $((BASH_SUBSHELL + $# + $?))",
    ],
)
def test_counting_and_lists_that_hold_no_surprise(command):
    assert judge(command, phase="recon", fresh=False).decision == "allow", judge(command).reason
