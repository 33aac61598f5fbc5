"""Drawing of flows: the flow dialog, the flow's paths as ribbons on the canvas, and clicks that build a path.

The dialog offers kind, algorithms and paths. It opens next to the canvas, which shows the paths and accepts clicks on
links. Possible paths are listed with check boxes, each in the colour that the path has on the canvas.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPalette, QUndoStack
from PySide6.QtWidgets import (
    QDialog,
    QFormLayout,
    QLineEdit,
    QListView,
    QPushButton,
    QSpinBox,
    QWidget,
)

from subflow_app.features.catalog.core.catalog import app_catalog
from subflow_app.features.editor.core.flow_draft import KINDS, DraftPath, FlowDraft
from subflow_app.features.editor.core.scenario_doc import Change
from subflow_app.features.editor.core.scenario_edits import add_flow, check_flow_ends, set_paths
from subflow_app.features.editor.core.topology import hops_of
from subflow_app.features.editor.qt import documents
from subflow_app.features.editor.qt.topology.items import Ribbon
from subflow_app.features.editor.qt.topology.tools import PickTool
from subflow_app.features.editor.qt.topology.view import TopologyView
from subflow_app.foundation.errors import AppError
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.theme import current_tokens
from subflow_app.toolkit.widgets.shorthand import Choice, Label, accept_buttons, named, v_box
from subflow_app.toolkit.widgets.tables import Index, ListModel
from subflow_app.vocabulary.language import tr, trn
from subflow_app.vocabulary.palette import ColourKey, hex_colour
from subflow_sim.scenario_model import MAX_COPIES


def path_colour(position: int, *, is_dark: bool) -> str:
    """Return the colour of a path in the dialog and on the canvas, by its position in the list."""
    return hex_colour(ColourKey(position, 0), dark=is_dark)


def path_words(path: DraftPath) -> str:
    """Format the properties of a path: `5 Mbit/s · 60 ms · 3 links · disjoint`."""
    facts = path.facts
    words = [
        fmt.rate(facts.rate_bps) if facts.rate_bps != float("inf") else fmt.UNLIMITED,
        fmt.time(facts.delay_s),
        tr("loss of data {ratio}", ratio=fmt.ratio(facts.loss)) if facts.loss else "",
        trn("{count} link", "{count} links", len(path.links)),
        tr("disjoint") if path.is_disjoint else "",
    ]
    return "  ·  ".join(filter(None, words))


class PathList(ListModel[DraftPath]):
    """List model of the paths of a draft; the chosen paths are checked."""

    chosen_changed = Signal()

    def __init__(self, draft: FlowDraft, parent: QObject, *, is_dark: bool) -> None:
        super().__init__(lambda path: f"{' → '.join(path.links)}\n{path_words(path)}", parent)
        self._draft = draft
        self._is_dark = is_dark
        self.rows = draft.paths

    def refresh(self) -> None:
        """Show the draft's current paths."""
        self.show_rows(self._draft.paths)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Make every path checkable."""
        return super().flags(index) | Qt.ItemFlag.ItemIsUserCheckable

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the text, the colour or the check state of a path."""
        if role == Qt.ItemDataRole.DecorationRole:
            return QColor(path_colour(index.row(), is_dark=self._is_dark))
        return super().data(index, role)

    def other_data(self, row: DraftPath, column: int, role: int) -> object | None:
        """Return the accessible text or the check state of a path; None for other roles."""
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return tr("Path over {links}: {words}", links=", ".join(row.links), words=path_words(row))
        if role == Qt.ItemDataRole.CheckStateRole:
            return Qt.CheckState.Checked if row.is_wanted else Qt.CheckState.Unchecked
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Choose or deselect a path by its check box; False for other roles."""
        if role != Qt.ItemDataRole.CheckStateRole or not index.isValid():
            return False
        self._draft.set_wanted(index.row(), Qt.CheckState(value) == Qt.CheckState.Checked)
        self.rows = self._draft.paths
        self.say_changed()
        self.chosen_changed.emit()
        return True


_MOST_WIDTH = 560


class FlowDialog(QDialog):
    """Dialog to add a flow or to change the paths of an existing flow; it does not block the window.

    Args:
        draft: draft to edit.
        parent: the window.
    """

    draft_changed = Signal()  # the paths or the path being picked changed
    picking_changed = Signal(bool)  # True while the user picks links on the canvas

    def __init__(self, draft: FlowDraft, parent: QWidget) -> None:
        super().__init__(parent)
        self.draft = draft
        is_new = not draft.flow
        self.setObjectName("flow_dialog")
        ends = tr("{source} to {destination}", source=draft.source, destination=draft.destination)
        self.setWindowTitle(tr("New flow: {ends}", ends=ends) if is_new else tr("Paths of {flow}", flow=draft.flow))
        values = QWidget(self)
        form = QFormLayout(values)
        form.setContentsMargins(0, 0, 0, 0)
        self.kind = self._combo("flow_kind", tr("Kind"), form)
        self.controller = self._combo("flow_controller", tr("Controller"), form)
        self.scheduler = self._combo("flow_scheduler", tr("Scheduler"), form)
        self.count = named(QSpinBox(self), "flow_count", tr("Count"))
        self.count.setRange(1, MAX_COPIES)
        form.addRow(tr("Count"), self.count)
        self.flow_size = named(QLineEdit(self, placeholderText=tr("unlimited, or e.g. 50MB")), "flow_size", tr("Size"))
        form.addRow(tr("Size"), self.flow_size)
        # For an existing flow, these values are edited in the inspector.
        values.setVisible(is_new)
        title = Label(tr("Paths, one subflow each") if not draft.has_one_path else tr("Path"), self)
        self._title = title
        self.paths = PathList(draft, self, is_dark=current_tokens().is_dark)
        self.list = named(QListView(self), "flow_paths", tr("Paths"))
        self.list.setModel(self.paths)
        self.list.setSpacing(2)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.list.setMinimumSize(min(max(self.list.sizeHintForColumn(0) + 40, 320), _MOST_WIDTH), 180)
        self.pick = named(QPushButton(tr("Build a path by clicking links"), self), "flow_pick")
        self.pick.setCheckable(True)
        self.pick.setAutoDefault(False)
        self.told = named(Label(self, wordWrap=True), "flow_told")
        self.told.setMinimumHeight(2 * self.fontMetrics().height() + 4)
        buttons, self.accept_button = accept_buttons(self, tr("Add flow") if is_new else tr("Set paths"))
        self.accept_button.setObjectName("flow_accept")
        v_box(self, values, title, (self.list, 1), self.pick, self.told, buttons)
        self._show_draft()
        for combo in (self.kind, self.controller, self.scheduler):
            combo.activated.connect(self._take_values)
        self.count.valueChanged.connect(self._take_values)
        self.flow_size.textEdited.connect(self._take_size)
        self.paths.chosen_changed.connect(self._on_paths_changed)
        self.pick.toggled.connect(self._on_pick_toggled)

    def pick_link(self, link: str) -> None:
        """Extend the path by a link clicked on the canvas, or show why this is not possible."""
        why = self.draft.pick(link)
        if why:
            self._tell(tr("{why}.", why=why[0].upper() + why[1:]), is_problem=True)
            return
        if self.draft.picked is None:
            self.paths.refresh()
            self.pick.setChecked(False)
        self._show_told()
        self.draft_changed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """On Escape, discard the path being picked; if no path is being picked, close the dialog."""
        if event.key() == Qt.Key.Key_Escape and self.pick.isChecked():
            self.pick.setChecked(False)
            return
        super().keyPressEvent(event)

    # --- internals --------------------------------------------------------------------------------------------------

    def _combo(self, name: str, text: str, form: QFormLayout) -> Choice:
        combo = Choice(name, parent=self, text=text)
        form.addRow(text, combo)
        return combo

    def _take_values(self) -> None:
        self.draft.set_kind(KINDS[self.kind.currentIndex()])
        if self.controller.currentText() in self.draft.controllers:
            self.draft.controller = self.controller.currentText()
        if self.scheduler.currentText() in self.draft.schedulers:
            self.draft.scheduler = self.scheduler.currentText()
        self.draft.count = self.count.value()
        self._show_draft()
        self.draft_changed.emit()

    def _take_size(self, text: str) -> None:
        self.draft.size = text
        self._show_told()

    def _show_draft(self) -> None:
        draft = self.draft
        for combo, choices, current in (
            (self.kind, KINDS, draft.kind),
            (self.controller, draft.controllers, draft.controller),
            (self.scheduler, draft.schedulers, draft.scheduler),
        ):
            combo.clear()
            combo.addItems(list(choices))
            combo.setCurrentText(current)
            combo.setEnabled(bool(choices))
        self._title.setText(tr("Path") if draft.has_one_path else tr("Paths, one subflow each"))
        self.paths.refresh()
        self._show_told()

    def _on_paths_changed(self) -> None:
        self._show_told()
        self.draft_changed.emit()

    def _on_pick_toggled(self, is_on: bool) -> None:
        if is_on:
            self.draft.start_picking()
        else:
            self.draft.stop_picking()
        self._show_told()
        self.picking_changed.emit(is_on)
        self.draft_changed.emit()

    def _show_told(self) -> None:
        draft = self.draft
        self.accept_button.setEnabled(not draft.problem)
        if draft.picked is not None:
            so_far = " → ".join((draft.source, *draft.picked))
            self._tell(tr("{path} …  Click the next link at {node}.", path=so_far, node=draft.stands_at))
        elif draft.problem:
            self._tell(tr("{why}.", why=draft.problem[0].upper() + draft.problem[1:]), is_problem=True)
        else:
            self._tell("")

    def _tell(self, text: str, *, is_problem: bool = False) -> None:
        self.told.setText(text)
        role = QPalette.ColorRole.BrightText if is_problem else QPalette.ColorRole.WindowText
        self.told.setForegroundRole(role)


class FlowDrawing(QObject):
    """Opens one dialog at a time and applies its result.

    Args:
        view: the topology panel.
        undo_stack: undo stack that receives the edits.
        parent: Qt parent.
    """

    failed = Signal(str)  # the reason why the dialog's edit was refused
    picking_ended = Signal()  # the left button is available to other tools

    def __init__(self, view: TopologyView, undo_stack: QUndoStack, parent: QObject) -> None:
        super().__init__(parent)
        self._view = view
        self._undo_stack = undo_stack
        self.dialog: FlowDialog | None = None  # the open dialog, if any
        self._unsubscribe: Callable[[], None] | None = None

    def ask_new(self, source: str, destination: str) -> None:
        """Open the dialog for a new flow.

        Raises:
            InputError: if a flow between these nodes is impossible.
        """
        check_flow_ends(self._view.doc.data, source, destination)
        self._open(source, destination, "")

    def ask_paths(self, flow: str) -> None:
        """Open the dialog with the paths of a flow; report a flow that is not drawn because it has problems."""
        scenario = self._view.doc.sketch
        if scenario is not None and flow in scenario.flows:
            self._open(scenario.flows[flow].source, scenario.flows[flow].destination, flow)
        else:
            self.failed.emit(tr("The paths of {flow} cannot be drawn: first correct its problems.", flow=flow))

    def close(self) -> None:
        """Discard the open dialog, if any."""
        if self.dialog is not None:
            self.dialog.reject()

    # --- internals --------------------------------------------------------------------------------------------------

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
        # The edit below must not be mistaken for a change by the user, which would close the dialog.
        self._stop_watching()
        try:
            if draft.flow:
                keys = documents.edit_parts(
                    self._undo_stack,
                    self._view.doc,
                    tr("Set paths of {flow}", flow=draft.flow),
                    lambda text: set_paths(text, draft.flow, draft.wanted),
                )
            else:
                keys = documents.edit_parts(
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
        # The network may have changed, so the paths in the dialog may be outdated.
        if change.kind != "layout":
            self.close()

    def _set_picking(self, is_on: bool) -> None:
        if is_on:
            self._view.canvas.set_tool(PickTool("paths", self._on_picked))
            self._view.canvas.setFocus()
        else:
            self._view.canvas.set_tool(None)
            self.picking_ended.emit()

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
