"""The topology of a scenario as GraphML, for other programs and for the import, which reads all of it back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from subflow_app.features.editor.core.layout import Point
from subflow_app.foundation.files import write_file
from subflow_sim.link_params import LINK_TABLES
from subflow_sim.scenario import Link, LinkDirection, Scenario
from subflow_sim.units import Dimension, format_quantity

_NODE_KEYS = {"label": "string", "kind": "string", "x": "double", "y": "double"}
_LINK_KEYS = {"name": "string", "LinkSpeedRaw": "double"}
_VALUE_KEYS = ("rate", "delay", "queue", "loss")


def graphml_of(scenario: Scenario, places: Mapping[str, Point]) -> str:
    """Write nodes with their kinds and places, and links with rate, delay, queue and loss of both directions."""
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
    """Say which parts of a scenario GraphML has no place for, a few words each."""
    directions = [side for link in scenario.links.values() for side in (link.forward, link.reverse)]
    found = {
        "flows": bool(scenario.flows),
        "timed events and steps of rates": bool(scenario.events),
        "delivery traces (their mean rate is written)": any(side.trace is not None for side in directions),
        "delay traces (their mean is written)": any(side.delay_trace is not None for side in directions),
        "jitter, token buckets and radio": any(
            getattr(side, name) is not None for side in directions for name in LINK_TABLES
        ),
        "loss models (their mean is written)": any(side.loss_model is not None for side in directions),
        "queue disciplines": any(side.queue.discipline != "droptail" for side in directions),
    }
    return tuple(what for what, is_there in found.items() if is_there)


def export_graphml(scenario: Scenario, places: Mapping[str, Point], path: Path) -> None:
    """Write a GraphML file in one step.

    Raises:
        ExportError: if it cannot be written.
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
