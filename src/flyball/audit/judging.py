"""Judge one transcript file: its sessions, their findings, and their costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

import msgspec

from flyball.agents.usage import Billed
from flyball.audit.audited_call import CommandLook, Looks
from flyball.audit.finding import AuditFinding
from flyball.audit.formats import Transcript
from flyball.audit.rules import findings_in
from flyball.audit.trail import Spent, Trail, Turned
from flyball.guards.guard import GuardLimits
from flyball.hosts.meter import list_price
from flyball.regex import regex
from flyball.shell import CommandKind, cannot_fail, findings_of
from flyball.terms.evidence import Comparison, Weakened
from flyball.verdict.tests import ALARMS, comparison_of, weakenings
from flyball.workspace.redaction import Redactor

FLYBALL = "flyball"
"""The host name used for our own journals."""
LONGEST_COMMAND = 20_000
"""Longer commands are embedded files and are not parsed."""


class SessionAudit(msgspec.Struct):
    """A session, as far as one file contains it."""

    session: str
    host: str
    project: str = ""
    model: str = ""
    began: float = 0.0
    ended: float = 0.0
    prompts: int = 0
    calls: int = 0
    edits: int = 0
    lines: int = 0
    """The lines it wrote, if an Agent Trace says so."""
    seconds_after_stop: float = 0.0
    asked: str = ""
    """The first prompt, with secrets redacted."""

    @property
    def agent(self) -> str:
        """Return the agent whose hooks would prevent the finding; in our own journals, the observed
        agent."""
        return self.model if self.host == FLYBALL else self.host


class BillAudit(msgspec.Struct, array_like=True):
    """The cost of a reply, and whether a guard would have saved it."""

    id: str
    session: str
    model: str
    at: float
    tokens: float
    money: float
    is_after_stop: bool


class FileAudit(msgspec.Struct):
    """All results of one file."""

    sessions: list[SessionAudit] = []
    findings: list[AuditFinding] = []
    bills: list[BillAudit] = []
    notes: tuple[str, ...] = ()
    is_lost: bool = False
    """Whether the file could not be read to its end; then it has no results."""


@lru_cache(maxsize=20_000)
def look_at_command(command: str, root: str) -> CommandLook:
    """Return how the shell judge rates a command."""
    if len(command) > LONGEST_COMMAND:
        return CommandLook()
    found = findings_of(command, root=root)
    worst = [each for each in found if each.kind is CommandKind.DESTRUCTIVE]
    vetoed = [each for each in found if each.veto]
    why = cannot_fail(command) or ""
    # Agents see filtered output; only a hidden exit status counts here.
    why = "" if why.startswith("the pipeline's status") else why
    return CommandLook(
        is_destructive=bool(worst),
        is_outside=bool(vetoed),
        is_check=any(each.proves for each in found),
        cannot_fail=why,
        reason=(worst or vetoed or [*found])[0].reason,
    )


TOKENS = regex(
    r"AKIA|ASIA|gh[pousr]_|github_pat_|glpat-|sk-[A-Za-z0-9]|sk_live|xox[abeoprs]-|AIza|npm_|pypi-"
    r"|-----BEGIN [A-Z ]{0,40}PRIVATE KEY|hf_[A-Za-z0-9]{20}|SG\.|whsec_|dckr_pat_|gsk_"
)
BEGINNINGS = (
    "AKIA", "ASIA", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "sk-",
    "sk_live", "xox", "AIza", "npm_", "pypi-", "-----BEGIN ", "hf_", "SG.", "whsec_", "dckr_pat_",
    "gsk_",
)  # fmt: skip
"""Texts without one of these are not searched for secrets: the search is slow and rarely matches.
"""
SEARCHED = 200_000
_REDACTOR = Redactor()


def shows_secret(text: str) -> bool:
    """Return whether a text contains something that can only be a token."""
    if not any(beginning in text for beginning in BEGINNINGS):
        return False
    found = TOKENS.search(text, 0, SEARCHED)
    if found is None:
        return False
    near = text[max(found.start() - 200, 0) : found.start() + 5_000]
    return bool(_REDACTOR.spans(near))


def surely_weakened(
    before: Mapping[str, str | None], after: Mapping[str, str | None]
) -> list[Weakened]:
    """Return the places where tests became easier to pass; skip changes that cannot be parsed."""
    found = weakenings(before, after)
    return [each for each in found if comparison_of(each.kind) in CERTAIN]


CERTAIN = ALARMS - {Comparison.NOT_UNDERSTOOD}
LOOKS = Looks(look_at_command, shows_secret, surely_weakened)


def judge_transcripts(transcripts: Iterable[Transcript], limits: GuardLimits) -> FileAudit:
    """Follow every session of a file to its end."""
    audit = FileAudit([], [], [])
    for transcript in transcripts:
        sessions: dict[str, SessionAudit] = {}
        bills: dict[str, BillAudit] = {}
        for told in Trail(LOOKS, limits).follow(transcript.entries):
            if isinstance(told, Spent):
                _enter(bills, told)
            else:
                _count(sessions, told, transcript.host)
                audit.findings += map(redacted, findings_in(told, LOOKS))
        _name_models(sessions, bills.values())
        audit.sessions += sessions.values()
        audit.bills += bills.values()
    return audit


def _enter(bills: dict[str, BillAudit], spent: Spent) -> None:
    """Record the cost of a reply: its last line has the amount, its first line the time."""
    bill = spent.entry.bill
    known = bills.get(bill.id)
    is_after = known.is_after_stop if known else spent.is_after_stop
    bills[bill.id] = BillAudit(
        bill.id,
        spent.session,
        bill.model,
        spent.entry.at,
        bill.tokens,
        price_of(bill),
        is_after,
    )


LONG_CONTEXT = 200_000
"""From this many tokens on, some models cost more per token, and each bill is priced separately."""


def price_of(bill: Billed) -> float:
    """Return the US dollar price of a reply; rates are looked up once per model."""
    if not bill.model or bill.fresh + bill.cached + bill.written > LONG_CONTEXT:
        return list_price(bill)
    rates = _rates(bill.model)
    amounts = (bill.fresh, bill.cached, bill.written, bill.output)
    return sum(rate * amount for rate, amount in zip(rates, amounts, strict=True))


@lru_cache(maxsize=500)
def _rates(model: str) -> tuple[float, ...]:
    """Return the dollars per token of each kind."""
    names = ("fresh", "cached", "written", "output")
    return tuple(list_price(Billed("", model, **{name: 1000})) / 1000 for name in names)


def _count(sessions: dict[str, SessionAudit], turn: Turned, host: str) -> None:
    id = turn.session.session
    session = sessions.get(id)
    if session is None:
        session = sessions[id] = SessionAudit(id, host, turn.session.cwd, began=turn.at)
    session.project = session.project or turn.session.cwd
    session.ended = max(session.ended, turn.ended, turn.at)
    session.prompts += bool(turn.prompt)
    session.calls += len(turn.actions)
    session.edits += sum(action.is_edit for action in turn.actions)
    if not session.asked:
        session.asked = _REDACTOR.text(turn.prompt[:300])
    if turn.stopped_at:
        at = next(
            (action.at for action in turn.actions if action.id == turn.stopped_at), turn.ended
        )
        session.seconds_after_stop += max(turn.ended - at, 0.0)


def _name_models(sessions: dict[str, SessionAudit], bills: Iterable[BillAudit]) -> None:
    """Name each session after the last model it used."""
    for bill in bills:
        if bill.session in sessions and bill.model:
            sessions[bill.session].model = bill.model


def redacted(found: AuditFinding) -> AuditFinding:
    """Return a finding with known secrets redacted."""
    quote, detail = _REDACTOR.text(found.quote), _REDACTOR.text(found.detail)
    if (quote, detail) == (found.quote, found.detail):
        return found
    return msgspec.structs.replace(found, quote=quote, detail=detail)
