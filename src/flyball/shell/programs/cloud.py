"""Command lines of clouds: verbs that only read, by each one's conventions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from flyball.shell.judgement import CommandKind, Finding
from flyball.shell.rows import READ, UNKNOWN, rule, table
from flyball.shell.rule import Check, Inquiry, Rule, parse
from flyball.shell.words.names import names
from flyball.shell.words.pattern import Pattern
from flyball.shell.words.word import Word

_SECRET = Pattern(
    r"secret|password|token|credential|decrypt|get-object|private|api-key|print-access|fileb?://|"
    r"access-details|glue get-connection|get-(export|sdk|template-job-output|job-output|media)\b|"
    r"get-package-version-asset|synthesize-|get-thing-shadow"
)


_MIXED = Pattern(
    r"lambda (get-function|list-functions|list-versions)|task-definition|instance-attribute|"
    r"launch-template|configuration-settings|appsettings|connection-string|batch-get-projects|"
    r"apprunner|amplify|\b(functions|run|services|jobs|revisions|instances) .*describe|"
    r"(webapp|functionapp|container|containerapp) (config|show|list)|user-?data"
)
"""What answers with the variables of what runs there, secrets among them."""
_FIELD = Pattern(
    r"(value\()?[\w.*\[\]]*?\w*(name|arn|runtime|version|status|state|handler|role|timeout|size|"
    r"lastmodified|url|id|region)\)?",
    re.I,
)


def _is_field(query: Word | None) -> bool:
    """Return whether a query asks for one plain field."""
    asked = (query.value or "") if query else ""
    return len(asked) < 200 and bool(_FIELD.fullmatch(asked))


def _asking(pattern: str) -> Check:
    """Return a check that the plain words, joined, match the pattern and name no secret."""
    known = Pattern(pattern)

    def check(_inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
        text = " ".join(word.source for word in words)
        parsed = parse(rule, words[1:])
        said = " ".join(word.value or "\0" for word in parsed.operands)
        plain = not any(word.known.startswith("-") for word in words[1:-1])
        # After an option, `help` may be its value.
        if plain and words[-1].value in ("help", "--help", "-h"):
            yield Finding(text, CommandKind.READ_ONLY, f"{words[0].source} only prints its help")
        elif any(word.value is None for word in words) or _SECRET.search(text):
            yield Finding(
                text, CommandKind.UNKNOWN, f"{words[0].source} may show a secret or send one"
            )
        elif known.match(said):
            mixed = bool(_MIXED.search(said)) and not _is_field(parsed.value("--query", "--format"))
            yield Finding(
                text, CommandKind.READ_ONLY, f"{words[0].source} only asks", reveals=mixed
            )
        else:
            yield Finding(
                text, CommandKind.UNKNOWN, f"{words[0].source} may change things elsewhere"
            )

    return check


_GCLOUD = names(
    "active-directory accounts addresses ai alpha api-gateway app artifacts auth backend- "
    "services backups beta billing buckets builds certificates clusters components composer "
    "compute config configurations container dashboards databases dataflow dataproc "
    "deployments disks dns docker domain-mappings domains endpoints environments eventarc "
    "executions filestore firewall-rules folders forwarding-rules functions health-checks iam "
    "images instance-groups instance-templates instances jobs logging machine-types managed "
    "managed-zones models monitoring networks node-pools notebooks objects operations "
    "organizations policies projects pubsub queues record-sets redis regions repos "
    "repositories revisions roles routers routes run scheduler service-accounts services "
    "sinks snapshots source spanner sql ssl-certificates storage subnets subscriptions tasks "
    "target-pools topics triggers types url-maps users versions vpn-tunnels workflows zones"
)
_AZURE = names(
    "account acr ad aks app appservice assignment batch blob boards build cdn cloud container "
    "containerapp cosmosdb db definition deployment devops disk dns endpoint env eventhubs "
    "extension feature flexible-server functionapp group hub identity image iot job lb lock "
    "log log-analytics metrics ml monitor mysql namespace network nic nodepool nsg pipelines plan "
    "policy postgres pr profile project provider public-ip queue record-set redis repos "
    "repository resource revision role rule runs server servicebus share sig slot snapshot sp "
    "sql storage subnet tag topic user vm vmss vnet webapp workspace zone"
)
"""Words for kinds of resources. A verb comes after them, and after the verb anything."""


def _verb(groups: frozenset[str], verbs: str) -> str:
    """Return a pattern for known groups followed directly by one of these verbs."""
    return rf"(?:(?:{'|'.join(sorted(groups))}) )*(?:{verbs})(?: |$)"


CLOUDS = table(
    {
        "aws": rule(
            READ,
            "asks",
            check=_asking(
                r"s3 ls\b|configure list|s3api (list|get-bucket|head)-|help\b|"
                r"[\w-]+ (describe|list|get|lookup|search|filter)-|logs tail\b"
            ),
            valued="--profile --region --output --query --filters",
        ),
        "gcloud": rule(
            READ,
            "asks",
            check=_asking(
                _verb(_GCLOUD, "list|ls|describe|get-value|get|info|du|read|version|help")
            ),
            valued="--project --format --zone --region --filter --limit",
        ),
        "gsutil bq": rule(
            READ,
            "asks",
            check=_asking(r"(ls|du|stat|show|version|help|hash)\b"),
            valued="-p --project_id --format -n",
        ),
        "az": rule(
            READ,
            "asks",
            check=_asking(
                _verb(_AZURE, "list|show|tail|list-(?:locations|sizes|skus|ip-addresses)|version")
            ),
            valued="-g -n -o --resource-group --name --output --query --subscription",
        ),
        "heroku fly flyctl vercel netlify wrangler railway": rule(
            READ,
            "asks",
            check=_asking(
                r"((logs|status|info|whoami|version|help|list|ls|inspect)( [\w./:-]+)?|"
                r"(ps|apps|releases)( (list|ls|show|status|info))?|\w+:info( [\w.-]+)?)$"
            ),
            valued="-a --app -n --num",
        ),
        "minikube kind k3d vagrant": rule(
            READ, "asks", check=_asking(r"(status|version|ip|profile list|get \w+|global-status)\b")
        ),
        "pulumi ansible ansible-playbook packer serverless eksctl": rule(
            UNKNOWN, "can change things elsewhere"
        ),
    }
)
