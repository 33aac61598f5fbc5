"""The eyes of the walk find what they look for, and nothing where all is well."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect
from PySide6.QtWidgets import QDialog, QLabel, QLineEdit, QMenu, QPushButton, QWidget
from pytestqt.qtbot import QtBot
from tests.helpers.walk.eyes import faults, wrapped


@pytest.fixture
def dialog(qtbot: QtBot) -> QDialog:
    made = QDialog()
    qtbot.addWidget(made)
    made.setGeometry(40, 40, 300, 200)
    return made


def _faults(dialog: QDialog) -> list[str]:
    dialog.show()
    return faults(dialog)


def test_nothing_is_wrong_with_what_has_names_and_room(dialog: QDialog) -> None:
    field = QLineEdit(dialog)
    field.setAccessibleName("Rate")
    QLabel("Rate", dialog).setGeometry(0, 60, 120, 30)
    QPushButton("OK", dialog).setGeometry(0, 100, 120, 30)
    assert _faults(dialog) == []


def test_a_field_without_a_name_is_seen(dialog: QDialog) -> None:
    QLineEdit(dialog).setObjectName("rate")
    assert _faults(dialog) == ["has no name: QLineEdit#rate < QDialog"]


def test_a_name_by_its_label_is_a_name(dialog: QDialog) -> None:
    QLabel("Rate", dialog).setBuddy(QLineEdit(dialog))
    assert _faults(dialog) == []


@pytest.mark.parametrize("kind", [QLabel, QPushButton])
def test_a_text_that_is_cut_off_is_seen(dialog: QDialog, kind: type[QLabel] | type[QPushButton]) -> None:
    part: QWidget = kind("The congestion window, in packets", dialog)
    part.setGeometry(0, 0, 40, 30)
    (fault,) = _faults(dialog)
    assert fault.startswith(f"is cut off: {kind.__name__} < QDialog 'The congestion window, in packets' needs ")


@pytest.mark.parametrize("place", [QRect(600, 40, 400, 200), QRect(40, -10, 300, 200), QRect(0, 0, 300, 900)], ids=str)
def test_a_dialog_that_the_screen_does_not_show_all_of_is_seen(qtbot: QtBot, dialog: QDialog, place: QRect) -> None:
    screen = dialog.screen().geometry()
    assert (screen.width(), screen.height()) == (800, 800), "the screen of memory that the places are for"
    dialog.setGeometry(place)
    (fault,) = _faults(dialog)
    assert fault.startswith("is outside the screen: QDialog ")


def test_a_menu_in_two_columns_is_seen(qtbot: QtBot) -> None:
    menu = QMenu()
    qtbot.addWidget(menu)
    menu.setObjectName("long")
    for number in range(20):
        menu.addAction(f"Command {number}")
    menu.popup(menu.pos())
    assert wrapped(menu) == []
    menu.close()
    for number in range(60):
        menu.addAction(f"Another {number}")
    menu.popup(menu.pos())
    (fault,) = wrapped(menu)
    assert fault.endswith("columns: QMenu#long")
    menu.close()
