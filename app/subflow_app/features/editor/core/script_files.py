"""Controllers and schedulers that somebody writes: their files, and the tables by which a scenario brings them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from subflow_app.features.editor.core.scenario_edits import Edited, appended
from subflow_app.features.editor.core.scenario_parts import named
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.toml_edit import Lines, TomlValue, read_toml, render
from subflow_sim.errors import ParamError
from subflow_sim.gate import TooLargeFileError, is_there, read_file, size_text
from subflow_sim.parameter import MAX_NAME_LENGTH, NAME_PATTERN
from subflow_sim.params import SCRIPT_SECTIONS
from subflow_sim.scenario_model import ScriptFile, ScriptKind
from subflow_sim.script_reader import SUFFIX, script_text
from subflow_sim.whole_file import write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from subflow_sim.params import AlgorithmCatalog
    from subflow_sim.script import ScriptProblem

_NAME = re.compile(NAME_PATTERN)


def open_script(path: Path) -> ScriptFile:
    """A script from a file, called as the file is; what is wrong with it, its compiler tells.

    Raises:
        InputError: if the file cannot be read or is not text.
    """
    from subflow_sim.script import MAX_SCRIPT_BYTES, kind_of

    try:
        text = script_text(read_file(path, MAX_SCRIPT_BYTES), path.name)
    except TooLargeFileError as error:
        raise InputError(f"{path}: too large for a script; allowed: {size_text(MAX_SCRIPT_BYTES)}") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    except ParamError as error:
        raise InputError(f"{path}: {error}") from error
    return ScriptFile(path.name.removesuffix(SUFFIX), kind_of(text), text, path.name)


def script_problems(path: Path, problems: Sequence[ScriptProblem]) -> list[str]:
    """What is wrong with a script, a line each, as compilers tell it."""
    return [
        f"{path}:{each.line}:{each.column}: {each.message}" + (f"; allowed: {each.allowed}" if each.allowed else "")
        for each in problems
    ]


def check_script_name(name: str, kind: ScriptKind, catalog: AlgorithmCatalog) -> None:
    """Refuse a name that no scenario could give a script.

    Raises:
        InputError: if it is none, or that of something built in.
    """
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME_LENGTH:
        raise InputError(
            f'"{name}" is not a name; allowed: letters, digits, - and _, at most {MAX_NAME_LENGTH} characters'
        )
    built_in = catalog.controllers if kind == "controller" else catalog.schedulers
    if any(each.name == name for each in built_in):
        raise InputError(f'the {kind} "{name}" is built in already; take another name, e.g. "my-{name}"')


def write_script(path: Path, text: str, *, is_new: bool = False) -> None:
    """Write a script in one step.

    Args:
        path: of the file.
        text: of the script.
        is_new: refuse a file that is there already.

    Raises:
        InputError: if it cannot be written; what was there still is.
    """
    if is_new and (is_there(path) or path.is_symlink()):
        raise InputError(f"{path} already exists; it is left as it is")
    try:
        write_whole(path.resolve(), text.encode())
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from error


def new_script_text(kind: ScriptKind, name: str) -> str:
    """What a new script of that name begins with."""
    from subflow_sim.script import SKELETONS

    return SKELETONS[kind].replace("NAME", name)


def script_table(kind: ScriptKind, name: str) -> str:
    """What brings the script NAME.py in a scenario that lies beside it."""
    return f"[{SCRIPT_SECTIONS[kind]}.{name}]\nscript = {render(name + SUFFIX)}\n"


def add_script(text: str, kind: ScriptKind, name: str, file: str = "", content: str | None = None) -> Edited:
    """Have a scenario bring a script.

    Args:
        text: of the scenario.
        kind: of the script.
        name: by which flows choose it.
        file: as the scenario names it; empty: NAME.py beside it.
        content: of the file, for a scenario that is none itself; None: the file is there.

    Raises:
        InputError: if the scenario has a script of that name.
        TomlEditError: if the text is not TOML or cannot be added to.
    """
    section = SCRIPT_SECTIONS[kind]
    if name in named(read_toml(text), section):
        raise InputError(f'the scenario has a {kind} "{name}" already; take another name')
    values: dict[str, TomlValue] = {"script": file or f"{name}{SUFFIX}"}
    if content is not None:
        values["content"] = Lines(content)
    return appended(text, section, name, values)
