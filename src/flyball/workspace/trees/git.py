"""Git calls that do not trust anything in the tree.

Commands that read file content (status, add, diff, checkout, merge) run in a depot: a git directory
of our own outside the tree, with our configuration and attributes, which borrows the user's
objects. A planted configuration, hook, filter, driver or monitor is therefore never read. The few
calls that must use the user's git directory (references, worktrees) read no file content, and every
option that could start a program is set on their command line.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import signal
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from flyball.errors import ToolUnavailable, UsageError
from flyball.regex import regex
from flyball.workspace.errors import (
    DiskFull,
    GitFailed,
    IndexLocked,
    NotWritable,
    explain_disk_errors,
)
from flyball.workspace.files.plain import read_plain
from flyball.workspace.process.spawn import OwnOutput, run_sync

# Everything in git's configuration that starts a program or opens a connection. It is overridden in
# every call, because the author of the tree also wrote the repository's configuration.
SWITCHES: tuple[str, ...] = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.logAllRefUpdates=false",
    "core.sshCommand=false",
    "core.askPass=true",
    "core.pager=cat",
    "core.editor=true",
    "credential.helper=",
    "diff.external=",
    "gpg.program=false",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "safe.bareRepository=explicit",
    "protocol.allow=never",
    "protocol.ext.allow=never",
    "log.showSignature=false",
)

ENVIRONMENT: Mapping[str, str] = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "true",
    "SSH_ASKPASS": "true",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_PAGER": "cat",
    "GIT_SSH_COMMAND": "false",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_PROTOCOL_FROM_USER": "0",
    # A partial clone fetches missing objects from its remote, with a program that the repository
    # names.
    "GIT_NO_LAZY_FETCH": "1",
    # A replaced object would have another content than its name says.
    "GIT_NO_REPLACE_OBJECTS": "1",
    # A file may be called `:(top)*`.
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_MERGE_AUTOEDIT": "no",
    "HOME": "/dev/null",
    "LC_ALL": "C",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
}

RAW_ATTRIBUTES = "* -text !eol !filter -ident !working-tree-encoding !diff !merge !export-subst\n"
"""Attributes that store content byte for byte, whatever the tree's own attributes say."""

_DEPOT_CONFIG = """\
[core]
\trepositoryformatversion = {version}
\tbare = false
\tfilemode = true
\tsymlinks = true
\tignorecase = false
\tautocrlf = false
\tsafecrlf = false
\tquotepath = false
\tuntrackedcache = true
\tpreloadindex = true
\tlogallrefupdates = false
\texcludesfile = {excludes}
[status]
\tshowuntrackedfiles = all
[gc]
\tauto = 0
{extensions}"""

_EXCLUDES = regex(r'^\texcludesfile = "(.*)"$', re.MULTILINE)
MOST_CONFIG = 1 << 16

_RUN_NAME = regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_LOCK = regex(r"Unable to create '([^']+\.lock)': File exists")
_UNWRITABLE = regex(r"Permission denied|Read-only file system|insufficient permission")
_FULL = regex(r"No space left on device|Out of diskspace|Disk quota exceeded|File too large")


OLDEST_GIT = (2, 30)
"""The first git whose `rev-parse` supports `--end-of-options`; all other options are older."""

_SECONDS = 1800.0
"""Timeout, long enough to write a very large repository."""


_LONGEST = 4096
"""Maximum size of a file that names one directory."""


class Repository(NamedTuple):
    """The directories of a user's repository."""

    top: Path
    directory: Path
    common: Path

    @property
    def objects(self) -> Path:
        return self.common / "objects"


def find_repository(start: Path) -> Repository | None:
    """Return the repository that contains a directory, found without running git."""
    # Not with `git rev-parse`, which reads the repository's configuration before its owner is
    # known.
    for top in (start, *start.parents):
        directory = _git_directory(top / ".git")
        if directory is None:
            continue
        common = directory
        if (shared := read_plain(directory / "commondir", _LONGEST)) is not None:
            common = (directory / os.fsdecode(shared).strip()).resolve()
        if (common / "objects").is_dir():
            return Repository(top, directory, common)
    return None


