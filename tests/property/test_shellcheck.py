"""What is allowed in recon changes nothing, whatever a real shell makes of it."""

import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.tiers import sampled

from flyball.shell import CommandKind, Judgement, cannot_fail, judge, verification_kind

HARMLESS = (
    "ls",
    "cat f",
    "echo",
    "echo hi",
    "f",
    "-la",
    "sed -n p f",
    "sed",
    "awk",
    "find .",
    "sort f",
    "-e",
    "grep a f",
    "-n",
    "p",
    "'",
    '"',
    "\\",
    "\\\n",
    "\t",
    "\n",
    "$",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "#",
    "!",
    "~",
    "*",
    "a",
    "=",
    "x=1",
    "x='a'",
    "$x",
    "${x}",
    '"$x"',
    "$((1+1))",
    "[ -f f ]",
    "test -f f",
    "for i in 1 2; do",
    "done",
    "if true; then",
    "fi",
    "while false; do",
    "case a in a)",
    ";; esac",
    "<<EOF\nhi\nEOF",
    "<<< hi",
    "< f",
    "2>&1",
    "> /dev/null",
    "&&",
    "||",
    ";",
    "|",
    "&",
    "xargs",
    "env",
    "timeout 5",
    "bash -c",
    "sh -c",
    "'ls'",
    "time",
    "command",
    "exec",
    "true",
    "wc -l",
    "--",
    "{a,b}",
    "printf '%s'",
    "read x",
    "export x=1",
    "declare x",
    "cd .",
    "\r",
    "\x0b",
    "\u00a0",
    "f() {",
    "; }",
    "eval",
    ".",
    "alias",
    "((x++))",
    "${!x}",
    "${x@P}",
    "uniq",
    "tee",
    "tr a b",
    " ",
    " ",
    " ",
)
HARMFUL = (
    "touch pwned",
    "> pwned",
    "$(touch pwned)",
    "`touch pwned`",
    "<(touch pwned)",
    "; touch pwned",
    "\ntouch pwned",
    "& touch pwned",
    "| tee pwned",
    "&& touch pwned",
    "-delete",
    "-o pwned",
    "-exec touch pwned \\;",
    "--output=pwned",
    "w pwned",
    "e touch pwned",
    "s/a/b/w pwned",
    "touch",
    "s/a/touch pwned/e",
    'BEGIN{system("touch pwned")}',
    "'{print > \"pwned\"}'",
    "pwned",
    "rm f",
    "-i",
    "-fprint pwned",
    "${x:=$(touch pwned)}",
    "a[$(touch pwned)]",
    "<<EOF\n$(touch pwned)\nEOF",
    "<<EOF\n`touch pwned`\nEOF",
    "<<'EOF'\nEOF\ntouch pwned\nEOF",
    "{touch,pwned}",
    "t'ou'ch pwned",
    "$'\\x74ouch' pwned",
    "'touch pwned'",
)

commands = st.lists(
    st.tuples(
        st.sampled_from(HARMLESS) | st.sampled_from(HARMFUL), st.sampled_from((" ", " ", ""))
    ),
    min_size=1,
    max_size=9,
).map(lambda pairs: "".join(word + gap for word, gap in pairs))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return tmp_path / "tree"


def run(command: str, tree: Path) -> dict[str, str]:
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir()
    (tree / "f").write_text("a\nb\n")
    subprocess.run(
        ["timeout", "5", "bash", "-c", command],
        cwd=tree,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tree), "TMPDIR": str(tree), "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return {path.name: path.read_text() for path in tree.iterdir()}


@settings(
    max_examples=500,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(command=commands)
@pytest.mark.slow
@pytest.mark.parametrize("part", sampled(range(3), 3))
def test_an_allowed_command_leaves_the_tree_alone_in_a_real_shell(part, command, tree):
    if judge(command, phase="recon").decision == "allow":
        assert run(command, tree) == {"f": "a\nb\n"}


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(command=st.text(max_size=80) | commands)
def test_any_text_gets_one_consistent_answer(command):
    recon, execute = judge(command, phase="recon"), judge(command, phase="execute")
    assert recon.kind == execute.kind
    assert recon.parts == execute.parts
    assert recon.kind == max((part.kind for part in recon.parts), key=lambda k: k.severity)
    if recon.decision == "allow":
        assert execute.decision == "allow"
        assert recon.kind in (CommandKind.READ_ONLY, CommandKind.VERIFICATION)
    assert recon.kind is not CommandKind.UNKNOWN or execute.decision == "deny"
    assert msgspec.json.decode(msgspec.json.encode(recon), type=Judgement) == recon


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(command=commands)
def test_proof_questions_always_have_an_answer(command):
    reason, kind = cannot_fail(command), verification_kind(command)
    assert reason is None or reason
    assert kind is None or kind


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(before=commands, after=commands)
def test_adding_a_mutation_never_helps(before, after):
    whole = f"{before}\n{after}"
    if judge(whole, phase="recon").decision == "allow":
        assert judge(f"{whole}\ntouch pwned", phase="recon").decision != "allow"
