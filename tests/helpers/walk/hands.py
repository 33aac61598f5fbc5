"""Mouse and keys of a person at the window.

Events enter at the level of the window system, so that Qt itself chooses their receiver: an open menu, the dialog in
front, the widget under the mouse. Each act is a story, which waits until the act was done. A modal dialog opened by an
act may keep it from returning; the story then continues nevertheless.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator

from PySide6.QtCore import QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QCursor, QGuiApplication, QWindow
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from subflow_app.shell.selftest.window_story import Until

_LEFT = Qt.MouseButton.LeftButton
_PLAIN = Qt.KeyboardModifier.NoModifier
# Steps of a drag: enough points for Qt to detect a drag, and for gestures to follow.
_DRAG_STEPS = 5
# An act that opened a dialog and has not returned after this time waits for an answer.
_BLOCKED_S = 0.05


class Hands:
    """The hands of one person; each method is a story for `yield from`."""

    def click(
        self,
        widget: QWidget,
        at: QPoint | None = None,
        *,
        button: Qt.MouseButton = _LEFT,
        modifiers: Qt.KeyboardModifier = _PLAIN,
        twice: bool = False,
    ) -> Iterator[Until]:
        """Clicks a widget, in its middle unless a point is given."""
        window, place = _spot(widget, at)
        _point(window, place)
        press = QTest.mouseDClick if twice else QTest.mouseClick
        yield from self._do("the click", lambda: press(window, button, modifiers, place))
        yield from self.settle()

    def hover(self, widget: QWidget, at: QPoint | None = None) -> Iterator[Until]:
        """Moves the mouse over a widget."""
        window, place = _spot(widget, at)
        _point(window, place)
        yield from self._do("the mouse", lambda: QTest.mouseMove(window, place))

    def drag(self, widget: QWidget, *points: QPoint) -> Iterator[Until]:
        """Presses at the first point, moves over the others, and releases at the last."""
        window, _ = _spot(widget, points[0])
        places = [widget.mapTo(widget.window(), point) for point in points]
        _point(window, places[0])

        def pull() -> None:
            QTest.mousePress(window, _LEFT, _PLAIN, places[0])
            for before, after in itertools.pairwise(places):
                for step in range(1, _DRAG_STEPS + 1):
                    share = step / _DRAG_STEPS
                    QTest.mouseMove(window, (QPointF(before) * (1 - share) + QPointF(after) * share).toPoint())
            QTest.mouseRelease(window, _LEFT, _PLAIN, places[-1])

        yield from self._do("the mouse to pull", pull)
        yield from self.settle()

    def press(self, *keys: str) -> Iterator[Until]:
        """Presses keys, one after the other, each written as in menus: ``"Ctrl+K"``."""
        for key in keys:
            yield from self._with_keyboard(lambda window, key=key: QTest.keySequence(window, key))  # type: ignore[misc]
        yield from self.settle()

    def leave(self, popup: QWidget) -> Iterator[Until]:
        """Presses Escape in an open menu or list, unless it closes by itself; the window behind it must stay open."""

        def strike(window: QWindow) -> None:
            if QApplication.activePopupWidget() is popup:
                QTest.keySequence(window, "Esc")

        yield from self._with_keyboard(strike)
        yield from self.settle()

    def type(self, text: str) -> Iterator[Until]:
        """Types a text at the keyboard focus, replacing the selection."""

        def strike(window: QWindow) -> None:
            for letter in text:
                QTest.keyClick(window, ord(letter))

        yield from self._with_keyboard(strike)
        yield from self.settle()

    def write(self, field: QWidget, text: str) -> Iterator[Until]:
        """Clicks a field, and replaces its text."""
        yield from self.click(field)
        yield from self.press("Ctrl+A")
        yield from self.type(text)

    def settle(self) -> Iterator[Until]:
        """Lets the window process its events, and activates a new window in front, like a window manager."""
        yield from self._do("the window to come to rest", QApplication.processEvents)
        front = front_window()
        if front is not None and front is not QGuiApplication.focusWindow():
            front.requestActivate()
            yield Until("the window in front to get the keys", lambda: _is_active(front))

    def _with_keyboard(self, strike: Callable[[QWindow], object]) -> Iterator[Until]:
        yield from self.settle()
        popup = QApplication.activePopupWidget()
        # An open menu receives the keys of the focused window, if a window has the focus.
        takers = (QGuiApplication.focusWindow(), None if popup is None else popup.windowHandle())
        window = next((taker for taker in takers if taker is not None), None)
        assert window is not None, "no window has the keyboard"
        yield from self._do("the keys", lambda: strike(window))

    def _do(self, what: str, act: Callable[[], object]) -> Iterator[Until]:
        act_of = _Act(act)
        QTimer.singleShot(0, act_of.carry_out)
        yield Until(f"{what} to arrive", act_of.is_done_or_waits)


class _Act:
    """An act, which may wait for the answer of a dialog that it has opened."""

    def __init__(self, act: Callable[[], object]) -> None:
        self._act = act
        self._was_in_front = _in_front()
        self._is_done = False
        self._waits_since: float | None = None

    def carry_out(self) -> None:
        self._act()
        self._is_done = True

    def is_done_or_waits(self) -> bool:
        if self._is_done:
            return True
        if _in_front() in (self._was_in_front, (None, None)):
            return False
        # An act that only takes time, with events between press and release, must not be disturbed.
        self._waits_since = self._waits_since or time.monotonic()
        return time.monotonic() - self._waits_since > _BLOCKED_S


def front_dialog() -> QDialog | None:
    """The dialog that waits for an answer, else the one opened last."""
    modal = QApplication.activeModalWidget()
    if isinstance(modal, QDialog):
        return modal
    shown = [top for top in QApplication.topLevelWidgets() if isinstance(top, QDialog) and top.isVisible()]
    return shown[-1] if shown else None


def front_window() -> QWindow | None:
    """The window that should receive the keys: the dialog in front, else the main window; None under an open menu."""
    if QApplication.activePopupWidget() is not None:
        return None
    dialog = front_dialog()
    if dialog is not None:
        return dialog.windowHandle()
    main = next((top for top in QApplication.topLevelWidgets() if top.objectName() == "main_window"), None)
    return main.windowHandle() if main is not None and main.isVisible() else None


def _in_front() -> tuple[QWidget | None, QWidget | None]:
    return QApplication.activeModalWidget(), QApplication.activePopupWidget()


def _is_active(window: QWindow) -> bool:
    return QGuiApplication.focusWindow() is window or window is not front_window()


def _spot(widget: QWidget, at: QPoint | None) -> tuple[QWindow, QPoint]:
    top = widget.window()
    window = top.windowHandle()
    assert window is not None, f"{widget.objectName() or type(widget).__name__} is not on the screen"
    place = widget.rect().center() if at is None else at
    name = widget.objectName() or type(widget).__name__
    assert widget.visibleRegion().contains(place), f"nobody can point at {name}, {place.x()}, {place.y()}: it is hidden"
    return window, widget.mapTo(top, place)


def _point(window: QWindow, place: QPoint) -> None:
    # The visible pointer moves too; otherwise it would hover over a window that opens at its old place.
    QCursor.setPos(window.mapToGlobal(place))
