"""Reading files of topologies as plain nodes and edges with line numbers, and writing a scenario as GraphML.

The module parses GraphML and GML without networkx, whose readers expand the entities of a document type and cannot
report the line of a problem. Those readers also refuse parallel edges and repeated labels, both of which occur in
files of the Topology Zoo.

Other programs can read the exported GraphML, and importing it again restores all values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from subflow_app.features.editor.core.layout import Point
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.files import write_file
from subflow_app.vocabulary.number_text import count_text
from subflow_sim.link_params import LINK_TABLES
from subflow_sim.scenario import Link, LinkDirection, Scenario
from subflow_sim.units import Dimension, format_quantity

MAX_BYTES = 8_000_000
MAX_NODES = 5_000
MAX_EDGES = 20_000

Value: TypeAlias = "str | float | dict[str, Value]"

GRAPH_SUFFIXES = (".graphml", ".xml", ".gml", ".json", ".mn", ".yml", ".yaml", ".py", ".sh")


class GraphFileError(InputError):
    """An unreadable graph file; the message names the file, the line, and the accepted content."""

    def __init__(self, file: str, line: int | None, message: str, allowed: str) -> None:
        """Join place, problem and accepted content into the message."""
        place = f"{file}:{line}" if line else file
        super().__init__(f"{place}: {message}; allowed: {allowed}")


@dataclass(slots=True)
class RawNode:
    """A node with its id, its line in the file, and its values."""

    id: str
    line: int
    values: dict[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RawChange:
    """A change of a link during the run.

    Attributes:
        at_s: time after the beginning, s.
        line: line in the file.
        direction: "forward", "reverse" or "both".
        values: values of the event as TOML, by key: "rate", "delay", "loss", "queue", "up".
    """

    at_s: float
    line: int
    direction: str
    values: Mapping[str, str]


@dataclass(slots=True)
class RawEdge:
    """An edge, given by the ids of its two nodes.

    Attributes:
        tables: values of the link that are tables in a scenario, as TOML, by key: "queue", "reverse_queue".
        changes: changes during the run, in the order of their times.
    """

    source: str
    target: str
    line: int
    values: dict[str, Value] = field(default_factory=dict)
    is_directed: bool = False
    tables: dict[str, str] = field(default_factory=dict)
    changes: list[RawChange] = field(default_factory=list)


@dataclass(slots=True)
class RawGraph:
    """Content of a graph file.

    Attributes:
        file: name of the file in messages.
        form: name of the format.
        values: attributes of the whole graph.
        notes: notes for the user, one sentence each.
    """

    file: str
    form: str
    values: dict[str, Value] = field(default_factory=dict)
    nodes: list[RawNode] = field(default_factory=list)
    edges: list[RawEdge] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def check_graph(graph: RawGraph) -> None:
    """Refuse a graph without nodes, with a repeated node, or with an edge to a node that it lacks.

    Raises:
        GraphFileError: with the line of the problem.
    """
    if not graph.nodes:
        raise GraphFileError(graph.file, None, "holds no nodes", "a graph of at least two nodes and a link")
    known: dict[str, int] = {}
    for node in graph.nodes:
        if node.id in known:
            message = f'node "{node.id}" exists on line {known[node.id]} already'
            raise GraphFileError(graph.file, node.line, message, "ids that occur once")
        known[node.id] = node.line
    for edge in graph.edges:
        for end in (edge.source, edge.target):
            if end not in known:
                message = f'this edge leads to node "{end}", which does not exist'
                raise GraphFileError(graph.file, edge.line, message, "ids of nodes of the file")


def check_count(graph: RawGraph, line: int) -> None:
    """Refuse a graph that is too large.

    Raises:
        GraphFileError: if it exceeds `MAX_NODES` or `MAX_EDGES`.
    """
    if len(graph.nodes) > MAX_NODES or len(graph.edges) > MAX_EDGES:
        allowed = f"at most {count_text(MAX_NODES)} nodes and {count_text(MAX_EDGES)} edges"
        raise GraphFileError(graph.file, line, "the graph is too large to draw and simulate", allowed)


# --- GraphML --------------------------------------------------------------------------------------------------------


class GraphmlReader:
    """Builds a graph from the events of an XML parser."""

    def __init__(self, file: str) -> None:
        """Name the file `file` in messages."""
        self._graph = RawGraph(file, "GraphML")
        self._keys: dict[str, tuple[str, str, str]] = {}  # id -> name, type, kind of element
        self._defaults: dict[str, dict[str, Value]] = {"node": {}, "edge": {}}
        self._is_directed = False
        self._is_sndlib = False
        self._is_geographic = False
        self._place: dict[str, float] = {}
        self._graphs = 0
        self._open: list[str] = []
        self._owner: RawNode | RawEdge | None = None
        self._data_key: str | None = None
        self._text: list[str] = []
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.StartDoctypeDeclHandler = self._on_doctype
        self._parser.StartElementHandler = self._on_start
        self._parser.EndElementHandler = self._on_end
        self._parser.CharacterDataHandler = self._on_text

    def read(self, content: bytes) -> RawGraph:
        """Read GraphML, or XML of SNDlib.

        Raises:
            GraphFileError: with the line of the problem.
        """
        try:
            self._parser.Parse(content, True)
        except expat.ExpatError as error:
            raise GraphFileError(
                self._graph.file, error.lineno, f"broken XML: {expat.ErrorString(error.code)}", "well-formed GraphML"
            ) from error
        except (LookupError, ValueError) as error:
            raise GraphFileError(self._graph.file, None, f"broken XML: {error}", "GraphML in UTF-8") from error
        if not self._graphs:
            raise GraphFileError(self._graph.file, None, "this XML holds no <graph>", "GraphML, or XML of SNDlib")
        for part, kind in ((self._graph.nodes, "node"), (self._graph.edges, "edge")):
            for item in part:
                item.values = {**self._defaults[kind], **item.values}
        return self._graph

    @property
    def _line(self) -> int:
        return self._parser.CurrentLineNumber

    def _fail(self, message: str, allowed: str) -> GraphFileError:
        return GraphFileError(self._graph.file, self._line, message, allowed)

    def _on_doctype(self, *_details: Any) -> None:
        # Entities can expand a megabyte of XML to a terabyte of text, and read other files.
        raise self._fail("this file declares a document type, which GraphML does not need", "XML without <!DOCTYPE>")

    def _on_start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(" ")[2]
        self._open.append(name)
        if name == "key":
            self._take_key(attributes)
        elif name == "graph":
            self._graphs += 1
            if self._graphs > 1:
                raise self._fail("a second or nested <graph>", "one graph in a file, without graphs in its nodes")
            self._is_directed = attributes.get("edgedefault") == "directed"
        elif name in ("hyperedge", "port"):
            raise self._fail(f"<{name}> has no meaning for links", "edges between two nodes")
        elif name == "network" and not self._graphs:
            # SNDlib's XML has no <graph>: <node> has <coordinates>, and <link> has <source> and <target>.
            self._graphs, self._is_sndlib, self._graph.form = 1, True, "SNDlib"
        elif self._is_sndlib:
            self._start_sndlib(name, attributes)
        elif name == "node":
            self._owner = RawNode(self._needed(attributes, "id", name), self._line)
            self._graph.nodes.append(self._owner)
            check_count(self._graph, self._line)
        elif name == "edge":
            source, target = self._needed(attributes, "source", name), self._needed(attributes, "target", name)
            directed = attributes.get("directed", "true" if self._is_directed else "false") == "true"
            self._owner = RawEdge(source, target, self._line, is_directed=directed)
            if "id" in attributes:
                self._owner.values["id"] = attributes["id"]
            self._graph.edges.append(self._owner)
            check_count(self._graph, self._line)
        elif name in ("data", "default"):
            self._text = []
            if name == "data":
                self._data_key = self._needed(attributes, "key", name)
                if self._data_key not in self._keys:
                    raise self._fail(f'<data key="{self._data_key}"> has no <key> of that id', "a declared key")

    def _start_sndlib(self, name: str, attributes: dict[str, str]) -> None:
        self._text = []
        if name == "nodes":
            self._is_geographic = attributes.get("coordinatesType") == "geographical"
        elif name == "node":
            self._owner, self._place = RawNode(self._needed(attributes, "id", name), self._line), {}
            self._graph.nodes.append(self._owner)
        elif name == "link":
            self._owner = RawEdge("", "", self._line, {"name": self._needed(attributes, "id", name)})
            self._graph.edges.append(self._owner)
        check_count(self._graph, self._line)

    def _end_sndlib(self, name: str) -> None:
        text, owner = "".join(self._text).strip(), self._owner
        if isinstance(owner, RawNode) and name in ("x", "y"):
            try:
                self._place[name] = float(text)
            except ValueError:
                raise self._fail(f'{name} = "{text[:40]}" is not a number', "a number") from None
        elif isinstance(owner, RawNode) and name == "coordinates" and len(self._place) == 2:
            x, y = self._place["x"], self._place["y"]
            owner.values |= {"lon": x, "lat": y} if self._is_geographic else {"graphics": {"x": x, "y": -y}}
        elif isinstance(owner, RawEdge) and name == "source":
            owner.source = text
        elif isinstance(owner, RawEdge) and name == "target":
            owner.target = text
        elif name in ("node", "link"):
            self._owner = None

    def _take_key(self, attributes: dict[str, str]) -> None:
        key = self._needed(attributes, "id", "key")
        name = attributes.get("attr.name", key)
        self._keys[key] = (name, attributes.get("attr.type", "string"), attributes.get("for", "all"))
        self._data_key = key

    def _needed(self, attributes: dict[str, str], name: str, tag: str) -> str:
        if name not in attributes:
            raise self._fail(f"<{tag}> without {name}", f'<{tag} {name}="...">')
        return attributes[name]

    def _on_end(self, tag: str) -> None:
        name = self._open.pop()
        if self._is_sndlib:
            self._end_sndlib(name)
        elif name == "default" and self._data_key is not None:
            key_name, kind, scope = self._keys[self._data_key]
            for part in ("node", "edge"):
                if scope in (part, "all"):
                    self._defaults[part][key_name] = self._typed(kind, key_name)
        elif name == "data" and self._data_key is not None:
            key_name, kind, _scope = self._keys[self._data_key]
            values = self._owner.values if self._owner is not None else self._graph.values
            values[key_name] = self._typed(kind, key_name)
            self._data_key = None
        elif name in ("node", "edge"):
            self._owner = None
        elif name == "key":
            self._data_key = None

    def _on_text(self, text: str) -> None:
        if self._open and self._open[-1] in ("data", "default", "x", "y", "source", "target"):
            self._text.append(text)

    def _typed(self, kind: str, name: str) -> Value:
        text = "".join(self._text).strip()
        if kind not in ("int", "long", "float", "double"):
            return text
        try:
            return float(text)
        except ValueError:
            raise self._fail(f'{name} = "{text}" is declared a number but is not one', "a number") from None


# --- GML ------------------------------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"(?P<space>[ \t\r]+|\#[^\n]*)|(?P<line>\n)|(?P<key>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<text>\"[^\"]*\")|(?P<open>\[)|(?P<close>\])"
)
_ENTITY = re.compile(r"&(?:#(\d{1,7})|(amp|lt|gt|quot|apos));")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_DEEPEST = 20


def read_gml(content: bytes, file: str) -> RawGraph:
    """Read GML.

    Raises:
        GraphFileError: with the line of the problem.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        # Many older files are in Latin 1.
        text = content.decode("latin-1")
    graph = RawGraph(file, "GML")
    found = False
    for key, value, line in _gml_pairs(text, file):
        if key.lower() == "graph" and isinstance(value, list):
            if found:
                raise GraphFileError(file, line, "a second graph", "one graph in a file")
            found = True
            _take_gml_graph(graph, value)
    if not found:
        raise GraphFileError(
            file,
            1,
            "no topology: no graph [ ... ]",
            "GraphML, GML, JSON of topohub or MiniEdit, SNDlib, YAML of containerlab",
        )
    return graph


