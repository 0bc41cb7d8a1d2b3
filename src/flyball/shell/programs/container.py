"""Containers, clusters and clouds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from flyball.shell.judgement import CommandKind, Finding
from flyball.shell.rows import (
    DESTROY,
    MUTATE,
    READ,
    TEXT,
    VERIFY,
    each,
    rule,
    table,
)
from flyball.shell.rule import Inquiry, Rule, SortedWords, judge_words, parse
from flyball.shell.words.names import names
from flyball.shell.words.pattern import Pattern
from flyball.shell.words.word import Word

_LOOK = rule(READ, "only shows", operands=TEXT, reveals="--no-trunc")
_SETTINGS = rule(READ, "shows settings, secrets among them", operands=TEXT, reveals="*")
_BUILD = rule(MUTATE, "builds or starts containers", operands=TEXT)
_DEPLOY = rule(DESTROY, "changes things outside the workspace", operands=TEXT)
_ENDS = rule(DESTROY, "ends or holds up what is running", operands=TEXT)


def _get(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge reading from a cluster: its secrets are excluded."""
    text = " ".join(word.source for word in words)
    names = [w.known.lower() for w in parse(rule, words[1:]).operands]
    if any(re.match(r"secrets?\b", part) for name in names for part in re.split(r"[,/]", name)):
        yield Finding(text, CommandKind.READ_ONLY, "it would show secrets", veto=True)
    else:
        yield from judge_words(inquiry, rule, words)


_OPEN_FIELD = (
    r"\{\{ ?(?:json )?\.(?:State|NetworkSettings|Mounts|Name|Id|Created|RestartCount|Platform|"
    r"Driver|RepoTags|RepoDigests|Size|Architecture|Os|Image|LogPath)[\w.]* ?\}\}"
)
_OPEN_FORMAT = Pattern(rf"(?:{_OPEN_FIELD}|[^{{}}])*")


