"""Convert a host's tool call to a call of our tools, with the facts to judge it by."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from msgspec.structs import replace

from flyball.agents.event import HostEvent
from flyball.agents.tool import (
    COMMAND_FIELDS,
    PATCH_FIELDS,
    PATH_FIELDS,
    PLAN_EXIT,
    Naming,
    host_tool,
    patched_files,
    texts_in,
)
from flyball.hosts.confining import PROJECT, READ_ONLY
from flyball.hosts.endings import ENDERS, ends_job, ends_only_own_processes
from flyball.hosts.made import created_by_host, is_own_temporary, is_temporary
from flyball.regex import regex
from flyball.shell import (
    CommandEffect,
    CommandKind,
    CommandPart,
    Finding,
    commands_in,
    findings_of,
    judge,
    names_secret,
)
from flyball.terms.call import Access, Call, CommandFact, digest
from flyball.tools.call.facts import BashForm, command_facts, path_fact, users_secrets_among
from flyball.tools.call.protocol import CallContext, CallFacts
from flyball.workspace.files.path_rules import holds_secrets
from flyball.workspace.redaction import Redactor

CHECKPOINT = "checkpoint"
CONFLICT = "conflict"
WAIT = "wait"
LOOKING = frozenset({"command", "guards", "intent", "judge", "machine", "verify", WAIT})
"""Our own read-only commands, which a governed agent may run."""
HELP = "help"
SHOWING = frozenset({"list", "show", "check", "rerun"})
"""Subcommands that an agent may run of our commands that have any."""
GROUPS = frozenset({"runs", "ledger", "attest"})
NOT_YOURS = (
    "`flyball {verb}` is for the person, not for a governed agent. Tell them what you need; they "
    "can run it in their own terminal."
)
_WAITING = regex(rf"[\w./~-]*\bflyball {WAIT}( --for \d+)?( 2>&1)?")
OURS = (
    "This names the directory of Flyball's own journal and switches, which a governed agent may "
    "not touch. `flyball runs show last` shows what is in it."
)
SECRET = (
    "{path} holds or may hold a secret of the user's, so it is not read. Ask them for what you "
    "need to know, or look for an example of it."
)
READ_FIELDS = (*PATH_FIELDS, "glob", "include", "paths", "uri", "url")
"""Argument names by which reading tools name files or patterns."""
PROGRAMS = ("flyball", "flyball-hook")
OWN_PLACE = Path(sys.executable).parent.resolve()
FOR_PEOPLE = ("approve", "deny", "extend", "trust", "answer")
"""Commands for people only, with words that are rarely used next to our name for anything else."""
VERBS = LOOKING | {
    *("run", *GROUPS, "card", "undo", "approve", "deny", "extend", "answer", "serve", "worker"),
    *(CHECKPOINT, "mcp", "off", "on", "demo", "init", "trust", "doctor", "patch", "flow", "audit"),
    *(CONFLICT, "hook", "bench", "people", "completion", "acp", "confined", "attest"),
}
_WILD = regex(r"[*?{\[]")
_OUR_NAME = regex(r"(?<![\w-])flyball(?:-hook)?(?![\w/-])")
_SAID = regex(r"(?<![\w-])flyball(?:\.\w+)*[\s,()\[\]]+(off|on|init|undo|serve|run|hook|people)\b")
OTHER_SHELLS = frozenset({"PowerShell"})
"""Tools whose commands are in a language that Flyball cannot parse."""
FILES = ("rm", "rmdir", "unlink", "find", "mv", "cp", "truncate")
IN_TREE = ("git", *FILES)
GIT_IN_TREE = ("checkout", "restore", "reset", "clean", "rm", "switch")
"""Git commands that only destroy files of the tree, which the snapshot before the call restores."""
INSTALLERS = frozenset(
    {"pip", "pip3", "python", "python3", "uv", "poetry", "pdm", "npm", "pnpm", "yarn", "bun"}
    | {"go", "cargo", "bundle", "composer"}
)
INSTALLS = frozenset({"install", "ci", "i", "sync", "download", "fetch"})
"""Commands that fetch packages, with which sessions often begin."""
MOVES = frozenset({"cd", "pushd", "popd", "export", "set", "unset", "declare", "alias", "env"})
"""Commands that change where or how the commands after them run."""
_ASKED = (CommandEffect.OUTSIDE, CommandEffect.DESTROYS)
_OPEN = regex(r"[$`*?\[~]")
"""Signs of words that are only known when the command runs."""
LONGEST = 4_000
"""Maximum number of characters of one argument in the journal."""


class HostRules(NamedTuple):
    """The user's settings about hosts."""

    level: str = "govern"
    read_only: tuple[str, ...] = ()
    """Patterns of tools that the user declares read-only, such as those of an MCP server."""
    scratch: tuple[str, ...] = ()
    """Directories where no phase restricts writing."""
    answers_prompts: bool = True
    """Whether to tell the host which calls need no confirmation from the user."""
    state: str = ""
    """The directory of our journal and switches."""
    secrets: tuple[str, ...] = ()
    """Patterns of files that hold secrets, in addition to the table's."""

    @property
    def is_strict(self) -> bool:
        return self.level == "strict"

    @property
    def only_judges_stops(self) -> bool:
        return self.level == "verdict"


