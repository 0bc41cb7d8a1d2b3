"""A host's tool call as a call that can be judged: which of our tools it is, and its facts."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from msgspec.structs import replace

from flyball.app.hosts.confining import PROJECT, READ_ONLY
from flyball.app.hosts.endings import ENDERS, ends_job, ends_own
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
from flyball.shellcheck import (
    CommandEffect,
    CommandKind,
    CommandPart,
    Finding,
    commands_in,
    findings_of,
    judge,
    names_secret,
)
from flyball.tools.call.facts import BashForm, command_facts, path_fact, users_secrets_among
from flyball.tools.call.protocol import CallContext, CallFacts
from flyball.workspace.files.path_rules import holds_secrets
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
SECRET = (
    "{path} holds or may hold a secret of the user's, so it is not read. Ask them for what you "
    "need to know, or look for an example of it."
)
READ_FIELDS = (*PATH_FIELDS, "glob", "include", "paths", "uri", "url")
"""What the arguments of a tool that reads name files by, itself or as a pattern."""
PROGRAMS = ("flyball", "flyball-hook")
OWN_PLACE = Path(sys.executable).parent.resolve()
FOR_PEOPLE = ("approve", "deny", "extend", "trust", "answer")
"""What only a person says, in words that hardly anybody uses beside our name for something else."""
VERBS = LOOKING | {
    *("run", *GROUPS, "card", "undo", "approve", "deny", "extend", "answer", "serve", "worker"),
    *(CHECKPOINT, "mcp", "off", "on", "demo", "init", "trust", "doctor", "patch", "flow", "audit"),
    *("hook", "bench", "people", "completion", "acp", "confined"),
}
_WILD = regex(r"[*?{\[]")
_OUR_NAME = regex(r"(?<![\w-])flyball(?:-hook)?(?![\w/-])")
_SAID = regex(r"(?<![\w-])flyball(?:\.\w+)*[\s,()\[\]]+(off|on|init|undo|serve|run|hook|people)\b")
OTHER_SHELLS = frozenset({"PowerShell"})
"""Tools whose commands are in a language that nobody here can read."""
FILES = ("rm", "rmdir", "unlink", "find", "mv", "cp", "truncate")
IN_TREE = ("git", *FILES)
GIT_IN_TREE = ("checkout", "restore", "reset", "clean", "rm", "switch")
"""What destroys files of the tree and no more: the snapshot before the call brings them back."""
INSTALLERS = frozenset(
    {"pip", "pip3", "python", "python3", "uv", "poetry", "pdm", "npm", "pnpm", "yarn", "bun"}
    | {"go", "cargo", "bundle", "composer"}
)
INSTALLS = frozenset({"install", "ci", "i", "sync", "download", "fetch"})
"""What fetches packages: a session begins with it as often as with a look."""
LONGEST = 4_000
"""Characters of one argument that go into the journal."""


class HostRules(NamedTuple):
    """What the user settled about hosts."""

    level: str = "govern"
    read_only: tuple[str, ...] = ()
    """Patterns of tools that are vouched for as readers, such as those of a server for MCP."""
    scratch: tuple[str, ...] = ()
    """Places where no phase binds."""
    answers_prompts: bool = True
    """Whether the host is told which calls it need not ask its person about."""
    state: str = ""
    """Where our own journal and switches are."""
    secrets: tuple[str, ...] = ()
    """Patterns of files that hold secrets, besides the table's."""

    @property
    def is_strict(self) -> bool:
        return self.level == "strict"

    @property
    def only_judges_stops(self) -> bool:
        return self.level == "verdict"


class Stance(NamedTuple):
    """Where a session's work stands, as far as its commands are judged by it."""

    builds: bool = False
    """Whether its checkpoint is stated: commands then run as the host would run them."""
    confines: Callable[[], bool] = lambda: False
    """Whether this call can be rewritten so that it runs under the sandbox; asked when needed."""
    is_bash: bool = True
    """Whether the command is in a language that is read here."""
    host: str = ""
    """The host's own process."""
    is_clean: Callable[[], bool] = lambda: False
    """Whether the person had no uncommitted work when the run began."""
    cwd: str = ""
    """Where the call's shell stands."""


NO_STANCE = Stance()


def call_of(
    event: HostEvent,
    rules: HostRules,
    redactor: Redactor,
    open_context: Callable[[], CallContext],
    stance: Stance = NO_STANCE,
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
        # A shell call made again has another description or time-out, and is the same call.
        digest=digest([event.tool, texts_in(event.args, COMMAND_FIELDS) or event.args]),
        # No host can say its call again with a word of confirmation: a person is asked instead.
        confirmed=True,
        called=event.tool,
    )
    if row.tool == "read" and (hidden := _secrets_named(event, rules, open_context)):
        return replace(call, fault=SECRET.format(path=hidden))
    if row.names is Naming.NOTHING:
        return call
    context = open_context()
    match row.names:
        case Naming.A_COMMAND:
            texts = texts_in(event.args, COMMAND_FIELDS)
            there = stance._replace(cwd=event.cwd)
            found = [_command(call, text, context, rules, there) for text in texts or ("",)]
            return _strictest(found)
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


