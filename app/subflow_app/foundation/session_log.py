"""In-memory log of this session: the latest messages of all threads, for the log panel."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

MOST_KEPT = 5000
_FORMAT = logging.Formatter("%(message)s")


@dataclass(frozen=True, slots=True)
class LogMessage:
    """One message of the log.

    Attributes:
        number: index of the message in the session, from 0.
        time_s: time of the message, seconds since 1970.
        level: level as in the module ``logging``, e.g. ``logging.WARNING``.
        source: name of the logger.
        text: the message, with a traceback if it has one.
    """

    number: int
    time_s: float
    level: int
    source: str
    text: str


class SessionLog(logging.Handler):
    """Keeps the latest messages. Any thread may log; listeners fetch new messages with `since`."""

    def __init__(self, most_kept: int = MOST_KEPT) -> None:
        super().__init__(logging.INFO)
        self._guard = threading.Lock()
        self._messages: deque[LogMessage] = deque(maxlen=most_kept)
        self.count = 0  # number of messages so far
        self._listeners: list[Callable[[], None]] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Store a message and call the listeners; messages of libraries below WARNING are dropped."""
        # At levels below WARNING, libraries log every step.
        if record.levelno < logging.WARNING and not record.name.startswith("subflow"):
            return
        try:
            text = _FORMAT.format(record)
        except Exception:
            self.handleError(record)
            return
        with self._guard:
            self._messages.append(LogMessage(self.count, record.created, record.levelno, record.name, text))
            self.count += 1
        for listener in tuple(self._listeners):
            listener()

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after each message, in the logging thread; returns a function that unsubscribes it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    def since(self, number: int) -> list[LogMessage]:
        """The stored messages from this number on."""
        with self._guard:
            if number >= self.count:
                return []
            return [message for message in self._messages if message.number >= number]


SESSION_LOG = SessionLog()
"""The log of this process; `shell.app` adds it to the root logger."""
