"""Find secrets by their context: in a field, a header, a URL, a command, a key file.

Each context has a word or character that it requires. Those are searched first, which is cheap, and
patterns run only on the lines around them.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator
from functools import lru_cache

from flyball.regex import regex
from flyball.workspace.redaction.judge import (
    hides,
    is_example,
    is_hollow,
    is_key_like,
    is_password,
    is_unspoken,
    is_weak_name,
    looks_random,
    looks_secret,
)

Spans = Iterator[tuple[int, int]]

_Q = r"\\{0,3}[\"'`]"
_NAME = r"(?P<name>[A-Za-z_][\w.\-]{0,80})"
_TEXT = (
    r"[bBrRuUfFLN@$]{0,2}(?:"
    r"\\{1,3}[\"'](?P<escaped>[^\"'\\\n]{4,4096}+)|"
    r"\"\"\"\s{0,8}(?P<long>[^\s\"]{6,4096})|\"(?P<double>(?:[^\"\\\n]|\\.){4,4096}+)|"
    r"'(?P<single>(?:[^'\\\n]|\\.){4,4096}+)|"
    r"`(?P<tick>[^`\n]{4,4096}+))"
)
_FIELD = regex(
    rf"(?<![\w.\-])-{{0,2}}{_NAME}(?:{_Q}\s{{0,4}}\]?|\])?"
    r"(?:[ \t]{0,4}:[ \t]{0,4}[&A-Za-z][\w\[\].|&<>' ]{0,40}?(?=[ \t]{0,4}=)|"
    r"[ \t]{1,4}(?:string|String|\*string|text|varchar)(?=[ \t]{1,4}=))?"
    r"[ \t]{0,40}(?:(?::=|=>|={1,3}|::?|<-|\?=|\|\|?|(?<=[\"']),(?=[ \t]{0,4}\\?[\"']))[*_]{0,2}"
    r"(?:[ \t]{0,40}(?:(?:!!\w{1,12}|&\w{1,40})[ \t]{1,4})?|\s{0,80}(?=[\"']))|"
    r"(?<=\w)[ \t]{1,4}(?=[\"']))"
    r"(?:(?:Some|Just|String::from|Secret\w{0,12}(?:::\w{1,12})?)\((?=[\"']))?"
    rf"(?:{_TEXT}|(?P<joined>[^;\s\"'<>(){{}}\[\]]{{6,1024}}(?=;))|"
    r"(?P<bare>[^\s\"'`,;<>(){}\[\]]{6,4096}+)(?![(\[]))"
)
_CALL = regex(rf"(?i)(?<![\w\-])(?P<name>[A-Za-z]\w{{2,60}})\(\s{{0,4}}{_TEXT}[\"'`]\s{{0,4}}\)")
_ENV = regex(
    r"(?m)^[ \t]{0,20}(?:(?:export|set|setx|ENV|ARG|-|-e|env)[ \t]{1,4})?"
    r"(?P<name>[A-Z_][A-Z0-9_]{2,80})=(?P<bare>[^\s\"'`$][^\s\"'`]{5,4096})"
)
_BLOCK = regex(
    rf"(?m)^[ \t\-]{{0,40}}{_Q}?(?P<name>[A-Za-z_][\w.\-]{{1,80}})(?:{_Q})?:[ \t]*[|>][+\-]?"
    r"[ \t]*\n"
    r"[ \t]+(?P<bare>\S{6,4096})[ \t]*$"
)
_FLAG = regex(
    r"(?<![\w\-])--?(?P<name>[A-Za-z][\w\-]{1,60})(?:[ \t]{1,4}|=|:)"
    rf"(?:{_TEXT}|(?P<bare>[^\s\"'`\-][^\s\"'`]{{5,1024}}))"
)
_ELEMENT = regex(
    r"<(?:\w{1,20}:)?(?P<name>[A-Za-z_][\w.\-]{1,60})(?:\s[^<>]{0,200})?>\s{0,40}(?:<!\[CDATA\[)?"
    r"(?P<double>[^<>\s](?:[^<>\]]|\](?!\]>)){2,4096}+)"
)
_LISTED = regex(
    r"<(?:key|name|id)>\s{0,9}(?P<name>[A-Za-z_][\w.\- ]{1,80})</\w{2,4}>\s{0,40}"
    r"<(?:string|value|data)>(?P<double>[^<>]{4,4096}+)"
)
_PAIR = regex(
    rf"(?i)(?<![A-Za-z])(?:name|key|id|field|variable|property|header|var){_Q}?[ \t]{{0,4}}[:=]"
    rf"[ \t]{{0,4}}(?:{_Q})?(?P<name>[A-Za-z_][\w.\-]{{1,80}})(?:{_Q})?"
    rf"(?:[ \t]serializeAs=\"\w{{1,20}}\">\s{{0,40}}<value)?[\s,;>\-]{{0,40}}(?:{_Q})?"
    r"(?:(?:value|val|content|default|plaintext|string)"
    rf"(?:{_Q})?[ \t]{{0,4}}[:=][ \t]{{0,4}}|(?<=>)(?=[^<\s]))"
    rf"(?:{_TEXT}|(?P<bare>[^\s\"'`<>\\,}}]{{6,4096}}))"
)
_VARIABLE = regex(
    r"variable[ \t]{1,4}\"(?P<name>[\w\-]{1,80})\"\s{0,9}\{\s{0,40}"
    r"(?:(?:type|description|sensitive)[ \t]{0,9}=[^\n]{0,200}\n\s{0,40}){0,3}"
    r"default[ \t]{0,9}=[ \t]{0,9}\"(?P<double>[^\"\n]{4,4096})"
)
_PART = regex(
    r"name=\"(?P<name>[A-Za-z_][\w.\-]{1,80})\"\r?\n(?:[\w\-]{1,40}:[^\n]{0,200}\n){0,3}\r?\n"
    r"(?P<double>[^\r\n]{4,4096})"
)
_SPACED = regex(
    r"(?P<name>[A-Za-z_][\w.\-]{0,80})[ \t]{1,4}(?P<bare>[\w+/\-]{20,4096}={0,2})(?![^\s\"',;.)\]])"
)
_ESCAPED = regex(r"(?P<name>\w{2,80})%(?:25)?3[Dd](?P<bare>[^\s%&\"'<>]{6,4096})")
_BEFORE = regex(
    rf"(?:value|Value)(?:{_Q})?[ \t]{{0,4}}[:=][ \t]{{0,4}}"
    rf"\"(?P<double>[^\"\n]{{4,512}})\"\s{{0,2}},\s{{0,40}}"
    rf"(?:{_Q})?(?:name|key|Name|Key)(?:{_Q})?[ \t]{{0,4}}[:=][ \t]{{0,4}}\""
    r"(?P<name>[A-Za-z_][\w.\-]{1,80})"
)
_LIST = regex(
    rf"(?:{_Q})?[ \t]{{0,4}}(?::|=)(?:[ \t]{{0,4}}\[\s{{0,40}}(?P<inline>[^\[\]{{}}]{{6,8192}})"
    r"|[ \t]{0,4}(?P<lines>(?:\r?\n[ \t]{0,40}-[ \t]{1,4}[^\s:]{1,4096}(?=\r?\n|\Z)){1,99}))"
)
_ITEM = regex(r"[^\s\"',\-][^\s\"',]{5,4096}")
_TEXT_KINDS = ("escaped", "long", "double", "single", "tick")

_HEADER = regex(
    r"(?i)(?P<open>[\"']?)(?<![\w\-])(?:proxy-)?authorization(?:\\{0,3}[\"'])?[ \t]{0,4}"
    r"(?:[:=,]|=>)[ \t\[]{0,4}(?:\\{0,3}(?P<quote>[\"']))?"
    r"(?:(?P<scheme>[A-Za-z][\w\-]{2,30})[ \t]{1,4})?(?P<rest>[^\s][^\r\n]{5,8192})"
)
_BEARER = regex(r"(?i)\b(?:bearer|ssws)(?:\s|%20|\+){1,4}(?P<value>[\w.~+/\-]{12,4096}={0,2})")
_COOKIES = regex(
    r"(?i)(?<![\w\-])(?:set-)?cookie2?(?:\\{0,3}[\"'])?[ \t]{0,4}(?:[:,]|=>)[ \t]{0,4}"
    r"(?:\\{0,3}[\"'])?(?P<rest>[^\r\n\"']{4,8192})"
)
_COOKIE = regex(r"(?:^|;)\s{0,4}(?P<name>[^\s=;]{1,128})=(?P<value>[^\s;\\]{6,4096})")
_PLAIN_COOKIES = frozenset(
    [
        "path",
        "domain",
        "expires",
        "max-age",
        "samesite",
        "priority",
        "version",
        "comment",
        "lang",
        "locale",
        "theme",
    ]
)
_ONE_WORD = frozenset(("bearer", "basic", "token", "apikey", "bot", "negotiate", "ntlm", "ssws"))
_PARAMETER = regex(r"\w{2,40}=[\w\"']")
_CREDENTIALS = regex(r"[\w.~+/:\-]{6,4096}={0,2}")
_QUERY = regex(
    r"[?&#;](?:amp;)?(?P<name>[A-Za-z_][\w.\-\[\]]{0,60})=(?P<value>[^\s&#\"'`<>\\,;(){}]{6,4096})"
)
_QUERY_KEYS = frozenset(
    [
        "sig",
        "signature",
        "x-amz-signature",
        "x-amz-credential",
        "x-goog-signature",
        "x-goog-credential",
        "x-amz-security-token",
        "awsaccesskeyid",
        "key",
        "auth",
        "code",
        "sid",
        "session",
        "sessionid",
        "hmac",
        "jwt",
        "sas",
        "state",
        "ticket",
        "assertion",
        "pass",
        "pw",
        "pin",
        "otp",
        "hash",
    ]
)
_USERINFO = regex(
    r"://(?P<user>[^\s:/@\"'<>?#]{0,256}):(?P<value>[^\s\"'<>@]{3,512}(?:@[^\s\"'<>@/.]{1,64})?)@"
    r"(?=[\w\[])|://(?P<alone>[^\s:/@\"'<>?#]{12,512})@(?=[\w\[])"
)
_NETRC = regex(
    r"\b(?:login|account|machine)\s{1,8}\S{1,128}\s{1,40}passw(?:or)?d\s{1,8}(?P<value>\S{3,256})"
)
_PGPASS = regex(
    r"(?m)^(?:[\w.\-]{1,128}|\*|/[\w./\-]{1,128}):(?:\d{4,5}|\*):(?:[A-Za-z_][\w\-]{0,63}|\*):"
    r"(?:[A-Za-z_][\w.@\-]{0,63}|\*):(?P<value>(?:[^\s:\\]|\\.){4,256})$"
)

_A = r"[ \t]{1,4}"
_O = r"[ \t]{0,4}"
_V = (
    r"(?:\"(?P<a>[^\"\n]{3,255})\"|'(?P<b>[^'\n]{3,255})'|"
    r"(?P<c>[^\s\"'|;&<>][^\s\"'|;&<>]{2,255}))"
)
_LOGIN = (
    rf"(?:-u|-U|-a|-A|-E|--user|--proxy-user|--auth|--cert){_O}=?"
    r"(?:\"[^\s:\"%]{1,128}[:%](?P<d>[^\"\n]{3,255})(?=\")|"
    r"'[^\s:'%]{1,128}[:%](?P<e>[^'\n]{3,255})(?=')|"
    rf"[\"']?[^\s:\"'%]{{1,128}}[:%]{_V})"
)
CLIENTS: tuple[tuple[str, str], ...] = (
    (
        "curl wget http https xh httpie ab smbclient rpcclient net siege hey wrk lftp etcdctl",
        _LOGIN,
    ),
    ("lftp", rf"-u{_O}[\"']?[^\s,\"']{{1,128}},{_V}"),
    (
        "mysql mysqldump mysqladmin mysqlimport mysqlsh mariadb mariadb-dump mycli 7z 7za rar",
        rf"(?<=\s)-p(?![ \t]){_V}",
    ),
    ("sshpass docker podman nerdctl buildah skopeo helm oras crane az", rf"(?<=\s)-p{_O}{_V}"),
    ("twine mongo mongosh mongodump mongorestore mongoexport cqlsh", rf"(?<=\s)-p{_O}{_V}"),
    ("evil-winrm rdesktop ncftpput ncftpget useradd usermod", rf"(?<=\s)-p{_A}{_V}"),
    (
        "sqlcmd bcp isql mosquitto_pub mosquitto_sub ipmitool unzip zip zipcloak hdbsql",
        rf"(?<=\s)-P{_O}{_V}",
    ),
    ("redis-cli keydb-cli valkey-cli nats", rf"(?<=\s)-a{_A}{_V}"),
    ("ldapsearch ldapmodify ldapadd ldapdelete ldapwhoami ldapcompare", rf"(?<=\s)-[wy]{_O}{_V}"),
    ("snmpwalk snmpget snmpset snmpbulkwalk", rf"(?<=\s)-[AX]{_O}{_V}"),
    ("openssl", rf"(?<=\s)(?:-k{_A}|-(?:pass|passin|passout){_A}pass:){_V}"),
    ("keytool jarsigner", rf"-(?:(?:src|dest)?storepass|keypass|new){_A}{_V}"),
    ("xfreerdp wfreerdp", rf"/p:{_V}"),
    ("sqlplus rman expdp impdp exp imp", rf"(?<=\s)[\w$#]{{1,30}}/{_V}(?=@)"),
    ("htpasswd", rf"-\w{{0,6}}b\w{{0,6}}{_A}\S{{1,200}}{_A}\S{{1,80}}{_A}{_V}"),
    ("vault", rf"login{_A}(?!-){_V}"),
    ("nmcli wpa_passphrase", rf"(?:password|psk|wpa_passphrase{_A}\S{{1,64}}){_A}{_V}"),
    (
        "aws npm git yarn pnpm poetry pip gcloud heroku",
        (
            rf"(?:[\w./:\-]{{1,80}}(?:secret_access_key|session_token|_authToken|_?password|token)"
            rf"|http-basic\.\S{{1,40}}{_A}\S{{1,80}}){_A}{_V}"
        ),
    ),
    (
        "net",
        (
            rf"use{_A}(?:\S{{1,2}}{_A})?[\"']?[\\/]{{2}}\S{{1,200}}{_A}"
            rf"(?:/\S{{1,80}}{_A}){{0,3}}(?![/*]){_V}"
        ),
    ),
    ("chpasswd", rf"<<<{_O}[\"']?[\w\-]{{1,40}}:{_V}"),
    ("rclone", rf"obscure{_A}{_V}"),
    ("mc", rf"alias{_A}set{_A}\S{{1,80}}{_A}\S{{1,200}}{_A}\S{{1,128}}{_A}{_V}"),
    ("gpg gpg2", rf"--passphrase{_A}{_V}"),
    ("ssh-keygen", rf"(?<=\s)-[NP]{_A}{_V}"),
    ("kinit", rf"<<<{_O}{_V}"),
    ("kubeadm", rf"--token{_A}{_V}"),
    ("bw", rf"unlock{_A}(?!-){_V}"),
    ("rabbitmqctl", rf"(?:add_user|change_password){_A}\S{{1,80}}{_A}{_V}"),
    ("mysqladmin", rf"(?<=\s)password{_A}(?!-){_V}"),
    ("rootpw", rf"(?<=rootpw){_A}(?!-){_V}"),
    ("d-i", rf"passwd/\S{{1,80}}{_A}password{_A}{_V}"),
)
"""Clients, and the position of a password in their arguments."""

_LOGINS_ONLY = frozenset(
    ("docker", "podman", "nerdctl", "buildah", "skopeo", "helm", "oras", "crane", "az")
)
_PIPED = regex(
    r"(?:echo|printf)[ \t]{1,4}(?:-\w{1,3}[ \t]{1,4})?[\"']?(?:[\w\-]{1,40}:)?"
    r"(?P<value>[^\s\"'|;&<>$]{4,256})[\"']?[ \t]{0,4}\|[ \t]{0,4}"
    r"(?:sudo[ \t]{1,4}-S|[^|\n]{0,80}(?:--password-stdin|--with-token|chpasswd|--stdin))"
    r"|--(?:key|pass)[\w\-]{0,20}[= ]<\((?:echo|printf)[ \t]{1,4}[\"']?"
    r"(?P<made>[^\s\"'|;&<>$()]{4,256})"
)

_BEGIN = regex(r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_END = regex(r"-----END (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_GAP = r"(?:[\s\"'`,+|>*#;]|-(?!-)|\\[nrt\\]?){0,64}"
_BODY = regex(
    rf"(?:{_GAP}[A-Za-z0-9+/]{{1,15}}(?=\s*(?:\\n)?(?:-|\Z)|\n))?+"
    rf"(?:{_GAP}(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): [^\n\\]{{0,200}}|"
    r"[A-Za-z0-9+/]{16,8192}={0,3}|[A-Za-z0-9+/]{1,15}={1,3}|"
    r"[A-Za-z0-9+/]{1,15}(?=\s*(?:\\n)?-----E))"
    r"(?=[\s\"'`,+|\\]|-----|\Z))*+(?:\s|\\n)*"
)
_BODY_STARTS = tuple(
    regex(rf"{first}(?<![A-Za-z0-9+/=].){rest}[A-Za-z0-9+/]{{16,}}")
    for first, rest in (
        ("M", "[A-P][A-Za-z0-9+/]{0,4}(?:IBA|CAQ|gEA|AgE|AgB)"),
        ("b", "3BlbnNzaC1rZXktdjE"),
    )
)
_PUTTY = regex(r"Private-Lines: \d{1,3}\s{1,2}(?P<value>(?:[A-Za-z0-9+/=]{4,64}\s{1,2}){1,200})")


def context_spans(text: str) -> Spans:
    """Return the spans of secrets found by context."""
    # Positions in the lower-case text must match those in the original.
    lower = text.lower()
    if len(lower) != len(text):
        lower = text.encode("ascii", "replace").decode().lower()
    yield from _fields(text, lower)
    if "kind" in text and "Secret" in text:
        yield from _manifests(text)
    for marks, read in _READERS:
        for first, last in _regions(text, lower, marks):
            yield from read(text, first, last)
    yield from key_blocks(text)


def _regions(text: str, lower: str, marks: tuple[str, ...]) -> Spans:
    """Return the parts of a text near a mark: a few lines, however long they are."""
    near: list[tuple[int, int]] = []
    for mark in marks:
        at = lower.find(mark)
        while at >= 0:
            first = max(text.rfind("\n", max(0, at - 512), at) + 1, at - 512, 0)
            last = at + len(mark)
            for _ in range(3):
                found = text.find("\n", last, at + 6000)
                last = found + 1 if found >= 0 else min(at + 6000, len(text))
            last = _word_end(text, last)
            near.append((first, last))
            at = lower.find(mark, last)
    end = 0
    for first, last in sorted(near):
        if last > end:
            yield max(first, end) if first < end else first, last
            end = last


_SPACE = regex(r"\s")


def _word_end(text: str, at: int) -> int:
    if at and text[at - 1 : at].isspace():
        return at
    found = _SPACE.search(text, at)
    return found.start() if found else len(text)


def _value(match: re.Match[str]) -> tuple[str, bool]:
    """Return the group that holds the value, and whether it is quoted."""
    kind = match.lastgroup or ""
    return kind, kind in _TEXT_KINDS


def _fields(text: str, lower: str) -> Spans:
    """Return the values of fields whose names indicate secrets."""
    hidden = 0
    for start, end in _secret_names(text, lower):
        if start < hidden:
            continue
        if span := _said(text, start, end):
            yield span
            hidden = span[1]
            continue
        if not (text[start] == "-" or text[start - 1 : start] in "<:" or _OPENING.match(text, end)):
            continue
        for pattern, match in _fields_named(text, start, end):
            span = _field_value(pattern, match)
            if span and span[1] > hidden:
                yield span
                hidden = span[1]
        for item in _items(text, end):
            if looks_random(text[slice(*item)]):
                yield item


_SAID = regex(
    r"[ \t]{1,4}(?:is|was|are|to)[ \t]{1,4}(?:now[ \t]{1,4})?[\"'`]?"
    r"(?P<value>[^\s\"'`,;<>(){}\[\]]{6,4096})(?<![.?:!])"
)
_MIXED = regex(r"(?=\w*[a-z])(?=\w*[A-Z])(?=\w*\d)[\w\-]{12,}")
_METHOD = regex(
    r"(?i)(?:base|sha|md|utf|argon|pbkdf|oauth|x|[reh]s|aes|ed|http|tls|v|step|test)[\-_]?\d[\w.:\-]{0,9}"
)
"""How a secret is kept, or one of several, and not the secret: `base64`, `argon2id`."""


def _said(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return the span of a value that a sentence assigns to a secret's name."""
    if not (match := _SAID.match(text, end)):
        return None
    name, value = text[start:end], match["value"]
    if "::" in value or _METHOD.fullmatch(value) or is_hollow(value):
        return None
    if is_password(name):
        told = any(map(str.isdigit, value)) and hides(name, value, quoted=False)
    else:
        told = looks_random(value) or (is_key_like(name) and bool(_MIXED.fullmatch(value)))
    return match.span("value") if told else None


