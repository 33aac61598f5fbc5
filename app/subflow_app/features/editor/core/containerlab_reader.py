"""Reads topologies of containerlab (YAML): nodes, and links between interfaces. Containerlab states no rates."""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from subflow_app.features.editor.core.graph_files import GraphFileError, RawEdge, RawGraph, RawNode, Value, check_count

_HOST_KINDS = ("linux", "generic_vm", "k8s-kind")
_OUTSIDE = ("host", "mgmt-net", "macvlan", "vxlan", "vxlan-stitch", "dummy")
_ALLOWED = "a topology of containerlab: topology: {nodes: ..., links: [{endpoints: [...]}]}"


def looks_like_containerlab(head: str) -> bool:
    """True if a text with this beginning, in lower case, is a topology of containerlab."""
    return "topology:" in head and ("endpoints:" in head or "kind:" in head or "nodes:" in head)


def read_containerlab(content: bytes, file: str) -> RawGraph:
    """Read a topology. Only the syntax tree is used: aliases cannot multiply, and no object is created.

    Raises:
        GraphFileError: if the content is not YAML, or not such a topology.
    """
    try:
        root = yaml.compose(content.decode("utf-8"), Loader=yaml.SafeLoader)
    except UnicodeDecodeError as error:
        raise GraphFileError(file, None, "is not text in UTF-8", _ALLOWED) from error
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "nested too deep"
        raise GraphFileError(file, mark.line + 1 if mark else None, f"broken YAML: {problem}", _ALLOWED) from error
    graph = RawGraph(file, "containerlab")
    topology = _child(root, "topology")
    if topology is None:
        raise GraphFileError(file, 1, "has no topology", _ALLOWED)
    name = _child(root, "name")
    if isinstance(name, yaml.ScalarNode):
        graph.values["name"] = name.value
    usual = _text(_child(_child(topology, "defaults"), "kind"))
    for key, node in _pairs(_child(topology, "nodes")):
        if not isinstance(key, yaml.ScalarNode):
            raise GraphFileError(file, key.start_mark.line + 1, "the name of a node is a list or a table", "a text")
        kind = _text(_child(node, "kind")) or usual
        values: dict[str, Value] = {"kind": "host" if kind in _HOST_KINDS else "router"}
        graph.nodes.append(RawNode(key.value, key.start_mark.line + 1, values))
        check_count(graph, key.start_mark.line + 1)
    known = {node.id for node in graph.nodes}
    left_out = 0
    for link in _items(_child(topology, "links")):
        line = link.start_mark.line + 1
        ends = [_end(each) for each in _items(_child(link, "endpoints"))]
        if len(ends) != 2 or None in ends:
            if _text(_child(link, "type")) in _OUTSIDE or len(ends) == 1:
                left_out += 1
                continue
            raise GraphFileError(file, line, "a link without two endpoints", 'endpoints: ["h1:eth1", "h2:eth1"]')
        (first, port), (second, other) = ends  # type: ignore[misc] # None was refused
        if first not in known or second not in known:
            if first.partition(":")[0] in _OUTSIDE or second.partition(":")[0] in _OUTSIDE:
                left_out += 1
                continue
            missing = second if first in known else first
            raise GraphFileError(file, line, f'the node "{missing[:40]}" does not exist', "names of nodes of the file")
        graph.edges.append(RawEdge(first, second, line, {"name": f"{first}-{port}_{second}-{other}"}))
        check_count(graph, line)
    if left_out:
        graph.notes.append(f"{left_out} links to the outside of the lab were left out.")
    graph.notes.append("Containerlab states no rates, delays and queues: the guessed values are marked.")
    return graph


def _end(node: yaml.Node) -> tuple[str, str] | None:
    """Node and interface of an endpoint, in the short or the long form."""
    if isinstance(node, yaml.ScalarNode):
        name, colon, port = node.value.rpartition(":")
        return (name, port) if colon and name else None
    name, port = _text(_child(node, "node")), _text(_child(node, "interface"))
    return (name, port) if name else None


def _pairs(node: yaml.Node | None) -> Iterator[tuple[yaml.Node, yaml.Node]]:
    if isinstance(node, yaml.MappingNode):
        yield from node.value


def _items(node: yaml.Node | None) -> Iterator[yaml.Node]:
    if isinstance(node, yaml.SequenceNode):
        yield from node.value


def _child(node: yaml.Node | None, key: str) -> yaml.Node | None:
    return next((value for name, value in _pairs(node) if name.value == key), None)


def _text(node: yaml.Node | None) -> str:
    return str(node.value) if isinstance(node, yaml.ScalarNode) else ""
