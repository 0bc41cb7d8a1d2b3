import errno
import os
import resource
import shutil
import signal
import stat
import threading
from contextlib import suppress

import pytest

from flyball.errors import NotFound, OutsideWorkspace, ToolError
from flyball.workspace.files.path_rules import fold
from flyball.workspace.files.paths import PathKind, Root
from flyball.workspace.files.protected import DEFAULT_PROTECTED


@pytest.fixture
def outside(tmp_path):
    place = tmp_path / "outside"
    place.mkdir()
    (place / "canary").write_text("alive")
    return place


@pytest.fixture
def root(tmp_path, outside):
    place = tmp_path / "workspace"
    (place / "src").mkdir(parents=True)
    (place / "src" / "main.py").write_text("print()\n")
    (place / "out").symlink_to(outside)
    (place / "file-out").symlink_to(outside / "canary")
    (place / "dangling-out").symlink_to(outside / "new")
    (place / "dangling-in").symlink_to("src/new.py")
    (place / "in").symlink_to("src")
    (place / "loop").symlink_to("loop")
    os.mkfifo(place / "pipe")
    return Root(place)


ESCAPES = (
    "..",
    "../outside/canary",
    "../outside/new",
    "src/../../outside/new",
    "/etc/passwd",
    "/",
    "//etc/passwd",
    "~",
    "~/x",
    "~root/x",
    "out",
    "out/new",
    "out/../outside/new",
    "file-out",
    "dangling-out",
    "in/../../outside/new",
    "in/../out/new",
    "../workspace-other/x",
    "../workspace2",
    "",
    " ",
    "\t",
    "a\0b",
    "\ud800",
    "x" * 256,
    "a/" * 2100 + "x",
    "é" * 128,
)


@pytest.mark.parametrize("raw", ESCAPES)
@pytest.mark.parametrize("write", [True, False])
def test_a_path_that_leaves_is_outside(root, raw, write):
    fact = root.fact(raw, write=write)
    assert not fact.inside
    with pytest.raises(OutsideWorkspace) as refusal:
        root.resolve(raw, write=write)
    assert str(refusal.value).endswith(".")


@pytest.mark.parametrize("raw", ESCAPES)
def test_nothing_outside_can_be_written_deleted_or_renamed(root, outside, raw):
    for action in (
        lambda: root.write_bytes(raw, b"x"),
        lambda: root.rename("src/main.py", raw),
    ):
        with pytest.raises((OutsideWorkspace, ToolError)):
            action()
    assert sorted(p.name for p in outside.iterdir()) == ["canary"]
    assert (outside / "canary").read_text() == "alive"
    assert (root.path / "src" / "main.py").exists()


PROTECTED = (
    ".git",
    ".git/config",
    ".git/hooks/pre-commit",
    ".GIT/config",
    ".Git/HEAD",
    ".g\u200cit/config",
    ".gi\u200dt/config",
    ".git\u200e/config",
    "\ufeff.git/config",
    ".ｇit/config",
    ".git./config",
    ".git /config",
    ".git...",
    ".git::$INDEX_ALLOCATION/config",
    ".git:stream",
    "git~1/config",
    "GIT~1/config",
    "src/.git/config",
    "src/.git",
    ".git\\config",
    "in/.git/config",
    "src/../.git/config",
    "./.git/config",
    ".git//config",
    "node_modules/x/index.js",
    "packages/a/node_modules/b.js",
    "Node_Modules/x",
    ".flyball/policy",
    "flyball.toml",
    ".github/workflows/ci.yml",
    ".GITHUB/Workflows/ci.yml",
    ".gitlab-ci.yml",
    ".circleci/config.yml",
    "Jenkinsfile",
    ".vscode/tasks.json",
    ".idea/workspace.xml",
    ".husky/pre-commit",
    ".githooks/pre-push",
    ".claude/settings.json",
    ".envrc",
)


