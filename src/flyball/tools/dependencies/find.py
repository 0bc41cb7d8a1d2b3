"""Resolve `dep:NAME/PATH` to the installed source, or a sentence about what is available."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import NamedTuple

from flyball.errors import NotFound
from flyball.regex import regex
from flyball.tools.call.facts import DEPENDENCY, is_dependency
from flyball.tools.call.protocol import CallContext, Result, bounded
from flyball.verdict.runners.layout import FileIndex, look, package_json, text_of
from flyball.verdict.runners.start_env import python_of, venv_of
from flyball.workspace.files.paths import Root

_MODULE = regex(r"^(?:require)?[ \t]*([\w.~-]+(?:/[\w.~-]+)*)[ \t]+(v\d[\w.+-]*)", re.M)
_CRATE = regex(r'^name = "([^"]+)"\nversion = "([^"]+)"\nsource = ', re.M)
_SITES = (
    "lib/python3*/site-packages",
    "lib64/python3*/site-packages",
    "local/lib/python3*/dist-packages",
    "lib/python3*/dist-packages",
)


class Installed(NamedTuple):
    """An installed dependency, and the requested file or directory in it."""

    name: str
    version: str
    root: Root
    path: str
    prefix: str
    """The prefix of paths below the root when displayed."""


class Package(NamedTuple):
    """The name and version of an installed package, for a list."""

    name: str
    version: str


def in_python(asked: str, context: CallContext) -> Installed | None:
    """Find a module or a distribution in the environment of the project's Python."""
    first, slash, rest = asked.partition("/")
    for site in _sites(context):
        owner, entry = _entry(site, first)
        if entry:
            version = owner.version if owner else ""
            name = owner.name if owner else first
            path = f"{entry}{slash}{rest}"
            return Installed(name, version, Root(site), path, DEPENDENCY)
    return None


def in_node(asked: str, context: CallContext) -> Installed | None:
    """Find a package in the node_modules of the project or of one of its parts."""
    parts = asked.split("/")
    name = "/".join(parts[: 2 if asked.startswith("@") else 1])
    for modules in _node_modules(context):
        if (modules / name).is_dir():
            version = str(package_json(modules / name).get("version", ""))
            return Installed(name, version, Root(modules), asked, DEPENDENCY)
    return None


def in_go(asked: str, context: CallContext) -> Installed | None:
    """Find a module from go.mod in the module cache."""
    cache = context.env.get("GOMODCACHE", "")
    found = [each for each in _go_modules(context) if f"{asked}/".startswith(f"{each.name}/")]
    for module in sorted(found, key=lambda each: len(each.name), reverse=True):
        place = Path(cache, f"{_escaped(module.name)}@{_escaped(module.version)}")
        if cache and place.is_dir():
            path = asked[len(module.name) + 1 :] or "."
            prefix = f"{DEPENDENCY}{module.name}/"
            return Installed(module.name, module.version, Root(place), path, prefix)
    return None


def in_cargo(asked: str, context: CallContext) -> Installed | None:
    """Find a crate from Cargo.lock in cargo's registry of sources."""
    name, _, rest = asked.partition("/")
    home = Path(context.env.get("CARGO_HOME", os.devnull))
    # The last of several versions in a lock file is the newest.
    for crate in reversed([each for each in _crates(context) if each.name == name]):
        for place in sorted(home.glob(f"registry/src/*/{crate.name}-{crate.version}")):
            prefix = f"{DEPENDENCY}{name}/"
            return Installed(name, crate.version, Root(place), rest or ".", prefix)
    return None


def packages(context: CallContext) -> Iterator[Package]:
    """Yield the installed packages that the project's own manifests name, or all without any."""
    for site in _sites(context):
        yield from (Package(each.name, each.version) for each in _distributions(site))
    for modules in _node_modules(context):
        yield from _node_packages(modules)
    yield from _go_modules(context)
    yield from _crates(context)


def _sites(context: CallContext) -> Iterator[Path]:
    venv = venv_of(context) or Path(os.path.realpath(python_of(context))).parent.parent
    for pattern in _SITES:
        # lib64 is often a link to lib.
        yield from (place for place in sorted(venv.glob(pattern)) if not place.is_symlink())


def _distributions(site: Path) -> list[Distribution]:
    return [each for each in distributions(path=[os.fspath(site)]) if each.metadata["Name"]]


