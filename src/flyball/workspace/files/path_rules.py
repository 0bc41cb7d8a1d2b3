"""What a path's names say before anything on disk is looked at."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from flyball.regex import regex

PROTECTED: dict[str, str] = {
    ".git": "git keeps its own records there",
    ".flyball": "Flyball keeps its own records there",
    "node_modules": "a package manager owns it",
    ".hg": "Mercurial keeps its own records there",
    ".svn": "Subversion keeps its own records there",
    ".jj": "Jujutsu keeps its own records there",
    ".githooks": "git would run what is in it",
    ".husky": "git would run what is in it",
    "flyball.toml": "it is Flyball's own policy",
    ".github/workflows": "a build server would run what is in it",
    ".github/actions": "a build server would run what is in it",
    ".gitlab-ci.yml": "a build server would run what is in it",
    ".circleci": "a build server would run what is in it",
    ".buildkite": "a build server would run what is in it",
    ".travis.yml": "a build server would run what is in it",
    "azure-pipelines.yml": "a build server would run what is in it",
    "bitbucket-pipelines.yml": "a build server would run what is in it",
    "Jenkinsfile": "a build server would run what is in it",
    ".vscode": "an editor would run what is in it",
    ".idea": "an editor would run what is in it",
    ".devcontainer": "an editor would run what is in it",
    ".devcontainer.json": "an editor would run what is in it",
    ".zed": "an editor would run what is in it",
    ".fleet": "an editor would run what is in it",
    ".exrc": "an editor would run it",
    ".nvim.lua": "an editor would run it",
    ".dir-locals.el": "an editor would run it",
    ".claude": "another agent takes its orders from it",
    ".codex": "another agent takes its orders from it",
    ".gemini": "another agent takes its orders from it",
    ".opencode": "another agent takes its orders from it",
    ".cursor": "another agent takes its orders from it",
    ".windsurf": "another agent takes its orders from it",
    ".continue": "another agent takes its orders from it",
    ".mcp.json": "another agent starts what it names",
    ".aider.conf.yml": "another agent takes its orders from it",
    ".envrc": "a shell would run it",
    ".direnv": "a shell would run what is in it",
}
"""What may not be written, and why. A name with a slash is meant from the top of the workspace."""

DEFAULT_PROTECTED: tuple[str, ...] = tuple(PROTECTED)

OWN = ("flyball.toml", ".flyball")
"""Flyball's own policy, templates and records."""


HOOKS_READ_FROM = (
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".codex/hooks.json",
    ".codex/config.toml",
    ".gemini/settings.json",
    ".opencode/plugin",
    ".opencode/plugins",
)
"""Where other agents find their hooks in a project: who writes there may disarm us."""


def protected_names(*, self_modify: bool) -> tuple[str, ...]:
    """What may not be written; a run that may change Flyball itself still keeps no records."""
    if not self_modify:
        return DEFAULT_PROTECTED
    return (*(name for name in DEFAULT_PROTECTED if name not in OWN), ".flyball/artifacts")


def is_own(path: str) -> bool:
    """Whether a path from the top of the workspace is Flyball's own policy, template or record."""
    return bool(why_protected(path.split("/"), OWN))


_EXAMPLES = (".example", ".sample", ".template", ".dist", ".defaults")
_SECRET = regex(
    r"\.env(?:[.\-_].*|rc)?|.*\.env|\.netrc|\.pgpass|\.pypirc|\.htpasswd|credentials\.json"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)(?:[.\-_].*)?|.*\.(?:pem|key|p12|pfx|jks|keystore|kdbx|asc)",
    re.DOTALL,
)


def holds_secrets(name: str) -> bool:
    """Whether a file of this name holds what its owner shows to nobody."""
    folded = fold(name)
    is_shown = folded.endswith((*_EXAMPLES, ".pub"))
    return bool(_SECRET.fullmatch(folded)) and not is_shown


_DEVICE = regex(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.I)
_SHORT_GIT = regex(r"git~[0-9]+")


def fold(name: str) -> str:
    """The name as the most forgiving file system would read it."""
    # NTFS and HFS+ ignore case, some invisible characters, trailing dots and spaces, and read
    # `git~1` as .git; a name is judged as the most forgiving of them would read it.
    visible = "".join(
        ch
        for ch in unicodedata.normalize("NFKC", name)
        if unicodedata.category(ch) not in ("Cf", "Cc", "Mn", "Me")
    )
    bare = visible.split(":", 1)[0].rstrip(". \t") or visible
    folded = unicodedata.normalize("NFKC", bare.casefold())
    return ".git" if _SHORT_GIT.fullmatch(folded) else folded


def reads_hooks_from(path: str) -> bool:
    """Whether a host reads from there which hooks it runs."""
    return bool(why_protected(path.split("/"), HOOKS_READ_FROM))


def why_protected(parts: Sequence[str], protected: Sequence[str]) -> str:
    """Why these path components may not be written, or nothing."""
    folded = [fold(part) for part in parts]
    for pattern in protected:
        wanted = [fold(part) for part in pattern.strip("/").split("/")]
        here = folded[: len(wanted)] == wanted if len(wanted) > 1 else wanted[0] in folded
        if here:
            return f"{pattern} is protected: {PROTECTED.get(pattern, 'the policy says so')}"
    return ""


def why_unportable(name: str) -> str:
    """Why a new file should not get this name, or nothing."""
    if "\\" in name:
        return "it contains a backslash; separate directories with /"
    if ":" in name:
        return "it contains a colon, which names a hidden stream on Windows"
    if name != name.rstrip(". "):
        return "it ends in a dot or a space, which some systems drop"
    if name != name.lstrip(" "):
        return "it begins with a space"
    if _DEVICE.fullmatch(name):
        return "it is the name of a device on Windows"
    if any(unicodedata.category(ch) in ("Cf", "Cc", "Zl", "Zp") for ch in name):
        return "it contains invisible characters"
    return ""
