"""The scripts of a scenario that is being edited: where each is kept, how it is read and written, and how one is added.

A scenario that is a file has its scripts in files beside it; one that is not, as an example that was opened, holds the
text of its scripts itself, and so do stored runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from subflow_app.features.catalog.core.catalog import app_catalog
from subflow_app.features.editor.core.scenario_edits import Edited
from subflow_app.features.editor.core.scenario_parts import named
from subflow_app.features.editor.core.script_files import add_script, check_script_name, write_script
from subflow_app.foundation import toml_edit
from subflow_app.foundation.errors import InputError
from subflow_sim.errors import ParamError
from subflow_sim.gate import is_there
from subflow_sim.params import SCRIPT_SECTIONS
from subflow_sim.scenario_model import DATAGRAM_KINDS, ScriptKind
from subflow_sim.script_reader import SUFFIX, read_script


@dataclass(frozen=True, slots=True)
class ScriptPlace:
    """Where a scenario has a script.

    Attributes:
        kind: controller or scheduler.
        name: by which flows choose it.
        file: as the scenario names it, or the name of one that ships.
        folder: of the scenario; None: it is not a file.
        content: the text, where the scenario holds it itself.
    """

    kind: ScriptKind
    name: str
    file: str
    folder: Path | None = None
    content: str | None = None

    @property
    def key(self) -> str:
        """Dotted, as of other parts of a scenario."""
        return f"{SCRIPT_SECTIONS[self.kind]}.{self.name}"

    @property
    def path(self) -> Path | None:
        """The file that is written; None: the scenario holds the text, or names a script that ships."""
        if self.content is not None or self.folder is None or not self.file.endswith(SUFFIX):
            return None
        return self.folder / self.file

    @property
    def is_shipped(self) -> bool:
        """Whether it is one that ships, which nobody edits."""
        return self.content is None and not self.file.endswith(SUFFIX)

    def read(self) -> str:
        """The text.

        Raises:
            InputError: if there is none; the text says what is allowed.
        """
        if self.content is not None:
            return self.content.replace("\r\n", "\n")
        try:
            return read_script(self.file, self.folder)
        except ParamError as error:
            raise InputError(f"{self.file}: {error}") from error

    def write(self, text: str) -> None:
        """Writes the file, which it has to have.

        Raises:
            InputError: if that cannot be written.
        """
        assert self.path is not None
        write_script(self.path, text)


def scripts_of(data: Mapping[str, Any], folder: Path | None) -> tuple[ScriptPlace, ...]:
    """The scripts that a scenario brings, whatever else is wrong with it.

    Args:
        data: the file as plain tables and values.
        folder: where it is; None: nowhere.
    """
    found = []
    for kind, section in SCRIPT_SECTIONS.items():
        for name, table in named(data, section).items():
            file, content = table.get("script"), table.get("content")
            if isinstance(file, str):
                found.append(ScriptPlace(kind, name, file, folder, content if isinstance(content, str) else None))
    return tuple(found)


def new_place(kind: ScriptKind, name: str, data: Mapping[str, Any], folder: Path | None) -> ScriptPlace:
    """Where a new script of that name is to be.

    Args:
        kind: controller or scheduler.
        name: as somebody typed it.
        data: the scenario as plain tables and values.
        folder: where it is; None: nowhere.

    Raises:
        InputError: if it cannot have that name.
    """
    check_script_name(name, kind, app_catalog())
    if name in named(data, SCRIPT_SECTIONS[kind]):
        raise InputError(f'the scenario has a {kind} "{name}" already; take another name')
    place = ScriptPlace(kind, name, f"{name}{SUFFIX}", folder)
    if place.path is None:
        return replace(place, content="")
    if is_there(place.path):
        raise InputError(f"{place.path} already exists; it is left as it is")
    return place


def free_name(kind: ScriptKind, wanted: str, data: Mapping[str, Any], folder: Path | None) -> str:
    """A name for a new script: the wanted one, or that with a number behind it."""
    for name in (wanted, *(f"{wanted}-{number}" for number in range(2, 1000))):
        try:
            new_place(kind, name, data, folder)
        except InputError:
            continue
        return name
    return wanted


def flows_for(data: Mapping[str, Any]) -> tuple[str, ...]:
    """The flows that can have a controller or scheduler, by name."""
    return tuple(name for name, flow in named(data, "flows").items() if flow.get("kind") not in DATAGRAM_KINDS)


def with_new_script(scenario: str, place: ScriptPlace, text: str, flows: Iterable[str] = ()) -> Edited:
    """The scenario with a script that it did not have, which some flows have from then on.

    Raises:
        InputError: if the file of the script cannot be written.
        TomlEditError: if the scenario cannot be edited.
    """
    edited = add_script(scenario, place.kind, place.name, content=None if place.path is not None else text)
    # Not with the options of what they had before, which the new one does not have.
    whole = toml_edit.set_values(edited.text, {("flows", flow, place.kind): place.name for flow in flows})
    if place.path is not None:
        write_script(place.path, text, is_new=True)
    return Edited(whole, (*edited.keys, *(f"flows.{flow}.{place.kind}" for flow in flows)))
