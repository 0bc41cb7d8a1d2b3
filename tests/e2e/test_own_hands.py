"""Attacks on what Flyball does with its own hands: by test code, by arguments, by what it leaves.

Each is really made: the project's own tests do it, in the real sandbox, in the user's checkout or
in a tree of the run's own. Nothing may be left of it, and what was taken back is said.
"""

import asyncio
import os
import stat
from pathlib import Path

import msgspec
import pytest
from tests.repos import git, put, repository
from tests.small_python import system_path

from flyball.engine.perform import perform_call
from flyball.engine.run_context import RunContext
from flyball.plan.library import LIBRARY
from flyball.run.event import CallReturned
from flyball.run.state import CardState, RunState
from flyball.terms.call import Access, Call
from flyball.terms.phase import Phase
from flyball.tools.call.prepare import read_form
from flyball.tools.toolbox import TOOLS
from flyball.workspace.files.plain import remove_tree
from flyball.workspace.process.process import works
from flyball.workspace.redaction import Redactor, secrets_of_project
from flyball.workspace.run.watch import begin_watch
from flyball.workspace.sandbox.confinement import Mechanism, SandboxLevel

BY_NAME = {tool.name: tool for tool in TOOLS}
RUN = RunState(run="r1")
CASE = "\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        pass\n"
HEAD = "import os, socket, unittest\nfrom pathlib import Path\n"
FILES: dict[str, str | bytes] = {
    ".gitignore": "build/\ndata/\n__pycache__/\n",
    "pkg/code.py": "one = 1\n",
    "web/package.json": "{}\n",
    "test_it.py": f"{HEAD}{CASE}",
}


class Victim:
    """A user's repository, a run in it, and what lies around both."""

    def __init__(self, top: Path, *, in_place: bool, files: dict[str, str | bytes]) -> None:
        self.top = top
        self.repo = repository(top / "repo", {**FILES, **files})
        self.other = top / "other"
        put(self.other, {"keep.txt": "mine\n"})
        put(self.repo, {"data/notes.txt": "the user's\n"})
        self.context = RunContext(
            self.repo,
            top / "state",
            environ={
                "PATH": system_path(),
                "HOME": os.fspath(top / "home"),
            },
            redactor=Redactor(secrets_of_project(self.repo)),
            on_output=lambda _: None,
            in_place=in_place,
        )
        (top / "home").mkdir()
        self.context.open("r1")
        tree = self.context.workspace.base
        self.card = CardState(id="c", template=LIBRARY["fix"], title="t", base=tree, tree=tree)
        self.root = self.context.workspace.root
        self.level: SandboxLevel | None = None
        self._n = 0

    def test(self, code: str = "", **args: object) -> CallReturned:
        """Let the project's tests do this, started by the `test` tool."""
        if code:
            (self.root / "test_it.py").write_text(f"{HEAD}{code}{CASE}")
        return self.call("test", **args)

    def call(self, tool: str, /, phase: Phase = Phase.EXECUTE, **args: object) -> CallReturned:
        """The outcome of a call, made where the kernel alone confines if so requested."""
        self._n += 1
        asked = Call(id=f"k{self._n}", tool=tool, args=args, access=Access.VERIFY, digest="d")
        form = read_form(args, BY_NAME[tool])
        assert not isinstance(form, str), form
        context = self.context.call_context(
            RUN, self.card, asked.id, key=f"r1/{self._n}", phase=phase, access=Access.VERIFY
        )
        if self.level:
            usual, level = context.sandbox_in, self.level
            context = context._replace(
                sandbox_in=lambda root: msgspec.structs.replace(usual(root), level=level)
            )
        work = perform_call(context, asked, BY_NAME[tool], form, is_repeat=False)
        event = asyncio.run(asyncio.wait_for(work, 100))
        assert isinstance(event, CallReturned), event
        return event


@pytest.fixture
def victim(tmp_path):
    made: list[Victim] = []

    def make(*, in_place: bool, **files: str | bytes) -> Victim:
        made.append(Victim(tmp_path, in_place=in_place, files=files))
        return made[-1]

    yield make
    for each in made:
        each.context.close()
        remove_tree(each.repo)


