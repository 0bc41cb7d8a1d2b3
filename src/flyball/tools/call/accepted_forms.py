"""Other ways to write a call that can only mean one thing, brought to the tool's own form.

`GIT {commit: "…"}` names the action by its field, and `BASH {cmd, allow}` says which rule it counts
on. A rule is the user's to give: what a driver says of it is read and changes nothing.
`EMIT_PLAN {goal, findings, tasks, …}` is a checkpoint whose action is a list, and `PROCEED` the
word to go ahead with it: no deed, so it is noted. The other rewrites are for habits that drivers
bring along from other agents: line ranges, flags of programs, commands as lists of words.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from typing import NamedTuple, cast

from flyball.core.terms.shape import is_list, is_map, is_number
from flyball.core.terms.tool import plain_name
from flyball.tools.call.foreign_edits import ReadText, UnclearCall, as_diff

Args = dict[str, object]

PROCEED = "PROCEED"
GIT_ACTIONS = ("commit", "revert", "branch")


class Spoken(NamedTuple):
    """What a rewrite may ask besides the arguments: the driver's own name for the tool, files."""

    name: str = ""
    read: ReadText = lambda _path: None


def in_own_form(tool: str, args: Args, spoken: Spoken = Spoken()) -> Args:  # noqa: B008
    """The arguments as the tool's form wants them; what is not understood stays as it is.

    What can be understood in several ways raises `UnclearCall`.
    """
    if spoken.name == PROCEED and not args:
        return {"text": "Go ahead."}
    return REWRITES[tool](args, spoken) if tool in REWRITES else args


def _without(args: Args, *names: str) -> Args:
    return {name: value for name, value in args.items() if name not in names}


def _first_of(args: Args, *names: str) -> object:
    return next((args[name] for name in names if name in args), None)


_GIT_NAMES = {f"git_{action}": action for action in GIT_ACTIONS}


def _git(args: Args, spoken: Spoken) -> Args:
    """An action that is named by its own field; two at once are left to be refused."""
    if action := _GIT_NAMES.get(plain_name(spoken.name)):
        return {"action": action, **args}
    line = args.get("action")
    if isinstance(line, str) and " " in line.strip():
        return _git_line(args, line)
    named = [action for action in GIT_ACTIONS if action in args]
    if len(named) != 1 or "action" in args:
        return args
    (action,) = named
    rest = {name: value for name, value in args.items() if name != action}
    more = _details(action, args[action])
    if more is None or not rest.keys().isdisjoint(more):
        return args
    return {"action": action, **more, **rest}


def _details(action: str, value: object) -> Args | None:
    """What the value of such a field says: a message, paths, or nothing beyond the action."""
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, object]", value))
    if value is True or value is None or value == "" or action == "branch":
        return {} if isinstance(value, str | bool | None) and value is not False else None
    if action == "commit":
        return {"message": value} if isinstance(value, str) else None
    if isinstance(value, str):
        return {"paths": [value]}
    return {"paths": value} if isinstance(value, list | tuple) else None


def _git_line(args: Args, line: str) -> Args:
    """`commit -m "…"` as one line; other options are left to be refused."""
    try:
        words = shlex.split(line.strip().removeprefix("git "))
    except ValueError:
        return args
    match words:
        case ["commit", "-m" | "-am" | "--message", message] if "message" not in args:
            return {**args, "action": "commit", "message": message}
        case _:
            return args


def _bash(args: Args, _spoken: Spoken) -> Args:
    if args.get("run_in_background") is True or args.get("is_background") is True:
        raise UnclearCall("Commands run to their end here; none is left in the background.")
    args = _without(args, "run_in_background", "is_background")
    allow = args.get("allow")
    is_text = isinstance(allow, str) or (
        isinstance(allow, list | tuple)
        and all(isinstance(each, str) for each in cast("list[object]", allow))
    )
    args = _without(args, "allow") if is_text else args
    if is_list(words := args.get("cmd")):
        args = {**args, "cmd": _command_line([str(word) for word in words])}
    where, cmd = _first_of(args, "workdir", "cwd", "working_directory", "dir_path"), args.get("cmd")
    if isinstance(where, str) and isinstance(cmd, str):
        args = _without(args, "workdir", "cwd", "working_directory", "dir_path")
        if where.strip() not in ("", ".", "./"):
            args["cmd"] = f"cd {shlex.quote(where.strip())} && {cmd}"
    return args


def _command_line(words: list[str]) -> str:
    """A command given as a list of words, or of one line."""
    match words:
        case [line]:
            return line
        case [shell, "-c" | "-lc" | "-ic", line] if shell.rpartition("/")[2] in SHELLS:
            return line
        case _ if words and not any(re.search(r"\s", word) for word in words[:1]):
            return shlex.join(words)
        case _:
            raise UnclearCall('Give the command as one text: {"cmd": "ls src"}.')


SHELLS = frozenset({"bash", "sh", "zsh", "dash"})


