"""Evidence in words: what Flyball saw, one line each."""

from __future__ import annotations

from flyball.core.terms.evidence import (
    ApprovalReport,
    BaseRun,
    CheckReport,
    CommandReport,
    ConsoleReport,
    DiffReport,
    Evidence,
    HttpReport,
    SuiteReport,
    VisualReport,
    WeakeningReport,
)


def observed(item: Evidence) -> str:
    """One piece of evidence in a line."""
    match item:
        case SuiteReport():
            return f"{item.command}: {item.passed} passed, {item.failed} failed"
        case CheckReport() | CommandReport():
            return f"{item.command}: exit {item.exit_code}"
        case BaseRun():
            return f"on the base tree: {item.outcome} ({item.detail})"
        case WeakeningReport():
            return f"tests weakened in {len(item.findings)} places"
        case DiffReport():
            return f"{len(item.files)} files changed"
        case HttpReport():
            return f"{item.url} answered {item.error or item.status}"
        case ConsoleReport():
            count = len(item.errors) + len(item.failed_requests)
            return f"the console of {item.url} has {count} errors"
        case VisualReport():
            return f"{item.url} {'shows' if item.ok else 'does not show'} {item.expectation}"
        case ApprovalReport():
            return f"{item.by} {'accepted' if item.granted else 'refused'} {item.what}".rstrip()
        case _:
            return type(item).__name__


def trouble(item: Evidence) -> str:
    """What a failing piece of evidence complains of, where it says more than its line."""
    match item:
        case SuiteReport(failures=(first, *_)):
            message = first.message.strip().split("\n")[-1]
            return f"{first.name} fails: {message}" if message else f"{first.name} fails"
        case SuiteReport() if item.reason:
            return item.reason
        case CheckReport(problems=(first, *_)):
            return first
        case ConsoleReport(errors=(first, *_)) | ConsoleReport(failed_requests=(first, *_)):
            return first
        case _:
            return observed(item)