class Stance(NamedTuple):
    """The state of a session's work, as far as it affects the judgement of its commands."""

    builds: bool = False
    """Whether the checkpoint is recorded: commands then run as the host would run them."""
    confines: Callable[[], bool] = lambda: False
    """Return whether this call can be rewritten to run in the sandbox; evaluated if needed."""
    is_bash: bool = True
    """Whether the command is in a language that Flyball parses."""
    host: str = ""
    """The host's own process."""
    is_clean: bool = False
    """Whether the person had no uncommitted work when the run began."""
    cwd: str = ""
    """The current directory of the call's shell."""
    commits: Callable[[], bool] = lambda: False
    """Return whether the person ordered a commit, which needs no checkpoint then."""


NO_STANCE = Stance()


def call_of(
    event: HostEvent,
    rules: HostRules,
    redactor: Redactor,
    open_context: Callable[[], CallContext],
    stance: Stance = NO_STANCE,
) -> Call:
    """Return the call with the facts that `decide` needs.

    Opening the context reads the checkout, which most of a host's calls do not need.
    """
    row = host_tool(event.tool, rules.read_only)
    # A subagent's plan is for its parent agent, and was not approved by a person.
    is_inner_plan = bool(event.agent) and event.tool == PLAN_EXIT
    call = Call(
        id=event.call,
        tool=row.tool,
        args=_recorded(event.args, redactor),
        access=Access.READ if is_inner_plan else row.access,
        # A repeated shell call with another description or timeout is the same call.
        digest=digest([event.tool, texts_in(event.args, COMMAND_FIELDS) or event.args]),
        # No host can repeat its call with a confirmation, so a person is asked instead.
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
    """Return whether a call only waits for our verdict."""
    texts = texts_in(event.args, COMMAND_FIELDS)
    return bool(texts) and all(_WAITING.fullmatch(text.strip()) for text in texts)


def is_plain(event: HostEvent, rules: HostRules) -> bool:
    """Return whether a call can change nothing but the files it names."""
    return host_tool(event.tool, rules.read_only).is_plain


def _secrets_named(
    event: HostEvent, rules: HostRules, open_context: Callable[[], CallContext]
) -> str:
    """Return the first secret file that a call would read, by the rule that also judges commands.

    A committed file is not a secret. The context is opened only for a name that may be one.
    """
    for text in (each for field in READ_FIELDS for each in _listed(event.args.get(field))):
        whole = Path(event.cwd or "/", os.path.expanduser(text.removeprefix("file://")))
        # Also through links.
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
    """Return a call that writes files. One that names no file is judged as able to write any."""
    named = [_from_root(name, event, context) for name in names if name]
    places = [
        name for name in named if not (_is_scratch(name, rules) or _is_plan(name, event.host))
    ]
    if named and not places:
        return replace(call, access=Access.READ)
    return replace(call, paths=tuple(path_fact(each, context, write=True) for each in places))


def _from_root(name: str, event: HostEvent, context: CallContext) -> str:
    """Return a path as the resolver expects it: hosts name files relative to their session."""
    whole = os.path.normpath(Path(event.cwd or context.root.path) / os.path.expanduser(name))
    root = os.fspath(context.root.path)
    return os.path.relpath(whole, root) if whole.startswith(f"{root}/") else whole


def _is_scratch(name: str, rules: HostRules) -> bool:
    place = os.path.normpath(os.path.expanduser(name))
    tops = [os.path.normpath(os.path.expanduser(each)) for each in rules.scratch]
    return any(place == top or place.startswith(f"{top}/") for top in tops)


def _is_plan(name: str, host: str) -> bool:
    """Return whether a path is a plan file that Claude Code has its model write for the person."""
    folder = os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude"
    place, plans = Path(name), Path(folder, "plans")
    is_there = place.parent == plans and place.suffix == ".md"
    return host == "claude" and is_there and place.resolve() == plans.resolve() / place.name


def _command(call: Call, text: str, context: CallContext, rules: HostRules, stance: Stance) -> Call:
    """Return a shell command as a call; our own commands are recognized first."""
    if not text:
        return call
    if _names_our_state(text, rules.state):
        return replace(call, fault=OURS)
    root = os.fspath(context.root.path)
    verbs = [*own_verbs(text, root)]
    if refused := [verb for verb in verbs if not _is_open(verb)]:
        return replace(call, fault=NOT_YOURS.format(verb=refused[0]))
    # Commands next to one of ours are judged by themselves.
    rides = [each for each in _others(text, root) if each.kind is not CommandKind.READ_ONLY]
    if verbs and all(verb == CHECKPOINT for verb in verbs) and not rides:
        return replace(call, tool=CHECKPOINT, access=Access.CHECKPOINT)
    if verbs and all(verb == CONFLICT for verb in verbs) and not rides:
        return replace(call, tool=CONFLICT, access=Access.READ)
    # Some hosts keep one shell, in which an earlier command may have set any variable.
    facts = command_facts(BashForm(cmd=text), context, fresh=False)
    if verbs and not rides:
        command = replace(cast(CommandFact, facts.command), decision="allow")
        return replace(call, access=Access.READ, command=command)
    known = _around_host(facts, text, context, rules, stance)
    asks = known.command.asks if known.command else ""
    return replace(
        call,
        # An agent that asked about a commit and a push may return with the push alone.
        digest=digest([call.called, asks]) if asks else call.digest,
        access=known.access or call.access,
        paths=known.paths,
        command=known.command,
        destructive=known.destructive,
    )


def _strictest(calls: Sequence[Call]) -> Call:
    """Combine calls into one as strict as the strictest; it names what all of them name."""
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
    """Return the sort key that selects the command to judge, with the most important reason
    first."""
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
    """Return whether a command names our journal or switches, for any purpose.

    The effect of a program there cannot be predicted, and afterwards it would be too late.
    """
    home = str(Path.home())
    said = re.sub(r"~(?=/)|\$\{?HOME\}?", lambda _: home, text)
    return bool(state) and state in said


def _around_host(
    facts: CallFacts, text: str, context: CallContext, rules: HostRules, stance: Stance
) -> CallFacts:
    """Adjust the judgement of a command for a host.

    A host has its own sandbox and its own prompts. A command whose effects are unclear runs
    confined before the checkpoint, and is compared with the tree after it.
    """
    root, allow = os.fspath(context.root.path), context.settings.allow
    parts = findings_of(text, allow=allow, root=root, fresh=False, secrets=rules.secrets)
    found = cast(CommandFact, facts.command)
    if any(each.veto and not each.unread for each in parts):
        return facts
    if any(each.veto for each in parts):
        return _of_unknown_paths(facts, parts, stance)
    # Writes to temporary directories are no part of the work.
    parts = [_around(each, stance, root) for each in parts]
    effects = [p.effect for p in parts if not (p.scratch and p.effect is CommandEffect.WRITES)]
    if {*effects} <= {CommandEffect.READING} and _leads_to_secret(text, stance.cwd or root, rules):
        effects = [CommandEffect.UNCLEAR]
    if {*effects} <= {CommandEffect.READING}:
        reading = replace(found, decision="allow", effect=CommandEffect.READING.value)
        return facts._replace(access=Access.READ, command=reading, destructive="")
    match max(effects, key=lambda effect: effect.severity):
        case CommandEffect.WRITES if not stance.builds and (
            _is_set_up(parts) or (all(map(_is_beside, parts)) and stance.commits())
        ):
            # Without packages nothing runs, and changes to the tree are reverted.
            return facts._replace(access=Access.READ, command=replace(found, decision="allow"))
        case CommandEffect.UNCLEAR | CommandEffect.WRITES if (
            not stance.builds and _keeps_git(parts) and stance.confines()
        ):
            return _confined(facts, READ_ONLY)
        case CommandEffect.UNCLEAR if stance.is_bash and any(p.unread for p in parts):
            return _confined(facts, PROJECT) if stance.confines() else facts
        case CommandEffect.UNCLEAR | CommandEffect.WRITES if not rules.is_strict:
            return facts._replace(command=replace(found, decision="allow"), destructive="")
        case CommandEffect.DESTROYS if _is_undone(parts) and not stance.builds:
            return _confined(facts, READ_ONLY) if stance.confines() else facts
        case CommandEffect.DESTROYS if _is_harmless(parts, text, root, stance):
            if not stance.builds and {*effects} <= {CommandEffect.DESTROYS, CommandEffect.READING}:
                facts = facts._replace(access=Access.READ)
            if any(_finds(each) for each in parts):
                # Its start directory may be anywhere.
                return _confined(facts, PROJECT) if stance.confines() else facts
            return facts._replace(command=replace(found, decision="allow"), destructive="")
        case CommandEffect.DESTROYS | CommandEffect.OUTSIDE as effect:
            return _for_a_person(facts, parts, effect)
        case _:
            return facts


def _for_a_person(facts: CallFacts, parts: Sequence[Finding], effect: CommandEffect) -> CallFacts:
    """Return the facts of a command that waits for a person's approval."""
    worst = next(each for each in parts if each.effect is effect)
    # The person decides about effects outside the project, in every phase.
    access = Access.READ if effect is CommandEffect.OUTSIDE else facts.access
    command = replace(cast(CommandFact, facts.command), decision="ask", asks=_asks(parts))
    doomed = f"needs a person's approval for `{worst.text}`: {worst.reason}"
    return facts._replace(access=access, command=command, destructive=doomed)


def _asks(parts: Sequence[Finding]) -> str:
    """Return the parts of a command that a person is asked about; none if only the whole text
    decides.

    All other parts must only read or commit: setting a variable or changing the directory could
    change the meaning of the same words.
    """
    asked = [each for each in parts if each.effect in _ASKED]
    is_plain = all(_is_beside(each) for each in parts if each not in asked)
    said = "; ".join(dict.fromkeys(each.text for each in asked))
    return said if is_plain and not _OPEN.search(said) else ""


def _is_beside(part: Finding) -> bool:
    first, *rest = _words(part.text) or [""]
    if part.effect is CommandEffect.READING:
        return first not in MOVES and "=" not in first
    return first == "git" and rest[:1] in (["add"], ["commit"]) and "--amend" not in rest


def _leads_to_secret(text: str, cwd: str, rules: HostRules) -> bool:
    """Return whether a word of a command names a link to a file of secrets."""
    words = {word for words in commands_in(text) for word in words[1:] if "\0" not in word}
    places = [os.path.normpath(Path(cwd, os.path.expanduser(word))) for word in words]
    ends = [(place, os.path.realpath(place)) for place in places]
    return any(end != place and holds_secrets(end, rules.secrets) for place, end in ends)


def _around(part: Finding, stance: Stance, root: str) -> Finding:
    """Adjust a finding for a host, where downloads do no harm."""
    words = _words(part.text)
    if part.effect is CommandEffect.DESTROYS and created_by_host(
        words, stance.host, stance.cwd or root
    ):
        return part._replace(kind=CommandKind.MUTATING, scratch=is_temporary(words))
    words = words[:2]
    if part.kind is not CommandKind.MUTATING or part.veto or words[:1] != ["git"]:
        return part
    if words[1:] == ["fetch"]:
        return part._replace(kind=CommandKind.READ_ONLY)
    return part._replace(away=False) if words[1:] in (["pull"], ["clone"]) else part


def _of_unknown_paths(facts: CallFacts, parts: Sequence[Finding], stance: Stance) -> CallFacts:
    """Return the judgement of a command whose text does not show which files it writes or deletes.

    In the sandbox these can only be the project's files, which the snapshot before the call
    contains.
    """
    doomed = any(each.kind is CommandKind.DESTRUCTIVE for each in parts)
    reaches = any(each.effect is CommandEffect.OUTSIDE and not each.veto for each in parts)
    if reaches or not _is_undone(parts) or not stance.confines():
        return facts
    if stance.builds and doomed and not stance.is_clean:
        return facts
    return _confined(facts, PROJECT if stance.builds else READ_ONLY)


def _is_set_up(parts: Sequence[Finding]) -> bool:
    """Return whether a command writes only what it installs."""
    return all(_installs(each) for each in parts if each.effect is CommandEffect.WRITES)


def _installs(part: Finding) -> bool:
    """Return whether a part of a command fetches only dependencies that the project declares."""
    words = _words(part.text)
    verb = next((n for n, word in enumerate(words[:4]) if word in INSTALLS), 0)
    if part.effect is not CommandEffect.WRITES or not verb or words[0] not in INSTALLERS:
        return False
    # A name after it goes into the project's own list, except for pip, which has none.
    return "pip" in words[0] + words[verb - 1] or all(each[0] == "-" for each in words[verb + 1 :])


def _keeps_git(parts: Sequence[Finding]) -> bool:
    """Return whether a command leaves the repository as it was: what it stashes, it takes back."""
    verbs = [tuple(_words(each.text)[1:3]) for each in parts if _is_kept_by_git(each)]
    pops, removes = verbs.count(("stash", "pop")), verbs.count(("worktree", "remove"))
    stashes = sum(each[:1] == ("stash",) for each in verbs) - pops
    adds = verbs.count(("worktree", "add"))
    is_known = len(verbs) == pops + removes + stashes + adds
    return is_known and pops >= stashes and removes >= adds


def _is_kept_by_git(part: Finding) -> bool:
    """Return whether a part destroys a commit that a person may need."""
    words = _words(part.text)[:2]
    return part.effect is CommandEffect.WRITES and words[:1] == ["git"] and words[1:] != ["archive"]


def _confined(facts: CallFacts, how: str) -> CallFacts:
    """Return the judgement of a command that is rewritten to run in the sandbox."""
    command = replace(cast(CommandFact, facts.command), decision="allow", confined=how)
    access = Access.READ if how == READ_ONLY else facts.access
    return facts._replace(access=access, command=command, destructive="")


def _finds(part: Finding) -> bool:
    return part.effect is CommandEffect.DESTROYS and _words(part.text)[:1] == ["find"]


def _is_undone(parts: Sequence[Finding]) -> bool:
    """Return whether a command whose writes are discarded destroys only files, and no history."""
    doomed = [_words(each.text) for each in parts if each.effect is CommandEffect.DESTROYS]
    is_inside = all(words and (words[0] in FILES or ends_job(words)) for words in doomed)
    return is_inside and not any(map(_is_kept_by_git, parts))


def _is_harmless(parts: Sequence[Finding], text: str, root: str, stance: Stance) -> bool:
    """Return whether everything a command destroys can be restored, or belongs to the agent."""
    doomed = [each.text for each in parts if each.effect is CommandEffect.DESTROYS]
    ends = [each for each in doomed if _words(each)[:1] and _words(each)[0] in ENDERS]
    in_tree = [_words(each) for each in doomed if each not in ends]
    if not all(is_own_temporary(words, stance.host) for words in in_tree) or not all(
        words and words[0] in IN_TREE for words in in_tree
    ):
        return False
    if in_tree and not (stance.builds and all(map(_is_in_tree, in_tree)) and stance.is_clean):
        return False
    return all(ends_only_own_processes(each, text, stance.host, root) for each in ends)


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return []


def _is_in_tree(words: Sequence[str]) -> bool:
    """Return whether a command can only destroy files of the tree, which has a snapshot."""
    if words[0] != "git":
        return True
    verb, given = words[1] if len(words) > 1 else "", words[2:]
    if given == ["--abort"]:
        return True
    reaches_ignored = verb == "clean" and any("x" in each.lower() for each in given)
    moves_branch = verb == "reset" and any(each not in ("--hard", "HEAD") for each in given)
    return verb in GIT_IN_TREE and not reaches_ignored and not moves_branch


def own_verbs(command: str, root: str) -> Iterator[str]:
    """Yield the Flyball commands that a shell command runs, directly or through other commands.

    The shell judge reports commands that another one runs (`env`, `bash -c`). Where it cannot parse
    a command that is not ours, the words alone decide.
    """
    found = [*commands_in(command, root=root)]
    for words in found:
        for n in range(len(words)):
            if _is_ours(words, n) and (verb := _verb(words, n)):
                yield verb
    # A shell still runs the lines before a syntax error.
    if not found or any(each.kind is CommandKind.UNKNOWN for each in _others(command, root)):
        yield from _named(command)


def _is_ours(words: Sequence[str], n: int) -> bool:
    is_module = n > 0 and words[n - 1] == "-m" and words[n].partition(".")[0] == "flyball"
    return is_module or Path(words[n]).name in PROGRAMS


def _verb(words: Sequence[str], n: int) -> str:
    """Return the subcommand after our name; empty if the name is just a file that a command
    reads."""
    given = words[n + 1 :]
    rest = [each for each in given if not each.startswith("-")]
    if not rest and given and {*given} <= {"--help", "-h", "--version"}:
        return HELP
    is_program = n == 0 or words[n - 1] == "-m"
    if not is_program and (not rest or rest[0] not in VERBS):
        return ""
    return " ".join(rest[:2] if rest and rest[0] in GROUPS else rest[:1]) or "hook"


def _others(command: str, root: str) -> Iterator[CommandPart]:
    """Yield the parts of a command that are not our own commands."""
    for part in judge(command, phase="execute", root=root).parts:
        words = part.text.split()
        if len(words) < 2 or not _is_our_program(words[0].strip("'\""), root):
            yield part


def _is_our_program(word: str, root: str) -> bool:
    """Return whether a command starts Flyball: by our name, or from our location."""
    if word in PROGRAMS:
        return True
    place = Path(root, os.path.expanduser(word))
    return place.name in PROGRAMS and place.resolve() == OWN_PLACE / place.name


def _named(command: str) -> Iterator[str]:
    """Yield the words about Flyball and person-only actions in a text that cannot be parsed."""
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
    return name in (CHECKPOINT, CONFLICT, HELP) or name in LOOKING


def _recorded(args: dict[str, object], redactor: Redactor) -> dict[str, object]:
    """Return the arguments for the journal: with secrets redacted and long texts shortened."""
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
