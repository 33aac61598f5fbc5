"""The panel of comparisons: groups of stored runs, their table, and traces of two runs on one time."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from tests.features.kernel.core.test_compare import FakeWorker
from tests.helpers.desk import Desk, MakeDesk
from tests.helpers.fake_kernel import ONE_PATH, install
from tests.helpers.window import ScriptedDialogs

from subflow_app.features.comparison.core.alignment import AlignedTraces
from subflow_app.features.comparison.qt.feature import CompareFeature
from subflow_app.features.editor.qt import documents
from subflow_app.features.kernel.core import compare as kernel_compare
from subflow_app.features.kernel.core import probe as kernel_probe
from subflow_app.features.kernel.core.probe import Machine
from subflow_app.features.sweeps.qt.feature import SweepFeature


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    """Comparisons, also of the runs of a sweep."""
    return make_desk(CompareFeature, SweepFeature)


@pytest.fixture
def compared(qtbot: QtBot, desk: Desk) -> CompareFeature:
    """Two seeds with LIA against two with OLIA, selected in the history and compared."""
    for controller in ("lia", "olia"):
        documents.set_value(desk.document_stack, desk.documents.doc, "flows.download.controller", controller)
        for seed in (1, 2):
            documents.set_value(desk.document_stack, desk.documents.doc, "seed", seed)
            desk.run_once()
    desk.document_stack.setClean()
    feature = desk.features[CompareFeature]
    desk.history.select([1, 2, 3, 4])
    desk.bar.trigger("study.compare")
    qtbot.waitUntil(lambda: feature.pages.currentIndex() == 1, timeout=20_000)
    return feature


def headings(feature: CompareFeature) -> list[str]:
    model = feature.view.model
    return [str(model.headerData(place, Qt.Orientation.Horizontal)) for place in range(model.columnCount())]


def cells(feature: CompareFeature, row: int = 0) -> list[str]:
    model = feature.view.sorted
    return [str(model.index(row, column).data()) for column in range(model.columnCount())]


def recompared(qtbot: QtBot, feature: CompareFeature, change: Callable[[], object]) -> None:
    with qtbot.waitSignal(feature.view.model.modelReset, timeout=20_000):
        change()


def test_groups_are_compared_with_the_first_and_with_any_other(qtbot: QtBot, compared: CompareFeature) -> None:
    view = compared.view
    QAbstractItemModelTester(view.model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    # The oldest run's group is the reference at first.
    assert headings(compared) == ["Figure", "A: lia", "B: olia", "B − A", "B: significance"]
    name, lia, olia, difference, significance = cells(compared)
    assert name == "Goodput, Mbit/s"
    assert "±" in olia
    assert "±" in lia
    assert difference.endswith("%)")
    assert significance.startswith("p ")
    assert "significant" in significance
    assert "Welch's t test" in view.told.text()
    view.reference.setCurrentIndex(1)
    with qtbot.waitSignal(view.model.modelReset, timeout=20_000):
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


def test_figures_are_filtered_sorted_copied_and_saved(
    compared: CompareFeature, dialogs: ScriptedDialogs, tmp_path: Path
) -> None:
    view = compared.view
    QTest.keyClicks(view.filter, "rtt")
    assert 0 < view.sorted.rowCount() < view.model.rowCount()
    view.table.sortByColumn(0, Qt.SortOrder.DescendingOrder)
    first, last = cells(compared)[0], cells(compared, view.sorted.rowCount() - 1)[0]
    assert (first, last) == ("Mean RTT, ms", "download: Mean RTT, ms")
    view.copy()
    assert QGuiApplication.clipboard().text().splitlines()[1].startswith("weighted_rtt_s\t2\t")
    dialogs.answer("save_path", tmp_path / "table.csv", tmp_path / "no" / "table.csv")
    view.save()
    assert (tmp_path / "table.csv").read_text().splitlines()[1].startswith("weighted_rtt_s,2,")
    view.save()
    assert "Not written" in view.told.text()


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
    qtbot.waitUntil(lambda: view.errors.rowCount() > 0, timeout=20_000)
    assert view.aligned.text() == "Run 2 on the time of run 1: +0.5 s."
    QTest.mouseClick(view.show_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: desk.shown.ids == {1, 2}, timeout=20_000)
    first, second = desk.plots.runs
    assert isinstance(second, AlignedTraces)
    assert second.title == "Two paths (+0.5 s)"
    assert first.title == "Two paths"


def test_without_runs_the_panel_says_what_to_do(desk: Desk) -> None:
    desk.docks.go_to("compare")
    assert desk.features[CompareFeature].pages.currentIndex() == 0
    desk.docks.set_open("compare", False)
    desk.bar.trigger("study.compare")
    assert desk.docks.is_open("compare")
    assert desk.features[CompareFeature].pages.currentIndex() == 0


def test_the_oldest_run_is_the_reference_however_the_list_is_sorted(qtbot: QtBot, desk: Desk) -> None:
    older = desk.run_once()
    documents.set_value(desk.document_stack, desk.documents.doc, "flows.download.controller", "olia")
    newer = desk.run_once()
    desk.document_stack.setClean()
    feature = desk.features[CompareFeature]
    # Newest first, as the list is.
    desk.history.select([newer, older])
    desk.opening.show()
    qtbot.waitUntil(lambda: desk.shown.count == 2, timeout=20_000)
    assert [desk.shown.id_of(0), desk.shown.id_of(1)] == [older, newer]

    desk.bar.trigger("study.compare")

    qtbot.waitUntil(lambda: feature.pages.currentIndex() == 1, timeout=20_000)
    assert [run.id for run in feature.view.settings.runs] == [older, newer]
    view = feature.view
    settings = {view.settings.index(row, 0).data(): view.settings.index(row, 2).data() for row in range(3)}
    assert settings["flows.download.controller"] == "≠ olia"
    few = view.settings.rowCount()
    view.equal.click()
    assert view.settings.rowCount() > few
    view.copy_settings()
    assert "links.wifi.rate" in QGuiApplication.clipboard().text()
    QAbstractItemModelTester(view.settings, QAbstractItemModelTester.FailureReportingMode.Fatal)


def test_one_selected_run_is_compared_with_the_one_that_is_shown(qtbot: QtBot, desk: Desk) -> None:
    first, second = desk.run_once(), desk.run_once()
    assert [desk.shown.id_of(0), desk.shown.count] == [second, 1]
    desk.history.select([first])

    desk.bar.trigger("study.compare")

    feature = desk.features[CompareFeature]
    qtbot.waitUntil(lambda: feature.pages.currentIndex() == 1, timeout=20_000)
    assert [run.id for run in feature.view.settings.runs] == [first, second]
    assert feature.view.scenario.text() == "Scenario: Two paths"


def test_runs_that_were_shown_last_are_compared(qtbot: QtBot, desk: Desk) -> None:
    numbers = [desk.run_once() for _ in range(4)]
    feature, store = desk.features[CompareFeature], desk.store
    assert store is not None
    desk.history.select(numbers[:2])
    desk.shown.show_stored(store, numbers[2:])
    qtbot.waitUntil(lambda: desk.shown.count == 2, timeout=20_000)
    desk.bar.trigger("study.compare")
    qtbot.waitUntil(lambda: feature.pages.currentIndex() == 1, timeout=20_000)
    assert [run.id for run in feature.view.settings.runs] == numbers[2:]
    desk.history.select(numbers[:1])
    desk.history.select(numbers[:2])
    desk.bar.trigger("study.compare")
    qtbot.waitUntil(lambda: [run.id for run in feature.view.settings.runs] == numbers[:2], timeout=20_000)


def test_one_run_is_compared_with_the_newest_other_of_its_scenario(qtbot: QtBot, desk: Desk) -> None:
    first = desk.run_once()
    documents.set_value(desk.document_stack, desk.documents.doc, "seed", 7)
    second = desk.run_once()
    documents.set_value(desk.document_stack, desk.documents.doc, "name", "Another scenario")
    desk.run_once()
    desk.document_stack.setClean()
    assert desk.shown.count == 1
    desk.history.select([second])

    desk.bar.trigger("study.compare")

    feature = desk.features[CompareFeature]
    qtbot.waitUntil(lambda: feature.pages.currentIndex() == 1, timeout=20_000)
    assert [run.id for run in feature.view.settings.runs] == [first, second]


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> FakeWorker:
    """A machine that can do everything, and its worker."""
    return install(monkeypatch)


def test_the_kernel_runs_the_scenario_beside_a_simulation(qtbot: QtBot, desk: Desk, kernel: FakeWorker) -> None:
    desk.documents.open_text(ONE_PATH, "one-path")
    feature = desk.features[CompareFeature]
    assert isinstance(desk.dialogs, ScriptedDialogs)
    desk.dialogs.answer("confirm", True)
    desk.bar.trigger("study.kernel")
    qtbot.waitUntil(lambda: feature.pages.currentIndex() == 1 and feature.view.traces is not None, timeout=20_000)
    assert len(kernel.jobs) == 1
    traces = feature.view.traces
    assert traces is not None
    assert (traces.reference, traces.other, traces.alignment.offset_s) == (1, 2, 0.0)
    assert "goodput_bps" in {error.pair.reference.name for error in traces.errors}
    store = desk.store
    assert store.run(2).tags == ("kernel",)
    assert desk.bar["study.kernel"].isEnabled()


def test_what_the_kernel_cannot_run_is_said(qtbot: QtBot, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_probe, "probe_machine", lambda: Machine("6.1", (), {"namespace": "no namespaces here"}))
    desk.documents.open_text(ONE_PATH, "one-path")
    assert isinstance(desk.dialogs, ScriptedDialogs)
    desk.dialogs.answer("confirm", True)
    desk.bar.trigger("study.kernel")
    qtbot.waitUntil(lambda: "kernel" in desk.banners.topics(), timeout=20_000)
    assert "no namespaces here" in desk.banners.text("kernel")
    assert desk.history.runs() == []


def test_the_kernel_runs_nothing_before_one_agreed(desk: Desk, kernel: FakeWorker) -> None:
    desk.documents.open_text(ONE_PATH, "one-path")
    assert isinstance(desk.dialogs, ScriptedDialogs)
    desk.dialogs.answer("confirm", False)
    desk.bar.trigger("study.kernel")
    ((_, texts),) = desk.dialogs.asked
    assert "takes" in texts[2]
    assert (kernel.jobs, desk.bar["study.kernel"].isEnabled()) == ([], True)


def test_the_kernels_run_can_be_stopped(qtbot: QtBot, desk: Desk, kernel: FakeWorker, monkeypatch) -> None:
    begun = threading.Event()

    def patient(job: object, *, timeout_s: float, progress: Callable[[float], None]) -> dict[str, object]:
        begun.set()
        for tick in itertools.count():
            progress(0.01 * tick)  # raises once it was stopped
        raise AssertionError

    monkeypatch.setattr(kernel_compare, "ask_worker", patient)
    desk.documents.open_text(ONE_PATH, "one-path")
    assert isinstance(desk.dialogs, ScriptedDialogs)
    desk.dialogs.answer("confirm", True)
    desk.bar.trigger("study.kernel")
    assert begun.wait(20)
    assert not desk.bar["study.kernel"].isEnabled()
    strip = desk.features[CompareFeature].panel.findChild(QWidget, "kernel_strip")
    assert strip is not None
    assert strip.isVisible()
    desk.bar.trigger("study.stop_kernel")
    qtbot.waitUntil(lambda: "kernel" in desk.banners.topics(), timeout=20_000)
    assert desk.banners.text("kernel") == "The comparison with the kernel was stopped."
    assert not strip.isVisible()
    assert desk.history.runs() == []
