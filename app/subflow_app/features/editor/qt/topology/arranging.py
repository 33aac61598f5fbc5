"""Putting the nodes of a picture in order: each action one step that can be undone, and the switches around it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack

from subflow_app.features.editor.core import arrange
from subflow_app.features.editor.core.arrange import GRID, Axis, Edge
from subflow_app.features.editor.core.layout import Point
from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.editor.qt import commands
from subflow_app.features.editor.qt.topology.canvas import TopologyCanvas
from subflow_app.features.editor.qt.topology.scene import TopologyScene
from subflow_app.toolkit.workers import Workers
from subflow_app.vocabulary.language import tr

_MOST_AT_ONCE = 100  # nodes, which are laid out before anybody notices


class Arranging(QObject):
    """Arranges the selected nodes of one panel.

    Args:
        canvas: whose nodes are moved.
        scene: what it shows.
        document: the document that is shown now.
        undo_stack: where the steps go.
        parent: owner.
    """

    changed = Signal()  # a large picture begins to be laid out, or is
    dropped = Signal(str)  # why new places are not taken, and what to do

    def __init__(
        self,
        canvas: TopologyCanvas,
        scene: TopologyScene,
        document: Callable[[], ScenarioDoc],
        undo_stack: QUndoStack,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._canvas = canvas
        self._scene = scene
        self._document = document
        self._undo_stack = undo_stack
        self._workers: Workers | None = None
        self._is_laying_out = False

    def use_workers(self, workers: Workers) -> None:
        """Lay out large pictures by these from now on, so that the window goes on meanwhile."""
        self._workers = workers

    @property
    def selected(self) -> tuple[str, ...]:
        """Names of the selected nodes."""
        return tuple(key.partition(".")[2] for key in self._scene.chosen if key.startswith("nodes."))

    @property
    def is_allowed(self) -> bool:
        """Whether nodes can be moved now: the file can be edited, and nodes are neither locked nor being laid out."""
        return not self._is_laying_out and self._document().is_toml and self._canvas.can_move_nodes

    def align(self, edge: Edge) -> None:
        """Put the selected nodes on one line."""
        self._move(arrange.aligned(self._places(), edge))

    def distribute(self, axis: Axis) -> None:
        """Space the selected nodes evenly."""
        self._move(arrange.distributed(self._places(), axis))

    def lay_out(self) -> None:
        """Find new places for the selected nodes, or for all if fewer than two are selected."""
        picture, scenario = self._scene.picture, self._document().sketch
        if picture is None or scenario is None:
            return
        names = self.selected if len(self.selected) > 1 else tuple(picture.places)
        places = self._places(names)
        find = partial(
            arrange.laid_out,
            list(places),
            [item.link.ends for item in picture.links.values()],
            {flow.source for flow in scenario.flows.values()},
            {flow.destination for flow in scenario.flows.values()},
            places,
        )
        if self._workers is None or len(places) <= _MOST_AT_ONCE:
            self._take(find())
            return
        self._set_laying_out(True)
        doc, text = self._document(), self._document().text
        self._workers.start(
            "lay-out",
            find,
            succeeded=lambda found: self._on_found(doc, text, found),
            failed=self._on_failed,
        )

    def set_grid(self, is_on: bool) -> None:
        """Let drags snap to a grid, or not."""
        self._canvas.set_grid(GRID if is_on else None)

    def set_locked(self, is_locked: bool) -> None:
        """Keep nodes where they are, or let them be moved again."""
        self._canvas.set_locked(is_locked)

    def _on_found(self, doc: ScenarioDoc, text: str, found: Mapping[str, Point]) -> None:
        self._set_laying_out(False)
        if self._document() is doc and doc.text == text:
            self._take(found)
        else:
            self.dropped.emit(tr("The scenario changed during the layout, so nothing was moved. Lay it out again."))

    def _on_failed(self, error: Exception) -> None:
        self._set_laying_out(False)
        self.dropped.emit(tr("The nodes cannot be laid out: {reason}", reason=error))

    def _set_laying_out(self, is_laying_out: bool) -> None:
        self._is_laying_out = is_laying_out
        self.changed.emit()

    def _take(self, found: Mapping[str, Point]) -> None:
        self._move(found)
        if self._scene.picture is not None and len(found) == len(self._scene.picture.places):
            self._canvas.fit()

    def _places(self, names: tuple[str, ...] | None = None) -> dict[str, Point]:
        positions = self._scene.node_positions()
        return {name: (positions[name].x(), positions[name].y()) for name in (names or self.selected)}

    def _move(self, places: Mapping[str, Point]) -> None:
        before = self._places(tuple(places)) if places else {}
        moved = {name: at for name, at in places.items() if at != before[name]}
        if moved and self.is_allowed:
            commands.move_nodes(self._undo_stack, self._document(), moved)
