"""Secrets that are known by where they are: in a field, a header, a URL, a command, a key file.

Each place has a word or sign that it cannot do without. Those are searched first, which costs
little, and only the lines around them are read with patterns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from flyball.regex import regex
from flyball.workspace.redaction.judge import (
    hides,
    is_example,
    is_hollow,
    is_key_like,
    is_password,
    is_weak_name,
    looks_random,
    looks_secret,
)

Spans = Iterator[tuple[int, int]]

_Q = r"\\{0,3}[\"'`]"
_NAME = r"(?P<name>[A-Za-z_][\w.\-]{0,80})"
_TEXT = (
    r"[bBrRuUfFL@$]{0,2}(?:"
    r"\\{1,3}[\"'](?P<escaped>[^\"'\\\n]{4,4096}+)|"
    r"\"(?P<double>(?:[^\"\\\n]|\\.){4,4096}+)|"
    r"'(?P<single>(?:[^'\\\n]|\\.){4,4096}+)|"
    r"`(?P<tick>[^`\n]{4,4096}+))"
)
_FIELD = regex(
    rf"(?<![\w.\-])-{{0,2}}{_NAME}(?:{_Q}\s{{0,4}}\]?|\])?"
    r"(?:[ \t]{0,4}:[ \t]{0,4}[&A-Za-z][\w\[\].|&<>' ]{0,40}?(?=[ \t]{0,4}=)|"
    r"[ \t]{1,4}(?:string|String|\*string|text|varchar)(?=[ \t]{1,4}=))?"
    r"[ \t]{0,40}(?:(?::=|=>|={1,3}|:|<-|\?=|\|\||(?<=[\"']),(?=[ \t]{0,4}\\?[\"']))[ \t]{0,40}|"
    r"(?<=[A-Za-z])[ \t]{1,4}(?=[\"']))"
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
    rf"[ \t]{{0,4}}(?:{_Q})?(?P<name>[A-Za-z_][\w.\-]{{1,80}})(?:{_Q})?[\s,;>\-]{{0,40}}(?:{_Q})?"
    r"(?:(?:value|val|content|default|plaintext|string)"
    rf"(?:{_Q})?[ \t]{{0,4}}[:=][ \t]{{0,4}}|(?<=>)(?=[^<\s]))"
    rf"(?:{_TEXT}|(?P<bare>[^\s\"'`<>\\,}}]{{6,4096}}))"
)
_TEXT_KINDS = ("escaped", "double", "single", "tick")

_HEADER = regex(
    r"(?i)(?P<open>[\"']?)(?<![\w\-])(?:proxy-)?authorization(?:\\{0,3}[\"'])?[ \t]{0,4}"
    r"(?:[:=,]|=>)[ \t\[]{0,4}(?:\\{0,3}(?P<quote>[\"']))?"
    r"(?P<scheme>[A-Za-z][\w\-]{2,30})[ \t]{1,4}(?P<rest>[^\r\n]{6,8192})"
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
    rf"(?:-u|-U|-a|-A|-E|--user|--proxy-user|--auth|--cert){_O}=?[\"']?[^\s:\"'%]{{1,128}}[:%]{_V}"
)
CLIENTS: tuple[tuple[str, str], ...] = (
    ("curl wget http https xh httpie ab smbclient rpcclient net siege hey wrk lftp", _LOGIN),
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
    ("net", rf"use{_A}\S{{1,200}}{_A}{_V}(?=\s{{1,4}}/user)"),
    ("chpasswd", rf"<<<{_O}[\"']?[\w\-]{{1,40}}:{_V}"),
    ("rclone", rf"obscure{_A}{_V}"),
)
"""Clients and where a password is among their words."""

_LOGINS_ONLY = frozenset(
    ("docker", "podman", "nerdctl", "buildah", "skopeo", "helm", "oras", "crane", "az")
)
_PIPED = regex(
    r"(?:echo|printf)[ \t]{1,4}(?:-\w{1,3}[ \t]{1,4})?[\"']?(?:[\w\-]{1,40}:)?"
    r"(?P<value>[^\s\"'|;&<>$]{4,256})[\"']?[ \t]{0,4}\|[ \t]{0,4}"
    r"(?:sudo[ \t]{1,4}-S|[^|\n]{0,80}(?:--password-stdin|--with-token|chpasswd|--stdin))"
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
_BODY_START = regex(
    r"(?<![A-Za-z0-9+/=])(?:M[A-P][A-Za-z0-9+/]{0,4}(?:IBA|CAQ|gEA|AgE|AgB)[A-Za-z0-9+/]{16,}"
    r"|b3BlbnNzaC1rZXktdjE[A-Za-z0-9+/]{16,})"
)
_PUTTY = regex(r"Private-Lines: \d{1,3}\s{1,2}(?P<value>(?:[A-Za-z0-9+/=]{4,64}\s{1,2}){1,200})")


def context_spans(text: str) -> Spans:
    """Return where secrets are by their places."""
    # Positions in the lower case must be those in the text.
    lower = text.lower()
    if len(lower) != len(text):
        lower = text.encode("ascii", "replace").decode().lower()
    for marks, read in _READERS:
        for first, last in _regions(text, lower, marks):
            yield from read(text, first, last)
    yield from key_blocks(text)


def _regions(text: str, lower: str, marks: tuple[str, ...]) -> Spans:
    """Return the parts of a text that are near a mark: a few lines, however long they are."""
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


def _fields(text: str, first: int, last: int) -> Spans:
    for pattern in (_FIELD, _CALL, _ENV, _BLOCK, _FLAG, _ELEMENT, _LISTED, _PAIR):
        at = first
        while match := pattern.search(text, at, last):
            kind, quoted = _value(match)
            name = match["name"]
            # What is no secret here may hold a field itself: `-e "PASSWORD=x"`.
            at = max(match.start(kind), match.start() + 1)
            if not (is_key_like(name) or is_weak_name(name)):
                continue
            start, end = match.span(kind)
            listed = quoted and "," in text[match.end("name") : start]
            if listed and not (is_password(name) or looks_random(text[start:end])):
                continue
            if kind in ("bare", "joined") and (more := _NEXT_FIELD.search(text, start, end)):
                end = more.start()
            if _is_status(name, match, kind) or not _hides(name, text[start:end], pattern, quoted):
                continue
            at = end
            yield start, end


_NEXT_FIELD = regex(r"&(?:amp;)?[\w.\-]{1,40}=|\\[nrt\"']")


def _hides(name: str, value: str, pattern: re.Pattern[str], quoted: bool) -> bool:
    if pattern in (_ELEMENT, _LISTED) and is_password(name):
        return not any(map(str.isspace, value)) and not is_example(value) and not value.isalpha()
    return hides(name, value, quoted=quoted)


def _is_status(name: str, match: re.Match[str], kind: str) -> bool:
    """Return whether it is a test's outcome, `PASS: TestAddr2Line`, and no password."""
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
        if match["scheme"].lower() in _ONE_WORD and not _PARAMETER.match(rest):
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
            if looks_secret(value, quoted=True):
                yield match.span("value")
        elif name in _QUERY_KEYS and not is_hollow(value):
            signed = "sig" in name and len(value) >= 16
            mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
            if mixed and (signed or len(value) >= 20 or looks_random(value)):
                yield match.span("value")


