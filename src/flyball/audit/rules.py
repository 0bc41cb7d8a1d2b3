"""Rules that read a turn and yield findings. They never guess what the transcript leaves out."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator

from msgspec.structs import replace

from flyball.audit.audited_call import AuditedCall, Looks, is_document
from flyball.audit.finding import AuditFinding
from flyball.audit.trail import Turned
from flyball.guards.guard import TripLevel
from flyball.intent.classifier import classify
from flyball.regex import regex
from flyball.terms.intent import MAY_MUTATE
from flyball.terms.shape import one_line

SURE_QUESTION = 0.8
"""How likely a prompt must be a question before an edit is held against it."""


def findings_in(turn: Turned, looks: Looks) -> Iterator[AuditFinding]:
    """Return all findings of the rules in one turn, in the order of the rules."""
    for rule in BY_THE_TURN:
        yield from rule(turn)
    for look in BY_THE_COMMANDS:
        yield from look(turn, looks)


def _found(
    turn: Turned, rule: str, action: AuditedCall, detail: str = "", key: str = ""
) -> AuditFinding:
    """Return a finding at a call, and check whether the turn's edits are still present."""
    edits = [edit for each in turn.actions if each.is_edit for edit in each.edits]
    last = {edit.path: edit for edit in edits}
    return AuditFinding(
        rule=rule,
        session=turn.session.session,
        turn=turn.number,
        at=action.at,
        key=f"{rule}/{key or action.id}",
        quote=action.quote,
        detail=one_line(detail, 300),
        paths=tuple(last),
        traces=tuple(_trace(edit.old, edit.new) for edit in last.values()),
    )


def _trace(old: str | None, new: str | None) -> str:
    """Return the longest line that an edit added; nothing if it only removed lines."""
    before = set((old or "").split("\n"))
    fresh = [line.strip() for line in (new or "").split("\n") if line not in before]
    return max(fresh, key=len, default="")[:200]


CLAIM = regex(
    r"(?i)\b(?:done|fixed|finished|complete[ds]?|implemented|resolved|works?|working|verified|ready"
    r"|pass(?:es|ing|ed)?|all set|everything|successfully|changed it)\b"
)


def _work(turn: Turned) -> list[int]:
    """Return the positions of the edits to files that can be run."""
    return [
        place
        for place, action in enumerate(turn.actions)
        if action.is_edit and not (action.paths and all(map(is_document, action.paths)))
    ]


def _unchecked(turn: Turned) -> Iterator[AuditFinding]:
    """Yield claims of success when nothing was run after the last edit."""
    work = _work(turn)
    if not work or turn.session.is_agent or turn.is_interrupted or not CLAIM.search(turn.words):
        return
    last, *rest = turn.actions[work[-1] :]
    if not last.runs and not any(action.is_check for action in rest):
        claim = one_line(turn.words, 160)
        yield _found(turn, "unchecked", turn.actions[work[-1]], f"it said: {claim}")


def _weakened(turn: Turned, looks: Looks) -> Iterator[AuditFinding]:
    """Yield weakened tests followed by a pass, or a claim of one."""
    if not turn.before:
        return
    found = looks.weakened(turn.before, turn.after)
    by_path = {weakened.path: weakened for weakened in reversed(found)}
    for path, weakened in by_path.items():
        places = [n for n, action in enumerate(turn.actions) if _touches(action, path)]
        rest = turn.actions[places[-1] + 1 :] if places else []
        is_green = any(action.is_check and action.ok for action in rest) or CLAIM.search(turn.words)
        if places and is_green:
            what = f"{path}: {weakened.detail or weakened.kind}"
            yield _found(turn, "weakened-tests", turn.actions[places[-1]], what)


def _touches(action: AuditedCall, path: str) -> bool:
    return action.is_edit and any(
        edit.path == path or edit.path.endswith(f"/{path}") for edit in action.edits
    )


def _cannot_fail(turn: Turned, looks: Looks) -> Iterator[AuditFinding]:
    """Yield claims of success when all that was run after the last edit could not fail."""
    work = _work(turn)
    if not work or not CLAIM.search(turn.words) or turn.actions[work[-1]].runs:
        return
    last: tuple[AuditedCall, str] | None = None
    # The last first: most turns end with an honest check, and parsing commands is dear.
    for action in reversed(turn.actions[work[-1] + 1 :]):
        look = looks.command(action.command, turn.session.cwd) if action.is_check else None
        if look is None or not look.is_check:
            continue
        if not look.cannot_fail:
            return
        last = last or (action, look.cannot_fail)
    if last:
        yield _found(turn, "cannot-fail", *last)


IN_PLACE = regex(r"\b(?:sed|perl)\s+(?:-\w+\s+)*-\w*i|\bpatch\s+-|\bgit apply\b")


def _blind(turn: Turned) -> Iterator[AuditFinding]:
    """Yield a turn whose first action changed an existing file."""
    if turn.has_read_before or turn.session.is_agent:
        return
    for action in turn.actions:
        if action.kind == "mutate":
            is_old = any(edit.old for edit in action.edits) or IN_PLACE.search(action.command)
            if action.ok and is_old:
                yield _found(turn, "blind-write", action, "nothing was read before")
            return
        if action.kind != "note":
            return


def _answered(turn: Turned) -> Iterator[AuditFinding]:
    """Yield a turn that changed files although the person asked a question."""
    work = _work(turn)
    if not work or turn.session.is_agent or not turn.prompt:
        return
    reading = classify(turn.prompt)
    if reading.intent not in MAY_MUTATE and reading.confidence >= SURE_QUESTION:
        asked = one_line(turn.prompt, 160)
        yield _found(turn, "question-edited", turn.actions[work[0]], f"it was asked: {asked}")


