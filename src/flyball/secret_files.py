"""Recognize secret files: the one table for commands, readers, the sandbox and redaction.

A pattern is a name, or several names in a row, that may occur anywhere in a path; it includes
everything below it. `~/` in front: only in a home. `/` in front: only from the root. `*`, `?` and
`[…]` match within one name. Case is ignored, as in many file systems.

The user's setting `secrets` adds patterns of the same kind. Hooks and `flyball confined` read this
table at every start, so it imports nothing, and builds its lookup tables on first use.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    _Row = tuple[str | None, tuple[str, ...]]

NAMED: Mapping[str, str] = {
    "environment": ".env .env.* .env-* .env_* .env~* .envrc .flaskenv .dev.vars",
    "keys": (
        ".ssh .gnupg .putty id_rsa id_dsa id_ecdsa id_ed25519 id_xmss id_rsa.* id_rsa-* id_rsa_* "
        "id_dsa.* id_dsa-* id_dsa_* id_ecdsa.* id_ecdsa-* id_ecdsa_* id_ed25519.* id_ed25519-* "
        "id_ed25519_* ssh_host_*_key /etc/ssl/private /etc/letsencrypt /etc/krb5.keytab"
    ),
    "logins by host": (
        ".netrc _netrc .pgpass pgpass.conf .pypirc .git-credentials .config/git/credentials "
        ".gitcookies .htpasswd .htaccess.pw .my.cnf .mylogin.cnf .s3cfg .boto .dockercfg "
        ".docker/config.json .docker/trust containers/auth.json .config/hub gh/hosts.yml "
        "glab-cli/config.yml .subversion/auth .config/filezilla .config/rclone rclone.conf "
        ".smbcredentials .davfs2/secrets .authinfo .authinfo.* .msmtprc .fetchmailrc .muttrc "
        ".irssi/config .weechat/sec.conf /etc/ppp/pap-secrets /etc/ipsec.secrets /etc/wireguard "
        "/etc/openvpn /etc/vpnc /etc/samba/private /etc/postfix/sasl_passwd "
        "/etc/exim4/passwd.client /etc/mysql/debian.cnf /tmp/krb5cc_* /var/mail /var/spool/mail"
    ),
    "clouds": (
        ".aws .azure .kube .kubeconfig kubeconfig .config/gcloud .oci .bluemix .aliyun "
        ".config/doctl .config/linode-cli .config/hcloud .config/scw .config/openstack "
        ".config/ibmcloud .ibmcloud .databrickscfg .snowflake .snowsql /etc/kubernetes/*.conf "
        "/var/lib/kubelet/pki /etc/docker/key.json /var/lib/cloud/instance/user-data.* "
        "/run/cloud-init/instance-data-sensitive.json "
        "/etc/rancher/k3s/k3s.yaml .config/helm/registry .minikube/profiles .fly/config.yml "
        ".railway/config.json .config/netlify .netlify/config.json com.vercel.cli/auth.json "
        ".vercel/auth.json .config/.wrangler .wrangler/config .cloudflared .ngrok2 .config/ngrok "
        ".config/heroku .config/stripe .config/configstore .config/argocd .config/op .op/config "
        ".config/sops .config/age .age .terraform.d/credentials.tfrc.json .terraformrc "
        ".pulumi/credentials.json .vault-token .vault_pass .vault_pass.* .vault-password* "
        ".vagrant.d/data .chef .consul-token .nomad-token"
    ),
    "package registries": (
        "~/.npmrc ~/.yarnrc ~/.yarnrc.yml ~/.bunfig.toml .cargo/credentials "
        ".cargo/credentials.toml .gem/credentials ~/.bundle/config .m2/settings.xml "
        ".m2/settings-security.xml ~/.gradle/gradle.properties .composer/auth.json "
        ".config/composer/auth.json pypoetry/auth.toml .config/pypoetry/auth.toml "
        ".config/uv/credentials .local/share/uv/credentials ~/.config/pip ~/.pip "
        "~/.nuget/NuGet/NuGet.Config ~/.condarc .hex/hex.config .pub-cache/credentials.json "
        ".config/dart/pub-credentials.json"
    ),
    "agents and models": (
        ".claude.json .claude/.credentials.json .codex/auth.json .gemini/oauth_creds.json "
        ".gemini/.env opencode/auth.json .config/github-copilot .copilot/config.json "
        ".config/anthropic .anthropic .openai .config/openai .huggingface/token huggingface/token "
        "huggingface/stored_tokens .kaggle .config/wandb .aider.env .continue/.env board.token "
        ".config/io.datasette.llm/keys.json .cursor/auth.json"
    ),
    "stores": (
        ".password-store .local/share/keyrings Library/Keychains .config/keepassxc .mozilla "
        ".thunderbird google-chrome .config/chromium .config/BraveSoftware key4.db logins.json "
        ".bitcoin .ethereum .electrum wallet.dat solana/id.json .electrum-ltc"
    ),
    "histories": (
        ".bash_history .zsh_history .sh_history .history fish_history .python_history "
        ".psql_history .mysql_history .sqlite_history .node_repl_history .rediscli_history "
        ".mongodb .dbshell .irb_history .lesshst .viminfo"
    ),
    "machine": (
        "/etc/shadow /etc/shadow-* /etc/shadow~* /etc/gshadow /etc/gshadow-* /etc/gshadow~* "
        "/etc/sudoers /etc/sudoers.d /etc/security/opasswd /etc/master.passwd /run/secrets "
        "/var/run/secrets "
        "/var/lib/docker/swarm /var/lib/jenkins/secrets /var/lib/jenkins/credentials.xml "
        "/proc/*/environ /proc/*/mem /proc/*/task/*/environ /proc/*/root /proc/*/cwd "
        "/proc/*/fd /dev/mem /dev/kmem /dev/port /dev/sd* /dev/hd* /dev/vd* /dev/xvd* /dev/nvme* "
        "/dev/dm-* /dev/md* /dev/loop* /dev/mmcblk* /dev/mapper /dev/disk /dev/input/event* "
        "/dev/vcs* self/environ thread-self/environ self/mem "
        "/etc/ppp/chap-secrets /etc/NetworkManager/system-connections /etc/wpa_supplicant "
        "/proc/kcore"
    ),
    "applications": (
        "master.key credentials.json *[-_.]credentials.json credentials.toml client_secret.json "
        "client_secret_*.json client_secrets.json service-account.json service_account.json "
        "service-account-*.json serviceaccount*.json firebase-adminsdk*.json secrets.json "
        "*-firebase-adminsdk-*.json "
        "secrets.toml .secrets .secret .streamlit/secrets.toml .dbt/profiles.yml "
        "wp-config.php *.tfstate *.tfstate.backup .jupyter/jupyter_server_config.json "
        ".ansible/vault vault_pass* *vault[-_]pass*.txt deploy_key *[-_]deploy_key kubeconfig.* "
        "local.settings.json secrets/*token secrets/*password secrets/*.txt .config/flyball"
    ),
}
"""Full names, grouped by what they belong to."""

SETTINGS = "secrets.yaml secrets.yml *.tfvars *.tfvars.json /etc/environment"
"""Settings that many projects commit, without secrets or encrypted: commands may read them where
those that are in no commit are invisible.
"""

SHAPED = (
    "*.env *.pem *.key *.p12 *.pfx *.jks *.keystore *.bks *.kdbx *.kdb *.ppk *.keytab "
    "*.ovpn *.agekey *.pem.* *.key.* *.p8 *.kubeconfig *.mobileprovision *secret*.asc "
    "*private*.asc *.gpg-key *.pkcs12 *.secret *.secrets"
)
"""Names with a secret's extension. Many such files are public, so some names and places are
excluded.
"""

OPEN = (
    "*.example *.sample *.template *.tmpl *.tpl *.dist *.defaults *.default *.schema "
    "*.example.* *.sample.* *.template.* *.pub *.pub.* *.d.ts *.md .env.vault "
    ".ssh/known_hosts .ssh/known_hosts.old .ssh/config .ssh/config.d .ssh/config.* "
    ".ssh/authorized_keys* .ssh/authorized_keys.d .ssh/README* .gnupg/gpg.conf .aws/config "
    ".kube/cache .docker/config.json.example"
)
"""Files without secrets that match a name above: examples, public keys, settings."""

PUBLIC = (
    "node_modules site-packages dist-packages fixtures __fixtures__ testdata test-data tests test "
    "spec __tests__ mocks examples /etc/ssl/certs /etc/pki /usr/share /usr/lib /usr/local/share "
    "ca-certificates cacert.pem ca.pem ca-*.pem ca_*.pem cert.pem certs.pem *[-_.]cert.pem "
    "*certificate*.pem *chain*.pem *bundle*.pem *public*.pem *pubkey*.pem dhparam*.pem "
    "*.key.ts *.key.js process.env meta.env os.env !*"
)
"""Names and places where such an extension is no secret, or no file name at all."""

_COPIES = ("~", ".bak", ".old", ".orig", ".save", ".backup", ".gz", ".bz2", ".xz", ".zst")
"""Endings of a copy, which holds what the file it was made from holds."""

_VARIABLES = frozenset(
    (
        *("key", "keys", "apikey", "pat", "token", "tokens", "cookie", "cookies", "auth"),
        *("password", "passwd", "pass", "passphrase", "authorization", "pgpassword"),
        *("secret", "secrets", "credential", "credentials"),
    )
)
"""Words that mark the name of a variable as a secret."""

_SIGNS = "*?["
_LONGEST_NAME = 255
"""Bytes that file systems allow; comparing longer names with several wildcards takes too long."""


def holds_secret(
    path: str, more: Sequence[str] = (), *, shapes: bool = True, settings: bool = True
) -> bool:
    """Return whether a file at this path holds secrets, by its name alone.

    `more` are the user's patterns; without `shapes` extensions are ignored, and without `settings`
    what is often committed.
    """
    parts = spelled(path)
    if more and _table(tuple(more)).matches(parts):
        return True
    if parts:
        parts = (*parts[:-1], _original(parts[-1]))
    if settings and holds_settings(parts):
        return True
    if _own("named").matches(parts):
        return not _own("open").matches(parts, last=True)
    return (
        shapes
        and _own("shaped").matches(parts, last=True)
        and not (_own("open").matches(parts) or _own("public").matches(parts))
    )


def _original(name: str) -> str:
    """Return the name of the file that one of this name may be a copy of."""
    end = next((end for end in _COPIES if name.endswith(end)), "")
    return name.removesuffix(end) or name


def holds_below(path: str, *, hidden: bool = True) -> bool:
    """Return whether the table has places, also `hidden` ones, below a folder of the system or of
    a home, or among the files that a pattern matches there.
    """
    parts = spelled(path)
    if parts[:1] not in (("",), ("~",)):
        return False
    many = any(sign in path for sign in _SIGNS)
    return (hidden and parts in (("",), ("", "home"), ("", "users"))) or any(
        all(_same(*each) or _same(*each[::-1]) for each in zip(parts, place, strict=False))
        and (hidden or not any(name[0] == "." for name in rest))
        for place in _places()
        if (rest := place[len(parts) :]) or many
    )


def _places() -> Iterator[tuple[str, ...]]:
    """Yield the paths of the table that begin at the root or in a home."""
    for start, names in (_row(pattern) for group in NAMED.values() for pattern in group.split()):
        if start is not None or names[0][0] == ".":
            yield ("~" if start is None else start, *names)


def holds_settings(parts: Sequence[str]) -> bool:
    """Return whether a path, by its names, is that of settings that may hold secrets."""
    is_named = _own("settings").matches(parts, last=True)
    return is_named and not _own("open").matches(parts, last=True)


def is_secret_variable(name: str) -> bool:
    """Return whether an environment variable holds a secret, by its name alone."""
    words = name.lower().replace("-", "_").split("_")
    last = words[-1]
    if last == "headers" or (last == "pwd" and len(words) > 1):
        return True
    return not _VARIABLES.isdisjoint(words)


def could_be_secret(name: str) -> bool:
    """Return whether a file or folder of this name holds secrets, depending on its directory.

    This fast check excludes most names of a project.
    """
    lower = _original(name.lower())
    return any(_own(label).ends_with(lower) for label in ("named", "settings", "shaped"))


def may_hold_secret(text: str) -> bool:
    """Return whether a text could name such a file, literally or by unexpanded wildcards."""
    return holds_secret(text) or any(map(_is_aimed, text.split("/")))


def _is_aimed(name: str) -> bool:
    """Return whether wildcards in a name are more specific than everything, or than all of one
    type.
    """
    if not any(sign in name for sign in _SIGNS + "{") or name in ("*", "**"):
        return False
    ending = name[2:] if name[:2] == "*." else ""
    return not ending.replace(".", "").isalnum() or holds_secret(f"x.{ending}")


def spelled(path: str) -> tuple[str, ...]:
    """Return the names of a path in the table's form, in lower case.

    The first is `~` in a home, and empty where the path begins at the root.
    """
    text = path.lower()
    # Elsewhere a backslash is an escape in a shell or a regular expression.
    if text[1:3] == ":\\" or text[:2] in ("\\\\", "~\\"):
        text = text.replace("\\", "/")
    parts: list[str] = [""] if text[:1] == "/" else []
    for part in text.split("/"):
        if part == ".." and parts and parts[-1] not in ("", "..", "~"):
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    home = _home(parts)
    return ("~", *parts[home:]) if home else tuple(parts)


def _home(parts: Sequence[str]) -> int:
    """Return how many names at the front of a path form a home directory."""
    first = parts[0] if parts else ""
    if first in ("$home", "${home}"):
        return 1
    if first[:1] == "~":
        return int(first[1:].translate(_IN_NAMES).isalnum() or first == "~")
    below = 2 if parts[1:3] == ["var", "home"] else 1
    if first == "" and parts[below : below + 1] in (["home"], ["users"]):
        return below + 2 if len(parts) > below + 1 else 0
    return 2 if parts[:2] == ["", "root"] else 0


_IN_NAMES = {ord(sign): "x" for sign in "._-"}


def patterns() -> tuple[tuple[str, ...], ...]:
    """Return the names of every pattern in the table that names a file in full."""
    return tuple(names for group in NAMED.values() for _, names in map(_row, group.split()))


def _row(pattern: str) -> _Row:
    """Return a pattern's start, and its names."""
    head, _, rest = pattern.lower().partition("/")
    if head in ("", "~"):
        return head, tuple(rest.split("/"))
    return None, tuple(pattern.lower().split("/"))


