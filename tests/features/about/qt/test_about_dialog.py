"""The dialog about Subflow: the licences of its parts."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from subflow_app.features.about import qt as about_dialog
from subflow_app.features.about.core import Part
from subflow_app.features.about.qt import AboutDialog
from subflow_app.foundation.errors import ResourceError
from subflow_app.shell.main_window import MainWindow

PARTS = (
    Part("Subflow", "1.0", "MIT", "", "free", ()),
    Part("Qt", "6", "LGPL-3.0-only", "", "may be replaced", ()),
    Part("lost", "", "", "", "", (Path("/nowhere/LICENSE"),)),
)


def show(qtbot: QtBot, window: MainWindow) -> AboutDialog:
    window.bar.trigger("help.about")
    dialog = window.findChild(AboutDialog)
    assert dialog is not None
    dialog.tabs.setCurrentWidget(dialog.licences)
    qtbot.waitUntil(lambda: not window.workers.is_busy)
    return dialog


def test_licences_are_listed_filtered_and_read(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(about_dialog, "licence_parts", lambda: PARTS)
    dialog = show(qtbot, window)
    page = dialog.licences

    assert [page.model.index(row, 0).data() for row in range(3)] == [
        "Subflow 1.0 · MIT",
        "Qt 6 · LGPL-3.0-only",
        "lost",
    ]
    assert page.text.toPlainText() == PARTS[0].text()
    page.filter.setText("lgpl")
    assert "may be replaced" in page.text.toPlainText()
    page.filter.setText("lost")
    assert "/nowhere/LICENSE cannot be read" in page.text.toPlainText()
    page.filter.setText("none of them")
    assert page.text.toPlainText() == "Nothing matches."
    dialog.reject()


def test_a_damaged_installation_is_said_in_the_place_of_the_licences(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    def damaged() -> tuple[Part, ...]:
        raise ResourceError("index.json cannot be read: install Subflow again")

    monkeypatch.setattr(about_dialog, "licence_parts", damaged)
    dialog = show(qtbot, window)

    assert dialog.licences.text.toPlainText() == "index.json cannot be read: install Subflow again"
    dialog.reject()
