"""Names of commands in the program: the help is complete, and every named command exists."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import typer.testing

from subflow_app.shell.commands import app

ROOT = Path(__file__).resolve().parents[2]
TREE: Any = typer.main.get_command(app)

# Text in backticks may span lines, and the pieces of a string in the source.
_QUOTED = re.compile(r"`subflow ([^`]+)`")
_SEAM = re.compile(r'"\s*\n\s*f?"')
_BARE = re.compile(r"(?<![\w/`.-])subflow ([a-z][a-z-]+)")


def _groups(group: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield words, group
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _groups(command, (*words, name))


def _shown(words: tuple[str, ...], command: Any) -> Iterator[tuple[str, ...]]:
    yield words
    for name, each in getattr(command, "commands", {}).items():
        if not each.hidden:
            yield from _shown((*words, name), each)


@pytest.mark.parametrize("columns", [80, 100, 200])
def test_help_cuts_no_line(columns: int) -> None:
    """A list of commands shortens long lines with dots: texts are short enough to avoid it."""
    cut = []
    for words in _shown((), TREE):
        told = typer.testing.CliRunner().invoke(app, [*words, "--help"], prog_name="subflow", terminal_width=columns)
        assert told.exit_code == 0, told.output
        lines = told.stdout.splitlines()
        listed = lines.index("Commands:") if "Commands:" in lines else len(lines)
        cut += [f"{' '.join(words)}: {line}" for line in lines[listed:] if line.rstrip().endswith("...")]
        cut += [f"{' '.join(words)}: {line}" for line in lines if len(line) > columns or "…" in line]
    assert cut == []


def _texts() -> Iterator[tuple[str, str]]:
    paths = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "dev.py")]
    for folder, endings in {
        "app": (".py", ".md"),
        "agents": (".py", ".md"),
        "sim/subflow_sim": (".py", ".md"),
        "packaging": (".py", ".sh", ".md", ".xml"),
        "docs": (".md", ".py"),
        "assets": (".md", ".toml", ".po"),
    }.items():
        paths += [path for path in sorted((ROOT / folder).rglob("*")) if path.suffix in endings]
    for path in paths:
        yield path.relative_to(ROOT).as_posix(), _SEAM.sub("", path.read_text(encoding="utf-8"))


# A worker that starts before the commands, and an option that its command reads by hand.
_WORKER = "emulation-worker"
_BY_HAND: dict[tuple[str, ...], set[str]] = {("emulate",): {"--on"}}


def what_is_wrong(said: str) -> str:
    """The error in the words after ``subflow``; empty if a command with these options exists."""
    words = [word.rstrip(",.;:") for word in shlex.split(said.replace("'", " "), comments=True)]
    if "--" in words:  # the words of another program follow
        words = words[: words.index("--")]
    if words == [_WORKER]:
        return ""
    command = TREE
    path: list[str] = []
    while words and hasattr(command, "commands") and re.fullmatch(r"[a-z][a-z-]*", words[0]):
        if words[0] not in command.commands:
            is_listing = any(name.isupper() for name in command.commands)
            return "" if is_listing else f"there is no {' '.join(['subflow', *path, words[0]])}"
        command = command.commands[words[0]]
        path.append(words.pop(0))
    options = _BY_HAND.get(tuple(path), set()) | {
        name for param in command.params for name in (*param.opts, *param.secondary_opts)
    }
    wrong = [word for word in words if word.startswith("--") and word.partition("=")[0] not in options | {"--help"}]
    return f"{' '.join(['subflow', *path])} has no {', '.join(wrong)}" if wrong else ""


def test_every_command_that_is_named_is_there() -> None:
    below = {name for words, group in _groups(TREE) if words for name in group.commands} - set(TREE.commands)
    found, wrong = 0, []
    for name, text in _texts():
        for match in _QUOTED.finditer(text):
            said = " ".join(match[1].replace("\\n", " ").replace('\\"', '"').split())
            found += 1
            if problem := what_is_wrong(said.partition("|")[0]):
                wrong.append(f"{name}: `subflow {said}`: {problem}")
        # Without backticks "subflow" may be the noun; a command of a group is not a command on its own.
        wrong += [f"{name}: subflow {match[1]}" for match in _BARE.finditer(text) if match[1] in below]
    assert wrong == []
    assert found > 100
