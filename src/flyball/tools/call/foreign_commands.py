"""Convert other agents' commands: lines for a shell, git, a test runner or a linter.

A line with a single meaning is converted to the form of the tool that does it; a line that means
more is refused later.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import NamedTuple, cast

from flyball.regex import regex
from flyball.terms.shape import is_list
from flyball.terms.tool import plain_name
from flyball.tools.call.foreign_edits import ReadText, UnclearCall

Args = dict[str, object]
GIT_ACTIONS = ("commit", "revert", "branch")


class CallSource(NamedTuple):
    """The context of a conversion: the driver's own name for the tool, and files."""

    name: str = ""
    read: ReadText = lambda _path: None


def without(args: Args, *names: str) -> Args:
    return {name: value for name, value in args.items() if name not in names}


def first_of(args: Args, *names: str) -> object:
    return next((args[name] for name in names if name in args), None)


_GIT_NAMES = {f"git_{action}": action for action in GIT_ACTIONS}


def git_args(args: Args, source: CallSource) -> Args:
    """Accept an action that is named by its own field; refuse two at once."""
    if action := _GIT_NAMES.get(plain_name(source.name)):
        return {"action": action, **args}
    if is_list(words := args.get("args")) and "action" not in args:
        args = {**without(args, "args"), "action": shlex.join(map(str, words))}
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
    """Return the details in such a field: a message, paths, or nothing."""
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
    """Parse `commit -m "…"` in one line; other options are refused later."""
    try:
        words = shlex.split(line.strip().removeprefix("git "))
    except ValueError:
        return args
    match words:
        case ["commit", "-m" | "-am" | "--message", message] if "message" not in args:
            return {**args, "action": "commit", "message": message}
        case _:
            return args


def bash_args(args: Args, _source: CallSource) -> Args:
    if args.get("run_in_background") is True or args.get("is_background") is True:
        raise UnclearCall("Commands run to their end here; none is left in the background.")
    args = without(args, "run_in_background", "is_background", "restart", "login", "tty", "shell")
    args = without(args, "blocking", "safe_to_auto_run", "wait_ms_before_async")
    args = without(args, "requires_approval", "require_user_approval")
    allow = args.get("allow")
    is_text = isinstance(allow, str) or (
        isinstance(allow, list | tuple)
        and all(isinstance(each, str) for each in cast("list[object]", allow))
    )
    args = without(args, "allow") if is_text else args
    if is_list(words := args.get("cmd")):
        args = {**args, "cmd": _command_line([str(word) for word in words])}
    where, cmd = first_of(args, *PLACES), args.get("cmd")
    if isinstance(where, str) and isinstance(cmd, str):
        args = without(args, *PLACES)
        if where.strip() not in ("", ".", "./"):
            args["cmd"] = f"cd {shlex.quote(where.strip())} && {cmd}"
    return args


PLACES = ("workdir", "cwd", "working_directory", "dir_path", "directory", "dir")
"""Other agents' names for the directory that a command starts in."""


def _command_line(words: list[str]) -> str:
    """Return a command given as a list of words, or of one line."""
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


_RUNNERS = """
    pytest unittest vitest jest mocha ava tape tap node npm pnpm yarn go cargo maven gradle dotnet
    ctest rspec rake phpunit mix deno bats make just
"""
RUNNERS = frozenset(_RUNNERS.split())
OTHER_RUNNERS = {"mvn": "maven", "gradlew": "gradle", "mvnw": "maven", "py.test": "pytest"}
_STARTERS = regex(r"python[\d.]*|uv|poetry|pipenv|npx|pnpx|bunx|bundle|pdm|hatch")
_LINE_FIELDS = ("command", "cmd", "test_command")
_PATH_FIELDS = ("path", "file_path", "file", "test_file")


def suite_args(args: Args, source: CallSource) -> Args:
    """Accept the command line of a runner, or a path next to the arguments."""
    args = _named_runner(without(args, "verbose", "flag_v", "coverage", "watch"), source)
    line, runner = first_of(args, *_LINE_FIELDS), args.get("runner")
    given = args.get("args")
    if isinstance(runner, str) and line is None and not _is_runner(runner):
        more = [given] if isinstance(given, str) else list(given) if is_list(given) else []
        line = " ".join((runner, *map(str, more)))
        args = without(args, "runner", "args")
    if isinstance(line, str) and "args" not in args:
        args = {**without(args, *_LINE_FIELDS, "runner"), **_runner_line(line)}
    path, given = first_of(args, *_PATH_FIELDS), args.get("args")
    if isinstance(path, str) and (is_list(given) or isinstance(given, str)):
        words = shlex.split(given) if isinstance(given, str) else list(given)
        args = {**without(args, *_PATH_FIELDS), "args": [path, *words]}
    if isinstance(pattern := first_of(args, "pattern", "filter", "k"), str) and "args" not in args:
        args = {**without(args, "pattern", "filter", "k"), "args": ["-k", pattern]}
    # For a file and a test in it the file is run: naming one test differs by runner.
    if isinstance(test := args.get("test_name"), str):
        args = {"args": ["-k", test], **without(args, "test_name")}
    if args.get("args") in ("all", ["all"], "*", "."):
        args = without(args, "args")
    return without(args, "suite") if args.get("suite") in ("all", "") else args


