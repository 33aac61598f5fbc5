"""The texts of the guide as a script for `search.js`: a page on a disk may not fetch other pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx

TEXTS = "search_texts.js"
_LEFT_OUT = (nodes.section, nodes.title, nodes.raw, nodes.math, nodes.math_block, nodes.comment, nodes.image)


def _text(node: nodes.Node) -> str:
    """The words of a node that a reader sees as prose or code, in one line."""
    if isinstance(node, nodes.Text):
        return str(node)
    parts = [_text(child) for child in node.children if not isinstance(child, _LEFT_OUT)]
    return ("" if isinstance(node, nodes.TextElement) else " ").join(filter(None, parts))


def sections_of(document: nodes.document) -> list[tuple[str, str, str]]:
    """The anchor, the heading and the text of each section of a page, in their order."""
    found = []
    for section in document.findall(nodes.section):
        title = section.next_node(nodes.title)
        heading = " ".join(_text(title).split()) if title is not None else ""
        found.append((section["ids"][0], heading, " ".join(_text(section).split())))
    return found


def _load(app: Sphinx, page: str, _template: str, _context: dict[str, Any], _document: nodes.document | None) -> None:
    if page == "search":
        # Deferred: after the search of Sphinx, and before it begins.
        app.add_js_file(TEXTS, loading_method="defer")
        app.add_js_file("search.js", loading_method="defer")


def _write(app: Sphinx, error: Exception | None) -> None:
    if error is not None or app.builder.name != "html":
        return
    texts = {page: sections_of(app.env.get_doctree(page)) for page in sorted(app.env.found_docs)}
    found = json.dumps({page: sections for page, sections in texts.items() if sections}, ensure_ascii=False)
    (Path(app.outdir) / "_static" / TEXTS).write_text(f"const search_texts = {found};\n", encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Writes the texts once the pages are read, and loads them into the page of the search."""
    app.connect("html-page-context", _load)
    app.connect("build-finished", _write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
