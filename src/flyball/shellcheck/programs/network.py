"""Programs that talk to other machines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from flyball.shellcheck.judgement import CommandKind, Finding
from flyball.shellcheck.rows import DESTROY, READ, TEXT, UNKNOWN, rule, table
from flyball.shellcheck.rule import Inquiry, Rule, judge_words, parse
from flyball.shellcheck.words.pattern import Pattern
from flyball.shellcheck.words.word import Word

_METADATA = Pattern(r"169\.254\.|metadata\.google|\[?fd00:ec2")


def _curl(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Fetching to the terminal looks; sending anything, or another method, changes."""
    text = " ".join(word.source for word in words)
    parsed = parse(rule, words[1:])
    method = parsed.value("-X", "--request")
    loads = [v for _, v in parsed.flags if v and (v.known.startswith("@") or "%output" in v.known)]
    if loads:
        yield Finding(
            text, CommandKind.UNKNOWN, f"{loads[0].source} makes curl read or write a file"
        )
    elif method is not None and method.value not in ("GET", "HEAD", "OPTIONS"):
        yield Finding(text, CommandKind.DESTRUCTIVE, f"it sends {method.source} to another machine")
    elif odd := next((w for w in parsed.operands if not _is_web(w.value)), None):
        yield Finding(text, CommandKind.UNKNOWN, f"{odd.source} is not a plain web address")
    else:
        yield from judge_words(inquiry, rule, words)


def _is_web(address: str | None) -> bool:
    if address is None or _METADATA.search(address):
        return False
    return bool(re.match(r"https?://", address)) or "://" not in address


def _wget(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """wget writes a file unless it prints or only probes."""
    parsed = parse(rule, words[1:])
    target = parsed.value("-O", "--output-document")
    general = judge_words(inquiry, rule, words)[0]
    prints = target is not None and target.value in ("-", "/dev/null", "/dev/stdout")
    if general.kind is CommandKind.READ_ONLY and not (prints or parsed.has("--spider")):
        yield Finding(general.text, CommandKind.MUTATING, "wget writes what it fetches to a file")
    else:
        yield general


def _probe(_inquiry: Inquiry, _rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """`nc -z host port` only looks whether a port is open."""
    text = " ".join(word.source for word in words)
    said = " ".join(word.value or "\0" for word in words[1:])
    if re.fullmatch(r"(-[zvnu]+ |-w ?\d+ )*-[vnu]*z[vnu]* (-[vnu]+ |-w ?\d+ )*[\w.-]+ \d+", said):
        yield Finding(text, CommandKind.READ_ONLY, "it only probes a port")
    else:
        yield Finding(
            text, CommandKind.UNKNOWN, "it opens a connection through which anything can run"
        )


NETWORKS = table(
    {
        "curl": rule(
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
            "--retry-delay --max-redirs",
            known="--compressed --compressed-ssh --connect-to --fail --form-escape "
            "--no-progress-meter --path-as-is --proto --retry --resolve --next --no-buffer",
        ),
        "wget": rule(
            READ,
            "fetches",
            operands=TEXT,
            fixed=True,
            check=_wget,
            writes="-o --output-file -a --append-output -O --output-document -P "
            "--directory-prefix --save-cookies --warc-file --rejected-log --hsts-file",
            destroys="--post-data --post-file --method --body-data --body-file --delete-after",
            runs="-e --execute --use-askpass --config -i --input-file",
            valued="-T --timeout -t --tries -U --user-agent --header",
            known="--continue --quiet --no-check-certificate --page-requisites",
        ),
        "http https xh": rule(UNKNOWN, "may send data to another machine"),
        "ping ping6 traceroute tracepath mtr dig nslookup host whois drill": rule(
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
