"""Prove that another agent obeys its hooks, for `flyball doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flyball.surfaces.cli.terminal.edge import say

if TYPE_CHECKING:
    from flyball.app.project import Home
    from flyball.app.proving.lines import HostProof


def examine_host(
    home: Home, host: str, program: str, seconds: float | None, as_json: bool
) -> HostProof:
    """Prove one host, and print the proof in the requested format."""
    import asyncio

    from flyball.app.proving.host import SECONDS, prove_host
    from flyball.surfaces.cli.card import say_json

    def tell(text: str) -> None:
        say(text, err=True)

    proof = asyncio.run(prove_host(host, home, program, seconds or SECONDS, tell))
    if as_json:
        say_json(as_dict(proof))
    else:
        say_proof(proof)
    return proof


def as_dict(proof: HostProof) -> dict[str, Any]:
    """Return a proof as JSON-compatible values."""
    return {
        "ok": proof.holds,
        "proved": proof.proves,
        "host": proof.host,
        "program": proof.program,
        "version": proof.version,
        "lines": [{**line._asdict(), "state": str(line.state)} for line in proof.lines],
        "notes": list(proof.notes),
    }


def say_proof(proof: HostProof) -> None:
    """Print the result of each line, and a conclusion."""
    is_shown = any(line.state == "shown" for line in proof.lines)
    if not proof.program:
        head = f"{proof.title} is not installed"
        say(f"{head}: shown with recorded payloads." if is_shown else f"{head}.")
    else:
        say(f"{proof.title} {proof.version} ({proof.program})")
        if is_shown:
            say("It is not driven: shown with recorded payloads.")
    for line in proof.lines:
        say(f"  {line.state.value:<9}  {line.claim}")
        if line.seen:
            say(f"             {line.seen}")
    for next in dict.fromkeys(line.next for line in proof.lines if line.next):
        say(f"  next       {next}")
    for note in proof.notes:
        say(f"  know       {note}")
    say(f"\n{_verdict(proof)}")


def _verdict(proof: HostProof) -> str:
    """Return the conclusion: what was shown, and what was not."""
    from flyball.app.proving.launch import SEEN

    if not proof.holds:
        return f"{proof.title} is not governed by Flyball here: see the lines above."
    if proof.proves:
        return (
            f"{proof.title} is governed by Flyball here: each line was tried with the real program."
        )
    known = f"The hooks answer as they must. What {proof.title} makes of that was not tried"
    more = f": install {proof.title} and repeat this to prove it" if proof.host in SEEN else ""
    return f"{known}{more}."
