"""Languages that look alike: how they write comments, strings and blocks."""

from __future__ import annotations

import re
from enum import StrEnum

from flyball.regex import regex

LINE = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
LONG = r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\''
TRIPLE = r'"""(?:\\.|[^\\])*?"""|\'\'\'(?:\\.|[^\\])*?\'\'\''
BACKTICK = r"`(?:\\.|[^`\\])*`"
# A slash opens a pattern only where no value can stand before it; otherwise it divides.
PATTERN = (
    r"(?:(?<=[=(,:\[!&|?{};>])|(?<=[=(,:\[!&|?{};>] )|(?<=return ))"
    r"/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/\w*"
)
SLASHES = r"//[^\n]*|/\*.*?\*/"
# What an example must print is written as a comment, which is therefore none.
GO_OUTPUT = r"//[ \t]*(?i:(?:unordered )?output:)[^\n]*(?:\n[ \t]*//[^\n]*)*(?:\n|\Z)"
HASH = r"(?<![\w$&{\\])#(?!\[)[^\n]*"


class Family(StrEnum):
    """A group of languages that one set of styles reads."""

    JS = "js"
    GO = "go"
    RUST = "rust"
    C = "c"
    JAVA = "java"
    DOTNET = "dotnet"
    RUBY = "ruby"
    ELIXIR = "elixir"
    PHP = "php"
    SHELL = "shell"
    SWIFT = "swift"
    DART = "dart"
    PYTHON = "python"
    OTHER = "other"


EXTENSIONS = {
    **dict.fromkeys(
        [
            "js",
            "jsx",
            "ts",
            "tsx",
            "mjs",
            "cjs",
            "mts",
            "cts",
            "mtsx",
            "ctsx",
            "mjsx",
            "cjsx",
            "vue",
            "svelte",
        ],
        Family.JS,
    ),
    "go": Family.GO,
    "rs": Family.RUST,
    **dict.fromkeys(["c", "cc", "cpp", "cxx", "h", "hh", "hpp", "m", "mm", "ino"], Family.C),
    **dict.fromkeys(["java", "kt", "kts", "scala", "groovy"], Family.JAVA),
    **dict.fromkeys(("cs", "fs", "vb"), Family.DOTNET),
    "rb": Family.RUBY,
    **dict.fromkeys(("ex", "exs"), Family.ELIXIR),
    "php": Family.PHP,
    **dict.fromkeys(["sh", "bash", "bats", "zsh"], Family.SHELL),
    "swift": Family.SWIFT,
    "dart": Family.DART,
    "py": Family.PYTHON,
    **dict.fromkeys(
        ["lua", "pl", "t", "zig", "nim", "jl", "hs", "ml", "erl", "clj", "r"], Family.OTHER
    ),
}

LEXICAL = {
    Family.JS: (f"{LINE}|{BACKTICK}|{PATTERN}", SLASHES),
    Family.GO: (f"{LINE}|`[^`]*`|{GO_OUTPUT}", SLASHES),
    # A quote before a name is a lifetime, so only one character in quotes is a literal.
    Family.RUST: (
        r'r(?P<fence>#*)".*?"(?P=fence)|"(?:\\.|[^"\\])*"|\'(?:\\[^\n\']+|[^\'\\\n])\'',
        SLASHES,
    ),
    Family.C: (rf'R"\(.*?\)"|{LINE}', SLASHES),
    Family.JAVA: (f"{TRIPLE}|{LINE}|`[^`\n]*`", SLASHES),
    Family.DOTNET: (f'{TRIPLE}|@"(?:[^"]|"")*"|{LINE}', SLASHES),
    Family.RUBY: (LONG, rf"{HASH}|^=begin.*?^=end"),
    Family.ELIXIR: (f"{TRIPLE}|{LONG}", HASH),
    Family.PHP: (LONG, rf"{SLASHES}|{HASH}"),
    Family.SHELL: (LONG, r"(?:(?<=\s)|^)#[^\n]*"),
    Family.SWIFT: (f"{TRIPLE}|{LINE}", SLASHES),
    Family.DART: (f"{TRIPLE}|{LINE}", SLASHES),
    Family.PYTHON: (f"{TRIPLE}|{LINE}", r"#[^\n]*"),
    Family.OTHER: (LINE, rf"{SLASHES}|--[^\n]*|(?:(?<=\s)|^)#[^\n]*"),
}
TOKENS = {
    family: regex(f"(?P<string>{string})|(?P<comment>{comment})", re.DOTALL | re.MULTILINE)
    for family, (string, comment) in LEXICAL.items()
}


def family_of(path: str) -> Family | None:
    """The family of a file by its ending, or None where it is no code we know of."""
    return EXTENSIONS.get(path.rpartition("/")[2].rpartition(".")[2].lower())
