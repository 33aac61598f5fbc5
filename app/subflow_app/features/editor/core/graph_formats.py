"""The formats of topologies, and reading a file in the one that its content shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from subflow_app.features.editor.core.containerlab_reader import looks_like_containerlab, read_containerlab
from subflow_app.features.editor.core.graph_files import (
    MAX_BYTES,
    GraphFileError,
    GraphmlReader,
    RawGraph,
    check_graph,
    read_gml,
)
from subflow_app.features.editor.core.mininet_reader import looks_like_mininet, read_mininet
from subflow_app.features.editor.core.tc_reader import looks_like_tc, read_tc
from subflow_app.features.editor.core.topology_json import looks_like_topology_json, read_topology_json
from subflow_sim.gate import TooLargeFileError, read_file

_HEAD_BYTES = 16384


@dataclass(frozen=True, slots=True)
class GraphFormat:
    """A format of topologies.

    Attributes:
        name: name of the format.
        title: name of the format in messages.
        looks_like: whether a file has the format, from the `head_text` of its content and its suffix in lower case.
        read: reads the content; its second argument names the file in messages.
    """

    name: str
    title: str
    looks_like: Callable[[str, str], bool]
    read: Callable[[bytes, str], RawGraph]


def _read_xml(content: bytes, file: str) -> RawGraph:
    return GraphmlReader(file).read(content)


GRAPH_FORMATS = (
    GraphFormat("sndlib", "XML of SNDlib", lambda head, _: "<networkstructure" in head, _read_xml),
    GraphFormat(
        "graphml", "GraphML", lambda head, suffix: "<graphml" in head or suffix in (".graphml", ".xml"), _read_xml
    ),
    GraphFormat(
        "json", "JSON of topohub or MiniEdit", lambda head, _: looks_like_topology_json(head), read_topology_json
    ),
    GraphFormat("mininet", "Mininet script", lambda head, _: looks_like_mininet(head), read_mininet),
    GraphFormat(
        "containerlab", "YAML of containerlab", lambda head, _: looks_like_containerlab(head), read_containerlab
    ),
    GraphFormat("tc", "tc commands and output", lambda head, _: looks_like_tc(head), read_tc),
    GraphFormat(
        "gml", "GML", lambda head, suffix: suffix == ".gml" or ("graph [" in head and "node [" in head), read_gml
    ),
)
"""All formats, in the order in which they are tried."""

_BY_NAME = {each.name: each for each in GRAPH_FORMATS}


def head_text(content: bytes) -> str:
    """The beginning of a file as text, from which its format is recognised: in lower case, without leading space."""
    return content[:_HEAD_BYTES].decode("utf-8", "replace").lstrip("\ufeff \t\r\n").lower()


def graph_format(head: str, suffix: str) -> GraphFormat | None:
    """The format of a file with this `head_text` and suffix; None if it holds no topology."""
    return next((each for each in GRAPH_FORMATS if each.looks_like(head, suffix)), None)


def read_graph(path: Path) -> RawGraph:
    """Read a file with a topology, in the format that its content shows.

    Raises:
        GraphFileError: if the file is unreadable, too large, in a different format, or not a consistent graph.
    """
    try:
        content = read_file(path, MAX_BYTES)
    except TooLargeFileError as error:
        raise GraphFileError(
            str(path), None, "is too large", f"a file of at most {MAX_BYTES // 1_000_000} MB"
        ) from error
    except OSError as error:
        raise GraphFileError(
            str(path), None, f"cannot be opened: {error.strerror or error}", "a file with a topology"
        ) from error
    head = head_text(content)
    # A message about XML, JSON or GML is more precise than one about all formats.
    likely = {"<": "graphml", "{": "json"}.get(head[:1], "gml")
    graph = (graph_format(head, path.suffix.lower()) or _BY_NAME[likely]).read(content, str(path))
    check_graph(graph)
    return graph
