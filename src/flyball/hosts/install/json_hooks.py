"""Add our hooks to a JSON settings text next to others, find them, and remove them."""

from __future__ import annotations

import json
import posixpath
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, cast

import msgspec

from flyball.errors import BrokenSettings
from flyball.hosts.install.door import host_asked
from flyball.hosts.install.jsonc import JsonNode, JsonText, place, scan
from flyball.hosts.install.splice import (
    Filling,
    Layout,
    Padding,
    Slot,
    Splice,
    layout_of,
    rebuilt,
    spliced,
    taken_out,
)
from flyball.regex import regex
from flyball.settings import LEVELS

HOOK = "flyball-hook"
HOOKS = "hooks"
ITEM = ""

_KINDS = {dict: "an object", list: "a list"}
_LEVEL = regex(rf'(?:{HOOK}\W{{0,4}}[ /]\w+[ /]|const LEVEL = ")({"|".join(LEVELS)})\b')


class InsertedText(msgspec.Struct, frozen=True):
    """Something we added to a settings file: its value, and the whitespace around it.

    The path is empty for the whole document; it ends with an empty name for an item of a list.
    """

    path: tuple[str, ...]
    lead: str
    tail: str = ""


class Merged(NamedTuple):
    """A text with our hooks, and what was added for them."""

    text: str
    put: tuple[InsertedText, ...]


Hooks = Mapping[str, Mapping[str, Any]]
"""For each event of a host, the group of handlers to install."""


def command_of(executable: str, host: str, level: str = "") -> str:
    """Return the shell command that a host runs; without a level the settings decide it."""
    return " ".join(filter(None, (shlex.quote(executable), host, level)))


def level_of(text: str) -> str:
    """Return the lowest level that our hooks in a file name; empty if none names one."""
    found: list[str] = _LEVEL.findall(text)
    return min(found, key=[*LEVELS].index, default="")


def is_ours(group: object, host: str) -> bool:
    """Return whether a group has only our handlers for this host."""
    handlers = handlers_of(group)
    return bool(handlers) and all(_runs_us(each, host) for each in handlers)


def handlers_of(group: object) -> list[object]:
    """Return the handlers of a group; empty if it is not a valid group."""
    found = cast("dict[str, object]", group).get(HOOKS) if isinstance(group, dict) else None
    return cast("list[object]", found) if isinstance(found, list) else []


def _runs_us(handler: object, host: str) -> bool:
    if not isinstance(handler, dict):
        return False
    if host_asked(cast("dict[str, Any]", handler)) == host:
        return True
    command = cast("dict[str, object]", handler).get("command")
    try:
        words = shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        return False
    is_hook = posixpath.basename(words[0]) == HOOK if words else False
    return is_hook and words[1:2] == [host] and {*words[2:]} <= LEVELS.keys()


def ours_in(settings: object, host: str) -> Iterator[tuple[str, str]]:
    """Yield the event and the command or URL of each of our handlers in parsed settings."""
    hooks = cast("dict[str, object]", settings).get(HOOKS) if isinstance(settings, dict) else None
    for event, groups in (
        cast("dict[str, object]", hooks).items() if isinstance(hooks, dict) else ()
    ):
        for group in cast("list[object]", groups) if isinstance(groups, list) else ():
            for each in handlers_of(group):
                if _runs_us(each, host):
                    handler = cast("dict[str, str]", each)
                    yield event, handler.get("command") or handler["url"]


def has_ours(doc: JsonText, host: str) -> bool:
    """Return whether any of our handlers is in the text, in any group."""
    handlers = (each for _, _, group in _groups(doc) for each in handlers_of(group.value))
    return any(_runs_us(handler, host) for handler in handlers)


