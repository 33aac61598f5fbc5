"""Compare the code of two revisions without comments, docstrings and sentences; a map allows renamed identifiers."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import Path

from tools.same_code.revisions import Repository
from tools.same_code.texts import cpp_tokens, shown
from tools.same_code.trees import is_docstring

_CODE = (".py", ".pyi", ".h", ".cpp", ".js")
_SENTENCE = "a sentence"


def compare(repository: Repository, old: str, new: str, names: Mapping[str, str]) -> list[str]:
    """The first difference in the code of each file, and the number of unchanged files.

    Args:
        repository: contains both revisions.
        old: a revision in git's notation.
        new: a later revision.
        names: new identifiers by old identifiers, without dots.
    """
    changes = repository.changes(old, new)
    blobs = repository.contents(blob for change in changes for blob in (change.old_blob, change.new_blob))
    problems, same, others = [], 0, 0
    for change in changes:
        path = change.new_path or change.old_path or ""
        if Path(path).suffix not in _CODE:
            others += 1
        elif change.old_path is None or change.new_path is None:
            problems.append(f"{path}: {'new' if change.old_path is None else 'gone'}")
        else:
            was, now = (blobs[blob].decode("utf-8") for blob in (change.old_blob, change.new_blob))
            found = difference(path, was, now, names)
            problems += [f"{path}: {found}"] if found else []
            same += not found
    return [*problems, f"{same} files differ only in prose{' and names' if names else ''}, {others} hold no code"]


def difference(path: str, old: str, new: str, names: Mapping[str, str]) -> str | None:
    """The first difference between the code of two texts of a file; None if only prose and mapped names differ."""
    was, now = (_python(text) if path.endswith((".py", ".pyi")) else _tokens(text) for text in (old, new))
    was = [_renamed(word, names) for word in was]
    for a, b in zip(was, now, strict=False):
        if a != b:
            return f"{shown(a)} became {shown(b)}"
    if len(was) == len(now):
        return None
    return f"{len(was)} words of code became {len(now)}"


def _renamed(word: str, names: Mapping[str, str]) -> str:
    return re.sub(r"\w+", lambda found: names.get(found[0], found[0]), word)


def _tokens(text: str) -> list[str]:
    """Tokens of C++ or JavaScript without comments; every quoted sentence becomes the same token.

    A template of JavaScript stays as it is, because it contains code.
    """
    return [
        _SENTENCE if kind in ("text", "raw") and word[0] != "`" and " " in word.strip("\"' ") else word
        for kind, _, word in cpp_tokens(text)
        if kind != "comment"
    ]


class _Plain(ast.NodeTransformer):
    """Removes docstrings, and replaces sentences by a placeholder."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [each for each in body if not is_docstring(each)]  # type: ignore[attr-defined]
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        if isinstance(node.value, str) and re.search(r"\s", node.value.strip()):
            return ast.Constant(_SENTENCE)
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        """In a sentence with values only the values count, in any order."""
        values = sorted(ast.dump(part) for part in node.values if isinstance(part, ast.FormattedValue))
        text = "".join(str(part.value) for part in node.values if isinstance(part, ast.Constant))
        return ast.Constant(f"{_SENTENCE} {values}" if re.search(r"\s", text) else ast.dump(node))


def _python(text: str) -> list[str]:
    """Nodes of a syntax tree in order, one per line, without docstrings and with sentences replaced."""
    return ast.dump(_Plain().visit(ast.parse(text)), indent=0).splitlines()