def _secrets_named(
    event: HostEvent, rules: HostRules, open_context: Callable[[], CallContext]
) -> str:
    """Return the first secret that a call would read: the rule that commands are judged by.

    A file that is in a commit is none. The context is opened only for a name that may be one.
    """
    for text in (each for field in READ_FIELDS for each in _listed(event.args.get(field))):
        whole = Path(event.cwd or "/", os.path.expanduser(text.removeprefix("file://")))
        # Also where a link leads.
        places = (os.path.normpath(whole), os.path.realpath(whole))
        found = [each for each in places if holds_secrets(each, rules.secrets)]
        if not found and "://" not in text and _WILD.search(text) and names_secret(text):
            return text
        if not found:
            continue
        context = open_context()
        inside = [_from_root(each, event, context) for each in found]
        if any(map(os.path.isabs, inside)) or users_secrets_among(inside, context):
            return text
    return ""


def _listed(value: object) -> list[str]:
    if isinstance(value, list):
        return [each for each in cast(list[object], value) if isinstance(each, str)]
    return [value] if isinstance(value, str) and value else []


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
    whole = os.path.normpath(Path(event.cwd or context.root.path) / os.path.expanduser(name))
    root = os.fspath(context.root.path)
    return os.path.relpath(whole, root) if whole.startswith(f"{root}/") else whole


def _is_scratch(name: str, rules: HostRules) -> bool:
    place = os.path.normpath(os.path.expanduser(name))
    tops = [os.path.normpath(os.path.expanduser(each)) for each in rules.scratch]
    return any(place == top or place.startswith(f"{top}/") for top in tops)


def _is_plan(name: str, host: str) -> bool:
    """Whether a file is a plan that Claude Code has its model write down for the person."""
    folder = os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude"
    place, plans = Path(name), Path(folder, "plans")
    is_there = place.parent == plans and place.suffix == ".md"
    return host == "claude" and is_there and place.resolve() == plans.resolve() / place.name


def _command(call: Call, text: str, context: CallContext, rules: HostRules, stance: Stance) -> Call:
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
    if verbs and not rides:
        command = replace(cast(CommandFact, facts.command), decision="allow")
        return replace(call, access=Access.READ, command=command)
    known = _around_host(facts, text, context, rules, stance)
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


def _around_host(
    facts: CallFacts, text: str, context: CallContext, rules: HostRules, stance: Stance
) -> CallFacts:
    """Return the judgement of a command as it holds around a host.

    There the host has its own sandbox and its own questions. What the text does not show is run
    confined before the checkpoint, and compared with the tree after it.
    """
    root, allow = os.fspath(context.root.path), context.settings.allow
    parts = findings_of(text, allow=allow, root=root, fresh=False, secrets=rules.secrets)
    found = cast(CommandFact, facts.command)
    if any(each.veto and not each.unread for each in parts):
        return facts
    if any(each.veto for each in parts):
        return _of_unknown_paths(facts, parts, stance)
    # What a command writes to places for temporary files is nobody's work.
    parts = [_around(each) for each in parts]
    effects = [p.effect for p in parts if not (p.scratch and p.effect is CommandEffect.WRITES)]
    if {*effects} <= {CommandEffect.READING} and _leads_to_secret(text, stance.cwd or root, rules):
        effects = [CommandEffect.UNCLEAR]
    if {*effects} <= {CommandEffect.READING}:
        reading = replace(found, decision="allow", effect=CommandEffect.READING.value)
        return facts._replace(access=Access.READ, command=reading, destructive="")
    match max(effects, key=lambda effect: effect.severity):
        case CommandEffect.WRITES if not stance.builds and _is_set_up(parts):
            # Without packages nothing runs, and what it does to the tree is taken back.
            return facts._replace(access=Access.READ, command=replace(found, decision="allow"))
        case CommandEffect.UNCLEAR | CommandEffect.WRITES if (
            not stance.builds and not any(map(_is_kept_by_git, parts)) and stance.confines()
        ):
            return _confined(facts, READ_ONLY)
        case CommandEffect.UNCLEAR if stance.is_bash and any(p.unread for p in parts):
            return _confined(facts, PROJECT) if stance.confines() else facts
        case CommandEffect.UNCLEAR | CommandEffect.WRITES if not rules.is_strict:
            return facts._replace(command=replace(found, decision="allow"))
        case CommandEffect.DESTROYS if _is_undone(parts) and not stance.builds:
            return _confined(facts, READ_ONLY) if stance.confines() else facts
        case CommandEffect.DESTROYS if _is_harmless(parts, text, root, stance):
            if not stance.builds and {*effects} <= {CommandEffect.DESTROYS, CommandEffect.READING}:
                facts = facts._replace(access=Access.READ)
            if any(_finds(each) for each in parts):
                # Where it begins to look may be anywhere.
                return _confined(facts, PROJECT) if stance.confines() else facts
            return facts._replace(command=replace(found, decision="allow"), destructive="")
        case CommandEffect.DESTROYS | CommandEffect.OUTSIDE as effect:
            worst = next(each for each in parts if each.effect is effect)
            # Whether it may reach out is the person's to say, in every phase.
            access = Access.READ if effect is CommandEffect.OUTSIDE else facts.access
            command = replace(found, decision="ask")
            doomed = f"{effect.value}: {worst.text}: {worst.reason}"
            return facts._replace(access=access, command=command, destructive=doomed)
        case _:
            return facts