def is_installed(doc: JsonText, hooks: Hooks, host: str) -> bool:
    """Return whether the text has exactly these hooks of ours, once each, and no others."""
    found = [(event, group.value) for event, _, group in _groups(doc) if _is_touched(group, host)]
    return sorted(found, key=lambda each: each[0]) == sorted(
        ((event, dict(group)) for event, group in hooks.items()), key=lambda each: each[0]
    )


def _is_touched(group: JsonNode, host: str) -> bool:
    return any(_runs_us(handler, host) for handler in handlers_of(group.value))


def _groups(doc: JsonText) -> Iterator[tuple[str, JsonNode, JsonNode]]:
    """Yield every group of every event, with the list that contains it."""
    for hooks in doc.root.parts if doc.root else ():
        if hooks.key == HOOKS and isinstance(hooks.node.value, dict):
            for event in hooks.node.parts:
                if isinstance(event.node.value, list):
                    for item in event.node.parts:
                        yield event.key or "", event.node, item.node


def put_in(text: str, path: str, hooks: Hooks) -> Merged:
    """Add our hooks after all others; the other settings stay byte for byte the same."""
    doc = scan(text, path)
    if doc.root is None:
        merged = _document(doc, hooks)
    else:
        _require(doc, path, doc.root, dict)
        merged = _into_root(doc, doc.root, path, hooks)
    if scan(merged.text, path).value != _with_hooks(doc.value, hooks):
        raise AssertionError(f"{path}: the hooks could not be added as planned")
    return merged


def _require(doc: JsonText, path: str, node: JsonNode, kind: type) -> None:
    if not isinstance(node.value, kind):
        where = place(doc.text, node.start)
        raise BrokenSettings(path, where, f"{_KINDS[kind]} should be here")


def _with_hooks(value: object, hooks: Hooks) -> object:
    root = dict(cast("dict[str, Any]", value or {}))
    present = dict(root.get(HOOKS, {}))
    for event, group in hooks.items():
        present[event] = [*present.get(event, []), dict(group)]
    return {**root, HOOKS: present}


def _document(doc: JsonText, hooks: Hooks) -> Merged:
    layout = layout_of(doc)
    body = _rendered_hooks(hooks, layout.unit, layout)
    whole = f"{{{layout.newline}{layout.unit}{body}{layout.newline}}}"
    is_begun = bool(doc.text.strip("\ufeff")) and not doc.text.endswith("\n")
    lead, tail = layout.newline if is_begun else "", layout.newline
    return Merged(doc.text + lead + whole + tail, (InsertedText((), lead, tail),))


def _into_root(doc: JsonText, root: JsonNode, path: str, hooks: Hooks) -> Merged:
    layout = layout_of(doc)
    member = root.last(HOOKS)
    if member is None:
        slot = Slot(doc, root, layout)
        filling = slot.fill([_rendered_hooks(hooks, slot.indent, layout)])
        return _merged(doc, [((HOOKS,), filling)])
    _require(doc, path, member.node, dict)
    fillings: list[tuple[tuple[str, ...], Filling]] = []
    missing: dict[str, Mapping[str, Any]] = {}
    for event, group in hooks.items():
        present = member.node.last(event)
        if present is None:
            missing[event] = group
            continue
        _require(doc, path, present.node, list)
        filling = Slot(doc, present.node, layout).fill([json.dumps(group, ensure_ascii=False)])
        fillings.append(((HOOKS, event, ITEM), filling))
    if missing:
        filling = Slot(doc, member.node, layout).fill(_rendered_events(missing))
        splices, paddings = filling
        for event, padding in zip(missing, paddings, strict=True):
            fillings.append(((HOOKS, event), Filling(splices, [padding])))
            splices = []
    return _merged(doc, fillings)


def _merged(doc: JsonText, fillings: list[tuple[tuple[str, ...], Filling]]) -> Merged:
    splices = [splice for _, filling in fillings for splice in filling.splices]
    put = [InsertedText(path, *filling.paddings[0]) for path, filling in fillings]
    return Merged(spliced(doc.text, splices), tuple(put))