def _secret_names(text: str, lower: str) -> Spans:
    """Return the names of secrets in a text, in order."""
    marked: set[int] = set()
    for mark in _NAME_MARKS:
        at = lower.find(mark)
        while at >= 0:
            marked.add(at)
            at = lower.find(mark, at + len(mark))
    end = 0
    for at in sorted(marked):
        if at < end:
            continue
        before = text[max(end, at - _LONGEST_NAME) : at]
        start = at - len(before) + len(before.rstrip(_IN_NAMES))
        found = _NAME_END.search(text, at)
        end = found.start() if found else len(text)
        if _is_secret_name(text[start:end]):
            yield start, end


def _fields_named(
    text: str, start: int, end: int
) -> Iterator[tuple[re.Pattern[str], re.Match[str]]]:
    """Yield the fields of all forms whose name is the word at a position."""
    before, after = text[start - 1 : start], text[end : end + 1]
    places = [(_FIELD, start), (_SPACED, start)]
    if after == "(":
        places.append((_CALL, text.rfind(".", start, end) + 1 or start))
    elif after == "%":
        places.append((_ESCAPED, start))
    if text[start] == "-":
        places.append((_FLAG, start))
    if after in _AFTER_LINE_NAMES:
        line = text.rfind("\n", max(0, start - 48), start) + 1
        places += [(_ENV, line), (_BLOCK, line)]
    opened = text.rfind("<", max(0, start - 64), start)
    if opened >= 0:
        places += [(_ELEMENT, opened), (_LISTED, opened)]
    if before in _BEFORE_NAMES and (label := _PAIR_HEAD.search(text[max(0, start - 32) : start])):
        places.append((_PAIR, max(0, start - 32) + label.start()))
    if before == '"':
        places += [(_VARIABLE, start - len('variable "')), (_PART, start - len('name="'))]
    for pattern, at in places:
        if at >= 0 and (match := pattern.match(text, at)):
            yield pattern, match


