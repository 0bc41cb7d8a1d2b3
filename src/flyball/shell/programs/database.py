"""Database clients: a query is harmless, everything else is not judged."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from flyball.shell.judgement import CommandKind, Finding
from flyball.shell.rows import READ, TEXT, UNKNOWN, rule, table
from flyball.shell.rule import Inquiry, Rule, judge_words, parse
from flyball.shell.words.names import names
from flyball.shell.words.pattern import Pattern
from flyball.shell.words.word import Word

_FUNCTIONS = names(
    "count sum min max avg length lower upper coalesce round abs date datetime now version substr "
    "distinct in exists values total typeof ifnull nullif cast strftime group_concat like and or "
    "not as on where from select by having over partition"
)
_QUESTION = Pattern(r"\s*(select|explain|with|values|show|describe|desc)\b[^;]*;?\s*", re.I)
_CHANGES = Pattern(
    r"\b(insert|update|delete|drop|alter|create|replace|into|copy|set|"
    r"pg_shadow|pg_authid|pg_user_mappings?|mysql\W{1,3}user|authentication_string)\b",
    re.I,
)
"""Words that change something, and tables of passwords."""
_PRAGMA = Pattern(
    r"\s*pragma\s+(\w+\.)?((table_x?info|index_list|index_x?info|foreign_key_list|foreign_key_check|"
    r"integrity_check|quick_check)(\(\w+\))?|user_version|schema_version|application_id|journal_mode|"
    r"foreign_keys|encoding|page_size|page_count|freelist_count|(database|collation|function|module|"
    r"pragma|table)_list|compile_options|cache_size|synchronous|auto_vacuum|data_version);?\s*",
    re.I,
)
_COVERED = Pattern(r"""/\*|--|#.*\n|["'`\]]\s*\(""")
"""A comment or quotes, behind which the name of a function may hide."""
_DOT = Pattern(r"\s*\.(tables|schema|databases|indexes|indices|fullschema|dbinfo|show)[\w \"%*]*")
_SLASH = Pattern(r"\s*\\(d[a-zA-Z]*\+?|l\+?|conninfo|dt|du)( [\w.*\"]+)?\s*")
_REDIS = names(
    "ping info get mget keys ttl pttl type exists llen lrange scard smembers hget hgetall hkeys "
    "hlen zcard zrange dbsize strlen scan memory time lastsave"
)


def asks_only(statement: str | None) -> bool:
    """Return whether a statement is a single query that calls only plain functions."""
    if statement is None:
        return False
    if _PRAGMA.fullmatch(statement) or _DOT.fullmatch(statement) or _SLASH.fullmatch(statement):
        return True
    if _COVERED.search(statement):
        return False
    called = re.findall(r"(\w+)\s*\(", statement)
    return (
        bool(_QUESTION.fullmatch(statement))
        and not _CHANGES.search(statement)
        and all(name.lower() in _FUNCTIONS for name in called)
    )


def _sqlite(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge sqlite3 FILE QUERY…."""
    parsed = parse(rule, words[1:])
    asked = parsed.operands[1:]
    yield _asked(inquiry, rule, words, asked)


def _client(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge psql -c QUERY, mysql -e QUERY, or a list of databases."""
    parsed = parse(rule, words[1:])
    asked = [
        value for flag, value in parsed.flags if flag in ("-c", "--command", "-e", "--execute")
    ]
    if parsed.has("-l", "--list") and not asked:
        yield judge_words(inquiry, rule, words)[0]
    else:
        yield _asked(inquiry, rule, words, [word for word in asked if word])


def _asked(inquiry: Inquiry, rule: Rule, words: Sequence[Word], asked: Sequence[Word]) -> Finding:
    if asked and all(asks_only(word.value) for word in asked):
        return judge_words(inquiry, rule, words)[0]
    text = " ".join(word.source for word in words)
    return Finding(text, CommandKind.UNKNOWN, f"{words[0].source} may change the database")


def _redis(_inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge redis-cli with a command that only reads."""
    text = " ".join(word.source for word in words)
    operands = parse(rule, words[1:]).operands
    verb = (operands[0].value or "").lower() if operands else ""
    if verb in _REDIS and (verb != "memory" or (operands[1].value or "").lower() == "usage"):
        yield Finding(text, CommandKind.READ_ONLY, "it only asks the database")
    else:
        yield Finding(text, CommandKind.UNKNOWN, "redis-cli may change the database")


DATABASES = table(
    {
        "sqlite3": rule(
            READ,
            "asks the database",
            operands=TEXT,
            check=_sqlite,
            valued="-separator -mode -nullvalue",
            runs="-cmd -init -vfs -A",
            single=True,
        ),
        "psql": rule(
            READ,
            "asks the database",
            operands=TEXT,
            check=_client,
            valued="-c --command -h -p -U -d -F --host --port --username --dbname",
            runs="-f --file -v --set --variable",
            writes="-o --output -L --log-file",
            known="--version --variable",
        ),
        "mysql mariadb": rule(
            READ,
            "asks the database",
            operands=TEXT,
            check=_client,
            valued="-e --execute -h -P -u -D --host --port --user --database",
            runs="--pager --init-command --plugin-dir --defaults-file --defaults-extra-file --tee",
        ),
        "redis-cli": rule(READ, "asks", check=_redis, valued="-h -p -n -a -u"),
        "mongo mongosh sqlcmd cqlsh clickhouse-client influx": rule(
            UNKNOWN, "can change a database"
        ),
    }
)
