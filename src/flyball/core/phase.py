"""Where a card stands. The dots are the hierarchy."""

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

    @property
    def parent(self) -> str:
        """The outermost region: `plan`, `build`, `final`, `paused` or `ended`."""
        return self.value.partition(".")[0]

    @property
    def name_for_people(self) -> str:
        """The one-word name that telemetry and prompts use."""
        if self.is_in(RECON):
            return "recon"
        return self.value.rpartition(".")[2]

    @property
    def label(self) -> str:
        return LABELS[self]

    def is_in(self, region: str) -> bool:
        """Whether this phase is `region` or lies inside it."""
        return region == ANY or self.value == region or self.value.startswith(f"{region}.")


ANY = ""
PLAN = "plan"
RECON = "plan.recon"
BUILD = "build"
LIVE = "live"
ENDED = "ended"

RECON_PHASES = (Phase.ANALYZE_CODE, Phase.RESEARCH, Phase.DESIGN)
WORKING = (*RECON_PHASES, Phase.CHECKPOINT, Phase.EXECUTE, Phase.VERIFY, Phase.FINAL)
ENDINGS = (Phase.SUCCEEDED, Phase.FAILED, Phase.CANCELLED)

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


def regions(phase: Phase) -> tuple[str, ...]:
    """The phase and everything around it, innermost first; `live` is all that has not ended."""
    parts = phase.value.split(".")
    inside = [".".join(parts[:n]) for n in range(len(parts), 0, -1)]
    if phase not in ENDINGS:
        inside.append(LIVE)
    return tuple(inside)
