"""Views of sweeps with figures set by hand: their content, reading and filtering."""

from __future__ import annotations

from collections.abc import Iterator

import pyqtgraph as pg
import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from tests.helpers.present import present
from tests.helpers.studies import CONTROLLER, LOSS, RATE, large_study, small_study
from tests.helpers.window import at_rest

from subflow_app.features.paper.core.figure_plan import FigurePlan
from subflow_app.features.paper.core.figure_process import pack, unpack
from subflow_app.features.paper.core.figure_worker import KINDS
from subflow_app.features.paper.core.figures import render_figure
from subflow_app.features.sweeps.qt.study_page import StudyPage
from subflow_app.toolkit.theme import DARK, LIGHT, set_current
from subflow_app.toolkit.workers import Workers


@pytest.fixture
def page(qtbot: QtBot) -> Iterator[StudyPage]:
    """The views of the small study on the screen."""
    owner = QObject()
    workers = Workers(owner)
    made = StudyPage(workers, ())
    made.patience_ms = 20_000
    qtbot.addWidget(made)
    made.resize(900, 560)
    made.show()
    made.show_study(small_study())
    yield made
    workers.finish_all()


def texts(page: StudyPage, view: str) -> list[str]:
    page.set_view(view)
    return [hit.text.replace("\n", " | ") for hit in page.chart(view).hits()]


def test_cells_tell_mean_interval_and_runs(page: StudyPage):
    page.set_view("heat")
    # Controllers vertically, losses horizontally. The last cell has no run.
    assert texts(page, "heat") == [
        f"{LOSS}: 1% | {CONTROLLER}: lia | Goodput: 5 ± 13 Mbit/s (95 % interval) | 2 runs",
        f"{LOSS}: 10% | {CONTROLLER}: lia | Goodput: 1.000 ± 0 Mbit/s (95 % interval) | 2 runs",
        f"{LOSS}: 1% | {CONTROLLER}: olia | Goodput: 8.000 ± 0 Mbit/s (95 % interval) | 2 runs",
        f"{LOSS}: 10% | {CONTROLLER}: olia | no run yet",
    ]
    chart = page.chart("heat")
    assert chart.titles() == (LOSS, CONTROLLER)
    assert chart.bar_title() == "Goodput (Mbit/s)"
    # Means closer than the width of their intervals get nearly the same colour, and a note explains it.
    assert chart.levels() == pytest.approx((4.5 - 12.706 / 3, 4.5 + 12.706 / 3), abs=0.001)
    assert "The colours span 8.471 Mbit/s" in page.note.text()
    assert [number.toPlainText() for number in chart.numbers()] == ["5 ± 13", "1.000 ± 0", "8.000 ± 0"]


def test_no_interval_of_a_goodput_is_drawn_below_zero(page: StudyPage):
    """The interval of 5 +- 13 Mbit/s, as a band around a line and as a cross of the scatter plot."""
    page.set_view("lines")
    edges = [
        curve.getData()[1]
        for item in page.chart("lines").item.items
        if isinstance(item, pg.FillBetweenItem)
        for curve in item.curves
    ]
    assert edges
    assert min(float(edge.min()) for edge in edges) == 0.0
    page.set_view("scatter")
    bars = [item.opts for item in page.chart("scatter").item.items if isinstance(item, pg.ErrorBarItem)]
    assert bars
    assert min(float((opts["y"] - opts["bottom"]).min()) for opts in bars) >= 0.0
    assert min(float((opts["x"] - opts["left"]).min()) for opts in bars) >= 0.0
    assert max(float((opts["y"] + opts["top"]).max()) for opts in bars) > 17.0


def test_names_along_an_axis_do_not_overlap(page: StudyPage, qtbot: QtBot):
    page.show_study(large_study(2))
    page.set_view("heat")
    page.choose(x=CONTROLLER, y=LOSS)
    chart = page.chart("heat")
    axis = chart.item.getAxis("bottom")
    assert axis.shown_names() == ["lia", "olia", "balia", "mpcc-loss"]
    # Names are shortened; of numbers only every second or third is shown.
    page.resize(380, 420)
    qtbot.waitUntil(lambda: "…" in axis.shown_names()[-1])
    assert len(axis.shown_names()) == 4
    page.resize(240, 420)
    page.choose(x=LOSS, y=CONTROLLER)
    qtbot.waitUntil(at_rest(axis.shown_names))
    told = axis.shown_names()
    assert 0 < len(told) < 5
    assert all("…" not in text for text in told)


def test_clicked_cell_gives_its_runs(page: StudyPage, qtbot: QtBot):
    page.set_view("heat")
    chart = page.chart("heat")
    cell = chart.hits()[2]
    with qtbot.waitSignal(page.selection_changed):
        QTest.mouseClick(chart.viewport(), Qt.MouseButton.LeftButton, pos=chart.position_of(cell).toPoint())
    assert page.run_ids() == [21, 22]
    assert "olia" in page.words.text()
    # The keys move from there, and Enter opens the run.
    QTest.keyClick(chart, Qt.Key.Key_Left)
    assert page.run_ids() == [11, 12]
    with qtbot.waitSignal(page.opened):
        QTest.keyClick(chart, Qt.Key.Key_Return)