def _leads_to_secret(text: str, cwd: str, rules: HostRules) -> bool:
    """Whether a word of a command names a link that leads to a file of secrets."""
    words = {word for words in commands_in(text) for word in words[1:] if "\0" not in word}
    places = [os.path.normpath(Path(cwd, os.path.expanduser(word))) for word in words]
    ends = [(place, os.path.realpath(place)) for place in places]
    return any(end != place and holds_secrets(end, rules.secrets) for place, end in ends)


def _around(part: Finding) -> Finding:
    """Return a finding as it counts around a host, where fetching harms nobody."""
    words = _words(part.text)[:2]
    if part.kind is not CommandKind.MUTATING or part.veto or words[:1] != ["git"]:
        return part
    if words[1:] == ["fetch"]:
        return part._replace(kind=CommandKind.READ_ONLY)
    return part._replace(away=False) if words[1:] in (["pull"], ["clone"]) else part


def _of_unknown_paths(facts: CallFacts, parts: Sequence[Finding], stance: Stance) -> CallFacts:
    """Return the judgement of a command whose text does not show which files it writes or deletes.

    Under the sandbox these can only be the project's, which the snapshot before the call has.
    """
    doomed = any(each.kind is CommandKind.DESTRUCTIVE for each in parts)
    reaches = any(each.effect is CommandEffect.OUTSIDE and not each.veto for each in parts)
    if reaches or not _is_undone(parts) or not stance.confines():
        return facts
    if stance.builds and doomed and not stance.is_clean():
        return facts
    return _confined(facts, PROJECT if stance.builds else READ_ONLY)


def _is_set_up(parts: Sequence[Finding]) -> bool:
    """Return whether all that a command writes is what it installs."""
    return all(_installs(each) for each in parts if each.effect is CommandEffect.WRITES)


def _installs(part: Finding) -> bool:
    """Return whether a part of a command fetches what the project itself says it needs."""
    words = _words(part.text)
    verb = next((n for n, word in enumerate(words[:4]) if word in INSTALLS), 0)
    if part.effect is not CommandEffect.WRITES or not verb or words[0] not in INSTALLERS:
        return False
    # A name behind it goes into the project's own list, but for pip, which keeps none.
    return "pip" in words[0] + words[verb - 1] or all(each[0] == "-" for each in words[verb + 1 :])


def _is_kept_by_git(part: Finding) -> bool:
    """Return whether a part writes what a person would miss: a commit that is made and gone."""
    return part.effect is CommandEffect.WRITES and _words(part.text)[:1] == ["git"]


def _confined(facts: CallFacts, how: str) -> CallFacts:
    """Return the judgement of a command that is rewritten to run under the sandbox."""
    command = replace(cast(CommandFact, facts.command), decision="allow", confined=how)
    access = Access.READ if how == READ_ONLY else facts.access
    return facts._replace(access=access, command=command, destructive="")


def _finds(part: Finding) -> bool:
    return part.effect is CommandEffect.DESTROYS and _words(part.text)[:1] == ["find"]


def _is_undone(parts: Sequence[Finding]) -> bool:
    """Return whether a command that may keep nothing destroys only files, and no history."""
    doomed = [_words(each.text) for each in parts if each.effect is CommandEffect.DESTROYS]
    is_inside = all(words and (words[0] in FILES or ends_job(words)) for words in doomed)
    return is_inside and not any(map(_is_kept_by_git, parts))


def _is_harmless(parts: Sequence[Finding], text: str, root: str, stance: Stance) -> bool:
    """Return whether all that a command destroys comes back, or is the agent's own to end."""
    doomed = [each.text for each in parts if each.effect is CommandEffect.DESTROYS]
    ends = [each for each in doomed if _words(each)[:1] and _words(each)[0] in ENDERS]
    in_tree = [_words(each) for each in doomed if each not in ends]
    if not all(words and words[0] in IN_TREE for words in in_tree):
        return False
    if in_tree and not (stance.builds and all(map(_is_in_tree, in_tree)) and stance.is_clean()):
        return False
    return all(ends_own(each, text, stance.host, root) for each in ends)


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return []


def _is_in_tree(words: Sequence[str]) -> bool:
    """Return whether a command can destroy no more than files of the tree, which is snapshot."""
    if words[0] != "git":
        return True
    verb, given = words[1] if len(words) > 1 else "", words[2:]
    if given == ["--abort"]:
        return True
    reaches_ignored = verb == "clean" and any("x" in each.lower() for each in given)
    moves_branch = verb == "reset" and any(each not in ("--hard", "HEAD") for each in given)
    return verb in GIT_IN_TREE and not reaches_ignored and not moves_branch


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
    place = Path(root, os.path.expanduser(word))
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
