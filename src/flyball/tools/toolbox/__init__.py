"""Every tool in one explicit list; to load only one tool, import its own module."""

from flyball.tools.bash import BASH
from flyball.tools.browser_console import BROWSER_CONSOLE
from flyball.tools.call.protocol import Tool
from flyball.tools.check import CHECK
from flyball.tools.checkpoint import APPEAL, CHECKPOINT, NOTE
from flyball.tools.conflict import CONFLICT
from flyball.tools.delete_file import DELETE_FILE
from flyball.tools.dev_server import (
    DEV_SERVER_LIST,
    DEV_SERVER_LOGS,
    DEV_SERVER_START,
    DEV_SERVER_STOP,
)
from flyball.tools.edit_diff import EDIT_DIFF
from flyball.tools.git import GIT
from flyball.tools.git_log import GIT_LOG
from flyball.tools.grep import GREP
from flyball.tools.http_probe import HTTP_PROBE
from flyball.tools.listing import LIST
from flyball.tools.localise_faults import LOCALISE_FAULTS
from flyball.tools.project import PROJECT
from flyball.tools.read import READ
from flyball.tools.suite import TEST
from flyball.tools.try_candidates import TRY_CANDIDATES
from flyball.tools.visual_qa import VISUAL_QA
from flyball.tools.write_file import WRITE_FILE

TOOLS: tuple[Tool, ...] = (
    READ,
    LIST,
    GREP,
    GIT_LOG,
    PROJECT,
    DEV_SERVER_LIST,
    DEV_SERVER_LOGS,
    CHECKPOINT,
    EDIT_DIFF,
    WRITE_FILE,
    DELETE_FILE,
    BASH,
    GIT,
    DEV_SERVER_START,
    DEV_SERVER_STOP,
    TEST,
    CHECK,
    HTTP_PROBE,
    BROWSER_CONSOLE,
    VISUAL_QA,
    LOCALISE_FAULTS,
    TRY_CANDIDATES,
    NOTE,
    APPEAL,
    CONFLICT,
)
