"""All commands by task, and the overview that `flyball --help` prints.

It imports nothing that the interpreter has not loaded: the overview is printed before click is.
"""

from __future__ import annotations

SECTIONS: dict[str, dict[str, str]] = {
    "Run": {
        "run": "Make a request; Flyball governs the run.",
        "runs": "List, show, follow, resume, cancel, merge runs.",
        "undo": "Undo the last edit, or a specific one.",
        "card": "Show, revert or reapply a card.",
        "demo": "Watch a small broken project being repaired.",
    },
    "Review": {
        "verify": "Verify any change by its tests.",
        "attest": "Check and repeat attested verdicts.",
        "approve, deny, answer": "Answer a run's question.",
    },
    "Govern": {
        "init": "Govern another agent, or stop governing it.",
        "off, on": "Temporarily disable governance.",
        "checkpoint": "Record an agent's plan.",
        "conflict": "Report why a task cannot be done as asked.",
        "trust": "Trust this repository's configuration.",
        "confined": "Run a command in the sandbox.",
    },
    "Inspect": {
        "doctor": "Check this machine and suggest fixes.",
        "audit": "Show what your agents did, from their transcripts.",
        "command": "Judge a shell command without running it.",
        "intent": "Classify a request's intent and budget.",
        "patch": "Apply or check a unified diff.",
        "flow": "Check and show flows; print the policy table.",
        "ledger": "List, show and forget known mistakes.",
        "completion": "Install shell completion.",
    },
    "Team": {
        "serve": "Serve the board: every run in a browser.",
        "people": "Manage who may do what on the board.",
        "worker": "Process queued runs.",
        "mcp, acp": "Serve agents over MCP, or an editor over ACP.",
    },
}
"""The sections of the help: commands grouped by task."""

_MODULES = {
    "approve": "answer",
    "deny": "answer",
    "answer": "answer",
    "extend": "answer",
    "on": "off",
    "conflict": "checkpoint",
    "wait": "checkpoint",
}
_UNLISTED = ("extend", "wait", "judge", "guards", "machine", "bench")
"""Commands that work but are listed only in the reference."""

_WIDEST = max(len(names) for rows in SECTIONS.values() for names in rows)

COMMANDS: dict[str, str] = {
    name: f"flyball.cli.{_MODULES.get(name, name)}:{name}"
    for names in [*(row for rows in SECTIONS.values() for row in rows), *_UNLISTED]
    for name in names.split(", ")
}

_HEAD = """Usage: flyball [OPTIONS] COMMAND [ARGS]...

  Flyball governs coding agents: it decides what they may do next, proves what
  they did, and can undo it.

Options:
  --version   Show the version and exit.
  -h, --help  Show this message and exit.
"""


def overview() -> str:
    """Return the help of `flyball` itself: its options, and all commands by task."""
    sections = (
        f"\n{title}:\n" + "\n".join(f"  {n:<{_WIDEST}}  {about}" for n, about in rows.items())
        for title, rows in SECTIONS.items()
    )
    return _HEAD + "\n".join(sections)


def print_overview() -> None:
    """Print the overview; it holds nothing that a terminal would obey."""
    print(overview())
