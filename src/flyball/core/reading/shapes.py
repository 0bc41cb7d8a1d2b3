"""The shapes by which lines that a machine wrote are told from those of a person."""

from __future__ import annotations

TROUBLE_LINE = (
    r"^\s*(?:traceback \(most recent|file \"|at [\w$.<>]+[ (]"
    r"|caused by:|e {3}|npm err!|error(?:\[| ts|:)|fatal(?: error)?:"
    r"|panic:|goroutine \d|thread '|exception in thread|failed (?:tests?/"
    r"|test_|to compile)|[\w.]*(?:error|exception)(?::|\b.*:)"
    r"|segmentation fault|e[a-z]{6,} [\d:]|uncaught |error in \./"
    r"|module not found|get http\S+ \d{3}|\d{4}-\d\d-\d\d[ t]\d\d:\d\d.*(?:error"
    r"|fail)|note: run with|warning:|[\w./-]+\.\w+:\d+:\d+: )"
)
LOG_LINE = (
    r"^(?:\s*(?:\d{4}-\d\d-\d\d[ t]\d\d:\d\d|\d\d:\d\d:\d\d|\d+ failed, \d+ passed|.*\berr!"
    r"|\[(?:info|warn|warning|error|debug|trace)\]|[\w./-]+\.\w+:\d+|[\w./-]+\(\d+,\d+\)|[=-]+>"
    r"|.*git:\(|\d+ *\||\||\[[^\]]*\d\d:\d\d[^\]]*\]|\S*~\S* ?[$#%❯] |[✓✗✔✘❌⏭♻✨📊🔗⚠]|\^+|>"
    r"|#include|def \w+\(|assert |import \w+$|\$ )|(?:\t| {3,})\S)"
)
TROUBLE_SIGNS = (
    "error exception err! trace fatal panic goroutine thread failed fault uncaught found file"
)
TROUBLE_MARKS = "err fail exception fatal panic denied refused timeout ❌ ✗ ошибк"
PLAIN_WORD = r"[(\"'“«]*[^\W\d_]+(?:['/-][^\W\d_]+)*[)\"'”»,.;:!?…]*"
UNPARTED = (("\u3040", "\u30ff"), ("\u3400", "\u9fff"), ("\uac00", "\ud7af"))
"""Signs of scripts that do not part words; compiled as one class they would take milliseconds."""
