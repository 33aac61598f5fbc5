"""The gallery's panel: papers and experiments on the left, with progress and buttons, and one of them large."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QPoint, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractItemView,
    QStackedLayout,
    QTreeView,
    QWidget,
)

from subflow_app.features.gallery.core.exhibits import Exhibit
from subflow_app.features.gallery.core.reproduction import QueuedState, left_s
from subflow_app.features.gallery.qt.cards import EXHIBIT_ROLE, CardDelegate, ExperimentModel
from subflow_app.features.gallery.qt.experiment_page import ExperimentPage
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.theme import set_style
from subflow_app.toolkit.widgets.empty_state import EmptyState
from subflow_app.toolkit.widgets.list_beside import ListBeside
from subflow_app.toolkit.widgets.shorthand import named, v_box
from subflow_app.vocabulary.language import tr

_LIST_WIDTHS = (460, 0.38, 220)


# Beside the list: a wide one would keep every column that the panel was ever put into as wide as both.
_NARROW = 180


class GalleryPanel(QWidget):
    """Shows experiments; what it is asked goes out as actions and signals."""

    selection_changed = Signal()
    menu_requested = Signal(QPoint)  # where, on the screen

    def __init__(
        self, actions: Sequence[QAction], page_actions: Sequence[QAction], parent: QWidget | None = None
    ) -> None:
        """No experiments yet; actions become buttons above the list, and beside the title of the page."""
        super().__init__(parent)
        self.model = ExperimentModel(self)
        self.page = ExperimentPage(page_actions, self)
        self.tree = named(QTreeView(self, headerHidden=True), "gallery_list", tr("Experiments by paper"))
        self.tree.setModel(self.model)
        self.tree.setItemDelegate(CardDelegate(self))
        set_style(self.tree, lambda t: f"QTreeView {{ background: {t.base}; border: none; }}")
        self.tree.setIndentation(14)
        self.tree.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.tree.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.tree.setExpandsOnDoubleClick(False)
        self.tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.tree.customContextMenuRequested.connect(
            lambda at: self.menu_requested.emit(self.tree.viewport().mapToGlobal(at))
        )
        self.tree.activated.connect(lambda _index: self.page.figure.setFocus())
        self.tree.selectionModel().selectionChanged.connect(lambda _new, _old: self.selection_changed.emit())
        self._nothing = EmptyState(
            "gallery",
            tr("Reading the experiments…"),
            tr("The results of five papers, run here and compared with the printed ones."),
            text_width=_NARROW,
        )
        right = QWidget(self)
        self._stack = QStackedLayout(right)
        self._stack.addWidget(self._nothing)
        self._stack.addWidget(self.page)
        self._list = ListBeside("gallery", self.tree, right, actions, _LIST_WIDTHS)
        self._list.bar.setAccessibleName(tr("Progress of the experiments"))
        v_box(self, self._list, margins=0)
        self.setFocusProxy(self.tree)

    def show_exhibits(self, exhibits: Sequence[Exhibit]) -> None:
        """Shows these; the first one is chosen if none was."""
        chosen = self.current()
        self.model.show_exhibits(exhibits)
        self.tree.expandAll()
        if exhibits:
            ordered = self.model.exhibits()
            self.choose([chosen.name if chosen is not None else ordered[0].name])
        else:
            self._nothing.set_text(tr("No experiments"), tr("The folder of experiments has no recipes."))
            self._stack.setCurrentWidget(self._nothing)

    def choose(self, names: Sequence[str]) -> None:
        """Selects experiments; the first becomes the current one."""
        found = [index for index in map(self.model.index_of, names) if index.isValid()]
        chosen = QItemSelection()
        for index in found:
            chosen.select(index, index)
        selection = self.tree.selectionModel()
        if found:
            selection.setCurrentIndex(found[0], QItemSelectionModel.SelectionFlag.NoUpdate)
            self.tree.scrollTo(found[0])
        # In one go: whoever hears of it draws a page.
        selection.select(chosen, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def choose_paper(self, row: int) -> None:
        """Selects all experiments of a paper by its heading."""
        index = self.model.index(row, 0)
        self.tree.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def current(self) -> Exhibit | None:
        """The experiment whose row has the cursor, the first of a paper; None: there is none."""
        found = self.model.under(self.tree.currentIndex())
        return found[0] if found else None

    def in_sight(self) -> list[str]:
        """Names of the experiments whose cards can be seen, from the top."""
        found = []
        index, bottom = self.tree.indexAt(QPoint(0, 0)), self.tree.viewport().height()
        while index.isValid() and self.tree.visualRect(index).top() < bottom:
            exhibit = index.data(EXHIBIT_ROLE)
            if exhibit is not None:
                found.append(exhibit.name)
            index = self.tree.indexBelow(index)
        return found

    def selected(self) -> list[Exhibit]:
        """All that are selected, those of selected papers among them, once each."""
        rows = self.tree.selectionModel().selectedRows()
        found = {exhibit.name: exhibit for index in rows for exhibit in self.model.under(index)}
        return [exhibit for exhibit in self.model.exhibits() if exhibit.name in found]

    def show_page(self, exhibit: Exhibit, queued: QueuedState | None) -> None:
        """Shows one of them large."""
        self.page.show_exhibit(exhibit, queued)
        self._stack.setCurrentWidget(self.page)

    def show_queue(self, states: Mapping[str, QueuedState]) -> None:
        """Shows what waits and goes on, and how long it still takes."""
        self.model.show_queue(states)
        going = [state for state in states.values() if not state.is_over]
        exhibit = self.page.exhibit
        if exhibit is not None:
            self.page.show_queued(states.get(exhibit.name))
        if not going:
            self._list.show_progress(0.0, "")
            return
        total = len(states)
        ended = total - len(going)
        told = tr("{done} of {total} experiments", done=fmt.count(ended), total=fmt.count(total))
        eta_s = left_s(going)
        if math.isfinite(eta_s) and eta_s > 0:
            told = tr("{done}, {time} left", done=told, time=fmt.duration(eta_s))
        self._list.show_progress((ended + sum(state.fraction for state in going)) / total, told)
