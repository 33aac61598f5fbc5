"""A line above or below a view, there only while something has to be said about what it shows."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from subflow_app.toolkit.plain_text import Label


class SaidLine(Label):
    """Hidden while it is empty."""

    def __init__(self, name: str, parent: QWidget) -> None:
        """An empty line with this object name."""
        super().__init__(parent)
        self.setObjectName(name)
        self.setWordWrap(True)
        self.setContentsMargins(8, 3, 8, 3)
        self.hide()

    def say(self, text: str) -> None:
        """Says this, or nothing."""
        self.setText(text)
        self.setVisible(bool(text))
