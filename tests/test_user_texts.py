"""Texts for users follow the rules of plain English that a machine can check."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from tests.helpers.messages import FOLDER
from tests.helpers.plain_english import broken

from subflow_app.shell.commands import app
from subflow_app.vocabulary.language import read_po

ROOT = Path(__file__).resolve().parents[1]
SOURCES = [
    path
    for folder in ("app/subflow_app", "app/subflow_store", "sim/subflow_sim", "agents/subflow_agents")
    for path in sorted((ROOT / folder).rglob("*.py"))
]
# Texts that begin with a small letter are parts of sentences: a permission, or a reason against it.
_BEGINS = re.compile(r"(?:what|who|whose|whether|which)\b")
_GERMAN = re.compile(r"^(?:Was(?! wäre, wenn)|Wer|Ob|Wessen)\b(?!.*\?$)")
# Placeholders of values, and the attributes of HTML.
_NO_WORDS = re.compile(r"\{[^{}]*\}|=\"[^\"]*\"")


def broken_rules(text: str) -> list[str]:
    """The rules that a text for users breaks, each with the surrounding words."""
    words = _NO_WORDS.sub("…", text)
    return [*broken(words), *(["name the thing"] if _BEGINS.match(words) else [])]


def _docstrings(tree: ast.Module) -> set[int]:
    """Texts outside of expressions: docstrings of modules, classes, functions and attributes."""
    return {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }


def literals(source: str) -> Iterator[tuple[int, str]]:
    """The texts of more than one word in a program, with their lines; without the values of f-strings."""
    tree = ast.parse(source)
    left_out = _docstrings(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            left_out |= {id(part) for part in ast.walk(node) if part is not node}
    for node in ast.walk(tree):
        if id(node) in left_out:
            continue
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        if " " in text and "CREATE TABLE" not in text:
            yield node.lineno, text


def _commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    yield name, command
    for word, below in getattr(command, "commands", {}).items():
        yield from _commands(below, f"{name} {word}")


def test_messages_are_plain_english() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for path in SOURCES
        for line, text in literals(path.read_text(encoding="utf-8"))
        if broken_rules(text)
    ]
    assert found == []


def test_help_of_commands_is_plain_english() -> None:
    commands = list(_commands(typer.main.get_command(app), "subflow"))
    found = []
    for name, command in commands:
        texts = [command.help or "", *(getattr(param, "help", None) or "" for param in command.params)]
        found += [f"{name}: {text}" for text in texts if broken_rules(text)]
    assert found == []
    assert len(commands) > 60


def test_german_texts_name_the_thing() -> None:
    german = read_po((FOLDER / "de.po").read_text(encoding="utf-8"))
    texts = [*german.texts.values(), *(form for forms in german.plurals.values() for form in forms)]
    assert [text for text in texts if " " in text and _GERMAN.search(text)] == []
