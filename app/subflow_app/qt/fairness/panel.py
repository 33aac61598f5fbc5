"""The fairness panel: a page of shares and one of trade-offs, made when the panel is first seen."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QTabWidget, QVBoxLayout, QWidget

from subflow_app.core.language import tr
from subflow_app.qt.theme import set_style, tab_style


class FairnessPanel(QWidget):
    """An empty widget until it is shown: most starts of the program never look at it."""

    shown = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Nothing in it yet."""
        super().__init__(parent)
        self.setObjectName("fairness_panel")
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self.tabs: QTabWidget | None = None

    def set_pages(self, pages: dict[str, QWidget]) -> None:
        """Puts in the pages by their titles."""
        self.tabs = QTabWidget(self)
        self.tabs.setObjectName("fairness_tabs")
        self.tabs.setAccessibleName(tr("Pages of the fairness panel"))
        self.tabs.setDocumentMode(True)
        for title, page in pages.items():
            self.tabs.addTab(page, title)
        self._layout.addWidget(self.tabs)
        self.setFocusProxy(self.tabs)
        set_style(self.tabs, tab_style)

    def showEvent(self, event: QShowEvent) -> None:
        """Says that there is somebody to compute for."""
        super().showEvent(event)
        self.shown.emit()