@pytest.mark.parametrize("raw", PROTECTED)
def test_a_protected_path_is_not_written_though_absent_at_first(root, raw):
    before = sorted(root.walk(everything=True))
    fact = root.fact(raw, write=True)
    assert fact.inside
    assert "protected" in fact.protected
    with pytest.raises(OutsideWorkspace, match="may not be written"):
        root.write_bytes(raw, b"x")
    with pytest.raises(OutsideWorkspace):
        root.rename("src/main.py", raw)
    assert sorted(root.walk(everything=True)) == before


def test_an_absolute_path_to_a_protected_place_is_protected(root):
    assert root.fact(str(root.path / ".git" / "config"), write=True).protected


def test_a_link_to_a_protected_place_is_protected(root):
    (root.path / ".git").mkdir()
    (root.path / "innocent").symlink_to(".git")
    assert root.fact("innocent/config", write=True).protected
    with pytest.raises(OutsideWorkspace):
        root.write_bytes("innocent/hooks/pre-commit", b"#!/bin/sh\n")


def test_a_git_file_of_a_worktree_is_protected(root):
    (root.path / ".git").write_text("gitdir: elsewhere\n")
    with pytest.raises(OutsideWorkspace):
        root.write_bytes(".git", b"gitdir: /tmp/evil\n")
    with pytest.raises(OutsideWorkspace):
        root.delete(".git")


def test_the_inside_of_a_bare_repository_is_protected(root):
    bare = root.path / "vendor.git"
    for name in ("objects", "refs"):
        (bare / name).mkdir(parents=True)
    (bare / "HEAD").write_text("ref: refs/heads/main\n")
    assert "git repository" in root.fact("vendor.git/config", write=True).protected
    assert "git repository" in root.fact("vendor.git/hooks/post-checkout", write=True).protected


def test_protected_things_can_be_read(root):
    (root.path / ".github" / "workflows").mkdir(parents=True)
    (root.path / ".github" / "workflows" / "ci.yml").write_text("on: push\n")
    assert root.read_bytes(".github/workflows/ci.yml") == b"on: push\n"


def test_a_workspace_below_a_protected_name_is_still_usable(tmp_path):
    root = Root(tmp_path / ".flyball" / "worktrees" / "one")
    root.path.mkdir(parents=True)
    root.write_bytes(str(root.path / "a.txt"), b"x")
    assert root.read_bytes("a.txt") == b"x"


def test_protected_places_that_exist_are_guarded_from_commands_too(root):
    for name in (".git", "node_modules", ".github/workflows"):
        (root.path / name).mkdir(parents=True)
    (root.path / ".vscode").symlink_to("src")
    assert root.guarded_places() == (root.path / ".git", root.path / ".github" / "workflows")


def test_the_policy_can_be_another(root):
    loose = Root(root.path, protected=(".git", "generated"))
    assert loose.fact(".vscode/x", write=True).protected == ""
    assert loose.fact("Generated/x", write=True).protected.startswith("generated is protected")
    assert set(DEFAULT_PROTECTED) >= {".git", ".flyball", "node_modules"}


@pytest.mark.parametrize(
    "raw",
    [
        "con",
        "NUL.txt",
        "src/aux.c",
        "COM1",
        "lpt9.log",
        "com¹",
        "a:b",
        "notes.txt::$DATA",
        "name.",
        "name ",
        " name",
        "dir /x",
        "..\\x",
        "src\\new.py",
        "a\u200bb.py",
        "a\u202eyp.exe",
        "a\nb",
        "a\x1bb",
        "new/",
    ],
)
def test_a_bad_name_is_not_created(root, raw):
    with pytest.raises(OutsideWorkspace, match="may not be written"):
        root.write_bytes(raw, b"x")


def test_an_existing_file_with_a_bad_name_can_be_edited(root):
    (root.path / "aux.c").write_text("int x;\n")
    root.write_bytes("aux.c", b"int y;\n")
    assert root.read_bytes("aux.c") == b"int y;\n"


