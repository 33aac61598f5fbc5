"""The lab panel: empty until it is first seen, then the list of labs, or a step of the one that was begun."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from subflow_app.qt.widgets.shorthand import named, v_box
from subflow_app.vocabulary.language import tr

if TYPE_CHECKING:
    from subflow_app.qt.labs.list_page import LabListPage
    from subflow_app.qt.labs.step_page import StepPage

_LEAST_WIDTH = 430  # px; the buttons of a step beside each other, in any language


class LabPanel(QWidget):
    """What stands in the dock."""

    shown = Signal()
    hidden = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Nothing in it yet."""
        super().__init__(parent)
        named(self, "lab_panel", tr("Lab"))
        self.pages = QStackedWidget(self)
        v_box(self, self.pages, margins=0)
        self.list: LabListPage | None = None
        self.step: StepPage | None = None

    def set_pages(self, labs: LabListPage, step: StepPage) -> None:
        """Puts them in; the list is in front."""
        self.list, self.step = labs, step
        self.pages.addWidget(labs)
        self.pages.addWidget(step)

    def minimumSizeHint(self) -> QSize:
        """What a step needs, whether there is one yet or not: docks share out the width before."""
        return super().minimumSizeHint().expandedTo(QSize(_LEAST_WIDTH, 0))

    def showEvent(self, event: QShowEvent) -> None:
        """Says that there is somebody to teach."""
        super().showEvent(event)
        self.shown.emit()

    def hideEvent(self, event: QHideEvent) -> None:
        """Says that nobody looks."""
        super().hideEvent(event)
        self.hidden.emit()
