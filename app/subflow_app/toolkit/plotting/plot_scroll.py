"""A scroll area for a stack of plots that needs more space than the window offers."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QScrollArea, QWidget

from subflow_app.toolkit.widgets.shorthand import named
from subflow_app.vocabulary.language import tr

_LEAST_ROOM = 150  # px; a plot of minimum height with its title


class PlotScroll(QScrollArea):
    """The stack fills the area if it fits; otherwise scroll bars appear and handle arrow and page keys."""

    def __init__(self, stack: QWidget, parent: QWidget | None = None) -> None:
        """Show ``stack``."""
        super().__init__(parent)
        named(self, "plot_scroll", tr("Plots: arrow keys scroll"))
        self.setFrameShape(self.Shape.NoFrame)
        self.setWidgetResizable(True)
        # Space for one whole plot, whatever size other widgets request.
        self.setMinimumHeight(_LEAST_ROOM)
        self.setWidget(stack)
        for bar in (self.horizontalScrollBar(), self.verticalScrollBar()):
            bar.rangeChanged.connect(self._on_range_changed)
        self._on_range_changed()

    def _on_range_changed(self) -> None:
        # Without scroll bars, Tab skips the area.
        can_scroll = self.horizontalScrollBar().maximum() > 0 or self.verticalScrollBar().maximum() > 0
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus if can_scroll else Qt.FocusPolicy.NoFocus)
