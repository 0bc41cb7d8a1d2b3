"""Secrets in the places and shapes where they are found, put together when the tests run.

Nothing here is a token of anybody: each is made of random characters and a vendor's beginning.
"""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Callable, Iterator

LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
WORD = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
URL = WORD + "-_"


def made(alphabet: str, size: int, rng: random.Random) -> str:
    """Return random characters with a digit and a letter among them."""
    while True:
        text = "".join(rng.choice(alphabet) for _ in range(size))
        if any(map(str.isdigit, text)) and any(map(str.isalpha, text)) and text[0] not in "-_":
            return text


def uuid(rng: random.Random) -> str:
    return "-".join(made(HEX, size, rng) for size in (8, 4, 4, 4, 12))


# A beginning and its alphabet and size, or several of them with what is between.
VENDORS: list[tuple[str, ...]] = [
    *((head, UPPER, "16") for head in ("AKIA", "ASIA")),
    *(("gh" + kind + "_", WORD, "36") for kind in "pousr"),
    ("github" + "_pat_", WORD, "82"),
    *(("gl" + kind + "-", URL, "20") for kind in ("pat", "ptt", "rt", "dt", "cbt", "soat", "ft")),
    ("sk" + "-ant-api03-", URL, "93"),
    ("sk" + "-proj-", URL, "60"),
    ("sk" + "-svcacct-", URL, "60"),
    ("sk" + "-or-v1-", HEX, "64"),
    ("sk" + "-", WORD, "48"),
    *((head, WORD, "40") for head in ("xai-", "pplx-", "gsk_", "hf_", "r8_", "npm_")),
    ("xoxb" + "-", string.digits + "a1", "12", "-", WORD, "24"),
    ("xapp" + "-1-A", UPPER, "10", "-", string.digits + "a", "13", "-", HEX, "64"),
    ("AIza", URL, "35"),
    ("ya29.", URL, "80"),
    ("GOCSPX-", URL, "28"),
    ("1//0", URL, "60"),
    ("sk_" + "live_", WORD, "24"),
    ("rk_" + "test_", WORD, "24"),
    ("whsec_", WORD, "32"),
    ("pypi-", URL, "100"),
    ("dckr" + "_pat_", URL, "27"),
    ("SG.", URL, "22", ".", URL, "43"),
    ("SK", HEX, "32"),
    ("AC", HEX, "32", ":", HEX, "32"),
    ("mlsn.", HEX, "64"),
    ("AQ" + ".Ab", URL, "48"),
    ("TEST-1234567890123456-102030-", HEX, "32", "-123456789"),
    ("dop" + "_v1_", HEX, "64"),
    ("shpat_", HEX, "32"),
    ("dapi", HEX, "32"),
    ("hvs.", URL, "90"),
    ("s.", WORD, "24"),
    ("lin" + "_api_", WORD, "40"),
    ("sntrys_", WORD, "80"),
    ("PMAK-", HEX, "24", "-", HEX, "34"),
    ("figd_", URL, "40"),
    ("AGE-SECRET" + "-KEY-1", UPPER, "58"),
    ("aio_", WORD, "28"),
    ("pat", WORD, "14", ".", HEX, "64"),
    ("LTAI", WORD, "20"),
    ("AKCp", WORD, "69"),
    ("ATATT3", URL, "180"),
    ("ATBB", WORD, "32"),
    ("ABSK", WORD, "110"),
    ("BSA", URL, "28"),
    ("xkeysib-", HEX, "64", "-", WORD, "16"),
    ("bkua_", HEX, "40"),
    ("csk-", LOWER, "48"),
    ("CCIPAT_", WORD, "22", "_", HEX, "40"),
    ("CLOJARS_", LOWER, "60"),
    ("v1.0-", HEX, "24", "-", HEX, "146"),
    ("CFPAT-", URL, "43"),
    ("cio", WORD, "32"),
    ("M", WORD, "23", ".", URL, "6", ".", URL, "27"),
    ("dp.pt.", WORD, "43"),
    ("sl.", URL, "135"),
    ("duffel_live_", URL, "43"),
    ("dt0c01.", UPPER, "24", ".", UPPER, "64"),
    ("e2b_", HEX, "40"),
    ("EZAK", WORD, "54"),
    ("EAAM", WORD, "120"),
    ("fnAE", URL, "40"),
    ("fc-", HEX, "32"),
    *((head, WORD, "60") for head in ("polar" + "_oat_", "nyk" + "_v0_", "some_new_vendor_")),
    ("crsr" + "_", HEX, "64"),
    ("hcaik" + "_", LOWER, "58"),
    ("KGAT" + "_", HEX, "32"),
    ("signkey" + "-prod-", HEX, "64"),
    ("pdl" + "_live_apikey_", LOWER, "26", "_", WORD, "22", "_", WORD, "3"),
    ("v4" + ".local.", URL, "120"),
    ("FLWSECK-", LOWER, "32", "-X"),
    ("p8e-", LOWER, "32"),
    ("CfDJ8", URL, "120"),
    ("1.A", URL, "60", ".Ag", URL, "200"),
    ("BBDC-", WORD, "44"),
    ("pk_", HEX, "34"),
    ("bb_pr_", HEX, "30"),
    ("4b1d", WORD, "38"),
    ("api_", WORD, "22", ".", WORD, "22"),
    ("dnkey-", URL, "26", "-", URL, "52"),
    ("endr+", WORD, "16"),
    ("flb_live_", WORD, "20"),
    ("na1.", WORD, "100"),
    ("NRBR-", HEX, "19"),
    ("NF-", WORD, "32"),
    ("sk_1x1_", HEX, "64"),
    ("salad_cloud_abc12_", WORD, "60"),
    ("3MVG9", WORD, "80"),
    ("sandbox-sq0csb-", URL, "43"),
    ("pi_", WORD, "24", "_secret_", WORD, "25"),
    ("thog-secret-", HEX, "32"),
    ("BBFF-", WORD, "30"),
    ("VF.DM.", HEX, "24", ".", WORD, "16"),
    ("1000.", HEX, "32", ".", HEX, "32"),
    ("", WORD, "22", "==:", WORD, "32"),
    ("123456789012345|", WORD, "27"),
    ("AA", HEX, "40", "-NRMA"),
    ("eu01xx", HEX, "26", "FFFFNRAL"),
    ("fo1_", URL, "43"),
    ("fio-u-", URL, "64"),
    ("glsa_", WORD, "32", "_", HEX, "8"),
    ("glc_", WORD, "60"),
    ("HRKU-AA", URL, "58"),
    ("ico-", WORD, "32"),
    ("jina_", WORD, "60"),
    ("lsv2_pt_", HEX, "32", "_", HEX, "10"),
    ("key-", HEX, "32"),
    ("sk.eyJ", WORD, "80", ".", URL, "22"),
    ("napi_", LOWER, "64"),
    ("nfp_", WORD, "40"),
    ("NRAK-", UPPER, "27"),
    ("ntn_", WORD, "46"),
    ("secret_", WORD, "43"),
    ("oy2", LOWER, "43"),
    ("nvapi-", URL, "64"),
    ("API-", UPPER, "26"),
    ("sha256~", URL, "43"),
    ("pcsk_", WORD, "60"),
    ("pscale_tkn_", URL, "43"),
    ("phx_", WORD, "43"),
    ("pnu_", LOWER, "36"),
    ("pul-", HEX, "40"),
    ("rzp_live_", WORD, "14"),
    ("rdme_", LOWER, "70"),
    ("re_", WORD, "8", "_", WORD, "24"),
    ("rubygems_", HEX, "48"),
    ("tk-us-", URL, "48"),
    ("SCW", UPPER, "17"),
    ("sm_aat_", WORD, "16"),
    ("shippo_live_", HEX, "40"),
    ("squ_", HEX, "40"),
    ("sgp_", HEX, "16", "_", HEX, "40"),
    ("sq0atp-", URL, "22"),
    ("sbp_", HEX, "40"),
    ("tskey-auth-", WORD, "12", "-", WORD, "32"),
    ("tvly-", WORD, "32"),
    ("ATTA", HEX, "64"),
    ("AAAAAAAAAAAAAAAAAAAAA", WORD, "80"),
    ("tfp_", WORD, "44"),
    ("zpka_", LOWER, "32", "_", HEX, "8"),
    ("eyJ", WORD, "30", ".eyJ", WORD, "60", ".", URL, "43"),
    ("", WORD, "3", "8Q~", WORD, "34"),
    ("", HEX, "32", "-us14"),
    ("", WORD, "14", ".atlasv1.", URL, "64"),
    ("", WORD, "6", "_", WORD, "29", "_mmk"),
    ("123456789:AA", URL, "33"),
    ("$2b$12$", WORD, "53"),
    ("$6$", WORD, "16", "$", WORD, "86"),
]
"""Parts in threes: text before, an alphabet, a size."""