def address_spans(text: str, first: int, last: int) -> Spans:
    """Return where addresses hold passwords."""
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
        yield match.span("value")


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
    """Return where private keys are: whole, cut off, or without their first line."""
    if "PRIVATE KEY" in text:
        for begin in _BEGIN.finditer(text):
            body = _BODY.match(text, begin.end())
            last = body.end() if body else begin.end()
            end = _END.match(text, last)
            if end or text[begin.end() : last].strip():
                yield begin.start(), end.end() if end else last
        for end in _END.finditer(text):
            yield from _body_before(text, end.start())
    for begin in _BODY_START.finditer(text):
        body = _BODY.match(text, begin.start())
        yield begin.start(), body.end() if body else begin.end()
    if "Private-Lines" in text:
        for match in _PUTTY.finditer(text):
            yield match.span("value")


_REST = regex(r"(?:\s*[A-Za-z0-9+/=]{1,76})?\s*(?:-{1,5}[^\n]*)?")
"""What may be the last lines of a key, as far as they have come."""


def open_block(text: str) -> int | None:
    """Return where a private key begins whose end has not come yet."""
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
    """Return the base64 lines right before the end of a key whose beginning is missing."""
    first, shape = end, _LAST_LINE
    while first:
        start = text.rfind("\n", 0, first - 1) + 1
        if not shape.fullmatch(text, start, first):
            break
        first, shape = start, _LINE
    if first < end:
        yield first, end


_Reader = Callable[[str, int, int], Spans]
_READERS: tuple[tuple[tuple[str, ...], _Reader], ...] = (
    (
        (
            *("pass", "pwd", "secret", "token", "key", "cred", "auth", "_pat", "-pat", "jwt"),
            *("psk", "session", "cookie", "signature", "hmac", "mnemonic", "sid="),
        ),
        _fields,
    ),
    (("authorization", "bearer", "ssws"), _headers),
    (("cookie",), _cookies),
    (("?", "&"), _queries),
    (("://",), address_spans),
    (("login", "machine", "account"), _files),
    ((":",), _pgpass),
    ((" -", " /p:", "login", "obscure", " password", " set ", "<<<", "http-basic"), _commands),
)
