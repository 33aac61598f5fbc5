"""Where the legend lies: beside the plots or below them, whichever leaves them more, until it is dragged."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QWidget

from subflow_app.features.plots.qt.legend import Legend

# Narrower than this, px, the legend goes below the plots, and where it would take more than this share of the width
# although all of it has room below. It takes what it needs, and at most these shares of the room.
_LEAST_WIDTH_BESIDE = 640
_WIDE_LEGEND = 0.32
_MOST_LEGEND_BESIDE = 0.4
_MOST_LEGEND_BELOW = 0.28


class LegendSplitter(QSplitter):
    """Plots and their legend."""

    def __init__(self, plots: QWidget, stack: QWidget, legend: Legend, parent: QWidget | None = None) -> None:
        """Takes both in.

        Args:
            plots: what lies beside or above the legend.
            stack: the plots in it, with the least height that they have before they are scrolled.
            legend: asks for its place again when it needs another size.
            parent: as for any widget.
        """
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setObjectName("plot_splitter")
        self.setChildrenCollapsible(False)
        self._stack, self._legend = stack, legend
        self._is_dragged = False
        self.addWidget(plots)
        self.addWidget(legend)
        self.setStretchFactor(0, 1)
        self.setStretchFactor(1, 0)
        legend.resized.connect(self.place)
        self.splitterMoved.connect(self._on_moved)

    def place(self) -> None:
        """Gives the legend its place and what it needs, unless a person did."""
        if self._is_dragged:
            return
        is_below = self._is_legend_below()
        # Below the plots, width is cheap and height is dear.
        self._legend.set_on_one_line(is_below and self._legend.fits_on_one_line(self.width()))
        self.setOrientation(Qt.Orientation.Vertical if is_below else Qt.Orientation.Horizontal)
        hint = self._legend.sizeHint()
        whole, needed, most = (
            (self.height(), hint.height(), _MOST_LEGEND_BELOW)
            if is_below
            else (self.width(), hint.width(), _MOST_LEGEND_BESIDE)
        )
        legend = min(needed, round(whole * most))
        self.setSizes([whole - legend, legend])

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Follows the room: what was dragged stays while the legend stays on its side."""
        super().resizeEvent(event)
        if (self.orientation() == Qt.Orientation.Vertical) != self._is_legend_below():
            self._is_dragged = False
        self.place()

    def _is_legend_below(self) -> bool:
        if self.width() < _LEAST_WIDTH_BESIDE:
            return True
        if self._legend.width_beside <= _WIDE_LEGEND * self.width():
            return False
        room = min(_MOST_LEGEND_BELOW * self.height(), self.height() - self._stack.minimumHeight())
        return self._legend.height_below(self.width()) <= room

    def _on_moved(self) -> None:
        self._is_dragged = True
