"""Where the tables and values of a TOML text stand.

tomlkit could tell as well, but only one place per parse; an edit that removes a node with everything that hangs on it
touches dozens of places in a file of thousands of lines. The scan here is one pass. It trusts that the text is valid
TOML: whoever splices by it compares what the new text says with what it should say.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from subflow_app.core.scenarios.toml_edit import Path

_KEY = re.compile(r"[A-Za-z0-9_-]+|\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*'")
_DOT = re.compile(r"[ \t]*\.[ \t]*")
_BLANK = re.compile(r"[ \t\r\n]*")
# What a value is made of, as far as it decides where the value ends; longest quotes first.
_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|' + r"'''.*?'{3,5}|" + r'"(?:\\.|[^"\\\n])*"|' + r"'[^'\n]*'|"
    r"#[^\n]*|[\[{]|[\]}]|\n|[^\"'#\[{\]}\n]+",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Step:
    """One name of a dotted key or header, and where it stands."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A `key = value`: its full path, the names of its key, its lines and its value."""

    path: Path
    steps: tuple[Step, ...]
    start: int
    end: int
    value_start: int
    value_end: int


@dataclass(slots=True)
class Section:
    """What stands under one header; the first has none and holds the keys of the file itself.

    Attributes:
        path: with the position of the row in an array of tables: `("events", 0)`.
        steps: names of the header.
        start: of the header's line.
        end: behind the last line of its last entry, or of its header.
    """

    path: Path
    steps: tuple[Step, ...]
    start: int
    end: int
    entries: list[Entry] = field(default_factory=list)


def map_of(text: str) -> list[Section]:
    """Find all sections of a TOML text, in its order."""
    sections = [Section((), (), 0, 0)]
    rows: dict[Path, int] = {}
    position = 0
    while position < len(text):
        blank = _BLANK.match(text, position)
        begin = blank.end() if blank else position
        if begin >= len(text):
            break
        line = text.rfind("\n", 0, begin) + 1
        if text[begin] == "#":
            position = _line_end(text, begin)
        elif text[begin] == "[":
            is_row = text.startswith("[[", begin)
            steps = tuple(_steps(text, begin + (2 if is_row else 1)))
            position = _line_end(text, steps[-1].end)
            sections.append(Section(_resolve(steps, rows, is_row=is_row), steps, line, position))
        else:
            steps = tuple(_steps(text, begin))
            start = text.index("=", steps[-1].end) + 1
            while text[start] in " \t":
                start += 1
            end = _value_end(text, start)
            position = _line_end(text, end)
            section = sections[-1]
            path = (*section.path, *(step.name for step in steps))
            section.entries.append(Entry(path, steps, line, position, start, end))
            section.end = position
    return sections


def _steps(text: str, position: int) -> Iterator[Step]:
    """Read a dotted key."""
    while text[position] in " \t":
        position += 1
    while True:
        match = _KEY.match(text, position)
        if match is None:
            return
        raw = match.group()
        yield Step(tomllib.loads(f"x = {raw}")["x"] if raw[0] in "\"'" else raw, *match.span())
        dot = _DOT.match(text, match.end())
        if dot is None:
            return
        position = dot.end()


def _resolve(steps: tuple[Step, ...], rows: dict[Path, int], *, is_row: bool) -> Path:
    """Return the path of a header: below an array of tables it means the latest row."""
    path: Path = ()
    for step in steps[:-1]:
        path = (*path, step.name)
        if path in rows:
            path = (*path, rows[path])
    path = (*path, steps[-1].name)
    if is_row:
        rows[path] = rows.get(path, -1) + 1
        path = (*path, rows[path])
    return path


def _value_end(text: str, start: int) -> int:
    depth = 0
    end = position = start
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            break
        token = match.group()
        if depth == 0 and (token == "\n" or token[0] == "#"):
            break
        position = match.end()
        depth += (token in "[{") - (token in "]}")
        if token != "\n" and token[0] != "#" and token.strip():
            end = match.start() + len(token.rstrip())
    return end


def _line_end(text: str, position: int) -> int:
    """Return the position behind the line end that follows a position."""
    found = text.find("\n", position)
    return len(text) if found < 0 else found + 1
