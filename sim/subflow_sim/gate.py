"""The gate that all external files and documents pass before a reader parses them.

A reader checks the content of a file. The gate refuses input that would prevent a reader from checking it: anything but
regular files (a pipe or a device would block the program), files that are too large, and documents whose depth or keys
exhaust the stack, time or memory of parsers. It raises the exceptions that readers already handle: `OSError` for files,
`ValueError` for their content.
"""

from __future__ import annotations

import errno
import json
import math
import os
import re
import stat
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

MOST_DEPTH = 50
"""Maximum depth of a document: tables in arrays in tables. Scenario files use six levels."""

MOST_KEY_PARTS = 30
"""Maximum number of names in a dotted key; time and memory of parsers grow with its square."""

MAX_INTEGER = 2**63 - 1
"""Largest integer that SQLite and the core's counters can hold."""

MOST_SECONDS = 9e9
"""Largest time in s, 285 years: longer times in ns do not fit in 64 bits."""

MOST_OWN_BYTES = 64_000_000
"""Maximum size of a user's file for simulation: a scenario, or a recording of rates or delays."""

MOST_TEXT_BYTES = 4_000_000
"""Maximum size of a scenario's text without the recordings in it."""


class TooLargeFileError(OSError):
    """A file exceeds the size limit of its reader."""


def is_there(path: Path | str) -> bool:
    """True if a file or folder has this name. Accepts any text; returns False for text that is too long for a name."""
    return os.path.exists(path)  # noqa: PTH110 - Path.exists raises OSError for an overlong name


def is_file(path: Path | str) -> bool:
    """True if a regular file has this name; see `is_there`."""
    return os.path.isfile(path)  # noqa: PTH113


def is_folder(path: Path | str) -> bool:
    """True if a folder has this name; see `is_there`."""
    return os.path.isdir(path)  # noqa: PTH112


@contextmanager
def open_file(path: Path | str, most_bytes: int | None = None) -> Iterator[BinaryIO]:
    """Opens a file for reading in parts.

    Args:
        path: path of a regular file.
        most_bytes: maximum size, bytes; None: unlimited.

    Raises:
        OSError: if the file cannot be read, is not a regular file, or is too large (`TooLargeFileError`).
    """
    try:
        # Without O_NONBLOCK, opening a pipe would wait for a writer.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except ValueError as error:  # a null character in the path
        raise OSError(errno.EINVAL, str(error), str(path)) from error
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        if most_bytes is not None and status.st_size > most_bytes:
            raise _too_large(path, most_bytes, status.st_size)
        yield file


def read_file(path: Path | str, most_bytes: int) -> bytes:
    """The content of a file with at most `most_bytes` bytes.

    Raises:
        OSError: as `open_file`.
    """
    with open_file(path, most_bytes) as file:
        content = file.read(most_bytes + 1)  # the file may have grown since it was opened
    if len(content) > most_bytes:
        raise _too_large(path, most_bytes, len(content))
    return content


def read_scenario_file(path: Path | str) -> bytes:
    """The content of a scenario file.

    Recordings count only towards `MOST_OWN_BYTES`, because `toml_tree` does not parse them; the rest of the text is
    limited to `MOST_TEXT_BYTES`, because parsing it takes time and memory per character.

    Raises:
        OSError: as `open_file`; also if the text without recordings is too large.
    """
    content = read_file(path, MOST_OWN_BYTES)
    if len(content) > MOST_TEXT_BYTES:
        text_bytes = len(content) - sum(len(found[1]) for found in _RECORDED.finditer(content.decode("latin-1")))
        if text_bytes > MOST_TEXT_BYTES:
            raise _too_large(path, MOST_TEXT_BYTES, text_bytes, " without its recordings")
    return content


def _too_large(path: Path | str, most_bytes: int, has_bytes: int, which: str = "") -> OSError:
    unit, name = (1e6, "MB") if most_bytes >= 1_000_000 else (1e3, "kB")
    reason = f"larger than {size_text(most_bytes)}{which} (it has {has_bytes / unit:.10g} {name})"
    return TooLargeFileError(errno.EFBIG, reason, str(path))


def size_text(size_bytes: int) -> str:
    """A size limit as displayed text: "4 MB", "64 kB"."""
    return f"{size_bytes / 1e6:g} MB" if size_bytes >= 1_000_000 else f"{size_bytes / 1e3:g} kB"


# ---- documents ----


def toml_tree(text: str) -> dict[str, Any]:
    """Parses a TOML text.

    Raises:
        tomllib.TOMLDecodeError: if the text is not TOML, is nested too deeply, or contains a number with thousands of
            digits.
    """
    _check_toml(text)
    short, contents = _shortened(text)
    try:
        tree = tomllib.loads(short)
    except tomllib.TOMLDecodeError:
        if not contents:
            raise
        tree = tomllib.loads(text)  # reports the error at its position in the full text
    except (ValueError, RecursionError) as error:  # ValueError: a number with thousands of digits
        raise tomllib.TOMLDecodeError(str(error)) from error
    problem = _problem_of(tree, is_strict=False)
    if problem:
        raise tomllib.TOMLDecodeError(problem)
    return _lengthened(tree, contents) if contents else tree


