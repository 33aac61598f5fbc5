"""The dialog of a flow: kind, algorithms, paths. It stands beside the canvas, on which paths are shown and clicked."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QPalette
from PySide6.QtWidgets import (
    QDialog,
    QFormLayout,
    QListView,
    QPushButton,
    QSpinBox,
    QWidget,
)

from subflow_app.features.editor.core.flow_draft import KINDS, FlowDraft
from subflow_app.features.editor.qt.topology.path_list import PathList
from subflow_app.toolkit.plain_text import Label
from subflow_app.toolkit.theme import current_tokens
from subflow_app.toolkit.widgets.choice import Choice
from subflow_app.toolkit.widgets.shorthand import accept_buttons, named, v_box
from subflow_app.vocabulary.language import tr
from subflow_sim.scenario_model import MAX_COPIES

_MOST_WIDTH = 560


class FlowDialog(QDialog):
    """Asks for a new flow, or for other paths of one that is there; it does not block the window.

    Args:
        draft: what it changes.
        parent: the window.
    """

    draft_changed = Signal()  # paths or what is being put together: the canvas shows it
    picking_changed = Signal(bool)  # links are to be clicked on the canvas, or not any more

    def __init__(self, draft: FlowDraft, parent: QWidget) -> None:
        super().__init__(parent)
        self.draft = draft  # what it changes
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
        # Of a flow that is there, the inspector has these.
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
        self.paths.chosen_changed.connect(self._on_paths_changed)
        self.pick.toggled.connect(self._on_pick_toggled)

    def pick_link(self, link: str) -> None:
        """Go on over a link that was clicked on the canvas, or say why not."""
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
        """Escape gives up the path that is being put together first."""
        if event.key() == Qt.Key.Key_Escape and self.pick.isChecked():
            self.pick.setChecked(False)
            return
        super().keyPressEvent(event)

    # --- inside -----------------------------------------------------------------------------------------------------

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
