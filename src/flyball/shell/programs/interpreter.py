"""Interpreters: a workspace file may run where changes are allowed; inline text may not."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence

from flyball.shell.judgement import CommandKind, Finding
from flyball.shell.programs.wrapper import script_finding
from flyball.shell.rows import MUTATE, READ, TEXT, UNKNOWN, VERIFY, rule, table
from flyball.shell.rule import (
    Inquiry,
    Operands,
    Rule,
    judge_words,
    parse,
    secret_among,
    secret_finding,
)
from flyball.shell.task import task_kind
from flyball.shell.words.names import names
from flyball.shell.words.pattern import Pattern
from flyball.shell.words.place import secret, settings
from flyball.shell.words.word import Word, literal

_LOADED = frozenset(("sys", "os", "site"))
"""Modules every Python has loaded before the workspace can put its own in their place."""

_SYS = names(
    "version version_info path executable platform prefix base_prefix byteorder maxsize argv "
    "getcwd name sep cpu_count getpid uname getrecursionlimit getdefaultencoding implementation "
    "getfilesystemencoding modules hexversion"
)
_CALLS = names("print len sorted list str repr type tuple set dict int float bool sum min max")
_METHODS = _SYS | names(
    "join split splitlines strip format items keys values upper lower get load loads dumps parse "
    "dump read readlines startswith endswith count"
)


def inline_python(code: str) -> str:
    """Return what inline Python does: `nothing` risky, `imports` project code, or `anything`."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "anything"
    imported: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.alias) and (node.asname or node.name) in _CALLS | {"*"}:
            return "anything"
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
    ast.Assign,
    ast.Store,
)


def _is_plain(node: ast.AST) -> bool:
    if isinstance(node, ast.Assign):
        named = [target.id for target in node.targets if isinstance(target, ast.Name)]
        return len(named) == len(node.targets) and not {*named} & (_CALLS | {"open"})
    if isinstance(node, ast.Call):
        called = node.func
        if isinstance(called, ast.Name):
            if called.id == "open":
                return _only_opens(node)
            # A function given as a value may be called in turn: by `key=`, or by a class.
            constant = all(k.arg and isinstance(k.value, ast.Constant) for k in node.keywords)
            one = len(node.args) == 1 and not isinstance(node.args[0], ast.Starred)
            return called.id in _CALLS and constant and (called.id != "type" or one)
        return isinstance(called, ast.Attribute) and called.attr in _METHODS
    if isinstance(node, ast.Attribute):
        return (
            node.attr == "__version__" or node.attr == "__file__" or not node.attr.startswith("_")
        )
    return isinstance(node, _PLAIN_NODES)


def _only_opens(call: ast.Call) -> bool:
    """Return whether `open` is only called to read a file with a literal name that is not a
    secret."""
    texts = [each.value for each in call.args if isinstance(each, ast.Constant)]
    named = len(texts) == len(call.args) and all(isinstance(text, str) for text in texts)
    plain = all(k.arg == "encoding" for k in call.keywords)
    return (
        named
        and plain
        and texts[1:] in ([], ["r"], ["rb"])
        and bool(texts)
        and not (secret(str(texts[0])) or settings(str(texts[0])))
    )


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
    "site": (CommandKind.READ_ONLY, "shows where packages are", ""),
    "sysconfig": (CommandKind.READ_ONLY, "shows the build of Python", ""),
    "platform": (CommandKind.READ_ONLY, "shows the platform", ""),
    "this": (CommandKind.READ_ONLY, "prints a poem", ""),
    "calendar": (CommandKind.READ_ONLY, "prints a calendar", ""),
    "ast": (CommandKind.READ_ONLY, "prints a syntax tree", ""),
    "tokenize": (CommandKind.READ_ONLY, "prints tokens", ""),
    "dis": (CommandKind.READ_ONLY, "prints byte code", ""),
    "tabnanny": (CommandKind.VERIFICATION, "checks indentation", "syntax"),
    "py_compile": (CommandKind.VERIFICATION, "checks syntax", "syntax"),
    "compileall": (CommandKind.VERIFICATION, "checks syntax", "syntax"),
    "doctest": (CommandKind.VERIFICATION, "runs the tests in documentation", "tests"),
    "trace": (CommandKind.MUTATING, "runs a program", ""),
    "venv": (CommandKind.MUTATING, "makes an environment", ""),
    "virtualenv": (CommandKind.MUTATING, "makes an environment", ""),
    "build": (CommandKind.VERIFICATION, "builds the package", "build"),
    "http.server": (CommandKind.MUTATING, "starts a server", ""),
    "ensurepip": (CommandKind.MUTATING, "installs pip", ""),
}


