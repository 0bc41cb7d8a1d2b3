"""A host's tool call as a call that can be judged: which of our tools it is, and its facts."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from msgspec.structs import replace

from flyball.core.host.event import HostEvent
from flyball.core.host.tool import (
    COMMAND_FIELDS,
    PATCH_FIELDS,
    PATH_FIELDS,
    PLAN_EXIT,
    Naming,
    host_tool,
    patched_files,
    texts_in,
)
from flyball.core.terms.call import Access, Call, CommandFact, digest
from flyball.regex import regex
from flyball.shellcheck import CommandKind, CommandPart, commands_in, findings_of, judge
from flyball.tools.call.command_facts import BashForm, command_facts
from flyball.tools.call.file_facts import path_fact
from flyball.tools.call.protocol import CallContext, CallFacts
from flyball.workspace.redaction import Redactor

CHECKPOINT = "checkpoint"
WAIT = "wait"
LOOKING = frozenset({"command", "guards", "intent", "judge", "machine", "verify", WAIT})
"""Our own commands that a governed agent may run like any other reader."""
HELP = "help"
SHOWING = frozenset({"list", "show"})
"""What an agent may run of our commands that have others under them."""
GROUPS = frozenset({"runs", "ledger"})
NOT_YOURS = (
    "`flyball {verb}` is for the person, not for the agent that is governed. Say what you need; "
    "they can run it in their own terminal."
)
_WAITING = regex(rf"[\w./~-]*\bflyball {WAIT}( --for \d+)?( 2>&1)?")
OURS = (
    "This names the directory of Flyball's own journal and switches, which no agent that is "
    "governed touches. `flyball runs show` tells what is in it."
)
PROGRAMS = ("flyball", "flyball-hook")
OWN_PLACE = Path(sys.executable).parent.resolve()
FOR_PEOPLE = ("approve", "deny", "extend", "trust", "answer")
"""What only a person says, in words that hardly anybody uses beside our name for something else."""
VERBS = LOOKING | {
    *("run", *GROUPS, "card", "undo", "approve", "deny", "extend", "answer", "serve", "worker"),
    *(CHECKPOINT, "mcp", "off", "on", "demo", "init", "trust", "doctor", "patch", "flow", "audit"),
    *("hook", "bench", "people", "completion", "acp"),
}
_OUR_NAME = regex(r"(?<![\w-])flyball(?:-hook)?(?![\w/-])")
_SAID = regex(r"(?<![\w-])flyball(?:\.\w+)*[\s,()\[\]]+(off|on|init|undo|serve|run|hook|people)\b")
OTHER_SHELLS = frozenset({"PowerShell"})
"""Tools whose commands are in a language that nobody here can read."""
LONGEST = 4_000
"""Characters of one argument that go into the journal."""


class HostRules(NamedTuple):
    """What the user settled about hosts."""

    mode: str = "normal"
    read_only: tuple[str, ...] = ()
    """Patterns of tools that are vouched for as readers, such as those of a server for MCP."""
    scratch: tuple[str, ...] = ()
    """Places where no phase binds."""
    state: str = ""
    """Where our own journal and switches are."""

    @property
    def is_strict(self) -> bool:
        return self.mode == "strict"

    @property
    def only_advises(self) -> bool:
        return self.mode == "advisory"


def call_of(
    event: HostEvent, rules: HostRules, redactor: Redactor, open_context: Callable[[], CallContext]
) -> Call:
    """The call with what `decide` needs to know of it.

    The context costs a look into the checkout, which most calls of a host need not pay for.
    """
    row = host_tool(event.tool, rules.read_only)
    # A sub-agent's plan is for the agent above it, and no person said yes to it.
    is_inner_plan = bool(event.agent) and event.tool == PLAN_EXIT
    call = Call(
        id=event.call,
        tool=row.tool,
        args=_recorded(event.args, redactor),
        access=Access.READ if is_inner_plan else row.access,
        digest=digest([event.tool, event.args]),
        # No host can say its call again with a word of confirmation: a person is asked instead.
        confirmed=True,
        called=event.tool,
    )
    if row.names is Naming.NOTHING:
        return call
    context = open_context()
    match row.names:
        case Naming.A_COMMAND:
            texts = texts_in(event.args, COMMAND_FIELDS)
            return _strictest([_command(call, text, context, rules) for text in texts or ("",)])
        case Naming.A_FILE:
            return _writing(call, texts_in(event.args, PATH_FIELDS), event, context, rules)
        case _:
            patches = texts_in(event.args, PATCH_FIELDS)
            names = [name for patch in patches for name in patched_files(patch)]
            return _writing(call, names, event, context, rules)


def is_waiting(event: HostEvent) -> bool:
    """Whether a call does nothing but wait for our verdict."""
    texts = texts_in(event.args, COMMAND_FIELDS)
    return bool(texts) and all(_WAITING.fullmatch(text.strip()) for text in texts)


def is_plain(event: HostEvent, rules: HostRules) -> bool:
    """Whether a call can change nothing but what it names."""
    return host_tool(event.tool, rules.read_only).is_plain


def _writing(
    call: Call, names: Sequence[str], event: HostEvent, context: CallContext, rules: HostRules
) -> Call:
    """A call that writes files. One that names none is judged as what may write any."""
    named = [_from_root(name, event, context) for name in names if name]
    places = [
        name for name in named if not (_is_scratch(name, rules) or _is_plan(name, event.host))
    ]
    if named and not places:
        return replace(call, access=Access.READ)
    return replace(call, paths=tuple(path_fact(each, context, write=True) for each in places))


def _from_root(name: str, event: HostEvent, context: CallContext) -> str:
    """A path as the resolver takes it: hosts name files from where their session is."""
    whole = os.path.normpath(Path(event.cwd or context.root.path) / Path(name).expanduser())
    root = os.fspath(context.root.path)
    return os.path.relpath(whole, root) if whole.startswith(f"{root}/") else whole


def _is_scratch(name: str, rules: HostRules) -> bool:
    place = os.path.normpath(Path(name).expanduser())
    tops = [os.path.normpath(Path(each).expanduser()) for each in rules.scratch]
    return any(place == top or place.startswith(f"{top}/") for top in tops)


def _is_plan(name: str, host: str) -> bool:
    """Whether a file is a plan that Claude Code has its model write down for the person."""
    folder = os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude"
    place, plans = Path(name), Path(folder, "plans")
    is_there = place.parent == plans and place.suffix == ".md"
    return host == "claude" and is_there and place.resolve() == plans.resolve() / place.name


def _command(call: Call, text: str, context: CallContext, rules: HostRules) -> Call:
    """A shell command; one of our own is told apart before it is judged like any other."""
    if not text:
        return call
    if _names_our_state(text, rules.state):
        return replace(call, fault=OURS)
    root = os.fspath(context.root.path)
    verbs = [*own_verbs(text, root)]
    if refused := [verb for verb in verbs if not _is_open(verb)]:
        return replace(call, fault=NOT_YOURS.format(verb=refused[0]))
    # What rides along with one of ours is judged by itself, and not as ours.
    rides = [each for each in _others(text, root) if each.kind is not CommandKind.READ_ONLY]
    if verbs and all(verb == CHECKPOINT for verb in verbs) and not rides:
        return replace(call, tool=CHECKPOINT, access=Access.CHECKPOINT)
    # Some hosts keep one shell, in which an earlier command may have set any variable.
    facts = command_facts(BashForm(cmd=text), context, fresh=False)
    is_ours, is_bash = bool(verbs) and not rides, call.called not in OTHER_SHELLS
    known = _with_own(facts, text, context, is_ours=is_ours, is_bash=is_bash, rules=rules)
    return replace(
        call,
        access=known.access or call.access,
        paths=known.paths,
        command=known.command,
        destructive=known.destructive,
    )


def _strictest(calls: Sequence[Call]) -> Call:
    """One call that may be made only if each of these may; what they name is named by it."""
    worst = max(calls, key=_strictness)
    if len(calls) == 1 or worst.command is None:
        return worst
    said = "\n".join(each.command.command for each in calls if each.command)
    return replace(
        worst,
        paths=tuple(dict.fromkeys(path for each in calls for path in each.paths)),
        command=replace(worst.command, command=said),
    )


def _strictness(call: Call) -> tuple[bool, ...]:
    """By what one of several commands is the one to be judged; the weightiest reason first."""
    decision = call.command.decision if call.command else ""
    return (
        bool(call.fault),
        decision == "deny",
        bool(call.destructive),
        decision == "ask",
        call.access is Access.MUTATE,
        call.access is not Access.READ,
    )


def _names_our_state(text: str, state: str) -> bool:
    """Whether a command names the place of our journal and switches, to whatever end.

    What a program would do there cannot be seen beforehand, and afterwards it would be too late.
    """
    home = str(Path.home())
    said = re.sub(r"~(?=/)|\$\{?HOME\}?", lambda _: home, text)
    return bool(state) and state in said


def _with_own(
    facts: CallFacts,
    text: str,
    context: CallContext,
    *,
    is_ours: bool,
    is_bash: bool,
    rules: HostRules,
) -> CallFacts:
    """The judgement of a command, as it holds around a host.

    Programs that are not known may do anything, so they belong to `execute`. There the host has its
    own sandbox and its own questions, and only who wants it strict is asked by us as well. But what
    is known to stand beside them is judged as ever, and what nobody can read is not run.
    """
    found = cast(CommandFact, facts.command)
    if found.kind != CommandKind.UNKNOWN or found.decision == "allow":
        return facts
    if is_ours:
        return facts._replace(access=Access.READ, command=replace(found, decision="allow"))
    root, allow = os.fspath(context.root.path), context.settings.allow
    parts = findings_of(text, allow=allow, root=root, fresh=False)
    if rules.is_strict or any(each.veto or (each.unread and is_bash) for each in parts):
        return facts
    if doomed := [each for each in parts if each.kind is CommandKind.DESTRUCTIVE]:
        command = replace(found, kind=CommandKind.DESTRUCTIVE.value, decision="ask")
        return facts._replace(
            command=command, destructive=f"destroys something: {doomed[0].text}: {doomed[0].reason}"
        )
    return facts._replace(command=replace(found, decision="allow"))


def own_verbs(command: str, root: str) -> Iterator[str]:
    """Which of our own commands a shell command runs, whatever starts them there.

    The walk of the judge tells every command that another one runs (`env`, `bash -c`).
    Where it does not understand something that is not ours, the words alone are enough.
    """
    found = [*commands_in(command, root=root)]
    for words in found:
        for n in range(len(words)):
            if _is_ours(words, n) and (verb := _verb(words, n)):
                yield verb
    # Of what cannot be read to its end, a shell still runs the lines before.
    if not found or any(each.kind is CommandKind.UNKNOWN for each in _others(command, root)):
        yield from _named(command)


def _is_ours(words: Sequence[str], n: int) -> bool:
    is_module = n > 0 and words[n - 1] == "-m" and words[n].partition(".")[0] == "flyball"
    return is_module or Path(words[n]).name in PROGRAMS


def _verb(words: Sequence[str], n: int) -> str:
    """The command that follows our name; nothing where the name is a file that something reads."""
    given = words[n + 1 :]
    rest = [each for each in given if not each.startswith("-")]
    if not rest and given and {*given} <= {"--help", "-h", "--version"}:
        return HELP
    is_program = n == 0 or words[n - 1] == "-m"
    if not is_program and (not rest or rest[0] not in VERBS):
        return ""
    return " ".join(rest[:2] if rest and rest[0] in GROUPS else rest[:1]) or "hook"


def _others(command: str, root: str) -> Iterator[CommandPart]:
    """The parts of a command that are not one of our own."""
    for part in judge(command, phase="execute", root=root).parts:
        words = part.text.split()
        if len(words) < 2 or not _is_our_program(words[0].strip("'\""), root):
            yield part


def _is_our_program(word: str, root: str) -> bool:
    """Whether a command starts us: by our name, or from where we are; others may be called so."""
    if word in PROGRAMS:
        return True
    place = Path(root, Path(word).expanduser())
    return place.name in PROGRAMS and place.resolve() == OWN_PLACE / place.name


def _named(command: str) -> Iterator[str]:
    """What a text that is not understood says of us and of what only a person may do."""
    plain = re.sub(r"\$\{?IFS\}?", " ", command)
    plain = re.sub(r"[\"'\\\\]|\$(?=['\"])", "", plain)
    if not _OUR_NAME.search(plain):
        return
    yield from (verb for verb in FOR_PEOPLE if re.search(rf"(?<![\w-]){verb}(?![\w-])", plain))
    yield from (found[1] for found in _SAID.finditer(plain) if found[1] not in LOOKING)


def _is_open(verb: str) -> bool:
    name, _, inner = verb.partition(" ")
    if name in GROUPS:
        return inner in SHOWING
    return name in (CHECKPOINT, HELP) or name in LOOKING


def _recorded(args: dict[str, object], redactor: Redactor) -> dict[str, object]:
    """The arguments as they may be journaled: without secrets, and long texts cut."""
    return cast(dict[str, object], _cut(redactor.value(args)))


def _cut(value: Any) -> Any:
    match value:
        case str() if len(value) > LONGEST:
            return f"{value[:LONGEST]}… [{len(value) - LONGEST} more characters]"
        case dict():
            return {str(k): _cut(v) for k, v in cast(dict[Any, Any], value).items()}
        case list():
            return [_cut(each) for each in cast(list[Any], value)]
        case _:
            return value
