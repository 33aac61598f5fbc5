"""Dialog that imports a file with a measurement, after users have checked or changed the meaning of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QFormLayout,
    QLineEdit,
    QProgressBar,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from subflow_app.features.editor.qt.scenario_fields import TimeBox
from subflow_app.features.measured.core.measured_run import (
    MeasuredRun,
    doubts_of,
    found_text,
    keep_run,
    make_run,
    told,
)
from subflow_app.features.measured.core.measured_table import (
    BY_NAME,
    CLOCKS,
    UNNAMED_FLOW,
    Clock,
    MeasuredTable,
    RawColumn,
    ReadingOptions,
    units_of,
)
from subflow_app.features.measured.core.reading import Reading
from subflow_app.features.measured.core.text_lines import TIME_UNITS
from subflow_app.foundation.errors import AppError
from subflow_app.toolkit.widgets.shorthand import Choice, Label, accept_buttons, h_box, named, timer, v_box
from subflow_app.toolkit.widgets.tables import Index, TableModel, set_up_table
from subflow_app.toolkit.workers import Workers
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.tables import Column
from subflow_store import Store

_UNIT, _TARGET = 1, 2
_LEFT_OUT = "-"
_MOST_SHOWN = 4
_POLL_MS = 200
_CLOCK_TEXTS: dict[Clock, str] = {
    "refuse": translatable("Refuse times that go back"),
    "sort": translatable("Put the samples in order"),
    "drop": translatable("Drop times that go back"),
    "join": translatable("Shift the following samples"),
}


class ColumnModel(TableModel[RawColumn]):
    """A row per column of the file, with editable unit and meaning."""

    edited = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(
            (
                Column(translatable("Column"), lambda column: column.title),
                Column(translatable("Unit"), self.unit_of),
                Column(translatable("Becomes"), self.target_of, _target_text),
                Column(translatable("Samples"), lambda column: len(column.values)),
                Column(translatable("First values"), _first_values),
            ),
            parent,
        )
        self.maps: dict[str, str] = {}
        self.units: dict[str, str] = {}

    def show_columns(self, columns: Sequence[RawColumn]) -> None:
        """Shows these columns; keeps edits of columns with the same title."""
        titles = {column.title for column in columns}
        self.maps = {title: text for title, text in self.maps.items() if title in titles}
        self.units = {title: text for title, text in self.units.items() if title in titles}
        self.show_rows(columns)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Makes unit and meaning editable."""
        usual = super().flags(index)
        return usual | Qt.ItemFlag.ItemIsEditable if index.column() in (_UNIT, _TARGET) else usual

    def other_data(self, row: RawColumn, column: int, role: int) -> object | None:
        """Initial text of the editor; None for other roles."""
        if role != Qt.ItemDataRole.EditRole:
            return None
        return self.target_of(row) if column == _TARGET else self.columns[column].text(row)

    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Stores an edited unit or meaning; False for other columns."""
        if role != Qt.ItemDataRole.EditRole or index.column() not in (_UNIT, _TARGET):
            return False
        column = self.rows[index.row()]
        text = str(value).strip()
        if index.column() == _UNIT:
            self.units[column.title] = text
        else:
            self.maps[column.title] = text or _LEFT_OUT
        self.dataChanged.emit(self.index(index.row(), 0), self.index(index.row(), len(self.columns) - 1))
        self.edited.emit()
        return True

    def unit_of(self, column: RawColumn) -> str:
        """The edited unit, else the unit in the file, else the unit of the trace that the column means."""
        known = self.units.get(column.title, column.unit)
        name = self.target_of(column).partition(":")[0]
        return known or (BY_NAME[name].unit if name in BY_NAME else "")

    def target_of(self, column: RawColumn) -> str:
        """The edited meaning, else the guessed meaning, else `_LEFT_OUT`."""
        return self.maps.get(column.title, column.target.text if column.target is not None else _LEFT_OUT)


def _target_text(text: str) -> str:
    return tr("left out") if text == _LEFT_OUT else text


def _first_values(column: RawColumn) -> str:
    known = column.values[np.isfinite(column.values)][:_MOST_SHOWN]
    return ", ".join(f"{value:.6g}" for value in known)


class _Choices(QStyledItemDelegate):
    """Editor for units and meanings, with a list of common choices."""

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        """Creates an editable list of the usual choices."""
        del option
        model = index.model()
        assert isinstance(model, ColumnModel)
        combo = QComboBox(parent, editable=True)
        column = model.rows[index.row()]
        name, _, owner = model.target_of(column).partition(":")
        if index.column() == _UNIT:
            combo.addItems([unit for unit in units_of(BY_NAME[name].unit) if unit] if name in BY_NAME else [])
        else:
            combo.addItem(_LEFT_OUT)
            combo.addItems([f"{each}:{owner or 'measured/1'}" for each in BY_NAME])
        return combo

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        """Sets the editor to the text of the cell."""
        assert isinstance(editor, QComboBox)
        editor.setCurrentText(str(index.data(Qt.ItemDataRole.EditRole)))

    def setModelData(self, editor: QWidget, model: object, index: Index) -> None:
        """Stores the text of the editor."""
        assert isinstance(editor, QComboBox)
        assert isinstance(model, ColumnModel)
        model.setData(index, editor.currentText())


class ImportDialog(QDialog):
    """Shows a preview of a file and imports it."""

    imported = Signal(int, str, object)  # number of the run, name of its first flow, notices

    def __init__(self, path: Path, store: Store, workers: Workers, parent: QWidget | None = None) -> None:
        """Starts reading the file."""
        super().__init__(parent)
        self.setObjectName("import_trace")
        self.setWindowTitle(tr("Import {file}", file=path.name))
        self.resize(820, 560)
        self._path = path
        self._store = store
        self._workers = workers
        self._table: MeasuredTable | None = None
        self._asked = 0
        self.name = named(QLineEdit(path.stem, self), "import_name")
        self.flow = named(QLineEdit(UNNAMED_FLOW, self), "import_flow")
        self.flow.setToolTip(tr("Flows of the same name as in the scenario are laid over its curves"))
        units = [("", tr("apparently")), *((unit, unit) for unit in TIME_UNITS)]
        self.unit = Choice("import_time_unit", units, self)
        self.clock = Choice("import_clock", ((clock, tr(_CLOCK_TEXTS[clock])) for clock in CLOCKS), self)
        self.interval = named(TimeBox(self), "import_interval")
        self.interval.setRange(0.0, 3600.0)
        self.interval.setSpecialValueText(tr("as they come"))
        left, right = QFormLayout(), QFormLayout()
        left.addRow(tr("&Name of the run:"), self.name)
        left.addRow(tr("&Flow:"), self.flow)
        right.addRow(tr("&Unit of the times:"), self.unit)
        right.addRow(tr("&Clock:"), self.clock)
        right.addRow(tr("&Interval of the samples:"), self.interval)
        self.addresses = named(QCheckBox(tr("&Keep the addresses of hosts"), self), "import_addresses")
        left.addRow("", self.addresses)
        self.found = named(Label(self, wordWrap=True), "import_found")
        self.progress = named(QProgressBar(self), "import_progress")
        self.progress.setAccessibleName(tr("Progress of reading"))
        self.progress.setRange(0, 100)
        self.progress.hide()
        self.model = ColumnModel(self)
        self.table = QTableView(self)
        set_up_table(self.table, "import_columns", tr("Columns of the file and what they become"), self.model)
        self.table.setEditTriggers(
            QTableView.EditTrigger.DoubleClicked
            | QTableView.EditTrigger.EditKeyPressed
            | QTableView.EditTrigger.SelectedClicked
        )
        self.table.setItemDelegate(_Choices(self.table))
        self.told = named(Label(self, wordWrap=True), "import_told")
        self.buttons, self.import_button = accept_buttons(self, tr("&Import"), self._import)
        self.import_button.setObjectName("import_button")
        how = Label(tr("Double-click a unit or a meaning to change it."), self)
        top = h_box(None, (left, 1), (right, 1))
        v_box(self, self.found, top, how, (self.table, 1), self.progress, self.told, self.buttons)
        self.flow.editingFinished.connect(self._read)
        self.unit.activated.connect(lambda _: self._read())
        self.clock.activated.connect(lambda _: self._read())
        self.interval.editingFinished.connect(self._read)
        self.addresses.toggled.connect(lambda _: self._read())
        self.model.edited.connect(self._check)
        self._options = ReadingOptions()
        self._reading: Reading | None = None
        self._poll = timer(self, self._show_progress, _POLL_MS)
        self.finished.connect(lambda _: self._stop())
        self._read()

    def _read(self) -> None:
        """Reads the file with the options of the dialog."""
        options = ReadingOptions(
            time_unit=self.unit.currentData(),
            clock=self.clock.currentData(),
            interval_s=self.interval.value() or None,
            flow=self.flow.text().strip() or UNNAMED_FLOW,
            is_addressed=self.addresses.isChecked(),
        )
        if options == self._options and self._table is not None:
            return
        self._options = options
        self._asked += 1
        asked = self._asked
        self._stop()
        self._reading = reading = Reading(self._path, options)
        self.told.setText(tr("Reading…"))
        self.import_button.setEnabled(False)
        self._poll.start()

        def on_read(table: MeasuredTable | None) -> None:
            if asked == self._asked and table is not None:
                self._stop()
                self._table = table
                self.model.show_columns(table.columns)
                self.table.resizeColumnsToContents()
                self._check()

        def on_failed(error: Exception) -> None:
            if asked == self._asked:
                self._stop()
                self._table = None
                self.found.clear()
                self.model.show_columns(())
                self._say(error)

        self._workers.start("read trace", reading.run, succeeded=on_read, failed=on_failed, cancel=reading.stop)

    def _show_progress(self) -> None:
        """Shows how much of the file is read, if reading takes longer than an instant."""
        if self._reading is not None:
            self.progress.setValue(round(100 * self._reading.progress.fraction))
            self.progress.show()

    def _stop(self) -> None:
        """Ends the reading; its result is dropped."""
        if self._reading is not None:
            self._reading.stop()
        self._reading = None
        self._poll.stop()
        self.progress.hide()

    def _check(self) -> None:
        """Shows the notices of the reader, or an error; enables the import if a column has a meaning."""
        table = self._told()
        if table is None:
            return
        self.found.setText(found_text(table))
        has_meaning = any(column.target is not None for column in table.columns)
        doubts = doubts_of(table)
        self.import_button.setEnabled(has_meaning and not doubts)
        said = list(table.notices) if has_meaning else [tr("Choose a meaning for at least one column.")]
        self.told.setText("\n".join([*doubts, *said][:6]))

    def _told(self) -> MeasuredTable | None:
        if self._table is None:
            return None
        try:
            return told(self._table, self.model.maps, self.model.units)
        except AppError as error:
            self._say(error)
            return None

    def _import(self) -> None:
        table = self._told()
        if table is None:
            return
        name, interval_s, path, store = self.name.text().strip(), self._options.interval_s, self._path, self._store
        self.import_button.setEnabled(False)
        self.told.setText(tr("Importing…"))

        def work() -> tuple[int, MeasuredRun]:
            run = make_run(table, name=name or path.stem, path=path, interval_s=interval_s)
            return keep_run(run, store), run

        def on_kept(kept: tuple[int, MeasuredRun]) -> None:
            number, run = kept
            self.imported.emit(number, self._options.flow, run.notices)
            self.accept()

        self._workers.start("import trace", work, succeeded=on_kept, failed=self._say)

    def _say(self, error: Exception) -> None:
        self.import_button.setEnabled(self._table is not None)
        self.told.setText(str(error))
