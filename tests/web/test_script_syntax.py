"""Syntax check of the scripts of pages, without a browser."""

from __future__ import annotations

from pathlib import Path

import tree_sitter_javascript
from tests.helpers.members import for_each
from tests.helpers.web_core import ASSETS
from tree_sitter import Language, Node, Parser

PARSER = Parser(Language(tree_sitter_javascript.language()))
SCRIPTS = sorted(ASSETS.rglob("*.js"))


def first_error(node: Node) -> str:
    """Place of the first syntax error."""
    for child in node.children:
        if child.has_error:
            return first_error(child)
    row, column = node.start_point
    return f"line {row + 1}, column {column + 1}: {(node.text or b'').decode()[:60]!r}"


@for_each("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_javascript(path: Path) -> None:
    root = PARSER.parse(path.read_bytes()).root_node
    assert not root.has_error, first_error(root)
