"""Programs that talk to other machines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from flyball.shell.judgement import CommandKind, Finding
from flyball.shell.rows import DESTROY, READ, TEXT, UNKNOWN, rule, table
from flyball.shell.rule import Inquiry, Rule, SortedWords, judge_words, parse
from flyball.shell.words.names import names
from flyball.shell.words.pattern import Pattern
from flyball.shell.words.word import Word

_METADATA = Pattern(
    r"169\.254\.|metadata\.google|\[?fd00:ec2|100\.100\.100\.200|(?:^|//|@)0*(?:x[\da-f]+|\d{8,})(?:[:/?]|$)",
    re.I,
)
"""Where clouds hand out logins to their machines, also as a plain number."""


def _curl(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge curl: fetching to the terminal reads; sending anything, or another method, changes."""
    text = " ".join(word.source for word in words)
    parsed = parse(rule, words[1:])
    method = parsed.value("-X", "--request")
    loads = [v for flag, v in parsed.flags if v and _is_loaded(flag, v.known)]
    if stays_here(words):
        yield from _to_own_server(inquiry, rule, words)
    elif loads:
        yield Finding(
            text, CommandKind.UNKNOWN, f"{loads[0].source} makes curl read or write a file"
        )
    elif method is not None and method.value not in ("GET", "HEAD", "OPTIONS"):
        yield Finding(text, CommandKind.DESTRUCTIVE, f"it sends {method.source} to another machine")
    elif odd := next((w for w in _addresses(parsed) if not _is_web(w.value)), None):
        yield Finding(text, CommandKind.UNKNOWN, f"{odd.source} is not a plain web address")
    elif strange := next((f for f, _ in parsed.flags if not _is_listed(rule, f)), None):
        reason = f"curl {strange} is not a known option, or is short for another"
        yield Finding(text, CommandKind.UNKNOWN, reason)
    else:
        yield from judge_words(inquiry, rule, words)


_HERE = Pattern(
    r"(https?://)?(localhost|127(\.\d{1,3}){3}|\[::1\]|0\.0\.0\.0)(:\d+)?([/?#].*)?", re.I | re.S
)
_PASSED_ON = names("-x --proxy --preproxy --connect-to --resolve -L --location --location-trusted")
"""Options of curl by which a request to this machine may reach another one."""
_SENT = names(
    "-X --request -d --data --data-raw --data-binary --data-urlencode --data-ascii -F --form "
    "--form-string --json"
)


def stays_here(words: Sequence[Word]) -> bool:
    """Return whether curl only asks a server on this machine, whatever it sends there."""
    if not words or words[0].known.rpartition("/")[2] != "curl":
        return False
    parsed = parse(_CURL, [*_without_sent(words)][1:])
    asked = _addresses(parsed)
    is_here = bool(asked) and all(_HERE.fullmatch(w.value or "") for w in asked)
    return is_here and not parsed.has(*_PASSED_ON)


def _without_sent(words: Sequence[Word]) -> Iterator[Word]:
    """Yield the words of curl but for its method and the data it sends."""
    is_value = False
    for word in words:
        flag, is_set, _ = word.known.partition("=")
        if is_value:
            is_value = False
        elif flag in _SENT:
            is_value = not is_set
        elif flag[:2] not in _SENT or flag[:2] == "--":
            yield word


