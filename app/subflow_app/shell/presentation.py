"""Presentation: the window for a lecture, full screen, with large type and thick lines, topology and plots alone."""

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
"""Of all fonts: 9 points become 12.6, which the last row of a lecture hall reads."""
LINE_SCALE = 2.0
"""Of all curves."""

# The desktop takes a moment to give a window its former size, and panels are put back at the sizes that they had.
_POLL_MS, _CALM_POLLS, _MOST_POLLS = 40, 4, 40


@dataclass(frozen=True, slots=True)
class _Before:
    """What leaving brings back."""

    font: QFont
    state: Qt.WindowState
    geometry: QByteArray
    rect: QRect


class PresentationPorts(Protocol):
    """Parts of the window that look different while it presents."""

    workspaces: Workspaces
    toolbar: MainToolbar
    topology: TopologyView
    banners: Banners
    plots: PlotView


class Presentation(QObject):
    """Switches one window to and fro; what is done meanwhile, runs included, goes on."""

    changed = Signal(bool)  # whether it is on

    def __init__(self, ports: PresentationPorts, window: QMainWindow) -> None:
        """Off."""
        super().__init__(window)
        self._ports = ports
        self._window = window
        self._before: _Before | None = None
        self.is_on = False  # whether the window presents
        self._polls = self._calm = 0
        self._settling = timer(self, self._settle, _POLL_MS)
        # Who chooses a workspace wants its panels.
        ports.workspaces.changed.connect(lambda _name: self.set_on(False))

    @property
    def geometry_before(self) -> QByteArray | None:
        """Place of the window before, to be kept for the next start; None once the panels lie as they did then."""
        return self._before.geometry if self._before is not None else None

    def set_on(self, is_on: bool) -> None:
        """Begins or ends it; everything is as it was before then."""
        if is_on == self.is_on:
            return
        self.is_on = is_on
        if is_on:
            self._enter()
        else:
            self._leave()
        self.changed.emit(is_on)

    def close(self) -> None:
        """The window closes: the type of the program is its own again."""
        self._settling.stop()
        if self.is_on and self._before is not None:
            QApplication.setFont(self._before.font)

    def _enter(self) -> None:
        window = self._window
        if self._before is not None:  # left a moment ago
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
        self._window.statusBar().setVisible(is_plain)
        ports.toolbar.set_undo_shown(is_plain)
        ports.topology.tools.setVisible(is_plain)
        ports.banners.set_held_back(not is_plain)
        QApplication.setFont(font)
        ports.plots.set_type(font, line_scale)
        # The canvas takes its fonts with its colours.
        set_current(current_tokens())

    def _settle(self) -> None:
        window, before = self._window, self._before
        self._polls += 1
        # Once type is small in all panels, which else would keep the window from getting as small as it was.
        self._ports.workspaces.end_presenting()
        if before is None or self._polls >= _MOST_POLLS:
            self._bring_panels_back()
        elif window.geometry() != before.rect:
            self._calm = 0
            if window.windowState() == Qt.WindowState.WindowNoState:
                # Desktops remember the size, and not all of them the place.
                window.setGeometry(before.rect)
        else:
            # The desktop may have its own say after ours.
            self._calm += 1
            if self._calm >= _CALM_POLLS:
                self._bring_panels_back()

    def _bring_panels_back(self) -> None:
        """Puts panels where they were once more, now that there is the room that they had."""
        self._settling.stop()
        self._before = None
        self._ports.workspaces.bring_back()
