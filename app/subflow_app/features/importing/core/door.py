"""Recognises files of other programs by their content, and finds the way of importing each.

A measurement becomes a run; a graph, a web page or a recording of a link becomes a scenario. A new format of
measurements is a reader in `features/measured`, one of graphs a row of `editor/core/graph_formats`; neither needs a
change here.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from subflow_app.features.editor.core.graph_files import GRAPH_SUFFIXES
from subflow_app.features.editor.core.graph_formats import graph_format, head_text
from subflow_app.features.importing.core.recordings import looks_like_recording
from subflow_app.features.measured.core.trace_formats import HEAD_BYTES, trace_format, trace_suffixes
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
        format: name of the format: that of a measurement or a graph, "page" or "recording".
        title: name of the format in messages.
    """

    path: Path
    way: Way
    format: str
    title: str


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
            start = head_text(head)
            if suffix == PAGE_SUFFIX or start.startswith(("<!doctype html", "<html")):
                return Recognised(path, Way.PAGE, "page", "web page")
            if (graph := graph_format(start, suffix)) is not None:
                return Recognised(path, Way.GRAPH, graph.name, graph.title)
            if looks_like_recording(start):
                return Recognised(path, Way.RECORDING, "recording", "recording of a link")
        found = trace_format(trace_format_name, path)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    return Recognised(path, Way.RUN, found.name, found.title)
