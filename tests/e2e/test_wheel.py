"""What is released works in an environment that has nothing of ours but the wheel."""

import pytest
from tests.wheel import build, install, missing, use

pytestmark = pytest.mark.exhaustive


def test_the_wheel_alone_repairs_the_demo_and_names_what_it_lacks(tmp_path):
    wheel = build(tmp_path / "dist", "-t", "wheel")
    programs = install(wheel, tmp_path / "clean", "")
    assert use(programs, "flyball", "--version").stdout.startswith("flyball ")
    demo = use(programs, "flyball", "demo")
    assert (demo.returncode, "red → green" in demo.stdout) == (0, True), demo.stderr
    assert use(programs, "flyball-hook", "claude", said="not JSON").returncode == 2
    assert missing(programs) == {"web", "mcp", "cluster", "acp", "otel"}
