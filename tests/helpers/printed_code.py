"""The blocks of code in README and guide, and what their pages say to the tests about them.

A comment before a block, which readers do not see, says of lines that begin so that they are not run, and why::

    <!-- not run: subflow compare-kernel (needs root or user namespaces) -->
    <!-- slow: subflow sweep (60 runs) -->

Slow lines are run with --full. Every line is read by the command line's parser, whether it is run or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))

SLOW, NOT_RUN = "slow", "not run"

_BLOCK = re.compile(r"^(?P<fence>```+)(?P<language>[^\n]*)\n(?P<text>.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL)
_MARKS = re.compile(r"(?:^<!--[^\n]*-->\n)+\Z", re.MULTILINE)
_MARK = re.compile(rf"^<!-- (?P<kind>{SLOW}|{NOT_RUN}): (?P<start>[^(]+?) \((?P<why>.+)\) -->$")
_SAVED = re.compile(r"\bsave it as `(?P<name>[^`]+)`[^`]*\Z", re.IGNORECASE)


@dataclass(frozen=True)
class Block:
    """A block of code.

    Attributes:
        page: its file.
        line: where it begins.
        language: that is said behind the backticks; may be empty.
        text: of it.
        marks: what the page says of lines that begin so: `SLOW` or `NOT_RUN`.
        saved_as: the file that the reader is told to save it as; empty: none.
    """

    page: Path
    line: int
    language: str
    text: str
    marks: Mapping[str, str]
    saved_as: str

    def mark(self, line: str) -> str:
        """`SLOW`, `NOT_RUN` or nothing."""
        return next((kind for start, kind in self.marks.items() if line.startswith(start)), "")


def blocks(page: Path) -> Iterator[Block]:
    """Those of a page in their order, without what the guide's own extensions fill in.

    Raises:
        ValueError: if a comment before a block is not a mark.
    """
    text = page.read_text(encoding="utf-8")
    for found in _BLOCK.finditer(text):
        if found["language"].startswith("{"):
            continue
        before = text[: found.start()]
        marks = {}
        if (comments := _MARKS.search(before)) is not None:
            before = before[: comments.start()]
            for comment in comments[0].splitlines():
                mark = _MARK.match(comment)
                if mark is None:
                    raise ValueError(f"{page}: {comment} is not a mark")
                marks[mark["start"]] = mark["kind"]
        saved = _SAVED.search(before)
        line = text.count("\n", 0, found.start()) + 1
        yield Block(page, line, found["language"], found["text"], marks, saved["name"] if saved else "")
