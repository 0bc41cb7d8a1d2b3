"""Interpreters: a file of the workspace may run where changes may; inline text may not."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence

from flyball.shellcheck.judgement import Finding, Kind
from flyball.shellcheck.names import names
from flyball.shellcheck.programs.table import MUTATE, READ, TEXT, UNKNOWN, VERIFY, rule, table
from flyball.shellcheck.programs.task import task_kind
from flyball.shellcheck.programs.wrapper import script_finding
from flyball.shellcheck.rule import Inquiry, Rule, judge_words, parse
from flyball.shellcheck.word import Word

_LOADED = frozenset(("sys", "os", "site"))
"""Modules every Python has loaded before the workspace can put its own in their place."""

_SYS = names(
    "version version_info path executable platform prefix base_prefix byteorder maxsize argv "
    "getcwd name sep cpu_count getpid uname getrecursionlimit getdefaultencoding implementation "
    "getfilesystemencoding modules hexversion"
)
_CALLS = names("print len sorted list str repr type tuple set dict int float bool sum min max")
_METHODS = _SYS | names("join split strip format items keys values upper lower")


def inline_python(code: str) -> str:
    """What inline Python does: `nothing` risky, `imports` project code, or `anything`."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "anything"
    imported: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").partition(".")[0])
        elif not _is_plain(node):
            return "anything"
    return "nothing" if imported <= _LOADED else "imports"


_PLAIN_NODES = (
    ast.Module,
    ast.Expr,
    ast.Constant,
    ast.Name,
    ast.Load,
    ast.alias,
    ast.Pass,
    ast.Tuple,
    ast.List,
    ast.BinOp,
    ast.operator,
    ast.JoinedStr,
    ast.FormattedValue,
    ast.Subscript,
    ast.Slice,
    ast.UnaryOp,
    ast.unaryop,
    ast.Compare,
    ast.cmpop,
    ast.keyword,
    ast.Starred,
)


