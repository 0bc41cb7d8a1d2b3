"""Programs that read files and text, including pagers, and how their options can be misused."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from flyball.shell.judgement import CommandKind, Finding
from flyball.shell.programs import awk, sed
from flyball.shell.rows import MUTATE, NAMES, READ, TEXT, UNKNOWN, rule, table
from flyball.shell.rule import (
    Inquiry,
    Operands,
    Rule,
    judge_words,
    parse,
    secret_among,
    secret_finding,
)
from flyball.shell.words.pattern import Pattern
from flyball.shell.words.word import Word

_PLACE = Pattern(r"\+\+?(\d+|[GgFp]|/[\w .-]+)")


def check_less(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge less: `+…` is its first command, which may start a program."""
    for word in words[1:]:
        if word.known.startswith("+") and not (word.value and _PLACE.fullmatch(word.value)):
            text = " ".join(w.source for w in words)
            yield Finding(text, CommandKind.UNKNOWN, f"{word.source} gives the pager a command")
            return
    yield from judge_words(inquiry, rule, words)


def check_file(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `file`, which can compile its tables."""
    parsed = parse(rule, words[1:])
    if any(flag == "-C" or flag.startswith("--c") for flag, _ in parsed.flags):
        text = " ".join(word.source for word in words)
        yield Finding(text, CommandKind.MUTATING, "file -C writes a compiled table")
    else:
        yield from judge_words(inquiry, rule, words)


def check_bat(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `bat cache`, which builds or clears its tables, with any options around it."""
    if any(word.value == "cache" for word in parse(rule, words[1:]).operands[:1]):
        text = " ".join(word.source for word in words)
        yield Finding(text, CommandKind.MUTATING, "bat cache changes the tables of bat", veto=True)
    else:
        yield from judge_words(inquiry, rule, words)


def check_cloc(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge cloc, which accepts one dash for two, and abbreviated names after either."""
    doubled = [w._replace(value=f"-{w.value}") for w in words if _ONE_DASH.match(w.value or "")]
    rest = [w for w in words if not _ONE_DASH.match(w.value or "")]
    yield from judge_words(inquiry, rule, [*rest[:1], *doubled, *rest[1:]])


_ONE_DASH = Pattern(r"-\w")
_IMPORTS = Pattern(r"\b(import|include)\b")
_CALLS_LOAD = Pattern(r"\bload\w*\s*\(")


def _loads(program: str) -> bool:
    """Return whether a filter imports a file, or loads one by a function."""
    parts = [part for part in re.split(r"[.|]", program) if '"' in part]
    named = [(part, match) for part in parts if (match := _IMPORTS.search(part))]
    return bool(_CALLS_LOAD.search(program)) or any('"' in p[m.end() :] for p, m in named)


def check_loading(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge a filter that can read files other than its operands."""
    text = " ".join(w.source for w in words)
    # These take a name and then a file.
    named = parse(rule, words[1:]).has("--rawfile", "--slurpfile")
    if odd := next((word for word in words[1:] if _loads(word.known)), None):
        yield Finding(text, CommandKind.UNKNOWN, f"{odd.source} loads another file")
    elif named and (hidden := secret_among(words[1:])):
        yield secret_finding(text, hidden)
    else:
        yield from judge_words(inquiry, rule, words)


def _yq(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge yq: a lone word is a file if one has that name, and an expression otherwise."""
    operands = parse(rule, words[1:]).operands
    if len(operands) == 1 and (hidden := secret_among(operands)):
        yield secret_finding(" ".join(w.source for w in words), hidden)
    else:
        yield from check_loading(inquiry, rule, words)


SECOND, PATTERN = Operands.SECOND, Operands.PATTERN

TEXTS = table(
    {
        "cat tac nl head tail wc rev cut paste tr fold fmt expand unexpand comm join cmp diff "
        "colordiff wdiff diffstat od hexdump hd column colrm pr look md5sum sha1sum "
        "sha224sum sha256sum sha384sum sha512sum b2sum cksum sum md5 shasum zcat bzcat xzcat "
        "zstdcat lz4cat gzcat zdiff zcmp gron csvlook csvcut csvgrep csvstat tsort ul tokei "
        "sloccount jless hexyl pipdeptree": rule(
            READ, "only reads", valued="-n -c -e -f -d -w -m -A -B -C"
        ),
        "diff3": rule(READ, "compares", runs="--diff-program", valued="-L --label"),
        "scc": rule(READ, "counts", writes="-o --output --format-multi", valued="-f --format -i"),
        "cloc": rule(
            READ,
            "counts",
            check=check_cloc,
            runs="--vcs --extract-with --config --read-lang-def --force-lang-def --strip-comments "
            "--original-dir --sdir",
            writes="--out --report-file --ignored --counted --found --categorized --sql "
            "--write-lang-def --save-lang-def --dump-lang-def",
            known="--count-and-diff --original --strip-str-comments --sum-one --sum-reports "
            "--force-lang --skip-uniqueness --show-lang --show-ext --no-recurse --exclude-dir "
            "--exclude-ext --exclude-lang --include-lang --include-ext --csv --json --yaml --xml "
            "--md --by-file --by-file-by-lang --quiet --git",
        ),
        "grep": rule(
            READ,
            "searches",
            operands=PATTERN,
            reads="-f --file --include --exclude-from",
            valued="-e -m -A -B -C --exclude",
        ),
        "egrep fgrep zgrep zegrep zfgrep bzgrep xzgrep": rule(
            READ,
            "searches",
            operands=PATTERN,
            reads="-f --file --include --exclude-from",
            valued="-e -m -A -B -C",
        ),
        "jq": rule(
            READ,
            "searches",
            operands=PATTERN,
            reads="-f --from-file --rawfile --slurpfile",
            valued="--arg --argjson --indent -L --library-path",
            check=check_loading,
        ),
        "nm readelf size strings addr2line c++filt": rule(READ, "dumps", runs="--plugin"),
        "test": rule(READ, "tests", operands=TEXT, runs="-v -R"),
        "echo true false : seq expr basename dirname sleep cal ncal factor uuidgen figlet lolcat "
        "fortune numfmt yes": rule(READ, "changes nothing", operands=TEXT),
        "printf": rule(READ, "prints", operands=TEXT, runs="-v"),
        "ls ll la dir vdir exa eza lsd stat realpath readlink pathchk namei getfacl lsattr": rule(
            READ, "lists", operands=NAMES
        ),
        "du df": rule(READ, "measures", operands=NAMES, reads="--files0-from"),
        "tree": rule(
            READ,
            "lists",
            operands=NAMES,
            writes="-o",
            mutates="-R",
            valued="-L -P -I",
            reads="--fromfile --fromtabfile --infofile --gitfile",
        ),
        "file": rule(
            READ,
            "looks at file types",
            operands=NAMES,
            reads="-f --files-from -m --magic-file",
            check=check_file,
        ),
        "sort": rule(
            READ,
            "sorts",
            writes="-o --output",
            runs="--compress-program",
            valued="-k -t -S -T --key --field-separator --buffer-size --parallel",
        ),
        "shuf": rule(READ, "shuffles", writes="-o --output", valued="-n -i --head-count"),
        "uniq": rule(READ, "filters lines", operands=SECOND, valued="-f -s -w"),
        "xxd": rule(
            READ, "dumps", operands=SECOND, valued="-c -g -l -o -s -len -cols", single=True
        ),
        "rg": rule(
            READ,
            "searches",
            operands=PATTERN,
            runs="--pre --hostname-bin",
            reads="-f --file -g --glob --iglob --ignore-file",
            valued="-e -t -T -A -B -C -m -r -E -j -M --type --regexp --max-count --context "
            "--replace --sort --max-depth --pre-glob",
            known="--pre-glob --pretty",
        ),
        "ag": rule(
            READ,
            "searches",
            operands=PATTERN,
            runs="--pager",
            valued="-A -B -C -m -G --ignore --depth",
        ),
        "ack": rule(
            READ,
            "searches",
            operands=PATTERN,
            runs="--pager --ackrc --create-ackrc",
            valued="-A -B -C -m --output",
        ),
        "fd fdfind": rule(
            READ,
            "finds files",
            operands=NAMES,
            runs="-x -X --exec --exec-batch",
            valued="-e -E -t -d -g -c -S -j --extension --exclude --type --max-depth --color",
            known="--exclude --extension",
        ),
        "locate plocate whereis": rule(READ, "finds names", operands=TEXT),
        "bat batcat": rule(
            READ,
            "shows",
            runs="--pager",
            valued="-l -r --language --line-range --style --theme --paging --color",
            known="--paging",
            check=check_bat,
        ),
        "less more most zless zmore": rule(
            READ,
            "shows",
            writes="-o -O --log-file --LOG-FILE",
            runs="-k --lesskey-file --lesskey-src --lesskey-content",
            valued="-p -x -j -h -b -P -T -y",
            check=check_less,
        ),
        "man info apropos whatis tldr": rule(
            READ,
            "shows documentation",
            runs="-P --pager -H --html -X --gxditview -T --troff-device -C --config-file -p "
            "--preprocessor -o --output -O --restore --init-file",
            valued="-s -S -M -L -m -e",
        ),
        "yq": rule(
            READ,
            "reads",
            operands=PATTERN,
            mutates="-i --inplace --in-place -s --split-exp --split-exp-file",
            reads="--from-file",
            valued="-p -o -I --input-format --output-format --arg",
            check=_yq,
        ),
        "base64 base32": rule(READ, "converts", writes="-o --output", valued="-w -i"),
        "iconv": rule(READ, "converts", writes="-o --output", valued="-f -t"),
        "xmllint": rule(
            READ,
            "reads, with what entities of the document may name",
            single=True,
            writes="--output -output -o",
            runs="--shell -shell",
            valued="--xpath --encode",
            reveals="-noent --noent -xinclude --xinclude -dtdload --dtdload -loaddtd --loaddtd "
            "-dtdattr --dtdattr -valid --valid -dtdvalid --dtdvalid -postvalid --postvalid "
            "-schema --schema -relaxng --relaxng",
        ),
        "sdiff": rule(READ, "compares", writes="-o --output", runs="--diff-program", valued="-w"),
        "objdump": rule(READ, "dumps", valued="-j -M -b -m", runs="--plugin"),
        "bc": rule(READ, "computes"),
        "sed gsed": rule(
            READ,
            "prints a changed copy",
            runs="-f --file",
            mutates="-i --in-place",
            valued="-e --expression -l --line-length",
            check=sed.check,
        ),
        "awk gawk mawk nawk": rule(
            READ,
            "prints",
            runs="-e --source -W -f --file -E --exec -l --load -i --include -D --debug",
            writes="-o --pretty-print -p --profile -d --dump-variables",
            valued="-F -v --field-separator --assign",
            check=awk.check,
        ),
        "tee sponge": rule(MUTATE, "writes", operands=Operands.WRITE),
        "fzf dc": rule(UNKNOWN, "can run other programs"),
        "ed ex pico micro subl view": rule(UNKNOWN, "is an editor that can run and write anything"),
    }
)
