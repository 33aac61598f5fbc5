"""State of the window across sessions: geometry, the layout of panels, and saved choices.

Choices are the switches that the table of actions marks as remembered, the speed, and the state of the list of runs.
``workspaces`` arranges the panels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QByteArray, QEvent, QMargins, QObject, QPoint, QRect, QSettings, QSize, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMainWindow, QWidget

from subflow_app.features.plots.qt.plot_view import PlotView
from subflow_app.features.running.core.runs import FASTEST, SLOWEST
from subflow_app.foundation.paths import window_state_path
from subflow_app.toolkit.docks import LAYOUT_VERSION, Docks
from subflow_app.toolkit.widgets.banner import Banners, MessageLine
from subflow_app.toolkit.widgets.shorthand import timer, v_box
from subflow_app.toolkit.workspaces import PANELS, WORKSPACES, Workspaces
from subflow_app.vocabulary.language import tr

DEFAULT_SIZE = QSize(1400, 900)
_GUESSED_FRAME = QMargins(4, 32, 4, 4)  # px around a window before the desktop has framed it
_FRAMED_MS = 300  # delay after the first paint until any desktop has added its frame


def placed_on(rect: QRect, rooms: Sequence[QRect]) -> QRect:
    """Position for a window that was at ``rect``, on the current screens.

    Args:
        rect: former geometry, px.
        rooms: available geometry of each screen, the main screen first; not empty.

    Returns:
        ``rect`` if it fits and its top and bottom are reachable; else a rectangle within the screen with the largest
        part of ``rect``, or within the main screen.
    """
    shares = [room.intersected(rect) for room in rooms]
    best = max(range(len(rooms)), key=lambda index: shares[index].width() * shares[index].height())
    room, share = rooms[best], shares[best]
    fits = rect.width() <= room.width() and rect.height() <= room.height()
    # Users may move up to half the width of a window off the screen, but its title bar and time bar must stay visible.
    is_in_reach = rect.top() >= room.top() and rect.bottom() <= room.bottom()
    if fits and is_in_reach and 2 * share.width() >= rect.width():
        return rect
    size = rect.size().boundedTo(room.size())
    left = min(max(rect.left(), room.left()), room.left() + room.width() - size.width())
    top = min(max(rect.top(), room.top()), room.top() + room.height() - size.height())
    return QRect(QPoint(left, top), size)


def first_size() -> QSize:
    """Initial size of a window: the default, reduced if needed so that window and frame fit the main screen."""
    return DEFAULT_SIZE.boundedTo(_rooms(_GUESSED_FRAME)[0].size()) if _has_screen() else DEFAULT_SIZE


def fit_to_screen(window: QMainWindow) -> None:
    """Move a window back to a screen if its screen was removed or has shrunk; maximised windows are not moved."""
    if window.isMaximized() or window.isFullScreen():
        return
    rect = placed_on(window.geometry(), _rooms(_frame_of(window)))
    if rect != window.geometry():
        window.setGeometry(rect)


class ScreenFit(QObject):
    """Keeps a window with its frame on the screen, after its first paint and when a screen is removed.

    Under X11 a window gets its frame only when shown; until then its size is based on a guess.
    """

    def __init__(self, window: QMainWindow) -> None:
        """Wait for the first paint of ``window``."""
        super().__init__(window)
        self._timer = timer(self, lambda: fit_to_screen(window), _FRAMED_MS, is_single=True)
        if _has_screen():
            window.installEventFilter(self)
            QGuiApplication.instance().screenRemoved.connect(self._timer.start)  # type: ignore[union-attr] # a GUI app

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Start the timer after the first paint, and remove this filter."""
        if event.type() == QEvent.Type.Paint:
            watched.removeEventFilter(self)
            self._timer.start()
        return False


def _has_screen() -> bool:
    # Without a real screen, title bars need not be reachable, and tests need the exact size.
    return QGuiApplication.platformName() not in ("offscreen", "minimal")


def _rooms(frame: QMargins) -> list[QRect]:
    """Area for a window with this frame on each screen, the main screen first."""
    main = QGuiApplication.primaryScreen()
    screens = [main, *(screen for screen in QGuiApplication.screens() if screen is not main)]
    return [screen.availableGeometry().marginsRemoved(frame) for screen in screens]


def _frame_of(window: QMainWindow) -> QMargins:
    """Widths of the window's frame, px; a guess before the desktop has added the frame."""
    if not _has_screen():
        return QMargins()
    outer, inner = window.frameGeometry(), window.geometry()
    if outer == inner and not window.isVisible():
        return _GUESSED_FRAME
    return QMargins(
        inner.left() - outer.left(),
        inner.top() - outer.top(),
        outer.right() - inner.right(),
        outer.bottom() - inner.bottom(),
    )


