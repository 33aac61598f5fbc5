"""The legend of the plots: current values, means that agree with all other places, values at a time, and its layout."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolButton
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
from subflow_app.features.plots.qt.legend import Legend, LegendBlock, LegendSplitter
from subflow_app.features.plots.qt.legend_model import AT, MEAN, NAME, LegendValues, flow_words
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


def heading(view: PlotView) -> str:
    """Heading of the values at a time."""
    return view.legend_model.heading(AT)


def interval(view: PlotView) -> str:
    """The interval of the means, from the tool tip of their heading."""
    tip = view.legend_model.headerData(MEAN, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
    return str(tip).partition(", without gaps")[0]


def text_of(view: PlotView, curve: CurveId, plot_id: str, column: int = MEAN) -> str:
    """Text in the legend for a curve in the block of a plot."""
    return str(view.legend_model.index_of(curve, plot_id).siblingAtColumn(column).data())


def block(view: PlotView, place: int = 0) -> LegendBlock:
    return child(view, Legend).blocks[place]


def words(view: PlotView) -> list[str]:
    """Measures of the flows below the lines of the first plot."""
    model = view.legend_model
    first = block(view).line_count
    return [str(model.index(row, 0, model.index(0, 0)).data()) for row in range(first, model.count(0))]


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


def test_legend_history_json_show_and_csv_agree_to_the_last_digit(view: PlotView, store: Store) -> None:
    made = done(store)
    stored = store.run(present(made.run_id))
    document = json.loads(json.dumps(stored.summary))
    flow = document["flows"][0]
    for runs in ([made.traces], [StoredTraces(store, stored.id)]):
        view.set_plot_shown("goodput", True)
        view.set_plot_shown("utilisation", True)
        view.show_runs(runs)

        assert (heading(view), interval(view)) == ("", "Curve mean over time, 3–12 s")
        rates = [each["throughput_bps"] for each in flow["subflows"]]
        for line, rate in zip((WIFI, LTE), rates, strict=True):
            assert text_of(view, line, "throughput") == f"{rate / 1e6:.3f}"
        total = sum(rates)
        assert text_of(view, TOTAL, "throughput") == f"{total / 1e6:.3f}"
        (share, *_) = (link["utilisation"] for link in document["links"] if link["direction"] == "forward")
        assert text_of(view, CurveId(0, "wifi/forward", "link"), "utilisation") == f"{share * 100:.2f}"
        goodput = column("goodput_bps").text(stored.goodput_bps)  # the cell of the history
        assert text_of(view, TOTAL, "goodput") == goodput == flow_table(document).rows[0][2]
        assert words(view) == [f"goodput {goodput} Mbit/s"]
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


def test_a_flow_with_a_size_tells_its_time_and_its_goodput_while_active(view: PlotView) -> None:
    """900 kB that start at 20 s and take 8.555 s, in a run of 40 s: 0.842 Mbit/s, and 0.220 over the run."""
    text = NUMBERS.read_text(encoding="utf-8")
    made = RunJob(parse_scenario(text), text)
    assert made.run().error is None
    view.show_runs([made.traces])
    assert [each.partition(" · ")[2] for each in words(view)] == [
        "6.878 Mbit/s",
        "3.086 Mbit/s",
        "8.555 s, 0.842 Mbit/s",
    ]
    model = view.legend_model
    tip = str(model.index(model.count(0) - 1, 0, model.index(0, 0)).data(Qt.ItemDataRole.ToolTipRole))
    assert "Completion time: 8.555 s" in tip
    assert "Goodput while active: 0.842 Mbit/s" in tip
    begun = flow_words({"name": "get", "size_bytes": 9e5, "completion_s": None, "active_goodput_bps": 2e6})
    impossible = flow_words({"name": "get", "size_bytes": None, "goodput_bps": -1e6})
    assert (begun.words, "impossible" in impossible.words) == ("incomplete, at 2.000 Mbit/s", True)


def test_the_values_are_present_ones_while_a_run_goes_on_and_then_means(view: PlotView) -> None:
    made, thread = held(6.0)
    view.show_runs([made.traces])
    assert heading(view) == "Now, 6.0 s"
    newest = PLOTS_BY_ID["cwnd"].curves(made.traces)[0].values[-1]
    assert float(text_of(view, WIFI, "cwnd", AT)) == pytest.approx(float(newest), rel=5e-3)
    assert text_of(view, WIFI, "cwnd") == ""

    made.unpause()
    thread.join()
    view.refresh()
    mean = text_of(view, WIFI, "cwnd")
    # A fixed time stays after the mouse has left, and means stand beside the values at any time.
    for set_time, time_s in ((view.stack.set_cursor, 4.0), (view.set_pin, 5.0)):
        assert heading(view) == ""
        set_time(time_s)
        assert heading(view) == f"At {time_s:.2f} s"
        then = PLOTS_BY_ID["cwnd"].curves(made.traces)[0].values[round(time_s * 10) - 1]
        assert float(text_of(view, WIFI, "cwnd", AT)) == pytest.approx(float(then), abs=0.05)
        assert (text_of(view, WIFI, "cwnd"), interval(view)) == (mean, "Curve mean over time, 3–12 s")
        set_time(None)
    view.show_runs([made.traces, done(warmup="5s").traces])
    assert interval(view) == "Curve mean over time, after the warm-up"


def test_a_gap_of_a_curve_has_a_dash_in_place_of_a_value(view: PlotView) -> None:
    view.show_runs([finished_traces()])
    view.stack.set_cursor(0.0)
    assert text_of(view, WIFI, "cwnd", AT) == "–"


def test_a_view_that_was_hidden_when_a_run_ended_catches_up(view: PlotView) -> None:
    made = job()
    view.show_runs([made.traces])
    assert text_of(view, WIFI, "cwnd") == ""
    view.hide()
    made.run()
    view.refresh()
    view.show()

    assert interval(view) == "Curve mean over time, 3–12 s"
    assert len(view.stack.time_plots[0].curves[WIFI].time_s) == 120


def test_a_run_that_is_over_is_read_at_the_time_of_the_one_that_goes_on(view: PlotView) -> None:
    over, going = done().traces, finished_traces(until_s=4.0)
    view.show_runs([over, going])

    assert heading(view) == "Now, 4.0 s"
    then = PLOTS_BY_ID["cwnd"].curves(over)[0].values[39]  # samples are at 0.1 s, 0.2 s, …
    assert float(text_of(view, WIFI, "cwnd", AT)) == pytest.approx(float(then), rel=5e-3)


def test_a_run_stopped_within_its_warm_up_counts_from_its_start(view: PlotView) -> None:
    made, thread = held(2.0, warmup="8s")
    made.stop()
    thread.join()
    view.show_runs([made.traces])

    assert interval(view) == "Curve mean over time, 0–2 s"
    assert float(text_of(view, TOTAL, "throughput")) > 0


# ---- names ----


def test_lines_of_several_runs_are_named_by_what_differs(view: PlotView) -> None:
    view.show_runs([done(controller=name).traces for name in ("lia", "olia")])
    QApplication.processEvents()
    names = [block(view).shown_name(row) for row in range(block(view).line_count)]
    assert names == ["lia · wifi", "olia · wifi", "lia · lte", "olia · lte", "lia · total", "olia · total"]
    assert [each.partition(" · ")[0] for each in words(view)] == ["lia", "olia"]
    tip = str(view.legend_model.index_of(WIFI).data(Qt.ItemDataRole.ToolTipRole))
    assert "Two paths: lia" in tip


@pytest.mark.parametrize("letters", [260, 30, 14, 8])
def test_no_two_names_are_alike_however_narrow_the_legend(view: PlotView, letters: int) -> None:
    title = "a phone between two very unequal wireless networks"
    view.show_runs([finished_traces(title=f"{title}, {end}") for end in ("window 40 packets", "window 41 packets")])
    shown = block(view)
    metrics = shown.fontMetrics()
    view.resize(2000, 700)
    child(view, LegendSplitter).set_legend_width(letters * metrics.averageCharWidth() + 150)
    QApplication.processEvents()
    names = [shown.shown_name(row) for row in range(shown.line_count)]
    assert len(set(names)) == len(names) == 6
    room = shown.header().sectionSize(0)
    assert all(metrics.horizontalAdvance(name) <= room for name in names)


# ---- places ----


def test_each_block_stands_beside_its_plot(view: PlotView) -> None:
    view.resize(1100, 620)
    view.show_runs([done().traces])
    QApplication.processEvents()
    legend = child(view, Legend)
    for shown, plot in zip(legend.blocks, view.stack.time_plots, strict=True):
        top = view.stack.mapTo(view, view.stack.mapFromScene(plot.title.sceneBoundingRect()).boundingRect().topLeft())
        assert shown.mapTo(view, QPoint(0, 0)).y() == pytest.approx(top.y(), abs=2), plot.spec.id
        assert shown.verticalScrollBar().maximum() == 0
    # A hidden plot takes its block with it.
    view.set_plot_shown("cwnd", False)
    QApplication.processEvents()
    assert [view.legend_model.specs[shown.place].id for shown in legend.blocks] == ["throughput", "rtt"]


def test_the_blocks_lie_below_narrow_plots(view: PlotView) -> None:
    view.resize(500, 700)
    view.show_runs([done().traces])
    QApplication.processEvents()
    legend, place = child(view, Legend), child(view, LegendSplitter)
    assert place.orientation() == Qt.Orientation.Vertical
    assert legend.blocks[0].y() == legend.blocks[1].y()
    assert legend.blocks[1].x() >= legend.blocks[0].width()
    view.resize(900, 700)
    QApplication.processEvents()
    assert place.orientation() == Qt.Orientation.Horizontal


def test_the_legend_keeps_its_columns_wherever_somebody_points(view: PlotView) -> None:
    view.show_runs([done().traces])
    QApplication.processEvents()
    legend, shown = child(view, Legend), block(view)
    width = legend.width()

    def show(value: float, words: str) -> None:
        columns = [dict.fromkeys((WIFI, LTE, TOTAL), value)] * 3
        legend.show_values(LegendValues(words, columns, []), None)
        QApplication.processEvents()

    show(1.0, "At 88.88 s")
    sizes = [shown.header().sectionSize(column) for column in (AT, MEAN)]
    for value in (0.1, 5.0, 77.7, 123.4):
        show(value, "At 88.88 s")
        assert legend.width() == width, value
        assert [shown.header().sectionSize(column) for column in (AT, MEAN)] == sizes, value
    # A wider value widens its column, which keeps the new width.
    show(123_456_789_012.0, "At 1.00 s")
    wider = shown.header().sectionSize(AT)
    assert wider > sizes[0]
    show(1.0, "At 1.01 s")
    assert shown.header().sectionSize(AT) == wider


def test_names_have_the_width_of_values_at_a_cursor_while_there_is_none(view: PlotView) -> None:
    for _ in range(2):  # other runs leave the widths as they are
        view.show_runs([done().traces])
    QApplication.processEvents()
    legend, shown = child(view, Legend), block(view)
    width, header = legend.width(), shown.header()
    for _ in range(2):
        legend.show_values(None, None)
        wide = header.sectionSize(NAME)
        assert header.isSectionHidden(AT)
        assert shown.shown_name(0) == "wifi"
        legend.show_values(LegendValues("At 1.00 s", [dict.fromkeys((WIFI, LTE, TOTAL), 1.0)] * 3, []), None)
        assert header.sectionSize(AT) > 20
        assert header.sectionSize(NAME) == wide - header.sectionSize(AT)
        assert legend.width() == width


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


def test_a_double_click_shows_only_a_line_and_then_everything(view: PlotView) -> None:
    view.show_runs([finished_traces()])
    QApplication.processEvents()
    shown = block(view)
    at = shown.visualRect(view.legend_model.index_of(WIFI)).center()
    for hidden in ({LTE, TOTAL}, set()):
        QTest.mouseClick(shown.viewport(), Qt.MouseButton.LeftButton, pos=at)
        QTest.mouseDClick(shown.viewport(), Qt.MouseButton.LeftButton, pos=at)
        assert view.hidden == hidden
    # Space switches the chosen line.
    shown.setFocus()
    shown.setCurrentIndex(view.legend_model.index_of(LTE))
    QTest.keyClick(shown, Qt.Key.Key_Space)
    assert view.hidden == {LTE}


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
