"""The tools, one row each: what the core knows about a call without asking its tool.

What only the shell knows of a tool (its form, its implementation, its messages) is in `tools`; a
test compares the two lists. No other code may list tools by name: a property of some of them is a
column here, and sets are derived from it.

A driver trained on other tools may use their names. Unambiguous ones are columns too: `also_called`
for the tool, `spelt` for its fields, compared by `plain_name`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from flyball.regex import regex
from flyball.terms.call import Access
from flyball.terms.phase import Phase


class Touch(StrEnum):
    """The most that a tool can change outside the run's own record."""

    NOTHING = "nothing: it is words"
    WORKSPACE = "reads the workspace"
    ADDRESS = "asks an address"
    NAMED_FILES = "writes the files that it names"
    ANYTHING = "starts a program"


class ToolRow(NamedTuple):
    """One tool: its names, its class, what it may change, and the phases that also show it."""

    name: str
    access: Access
    touches: Touch
    aliases: tuple[str, ...] = ()
    also_in: tuple[Phase, ...] = ()
    """Phases that show it although they do not reach its class."""
    writes_text: bool = False
    """Whether its arguments hold the new text of files: the driver knows them without reading."""
    also_called: tuple[str, ...] = ()
    """What other agents call it; understood, and never named to a driver."""
    spelt: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    """Its fields, each with what other agents call it."""
    needs: str = ""
    """Without what it has nothing to work on: a language, `SERVERS` or `BROWSER`."""

    @property
    def starts_process(self) -> bool:
        """Return whether one of the project's programs may run, and so may change any file."""
        return self.touches is Touch.ANYTHING

    @property
    def leaves_tree(self) -> bool:
        """Return whether the tool never changes the tree."""
        return self.touches in (Touch.WORKSPACE, Touch.ADDRESS)

    def is_shown_in(self, phase: Phase, access: Access | None = None) -> bool:
        """Return whether a phase shows and allows the tool; `access` is the call's own class."""
        return (access or self.access) in REACH[phase] or phase in self.also_in


SERVERS = "servers"
"""The project serves something, and this machine can give it a network of its own."""
BROWSER = "browser"
"""Besides, what such a server shows can be opened in a browser."""

EVERYTHING = frozenset(Access)
LOOKING = frozenset({Access.READ, Access.VERIFY, Access.CHECKPOINT})
SPEAKING = (Phase.DESIGN, Phase.CHECKPOINT)
"""Phases that only speak, in which a driver may still leave a note or object."""

REACH: Mapping[Phase, frozenset[Access]] = MappingProxyType(
    {
        Phase.ANALYZE_CODE: LOOKING,
        Phase.RESEARCH: LOOKING,
        Phase.DESIGN: frozenset({Access.CHECKPOINT}),
        Phase.CHECKPOINT: frozenset({Access.CHECKPOINT}),
        Phase.EXECUTE: EVERYTHING,
        Phase.VERIFY: LOOKING,
        Phase.FINAL: frozenset(),
        Phase.PAUSED: frozenset(),
        Phase.SUCCEEDED: frozenset(),
        Phase.FAILED: frozenset(),
        Phase.CANCELLED: frozenset(),
    }
)
"""Which classes of tools each phase shows and allows."""

_FILE = (
    "file_path filepath file filename file_name absolute_path target_file relative_path "
    "relative_workspace_path abs_path pathname uri"
)
_FOLDER = "directory dir_path directory_path folder target_directory root in where cwd"
_MOST = "max_results max_count max_matches head_limit limit n count num top"
_GLOB = (
    "glob glob_pattern include includes include_pattern include_patterns file_pattern file_glob "
    "file_mask"
)


