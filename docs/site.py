"""Builds the documentation as a site of plain pages from the same files; `make site` runs it.

By hand, because what it needs (markdown-it-py and Pygments) comes with Rich already, and because a
generator's theme would bring scripts of others.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import sys
from pathlib import Path

from markdown_it import MarkdownIt
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md")
LIGHT, DARK = HtmlFormatter(style="friendly"), HtmlFormatter(style="native")
LINK = re.compile(r'(?<=href=")(?!https?:|#)([^"#]*?)\.md(?=["#])')

STYLE = """\
:root { color-scheme: light dark; --line: light-dark(#d8dbe0, #3a3f47); --dim:
  light-dark(#5b6470, #a2abb8);
  --ground: light-dark(#fff, #16181c); --side: light-dark(#f5f6f8, #1c1f24); --link:
  light-dark(#0b57a4, #7db8ff); }
* { box-sizing: border-box; }
body { margin: 0; display: grid; grid-template-columns: 17rem minmax(0, 1fr); background:
  var(--ground);
  font: 16px/1.6 system-ui, sans-serif; }
nav { background: var(--side); border-right: 1px solid var(--line); padding: 1.2rem; height:
  100vh;
  overflow-y: auto; position: sticky; top: 0; font-size: .92rem; }
nav a { display: block; padding: .12rem 0; } nav h2 { font-size: .8rem; color: var(--dim);
  margin: 1.1rem 0 .3rem; }
nav input { width: 100%; padding: .4rem .5rem; font: inherit; border: 1px solid var(--line);
  border-radius: 6px;
  background: var(--ground); color: inherit; }
main { padding: 1.5rem 2.5rem 4rem; max-width: 62rem; } a { color: var(--link); text-decoration:
  none; }
a:hover, a[aria-current] { text-decoration: underline; } img { max-width: 100%; }
pre { background: var(--side); border: 1px solid var(--line); border-radius: 8px; padding: .8rem
  1rem; overflow-x: auto;
  font-size: .86rem; line-height: 1.45; } code { font-size: .92em; background: var(--side);
  border-radius: 4px; padding: .1em .25em; }
pre code { background: none; padding: 0; } table { border-collapse: collapse; display: block;
  overflow-x: auto; font-size: .92rem; }
td, th { border: 1px solid var(--line); padding: .35rem .6rem; text-align: left; vertical-align:
  top; }
@media (max-width: 50rem) { body { display: block; } nav { position: static; height: auto;
  border: 0; } main { padding: 1rem; } }
"""
SEARCH = """\
const box = document.querySelector('input'), out = document.querySelector('#found'); let all;
const named = (page, word) => page.title.toLowerCase().includes(word);
box.addEventListener('input', async () => {
  all ??= window.PAGES; const words = box.value.toLowerCase().split(/\\s+/).filter(Boolean);
  out.replaceChildren(...(words.length ? all : []).filter(p => words.every(w => p.text.includes(w)))
    .sort((a, b) => named(b, words[0]) - named(a, words[0]))
    .slice(0, 12).map(p => Object.assign(document.createElement('a'),
      {href: document.body.dataset.top + p.url, textContent: p.title})));
});
"""


def pages() -> list[Path]:
    """Every document, by its path in the repository."""
    found = [Path(name) for name in SOURCES]
    return found + sorted(each.relative_to(ROOT) for each in (ROOT / "docs").rglob("*.md"))


def title_of(text: str) -> str:
    """The first heading of a page."""
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    return found[1].replace("`", "") if found else "Flyball"


def coloured(code: str, language: str, _attributes: str) -> str:
    """A block of code as Pygments colours it; nothing where it does not know the language."""
    try:
        return highlight(code, get_lexer_by_name(language), HtmlFormatter(nowrap=True))
    except ClassNotFound:
        return ""


def render(page: Path, text: str, titles: dict[Path, str]) -> str:
    """One whole page."""
    top = "../" * len(page.parent.parts)
    reader = MarkdownIt("commonmark", {"highlight": coloured}).enable("table")
    body = LINK.sub(lambda found: f"{found[1]}.html", reader.render(text))
    body = re.sub(r"<h([2-4])>(.*?)</h\1>", _anchored, body)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        f"<title>{html.escape(titles[page])}</title>"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="stylesheet" href="{top}style.css"><body data-top="{top}"><nav>'
        '<input type="search" placeholder="Search" aria-label="Search"><div id="found"></div>'
        f"{_menu(page, top, titles)}</nav><main>{body}</main>"
        f'<script src="{top}pages.js"></script><script src="{top}search.js"></script>'
        "</body></html>\n"
    )


def _anchored(found: re.Match[str]) -> str:
    words = re.sub(r"<[^>]+>|[^\w\s-]", "", found[2]).strip().lower()
    name = re.sub(r"\s", "-", words)
    return f'<h{found[1]} id="{name}">{found[2]}</h{found[1]}>'


def _menu(page: Path, top: str, titles: dict[Path, str]) -> str:
    groups: dict[str, list[str]] = {}
    for each, title in titles.items():
        here = ' aria-current="page"' if each == page else ""
        link = f'<a href="{top}{each.with_suffix(".html")}"{here}>{html.escape(title)}</a>'
        groups.setdefault(each.parent.name or "Flyball", []).append(link)
    return "".join(
        f"<h2>{name.capitalize()}</h2>{''.join(links)}" for name, links in groups.items()
    )


def build(into: Path) -> list[Path]:
    """Write the whole site anew; the pages that it has."""
    shutil.rmtree(into, ignore_errors=True)
    texts = {page: (ROOT / page).read_text() for page in pages()}
    titles = {page: title_of(text) for page, text in texts.items()}
    for page, text in texts.items():
        place = into / page.with_suffix(".html")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(render(page, text, titles))
    dark = "".join(f"  {line}\n" for line in DARK.get_style_defs("pre").splitlines())
    style = (
        f"{STYLE}{LIGHT.get_style_defs('pre')}\n@media (prefers-color-scheme: dark) {{\n{dark}}}\n"
    )
    (into / "style.css").write_text(f"{style}pre {{ background: var(--side) !important; }}\n")
    (into / "search.js").write_text(SEARCH)
    index = [
        {"title": titles[page], "url": str(page.with_suffix(".html")), "text": text.lower()}
        for page, text in texts.items()
    ]
    (into / "pages.js").write_text(f"window.PAGES = {json.dumps(index)};\n")
    shutil.copytree(ROOT / "docs" / "pictures", into / "docs" / "pictures")
    shutil.copytree(ROOT / "examples", into / "examples", ignore=shutil.ignore_patterns("__*"))
    shutil.copyfile(ROOT / "LICENSE", into / "LICENSE")
    shutil.copyfile(into / "README.html", into / "index.html")
    return [page.with_suffix(".html") for page in texts]


if __name__ == "__main__":
    where = Path(sys.argv[1]) if sys.argv[1:] else ROOT / "site"
    print(f"{len(build(where))} pages in {where}: open {where / 'index.html'}")
