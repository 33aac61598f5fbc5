"""Edits that add, remove and rename a scenario's parts or set the paths of flows, and update all references.

Each function takes the text of a scenario and returns the new text with the keys of the added or changed parts.
Removing a node also removes its links, the flows that end at it, the paths across those links, and the events of all
these parts, so that no reference is left dangling. The text may have problems elsewhere, because a new drawing is
incomplete.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from subflow_app.features.editor.core.scenario_parts import NAMED, TomlPatch, flow_of, named, rows, texts
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.toml_edit import TomlValue, read_toml
from subflow_sim.link_params import DROP_PATTERN
from subflow_sim.parameter import MAX_NAME_LENGTH, NAME_PATTERN
from subflow_sim.scenario_model import NodeKind

DEFAULT_LINK: Mapping[str, TomlValue] = {"rate": "10Mbit/s", "delay": "10ms", "queue": "50pkt"}
"""Initial values of a drawn link: broadband, with a queue of two bandwidth-delay products at an RTT of 30 ms."""

_NAME = re.compile(NAME_PATTERN)
_DROP = re.compile(DROP_PATTERN)
_NUMBERED = re.compile(r"(.*?)(-?)(\d+)\Z", re.DOTALL)
_LETTERS: Mapping[str, str] = {"host": "h", "router": "r", "link": "l"}


@dataclass(frozen=True, slots=True)
class Edited:
    """The new text, and the dotted keys of the added or changed parts."""

    text: str
    keys: tuple[str, ...]


# --- add ------------------------------------------------------------------------------------------------------------


def add_node(text: str, kind: NodeKind, at: tuple[float, float]) -> Edited:
    """Add a host or a router at a position on the canvas, named h1, h2, ... or r1, r2, ...

    Raises:
        TomlEditError: if the text is not TOML or its section of nodes cannot be extended.
    """
    data = read_toml(text)
    name = _next_numbered(_LETTERS[kind], named(data, "nodes"))
    values: dict[str, TomlValue] = {"kind": "router"} if kind == "router" else {}
    values["at"] = [round(at[0]), round(at[1])]
    return appended(text, "nodes", name, values)


def add_link(text: str, first: str, second: str) -> Edited:
    """Join two nodes by a link, named l1, l2, ...; parallel links are allowed.

    Raises:
        InputError: if both ends are the same node, or an end is unknown.
        TomlEditError: see `add_node`.
    """
    data = read_toml(text)
    nodes = named(data, "nodes")
    for end in (first, second):
        if end not in nodes:
            raise InputError(f"unknown node {end}")
    if first == second:
        raise InputError(f"a link joins two nodes: {first} cannot be connected to itself")
    name = _next_numbered(_LETTERS["link"], named(data, "links"))
    return appended(text, "links", name, {"ends": [first, second], **DEFAULT_LINK})


def add_flow(text: str, source: str, destination: str, values: Mapping[str, TomlValue]) -> Edited:
    """Add a flow from one host to another, named f1, f2, ...

    Args:
        text: TOML text of the scenario.
        source: the sending host.
        destination: the receiving host.
        values: `kind` and the other keys of the flow, in the order in which they are written.

    Raises:
        InputError: if an end is not a host, or both ends are the same host.
        TomlEditError: see `add_node`.
    """
    data = read_toml(text)
    check_flow_ends(data, source, destination)
    name = _next_numbered("f", named(data, "flows"))
    ends: dict[str, TomlValue] = {"kind": values["kind"], "from": source, "to": destination}
    return appended(text, "flows", name, {**ends, **{key: each for key, each in values.items() if key != "kind"}})


def check_flow_ends(data: Mapping[str, Any], source: str, destination: str) -> None:
    """Reject impossible ends of a flow.

    Raises:
        InputError: if an end is not a host, or both ends are the same host.
    """
    nodes = named(data, "nodes")
    for end in (source, destination):
        if end not in nodes:
            raise InputError(f"unknown node {end}")
        if nodes[end].get("kind") == "router":
            raise InputError(f"{end} is a router: flows start and end at hosts")
    if source == destination:
        raise InputError(f"a flow leads from one host to another: {source} cannot send to itself")


def add_note(text: str, at: tuple[float, float], words: str) -> Edited:
    """Put a note on the canvas.

    Raises:
        TomlEditError: see `add_node`.
    """
    number = len(rows(read_toml(text), "notes"))
    patch = TomlPatch(text)
    patch.append("notes", {"at": [round(at[0]), round(at[1])], "text": words}, is_row=True)
    return Edited(patch.result(), (f"notes.{number}",))


# --- remove ---------------------------------------------------------------------------------------------------------


def remove_parts(text: str, keys: Iterable[str]) -> Edited:
    """Remove nodes, links, flows, events and notes, with all parts that depend on them.

    A flow that loses some of its paths keeps the others. A flow that loses all paths falls back to the default, the
    shortest paths.

    Args:
        text: TOML text of the scenario.
        keys: `nodes.client`, `events.0`; unknown keys are ignored.

    Raises:
        TomlEditError: if a part is written in a form that only a text editor can change.
    """
    data = read_toml(text)
    gone = _Gone(data, keys)
    patch = TomlPatch(text)
    for section, names in (("nodes", gone.nodes), ("links", gone.links), ("flows", gone.flows)):
        for name in names:
            patch.remove((section, name))
    for section, gone_rows in (("events", gone.events), ("notes", gone.notes)):
        for row in gone_rows:
            patch.remove((section, row))
    for name, flow in named(data, "flows").items():
        if name not in gone.flows:
            _drop_paths(patch, name, flow, gone.links)
    for row, ordinal in gone.renumbered_events():
        patch.set(("events", row, "subflow"), ordinal)
    _revise_drops(patch, data, gone.revised_drop, gone.links)
    return Edited(patch.result(), gone.keys())


class _Gone:
    """The parts that a removal deletes, including dependent parts."""

    def __init__(self, data: Mapping[str, Any], keys: Iterable[str]) -> None:
        wanted: dict[str, list[str]] = {}
        for key in keys:
            section, _, name = key.partition(".")
            wanted.setdefault(section, []).append(name)
        self._data = data
        self.nodes = [name for name in named(data, "nodes") if name in wanted.get("nodes", ())]
        self.links = [
            name
            for name, link in named(data, "links").items()
            if name in wanted.get("links", ()) or not set(texts(link.get("ends"))).isdisjoint(self.nodes)
        ]
        self.flows = [
            name
            for name, flow in named(data, "flows").items()
            if name in wanted.get("flows", ()) or not {flow.get("from"), flow.get("to")}.isdisjoint(self.nodes)
        ]
        self._ordinals = {
            name: _new_ordinals(flow, self.links)
            for name, flow in named(data, "flows").items()
            if name not in self.flows
        }
        self.events = [
            row
            for row, event in enumerate(rows(data, "events"))
            if str(row) in wanted.get("events", ()) or self._is_event_gone(event)
        ]
        self.notes = [row for row in range(len(rows(data, "notes"))) if str(row) in wanted.get("notes", ())]

    def _is_event_gone(self, event: Mapping[str, Any]) -> bool:
        if event.get("link") in self.links:
            return True
        flow, subflow = flow_of(event), event.get("subflow")
        if flow in self.flows:
            return True
        ordinals = self._ordinals.get(flow)
        return ordinals is not None and isinstance(subflow, int) and subflow not in ordinals

    def renumbered_events(self) -> Iterator[tuple[int, int]]:
        """Yield the row of each remaining event whose subflow gets a new number, with that number."""
        for row, event in enumerate(rows(self._data, "events")):
            ordinals, subflow = self._ordinals.get(flow_of(event)), event.get("subflow")
            if row not in self.events and ordinals and isinstance(subflow, int) and ordinals[subflow] != subflow:
                yield row, ordinals[subflow]

    def revised_drop(self, flow: str, subflow: int | None) -> tuple[str, int | None] | None:
        """Return the flow and new subflow number of a scripted packet loss; None if its flow or subflow is removed."""
        ordinals = self._ordinals.get(flow)
        if flow in self.flows or (ordinals is not None and subflow is not None and subflow not in ordinals):
            return None
        return flow, subflow if ordinals is None or subflow is None else ordinals[subflow]

    def keys(self) -> tuple[str, ...]:
        sections = (
            ("nodes", self.nodes),
            ("links", self.links),
            ("flows", self.flows),
            ("events", self.events),
            ("notes", self.notes),
        )
        return tuple(f"{section}.{name}" for section, names in sections for name in names)


def _new_ordinals(flow: Mapping[str, Any], links: Collection[str]) -> dict[int, int] | None:
    """Map the numbers of the remaining subflows to their new numbers; None if the flow keeps all its paths."""
    paths = flow.get("paths")
    if not isinstance(paths, list) or set(links).isdisjoint(each for path in paths for each in texts(path)):
        return None
    kept = [i for i, path in enumerate(paths, start=1) if set(links).isdisjoint(texts(path))]
    return {old: new for new, old in enumerate(kept, start=1)}


def _drop_paths(patch: TomlPatch, name: str, flow: Mapping[str, Any], links: Collection[str]) -> None:
    ordinals = _new_ordinals(flow, links)
    if ordinals is None:
        return
    kept = [path for i, path in enumerate(flow["paths"], start=1) if i in ordinals]
    if kept:
        patch.set(("flows", name, "paths"), kept)
    else:
        patch.remove(("flows", name, "paths"))
    _renumber_listed(patch, name, flow, ordinals)


def _renumber_listed(patch: TomlPatch, name: str, flow: Mapping[str, Any], ordinals: Mapping[int, int]) -> None:
    for key in ("backup", "late"):
        given = flow.get(key)
        if not isinstance(given, list):
            continue
        kept = [ordinals[each] for each in given if isinstance(each, int) and each in ordinals]
        if key == "late":
            kept = [each for each in kept if each > 1]  # subflow 1 opens the connection
        if not kept:
            patch.remove(("flows", name, key))
        elif kept != given:
            patch.set(("flows", name, key), kept)


def _revise_drops(
    patch: TomlPatch,
    data: Mapping[str, Any],
    revise: Callable[[str, int | None], tuple[str, int | None] | None],
    gone_links: Collection[str] = (),
) -> None:
    """Revise the flows and subflows in scripted packet losses; losses for which `revise` returns None are removed."""
    for name, link in named(data, "links").items():
        given = link.get("drops")
        if name in gone_links or not isinstance(given, list):
            continue
        kept: list[Any] = []
        for drop in given:
            found = _DROP.fullmatch(drop) if isinstance(drop, str) else None
            if found is None:  # the reader reports the invalid entry
                kept.append(drop)
                continue
            flow, copy, subflow, number, after = (part or "" for part in found.groups())
            revised = revise(flow, int(subflow[1:]) if subflow else None)
            if revised is not None:
                place = f"/{revised[1]}" if revised[1] is not None else ""
                kept.append(f"{revised[0]}{copy}{place}:{number}{after}")
        if not kept and given:
            patch.remove(("links", name, "drops"))
        elif kept != given:
            patch.set(("links", name, "drops"), kept)


# --- rename ---------------------------------------------------------------------------------------------------------


def rename_part(text: str, key: str, name: str) -> Edited:
    """Rename a node, link or flow, with all references in ends, flows, paths, events, scripted losses and training.

    Raises:
        InputError: if the name is invalid or taken.
        TomlEditError: if the part is written in a form that only a text editor can change.
    """
    data = read_toml(text)
    section, _, old = key.partition(".")
    if section not in NAMED or old not in named(data, section):
        raise InputError(f"{key} does not exist")
    if name == old:
        return Edited(text, (key,))
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME_LENGTH:
        raise InputError(
            f'"{name}" is not a name: letters, digits, - and _ are allowed, at most {MAX_NAME_LENGTH} characters'
        )
    if name in named(data, section):
        raise InputError(f"another {section[:-1]} is called {name} already: choose another name")
    patch = TomlPatch(text)
    patch.rename((section, old), name)
    for path, value in _mentions(data, section, old, name):
        patch.set(path, value)
    if section == "flows":
        _revise_drops(patch, data, lambda flow, subflow: (name if flow == old else flow, subflow))
    draws = data.get("training", {}).get("draws", {}) if isinstance(data.get("training"), dict) else {}
    if isinstance(draws, dict) and old in named(draws, section):
        patch.rename(("training", "draws", section, old), name)
    return Edited(patch.result(), (f"{section}.{name}",))


def _mentions(
    data: Mapping[str, Any], section: str, old: str, new: str
) -> Iterator[tuple[tuple[str | int, ...], TomlValue]]:
    """Yield the path and new value of each entry that refers to the renamed part."""

    def swapped(names: Sequence[Any]) -> list[Any]:
        return [new if each == old else each for each in names]

    if section == "nodes":
        for name, link in named(data, "links").items():
            if old in texts(link.get("ends")):
                yield ("links", name, "ends"), swapped(link["ends"])
        for name, flow in named(data, "flows").items():
            for key in ("from", "to"):
                if flow.get(key) == old:
                    yield ("flows", name, key), new
        return
    if section == "links":
        for name, flow in named(data, "flows").items():
            paths = flow.get("paths")
            if isinstance(paths, list) and any(old in texts(path) for path in paths):
                yield ("flows", name, "paths"), [swapped(path) if isinstance(path, list) else path for path in paths]
    training = data.get("training")
    for place, events in (
        (("events",), rows(data, "events")),
        (("training", "events"), rows(training, "events") if isinstance(training, dict) else []),
    ):
        for row, event in enumerate(events):
            if section == "links" and event.get("link") == old:
                yield (*place, row, "link"), new
            if section == "flows" and flow_of(event) == old:
                yield (*place, row, "flow"), new + str(event["flow"])[len(old) :]


# --- paths ----------------------------------------------------------------------------------------------------------


def set_paths(text: str, flow: str, paths: Sequence[Sequence[str]] | None) -> Edited:
    """Set the paths of a flow; None restores the default, the shortest paths.

    Backup and late entries, events and scripted losses that refer to a subflow are renumbered, or removed along with
    its path.

    Raises:
        InputError: if the flow is unknown.
        TomlEditError: see `add_node`.
    """
    data = read_toml(text)
    table = named(data, "flows").get(flow)
    if table is None:
        raise InputError(f"unknown flow {flow}")
    patch = TomlPatch(text)
    if paths is not None:
        patch.set(("flows", flow, "paths"), [list(path) for path in paths])
    elif "paths" in table:
        patch.remove(("flows", flow, "paths"))
    ordinals = _ordinals_after(table.get("paths"), paths)
    _renumber_listed(patch, flow, table, ordinals)
    for row, event in enumerate(rows(data, "events")):
        subflow = event.get("subflow")
        if flow_of(event) != flow or not isinstance(subflow, int):
            continue
        if subflow not in ordinals:
            patch.remove(("events", row))
        elif ordinals[subflow] != subflow:
            patch.set(("events", row, "subflow"), ordinals[subflow])

    def follow(of: str, subflow: int | None) -> tuple[str, int | None] | None:
        if of != flow or subflow is None:
            return of, subflow
        return (of, ordinals[subflow]) if subflow in ordinals else None

    _revise_drops(patch, data, follow)
    return Edited(patch.result(), (f"flows.{flow}",))


def _ordinals_after(before: Any, after: Sequence[Sequence[str]] | None) -> dict[int, int]:
    """Map the numbers of the subflows whose paths remain to their new numbers."""
    if after is None:
        return {}
    if not isinstance(before, list):
        # The file does not list the default paths, so the numbers are kept.
        return {ordinal: ordinal for ordinal in range(1, len(after) + 1)}
    free = [texts(list(path)) for path in after]
    found: dict[int, int] = {}
    for old, path in enumerate(before, start=1):
        if path in free:
            position = free.index(path)
            found[old] = position + 1
            free[position] = []
    return found


# --- names ----------------------------------------------------------------------------------------------------------


def fresh_name(name: str, taken: Collection[str]) -> str:
    """Return the name if it is free, otherwise a similar free name: h1 becomes h2, wifi becomes wifi-2."""
    if name not in taken:
        return name
    match = _NUMBERED.match(name)
    stem, dash, number = (match[1], match[2], int(match[3])) if match else (name, "-", 1)
    while True:
        number += 1
        tail = f"{dash}{number}"
        found = stem[: MAX_NAME_LENGTH - len(tail)] + tail
        if found not in taken:
            return found


def _next_numbered(letter: str, taken: Collection[str]) -> str:
    number = 1
    while f"{letter}{number}" in taken:
        number += 1
    return f"{letter}{number}"


def appended(text: str, section: str, name: str, values: Mapping[str, TomlValue]) -> Edited:
    """Add a part `[section.name]` after the last part of its section.

    Raises:
        TomlEditError: see `add_node`.
    """
    patch = TomlPatch(text)
    patch.append(f"{section}.{name}", values)
    return Edited(patch.result(), (f"{section}.{name}",))
