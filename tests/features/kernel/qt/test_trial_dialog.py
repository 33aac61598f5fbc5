"""Run > Try in the kernel: what is needed, both curves, and the runs that are kept; a fake kernel, and this one."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot
from tests.features.kernel.core.test_compare import FakeWorker
from tests.features.kernel.core.test_kernel_run import machine
from tests.helpers.desk import Desk, MakeDesk
from tests.helpers.fake_kernel import ONE_PATH, install
from tests.helpers.kernel_loading import needs_kernel
from tests.helpers.present import present

from subflow_app.features.comparison.qt.feature import CompareFeature
from subflow_app.features.kernel.core import compare, loading, probe, trial
from subflow_app.features.kernel.core.probe import Machine
from subflow_app.features.kernel.qt.dialog import TrialDialog
from subflow_app.features.kernel.qt.feature import KernelFeature
from subflow_app.features.sweeps.qt.feature import SweepFeature

OWN = (
    ONE_PATH.replace('"One path"', '"Own"').replace('"newreno"', '"mine"')
    + """\
[controllers.mine]
script = "mine.py"
content = '''
def on_ack(w, ack):
    w.cwnd += 2 / w.cwnd
'''
"""
)
PLAN = "plan(w, moment):\n    return 0.1\ndef on_interval(w, record, moment):\n    w.rate = 1 / moment.srtt"


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    return make_desk(KernelFeature, CompareFeature, SweepFeature)


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> FakeWorker:
    return install(monkeypatch)


@pytest.fixture
def ask(desk: Desk, qtbot: QtBot) -> Callable[[], TrialDialog]:
    """Opens the dialog, and waits for the requirements."""

    def opened() -> TrialDialog:
        desk.bar.trigger("run.try_kernel")
        dialog = present(desk.features[KernelFeature].dialog)
        qtbot.waitUntil(lambda: dialog.start.isEnabled() or dialog.problem.isVisible(), timeout=20_000)
        return dialog

    return opened


def names(dialog: TrialDialog) -> list[str]:
    return [dialog.controller.itemText(number) for number in range(dialog.controller.count())]


def test_the_controllers_are_those_of_the_scenario_and_the_shipped_ones_that_fit(
    desk: Desk, kernel: FakeWorker, ask: Callable[[], TrialDialog]
) -> None:
    desk.documents.open_text(OWN, "own")
    dialog = ask()
    assert names(dialog) == ["mine", "balia", "bdp", "cubic", "lia", "newreno", "olia", "shy", "vegas"]
    assert dialog.needs.text().count("✓") == 3
    assert not dialog.copy.isVisible()


def test_both_runs_are_kept_and_compared(
    desk: Desk, qtbot: QtBot, kernel: FakeWorker, ask: Callable[[], TrialDialog]
) -> None:
    dialog = ask()
    dialog.network.choose("paths")
    qtbot.waitUntil(lambda: dialog.start.isEnabled())
    dialog.start.click()
    qtbot.waitUntil(lambda: dialog.compare.isEnabled(), timeout=20_000)
    assert "Kept as runs 1 and 2" in dialog.outcome.text()
    assert desk.store.run(2).tags == ("kernel",)
    (flow,) = kernel.jobs[0]["networks"][0]["flows"]
    assert flow["congestion_control"] == "sf_balia_000000"
    assert len(present(dialog.goodput.panel).series[0].means) == trial.DURATION_S * 2
    feature = desk.features[CompareFeature]
    dialog.compare.click()
    qtbot.waitUntil(lambda: feature.pages.currentIndex() == 1 and feature.view.traces is not None)
    assert desk.features[KernelFeature].dialog is None


def test_the_curve_of_the_kernel_grows(
    qtbot: QtBot, kernel: FakeWorker, ask: Callable[[], TrialDialog], monkeypatch: pytest.MonkeyPatch
) -> None:
    grown = threading.Event()

    def growing(job: dict[str, object], *, timeout_s: float, progress: Callable[[float], None]) -> dict[str, object]:
        with open(str(job["live"]), "w", encoding="ascii") as file:  # noqa: PTH123 - kept open between two lines
            for tick in itertools.count(1):
                file.write(f"[{tick / 10}, [4e6, [{tick}]]]\n[{tick / 10 + 0.1}, [4e")
                file.flush()
                progress(tick / 10)  # raises after a stop
                file.write("6, [1]]]\n")
                grown.wait(0.02)
        raise AssertionError

    monkeypatch.setattr(compare, "ask_worker", growing)
    dialog = ask()
    dialog.start.click()

    def points() -> int:
        panel = dialog.window_plot.panel
        return 0 if panel is None else int(np.isfinite(panel.series[1].means).sum())

    qtbot.waitUntil(lambda: points() > 3, timeout=20_000)
    first = points()
    qtbot.waitUntil(lambda: points() > first)
    assert present(dialog.goodput.panel).series[1].means[0] == pytest.approx(4.0)
    dialog.start.click()  # stops
    qtbot.waitUntil(lambda: "nothing of it is kept" in dialog.outcome.text())


def test_what_is_missing_is_said_with_the_command(
    kernel: FakeWorker, ask: Callable[[], TrialDialog], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "probe_machine", lambda: Machine("6.1", (), {"namespace": "no namespaces here"}))
    monkeypatch.setattr(loading, "reason_against", lambda: f"it takes: {loading.grant_command()}")
    dialog = ask()
    assert not dialog.start.isEnabled()
    assert "no namespaces here" in dialog.problem.text()
    assert dialog.needs.text().count("✗") == 2
    dialog.copy.click()
    assert QGuiApplication.clipboard().text() == loading.grant_command()


def test_a_controller_that_the_kernel_cannot_run_is_refused_by_its_line(
    desk: Desk, kernel: FakeWorker, ask: Callable[[], TrialDialog]
) -> None:
    desk.documents.open_text(OWN.replace("on_ack(w, ack):\n    w.cwnd += 2 / w.cwnd", PLAN), "own")
    dialog = ask()
    assert "mine line 1: plan: the kernel reports no monitor intervals" in dialog.problem.text()
    assert not dialog.start.isEnabled()


@pytest.mark.timeout(240)
def test_this_machine_runs_a_controller(
    qtbot: QtBot, desk: Desk, ask: Callable[[], TrialDialog], monkeypatch: pytest.MonkeyPatch
) -> None:
    needs_kernel()
    if reasons := machine().reasons_against():
        pytest.skip("; ".join(reasons))
    monkeypatch.setattr(trial, "DURATION_S", 5)
    dialog = ask()
    dialog.controller.choose("lia")
    dialog.network.choose("paths")
    qtbot.waitUntil(lambda: dialog.start.isEnabled(), timeout=20_000)
    dialog.start.click()
    qtbot.waitUntil(lambda: dialog.compare.isEnabled(), timeout=90_000)
    kernel = present(dialog.goodput.panel).series[1].means
    assert np.isfinite(kernel).all()
    assert len(kernel) == 10
    assert kernel.max() > 2
    assert desk.store.run(2).tags == ("kernel",)
