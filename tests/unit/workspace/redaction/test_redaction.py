import base64
import json
import random
import time

import pytest

from flyball.workspace.redaction import HIDDEN, Redactor, is_key_like, secrets_in

SHAPES = {
    "aws": "AKIA" + "Z7Q2X4T6V8B1N3M5",
    "github": "ghp_" + "a1B2" * 9,
    "github-fine": "github_pat_" + "11AAAAAAA0" * 4,
    "gitlab": "glpat-" + "x1Y2z3W4v5U6t7S8r9Q0",
    "openai": "sk-" + "aB3dE5gH7jK9mN1pQ3sT5",
    "openai-project": "sk-proj-" + "aB3d_E5gH-7jK9mN1pQ3",
    "anthropic": "sk-ant-api03-" + "aB3d_E5gH-7jK9mN1pQ3",
    "slack": "xoxb-" + "123456789012-abcdefABCDEF",
    "google": "AIza" + "Sy" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3",
    "google-oauth": "ya29." + "a0AfH6SMBx1y2z3w4v5u6t7s8",
    "stripe": "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "npm": "npm_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5",
    "pypi": "pypi-" + "AgEIcHlwaS5vcmcCJDE" * 4,
    "sendgrid": "SG." + "aB3dE5gH7jK9mN1pQ3sT5v" + "." + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3",
    "huggingface": "hf_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9b",
    "digitalocean": "dop_v1_" + "0123456789abcdef" * 4,
    "groq": "gsk_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9b",
    "docker": "dckr_pat_" + "aB3dE5gH7jK9mN1pQ3sT5vW7",
    "telegram": "123456789:AA" + "Hk5jx8r3t7Y2u4I6o8P0aSdFgHjKlZxCv",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
}


@pytest.mark.parametrize("token", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize(
    "around", ["{}", "key is {}.", "'{}'", "x={},", "<{}>", "https://h/?k={}&z=1", "\n{}\n"]
)
def test_a_token_is_known_by_its_shape(token, around):
    text = Redactor().text(around.format(token))
    assert token not in text
    assert HIDDEN in text


FIELDS = [
    "password = 'hunter22'",
    'password: "c0rrect!horse"',
    "DB_PASSWORD=s3cr3tvalue",
    "PGPASSWORD=pgq71zx04",
    '{"api_key": "abcdEFGH1234"}',
    '{"apiKey":"abcdEFGH1234"}',
    "api-key: q8w7e6r5t4y3",
    "export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXAMPLE1",
    "client_secret => 'f00ba7ba2'",
    "auth_token=3f2a9c81e7d64b05",
    'x.token := "T0k3nT0k3n"',
    "--password hunter2pass",
    "--token=abc123def456",
    "Authorization: Bearer abcdefghij0123456789",
    "authorization=Basic dXNlcjpwYXNzd29yZDEyMw==",
    "curl -H 'Authorization: token abcdefghij0123456789'",
    "postgres://app:pg5ecret@db.example/x",
    "https://user:ghtoken12@github.com/a/b.git",
    "machine h login me password n3trcpass",
    "SECRET_KEY='django-insecure-8#x2k$q0'",
    "private_key_2: a8b7c6d5e4f3",
    "https://hooks.slack.com/services/T00000000/B00000000/abcdefghijklmnop12345678",
]


@pytest.mark.parametrize("text", FIELDS)
def test_a_random_string_in_a_key_like_field_is_hidden(text):
    cleaned = Redactor().text(text)
    assert HIDDEN in cleaned
    assert Redactor().text(cleaned) == cleaned


ORDINARY = [
    "commit 61128dd9f0c3b4a5e6d7c8b9a0f1e2d3c4b5a697",
    "index 61128dd..f0c3b4a 100644",
    "uuid=550e8400-e29b-41d4-a716-446655440000",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    '"integrity": "sha512-abcdEFGH1234abcdEFGH1234abcdEFGH=="',
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
    "password = getpass()",
    "password: str = None",
    "def check_password(password, hashed):",
    "password_hash = sha256(salt + value)",
    "token = tokens[i]",
    "token: Token | None",
    "self.token = config.token",
    "token=self.next_token()",
    "auth_token = b64decode(raw)",
    'api_key = os.environ["API_KEY"]',
    "api_key: ${API_KEY}",
    "password: {{ vault_password }}",
    "password=$PASSWORD",
    "password: changeme",
    "token: your-token-here",
    "max_tokens: 4096",
    "tokenizer_hash = 'a8f5f167f44f4964'",
    "the token expired yesterday",
    "secret: my-app-secret",
    "secretName: db-credentials-2",
    "next_page_url = '/a1b2c3d4'",
    "cache_key = 'user-1234-abcd'",
    "primary_key=True",
    "key = 'abcdefg123456'",
    "keyboard: dvorak42",
    "proto://username:password@host",
    "sk-fading-circle-animation-more",
    "task-1234567890abcdefghijkl",
    "12:34:56.789 GET /items/8f14e45fceea167a5a36dedd4bea2543 200",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_is_left_alone(text):
    assert Redactor().text(text) == text


def test_known_secrets_are_hidden_in_every_form():
    secret = "p@ss w/ord+1?"
    redactor = Redactor([secret])
    encoded = base64.b64encode(secret.encode()).decode()
    for form in (secret, "p%40ss%20w%2Ford%2B1%3F", encoded, f"a{secret}b"):
        assert redactor.text(f"<{form}>").startswith("<")
        assert form.rstrip("=") not in redactor.text(f"<{form}>")


def test_the_longest_known_secret_wins():
    assert Redactor(["secret-one", "secret-one-long"]).text("secret-one-long") == HIDDEN


def test_a_short_or_empty_value_is_no_secret():
    assert Redactor(["", "a", "true", "   "]).text("a true   story") == "a true   story"


@pytest.mark.parametrize("kind", ["RSA ", "EC ", "OPENSSH ", "", "ENCRYPTED "])
def test_a_private_key_goes_whole(kind):
    body = "\n".join("MIIEpAIBAAKCAQEA" * 4 for _ in range(20))
    key = f"-----BEGIN {kind}PRIVATE KEY-----\n{body}\n-----END {kind}PRIVATE KEY-----"
    assert Redactor().text(f"before\n{key}\nafter") == f"before\n{HIDDEN}\nafter"


def test_a_private_key_without_an_end_goes_to_the_end():
    assert Redactor().text("x -----BEGIN PRIVATE KEY-----\nMIIE\n") == f"x {HIDDEN}"


def test_a_value_is_cleaned_all_the_way_down():
    value = {
        "password": "hunter22",
        "note": f"uses {SHAPES['github']}",
        "deep": [{"api_key": "abcdEFGH1234"}, ("x", 1, None, True, 2.5)],
        SHAPES["stripe"]: "as a key",
        "token": None,
        "secret": {"name": "plain"},
    }
    cleaned = Redactor().value(value)
    assert cleaned["password"] == HIDDEN
    assert cleaned["note"] == f"uses {HIDDEN}"
    assert cleaned["deep"] == [{"api_key": HIDDEN}, ["x", 1, None, True, 2.5]]
    assert cleaned[HIDDEN] == "as a key"
    assert cleaned["token"] is None
    assert cleaned["secret"] == {"name": "plain"}
    assert "hunter22" not in json.dumps(cleaned)


def test_secrets_are_found_in_an_environment_by_name():
    environment = {
        "OPENAI_API_KEY": "abcdefgh",
        "GITHUB_TOKEN": "12345678",
        "PGPASSWORD": "pgpgpgpg",
        "AWS_SECRET_ACCESS_KEY": "abcdefgh1",
        "HOME": "/home/someone",
        "SSH_AUTH_SOCK": "/run/agent",
        "TOKENIZERS_PARALLELISM": "false",
        "SHORT_TOKEN": "x",
    }
    assert set(secrets_in(environment)) == {"abcdefgh", "12345678", "pgpgpgpg", "abcdefgh1"}


def test_the_headers_that_a_collector_is_sent_are_secret():
    headers = "authorization=Bearer%20plainwordsonly,x-team=eng,x-api=otherplainword"
    environment = {"OTEL_EXPORTER_OTLP_HEADERS": headers}
    assert secrets_in(environment) == ("plainwordsonly", "otherplainword")


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("password", True),
        ("userPassword", True),
        ("API_KEY", True),
        ("apiKey2", True),
        ("GITHUB_PAT", True),
        ("secretKey", True),
        ("key", False),
        ("primary_key", False),
        ("tokens", False),
        ("token_count", False),
        ("path", False),
        ("", False),
        ("123", False),
    ],
)
def test_names_that_say_key(name, answer):
    assert is_key_like(name) is answer


