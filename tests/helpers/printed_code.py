"""The code printed in README and guide, in blocks and in sentences, and the marks in pages that direct the tests.

A comment before a block, invisible to readers, names lines by their beginning and the reason not to run them::

    <!-- not run: subflow compare-kernel (needs root or user namespaces) -->
    <!-- slow: subflow sweep (60 runs) -->

Slow lines run with --full. The parser of the command line checks every line, even if it is not run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))

SLOW, NOT_RUN = "slow", "not run"
INDENTED = "indented"
"""Language of a block without a fence."""

_MARK = re.compile(rf"^<!-- (?P<kind>{SLOW}|{NOT_RUN}): (?P<start>[^(]+?) \((?P<why>.+)\) -->$")
_SAVED = re.compile(r"\bsave it as `(?P<name>[^`]+)`[^`]*\Z", re.IGNORECASE)
_DIRECTIVE = re.compile(r"\{(?P<name>[\w-]+)\}")
# Directives of the guide: those with Markdown as their content, and those without code of the page.
_OF_MARKDOWN, _WITHOUT_CODE = {"container", "only"}, {"generated", "literalinclude", "toctree"}
_PARSER = MarkdownIt("commonmark").enable("table")


@dataclass(frozen=True)
class Block:
    """A block of code.

    Attributes:
        page: its file.
        line: its first line.
        language: the word behind the backticks; may be empty.
        text: its content.
        marks: `SLOW` or `NOT_RUN`, by the beginning of the marked lines.
        saved_as: name of the file that the page offers for saving; empty without one.
    """

    page: Path
    line: int
    language: str
    text: str
    marks: Mapping[str, str]
    saved_as: str

    def mark(self, line: str) -> str:
        """`SLOW`, `NOT_RUN` or empty."""
        return next((kind for start, kind in self.marks.items() if line.startswith(start)), "")


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of a page in order, also in lists and directives, except those made by the guide's extensions.

    Raises:
        ValueError: if a comment before a block is not a mark, or a directive is unknown.
    """
    for token, line, before in _tokens(page):
        if token.type not in ("fence", "code_block"):
            continue
        marks = {}
        while before and before[-1].startswith("<!--"):
            mark = _MARK.match(before[-1])
            if mark is None:
                raise ValueError(f"{page}: {before[-1]} is not a mark")
            marks[mark["start"]] = mark["kind"]
            before = before[:-1]
        saved = _SAVED.search("\n".join(before))
        language = token.info if token.type == "fence" else INDENTED
        yield Block(page, line, language, token.content, marks, saved["name"] if saved else "")


def inline_code(page: Path) -> Iterator[tuple[int, str]]:
    """Each text between backticks, with the line of its paragraph or table."""
    for token, line, _ in _tokens(page):
        for child in token.children or ():
            if child.type == "code_inline":
                yield line, child.content


def _tokens(page: Path, text: str | None = None, above: int = 0) -> Iterator[tuple[Token, int, list[str]]]:
    """The parts of a page, each with its line and the lines before it; directives with Markdown are parsed too."""
    text = page.read_text(encoding="utf-8") if text is None else text
    lines = [line.strip() for line in text.splitlines()]
    for token in _PARSER.parse(text):
        if token.map is None:
            continue
        directive = _DIRECTIVE.match(token.info) if token.type == "fence" else None
        if directive is None:
            yield token, above + token.map[0] + 1, lines[: token.map[0]]
        elif directive["name"] in _OF_MARKDOWN:
            yield from _tokens(page, token.content, above + token.map[0] + 1)
        elif directive["name"] not in _WITHOUT_CODE:
            raise ValueError(f"{page}: the tests do not know the directive {directive['name']}")
