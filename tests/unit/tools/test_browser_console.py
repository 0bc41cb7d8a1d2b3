"""Pages of a run's server, opened in a real and confined browser."""

from __future__ import annotations

import pytest
from tests.tiers import NEEDS_PAGES
from tests.unit.tools.test_dev_server import stranger, together

__all__ = ["stranger"]

pytestmark = [
    pytest.mark.exhaustive,
    NEEDS_PAGES,
]
PAGE = "<!doctype html><title>Shop</title><div id=app></div><script src=app.js></script>\n"
BROKEN = "const cart = null;\nfunction show() {\n  app.textContent = cart.total;\n}\nshow();\n"
WHOLE = "document.getElementById('app').textContent = 'Three pens';\n"


def test_the_error_that_leaves_a_page_blank_is_found_with_its_place(make_bench):
    bench = make_bench({"index.html": PAGE, "app.js": BROKEN})
    blank, _, whole = together(
        bench,
        ("browser_console", {"url": "/"}),
        lambda: bench.put({"app.js": WHOLE}),
        ("browser_console", {"url": "/"}),
    )
    assert not blank.ok
    (report,) = blank.evidence
    assert report.own and "TypeError: Cannot read properties of null" in report.errors[0]
    assert "/app.js:3:" in report.errors[0]
    assert "The page is blank" in blank.text and "Title: Shop" in blank.text
    assert whole.ok, whole.text
    assert "The console is clean." in whole.text and "Three pens" in whole.text
    assert whole.evidence[0].tree != report.tree


REACHING = """\
const said = [];
async function reach(name, what) {
  try {
    said.push(`${name}: GOT ${await what()}`);
  } catch (error) {
    said.push(`${name}: nothing`);
  }
  app.textContent = said.join('\\n');
}
const get = async (url) => (await fetch(url, {mode: 'no-cors'})).type;
const socket = (url) => new Promise((done, fail) => {
  const made = new WebSocket(url);
  made.onopen = () => done('open');
  made.onerror = () => fail(new Error('closed'));
});
const frame = (url) => new Promise((done, fail) => {
  const made = document.createElement('iframe');
  made.src = url;
  made.onload = () => {
    try {
      const text = made.contentDocument.body.innerText;
      text ? done(text) : fail(new Error('empty'));
    } catch {
      fail(new Error('barred'));
    }
  };
  document.body.append(made);
  setTimeout(() => fail(new Error('never')), 200);
});
(async () => {
  await reach('outside', () => get('http://example.org/'));
  await reach('address', () => get('http://93.184.216.34/'));
  await reach('neighbour', () => get('http://127.0.0.1:PORT/'));
  await reach('socket', () => socket('ws://127.0.0.1:PORT/'));
  await reach('file', () => get('file:///etc/passwd'));
  await reach('journal', () => frame('file://STATE/journal.sqlite'));
})();
"""


def test_a_page_reaches_nothing_but_the_servers_of_its_run(make_bench, stranger, tmp_path):
    script = REACHING.replace("PORT", str(stranger)).replace("STATE", str(tmp_path))
    (tmp_path / "journal.sqlite").write_text("the journal")
    bench = make_bench({"index.html": PAGE, "app.js": script})
    (seen,) = together(bench, ("browser_console", {"url": "/", "seconds": 30}))
    for name in ("outside", "address", "neighbour", "socket", "file", "journal"):
        assert f"{name}: nothing" in seen.text, seen.text
    assert "GOT" not in seen.text


def test_a_file_is_no_page(make_bench):
    call = make_bench().call("browser_console", url="file:///etc/passwd")
    assert "must be an http address" in call.fault


HOSTILE = {
    "frame.html": "<p>outer<iframe src='http://localhost:PORT/inner.html'></iframe>",
    "inner.html": "<p>in<script>setTimeout(() => { throw new Error('inner broke') })</script>",
    "worker.html": "<p>w<script>new Worker('/worker.js')</script>",
    "worker.js": "undefinedThing();\n",
    "again.html": "<p>a<script>setTimeout(() => location.reload(), 200)</script>",
    "stuck.html": "<p>s<script>setTimeout(() => { for (;;) {} }, 300)</script>",
    "socket.html": "<p>s<script>new WebSocket('ws://example.org/')</script>",
}


def test_failing_and_pending_requests_are_reported(make_bench):
    files = {name: text.replace("PORT", "8000") for name, text in HOSTILE.items()}
    bench = make_bench({"index.html": PAGE, **files})
    frame, worker, again, stuck, socket = together(
        bench,
        *(
            ("browser_console", {"url": f"/{name}.html", "seconds": 4})
            for name in ("frame", "worker", "again", "stuck", "socket")
        ),
    )
    assert "Error: inner broke (http://localhost:8000/inner.html:1:" in frame.text, frame
    assert "ReferenceError: undefinedThing is not defined" in worker.text, worker
    assert not again.ok and "it keeps reloading: it was loaded" in again.text, again
    assert not stuck.ok and "a script of it runs without end" in stuck.text, stuck
    assert stuck.evidence[0].errors and not stuck.evidence[0].picture
    assert socket.ok and "- ws://example.org/" in socket.text, socket