def _rendered_events(hooks: Hooks) -> list[str]:
    """Return one line per event, to keep the settings file short."""
    return [f"{json.dumps(e)}: {json.dumps([g], ensure_ascii=False)}" for e, g in hooks.items()]


def _rendered_hooks(hooks: Hooks, indent: str | None, layout: Layout) -> str:
    events = _rendered_events(hooks)
    if indent is None:
        return f'"{HOOKS}": {{{", ".join(events)}}}'
    inner = f",{layout.newline}{indent}{layout.unit}".join(events)
    head = f'"{HOOKS}": {{{layout.newline}{indent}{layout.unit}'
    return f"{head}{inner}{layout.newline}{indent}}}"


def take_out(text: str, path: str, host: str, put: tuple[InsertedText, ...] | None) -> str:
    """Remove our hooks and everything we created for them; without a record, also remove what
    becomes empty.

    A container that we created stays if others have added something to it.
    """
    doc = scan(text, path)
    if doc.root is None or not has_ours(doc, host):
        return text
    return _Removal(doc, doc.root, path, host, put).text()


class _Removal:
    """Chooses the elements to remove, from the outside in, without removing anything of others."""

    def __init__(
        self,
        doc: JsonText,
        root: JsonNode,
        path: str,
        host: str,
        put: tuple[InsertedText, ...] | None,
    ) -> None:
        self.doc, self.root, self.path, self.host = doc, root, path, host
        self.is_recorded = put is not None
        self.paddings = {each.path: Padding(each.lead, each.tail) for each in put or ()}
        self.gone: dict[int, dict[int, Padding | None]] = {}
        self.containers: dict[int, JsonNode] = {}

    def text(self) -> str:
        if () in self.paddings and self.is_all_ours(self.root):
            return self.without_document(self.paddings[()])
        for n, part in enumerate(self.root.parts):
            if part.key == HOOKS and isinstance(part.node.value, dict):
                if self.is_made((HOOKS,)) and self.is_only_ours(part.node):
                    self.drop(self.root, n, (HOOKS,))
                else:
                    self.choose_events(part.node)
        wanted = rebuilt(self.root, self.gone)
        # A line comment before our element may need the line break that we added.
        for is_tidy in (True, False):
            found = self.attempt(is_tidy=is_tidy)
            if _value_of(found, self.path) == (wanted,):
                return found
        raise AssertionError(f"{self.path}: the hooks could not be removed as planned")

    def attempt(self, *, is_tidy: bool) -> str:
        cuts: list[Splice] = []
        for start, indices in self.gone.items():
            cuts += taken_out(self.doc, self.containers[start], indices, is_tidy=is_tidy)
        return spliced(self.doc.text, cuts)

    def drop(self, container: JsonNode, index: int, path: tuple[str, ...] | None = None) -> None:
        self.containers[container.start] = container
        found = self.gone.setdefault(container.start, {})
        found[index] = self.paddings.get(path) if path else None

    def is_made(self, path: tuple[str, ...]) -> bool:
        """Return whether we created this; everything inside a container we created is ours, too."""
        made = any(path[:n] in self.paddings for n in range(len(path) + 1))
        return made or not self.is_recorded

    def choose_events(self, hooks: JsonNode) -> None:
        for n, event in enumerate(hooks.parts):
            path = (HOOKS, event.key or "")
            if not isinstance(event.node.value, list) or not event.node.parts:
                continue
            if self.is_made(path) and self.is_list_ours(event.node):
                self.drop(hooks, n, path)
            else:
                self.choose_groups(event.node, (*path, ITEM))

    def choose_groups(self, groups: JsonNode, path: tuple[str, ...]) -> None:
        for n, item in enumerate(groups.parts):
            if is_ours(item.node.value, self.host):
                self.drop(groups, n, path)
            elif _is_touched(item.node, self.host):
                handlers = item.node.last(HOOKS)
                for m, handler in enumerate(handlers.node.parts if handlers else ()):
                    if handlers and _runs_us(handler.node.value, self.host):
                        self.drop(handlers.node, m)

    def is_list_ours(self, groups: JsonNode) -> bool:
        is_bare = not any(self.doc.comments(groups.start, groups.end))
        return is_bare and all(is_ours(each.node.value, self.host) for each in groups.parts)

    def is_only_ours(self, hooks: JsonNode) -> bool:
        """Return whether the hooks contain nothing of others: no event, no group, no comment."""
        lists = [each.node for each in hooks.parts]
        is_bare = not any(self.doc.comments(hooks.start, hooks.end))
        return is_bare and all(
            isinstance(each.value, list) and bool(each.parts) and self.is_list_ours(each)
            for each in lists
        )

    def is_all_ours(self, root: JsonNode) -> bool:
        is_bare = not any(self.doc.comments(root.start, root.end))
        parts = root.parts
        return is_bare and len(parts) == 1 and self.is_only_ours(parts[0].node)

    def without_document(self, padding: Padding) -> str:
        text, start, end = self.doc.text, self.root.start, self.root.end
        start -= len(padding.lead) if text[:start].endswith(padding.lead) else 0
        end += len(padding.tail) if text.startswith(padding.tail, end) else 0
        return text[:start] + text[end:]