def _take_gml_graph(graph: RawGraph, pairs: list[Any]) -> None:
    is_directed = any(key == "directed" and value == 1.0 for key, value, _ in pairs)
    for key, value, line in pairs:
        if key == "node" and isinstance(value, list):
            values = _gml_values(value)
            graph.nodes.append(RawNode(_gml_id(graph, values, "id", "node", line), line, values))
        elif key == "edge" and isinstance(value, list):
            values = _gml_values(value)
            source = _gml_id(graph, values, "source", "edge", line)
            target = _gml_id(graph, values, "target", "edge", line)
            graph.edges.append(RawEdge(source, target, line, values, is_directed))
        elif not isinstance(value, list):
            graph.values[key] = value
        check_count(graph, line)


def _gml_id(graph: RawGraph, values: dict[str, Value], key: str, owner: str, line: int) -> str:
    value = values.pop(key, None)
    if value is None or isinstance(value, dict):
        raise GraphFileError(graph.file, line, f"{owner} [ ... ] without {key}", f"{owner} [ {key} 1 ... ]")
    return f"{value:g}" if isinstance(value, float) else value


def _gml_values(pairs: list[Any]) -> dict[str, Value]:
    return {key: _gml_values(value) if isinstance(value, list) else value for key, value, _ in pairs}