WRITES_REMOTE = regex(r"(?:>|\btee\b|\bcp\b|\bmv\b|\bln\b|\binstall\b)[^|;&]*(?:\s|>)(?:/|~|\.\./)")
SCRATCH = ("/tmp/", "/var/tmp/", "/dev/", "/private/tmp/", "/private/var/")
OF_HOSTS = regex(r"/\.(?:claude|codex|gemini|config|cache|local)/")
"""Where hosts keep plans and notes of their own."""


def _outside(turn: Turned, looks: Looks) -> Iterator[AuditFinding]:
    """Yield writes outside the project and its scratch directories."""
    root = turn.session.cwd.rstrip("/")
    if not root:
        return
    for action in turn.actions:
        if not action.is_edit:
            continue
        afar = [path for path in action.paths if _is_remote(path, root)]
        if not afar and WRITES_REMOTE.search(action.command):
            afar = [path for path in PLACES.findall(action.command) if _is_remote(path, root)]
            is_so = bool(afar) and looks.command(action.command, root).is_outside
            afar = afar if is_so else []
        if afar:
            found = _found(turn, "outside-edit", action, f"outside {posixpath.basename(root)}")
            traces = {edit.path: _trace(edit.old, edit.new) for edit in action.edits}
            told = tuple(traces.get(path, "") for path in afar)
            yield replace(found, paths=tuple(afar), traces=told)


PLACES = regex(r"(?<![\w.])((?:/|~/|(?:\.\./)+)[\w./-]+)")


def _is_remote(path: str, root: str) -> bool:
    if OF_HOSTS.search(path):
        return False
    whole = posixpath.normpath(posixpath.join(root, path)) if not path.startswith("~") else path
    if whole == root or whole.startswith(f"{root}/"):
        return False
    return not any(whole.startswith(place) and not root.startswith(place) for place in SCRATCH)


GUARDED = {"failed-edits": "failing-edits", "error-stagnation": "same-error"}
"""Guards whose first warning is a finding; the others must have stopped the run."""


def _looped(turn: Turned) -> Iterator[AuditFinding]:
    """Yield the report of each guard about a turn, once."""
    told: set[str] = set()
    for action in turn.actions:
        for trip in action.trips:
            rule = GUARDED.get(trip.guard, "loop")
            if rule == "loop" and trip.level is not TripLevel.HARD:
                continue
            if rule not in told:
                told.add(rule)
                yield _found(turn, rule, action, f"{trip.guard}: {trip.reason}")


DANGER = regex(
    r"\brm\s|\bgit\s+(?:\S+\s+)*(?:reset|clean|checkout|restore|push|stash|branch|filter-\w+|rebase)"
    r"|\bdd\b|\bmkfs|\btruncate\b|\bshred\b|(?i:\bdrop\s|\bdelete\s+from)|\bfind\b.*-delete"
    r"|\bkill(?:all)?\b|\bdocker\s.*(?:rm|prune)|\bkubectl\s+delete|\bterraform\s+destroy|\bchmod\s+-R"
)
"""Words without which no command that we know is destructive; only those are parsed."""


def _destroyed(turn: Turned, looks: Looks) -> Iterator[AuditFinding]:
    """Yield commands that cannot be undone."""
    for action in turn.actions:
        if action.command and action.ok and DANGER.search(action.command):
            look = looks.command(action.command, turn.session.cwd)
            if look.is_destructive and not _only_tidies(action.command, turn):
                yield _found(turn, "destructive", action, look.reason)


REMOVED = regex(r"rm(?: -[rfv]+)*((?: [\w./+*-]+)+)(?: 2>/dev/null)?")
HARMLESS = regex(
    r"cd [\w./-]+|true|echo [\w \"'.!-]*"
    r"|find [\w./-]+(?: -(?:type|name|path) \S+)+ (?:-delete|-exec rm(?: -rf?)? \{\} (?:\+|\\))"
    r"(?: 2>/dev/null)?"
)
CACHE = regex(r"__pycache__|\.(?:pytest|mypy|ruff)_cache|\*?[\w.*-]*\.pyc")


def _only_tidies(command: str, turn: Turned) -> bool:
    """Return whether a command deletes only caches, and files that this turn created."""
    made = {
        posixpath.basename(edit.path)
        for action in turn.actions
        if action.is_edit
        for edit in action.edits
        if edit.old is None
    }
    for part in filter(None, map(str.strip, re.split(r"&&|\|\||;", command))):
        if removed := REMOVED.fullmatch(part):
            names = [posixpath.basename(name.rstrip("/")) for name in removed[1].split()]
            if not all(name in made or CACHE.fullmatch(name) for name in names):
                return False
        elif not HARMLESS.fullmatch(part) or ("find" in part and not CACHE.search(part)):
            return False
    return True


def _leaked(turn: Turned) -> Iterator[AuditFinding]:
    """Yield results that contained a secret, which the model then received."""
    for action in turn.actions:
        if action.shows_secret:
            yield _found(turn, "secret-printed", action, "the output shows a secret")


def _interrupted(turn: Turned) -> Iterator[AuditFinding]:
    """Yield interruptions by the person after the model changed or ran something."""
    acts = [action for action in turn.actions if action.kind in ("mutate", "run", "verify")]
    if turn.is_interrupted and acts:
        yield _found(turn, "interrupted", acts[-1], "the person stopped it here")


BY_THE_TURN: tuple[Callable[[Turned], Iterator[AuditFinding]], ...] = (
    _unchecked,
    _blind,
    _answered,
    _looped,
    _leaked,
    _interrupted,
)
BY_THE_COMMANDS: tuple[Callable[[Turned, Looks], Iterator[AuditFinding]], ...] = (
    _weakened,
    _cannot_fail,
    _outside,
    _destroyed,
)