@pytest.mark.parametrize(
    "raw", ["naïve.py", "日本語/ファイル.md", "a b.txt", ".gitignore", "gitty"]
)
def test_an_ordinary_name_is_created(root, raw):
    root.write_bytes(raw, b"x")
    assert root.read_bytes(raw) == b"x"


@pytest.mark.parametrize(
    ("raw", "path", "kind"),
    [
        ("src/main.py", "src/main.py", PathKind.FILE),
        ("./src//main.py", "src/main.py", PathKind.FILE),
        ("src/../src/main.py", "src/main.py", PathKind.FILE),
        ("in/main.py", "src/main.py", PathKind.FILE),
        ("in", "src", PathKind.DIR),
        (".", ".", PathKind.DIR),
        ("src/new.py", "src/new.py", PathKind.MISSING),
        ("dangling-in", "src/new.py", PathKind.LINK),
        ("loop", "loop", PathKind.LINK),
        ("pipe", "pipe", PathKind.OTHER),
    ],
)
def test_a_fact_names_the_resolved_path_and_its_kind(root, raw, path, kind):
    fact = root.fact(raw, write=False)
    assert (fact.inside, fact.path, fact.kind) == (True, path, kind)
    assert fact.exists is (kind is not PathKind.MISSING)


def test_an_absolute_path_inside_is_made_relative(root):
    assert root.resolve(str(root.path / "src" / "main.py")) == "src/main.py"


def test_a_root_reached_through_a_link_is_the_real_one(root, tmp_path):
    alias = tmp_path / "alias"
    alias.symlink_to(root.path)
    assert Root(alias).resolve(str(alias / "src")) == "src"


def test_a_write_keeps_the_mode_and_replaces_rather_than_writes_through(root, outside):
    script = root.path / "run.sh"
    script.write_text("old")
    script.chmod(0o750)
    os.link(script, outside / "twin")
    root.write_bytes("run.sh", b"new")
    assert stat.S_IMODE(script.stat().st_mode) == 0o750
    assert script.read_bytes() == b"new"
    assert (outside / "twin").read_text() == "old"


def test_a_mode_can_be_given_but_not_setuid(root):
    root.write_bytes("tool", b"x", mode=0o4755)
    assert stat.S_IMODE((root.path / "tool").stat().st_mode) == 0o755


