"""Paths that programs and tools may not write in a workspace: a table without other imports."""

from __future__ import annotations

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
"""The protected names, each with a reason. One with a slash is relative to the top."""

DEFAULT_PROTECTED: tuple[str, ...] = tuple(PROTECTED)
