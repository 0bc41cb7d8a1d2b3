"""Convert other unambiguous spellings of a call to the tool's own form.

`GIT {commit: "…"}` names the action by its field, and `BASH {cmd, allow}` names the rule it relies
on. Only the user grants rules, so `allow` is accepted and has no effect. `EMIT_PLAN {goal,
findings, tasks, …}` is a checkpoint whose action is a list, and `PROCEED` announces its execution;
it has no effect, so it is recorded as a note. The other conversions handle habits from other
agents: line ranges, flags of programs, commands as lists of words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import cast

from flyball.regex import regex
from flyball.terms.shape import is_list, is_map, is_number
from flyball.terms.tool import TOOL_ROWS, plain_name
from flyball.tools.call.foreign_commands import (
    Args,
    CallSource,
    bash_args,
    check_args,
    first_of,
    git_args,
    probe_args,
    suite_args,
    without,
)
from flyball.tools.call.foreign_edits import UnclearCall, as_diff

PROCEED = "PROCEED"


def in_own_form(tool: str, args: Args, source: CallSource = CallSource()) -> Args:  # noqa: B008
    """Return the arguments in the tool's form; those that are not recognized stay unchanged.

    Ambiguous arguments raise `UnclearCall`.
    """
    if source.name == PROCEED and not args:
        return {"text": "Go ahead."}
    return REWRITES[tool](args, source) if tool in REWRITES else args


def _one_path(args: Args) -> Args:
    """Accept one file, in a list or not, as a path or as an object with a path."""
    named = args.get("path", args.get("paths", args.get("files")))
    if is_list(named):
        if len(named) != 1:
            raise UnclearCall('One call is for one file: {"path": "docs/prices.md"}. Make several.')
        named = named[0]
    if is_map(named):
        named = next((named[name] for name in ("path", "file", "file_path") if name in named), None)
    if not isinstance(named, str):
        return args
    return {**without(args, "paths", "files"), "path": named}


_LINES_BEHIND = regex(r"(.+?):(\d+)(?:-(\d+))?$")


def _read(args: Args, source: CallSource) -> Args:
    """Accept line ranges in all common forms, including after the path."""
    args = without(_one_path(args), "mode", "indentation", "encoding")
    path = args.get("path")
    behind = _LINES_BEHIND.match(path) if isinstance(path, str) else None
    if behind and source.read(behind[0]) is None and "offset" not in args:
        last = {"end_line": behind[3]} if behind[3] else {}
        args = {**args, "path": behind[1], "offset": behind[2], **last}
    whole = first_of(args, "should_read_entire_file", "entire_file", "full", "whole_file")
    ends = ("end_line", "line_end", "to_line", "end", "last_line", "to", "end_line_one_indexed")
    first = first_of(args, "offset", "start_line_one_indexed", "from")
    last = first_of(args, "end_line_one_indexed_inclusive", *ends)
    spans = ("view_range", "range", "lines", "line_range")
    if (span := _span(first_of(args, *spans))) is not None:
        first, last = span
    rest = without(args, *spans, *ends, "end_line_one_indexed_inclusive", "from")
    rest = without(rest, "start_line_one_indexed", "offset")
    rest = without(rest, "should_read_entire_file", "entire_file", "full", "whole_file")
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


def _grep(args: Args, _source: CallSource) -> Args:
    """Accept the program's flags, and their negations."""
    around = [args[name] for name in ("flag_A", "flag_B", "flag_C", "a", "b") if name in args]
    args = without(args, "flag_A", "flag_B", "flag_C", "a", "b")
    if around and "context" not in args:
        args["context"] = max(_whole_number(each) or 0 for each in around)
    if isinstance(is_regex := first_of(args, "is_regex", "use_regex"), bool):
        args = {**without(args, "is_regex", "use_regex"), "literal": not is_regex}
    if isinstance(minds := args.get("case_sensitive"), bool):
        args = {**without(args, "case_sensitive"), "ignore_case": not minds}
    if isinstance(caseless := args.get("flag_i"), bool):
        args = {**without(args, "flag_i"), "ignore_case": caseless}
    if isinstance(left_out := first_of(args, "exclude", "exclude_pattern"), str):
        globs = args.get("globs")
        kept: list[object] = list(globs) if is_list(globs) else [globs] if globs else []
        out = [f"!{left_out.lstrip('!')}"] if left_out.strip() else []
        args = {**without(args, "exclude", "exclude_pattern"), "globs": [*kept, *out]}
    if isinstance(kind := args.get("type"), str) and "globs" not in args and kind in ENDINGS:
        args = {**without(args, "type"), "globs": [f"*.{ENDINGS[kind]}"]}
    args = without(args, "flag_n", "flag_r", "output_mode", "line_numbers", "multiline")
    if args.get("max") in (0, "0"):
        args = without(args, "max")
    if is_list(several := args.get("patterns")) and "q" not in args:
        joined = "|".join(map(str, several))
        args = {**without(args, "patterns"), "q": joined}
    if is_list(paths := args.get("paths", args.get("dir"))):
        if len(paths) != 1:
            raise UnclearCall("One call searches one file or directory, or all; make several.")
        args = {**without(args, "paths"), "dir": paths[0]}
    return args


ENDINGS = {
    **{each: each for each in ("py", "js", "ts", "go", "rs", "java", "rb", "md", "json")},
    "python": "py",
    "rust": "rs",
    "ruby": "rb",
    "markdown": "md",
}
"""File types of search programs that correspond to one extension."""


