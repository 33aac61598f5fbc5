"""Scripts (custom controllers and schedulers) of the open scenario: their locations, files and tables.

A saved scenario keeps its scripts in files next to it. A scenario without a file, such as an opened example, embeds the
text of its scripts, as do stored runs. A scenario refers to its scripts by named tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subflow_app.features.catalog.core.catalog import app_catalog
from subflow_app.features.editor.core.scenario_edits import Edited, appended
from subflow_app.features.editor.core.scenario_parts import named
from subflow_app.foundation import toml_edit
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.toml_edit import Lines, TomlValue, read_toml, render
from subflow_sim.errors import ParamError
from subflow_sim.gate import TooLargeFileError, is_there, read_file, size_text
from subflow_sim.parameter import MAX_NAME_LENGTH, NAME_PATTERN
from subflow_sim.params import SCRIPT_SECTIONS, AlgorithmCatalog
from subflow_sim.scenario_model import DATAGRAM_KINDS, ScriptFile, ScriptKind
from subflow_sim.script_reader import SUFFIX, read_script, script_text
from subflow_sim.whole_file import write_whole

if TYPE_CHECKING:
    from subflow_sim.script import ScriptProblem


_NAME = re.compile(NAME_PATTERN)


def open_script(path: Path) -> ScriptFile:
    """Read a script, named after its file, without compiling it.

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
    """Return the problems of a script, one line each, formatted like compiler messages."""
    return [
        f"{path}:{each.line}:{each.column}: {each.message}" + (f"; allowed: {each.allowed}" if each.allowed else "")
        for each in problems
    ]


def check_script_name(name: str, kind: ScriptKind, catalog: AlgorithmCatalog) -> None:
    """Reject a name for a script if it is invalid or names a built-in algorithm.

    Raises:
        InputError: if the name is invalid, or names a built-in algorithm.
    """
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME_LENGTH:
        raise InputError(
            f'"{name}" is not a name; allowed: letters, digits, - and _, at most {MAX_NAME_LENGTH} characters'
        )
    built_in = catalog.controllers if kind == "controller" else catalog.schedulers
    if any(each.name == name for each in built_in):
        raise InputError(f'the {kind} "{name}" is built in already; take another name, e.g. "my-{name}"')


def write_script(path: Path, text: str, *, is_new: bool = False) -> None:
    """Write a script atomically.

    Args:
        path: path of the file.
        text: text of the script.
        is_new: whether to raise an error if the file exists.

    Raises:
        InputError: if the file cannot be written; an existing file stays unchanged.
    """
    if is_new and (is_there(path) or path.is_symlink()):
        raise InputError(f"{path} already exists; it stays unchanged")
    try:
        write_whole(path.resolve(), text.encode())
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from error


def new_script_text(kind: ScriptKind, name: str) -> str:
    """Return the initial text of a new script called `name`."""
    from subflow_sim.script import SKELETONS

    return SKELETONS[kind].replace("NAME", name)


def script_table(kind: ScriptKind, name: str) -> str:
    """Return the table that refers to the script NAME.py in the folder of the scenario."""
    return f"[{SCRIPT_SECTIONS[kind]}.{name}]\nscript = {render(name + SUFFIX)}\n"


def add_script(text: str, kind: ScriptKind, name: str, file: str = "", content: str | None = None) -> Edited:
    """Add a script to a scenario.

    Args:
        text: TOML text of the scenario.
        kind: controller or scheduler.
        name: name by which flows choose it.
        file: path of the script relative to the scenario; empty for NAME.py in the same folder.
        content: text to embed, for a scenario without a file; None if the script has a file.

    Raises:
        InputError: if the scenario already has a script with that name.
        TomlEditError: if the text is not TOML or cannot be extended.
    """
    section = SCRIPT_SECTIONS[kind]
    if name in named(read_toml(text), section):
        raise InputError(f'the scenario has a {kind} "{name}" already; take another name')
    values: dict[str, TomlValue] = {"script": file or f"{name}{SUFFIX}"}
    if content is not None:
        values["content"] = Lines(content)
    return appended(text, section, name, values)