def vendor_tokens(rng: random.Random) -> Iterator[str]:
    """Return a token of each shape."""
    for row in VENDORS:
        token = ""
        for at in range(0, len(row) - 2, 3):
            token += row[at] + made(row[at + 1], int(row[at + 2]), rng)
        yield token + ("" if len(row) % 3 == 0 else row[-1])
    for head in ("sdk-", "pat-na1-", "access-production-", "amzn.mws.", "ovsxp_", "waka_"):
        yield head + uuid(rng)


def _p(alphabet: str, size: int) -> Callable[[random.Random], str]:
    return lambda rng: made(alphabet, size, rng)


def _letters(alphabet: str, size: int) -> Callable[[random.Random], str]:
    return lambda rng: "".join(rng.choice(alphabet) for _ in range(size))


PASSWORD = _p(WORD + "#+%-", 14)
SHORT = _p(WORD, 9)
LONG = _p(WORD, 40)
HEX_KEY = _p(HEX, 40)
CAPITALS = _letters(string.ascii_uppercase, 13)
SMALL = _letters(string.ascii_lowercase, 12)
BASE64 = _p(WORD + "+/", 64)

# `@` is where the secret is; everything else must stay.
PLACES: list[tuple[Callable[[random.Random], str], str]] = [
    (lambda _: "cLKnVlzegcWlQb", "DB_PASSWORD=@"),
    (LONG, "GET https://api.example.com/v1/items?api_key=@&page=2 200"),
    (LONG, "https://example.com/cb?state=ok#access_token=@&token_type=bearer"),
    (LONG, "https://a.blob.example.net/c/f.txt?sv=2022-11-02&se=2030-01-01&sr=b&sig=@"),
    (LONG, "https://a.example.net/f?sv=2022&amp;sig=@&amp;sp=r"),
    (HEX_KEY, "https://b.s3.example.com/k?X-Amz-Expires=300&X-Amz-Signature=@"),
    (BASE64, "https://b.s3.example.com/k?X-Amz-Security-Token=@&x=1"),
    (LONG, "GET /maps/api/geocode/json?address=x&key=@ HTTP/1.1"),
    (LONG, "/callback?code=@&scope=read"),
    (SHORT, "http://h/login?user=bob&password=@"),
    (LONG, "wss://h/ws?token=@"),
    (LONG, "the token is @."),
    (LONG, "I set the password to @, is that so?"),
    (LONG, "Your new API key is `@`"),
    (SHORT, "mongodb+srv://app:@@cluster0.example.net/db"),
    (SHORT, "redis://:@@cache:6379/0"),
    (SHORT, "amqp://guest1:@@rabbit//"),
    (HEX_KEY, "https://@@o1.ingest.example.io/42"),
    (LONG, "git clone https://@@git.example.com/a/b.git"),
    (SHORT, "jdbc:postgresql://h/db?user=u&password=@"),
    (SHORT, "psql postgresql://u:@@h:5432/db -c 'select 1'"),
    (LONG, "Authorization: Bearer @"),
    (LONG, "  'authorization': 'token @',"),
    (LONG, "> Proxy-Authorization: Basic @"),
    (LONG, "Cookie: session=@; theme=dark"),
    (LONG, "Set-Cookie: sid=@; Path=/; HttpOnly"),
    (LONG, "< set-cookie: connect.sid=@; Path=/"),
    (LONG, "X-Api-Key: @"),
    (LONG, "x-auth-token: @"),
    (LONG, "curl -H 'PRIVATE-TOKEN: @' https://h"),
    (LONG, "Ocp-Apim-Subscription-Key: @"),
    (LONG, "x-functions-key: @"),
    (LONG, "X-Vault-Token: @"),
    (LONG, "DD-API-KEY: @"),
    (LONG, "-H 'Authorization: SSWS @'"),
    (HEX_KEY, "Authorization: @"),
    (LONG, '{"tokens": ["@", "b"]}'),
    (LONG, 'api_keys:\n  - "@"\n'),
    (LONG, "tokens:\n  - one\n  - @\n"),
    (PASSWORD, '{\n  "password":\n    "@"\n}'),
    (LONG, '{"value":"@","name":"DB_PASSWORD"}'),
    (LONG, "kind: Secret\ndata:\n  admin: @\n"),
    (LONG, 'data:\n  a: same\n---\nkind: Secret\nstringData:\n  b: "@"\n---\ndata:\n  b: same\n'),
    (PASSWORD, "password: &anchor @\n"),
    (PASSWORD, "password: !!str @\n"),
    (LONG, 'secret = """\n@\n"""'),
    (LONG, "set -x API_KEY @\n"),
    (LONG, "ENV API_KEY @\n"),
    (PASSWORD, "CREATE USER bob IDENTIFIED BY '@';"),
    (SHORT, "jdbc:oracle:thin:scott/@@//h:1521/x"),
    (PASSWORD, 'variable "db_password" {\n  type = string\n  default = "@"\n}'),
    (LONG, 'api_key: Some("@")'),
    (LONG, 'let api_key = String::from("@");'),
    (LONG, "redirect=https%3A%2F%2Fx%3Faccess_token%3D@%26y%3D1"),
    (PASSWORD, 'form-data; name="password"\r\n\r\n@\r\n--x'),
    (PASSWORD, "| password | @ |"),
    (PASSWORD, "**Password:** `@`"),
    (PASSWORD, "<password>@</password>"),
    (PASSWORD, "    <ns:Password encrypted='no'>@</ns:Password>"),
    (LONG, "<apiKey>@</apiKey>"),
    (LONG, "<secretKey><![CDATA[@]]></secretKey>"),
    (PASSWORD, '<add key="ClearTextPassword" value="@" />'),
    (PASSWORD, '<property name="password" value="@"/>'),
    (LONG, '<string name="api_key">@</string>'),
    (PASSWORD, "<key>Password</key>\n<string>@</string>"),
    (PASSWORD, "<name>db.password</name>\n  <value>@</value>"),
    (PASSWORD, '<add name="x" connectionString="Server=s;User Id=sa;Password=@;Encrypt=yes" />'),
    (PASSWORD, '{"user": "bob", "password": "@", "age": 3}'),
    (PASSWORD, '{\\"user\\":\\"bob\\",\\"password\\":\\"@\\"}'),
    (LONG, '{"name": "API_TOKEN", "value": "@"}'),
    (PASSWORD, "- name: DB_PASSWORD\n  value: @"),
    (BASE64, "    client-key-data: @"),
    (LONG, "    token: @"),
    (LONG, '"identitytoken": "@"'),
    (LONG, "//registry.example.org/:_authToken=@"),
    (PASSWORD, "password: @"),
    (PASSWORD, "password: '@'"),
    (PASSWORD, "db_password:\t@"),
    (PASSWORD, "secret: |\n  @"),
    (PASSWORD, "spring.datasource.password=@"),
    (PASSWORD, "spring.datasource.password = @"),
    (PASSWORD, "[client]\npassword = @"),
    (PASSWORD, "export DB_PASSWORD=@"),
    (PASSWORD, 'DB_PASS="@"'),
    (PASSWORD, "MYSQL_ROOT_PASSWORD='@'"),
    (LONG, "STRIPE_KEY=@"),
    (HEX_KEY, "SECRET_KEY_BASE=@"),
    (LONG, "RAILS_MASTER_KEY=@"),
    (BASE64, "AccountName=x;AccountKey=@;EndpointSuffix=y"),
    (BASE64, "Endpoint=sb://x/;SharedAccessKeyName=r;SharedAccessKey=@"),
    (PASSWORD, "Server=tcp:x,1433;Database=d;Uid=u;Pwd=@;"),
    (PASSWORD, "dbname=x user=y password=@ host=z"),
    (PASSWORD, "db.example.com:5432:app:bob:@"),
    (PASSWORD, "*:*:*:postgres:@"),
    (PASSWORD, "machine api.example.com login bob password @"),
    (PASSWORD, "machine api.example.com\n  login bob\n  password @"),
    (PASSWORD, "curl -u bob:@ https://h/x"),
    (PASSWORD, "curl -s --user 'bob:@' https://h/x"),
    (PASSWORD, "curl -sSfubob https://h/x -u bob:@"),
    (PASSWORD, "curl --proxy-user bob:@ https://h"),
    (PASSWORD, "wget --http-password=@ https://h"),
    (PASSWORD, "http -a bob:@ https://h"),
    (PASSWORD, "mysql -u root -p@ app"),
    (PASSWORD, "mysqldump -uroot -p@ --all-databases"),
    (PASSWORD, "sshpass -p @ ssh host"),
    (PASSWORD, "sshpass -p'@' ssh host"),
    (PASSWORD, "docker login -u bob -p @ registry.example.com"),
    (PASSWORD, "podman login --username bob --password @ r"),
    (PASSWORD, "redis-cli -h h -a @ ping"),
    (PASSWORD, "mongosh -u bob -p @ db"),
    (PASSWORD, "sqlcmd -S s -U sa -P @ -Q x"),
    (PASSWORD, "ldapsearch -x -D cn=a -w @ -b dc=b"),
    (PASSWORD, "mosquitto_pub -u u -P @ -t x"),
    (PASSWORD, "openssl rsa -in k -passin pass:@"),
    (PASSWORD, "unzip -P @ a.zip"),
    (PASSWORD, "7z x -p@ a.7z"),
    (PASSWORD, "keytool -list -storepass @"),
    (PASSWORD, "smbclient //h/s -U bob%@"),
    (PASSWORD, "echo @ | docker login -u bob --password-stdin"),
    (PASSWORD, "echo '@' | sudo -S ls"),
    (PASSWORD, "tool --password @ x"),
    (LONG, "tool --api-token=@ x"),
    (LONG, "tool --token '@' x"),
    (PASSWORD, "java -Ddb.password=@ -jar a.jar"),
    (PASSWORD, "docker run -e DB_PASSWORD=@ img"),
    (LONG, "aws configure set aws_secret_access_key @"),
    (PASSWORD, "xfreerdp /u:bob /p:@ /v:h"),
    (PASSWORD, "htpasswd -bc f bob @"),
    (PASSWORD, r"net use Z: \\srv\share @"),
    (PASSWORD, r"net use \\srv\share /user:dom\bob @ /persistent:no"),
    (PASSWORD, "net use '\\\\srv\\share' @ /user:bob"),
    (PASSWORD, "ALTER USER bob WITH PASSWORD '@';"),
    (PASSWORD, "$password = '@';"),
    (LONG, 'const apiKey: string = "@";'),
    (PASSWORD, 'password: str = "@"'),
    (LONG, 'String token = "@";'),
    (LONG, "define('AUTH_KEY', '@');"),
    (LONG, "os.environ['API_KEY'] = '@'"),
    (LONG, ":secret_key => '@'"),
    (LONG, '  secret_key = "@"'),
    (PASSWORD, 'client.setPassword("@")'),
    (LONG, "oauth_token_secret=@"),
    (LONG, "jwt_secret: @"),
    (LONG, "Token: @"),
    (CAPITALS, "PGPASSWORD=@ psql -h db"),
    (SMALL, "export SSHPASS=@"),
    (SMALL, "REDISCLI_AUTH=@ redis-cli ping"),
    (CAPITALS, "docker run -e POSTGRES_PASSWORD=@ postgres"),
    (lambda _: "welcome", "MYSQL_PWD=@ mysqldump app"),
    (lambda _: "zrkevshchkekeqgy", "spring.mail.password: @"),
    (lambda _: "tuOEDacZEhgtd", 'adminPassword: "@"'),
    (SMALL, "curl -d 'user=u&password=@' https://h"),
    (LONG, "grant_type=authorization_code&code_verifier=@&client_id=x"),
    (HEX_KEY, '"device_code": "@"'),
    (HEX_KEY, '  "private_key_id": "@",'),
    (BASE64, "SAMLResponse=@"),
    (_p(HEX, 32), 'response="@", cnonce="0a4f113b"'),
    (_p(HEX, 64), "X-Amz-Signature=@"),
    (_p(HEX, 64), "X-Hub-Signature-256: sha256=@"),
    (_p(HEX, 64), "AWS4-HMAC-SHA256 SignedHeaders=host, Signature=@"),
    (_p(LOWER, 26), "PHPSESSID=@"),
    (SHORT, '<setting name="SmtpPassword" serializeAs="String"><value>@</value></setting>'),
    (SHORT, "Password for bob: @"),
    (SHORT, "username admin password 7 @"),
    (SHORT, "snmp-server community @ RO"),
    (SHORT, 'expect "Password:"; send "@\\r"'),
    (LONG, "mc alias set m https://h AKIDX @"),
    (CAPITALS, 'ssh-keygen -N "@"'),
    (SHORT, "cryptsetup --key-file <(echo @)"),
    (SHORT, "rabbitmqctl add_user bob @"),
    (SHORT, "echo 'bob:@' | chpasswd"),
    (SHORT, "ALTER LOGIN sa WITH PASSWORD = N'@'"),
    (_p(WORD, 28), "userPassword:: @"),
    (_p(WORD, 32), "userPassword: {SSHA}@"),
    (LONG, '{"kty":"EC","crv":"P-256","d":"@"}'),
    (BASE64, "Unseal Key 1: @"),
    (lambda _: "legal winner thank year wave sausage " * 2 + "yellow", 'mnemonic: "@"'),
]  # fmt: skip