def _spelt(**fields: str) -> Mapping[str, tuple[str, ...]]:
    return MappingProxyType({field: tuple(others.split()) for field, others in fields.items()})


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_ROWS = (
    ToolRow(
        "read",
        Access.READ,
        Touch.WORKSPACE,
        ("READ", "fs_read"),
        also_called=_words(
            "read_file file_read view view_file open open_file cat cat_file read_files "
            "read_many_files read_text_file get_file_contents get_file_content show_file"
        ),
        spelt=_spelt(
            path=_FILE,
            offset="start start_line line_start from_line first_line line line_number",
            limit="count num_lines line_count max_lines n lines_count",
            head="first",
            tail="last",
        ),
    ),
    ToolRow(
        "list",
        Access.READ,
        Touch.WORKSPACE,
        ("fs_list",),
        also_called=_words(
            "ls list_files list_dir list_directory glob find_files find_file file_search tree "
            "list_tree glob_search search_file_names find repo_map get_repo_map "
            "list_code_definition_names list_directory_tree directory_tree"
        ),
        spelt=_spelt(
            path=f"{_FOLDER} dir file_path absolute_path relative_workspace_path",
            pattern=f"{_GLOB} query q name file_name search",
            depth="max_depth levels level",
            max=_MOST,
        ),
    ),
    ToolRow(
        "grep",
        Access.READ,
        Touch.WORKSPACE,
        ("GREP", "fs_grep"),
        also_called=_words(
            "rg ripgrep search grep_search search_files search_file_content search_text "
            "search_code code_search search_dir search_file search_all find_in_files grep_files "
            "search_content text_search"
        ),
        spelt=_spelt(
            q=(
                "pattern query regex regexp search search_term term text keyword needle expression "
                "search_query search_pattern string"
            ),
            dir=f"path {_FOLDER} {_FILE}",
            globs=_GLOB,
            max=_MOST,
            context="context_lines c lines_of_context surrounding_lines",
            literal="fixed fixed_strings fixed_string is_literal f plain",
            ignore_case="i case_insensitive insensitive ignorecase",
        ),
    ),
    ToolRow(
        "git_log",
        Access.READ,
        Touch.WORKSPACE,
        also_called=_words("log git_history history"),
        spelt=_spelt(
            max=_MOST,
            path=f"{_FILE} dir directory",
            patch="diff p show_diff",
        ),
    ),
    ToolRow(
        "project",
        Access.READ,
        Touch.WORKSPACE,
        ("projects_get",),
        also_called=_words("project_info get_project describe_project project_get"),
    ),
    ToolRow(
        "dev_server_list",
        Access.READ,
        Touch.WORKSPACE,
        also_called=_words("list_servers servers list_processes dev_servers"),
        needs=SERVERS,
    ),
    ToolRow(
        "dev_server_logs",
        Access.READ,
        Touch.WORKSPACE,
        also_called=_words("server_logs get_server_logs read_server_logs logs"),
        spelt=_spelt(
            name="server id",
            lines="limit tail n count max",
            q="query pattern grep filter search",
        ),
        needs=SERVERS,
    ),
    ToolRow(
        "checkpoint",
        Access.CHECKPOINT,
        Touch.NOTHING,
        ("EMIT_PLAN",),
        also_called=_words(
            "state_checkpoint set_checkpoint make_checkpoint submit_checkpoint submit_plan "
            "present_plan propose_plan exit_plan_mode create_plan"
        ),
        spelt=_spelt(
            goal="objective aim purpose title task summary intent",
            findings=(
                "finding found analysis diagnosis observations observation cause root_cause "
                "context problem evidence what_i_found"
            ),
            proposed_action=(
                "action proposed_actions proposal approach plan change changes fix proposed_change "
                "proposed_changes actions solution strategy next_steps next_step proposed_fix "
                "planned_changes planned_change what_i_will_do intended_change"
            ),
            files=(
                "file paths path file_paths files_to_touch files_to_change files_to_edit "
                "files_to_modify touches targets file_path expected_files files_touched "
                "files_changed affected_files modified_files target_files changed_files "
                "files_expected files_affected"
            ),
            verify_with=(
                "verify verification verifies_with verify_by how_to_verify tests test "
                "verification_commands verification_command checks test_command verify_command "
                "verify_commands verified_by verification_plan verification_steps validation "
                "validation_plan validate acceptance_criteria success_criteria test_plan "
                "how_to_test test_commands verify_steps"
            ),
        ),
    ),
    ToolRow(
        "edit_diff",
        Access.MUTATE,
        Touch.NAMED_FILES,
        ("EDIT_DIFF", "fs_edit"),
        writes_text=True,
        also_called=_words(
            "edit edit_file apply_patch apply_diff patch apply multi_edit str_replace "
            "search_replace replace replace_in_file string_replace update_file modify_file diff "
            "search_and_replace edit_files"
        ),
        spelt=_spelt(
            diff="patch unified_diff input patch_text diff_text changes diff_content diffs patches",
            preview="dry_run check_only",
        ),
    ),
    ToolRow(
        "write_file",
        Access.MUTATE,
        Touch.NAMED_FILES,
        ("fs_write", "CREATE_FILE_BINARY"),
        writes_text=True,
        also_called=_words(
            "write create create_file new_file write_to_file save_file save file_write "
            "overwrite_file add_file touch"
        ),
        spelt=_spelt(
            path=_FILE,
            content="contents text file_text body data file_content new_text code_content code",
            content_base64="base64 content_b64 bytes",
        ),
    ),
    ToolRow(
        "delete_file",
        Access.MUTATE,
        Touch.NAMED_FILES,
        ("fs_delete",),
        also_called=_words("delete remove_file remove rm unlink file_delete"),
        spelt=_spelt(
            path=_FILE,
        ),
    ),
    ToolRow(
        "bash",
        Access.MUTATE,
        Touch.ANYTHING,
        ("BASH", "shell_exec"),
        also_called=_words(
            "shell sh terminal execute_bash run_bash run_command run_shell run_shell_command "
            "run_terminal_cmd run_terminal_command execute_command exec_command exec "
            "local_shell local_shell_call shell_command run_in_terminal cmd"
        ),
        spelt=_spelt(
            cmd="command script commands command_line bash_command input",
        ),
    ),
    ToolRow(
        "git",
        Access.MUTATE,
        Touch.ANYTHING,
        ("GIT",),
        also_called=_words("git_commit git_revert git_branch"),
        spelt=_spelt(
            action="subcommand operation command",
            paths="path files file file_path file_paths",
            message="msg commit_message m",
        ),
    ),
    ToolRow(
        "dev_server_start",
        Access.MUTATE,
        Touch.ANYTHING,
        also_called=_words("start_server start_dev_server run_server serve preview_start"),
        spelt=_spelt(
            name="server id command script",
            seconds="timeout wait",
        ),
        needs=SERVERS,
    ),
    ToolRow(
        "dev_server_stop",
        Access.MUTATE,
        Touch.ANYTHING,
        also_called=_words("stop_server stop_dev_server kill_server preview_stop"),
        spelt=_spelt(name="server id"),
        needs=SERVERS,
    ),
    ToolRow(
        "test",
        Access.VERIFY,
        Touch.ANYTHING,
        ("TEST",),
        also_called=_words(
            "tests run_tests run_test pytest test_runner execute_tests run_test_suite unittest "
            "run_unit_tests go_test npm_test cargo_test jest vitest mocha"
        ),
        spelt=_spelt(
            args=(
                "arguments path paths file files test tests target targets test_path test_paths "
                "test_file test_files selector file_path argv options"
            ),
            runner="framework test_runner",
        ),
    ),
    ToolRow(
        "check",
        Access.VERIFY,
        Touch.ANYTHING,
        also_called=_words(
            "checks run_check run_checks lint typecheck type_check build diagnostics "
            "get_diagnostics get_errors read_lints run_linter run_lint linter mypy ruff pyright "
            "tsc eslint flake8 clippy"
        ),
        spelt=_spelt(
            name="check kind tool type checker linter checks",
        ),
    ),
    ToolRow(
        "http_probe",
        Access.VERIFY,
        Touch.ADDRESS,
        also_called=_words("fetch web_fetch http_get http_request curl probe"),
        spelt=_spelt(
            url="uri address href link",
            seconds="timeout wait",
        ),
        needs=SERVERS,
    ),
    ToolRow(
        "browser_console",
        Access.VERIFY,
        Touch.ADDRESS,
        also_called=_words(
            "browser open_browser browse browser_navigate browser_console_messages console "
            "get_console_logs preview_console preview_logs"
        ),
        spelt=_spelt(
            url="uri address href link page path",
            seconds="timeout wait",
        ),
        needs=BROWSER,
    ),
    ToolRow(
        "visual_qa",
        Access.VERIFY,
        Touch.ADDRESS,
        ("request_visual_qa",),
        also_called=_words("screenshot take_screenshot browser_take_screenshot preview_screenshot"),
        spelt=_spelt(
            url="uri address href link page path",
            expectation="expected expect question criteria description prompt",
            viewport="size resolution",
            seconds="timeout wait",
        ),
        needs=BROWSER,
    ),
    ToolRow(
        "localise_faults",
        Access.VERIFY,
        Touch.ANYTHING,
        also_called=_words("localize_faults locate_faults"),
        spelt=_spelt(
            seconds="timeout",
        ),
        needs="python",
    ),
    ToolRow(
        "try_candidates",
        Access.VERIFY,
        Touch.ANYTHING,
        spelt=_spelt(
            seconds="timeout",
        ),
        needs="python",
    ),
    ToolRow(
        "note",
        Access.READ,
        Touch.NOTHING,
        ("META", "PROCEED"),
        also_in=SPEAKING,
        also_called=_words(
            "think thought remember todo_write todowrite write_todos update_plan write_note "
            "save_memory task_tracker sequentialthinking sequential_thinking review submit_review"
        ),
        spelt=_spelt(
            text=(
                "note notes content thought thoughts message body todos plan fact task_list summary"
            ),
            risk="risks risk_level severity",
            assumptions="assumption assumes",
        ),
    ),
    ToolRow(
        "appeal",
        Access.READ,
        Touch.NOTHING,
        also_in=SPEAKING,
        also_called=_words("object objection"),
        spelt=_spelt(
            about="call call_id tool id tool_call_id",
            reason="why text message because",
        ),
    ),
    ToolRow(
        "conflict",
        Access.READ,
        Touch.NOTHING,
        also_in=SPEAKING,
        also_called=_words(
            "contradiction impossible report_conflict state_conflict cannot_be_done escalate "
            "report_contradiction"
        ),
        spelt=_spelt(
            says="quote first claim one expected",
            but="contradicts second other however against",
            where=f"place places at {_FILE}",
            reproduce="command cmd reproduction test_command",
        ),
    ),
)

