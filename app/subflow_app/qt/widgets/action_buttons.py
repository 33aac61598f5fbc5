"""Buttons of actions in a row of a panel."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QToolButton


def add_buttons(row: QHBoxLayout, actions: Iterable[QAction]) -> list[QToolButton]:
    """Adds an icon to press for each."""
    buttons = []
    for action in actions:
        button = QToolButton()
        button.setDefaultAction(action)
        button.setAutoRaise(True)
        row.addWidget(button)
        buttons.append(button)
    return buttons
