"""What the panel of labs shows: the list of labs, or a step of the one that was begun."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from subflow_app.features.labs.qt.list_page import LabListPage
from subflow_app.features.labs.qt.step_page import StepPage


class LabPanel(QStackedWidget):
    """The list is in front at first."""

    seen = Signal()
    hidden = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Both pages, without labs."""
        super().__init__(parent)
        self.list, self.step = LabListPage(), StepPage()
        self.addWidget(self.list)
        self.addWidget(self.step)

    def showEvent(self, event: QShowEvent) -> None:
        """Says that there is somebody to teach."""
        super().showEvent(event)
        self.seen.emit()

    def hideEvent(self, event: QHideEvent) -> None:
        """Says that nobody looks."""
        super().hideEvent(event)
        self.hidden.emit()