def _read(args: Args, _spoken: Spoken) -> Args:
    """Line ranges in any of the usual forms, and more than one file in one call."""
    paths = args.get("paths", args.get("files"))
    if "path" not in args and is_list(paths):
        if len(paths) != 1:
            raise UnclearCall('One call reads one file: {"path": "src/cart.py"}. Make several.')
        args = {**_without(args, "paths", "files"), "path": paths[0]}
    whole = _first_of(args, "should_read_entire_file", "entire_file", "full", "whole_file")
    ends = ("end_line", "line_end", "to_line", "end", "last_line", "to", "end_line_one_indexed")
    first = _first_of(args, "offset", "start_line_one_indexed", "from")
    last = _first_of(args, "end_line_one_indexed_inclusive", *ends)
    spans = ("view_range", "range", "lines", "line_range")
    if (span := _span(_first_of(args, *spans))) is not None:
        first, last = span
    rest = _without(args, *spans, *ends, "end_line_one_indexed_inclusive", "from")
    rest = _without(rest, "start_line_one_indexed", "offset")
    rest = _without(rest, "should_read_entire_file", "entire_file", "full", "whole_file")
    if whole in (True, "true"):
        return rest
    begin, end = _whole_number(first), _whole_number(last)
    if begin is None and first is not None:
        return args
    if begin:
        rest["offset"] = begin
    if end is not None and end >= max(begin or 1, 1):
        rest["limit"] = end - max(begin or 1, 1) + 1
    return rest


def _span(value: object) -> tuple[object, object] | None:
    if isinstance(value, str) and (found := re.fullmatch(r"\s*(\d+)\s*[-,:]\s*(-?\d+)\s*", value)):
        return found[1], found[2]
    return (value[0], value[1]) if is_list(value) and len(value) == 2 else None


def _whole_number(value: object) -> int | None:
    try:
        return int(value) if isinstance(value, str) or is_number(value) else None
    except ValueError:
        return None


def _grep(args: Args, _spoken: Spoken) -> Args:
    """The flags of the program, and their negations."""
    around = [args[name] for name in ("flag_A", "flag_B", "flag_C", "a", "b") if name in args]
    args = _without(args, "flag_A", "flag_B", "flag_C", "a", "b")
    if around and "context" not in args:
        args["context"] = max(_whole_number(each) or 0 for each in around)
    if isinstance(is_regex := _first_of(args, "is_regex", "use_regex"), bool):
        args = {**_without(args, "is_regex", "use_regex"), "literal": not is_regex}
    if isinstance(minds := args.get("case_sensitive"), bool):
        args = {**_without(args, "case_sensitive"), "ignore_case": not minds}
    if isinstance(caseless := args.get("flag_i"), bool):
        args = {**_without(args, "flag_i"), "ignore_case": caseless}
    if isinstance(left_out := _first_of(args, "exclude", "exclude_pattern"), str):
        globs = args.get("globs")
        kept: list[object] = list(globs) if is_list(globs) else [globs] if globs else []
        out = [f"!{left_out.lstrip('!')}"] if left_out.strip() else []
        args = {**_without(args, "exclude", "exclude_pattern"), "globs": [*kept, *out]}
    if isinstance(kind := args.get("type"), str) and "globs" not in args and kind in ENDINGS:
        args = {**_without(args, "type"), "globs": [f"*.{ENDINGS[kind]}"]}
    return _without(args, "flag_n", "flag_r", "output_mode", "line_numbers", "multiline")


ENDINGS = {
    **{each: each for each in ("py", "js", "ts", "go", "rs", "java", "rb", "md", "json")},
    "python": "py",
    "rust": "rs",
    "ruby": "rb",
    "markdown": "md",
}
"""Kinds of files as search programs name them, where one ending says all."""


def _list(args: Args, _spoken: Spoken) -> Args:
    """A pattern in place of a path, and whether to go down."""
    down = args.get("recursive")
    args = _without(args, "recursive", "ignore", "show_hidden", "flag_l", "flag_a", "flag_la")
    if down in (False, "false") and "depth" not in args:
        args["depth"] = 1
    path = args.get("path")
    if isinstance(path, str) and re.search(r"[*?\[]", path) and "pattern" not in args:
        return {**_without(args, "path"), "pattern": path.removeprefix("./")}
    return args


def _edit(args: Args, spoken: Spoken) -> Args:
    return as_diff(args, spoken.read)


def _write(args: Args, _spoken: Spoken) -> Args:
    if args.get("append") in (True, "true"):
        raise UnclearCall("A file is written whole. To add lines to one, use `edit_diff`.")
    args = _without(args, "append", "overwrite", "create_dirs", "create_directories", "line_count")
    return _without(args, "encoding") if args.get("encoding") in ("utf-8", "utf8") else args


