"""Measures how smoothly the canvas shows a large topology: the cost of a frame for each action of a person."""

from __future__ import annotations

import itertools
import math
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF
from PySide6.QtGui import QUndoStack
from PySide6.QtWidgets import QApplication

from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.editor.qt.topology.tools import MoveGesture, PanGesture
from subflow_app.features.editor.qt.topology.view import TopologyView
from subflow_app.features.explain.core.instants import packet_places
from subflow_app.features.playhead.qt.canvas_show import PacketItem, track_of
from subflow_app.shell.app import make_application
from subflow_sim.instant import FlowsNow, Instant, LinksNow, PacketsUnderWay, SubflowsNow

NODES, LINKS = 400, 700
TARGET_FPS = 30.0
"""From this rate on, a person who drags sees no steps."""

_SIZE = (1200, 800)
_FRAMES = 40
_SMALL = (6, 8)  # nodes and links of an everyday scenario
_PACKETS, _COLOURS = 2000, ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
_ZOOMS_OF_REST = (0.12, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 1.5)


@dataclass(frozen=True, slots=True)
class CanvasFigure:
    """Processor time of one frame, or of one execution, for one action of a person."""

    name: str
    description: str
    cpu_ms: float
    is_frame: bool


def mesh_text(nodes: int = NODES, links: int = LINKS) -> str:
    """Write a scenario of routers with links to their neighbours, two hosts, and one flow along a path."""
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
    # The first edges form a tree: following parents from the last node yields the path to the first node.
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
        # Hosts do not forward: a host's further links carry no flow.
        rate = draw.choice(("10Mbit/s", "100Mbit/s", "1Gbit/s"))
        lines.append(f'[links.l{a}-{b}]\nends = ["{name[a]}", "{name[b]}"]\nrate = "{rate}"\ndelay = "5ms"')
    path = ", ".join(f'"l{a}-{b}"' for b, a in itertools.pairwise(way))
    lines.append(f'[flows.f]\nkind = "tcp"\nfrom = "{name[nodes - 1]}"\nto = "source"\npaths = [[{path}]]')
    return "\n".join(lines) + "\n"


def document() -> dict[str, Any]:
    """Measures all actions."""
    application = make_application([])
    text = mesh_text()
    figures: list[CanvasFigure] = []
    stack = QUndoStack()
    started = time.process_time()
    view = TopologyView(ScenarioDoc(text), stack)
    view.resize(*_SIZE)
    view.show()
    QApplication.processEvents()
    figures.append(_once("open", "open the file and draw it", started))
    figures.append(_frames("pan_all", "pan, everything in view", lambda: _pan(view)))
    _zoom_to(view, 0.5)
    figures.append(_frames("pan_half", "pan at 50 %", lambda: _pan(view)))
    _zoom_to(view, 1.0)
    figures.append(_frames("pan_full", "pan at 100 %", lambda: _pan(view)))
    figures.append(_frames("zoom", "zoom in and out with the wheel", lambda: _zoom(view)))
    figures.append(_rest(view))
    view.fit()
    QApplication.processEvents()
    figures.append(_frames("drag_all", "drag a node, everything in view", lambda: _drag(view)))
    _zoom_to(view, 0.5)
    figures.append(_frames("drag_half", "drag a node at 50 %", lambda: _drag(view)))
    started = time.process_time()
    view.arranging.lay_out()
    QApplication.processEvents()
    figures.append(_once("lay_out", "lay everything out by forces", started))
    figures.append(_frames("packets_mesh", "move 2 000 packets, everything in view", lambda: _packets(view)))
    small = TopologyView(ScenarioDoc(mesh_text(*_SMALL)), stack)
    small.resize(*_SIZE)
    small.show()
    QApplication.processEvents()
    description = f"move 2 000 packets over {_SMALL[1]} links"
    figures.append(_frames("packets", description, lambda: _packets(small)))
    small.deleteLater()
    application.sendPostedEvents(small, QEvent.Type.DeferredDelete)
    stack.clear()
    # Delete the windows before the application.
    view.deleteLater()
    application.sendPostedEvents(view, QEvent.Type.DeferredDelete)
    told = [asdict(figure) | ({"fps": 1e3 / figure.cpu_ms} if figure.is_frame else {}) for figure in figures]
    return {"nodes": NODES, "links": LINKS, "target_fps": TARGET_FPS, "figures": told}


def _once(name: str, description: str, started: float) -> CanvasFigure:
    return CanvasFigure(name, description, (time.process_time() - started) * 1000, is_frame=False)