class _Table:
    """Patterns by their last name, or by what surrounds the wildcards in it."""

    def __init__(self, rows: Sequence[_Row]) -> None:
        self._exact: dict[str, list[_Row]] = {}
        self._wild: list[tuple[str, str, _Row]] = []
        for row in rows:
            name = row[1][-1]
            head, tail = _ends(name)
            if head == name:
                self._exact.setdefault(name, []).append(row)
            else:
                self._wild.append((head, tail, row))
        # A single check excludes most names of a project.
        self._heads = tuple(head for head, _, _ in self._wild if head)
        self._tails = tuple(tail for head, tail, _ in self._wild if not head)

    def ends_with(self, name: str) -> bool:
        """Return whether a pattern could end with this name."""
        return name in self._exact or name.startswith(self._heads) or name.endswith(self._tails)

    def matches(self, parts: Sequence[str], *, last: bool = False) -> bool:
        """Return whether consecutive names match one of these patterns; `last`: those at the
        end.
        """
        return any(
            _fits(parts, at, start, names)
            for at, name in enumerate(parts)
            if not last or at == len(parts) - 1
            for start, names in self._of(name)
        )

    def _of(self, name: str) -> Iterator[_Row]:
        yield from self._exact.get(name, ())
        if self.ends_with(name):
            for head, tail, row in self._wild:
                if name.startswith(head) and name.endswith(tail):
                    yield row