@dataclass(frozen=True, slots=True)
class ScriptPlace:
    """Location of one of a scenario's scripts.

    Attributes:
        kind: controller or scheduler.
        name: name by which flows choose it.
        file: path of the script relative to the scenario, or the name of a shipped script.
        folder: folder of the scenario; None for a scenario without a file.
        content: the embedded text; None if the script has a file.
    """

    kind: ScriptKind
    name: str
    file: str
    folder: Path | None = None
    content: str | None = None

    @property
    def key(self) -> str:
        """Dotted key, like that of other parts of a scenario."""
        return f"{SCRIPT_SECTIONS[self.kind]}.{self.name}"

    @property
    def path(self) -> Path | None:
        """Path of the script's file; None for an embedded or shipped script."""
        if self.content is not None or self.folder is None or not self.file.endswith(SUFFIX):
            return None
        return self.folder / self.file

    @property
    def is_shipped(self) -> bool:
        """True for a script shipped with the program, which is read-only."""
        return self.content is None and not self.file.endswith(SUFFIX)

    def read(self) -> str:
        """Return the text of the script.

        Raises:
            InputError: if the script cannot be read; the message names the accepted content.
        """
        if self.content is not None:
            return self.content.replace("\r\n", "\n")
        try:
            return read_script(self.file, self.folder)
        except ParamError as error:
            raise InputError(f"{self.file}: {error}") from error

    def write(self, text: str) -> None:
        """Write the script to its file; requires a `path`.

        Raises:
            InputError: if the file cannot be written.
        """
        assert self.path is not None
        write_script(self.path, text)


def scripts_of(data: Mapping[str, Any], folder: Path | None) -> tuple[ScriptPlace, ...]:
    """Return the locations of a scenario's scripts, even if the scenario has problems.

    Args:
        data: the file as plain tables and values.
        folder: folder of the scenario; None for a scenario without a file.
    """
    found = []
    for kind, section in SCRIPT_SECTIONS.items():
        for name, table in named(data, section).items():
            file, content = table.get("script"), table.get("content")
            if isinstance(file, str):
                found.append(ScriptPlace(kind, name, file, folder, content if isinstance(content, str) else None))
    return tuple(found)


def new_place(kind: ScriptKind, name: str, data: Mapping[str, Any], folder: Path | None) -> ScriptPlace:
    """Return the location of a new script.

    Args:
        kind: controller or scheduler.
        name: name typed by the user.
        data: the scenario as plain tables and values.
        folder: folder of the scenario; None for a scenario without a file.

    Raises:
        InputError: if the name is invalid or taken.
    """
    check_script_name(name, kind, app_catalog())
    if name in named(data, SCRIPT_SECTIONS[kind]):
        raise InputError(f'the scenario has a {kind} "{name}" already; take another name')
    place = ScriptPlace(kind, name, f"{name}{SUFFIX}", folder)
    if place.path is None:
        return replace(place, content="")
    if is_there(place.path):
        raise InputError(f"{place.path} already exists; it stays unchanged")
    return place


def free_name(kind: ScriptKind, wanted: str, data: Mapping[str, Any], folder: Path | None) -> str:
    """Return the wanted name, or if it is taken, a numbered one (2 to 999); the wanted name if all are taken."""
    for name in (wanted, *(f"{wanted}-{number}" for number in range(2, 1000))):
        try:
            new_place(kind, name, data, folder)
        except InputError:
            continue
        return name
    return wanted


def flows_for(data: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the flows that use a controller or scheduler."""
    return tuple(name for name, flow in named(data, "flows").items() if flow.get("kind") not in DATAGRAM_KINDS)


def with_new_script(scenario: str, place: ScriptPlace, text: str, flows: Iterable[str] = ()) -> Edited:
    """Add a new script to the scenario, and select it in some flows.

    Raises:
        InputError: if the file of the script cannot be written.
        TomlEditError: if the scenario cannot be edited.
    """
    edited = add_script(scenario, place.kind, place.name, content=None if place.path is not None else text)
    # Options of the previous algorithms are dropped, because the script lacks them.
    whole = toml_edit.set_values(edited.text, {("flows", flow, place.kind): place.name for flow in flows})
    if place.path is not None:
        write_script(place.path, text, is_new=True)
    return Edited(whole, (*edited.keys, *(f"flows.{flow}.{place.kind}" for flow in flows)))