def _git_directory(entry: Path) -> Path | None:
    if entry.is_dir():
        return entry if (entry / "HEAD").is_file() else None
    text = os.fsdecode(read_plain(entry, _LONGEST) or b"")
    if not text.startswith("gitdir: "):
        return None
    target = (entry.parent / text.removeprefix("gitdir: ").rstrip("\r\n")).resolve()
    return target if (target / "HEAD").is_file() else None


def origin_of(top: Path) -> str:
    """Return the origin of a repository's clones without credentials; by default its own path.

    The file is parsed as text: git would follow the configuration's includes.
    """
    repository = find_repository(top)
    if repository is None:
        return os.fspath(top)
    text = os.fsdecode(read_plain(repository.common / "config", _LONGEST * 16) or b"")
    _, _, after = text.partition('[remote "origin"]')
    own = after.partition("\n[")[0]
    found = re.search(r"^\s*url\s*=\s*(\S+)\s*$", own, re.MULTILINE)
    return without_credentials(found.group(1)) if found else os.fspath(repository.top)


def without_credentials(text: str) -> str:
    """Return the text without user names and passwords in URLs."""
    return re.sub(r"(?<=://)[^/@\s]*@", "", text)


def check_run_name(run: str) -> str:
    """Return the name if it is valid for a branch and a directory, else raise."""
    if not _RUN_NAME.fullmatch(run) or ".." in run or run.endswith((".lock", ".")):
        raise UsageError(
            f"{run!r} cannot name a run.", "Use letters, digits, dots, dashes and underscores."
        )
    return run


def find_git() -> str:
    """Return the path of this machine's git; raise with a hint on how to continue without it."""
    if found := shutil.which("git"):
        return found
    raise ToolUnavailable(
        "Git was not found on PATH; snapshots need it, in projects without a repository as well.",
        "Install git 2.38 or later.",
    )


class Door(Protocol):
    """A lock on the directory where git works."""

    @property
    def held(self) -> tuple[int, ...]: ...


class Git:
    """One git directory, called only with our own environment and options."""

    def __init__(
        self,
        directory: Path,
        *,
        program: str,
        env: Mapping[str, str] | None = None,
        door: Door | None = None,
    ) -> None:
        self.directory = directory
        self.program = program
        self.door = door
        self.env = {**ENVIRONMENT, "GIT_DIR": os.fspath(directory), **(env or {})}

    def with_env(self, **env: str) -> Git:
        """Return the same git directory with additional variables."""
        merged = {**self.env, **env}
        return Git(self.directory, program=self.program, env=merged, door=self.door)

    def call(
        self,
        *args: str,
        stdin: bytes = b"",
        ok: Iterable[int] = (0,),
        seconds: float = _SECONDS,
    ) -> OwnOutput:
        """Run one git command; an exit code that is not in `ok` is an error."""
        settings = [part for switch in SWITCHES for part in ("-c", switch)]
        done = run_sync(
            (self.program, *settings, *args),
            # A directory inside the working tree would be put before every path.
            cwd=Path("/") if "GIT_WORK_TREE" in self.env else self.directory,
            env=self.env,
            seconds=seconds,
            stdin=stdin,
            # If this process is killed, its git keeps the lock until it has ended.
            holds=self.door.held if self.door else (),
        )
        if done.exit_code not in ok:
            raise self._failure(args, done)
        return done

    def text(self, *args: str, stdin: bytes = b"") -> str:
        """Return the output of one git command as one line of text."""
        return self.call(*args, stdin=stdin).stdout.decode(errors="surrogateescape").rstrip("\n")

    def resolve(self, name: str) -> str | None:
        """Return the object that a revision names; None if there is none."""
        done = self.call("rev-parse", "--verify", "--quiet", "--end-of-options", name, ok=(0, 1))
        return done.stdout.decode().strip() or None

    def set_ref(self, ref: str, new: str, old: str, *, log: str = "") -> None:
        """Move a reference from one value to another; fail if it has another value by now."""
        # The user's reflog lets them return to the state before a merge; our own branches need
        # none.
        logged = ("-c", "core.logAllRefUpdates=true") if log else ()
        self.call(*logged, "update-ref", *(("-m", log) if log else ()), ref, new, old)

    def delete_ref(self, ref: str) -> None:
        """Delete a reference if it exists."""
        if value := self.resolve(ref):
            self.call("update-ref", "-d", ref, value)

    def _places(self) -> list[str]:
        """Return the directories that this git writes to."""
        index = self.env.get("GIT_INDEX_FILE")
        written = [self.env.get(name) for name in ("GIT_OBJECT_DIRECTORY", "GIT_WORK_TREE")]
        written += [os.fspath(self.directory), str(Path(index).parent) if index else None]
        return [place for place in written if place]

    def _failure(self, args: Sequence[str], done: OwnOutput) -> Exception:
        message = done.stderr.decode(errors="replace").strip()
        if found := _LOCK.search(message):
            return IndexLocked(found.group(1))
        places = self._places()
        if _FULL.search(message) or done.exit_code == -signal.SIGXFSZ:
            return DiskFull(min(places, key=_room))
        # Git does not always report why a write failed: "couldn't write … .lock".
        if full := next((place for place in places if _room(place) < _LEAST_ROOM), None):
            return DiskFull(full)
        if _UNWRITABLE.search(message):
            return NotWritable(os.fspath(self.directory))
        verb = next((arg for arg in args if not arg.startswith("-") and "=" not in arg), "git")
        first = next((line for line in message.splitlines() if line), f"exit code {done.exit_code}")
        return GitFailed(
            f"git {verb} failed in {self.directory}: {first}",
            "Run `git fsck` there; nothing of the working tree was changed.",
        )


