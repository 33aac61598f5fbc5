"""Chooses among some hundred names: a list with ticks, and a line that narrows it down."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QAbstractItemView, QDialog, QDialogButtonBox, QLineEdit, QListView, QWidget

from subflow_app.toolkit.widgets.shorthand import named, v_box
from subflow_app.toolkit.widgets.tables import sorting
from subflow_app.vocabulary.language import tr


class KeyDialog(QDialog):
    """The names, those that are chosen ticked."""

    def __init__(self, title: str, keys: Sequence[str], chosen: Collection[str], parent: QWidget | None) -> None:
        """Lists ``keys``."""
        super().__init__(parent)
        self.setObjectName("key_dialog")
        self.setWindowTitle(title)
        self.resize(460, 520)
        self._model = QStandardItemModel(self)
        for key in keys:
            item = QStandardItem(key)
            item.setCheckable(True)
            item.setEditable(False)
            item.setCheckState(Qt.CheckState.Checked if key in chosen else Qt.CheckState.Unchecked)
            self._model.appendRow(item)
        narrowed = sorting(self._model, self)
        self.line = named(QLineEdit(self, clearButtonEnabled=True), "key_filter", tr("Part of the name"))
        self.line.setPlaceholderText(tr("Part of the name, e.g. loss"))
        self.line.textChanged.connect(narrowed.setFilterFixedString)
        view = named(QListView(self), "key_list", title)
        view.setModel(narrowed)
        view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        view.setUniformItemSizes(True)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        v_box(self, self.line, view, buttons)

    @property
    def answer(self) -> list[str]:
        """The ticked names."""
        items = (self._model.item(number) for number in range(self._model.rowCount()))
        return [item.text() for item in items if item.checkState() == Qt.CheckState.Checked]
