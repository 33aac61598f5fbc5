"""Lets a stack of plots be moved sideways where its columns are wider than the window."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QScrollArea, QWidget

from subflow_app.core.language import tr


class PlotScroll(QScrollArea):
    """As large as its stack while that fits; else with a bar below it, which takes the arrow keys."""

    def __init__(self, stack: QWidget, parent: QWidget | None = None) -> None:
        """Around ``stack``."""
        super().__init__(parent)
        self.setObjectName("plot_scroll")
        self.setAccessibleName(tr("Columns of plots: arrow keys scroll sideways"))
        self.setFrameShape(self.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidget(stack)
        self.horizontalScrollBar().rangeChanged.connect(self._on_range_changed)
        self._on_range_changed(0, 0)

    def _on_range_changed(self, _least: int, most: int) -> None:
        # Where nothing can be scrolled Tab shall not stop.
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus if most > 0 else Qt.FocusPolicy.NoFocus)