def _frames(name: str, description: str, make: Callable[[], Callable[[int], None]]) -> CanvasFigure:
    step = make()
    step(0)  # the first frame fills caches, which in a drag the frames before it have done
    took = []
    for number in range(1, _FRAMES + 1):
        started = time.process_time()
        step(number)
        took.append((time.process_time() - started) * 1000)
    return CanvasFigure(name, description, statistics.mean(took), is_frame=True)


def _paint(view: TopologyView) -> None:
    # Draw everything that is waiting, as the next frame of the screen would.
    QApplication.processEvents()
    QApplication.sendEvent(view, QEvent(QEvent.Type.UpdateRequest))


def _pan(view: TopologyView) -> Callable[[int], None]:
    middle = view.canvas.viewport().rect().center()
    gesture = PanGesture(view.canvas, middle)

    def step(number: int) -> None:
        gesture.move(middle + QPoint(7 * (number % 20), 4 * (number % 20)))
        _paint(view)

    return step


def _zoom(view: TopologyView) -> Callable[[int], None]:
    middle = QPointF(view.canvas.viewport().rect().center())

    def step(number: int) -> None:
        share = abs(number % 20 - 10) / 10
        view.canvas.set_zoom(0.1 + 1.4 * share, middle)
        _paint(view)

    return step


def _zoom_to(view: TopologyView, zoom: float) -> None:
    view.canvas.set_zoom(zoom)
    view.scene.end_zooming()


def _rest(view: TopologyView) -> CanvasFigure:
    """Measures the end of zooming at the zoom factor with the largest cost."""
    took = []
    for zoom in _ZOOMS_OF_REST:
        view.canvas.set_zoom(zoom)
        _paint(view)
        started = time.process_time()
        view.scene.end_zooming()
        _paint(view)
        took.append((time.process_time() - started) * 1000)
    return CanvasFigure("zoom_rest", "place the labels once zooming ends, at worst", max(took), is_frame=False)


def _packets(view: TopologyView) -> Callable[[int], None]:
    """Moves packets over at most 100 links in both directions as the playhead does; a tenth of them wait in queues."""
    links = dict(list(view.scene.link_items().items())[:100])
    tracks = {name: track_of(item) for name, item in links.items()}
    item = PacketItem()
    view.scene.addItem(item)
    view.fit()
    instant = _crowd([f"{name}/{direction}" for name in links for direction in ("forward", "reverse")])
    start = instant.packets.progress

    def step(number: int) -> None:
        packets = replace(instant.packets, progress=((start + 0.01 * number) % 1.0).astype(np.float32))
        item.show_places(packet_places(replace(instant, packets=packets), tracks), dict(enumerate(_COLOURS)))
        _paint(view)

    return step


def _crowd(links: list[str]) -> Instant:
    number = np.arange(_PACKETS, dtype=np.int32)
    link = number * len(links) // _PACKETS
    waits = number % 10 == 0
    kind = (number % 5 == 1).astype(np.uint8)
    packets = PacketsUnderWay(
        link,
        number % len(_COLOURS),
        kind,
        number.astype(np.uint32),
        np.full(_PACKETS, 1500, np.uint16),
        np.linspace(0.0, 1.0, _PACKETS, dtype=np.float32),
        np.where(waits, 1, -1).astype(np.int32),
    )
    none, names = np.zeros(len(links), np.int64), tuple(f"f/{n + 1}" for n in range(len(_COLOURS)))
    up, pkts = np.ones(len(links), np.bool_), np.zeros(len(_COLOURS))
    now = LinksNow(tuple(links), none.astype(np.int32), none, up, none, none)
    windows = SubflowsNow(names, pkts > 0, ("open",) * len(names), *([pkts] * 7))
    return Instant(0.0, packets, now, windows, FlowsNow((), none[:0], none[:0], up[:0]))


def _drag(view: TopologyView) -> Callable[[int], None]:
    canvas, scene = view.canvas, view.scene
    centre = canvas.mapToScene(canvas.viewport().rect().center())
    positions = scene.node_positions()
    name = min(positions, key=lambda each: (positions[each] - centre).manhattanLength())
    start = canvas.mapFromScene(positions[name])
    gesture = MoveGesture(canvas, scene, [name], start, lambda _places: None, name)

    def step(number: int) -> None:
        gesture.move(start + QPoint(5 * (number % 20), 3 * (number % 20)))
        _paint(view)

    return step
