"""A setting that must be on in a JSON settings text: add it if it is missing, and remove it."""

from __future__ import annotations

from collections.abc import Mapping

from flyball.app.installing.json_hooks import InsertedText, Merged
from flyball.app.installing.jsonc import JsonNode, JsonText, scan
from flyball.app.installing.splice import (
    Padding,
    Slot,
    layout_of,
    rebuilt,
    spliced,
    taken_out,
)

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
    raise AssertionError(f"{path}: the switch could not be taken out as planned")
