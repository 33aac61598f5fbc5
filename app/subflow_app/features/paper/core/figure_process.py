"""Process that draws figures, so that matplotlib never blocks the window, and its messages.

The alternative was a thread. On an idle computer, drawing three runs in three plots over 200 s blocked the window for
up to 70 ms at a time with a thread, but only for 11 ms with a process. The first figure takes 1.4 s, and each further
figure 0.4 s. A process can also be killed, which frees its memory.

Messages are bytes for pipes between processes of Subflow. They contain records of known types with numbers, strings and
arrays, encoded as a JSON document that is followed by the arrays. The alternative was pickle. Unpickling can execute
any code, however, and a pipe should only carry data.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from typing import IO, Any, Literal

import numpy as np

from subflow_app.features.paper.core.figure_plan import FigurePlan, PlacedWord
from subflow_app.foundation.errors import ExportError, InputError
from subflow_app.foundation.interruption import interrupts_held_back
from subflow_app.foundation.paths import FIGURE_WORKER, own_command

_LENGTH_BYTES = 8
_ORDER: Literal["little"] = "little"
_KIND, _ARRAY, _BYTES, _MAP = "*kind", "*array", "*bytes", "*map"


def pack(value: object) -> bytes:
    """Serialises a value.

    Raises:
        TypeError: if the value contains anything but dataclasses, named tuples, sequences, mappings with strings as
            keys, numbers, strings, bytes and one-dimensional arrays.
    """
    blobs: list[bytes] = []
    head = json.dumps(_plain(value, blobs)).encode()
    return b"".join((len(head).to_bytes(_LENGTH_BYTES, _ORDER), head, *blobs))


def unpack(content: bytes, kinds: Iterable[type]) -> Any:
    """Deserialises a value; sequences become tuples.

    Args:
        content: output of `pack`.
        kinds: dataclasses and named tuples that the value may contain.

    Raises:
        ValueError: if the content is damaged, or contains a record of another type.
    """
    start = _LENGTH_BYTES + int.from_bytes(content[:_LENGTH_BYTES], _ORDER)
    view = memoryview(content)
    head = json.loads(content[_LENGTH_BYTES:start])
    return _built(head, view[start:], {kind.__name__: kind for kind in kinds}, [0])


def write_message(pipe: IO[bytes], content: bytes) -> None:
    """Writes a message, preceded by its length, to be read by `read_message`."""
    pipe.write(len(content).to_bytes(_LENGTH_BYTES, _ORDER) + content)
    pipe.flush()


def read_message(pipe: IO[bytes]) -> bytes | None:
    """The next message; None if the other process closed the pipe, even within a message."""
    head = pipe.read(_LENGTH_BYTES)
    if len(head) < _LENGTH_BYTES:
        return None
    length = int.from_bytes(head, _ORDER)
    content = pipe.read(length)
    return content if len(content) == length else None


def _plain(value: object, blobs: list[bytes]) -> object:
    if isinstance(value, np.ndarray):
        if value.ndim != 1 or value.dtype.kind not in "fiub":
            raise TypeError(f"an array of {value.ndim} dimensions of {value.dtype} cannot be packed")
        blobs.append(value.tobytes())
        return {_ARRAY: value.dtype.str, "n": len(value)}
    if isinstance(value, bytes):
        blobs.append(value)
        return {_BYTES: len(value)}
    if is_dataclass(value) and not isinstance(value, type):
        members = {member.name: _plain(getattr(value, member.name), blobs) for member in fields(value)}
        return {_KIND: type(value).__name__, **members}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {_KIND: type(value).__name__, **{key: _plain(item, blobs) for key, item in value._asdict().items()}}
    if isinstance(value, tuple | list):
        return [_plain(item, blobs) for item in value]
    if isinstance(value, Mapping):
        return {_MAP: [[str(key), _plain(item, blobs)] for key, item in value.items()]}
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise TypeError(f"{type(value).__name__} cannot be packed")


def _built(plain: Any, blobs: memoryview, kinds: Mapping[str, type], place: list[int]) -> Any:
    if isinstance(plain, list):
        return tuple(_built(item, blobs, kinds, place) for item in plain)
    if not isinstance(plain, dict):
        return plain
    if _ARRAY in plain:
        dtype = np.dtype(plain[_ARRAY])
        return np.frombuffer(_taken(blobs, plain["n"] * dtype.itemsize, place), dtype)
    if _BYTES in plain:
        return bytes(_taken(blobs, plain[_BYTES], place))
    if _MAP in plain:
        return {key: _built(item, blobs, kinds, place) for key, item in plain[_MAP]}
    name = plain.pop(_KIND)
    if name not in kinds:
        raise ValueError(f"a {name} is not one of {', '.join(kinds)}")
    return kinds[name](**{key: _built(item, blobs, kinds, place) for key, item in plain.items()})


def _taken(blobs: memoryview, length: int, place: list[int]) -> memoryview:
    part = blobs[place[0] : place[0] + length]
    if len(part) != length:
        raise ValueError("the message is cut off")
    place[0] += length
    return part


@dataclass(frozen=True, slots=True, eq=False)
class PreviewJob:
    """A request for a picture of a figure with the places of its texts."""

    plan: FigurePlan


CONTENT, REFUSED, BROKEN = "content", "refused", "broken"
"""Kinds of answers: the file, the reason why the job cannot be drawn, or the traceback of a bug."""

_TIMEOUT_S = 120.0  # figures take a second and reports ten; a computer that swaps needs more
_LAST_LINES = 3


class FigureProcess:
    """Process that draws one job at a time until it is closed.

    After a failed drawing, the next job starts a new process.

    Args:
        command: command that starts the process.
        timeout_s: time after which a drawing process is killed, s.
    """

    def __init__(self, command: Sequence[str] | None = None, *, timeout_s: float = _TIMEOUT_S) -> None:
        self._command = list(command or own_command(FIGURE_WORKER))
        self._timeout_s = timeout_s
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None
        self._one_at_a_time = threading.Lock()
        self._starting = threading.Lock()
        self._is_closed = False

    def start(self) -> None:
        """Starts the process without waiting for it, so that matplotlib loads while the user makes choices.

        Raises:
            ExportError: if the system refuses to start the process.
        """
        with self._starting:
            if self._process is not None or self._is_closed:
                return
            log = tempfile.TemporaryFile()  # noqa: SIM115 # stays open as long as the process runs
            try:
                with interrupts_held_back():
                    self._process = subprocess.Popen(
                        self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
                    )
            except OSError as error:
                log.close()
                raise ExportError(f"no figure can be drawn: {error.strerror or error}; try again") from error
            self._log = log

    @property
    def is_running(self) -> bool:
        """True from `start` until `close` or a failed drawing."""
        return self._process is not None

    def draw(self, job: object) -> bytes:
        """Draws a figure or a report; blocks, and must therefore run in a worker thread.

        Returns:
            The content of the file.

        Raises:
            InputError: if the job cannot be drawn.
            ExportError: if the process did not start, died, took too long, or was closed during the drawing.
            RuntimeError: if an unexpected error occurred in the process; the message contains its traceback.
        """
        content = self._drawn(job)
        assert isinstance(content, bytes)
        return content

    def preview(self, plan: FigurePlan) -> tuple[bytes, tuple[PlacedWord, ...]]:
        """Draws a figure as PNG, like `draw`; also returns the places of its texts."""
        content, places = self._drawn(PreviewJob(plan))
        return content, places

    def _drawn(self, job: object) -> Any:
        with self._one_at_a_time:
            self.start()
            answer = self._asked(pack(job))
        what, content = answer
        if what == CONTENT:
            return content
        if what == BROKEN:
            raise RuntimeError(f"the process that draws has a bug:\n{content}")
        raise InputError(str(content))

    def close(self) -> None:
        """Ends the process and cancels a drawing; safe in any thread, and harmless if repeated."""
        self._is_closed = True
        self._end()

    def _asked(self, request: bytes) -> tuple[str, Any]:
        process = self._process
        if process is None:
            raise ExportError("drawing was cancelled")
        assert process.stdin is not None
        assert process.stdout is not None
        has_timed_out = threading.Event()

        def give_up() -> None:
            has_timed_out.set()
            process.kill()

        timer = threading.Timer(self._timeout_s, give_up)
        timer.daemon = True
        timer.start()
        try:
            write_message(process.stdin, request)
            content = read_message(process.stdout)
        except (OSError, ValueError):  # the pipe is broken, or `close` closed it
            content = None
        finally:
            timer.cancel()
        if content is not None:
            what, answer = unpack(content, ())
            return what, answer
        reason = self._reason(has_timed_out=has_timed_out.is_set())
        self._end()
        raise ExportError(reason)

    def _reason(self, *, has_timed_out: bool) -> str:
        if self._is_closed:
            return "drawing was cancelled"
        if has_timed_out:
            return f"drawing took longer than {self._timeout_s:g} s and was given up: choose fewer plots or runs"
        text = ""
        if self._log is not None:
            self._log.seek(0)
            lines = self._log.read().decode(errors="replace").strip().splitlines()
            text = f" ({' '.join(lines[-_LAST_LINES:])})" if lines else ""
        return f"the process that draws ended unexpectedly{text}: try again"

    def _end(self) -> None:
        with self._starting:
            process, self._process = self._process, None
            log, self._log = self._log, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, log):
            if pipe is not None:
                # Closing a pipe flushes unsent data, which fails because the process is dead.
                with suppress(OSError):
                    pipe.close()
