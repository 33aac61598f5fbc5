"""Connects a pseudo-terminal to the terminal of this process, so that a shell in the worker is interactive."""

from __future__ import annotations

import os
import pty
import select
import signal
import sys
import termios
import threading
import tty
from contextlib import suppress
from fcntl import ioctl
from types import TracebackType
from typing import Any

_WINDOW_SIZE_BYTES = 8


class TerminalRelay:
    """A context in which this process's terminal passes everything to and from a pseudo-terminal.

    Attributes:
        descriptor: the end of the pseudo-terminal for the shell; close it after the shell has started.
    """

    def __init__(self) -> None:
        self._ours, self.descriptor = pty.openpty()
        self._thread = threading.Thread(target=self._pass_on, name="subflow-terminal", daemon=True)
        self._wake, self._waker = os.pipe()
        self._settings: list[Any] = []
        self._on_resize: Any = None

    def __enter__(self) -> TerminalRelay:
        stdin = sys.stdin.fileno()
        self._settings = termios.tcgetattr(stdin)
        self._resize()
        self._on_resize = signal.signal(signal.SIGWINCH, lambda *_: self._resize())
        tty.setraw(stdin)
        # Output of other programs still begins its lines at the left.
        settings = termios.tcgetattr(stdin)
        settings[1] |= termios.OPOST
        termios.tcsetattr(stdin, termios.TCSADRAIN, settings)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.write(self._waker, b"x")
        self._thread.join(1.0)
        signal.signal(signal.SIGWINCH, self._on_resize)
        termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, self._settings)
        for descriptor in (self._ours, self.descriptor, self._wake, self._waker):
            with suppress(OSError):
                os.close(descriptor)

    def _resize(self) -> None:
        with suppress(OSError):
            size = ioctl(sys.stdin.fileno(), termios.TIOCGWINSZ, bytes(_WINDOW_SIZE_BYTES))
            ioctl(self._ours, termios.TIOCSWINSZ, size)

    def _pass_on(self) -> None:
        stdin, stdout = sys.stdin.fileno(), sys.stdout.fileno()
        targets = {stdin: self._ours, self._ours: stdout}
        while True:
            ready = select.select([*targets, self._wake], [], [])[0]
            if self._wake in ready:
                return
            for source in ready:
                try:
                    data = os.read(source, 4096)
                except OSError:  # the shell has closed its end
                    return
                if not data:
                    del targets[source]
                    continue
                while data:
                    data = data[os.write(targets[source], data) :]
