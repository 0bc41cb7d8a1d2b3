"""Programs that show facts about the machine, and the few that change it."""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Iterable, Sequence

from flyball.shell.judgement import CommandKind, Finding
from flyball.shell.rows import (
    DESTROY,
    MUTATE,
    NAMES,
    READ,
    TEXT,
    UNKNOWN,
    each,
    rule,
    table,
)
from flyball.shell.rule import Inquiry, Operands, Rule, judge_words, parse, secret_finding
from flyball.shell.words.pattern import Pattern
from flyball.shell.words.variable import may_hold_login
from flyball.shell.words.word import Word


def _no_operands(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Return a rule for a program that shows without operands and sets with them."""
    if operands := parse(rule, words[1:]).operands:
        text = " ".join(w.source for w in words)
        reason = f"{words[0].source} {operands[0].source} changes the machine"
        yield Finding(text, CommandKind.DESTRUCTIVE, reason)
    else:
        yield from judge_words(inquiry, rule, words)


_TAKES_VALUE = Pattern(r"-[a-zA-Z]*[uUpCotgGsq]|--(user|User|pid|ppid|format|sort|tty|group)")


_OWN = frozenset(("$USER", "$LOGNAME", "$UID", "$$", "$PPID", "$!"))
"""What a shell knows of itself: one name or number, never an option."""


def _ps(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge ps: a letter `e` without a dash shows the environment of every process."""
    for before, word in itertools.pairwise(words):
        is_value = _TAKES_VALUE.fullmatch(before.known)
        text = " ".join(each.source for each in words)
        if is_value and word.value is None:
            if word.splits and word.source not in _OWN:
                reason = f"{word.source} may become an option of ps; put it in double quotes"
                yield Finding(text, CommandKind.UNKNOWN, reason)
            continue
        shows = not is_value and re.fullmatch(r"[a-zA-Z]*e[a-zA-Z]*", word.known)
        if shows or "environ" in word.known or word.value is None:
            yield secret_finding(text, f"what {word.source} lets ps show of processes")
            return
    yield from judge_words(inquiry, rule, words)


def _mount(_inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge mount: without an operand, it lists."""
    text = " ".join(w.source for w in words)
    parsed = parse(rule, words[1:])
    if parsed.operands or any(
        f not in rule.known and f not in rule.valued for f, _ in parsed.flags
    ):
        yield Finding(text, CommandKind.DESTRUCTIVE, "it may mount something")
    else:
        yield Finding(text, CommandKind.READ_ONLY, "mount shows mounts")


def _date(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `date`, which sets the clock when given a bare number."""
    operands = parse(rule, words[1:]).operands
    if any(not word.known.startswith("+") for word in operands):
        text = " ".join(w.source for w in words)
        yield Finding(text, CommandKind.DESTRUCTIVE, f"date {operands[0].source} sets the clock")
    else:
        yield from judge_words(inquiry, rule, words)


def _printenv(_inquiry: Inquiry, _rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge printenv: all variables, or secret ones, are shown only where secrets are invisible."""
    asked = [word.value for word in words[1:] if word.value not in ("-0", "--null")]
    secrets = not asked or any(name is None or may_hold_login(name) for name in asked)
    text = " ".join(w.source for w in words)
    yield Finding(text, CommandKind.READ_ONLY, "printenv shows variables", reveals=secrets)


def _finger(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `finger name@host`, which sends the name to another machine."""
    for found in judge_words(inquiry, rule, words):
        if any("@" in word.known or word.value is None for word in words[1:]):
            yield found._replace(kind=CommandKind.UNKNOWN, reason="it asks a machine", away=True)
        else:
            yield found


def _getent(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge getent: every database except those with passwords."""
    asked = parse(rule, words[1:]).operands
    if odd := next((w for w in asked[:1] if w.value in (None, "shadow", "gshadow")), None):
        yield secret_finding(" ".join(w.source for w in words), odd.source)
    else:
        yield from judge_words(inquiry, rule, words)


def _ifconfig(_inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge ifconfig: at most one interface is shown; more words configure it."""
    text = " ".join(w.source for w in words)
    parsed = parse(rule, words[1:])
    several = len(parsed.operands) > 1 or any(w.value is None or w.glob for w in parsed.operands)
    if several or parsed.has("-d", "-s", "-f", "--delete", "--set"):
        yield Finding(text, CommandKind.DESTRUCTIVE, "it configures a network interface")
    else:
        yield Finding(text, CommandKind.READ_ONLY, "it shows network interfaces")


_IP_SHOWS = Pattern(
    r"(-\S+ )*(a|addr|address|l|link|r|route|n|neigh|rule|netns|maddr)?"
    r"( (s|sh|show|list|ls|get)\b.*)?"
)


def _ip(_inquiry: Inquiry, _rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `ip … show`, by its own words."""
    text = " ".join(w.source for w in words)
    said = " ".join(w.value or "\0" for w in words[1:])
    if _IP_SHOWS.fullmatch(said) and not re.search(r"\0|-b(a\w*)?( |$)|exec", said):
        yield Finding(text, CommandKind.READ_ONLY, "it shows the network configuration")
    else:
        yield Finding(text, CommandKind.UNKNOWN, "ip may change the network or run a program")


_DPKG = (
    r"-[lLsSpW]|-f.*|--(list|listfiles|status|search|print-avail|get-selections|show|version|"
    r"print-architecture|showformat(=.*)?)"
)
_QUERIES = {
    "dpkg": _DPKG,
    "dpkg-query": _DPKG,
    "rpm": r"-q[aficldRsgp]*|--(query|version|all|info|list|requires|provides|changelog|last|"
    r"scripts|whatprovides|whatrequires|conflicts|obsoletes|docfiles|configfiles|state|"
    r"(qf|queryformat)(=.*)?)",
    "pacman": r"-Q[a-z]*|-S[silgq]*[silg][silgq]*|-F[lxq]*|--(query|version)",
}
"""The options of package databases that ask; one that is not here may do anything."""


def _asks(word: Word, query: str) -> bool:
    if word.value is None or "://" in word.value:
        return False
    return not word.value.startswith("-") or bool(Pattern(query).fullmatch(word.value))


def _dpkg(_inquiry: Inquiry, _rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge package databases: only queries are allowed."""
    text = " ".join(w.source for w in words)
    query = _QUERIES[posixpath.basename(words[0].known)]
    first = words[1].known if len(words) > 1 else ""
    if first.startswith("-") and all(_asks(word, query) for word in words[1:]):
        yield Finding(text, CommandKind.READ_ONLY, f"{words[0].source} asks the package database")
    else:
        yield Finding(
            text, CommandKind.DESTRUCTIVE, f"{words[0].source} changes installed packages"
        )


def _to_stdout(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Return a check for converters that print when their last word is a dash."""
    general = judge_words(inquiry, rule, words)[0]
    if words[-1].value == "-" and not general.veto:
        yield general._replace(kind=CommandKind.READ_ONLY, reason=f"{words[0].source} prints")
    else:
        yield general


_CODER = Pattern(r"-?[A-Za-z][\w-]*:.*", re.S)


def _identify(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `identify`: a `NAME:` prefix of a file selects a language that can write."""
    if odd := next((word for word in words[1:] if _CODER.fullmatch(word.known)), None):
        text = " ".join(word.source for word in words)
        yield Finding(text, CommandKind.UNKNOWN, f"{odd.source} names a coder, which may write")
    else:
        yield from judge_words(inquiry, rule, words)


def _service(_inquiry: Inquiry, _rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `service X status`, or the list."""
    text = " ".join(w.source for w in words)
    said = " ".join(w.value or "/" for w in words[1:])
    if re.fullmatch(r"--status-all|\w[\w@.-]* status", said):
        yield Finding(text, CommandKind.READ_ONLY, "it shows a service")
    else:
        yield Finding(text, CommandKind.DESTRUCTIVE, "it changes a service")


def _ldd(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `ldd`, which may execute its operand, so only the system's own programs are allowed."""
    text = " ".join(w.source for w in words)
    if all(
        re.match(r"/(usr/)?(s?bin|lib\w*)/", w.known) and ".." not in w.known for w in words[1:]
    ):
        yield from judge_words(inquiry, rule, words)
    else:
        yield Finding(text, CommandKind.UNKNOWN, "ldd may run the program it looks at")


def _sysctl(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `sysctl`: a name shows, `name=value` sets."""
    text = " ".join(w.source for w in words)
    if any(w.value is None or "=" in w.value for w in words[1:]):
        yield Finding(text, CommandKind.DESTRUCTIVE, "it changes a kernel setting")
    elif any(".." in w.known or w.known.startswith("/") for w in words[1:]):
        yield Finding(text, CommandKind.UNKNOWN, "it may read any file, not a kernel setting")
    else:
        yield from judge_words(inquiry, rule, words)


def _lists(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Return a rule for programs of which only the listing is harmless."""
    if len(words) == 2 and words[1].value in rule.known:
        yield Finding(
            f"{words[0].source} {words[1].source}", CommandKind.READ_ONLY, "it only lists"
        )
    else:
        yield from judge_words(inquiry, rule, words)


def _crontab(_inquiry: Inquiry, _rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `crontab -l`, which only lists."""
    text = " ".join(w.source for w in words)
    if [w.value for w in words[1:]] == ["-l"]:
        yield Finding(text, CommandKind.READ_ONLY, "it lists scheduled jobs")
    else:
        yield Finding(text, CommandKind.DESTRUCTIVE, "it changes scheduled jobs")


_SHOW = rule(READ, "only shows", operands=TEXT)
_CHANGE = rule(DESTROY, "changes the machine", operands=TEXT)

_FINGERPRINT = Pattern(
    r"(?=.*-v*l)(-v*lv*f?|-v+|-f|-E (md5|sha256)|[\w./~@-]+\.pub|[\w./~-]*known_hosts| )+"
)


def _fingerprint(_inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `ssh-keygen -l`, which shows the fingerprint of a public key."""
    text = " ".join(word.source for word in words)
    said = " ".join(word.value or "\0" for word in words[1:])
    if _FINGERPRINT.fullmatch(said):
        yield Finding(text, CommandKind.READ_ONLY, "it shows the fingerprint of a public key")
    else:
        yield Finding(text, rule.kind, f"ssh-keygen {rule.does}")


SYSTEMS = table(
    {
        "uname nproc lscpu lsmem lsblk lspci lsusb lsmod modinfo free vmstat iostat mpstat sar "
        "uptime w who whoami id groups users last logname getconf locale pstree "
        "pgrep pidof findmnt netstat sw_vers system_profiler vm_stat lsns "
        "lsb_release hostid acpi dircolors pmap prtstat ipcs lslocks lslogins cpuid "
        "systemd-detect-virt": _SHOW,
        "printenv": rule(READ, "shows variables", operands=TEXT, check=_printenv),
        "finger": rule(READ, "shows users", operands=TEXT, check=_finger),
        "ps": rule(READ, "shows processes", operands=TEXT, check=_ps),
        "pidstat": rule(READ, "shows processes", operands=TEXT, runs="-e"),
        "blkid": rule(
            READ,
            "shows disks",
            operands=TEXT,
            writes="-c --cache-file -w",
            mutates="-g --garbage-collect",
            valued="-o -s -t -L -U -n -u --output --match-tag --match-token",
            known="--match-types",
        ),
        "getent": rule(
            READ,
            "asks the name service",
            operands=TEXT,
            fixed=True,
            valued="-s --service",
            check=_getent,
        ),
        "top htop": rule(READ, "shows processes", operands=TEXT),
        "arch": rule(READ, "shows the machine", check=_no_operands),
        "sar": rule(READ, "shows load", operands=TEXT, writes="-o"),
        "lshw": rule(READ, "shows hardware", operands=TEXT, writes="-dump", single=True),
        "sensors": rule(READ, "shows sensors", destroys="-s --set"),
        "nvidia-smi": rule(
            READ,
            "shows the graphics card",
            operands=TEXT,
            single=True,
            writes="-f --filename",
            destroys="-pm -pl -r -e -c -ac -rac -lgc -rgc -lmc -am -caa -mig -p -dm --gpu-reset",
            valued="-i --id -l --loop -d",
        ),
        "hostname domainname": rule(
            READ, "shows the name", destroys="-F --file -b --boot", check=_no_operands
        ),
        "mount": rule(
            READ, "shows mounts", valued="-t --types", known="-l -v --show-labels", check=_mount
        ),
        "date": rule(
            READ,
            "shows the time",
            destroys="-s --set",
            reads="-f --file",
            valued="-d --date -r --reference",
            attached="-I",
            operands=TEXT,
            check=_date,
        ),
        "sysctl": rule(
            READ,
            "shows kernel settings",
            operands=TEXT,
            destroys="-w --write -p --load --system -f",
            check=_sysctl,
        ),
        "lsof": rule(
            READ, "lists open files", operands=TEXT, mutates="-D", valued="-i -p -u -c -d"
        ),
        "fuser": rule(READ, "shows who uses a file", operands=TEXT, destroys="-k --kill"),
        "hostnamectl timedatectl localectl loginctl": Rule(
            bare=_SHOW, subcommands=each("status show list-timezones list-sessions", _SHOW)
        ),
        "ldconfig": rule(DESTROY, "rebuilds the loader's cache", spares="-p --print-cache"),
        "pkg-config xcode-select": rule(
            READ, "shows settings", operands=TEXT, destroys="-s --switch -r --reset --install"
        ),
        "yum dnf zypper": Rule(
            subcommands={
                **each("list info search repolist provides check-update", _SHOW),
                **each("install remove update upgrade clean", _CHANGE),
                "history": Rule(
                    bare=_SHOW,
                    subcommands={
                        **each("list info", _SHOW),
                        **each("undo redo rollback store replay", _CHANGE),
                    },
                ),
            }
        ),
        "xclip xsel pbcopy pbpaste wl-copy wl-paste": rule(UNKNOWN, "uses the person's clipboard"),
        "atq pdfinfo": _SHOW._replace(operands=Operands.READ),
        "identify": _SHOW._replace(operands=Operands.READ, check=_identify),
        "jps javap": rule(READ, "only shows", runs="-J"),
        "ffprobe": rule(
            READ,
            "only shows",
            single=True,
            writes="-o",
            mutates="-report",
            valued="-v -i -of -show_entries -select_streams -print_format -loglevel -f",
        ),
        "pdftotext": rule(MUTATE, "writes text", check=_to_stdout),
        "ss": rule(
            READ,
            "lists sockets",
            operands=TEXT,
            destroys="-K --kill",
            writes="-D --diag",
            valued="-f -A",
        ),
        "ip": rule(READ, "shows the network", check=_ip),
        "ifconfig route arp": rule(READ, "shows the network", check=_ifconfig),
        "iptables ufw nft mkfs fdisk parted swapon swapoff modprobe insmod rmmod shutdown reboot "
        "halt poweroff init useradd userdel usermod passwd chsh chpasswd groupadd visudo setcap "
        "pkill killall renice chroot unshare nsenter umount losetup telinit": rule(
            DESTROY, "changes the machine or ends processes", operands=TEXT
        ),
        "kill": rule(DESTROY, "ends processes", operands=TEXT, known="-l -L --list", check=_lists),
        "journalctl": rule(
            READ,
            "shows logs",
            operands=TEXT,
            valued="-u -n -S -U -p -o -g -t --since --until --unit",
            destroys="--vacuum-size --vacuum-time --vacuum-files --rotate --flush --sync "
            "--relinquish-var --smart-relinquish-var --setup-keys --update-catalog",
            writes="--cursor-file",
            known="--cursor --unit --until --user --user-unit --utc",
        ),
        "dmesg": rule(
            READ,
            "shows the kernel log",
            destroys="-C --clear -c --read-clear -n -D -E --console-off --console-on "
            "--console-level",
            valued="-l -f -F",
        ),
        "systemctl": rule(
            READ,
            "shows services",
            valued="-t -p -H -M -n -o --type --state --property --lines --host",
            runs="-H --host -M",
            bare=_SHOW,
            subcommands={
                **each(
                    "status list-units list-unit-files list-timers list-sockets "
                    "list-dependencies is-active is-enabled is-failed is-system-running "
                    "get-default list-jobs list-machines help",
                    _SHOW,
                ),
                **each("show cat show-environment", _SHOW._replace(reveals=frozenset("*"))),
                **each(
                    "start stop restart reload enable disable mask unmask kill daemon-reload "
                    "set-default isolate reboot poweroff halt edit",
                    _CHANGE,
                ),
            },
        ),
        "service": rule(READ, "shows services", check=_service),
        "launchctl": rule(READ, "shows services", subcommands=each("list print", _SHOW)),
        "crontab": rule(READ, "lists jobs", check=_crontab),
        "dpkg dpkg-query rpm pacman": rule(READ, "asks", check=_dpkg),
        "apt apt-get": rule(
            READ,
            "asks for packages",
            runs="-o --option -c --config-file",
            subcommands={
                **each("list show search policy depends rdepends showsrc madison changelog", _SHOW),
                **each(
                    "install remove purge update upgrade dist-upgrade full-upgrade autoremove "
                    "clean autoclean",
                    _CHANGE,
                ),
            },
        ),
        "apt-cache": rule(
            READ, "asks for packages", operands=TEXT, runs="-o --option -c --config-file"
        ),
        "brew": rule(
            READ,
            "asks for packages",
            bare=_SHOW,
            subcommands={
                "services": Rule(
                    bare=_SHOW,
                    subcommands={"list": _SHOW, **each("start stop restart run", _CHANGE)},
                ),
                **each(
                    "list ls info search outdated deps leaves uses config doctor desc casks "
                    "formulae",
                    _SHOW,
                ),
                **each(
                    "install uninstall upgrade update cleanup tap untap link unlink reinstall ",
                    _CHANGE,
                ),
            },
        ),
        "ssh-keygen": rule(UNKNOWN, "makes or changes keys", check=_fingerprint),
        "openssl": rule(
            READ,
            "handles keys",
            subcommands={
                **each(
                    "s_client s_server s_time",
                    rule(UNKNOWN, "sends what it is fed to another machine"),
                ),
                **each(
                    "version x509 dgst verify rand asn1parse crl ciphers list sha256 md5",
                    rule(
                        READ,
                        "only shows",
                        single=True,
                        writes="-out -writerand -sess_out -keylogfile",
                        runs="-engine -provider -provider-path -config -sign -key -inkey -proxy",
                        valued="-in",
                    ),
                ),
            },
        ),
        "snap flatpak": rule(
            READ,
            "asks for packages",
            subcommands={
                **each("list info find search", _SHOW),
                **each("install remove uninstall update refresh", _CHANGE),
            },
        ),
        "ldd": rule(READ, "lists libraries", operands=NAMES, check=_ldd),
        "sudo su doas pkexec runuser setpriv gosu": rule(
            UNKNOWN, "takes other rights, which is never allowed"
        ),
        "gdb lldb strace ltrace perf valgrind script expect screen at batch dtrace": rule(
            UNKNOWN, "runs another program", known="-l -ls --list", check=_lists
        ),
    }
)
