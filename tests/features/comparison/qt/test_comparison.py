"""The panel of comparisons: groups of stored runs, their table, and traces of two runs on one time axis."""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot
from tests.features.kernel.core.test_compare import FakeWorker
from tests.helpers.desk import Desk, MakeDesk
from tests.helpers.fake_kernel import ONE_PATH, install
from tests.helpers.present import child, present
from tests.helpers.window import ScriptedDialogs

from subflow_app.features.comparison.core.alignment import AlignedTraces
from subflow_app.features.comparison.qt.feature import CompareFeature
from subflow_app.features.editor.qt import documents
from subflow_app.features.exporting.qt.export_dialog import DATA
from subflow_app.features.kernel.core import compare as kernel_compare
from subflow_app.features.kernel.core import probe as kernel_probe
from subflow_app.features.kernel.core.probe import Machine
from subflow_app.features.sweeps.qt.feature import SweepFeature


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    """A desk with comparisons, also of the runs of a sweep."""
    return make_desk(CompareFeature, SweepFeature)


def compare(qtbot: QtBot, desk: Desk, *selected: int) -> CompareFeature:
    """Compares the runs selected in the history."""
    desk.history.select(selected)
    desk.bar.trigger("history.tabulate")
    feature = desk.features[CompareFeature]
    qtbot.waitUntil(lambda: feature.pages.currentIndex() == 1)
    return feature


def run_with(desk: Desk, **values: Any) -> int:
    """Runs the scenario with other values, and leaves no unsaved changes."""
    for key, value in values.items():
        documents.set_value(desk.document_stack, desk.documents.doc, key, value)
    desk.document_stack.setClean()
    return desk.run_once()


def compared_ids(feature: CompareFeature) -> list[int]:
    return [run.id for run in feature.view.settings.runs]


Ask = Callable[[bool], None]
CONTROLLER = "flows.download.controller"


@pytest.fixture
def compared(qtbot: QtBot, desk: Desk) -> CompareFeature:
    """Two seeds with LIA against two with OLIA, selected in the history and compared."""
    numbers = [run_with(desk, **{CONTROLLER: name, "seed": seed}) for name in ("lia", "olia") for seed in (1, 2)]
    return compare(qtbot, desk, *numbers)


def headings(feature: CompareFeature) -> list[str]:
    model = feature.view.model
    return [str(model.headerData(place, Qt.Orientation.Horizontal)) for place in range(model.columnCount())]


def cells(feature: CompareFeature, row: int = 0) -> list[str]:
    model = feature.view.sorted
    return [str(model.index(row, column).data()) for column in range(model.columnCount())]


def recompared(qtbot: QtBot, feature: CompareFeature, change: Callable[[], object]) -> None:
    with qtbot.waitSignal(feature.view.model.modelReset):
        change()