_LEAST_ROOM = 1 << 16
"""With fewer free bytes than this, a full disk is reported as the cause of git's failure."""


def _room(place: str) -> float:
    """Return the free bytes at a path; 0 if no file can be created."""
    try:
        found = os.statvfs(place)
    except OSError:
        return math.inf
    if found.f_files and not found.f_favail:
        return 0
    return found.f_bavail * found.f_frsize


def user_git(repository: Repository, program: str, door: Door | None = None) -> Git:
    """Return the user's own git directory, for references and worktrees only, never for content."""
    return Git(repository.directory, program=program, door=door)


def make_depot(
    directory: Path,
    *,
    program: str,
    borrow: Sequence[Path] = (),
    object_format: str = "sha1",
    excludes: Path | None = None,
    ignored: str = "",
    door: Door | None = None,
) -> Git:
    """Return a git directory of our own with our settings; created once, then reused."""
    if not (directory / "HEAD").exists():
        with explain_disk_errors(os.fspath(directory)):
            for part in ("objects/info", "refs", "info"):
                (directory / part).mkdir(parents=True, exist_ok=True)
            # HEAD is written last and checked first: an incomplete depot has none and is created
            # again.
            (directory / "config").write_text(
                _DEPOT_CONFIG.format(
                    version=0 if object_format == "sha1" else 1,
                    extensions=""
                    if object_format == "sha1"
                    else f"[extensions]\n\tobjectformat = {object_format}\n",
                    excludes=quoted(os.fspath(excludes or "/dev/null")),
                )
            )
            alternates = "".join(f"{quoted(os.fspath(path))}\n" for path in borrow)
            (directory / "objects/info/alternates").write_text(alternates)
            (directory / "info/attributes").write_text(RAW_ATTRIBUTES)
            (directory / "info/exclude").write_text(ignored, errors="surrogateescape")
            (directory / "HEAD").write_text("ref: refs/heads/none\n")
    return Git(directory, program=program, door=door)


def quoted(path: str) -> str:
    """Return a path quoted as in git's own files."""
    plain = path.encode(errors="surrogateescape")
    escaped = plain.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return f'"{escaped.decode(errors="surrogateescape")}"'


def ignore_file(depot: Path) -> Path | None:
    """Return the user's own ignore file outside the tree that applies to a depot, or None.

    The repository's `info/exclude` was copied when the depot was created, and applies as well.
    """
    config = os.fsdecode(read_plain(depot / "config", MOST_CONFIG) or b"")
    named = _EXCLUDES.search(config)
    if named is None or named[1] == os.devnull:
        return None
    return Path(re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], named[1]))