def _to_own_server(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge a request to this machine by what it does with the answer."""
    text = " ".join(word.source for word in words)
    kept = [*_without_sent(words)]
    for found in judge_words(inquiry, rule, kept):
        if len(kept) < len(words) and found.kind is CommandKind.READ_ONLY:
            does = "it sends something to a server on this machine"
            yield Finding(text, CommandKind.MUTATING, does, scratch=True)
        else:
            yield found._replace(text=text)


def _is_loaded(flag: str, value: str) -> bool:
    """Return whether a value names a file; a cookie without `=` does too."""
    cookies = flag in ("-b", "--cookie") and "=" not in value
    return value.startswith("@") or "%output" in value or cookies


def _is_listed(rule: Rule, flag: str) -> bool:
    return rule.lists_option(flag) or flag in rule.known


def _addresses(parsed: SortedWords) -> list[Word]:
    return [*parsed.operands, *(v for flag, v in parsed.flags if flag == "--url" and v)]


_HOST = Pattern(r"(?!(ftp|dict|ldap|imap|smtp|pop3)\.)[\w.-]+(:\d+)?([/?#].*)?", re.I | re.S)
"""An address without a scheme; curl guesses another one from some names."""


def _is_web(address: str | None) -> bool:
    if address is None or _METADATA.search(address):
        return False
    return bool(re.match(r"https?://", address, re.I) or _HOST.fullmatch(address))


def _wget(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge wget, which writes a file unless it prints or only probes."""
    parsed = parse(rule, words[1:])
    target = parsed.value("-O", "--output-document")
    general = judge_words(inquiry, rule, words)[0]
    if odd := next((w.source for w in words[1:] if _METADATA.search(w.known)), None):
        yield Finding(general.text, CommandKind.UNKNOWN, f"{odd} may hand out logins", away=True)
        return
    prints = target is not None and target.value in ("-", "/dev/null", "/dev/stdout")
    if general.kind is CommandKind.READ_ONLY and not (prints or parsed.keeps("--spider")):
        yield Finding(general.text, CommandKind.MUTATING, "wget writes what it fetches to a file")
    else:
        yield general


def _probe(_inquiry: Inquiry, _rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `nc -z host port`, which only tests whether a port is open."""
    text = " ".join(word.source for word in words)
    said = " ".join(word.value or "\0" for word in words[1:])
    if re.fullmatch(r"(-[zvnu]+ |-w ?\d+ )*-[vnu]*z[vnu]* (-[vnu]+ |-w ?\d+ )*[\w.-]+ \d+", said):
        yield Finding(text, CommandKind.READ_ONLY, "it only probes a port")
    else:
        yield Finding(
            text, CommandKind.UNKNOWN, "it opens a connection through which anything can run"
        )


_CURL = rule(
    READ,
    "fetches",
    operands=TEXT,
    fixed=True,
    check=_curl,
    writes="-o --output -D --dump-header -c --cookie-jar --trace --trace-ascii --stderr "
    "--output-dir --hsts --alt-svc --etag-save --libcurl",
    mutates="-O --remote-name --remote-name-all -J --remote-header-name --create-dirs",
    destroys="-d --data --data-raw --data-binary --data-urlencode --data-ascii -F --form "
    "--form-string --json -T --upload-file -Q --quote -a --append --url-query --mail-from "
    "--mail-rcpt",
    runs="-K --config --engine --proxy -x --preproxy --socks5 --unix-socket "
    "--abstract-unix-socket --variable --expand-url --expand-data --expand-header "
    "--expand-output --netrc-file -n --netrc --netrc-optional",
    valued="-X --request -H --header -A --user-agent -u --user -e --referer -m --max-time "
    "--connect-timeout --retry -w --write-out -b --cookie -r --range --resolve --cacert "
    "--retry-delay --max-redirs --url --connect-to --proto --retry-max-time --max-filesize "
    "--limit-rate --speed-limit --speed-time -y -Y --noproxy --interface --capath "
    "--ciphers --tls-max --keepalive-time --expect100-timeout --happy-eyeballs-timeout-ms",
    known="-s -S -L -f -I -k -v -i -g -N -# -0 -1 -2 -3 -4 -6 -G -j -l -q -Z -V -h -: "
    "--silent --show-error --location --fail --fail-with-body --fail-early --head "
    "--insecure --verbose --include --show-headers --globoff --http1.0 --http1.1 --http2 "
    "--http2-prior-knowledge --http3 --http3-only --http0.9 --tlsv1 --tlsv1.0 --tlsv1.1 "
    "--tlsv1.2 --tlsv1.3 --ipv4 --ipv6 --get --parallel --progress-bar --compressed "
    "--compressed-ssh --form-escape --no-progress-meter --path-as-is --next --no-buffer "
    "--retry-all-errors --retry-connrefused --tcp-nodelay --no-keepalive --no-sessionid "
    "--ssl-no-revoke --ca-native --raw --disable --version --help --styled-output "
    "--no-styled-output --junk-session-cookies --trace-time",
)

NETWORKS = table(
    {
        "curl": _CURL,
        "wget": rule(
            READ,
            "fetches",
            operands=TEXT,
            fixed=True,
            check=_wget,
            writes="-o --output-file -a --append-output -O --output-document -P "
            "--directory-prefix --save-cookies --warc-file --rejected-log --hsts-file",
            destroys="--post-data --post-file --method --body-data --body-file --delete-after",
            runs="-e --execute --use-askpass --config -i --input-file --load-cookies "
            "--certificate --private-key",
            valued="-T --timeout -t --tries -U --user-agent --header",
            known="--continue --quiet --no-check-certificate --page-requisites",
        ),
        "http https xh": rule(UNKNOWN, "may send data to another machine"),
        "whois": rule(READ, "asks the network", operands=TEXT, fixed=True, runs="-h --host -p"),
        "ping ping6 traceroute tracepath mtr dig nslookup host drill": rule(
            READ,
            "asks the network",
            operands=TEXT,
            fixed=True,
            runs="-f",
            valued="-c -i -W -w -t -p",
        ),
        "nc ncat netcat": rule(UNKNOWN, "opens a connection", check=_probe),
        "telnet ftp socat mosh autossh": rule(
            UNKNOWN, "opens a connection through which anything can run"
        ),
        "mail sendmail mailx mutt": rule(DESTROY, "sends mail"),
        "xdg-open open start": rule(UNKNOWN, "starts another program"),
    }
)
