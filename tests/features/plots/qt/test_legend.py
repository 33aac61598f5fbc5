"""The legend of the plots: current values, means that agree with all other places, values at a time, and its layout."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QFont
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QStyledItemDelegate, QStyleOptionViewItem, QToolButton, QTreeView
from pytestqt.qtbot import QtBot
from tests.helpers.fake_runs import finished_traces
from tests.helpers.present import child, present
from tests.helpers.scenario_texts import TWO_PATHS

from subflow_app.features.comparison.core.conditions import group_runs
from subflow_app.features.comparison.core.group_table import compare_groups, table_csv
from subflow_app.features.history.core.run_columns import column
from subflow_app.features.plots.core import PLOTS_BY_ID
from subflow_app.features.plots.core.spec import measured_mean
from subflow_app.features.plots.qt.curve_id import CurveId
from subflow_app.features.plots.qt.legend import Legend, LegendSplitter
from subflow_app.features.plots.qt.legend_model import BRIEF_ROLE, WORDS_ROLE, LegendValues, flow_words
from subflow_app.features.plots.qt.plot_view import PlotView
from subflow_app.features.running.core.runs import RunJob
from subflow_app.features.traces.core.summary_text import flow_table
from subflow_app.features.traces.core.traces import StoredTraces
from subflow_app.toolkit.widgets.results_strip import ResultsStrip
from subflow_sim import parse_scenario
from subflow_store import Store, open_store

NUMBERS = Path(__file__).parents[3] / "helpers" / "numbers.toml"

WIFI, LTE = (CurveId(0, f"download/{path}", "subflow") for path in (1, 2))
TOTAL = CurveId(0, "download", "flow")


def label(view: PlotView, name: str) -> str:
    found = child(child(view, Legend), QLabel, name)
    return found.text() if not found.isHidden() else ""


def text_of(view: PlotView, curve: CurveId, plot_id: str) -> str:
    """Text in the legend for a curve in the column of a plot."""
    column = [spec.id for spec in view.specs].index(plot_id) + 1
    return str(view.legend_model.index_of(curve).siblingAtColumn(column).data())


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with open_store(tmp_path / "runs.db") as opened:
        yield opened


def job(store: Store | None = None, *, controller: str = "lia", seed: int = 1, warmup: str = "3s") -> RunJob:
    text = TWO_PATHS.replace('"60s"', f'"12s"\nwarmup = "{warmup}"\nseed = {seed}', 1)
    text = text.replace("[flows.download]", f'[flows.download]\ncontroller = "{controller}"', 1)
    return RunJob(parse_scenario(text), text, store=store)


def done(store: Store | None = None, **changes: Any) -> RunJob:
    made = job(store, **changes)
    result = made.run()
    assert result.error is None
    return made


def held(until_s: float, **changes: Any) -> tuple[RunJob, threading.Thread]:
    """A run in its thread, on hold at a time."""
    made = job(**changes)
    made.run_to(until_s)
    thread = threading.Thread(target=made.run)
    thread.start()
    while not made.is_held or made.progress.sim_time_s < until_s:
        QApplication.processEvents()
    return made, thread


def option_of(tree: QTreeView, room: int) -> QStyleOptionViewItem:
    option = QStyleOptionViewItem()
    option.rect = QRect(0, 0, room, 20)
    option.fontMetrics = tree.fontMetrics()
    option.textElideMode = tree.textElideMode()
    return option


def test_legend_history_json_show_and_csv_agree_to_the_last_digit(view: PlotView, store: Store) -> None:
    made = done(store)
    stored = store.run(present(made.run_id))
    document = json.loads(json.dumps(stored.summary))
    flow = document["flows"][0]
    for runs in ([made.traces], [StoredTraces(store, stored.id)]):
        view.set_plot_shown("goodput", True)
        view.set_plot_shown("utilisation", True)
        view.show_runs(runs)

        assert label(view, "legend_run") == "Two paths"
        assert label(view, "legend_time") == "Curve mean over time, 3–12 s"
        rates = [each["throughput_bps"] for each in flow["subflows"]]
        for line, rate in zip((WIFI, LTE), rates, strict=True):
            assert text_of(view, line, "throughput") == f"{rate / 1e6:.3f}"
        total = sum(rates)
        assert text_of(view, TOTAL, "throughput") == f"{total / 1e6:.3f}"
        (share, *_) = (link["utilisation"] for link in document["links"] if link["direction"] == "forward")
        assert text_of(view, CurveId(0, "wifi/forward", "link"), "utilisation") == f"{share * 100:.2f}"
        goodput = column("goodput_bps").text(stored.goodput_bps)  # the cell of the history
        assert text_of(view, TOTAL, "goodput") == goodput == flow_table(document).rows[0][2]
        assert view.legend_model.index(0, 0).data() == f"download · goodput {goodput} Mbit/s"
        # The file of a comparison contains the number without a unit.
        written = table_csv(table := compare_groups(group_runs([stored]), figures=["goodput_bps"]), table.rows)
        assert f"{float(written.splitlines()[1].split(',')[2]) / 1e6:.3f}" == goodput


def test_means_are_those_of_the_curves_beside_them(view: PlotView, store: Store) -> None:
    """The summary has other measures: the mean RTT over packets, and mean windows between samples."""
    made = done(store)
    view.set_plot_shown("queue", True)
    view.set_plot_shown("inflight", True)
    view.show_runs([made.traces])
    queue = CurveId(0, "wifi/forward", "link")
    for plot_id, line in (("cwnd", WIFI), ("cwnd", LTE), ("rtt", WIFI), ("inflight", WIFI), ("queue", queue)):
        spec = PLOTS_BY_ID[plot_id]
        curve = next(each for each in spec.curves(made.traces) if each.owner == line.owner)
        counted = curve.values[(curve.time_s > 3.0) & np.isfinite(curve.values)].astype(np.float64)
        assert text_of(view, line, plot_id) == f"{counted.mean() * spec.scale:.1f}", plot_id
        assert measured_mean(curve, 3.0) == pytest.approx(float(counted.mean()))
    tip = view.legend_model.headerData(3, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
    assert "over packets" in str(tip)


def test_a_flow_with_a_size_tells_its_time_and_its_goodput_while_active(view: PlotView) -> None:
    """900 kB that start at 20 s and take 8.555 s, in a run of 40 s: 0.842 Mbit/s, and 0.220 over the run."""
    text = NUMBERS.read_text(encoding="utf-8")
    made = RunJob(parse_scenario(text), text)
    assert made.run().error is None
    view.show_runs([made.traces])
    groups = [view.legend_model.index(row, 0) for row in range(3)]
    words = [group.data(WORDS_ROLE) for group in groups]
    assert words == ["goodput 6.878 Mbit/s", "goodput 3.086 Mbit/s", "took 8.555 s at 0.842 Mbit/s"]
    assert groups[2].data(BRIEF_ROLE) == "8.555 s, 0.842 Mbit/s"
    tip = str(groups[2].data(Qt.ItemDataRole.ToolTipRole))
    assert "Completion time: 8.555 s" in tip
    assert "Goodput while active: 0.842 Mbit/s" in tip
    begun = flow_words({"name": "get", "size_bytes": 9e5, "completion_s": None, "active_goodput_bps": 2e6})
    impossible = flow_words({"name": "get", "size_bytes": None, "goodput_bps": -1e6})
    assert (begun.words, "impossible" in impossible.words) == ("incomplete, at 2.000 Mbit/s", True)


def test_the_values_are_present_ones_while_a_run_goes_on_and_then_means(view: PlotView) -> None:
    made, thread = held(6.0)
    view.show_runs([made.traces])
    assert label(view, "legend_time") == "Now, 6.0 s"
    newest = PLOTS_BY_ID["cwnd"].curves(made.traces)[0].values[-1]
    assert float(text_of(view, WIFI, "cwnd")) == pytest.approx(float(newest), rel=5e-3)

    made.unpause()
    thread.join()
    view.refresh()
    # A fixed time stays after the mouse has left.
    for set_time, time_s in ((view.stack.set_cursor, 4.0), (view.set_pin, 5.0)):
        assert label(view, "legend_time") == "Curve mean over time, 3–12 s"
        set_time(time_s)
        assert label(view, "legend_time") == f"At {time_s:.2f} s"
        set_time(None)
    assert label(view, "legend_time") == "Curve mean over time, 3–12 s"
    view.show_runs([made.traces, done(warmup="5s").traces])
    assert label(view, "legend_time") == "Curve mean over time, after the warm-up"


def test_a_view_that_was_hidden_when_a_run_ended_catches_up(view: PlotView) -> None:
    made = job()
    view.show_runs([made.traces])
    assert label(view, "legend_time") == "No samples yet"
    view.hide()
    made.run()
    view.refresh()
    view.show()

    assert label(view, "legend_time") == "Curve mean over time, 3–12 s"
    assert len(view.stack.time_plots[0].curves[WIFI].time_s) == 120


def test_a_run_that_is_over_is_read_at_the_time_of_the_one_that_goes_on(view: PlotView) -> None:
    over, going = done().traces, finished_traces(until_s=4.0)
    view.show_runs([over, going])

    assert label(view, "legend_time") == "Now, 4.0 s"
    then = PLOTS_BY_ID["cwnd"].curves(over)[0].values[39]  # samples are at 0.1 s, 0.2 s, …
    assert float(text_of(view, WIFI, "cwnd")) == pytest.approx(float(then), rel=5e-3)


def test_a_run_stopped_within_its_warm_up_counts_from_its_start(view: PlotView) -> None:
    made, thread = held(2.0, warmup="8s")
    made.stop()
    thread.join()
    view.show_runs([made.traces])

    assert label(view, "legend_time") == "Curve mean over time, 0–2 s"
    assert float(text_of(view, TOTAL, "throughput")) > 0


def test_groups_of_several_runs_are_told_by_what_differs(view: PlotView) -> None:
    view.show_runs([done(controller=name).traces for name in ("lia", "olia")])

    assert label(view, "legend_run") == "Two paths"
    titles = [str(view.legend_model.index(row, 0).data()).partition(" · ")[0] for row in range(2)]
    assert titles == ["lia", "olia"]
    # The name is shortened in a narrow column, and the number is not.
    tree = child(view, Legend).tree
    option = option_of(tree, 230)
    index = view.legend_model.index(1, 0)
    assert index.data().startswith("olia · ")
    view.legend_model._groups[1].title = "Two paths of unequal loss: olia"
    delegate = tree.itemDelegateForColumn(0)
    assert isinstance(delegate, QStyledItemDelegate)
    delegate.initStyleOption(option, index)
    assert option.text.startswith("Tw")
    assert option.text.endswith(f" · {index.data(WORDS_ROLE)}")
    assert "Two paths: olia" in str(view.legend_model.index(1, 0).data(Qt.ItemDataRole.ToolTipRole))


def test_the_legend_takes_the_width_it_needs(view: PlotView) -> None:
    view.show_runs([done().traces])
    QApplication.processEvents()
    legend = child(view, Legend)
    header = legend.tree.header()

    assert legend.width() == pytest.approx(legend.sizeHint().width(), abs=2)
    assert legend.width() < 300
    # Every value and every name has its room.
    assert header.length() <= legend.width()
    metrics = legend.tree.fontMetrics()
    for section in range(1, view.legend_model.columnCount()):
        assert header.sectionSize(section) > metrics.horizontalAdvance(view.legend_model.widest_text(section))
    assert header.sectionSize(0) > metrics.horizontalAdvance(view.legend_model.widest_text(0)) + 40


def test_columns_are_headed_with_name_and_unit(view: PlotView) -> None:
    view.show_runs([done().traces])

    def headings() -> list[str]:
        model = view.legend_model
        return [str(model.headerData(number, Qt.Orientation.Horizontal)) for number in range(1, model.columnCount())]

    assert headings() == ["Throughput\nMbit/s", "cwnd\npackets", "RTT\nms"]
    view.set_plot_shown("goodput", True)
    assert headings() == ["Throughput\nMbit/s", "cwnd\npackets", "RTT\nms", "Goodput\nMbit/s"]
    QApplication.processEvents()
    header = child(view, Legend).tree.header()
    assert header.sectionSize(1) > header.fontMetrics().horizontalAdvance("Throughput")
    # Its header has one background to the end of the legend, which is wider than its columns below the plots.
    view.resize(600, 600)
    QApplication.processEvents()
    assert header.length() < header.width() - 20
    picture, above = header.grab().toImage(), 1
    assert picture.pixelColor(header.length() - 3, above) == picture.pixelColor(picture.width() - 5, above)


def test_names_are_read_beside_many_columns(view: PlotView) -> None:
    view.resize(700, 400)
    for plot_id in ("queue", "utilisation", "inflight"):
        view.set_plot_shown(plot_id, True)
    view.show_runs([done().traces])
    QApplication.processEvents()
    tree = child(view, Legend).tree
    box = 22 + 2 * tree.indentation() + 30  # the sample of the line, and the check box
    room = tree.header().sectionSize(0) - box
    assert room >= min(12, len("wifi forward")) * tree.fontMetrics().averageCharWidth() - 12
    assert tree.horizontalScrollBar().maximum() > 0  # values are scrolled instead


def test_the_legend_keeps_its_width_wherever_somebody_points(view: PlotView) -> None:
    view.show_runs([done().traces])
    QApplication.processEvents()
    legend = child(view, Legend)
    model, width = view.legend_model, legend.width()
    lines = [model.id_at(model.index(row, 0, model.index(0, 0))) for row in range(model.rowCount(model.index(0, 0)))]
    assert lines

    def show(value: float, heading: str) -> None:
        column = {line: value for line in lines if line is not None}
        legend.show_values(LegendValues(heading, [column] * (model.columnCount() - 1), []))
        QApplication.processEvents()

    for value in (0.1, 5.0, 77.7, 12_345.0):
        show(value, f"At a time that takes more room than all names and all values: {value}")
        assert legend.width() == width, value
    # A wider value enlarges the legend, which keeps the new width.
    show(123_456_789_012.0, "At 1.00 s")
    wider = legend.width()
    assert wider > width
    show(1.0, "At 1.01 s")
    assert legend.width() == wider


def test_the_word_goes_before_the_name_where_there_is_no_room(view: PlotView) -> None:
    view.show_runs([done().traces])
    tree = child(view, Legend).tree
    index = view.legend_model.index(0, 0)
    delegate = tree.itemDelegateForColumn(0)
    assert isinstance(delegate, QStyledItemDelegate)
    texts = []
    for room in range(400, 180, -5):
        option = option_of(tree, room)
        delegate.initStyleOption(option, index)
        texts.append(option.text)
    assert texts[0] == index.data()
    short = texts[0].replace("goodput ", "")
    assert short in texts
    assert set(texts[: texts.index(short)]) == {texts[0]}


def test_a_wide_legend_goes_below_where_it_has_room_there(view: PlotView) -> None:
    view.resize(900, 720)
    view.show_runs([done().traces])
    QApplication.processEvents()
    legend, place = child(view, Legend), child(view, LegendSplitter)
    assert place.orientation() == Qt.Orientation.Horizontal
    assert legend.width() <= 0.31 * place.width()

    # In larger type it would take a third of the width; below the plots all texts fit, beside their values.
    font = QFont(view.font())
    font.setPointSizeF(1.4 * font.pointSizeF())
    legend.tree.setFont(font)
    view.set_type(font, 1.0)
    QApplication.processEvents()
    assert place.orientation() == Qt.Orientation.Vertical
    assert legend.height() >= legend.sizeHint().height()
    assert legend.tree.verticalScrollBar().maximum() == 0
    assert legend.tree.header().length() < 0.6 * place.width()

    # The legend does not move below if the plots would then need scrolling.
    for plot_id in ("goodput", "queue"):
        view.set_plot_shown(plot_id, True)
    QApplication.processEvents()
    assert place.orientation() == Qt.Orientation.Horizontal


def test_a_border_that_was_dragged_stays(view: PlotView) -> None:
    view.show_runs([done().traces])
    QApplication.processEvents()
    handle = child(view, LegendSplitter).handle(1)
    QTest.mousePress(handle, Qt.MouseButton.LeftButton, pos=handle.rect().center())
    QTest.mouseMove(handle, QPoint(-90, 100))
    QTest.mouseRelease(handle, Qt.MouseButton.LeftButton, pos=QPoint(-90, 100))
    width = child(view, Legend).width()
    view.set_plot_shown("queue", True)
    QApplication.processEvents()

    assert child(view, Legend).width() == pytest.approx(width, abs=3)


# ---- results ----


def test_two_runs_have_a_strip_that_folds(qtbot: QtBot, view: PlotView) -> None:
    strip = child(view, ResultsStrip)
    assert strip.isHidden()
    view.show_runs([done().traces])
    assert strip.isHidden()  # the legend shows the means of a single run
    # A low view shows one line, and a high view the table.
    view.show_runs([done().traces, done(controller="olia").traces])
    for height, is_folded in ((400, True), (700, False)):
        view.resize(900, height)
        assert strip.is_folded is is_folded
    assert strip.table.height() < 120

    first, second = done(), done(controller="olia")
    view.show_runs([second.traces, first.traces])
    assert not strip.isHidden()
    rows = strip.model.table.rows
    assert rows[0][0] == "A: lia"
    # As many digits as distinguish the runs.
    assert float(rows[0][1]) == pytest.approx(present(present(first.traces.row).goodput_bps) / 1e6, rel=1e-4)
    assert rows[2][0].startswith("B − A")
    fold = child(strip, QToolButton, "results_fold")
    was_folded = strip.is_folded
    qtbot.mouseClick(fold, Qt.MouseButton.LeftButton)
    assert strip.is_folded is not was_folded
    assert strip.table.isVisible() is was_folded
    # The choice of a person overrides the height.
    view.resize(900, 700 if was_folded else 400)
    QApplication.processEvents()
    assert strip.is_folded is not was_folded
    strip.copy()
    assert QApplication.clipboard().text().splitlines()[1].startswith("A: lia\t")

    view.show_runs([])
    assert strip.isHidden()


RIVAL = '\n[flows.cross]\nkind = "tcp"\nfrom = "server"\nto = "client"\ncontroller = "cubic"\npaths = [["wifi"]]\n'


@pytest.mark.parametrize(
    ("text", "waiting"), [(TWO_PATHS, ""), (TWO_PATHS + RIVAL, "Results are shown when the run is over.")]
)
def test_plots_of_a_small_window_do_not_move_when_results_come(view: PlotView, text: str, waiting: str) -> None:
    view.resize(900, 600)
    job = RunJob(parse_scenario(text), text)
    view.show_runs([job.traces])
    view.refresh()
    QApplication.processEvents()
    assert child(view, ResultsStrip).text == waiting
    before = view.stack.mapTo(view, QPoint(0, 0))
    job.run()
    view.refresh()
    QApplication.processEvents()
    assert ("In this run, " in child(view, ResultsStrip).text) is bool(waiting)
    assert view.stack.mapTo(view, QPoint(0, 0)) == before
    # For a run of competing flows, the line names the flow with more goodput.
    line = child(view, ResultsStrip).text
    assert ["cross (cubic)" in line, "mean RTT" in line] == [bool(waiting)] * 2
    assert not waiting or child(view, ResultsStrip).model.rowCount() == 2
