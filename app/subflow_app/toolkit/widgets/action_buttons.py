"""Buttons of actions in a row of a panel."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QToolButton


def action_buttons(actions: Iterable[QAction]) -> list[QToolButton]:
    """An icon to press for each."""
    buttons = []
    for action in actions:
        button = QToolButton(autoRaise=True)
        button.setDefaultAction(action)
        buttons.append(button)
    return buttons