PLANTED = {
    # A repository in the tree, which the user's next `git status` would listen to.
    "sub/.git": "Path('sub/.git/objects').mkdir(parents=True); Path('sub/.git/refs').mkdir();"
    " Path('sub/.git/HEAD').write_text('ref: refs/heads/main');"
    " Path('sub/.git/config').write_text('[core]\\nfsmonitor = touch pwned\\n')",
    "lib/.git": "Path('lib').mkdir(); Path('lib/.git').write_text('gitdir: ../sub/.git')",
    "build/deep/.git": "Path('build/deep/.git').mkdir(parents=True)",
    "store": "[Path('store', n).mkdir(parents=True) for n in ('objects', 'refs')];"
    " Path('store/HEAD').write_text('ref: refs/heads/main')",
    "src/.GIT": "Path('src/.GIT').mkdir(parents=True)",
    # Settings that an editor, a shell, git or another agent would run.
    ".claude": "Path('.claude').mkdir(); Path('.claude/settings.json').write_text('{}')",
    "web/.claude": "Path('web/.claude').mkdir(); Path('web/.claude/settings.json').write_text('')",
    ".envrc": "Path('.envrc').write_text('touch pwned')",
    "pkg/.envrc": "Path('pkg/.envrc').write_text('touch pwned')",
    "web/.husky": "Path('web/.husky').mkdir(); Path('web/.husky/pre-commit').write_text('')",
    ".vscode": "Path('.vscode').mkdir(); Path('.vscode/tasks.json').write_text('{}')",
    "build/.vscode": "Path('build/.vscode').mkdir(parents=True)",
    ".flyball/templates/x.toml": "Path('.flyball/templates').mkdir(parents=True);"
    " Path('.flyball/templates/x.toml').write_text('')",
    ".mcp.json": "Path('.mcp.json').write_text('{}')",
    ".githooks": "Path('.githooks').mkdir()",
    ".github/workflows": "Path('.github/workflows').mkdir(parents=True);"
    " Path('.github/workflows/x.yml').write_text('on: push')",
    # Environments that the next start would take for the user's.
    ".venv": "Path('.venv/bin').mkdir(parents=True); Path('.venv/bin/python').write_text('');"
    " Path('.venv/pyvenv.cfg').write_text('')",
    "tools/env": "Path('tools/env').mkdir(parents=True); Path('tools/env/pyvenv.cfg').touch()",
    # Links that lead out.
    "out": "Path('out').symlink_to('/etc')",
    "pkg/out.py": "Path('pkg/out.py').symlink_to('../../other/keep.txt')",
    "dangling": "Path('dangling').symlink_to('/nowhere/at/all')",
    "by": "Path('by').symlink_to('out')",
    "build/out": "Path('build').mkdir(exist_ok=True); Path('build/out').symlink_to('/etc')",
    # What a reader would wait for.
    "pkg/.gitignore": "os.mkfifo('pkg/.gitignore')",
    "package.json": "os.mkfifo('package.json')",
    "build/pipe": "os.mkfifo('build/pipe')",
    "ear": "s = socket.socket(socket.AF_UNIX); s.bind('ear')",
}
"""What test code makes, by the path that may not be there afterwards."""


@pytest.mark.exhaustive
@pytest.mark.parametrize("in_place", [True, False], ids=["in place", "in a tree of its own"])
def test_nothing_that_may_not_be_made_outlives_the_tests_that_made_it(victim, in_place):
    scene = victim(in_place=in_place)
    before = scene.context.workspace.base
    code = "\n".join(f"try:\n    {action}\nexcept OSError: raise" for action in PLANTED.values())
    event = scene.test(code)
    assert event.outcome.data["passed"] == 1, event.outcome.text
    left = [path for path in PLANTED if os.path.lexists(scene.root / path)]
    assert left == []
    assert set(PLANTED) <= set(event.undone)
    assert set(event.changed) <= {"test_it.py"}
    scene.test("pass")
    git(scene.repo, "status")
    assert not [*scene.top.rglob("pwned")]
    changes = scene.context.workspace.changed_since(before)
    assert {each.path for each in changes} == {"test_it.py"}


def test_a_repository_planted_by_a_test_is_taken_away_and_said(victim):
    scene = victim(in_place=True)
    event = scene.test(PLANTED["sub/.git"])
    assert event.undone == ("sub/.git",)
    assert not (scene.root / "sub/.git").exists()


@pytest.mark.exhaustive
def test_what_the_user_has_of_these_stays(victim):
    scene = victim(in_place=True, **{".envrc": "export A=1\n", "sub/.vscode/x.json": "{}"})
    (scene.repo / "away").symlink_to("/etc")
    os.mkfifo(scene.repo / "data/pipe")
    event = scene.test("Path('new.txt').write_text('x')")
    assert event.undone == ()
    assert (scene.repo / ".envrc").read_text() == "export A=1\n"
    assert (scene.repo / "away").is_symlink()
    assert stat.S_ISFIFO((scene.repo / "data/pipe").lstat().st_mode)
    assert "new.txt" in event.changed