def _entry(site: Path, first: str) -> tuple[Distribution | None, str]:
    """Return the entry of a module or distribution in a site directory, and its distribution."""
    known = _distributions(site)
    same = next((each for each in known if _plain(each.name) == _plain(first)), None)
    for name in (first, f"{first}.py"):
        if name and (site / name).exists():
            owner = same or next((each for each in known if name in _tops(each)), None)
            return owner, name
    return same, next(iter(_tops(same)), "") if same else ""


def _tops(owner: Distribution) -> list[str]:
    """Return the modules of a distribution: packages first, private ones last."""
    named = {file.parts[0] for file in owner.files or () if file.suffix in (".py", ".pyi", ".so")}
    tops = [top for top in named if not top.endswith((".dist-info", ".egg-info", "..", ".so"))]
    return sorted(tops, key=lambda top: (top.endswith(".py"), top.startswith("_"), top))


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _node_modules(context: CallContext) -> Iterator[Path]:
    """Yield the node_modules next to each package.json of the project, the top's first."""
    at = [os.path.dirname(path) for path in _manifests(context, "package.json")]  # noqa: PTH120
    for part in sorted({"", *at}):
        modules = Path(os.path.realpath(context.project / part / "node_modules"))
        if modules.is_dir():
            yield modules


def _node_packages(modules: Path) -> Iterator[Package]:
    wanted = package_json(modules.parent)
    for kind in ("dependencies", "devDependencies"):
        for name in sorted(wanted.get(kind) or ()):
            found = package_json(modules / name)
            if found:
                yield Package(name, str(found.get("version", "")))


def _go_modules(context: CallContext) -> Iterator[Package]:
    for path in _manifests(context, "go.mod"):
        for name, version in _MODULE.findall(text_of(context.root.path / path)):
            yield Package(name, version)


def _escaped(name: str) -> str:
    """Return a name as the module cache spells it: some file systems ignore case."""
    return re.sub(r"[A-Z]", lambda found: f"!{found[0].lower()}", name)


def _crates(context: CallContext) -> Iterator[Package]:
    for path in _manifests(context, "Cargo.lock"):
        for name, version in _CRATE.findall(text_of(context.root.path / path)):
            yield Package(name, version)


def _manifests(context: CallContext, name: str) -> tuple[str, ...]:
    land: FileIndex = look(context.root.path)
    return land.matching(re.compile(rf"(?:.*/)?{re.escape(name)}"))


_PLACES = (in_python, in_node, in_go, in_cargo)
_WITHOUT_IGNORES = ("--no-ignore", "--glob=!__pycache__")
"""Disables ignore rules, as a project ignores the packages it installs."""


class Located(NamedTuple):
    """A path that a driver may read, with how it is searched and displayed."""

    root: Root
    env: Mapping[str, str]
    path: str
    prefix: str = ""
    note: str = ""
    words: tuple[str, ...] = ()


def located(raw: str, context: CallContext) -> Located:
    """Return the location of a path, in the workspace or in an installed dependency."""
    if not is_dependency(raw):
        return Located(context.root, context.env, raw)
    found = _installed(raw.removeprefix(DEPENDENCY).strip("/"), context)
    what = f"{found.name} {found.version}".rstrip()
    return Located(
        root=found.root,
        env=context.env,
        path=found.path,
        prefix=found.prefix,
        note=f" ({what}, installed)",
        words=_WITHOUT_IGNORES,
    )


def _installed(asked: str, context: CallContext) -> Installed:
    for place in _PLACES if asked else ():
        if found := place(asked, context):
            return found
    raise NotFound("dependency", asked, _near(asked, context))


def overview(context: CallContext, limit: int) -> Result:
    """Return every installed dependency of the project, with its version."""
    lines = sorted(
        {f"{DEPENDENCY}{each.name} {each.version}".rstrip() for each in packages(context)}
    )
    text, cut = bounded("\n".join(lines[:limit]), context.settings.max_text)
    head = f"{len(lines)} dependencies are installed for this project"
    return Result(True, f"{head}\n{text}".rstrip(), {"count": len(lines)}, cut=cut)


def _near(asked: str, context: CallContext) -> str:
    known = sorted({each.name for each in packages(context)})
    near = get_close_matches(asked.partition("/")[0], known, 3, 0.6)
    if near:
        return f"Did you mean {' or '.join(DEPENDENCY + name for name in near)}?"
    return f"List `{DEPENDENCY}` to see what is installed for this project."