def _items(text: str, end: int) -> Spans:
    """Return the items of the list that follows a name."""
    if found := _LIST.match(text, end):
        for item in _ITEM.finditer(text, *found.span(found.lastgroup or "")):
            yield item.span()


def _field_value(pattern: re.Pattern[str], match: re.Match[str]) -> tuple[int, int] | None:
    """Return the span of a field's value, if it must be hidden."""
    text, name = match.string, match["name"]
    kind, quoted = _value(match)
    start, end = match.span(kind)
    if not _is_secret_name(name) or _is_status(name, match, kind):
        return None
    between = text[match.end("name") : start]
    # What follows a name in a list or a table is seldom its value, and in a sentence even less.
    is_listed = (quoted and "," in between) or between.strip(" \t`*_\"'") == "|"
    is_loose = (is_listed and not is_password(name)) or pattern is _SPACED
    if is_loose and not looks_random(text[start:end]):
        return None
    if kind in ("bare", "joined") and (more := _NEXT_FIELD.search(text, start, end)):
        end = more.start()
    value = text[start:end]
    # A variable of the environment is given a password; code may name a type or a field instead.
    if between == "=" and name.isupper() and is_password(name) and value.isalpha():
        return None if is_example(value) else (start, end)
    return (start, end) if _hides(name, value, pattern, quoted) else None


