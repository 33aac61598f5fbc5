"""Parts of the window that labs use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from PySide6.QtWidgets import QMenuBar, QToolBar, QWidget

    from subflow_app.features.editor.qt.documents import Documents
    from subflow_app.features.editor.qt.inspector.inspector import Inspector
    from subflow_app.features.editor.qt.topology.view import TopologyView
    from subflow_app.features.exporting.qt.exporting import Exports
    from subflow_app.features.guide.qt import HelpPanel
    from subflow_app.features.plots.qt.plot_view import PlotView
    from subflow_app.features.running.qt.run_control import RunControl
    from subflow_app.features.running.qt.run_session import RunSession
    from subflow_app.features.running.qt.shown_runs import ShownRuns
    from subflow_app.toolkit.action_bar import ActionBar
    from subflow_app.toolkit.database import DatabaseControl
    from subflow_app.toolkit.dialogs import Dialogs
    from subflow_app.toolkit.docks import Docks
    from subflow_app.toolkit.feature import FeatureMap
    from subflow_app.toolkit.preferences import Preferences
    from subflow_app.toolkit.workers import Workers
    from subflow_app.toolkit.workspaces import Workspaces


class LabPorts(Protocol):
    """What a window has for labs, whose steps speak of all of it."""

    bar: ActionBar
    database: DatabaseControl
    dialogs: Dialogs
    docks: Docks
    documents: Documents
    exports: Exports
    help: HelpPanel
    inspector: Inspector
    plots: PlotView
    preferences: Preferences
    runs: RunControl
    session: RunSession
    shown: ShownRuns

    @property
    def toolbar(self) -> QToolBar:
        """The toolbar of the window."""

    topology: TopologyView
    workers: Workers
    workspaces: Workspaces

    @property
    def features(self) -> FeatureMap:
        """The queue, sweeps and trainings."""

    def menuBar(self) -> QMenuBar:
        """The menus, which steps point at."""

    def set_plot_shown(self, plot_id: str, is_shown: bool) -> None:
        """Switches a plot on or off."""

    def window(self) -> QWidget:
        """All of it, that outlines lie over."""