class WindowStateFile:
    """An INI file with the geometry, the layout, the switches, the speed limit and the state of the list of runs."""

    def __init__(self, path: Path | None = None) -> None:
        """Use the user's file, or ``path``."""
        self._settings = QSettings(str(path or window_state_path()), QSettings.Format.IniFormat)

    def save(
        self,
        window: QMainWindow,
        workspaces: Workspaces,
        switches: dict[str, bool],
        geometry: QByteArray | None = None,
    ) -> None:
        """Save the state; ``geometry`` replaces the current geometry."""
        self._settings.setValue("version", LAYOUT_VERSION)
        self._settings.setValue("geometry", geometry or window.saveGeometry())
        self._settings.setValue("workspace", workspaces.current)
        self._settings.remove("workspaces")
        for name, state in workspaces.states().items():
            self._settings.setValue(f"workspaces/{name}", state)
        self._settings.remove("folds")
        for name, is_folded in workspaces.folds.items():
            self._settings.setValue(f"folds/{name}", is_folded)
        for name, is_on in switches.items():
            self._settings.setValue(f"switches/{name}", is_on)
        self._settings.sync()

    def save_speed_limit(self, limit: float | None) -> None:
        """Save the speed limit; None means no limit."""
        self._settings.setValue("speed", "max" if limit is None else f"{limit:g}")
        self._settings.sync()

    def restore_layout(self, window: QMainWindow, workspaces: Workspaces) -> None:
        """Restore window and panels, or the default layout if another version wrote the file."""
        states: dict[str, QByteArray] = {}
        window.resize(first_size())
        if str(self._settings.value("version", "")) == str(LAYOUT_VERSION):
            geometry = self._settings.value("geometry")
            # Restore the geometry before the panels, which divide the space in the window.
            if isinstance(geometry, QByteArray):
                window.restoreGeometry(geometry)
                fit_to_screen(window)
            for name in WORKSPACES:
                state = self._settings.value(f"workspaces/{name}")
                if isinstance(state, QByteArray):
                    states[name] = state
        workspaces.restore(states, str(self._settings.value("workspace", "")), self._choices("folds"))
        ScreenFit(window)

    def switches(self) -> dict[str, bool]:
        """Saved switches, by action id."""
        return self._choices("switches")

    def _choices(self, group: str) -> dict[str, bool]:
        self._settings.beginGroup(group)
        saved = {name: str(self._settings.value(name)).lower() == "true" for name in self._settings.childKeys()}
        self._settings.endGroup()
        return saved

    def speed_limit(self, otherwise: float | None) -> float | None:
        """The saved speed limit, None for no limit; ``otherwise`` if it is missing or invalid."""
        text = str(self._settings.value("speed", ""))
        if text == "max":
            return None
        try:
            limit = float(text)
        except ValueError:
            return otherwise
        return limit if SLOWEST <= limit <= FASTEST else otherwise

    def save_history(self, state: str) -> None:
        """Save the state of the list of runs."""
        self._settings.setValue("history", state)
        self._settings.sync()

    @property
    def history(self) -> str:
        """The saved state of the list of runs; empty before the first save."""
        return str(self._settings.value("history", ""))


class PanelLayout(QObject):
    """The central part of one window: plots, panels, banners and strips."""

    def __init__(
        self,
        window: QMainWindow,
        banners: Banners,
        message_line: MessageLine,
        plots: PlotView,
        panels: Mapping[str, QWidget],
        strips: Sequence[QWidget] = (),
    ) -> None:
        """Place all parts in the window.

        Args:
            window: receives a central widget.
            banners: placed over the lower end of the plots' column.
            message_line: placed over the lower left corner of the panels.
            plots: the fixed centre.
            panels: panels by their names in `toolkit.workspaces.PANELS`.
            strips: widgets below the panels, as wide as the window.
        """
        super().__init__(window)
        # A nested window, because the docking manager occupies a whole window, and banners and strips need space, too.
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
        message_line.setParent(middle)
        message_line.lie_over(dock_area)
        self.workspaces.side_changed.connect(plots.set_legend_width)
        plots.legend_dragged.connect(self.workspaces.set_side_width)
        banners.lie_over(dock_area, lambda: self.docks.place_of("plots", middle), plots)

    def show_plots(self) -> None:
        """Raise the plots of requested runs, unless the fairness panel, which also shows the runs, is in front."""
        if self.docks.front_of("plots") != "fairness":
            self.docks.raise_panel("plots")

    def show_canvas(self) -> None:
        """Raise the topology above the plots in the same place, after a scenario was opened or while one is drawn."""
        if self.docks.is_open("topology") and self.docks.front_of("topology") == "plots":
            self.docks.raise_panel("topology")
