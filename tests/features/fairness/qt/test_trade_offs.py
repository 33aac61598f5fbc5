"""The page of trade-offs: points, their front, files, and the selection in the history."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from tests.features.fairness.core.test_trade_offs import RunOf
from tests.helpers.desk import MakeDesk, export_figure
from tests.helpers.present import present
from tests.helpers.window import ScriptedDialogs

from subflow_app.features.fairness.core.trade_offs import Point, TradeOffKind, trade_off_points
from subflow_app.features.fairness.qt.feature import FairnessFeature
from subflow_app.features.fairness.qt.panel import TradeOffPage
from subflow_app.features.playhead.qt.feature import PlayheadFeature


def points(kind: TradeOffKind = TradeOffKind.DELAY) -> list[Point]:
    """Two seeds of "fast", one "quick" with less delay, and one dominated by both."""
    return trade_off_points(
        [
            RunOf("fast", 4.0, 3.0, 0.3, condition="fast"),
            RunOf("fast", 4.2, 3.1, 0.31, condition="fast"),
            RunOf("quick", 2.0, 2.0, 0.1),
            RunOf("neither", 1.8, 1.8, 0.4),
        ],
        kind,
    )


@pytest.fixture
def page(qtbot: QtBot) -> TradeOffPage:
    made = TradeOffPage(QAction("Export"))
    qtbot.addWidget(made)
    made.resize(900, 400)
    made.show()
    return made


def rows(page: TradeOffPage) -> list[list[str]]:
    model = page.model
    return [[model.index(row, column).data() for column in range(5)] for row in range(model.rowCount())]


def test_points_stand_in_the_table_and_the_best_are_named(page: TradeOffPage) -> None:
    assert page.empty.isVisible()
    page.show_points(points(), TradeOffKind.DELAY)
    told = rows(page)
    assert [row[0] for row in told] == ["fast", "quick", "neither"]
    assert [row[4] for row in told] == ["on it", "on it", "dominated"]
    assert told[1][1:4] == ["1", "6 Mbit/s", "100 ms"]
    # 10 and 10.4 Mbit/s: 10.2 +- 12.706 x 0.283 / sqrt(2) = 2.5
    assert told[0][2] == "10.2 ± 2.5 Mbit/s"
    assert "fast, quick" in page.words.text()
    assert page.model.headerData(3, Qt.Orientation.Horizontal) == "RTT per flow (ms)"
    # Points can be chosen with mouse and keys.
    chosen: list[str] = []
    page.point_chosen.connect(lambda point: chosen.append(point.title))
    place = page.plot.position_of(page.plot.hits()[1])
    QTest.mouseClick(page.plot.viewport(), Qt.MouseButton.LeftButton, pos=place.toPoint())
    QTest.keyClick(page.table, Qt.Key.Key_Down)
    QTest.mouseClick(page.plot.viewport(), Qt.MouseButton.LeftButton, pos=QPointF(2, 2).toPoint())
    assert chosen == ["quick", "neither"]
    page.show_points([], TradeOffKind.DELAY)
    assert page.empty.isVisible()


def test_points_lie_in_the_picture_and_better_is_a_corner(page: TradeOffPage) -> None:
    plot = page.plot
    places: list[QPointF] = []
    for kind in (TradeOffKind.FRIENDLINESS, TradeOffKind.DELAY):
        page.show_points(points(kind), kind)
        places = [plot.position_of(hit) for hit in plot.hits()]
        area = plot.mapFromScene(plot.view.sceneBoundingRect()).boundingRect()
        assert all(area.contains(place.toPoint()) for place in places)
        assert plot.number_at(places[1]) == 1
        assert plot.number_at(QPointF(area.topLeft())) is None
        assert plot.words(plot.hits()[1]).startswith("quick\n")
    assert len(present(plot.panel).front) == 3  # two points, and the corner of the step between them
    # Less delay lies further to the right.
    assert places[1].x() > places[0].x()
    assert places[1].y() > places[0].y()
    assert plot.has_better_corner


def test_points_select_runs_in_history(
    make_desk: MakeDesk, dialogs: ScriptedDialogs, qtbot: QtBot, tmp_path: Path
) -> None:
    desk = make_desk(FairnessFeature, PlayheadFeature)
    run = desk.run_once()
    assert not desk.bar["study.export_trade_offs"].isEnabled()
    desk.bar.trigger("study.trade_offs")
    feature = desk.features[FairnessFeature]
    page = feature.content.trade_offs

    def settle() -> None:
        qtbot.waitUntil(lambda: not feature.reader.is_busy and not desk.workers.is_busy)

    settle()
    (point,) = page.points
    assert point.title == "Two paths"
    desk.history.select([])
    page.table.selectRow(0)
    assert [row.id for row in desk.history.selected()] == [run]
    export_figure(desk, "study.export_trade_offs", tmp_path / "figure.svg", lambda each: each.data.setChecked(True))
    assert (tmp_path / "figure.csv").read_text().startswith("title,runs,is_best")
    page.kinds.setCurrentIndex(page.kinds.findData(TradeOffKind.FRIENDLINESS))
    page.kinds.activated.emit(page.kinds.currentIndex())  # as if a person had chosen
    settle()
    assert page.points == ()
    assert not desk.bar["study.export_trade_offs"].isEnabled()
