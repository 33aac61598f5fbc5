"""Every dialog fits a screen of 800x600, and one of 1366x768 at 150 %, in English and in German."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QSize, QTimer
from PySide6.QtWidgets import QApplication, QDialog
from pytestqt.qtbot import QtBot
from tests.helpers.walk.hands import front_dialog
from tests.helpers.window import ScriptedDialogs

from subflow_app.foundation.resources import use_language
from subflow_app.shell.main_window import MainWindow
from subflow_app.toolkit.dialogs import fit_dialog

# The smaller of both sides of 800x600 and 911x512, without the frame of the dialog, px.
ROOM = QSize(792, 476)
# Dialogs that open without three dots in the name of their command.
OTHERS = ("help.shortcuts", "help.welcome", "help.about", "help.palette", "help.crash_reports")
# The desktop's own file dialogs.
LEFT_OUT = ("file.open", "file.save_as", "file.open_database", "file.copy_database")
_WAIT_MS = 250


def least_size(dialog: QDialog) -> QSize:
    return dialog.minimumSizeHint().expandedTo(dialog.minimumSize())


@pytest.mark.timeout(240)
@pytest.mark.parametrize("language", ["de", pytest.param("en", marks=pytest.mark.full("German texts are longer"))])
def test_every_dialog_fits_a_small_screen(
    qtbot: QtBot, window: MainWindow, run_once: Callable[[], int], monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    monkeypatch.setattr(ScriptedDialogs, "_ask", lambda *_arguments: None)
    run_once()
    window.history.select([window.history.runs()[0].id])
    window.topology.select("flows.download")
    sizes: dict[str, QSize] = {}

    def look(action_id: str) -> None:
        dialog = front_dialog()
        if dialog is not None:
            sizes[f"{action_id}: {type(dialog).__name__}"] = least_size(dialog)
            dialog.reject()

    use_language(language)
    try:
        for action_id in (*window.bar.ids(), *OTHERS):
            action = window.bar[action_id]
            asks = action.text().endswith("…") or action_id in OTHERS
            if asks and action.isEnabled() and action_id not in LEFT_OUT:
                # Some dialogs wait for their answer.
                QTimer.singleShot(_WAIT_MS, window, lambda action_id=action_id: look(action_id))
                window.bar.trigger(action_id)
                qtbot.wait(_WAIT_MS + 100)
                QApplication.processEvents()
    finally:
        use_language("en")
    assert len(sizes) > 10
    assert {"file.export_figure: FigureDialog", "file.export_drawing: FigureDialog"} <= sizes.keys()
    too_large = {name: size for name, size in sizes.items() if size != size.boundedTo(ROOM)}
    assert too_large == {}


def test_a_dialog_is_no_larger_than_its_screen(qtbot: QtBot) -> None:
    dialog = QDialog()
    qtbot.addWidget(dialog)
    dialog.resize(20_000, 300)
    fit_dialog(dialog)
    assert dialog.width() <= dialog.screen().availableSize().width()
    assert dialog.height() == 300