@lru_cache(4096)
def _is_secret_name(name: str) -> bool:
    return is_key_like(name) or is_weak_name(name)


_NAME_MARKS = (
    *("pass", "pwd", "secret", "token", "key", "cred", "auth", "_pat", "-pat", "jwt"),
    *("psk", "session", "cookie", "signature", "hmac", "mnemonic", "sid", "sessid", "sonar"),
    *("verifier", "assertion", "samlresp", "device_code", "device-code", "devicecode"),
)
"""Texts of which every name of a secret contains one."""
_LONGEST_NAME = 84
_IN_NAMES = string.ascii_letters + string.digits + "_.-"
_BEFORE_NAMES = frozenset(" \t:=\"'`")
_AFTER_LINE_NAMES = frozenset("=:\"'`")
_OPENING = regex(r"[ \t]{0,40}(?:[\"'`\\:=|<>,?(%\[\]&\r\n]|[\w+/\-]{20})")
"""What follows a name that has a value."""
_NAME_END = regex(r"[^\w.\-]")
_PAIR_HEAD = regex(
    rf"(?i)(?<![A-Za-z])(?:name|key|id|field|variable|property|header|var)(?:{_Q})?[ \t]{{0,4}}"
    rf"[:=][ \t]{{0,4}}(?:{_Q})?\Z"
)
_NEXT_FIELD = regex(r"&(?:amp;)?[\w.\-]{1,40}=|\\[nrt\"']")


