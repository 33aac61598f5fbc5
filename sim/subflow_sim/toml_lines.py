"""Where each value of a TOML text stands, which the parser of the standard library does not tell.

A scanner that reads only as much of TOML as it takes to follow keys through tables, arrays of tables, dotted keys,
inline tables and multi-line values. It trusts that the text is valid; `tomllib` has judged that before.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Mapping
from typing import TypeAlias

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
_SCALAR = re.compile(r"[^,\]}#\n]*")


def toml_lines(text: str) -> Mapping[Path, int]:
    """Map the path of every table, array, array element and value of a valid TOML text to its line, from 1.

    The line of a value is that of its key, the line of an array element that of the element itself. A table that is
    opened more than once (`[links.wifi]`, `[links.wifi.reverse]`) has the line of its own header if there is one, else
    of the first key or header that implies it.
    """
    scanner = _Scanner(text)
    scanner.scan_document()
    return scanner.lines


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
    shown = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in key)
    return '"' + shown.replace('"', '\\"') + '"'


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[Path, int] = {}
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._tables_in_array: dict[Path, int] = {}  # how many [[headers]] each array of tables has had so far

    def scan_document(self) -> None:
        table: Path = ()
        while True:
            self._skip(_BLANK)
            if self.at >= len(self.text):
                return
            if self.text[self.at] == "[":
                table = self._scan_header()
            else:
                self._scan_pair(table)

    def _scan_header(self) -> Path:
        line = self._line()
        is_array = self.text.startswith("[[", self.at)
        self.at += 2 if is_array else 1
        keys = self._scan_keys()
        self.at += 2 if is_array else 1
        path: Path = ()
        for key in keys[:-1]:
            path = (*path, key)
            self.lines.setdefault(path, line)
            # [a.b] after [[a]] belongs to the last table of the array
            if path in self._tables_in_array:
                path = (*path, self._tables_in_array[path] - 1)
        path = (*path, keys[-1])
        if not is_array:
            self.lines[path] = line
            return path
        index = self._tables_in_array.get(path, 0)
        self._tables_in_array[path] = index + 1
        self.lines.setdefault(path, line)
        self.lines[(*path, index)] = line
        return (*path, index)

    def _scan_pair(self, table: Path) -> None:
        line = self._line()
        path = table
        for key in self._scan_keys():
            path = (*path, key)
            self.lines.setdefault(path, line)
        self.at += 1  # the equals sign
        self._skip(_SPACE)
        self._scan_value(path)

    def _scan_keys(self) -> list[str]:
        """A dotted key, up to and without what follows it."""
        keys = []
        while True:
            self._skip(_SPACE)
            start = self.at
            if self.text[start] in "\"'":
                self._skip_string()
                keys.append(str(tomllib.loads(f"key = {self.text[start : self.at]}")["key"]))
            else:
                self._skip(_BARE_KEY)
                keys.append(self.text[start : self.at])
            self._skip(_SPACE)
            if self.text[self.at] != ".":
                return keys
            self.at += 1

    def _scan_value(self, path: Path) -> None:
        opening = self.text[self.at]
        if opening == "[":
            self._scan_array(path)
        elif opening == "{":
            self._scan_inline_table(path)
        elif opening in "\"'":
            self._skip_string()
        else:
            self._skip(_SCALAR)

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
