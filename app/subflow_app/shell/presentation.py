"""Presentation mode for lectures: full screen with large type and thick lines, and only topology and plots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QByteArray, QObject, QRect, Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication, QMainWindow

from subflow_app.toolkit.theme import current_tokens, set_current
from subflow_app.toolkit.widgets.shorthand import sized, timer

if TYPE_CHECKING:
    from subflow_app.features.editor.qt.topology.view import TopologyView
    from subflow_app.features.plots.qt.plot_view import PlotView
    from subflow_app.shell.main_toolbar import MainToolbar
    from subflow_app.toolkit.widgets.banner import Banners
    from subflow_app.toolkit.workspaces import Workspaces

TYPE_SCALE = 1.4
"""Factor for all fonts: 9 points become 12.6, readable in the last row of a lecture hall."""
LINE_SCALE = 2.0
"""Factor for the line width of all curves."""

# The desktop needs a moment to restore the size of a window, and only then can the panels get their former sizes.
_POLL_MS, _CALM_POLLS, _MOST_POLLS = 40, 4, 40


@dataclass(frozen=True, slots=True)
class _Before:
    """State to restore at the end of the presentation."""

    font: QFont
    state: Qt.WindowState
    geometry: QByteArray
    rect: QRect


class PresentationPorts(Protocol):
    """Parts of the window that change in a presentation."""

    workspaces: Workspaces
    toolbar: MainToolbar
    topology: TopologyView
    banners: Banners
    plots: PlotView


class Presentation(QObject):
    """Switches a window to presentation mode and back; runs and other activities continue."""

    changed = Signal(bool)  # True when the presentation begins

    def __init__(self, ports: PresentationPorts, window: QMainWindow) -> None:
        """Prepare the mode, switched off."""
        super().__init__(window)
        self._ports = ports
        self._window = window
        self._before: _Before | None = None
        self.is_on = False  # true during a presentation
        self._polls = self._calm = 0
        self._settling = timer(self, self._settle, _POLL_MS)
        # Choosing a workspace ends the presentation, because it shows the panels of the workspace.
        ports.workspaces.changed.connect(lambda _name: self.set_on(False))

    @property
    def geometry_before(self) -> QByteArray | None:
        """Window geometry before the presentation, saved for the next start; None once the panels are restored."""
        return self._before.geometry if self._before is not None else None

    def set_on(self, is_on: bool) -> None:
        """Begin the presentation, or end it and restore the previous state."""
        if is_on == self.is_on:
            return
        self.is_on = is_on
        if is_on:
            self._enter()
        else:
            self._leave()
        self.changed.emit(is_on)

    def close(self) -> None:
        """Restore the application's font before the window closes."""
        self._settling.stop()
        if self.is_on and self._before is not None:
            QApplication.setFont(self._before.font)

    def _enter(self) -> None:
        window = self._window
        if self._before is not None:  # the last presentation ended a moment ago
            self._bring_panels_back()
        font = QApplication.font()
        self._before = _Before(font, window.windowState(), window.saveGeometry(), window.geometry())
        self._ports.workspaces.present()
        large = sized(font, TYPE_SCALE)
        self._show_as(large, LINE_SCALE, is_plain=False)
        window.showFullScreen()
        self._ports.plots.setFocus()

    def _leave(self) -> None:
        assert self._before is not None
        self._show_as(self._before.font, 1.0, is_plain=True)
        self._window.setWindowState(self._before.state)
        self._polls = self._calm = 0
        self._settling.start()

    def _show_as(self, font: QFont, line_scale: float, *, is_plain: bool) -> None:
        ports = self._ports
        self._window.menuBar().setVisible(is_plain)
        ports.toolbar.set_undo_shown(is_plain)
        ports.topology.set_tools_shown(is_plain)
        ports.banners.set_held_back(not is_plain)
        QApplication.setFont(font)
        ports.plots.set_type(font, line_scale)
        # The canvas updates its fonts together with its colours.
        set_current(current_tokens())

    def _settle(self) -> None:
        window, before = self._window, self._before
        self._polls += 1
        # Show the workspace only now, because large fonts in any panel would have kept the window from shrinking.
        self._ports.workspaces.end_presenting()
        if before is None or self._polls >= _MOST_POLLS:
            self._bring_panels_back()
        elif window.geometry() != before.rect:
            self._calm = 0
            if window.windowState() == Qt.WindowState.WindowNoState:
                # All desktops restore the size, but some do not restore the position.
                window.setGeometry(before.rect)
        else:
            # The desktop may change the geometry once more, so wait for several equal results.
            self._calm += 1
            if self._calm >= _CALM_POLLS:
                self._bring_panels_back()

    def _bring_panels_back(self) -> None:
        """Restore the panels, normally once the window has its former size."""
        self._settling.stop()
        self._before = None
        self._ports.workspaces.bring_back()
