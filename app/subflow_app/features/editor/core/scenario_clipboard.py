"""Parts of a scenario on the clipboard, as TOML text that other windows and text editors can read.

A copy is self-contained where possible: copying nodes also copies the links and flows between them, and their timed
events. A link copied without its nodes is pasted as a parallel link between the same nodes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, time
from typing import Any

from subflow_app.features.editor.core.scenario_edits import Edited, fresh_name
from subflow_app.features.editor.core.scenario_parts import NAMED, ROWS, TomlPatch, flow_of, named, rows
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.toml_edit import TomlEditError, TomlValue, read_toml, render, render_key
from subflow_sim.gate import MAX_INTEGER
from subflow_sim.parameter import MAX_NAME_LENGTH, NAME_PATTERN

PASTE_SHIFT = 40.0
"""Offset of a pasted part from its original, in canvas units."""

_NAME = re.compile(NAME_PATTERN)
_NOTHING = "the clipboard holds no parts of a scenario: copy nodes, links or flows first, or their TOML text"


def copy_parts(text: str, keys: Iterable[str]) -> str:
    """Write parts as TOML text; empty if the scenario contains none of them.

    Args:
        text: TOML text of the scenario.
        keys: `nodes.client`, `links.wifi`, `flows.download`, `events.0`, `notes.0`.

    Raises:
        TomlEditError: if the text is not TOML.
    """
    data = read_toml(text)
    wanted = set(keys)
    nodes = {name: node for name, node in named(data, "nodes").items() if f"nodes.{name}" in wanted}
    links = {
        name: link
        for name, link in named(data, "links").items()
        if f"links.{name}" in wanted or _is_inside(link.get("ends"), nodes)
    }
    flows = {
        name: flow
        for name, flow in named(data, "flows").items()
        if f"flows.{name}" in wanted or _is_inside([flow.get("from"), flow.get("to")], nodes)
    }
    events = [
        event
        for row, event in enumerate(rows(data, "events"))
        if f"events.{row}" in wanted or event.get("link") in links or flow_of(event) in flows
    ]
    notes = [note for row, note in enumerate(rows(data, "notes")) if f"notes.{row}" in wanted]
    blocks = [
        _block(f"[{section}.{render_key(name)}]", table)
        for section, parts in (("nodes", nodes), ("links", links), ("flows", flows))
        for name, table in parts.items()
    ]
    blocks += [_block("[[events]]", event) for event in events]
    blocks += [_block("[[notes]]", note) for note in notes]
    return "\n".join(blocks)


def has_parts(pasted: str) -> bool:
    """True if text from the clipboard contains parts of a scenario."""
    try:
        data = read_toml(pasted)
    except TomlEditError:
        return False
    return any(named(data, section) for section in NAMED) or any(rows(data, section) for section in ROWS)


def paste_parts(text: str, pasted: str, shift: float = PASTE_SHIFT) -> Edited:
    """Add parts from the clipboard, renamed where needed; the clipboard may also hold a whole scenario file.

    Links, flows, paths and events are omitted if they refer to parts missing from both the clipboard and the scenario.

    Args:
        text: TOML text of the scenario.
        pasted: text from the clipboard.
        shift: offset to the right and down, in canvas units.

    Raises:
        InputError: if nothing can be pasted, or a name or value is invalid; the message gives the reason.
        TomlEditError: if the text of the scenario cannot be edited.
    """
    try:
        parts = read_toml(pasted)
    except TomlEditError as error:
        raise InputError(_NOTHING) from error
    if not has_parts(pasted):
        raise InputError(_NOTHING)
    _check(parts)
    return _Paste(text, parts, shift).result()


@dataclass(slots=True)
class _Renaming:
    """Resolves names during a paste: those of pasted parts to their new names, all others to parts of the scenario."""

    present: set[str]
    new: dict[str, str] = field(default_factory=dict)

    def add(self, name: str) -> str:
        self.new[name] = fresh_name(name, self.present | set(self.new.values()))
        return self.new[name]

    def find(self, name: Any) -> str | None:
        if not isinstance(name, str):
            return None
        return self.new.get(name, name if name in self.present else None)


class _Paste:
    def __init__(self, text: str, parts: Mapping[str, Any], shift: float) -> None:
        data = read_toml(text)
        self._parts = parts
        self._shift = shift
        self._patch = TomlPatch(text)
        self._names = {section: _Renaming(set(named(data, section))) for section in NAMED}
        self._counts = {section: len(rows(data, section)) for section in ROWS}
        self._keys: list[str] = []
        self._missing: list[str] = []

    def result(self) -> Edited:
        for name, node in named(self._parts, "nodes").items():
            self._add("nodes", name, self._shifted(node))
        for name, link in named(self._parts, "links").items():
            self._add_link(name, link)
        for name, flow in named(self._parts, "flows").items():
            self._add_flow(name, flow)
        for event in rows(self._parts, "events"):
            self._add_event(event)
        for note in rows(self._parts, "notes"):
            self._add_row("notes", self._shifted(note))
        if not self._keys:
            raise InputError(
                f"nothing can be pasted here: {'; '.join(self._missing) or 'it belongs to parts that are missing'}"
            )
        return Edited(self._patch.result(), tuple(self._keys))

    def _add(self, section: str, name: str, values: Mapping[str, Any]) -> None:
        new = self._names[section].add(name)
        self._patch.append(f"{section}.{new}", values)
        self._keys.append(f"{section}.{new}")

    def _add_row(self, section: str, values: Mapping[str, Any]) -> None:
        self._patch.append(section, values, is_row=True)
        self._keys.append(f"{section}.{self._counts[section]}")
        self._counts[section] += 1

    def _add_link(self, name: str, link: Mapping[str, Any]) -> None:
        given = link.get("ends")
        ends = [self._names["nodes"].find(end) for end in given] if isinstance(given, list) else []
        if len(ends) != 2 or None in ends:
            self._missing.append(f"link {name} joins nodes that this scenario does not have")
            return
        self._add("links", name, {**link, "ends": ends})

    def _add_flow(self, name: str, flow: Mapping[str, Any]) -> None:
        source, destination = (self._names["nodes"].find(flow.get(key)) for key in ("from", "to"))
        if source is None or destination is None:
            self._missing.append(f"flow {name} ends at nodes that this scenario does not have")
            return
        values = {**flow, "from": source, "to": destination}
        if isinstance(flow.get("paths"), list):
            find = self._names["links"].find
            found = [[find(link) for link in path] for path in flow["paths"] if isinstance(path, list)]
            paths = [path for path in found if None not in path]
            if len(paths) < len(flow["paths"]):
                # `backup` and `late` refer to paths by number, and leaving out paths changes the numbers.
                values.pop("backup", None)
                values.pop("late", None)
            values["paths"] = paths
            if not paths:
                del values["paths"]
        self._add("flows", name, values)

    def _add_event(self, event: Mapping[str, Any]) -> None:
        values = dict(event)
        if "link" in event:
            found = self._names["links"].find(event["link"])
        else:
            found = self._names["flows"].find(flow_of(event))
        if found is None:
            return
        if "link" in event:
            values["link"] = found
        else:
            values["flow"] = found + str(event["flow"])[len(flow_of(event)) :]
        self._add_row("events", values)

    def _shifted(self, part: Mapping[str, Any]) -> dict[str, Any]:
        at = part.get("at")
        if not (isinstance(at, list) and len(at) == 2 and all(isinstance(each, int | float) for each in at)):
            return dict(part)
        return {**part, "at": [round(each + self._shift) for each in at]}


def _check(parts: Mapping[str, Any]) -> None:
    """Reject names and values that a scenario cannot hold.

    Raises:
        InputError: naming the invalid part.
    """
    for section in NAMED:
        for name, table in named(parts, section).items():
            if not _NAME.fullmatch(name) or len(name) > MAX_NAME_LENGTH:
                raise InputError(
                    f'"{name}" on the clipboard is not a name of a part: letters, digits, - and _ are allowed'
                )
            _check_value(table, f"{section}.{name}")
    for section in ROWS:
        for row in rows(parts, section):
            _check_value(row, section)


def _check_value(value: Any, place: str) -> None:
    if isinstance(value, date | time):
        raise InputError(f"{place} on the clipboard holds a date or time of day, which no scenario has")
    if isinstance(value, int | float) and not abs(value) <= MAX_INTEGER:
        raise InputError(f"{place} on the clipboard holds a number that no scenario has; allowed: up to {MAX_INTEGER}")
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_value(each, place)


def _block(header: str, table: Mapping[str, TomlValue]) -> str:
    return "\n".join([header, *(f"{render_key(key)} = {render(value)}" for key, value in table.items())]) + "\n"


def _is_inside(ends: Any, nodes: Mapping[str, Any]) -> bool:
    return isinstance(ends, list) and len(ends) > 1 and all(isinstance(end, str) and end in nodes for end in ends)
