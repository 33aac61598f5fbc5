"""How fluid a large topology is on the canvas: what ``subflow bench canvas`` tells."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import dataclass

from subflow_app.bench.probe import ask_probe

NODES, LINKS = 400, 700
TARGET_FPS = 30.0
"""A hand that drags sees no steps from here on."""

_PATIENCE_S = 900.0  # a machine that is busy with other things takes long; one that hangs takes forever
_PROBE = "canvas"


@dataclass(frozen=True, slots=True)
class CanvasFigure:
    """What one thing a person does costs: processor time of one frame, or of doing it once."""

    name: str
    description: str
    cpu_ms: float
    is_frame: bool

    @property
    def fps(self) -> float:
        """Frames per second that one processor draws."""
        return 1000.0 / max(self.cpu_ms, 1e-6)


def mesh_text(nodes: int = NODES, links: int = LINKS) -> str:
    """Write a scenario of routers that are linked to their neighbours, two hosts, and one flow along a path."""
    draw = random.Random(4)
    side = math.sqrt(nodes)
    at = [(draw.random() * side, draw.random() * side) for _ in range(nodes)]

    def distance(a: int, b: int) -> float:
        return math.dist(at[a], at[b])

    pairs = {(min(range(b), key=lambda a: distance(a, b)), b) for b in range(1, nodes)}
    near = sorted((distance(a, b), a, b) for b in range(nodes) for a in range(b))
    for _, a, b in near:
        if len(pairs) >= links:
            break
        pairs.add((a, b))
    # The first edges make a tree, in which the way from the first node to the last is found by going up.
    tree = {b: min(range(b), key=lambda a: distance(a, b)) for b in range(1, nodes)}
    way = [nodes - 1]
    while way[-1]:
        way.append(tree[way[-1]])
    name = {index: f"r{index}" for index in range(nodes)} | {0: "source", nodes - 1: "sink"}
    hosts = (0, nodes - 1)
    lines = ["format = 1", 'name = "Mesh"', 'duration = "10s"']
    for index, (x, y) in enumerate(at):
        kind = "" if index in hosts else 'kind = "router"\n'
        lines.append(f"[nodes.{name[index]}]\n{kind}at = [{round(x * 240)}, {round(y * 180)}]")
    for a, b in sorted(pairs):
        # Hosts do not forward: links of theirs but the first lead nowhere.
        rate = draw.choice(("10Mbit/s", "100Mbit/s", "1Gbit/s"))
        lines.append(f'[links.l{a}-{b}]\nends = ["{name[a]}", "{name[b]}"]\nrate = "{rate}"\ndelay = "5ms"')
    path = ", ".join(f'"l{a}-{b}"' for b, a in itertools.pairwise(way))
    lines.append(f'[flows.f]\nkind = "tcp"\nfrom = "{name[nodes - 1]}"\nto = "source"\npaths = [[{path}]]')
    return "\n".join(lines) + "\n"


def measure_canvas() -> tuple[CanvasFigure, ...]:
    """Open the mesh on a screen of memory, in a process of its own, and do what a person does with it.

    Raises:
        AppError: if the canvas cannot be shown.
    """
    told = ask_probe(_PROBE, "the canvas cannot be measured", _PATIENCE_S)
    return tuple(CanvasFigure(**figure) for figure in told)
