"""Converts a graph file to a scenario. Link rates and delays come from the file, or are guesses marked as such."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from subflow_app.features.editor.core.graph_files import GraphFileError, RawChange, RawEdge, RawGraph, RawNode, Value
from subflow_app.features.editor.core.graph_formats import read_graph
from subflow_app.features.editor.core.layout import LAYER_WIDTH, Point, apart, laid_out
from subflow_app.features.editor.core.rate_labels import rate_in
from subflow_app.foundation.toml_edit import render_text
from subflow_sim.errors import ParamError
from subflow_sim.parameter import MAX_NAME_LENGTH
from subflow_sim.params import params_by_key
from subflow_sim.units import Dimension, format_quantity

FIBRE_M_PER_S = 299_792_458 * 2 / 3
"""Propagation speed in optical fibre: about two thirds of the speed of light in vacuum."""

DEFAULT_RATE_BPS = 100e6
DEFAULT_DELAY_S = 5e-3
_DURATION_S = 60.0
_AFTER_LAST_CHANGE_S = 10.0
_LEAST_DELAY_S = 10e-6
_EARTH_M = 6_371_000.0
_MOST_KM = 1e6
_LENGTHS = "a length from 0 to 1 000 000 km"
_PREFIXES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}


@dataclass(frozen=True, slots=True)
class LinkReport:
    """Origin of a link's values: `rate` and `delay` each describe the value read, or the guess and its reason."""

    name: str
    line: int
    rate: str
    delay: str
    is_guessed: bool


@dataclass(frozen=True, slots=True)
class Imported:
    """An imported scenario, which contains no flows, and a report on the origin of its values.

    Attributes:
        name: name of the network.
        text: TOML text of the scenario.
        links: a report for each link.
        notes: further notes for the user, one sentence each.
        node_count: number of nodes.
    """

    name: str
    text: str
    links: tuple[LinkReport, ...]
    notes: tuple[str, ...]
    node_count: int

    @property
    def guessed_count(self) -> int:
        """Number of links with a guessed value."""
        return sum(1 for link in self.links if link.is_guessed)

    @property
    def summary(self) -> str:
        """Summary of the import in one sentence."""
        guessed = f", {self.guessed_count} of them with guessed values" if self.guessed_count else ""
        return f"{self.name}: {self.node_count} nodes and {len(self.links)} links{guessed}."

    @property
    def details(self) -> str:
        """All notes, then the origin of each link's values, one per line."""
        lines = [*self.notes, ""]
        for link in self.links:
            place = f" (line {link.line})" if link.line else ""
            lines.append(f"{link.name}{place}: {link.rate}; {link.delay}")
        return "\n".join(lines)


def import_graph(path: Path) -> Imported:
    """Convert a file with a topology into a scenario.

    Raises:
        GraphFileError: if the file is unreadable or has impossible values.
    """
    return _Importer(read_graph(path)).result()


@dataclass(slots=True)
class _Link:
    name: str
    ends: tuple[str, str]
    line: int
    values: dict[str, str]
    reverse: dict[str, str] = field(default_factory=dict)
    tables: dict[str, str] = field(default_factory=dict)
    changes: list[RawChange] = field(default_factory=list)
    rate_note: str = ""
    delay_note: str = ""
    is_guessed: bool = False


