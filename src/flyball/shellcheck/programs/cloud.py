"""Command lines of clouds: verbs that only ask, by the habits of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flyball.shellcheck.judgement import CommandKind, Finding
from flyball.shellcheck.rows import READ, UNKNOWN, rule, table
from flyball.shellcheck.rule import Check, Inquiry, Rule, parse
from flyball.shellcheck.words.pattern import Pattern
from flyball.shellcheck.words.word import Word

_SECRET = Pattern(
    r"secret|password|token|credential|decrypt|get-object|private|api-key|print-access"
)


def _asking(pattern: str) -> Check:
    """A command whose plain words, joined, match the pattern and name no secret."""
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
            yield Finding(text, CommandKind.READ_ONLY, f"{words[0].source} only asks")
        else:
            yield Finding(
                text, CommandKind.UNKNOWN, f"{words[0].source} may change things elsewhere"
            )

    return check


CLOUDS = table(
    {
        "aws": rule(
            READ,
            "asks",
            check=_asking(
                r"s3 ls\b|configure list|s3api (list|get-bucket|head)-|help\b|"
                r"[\w-]+ (describe|list|get|lookup|search)-"
            ),
            valued="--profile --region --output --query --filters",
        ),
        "gcloud": rule(
            READ,
            "asks",
            check=_asking(
                r"([\w-]+ )*(list|ls|describe|get-value|info|du)\b|info$|version$|help\b"
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
            check=_asking(r"([\w-]+ )*(list|show)\b|version$"),
            valued="-g -n -o --resource-group --name --output --query --subscription",
        ),
        "heroku fly flyctl vercel netlify wrangler railway": rule(
            READ,
            "asks",
            check=_asking(
                r"(logs|ps|apps|status|info|releases|list|ls|whoami|inspect|version|help)\b"
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