def _is_runner(name: str) -> bool:
    """Return whether the value is one word that may name a runner, and no command line."""
    word = name.strip()
    is_start = _STARTERS.fullmatch(word) or "/" in word or word in OTHER_RUNNERS
    return " " not in word and not is_start


def _named_runner(args: Args, source: CallSource) -> Args:
    """Return the runner in the call's own name; empty if it has none."""
    named = plain_name(source.name).removesuffix("_test").removesuffix("_tests")
    if named in RUNNERS:
        return {"runner": named, **args}
    runner = args.get("runner")
    is_any = isinstance(runner, str) and runner.strip().lower() in ("", "auto", "default")
    return without(args, "runner") if is_any else args


def _runner_line(line: str) -> Args:
    """Split `cd web && npx jest a` into the runner, its arguments, and the prefix."""
    try:
        words = shlex.split(line)
    except ValueError:
        raise UnclearCall("The command cannot be split into words. Give `args` alone.") from None
    part: list[str] = []
    if words[:1] == ["cd"] and words[2:3] == ["&&"]:
        part = [] if words[1] in (".", "./") or words[1].startswith("/") else [words[1]]
        words = words[3:]
    while words and "=" in words[0]:
        words = words[1:]
    if words and _STARTERS.fullmatch(words[0]):
        words = words[2:] if words[1:2] in (["-m"], ["run"], ["exec"]) else words[1:]
    name = words[0].rpartition("/")[2] if words else ""
    runner = OTHER_RUNNERS.get(name, name)
    if runner not in RUNNERS or any(word in ("&&", "||", "|", ";") for word in words):
        raise UnclearCall('Name what to run without the command: {"args": ["tests/a"]}.')
    rest = words[1:]
    while rest[:1] and rest[0] in ("run", "test", "--test", "--", "t"):
        rest = rest[1:]
    return {"runner": runner, "args": [*part, *(word for word in rest if word != "--")]}


CHECK_KINDS = {
    **dict.fromkeys(("lint", "read_lints", "run_linter", "linter", "run_lint"), "lint"),
    **dict.fromkeys(("typecheck", "type_check"), "types"),
    **{name: name for name in ("mypy", "ruff", "pyright", "tsc", "eslint", "flake8", "clippy")},
}


def check_args(args: Args, source: CallSource) -> Args:
    """Accept a kind of check as the tool's name; drop filters, as it checks everything."""
    args = without(args, "path", "paths", "files", "file_path", "uri", "fix")
    line = first_of(args, "command", "cmd")
    if isinstance(line, str) and line.strip() and "name" not in args:
        words = [each for each in line.split() if not _STARTERS.fullmatch(each)]
        words = [each for each in words if each not in ("-m", "run", "exec")]
        args = {**without(args, "command", "cmd"), "name": words[0] if words else ""}
    names = args.get("name", args.get("names"))
    if is_list(names):
        # A call without a name runs several kinds.
        args = {**without(args, "names"), "name": names[0] if len(names) == 1 else ""}
    if str(args.get("name")).lower() in ("all", "*"):
        args = without(args, "name")
    kind = CHECK_KINDS.get(plain_name(source.name), "")
    return {"name": kind, **args} if kind else args


def probe_args(args: Args, _source: CallSource) -> Args:
    """Accept an address without its scheme, or as a port and a path."""
    method = args.get("method", "GET")
    args = without(args, "method") if str(method).upper() in ("GET", "HEAD") else args
    args = without(args, "max_length", "headers", "raw", "start_index", "follow_redirects")
    if "url" not in args and str(args.get("port", "")).isdigit():
        path = str(args.get("path") or "/")
        url = f"http://127.0.0.1:{args['port']}/{path.lstrip('/')}"
        return {**without(args, "port", "path", "host"), "url": url}
    url = args.get("url")
    if isinstance(url, str) and re.match(r"(?:localhost|127\.0\.0\.1)(?::\d+)?(?:/|$)", url):
        args = {**args, "url": f"http://{url}"}
    return args