def _hides(name: str, value: str, pattern: re.Pattern[str], quoted: bool) -> bool:
    if pattern in (_ELEMENT, _LISTED) and is_password(name):
        is_word = value.isalpha() and not (len(value) >= 10 and is_unspoken(value))
        return not any(map(str.isspace, value)) and not is_example(value) and not is_word
    return hides(name, value, quoted=quoted)


def _is_status(name: str, match: re.Match[str], kind: str) -> bool:
    """Return whether it is a test result, such as `PASS: TestAddr2Line`, rather than a password."""
    if name.lower() != "pass" or kind != "bare":
        return False
    between = match.string[match.end("name") : match.start(kind)]
    return "=" not in between and (name != "pass" or between[-1:].isspace())


def _headers(text: str, first: int, last: int) -> Spans:
    for match in _HEADER.finditer(text, first, last):
        start, end = match.span("rest")
        for quote in (match["open"], match["quote"]):
            if quote and (closed := text.find(quote, start, end)) >= 0:
                end = closed
        rest = text[start:end]
        if not match["scheme"]:
            if len(rest) < 16 or not looks_secret(rest, quoted=False):
                continue
        elif match["scheme"].lower() in _ONE_WORD and not _PARAMETER.match(rest):
            word = _CREDENTIALS.match(rest)
            end = start + (word.end() if word else 0)
            if is_example(text[start:end]) or (text[start:end].isalpha() and end - start < 12):
                continue
        elif not ("=" in rest or looks_secret(rest.strip("'\""), quoted=False)):
            continue
        if end - start >= 6:
            yield start, end
    for match in _BEARER.finditer(text, first, last):
        value = match["value"]
        if looks_secret(value, quoted=True) or (value.isalnum() and not value.isalpha()):
            yield match.span("value")