TOOL_ROWS: Mapping[str, ToolRow] = MappingProxyType({row.name: row for row in _ROWS})

TOOL_ACCESS: Mapping[str, Access] = MappingProxyType({row.name: row.access for row in _ROWS})
ALIASES: Mapping[str, str] = MappingProxyType(
    {alias: row.name for row in _ROWS for alias in row.aliases}
)
FREE_TOOLS = frozenset(row.name for row in _ROWS if row.touches is Touch.NOTHING)
"""Tools that read and touch nothing: they cost no budget."""

COMMANDS = frozenset(
    row.name for row in _ROWS if row.starts_process and row.access is Access.MUTATE
)
"""Mutating tools whose effect is known only by looking: a failure is no failed edit."""


_CAMEL = regex(r"(?<=[a-z0-9])(?=[A-Z])")
_NAMESPACE = regex(r"^.*(?:\.|/|:|__)(?=[^./:_])")


def plain_name(name: str) -> str:
    """Return a name without case, dashes and camel case, to compare two spellings."""
    words = _CAMEL.sub("_", name.strip().strip("`'\"")).replace("-", "_").replace(" ", "_")
    return words.strip("_").lower()


@cache
def _spellings() -> Mapping[str, str]:
    return {
        plain_name(each): row.name
        for row in _ROWS
        for each in (*row.also_called, *row.aliases, row.name)
    }


def tool_name(name: str) -> str | None:
    """Return the only tool that a name can mean, or None.

    Besides aliases: other capitalisation, a namespace prefix (`functions.read`,
    `mcp__files__read`), and other agents' names for the same tool.
    """
    if name in TOOL_ROWS:
        return name
    plain, spellings = plain_name(name), _spellings()
    return (
        ALIASES.get(name)
        or spellings.get(plain)
        or spellings.get(plain_name(_NAMESPACE.sub("", name)))
        or spellings.get(plain.removesuffix("_tool"))
    )


def field_name(tool: str, name: str) -> str:
    """Return the only field of a tool that a name can mean, or else the name itself."""
    plain = plain_name(name)
    for field, others in TOOL_ROWS[tool].spelt.items():
        if plain == field or plain in others:
            return field
    return name


def is_reachable(tool: str, access: Access, phase: Phase) -> bool:
    """Return whether a phase shows and allows this tool; an unknown one is judged by its class."""
    row = TOOL_ROWS.get(tool)
    return row.is_shown_in(phase, access) if row else access in REACH[phase]
