"""The panels of the window around its plots, with the banners over them; ``workspaces`` says where each lies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QMainWindow, QWidget

from subflow_app.toolkit.docks import Docks
from subflow_app.toolkit.widgets.banner import Banners
from subflow_app.toolkit.widgets.shorthand import v_box
from subflow_app.toolkit.workspaces import PANELS, Workspaces
from subflow_app.vocabulary.language import tr


class PanelLayout(QObject):
    """The central part of one window."""

    def __init__(
        self,
        window: QMainWindow,
        banners: Banners,
        plots: QWidget,
        panels: Mapping[str, QWidget],
        strips: Sequence[QWidget] = (),
    ) -> None:
        """Puts everything into the window.

        Args:
            window: gets a central widget.
            banners: lie over the lower end of the column of the plots.
            plots: the centre, which stays.
            panels: by the names of :data:`.choices.PANELS`.
            strips: go below the panels, as wide as the window.
        """
        super().__init__(window)
        # A window in the window: the docking manager takes a whole one, and there are banners and strips as well.
        dock_area = QMainWindow()
        dock_area.setWindowFlags(Qt.WindowType.Widget)
        middle = QWidget(window)
        v_box(middle, (dock_area, 1), *strips, margins=0, spacing=0)
        banners.setParent(middle)
        window.setCentralWidget(middle)
        self.docks = Docks(dock_area)
        self.docks.set_centre("plots", tr("Plots"), plots)
        for name, (title, icon_name, _shortcut) in PANELS.items():
            self.docks.add(name, tr(title), panels[name], icon_name=icon_name)
        self.fold = self.docks.make_foldable("history")
        self.workspaces = Workspaces(self.docks, self.fold, window)
        banners.lie_over(dock_area, lambda: self.docks.place_of("plots", middle), plots)

    def show_plots(self) -> None:
        """Brings the plots to the front for runs that were asked for; who looks at shares sees them of these runs."""
        if self.docks.front_of("plots") != "fairness":
            self.docks.raise_panel("plots")

    def show_canvas(self) -> None:
        """Brings the topology to the front of the plots, where these cover it: a scenario is opened, or drawn."""
        if self.docks.is_open("topology") and self.docks.front_of("topology") == "plots":
            self.docks.raise_panel("topology")
