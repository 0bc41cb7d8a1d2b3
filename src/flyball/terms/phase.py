"""The phases of a card. The dots are the hierarchy."""

from __future__ import annotations

from enum import StrEnum


class Phase(StrEnum):
    """Every leaf of the statechart."""

    ANALYZE_CODE = "plan.recon.analyze_code"
    RESEARCH = "plan.recon.research"
    DESIGN = "plan.recon.design"
    CHECKPOINT = "plan.checkpoint"
    EXECUTE = "build.execute"
    VERIFY = "build.verify"
    FINAL = "final"
    PAUSED = "paused"
    SUCCEEDED = "ended.succeeded"
    FAILED = "ended.failed"
    CANCELLED = "ended.cancelled"

    name_for_people: str
    """The one-word name that telemetry and prompts use."""

    def __init__(self, place: str) -> None:
        self.name_for_people = "recon" if ".recon." in place else place.rpartition(".")[2]

    @property
    def label(self) -> str:
        return LABELS[self]

    def is_in(self, region: str) -> bool:
        """Return whether this phase is `region` or inside it."""
        return region in REGIONS[self]


PLAN = "plan"
RECON = "plan.recon"
BUILD = "build"
LIVE = "live"
ENDED = "ended"

RECON_PHASES = (Phase.ANALYZE_CODE, Phase.RESEARCH, Phase.DESIGN)
WORKING = (*RECON_PHASES, Phase.CHECKPOINT, Phase.EXECUTE, Phase.VERIFY, Phase.FINAL)
ENDINGS = (Phase.SUCCEEDED, Phase.FAILED, Phase.CANCELLED)

PARENT = {phase: phase.value.partition(".")[0] for phase in Phase}
"""The outermost region of each phase: `plan`, `build`, `final`, `paused` or `ended`."""

LABELS = {
    Phase.ANALYZE_CODE: "Investigating Codebase",
    Phase.RESEARCH: "Reading Documents",
    Phase.DESIGN: "Thinking It Through",
    Phase.CHECKPOINT: "Stating the Plan",
    Phase.EXECUTE: "Making Changes",
    Phase.VERIFY: "Verifying",
    Phase.FINAL: "Writing the Answer",
    Phase.PAUSED: "Waiting for You",
    Phase.SUCCEEDED: "Succeeded",
    Phase.FAILED: "Failed",
    Phase.CANCELLED: "Cancelled",
}


def _around(phase: Phase) -> tuple[str, ...]:
    parts = phase.value.split(".")
    inside = [".".join(parts[:n]) for n in range(len(parts), 0, -1)]
    return (*inside, LIVE) if phase not in ENDINGS else tuple(inside)


REGIONS = {phase: _around(phase) for phase in Phase}
"""Each phase and everything around it, innermost first; `live` is all that has not ended."""
