"""Any text may be given as a name: one that is too long for a file is refused like any other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.helpers.command_line import Subflow

from subflow_app.foundation.paths import file_stem
from subflow_app.shell.commands import app

ROOT = Path(__file__).resolve().parents[2]
LONG = "n" * 300
# Claims are typed texts that do not look like files.
CLAIM = (
    "goodput() >= 0.9 * goodput('newreno@best') and loss() < 5 %" + 16 * " and goodput() >= 0" + " and goodput() > 0"
)


def _commands(group: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, (*words, name))
        elif not command.hidden:
            yield (*words, name), command


def _forms() -> Iterator[tuple[str, ...]]:
    for words, command in _commands(typer.main.get_command(app)):
        places = [each for each in command.params if each.param_type_name == "argument"]
        if places:
            yield (*words, *[LONG] * len(places))
            yield (*words, *[CLAIM] * len(places))
        for each in command.params:
            if each.param_type_name == "option" and each.type_descriptor.annotation is Path:
                yield (*words, *["two.toml"] * len(places), each.opts[0], LONG)


def test_each_command_refuses_names_too_long(subflow: Subflow, scenario: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(scenario.parent)
    monkeypatch.setenv("SUBFLOW_MAX_EVENTS", "1000")  # any valid run exceeds the limit, and ends at once
    forms = list(_forms())
    assert len({words[0] for words in forms}) > 30
    wrong = []
    for words in forms:
        try:
            answer = subflow(*words)
        except Exception as error:
            wrong.append(f"{' '.join(words)[:60]}: {type(error).__name__}")
            continue
        if answer.code not in (1, 2):
            wrong.append(f"{' '.join(words)[:60]}: {answer.code}")
    assert not wrong, "\n".join(wrong)


def test_files_are_asked_for_through_the_gate_alone() -> None:
    """`Path.exists` and similar methods raise for texts that are too long."""
    asking = []
    for folder in ("app", "sim/subflow_sim", "agents"):
        for path in (ROOT / folder).rglob("*.py"):
            if "selftest" in path.parts or path.name in ("gate.py", "files.py"):
                continue
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Attribute) and node.attr in ("exists", "is_file", "is_dir"):
                    asking.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert asking == []


@pytest.mark.parametrize("letter", ["n", "ä", "日", "\U00020000"])
def test_names_of_files_that_are_made_of_other_names_stay_short(letter: str) -> None:
    stem = file_stem(letter * 300)
    assert set(stem) == {letter}
    assert len(stem) <= 60
    assert len(stem.encode()) <= 120