class Identity(NamedTuple):
    """The author of a commit."""

    name: str
    email: str

    def environment(self) -> dict[str, str]:
        return {
            "GIT_AUTHOR_NAME": self.name,
            "GIT_AUTHOR_EMAIL": self.email,
            "GIT_COMMITTER_NAME": self.name,
            "GIT_COMMITTER_EMAIL": self.email,
        }


NOBODY = Identity("Flyball", "flyball@localhost")


class UserConfig(NamedTuple):
    """The parts of a user's git configuration that are used, parsed as text."""

    identity: Identity
    excludes: Path | None
    object_format: str
    conversion: Mapping[str, str]
    """Git's conversions of files in and out of commits, apart from attributes."""
    filters: frozenset[str]
    """The names of filter programs, which are never started."""
    signing_key: str = ""
    """The SSH key that the user signs commits with: its file, or a public key."""
    allowed_signers: Path | None = None
    """The user's file of the SSH keys they trust, by name."""


def read_user_config(git: Git, repository: Repository, home: Path) -> UserConfig:
    """Read name, mail, ignore file and object format; the repository's values take precedence."""
    local = _read_settings(git, repository.common / "config")
    own = _read_settings(git, home / ".config/git/config") | _read_settings(
        git, home / ".gitconfig"
    )
    name, email = (_one_line((own | local).get(f"user.{key}", "")) for key in ("name", "email"))
    identity = Identity(name or NOBODY.name, email or NOBODY.email)
    excludes = home / ".config/git/ignore"
    # From the user's own files only: a repository must not name a file to be read.
    if message := own.get("core.excludesfile"):
        excludes = _at_home(home, message)
    signers = own.get("gpg.ssh.allowedsignersfile", "")
    return UserConfig(
        identity,
        excludes if _is_readable(excludes) else None,
        # Only the repository determines its object format; a user's own setting is for new ones.
        local.get("extensions.objectformat", "sha1"),
        _conversion_settings(own | local),
        frozenset(found[1] for key in own | local if (found := _FILTER.fullmatch(key))),
        own.get("user.signingkey", "") if own.get("gpg.format") == "ssh" else "",
        _at_home(home, signers) if signers else None,
    )


def _at_home(home: Path, path: str) -> Path:
    return home / path[2:] if path.startswith("~/") else Path(path)


_FILTER = regex(r"filter\.(.+)\.(?:clean|process)")


def _conversion_settings(settings: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    crlf = settings.get("core.autocrlf", "").lower()
    if crlf in ("true", "yes", "on", "1", "input"):
        found["core.autocrlf"] = "input" if crlf == "input" else "true"
    if (eol := settings.get("core.eol", "").lower()) in ("lf", "crlf"):
        found["core.eol"] = eol
    return found


def decisive_files(repository: Repository, home: Path) -> tuple[Path, ...]:
    """Return the files that determine the checked-out commit, tracked files and ignore rules."""
    directory, common = repository.directory, repository.common
    head = os.fsdecode(read_plain(directory / "HEAD", _LONGEST) or b"").strip()
    ref = common / head.removeprefix("ref: ") if head.startswith("ref: ") else directory / "HEAD"
    own = (home / name for name in (".gitconfig", ".config/git/config", ".config/git/ignore"))
    kept = (common / name for name in ("packed-refs", "config", "info/exclude"))
    return (ref, directory / "HEAD", directory / "index", *kept, *own)


def _read_settings(git: Git, file: Path) -> dict[str, str]:
    if not _is_readable(file):
        return {}
    # One file at a time and without includes: a repository's configuration may include any other
    # file.
    args = ("config", "--file", os.fspath(file), "--no-includes", "-z", "--list")
    listed = git.call(*args, ok=range(256)).stdout.decode(errors="replace")
    entries = (entry.partition("\n") for entry in listed.split("\0") if entry)
    return {key: value for key, _, value in entries}


def _is_readable(file: Path) -> bool:
    return os.access(file, os.R_OK) and file.is_file()


def _one_line(text: str) -> str:
    return re.sub(r"[\x00-\x1f<>]", "", text).strip()