def test_a_new_file_honours_the_umask(root):
    before = os.umask(0o027)
    try:
        root.write_bytes("quiet", b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((root.path / "quiet").stat().st_mode) == 0o640


def test_parents_are_made_and_no_temporary_file_is_left(root):
    root.write_bytes("a/b/c.txt", b"x")
    assert [p.name for p in (root.path / "a" / "b").iterdir()] == ["c.txt"]


def test_a_fifo_and_a_device_are_neither_read_nor_written(root):
    with pytest.raises(ToolError, match="not a regular file"):
        root.read_bytes("pipe")
    with pytest.raises(OutsideWorkspace, match="not a regular file"):
        root.write_bytes("pipe", b"x")
    assert stat.S_ISFIFO((root.path / "pipe").stat().st_mode)


def test_a_directory_is_not_overwritten(root):
    with pytest.raises(ToolError, match="is a directory"):
        root.write_bytes("src", b"x")
    with pytest.raises(OutsideWorkspace, match="part of its path is a link or a file"):
        root.write_bytes("src/main.py/x", b"x")


def test_reading_can_be_limited(root):
    assert root.read_bytes("src/main.py", limit=5) == b"print"


def test_a_missing_file_is_named(root):
    with pytest.raises(NotFound, match=r"src/gone\.py"):
        root.read_bytes("src/gone.py")
    with pytest.raises(NotFound, match=r"src/gone\.py"):
        root.delete("src/gone.py")


def test_deleting_a_link_leaves_its_target(root, outside):
    root.delete("file-out")
    assert not (root.path / "file-out").is_symlink()
    assert (outside / "canary").read_text() == "alive"


def test_only_an_empty_directory_is_deleted(root):
    with pytest.raises(ToolError, match="not empty"):
        root.delete("src")
    root.delete("src/main.py")
    root.delete("src")
    assert not (root.path / "src").exists()


@pytest.mark.parametrize("raw", [".", "src/..", "./"])
def test_the_workspace_itself_stays(root, raw):
    with pytest.raises(OutsideWorkspace):
        root.delete(raw)


def test_a_rename_overwrites_nothing_and_moves_no_directory(root):
    root.write_bytes("other.py", b"other")
    with pytest.raises(ToolError, match="already exists"):
        root.rename("src/main.py", "other.py")
    with pytest.raises(ToolError, match="is a directory"):
        root.rename("src", "lib")
    with pytest.raises(NotFound):
        root.rename("gone.py", "there.py")
    root.rename("src/main.py", "lib/main.py")
    assert root.read_bytes("lib/main.py") == b"print()\n"


def test_walk_skips_links_and_generated_files(root):
    (root.path / ".git").mkdir()
    (root.path / ".git" / "HEAD").write_text("x")
    found = list(root.walk())
    assert "src/main.py" in found
    assert "out" in found
    assert not [path for path in found if path.startswith((".git/", "out/", "in/"))]
    assert ".git/HEAD" in list(root.walk(everything=True))
    assert list(root.walk("src")) == ["src/main.py"]


def test_a_directory_swapped_for_a_link_after_the_check_is_not_entered(root, outside):
    rel = root.resolve("src/new.py", write=True)
    (root.path / "src").rename(root.path / "aside")
    (root.path / "src").symlink_to(outside)
    with pytest.raises(OutsideWorkspace), root._explain_errors("write", rel), root._parent(rel):
        pytest.fail("the link was followed")


def test_a_link_swapped_in_between_check_and_write_is_never_followed(root, outside):
    """One thread swaps a directory for a link outwards while another writes through the path."""
    place, aside = root.path / "swap", root.path / "aside"
    place.mkdir()
    stop = threading.Event()

    def swap():
        while not stop.is_set():
            for step in (
                lambda: place.rename(aside),
                lambda: place.symlink_to(outside),
                place.unlink,
                lambda: shutil.rmtree(aside),
            ):
                with suppress(OSError):
                    step()

    swapper = threading.Thread(target=swap)
    swapper.start()
    written = refused = 0
    try:
        for number in range(5000):
            if number >= 300 and written and refused:
                break
            try:
                root.write_bytes("swap/file", str(number).encode())
                written += 1
            except (ToolError, NotFound):
                refused += 1
    finally:
        stop.set()
        swapper.join()
    assert sorted(p.name for p in outside.iterdir()) == ["canary"]
    assert (outside / "canary").read_text() == "alive"
    assert written and refused


def test_full_disk_is_reported_and_keeps_old_content(root):
    """A limit on file size stands in for a full disk: the write fails part of the way."""
    (root.path / "data").write_bytes(b"old")
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(ToolError, match="Could not write data"):
            root.write_bytes("data", b"x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert (root.path / "data").read_bytes() == b"old"
    assert not [p for p in root.path.iterdir() if p.name.startswith(".flyball-")]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO])
def test_system_errors_become_sentences(root, number):
    with pytest.raises(ToolError) as told, root._explain_errors("write", "a.txt"):
        raise OSError(number, os.strerror(number))
    assert str(told.value).startswith("Could not write a.txt: ")
    assert str(told.value).endswith(".")


def test_folding_reads_names_as_forgiving_file_systems_do():
    assert {fold(n) for n in (".git", ".GIT", ".git.", ".g\u200cit", "GIT~1")} == {".git"}
    assert fold("gitignore") != ".git"


@pytest.mark.parametrize("text", ["\x7f", "💥" * 50, "a" * 5000, "C:\\Windows", "file:///x", "*"])
def test_any_text_gets_a_fact(root, text):
    assert root.fact(text, write=True).raw == text
