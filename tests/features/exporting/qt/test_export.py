"""Exports: the files exist in the named format and hold the drawn values."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLineEdit
from pytestqt.qtbot import QtBot
from tests.helpers.desk import Desk, MakeDesk, asked_figure, export_figure
from tests.helpers.fake_runs import RICH, finished_traces
from tests.helpers.fake_simulation import make_flow, make_scenario
from tests.helpers.window import ScriptedDialogs

from subflow_app.features.exporting.core.page_import import read_page
from subflow_app.features.exporting.qt.actions import rows
from subflow_app.features.exporting.qt.export_dialog import FigureDialog
from subflow_app.features.exporting.qt.plots_figure import shown_plan
from subflow_app.features.paper.core.exported_figure import ExportedFigure
from subflow_app.features.paper.core.figure_plan import TITLE, FigureChoice, figure_kind
from subflow_app.features.paper.core.figure_process import FigureProcess
from subflow_app.features.paper.core.figures import drawing, fill_figure, save_figure
from subflow_app.features.plots.qt.curve_id import CurveId
from subflow_app.features.plots.qt.plot_view import PlotView
from subflow_app.toolkit.theme import DARK, set_current
from subflow_app.toolkit.workers import Workers

DRAWN_MS = 60_000  # by a process that loads Matplotlib first
SVG = "{http://www.w3.org/2000/svg}"
AS_SHOWN_CHOICE = FigureChoice("shown", width_mm=170.0, height_mm=150.0)
WIFI = CurveId(0, "download/1", "subflow")


@pytest.fixture
def plots(qtbot: QtBot) -> PlotView:
    view = PlotView()
    qtbot.addWidget(view)
    view.resize(800, 500)
    view.show()
    view.show_runs([finished_traces()])
    return view


def texts(path: Path) -> list[str]:
    return ["".join(element.itertext()).strip() for element in ElementTree.parse(path).iter(f"{SVG}text")]


def strokes(path: Path) -> set[str]:
    return set(re.findall(r"stroke: (#[0-9a-f]{6})", path.read_text()))


def save(plots: PlotView, path: Path, **size: float) -> None:
    """Writes the figure as shown."""
    choice = replace(AS_SHOWN_CHOICE, kind=figure_kind(path), **size)  # type: ignore[arg-type] # dpi is whole
    save_figure(choice.look("").of(shown_plan(plots.stack, has_all=True), choice.kind), path)


def test_figure_has_the_visible_curves_only(plots: PlotView, tmp_path: Path) -> None:
    for name, is_shown in (("all.svg", True), ("some.svg", False)):
        plots.legend_model.set_hidden(frozenset() if is_shown else frozenset({WIFI}))
        save(plots, tmp_path / name)
        found = texts(tmp_path / name)
        assert {"Throughput (Mbit/s)", "Congestion window (packets)", "Smoothed RTT (ms)", "Time (s)"} <= set(found)
        assert {"download · lte", "download · total"} <= set(found)
        assert ("download · wifi" in found) == ("#0072b2" in strokes(tmp_path / name)) == is_shown


def test_figure_is_light_whatever_the_theme(plots: PlotView, tmp_path: Path) -> None:
    save(plots, tmp_path / "light.svg")
    set_current(DARK)
    save(plots, tmp_path / "dark.svg")
    save(plots, tmp_path / "dark.png", dpi=96)

    assert (tmp_path / "dark.svg").read_bytes() == (tmp_path / "light.svg").read_bytes()
    assert QImage(str(tmp_path / "dark.png")).pixelColor(1, 1) == QColor("#ffffff")


def test_runs_of_the_same_name_are_numbered(plots: PlotView, tmp_path: Path) -> None:
    plots.show_runs([finished_traces(title="LIA"), finished_traces(title="LIA")])
    save(plots, tmp_path / "figure.svg")

    found = texts(tmp_path / "figure.svg")
    assert {"LIA (1)", "LIA (2)", "download · wifi"} <= set(found)  # a dash per run, a colour per path
    assert plots.legend_model.names(0, short=False)[:2] == ["LIA (1) · wifi", "LIA (2) · wifi"]
    assert "stroke-dasharray" in (tmp_path / "figure.svg").read_text()


def test_figure_as_shown_has_marks_and_each_curve_of_a_crowd(plots: PlotView) -> None:
    plots.show_runs([finished_traces(RICH)])
    plots.grab()
    everything, paper = shown_plan(plots.stack, has_all=True), shown_plan(plots.stack)
    assert [plot.id for plot in everything.plots if any(ticks.height < 1.0 for ticks in plot.ticks)] == ["cwnd"]
    assert not any(plot.ticks for plot in paper.plots)
    flows = [make_flow(f"flow{n}", "tcp", ("wifi",), count=2) for n in range(10)]
    plots.show_runs([finished_traces(make_scenario(*flows))])
    plots.stack.set_choices(replace(plots.stack.choices, crowds_summed_up=False))
    drawn = []
    for choice, plan in ((AS_SHOWN_CHOICE, everything), (FigureChoice("ieee"), paper)):
        plan = replace(plan, plots=shown_plan(plots.stack).plots[:1])
        with drawing(choice.paper_style):
            figure = Figure()
            fill_figure(figure, choice.look("").of(plan, "svg"))
        drawn.append(len(figure.axes[0].get_lines()))
    assert drawn == [20, 20 + 10]


def test_png_has_the_pixels_that_were_asked_for(plots: PlotView, tmp_path: Path) -> None:
    save(plots, tmp_path / "figure.png", width_mm=100.0, height_mm=80.0, dpi=254)

    image = QImage(str(tmp_path / "figure.png"))
    # 254 px per inch are 10 px per mm; the layout is made of whole px at 96 per inch.
    assert image.width() == pytest.approx(1000, abs=3)
    assert image.height() == pytest.approx(800, abs=3)
    assert image.dotsPerMeterX() == pytest.approx(10_000, abs=1)
    shown = {image.pixelColor(x, y).name() for x in range(0, 1000, 3) for y in range(0, 800, 3)}
    assert {"#ffffff", "#0072b2", "#d55e00"} <= shown


# ---- by the dialog ----


def select(combo: QComboBox, data: object) -> None:
    combo.setCurrentIndex(combo.findData(data))


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    """A desk that shows a run."""
    made = make_desk(actions=rows())
    made.run_once()
    return made


def test_figure_as_shown(desk: Desk, dialogs: ScriptedDialogs, tmp_path: Path) -> None:
    def as_shown(dialog: FigureDialog) -> None:
        select(dialog.style_box, "shown")
        dialog.width_mm.setValue(88.0)
        assert dialog.dpi.isHidden()
        assert not dialog.legend.isEnabled()

    export_figure(desk, "file.export_figure", tmp_path / "mine.pdf", as_shown)

    box = (tmp_path / "mine.pdf").read_bytes().split(b"/MediaBox [")[1].split(b"]")[0].split()
    assert float(box[2]) == pytest.approx(88 / 25.4 * 72, abs=1.0)
    assert dialogs.asked[-1][1][2].name == "two-paths.pdf"
    assert str(tmp_path / "mine.pdf") in desk.banners.text("export")
    assert desk.preferences.settings.last_export_directory == str(tmp_path)


def test_column_of_a_paper_with_own_words(desk: Desk, tmp_path: Path) -> None:
    desk.plots.legend_model.set_hidden(frozenset({WIFI}))

    def column(dialog: FigureDialog) -> None:
        select(dialog.style_box, "ieee")
        select(dialog.legend, "above")
        dialog.data.setChecked(True)
        assert dialog.width_mm.value() == pytest.approx(88.9)
        assert not dialog.width_mm.isEnabled()
        assert [box.text() for box in dialog.plots] == ["Throughput", "Congestion window", "Round-trip time"]
        dialog.plots[2].setChecked(False)
        words = {word.source: row for row, word in enumerate(dialog.words.rows)}
        assert "Smoothed RTT (ms)" not in words
        for source, text in ((TITLE, "My figure"), ("Time (s)", "t / s"), ("download · lte", "LTE")):
            assert dialog.words.setData(dialog.words.index(words[source], 1), text)

    export_figure(desk, "file.export_figure", tmp_path / "mine.svg", column)

    text = (tmp_path / "mine.svg").read_text()
    assert 'width="252pt"' in text
    for shown in ("Throughput (Mbit/s)", "My figure", "t / s", "LTE"):
        assert f"<!-- {shown} -->" in text
    for hidden in ("Smoothed RTT (ms)", "Time (s)", "download · lte", "download · wifi"):
        assert f"<!-- {hidden} -->" not in text
    header, _ = read_csv(tmp_path / "mine.csv")
    assert "download/2:throughput_bps" in header
    kept = FigureChoice.from_entries(desk.preferences.settings.figure)
    assert (kept.style, kept.kind, kept.legend, kept.has_data) == ("ieee", "svg", "above", True)
    assert kept.words == {"Time (s)": "t / s", "download · lte": "LTE"}


def test_a_file_for_each_plot(desk: Desk, dialogs: ScriptedDialogs, tmp_path: Path) -> None:
    (tmp_path / "mine-cwnd.pdf").write_text("precious")
    dialogs.answer("confirm", False, True)
    dialog = asked_figure(desk, "file.export_figure", tmp_path / "mine.pdf")
    select(dialog.style_box, "acm")
    select(dialog.files, False)

    dialog.export_button.click()
    assert (tmp_path / "mine-cwnd.pdf").read_text() == "precious"
    assert dialogs.asked[-1][1][2] == "mine-cwnd.pdf"
    dialogs.answer("save_path", tmp_path / "mine.pdf")
    with desk.qtbot.waitSignal(desk.exports.written, timeout=DRAWN_MS) as written:
        dialog.export_button.click()

    assert written.args == [tmp_path]
    assert sorted(path.name for path in tmp_path.glob("mine*")) == [
        "mine-cwnd.pdf",
        "mine-rtt.pdf",
        "mine-throughput.pdf",
    ]
    assert (tmp_path / "mine-cwnd.pdf").read_bytes().startswith(b"%PDF")
    assert desk.preferences.settings.last_export_directory == str(tmp_path)


def test_a_failure_is_shown_in_place_and_can_be_corrected(
    qtbot: QtBot, desk: Desk, dialogs: ScriptedDialogs, tmp_path: Path
) -> None:
    dialog = asked_figure(desk, "file.export_figure", tmp_path / "gone" / "x.pdf")
    dialog.export_button.click()
    assert not dialog.export_button.isEnabled()
    qtbot.waitUntil(lambda: "choose another folder" in dialog.problem.text(), timeout=DRAWN_MS)
    assert dialog.problem.isVisible()
    dialogs.answer("save_path", tmp_path / "name")
    dialog.export_button.click()
    assert "no suffix" in dialog.problem.text()
    assert not desk.banners.text("export")
    dialogs.answer("save_path", tmp_path / "right.pdf")
    with qtbot.waitSignal(desk.exports.written, timeout=DRAWN_MS):
        dialog.export_button.click()
    assert [path.name for path in tmp_path.glob("*.p*")] == ["right.pdf"]


def test_web_page_is_among_the_formats(desk: Desk, tmp_path: Path) -> None:
    def page(dialog: FigureDialog) -> None:
        assert not dialog.style_box.isEnabled()
        assert not dialog.word_table.isEnabled()

    export_figure(desk, "file.export_figure", tmp_path / "figure.html", page)
    assert read_page(tmp_path / "figure.html").names == ["Two paths"]
    # The next picture has the format of the last picture.
    assert desk.preferences.settings.figure["kind"] == "pdf"


def test_figure_is_copied_as_an_image(qtbot: QtBot, desk: Desk, tmp_path: Path) -> None:
    dialog = asked_figure(desk, "file.export_figure", tmp_path / "unused.pdf")
    select(dialog.style_box, "ieee")
    dialog.copy_button.click()
    image = QGuiApplication.clipboard()
    qtbot.waitUntil(lambda: image.image().width() == pytest.approx(88.9 / 25.4 * 300, abs=2), timeout=DRAWN_MS)
    dialog.reject()


@pytest.fixture
def make_dialog(qtbot: QtBot, plots: PlotView) -> Iterator[Callable[[FigureChoice], FigureDialog]]:
    process = FigureProcess()
    workers = Workers(plots)

    def make(choice: FigureChoice) -> FigureDialog:
        figure = ExportedFigure("figure", shown_plan(plots.stack), shown_plan(plots.stack, has_all=True))
        dialog = FigureDialog(figure, choice, process, workers)
        qtbot.addWidget(dialog)
        return dialog

    yield make
    process.close()
    workers.finish_all()
    qtbot.waitUntil(lambda: not workers.is_busy)


MakeDialog = Callable[[FigureChoice], FigureDialog]


def test_preview_shows_what_will_be_written(qtbot: QtBot, make_dialog: MakeDialog) -> None:
    dialog = make_dialog(FigureChoice(style="ieee"))
    dialog.show()

    def shape() -> float:
        qtbot.waitUntil(lambda: dialog.preview.is_up_to_date, timeout=DRAWN_MS)
        size = dialog.preview.pixmap.size()
        return size.height() / size.width()

    three = shape()
    assert dialog.preview.caption.text() == "88.9 mm wide, PDF"
    dialog.plots[1].setChecked(False)
    dialog.plots[2].setChecked(False)
    assert not dialog.plots[0].isEnabled()  # one plot has to stay
    assert shape() < three / 2
    select(dialog.style_box, "shown")
    # 150 mm on 170 mm, in whole pixels.
    assert shape() == pytest.approx(150 / 170, rel=0.01)
    dialog.reject()


def test_double_click_in_the_preview_edits_a_word(qtbot: QtBot, make_dialog: MakeDialog) -> None:
    dialog = make_dialog(FigureChoice(style="ieee"))
    dialog.show()
    qtbot.waitUntil(lambda: dialog.preview.is_up_to_date, timeout=DRAWN_MS)
    picture, shown = dialog.preview.picture, dialog.preview.picture.pixmap().deviceIndependentSize()
    place = next(place for place in dialog.preview.places if place[0] == "Time (s)")
    middle = QPointF((place[1] + place[3]) / 2 * shown.width(), (place[2] + place[4]) / 2 * shown.height())
    corner = QPointF(picture.width() - shown.width(), picture.height() - shown.height()) / 2
    QTest.mouseDClick(picture, Qt.MouseButton.LeftButton, pos=(corner + middle).toPoint())
    editor = dialog.word_table.findChild(QLineEdit)
    assert isinstance(editor, QLineEdit)
    assert editor.text() == "Time (s)"
    editor.setText("Seconds")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    assert dialog.isVisible()  # Enter ends the editor only
    qtbot.waitUntil(lambda: dialog.plan.words == {"Time (s)": "Seconds"})
    dialog.set_word("Time (s)", "")
    assert dialog.plan.words == {}
    dialog.reject()


def test_dialog_fits_a_small_screen(qtbot: QtBot, make_dialog: MakeDialog) -> None:
    dialog = make_dialog(FigureChoice(style="custom", kind="png"))
    dialog.resize(760, 333)
    dialog.show()
    assert (dialog.width(), dialog.height()) == (760, 333)
    assert dialog.export_button.visibleRegion().boundingRect().size() == dialog.export_button.size()
    dialog.reject()


def test_dialog_begins_with_what_was_chosen_last(make_dialog: MakeDialog) -> None:
    words = {"Time (s)": "t"}
    choice = FigureChoice("custom", "png", 120.0, 33.0, 150, "inside", is_stacked=False, words=words)
    dialog = make_dialog(choice)

    assert dialog.choice == choice
    assert dialog.plan.style.width_mm == 120.0
    assert (dialog.plan.kind, dialog.plan.dpi, dialog.plan.legend) == ("png", 150, "inside")
    assert not dialog.data.isEnabled()  # this figure has no data
    dialog.reject()


def test_time_range_scale_and_values_are_those_of_the_window(plots: PlotView) -> None:
    plots.stack.set_time_range(4.0, 6.0)
    plots.stack.plots[1].view.setYRange(5.0, 20.0, padding=0)
    plan = shown_plan(plots.stack)

    assert plan.time_range == pytest.approx((4.0, 6.0), abs=1e-3)
    assert plan.plots[0].value_range is None
    assert plan.plots[1].value_range == pytest.approx((5.0, 20.0))
    assert not plan.is_log
    plots.set_log(True)
    assert shown_plan(plots.stack).is_log


def read_csv(path: Path) -> tuple[list[str], np.ndarray]:
    with path.open() as file:
        header, *rows = csv.reader(file)
    return header, np.array([[float(value) if value else np.nan for value in row] for row in rows])


def test_csv_holds_the_values_that_are_drawn(desk: Desk, dialogs: ScriptedDialogs, tmp_path: Path) -> None:
    for name, hidden, count in (("all.csv", frozenset(), 8), ("some.csv", frozenset({WIFI}), 5)):
        desk.plots.legend_model.set_hidden(hidden)
        dialogs.answer("save_path", tmp_path / name)
        desk.bar.trigger("file.export_data")

        header, table = read_csv(tmp_path / name)
        drawn = [(plot, curve) for plot in desk.plots.stack.time_plots for curve in plot.shown_curves()]
        # Two subflows in three plots, and the total of the throughput.
        assert len(header) == 1 + len(drawn) == count
        assert any(name.startswith("download/1:") for name in header) == (not hidden)
        np.testing.assert_allclose(table[:, 0], np.arange(1, 21) * 0.1, rtol=1e-9)
        for column, (plot, curve) in enumerate(drawn, start=1):
            np.testing.assert_array_equal(table[:, column].astype(np.float32), curve.values)
            item = plot.curves[CurveId(0, curve.owner, "flow" if curve.kind == "total" else curve.kind)]
            np.testing.assert_allclose(table[:, column] * plot.spec.scale, item.shown_values, rtol=1e-6)


def test_what_cannot_be_exported_is_told(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "gone" / "data.csv"
    desk.exports.export_data(path)
    told = desk.banners.text("export")
    assert (str(path) in told, "choose another folder" in told) == (True, True)

    desk.plots.legend_model.set_hidden(frozenset(desk.plots.stack.curves))
    desk.exports.export_data(tmp_path / "data.csv")
    assert "no curve is visible" in desk.banners.text("export")
    assert not (tmp_path / "data.csv").exists()


def test_the_process_of_the_window_never_loads_matplotlib(tmp_path: Path) -> None:
    script = """
import os, sys
os.environ["QT_QPA_PLATFORM"] = "offscreen"
from PySide6.QtWidgets import QApplication
application = QApplication([])
from tests.helpers.fake_runs import finished_traces
from subflow_app.features.paper.core.exported_figure import ExportedFigure
from subflow_app.features.paper.core.figure_plan import FigureChoice
from subflow_app.features.paper.core.figure_process import FigureProcess
from subflow_app.features.exporting.qt.export_dialog import FigureDialog
from subflow_app.features.exporting.qt.plots_figure import shown_plan
from subflow_app.features.plots.qt.plot_view import PlotView
from subflow_app.toolkit.workers import Workers
view = PlotView()
view.show_runs([finished_traces()])
process, workers = FigureProcess(), Workers(view)
dialog = FigureDialog(ExportedFigure("x", shown_plan(view.stack)), FigureChoice(style="ieee"), process, workers)
dialog.show()
while not dialog.preview.is_up_to_date:
    application.processEvents()
assert not dialog.preview.pixmap.isNull(), dialog.preview.caption.text()
dialog.reject()
process.close()
workers.finish_all()
sys.exit("matplotlib" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