def _cookies(text: str, first: int, last: int) -> Spans:
    for match in _COOKIES.finditer(text, first, last):
        base = match.start("rest")
        for cookie in _COOKIE.finditer(match["rest"]):
            plain = cookie["name"].lower() in _PLAIN_COOKIES
            if not plain and not is_hollow(cookie["value"]):
                yield base + cookie.start("value"), base + cookie.end("value")


def _queries(text: str, first: int, last: int) -> Spans:
    for match in _QUERY.finditer(text, first, last):
        name, value = match["name"].lower(), match["value"]
        if is_key_like(match["name"]):
            is_chosen = is_password(name) and value.isalpha() and not is_example(value)
            if is_chosen or looks_secret(value, quoted=True):
                yield match.span("value")
        elif name in _QUERY_KEYS and not is_hollow(value):
            signed = "sig" in name and len(value) >= 16
            mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
            if mixed and (signed or len(value) >= 20 or looks_random(value)):
                yield match.span("value")


def address_spans(text: str, first: int, last: int) -> Spans:
    """Return the spans of passwords in URLs."""
    for match in _USERINFO.finditer(text, first, last):
        if match["alone"]:
            if looks_secret(match["alone"], quoted=False):
                yield match.span("alone")
        elif not is_example(match["value"]):
            yield match.span("value")