def streamed(redactor, text, cuts):
    stream = redactor.stream()
    shown, at = "", 0
    for cut in [*cuts, len(text)]:
        shown += stream.feed(text[at:cut])
        at = cut
    return shown + stream.close()


def test_a_stream_hides_secrets_wherever_it_is_cut():
    redactor = Redactor(["known-secret-value"])
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabcd\n-----END RSA PRIVATE KEY-----"
    text = f"a known-secret-value b\n{SHAPES['jwt']} c\npassword='hunter22'\n{key}\n"
    text += f"tail {SHAPES['npm']}"
    whole = redactor.text(text)
    assert HIDDEN in whole
    for cut in range(len(text)):
        assert streamed(redactor, text, [cut]) == whole
    rng = random.Random(4)
    for _ in range(50):
        cuts = sorted(rng.sample(range(len(text)), 12))
        assert streamed(redactor, text, cuts) == whole
    assert streamed(redactor, text, range(len(text))) == whole


def test_an_endless_line_is_shown_in_part_and_never_cut_through_a_secret():
    redactor = Redactor()
    secret = SHAPES["github"]
    text = "".join(f"{n:06d} " + (secret if n % 97 == 0 else "word") + " " for n in range(9000))
    stream = redactor.stream()
    pieces = [stream.feed(text[at : at + 1000]) for at in range(0, len(text), 1000)]
    assert any(pieces[:-1])
    assert "".join(pieces) + stream.close() == redactor.text(text)


def test_lines_are_shown_as_they_end():
    stream = Redactor().stream()
    assert stream.feed("one\ntw") == "one\n"
    assert stream.feed("o\r50%\r") == "two\r50%\r"
    assert stream.close() == ""


@pytest.mark.parametrize(
    "evil",
    [
        "a" * 200_000,
        "a." * 100_000,
        "password=" * 20_000,
        "-----BEGIN PRIVATE KEY-----" * 8_000,
        'token="' * 30_000,
        "eyJ" * 60_000,
        "eyJaaaaaaaa.eyJ" * 13_000,
        " " * 200_000,
        "://" * 60_000,
        "bearer " * 30_000,
        "--a " * 50_000,
        "login a password " * 10_000,
    ],
    ids=lambda text: text[:12],
)
def test_no_text_makes_it_slow(evil):
    began = time.process_time()
    Redactor().text(evil)
    # Linear it takes a tenth of a second, square more than a minute.
    assert time.process_time() - began < 60
