"""The fairness panel: a page of shares and one of trade-offs."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QShowEvent
from PySide6.QtWidgets import QTabWidget, QWidget

from subflow_app.features.fairness.qt.shares import SharesPage
from subflow_app.features.fairness.qt.trade_offs import TradeOffPage
from subflow_app.toolkit.theme import set_style, tab_style
from subflow_app.toolkit.widgets.shorthand import named, v_box
from subflow_app.vocabulary.language import tr


class FairnessPanel(QWidget):
    """Both pages, of which one is in front."""

    seen = Signal()

    def __init__(self, export: QAction, parent: QWidget | None = None) -> None:
        """Nothing computed yet.

        Args:
            export: writes the trade-offs.
            parent: Qt parent.
        """
        super().__init__(parent)
        self.shares = SharesPage()
        self.trade_offs = TradeOffPage(export)
        self.tabs = named(QTabWidget(self, documentMode=True), "fairness_tabs", tr("Pages of the fairness panel"))
        self.tabs.addTab(self.shares, tr("Shares"))
        self.tabs.addTab(self.trade_offs, tr("Trade-offs"))
        v_box(self, self.tabs, margins=0)
        self.setFocusProxy(self.tabs)
        set_style(self.tabs, tab_style)

    @property
    def weighs(self) -> bool:
        """True while the page of trade-offs is in front."""
        return self.tabs.currentWidget() is self.trade_offs

    def showEvent(self, event: QShowEvent) -> None:
        """Says that there is somebody to compute for."""
        super().showEvent(event)
        self.seen.emit()