def _ends(pattern: str) -> tuple[str, str]:
    """Return what is before the first wildcard of a name and after the last."""
    head, tail = pattern, pattern
    for sign in _SIGNS:
        head = head.partition(sign)[0]
        tail = tail.rpartition(sign)[2]
    return head, tail.rpartition("]")[2]


def _fits(parts: Sequence[str], at: int, start: str | None, names: Sequence[str]) -> bool:
    first = at - len(names) + 1
    if first < 0 or (start is not None and (first != 1 or parts[0] != start)):
        return False
    return all(map(_same, parts[first : at + 1], names))


def _same(name: str, pattern: str) -> bool:
    """Return whether a pattern matches a whole name."""
    head, tail = _ends(pattern)
    if head == pattern:
        return name == pattern
    if not (name.startswith(head) and name.endswith(tail) and len(name) >= len(head + tail)):
        return False
    # Most have one wildcard.
    return f"{head}*{tail}" == pattern or (
        len(name) <= _LONGEST_NAME and _globs(name[len(head) :], pattern[len(head) :])
    )


def _globs(name: str, pattern: str) -> bool:
    """Return whether a pattern matches; written out, since fnmatch is slow to import."""
    if not pattern or not name:
        return not name and not pattern.strip("*")
    sign, rest = pattern[0], pattern[1:]
    if sign == "*":
        return any(_globs(name[at:], rest) for at in range(len(name) + 1))
    end = rest.find("]", 1)
    if sign == "[" and end > 0:
        return _is_in(name[0], rest[:end]) and _globs(name[1:], rest[end + 1 :])
    return sign in ("?", name[0]) and _globs(name[1:], rest)


def _is_in(letter: str, brackets: str) -> bool:
    """Return whether brackets match a letter: `a-z_`, or any other with `!` before them."""
    is_other = brackets[0] == "!"
    rest, found = brackets[is_other:], False
    while rest:
        size = 3 if rest[1:2] == "-" and len(rest) > 2 else 1
        found = found or rest[0] <= letter <= rest[size - 1]
        rest = rest[size:]
    return found != is_other


_TABLES: dict[str | tuple[str, ...], _Table] = {}


def _own(label: str) -> _Table:
    """Return one of the lists above as a cached table."""
    if label not in _TABLES:
        lists = {
            "named": " ".join(NAMED.values()),
            "settings": SETTINGS,
            "shaped": SHAPED,
            "open": OPEN,
        }
        _TABLES[label] = _Table([*map(_row, lists.get(label, PUBLIC).split())])
    return _TABLES[label]


def _table(given: tuple[str, ...]) -> _Table:
    if given not in _TABLES:
        _TABLES[given] = _Table([*map(_row, given)])
    return _TABLES[given]