def _files(text: str, first: int, last: int) -> Spans:
    for match in _NETRC.finditer(text, first, last):
        if not is_example(match["value"]):
            yield match.span("value")


_STATEMENT = regex(
    r"(?i)identified[ \t]{1,4}(?:with[ \t]{1,4}\S{1,40}[ \t]{1,4})?by[ \t]{1,4}"
    r"(?:password[ \t]{1,4})?[\"'](?P<value>[^\"'\n]{4,256})"
    r"|jdbc:oracle:\w{1,8}:[\w$#]{1,30}/(?P<thin>[^@\s]{3,128})(?=@)"
    r"|password[ \t](?:(?:is|was)[ \t]generated[ \t])?for[ \t]\S{1,80}:[ \t](?P<told>\S{6,128})"
    r"|api[ _\-]key(?:[ \t]is)?:?[ \t](?P<hex>[0-9a-f]{32,128})(?!\w)"
    r"|assword:?[\"'}\s;]{1,8}send[ \t]{1,4}\"(?P<sent>[^\"\\\n]{4,128})"
    r"|(?:unseal|recovery)[ \t]key[ \t]\d{1,2}:[ \t](?P<seal>\S{20,128})"
    r"|snmp-server[ \t]community[ \t](?P<community>\S{4,64})"
    r"|(?:password|secret)[ \t]\d[ \t](?P<router>(?=\S{0,40}\d)\S{8,128})"
    r"|(?:mnemonic|(?:seed|recovery)[ _\-]?phrase)[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?"
    r"(?P<words>(?:[a-z]{3,8}[ ]){11,23}[a-z]{3,8})"
)


_STATEMENT_MARKS = (
    *("identified", "jdbc:oracle", "password", "secret", "api key", "api-key", "api_key"),
    *("snmp-server", "mnemonic", "phrase", "unseal key", "recovery key"),
)
_JWK = regex(r"\"(?:d|k|p|q|dp|dq|qi)\"\s{0,9}:\s{0,9}\"(?P<value>[\w\-]{20,4096})\"")


def _json_web_keys(text: str, first: int, last: int) -> Spans:
    for match in _JWK.finditer(text, first, last):
        yield match.span("value")


_SIGNATURE = regex(
    r"(?i)(?<![\w\-])[a-z][\w\-]{1,40}-signature(?:-\d{1,3})?[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?"
    r"(?:t=\d{6,12},)?(?:\w{1,8}=)?(?P<hex>[0-9a-f]{40,1024})(?!\w)"
    r"|aws4-hmac-[^\n]{0,400}[ ,]signature=(?P<aws>[0-9a-f]{64})(?!\w)"
    r"|(?:digest[^\n]{0,400}[ ,]|(?<![\w\-]))response=[\"']?(?P<digest>[0-9a-f]{32,64})(?!\w)"
)


def _signatures(text: str, first: int, last: int) -> Spans:
    """Return the values that sign a request: of a header or a query, or in answer to a digest."""
    for match in _SIGNATURE.finditer(text, first, last):
        yield match.span(match.lastgroup or "")


def _statements(text: str, first: int, last: int) -> Spans:
    for match in _STATEMENT.finditer(text, first, last):
        kind = match.lastgroup or ""
        is_word = kind == "told" and not looks_secret(match[kind], quoted=True)
        if not is_word and not is_example(match[kind]):
            yield match.span(kind)


def _named_after(text: str, first: int, last: int) -> Spans:
    for match in _BEFORE.finditer(text, first, last):
        if hides(match["name"], match["double"], quoted=True):
            yield match.span("double")


_MANIFEST = regex(
    r"(?m)^(?P<in>[ \t]{0,20})(?:data|stringData):[ \t]{0,9}\r?\n"
    r"(?P<lines>(?:(?P=in)[ \t]{1,20}\S[^\n]{0,8192}(?:\n|\Z)){1,200})"
    r"|\"(?:data|stringData)\"[ \t]{0,4}:[ \t]{0,4}\{(?P<object>[^{}]{4,65536})\}"
)
_ENTRY = regex(r":[ \t]{0,9}[\"']?(?P<value>[^\s\"',|>\[{][^\s\"',]{3,8192})")


def _manifests(text: str) -> Spans:
    """Return the values in Kubernetes Secrets, under any names."""
    if not _SECRET_KIND.search(text):
        return
    first = 0
    while first < len(text):
        last = text.find("\n---", first + 1)
        last = last if last >= 0 else len(text)
        if _SECRET_KIND.search(text, first, last):
            for found in _MANIFEST.finditer(text, first, last):
                for entry in _ENTRY.finditer(text, *found.span(found.lastgroup or "")):
                    yield entry.span("value")
        first = last


