"""Detect a project's servers from the user's settings and its files, without running anything."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from flyball.regex import regex
from flyball.verdict.runners.layout import FileIndex, depends_on, npm_script
from flyball.verdict.settled import ProjectCommands
from flyball.workspace.servers.server import ServerPlan

SCRIPTS = ("dev", "start", "serve")
TARGETS = ("dev", "serve", "run", "start")
MOST = 8
"""Maximum number of servers of a project; a repository may have a hundred examples."""

_MARKS = regex(
    r"(?:[^/]+/){0,2}(?:package\.json|Procfile|Makefile|manage\.py|index\.html"
    r"|(?:app|main|wsgi|asgi|server|application)\.(?:py|js|mjs|cjs))"
)
_PACKAGE = regex(r"[^/]+/__init__\.py")
_FLASK = regex(r"^(\w+)\s*(?::[^=]+)?=\s*(?:flask\.)?Flask\(|^def (create_app|make_app)\(", re.M)
_FASTAPI = regex(r"^(\w+)\s*(?::[^=]+)?=\s*(?:fastapi\.)?(?:FastAPI|Starlette|Litestar)\(", re.M)
_SERVES = regex(r"\.serve_forever\(|\.listen\(|\bserve\(|HTTPServer\(")
_PYTHON = ("app.py", "main.py", "wsgi.py", "asgi.py", "application.py", "server.py")
_PLAIN = ("server.py", "app.py", "main.py")
_NODE = ("server.js", "server.mjs", "server.cjs", "app.js", "main.js")


def server_plans(land: FileIndex, settled: ProjectCommands) -> tuple[ServerPlan, ...]:
    """Return the servers of the project, most likely first; configured ones precede all others."""
    found: dict[str, ServerPlan] = {}
    for at, each in sorted(settled.servers.items()):
        plan = ServerPlan(_name(at), each.command, at, origin=each.origin)
        found.setdefault(plan.name, plan)
    for at in _places(land):
        if len(found) < MOST and not any(plan.at == at for plan in found.values()):
            plan = _plan(land.below(at), at)
            if plan is not None:
                found.setdefault(plan.name, plan)
    # A page without a server counts only if nothing else in the project serves.
    real = [plan for plan in found.values() if plan.origin != STATIC]
    return tuple(real or [*found.values()][:1])


def _places(land: FileIndex) -> list[str]:
    """Return directories that may contain a server: the top first, then by depth and name."""
    marked = {str(PurePosixPath(path).parent) for path in land.matching(_MARKS)}
    # An application in a package is imported, and so served, from the directory above it.
    marked |= {"."} if land.matching(_PACKAGE) else set()
    return sorted(marked, key=lambda at: (at != ".", at.count("/"), at))


def _name(at: str) -> str:
    return "web" if at == "." else re.sub(r"[^A-Za-z0-9_-]", "-", at)


def _plan(land: FileIndex, at: str) -> ServerPlan | None:
    for rule in RULES:
        for command, port, origin in rule(land):
            return ServerPlan(_name(at), command, at, port, origin)
    return None


Found = Iterator[tuple[str, int, str]]


def _package(land: FileIndex) -> Found:
    """Return a script of package.json; if its tool is known, its port can be chosen."""
    for name in SCRIPTS:
        script = npm_script(land, name)
        if not script:
            continue
        command, port = f"{_manager(land)} run {name}", 0
        bridge = " --" if command.startswith("npm") else ""
        first = script.split()[0].rpartition("/")[2]
        if first == "vite":
            command, port = f"{command}{bridge} --port {{port}} --strictPort", 5173
        elif first == "next":
            command, port = f"{command}{bridge} --port {{port}}", 3000
        elif depends_on(land, "react-scripts"):
            port = 3000
        yield command, port, f"the script {name} of package.json"


def _manager(land: FileIndex) -> str:
    if land.has("pnpm-lock.yaml"):
        return "pnpm"
    return "yarn" if land.has("yarn.lock") else "npm"


def _procfile(land: FileIndex) -> Found:
    for line in land.text("Procfile").split("\n"):
        name, colon, command = line.partition(":")
        if colon and name.strip() == "web" and command.strip():
            yield command.strip(), 0, "web in Procfile"


def _django(land: FileIndex) -> Found:
    if "django" in land.text("manage.py").lower():
        yield "python manage.py runserver {port} --noreload", 8000, "manage.py of Django"


def _flask(land: FileIndex) -> Found:
    for file in _modules(land):
        if _FLASK.search(land.text(file)):
            module = _module(file)
            yield f"python -m flask --app {module} run --port {{port}}", 5000, f"Flask in {file}"


def _asgi(land: FileIndex) -> Found:
    for file in _modules(land):
        if found := _FASTAPI.search(land.text(file)):
            app = f"{_module(file)}:{found[1]}"
            yield f"python -m uvicorn {app} --port {{port}}", 8000, f"an ASGI application in {file}"


def _modules(land: FileIndex) -> list[str]:
    """Return Python files that usually contain an application: at the top, or one package below."""
    below = [
        path
        for path in land.files
        if path.count("/") == 1 and path.rpartition("/")[2] in (*_PYTHON, "__init__.py")
    ]
    return [*(name for name in _PYTHON if land.has(name)), *below]


def _module(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _makefile(land: FileIndex) -> Found:
    text = land.text("Makefile")
    for name in TARGETS:
        if re.search(rf"^{name}\s*:(?!=)", text, re.M):
            yield f"make {name}", 0, f"the target {name} of the Makefile"


def _plain(land: FileIndex) -> Found:
    """Return a program that serves by itself, without a known framework."""
    for file in _PLAIN:
        if _SERVES.search(land.text(file)):
            yield f"python {file}", 0, file
    for file in _NODE:
        if _SERVES.search(land.text(file)):
            yield f"node {file}", 0, file


STATIC = "index.html"


def _static(land: FileIndex) -> Found:
    if land.has(STATIC):
        yield "python -m http.server {port} --bind 127.0.0.1", 8000, STATIC


RULES: tuple[Callable[[FileIndex], Found], ...] = (
    _package,
    _procfile,
    _django,
    _flask,
    _asgi,
    _plain,
    _makefile,
    _static,
)
"""In this order: explicit commands come before those inferred from files.

A Makefile comes late, since `make run` starts whatever the project is.
"""
