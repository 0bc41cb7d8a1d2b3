"""Read a provider's own web lookups from a reply: the query, and what came back.

Providers answer in their own formats. Of a known result the title and the address are kept; of a
fetched page also its text. Anything else is counted, and kept as a digest only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from flyball.core.terms.call import WEB_FETCH, WebLook, digest
from flyball.core.terms.shape import is_list, is_map

ASKED = ("query", "queries", "url", "pattern")
"""The arguments in which providers put their query; several may occur."""
OVER = frozenset({"completed", "success"})


def read_look(id: str, tool: str, args: Mapping[str, object], content: object) -> WebLook:
    """Return one search or fetch with what came of it; `None` for a look without an answer."""
    # What a page said is opened under the name of a search by some providers.
    is_fetch = tool == WEB_FETCH or args.get("type") in ("open_page", "find_in_page")
    failure = _failure(content)
    data = msgspec.json.encode(content)
    found = failure or "\n".join(dict.fromkeys(_lines(content)))
    return WebLook(
        id=id,
        tool=WEB_FETCH if is_fetch else tool,
        about=_asked(args),
        ok=not failure,
        text=found,
        digest=digest(content),
        bytes=0 if content is None else len(data),
    )


def _asked(args: Mapping[str, object]) -> str:
    said: list[str] = []
    for name in ASKED:
        value = args.get(name)
        each = value if is_list(value) else [value]
        said += [text for text in each if isinstance(text, str) and text not in said]
    return ", ".join(said)


def _failure(content: object) -> str:
    """Return why a lookup failed, in the provider's words."""
    if content is None:
        return "The provider did not return a result."
    if not is_map(content):
        return ""
    if code := content.get("error_code"):
        return f"It failed: {code}."
    status = content.get("status")
    return f"It ended as {status}." if isinstance(status, str) and status not in OVER else ""


def _lines(content: object) -> Iterator[str]:
    """Yield titles with addresses, then texts, wherever they are in a result."""
    if is_list(content):
        for each in content:
            yield from _lines(each)
    if not is_map(content):
        return
    title, url = content.get("title"), content.get("url")
    if isinstance(url, str) and url:
        yield f"{title}: {url}" if isinstance(title, str) and title else url
    for name in NESTED:
        inner = content.get(name)
        if is_map(inner) or is_list(inner):
            yield from _lines(inner)
    data = content.get("data")
    if isinstance(data, str) and content.get("media_type") in (None, "text/plain"):
        yield data


NESTED = ("sources", "results", "content", "source")
