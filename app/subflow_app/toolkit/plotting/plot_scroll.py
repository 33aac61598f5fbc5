"""Lets a stack of plots be scrolled where the window has less room than its plots need at least."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QScrollArea, QWidget

from subflow_app.toolkit.widgets.shorthand import named
from subflow_app.vocabulary.language import tr

_LEAST_ROOM = 150  # px; a plot of the least height with its title


class PlotScroll(QScrollArea):
    """Its stack fills it while that fits; else bars to its right and below it take the arrow and page keys."""

    def __init__(self, stack: QWidget, parent: QWidget | None = None) -> None:
        """Around ``stack``."""
        super().__init__(parent)
        named(self, "plot_scroll", tr("Plots: arrow keys scroll"))
        self.setFrameShape(self.Shape.NoFrame)
        self.setWidgetResizable(True)
        # One whole plot, whatever else wants room beside it.
        self.setMinimumHeight(_LEAST_ROOM)
        self.setWidget(stack)
        for bar in (self.horizontalScrollBar(), self.verticalScrollBar()):
            bar.rangeChanged.connect(self._on_range_changed)
        self._on_range_changed()

    def _on_range_changed(self) -> None:
        # Where nothing can be scrolled Tab shall not stop.
        can_scroll = self.horizontalScrollBar().maximum() > 0 or self.verticalScrollBar().maximum() > 0
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus if can_scroll else Qt.FocusPolicy.NoFocus)
