"""Where each part of a TOML text stands, which the parser of the standard library does not tell.

A scanner that reads only as much of TOML as it takes to follow keys through tables, arrays of tables, dotted keys,
inline tables and multi-line values. It trusts that the text is valid; `tomllib` has judged that before. Whoever
edits by it compares what the new text says with what it should say.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from subflow_sim.plain_text import on_one_line

Path: TypeAlias = tuple[str | int, ...]
"""The place of a value: keys of tables, and indices from 0 into arrays, as in ("events", 0, "at")."""

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
# In the order in which they have to be tried. A multi-line string may end in up to two more quotes that belong to it.
_STRINGS = (
    re.compile(r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*"{3,5}', re.DOTALL),
    re.compile(r"'''(?:[^']|'{1,2}(?!'))*'{3,5}", re.DOTALL),
    re.compile(r'"(?:[^"\\\n]|\\.)*"'),
    re.compile(r"'[^'\n]*'"),
)
_SCALAR = re.compile(r"[^,\]}#\n]*?(?=[ \t\r]*(?:[,\]}#\n]|\Z))")


@dataclass(frozen=True, slots=True)
class Step:
    """One name of a dotted key or header, and where it stands."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class KeyValue:
    """A `key = value` line: its full path, the names of its key, and its lines from start to end."""

    path: Path
    steps: tuple[Step, ...]
    start: int
    end: int


@dataclass(slots=True)
class Section:
    """What stands under one header; the first has none and holds the keys of the file itself.

    Attributes:
        path: with the position of the row in an array of tables: `("events", 0)`.
        steps: names of the header.
        start: of the header's line.
        end: behind the last line of its last entry, or of its header.
        entries: in order.
    """

    path: Path
    steps: tuple[Step, ...] = ()
    start: int = 0
    end: int = 0
    entries: list[KeyValue] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class TomlMap:
    """A valid TOML text as it lies before whoever edits it.

    Attributes:
        sections: in the order of the text.
        values: start and end of each value by its path, those inside of arrays and inline tables included.
        lines: as `toml_lines` has them.
    """

    sections: list[Section]
    values: Mapping[Path, tuple[int, int]]
    lines: Mapping[Path, int]

    def section(self, path: Path) -> Section | None:
        """The one with the header of a table; None if it has none."""
        return next((section for section in self.sections if section.path == path), None)


def toml_map(text: str) -> TomlMap:
    """Where the sections, entries and values of a valid TOML text stand."""
    scanner = _Scanner(text)
    scanner.scan_document()
    return TomlMap(scanner.sections, scanner.values, scanner.lines)


def toml_lines(text: str) -> Mapping[Path, int]:
    """Map the path of every table, array, array element and value of a valid TOML text to its line, from 1.

    The line of a value is that of its key, the line of an array element that of the element itself. A table that is
    opened more than once (`[links.wifi]`, `[links.wifi.reverse]`) has the line of its own header if there is one, else
    of the first key or header that implies it.
    """
    return toml_map(text).lines


def dotted(path: Path) -> str:
    """A path as messages show it: ("events", 0, "at") -> "events[0].at"; keys that TOML would quote are quoted."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += ("." if text else "") + (step if _BARE_KEY.fullmatch(step) else _quoted(step))
    return text


def _quoted(key: str) -> str:
    return '"' + on_one_line(key).replace('"', '\\"') + '"'


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[Path, int] = {}
        self.values: dict[Path, tuple[int, int]] = {}
        self.sections = [Section(())]
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._tables_in_array: dict[Path, int] = {}  # how many [[headers]] each array of tables has had so far

    def scan_document(self) -> None:
        while True:
            self._skip(_BLANK)
            if self.at >= len(self.text):
                return
            line = self._line()
            start = self._line_starts[line - 1]
            if self.text[self.at] == "[":
                path, steps = self._scan_header(line)
                self.sections.append(Section(path, steps, start, self._line_end()))
            else:
                section = self.sections[-1]
                path, steps = self._scan_pair(section.path)
                section.end = self._line_end()
                section.entries.append(KeyValue(path, steps, start, section.end))

    def _scan_header(self, line: int) -> tuple[Path, tuple[Step, ...]]:
        is_array = self.text.startswith("[[", self.at)
        self.at += 2 if is_array else 1
        steps = self._scan_keys()
        self.at += 2 if is_array else 1
        path: Path = ()
        for step in steps[:-1]:
            path = (*path, step.name)
            self.lines.setdefault(path, line)
            # [a.b] after [[a]] belongs to the last table of the array
            if path in self._tables_in_array:
                path = (*path, self._tables_in_array[path] - 1)
        path = (*path, steps[-1].name)
        if is_array:
            index = self._tables_in_array.get(path, 0)
            self._tables_in_array[path] = index + 1
            self.lines.setdefault(path, line)
            path = (*path, index)
        self.lines[path] = line
        return path, steps

    def _scan_pair(self, table: Path) -> tuple[Path, tuple[Step, ...]]:
        line = self._line()
        path, steps = table, self._scan_keys()
        for step in steps:
            path = (*path, step.name)
            self.lines.setdefault(path, line)
        self.at += 1  # the equals sign
        self._skip(_SPACE)
        self._scan_value(path)
        return path, steps

    def _scan_keys(self) -> tuple[Step, ...]:
        """A dotted key, up to and without what follows it."""
        steps = []
        while True:
            self._skip(_SPACE)
            start = self.at
            if self.text[start] in "\"'":
                self._skip_string()
                name = str(tomllib.loads(f"key = {self.text[start : self.at]}")["key"])
            else:
                self._skip(_BARE_KEY)
                name = self.text[start : self.at]
            steps.append(Step(name, start, self.at))
            self._skip(_SPACE)
            if self.text[self.at] != ".":
                return tuple(steps)
            self.at += 1

    def _scan_value(self, path: Path) -> None:
        start, opening = self.at, self.text[self.at]
        if opening == "[":
            self._scan_array(path)
        elif opening == "{":
            self._scan_inline_table(path)
        elif opening in "\"'":
            self._skip_string()
        else:
            self._skip(_SCALAR)
        self.values[path] = (start, self.at)

    def _scan_array(self, path: Path) -> None:
        self.at += 1
        index = 0
        while True:
            self._skip(_BLANK)
            if self.text[self.at] == "]":
                break
            if self.text[self.at] == ",":
                self.at += 1
                continue
            self.lines[(*path, index)] = self._line()
            self._scan_value((*path, index))
            index += 1
        self.at += 1

    def _scan_inline_table(self, path: Path) -> None:
        self.at += 1
        while True:
            self._skip(_BLANK)
            if self.text[self.at] == "}":
                break
            if self.text[self.at] == ",":
                self.at += 1
                continue
            self._scan_pair(path)
        self.at += 1

    def _skip(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self.text, self.at)
        if match is not None:
            self.at = match.end()

    def _skip_string(self) -> None:
        for pattern in _STRINGS:
            match = pattern.match(self.text, self.at)
            if match is not None:
                self.at = match.end()
                return

    def _line(self) -> int:
        return bisect_right(self._line_starts, self.at)

    def _line_end(self) -> int:
        """Behind the end of the line."""
        found = self.text.find("\n", self.at)
        return len(self.text) if found < 0 else found + 1
