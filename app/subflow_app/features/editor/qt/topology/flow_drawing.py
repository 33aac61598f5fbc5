"""Drawing flows: the dialog of a flow, its paths as ribbons on the canvas, and clicks that put a path together."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QPoint, Signal
from PySide6.QtGui import QUndoStack

from subflow_app.features.catalog.core.catalog import app_catalog
from subflow_app.features.editor.core.flow_draft import FlowDraft
from subflow_app.features.editor.core.scenario_doc import Change
from subflow_app.features.editor.core.scenario_edits import add_flow, check_flow_ends, set_paths
from subflow_app.features.editor.core.topology import hops_of
from subflow_app.features.editor.qt import commands
from subflow_app.features.editor.qt.topology.flow_dialog import FlowDialog
from subflow_app.features.editor.qt.topology.path_list import path_colour
from subflow_app.features.editor.qt.topology.preview import Ribbon
from subflow_app.features.editor.qt.topology.tools import PickTool, Tool
from subflow_app.features.editor.qt.topology.view import TopologyView
from subflow_app.foundation.errors import AppError
from subflow_app.vocabulary.language import tr


class FlowDrawing(QObject):
    """Opens one dialog at a time and carries out what it says.

    Args:
        view: the topology panel.
        undo_stack: where edits go.
        parent: owns it.
    """

    failed = Signal(str)  # what the dialog says cannot be done, and why
    picking_ended = Signal()  # the left button is free for other tools

    def __init__(self, view: TopologyView, undo_stack: QUndoStack, parent: QObject) -> None:
        super().__init__(parent)
        self._view = view
        self._undo_stack = undo_stack
        self.dialog: FlowDialog | None = None  # the dialog that is open
        self._unsubscribe: Callable[[], None] | None = None

    def ask_new(self, source: str, destination: str) -> None:
        """Open the dialog of a new flow.

        Raises:
            InputError: if there cannot be a flow between these nodes.
        """
        check_flow_ends(self._view.doc.data, source, destination)
        self._open(source, destination, "")

    def ask_paths(self, flow: str) -> None:
        """Open the dialog with the paths of a flow."""
        scenario = self._view.doc.sketch
        if scenario is not None and flow in scenario.flows:
            self._open(scenario.flows[flow].source, scenario.flows[flow].destination, flow)

    def close(self) -> None:
        """Give up what the dialog has."""
        if self.dialog is not None:
            self.dialog.reject()

    # --- inside -----------------------------------------------------------------------------------------------------

    def _open(self, source: str, destination: str, flow: str) -> None:
        self.close()
        scenario = self._view.doc.sketch
        if scenario is None:
            return
        draft = FlowDraft(scenario, source, destination, app_catalog(scenario), flow)
        dialog = FlowDialog(draft, self._view.window())
        dialog.accepted.connect(self._carry_out)
        dialog.finished.connect(self._end)
        dialog.draft_changed.connect(self._show_preview)
        dialog.picking_changed.connect(self._set_picking)
        self.dialog = dialog
        self._unsubscribe = self._view.doc.subscribe(self._on_document_changed)
        dialog.show()
        dialog.adjustSize()
        dialog.move(self._place_beside_canvas(dialog))
        self._show_preview()

    def _place_beside_canvas(self, dialog: FlowDialog) -> QPoint:
        corner = self._view.mapToGlobal(self._view.rect().topRight()) + QPoint(16, 0)
        room = self._view.screen().availableGeometry()
        corner.setX(min(corner.x(), room.right() - dialog.width()))
        corner.setY(max(min(corner.y(), room.bottom() - dialog.height()), room.top()))
        return corner

    def _carry_out(self) -> None:
        assert self.dialog is not None
        draft = self.dialog.draft
        # The change is its own doing.
        self._stop_watching()
        try:
            if draft.flow:
                keys = commands.edit_parts(
                    self._undo_stack,
                    self._view.doc,
                    tr("Set paths of {flow}", flow=draft.flow),
                    lambda text: set_paths(text, draft.flow, draft.wanted),
                )
            else:
                keys = commands.edit_parts(
                    self._undo_stack,
                    self._view.doc,
                    tr("Add flow"),
                    lambda text: add_flow(text, draft.source, draft.destination, draft.values()),
                )
        except AppError as error:
            self.failed.emit(str(error))
        else:
            self._view.scene.choose(keys)

    def _end(self) -> None:
        dialog, self.dialog = self.dialog, None
        self._stop_watching()
        if dialog is not None:
            if dialog.pick.isChecked():
                self._set_picking(False)
            dialog.deleteLater()
        self._view.scene.show_preview([])

    def _stop_watching(self) -> None:
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None

    def _on_document_changed(self, change: Change) -> None:
        # What the dialog offers is made for the network from before.
        if change.kind != "layout":
            self.close()

    def _set_picking(self, is_on: bool) -> None:
        if is_on:
            self._view.canvas.set_tool(self._pick_tool())
            self._view.canvas.setFocus()
        else:
            self._view.canvas.set_tool(None)
            self.picking_ended.emit()

    def _pick_tool(self) -> Tool:
        return PickTool("paths", self._on_picked)

    def _on_picked(self, key: str) -> None:
        section, _, name = key.partition(".")
        if self.dialog is not None and section == "links":
            self.dialog.pick_link(name)

    def _show_preview(self) -> None:
        scenario = self._view.doc.sketch
        if self.dialog is None or scenario is None:
            return
        draft = self.dialog.draft
        is_dark = self._view.scene.look.tokens.is_dark
        ribbons = [
            Ribbon(path_colour(index, is_dark=is_dark), hops_of(scenario, draft.source, path.links), path.is_wanted)
            for index, path in enumerate(draft.paths)
        ]
        if draft.picked is None:
            self._view.scene.show_preview(ribbons)
            return
        picked = Ribbon(
            path_colour(len(ribbons), is_dark=is_dark), hops_of(scenario, draft.source, draft.picked), is_wanted=True
        )
        self._view.scene.show_preview([picked], draft.open_links())