def test_groups_are_compared_with_the_first_and_with_any_other(qtbot: QtBot, compared: CompareFeature) -> None:
    view = compared.view
    QAbstractItemModelTester(view.model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    # The group of the oldest run is the first reference.
    assert headings(compared) == ["Measure", "A: lia", "B: olia", "B − A", "B: significance"]
    name, lia, olia, difference, significance = cells(compared)
    assert (name, "±" in lia, "±" in olia) == ("Goodput, Mbit/s", True, True)
    assert difference.endswith("%)")
    assert re.match("p .*significant", significance)
    assert "Welch's t test" in view.told.text()
    view.reference.setCurrentIndex(1)
    with qtbot.waitSignal(view.model.modelReset):
        view.reference.activated.emit(1)
    assert headings(compared)[1:] == ["A: lia", "A − B", "A: significance", "B: olia"]
    turned = cells(compared)[2]
    assert turned.startswith("−")
    assert float(turned.split()[0].replace("−", "-")) == pytest.approx(-float(difference.split()[0]))


def test_the_test_can_be_chosen(qtbot: QtBot, compared: CompareFeature) -> None:
    view = compared.view
    assert view.paired.isEnabled()
    recompared(qtbot, compared, view.paired.click)
    assert view.told.text().startswith("paired t test by seed")
    recompared(qtbot, compared, view.corrected.click)
    assert "Holm's correction" in view.told.text()
    few = view.model.rowCount()
    recompared(qtbot, compared, view.everything.click)
    assert view.model.rowCount() > few


def test_figures_are_filtered_and_exported(desk: Desk, compared: CompareFeature, tmp_path: Path) -> None:
    view = compared.view
    QTest.keyClicks(view.filter, "rtt")
    assert 0 < view.sorted.rowCount() < view.model.rowCount()
    view.table.sortByColumn(0, Qt.SortOrder.DescendingOrder)
    first, last = cells(compared)[0], cells(compared, view.sorted.rowCount() - 1)[0]
    assert (first, last) == ("Mean RTT, ms", "download: Mean RTT, ms")
    view.copy()
    assert QGuiApplication.clipboard().text().splitlines()[1].startswith("weighted_rtt_s\t2\t")
    child(view, QPushButton, "comparison_save").click()
    dialog = present(desk.exports.dialog)
    assert dialog.format == DATA
    assert not dialog.style_box.isEnabled()
    dialogs = desk.dialogs
    assert isinstance(dialogs, ScriptedDialogs)
    dialogs.answer("save_path", tmp_path / "no" / "table.csv", tmp_path / "table.csv")
    dialog.export_button.click()
    desk.qtbot.waitUntil(lambda: "cannot" in dialog.problem.text() or "No such" in dialog.problem.text())
    with desk.qtbot.waitSignal(desk.exports.written):
        dialog.export_button.click()
    assert (tmp_path / "table.csv").read_text().splitlines()[1].startswith("weighted_rtt_s,2,")
    assert desk.exports.dialog is None


def test_a_run_is_laid_on_the_time_of_another(qtbot: QtBot, desk: Desk, compared: CompareFeature) -> None:
    view = compared.view
    view.tabs.setCurrentIndex(1)
    assert (view.ours.currentData(), view.theirs.currentData()) == (1, 2)
    view.theirs.setCurrentIndex(0)
    view.align()
    assert view.aligned.text() == "Choose two different runs."
    view.theirs.setCurrentIndex(1)
    view.way.setCurrentIndex(2)
    view.way.activated.emit(2)
    assert view.offset.isEnabled()
    assert not view.skew.isEnabled()
    view.offset.setValue(0.5)
    QTest.mouseClick(view.align_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: view.errors.rowCount() > 0)
    assert view.aligned.text() == "Run 2 on the time of run 1: +0.5 s."
    QTest.mouseClick(view.show_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: desk.shown.ids == {1, 2})
    first, second = desk.plots.runs
    assert isinstance(second, AlignedTraces)
    assert second.title == "Two paths (+0.5 s)"
    assert first.title == "Two paths"


def test_without_runs_the_panel_says_what_to_do(desk: Desk) -> None:
    desk.docks.go_to("compare")
    assert desk.features[CompareFeature].pages.currentIndex() == 0
    desk.docks.set_open("compare", False)
    desk.bar.trigger("history.tabulate")
    assert desk.docks.is_open("compare")
    assert desk.features[CompareFeature].pages.currentIndex() == 0


def test_the_oldest_run_is_the_reference_however_the_list_is_sorted(qtbot: QtBot, desk: Desk) -> None:
    older, newer = desk.run_once(), run_with(desk, **{CONTROLLER: "olia"})
    # Newest first, like the list.
    desk.history.select([newer, older])
    desk.opening.show()
    qtbot.waitUntil(lambda: desk.shown.count == 2)
    assert [desk.shown.id_of(0), desk.shown.id_of(1)] == [older, newer]

    feature = compare(qtbot, desk, newer, older)

    assert compared_ids(feature) == [older, newer]
    view = feature.view
    settings = {view.settings.index(row, 0).data(): view.settings.index(row, 2).data() for row in range(3)}
    assert settings[CONTROLLER] == "≠ olia"
    few = view.settings.rowCount()
    view.equal.click()
    assert view.settings.rowCount() > few
    view.copy_settings()
    assert "links.wifi.rate" in QGuiApplication.clipboard().text()
    QAbstractItemModelTester(view.settings, QAbstractItemModelTester.FailureReportingMode.Fatal)


def test_one_selected_run_is_compared_with_the_one_that_is_shown(qtbot: QtBot, desk: Desk) -> None:
    first, second = desk.run_once(), desk.run_once()
    assert [desk.shown.id_of(0), desk.shown.count] == [second, 1]

    feature = compare(qtbot, desk, first)

    assert compared_ids(feature) == [first, second]
    assert feature.view.scenario.text() == "Scenario: Two paths"


def test_runs_that_were_shown_last_are_compared(qtbot: QtBot, desk: Desk) -> None:
    numbers = [desk.run_once() for _ in range(4)]
    desk.history.select(numbers[:2])
    desk.shown.show_stored(desk.store, numbers[2:])
    qtbot.waitUntil(lambda: desk.shown.count == 2)
    desk.bar.trigger("history.tabulate")
    feature = desk.features[CompareFeature]
    qtbot.waitUntil(lambda: feature.pages.currentIndex() == 1)
    assert compared_ids(feature) == numbers[2:]
    desk.history.select(numbers[:1])
    compare(qtbot, desk, *numbers[:2])
    qtbot.waitUntil(lambda: compared_ids(feature) == numbers[:2])


def test_one_run_is_compared_with_the_newest_other_of_its_scenario(qtbot: QtBot, desk: Desk) -> None:
    first, second = desk.run_once(), run_with(desk, seed=7)
    run_with(desk, name="Another scenario")
    assert desk.shown.count == 1
    assert compared_ids(compare(qtbot, desk, second)) == [first, second]


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> FakeWorker:
    """The worker of a machine with all kernel features."""
    return install(monkeypatch)


@pytest.fixture
def ask_kernel(desk: Desk, dialogs: ScriptedDialogs) -> Ask:
    """Requests a run by the kernel, and confirms or declines."""

    def ask(agrees: bool) -> None:
        desk.documents.open_text(ONE_PATH, "one-path")
        dialogs.answer("confirm", agrees)
        desk.bar.trigger("study.kernel")

    return ask


def test_the_kernel_runs_the_scenario(qtbot: QtBot, desk: Desk, kernel: FakeWorker, ask_kernel: Ask) -> None:
    feature = desk.features[CompareFeature]
    ask_kernel(True)
    qtbot.waitUntil(lambda: feature.pages.currentIndex() == 1 and feature.view.traces is not None)
    assert len(kernel.jobs) == 1
    traces = present(feature.view.traces)
    assert (traces.reference, traces.other, traces.alignment.offset_s) == (1, 2, 0.0)
    assert "goodput_bps" in {error.pair.reference.name for error in traces.errors}
    assert desk.store.run(2).tags == ("kernel",)
    assert desk.bar["study.kernel"].isEnabled()


def test_the_kernel_may_refuse(qtbot: QtBot, desk: Desk, ask_kernel: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_probe, "probe_machine", lambda: Machine("6.1", (), {"namespace": "no namespaces here"}))
    ask_kernel(True)
    qtbot.waitUntil(lambda: "kernel" in desk.banners.topics())
    assert "no namespaces here" in desk.banners.text("kernel")
    assert desk.history.runs() == []


def test_the_kernel_waits_for_consent(
    desk: Desk, kernel: FakeWorker, dialogs: ScriptedDialogs, ask_kernel: Ask
) -> None:
    ask_kernel(False)
    ((_, texts),) = dialogs.asked
    assert "takes" in texts[2]
    assert (kernel.jobs, desk.bar["study.kernel"].isEnabled()) == ([], True)


def test_the_kernels_run_can_be_stopped(
    qtbot: QtBot, desk: Desk, kernel: FakeWorker, ask_kernel: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = threading.Event()

    def patient(job: object, *, timeout_s: float, progress: Callable[[float], None]) -> dict[str, object]:
        begun.set()
        for tick in itertools.count():
            progress(0.01 * tick)  # raises after a stop
        raise AssertionError

    monkeypatch.setattr(kernel_compare, "ask_worker", patient)
    ask_kernel(True)
    assert begun.wait(20)
    assert not desk.bar["study.kernel"].isEnabled()
    strip = present(desk.features[CompareFeature].panel.findChild(QWidget, "kernel_strip"))
    assert strip.isVisible()
    desk.bar.trigger("study.stop_kernel")
    qtbot.waitUntil(lambda: "kernel" in desk.banners.topics())
    assert desk.banners.text("kernel") == "The comparison with the kernel was stopped."
    assert not strip.isVisible()
    assert desk.history.runs() == []