class _Importer:
    def __init__(self, graph: RawGraph) -> None:
        self._graph = graph
        self._notes: list[str] = list(graph.notes)
        self._names = self._node_names()
        self._nodes = {node.id: node for node in graph.nodes}
        self._coordinates = {node.id: self._coordinate(node) for node in graph.nodes}

    def result(self) -> Imported:
        links = self._links()
        if not links:
            raise GraphFileError(self._graph.file, None, "holds no link between two nodes", "at least one edge")
        places = self._places(links)
        hosts = self._hosts(links)
        self._note_parts(links)
        self._notes.append(
            "No flows yet: add one between two hosts. Only routers forward, so link hosts to routers, "
            "or make a node at the edge a host."
        )
        name = self._title()
        reports = tuple(LinkReport(x.name, x.line, x.rate_note, x.delay_note, x.is_guessed) for x in links)
        return Imported(name, self._text(name, links, places, hosts), reports, tuple(self._notes), len(self._nodes))

    # --- nodes ------------------------------------------------------------------------------------------------------

    def _node_names(self) -> dict[str, str]:
        names: dict[str, str] = {}
        taken: set[str] = set()
        renamed = 0
        for node in self._graph.nodes:
            wanted = str(node.values.get("name") or node.values.get("label") or node.id)
            name = _free(_slug(wanted) or _slug(f"node-{node.id}") or "node", taken)
            renamed += name != wanted
            names[node.id] = name
        if renamed:
            self._notes.append(f"{renamed} node names were changed to letters, digits, - and _, each different.")
        return names

    def _coordinate(self, node: RawNode) -> tuple[float, float] | None:
        found = {key.lower(): value for key, value in node.values.items()}
        latitude = found.get("latitude", found.get("lat"))
        longitude = found.get("longitude", found.get("lon", found.get("lng")))
        if latitude in (None, "") or longitude in (None, ""):
            return None
        here = (self._number(node.line, "Latitude", latitude, 90), self._number(node.line, "Longitude", longitude, 180))
        return here

    def _number(self, line: int, key: str, value: Value | None, limit: float) -> float:
        try:
            number = float(value)  # type: ignore[arg-type] # a table is a TypeError
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not -limit <= number <= limit:
            raise GraphFileError(self._graph.file, line, f"{key} = {value}", f"degrees from -{limit} to {limit}")
        return number

    def _hosts(self, links: list[_Link]) -> set[str]:
        """Select the hosts: the nodes declared as hosts, or else the nodes with one neighbour."""
        if any("kind" in node.values for node in self._graph.nodes):
            return {self._names[node.id] for node in self._graph.nodes if node.values.get("kind") == "host"}
        around: dict[str, set[str]] = {}
        for link in links:
            for one, other in (link.ends, link.ends[::-1]):
                around.setdefault(one, set()).add(other)
        hosts = {name for name, others in around.items() if len(others) == 1}
        if hosts and len(hosts) < len(self._nodes):
            self._notes.append(f"{len(hosts)} nodes with one neighbour became hosts, the others routers.")
        return hosts

    def _places(self, links: list[_Link]) -> dict[str, Point]:
        given: dict[str, Point] = {}
        for node in self._graph.nodes:
            x, y = node.values.get("x"), node.values.get("y")
            if isinstance(x, float) and isinstance(y, float) and math.isfinite(x) and math.isfinite(y):
                given[self._names[node.id]] = (round(x), round(y))
        if len(given) == len(self._nodes):
            return given
        drawn = {self._names[node.id]: at for node in self._graph.nodes if (at := _drawn(node)) is not None}
        if len(drawn) == len(self._nodes) and not any(self._coordinates.values()):
            return apart(_on_canvas(drawn))
        on_map = {self._names[key]: at for key, at in self._coordinates.items() if at is not None}
        ends = [link.ends for link in links]
        if len(on_map) < max(2, len(self._nodes) // 2):
            self._notes.append("The file has no coordinates for most nodes: they were laid out automatically.")
            return laid_out(list(self._names.values()), ends)
        missing = len(self._nodes) - len(on_map)
        if missing:
            self._notes.append(f"{missing} nodes without coordinates were placed beside a neighbour.")
        return apart(_with_missing(_projected(on_map), list(self._names.values()), ends))

    # --- links ------------------------------------------------------------------------------------------------------

    def _links(self) -> list[_Link]:
        links: list[_Link] = []
        taken: set[str] = set()
        waiting: dict[tuple[str, str], list[_Link]] = {}
        loops = 0
        for edge in self._graph.edges:
            if edge.source == edge.target:
                loops += 1
                continue
            link = self._link(edge, taken)
            back = waiting.get(link.ends[::-1])
            if edge.is_directed and back:
                # Two edges in opposite directions form one link.
                taken.discard(link.name)
                other = back.pop(0)
                other.reverse |= {key: value for key, value in link.values.items() if other.values.get(key) != value}
                continue
            if edge.is_directed:
                waiting.setdefault(link.ends, []).append(link)
            links.append(link)
        if loops:
            self._notes.append(f"{loops} edges from a node to itself were left out.")
        if any(edge.is_directed for edge in self._graph.edges):
            self._notes.append("The graph is directed: links carry both directions, opposite edges became one link.")
        return links

    def _link(self, edge: RawEdge, taken: set[str]) -> _Link:
        ends = (self._names[edge.source], self._names[edge.target])
        wanted = str(edge.values.get("name") or "")
        name = _free(_slug(wanted) or _slug(f"{ends[0]}_{ends[1]}") or "link", taken)
        link = _Link(name, ends, edge.line, {})
        self._read_rate(edge, link)
        self._read_delay(edge, link)
        for key in ("queue", "loss"):
            if edge.values.get(key):
                link.values[key] = self._checked(edge, key, edge.values[key])
        for key in ("rate", "delay", "queue", "loss"):
            if edge.values.get(f"reverse_{key}"):
                link.reverse[key] = self._checked(edge, key, edge.values[f"reverse_{key}"])
        link.tables, link.changes = edge.tables, edge.changes
        return link

    def _read_rate(self, edge: RawEdge, link: _Link) -> None:
        values = edge.values
        if values.get("rate"):
            link.values["rate"] = self._checked(edge, "rate", values["rate"])
            link.rate_note = f"rate {link.values['rate']} as in the file"
            return
        raw, speed = values.get("LinkSpeedRaw"), values.get("LinkSpeed")
        unit = str(values.get("LinkSpeedUnits", "")).strip().lower()[:1]
        if raw not in (None, ""):
            bps, how = self._positive(edge, "LinkSpeedRaw", raw), "read from LinkSpeedRaw"
        elif speed not in (None, "") and unit in _PREFIXES and _is_number(speed):
            bps, how = self._positive(edge, "LinkSpeed", speed) * _PREFIXES[unit], "read from LinkSpeed and its unit"
        else:
            texts = [
                str(values[key]) for key in ("LinkLabel", "label", "LinkType", "LinkNote", "LinkSpeed") if key in values
            ]
            named = next(((text, rate) for text in texts if (rate := rate_in(text)) is not None), None)
            if named is not None:
                label, rate = named
                bps, how = rate.bps, f'read from the label "{label[:40]}"'
                if not rate.is_certain:
                    how += f", {rate.doubt}"
                    link.is_guessed = True
            else:
                bps, how = DEFAULT_RATE_BPS, "guessed: the file gives no speed"
                link.is_guessed = True
        if not math.isfinite(bps):
            raise GraphFileError(self._graph.file, edge.line, f"a rate that is {how}", "a speed below 1e12 bit/s")
        link.values["rate"] = self._checked(edge, "rate", format_quantity(_whole(bps), Dimension.RATE))
        link.rate_note = f"rate {link.values['rate']} {how}"

    def _read_delay(self, edge: RawEdge, link: _Link) -> None:
        if edge.values.get("delay") not in (None, ""):
            value = edge.values["delay"]
            # A bare number is in seconds, as in TOML.
            link.values["delay"] = self._checked(edge, "delay", value)
            link.delay_note = f"delay {link.values['delay']} as in the file"
            return
        if _is_number(edge.values.get("dist")):
            # topohub writes the length of a link in km.
            length_km = float(edge.values["dist"])  # type: ignore[arg-type] # it is a number
            if not 0 <= length_km < _MOST_KM:
                raise GraphFileError(self._graph.file, edge.line or None, f"dist = {length_km:g}", _LENGTHS)
            self._set_delay(link, 1e3 * length_km, "follows from {} in the file")
            return
        here, there = self._coordinates[edge.source], self._coordinates[edge.target]
        link.is_guessed = True
        if here is None or there is None:
            link.values["delay"] = format_quantity(DEFAULT_DELAY_S, Dimension.TIME)
            link.delay_note = f"delay {link.values['delay']} guessed: no coordinates at both ends"
            return
        self._set_delay(link, distance_m(here, there), "guessed: {}")

    def _set_delay(self, link: _Link, metres: float, origin: str) -> None:
        """Set the delay of a length; `origin` has {} in the place of the length."""
        delay_s = max(round(metres / FIBRE_M_PER_S, 5), _LEAST_DELAY_S)
        link.values["delay"] = format_quantity(delay_s, Dimension.TIME)
        length = origin.format(f"{metres / 1000:.0f} km")
        link.delay_note = f"delay {link.values['delay']} {length} at 2/3 of the speed of light"

    def _positive(self, edge: RawEdge, key: str, value: Value) -> float:
        try:
            number = float(value)  # type: ignore[arg-type] # a table is a TypeError
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not (number > 0 and math.isfinite(number)):
            raise GraphFileError(self._graph.file, edge.line, f"{key} = {value}", "a speed greater than 0")
        return number

    def _checked(self, edge: RawEdge, key: str, value: Value) -> str:
        """Check a value against the declaration of a link key, and return it as text for the scenario."""
        param = params_by_key("link")[key]
        text = f"{value:g}" if isinstance(value, float) else str(value)
        try:
            param.read(value if isinstance(value, float) else text)
        except ParamError as error:
            raise GraphFileError(
                self._graph.file, edge.line, f"{key} = {text[:40]}: {error.message}", error.allowed
            ) from error
        if isinstance(value, float) and param.dimension in (Dimension.RATE, Dimension.TIME):
            return format_quantity(value, param.dimension)
        return text

    # --- scenario ---------------------------------------------------------------------------------------------------

    def _note_parts(self, links: list[_Link]) -> None:
        part = {name: name for name in self._names.values()}

        def root(name: str) -> str:
            while part[name] != name:
                part[name] = part[part[name]]
                name = part[name]
            return name

        for link in links:
            part[root(link.ends[0])] = root(link.ends[1])
        count = len({root(name) for name in part})
        if count > 1:
            self._notes.append(f"The graph falls into {count} parts: no flow can lead from one to another.")

    def _title(self) -> str:
        found = self._graph.values.get("Network") or self._graph.values.get("label") or self._graph.values.get("name")
        return str(found)[:100] if isinstance(found, str) and found.strip() else Path(self._graph.file).stem

    def _text(self, name: str, links: list[_Link], places: Mapping[str, Point], hosts: set[str]) -> str:
        lines = [f"# Imported from {_one_line(Path(self._graph.file).name)} ({self._graph.form}).", "#"]
        lines += [f"# {_one_line(note)}" for note in self._notes]
        changes = sorted(((change, link.name) for link in links for change in link.changes), key=lambda it: it[0].at_s)
        last_s = changes[-1][0].at_s if changes else 0.0
        duration = format_quantity(max(_DURATION_S, math.ceil(last_s) + _AFTER_LAST_CHANGE_S), Dimension.TIME)
        lines += ["", "format = 1", f"name = {render_text(_one_line(name))}", f"duration = {render_text(duration)}", ""]
        for node in self._names.values():
            lines.append(f"[nodes.{node}]")
            if node not in hosts:
                lines.append('kind = "router"')
            if node in places:
                x, y = places[node]
                lines.append(f"at = [{round(x)}, {round(y)}]")
            lines.append("")
        for link in links:
            lines.append(f"[links.{link.name}]")
            lines.append(f'ends = ["{link.ends[0]}", "{link.ends[1]}"]')
            notes = {"rate": link.rate_note, "delay": link.delay_note}
            for key, value in link.values.items():
                note = f"  # {_one_line(notes[key].partition(' ')[2].partition(' ')[2])}" if key in notes else ""
                lines.append(f"{key} = {render_text(value)}{note}")
            back = {key: render_text(value) for key, value in link.reverse.items()}
            for key, text in link.tables.items():
                if key.startswith("reverse_"):
                    back[key.removeprefix("reverse_")] = text
                else:
                    lines.append(f"{key} = {text}")
            if back:
                lines.append(f"[links.{link.name}.reverse]")
                lines += [f"{key} = {text}" for key, text in back.items()]
            lines.append("")
        for change, link_name in changes:
            lines += ["[[events]]", f"at = {render_text(format_quantity(change.at_s, Dimension.TIME))}"]
            lines.append(f"link = {render_text(link_name)}")
            if change.direction != "both":
                lines.append(f"direction = {render_text(change.direction)}")
            lines += [*(f"{key} = {text}" for key, text in change.values.items()), ""]
        return "\n".join(lines)


def distance_m(first: tuple[float, float], second: tuple[float, float]) -> float:
    """Return the great-circle distance in metres between two places given as latitude and longitude in degrees.

    Source: Sinnott 1984, the haversine formula.
    """
    (lat_1, lon_1), (lat_2, lon_2) = ((math.radians(a), math.radians(b)) for a, b in (first, second))
    h = math.sin((lat_2 - lat_1) / 2) ** 2
    h += math.cos(lat_1) * math.cos(lat_2) * math.sin((lon_2 - lon_1) / 2) ** 2
    return 2 * _EARTH_M * math.asin(min(math.sqrt(h), 1.0))


def _drawn(node: RawNode) -> tuple[float, float] | None:
    """Place of a node in the drawing of another program; None without one."""
    graphics = node.values.get("graphics")
    if not isinstance(graphics, dict):
        return None
    x, y = graphics.get("x"), graphics.get("y")
    if isinstance(x, float) and isinstance(y, float) and math.isfinite(x) and math.isfinite(y):
        return x, y
    return None


def _projected(on_map: Mapping[str, tuple[float, float]]) -> dict[str, Point]:
    """Project coordinates onto the canvas, at a scale that puts neighbours about a link's length apart."""
    stretch = math.cos(math.radians(sum(lat for lat, _ in on_map.values()) / len(on_map)))
    return _on_canvas({name: (lon * stretch, -lat) for name, (lat, lon) in on_map.items()})


def _on_canvas(flat: Mapping[str, tuple[float, float]]) -> dict[str, Point]:
    """Scale places in any unit so that neighbours are about a link's length apart."""
    xs, ys = [x for x, _ in flat.values()], [y for _, y in flat.values()]
    extent = max(max(xs) - min(xs), max(ys) - min(ys), 1e-6)
    scale = 0.8 * LAYER_WIDTH * math.sqrt(len(flat)) / extent
    return {name: (round((x - min(xs)) * scale), round((y - min(ys)) * scale)) for name, (x, y) in flat.items()}


def _with_missing(places: dict[str, Point], names: list[str], ends: list[tuple[str, str]]) -> dict[str, Point]:
    """Place each node without coordinates next to a neighbour with a known place, or below the map."""
    found = dict(places)
    bottom = max(y for _, y in places.values()) + LAYER_WIDTH
    for name in names:
        if name not in found:
            around = [b if a == name else a for a, b in ends if name in (a, b)]
            known = next((found[other] for other in around if other in found), None)
            found[name] = (known[0] + LAYER_WIDTH / 3, known[1] + LAYER_WIDTH / 4) if known else (0.0, bottom)
    return found


def _slug(text: str) -> str:
    plain = text.strip().translate(str.maketrans("äöüÄÖÜéèêáàâñç", "aouAOUeeeaaanc"))
    return re.sub(r"[^A-Za-z0-9_]+", "-", plain).strip("-")[: MAX_NAME_LENGTH - 6]


def _free(name: str, taken: set[str]) -> str:
    free, number = name, 1
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    taken.add(free)
    return free


def _is_number(value: Value | None) -> bool:
    try:
        float(value)  # type: ignore[arg-type] # a table is a TypeError
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _whole(value: float) -> float:
    return round(value) if value < 1e15 else value


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