@pytest.mark.exhaustive
def test_a_folder_replaced_by_a_link_is_put_back(victim):
    scene = victim(in_place=False)
    event = scene.test(
        f"import shutil\nshutil.rmtree('pkg'); Path('pkg').symlink_to({str(scene.other)!r})"
    )
    assert "pkg" in event.undone
    assert (scene.root / "pkg/code.py").read_text() == "one = 1\n"
    assert [each.name for each in scene.other.iterdir()] == ["keep.txt"]


LINKED_FROM = {
    "node_modules": "Path('node_modules').rename('old'); Path('node_modules').symlink_to(OTHER)",
    "a package": "Path('web').rename('old'); Path('web').symlink_to(OTHER)",
    "packages of a package": "Path('web/node_modules').rename('old');"
    " Path('web/node_modules').symlink_to(OTHER)",
    "a scope": "import shutil; shutil.rmtree('node_modules/@s');"
    " Path('node_modules/@s').symlink_to(OTHER)",
    "the mark": "Path('node_modules/.flyball').unlink();"
    " Path('node_modules/.flyball').symlink_to(OTHER)",
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("action", LINKED_FROM.values(), ids=LINKED_FROM)
def test_the_next_start_makes_nothing_through_a_link(victim, action):
    scene = victim(in_place=False, **{"package.json": '{"workspaces": ["web"]}'})
    put(scene.repo, {"node_modules/a/index.js": "", "node_modules/@s/b/index.js": ""})
    put(scene.repo, {"web/node_modules/c/index.js": ""})
    scene.test("pass")
    # By hand and not by a test, so that nothing is taken back before the next start.
    old = Path.cwd()
    os.chdir(scene.root)
    try:
        exec(action, {"Path": Path, "OTHER": os.fspath(scene.other)})
    finally:
        os.chdir(old)
    scene.test("pass")
    assert [each.name for each in scene.other.iterdir()] == ["keep.txt"]


@pytest.mark.exhaustive
def test_a_tree_without_end_is_taken_away(victim):
    scene = victim(in_place=True)
    code = "for _ in range(3000):\n    os.mkdir('d'); os.chdir('d')\nPath('.envrc').touch()"
    event = scene.test(f"here = os.getcwd()\n{code}\nos.chdir(here)")
    assert event.undone
    assert not (scene.root / "d" / "/".join("d" * 130)).exists()


@pytest.mark.exhaustive
def test_advice_that_leads_out_is_no_advice(victim):
    scene = victim(in_place=True)
    for name, lay in {
        "AGENTS.md": lambda place: place.symlink_to("/etc/passwd"),
        "CLAUDE.md": os.mkfifo,
        "GEMINI.md": lambda place: place.symlink_to(place.name),
    }.items():
        lay(scene.root / name)
    assert scene.context.advice() == ""


PASSWORD = "hunter2hunter"
TOLD = {
    "plainly": "print(text)",
    "reversed": "print(text[::-1])",
    "in base64": "import base64; print(base64.b64encode(('x' + text).encode()).decode())",
    "in hexadecimal": "print(text.encode().hex())",
    "letter by letter": "print(*text, sep='-')",
    "as a name": "Path('leak-' + text[8:].strip().replace('/', '_')).touch()",
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("level", [SandboxLevel.NAMESPACES, SandboxLevel.KERNEL])
@pytest.mark.parametrize("in_place", [True, False], ids=["in place", "in a tree of its own"])
def test_the_users_secrets_are_out_of_reach_of_tests(victim, in_place, level):
    if not any(works(means) for means in Mechanism if means.level is level):
        pytest.skip(f"this machine has no {level}")
    scene = victim(in_place=in_place)
    scene.level = level
    # A link beside them must not grant what it leads to.
    for name, target in {"by-link": ".env", "out": os.fspath(scene.other)}.items():
        (scene.repo / name).symlink_to(target)
    put(scene.repo, {".env": f"DB_PASS={PASSWORD}\n", "web/.env.local": f"KEY={PASSWORD}\n"})
    put(scene.repo, {"certs/server.key": PASSWORD})
    secret = [scene.repo / name for name in (".env", "web/.env.local", "certs/server.key")]
    actions = [
        f"try:\n    text = open({os.fspath(place)!r}).read()\n    {action}\n"
        "except OSError as error: print(error)"
        for place in (*secret, scene.repo / "by-link", scene.repo / "moved", scene.repo / "pkg/l")
        for action in TOLD.values()
    ]
    for action in ("os.rename('web/.env.local', 'moved')", "os.link('.env', 'pkg/l')"):
        actions.insert(0, f"try:\n    {action}\nexcept OSError as error: print(error)")
    event = scene.test("\n".join(actions) + "\nassert False")
    log = (scene.repo / f".flyball/artifacts/r1/c/{event.call}.log").read_text()
    for text in (event.outcome.text, log, *(each.name for each in scene.root.iterdir())):
        for form in (PASSWORD, PASSWORD[::-1], "-".join(PASSWORD), PASSWORD.encode().hex()):
            assert form not in text
    assert secret[2].read_text() == PASSWORD


def test_the_users_secrets_are_not_read_for_a_driver(victim):
    scene = victim(in_place=True, **{"fixtures/.env": "A=1\n"})
    put(scene.repo, {".env": f"DB_PASS={PASSWORD}\n", ".ENV.local": "x", "id_rsa": "x"})
    (scene.repo / "settings.txt").symlink_to(".env")
    for name in (".env", "./.env", ".ENV.local", "id_rsa", "settings.txt", "pkg/../.env"):
        event = scene.call("read", path=name)
        assert "may contain the user's secrets" in event.outcome.text
    assert scene.call("read", path="fixtures/.env").outcome.ok
    found = scene.call("grep", q="DB_PASS", globs=[".env"])
    assert found.outcome.data["matches"] == 0


RUINED = {
    "overwritten": "Path('data/notes.txt').write_text('gone')",
    "deleted": "Path('data/notes.txt').unlink()",
    "emptied": "os.truncate('data/notes.txt', 0)",
    "with its folder": "import shutil; shutil.rmtree('data')",
    "moved": "Path('data').rename('elsewhere')",
    "made a link": "Path('data/notes.txt').unlink(); Path('data/notes.txt').symlink_to('/etc')",
    "unseen": "s = os.stat('data/notes.txt'); Path('data/notes.txt').write_text('X' * s.st_size);"
    " os.utime('data/notes.txt', (s.st_atime, s.st_mtime))",
    "by mode": "Path('data/notes.txt').chmod(0)",
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("phase", [Phase.ANALYZE_CODE, Phase.EXECUTE])
@pytest.mark.parametrize("action", RUINED.values(), ids=RUINED)
def test_ignored_files_of_the_users_are_put_back_and_that_is_said(victim, action, phase):
    scene = victim(in_place=True)
    (scene.root / "test_it.py").write_text(f"{HEAD}{action}{CASE}")
    event = scene.call("test", phase)
    assert event.outcome.data["passed"] == 1, event.outcome.text
    assert event.put_back == ("data/notes.txt",)
    assert (scene.repo / "data/notes.txt").read_text() == "the user's\n"
    assert scene.call("bash", cmd="echo 1 > data/new").put_back == ()


def test_what_a_killed_program_destroyed_is_put_back_by_the_next_process(victim):
    scene = victim(in_place=True)
    workspace = scene.context.workspace
    begin_watch(workspace, scene.context.root, workspace.tree_hash(), with_packages=True)
    (scene.repo / "data/notes.txt").unlink()
    # The process that watched is gone; another one opens the run again.
    scene.context.close()
    scene.context.open("r1")
    assert (scene.repo / "data/notes.txt").read_text() == "the user's\n"
    assert scene.call("bash", cmd="true").put_back == ("data/notes.txt",)


def test_caches_of_a_run_lie_in_the_projects_state_and_a_link_in_them_opens_nothing(victim):
    made = victim(in_place=False)
    # A link where a cache should be: only what holds the caches is granted, not where it leads.
    first = made.test(
        "for name in ('GOCACHE', 'npm_config_cache'):\n"
        "    Path(os.environ[name]).mkdir()\n"
        "    Path(os.environ[name], 'kept').write_text('k')\n"
        f"Path(os.environ['GOCACHE'], '../out').symlink_to({str(made.other)!r})\n"
    )
    assert first.outcome.ok, first.outcome.text
    second = made.test(
        "for name in ('GOCACHE', 'npm_config_cache'):\n"
        "    assert Path(os.environ[name], 'kept').read_text() == 'k'\n"
        "try:\n"
        "    Path(os.environ['GOCACHE'], '../out/new').write_text('x')\n"
        "except OSError:\n"
        "    pass\n"
    )
    assert second.outcome.ok, second.outcome.text
    caches = made.top / "state" / "caches"
    assert {place.name for place in caches.iterdir()} == {"go", "npm", "out"}
    assert stat.S_IMODE(caches.stat().st_mode) == 0o700
    assert [place.name for place in made.other.iterdir()] == ["keep.txt"]
    assert list((made.top / "home").iterdir()) == []
