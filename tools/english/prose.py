"""Prose of source files and pages: comments, docstrings, messages and paragraphs, without code."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tools.same_code.texts import cpp_tokens

# Strings come first in the pattern, so that "#" within a string begins no comment.
_HASHES = re.compile(r'"(?P<text>(?:[^"\\\n]|\\.)*)"|\'(?P<other>(?:[^\'\\\n]|\\.)*)\'|#(?P<line>[^\n]*)')
_TWO_WORDS = re.compile(r"[A-Za-z]+,? [a-z]+")
_QUERY = re.compile(r"\s*(SELECT|INSERT|CREATE|UPDATE|DELETE|WITH|PRAGMA) ")
_DIRECTIVE = re.compile(r"#\s*(noqa|type:|mypy:|pragma|!)")
_FENCE = re.compile(r"\s*(```|~~~)")
_MARKS = "/!#: "

# A comment with these words beside a sentence keeps the sentence.
KEPT = "english: keep"


class Prose(NamedTuple):
    """A block of text without a gap.

    Attributes:
        line: number of its first line in the file, from 1.
        kind: "comment", "docstring", "message" or "page".
        text: the lines, joined by line feeds, without the characters that mark a comment.
    """

    line: int
    kind: str
    text: str


def prose_of(path: Path) -> list[Prose]:
    """Prose of a file in order of its lines; empty for a suffix without prose.

    Raises:
        SyntaxError: if a Python file does not parse.
    """
    readers = {".py": _python, ".cpp": _braces, ".h": _braces, ".js": _braces, ".md": _page}
    reader = readers.get(path.suffix, _hashes if path.suffix in (".toml", ".yml") else None)
    if reader is None:
        return []
    return sorted(reader(path.read_text(encoding="utf-8")), key=lambda piece: piece.line)


def _python(text: str) -> Iterator[Prose]:
    inside = set[int]()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.JoinedStr):
            inside.update(map(id, ast.walk(node)))
            words = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
            yield from _message(node.lineno, words)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            inside.add(id(node.value))
            if isinstance(node.value.value, str):
                yield Prose(node.lineno, "docstring", node.value.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield from _message(node.lineno, node.value)
    lines = text.splitlines()
    comments = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not _DIRECTIVE.match(token.string):
            is_whole = not lines[token.start[0] - 1][: token.start[1]].strip()
            comments.append((token.start[0], token.string.lstrip(_MARKS), is_whole))
    yield from _comments(comments)


def _message(line: int, text: str) -> Iterator[Prose]:
    if _TWO_WORDS.search(text) and not _QUERY.match(text):
        yield Prose(line, "message", text)


def _comments(lines: Iterable[tuple[int, str, bool]]) -> Iterator[Prose]:
    """Joins comments on consecutive lines; a comment after code stays separate."""
    first, words = 0, list[str]()
    for number, text, is_whole in lines:
        if text.strip() == KEPT:
            continue
        if words and (number != first + len(words) or not is_whole):
            yield Prose(first, "comment", "\n".join(words))
            words = []
        if not is_whole:
            yield Prose(number, "comment", text)
            continue
        if not words:
            first = number
        words.append(text)
    if words:
        yield Prose(first, "comment", "\n".join(words))


def _braces(text: str) -> Iterator[Prose]:
    lines = text.split("\n")
    comments = []
    for kind, number, word in cpp_tokens(text):
        if kind == "comment" and word.startswith("//"):
            comments.append((number, word.strip(_MARKS), lines[number - 1].lstrip().startswith("//")))
        elif kind == "comment":
            yield Prose(number, "comment", re.sub(r"^\s*\*", "", word[2:-2], flags=re.M))
        elif kind in ("text", "raw"):
            yield from _message(number, word[1:-1])
    yield from _comments(comments)


def _hashes(text: str, start: int = 1) -> Iterator[Prose]:
    comments = []
    for found in _HASHES.finditer(text):
        number = text.count("\n", 0, found.start()) + start
        if found["line"] is None:
            yield from _message(number, found["text"] or found["other"] or "")
        else:
            is_whole = not text[text.rfind("\n", 0, found.start()) + 1 : found.start()].strip()
            comments.append((number, found["line"].strip(_MARKS), is_whole))
    yield from _comments(comments)


def _page(text: str) -> Iterator[Prose]:
    """Paragraphs; in the front matter between two lines "+++", the quoted texts."""
    paragraph, settings, first = list[str](), list[str](), 0
    place = "text"
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        if line.strip() == "+++" and place != "code":
            if place == "settings":
                yield from _hashes("\n".join(settings), first)
            place = "text" if place == "settings" else "settings"
            settings, first = [], number + 1
        elif place == "settings":
            settings.append(line)
        elif _FENCE.match(line):
            place = "text" if place == "code" else "code"
        elif place == "text" and line.strip():
            paragraph = [*paragraph, line]
            continue
        if paragraph:
            yield Prose(number - len(paragraph), "page", "\n".join(paragraph))
            paragraph = []
