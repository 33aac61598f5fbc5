"""A reader follows the guide's page on writing controllers, step by step, in the panel of scripts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from tests.helpers.desk import Desk, MakeDesk
from tests.helpers.present import present
from tests.helpers.printed_code import ROOT, blocks
from tests.helpers.window import ScriptedDialogs

from subflow_app.features.script.qt.desk import NewScript
from subflow_app.features.script.qt.feature import ScriptFeature
from subflow_app.features.traces.core.traces import StoredTraces

WRITTEN = {block.saved_as: block.text for block in blocks(ROOT / "docs" / "write-a-controller.md") if block.saved_as}


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    return make_desk(ScriptFeature)


@pytest.fixture
def feature(desk: Desk) -> ScriptFeature:
    return desk.features[ScriptFeature]


def settle(qtbot: QtBot, desk: Desk) -> None:
    session = desk.features[ScriptFeature].session
    qtbot.waitUntil(
        lambda: not (desk.runs.is_running or session.study.is_running or session.reader.is_busy), timeout=60_000
    )


def write(qtbot: QtBot, desk: Desk, text: str) -> None:
    """Replaces the text of the editor and saves it by the key."""
    editor = desk.features[ScriptFeature].session.panel.editor
    QApplication.clipboard().setText(text)
    QTest.keyClick(editor, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(editor, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert editor.text == text
    QTest.keyClick(editor, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    settle(qtbot, desk)
    assert editor.problems == ()


def curve(desk: Desk, run: int, column: str, owner: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    store = desk.store
    traces = StoredTraces(store, run)
    times, values = traces.read(next(key for key in traces.keys() if (key.name, key.owner) == (column, owner)))  # noqa: SIM118
    return np.asarray(times, np.float64), np.asarray(values, np.float64)


def least_kept(values: NDArray[np.float64]) -> float:
    """Smallest ratio of the window after a loss to that before, without slow start."""
    late = values[len(values) // 2 :]
    return float(np.min(late[3:] / late[:-3]))


def test_scalable_tcp(desk: Desk, feature: ScriptFeature, dialogs: ScriptedDialogs, qtbot: QtBot) -> None:
    desk.documents.open_example("reno-sawtooth")
    dialogs.answer("NewScriptDialog", NewScript("scalable", ("reno",)))
    desk.bar.trigger("script.new_controller")
    settle(qtbot, desk)
    reno = desk.history.runs()[0].id
    write(qtbot, desk, WRITTEN["scalable.py"])
    scalable = desk.history.runs()[0]
    assert scalable.id != reno
    assert [desk.shown.id_of(run) for run in range(desk.shown.count)] == [scalable.id, reno]

    # A loss leaves seven eighths of the window; the initial script halved it.
    assert least_kept(curve(desk, reno, "cwnd_pkts", "reno/1")[1]) < 0.6
    times, windows = curve(desk, scalable.id, "cwnd_pkts", "reno/1")
    assert least_kept(windows) == pytest.approx(0.875, abs=0.02)
    # Between losses it grows by 1 % per round trip. ACKs that cover two packets are counted accordingly.
    _, rtts = curve(desk, scalable.id, "srtt_s", "reno/1")
    half = len(windows) // 2
    growing = [
        math.log(windows[at + 1] / windows[at]) * rtts[at] / (times[at + 1] - times[at])
        for at in range(half, len(windows) - 1)
        if windows[at + 1] > windows[at]
    ]
    assert float(np.median(growing)) == pytest.approx(0.01, rel=0.15)

    # The next steps of the page: another value, and two versions side by side.
    write(qtbot, desk, WRITTEN["scalable.py"].replace("0.875", "0.5"))
    assert least_kept(curve(desk, desk.history.runs()[0].id, "cwnd_pkts", "reno/1")[1]) < 0.6
    assert len(feature.session.panel.versions.versions) == 3
    assert feature.session.panel.conformance.text_of("loss").endswith("%")


def test_the_least_loaded_path(desk: Desk, feature: ScriptFeature, dialogs: ScriptedDialogs, qtbot: QtBot) -> None:
    desk.documents.open_example("lab-unlike-paths")
    dialogs.answer("NewScriptDialog", NewScript("least-loaded", ("download",)))
    desk.bar.trigger("script.new_scheduler")
    settle(qtbot, desk)
    fastest = desk.history.runs()[0].id
    write(qtbot, desk, WRITTEN["least-loaded.py"])
    least_loaded = desk.history.runs()[0].id
    # The initial script chooses the lowest RTT; the slow path is rarely full.
    total, (wifi, lte) = goodput(desk, fastest)
    assert wifi > lte
    total_now, (wifi_now, lte_now) = goodput(desk, least_loaded)
    assert lte_now > 1.4 * lte
    assert wifi_now < 0.5 * wifi
    assert total_now < total
    assert len(feature.session.panel.versions.versions) == 2
    assert feature.session.panel.conformance.text_of("outage").endswith("%")


def goodput(desk: Desk, run: int) -> tuple[float, list[float]]:
    """Goodput of the download, and the throughput of its subflows."""
    store = desk.store
    summary = present(store.run(run).summary)
    (flow,) = summary["flows"]
    assert flow["scheduler"] == "least-loaded"
    return flow["goodput_bps"], [each["throughput_bps"] for each in flow["subflows"]]