def test_better_corner_is_at_the_top_right(page: StudyPage):
    marks = texts(page, "scatter")
    chart = page.chart("scatter")
    assert marks[0] == (f"{CONTROLLER}: lia | loss 1% | Goodput: 5 ± 13 Mbit/s | RTT per flow: 50.0 ± 0 ms | 2 runs")
    assert chart.titles() == ("RTT per flow (ms)", "Goodput (Mbit/s)")
    assert chart.has_better_corner
    fast, slow = chart.hits()[0], chart.hits()[1]
    # 50 ms at 5 Mbit/s is better than 80 ms at 1 Mbit/s: further right and higher up.
    assert chart.position_of(fast).x() > chart.position_of(slow).x()
    assert chart.position_of(fast).y() < chart.position_of(slow).y()
    # Each controller has its own symbol.
    assert [(entry.text, entry.symbol) for entry in chart.strip.entries] == [("lia", "o"), ("olia", "s")]
    # Packets have no better direction.
    page.choose(other="goodput_bps")
    assert chart.titles()[0] == "Goodput (Mbit/s)"


def test_lines_have_units_and_say_what_is_averaged(page: StudyPage):
    page.show_study(large_study(2))
    page.set_view("lines")
    assert page.chart("lines").titles() == ("links.wifi.loss (%)", "Goodput (Mbit/s)")
    assert RATE in page.note.text()
    held = page.choosers.combo(RATE)
    held.setCurrentIndex(held.findText("8Mbit/s"))
    held.activated.emit(held.currentIndex())
    assert page.note.text() == ""
    assert len(page.chart("lines").hits()) == 4 * 5
    assert "95 % interval" in page.chart("lines").hits()[0].text


def test_table_shows_a_figure_in_a_narrow_panel(page: StudyPage):
    page.set_view("table")
    page.resize(310, 400)
    table = page.table
    titles = [str(table.model().headerData(column, Qt.Orientation.Horizontal)) for column in range(3)]
    assert titles == ["controller", "loss", "Goodput (Mbit/s)"]
    assert table.model().headerData(0, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole) == CONTROLLER
    assert table.columnViewportPosition(2) + table.columnWidth(2) <= table.viewport().width()
    # The copied text contains complete keys.
    assert table.text().splitlines()[0].startswith(f"{CONTROLLER}\t{LOSS}\t")


def test_table_is_sorted_by_its_columns(page: StudyPage):
    table = page.table
    table.sortByColumn(2, Qt.SortOrder.DescendingOrder)
    assert [row.point for row in table.study_model.rows] == [2, 0, 1, 3]
    table.selectRow(0)
    assert page.run_ids() == [21, 22]
    assert table.text().splitlines()[1].split("\t")[:3] == ["olia", "1%", "8.000 ± 0"]


@pytest.mark.parametrize("view", ["heat", "lines", "boxes", "scatter"])
def test_views_are_recoloured_and_drawn_for_files(page: StudyPage, view: str):
    page.set_view(view)
    light = page.grab().toImage()
    set_current(DARK)
    assert page.grab().toImage() != light
    set_current(LIGHT)
    plan = FigurePlan(panels=(page.chart(view).shown_panel(),), kind="svg", height_mm=105.0)
    drawing = render_figure(plan).decode()
    for text in page.chart(view).titles():
        assert f">{text}<" in drawing
    assert ">olia<" in drawing
    assert "Goodput (Mbit/s)" in drawing
    assert render_figure(unpack(pack(plan), KINDS)).decode() == drawing


def test_growing_sweep_keeps_what_was_zoomed_to(page: StudyPage):
    page.set_view("scatter")
    chart = page.chart("scatter")
    chart.view.setRange(xRange=(45, 60), yRange=(4, 9), padding=0)
    chart.view.sigRangeChangedManually.emit([True, True])
    page.show_study(small_study())
    assert chart.view.viewRange()[0] == pytest.approx([45, 60])
    assert chart.shown_panel().view == pytest.approx((45, 60, 4, 9))
    chart.fit()
    assert chart.shown_panel().view is None
    page.show_study(small_study())
    assert chart.view.viewRange()[0][1] > 70


def test_tabs_give_way_to_a_combo_box_where_there_is_no_room(page: StudyPage, qtbot: QtBot):
    assert page.tabs.isVisible()
    assert not page.views.isVisible()
    page.resize(300, 400)
    qtbot.waitUntil(lambda: not page.tabs.isVisible())
    page.views.setCurrentIndex(3)
    page.views.activated.emit(3)
    assert present(page.shown).choice.view == "boxes"
    page.resize(900, 400)
    qtbot.waitUntil(page.tabs.isVisible)
    assert page.tabs.currentIndex() == 3


def test_axis_has_room_for_its_numbers_and_counts_from_a_round_one(page: StudyPage):
    page.set_view("scatter")
    chart = page.chart("scatter")
    axis = chart.item.getAxis("left")
    usual = axis.maximumWidth()
    chart.view.setYRange(1234.5, 1236.5, padding=0)
    assert axis.maximumWidth() > usual
    assert axis.tickStrings([1235.0], 1.0, 0.5) == ["1235.0"]
    assert axis.labelText == "Goodput (Mbit/s)"
    chart.view.setYRange(9.65210, 9.65213, padding=0)
    assert axis.labelText == "Goodput (Mbit/s) − 9.6521"
    assert axis.tickStrings([9.65211], 1.0, 0.00001) == ["0.000010"]
    # The titles of the axes stay the same.
    assert chart.titles()[1] == "Goodput (Mbit/s)"
    chart.fit()
    assert axis.labelText == "Goodput (Mbit/s)"
