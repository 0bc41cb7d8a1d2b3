"""Redirections and here-documents."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tree_sitter import Node

from flyball.shell.judgement import CommandKind, Finding
from flyball.shell.rule import computed, named_secret, secret_among, secret_finding, written
from flyball.shell.walk.expression import examine
from flyball.shell.words.names import names
from flyball.shell.words.pattern import Pattern
from flyball.shell.words.place import belongs_to_others, device, settings
from flyball.shell.words.source import heredoc_delimiter
from flyball.shell.words.word import Word, text_of, words_of

if TYPE_CHECKING:
    from flyball.shell.walk.walk import Walk

REDIRECTS = names("file_redirect heredoc_redirect herestring_redirect")


def redirect(walk: Walk, node: Node) -> list[Word]:
    """Judge a redirection; the grammar attaches extra words to it that belong to the command."""
    if node.type == "heredoc_redirect":
        return _heredoc(walk, node)
    targets: list[Word] = []
    for child in node.named_children:
        if child.type != "file_descriptor":
            examine(walk, child)
            targets.extend(words_of(child, walk.facts))
    operator = next(child.type for child in node.children if not child.is_named)
    if operator in ("<&-", ">&-"):
        return targets
    if not targets:
        walk.unknown(node, "a redirection without a target is not understood")
    elif operator != "<<<":
        _open(walk, node, operator, targets[0])
    elif hidden := named_secret(targets[:1]):
        walk.findings.append(secret_finding(text_of(node), hidden))
    return targets[1:]


def _open(walk: Walk, node: Node, operator: str, target: Word) -> None:
    path = target.value
    if operator in (">&", "<&") and re.fullmatch(r"\d+-?|-", path or ""):
        return
    if path is not None and device(path):
        return
    if any(_may_connect(text) for text in target.guesses):
        reason = f"{target.source} is or may be a network connection"
        away = any(map(_WIRE.match, target.guesses))
        walk.findings.append(Finding(text_of(node), CommandKind.UNKNOWN, reason, away=away))
    elif operator in ("<", "<&"):
        if secret_among([target, target.below(walk.scope.cwd or "/etc")]):
            walk.findings.append(secret_finding(text_of(node), target.source))
        elif computed(target) and not target.likely.startswith("/dev/fd/"):
            walk.unknown(node, f"which file {target.source} names is only known when it runs")
        elif any(map(settings, (target.known, *target.likely.split()))):
            walk.revealed(node, f"{target.source} may hold secrets among its settings")
        elif belongs_to_others(target.known, walk.scope):
            walk.revealed(node, f"{target.source} is outside the workspace")
    elif (path is None and not target.local) or target.glob:
        walk.unknown(node, f"it writes to {target.source}, which is only known when it runs")
    else:
        walk.findings.append(written(walk, text_of(node), "the redirection", [target]))


_WIRE = Pattern(r"/+dev/+(tcp|udp)/")


def _may_connect(path: str) -> bool:
    """Return whether the shell connects when it opens this; `*` is an unknown part."""
    head, gap, _ = path.partition("*")
    open_ended = bool(gap) and any(wire.startswith(head) for wire in ("/dev/tcp/", "/dev/udp/"))
    return open_ended or bool(_WIRE.match(path))


def _heredoc(walk: Walk, node: Node) -> list[Word]:
    more: list[Word] = []
    for child in node.named_children:
        if child.type in ("heredoc_start", "heredoc_end"):
            continue
        if child.type == "heredoc_body":
            _body(walk, node, child)
        elif child.type in REDIRECTS:
            more.extend(redirect(walk, child))
        elif node.field_name_for_child(node.children.index(child)) == "argument":
            examine(walk, child)
            more.extend(words_of(child, walk.facts))
        else:
            walk.visit(child)
    return more


def _body(walk: Walk, node: Node, body: Node) -> None:
    """Refuse all but `$name` in a here-document, since the grammar misses some expansions."""
    delimiter = heredoc_delimiter(node)
    live = re.sub(r"\\.", "", text_of(body), flags=re.S)
    if not (delimiter and delimiter[1]) and re.search(r"`|\$[({\[]", live):
        walk.found(
            node, CommandKind.UNKNOWN, "the shell expands its here-document; quote it as <<'EOF'"
        )