_SECRET_KIND = regex(r"(?m)(?:^[ \t]{0,20}|\"|[{,][ \t]{0,4})kind\"?:[ \t]{0,4}\"?Secret(?![\w\-])")


def _pgpass(text: str, first: int, last: int) -> Spans:
    for match in _PGPASS.finditer(text, first, last):
        value = match["value"]
        if not is_example(value) and (not value.isalpha() or len(value) > 12):
            yield match.span("value")


def _commands(text: str, first: int, last: int) -> Spans:
    for match in _client_pattern().finditer(text, first, last):
        end = _COMMAND_END.search(text, match.end(), last)
        limit = end.start() if end else last
        words = text[match.start() : limit]
        tool = match[0]
        if tool in _LOGINS_ONLY and "login" not in words:
            continue
        for pattern in _options()[tool]:
            for found in pattern.finditer(text, match.start(), limit):
                kind = found.lastgroup or ""
                if not is_hollow(found[kind]) and not found[kind].startswith("-"):
                    yield found.span(kind)
    for match in _PIPED.finditer(text, first, last):
        yield match.span(match.lastgroup or "")


_COMMAND_END = regex(r"(?<!\\)\n|[ \t](?:\|\||&&|\|)[ \t]|;[ \t\n]")
_OPTIONS: dict[str, list[re.Pattern[str]]] = {}
_TOOLS: list[re.Pattern[str]] = []


def _options() -> dict[str, list[re.Pattern[str]]]:
    if not _OPTIONS:
        for tools, option in CLIENTS:
            for tool in tools.split():
                _OPTIONS.setdefault(tool, []).append(regex(option))
    return _OPTIONS


def _client_pattern() -> re.Pattern[str]:
    if not _TOOLS:
        names = "|".join(re.escape(each) for each in sorted(_options(), key=len, reverse=True))
        _TOOLS.append(re.compile(rf"(?<![\w.\-])(?:{names})(?=[ \t])"))
    return _TOOLS[0]


def key_blocks(text: str) -> Spans:
    """Return the spans of private keys: complete, truncated, or without their first line."""
    if "PRIVATE KEY" in text:
        for begin in _BEGIN.finditer(text):
            body = _BODY.match(text, begin.end())
            last = body.end() if body else begin.end()
            end = _END.match(text, last)
            if end or text[begin.end() : last].strip():
                yield begin.start(), end.end() if end else last
        for end in _END.finditer(text):
            yield from _body_before(text, end.start())
    for pattern in _BODY_STARTS:
        for begin in pattern.finditer(text):
            body = _BODY.match(text, begin.start())
            yield begin.start(), body.end() if body else begin.end()
    if "Private-Lines" in text:
        for match in _PUTTY.finditer(text):
            yield match.span("value")


_REST = regex(r"(?:\s*[A-Za-z0-9+/=]{1,76})?\s*(?:-{1,5}[^\n]*)?")
"""The possible last lines of an incomplete key."""


def open_block(text: str) -> int | None:
    """Return the start of a private key whose end has not arrived yet."""
    at = text.rfind("-----BEGIN ")
    begin = _BEGIN.match(text, at) if at >= 0 else None
    if not begin or _END.search(text, at):
        return None
    body = _BODY.match(text, begin.end())
    rest = text[body.end() if body else begin.end() :]
    return at if _REST.fullmatch(rest) else None


_LINE = regex(r"[\s\"'`,+|>]{0,40}[A-Za-z0-9+/]{16,128}={0,2}(?:\\[nr]|[\s\"'`,+|]){0,12}")
_LAST_LINE = regex(r"[\s\"'`,+|>]{0,40}[A-Za-z0-9+/]{1,128}={0,2}(?:\\[nr]|[\s\"'`,+|]){0,12}")


def _body_before(text: str, end: int) -> Spans:
    """Return the base64 lines before the end of a key whose beginning is missing."""
    first, shape = end, _LAST_LINE
    while first:
        start = text.rfind("\n", 0, first - 1) + 1
        if not shape.fullmatch(text, start, first):
            break
        first, shape = start, _LINE
    if first < end:
        yield first, end


_COMMAND_MARKS = (
    *(" -", " /p:", "login", "obscure", " password", " set ", "<<<", "http-basic", "net use"),
    *("chpasswd", "unlock", "rabbitmqctl", "rootpw", "d-i "),
)
_Reader = Callable[[str, int, int], Spans]
_READERS: tuple[tuple[tuple[str, ...], _Reader], ...] = (
    (("authorization", "bearer", "ssws"), _headers),
    (("cookie",), _cookies),
    (("?", "&"), _queries),
    (("://",), address_spans),
    (("login", "machine", "account"), _files),
    (_STATEMENT_MARKS, _statements),
    (('"kty"',), _json_web_keys),
    (("-signature", "response=", "signature="), _signatures),
    (('value":',), _named_after),
    ((":",), _pgpass),
    (
        _COMMAND_MARKS,
        _commands,
    ),
)