_MODES = names(
    "dev importtime utf8 faulthandler tracemalloc showrefcount no_debug_ranges frozen_modules gil "
    "int_max_str_digits warn_default_encoding cpu_count"
)
"""What `-X` may ask for: how Python reports, not where it writes or what it loads."""


def _python(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge Python: `-m` by module, `-c` by its syntax tree, files as the workspace's own
    programs."""
    text = " ".join(word.source for word in words)
    own, mode, rest = _split(words[1:])
    given = parse(rule, own).flags
    flags = {flag for flag, _ in given}
    modes = [value.known if value else "" for flag, value in given if flag == "-X"]
    if any(flag not in rule.known and flag not in rule.valued for flag in flags) or not all(
        mode.partition("=")[0] in _MODES for mode in modes
    ):
        yield Finding(text, CommandKind.UNKNOWN, "an option of Python here is not understood")
    elif flags & {"-V", "--version", "-h", "--help"}:
        yield Finding(text, CommandKind.READ_ONLY, "it shows its version")
    elif mode == "c":
        yield _inline(text, rest[0] if rest else None)
    elif mode == "m":
        yield from _module(inquiry, text, rest[0] if rest else None, rest[1:])
    elif not rest:
        yield Finding(text, CommandKind.UNKNOWN, "it runs whatever it is fed", fed=True)
    else:
        yield _script(inquiry, text, rest)


def _split(words: Sequence[Word]) -> tuple[list[Word], str, list[Word]]:
    """Split into Python's own options, the way it gets its program (`c`, `m` or a file), and the
    rest."""
    own: list[Word] = []
    rest = list(words)
    while rest and rest[0].known.startswith("-") and rest[0].known != "-":
        word = rest.pop(0)
        match = re.fullmatch(r"-([A-Za-bd-ln-z]*)([cm])(.*)", word.known, re.S)
        if match and not set(match[1]) & {"W", "X"}:
            own.extend([literal("-" + match[1])] if match[1] else [])
            attached = [word._replace(value=match[3])] if match[3] and word.value else []
            return own, match[2], [*attached, *rest]
        own.append(word)
        if word.value in ("-W", "-X") and rest:
            own.append(rest.pop(0))
        if re.match(r"-W.*\.", "".join(each.known for each in own[-2:])):
            # The category of a warning is imported.
            return own, "", [literal("-"), *rest]
    return own, "", rest


def _inline(text: str, code: Word | None) -> Finding:
    if code is None or code.value is None:
        return Finding(text, CommandKind.UNKNOWN, "the code is only known when it runs")
    does = inline_python(code.value)
    if does == "nothing":
        return Finding(text, CommandKind.READ_ONLY, "the code only prints")
    if does == "imports":
        return Finding(
            text, CommandKind.VERIFICATION, "the code imports and prints", proves="import"
        )
    return Finding(
        text, CommandKind.UNKNOWN, "inline code can do anything; put it in a file and run that"
    )


_JSON = rule(READ, "prints JSON", operands=Operands.SECOND, valued="--indent")


def _module(
    inquiry: Inquiry, text: str, module: Word | None, rest: Sequence[Word]
) -> Iterable[Finding]:
    name = module.value if module else None
    if name in _MODULES:
        program = Word(f"python -m {name}", _MODULES[name])
        for found in inquiry.command([program, *rest]):
            yield found._replace(text=text)
    elif hidden := secret_among(rest):
        yield secret_finding(text, hidden)
    elif name == "json.tool":
        for found in judge_words(inquiry, _JSON, [literal("json.tool"), *rest]):
            yield found._replace(text=text)
    elif name in _STDLIB:
        kind, does, proves = _STDLIB[name]
        writes = name == "sysconfig" and bool(rest)
        yield Finding(
            text, CommandKind.MUTATING if writes else kind, f"{name} {does}", proves=proves
        )
    elif name in ("zipfile", "tarfile"):
        lists = bool(rest) and rest[0].value in ("-l", "--list")
        yield Finding(
            text,
            CommandKind.READ_ONLY if lists else CommandKind.MUTATING,
            f"{name} handles an archive",
        )
    elif name is not None and re.fullmatch(r"[A-Za-z_][\w.]*", name):
        yield Finding(text, CommandKind.MUTATING, f"it runs the module {name}")
    else:
        yield Finding(text, CommandKind.UNKNOWN, "which module it runs is not known")


def _script(inquiry: Inquiry, text: str, operands: Sequence[Word]) -> Finding:
    found = script_finding(inquiry, text, operands[0])
    if (
        found.kind is CommandKind.MUTATING
        and operands[0].known.endswith("manage.py")
        and len(operands) > 1
    ):
        verb = operands[1].value or ""
        if verb in ("check", "showmigrations", "test", "diffsettings"):
            kind, proves = task_kind(verb if verb in ("test", "check") else "check")
            return found._replace(kind=kind, reason=f"it runs Django's {verb}", proves=proves)
    return found


_NODE_PRINTS = Pattern(
    r"(console\.log\()?(process\.(version|versions(\.\w+)?|platform|arch|cwd\(\)|execPath)|"
    r"require\(['\"]\./[\w./-]+\.json['\"]\)(\.\w+)*|[\d+*/ .-]+)\)?;?"
)
_RUBY_PRINTS = Pattern(r"(puts|print|p) [A-Z_]+")
_FIELD = r"(?:\$F\[-?\d+\]|\"[\w ,.:;=\t-]*(?:\\[nt])?\")"
_PERL_FIELDS = rf"print {_FIELD}(?:, ?{_FIELD})*"
_PERL_FILTERS = Pattern(
    rf"{_PERL_FIELDS}|"
    r"print( if| unless) "
    r"/[\w\s.,:;=<>'^*+|\[\]-]*/i?|s/[\w\s.,:;=<>'^*+|\[\]-]*/[\w\s.,:;=<>-]*/g?i?"
)
_PRINTS = {
    "node": _NODE_PRINTS,
    "nodejs": _NODE_PRINTS,
    "ruby": _RUBY_PRINTS,
    "perl": _PERL_FILTERS,
}
"""Inline texts so plain that they can only print, per interpreter."""


_PERL_INLINE = names("-pe -ne -ane -lne -nle -lpe -ple -lane -lape -alne -anle")
_FILE = Pattern(r"-|\w|[\w./~][^|<>]*\w")


def _is_file(word: Word) -> bool:
    """Return whether a word can only be a file: perl runs or writes a name marked by `|` or `>`."""
    return word.value is not None and bool(_FILE.fullmatch(word.value))


def _other(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge other interpreters: version, syntax check, test runner, a plain print, or a file."""
    text = " ".join(word.source for word in words)
    program = words[0].source
    parsed = parse(rule, words[1:], stop_at_operand=True)
    flags = {flag for flag, _ in parsed.flags}
    inline = parsed.value("-e", "-p", "--eval", "--print", *_PERL_INLINE)
    if parsed.doubtful or any(f not in rule.known and f not in rule.valued for f in flags):
        yield Finding(text, CommandKind.UNKNOWN, f"an option of {program} here is not understood")
    elif hidden := secret_among([*([inline] if inline else []), *parsed.operands]):
        yield secret_finding(text, hidden)
    elif inline is not None:
        plain = _PRINTS.get(words[0].known)
        named = all(_is_file(word) for word in parsed.operands)
        if plain is not None and named and inline.value and plain.fullmatch(inline.value):
            yield Finding(text, CommandKind.READ_ONLY, "the code only prints")
        else:
            yield Finding(
                text, CommandKind.UNKNOWN, "inline code can do anything; put it in a file"
            )
    elif flags & _SHOWS and not parsed.operands:
        yield Finding(text, CommandKind.READ_ONLY, f"{program} only shows something about itself")
    elif flags & {"--check", "-c", "-l"}:
        yield Finding(text, CommandKind.VERIFICATION, "it only checks syntax", proves="syntax")
    elif "--test" in flags:
        yield Finding(text, CommandKind.VERIFICATION, "it runs the tests", proves="tests")
    elif not parsed.operands:
        yield Finding(text, CommandKind.UNKNOWN, "it runs whatever it is fed", fed=True)
    else:
        yield script_finding(inquiry, text, parsed.operands[0])


_SHOWS = names("-v --version -version -V -i -m --ini")


def _version_only(_inquiry: Inquiry, _rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Return a rule for programs that may only be asked for their version."""
    text = " ".join(word.source for word in words)
    lists = {"gpg": ("--list-keys", "-k"), "tmux": ("ls", "list-sessions")}.get(words[0].known, ())
    asks = ("--version", "-version", "version", "-v", "-V", "--help", *lists)
    if len(words) == 2 and words[1].value in asks:
        yield Finding(text, CommandKind.READ_ONLY, f"{words[0].source} shows its version")
    else:
        yield Finding(
            text, CommandKind.UNKNOWN, f"what {words[0].source} does with these words is not known"
        )


_PYTHON_FLAGS = "-c -m -V -VV --version -h --help -B -u -s -S -E -I -b -q -O -OO -v -P"

_VERSIONS = "-v --version -V -version"

INTERPRETERS = table(
    {
        "python python3 python2 pypy pypy3 py python3.8 python3.9 python3.10 python3.11 "
        "python3.12 python3.13 python3.14": rule(
            READ, "runs", valued="-W -X", known=_PYTHON_FLAGS, check=_python
        ),
        "ipython bpython": rule(UNKNOWN, "runs code"),
        "node nodejs": rule(
            READ,
            "runs",
            check=_other,
            valued="-e -p --eval --print",
            known="-v --version --check -c --test --test-only --watch --no-warnings "
            "--experimental-vm-modules --experimental-test-coverage --trace-warnings "
            "--enable-source-maps",
        ),
        "deno": Rule(
            subcommands={
                "test": rule(VERIFY, "runs the tests", proves="tests", operands=TEXT),
                "check": rule(VERIFY, "checks types", proves="types"),
                "lint": rule(VERIFY, "lints", proves="lint", mutates="--fix"),
                "fmt": rule(MUTATE, "formats", spares="--check"),
                "info": rule(VERIFY, "fetches what a module imports"),
                "task": rule(MUTATE, "runs a task"),
                "run": rule(MUTATE, "runs a program"),
            }
        ),
        "ruby": rule(READ, "runs", check=_other, known="-v --version -c -w", valued="-I -e"),
        "php": rule(READ, "runs", check=_other, known="-v --version -l -m --ini"),
        "perl": rule(
            READ,
            "runs",
            check=_other,
            known="-v --version -V",
            valued="-e " + " ".join(_PERL_INLINE),
            single=True,
        ),
        "java kotlin scala": rule(
            READ,
            "runs",
            check=_other,
            known=f"{_VERSIONS} -jar",
            valued="-cp -classpath",
            single=True,
        ),
        "lua luajit Rscript julia elixir groovy tsx ts-node osascript tclsh guile racket": rule(
            READ, "runs", check=_other, known=_VERSIONS
        ),
        "gpg ffmpeg convert magick pandoc latex pdflatex xelatex gs dot qemu wine R ssh tmux hub "
        "redis-server postgres mysqld mongod nginx apache2 httpd caddy rabbitmqctl supervisorctl "
        "elm crystal nim v solc forge hardhat truffle anvil cast starship zoxide direnv ghcup "
        "stylus emcc wasm-pack trunk bower grunt gulp yo code-server ollama jshell clojure erl "
        "iex gleam ocaml sml swipl virtualenv xcodebuild nmap vim nvim vi nano emacs code": rule(
            UNKNOWN, "is known by its version only", check=_version_only
        ),
    }
)
