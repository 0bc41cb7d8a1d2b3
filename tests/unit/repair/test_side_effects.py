"""What running code leaves behind in a module can be seen."""

import functools
import types

import pytest

from flyball.repair.inside.trials import measure_state


@pytest.fixture
def module():
    made = types.ModuleType("made")
    text = (
        "import functools\nSEEN = {}\nCOUNT = 0\n\n\ndef put(x, into=[]):\n    into.append(x)\n\n\n"
        "@functools.lru_cache\ndef cached(x):\n    return x\n\n\n"
        "class Box:\n    shared = []\n\n    def __init__(self):\n        self.held = []\n\n\n"
        "BOX = Box()\n"
    )
    exec(text, vars(made))
    return made


def bump(module):
    module.COUNT += 1


@pytest.mark.parametrize(
    "leave",
    [
        lambda m: m.SEEN.update(a=1),
        bump,
        lambda m: m.put(1),
        lambda m: m.cached(1),
        lambda m: m.Box.shared.append(1),
        lambda m: m.BOX.held.append(1),
    ],
    ids=["dictionary", "number", "default", "cache", "class", "object"],
)
def test_a_stain_is_seen(module, leave):
    clean = measure_state([module])
    assert measure_state([module]) == clean
    leave(module)
    assert measure_state([module]) != clean


def test_what_leaves_nothing_is_clean(module):
    clean = measure_state([module])
    module.Box().held.append(1)
    functools.reduce(max, [1, 2])
    assert measure_state([module]) == clean
