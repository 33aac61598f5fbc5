"""Syntax check of the scripts of pages, without a browser."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import tree_sitter_javascript
from tests.helpers.members import for_each
from tests.helpers.web_core import ASSETS
from tree_sitter import Language, Node, Parser

from subflow_app.features.exporting.core.lab_page import LAB
from subflow_app.features.exporting.core.web_page import RUNS, PageKind

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


@for_each("kind", [RUNS, LAB], ids=lambda kind: kind.frame)
def test_no_two_scripts_of_a_page_define_the_same_name(kind: PageKind) -> None:
    """All scripts of a page share one scope, in which the last function of a name replaces the others."""
    sources = [(ASSETS / "page" / name).resolve().read_text(encoding="utf-8") for name in kind.scripts]
    names = Counter(re.findall(r"^(?:async )?(?:function|class|const|let) (\w+)", "\n".join(sources), re.MULTILINE))
    assert len(names) > 100
    assert [name for name, count in names.items() if count > 1] == []
