"""The log of this session in memory: the latest messages of every thread, for the log panel."""

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
    """One message.

    Attributes:
        number: counts all messages of the session, from 0.
        time_s: when it was said, s since 1970.
        level: as in the module ``logging``.
        source: name of the logger.
        text: what was said, with the traceback if there is one.
    """

    number: int
    time_s: float
    level: int
    source: str
    text: str


class SessionLog(logging.Handler):
    """Keeps the latest messages; any thread may log, and who listens asks what is new when it suits."""

    def __init__(self, most_kept: int = MOST_KEPT) -> None:
        super().__init__(logging.INFO)
        self._guard = threading.Lock()
        self._messages: deque[LogMessage] = deque(maxlen=most_kept)
        self.count = 0  # how many messages there have been
        self._listeners: list[Callable[[], None]] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one message."""
        # Libraries say every step of theirs.
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
        """Have `listener` called after each message, by the thread that logs; the result ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    def since(self, number: int) -> list[LogMessage]:
        """The messages from this number on, as far as they are still kept."""
        with self._guard:
            if number >= self.count:
                return []
            return [message for message in self._messages if message.number >= number]


SESSION_LOG = SessionLog()
"""The one of this process; `app` adds it to the root logger."""
