"""Parse YAML with the safe loader, with the line of every value and limited alias expansion."""

from __future__ import annotations

from collections.abc import Callable

import yaml

from flyball.app.flowfile.places import Places, UnreadableError
from flyball.terms.shape import Path

_MERGE = "tag:yaml.org,2002:merge"
_MAP = "tag:yaml.org,2002:map"
_LIST = "tag:yaml.org,2002:seq"


def parse_yaml(places: Places) -> object:
    """Return the one document of a YAML text."""
    places.reject_deep_nesting()
    try:
        loader = yaml.SafeLoader(places.text)
    except yaml.reader.ReaderError as error:
        message = f"The character {chr(error.character)!r} is not allowed in YAML"
        where = error.position
        raise places.unreadable("broken-yaml", message, "Remove it.", where) from None
    try:
        node = loader.get_single_node()
        return None if node is None else _Builder(places, loader).value(node, ())
    except UnreadableError:
        raise
    except yaml.MarkedYAMLError as error:
        raise _broken(places, error) from None
    except RecursionError:
        raise places.too_deep(loader.index) from None
    except (ValueError, OverflowError):
        message, where = "An escape or a number is out of range", loader.index
        raise places.unreadable("broken-yaml", message, "Fix it.", where) from None


def _broken(places: Places, error: yaml.MarkedYAMLError) -> UnreadableError:
    problem = " ".join(filter(None, (error.context, error.problem)))
    mark = error.problem_mark or error.context_mark
    if "end of stream" in problem:
        mark = error.context_mark or mark
    if "single document" in problem:
        problem = "There is more than one document in the file"
    hint = "Check the indentation, and quote texts with special characters."
    return places.unreadable("broken-yaml", problem, hint, mark.index if mark else 0)


class _Builder:
    """Builds plain values from a node graph; a node that is used twice counts twice."""

    def __init__(self, places: Places, loader: yaml.SafeLoader) -> None:
        self.places = places
        self.merging: list[yaml.Node] = []
        self.construct: Callable[[yaml.Node], object] = loader.construct_object  # pyright: ignore[reportUnknownMemberType]

    def value(self, node: yaml.Node, path: Path) -> object:
        self.places.mark(path, node.start_mark.index)
        if isinstance(node, yaml.MappingNode) and node.tag == _MAP:
            return self.map(node, path)
        if isinstance(node, yaml.SequenceNode) and node.tag == _LIST:
            return [self.value(item, (*path, i)) for i, item in enumerate(node.value)]
        if isinstance(node, yaml.ScalarNode):
            return self.scalar(node)
        message = f"The tag {node.tag!r} is not allowed"
        raise self.places.unreadable(
            "broken-yaml", message, "Use plain maps, lists and texts.", node.start_mark.index
        )

    def scalar(self, node: yaml.ScalarNode) -> object:
        try:
            return self.construct(node)
        except (ValueError, OverflowError):
            message = f"{node.value[:40]!r} cannot be read as the type it looks like"
            raise self.places.unreadable(
                "broken-yaml", message, "Put it in quotes.", node.start_mark.index
            ) from None

    def map(self, node: yaml.MappingNode, path: Path) -> dict[object, object]:
        result: dict[object, object] = {}
        for key_node, value_node in node.value:
            offset = key_node.start_mark.index
            if key_node.tag == _MERGE:
                continue
            if not isinstance(key_node, yaml.ScalarNode):
                message = "A key must be text, not a list or a map"
                raise self.places.unreadable("broken-yaml", message, "Write a name.", offset)
            key = self.scalar(key_node)
            if key in result:
                message = f"The key {key!r} is given twice"
                raise self.places.unreadable("duplicate-key", message, "Remove one.", offset)
            self.places.mark((*path, str(key)), offset)
            result[key] = self.value(value_node, (*path, str(key)))
        for key_node, value_node in node.value:
            if key_node.tag == _MERGE:
                result = self.merged(value_node, path) | result
        return result

    def merged(self, node: yaml.Node, path: Path) -> dict[object, object]:
        """Return the values that `<<` merges: a map, or a list of maps of which the first wins."""
        sources = node.value if isinstance(node, yaml.SequenceNode) else [node]
        result: dict[object, object] = {}
        for source in reversed(sources):
            if not isinstance(source, yaml.MappingNode):
                message = "`<<` can only merge a map"
                raise self.places.unreadable(
                    "broken-yaml", message, "Name a map.", source.start_mark.index
                )
            if source in self.merging:
                raise self.places.too_deep(source.start_mark.index)
            self.places.mark(path, source.start_mark.index)
            self.merging.append(source)
            result |= self.map(source, path)
            self.merging.pop()
        return result
