"""Parts drawn by Qt itself, such as buttons of dialogs, have the icons of this program in the colours of the theme."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject, QSize
from PySide6.QtWidgets import QApplication, QLineEdit, QMessageBox, QStyle, QToolButton
from pytestqt.qtbot import QtBot

from subflow_app.toolkit.app_theme import MEANINGS, Theme
from subflow_app.toolkit.icons import GLYPHS, icon
from subflow_app.toolkit.theme import CONTRAST, DARK, LIGHT, ThemeMode, Tokens

SIZE = QSize(16, 16)


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    owner = QObject()
    made = Theme(qapp, "light", owner)
    yield made
    made.set_mode("light")


def test_every_meaning_has_an_icon() -> None:
    assert set(MEANINGS.values()) <= set(GLYPHS)


def test_every_button_of_a_dialog_has_an_icon() -> None:
    # Qt's own table of icons of dialog buttons.
    names = ("Ok", "Save", "SaveAll", "Open", "Yes", "YesToAll", "No", "NoToAll", "Abort", "Retry", "Ignore", "Close",
             "Cancel", "Discard", "Help", "Apply", "Reset")  # fmt: skip
    assert {getattr(QStyle.StandardPixmap, f"SP_Dialog{name}Button") for name in names} <= set(MEANINGS)


def test_dialogs_and_fields_take_them(qtbot: QtBot, qapp: QApplication, theme: Theme) -> None:
    modes: tuple[tuple[ThemeMode, Tokens], ...] = (("light", LIGHT), ("dark", DARK), ("contrast", CONTRAST))
    for mode, tokens in modes:
        theme.set_mode(mode)
        box = QMessageBox(QMessageBox.Icon.Warning, "Save?", "It was changed.")
        qtbot.addWidget(box)
        style = qapp.style()
        cancel = style.standardIcon(QStyle.StandardPixmap.SP_DialogCancelButton)
        assert cancel.pixmap(SIZE).toImage() == icon("close").pixmap(SIZE).toImage()
        side = box.iconPixmap().size()
        assert box.iconPixmap().toImage() == icon("warning", tokens.warning).pixmap(side).toImage()

    field = QLineEdit()
    qtbot.addWidget(field)
    field.setClearButtonEnabled(True)
    (clear,) = field.findChildren(QToolButton)
    assert clear.icon().pixmap(SIZE).toImage() == icon("close").pixmap(SIZE).toImage()


def test_an_icon_follows_the_theme_by_itself(theme: Theme) -> None:
    shown = icon("save")
    before = shown.pixmap(SIZE).toImage()

    theme.set_mode("dark")

    assert shown.pixmap(SIZE).toImage() != before
    assert shown.pixmap(SIZE).toImage() == icon("save", DARK.text).pixmap(SIZE).toImage()
