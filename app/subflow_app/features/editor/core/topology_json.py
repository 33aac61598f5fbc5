"""Reads topologies in JSON: node-link graphs as networkx and topohub write them, and files of MiniEdit (.mn)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from subflow_app.features.editor.core.graph_files import GraphFileError, RawEdge, RawGraph, RawNode, Value, check_count
from subflow_app.features.editor.core.mininet_link import link_direction
from subflow_sim.gate import json_tree

_ALLOWED = 'node-link JSON ("nodes" and "links" or "edges") as networkx and topohub write it, or a file of MiniEdit'


def looks_like_topology_json(head: str) -> bool:
    """True if a JSON text with this beginning, in lower case, is a topology."""
    is_node_link = '"multigraph"' in head or ('"nodes"' in head and ('"links"' in head or '"edges"' in head))
    return head.startswith("{") and (is_node_link or ('"switches"' in head and '"hosts"' in head))


def read_topology_json(content: bytes, file: str) -> RawGraph:
    """Read a topology.

    Raises:
        GraphFileError: if the content is not JSON, or not a topology.
    """
    try:
        document = json_tree(content)
    except ValueError as error:
        raise GraphFileError(file, None, f"broken JSON: {error}", _ALLOWED) from error
    if not isinstance(document, dict):
        raise GraphFileError(file, None, "this JSON is not a topology", _ALLOWED)
    if "switches" in document and "hosts" in document:
        return _miniedit(document, file)
    nodes, edges = document.get("nodes"), document.get("links", document.get("edges"))
    if not isinstance(nodes, list) or not isinstance(edges, list):
        raise GraphFileError(file, None, "this JSON is not a topology", _ALLOWED)
    graph = RawGraph(file, "JSON")
    about = document.get("graph")
    graph.values = _plain(about) if isinstance(about, dict) else {}
    places = [_position(node) for node in nodes]
    is_geographic = all(abs(at[0]) <= 180 and abs(at[1]) <= 90 for at in places if at is not None)
    for number, (node, at) in enumerate(zip(nodes, places, strict=True), start=1):
        name = _id(node.get("id") if isinstance(node, dict) else node, f"node {number}", file)
        values = _plain(node) if isinstance(node, dict) else {}
        if at is not None:
            values |= {"lon": at[0], "lat": at[1]} if is_geographic else {"graphics": {"x": at[0], "y": -at[1]}}
        graph.nodes.append(RawNode(name, 0, values))
        check_count(graph, 0)
    is_directed = document.get("directed") is True
    for number, edge in enumerate(edges, start=1):
        if not isinstance(edge, dict):
            raise GraphFileError(file, None, f"edge {number} is not an object", _ALLOWED)
        ends = [_id(edge.get(key), f"{key} of edge {number}", file) for key in ("source", "target")]
        graph.edges.append(RawEdge(ends[0], ends[1], 0, _plain(edge), is_directed))
        check_count(graph, 0)
    return graph


def _position(node: object) -> tuple[float, float] | None:
    """The position of a node in topohub's form: longitude and latitude, or a place in the plane."""
    at = node.get("pos") if isinstance(node, dict) else None
    if isinstance(at, list) and len(at) == 2 and all(map(_is_number, at)):
        return float(at[0]), float(at[1])
    return None


def _miniedit(document: Mapping[str, Any], file: str) -> RawGraph:
    graph = RawGraph(file, "MiniEdit")
    for kind, key in (("host", "hosts"), ("router", "switches")):
        for number, part in enumerate(document.get(key) or (), start=1):
            options = part.get("opts") if isinstance(part, dict) else None
            name = options.get("hostname") if isinstance(options, dict) else None
            node = RawNode(_id(name, f"hostname of {key[:-1]} {number}", file), 0, {"kind": kind})
            if all(map(_is_number, (part.get("x"), part.get("y")))):
                node.values["graphics"] = {key: float(part[key]) for key in ("x", "y")}
            graph.nodes.append(node)
            check_count(graph, 0)
    for number, link in enumerate(document.get("links") or (), start=1):
        if not isinstance(link, dict):
            raise GraphFileError(file, None, f"link {number} is not an object", _ALLOWED)
        ends = [_id(link.get(key), f"{key} of link {number}", file) for key in ("src", "dest")]
        options = link.get("opts")
        made = link_direction(options if isinstance(options, dict) else {}, file, None)
        graph.notes += [f"Link {number} ignores {note}." for note in made.notes]
        graph.edges.append(RawEdge(ends[0], ends[1], 0, {**made.values}, tables={**made.tables}))
        check_count(graph, 0)
    return graph


def _id(value: object, what: str, file: str) -> str:
    if isinstance(value, str) and value:
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise GraphFileError(file, None, f"{what} is {str(value)[:40]}", "a text or a whole number")


def _plain(values: Mapping[str, Any]) -> dict[str, Value]:
    """The texts and numbers of an object."""
    return {
        key: float(value) if _is_number(value) and not isinstance(value, str) else value
        for key, value in values.items()
        if isinstance(value, (str, int, float)) and not isinstance(value, bool)
    }


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or value is None:
        return False
    try:
        return math.isfinite(float(value))  # type: ignore[arg-type] # other types are a TypeError
    except (TypeError, ValueError, OverflowError):
        return False