def places(rng: random.Random) -> Iterator[tuple[str, str, str]]:
    """Return the secret, its line, and the line as it must be shown."""
    for make, place in PLACES:
        secret = make(rng)
        before, _, after = place.partition("@")
        yield secret, before + secret + after, before + "[redacted]" + after


def der(kind: bytes, size: int, rng: random.Random) -> str:
    """Return the base64 of something that begins as a private key does."""
    return base64.b64encode(kind + rng.randbytes(size)).decode()


KEY_KINDS = {
    "RSA": bytes.fromhex("308204a40201000282010100"),
    "PKCS8": bytes.fromhex("308204be020100300d06092a864886f70d0101010500"),
    "EC": bytes.fromhex("30770201010420"),
    "ED25519": bytes.fromhex("302e020100300506032b657004220420"),
    "OPENSSH": b"openssh-key-v1\0\0\0\0\4none",
}


def key_blocks(rng: random.Random) -> Iterator[tuple[str, str]]:
    """Return private keys in the forms they are found in: the body, and the text."""
    for kind, start in KEY_KINDS.items():
        whole = der(start, 300, rng)
        lines = [whole[at : at + 64] for at in range(0, len(whole), 64)]
        body = "\n".join(lines)
        head, tail = "-----BEGIN " + "PRIVATE KEY-----", "-----END " + "PRIVATE KEY-----"
        yield lines[2], f"{head}\n{body}\n{tail}"
        yield lines[2], f"{head}\n{body}"
        yield lines[2], f"{body}\n{tail}"
        yield lines[2], body
        yield lines[2], body.replace("\n", "\n    ")
        yield lines[2], f'"key": "{head}\\n' + body.replace("\n", "\\n") + f'\\n{tail}\\n"'
        yield lines[2], "> " + f"{head}\n{body}\n{tail}".replace("\n", "\n> ")
        yield lines[-2], "\n".join(lines[3:]) + f"\n{tail} {kind}"