def _list(args: Args, _source: CallSource) -> Args:
    """Accept a pattern in place of a path, and a recursion flag."""
    down = args.get("recursive")
    args = without(args, "recursive", "ignore", "show_hidden", "flag_l", "flag_a", "flag_la")
    args = without(args, "offset", "file_filtering_options", "ignore_globs", "case_sensitive")
    args = {name: value for name, value in args.items() if not name.startswith("respect_")}
    if down in (False, "false") and "depth" not in args:
        args["depth"] = 1
    path = args.get("path")
    if isinstance(path, str) and re.search(r"[*?\[]", path) and "pattern" not in args:
        return {**without(args, "path"), "pattern": path.removeprefix("./")}
    return args


def _edit(args: Args, source: CallSource) -> Args:
    return as_diff(args, source.read)


def _write(args: Args, source: CallSource) -> Args:
    if args.get("append") in (True, "true"):
        raise UnclearCall("A file is written whole. To add lines to one, use `edit_diff`.")
    args = without(args, "append", "overwrite", "create_dirs", "create_directories", "line_count")
    args = without(args, "empty_file") if args.get("content") else args
    args = without(args, "mode") if args.get("mode") in ("w", "overwrite", "create") else args
    content, path = args.get("content"), args.get("path")
    if is_list(content) and all(isinstance(each, str) for each in content):
        lines = "".join(f"{str(each).removesuffix(chr(10))}\n" for each in content)
        args = {**args, "content": lines}
    elif (is_map(content) or is_list(content)) and str(path).endswith(".json"):
        args = {**args, "content": json.dumps(content, indent=2, ensure_ascii=False) + "\n"}
    elif plain_name(source.name) in ("create", "new_file", "touch") and "content" not in args:
        args = {**args, "content": ""} if "content_base64" not in args else args
    return without(args, "encoding") if args.get("encoding") in ("utf-8", "utf8") else args


def _project(_args: Args, _source: CallSource) -> Args:
    """Drop all arguments, since the tool takes none."""
    return {}


def _delete(args: Args, _source: CallSource) -> Args:
    return _one_path(args)


def _log(args: Args, _source: CallSource) -> Args:
    return without(args, "oneline", "flag_n", "format", "pretty", "branch", "all")


def _note(args: Args, _source: CallSource) -> Args:
    """Convert a list of tasks to lines of text, and add unknown fields as text."""
    listed = args.get("text")
    if is_list(listed) and listed and all(is_map(each) for each in listed):
        to_do = [_to_do(cast("Mapping[str, object]", each)) for each in listed]
        args = {**args, "text": "\n".join(to_do)}
    if is_map(risk := args.get("risk")):
        args = {**args, "risk": _as_sentence(risk)}
    known = TOOL_ROWS["note"].spelt
    besides = {name: value for name, value in args.items() if name not in known}
    return _with_besides(args, besides, "text")


def _to_do(item: Mapping[str, object]) -> str:
    words = [item[name] for name in ("content", "step", "title", "text", "task") if name in item]
    return f"{item.get('status', 'open')}: {words[0] if words else ''}".strip()


def _with_besides(args: Args, besides: Args, field: str) -> Args:
    """Append extra fields of a driver to the text field."""
    lines = [
        f"{name}: {words}" for name, value in besides.items() if (words := _as_sentence(value))
    ]
    if not lines:
        return without(args, *besides)
    own = args.get(field)
    first = [] if own in (None, "") else [own] if not is_list(own) else [*own]
    if not all(isinstance(each, str) for each in first):
        return args
    return {**without(args, *besides), field: "\n".join(map(str, (*first, *lines)))}


def _as_sentence(value: object) -> str:
    if is_list(value):
        return "; ".join(map(_as_sentence, value))
    if is_map(value):
        return "; ".join(f"{name}: {_as_sentence(each)}" for name, each in value.items())
    return "" if value is None or isinstance(value, bool) else str(value).strip()


def _checkpoint(args: Args, _source: CallSource) -> Args:
    args = _with_tasks(args)
    files = args.get("files")
    if is_list(files) and any(is_map(each) for each in files):
        args = {**args, "files": [_file_named(each) for each in files]}
    if is_map(verify := args.get("verify_with")):
        args = {**args, "verify_with": [_as_sentence(each) for each in verify.values()]}
    for prose in ("findings", "proposed_action", "goal"):
        if is_map(value := args.get(prose)):
            args = {**args, prose: _as_sentence(value)}
    besides = {n: v for n, v in args.items() if n not in TOOL_ROWS["checkpoint"].spelt}
    # A plan under another name may lack parts of a checkpoint, which the error names.
    return _with_besides(args, besides, "findings") if "findings" in args else args


def _file_named(value: object) -> object:
    if not is_map(value):
        return value
    return next((value[n] for n in ("path", "file", "file_path", "name") if n in value), value)


def _with_tasks(args: Args) -> Args:
    """Convert a plan's tasks to lines of the proposed action, and add the files that they name."""
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


REWRITES: dict[str, Callable[[Args, CallSource], Args]] = {
    "read": _read,
    "delete_file": _delete,
    "git_log": _log,
    "list": _list,
    "grep": _grep,
    "project": _project,
    "git": git_args,
    "bash": bash_args,
    "checkpoint": _checkpoint,
    "edit_diff": _edit,
    "write_file": _write,
    "test": suite_args,
    "check": check_args,
    "http_probe": probe_args,
    "note": _note,
}
