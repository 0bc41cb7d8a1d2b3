"""Which files hold secrets: the one table for commands, for tools that read, and for the sandbox.

A pattern is a name, or some names in a row, that may stand anywhere in a path; what lies below it
is meant, too. `~/` in front: only in a home. `/` in front: only from the root. `*`, `?` and `[…]`
match within one name. Case does not count, as in many file systems.

The user's setting `secrets` adds patterns of the same kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import NamedTuple

from flyball.regex import regex

NAMED: Mapping[str, str] = {
    "environment": ".env .env.* .env[-_~]* .envrc .flaskenv .dev.vars",
    "keys": (
        ".ssh .gnupg .putty id_rsa id_dsa id_ecdsa id_ed25519 id_xmss id_rsa[-._]* id_dsa[-._]* "
        "id_ecdsa[-._]* id_ed25519[-._]* ssh_host_*_key /etc/ssl/private /etc/letsencrypt "
        "/etc/krb5.keytab"
    ),
    "logins by host": (
        ".netrc _netrc .pgpass pgpass.conf .pypirc .git-credentials .config/git/credentials "
        ".gitcookies .htpasswd .htaccess.pw .my.cnf .mylogin.cnf .s3cfg .boto .dockercfg "
        ".docker/config.json .docker/trust containers/auth.json .config/hub gh/hosts.yml "
        "glab-cli/config.yml .subversion/auth .config/filezilla .config/rclone rclone.conf "
        ".smbcredentials .davfs2/secrets"
    ),
    "clouds": (
        ".aws .azure .kube .kubeconfig kubeconfig .config/gcloud .oci .bluemix .aliyun "
        ".config/doctl .config/linode-cli .config/hcloud .config/scw .config/openstack "
        ".config/ibmcloud .databrickscfg .snowflake .snowsql /etc/kubernetes/admin.conf "
        "/etc/rancher/k3s/k3s.yaml .config/helm/registry .minikube/profiles .fly/config.yml "
        ".railway/config.json .config/netlify .netlify/config.json com.vercel.cli/auth.json "
        ".vercel/auth.json .config/.wrangler .wrangler/config .cloudflared .ngrok2 .config/ngrok "
        ".config/heroku .config/stripe .config/configstore .config/argocd .config/op .op/config "
        ".config/sops .config/age .terraform.d/credentials.tfrc.json .terraformrc "
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
        "/etc/shadow /etc/shadow[-~]* /etc/gshadow /etc/gshadow[-~]* /etc/sudoers /etc/sudoers.d "
        "/etc/security/opasswd /etc/master.passwd /run/secrets /var/run/secrets "
        "/var/lib/docker/swarm /proc/*/environ /proc/*/mem /proc/*/task/*/environ "
        "/proc/*/fd /dev/mem /dev/kmem self/environ thread-self/environ self/mem "
        "/etc/ppp/chap-secrets /etc/NetworkManager/system-connections /etc/wpa_supplicant"
    ),
    "applications": (
        "master.key credentials.json credentials.toml client_secret.json client_secret_*.json "
        "client_secrets.json service-account.json service_account.json service-account-*.json "
        "serviceaccount*.json firebase-adminsdk*.json *-firebase-adminsdk-*.json secrets.json "
        "secrets.toml .secrets .secret .streamlit/secrets.toml .dbt/profiles.yml "
        "wp-config.php .jupyter/jupyter_server_config.json .ansible/vault .config/flyball"
    ),
}
"""Names that say it all, by what they belong to."""

SHAPED = (
    "[a-z0-9_]*.env *.pem *.key *.p12 *.pfx *.jks *.keystore *.bks *.kdbx *.kdb *.ppk *.keytab "
    "*.ovpn *.agekey *.pem.* *.key.* *.p8 *.kubeconfig *.mobileprovision *secret*.asc "
    "*private*.asc *.gpg-key *.pkcs12"
)
"""Names by their ends. Many such files are public, so some names and places are left out."""

OPEN = (
    "*.example *.sample *.template *.tmpl *.tpl *.dist *.defaults *.default *.schema "
    "*.example.* *.sample.* *.template.* *.pub *.pub.* *.d.ts *.md .env.vault "
    ".ssh/known_hosts .ssh/known_hosts.old .ssh/config .ssh/config.d .ssh/config.* "
    ".ssh/authorized_keys* .ssh/authorized_keys.d .ssh/README* .gnupg/gpg.conf .aws/config "
    ".kube/cache .docker/config.json.example"
)
"""What holds no secret though a name above matches: examples, public keys, settings."""

PUBLIC = (
    "node_modules site-packages dist-packages fixtures __fixtures__ testdata test-data tests test "
    "spec __tests__ mocks examples /etc/ssl/certs /etc/pki /usr/share /usr/lib /usr/local/share "
    "ca-certificates cacert.pem ca.pem ca-*.pem ca_*.pem cert.pem certs.pem *[-_.]cert.pem "
    "*certificate*.pem *chain*.pem *bundle*.pem *public*.pem *pubkey*.pem dhparam*.pem "
    "*.key.ts *.key.js process.env meta.env os.env"
)
"""Where a name of such a shape is no secret, or is not the name of a file."""

_HOME = regex(r"(?:~[\w.-]*|\$\{?home\}?|/home/[^/]+|/root|/use[r]s/[^/]+|/var/home/[^/]+)(?=/|$)")
_WINDOWS = regex(r"[a-z]:\\|\\\\|~\\")
_WILD = regex(r"[*?]|\[[^]]*\]")
_Row = tuple[str | None, tuple[str, ...]]


def holds_secret(path: str, more: Sequence[str] = (), *, shapes: bool = True) -> bool:
    """Whether a file at this path holds what its owner shows to nobody, by its name alone.

    `more` are patterns of the user's; without `shapes` the end of a name says nothing.
    """
    parts = spelled(path)
    if more and _table(tuple(more)).matches(parts):
        return True
    if _listed(" ".join(NAMED.values())).matches(parts):
        return not _listed(OPEN).matches(parts, last=True)
    return (
        shapes
        and _listed(SHAPED).matches(parts, last=True)
        and not _listed(f"{OPEN} {PUBLIC}").matches(parts)
    )


def spelled(path: str) -> tuple[str, ...]:
    """Return the names of a path as the table takes them, in lower case.

    The first is `~` in a home, and empty where the path begins at the root.
    """
    text = path.lower()
    # Elsewhere a backslash is an escape of a shell or of an expression.
    text = text.replace("\\", "/") if _WINDOWS.match(text) else text
    home = _HOME.match(text)
    text = f"~{text[home.end() :]}" if home else text
    parts: list[str] = [""] if text.startswith("/") else []
    for part in text.split("/"):
        if part == ".." and parts and parts[-1] not in ("", "..", "~"):
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return tuple(parts)


def patterns() -> tuple[tuple[str, ...], ...]:
    """Return the names in a row of every pattern of the table that names a thing in full."""
    return tuple(names for group in NAMED.values() for _, names in map(_row, group.split()))


def _row(pattern: str) -> _Row:
    """Return what a pattern starts from, and its names."""
    head, _, rest = pattern.lower().partition("/")
    if head in ("", "~"):
        return head, tuple(rest.split("/"))
    return None, tuple(pattern.lower().split("/"))


class _Table(NamedTuple):
    """Patterns by their last name, or by what surrounds the wildcards in it."""

    exact: Mapping[str, Sequence[_Row]]
    wild: Sequence[tuple[str, str, _Row]]

    def matches(self, parts: Sequence[str], *, last: bool = False) -> bool:
        """Whether some names in a row are one of these patterns; `last`: those at the end."""
        return any(
            _fits(parts, at, start, names)
            for at, name in enumerate(parts)
            if not last or at == len(parts) - 1
            for start, names in self._of(name)
        )

    def _of(self, name: str) -> Iterator[_Row]:
        yield from self.exact.get(name, ())
        for head, tail, row in self.wild:
            if name.startswith(head) and name.endswith(tail):
                yield row


def _fits(parts: Sequence[str], at: int, start: str | None, names: Sequence[str]) -> bool:
    first = at - len(names) + 1
    if first < 0 or (start is not None and (first != 1 or parts[0] != start)):
        return False
    return all(map(_same, parts[first : at + 1], names))


def _same(name: str, pattern: str) -> bool:
    return name == pattern or ("*" in pattern and fnmatchcase(name, pattern))


@cache
def _listed(text: str) -> _Table:
    return _table(tuple(text.split()))


@cache
def _table(given: tuple[str, ...]) -> _Table:
    exact: dict[str, list[_Row]] = {}
    wild: list[tuple[str, str, _Row]] = []
    for row in map(_row, given):
        final = row[1][-1]
        if any(sign in final for sign in "*?["):
            wild.append((_WILD.split(final)[0], _WILD.split(final)[-1], row))
        else:
            exact.setdefault(final, []).append(row)
    return _Table(exact, wild)