def _inspect(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `inspect`, which shows a container's variables unless asked for other fields."""
    asked = parse(rule, words[1:]).value("-f", "--format")
    is_open = asked is not None and bool(_OPEN_FORMAT.fullmatch(asked.value or "{"))
    for found in judge_words(inquiry, rule, words):
        yield found._replace(reveals=not is_open)


def _release(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge a release: its notes are public; its values and manifests may contain secrets."""
    asked = parse(rule, words[1:]).operands[:1]
    if asked and asked[0].value in ("notes", "hooks", "metadata"):
        yield from judge_words(inquiry, rule, words)
    else:
        text = " ".join(word.source for word in words)
        yield Finding(text, CommandKind.READ_ONLY, "it would show secrets", veto=True)


def _api(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge `gh api`, which reads with GET, and changes with any other method."""
    general = judge_words(inquiry, rule, words)[0]
    parsed = parse(rule, words[1:])
    method = parsed.value("-X", "--method")
    asks = method is not None and method.value in ("GET", "HEAD")
    # A field that begins with `@` is filled from a file.
    loads = any("=@" in word.known for word in words)
    if general.kind is CommandKind.DESTRUCTIVE and _queries(parsed):
        yield general._replace(kind=CommandKind.READ_ONLY, reason="gh api only asks")
        return
    if general.kind is CommandKind.DESTRUCTIVE and asks and not (parsed.has("--input") or loads):
        yield general._replace(kind=CommandKind.READ_ONLY, reason="gh api only asks")
    elif general.kind is CommandKind.READ_ONLY and method is not None and not asks:
        yield general._replace(kind=CommandKind.DESTRUCTIVE, reason="gh api changes something")
    else:
        yield general


_QUERY = Pattern(r"query=\s*(\{|query\b)(?!.*\b(mutation|subscription)\b).*", re.S)


_QUERYING = names("-f -F --field --raw-field -q --jq --paginate --slurp")


def _queries(parsed: SortedWords) -> bool:
    """Return whether only a GraphQL query with its values is sent."""
    given = [value.value or "" for _, value in parsed.flags if value and "=" in value.known]
    what, *fields = [operand.value or "" for operand in parsed.operands] or [""]
    texts = [*given, *fields]
    asks = [text for text in texts if text.startswith("query=")]
    plain = all("=" in text and not text.partition("=")[2].startswith("@") for text in texts)
    known = all(flag in _QUERYING for flag, _ in parsed.flags)
    is_query = len(asks) == 1 and _QUERY.fullmatch(asks[0]) is not None
    return what == "graphql" and known and plain and is_query


def _inside(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """Judge a command in a container: it may read there, confined, as none of its files are
    known here, but a change needs a person.
    """
    text = " ".join(word.source for word in words)
    parsed = parse(rule, words[1:], stop_at_operand=True)
    inner = [w for w in parsed.operands[1:] if w.value != "--"]
    if parsed.doubtful or not inner:
        yield Finding(text, CommandKind.UNKNOWN, "what it runs in the container is not known")
        return
    for found in inquiry.command(inner):
        severe = found.kind.severity > CommandKind.READ_ONLY.severity
        kind = (
            max(found.kind, CommandKind.DESTRUCTIVE, key=lambda k: k.severity)
            if severe
            else found.kind
        )
        yield found._replace(kind=kind, reveals=True)


_INSPECT = rule(
    READ,
    "shows settings, variables among them",
    operands=TEXT,
    valued="-f --format --type",
    check=_inspect,
)
_EXEC = rule(
    DESTROY,
    "runs a command elsewhere",
    check=_inside,
    valued="-e --env -u --user -w --workdir -n --namespace -c --container",
)


def _group(shows: str, builds: str = "", deploys: str = "", settings: str = "") -> Rule:
    looks = {**each(shows, _LOOK), **each(settings, _INSPECT)}
    return Rule(subcommands={**looks, **each(builds, _BUILD), **each(deploys, _DEPLOY)})


_COMPOSE = Rule(
    valued=names("-f --file -p --project-name --profile --env-file"),
    subcommands={
        **each("ps logs ls images top version port events stats volumes", _LOOK),
        **each("config convert", _SETTINGS._replace(writes=names("-o --output"))),
        **each("build start pull create unpause watch", _BUILD),
        "up": _BUILD._replace(
            destroys=names("--force-recreate -V --renew-anon-volumes --remove-orphans")
        ),
        **each("run rm kill push cp", _DEPLOY),
        **each("stop restart pause down", _ENDS),
        "exec": _EXEC,
    },
    bare=_LOOK,
)
_KUBE = (
    "-n --namespace -l --selector -o --output --context --field-selector -c --container "
    "--tail --since"
)
_KUBE_LOOK = rule(
    READ,
    "asks the cluster",
    operands=TEXT,
    valued=_KUBE,
    runs="--kubeconfig --raw",
    check=_get,
    writes="--profile-output",
    reveals="-v --v",
    mutates="--profile",
    known="--profile --client",
)
_GH = rule(
    READ,
    "asks the forge",
    operands=TEXT,
    runs="-w --web --show-token -t",
    fixed=True,
    valued="--json --jq -q --template -R --repo -L --limit -s --state -l --label -A --author -S "
    "--search -b -B --branch",
    known="--template --title --watch --workflow",
)
_GH_CHANGE = rule(DESTROY, "changes something on the forge", operands=TEXT)


def _gh(shows: str, changes: str, local: str = "") -> Rule:
    return Rule(
        subcommands={
            **each(shows, _GH),
            **each(changes, _GH_CHANGE),
            **each(local, rule(MUTATE, "changes the workspace", operands=TEXT)),
        }
    )


CONTAINERS = table(
    {
        "docker podman nerdctl": rule(
            READ,
            "handles containers",
            runs="-H --host --config --tlscacert",
            valued="--context -c -l --log-level",
            subcommands={
                **each(
                    "ps images logs version info stats top port history diff search events help",
                    _LOOK,
                ),
                "inspect": _INSPECT,
                **each("build pull start unpause create tag wait", _BUILD),
                **each("stop restart pause", _ENDS),
                **each(
                    "run rm rmi push kill cp commit load save import export login logout rename "
                    "update attach",
                    _DEPLOY,
                ),
                "exec": _EXEC,
                "container": _group(
                    "ls list ps logs stats top port diff",
                    "start unpause",
                    "run rm prune kill stop restart pause",
                    "inspect",
                ),
                "image": _group(
                    "ls list history", "build pull tag", "rm prune push load save", "inspect"
                ),
                "volume": _group("ls list inspect", "create", "rm prune"),
                "network": _group("ls list inspect", "create", "rm prune connect disconnect"),
                "system": _group("df info events", "", "prune"),
                "context": _group("ls list show inspect", "", "use create rm update"),
                "node": _group("ls ps", "", "rm update promote demote", "inspect"),
                "service": _group("ls ps logs", "", "create rm update scale rollback", "inspect"),
                "stack": _group("ls ps services", "", "deploy rm up down"),
                "buildx": _group("ls inspect du version", "build bake", "rm prune create use"),
                "manifest": _group("inspect", "", "create push annotate rm"),
                "pod": _group(
                    "ls list ps logs stats top exists",
                    "start create",
                    "rm prune kill stop restart pause",
                    "inspect",
                ),
                "machine": _group("ls list inspect info", "start", "stop rm reset set"),
                "compose": _COMPOSE,
            },
        ),
        "docker-compose podman-compose": _COMPOSE,
        "kubectl k oc": rule(
            READ,
            "asks the cluster",
            valued=_KUBE,
            runs="--kubeconfig -s --server --token --username --password --client-key",
            writes="--cache-dir",
            subcommands={
                "diff": _KUBE_LOOK._replace(
                    valued=_KUBE_LOOK.valued | {"-f", "--filename", "-k", "--kustomize"}
                ),
                **each(
                    "get describe logs explain version api-resources api-versions top events "
                    "options help wait",
                    _KUBE_LOOK,
                ),
                "cluster-info": rule(
                    READ,
                    "asks the cluster",
                    operands=TEXT,
                    writes="--output-directory",
                    runs="--kubeconfig",
                ),
                "config": _group(
                    "current-context get-contexts get-clusters get-users",
                    "",
                    "use-context set set-context delete-context unset rename-context",
                )._replace(
                    subcommands={
                        **each("current-context get-contexts get-clusters get-users", _LOOK),
                        "view": rule(
                            READ, "shows settings", operands=TEXT, runs="--raw --kubeconfig"
                        ),
                        **each(
                            "use-context set set-context delete-context unset rename-context",
                            _DEPLOY,
                        ),
                    }
                ),
                "exec": _EXEC,
                "auth": _group("can-i whoami", "", "reconcile"),
                # A kustomization may make secrets of files.
                "kustomize": _SETTINGS._replace(
                    writes=names("-o --output"),
                    runs=names("--enable-alpha-plugins --enable-exec --enable-helm --helm-command"),
                ),
                "rollout": _group("status history", "", "restart undo pause resume"),
                **each(
                    "apply delete create edit patch scale cp port-forward run drain cordon "
                    "uncordon label annotate expose set replace autoscale taint debug attach "
                    "proxy",
                    _DEPLOY,
                ),
            },
        ),
        "helm": rule(
            READ,
            "asks the cluster",
            runs="--kubeconfig",
            valued=_KUBE,
            subcommands={
                **each("list ls status history version search show env", _LOOK),
                "get": rule(READ, "asks the cluster", operands=TEXT, valued=_KUBE, check=_release),
                **each(
                    "lint template",
                    rule(
                        VERIFY,
                        "renders charts",
                        runs="--post-renderer --post-renderer-args",
                        writes="--output-dir",
                        proves="lint",
                    ),
                ),
                "repo": _group("list", "", "add remove update"),
                **each("dependency dep", _group("list ls", "", "build update")),
                "plugin": _group("list ls", "", "install uninstall update"),
                **each("install upgrade uninstall rollback delete push pull", _DEPLOY),
            },
        ),
        "terraform tofu": rule(
            READ,
            "handles infrastructure",
            runs="-chdir",
            single=True,
            subcommands={
                **each("version graph", _LOOK),
                **each(
                    "show output",
                    rule(READ, "shows", operands=TEXT, single=True, reveals="-json -raw"),
                ),
                "providers": Rule(bare=_LOOK, subcommands={"schema": _LOOK}),
                "state": _group("list show", "", "rm mv push pull replace-provider"),
                "workspace": _group("list show", "", "new delete select"),
                "validate": rule(VERIFY, "checks the configuration", proves="lint"),
                "fmt": rule(MUTATE, "formats files", spares="-check", single=True),
                "init": rule(MUTATE, "fetches providers", runs="-plugin-dir", single=True),
                "get": _BUILD,
                "plan": rule(VERIFY, "plans without applying", writes="-out", single=True),
                **each("apply destroy import taint untaint refresh", _DEPLOY),
            },
        ),
        "gh": rule(
            READ,
            "asks the forge",
            subcommands={
                "pr": _gh(
                    "list view diff checks status ls",
                    "create merge close edit comment review reopen ready lock unlock update-branch",
                    "checkout co",
                ),
                "issue": _gh(
                    "list view status ls",
                    "create close edit comment reopen delete transfer pin unpin lock unlock",
                    "develop",
                ),
                "run": _gh("list view watch ls", "cancel rerun delete", "download"),
                "repo": _gh(
                    "list view ls",
                    "create delete edit fork rename sync archive set-default",
                    "clone",
                ),
                "release": _gh("list view ls", "create delete edit upload", "download"),
                "workflow": _gh("list view ls", "run enable disable"),
                "gist": _gh("list view ls", "create delete edit rename", "clone"),
                "label": _gh("list ls", "create delete edit clone"),
                "search": _gh("issues prs repos commits code", ""),
                "auth": _gh("status", "login logout refresh setup-git switch"),
                "cache": _gh("list ls", "delete"),
                "secret": _gh("list ls", "set delete remove"),
                "variable": _gh("list ls get", "set delete remove"),
                "config": _gh("list get ls", "set"),
                "project": _gh("list view item-list field-list", "create edit delete"),
                "ruleset": _gh("list view check", ""),
                "alias": _gh("list ls", "set delete import"),
                "extension": _gh("list ls search", "install remove upgrade create exec browse"),
                "org": _gh("list ls", ""),
                **each("status version help completion", _GH),
                "api": rule(
                    READ,
                    "asks the forge",
                    operands=TEXT,
                    fixed=True,
                    check=_api,
                    destroys="-f --raw-field -F --field --input",
                    valued="-X --method -H --header -q --jq -t --template --cache -p --preview "
                    "--hostname",
                ),
            },
        ),
        "glab": rule(
            READ,
            "asks the forge",
            subcommands={
                "mr": _gh("list view diff", "create merge close", "checkout"),
                "issue": _gh("list view", "create close"),
                "ci": _gh("list view status", "run retry"),
            },
        ),
    }
)
