"""Which servers a project has, told from its files alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.repos import put

from flyball.tools.pages.detect import server_plans
from flyball.verdict.runners.layout import look
from flyball.verdict.settled import NOTHING_SETTLED, ProjectCommands, SettledCommand

DJANGO = "os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'shop.settings')\n"
FLASK = "from flask import Flask\napp = Flask(__name__)\n"
FACTORY = "from flask import Flask\ndef create_app():\n    app = Flask(__name__)\n    return app\n"
FASTAPI = "from fastapi import FastAPI\napi: FastAPI = FastAPI()\n"
PLAIN = "from http.server import HTTPServer\nHTTPServer(('', 8000), None).serve_forever()\n"


def scripts(**found: str) -> str:
    listed = ", ".join(f'"{name}": "{text}"' for name, text in found.items())
    return f'{{"scripts": {{{listed}}}}}'


def plans(place: Path, files: dict[str, str], settled: ProjectCommands = NOTHING_SETTLED):
    put(place, files)
    return [(plan.name, plan.command, plan.port) for plan in server_plans(look(place), settled)]


@pytest.mark.parametrize(
    ("files", "command", "port"),
    [
        (
            {"package.json": scripts(dev="vite")},
            "npm run dev -- --port {port} --strictPort",
            5173,
        ),
        ({"package.json": scripts(dev="next dev")}, "npm run dev -- --port {port}", 3000),
        ({"package.json": scripts(start="node x.js", build="y")}, "npm run start", 0),
        ({"package.json": scripts(serve="x"), "yarn.lock": ""}, "yarn run serve", 0),
        (
            {"package.json": scripts(dev="vite"), "pnpm-lock.yaml": ""},
            "pnpm run dev --port {port} --strictPort",
            5173,
        ),
        ({"Procfile": "worker: x\nweb: gunicorn app:app\n"}, "gunicorn app:app", 0),
        ({"manage.py": DJANGO}, "python manage.py runserver {port} --noreload", 8000),
        ({"app.py": FLASK}, "python -m flask --app app run --port {port}", 5000),
        ({"shop/__init__.py": FACTORY}, "python -m flask --app shop run --port {port}", 5000),
        ({"shop/__init__.py": "", "shop/cart.py": "x = 1\n"}, None, None),
        ({"wsgi.py": FACTORY}, "python -m flask --app wsgi run --port {port}", 5000),
        ({"main.py": FASTAPI}, "python -m uvicorn main:api --port {port}", 8000),
        ({"server.py": PLAIN}, "python server.py", 0),
        ({"server.js": "http.createServer(f).listen(80)"}, "node server.js", 0),
        ({"Makefile": "all:\n\nserve: all\n\tx\n"}, "make serve", 0),
        ({"Makefile": "run := x\n"}, None, None),
        ({"index.html": "<p>"}, "python -m http.server {port} --bind 127.0.0.1", 8000),
        ({"README.md": "nothing", "cart.py": "x = 1\n"}, None, None),
    ],
)
def test_what_serves_a_project(tmp_path, files, command, port):
    assert plans(tmp_path, files) == ([("web", command, port)] if command else [])


def test_every_part_may_have_a_server(tmp_path):
    files = {"web/package.json": scripts(dev="vite"), "api/app.py": FLASK, "docs/index.html": "x"}
    assert [name for name, _, _ in plans(tmp_path, files)] == ["api", "web"]


def test_what_somebody_settled_comes_first_and_instead(tmp_path):
    files = {"web/package.json": scripts(dev="vite"), "api/app.py": FLASK}
    settled = ProjectCommands(servers={"web": SettledCommand("./serve.sh", "config.toml")})
    assert plans(tmp_path, files, settled)[0] == ("web", "./serve.sh", 0)
    assert [name for name, _, _ in plans(tmp_path, files, settled)] == ["web", "api"]
