"""All visible parts have visible edges and are on screen; the walk checks their names and room."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QRect, QSettings
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtWidgets import QApplication, QCheckBox, QLineEdit, QListView, QSpinBox, QWidget
from pytestqt.qtbot import QtBot
from tests.helpers.members import for_each
from tests.helpers.window import make_window
from tests.helpers.worn_window import close_window

from subflow_app.shell.main_window import MainWindow
from subflow_app.shell.window_state import placed_on
from subflow_app.toolkit.app_theme import Theme
from subflow_app.toolkit.docks import LAYOUT_VERSION
from subflow_app.toolkit.theme import CONTRAST, DARK, ThemeMode, Tokens, contrast_ratio

SCREEN = QRect(0, 0, 1920, 1040)
LEFT_SCREEN = QRect(-1280, 0, 1280, 1024)


@pytest.mark.parametrize(("mode", "tokens"), [("dark", DARK), ("contrast", CONTRAST)])
def test_frames_are_seen_on_a_dark_ground(qtbot: QtBot, qapp: QApplication, mode: ThemeMode, tokens: Tokens) -> None:
    widgets: list[QWidget] = [QCheckBox(), QSpinBox(), QLineEdit(), QListView()]
    for widget in widgets:
        qtbot.addWidget(widget)
        widget.ensurePolished()
    Theme(qapp, mode)
    for widget in widgets:
        kind = type(widget)
        # Fusion draws outlines slightly darker than this colour.
        outline = widget.palette().window().color().darker(140).name()
        # WCAG 1.4.11: contrast of the outline that shows a control.
        assert contrast_ratio(outline, tokens.window) >= 3.0, kind.__name__
        assert contrast_ratio(outline, tokens.base) >= 3.0, kind.__name__
    Theme(qapp, "light")


def test_frames_of_the_light_set_are_those_of_the_palette(qtbot: QtBot, qapp: QApplication) -> None:
    Theme(qapp, "dark")
    Theme(qapp, "light")
    box = QCheckBox()
    qtbot.addWidget(box)
    box.ensurePolished()
    assert box.palette().window().color() == QColor(qapp.palette().window().color())


@for_each(
    ("was", "goes"),
    [
        # Unchanged: on screen, partly off screen with its title bar in reach, and on the second screen.
        (QRect(100, 50, 1400, 900), QRect(100, 50, 1400, 900)),
        (QRect(900, 50, 1400, 900), QRect(900, 50, 1400, 900)),
        (QRect(-1200, 20, 1000, 800), QRect(-1200, 20, 1000, 800)),
        # Saved on a screen to the right, on one far above, and on one larger than both.
        (QRect(2500, 300, 1400, 900), QRect(520, 140, 1400, 900)),
        (QRect(100, -900, 1400, 900), QRect(100, 0, 1400, 900)),
        (QRect(0, 0, 3840, 2100), QRect(0, 0, 1920, 1040)),
    ],
)
def test_a_window_comes_back_where_it_can_be_used(was: QRect, goes: QRect) -> None:
    assert placed_on(was, [SCREEN, LEFT_SCREEN]) == goes


def test_the_window_comes_back_from_a_screen_that_is_gone(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> None:
    elsewhere = QWidget()
    qtbot.addWidget(elsewhere)
    elsewhere.setGeometry(9000, 7000, 5000, 4000)
    state = QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat)
    state.setValue("version", LAYOUT_VERSION)
    state.setValue("geometry", elsewhere.saveGeometry())
    state.sync()
    window = make_window(qapp, tmp_path)
    room = QGuiApplication.primaryScreen().availableGeometry()
    assert room.contains(window.geometry().topLeft())
    assert window.geometry().left() < room.right() - 100
    close_window(qtbot, window)


def test_another_resolution_while_open_loses_nothing(qapp: QApplication, window: MainWindow) -> None:
    text, selected = window.documents.doc.text, "links.wifi"
    window.topology.select(selected)
    for kind in (QEvent.Type.DevicePixelRatioChange, QEvent.Type.ScreenChangeInternal, QEvent.Type.PolishRequest):
        for widget in (window, *window.findChildren(QWidget)):
            QApplication.sendEvent(widget, QEvent(kind))
    window.resize(700, 500)
    window.resize(1400, 900)
    qapp.processEvents()
    assert window.documents.doc.text == text
    assert window.topology.scene.chosen == (selected,)
    assert not window.grab().isNull()
