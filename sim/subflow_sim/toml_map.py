"""Positions of the parts of a TOML text, which the standard library's parser does not report.

The scanner reads only as much of TOML as necessary to follow keys through tables, arrays of tables, dotted keys, inline
tables and multi-line values. The text must be valid TOML, which `tomllib` checks before. Callers that edit a text
verify the content of the result.
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
"""Path of a value: keys of tables, and indices from 0 into arrays, for example ("events", 0, "at")."""

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
# Tried in this order. A multi-line string may end with up to two more quotes that belong to it.
_STRINGS = (
    re.compile(r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*"{3,5}', re.DOTALL),
    re.compile(r"'''(?:[^']|'{1,2}(?!'))*'{3,5}", re.DOTALL),
    re.compile(r'"(?:[^"\\\n]|\\.)*"'),
    re.compile(r"'[^'\n]*'"),
)
_SCALAR = re.compile(r"[^,\]}#\n]*?(?=[ \t\r]*(?:[,\]}#\n]|\Z))")


@dataclass(frozen=True, slots=True)
class Step:
    """A name of a dotted key or header, with the offsets of its start and end in the text, in characters."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class KeyValue:
    """A `key = value` entry: its full path, the names of its key, and the offsets where its lines start and end."""

    path: Path
    steps: tuple[Step, ...]
    start: int
    end: int


@dataclass(slots=True)
class Section:
    """The entries under one header; the first section has no header and contains the top-level keys of the file.

    Attributes:
        path: path, with the index of the element for an array of tables: `("events", 0)`.
        steps: names of the header.
        start: offset of the start of the header's line.
        end: offset of the end of the line of the last entry, or of the header's line if no entry follows.
        entries: entries in order.
    """

    path: Path
    steps: tuple[Step, ...] = ()
    start: int = 0
    end: int = 0
    entries: list[KeyValue] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class TomlMap:
    """The positions in a valid TOML text, for editing.

    Attributes:
        sections: sections in the order of the text.
        values: offsets of start and end of each value by path, including values inside arrays and inline tables.
        lines: line numbers, from `toml_lines`.
    """

    sections: list[Section]
    values: Mapping[Path, tuple[int, int]]
    lines: Mapping[Path, int]

    def section(self, path: Path) -> Section | None:
        """The section with the header of a table; None if the table has no header."""
        return next((section for section in self.sections if section.path == path), None)


def toml_map(text: str) -> TomlMap:
    """Positions of the sections, entries and values of a valid TOML text."""
    scanner = _Scanner(text)
    scanner.scan_document()
    return TomlMap(scanner.sections, scanner.values, scanner.lines)


def toml_lines(text: str) -> Mapping[Path, int]:
    """Maps the path of every table, array, array element and value of a valid TOML text to its line, from 1.

    A value has the line of its key, and an array element has its own line. A table opened more
    than once (`[links.wifi]`, `[links.wifi.reverse]`) has the line of its own header if present, otherwise that of the
    first key or header that implies it.
    """
    return toml_map(text).lines


def dotted(path: Path) -> str:
    """A path in the format of messages: ("events", 0, "at") -> "events[0].at"; keys are quoted as in TOML."""
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
        self._tables_in_array: dict[Path, int] = {}  # number of [[headers]] so far, by array of tables

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
        """The names of a dotted key, bare or quoted."""
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
        """Offset of the next line, or of the end of the text."""
        found = self.text.find("\n", self.at)
        return len(self.text) if found < 0 else found + 1
