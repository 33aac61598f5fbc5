"""Tables of very many rows read only the visible rows."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication, QTableView
from pytestqt.qtbot import QtBot

from subflow_app.toolkit.widgets.tables import FittedColumns, LazyRows, TableModel, set_up_table
from subflow_app.vocabulary.tables import Column


def test_rows_are_read_once_and_when_they_are_shown(qtbot: QtBot) -> None:
    read: list[int] = []

    def row(number: int) -> str:
        read.append(number)
        return f"row {number}"

    model: TableModel[str] = TableModel([Column("Name", str)])
    model.show_rows(LazyRows(1_000_000, row))
    assert (model.rowCount(), read) == (1_000_000, [])
    assert [model.index(999_999, 0).data(), model.index(999_999, 0).data()] == ["row 999999"] * 2
    assert read == [999_999]


def test_rows_that_come_leave_the_others_where_they_are(qtbot: QtBot) -> None:
    model: TableModel[str] = TableModel([Column("Name", str)])
    model.show_rows(["a"])
    with (
        qtbot.assertNotEmitted(model.modelReset),
        qtbot.waitSignal(model.rowsInserted, check_params_cb=lambda _parent, first, last: (first, last) == (1, 2)),
    ):
        model.add_rows(["a", "b", "c"])
    assert [model.index(row, 0).data() for row in range(model.rowCount())] == ["a", "b", "c"]


def test_fitted_columns_share_the_width_of_a_narrow_table(qtbot: QtBot) -> None:
    table = QTableView()
    qtbot.addWidget(table)
    table.setFrameShape(QTableView.Shape.NoFrame)
    table.resize(600, 200)
    columns = [Column("A", str), Column("B", str), Column("C", str)]
    set_up_table(table, "fitted", "Fitted", TableModel(columns))
    header = table.horizontalHeader()
    for column, size in enumerate((60, 200, 150)):
        header.resizeSection(column, size)
    FittedColumns(table)
    table.show()

    def sizes() -> list[int]:
        QApplication.processEvents()
        return [header.sectionSize(column) for column in range(3)]

    assert sizes() == [60, 200, 340]  # the last column takes the rest
    table.resize(300, 200)
    assert sizes() == [60, 120, 120]
    assert table.horizontalScrollBar().maximum() == 0
    table.resize(600, 200)
    assert sizes() == [60, 200, 340]
