"""The programs of an emulation in progress, and the lines that they printed."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from subflow_app.features.emulation.core.job_text import Program
from subflow_app.vocabulary.plain_text import readable_line

if TYPE_CHECKING:
    from subflow_app.features.emulation.core.emulation import Message

MOST_LINES = 5000
"""Number of the latest lines that are kept."""
_MOST_LETTERS = 2000


@dataclass(frozen=True, slots=True)
class ProgramState:
    """A started program.

    Attributes:
        number: its number, from 0.
        program: its node and words.
        code: exit code, negative for a signal; None while it runs.
        ended_s: time of its end, s after the start of the run; None while it runs.
    """

    number: int
    program: Program
    code: int | None = None
    ended_s: float | None = None


class ProgramLine(NamedTuple):
    """A line that a program printed, or a notice.

    Attributes:
        number: number of the program; -1 for a notice about no program.
        text: the line, without control characters.
        is_notice: whether the line comes from Subflow.
    """

    number: int
    text: str
    is_notice: bool = False


class ProgramLog:
    """Collects messages of a worker in one thread; another thread may read at the same time.

    Args:
        programs: the programs that the worker starts.
    """

    def __init__(self, programs: Sequence[Program]) -> None:
        self._lock = threading.Lock()
        self._states = [ProgramState(number, program) for number, program in enumerate(programs)]
        self._lines: deque[ProgramLine] = deque(maxlen=MOST_LINES)
        self._count = 0

    def take(self, message: Message) -> None:
        """Take over a message about a program; other messages are ignored."""
        with self._lock:
            if "output" in message:
                self._add(int(message["output"]["program"]), message["output"]["text"])
            elif "refused" in message:
                self._add(-1, str(message["refused"]["reason"]), is_notice=True)
            elif "started" in message:
                started = message["started"]
                number = int(started["program"])
                state = ProgramState(number, Program(str(started["node"]), tuple(started["words"])))
                self._states[number : number + 1] = [state]
                if started.get("note"):
                    self._add(number, str(started["note"]), is_notice=True)
            elif "ended" in message:
                ended = message["ended"]
                number = int(ended["program"])
                self._states[number] = replace(
                    self._states[number], code=int(ended["code"]), ended_s=float(ended["t_s"])
                )

    def _add(self, number: int, text: str, *, is_notice: bool = False) -> None:
        self._lines.append(ProgramLine(number, readable_line(text)[:_MOST_LETTERS], is_notice))
        self._count += 1

    @property
    def states(self) -> tuple[ProgramState, ...]:
        """All programs so far, by number."""
        with self._lock:
            return tuple(self._states)

    @property
    def count(self) -> int:
        """Number of lines so far, with those that are no longer kept."""
        return self._count

    def since(self, count: int) -> list[ProgramLine]:
        """The kept lines after the first `count` lines."""
        with self._lock:
            first = max(0, count - (self._count - len(self._lines)))
            return list(self._lines)[first:]