def _gml_pairs(text: str, file: str) -> list[Any]:
    """Parse `key value` pairs with their lines; a value in brackets is a list of pairs."""
    root: list[Any] = []
    stack: list[list[Any]] = [root]
    pending: tuple[str, int] | None = None
    opened: list[int] = []
    for kind, token, line in _gml_tokens(text, file):
        if kind == "close":
            if pending or len(stack) == 1:
                raise GraphFileError(file, line, '"]" where a value or nothing is expected', "balanced brackets")
            stack.pop()
            opened.pop()
        elif pending is None:
            if kind != "key":
                raise GraphFileError(file, line, f"{token[:40]} in the place of a key", "key value pairs")
            pending = (token, line)
        elif kind == "key":
            message = f'"{pending[0]}" has no value'
            raise GraphFileError(file, line, message, "key value pairs")
        else:
            value: Any = [] if kind == "open" else float(token) if kind == "number" else _gml_text(token)
            stack[-1].append((pending[0], value, pending[1]))
            if kind == "open":
                stack.append(value)
                opened.append(line)
                if len(stack) > _DEEPEST:
                    raise GraphFileError(file, line, "brackets are nested too deep", f"at most {_DEEPEST} levels")
            pending = None
    if opened:
        raise GraphFileError(file, opened[-1], 'this "[" is never closed: is the file complete?', "balanced brackets")
    return root


