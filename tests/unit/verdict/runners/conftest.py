"""A call whose tree lies in a directory of its own, with a shelf beside it."""

from types import SimpleNamespace

import pytest

from flyball.tools.call.protocol import CallContext, ToolSettings
from flyball.workspace.files.paths import Root


@pytest.fixture
def start(tmp_path):
    tree, shelf = tmp_path / "tree", tmp_path / "shelf"
    tree.mkdir()
    shelf.mkdir()
    fields = {**dict.fromkeys(CallContext._fields), **CallContext._field_defaults}
    fields |= {
        "root": Root(tree),
        "workspace": SimpleNamespace(
            project=tree, directory=tmp_path / "runs" / "1", state_dir=tmp_path
        ),
        "settings": ToolSettings(),
        "env_of": lambda: {"PATH": "/usr/bin"},
        "shelf": shelf,
    }
    return CallContext(**fields)