def json_tree(content: str | bytes, *, is_strict: bool = True) -> Any:
    """Parses a JSON text.

    Args:
        content: text, or bytes in UTF-8.
        is_strict: whether to refuse integers beyond 64 bits, numbers that are not finite, and strings with halves of
            surrogate pairs, which UTF-8 cannot encode.

    Raises:
        ValueError: if the content is not JSON, is nested too deeply, or contains a refused value.
    """
    try:
        document = json.loads(content)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    problem = _problem_of(document, is_strict=is_strict)
    if problem:
        raise ValueError(problem)
    return document


def _shortened(text: str) -> tuple[str, list[str]]:
    """The text with numbered placeholders for recordings, whose millions of characters would slow the parser down."""
    if "\ue000" in text or _RECORDED.search(text) is None:
        return text, []
    contents: list[str] = []

    def number(found: re.Match[str]) -> str:
        contents.append(found[1])
        return f'"\ue000{len(contents) - 1}\ue001"'

    return _RECORDED.sub(number, text), contents


def _lengthened(value: Any, contents: list[str]) -> Any:
    """The parsed value with all recordings restored."""
    if isinstance(value, str):
        return _SHORT.sub(lambda found: contents[int(found[1])], value) if "\ue000" in value else value
    if isinstance(value, dict):
        return {_lengthened(key, contents): _lengthened(inner, contents) for key, inner in value.items()}
    return [_lengthened(inner, contents) for inner in value] if isinstance(value, list) else value


_RECORDED = re.compile(r'"(packed:[^"\\\n]{1000,})"')
_SHORT = re.compile("\ue000([0-9]+)\ue001")
_TOO_DEEP = f"nested too deeply, more than {MOST_DEPTH} levels"
_SURROGATE = re.compile("[\ud800-\udfff]")
_MARK = re.compile(r"\"\"\"|'''|[\"'#\[\]{}\n.=,]")
_ENDS = {
    '"""': re.compile(r'(?:[^"\\]++|\\.|"{1,2}(?!"))*+"{3,5}', re.DOTALL),
    "'''": re.compile(r"(?:[^']++|'{1,2}(?!'))*+'{3,5}"),
    '"': re.compile(r'(?:[^"\\\n]++|\\.)*+"'),
    "'": re.compile(r"[^'\n]*+'"),
}


def _check_toml(text: str) -> None:
    """Refuses text on which the parser would spend too much time or memory."""
    at = depth = dots = 0
    while (found := _MARK.search(text, at)) is not None:
        mark, at = found.group(), found.end()
        if mark == ".":
            dots += 1
            if dots >= MOST_KEY_PARTS:
                raise tomllib.TOMLDecodeError(
                    f"a key of more than {MOST_KEY_PARTS} parts {_place_in(text, found.start())}"
                )
        elif mark == "#":
            at = text.find("\n", at)
            if at < 0:
                return
        elif mark in _ENDS:
            end = _ENDS[mark].match(text, at)
            if end is None:
                return  # the parser stops here at the latest
            at = end.end()
        else:
            dots = 0
            if mark in "[{":
                depth += 1
                if depth > MOST_DEPTH:
                    raise tomllib.TOMLDecodeError(f"{_TOO_DEEP} {_place_in(text, found.start())}")
            elif mark in "]}":
                depth = max(0, depth - 1)


def _place_in(text: str, at: int) -> str:
    """A position in the format of the standard library's parser."""
    return f"(at line {text.count(chr(10), 0, at) + 1}, column {at - text.rfind(chr(10), 0, at)})"


def _problem_of(document: Any, *, is_strict: bool) -> str:
    """Message about a property that no reader expects in a document; empty for an acceptable document."""
    waiting: list[Any] = [document]
    for level in range(MOST_DEPTH + 1):
        inner: list[Any] = []
        for value in waiting:
            if level == MOST_DEPTH and isinstance(value, dict | list):
                return _TOO_DEEP
            if isinstance(value, dict):
                inner += value.values()
                if is_strict and any(not key.isascii() and _SURROGATE.search(key) for key in value):
                    return "a key holds half of a surrogate pair"
            elif isinstance(value, list):
                inner += value
            elif isinstance(value, str):
                if is_strict and not value.isascii() and _SURROGATE.search(value):
                    return "a text holds half of a surrogate pair"
            elif is_strict and isinstance(value, int):
                if abs(value) > MAX_INTEGER:
                    return "a whole number beyond 64 bits"
            elif is_strict and isinstance(value, float) and not math.isfinite(value):
                return "a number that is not finite"
        if not inner:
            break
        waiting = inner
    return ""
