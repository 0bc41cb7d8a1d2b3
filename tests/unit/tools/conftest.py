"""A real call context: a repository, a run's worktree of it, the sandbox of this machine."""

import asyncio
import os
import sys
from functools import cache
from pathlib import Path

import pytest
from tests.repos import git, put, repository

from flyball.run.thread import SpokenCall
from flyball.terms.phase import Phase
from flyball.tools.call.prepare import prepare, read_form
from flyball.tools.call.protocol import CallContext, ToolSettings
from flyball.tools.toolbox import TOOLS
from flyball.workspace.files.paths import Root
from flyball.workspace.process import levels
from flyball.workspace.process.levels import Sandbox
from flyball.workspace.redaction import Redactor
from flyball.workspace.run.opening import open_workspace
from flyball.workspace.sandbox import environment
from flyball.workspace.servers.server import RunServers

BY_NAME = {tool.name: tool for tool in TOOLS}
SECRET = "hunter2-canary-99aa"
BARE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""The plugins of our own environment would cost seconds a start."""


class Bench:
    """A call context, and short ways to use tools in it."""

    def __init__(self, context: CallContext) -> None:
        self.context = context
        self.root = context.root.path
        self.project = context.workspace.project

    def call(self, name, /, **args):
        """The call as the judge would see it."""
        call, _ = prepare(SpokenCall("c1", name, args), BY_NAME, self.context)
        return call

    def do(self, name, /, **args):
        """What the tool gives back; arguments that cannot be read are an error here."""
        form = read_form(args, BY_NAME[name])
        assert not isinstance(form, str), form
        tree = self.context.workspace.tree_hash()
        return asyncio.run(BY_NAME[name].perform(form, self.context._replace(tree=tree)))

    def probe(self, name, tree, /, **args):
        """What the tool finds of this call when it looks after a crash."""
        return BY_NAME[name].probe(read_form(args, BY_NAME[name]), self.context._replace(tree=tree))

    def put(self, files):
        put(self.root, files)

    def text(self, path):
        return (self.root / path).read_text()


@pytest.fixture
def make_bench(tmp_path):
    """Open a run on a repository of these files."""
    opened = []

    def make(files=None, *, in_place=False, with_git=True, ignored=None, **settings):
        project = tmp_path / "project"
        if with_git:
            repository(project, files or {"README.md": "hello\n"})
        else:
            put(project, files or {"README.md": "hello\n"})
        put(project, ignored or {})
        workspace = open_workspace(project, "r1", tmp_path / "state", in_place=in_place)
        opened.append(workspace)
        source = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        env = environment.clean(source, workspace=workspace.root, extra=BARE)
        return Bench(
            CallContext(
                run="r1",
                card="k1",
                call="c1",
                key="key",
                phase=Phase.EXECUTE,
                tree=workspace.base,
                root=Root(workspace.root),
                workspace=workspace,
                sandbox_in=lambda root: Sandbox(level=levels.detect_level(), root=root.path),
                env_of=lambda: env,
                redactor=Redactor([SECRET]),
                settings=(settled := ToolSettings(**settings)),
                limits=settled.suite_limits,
                seen={},
                on_output=lambda _text: None,
                servers_of=cache(lambda: RunServers(workspace.directory / "servers")),
                is_to_rest=lambda: False,
            )
        )

    yield make
    for workspace in opened:
        workspace.close()


@pytest.fixture
def git_in():
    return git