def _is_plain(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        called = node.func
        if isinstance(called, ast.Name):
            return called.id in _CALLS and not any(k.arg == "file" for k in node.keywords)
        return isinstance(called, ast.Attribute) and called.attr in _METHODS
    if isinstance(node, ast.Attribute):
        return (
            node.attr == "__version__" or node.attr == "__file__" or not node.attr.startswith("_")
        )
    return isinstance(node, _PLAIN_NODES)


_MODULES = {
    "pytest": "pytest",
    "unittest": "unittest",
    "mypy": "mypy",
    "ruff": "ruff",
    "black": "black",
    "isort": "isort",
    "flake8": "flake8",
    "pylint": "pylint",
    "pyright": "pyright",
    "pip": "pip",
    "tox": "tox",
    "nox": "nox",
    "coverage": "coverage",
    "bandit": "bandit",
    "vulture": "vulture",
    "pycodestyle": "pycodestyle",
    "pydocstyle": "pydocstyle",
    "pyflakes": "pyflakes",
    "poetry": "poetry",
    "uv": "uv",
    "twine": "twine",
    "pipdeptree": "cat",
    "pre_commit": "pre-commit",
    "mkdocs": "mkdocs",
    "sphinx": "sphinx-build",
}
_STDLIB = {
    "json.tool": (Kind.READ_ONLY, "prints JSON", ""),
    "site": (Kind.READ_ONLY, "shows where packages are", ""),
    "sysconfig": (Kind.READ_ONLY, "shows the build of Python", ""),
    "platform": (Kind.READ_ONLY, "shows the platform", ""),
    "this": (Kind.READ_ONLY, "prints a poem", ""),
    "calendar": (Kind.READ_ONLY, "prints a calendar", ""),
    "ast": (Kind.READ_ONLY, "prints a syntax tree", ""),
    "tokenize": (Kind.READ_ONLY, "prints tokens", ""),
    "dis": (Kind.READ_ONLY, "prints byte code", ""),
    "tabnanny": (Kind.VERIFICATION, "checks indentation", "syntax"),
    "py_compile": (Kind.VERIFICATION, "checks syntax", "syntax"),
    "compileall": (Kind.VERIFICATION, "checks syntax", "syntax"),
    "doctest": (Kind.VERIFICATION, "runs the tests in documentation", "tests"),
    "trace": (Kind.MUTATING, "runs a program", ""),
    "venv": (Kind.MUTATING, "makes an environment", ""),
    "virtualenv": (Kind.MUTATING, "makes an environment", ""),
    "build": (Kind.VERIFICATION, "builds the package", "build"),
    "http.server": (Kind.MUTATING, "starts a server", ""),
    "ensurepip": (Kind.MUTATING, "installs pip", ""),
}


def _python(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Python: `-m` by module, `-c` by its syntax tree, files as the workspace's own programs."""
    text = " ".join(word.source for word in words)
    parsed = parse(rule, words[1:], stop_at_operand=True)
    flags = {f for f, _ in parsed.flags}
    if parsed.doubtful or any(f not in rule.known and f not in rule.valued for f in flags):
        yield Finding(text, Kind.UNKNOWN, "an option of Python here is not understood")
    elif flags & {"-V", "--version", "-h", "--help", "-VV"}:
        yield Finding(text, Kind.READ_ONLY, "it shows its version")
    elif "-c" in flags:
        yield _inline(text, parsed.value("-c"))
    elif "-m" in flags:
        yield from _module(inquiry, text, parsed.value("-m"), parsed.operands)
    elif not parsed.operands:
        yield Finding(text, Kind.UNKNOWN, "it runs whatever it is fed")
    else:
        yield _script(inquiry, text, parsed.operands)


def _inline(text: str, code: Word | None) -> Finding:
    if code is None or code.value is None:
        return Finding(text, Kind.UNKNOWN, "the code is only known when it runs")
    does = inline_python(code.value)
    if does == "nothing":
        return Finding(text, Kind.READ_ONLY, "the code only prints")
    if does == "imports":
        return Finding(text, Kind.VERIFICATION, "the code imports and prints", proves="import")
    return Finding(text, Kind.UNKNOWN, "inline code can do anything; put it in a file and run that")


def _module(
    inquiry: Inquiry, text: str, module: Word | None, rest: Sequence[Word]
) -> Iterable[Finding]:
    name = module.value if module else None
    if name in _MODULES:
        program = Word(f"python -m {name}", _MODULES[name])
        for found in inquiry.command([program, *rest]):
            yield found._replace(text=text)
    elif name in _STDLIB:
        kind, does, proves = _STDLIB[name]
        writes = name == "json.tool" and len([w for w in rest if not w.known.startswith("-")]) > 1
        yield Finding(text, Kind.MUTATING if writes else kind, f"{name} {does}", proves=proves)
    elif name in ("zipfile", "tarfile"):
        lists = bool(rest) and rest[0].value in ("-l", "--list")
        yield Finding(
            text, Kind.READ_ONLY if lists else Kind.MUTATING, f"{name} handles an archive"
        )
    elif name is not None and re.fullmatch(r"[A-Za-z_][\w.]*", name):
        yield Finding(text, Kind.MUTATING, f"it runs the module {name}")
    else:
        yield Finding(text, Kind.UNKNOWN, "which module it runs is not known")


def _script(inquiry: Inquiry, text: str, operands: Sequence[Word]) -> Finding:
    found = script_finding(inquiry, text, operands[0])
    if (
        found.kind is Kind.MUTATING
        and operands[0].known.endswith("manage.py")
        and len(operands) > 1
    ):
        verb = operands[1].value or ""
        if verb in ("check", "showmigrations", "test", "diffsettings"):
            kind, proves = task_kind(verb if verb in ("test", "check") else "check")
            return found._replace(kind=kind, reason=f"it runs Django's {verb}", proves=proves)
    return found


def _node(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Node and its kin: version, syntax check, test runner, or a file."""
    text = " ".join(word.source for word in words)
    parsed = parse(rule, words[1:], stop_at_operand=True)
    flags = {f for f, _ in parsed.flags}
    if parsed.doubtful or any(f not in rule.known and f not in rule.valued for f in flags):
        yield Finding(text, Kind.UNKNOWN, f"an option of {words[0].source} here is not understood")
    elif flags & {"-v", "--version", "-version", "-V"} and not parsed.operands:
        yield Finding(text, Kind.READ_ONLY, "it shows its version")
    elif flags & {"--check", "-c", "-l"} and words[0].known in ("node", "ruby", "php"):
        yield Finding(text, Kind.VERIFICATION, "it only checks syntax", proves="syntax")
    elif "--test" in flags:
        yield Finding(text, Kind.VERIFICATION, "it runs the tests", proves="tests")
    elif not parsed.operands:
        yield Finding(text, Kind.UNKNOWN, "it runs whatever it is fed")
    else:
        yield script_finding(inquiry, text, parsed.operands[0])


_SELECT = re.compile(
    r"\s*(\.(tables|schema|databases|indexes|indices|fullschema|dbinfo|show)[\w \"%*]*|"
    r"(select|explain|with|values)\b[^;]*;?\s*|pragma\s+[\w.]+(\(\w+\))?;?\s*)",
    re.I,
)


def _sqlite(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """sqlite3: one question per word, none of which can write or run."""
    text = " ".join(word.source for word in words)
    parsed = parse(rule, words[1:])
    asks = parsed.operands[1:]
    risky = re.compile(
        r"writefile|load_extension|edit\s*\(|insert|update|delete|drop|replace|into", re.I
    )
    plain = all(w.value and _SELECT.fullmatch(w.value) and not risky.search(w.value) for w in asks)
    if asks and plain and not parsed.doubtful:
        yield from judge_words(inquiry, rule, words)
    else:
        yield Finding(text, Kind.UNKNOWN, "sqlite3 may change the database or run a program")


def _version_only(_inquiry: Inquiry, _rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Programs of which only the version is asked here."""
    text = " ".join(word.source for word in words)
    asks = ("--version", "-version", "version", "-v", "-V", "--help", "-h", "help")
    if len(words) == 2 and words[1].value in asks:
        yield Finding(text, Kind.READ_ONLY, f"{words[0].source} shows its version")
    else:
        yield Finding(
            text, Kind.UNKNOWN, f"what {words[0].source} does with these words is not known"
        )


_PYTHON_FLAGS = "-c -m -V -VV --version -h --help -B -u -s -S -E -I -b -q -O -OO -v -P"

INTERPRETERS = table(
    {
        "python python3 python2 pypy pypy3 py python3.8 python3.9 python3.10 python3.11 python3.12 "
        "python3.13 python3.14": rule(
            READ, "runs", valued="-c -m -W -X", known=_PYTHON_FLAGS, check=_python
        ),
        "ipython bpython": rule(UNKNOWN, "runs code"),
        "node nodejs": rule(
            READ,
            "runs",
            check=_node,
            known="-v --version --check -c --test "
            "--test-only --watch --no-warnings --experimental-vm-modules "
            "--experimental-test-coverage --trace-warnings --enable-source-maps",
        ),
        "deno": Rule(
            subcommands={
                "test": rule(VERIFY, "runs the tests", proves="tests", operands=TEXT),
                "check": rule(VERIFY, "checks types", proves="types"),
                "lint": rule(VERIFY, "lints", proves="lint", mutates="--fix"),
                "fmt": rule(MUTATE, "formats", spares="--check"),
                "info": rule(READ, "shows"),
                "task": rule(MUTATE, "runs a task"),
                "run": rule(MUTATE, "runs a program"),
            }
        ),
        "ruby": rule(READ, "runs", check=_node, known="-v --version -c -w", valued="-I"),
        "php": rule(READ, "runs", check=_node, known="-v --version -l -i -m"),
        "perl lua luajit Rscript julia elixir groovy scala kotlin tsx ts-node osascript tclsh "
        "guile "
        "racket": rule(READ, "runs", check=_node, known="-v --version -V"),
        "java": rule(READ, "runs", check=_node, known="-version --version", single=True),
        "sqlite3": rule(
            READ,
            "asks the database",
            check=_sqlite,
            valued="-separator -mode",
            runs="-cmd -init -vfs -A",
            single=True,
        ),
        "openssl gpg ffmpeg ffprobe convert magick pandoc latex pdflatex xelatex gs dot qemu "
        "wine R "
        "redis-server postgres mysqld mongod nginx apache2 httpd caddy rabbitmqctl supervisorctl "
        "elm crystal nim v solc forge hardhat truffle anvil cast starship zoxide direnv ghcup "
        "stylus "
        "emcc wasm-pack trunk bower grunt gulp yo code-server aider claude codex gemini ollama "
        "javap jshell jps jstack clojure erl iex gleam ocaml sml swipl": rule(
            UNKNOWN, "is known by its version only", check=_version_only
        ),
    }
)
