"""Parts of pages that are made from the program itself, so that they cannot differ from it.

A page marks their places::

    ```{generated} options controller lia
    ```
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from guide_parts import PARTS

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

_PLACE = re.compile(r"^```\{generated\} +(?P<part>[a-z]+) *(?P<words>[^\n]*)\n```$", re.MULTILINE)


def _fill_in(_app: Sphinx, _page: str, source: list[str]) -> None:
    source[0] = _PLACE.sub(lambda place: PARTS[place["part"]](*place["words"].split()), source[0])


def _pages_with_parts(
    _app: Sphinx, env: BuildEnvironment, _added: set[str], _changed: set[str], _removed: set[str]
) -> list[str]:
    """They may have changed with the program although their files have not."""
    return [page for page in env.found_docs if "{generated}" in env.doc2path(page).read_text(encoding="utf-8")]


def _levels_of_captions(
    _app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: nodes.document | None
) -> None:
    """Give the captions of the sidebar a level, without which screen readers cannot place them as headings."""
    tree = context.get("furo_navigation_tree")
    if tree:
        context["furo_navigation_tree"] = tree.replace('role="heading"', 'role="heading" aria-level="2"')


def setup(app: Sphinx) -> dict[str, Any]:
    """Fills in the parts as pages are read."""
    app.connect("source-read", _fill_in)
    app.connect("html-page-context", _levels_of_captions, priority=900)  # after the theme has made the sidebar
    app.connect("env-get-outdated", _pages_with_parts)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
