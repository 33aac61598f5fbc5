"""Text from outside as it is written: Qt takes what looks like HTML for HTML unless it is told not to."""

from __future__ import annotations

import html
from typing import Any

from PySide6 import QtGui
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel


class Label(QLabel):
    """A label that shows its text as it is, unless another ``textFormat`` is given."""

    def __init__(self, *parts: Any, **properties: Any) -> None:
        """As a QLabel: text and parent, and any property."""
        super().__init__(*parts, **({"textFormat": Qt.TextFormat.PlainText} | properties))


def as_written(text: str) -> str:
    """The text for tool tips and captions of Qt's own dialogs, which have no other way to be told."""
    if not QtGui.Qt.mightBeRichText(text):
        return text
    return f"<span style='white-space: pre-wrap'>{html.escape(text)}</span>"