def _value_of(text: str, path: str) -> tuple[object] | None:
    try:
        return (scan(text, path).value,)
    except BrokenSettings:
        return None


Switch = tuple[str, str]
"""The name of a table, and of the key that must be true in it."""


def is_settled(doc: JsonText, switch: Switch) -> bool:
    """Return whether the text sets the switch; an explicit "off" is kept."""
    table, name = switch
    member = doc.root.last(table) if doc.root else None
    if member is None:
        return False
    return not isinstance(member.node.value, dict) or member.node.last(name) is not None


def put_in_switch(text: str, path: str, switch: Switch) -> Merged:
    """Turn the switch on if it is not set."""
    doc = scan(text, path)
    if doc.root is None or is_settled(doc, switch):
        return Merged(text, ())
    table, name = switch
    layout, member = layout_of(doc), doc.root.last(table)
    if member is None:
        where, rendered, slot = (table,), f'"{table}": {{"{name}": true}}', doc.root
    else:
        where, rendered, slot = switch, f'"{name}": true', member.node
    splices, paddings = Slot(doc, slot, layout).fill([rendered])
    return Merged(spliced(text, splices), (InsertedText(where, *paddings[0]),))


def take_out_switch(text: str, path: str, switch: Switch, put: tuple[InsertedText, ...]) -> str:
    """Remove what was added for the switch; later changes by others stay."""
    table, name = switch
    known = {each.path: Padding(each.lead, each.tail) for each in put}
    doc = scan(text, path)
    if doc.root is None or not {(table,), switch} & known.keys():
        return text
    for n, part in enumerate(doc.root.parts):
        if part.key != table:
            continue
        is_bare = not any(doc.comments(part.node.start, part.node.end))
        if (table,) in known and part.node.value == {name: True} and is_bare:
            return _without(doc, doc.root, {n: known[table,]}, path)
        for m, inner in enumerate(part.node.parts):
            if inner.key == name and inner.node.value is True:
                return _without(doc, part.node, {m: known.get(switch)}, path)
    return text


def _without(
    doc: JsonText, container: JsonNode, gone: Mapping[int, Padding | None], path: str
) -> str:
    assert doc.root is not None
    wanted = rebuilt(doc.root, {container.start: gone})
    # A line comment before it may need the line break that we added.
    for is_tidy in (True, False):
        found = spliced(doc.text, taken_out(doc, container, gone, is_tidy=is_tidy))
        if scan(found, path).value == wanted:
            return found
    raise AssertionError(f"{path}: the switch could not be removed as planned")
