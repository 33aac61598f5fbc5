"""Plays a scripted story of user actions and expected states in the real window."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import QObject, QTimer

from subflow_app.foundation.paths import log_path, settings_path
from subflow_app.shell import app
from subflow_app.shell.selftest.check import CheckError, require

if TYPE_CHECKING:
    from subflow_app.shell.main_window import MainWindow

_LOOK_MS = 5
_PATIENCE_S = 60.0
_SERIOUS = (" WARNING ", " ERROR ", " CRITICAL ")
# Distance, px, between the pixels whose colours are counted, in both directions.
_PIXEL_STEP = 7


class Until(NamedTuple):
    """A condition for which a story waits.

    Attributes:
        what: end of the message "waited for ...", e.g. "the run to end".
        holds: returns True when the condition holds.
    """

    what: str
    holds: Callable[[], bool]


Story = Callable[["MainWindow"], Iterator[Until]]


def play(story: Story, *, file: Path | None = None, settings: Mapping[str, Any] | None = None) -> None:
    """Open the window, play the story, and close the window.

    Args:
        story: performs actions, and yields the conditions to wait for.
        file: file to open in the window.
        settings: settings of the user; None for the settings of a first start.

    Raises:
        CheckError: if a condition is not met in time, the log has a warning, or the program ends with an error.
    """
    if settings is not None:
        settings_path().parent.mkdir(parents=True, exist_ok=True)
        settings_path().write_text(json.dumps(dict(settings)), encoding="utf-8")
    players: list[_Player] = []

    def begin(window: MainWindow) -> _Player:
        players.append(_Player(window, story))
        return players[0]

    code = app.main(None if file is None else str(file), prepared=begin)
    if players[0].error is not None:
        raise players[0].error
    require(players[0].is_done, "the window was closed before the end of the test")
    require(code == 0, f"the window ended with {code}")
    if log_path().exists():
        for line in log_path().read_text(encoding="utf-8").splitlines():
            require(not any(word in line for word in _SERIOUS), f"the log has: {line}")


def colours(window: MainWindow) -> int:
    """Number of colours on a grid of pixels in the window: an empty window has one."""
    image = window.grab().toImage()
    across, down = range(0, image.width(), _PIXEL_STEP), range(0, image.height(), _PIXEL_STEP)
    return len({image.pixel(x, y) for x in across for y in down})


class _Player(QObject):
    """Continues the story as soon as its current condition holds."""

    def __init__(self, window: MainWindow, story: Story) -> None:
        super().__init__(window)
        self.error: BaseException | None = None
        self.is_done = False
        self._window = window
        self._story = story(window)
        self._is_loaded = False
        window.loaded.connect(self._on_loaded)
        self._next = Until("the window to be loaded", lambda: self._is_loaded and not window.database.is_opening)
        self._since = time.monotonic()
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._look)
        self._timer.start(_LOOK_MS)
        # Replaces the hook that opens a dialog about a bug, which would wait for the user.
        sys.excepthook = self._on_exception

    def _on_loaded(self) -> None:
        self._is_loaded = True

    def _look(self) -> None:
        try:
            if self._next.holds():
                self._next, self._since = next(self._story), time.monotonic()
            elif time.monotonic() - self._since > _PATIENCE_S:
                raise CheckError(f"waited {_PATIENCE_S:g} s for {self._next.what}")
        except StopIteration:
            self.is_done = True
            self._end()
        except Exception as error:
            self.error = error
            self._end()

    def _on_exception(self, _kind: type[BaseException], error: BaseException, _trace: TracebackType | None) -> None:
        self.error = self.error or error
        self._end()

    def _end(self) -> None:
        self._timer.stop()
        self._window.close_at_once()
