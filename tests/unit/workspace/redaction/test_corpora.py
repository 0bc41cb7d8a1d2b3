"""What is hidden and what stays, measured on two corpora: secrets in all shapes, and real logs."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from flyball.workspace.redaction import HIDDEN, Redactor

sys.path.insert(0, str(Path(__file__).parent))
import corpus
from encodings_of import ENCODINGS

TOP = Path(__file__).parents[4]
SEEDS = range(3)


def test_tokens_of_all_vendors_are_hidden_wherever_they_are():
    redactor = Redactor()
    for seed in SEEDS:
        tokens = list(corpus.vendor_tokens(random.Random(seed)))
        assert len(tokens) > 100
        for token in tokens:
            for around in ("{}", "x = {} y", "- {}\n"):
                assert redactor.text(around.format(token)) == around.format(HIDDEN)


def test_a_secret_is_hidden_by_its_place_and_nothing_around_it():
    redactor = Redactor()
    assert len(corpus.PLACES) > 100
    for seed in SEEDS:
        for _, line, wanted in corpus.places(random.Random(seed)):
            assert redactor.text(line) == wanted
            assert redactor.text(wanted) == wanted


def test_a_private_key_is_hidden_in_every_form():
    for body, text in corpus.key_blocks(random.Random(1)):
        cleaned = Redactor().text(f"before\n{text}\n- after")
        assert body not in cleaned
        assert cleaned.startswith("before\n")
        assert cleaned.endswith("- after")


def dumped(data: bytes, row: str, between: str, size: int) -> str:
    """Return a dump as `xxd` and `hexdump -C` write it."""
    parts = [data[at : at + 16] for at in range(0, len(data), 16)]
    texts = [re.sub(r"[^ -~]", ".", part.decode()) for part in parts]
    codes = [part.hex(between, size) for part in parts]
    rows = zip(range(0, len(data), 16), codes, texts, strict=True)
    return "".join(row.format(at, code, text) for at, code, text in rows)


def printed(words: str) -> Callable[[bytes], str]:
    """Return a dump by one of the system's programs."""
    return lambda data: subprocess.run(
        words.split(), input=data, capture_output=True, check=True
    ).stdout.decode()


DUMPS: dict[str, Callable[[bytes], str]] = {
    "xxd": lambda data: dumped(data, "{:08x}: {:<40} {}\n", " ", -2),
    "hexdump -C": lambda data: dumped(data, "{:08x}  {:<48}  |{}|\n", " ", 1),
    **{
        each: printed(each)
        for each in ("od -c", "od -x", "od -b", "od -tx1z", "od -td1", "nl", "cat -n")
    },
}


@pytest.mark.parametrize("dump", DUMPS)
def test_a_known_value_is_hidden_in_a_dump(dump):
    for seed in SEEDS:
        secret = corpus.made(corpus.WORD, 30, random.Random(seed))
        shown = DUMPS[dump](f"A=1\nKEY={secret}\nB=2\n".encode())
        cleaned = Redactor([secret]).text(f"before\n{shown}after\n")
        assert cleaned.startswith("before\n")
        assert cleaned.endswith("after\n")
        letters = "".join(filter(str.isalnum, cleaned)).lower()
        parts = [secret[at : at + 6] for at in range(len(secret) - 5)]
        assert not [each for each in parts if each.lower() in letters]
        assert not [each for each in parts if each.encode().hex() in letters]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_known_value_is_hidden_in_every_encoding(encoding):
    for seed in SEEDS:
        rng = random.Random(seed)
        for alphabet, size in ((corpus.WORD, 20), (corpus.WORD + "!@#%&<\"'\\", 24)):
            secret = corpus.made(alphabet, size, rng)
            encoded = ENCODINGS[encoding](secret)
            cleaned = Redactor([secret]).text(f"a <{encoded}> b")
            assert HIDDEN in cleaned
            assert cleaned.startswith("a <")
            assert cleaned.endswith("> b")
            # Base64 shares letters at its ends with what is around the secret.
            assert len(cleaned) < len(f"a <{HIDDEN}> b") + 14


def test_controls_beside_a_secret_stay():
    secret = "kq7-zw93-xv51"
    text = f"\x1b[1m\u200btoken \x1b[31m{secret[:5]}\x1b[0m{secret[5:]}\x1b[0m\x07 end\u200b"
    wanted = f"\x1b[1m\u200btoken \x1b[31m{HIDDEN}\x1b[0m\x07 end\u200b"
    assert Redactor([secret]).text(text) == wanted