def _test(args: Args, spoken: Spoken) -> Args:
    """The command line of a runner, or a path beside the arguments."""
    line = _first_of(args, "command", "cmd", "test_command")
    runner = args.get("runner")
    if isinstance(runner, str) and " " in runner.strip() and line is None:
        line, args = runner, _without(args, "runner")
    args = _without(args, "verbose", "flag_v")
    if isinstance(line, str) and "args" not in args:
        args = {**_without(args, "command", "cmd", "test_command"), **_runner_line(line)}
    path = _first_of(args, "path", "file_path", "file", "test_file")
    given = args.get("args")
    if isinstance(path, str) and (is_list(given) or isinstance(given, str)):
        words = shlex.split(given) if isinstance(given, str) else list(given)
        args = {**_without(args, "path", "file_path", "file", "test_file"), "args": [path, *words]}
    if isinstance(runner := args.get("runner"), str) and runner.strip().lower() in ("", "auto"):
        args = _without(args, "runner")
    named = plain_name(spoken.name)
    return {"runner": named, **args} if named in ("pytest", "unittest") else args


def _runner_line(line: str) -> Args:
    """`python -m pytest tests` as the runner and what is passed on to it."""
    try:
        words = shlex.split(line)
    except ValueError:
        raise UnclearCall("The command cannot be split into words. Give `args` alone.") from None
    if words[:1] and re.fullmatch(r"python[\d.]*|uv|poetry", words[0]):
        words = words[2:] if words[1:2] in (["-m"], ["run"]) else words
    match words:
        case [("pytest" | "unittest" | "jest" | "vitest" | "mocha") as runner, *rest]:
            return {"runner": runner, "args": rest}
        case [
            ("npm" | "pnpm" | "yarn" | "go" | "cargo" | "make" | "mix" | "deno") as runner,
            *rest,
        ]:
            passed = rest[1:] if rest[:1] == ["test"] else rest
            return {"runner": runner, "args": [word for word in passed if word != "--"]}
        case _:
            raise UnclearCall('Name what to run without the command: {"args": ["tests/a.py"]}.')


CHECK_KINDS = {"lint": "lint", "read_lints": "lint", "typecheck": "types", "type_check": "types"}


def _check(args: Args, spoken: Spoken) -> Args:
    """A kind of check as the tool's name; whatever is narrowed, the project is checked whole."""
    args = _without(args, "path", "paths", "files", "file_path", "uri")
    kind = CHECK_KINDS.get(plain_name(spoken.name), "")
    return {"name": kind, **args} if kind else args


def _project(_args: Args, _spoken: Spoken) -> Args:
    """It takes nothing, so whatever is passed on with it narrows nothing."""
    return {}


def _probe(args: Args, _spoken: Spoken) -> Args:
    method = args.get("method", "GET")
    return _without(args, "method") if str(method).upper() in ("GET", "HEAD") else args


def _note(args: Args, _spoken: Spoken) -> Args:
    """A list of things to do, as lines of text."""
    listed = args.get("text")
    if not is_list(listed) or not all(is_map(each) for each in listed):
        return args
    return {**args, "text": "\n".join(_to_do(cast("Mapping[str, object]", e)) for e in listed)}


def _to_do(item: Mapping[str, object]) -> str:
    words = [item[name] for name in ("content", "step", "title", "text") if name in item]
    return f"{item.get('status', 'open')}: {words[0] if words else ''}".strip()


def _checkpoint(args: Args, _spoken: Spoken) -> Args:
    """A plan's tasks, line by line, as the proposed action; the files that they name."""
    if isinstance(files := args.get("files"), str) and re.search(r"[,\n]", files):
        named = [each.strip(" -*`\t") for each in re.split(r"[,\n]", files)]
        # A comma in a name is rarer than a list of names, and such a list has no spaces left.
        if all(each and " " not in each for each in named):
            args = {**args, "files": named}
    key = next((name for name in ("tasks", "steps") if name in args), "")
    tasks = args.get(key)
    if not isinstance(tasks, list | tuple) or "proposed_action" in args:
        return args
    listed = cast("list[object]", tasks)
    words = [_task_words(task) for task in listed]
    if not words or not all(words):
        return args
    rest = {name: value for name, value in args.items() if name != key}
    files = [file for task in listed for file in _task_files(task)]
    named = {"files": list(dict.fromkeys(files))} if files and "files" not in rest else {}
    return {**rest, "proposed_action": "\n".join(words), **named}


def _task_words(task: object) -> str:
    if isinstance(task, Mapping):
        fields = cast("Mapping[str, object]", task)
        task = fields.get("title") or fields.get("task") or fields.get("description")
    return task.strip() if isinstance(task, str) else ""


def _task_files(task: object) -> list[str]:
    if not isinstance(task, Mapping):
        return []
    fields = cast("Mapping[str, object]", task)
    named = fields.get("files") or fields.get("file") or fields.get("path") or ()
    each = [named] if isinstance(named, str) else cast("list[object]", named)
    return [file for file in each if isinstance(file, str)]


REWRITES: dict[str, Callable[[Args, Spoken], Args]] = {
    "read": _read,
    "list": _list,
    "grep": _grep,
    "project": _project,
    "git": _git,
    "bash": _bash,
    "checkpoint": _checkpoint,
    "edit_diff": _edit,
    "write_file": _write,
    "test": _test,
    "check": _check,
    "http_probe": _probe,
    "note": _note,
}
