"""Who may ask: token, host, origin, kind and size of a request, each refused in one shape."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.web.browser import browsing
from tests.web.served import Served, environment, make_shop, serving

from flyball.errors import UsageError
from flyball.web.protection import MOST_BYTES, Protection
from flyball.web.server import kept_token, listen


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    place = tmp_path_factory.mktemp("board")
    shop, _ = make_shop(place)
    with serving(environment(place), shop) as found:
        yield found


def refusal(path: str = "/api/runs", method: str = "GET", port: int = 80, **headers: str):
    raw = [(k.replace("_", "-").encode(), v.encode()) for k, v in headers.items()]
    scope = {"path": path, "method": method, "scheme": "http", "headers": raw}
    found = Protection("right-token-of-tests", port).refusal(scope)
    return found and (found.status, found.failure.code)


TOKEN = "Bearer right-token-of-tests"


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1:80", "localhost:80", "[::1]:80", "127.0.0.1", "LOCALHOST:80", "[::1]", "127.1.2.3"],
)
def test_loopback_by_any_of_its_names_is_ours(host: str):
    assert refusal(host=host, authorization=TOKEN) is None


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        "evil.example:80",
        "127.0.0.1.evil.example:80",
        "localhost.evil.example:80",
        "127.0.0.1:81",
        "10.0.0.7:80",
        "[::2]:80",
        "::1",
        "127.0.0.1:80@evil.example",
        "localhost:80:80",
        "127.0.0.1:٨٠",
    ],
)
def test_a_foreign_host_is_refused_as_in_dns_rebinding(host: str):
    assert refusal(host=host, authorization=TOKEN) == (403, "host")
    assert refusal("/", host=host) == (403, "host")


def test_two_hosts_are_none():
    raw = [(b"host", b"127.0.0.1:80"), (b"host", b"evil.example")]
    scope = {"path": "/", "method": "GET", "scheme": "http", "headers": raw}
    assert Protection("right-token-of-tests", 80).refusal(scope) is not None


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "https://localhost:80", "http://localhost:81", "http://[::1]"],
)
def test_a_foreign_origin_is_refused(origin: str):
    asked = refusal(host="localhost:80", authorization=TOKEN, origin=origin)
    assert asked == (403, "origin")


def test_a_request_that_another_site_made_is_refused_without_an_origin_too():
    headers = {"host": "localhost:80", "authorization": TOKEN, "sec_fetch_site": "cross-site"}
    assert refusal(**headers) == (403, "origin")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer wrong"},
        {"authorization": "right-token-of-tests"},
        {"authorization": "Basic right-token-of-tests"},
        {"cookie": "flyball-81=right-token-of-tests"},
        {"cookie": "flyball-80=wrong"},
        {"cookie": 'flyball-80="\\'},
    ],
)
def test_without_the_token_nothing_is_told(headers: dict[str, str]):
    assert refusal(host="localhost:80", **headers) == (401, "no-token")


def test_the_cookie_of_this_port_is_the_token():
    assert refusal(host="localhost:80", cookie="x=1; flyball-80=right-token-of-tests") is None


@pytest.mark.parametrize("kind", ["text/plain", "", "application/x-www-form-urlencoded"])
def test_only_json_is_taken(kind: str):
    headers = {"host": "localhost:80", "authorization": TOKEN, "content_type": kind}
    assert refusal(method="POST", **headers) == (415, "not-json")


def test_every_refusal_has_the_one_shape_and_the_strict_headers(served: Served):
    asked = [
        served.ask("GET", "/api/runs", token=""),
        served.ask("GET", "/api/runs", token="wrong"),
        served.ask("GET", "/api/runs", headers={"Host": "evil.example"}),
        served.ask("GET", "/api/runs", headers={"Origin": "http://evil.example"}),
        served.ask("POST", "/api/runs", raw=b"{}", headers={"Content-Type": "text/plain"}),
        served.ask("POST", "/api/runs", raw=b"{"),
        served.ask("POST", "/api/runs", {"request": "x", "wish": 1}),
        served.ask("POST", "/api/runs", {"request": ""}),
        served.ask("POST", "/api/runs", {"request": "x", "project": "nowhere"}),
        served.ask("GET", "/api/nowhere"),
        served.ask("DELETE", "/api/runs", {}),
        served.ask("GET", "/api/runs/nobody"),
        served.ask("GET", "/api/file?path=cart.py&head=-1"),
        served.ask("GET", "/api/runs/nobody/events", headers={"Last-Event-ID": "x"}),
    ]
    statuses = [each.status for each in asked]
    assert statuses == [401, 401, 403, 403, 415, 400, 400, 400, 404, 404, 405, 404, 400, 404]
    for each in asked:
        assert set(each.json) == {"code", "message", "hint"}
        assert all(isinstance(value, str) for value in each.json.values())
        assert each.json["message"]
        assert "script-src 'self'" in each.headers["content-security-policy"]
        assert each.headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in each.headers


def test_a_body_that_is_too_large_is_refused_before_it_is_read(served: Served):
    length = {"Content-Length": str(50_000_000)}
    answer = served.ask("POST", "/api/patch/diff", raw=b"{", headers=length)
    assert (answer.status, answer.json["code"]) == (413, "too-large")


def test_a_body_that_is_nested_too_deeply_is_refused(served: Served):
    for raw in (b"[" * 100_000 + b"]" * 100_000, b'{"diff":' * 100_000 + b"1" + b"}" * 100_000):
        answer = served.ask("POST", "/api/patch/diff", raw=raw)
        assert (answer.status, answer.json["code"]) == (400, "too-deep")


def test_a_request_that_does_not_come_whole_is_let_go(tmp_path: Path):
    environ = environment(tmp_path)
    repo, _ = make_shop(tmp_path)
    with serving(environ, repo, headers_within=0.3) as server:
        for sent in (b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: localhost\r\n"):
            with socket.create_connection(("127.0.0.1", server.port), timeout=30) as half:
                half.sendall(sent)
                assert half.recv(10) == b""


def test_a_body_without_a_length_is_bounded_too(served: Served):
    chunk = b"x" * 500_000
    parts = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for _ in range(12)) + b"0\r\n\r\n"
    assert len(parts) > MOST_BYTES
    headers = {"Transfer-Encoding": "chunked"}
    answer = served.ask("POST", "/api/patch/diff", raw=parts, headers=headers)
    assert answer.status in (400, 413)


@pytest.mark.parametrize(
    "path",
    [
        "../../etc/passwd",
        "/etc/passwd",
        "..%2f..%2fetc/passwd",
        "%2e%2e/%2e%2e/etc/passwd",
        "cart.py/../../../etc/passwd",
        "out",
        ".git/config",
        "x%00y",
        "/proc/self/environ",
    ],
)
def test_no_path_leads_out_of_the_project(served: Served, path: str):
    out = served.board.projects.find("").repo / "out"
    if not out.is_symlink():
        out.symlink_to("/etc/passwd")
    answer = served.ask("GET", f"/api/file?path={path}")
    assert answer.status in (400, 403, 404)
    assert b"root:" not in answer.body
    assert b"PATH=" not in answer.body


def test_the_token_in_the_address_becomes_a_cookie_that_no_script_reads(served: Served):
    good = served.ask("GET", "/?token=a-token-for-tests-only", token="")
    assert (good.status, good.headers["location"]) == (303, "/")
    cookie = good.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    kept = {"Cookie": cookie.partition(";")[0]}
    assert served.ask("GET", "/api/health", token="", headers=kept).status == 200
    assert served.ask("GET", "/?token=wrong", token="").status == 401


def test_a_browser_without_a_token_is_brought_to_the_form(served: Served):
    browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    for path, place in (("/?token=wrong", "/#/wrong-token"), ("/run/r1/card.svg", "/")):
        answer = served.ask("GET", path, token="", headers=browser)
        assert (answer.status, answer.headers["location"]) == (303, place)
    with browsing(f"{served.address.partition('?')[0]}#/dev") as (page, _):
        field = page.get_by_label("Token")
        field.fill("a wrong one")
        field.press("Enter")
        page.get_by_role("alert").wait_for()
        assert field.evaluate("(node) => node === document.activeElement")
        # The whole address has the token in it.
        field.fill(served.address)
        field.press("Enter")
        page.get_by_label("Search runs").wait_for()


def test_the_kind_of_each_file_names_its_characters_once(served: Served):
    for path in ("/", "/page/app.js", "/page/style.css"):
        assert served.ask("GET", path).headers["content-type"].count("charset") == 1


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "board.example"])
def test_an_address_that_others_reach_demands_a_token(host: str):
    with pytest.raises(UsageError, match="token"):
        listen(host, 0, "")


@pytest.mark.parametrize("token", ["short", "a token with spaces in it", 'quotes"in;it,12345'])
def test_a_token_is_long_and_fits_into_a_cookie(token: str):
    with pytest.raises(UsageError, match="token"):
        listen("127.0.0.1", 0, token)


def test_the_kept_token_is_for_its_user_alone_and_stays(tmp_path: Path):
    token = kept_token(tmp_path)
    assert (tmp_path / "board.token").stat().st_mode & 0o777 == 0o600
    assert kept_token(tmp_path) == token
    (tmp_path / "board.token").chmod(0o644)
    assert kept_token(tmp_path) != token


def test_the_server_of_a_person_takes_its_token_from_the_environment_and_ends_on_ctrl_c(
    tmp_path: Path,
):
    shop, _ = make_shop(tmp_path)
    token = "a-token-from-the-environment"
    argv = [sys.executable, "-c", "from flyball.cli import main; main()", "serve"]
    process = subprocess.Popen(
        [*argv, "--repo", str(shop), "--port", "0", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**environment(tmp_path), "FLYBALL_SERVE_TOKEN": token},
        # A shell that starts the tests in the background lets them ignore the signal.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    assert process.stdout is not None
    address = json.loads(process.stdout.readline())["address"]
    assert address.startswith("http://127.0.0.1:")
    assert address.endswith(f"/?token={token}")
    port = int(address.partition("/?")[0].rpartition(":")[2])
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/api/events", headers={"Authorization": f"Bearer {token}"})
    stream = connection.getresponse()
    assert stream.readline().startswith(b"data: ")
    process.send_signal(signal.SIGINT)
    stream.read()
    connection.close()
    _, errors = process.communicate(timeout=600)
    assert (process.returncode, errors.strip()) == (130, "")
