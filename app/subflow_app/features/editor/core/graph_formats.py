"""Reads a file with a topology in the format that its content shows."""

from __future__ import annotations

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
from subflow_app.features.editor.core.topology_json import read_topology_json
from subflow_sim.gate import TooLargeFileError, read_file

_HEAD_BYTES = 16384


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
    graph = _read(content, str(path))
    check_graph(graph)
    return graph


def _read(content: bytes, file: str) -> RawGraph:
    start = content.lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"<"):
        return GraphmlReader(file).read(content)
    if start.startswith(b"{"):
        return read_topology_json(content, file)
    head = start[:_HEAD_BYTES].decode("utf-8", "replace").lower()
    if looks_like_mininet(head):
        return read_mininet(content, file)
    if looks_like_containerlab(head):
        return read_containerlab(content, file)
    if looks_like_tc(head):
        return read_tc(content, file)
    return read_gml(content, file)
