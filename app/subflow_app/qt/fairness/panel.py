"""The fairness panel: a page of shares and one of trade-offs, made when the panel is first seen."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QTabWidget, QWidget

from subflow_app.qt.theme import set_style, tab_style
from subflow_app.qt.widgets.shorthand import named, v_box
from subflow_app.vocabulary.language import tr


class FairnessPanel(QWidget):
    """An empty widget until it is shown: most starts of the program never look at it."""

    shown = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Nothing in it yet."""
        super().__init__(parent)
        self.setObjectName("fairness_panel")
        self._layout = v_box(self, margins=0)
        self.tabs: QTabWidget | None = None

    def set_pages(self, pages: dict[str, QWidget]) -> None:
        """Puts in the pages by their titles."""
        self.tabs = named(QTabWidget(self, documentMode=True), "fairness_tabs", tr("Pages of the fairness panel"))
        for title, page in pages.items():
            self.tabs.addTab(page, title)
        self._layout.addWidget(self.tabs)
        self.setFocusProxy(self.tabs)
        set_style(self.tabs, tab_style)

    def showEvent(self, event: QShowEvent) -> None:
        """Says that there is somebody to compute for."""
        super().showEvent(event)
        self.shown.emit()
