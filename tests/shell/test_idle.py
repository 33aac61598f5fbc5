"""A window without input does nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from subflow_app.features.playhead.qt.feature import PlayheadFeature
from subflow_app.shell.main_window import MainWindow

WORK = (QEvent.Type.LayoutRequest, QEvent.Type.Resize, QEvent.Type.Paint)


class Work(QObject):
    """Counts the events by which widgets are arranged and painted, by event and widget."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: Counter[str] = Counter()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in WORK:
            self.seen[f"{event.type().name} of {type(watched).__name__}"] += 1
        return False


def work_in(qtbot: QtBot, time_ms: int) -> Counter[str]:
    """Events in an application without input."""
    work, application = Work(), QApplication.instance()
    assert application is not None
    application.installEventFilter(work)
    qtbot.wait(time_ms)
    application.removeEventFilter(work)
    return work.seen


def test_an_idle_window_is_neither_arranged_nor_painted(
    qtbot: QtBot, window: MainWindow, run_once: Callable[[], int]
) -> None:
    playhead = window.features[PlayheadFeature].playhead
    for prepare in (lambda: None, run_once, lambda: playhead.seek(2.0), lambda: window.resize(1100, 700)):
        prepare()
        qtbot.waitUntil(lambda: not work_in(qtbot, 100))
        assert not work_in(qtbot, 300)