def test_real_logs_and_sources_stay_as_they_are():
    texts = [(Path(__file__).parent / "harmless.log").read_text()]
    places = [*TOP.glob("*.lock"), *TOP.glob("src/**/*.py"), *TOP.glob("docs/guides/*.md")]
    texts += [place.read_text() for place in sorted(places)[::4]]
    redactor = Redactor()
    lines = touched = 0
    for text in texts:
        lines += text.count("\n")
        touched += len(redactor.spans(text))
    assert lines > 5000
    assert touched <= lines / 1000


HARMLESS = [
    'public_key = "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE="',
    "psqlscan.h,sha256=kv_ER5C2mpLU7LJRaMrK8Wb6IIOPGJpa84E,2927",
    "--- PASS: TestAddr2Line (16.62s)",
    "The password is base64 encoded, the secret is v2.3.4-rc1",
    "password was reset at 10:30:22; the token is EXPIRED_401",
    "the token is test_cart2.py::test_Total1, the key is in src/a1.py",
    "the token is 8f14e45fceea167a5a36dedd4bea2543",
    "--- PASS: TestX509/p256_sha2 (0.01s)",
    "    --- PASS: Test_A1/case#01 (0.00s)",
    "PASS: tests/run-2.sh",
    "Pass: t0001-init.sh 12",
    "ok  example.com/pass2 0.012s",
    "password: string;",
    "token = next(tokens)",
    "token: Option<String>,",
    "secret: Secret2,",
    "key: value",
    "unexpected token: identifier",
    'data-key="items-3"',
    "Author: A Person <a.person1@example.com>",
    "https://example.com/?page=2&sort=name&key=price",
    "git@github.com:owner2/name3.git",
    "curl -u user https://h",
    "docker run -p 8080:80 image",
    "mysql -p app",
    "mkdir -p some/dir1",
    "ssh -p 2222 host",
    "src/main.c:1234:12:error: expected ';'",
    "2026-01-01T10:00:00.000Z info started",
    "the cookie: see RFC 6265",
    "Cookie: $COOKIE",
    "pass the -p2 flag",
    "auth: false",
    "tests/unit/test_auth.py::test_token[a1b2c3d4] PASSED",
    "password=passwordFromStdin",
    "PASSWORD=password",
    "the response=200 came after 3 tries",
    '"signature": "8f14e45fceea167a5a36dedd4bea2543"',
    "keyId: 8f14e45fceea167a5a36dedd4bea25438f14e45f",
    "web_components_2024_updated_again_later",
    "verifier = Verifier(config)",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_field_stays(text):
    assert Redactor().text(text) == text


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (["mysql", "-u", "root", "-pq7w8e9r1x"], ["mysql", "-u", "root", f"-p{HIDDEN}"]),
        (["x", "--password", "q7w8e9r1x"], ["x", "--password", HIDDEN]),
        ({"name": "DB_PASSWORD", "value": "q7w8e9r1x"}, {"name": "DB_PASSWORD", "value": HIDDEN}),
        ({"Cookie": "sid=q7w8e9r1x; a=b"}, {"Cookie": f"sid={HIDDEN}; a=b"}),
        ({"Authorization": "Basic q7w8e9r1xA=="}, {"Authorization": f"Basic {HIDDEN}"}),
    ],
)
def test_values_are_read_with_what_is_beside_them(value, wanted):
    assert Redactor().value(value) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "machine h.example.com\nlogin bob\npassword q7w8e9r1x\n",
        "- name: DB_PASSWORD\n  value: q7w8e9r1x\n",
        "<key>Password</key>\n<string>q7w8e9r1x</string>\n",
        "secret: |\n  q7w8e9r1x\n",
        "first known-\nq7w8e9r1x\n",
    ],
)
def test_a_secret_on_a_later_line_is_hidden_in_a_stream(text):
    redactor = Redactor(["known-q7w8e9r1x"])
    whole = redactor.text(text)
    assert HIDDEN in whole
    for cut in range(len(text)):
        stream = redactor.stream()
        shown = stream.feed(text[:cut]) + stream.feed(text[cut:]) + stream.close()
        assert shown == whole
