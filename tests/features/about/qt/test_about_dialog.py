"""The dialog about Subflow lists the licences of its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from subflow_app.features.about import qt as about_dialog
from subflow_app.features.about.core import Part
from subflow_app.features.about.qt import AboutDialog
from subflow_app.foundation.errors import ResourceError
from subflow_app.toolkit.workers import Workers

PARTS = (
    Part("Subflow", "1.0", "MIT", "", "free", ()),
    Part("Qt", "6", "LGPL-3.0-only", "", "may be replaced", ()),
    Part("lost", "", "", "", "", (Path("/nowhere/LICENSE"),)),
)


Parts = Callable[[], tuple[Part, ...]]


@pytest.fixture
def show(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Parts], AboutDialog]]:
    """Opens the dialog at the licences and waits until they are read."""
    parent = QWidget()
    workers = Workers(parent)

    def shown(parts: Parts) -> AboutDialog:
        monkeypatch.setattr(about_dialog, "licence_parts", parts)
        dialog = AboutDialog(None, workers, parent)
        dialog.open()
        dialog.tabs.setCurrentWidget(dialog.licences)
        qtbot.waitUntil(lambda: not workers.is_busy)
        return dialog

    yield shown
    workers.finish_all()


def test_licences_are_listed_and_filtered(show: Callable[[Parts], AboutDialog]) -> None:
    dialog = show(lambda: PARTS)
    page = dialog.licences

    titles = [page.model.index(row, 0).data() for row in range(3)]
    assert titles == ["Subflow 1.0 · MIT", "Qt 6 · LGPL-3.0-only", "lost"]
    assert page.text.toPlainText() == PARTS[0].text()
    page.filter.setText("lgpl")
    assert "may be replaced" in page.text.toPlainText()
    page.filter.setText("lost")
    assert "/nowhere/LICENSE cannot be read" in page.text.toPlainText()
    page.filter.setText("none of them")
    assert page.text.toPlainText() == "Nothing matches."
    dialog.reject()


def test_a_damaged_installation_is_told_instead(show: Callable[[Parts], AboutDialog]) -> None:
    def damaged() -> tuple[Part, ...]:
        raise ResourceError("index.json cannot be read: install Subflow again")

    dialog = show(damaged)
    assert dialog.licences.text.toPlainText() == "index.json cannot be read: install Subflow again"
    dialog.reject()
