"""The fairness panel: shares beside the fair shares, for runs and scenarios, live and over a part of the run."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from tests.features.fairness.core.test_analysis import MadeTraces, shipped
from tests.helpers.desk import MakeDesk
from tests.helpers.members import for_each
from tests.helpers.present import present

from subflow_app.features.fairness.core.analysis import FairnessAnalysis, run_analysis, scenario_analysis
from subflow_app.features.fairness.core.analysis_view import WindowChoice, WindowOf, run_view, scenario_view
from subflow_app.features.fairness.qt import shares
from subflow_app.features.fairness.qt.feature import FairnessFeature
from subflow_app.features.fairness.qt.shares import BAR, GOODPUT, NAME, ShareModel, SharesPage
from subflow_app.features.playhead.qt.feature import PlayheadFeature
from subflow_app.foundation.errors import InputError
from subflow_app.toolkit.app_theme import Theme
from subflow_app.toolkit.workers import LatestReader, Workers

MBIT = 1e6


def greedy() -> MadeTraces:
    """T-10b where the mptcp connection takes 4.8 Mbit/s and each tcp connection gets half of that, for 50 s."""
    rates = {"mptcp": 4.8 * MBIT, "tcp1": 2.4 * MBIT, "tcp2": 2.4 * MBIT}
    return MadeTraces(shipped("t-10b", "warmup=10s"), {name: [rate] * 100 for name, rate in rates.items()})


def many() -> FairnessAnalysis:
    """Five mptcp and five tcp connections; the first of each kind has the largest share."""
    rates = {f"{kind}.{n}": [(0.5 + 1 / n) * MBIT] * 100 for kind in ("mptcp", "tcp") for n in range(1, 6)}
    return run_analysis(MadeTraces(shipped("drlcc-sc7"), rates))


@pytest.fixture
def page(qtbot: QtBot) -> SharesPage:
    made = SharesPage()
    qtbot.addWidget(made)
    made.resize(900, 500)
    made.show()
    return made


def cells(model: ShareModel, column: int, parent: QModelIndex | None = None) -> list[str]:
    parent = parent or QModelIndex()
    return [model.index(row, column, parent).data() for row in range(model.rowCount(parent))]


def test_a_run_is_shown_beside_its_ideal(page: SharesPage) -> None:
    page.show_view(run_view(greedy(), WindowOf()))
    assert cells(page.model, NAME) == ["mptcp", "tcp1", "tcp2"]
    assert cells(page.model, GOODPUT) == ["4.8 Mbit/s", "2.4 Mbit/s", "2.4 Mbit/s"]
    assert cells(page.model, shares.MAX_MIN) == ["3.22 Mbit/s"] * 3
    assert cells(page.model, BAR) == ["149 %", "74.6 %", "74.6 %"]
    assert cells(page.model, shares.POOLING) == ["1.99×", "–", "–"]
    bar = page.model.index(0, BAR).data(shares.BAR_ROLE)
    assert (bar.goodput_bps, bar.full_bps) == pytest.approx((4.8 * MBIT, 4.8 * MBIT))
    assert "10.0 s to 50.0 s, 3 connections. mptcp takes 149 % of its fair share" in page.words.text()
    # Jain: 9.6^2 / (3 (4.8^2 + 2 x 2.4^2)) = 0.889
    assert "0.889" in page.jain.text()
    tip = page.model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert "goodput while active 4.8 Mbit/s, max-min fair 3.22 Mbit/s" in tip
    # A click on a bottleneck chooses its link.
    chosen: list[str] = []
    page.link_chosen.connect(chosen.append)
    page.links.linkActivated.emit("top")
    assert chosen == ["top"]
    assert "<a href='top'" in page.links.text()
    assert cells(page.model, shares.LIMITED)[0] == "top/forward, bottom/forward"


def test_copies_stand_below_their_flow(page: SharesPage, qtbot: QtBot) -> None:
    model = ShareModel()
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    assert model.set_analysis(many())
    assert cells(model, NAME) == ["mptcp: mean of 5", "tcp: mean of 5"]
    assert cells(model, NAME, model.index(0, 0)) == [f"mptcp.{n}" for n in range(1, 6)]
    # (1 + 1/2 + 1/3 + 1/4 + 1/5) / 5 + 1/2 = 0.957
    assert cells(model, GOODPUT)[0] == "957 kbit/s"
    chosen = QPersistentModelIndex(model.index(4, 0, model.index(0, 0)))
    model.sort(GOODPUT, Qt.SortOrder.AscendingOrder)
    assert cells(model, NAME, model.index(0, 0))[0] == "mptcp.5"
    assert (chosen.row(), chosen.data()) == (0, "mptcp.5")
    model.sort(NAME, Qt.SortOrder.DescendingOrder)
    assert cells(model, NAME) == ["tcp: mean of 5", "mptcp: mean of 5"]
    model.sort(-1)
    # The same connections keep their rows when the numbers change.
    assert not model.set_analysis(many())
    assert model.set_analysis(scenario_analysis(shipped("t-10b")))
    assert cells(model, BAR) == ["–"] * 3


def test_a_scenario_shows_what_would_be_fair(page: SharesPage) -> None:
    page.set_runs([], has_scenario=True)
    page.show_view(scenario_view(shipped("t-10b")))
    assert cells(page.model, GOODPUT) == ["–"] * 3
    assert not page.jain.isVisible()
    assert not page.window_choice.isEnabled()
    assert "what would be fair" in page.words.text()
    assert not page.empty.isVisible()
    page.show_view(scenario_view(replace(shipped("t-10b"), flows={})))
    assert page.empty.isVisible()


@for_each(
    ("window", "found"),
    [
        (WindowOf(WindowChoice.COUNTED), (10.0, 50.0)),
        (WindowOf(WindowChoice.WHOLE), (0.0, 50.0)),
        (WindowOf(WindowChoice.LATEST), (45.0, 50.0)),
        (WindowOf(WindowChoice.AROUND, marked_s=20.0), (17.5, 22.5)),
        (WindowOf(WindowChoice.AROUND, marked_s=50.0), (47.5, 50.0)),
        (WindowOf(WindowChoice.CURSORS, cursors_s=(30.0, 25.0)), (25.0, 30.0)),
        (WindowOf(WindowChoice.AROUND), "no time is marked"),
        (WindowOf(WindowChoice.CURSORS), "no cursors"),
    ],
)
def test_parts_of_a_run(window: WindowOf, found: tuple[float, float] | str) -> None:
    if isinstance(found, str):
        with pytest.raises(InputError, match=found):
            run_view(greedy(), window)
        return
    analysis = run_view(greedy(), window).analysis
    assert (analysis.from_s, analysis.to_s) == found


def test_the_reader_computes_what_was_asked_for_last(qtbot: QtBot) -> None:
    owner = QObject()
    workers = Workers(owner)
    reader = LatestReader(workers, owner, "test", pause_ms=500)
    views: list[object] = []
    reader.read.connect(views.append)
    first, second = scenario_view(shipped("t-10a")), scenario_view(shipped("t-10b"))
    reader.ask(lambda _is_cancelled: first, is_other=True)
    reader.ask(lambda _is_cancelled: second, is_other=True)
    qtbot.waitUntil(lambda: not reader.is_busy and not workers.is_busy)
    assert views == [second]
    workers.finish_all()


def test_the_panel_follows_runs_scenario_and_cursors(make_desk: MakeDesk, qapp: QApplication, qtbot: QtBot) -> None:
    desk = make_desk(FairnessFeature, PlayheadFeature)
    feature = desk.features[FairnessFeature]
    desk.docks.set_open("fairness", True)
    page = present(feature.shown).shares

    def settle() -> None:
        qtbot.waitUntil(lambda: not feature.reader.is_busy and not desk.workers.is_busy)

    def choose(window: WindowChoice) -> None:
        page.window_choice.setCurrentIndex(page.window_choice.findData(window))
        page.choice_changed.emit()
        settle()

    settle()
    assert cells(page.model, GOODPUT) == ["–"]  # only the scenario
    desk.run_once()
    settle()
    assert cells(page.model, NAME) == ["download"]
    assert 1 * MBIT < page.model.index(0, BAR).data(shares.BAR_ROLE).goodput_bps < 12 * MBIT
    assert page.run_choice.count() == 2
    feature.mark_time(0.5)
    choose(WindowChoice.AROUND)
    assert page.words.text().startswith("0 s to 2.0 s")
    choose(WindowChoice.CURSORS)
    assert page.empty.isVisible()
    for name, time_s in (("A", 0.5), ("B", 1.5)):
        desk.plots.stack.cursors.set_time(name, time_s)
    settle()
    assert page.words.text().startswith("0.5 s to 1.5 s")
    assert not math.isnan(page.model.index(0, BAR).data(shares.BAR_ROLE).goodput_bps)
    page.link_chosen.emit("wifi")
    assert desk.topology.selected == "links.wifi"
    Theme(qapp, "dark")
    desk.docks.close_panel("fairness")
    desk.plots.show_runs([])
