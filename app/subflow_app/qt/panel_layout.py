"""Where the panels of the window lie at first, and how they get back there."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QMainWindow, QVBoxLayout, QWidget

from subflow_app.qt.actions.choices import PANELS
from subflow_app.qt.docks import Docks, Side

# Side, and the panel (or the plots) that it shares its place with; in the order in which they are put there.
_PLACES: tuple[tuple[str, Side, str | None], ...] = (
    ("topology", Side.LEFT, None),
    ("inspector", Side.BOTTOM, "topology"),
    ("history", Side.BOTTOM, "plots"),
    ("agent", Side.TAB, "inspector"),
    ("train", Side.TAB, "plots"),
)


class PanelLayout(QObject):
    """The panels of one window around its plots, with the banners above them."""

    def __init__(self, window: QMainWindow, banners: QWidget, plots: QWidget, panels: Mapping[str, QWidget]) -> None:
        """Puts everything into the window.

        Args:
            window: gets a central widget.
            banners: go above the panels.
            plots: the centre, which stays.
            panels: by the names of :data:`.choices.PANELS`.
        """
        super().__init__(window)
        self._window = window
        # A window in the window: the docking manager takes a whole one, and banners go above it.
        dock_area = QMainWindow()
        dock_area.setWindowFlags(Qt.WindowType.Widget)
        middle = QWidget(window)
        layout = QVBoxLayout(middle)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(banners)
        layout.addWidget(dock_area, 1)
        window.setCentralWidget(middle)
        self.docks = Docks(dock_area)
        self.docks.set_centre("plots", "Plots", plots)
        for name, side, beside in _PLACES:
            title, icon_name, _shortcut = PANELS[name]
            self.docks.add(name, title, panels[name], side, icon_name=icon_name, beside=beside)
        self._share_out()
        self.docks.remember_default()

    def reset(self) -> None:
        """Puts all panels back, at the sizes that suit the window as it is now."""
        self.docks.reset()
        self._share_out()

    def _share_out(self) -> None:
        """The default sizes: the picture and the form a third, the plots the rest, the history a few rows."""
        width, height = self._window.width(), self._window.height()
        left = min(440, max(350, round(width * 0.3)))
        self.docks.set_outer_sizes([left, width - left])
        self.docks.set_sizes("topology", [round(height * 0.42), round(height * 0.58)])
        self.docks.set_sizes("plots", [round(height * 0.76), round(height * 0.24)])
