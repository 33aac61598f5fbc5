"""The window between sessions: its place, its panels around the plots with banners, and the choices that are kept.

Choices are the switches of the toolbar, the speed, and the look of the list of runs. ``workspaces`` arranges the
panels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QByteArray, QEvent, QMargins, QObject, QPoint, QRect, QSettings, QSize, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMainWindow, QWidget

from subflow_app.features.running.core.runs import FASTEST, SLOWEST
from subflow_app.foundation.paths import window_state_path
from subflow_app.toolkit.docks import LAYOUT_VERSION, Docks
from subflow_app.toolkit.widgets.banner import Banners
from subflow_app.toolkit.widgets.shorthand import timer, v_box
from subflow_app.toolkit.workspaces import PANELS, WORKSPACES, Workspaces
from subflow_app.vocabulary.language import tr

DEFAULT_SIZE = QSize(1400, 900)
_GUESSED_FRAME = QMargins(4, 32, 4, 4)  # px around a window that no desktop has framed yet
_FRAMED_MS = 300  # after its first picture, a window has its frame on every desktop that gives it one


def placed_on(rect: QRect, rooms: Sequence[QRect]) -> QRect:
    """Where a window that was at ``rect`` goes on these screens.

    Args:
        rect: where it was, px.
        rooms: what each screen has for windows, the main screen first; not empty.

    Returns:
        ``rect`` where its top and bottom are in reach and it fits; else, on the screen that shows most of it or on the
        main one, no larger than that screen and wholly on it.
    """
    shares = [room.intersected(rect) for room in rooms]
    best = max(range(len(rooms)), key=lambda index: shares[index].width() * shares[index].height())
    room, share = rooms[best], shares[best]
    fits = rect.width() <= room.width() and rect.height() <= room.height()
    # Part of a window may be beside the screen: people put it there. Its title and time bars and half of its width not.
    is_in_reach = rect.top() >= room.top() and rect.bottom() <= room.bottom()
    if fits and is_in_reach and 2 * share.width() >= rect.width():
        return rect
    size = rect.size().boundedTo(room.size())
    left = min(max(rect.left(), room.left()), room.left() + room.width() - size.width())
    top = min(max(rect.top(), room.top()), room.top() + room.height() - size.height())
    return QRect(QPoint(left, top), size)


def first_size() -> QSize:
    """How large a window begins: as it looks best, but no larger than the main screen has room for, frame included."""
    return DEFAULT_SIZE.boundedTo(_rooms(_GUESSED_FRAME)[0].size()) if _has_screen() else DEFAULT_SIZE


def fit_to_screen(window: QMainWindow) -> None:
    """Brings a window back whose screen is gone, or smaller now; a maximised one is the desktop's business."""
    if window.isMaximized() or window.isFullScreen():
        return
    rect = placed_on(window.geometry(), _rooms(_frame_of(window)))
    if rect != window.geometry():
        window.setGeometry(rect)


class ScreenFit(QObject):
    """Keeps a window with its frame on the screen: when it is first seen, and when a screen is taken away.

    Under X11 a window gets its frame only once it is shown; until then its size rests on a guess.
    """

    def __init__(self, window: QMainWindow) -> None:
        """Waits for the first picture of ``window``."""
        super().__init__(window)
        self._timer = timer(self, lambda: fit_to_screen(window), _FRAMED_MS, is_single=True)
        if _has_screen():
            window.installEventFilter(self)
            QGuiApplication.instance().screenRemoved.connect(self._timer.start)  # type: ignore[union-attr] # of a GUI

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Waits for the first paint, then is not asked any more."""
        if event.type() == QEvent.Type.Paint:
            watched.removeEventFilter(self)
            self._timer.start()
        return False


def _has_screen() -> bool:
    # Where pictures go to memory alone, nobody has to reach a title bar, and the size is that of the picture.
    return QGuiApplication.platformName() not in ("offscreen", "minimal")


def _rooms(frame: QMargins) -> list[QRect]:
    """What each screen has for windows within such a frame, the main screen first."""
    main = QGuiApplication.primaryScreen()
    screens = [main, *(screen for screen in QGuiApplication.screens() if screen is not main)]
    return [screen.availableGeometry().marginsRemoved(frame) for screen in screens]


def _frame_of(window: QMainWindow) -> QMargins:
    """Its frame, px; a guess before the desktop has given it one."""
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
    """An INI file with geometry, layout and the switches of the toolbar."""

    def __init__(self, path: Path | None = None) -> None:
        """Uses the user's file, or ``path``."""
        self._settings = QSettings(str(path or window_state_path()), QSettings.Format.IniFormat)

    def save(
        self,
        window: QMainWindow,
        workspaces: Workspaces,
        switches: dict[str, bool],
        geometry: QByteArray | None = None,
    ) -> None:
        """Writes everything; ``geometry`` in place of where the window is now."""
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
        """Writes the speed that is chosen."""
        self._settings.setValue("speed", "max" if limit is None else f"{limit:g}")
        self._settings.sync()

    def restore_layout(self, window: QMainWindow, workspaces: Workspaces) -> None:
        """Puts window and panels where they were, or where they are at first if another version wrote the file."""
        states: dict[str, QByteArray] = {}
        window.resize(first_size())
        if str(self._settings.value("version", "")) == str(LAYOUT_VERSION):
            geometry = self._settings.value("geometry")
            # Before the panels, which share out the room that the window has.
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
        """Switches that were saved, by action id."""
        return self._choices("switches")

    def _choices(self, group: str) -> dict[str, bool]:
        self._settings.beginGroup(group)
        saved = {name: str(self._settings.value(name)).lower() == "true" for name in self._settings.childKeys()}
        self._settings.endGroup()
        return saved

    def speed_limit(self, otherwise: float | None) -> float | None:
        """The speed that was chosen; what is given here the first time, or if the file says nothing sensible."""
        text = str(self._settings.value("speed", ""))
        if text == "max":
            return None
        try:
            limit = float(text)
        except ValueError:
            return otherwise
        return limit if SLOWEST <= limit <= FASTEST else otherwise

    def save_history(self, state: str) -> None:
        """Writes how the list of runs looks."""
        self._settings.setValue("history", state)
        self._settings.sync()

    @property
    def history(self) -> str:
        """How the list of runs looked; empty the first time."""
        return str(self._settings.value("history", ""))


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
