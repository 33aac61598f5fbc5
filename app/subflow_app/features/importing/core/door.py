"""Recognises files of other programs by their content, and finds the way of importing each.

A measurement becomes a run; a graph, a web page or a recording of a link becomes a scenario. A new format of
measurements is a reader in `features/measured`, and needs no change here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from subflow_app.features.editor.core.containerlab_reader import looks_like_containerlab
from subflow_app.features.editor.core.graph_files import GRAPH_SUFFIXES
from subflow_app.features.editor.core.mininet_reader import looks_like_mininet
from subflow_app.features.editor.core.tc_reader import looks_like_tc
from subflow_app.features.editor.core.topology_json import looks_like_topology_json
from subflow_app.features.importing.core.recordings import looks_like_recording
from subflow_app.features.measured.core.trace_formats import HEAD_BYTES, trace_format, trace_formats, trace_suffixes
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.file_kinds import PAGE_SUFFIX, is_database_file
from subflow_sim.gate import open_file


class Way(Enum):
    """The way in which a file is imported."""

    RUN = "run"
    GRAPH = "graph"
    PAGE = "page"
    RECORDING = "recording"


@dataclass(frozen=True, slots=True)
class Recognised:
    """A file that can be imported.

    Attributes:
        path: path of the file.
        way: the way of importing it.
        format: name of the format: a measured format, "graphml", "gml" or "page".
        title: name of the format in messages.
    """

    path: Path
    way: Way
    format: str
    title: str


@dataclass(frozen=True, slots=True)
class _Kind:
    way: Way
    format: str
    title: str
    looks_like: Callable[[str, str], bool]  # beginning of the text in lower case, and suffix


_KINDS = (
    _Kind(
        Way.PAGE,
        "page",
        "web page",
        lambda head, suffix: suffix == PAGE_SUFFIX or head.startswith(("<!doctype html", "<html")),
    ),
    _Kind(Way.GRAPH, "graphml", "GraphML", lambda head, suffix: "<graphml" in head or suffix == ".graphml"),
    _Kind(Way.GRAPH, "sndlib", "XML of SNDlib", lambda head, _: "<networkstructure" in head),
    _Kind(Way.GRAPH, "json", "JSON of topohub or MiniEdit", lambda head, _: looks_like_topology_json(head)),
    _Kind(Way.GRAPH, "mininet", "Mininet script", lambda head, _: looks_like_mininet(head)),
    _Kind(Way.GRAPH, "containerlab", "YAML of containerlab", lambda head, _: looks_like_containerlab(head)),
    _Kind(Way.RECORDING, "recording", "recording of a link", lambda head, _: looks_like_recording(head)),
    _Kind(Way.GRAPH, "tc", "tc commands and output", lambda head, _: looks_like_tc(head)),
    _Kind(
        Way.GRAPH,
        "gml",
        "GML",
        lambda head, suffix: suffix == ".gml" or ("graph [" in head and "node [" in head) or suffix == ".xml",
    ),
)


def allowed_text() -> str:
    """The formats that can be imported, for messages."""
    return ", ".join(dict.fromkeys([*(kind.title for kind in trace_formats()), *(kind.title for kind in _KINDS)]))


def import_suffixes() -> tuple[str, ...]:
    """The suffixes of file names that dialogs offer."""
    return (*trace_suffixes(), *GRAPH_SUFFIXES, PAGE_SUFFIX)


def recognise(path: Path, trace_format_name: str = "auto") -> Recognised:
    """The way of importing a file.

    Args:
        path: path of the file.
        trace_format_name: name of a measured format to read the file in; "auto" to recognise the format.

    Raises:
        InputError: if the file is missing, empty, a scenario or a database, or its format is unknown.
    """
    try:
        with open_file(path) as file:
            head = file.read(HEAD_BYTES)
        suffix = path.suffix.lower()
        if trace_format_name == "auto":
            if is_database_file(path):
                raise InputError(f"{path.name} is a database of Subflow: subflow {path.name} opens it")
            if suffix == ".toml":
                raise InputError(f"{path.name} is a scenario of Subflow: subflow run {path.name} simulates it")
            start = head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n").lower()
            for kind in _KINDS:
                if kind.looks_like(start, suffix):
                    return Recognised(path, kind.way, kind.format, kind.title)
        found = trace_format(trace_format_name, path)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    return Recognised(path, Way.RUN, found.name, found.title)
