"""A screen in memory whose pixels and windows tests can read: the picture that a person would see.

Xvfb keeps its screen in a file. Reading this file needs neither a screenshot tool nor the program's help, and costs no
processor time while the program is timed.
"""

from __future__ import annotations

import mmap
import os
import re
import struct
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

_PATIENCE_S = 60.0


class ScreenError(Exception):
    """The screen cannot start, or does not show the expected content; the text names the problem."""


class VirtualScreen:
    """An X server without a window manager, for the duration of a ``with`` block.

    Every user of this machine may connect: the screen shows only the tested program.
    """

    def __init__(self, width: int = 1600, height: int = 1000) -> None:
        """Sets the size of the screen in pixels; entering the ``with`` block starts the server."""
        self._size = (width, height)
        self._folder = tempfile.TemporaryDirectory(prefix="subflow-screen-")
        self._server: subprocess.Popen[bytes] | None = None
        self._memory: mmap.mmap | None = None
        self._rows: npt.NDArray[np.uint8] | None = None
        self.display = ""

    def __enter__(self) -> Self:
        """Starts the server.

        Raises:
            ScreenError: if it does not start.
        """
        width, height = self._size
        reader, writer = os.pipe()
        words = ["Xvfb", "-displayfd", str(writer), "-screen", "0", f"{width}x{height}x24", "-fbdir", self._folder.name]
        try:
            log = Path(self._folder.name, "log").open("wb")
            with log:
                self._server = subprocess.Popen(
                    [*words, "-nolisten", "tcp", "-ac", "-noreset"], pass_fds=[writer], stdout=log, stderr=log
                )
        except FileNotFoundError as error:
            os.close(reader)
            raise ScreenError("Xvfb is not installed") from error
        finally:
            os.close(writer)
        with os.fdopen(reader) as told:
            number = told.readline().strip()
        if not number:
            text = Path(self._folder.name, "log").read_text(encoding="utf-8", errors="replace")
            self._stop()
            raise ScreenError(f"Xvfb did not start: {text.strip()}")
        self.display = f":{number}"
        self._map()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stops the server, which closes all windows."""
        self._stop()

    def _stop(self) -> None:
        self._rows = None
        if self._memory is not None:
            self._memory.close()
            self._memory = None
        if self._server is not None:
            self._server.terminate()
            self._server.wait()
            self._server = None
        self._folder.cleanup()

    def _map(self) -> None:
        # The file is in the format of xwd: a header of big-endian 32-bit numbers, the first of which is its size, then
        # a table of colours of 12 bytes each, then the rows. Source: X11/XWDFile.h
        with Path(self._folder.name, "Xvfb_screen0").open("rb") as file:
            self._memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        header = struct.unpack(">25I", self._memory[:100])
        size, width, height, row_bytes, colours = header[0], header[4], header[5], header[12], header[19]
        flat = np.frombuffer(self._memory, np.uint8, row_bytes * height, size + 12 * colours)
        self._rows = flat.reshape(height, row_bytes)[:, : 4 * width].reshape(height, width, 4)

    def pixels(self, step: int = 1) -> npt.NDArray[np.uint8]:
        """Current pixels of the screen, every ``step``-th row and column.

        Returns:
            uint8 [rows, columns, 3]: red, green, blue.
        """
        assert self._rows is not None, "the screen is not on"
        return self._rows[::step, ::step, 2::-1].copy()

    def colours(self) -> int:
        """Number of different colours on the screen."""
        pixels = self.pixels().reshape(-1, 3).astype(np.uint32)
        return len(np.unique(pixels[:, 0] << 16 | pixels[:, 1] << 8 | pixels[:, 2]))

    def save(self, path: Path) -> None:
        """Writes the screen as a PNG."""
        from PySide6.QtGui import QImage

        pixels = np.ascontiguousarray(self.pixels())
        height, width, _ = pixels.shape
        path.parent.mkdir(parents=True, exist_ok=True)
        if not QImage(pixels.data, width, height, 3 * width, QImage.Format.Format_RGB888).save(str(path)):
            raise ScreenError(f"{path} cannot be written")

    def titles(self) -> dict[str, str]:
        """Titles of the visible windows, by window number.

        Raises:
            ScreenError: if xwininfo or xprop is not installed.
        """
        tree = self._ask("xwininfo", "-root", "-tree")
        shown = {}
        # Each line contains the number of a window, its name in Latin-1, its position and its size.
        for number in re.findall(r"^ +(0x[0-9a-f]+) (?!\(has no name\))", tree, re.MULTILINE):
            told = self._ask("xprop", "-notype", "-id", number, "_NET_WM_NAME")
            title = re.search(r'^_NET_WM_NAME = "(.*)"$', told, re.MULTILINE)
            if title and "IsViewable" in self._ask("xwininfo", "-id", number):
                shown[number] = title[1]
        return shown

    def place(self, title: str) -> tuple[int, int, int, int]:
        """Left, top, width and height in pixels of the window whose title contains the text, with its frame.

        Raises:
            ScreenError: if no such window exists, or xwininfo is not installed.
        """
        number = self._number(title)
        printed = self._ask("xwininfo", "-frame", "-id", number)
        figures = re.findall(r"^  (?:Absolute upper-left [XY]|Width|Height): +(-?\d+)$", printed, re.MULTILINE)
        if len(figures) != 4:
            raise ScreenError(f'the window "{title}" has closed')
        left, top, width, height = map(int, figures)
        return left, top, width, height

    def wait_for_title(self, wanted: str, program: subprocess.Popen[Any], patience_s: float = _PATIENCE_S) -> str:
        """Waits until a window's title contains the text; returns the whole title.

        Raises:
            ScreenError: if no such window appears in time, or the program has ended.
        """
        end = time.monotonic() + patience_s
        while True:
            shown = list(self.titles().values())
            for title in shown:
                if wanted in title:
                    return title
            if program.poll() is not None:
                raise ScreenError(f'the program ended with {program.returncode} before a window "{wanted}" was shown')
            if time.monotonic() > end:
                raise ScreenError(f'no window "{wanted}" after {patience_s:g} s; shown are {shown}')
            time.sleep(0.05)

    def press(self, key: str, title: str) -> None:
        """Presses a key (in the notation of xdotool) in the window whose title contains the text.

        Raises:
            ScreenError: if no such window exists, or xdotool is not installed.
        """
        self._ask("xdotool", "windowfocus", "--sync", self._number(title), "key", key)

    def _number(self, title: str) -> str:
        shown = self.titles()
        number = next((number for number, each in shown.items() if title in each), None)
        if number is None:
            raise ScreenError(f'no window "{title}"; shown are {list(shown.values())}')
        return number

    def _ask(self, *words: str) -> str:
        environment = os.environ | {"DISPLAY": self.display, "LC_ALL": "C.UTF-8"}
        try:
            # A window may close between two calls; the output is then empty, and the window no longer counts as
            # visible.
            return subprocess.run(words, env=environment, capture_output=True, text=True, check=False).stdout
        except FileNotFoundError as error:
            raise ScreenError(f"{words[0]} is not installed (packages x11-utils, xdotool)") from error