def _gml_tokens(text: str, file: str) -> Iterator[tuple[str, str, int]]:
    position, line = 0, 1
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            shown = text[position : position + 20].splitlines()[0]
            raise GraphFileError(file, line, f"cannot read {shown!r}", "keys, numbers, texts in quotes, brackets")
        kind = match.lastgroup or ""
        if kind not in ("space", "line"):
            yield kind, match.group(), line
        line += match.group().count("\n")
        position = match.end()


def _gml_text(token: str) -> str:
    def character(match: re.Match[str]) -> str:
        if match[2]:
            return _NAMED[match[2]]
        code = int(match[1])
        return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else match[0]

    return _ENTITY.sub(character, token[1:-1])


_NODE_KEYS = {"label": "string", "kind": "string", "x": "double", "y": "double"}
_LINK_KEYS = {"name": "string", "LinkSpeedRaw": "double"}
_VALUE_KEYS = ("rate", "delay", "queue", "loss")


def graphml_of(scenario: Scenario, places: Mapping[str, Point]) -> str:
    """Return a scenario as GraphML: nodes with kind and place, and links with the values of both directions."""
    lines = ['<?xml version="1.0" encoding="utf-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
    for key, kind in _NODE_KEYS.items():
        lines.append(f'  <key id="n_{key}" for="node" attr.name="{key}" attr.type="{kind}"/>')
    both = {key: "string" for prefix in ("", "reverse_") for key in (f"{prefix}{name}" for name in _VALUE_KEYS)}
    for key, kind in {**_LINK_KEYS, **both}.items():
        lines.append(f'  <key id="e_{key}" for="edge" attr.name="{key}" attr.type="{kind}"/>')
    lines.append('  <key id="g_name" for="graph" attr.name="name" attr.type="string"/>')
    lines.append('  <graph id="topology" edgedefault="undirected">')
    lines.append(f'    <data key="g_name">{escape(scenario.name)}</data>')
    for name, node in scenario.nodes.items():
        lines.append(f"    <node id={quoteattr(name)}>")
        values: dict[str, object] = {"label": name, "kind": node.kind}
        if name in places:
            values |= {"x": f"{places[name][0]:g}", "y": f"{places[name][1]:g}"}
        lines += [f'      <data key="n_{key}">{escape(str(value))}</data>' for key, value in values.items()]
        lines.append("    </node>")
    for number, link in enumerate(scenario.links.values()):
        first, second = link.ends
        lines.append(f'    <edge id="e{number}" source={quoteattr(first)} target={quoteattr(second)}>')
        lines += [f'      <data key="e_{key}">{escape(value)}</data>' for key, value in _link_values(link)]
        lines.append("    </edge>")
    return "\n".join([*lines, "  </graph>", "</graphml>", ""])


def left_out(scenario: Scenario) -> tuple[str, ...]:
    """Describe the parts of a scenario that GraphML cannot represent, in a few words each."""
    directions = [side for link in scenario.links.values() for side in (link.forward, link.reverse)]
    found = {
        "flows": bool(scenario.flows),
        "timed events and steps of rates": bool(scenario.events),
        "delivery traces (their mean rate is written)": any(side.trace is not None for side in directions),
        "delay traces (their mean is written)": any(side.delay_trace is not None for side in directions),
        "loss traces (their first value is written)": any(side.loss_trace is not None for side in directions),
        "jitter, token buckets and radio": any(
            getattr(side, name) is not None for side in directions for name in LINK_TABLES
        ),
        "loss models (their mean is written)": any(side.loss_model is not None for side in directions),
        "queue disciplines": any(side.queue.discipline != "droptail" for side in directions),
    }
    return tuple(what for what, is_there in found.items() if is_there)


def export_graphml(scenario: Scenario, places: Mapping[str, Point], path: Path) -> None:
    """Write the topology of a scenario to a GraphML file.

    Raises:
        ExportError: if the file cannot be written.
    """
    write_file(path, graphml_of(scenario, places))


def _link_values(link: Link) -> Iterator[tuple[str, str]]:
    yield "name", link.name
    if link.forward.rate_bps is not None:
        yield "LinkSpeedRaw", repr(link.forward.rate_bps)
    forward, reverse = _values(link.forward), _values(link.reverse)
    yield from forward.items()
    for key, value in reverse.items():
        if value != forward[key]:
            yield f"reverse_{key}", value


def _values(side: LinkDirection) -> dict[str, str]:
    queue = side.queue
    limit = "unlimited"
    if queue.limit_pkts is not None:
        limit = format_quantity(queue.limit_pkts, Dimension.QUEUE)
    elif queue.limit_bytes is not None:
        limit = format_quantity(queue.limit_bytes, Dimension.SIZE)
    return {
        "rate": "unlimited" if side.rate_bps is None else format_quantity(side.rate_bps, Dimension.RATE),
        "delay": format_quantity(side.delay_s, Dimension.TIME),
        "queue": limit,
        "loss": format_quantity(side.loss, Dimension.RATIO),
    }
