"""Detect how well the kernel can confine a command.

Three levels, never silently lowered:

    kernel+namespaces   only granted paths exist; its own network; Landlock inside
    kernel              Landlock and a system call filter
    none                no confinement; every surface says so
"""

from __future__ import annotations

from flyball.regex import regex
from flyball.workspace.process.process import Finished, works
from flyball.workspace.sandbox.confinement import Mechanism, Sandbox, SandboxLevel

__all__ = ["Mechanism", "Sandbox", "SandboxLevel", "best_mechanism", "detect_level", "explain"]


def best_mechanism() -> Mechanism:
    """Return the best way to confine that was tested successfully on this machine."""
    return next(means for means in Mechanism if works(means))


def detect_level() -> SandboxLevel:
    """Return the best sandbox level that was tested successfully on this machine."""
    return best_mechanism().level


_SIGNS = (
    (
        regex(r"(?i)permission denied|PermissionError|\bEACCES\b|\bEPERM\b|not permitted"),
        "something was refused permission",
    ),
    (
        regex(r"(?i)read-only file system|\bEROFS\b"),
        "a write outside the writable places was refused",
    ),
    (
        regex(r"(?i)network is unreachable|\bENETUNREACH\b|name resolution|could not resolve"),
        "a network connection was refused",
    ),
)


def explain(finished: Finished) -> tuple[str, ...]:
    """Return what the sandbox prevented, one sentence each.

    Files written to the home and packets without a route were counted; the rest is inferred from
    the command's output.
    """
    found = [f"it wrote {name} to a private home, not the user's" for name in finished.strays[:10]]
    if finished.unreachable:
        found.append(f"{finished.unreachable} packets found no way out of its own network")
    for line in finished.output.splitlines():
        for sign, meaning in _SIGNS:
            if sign.search(line):
                note = f"{meaning}: {line.strip()[:200]}"
                if note not in found:
                    found.append(note)
                break
    if finished.cut_off:
        found.append(finished.cut_off)
    return tuple(found[:20])
