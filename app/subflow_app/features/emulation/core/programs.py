"""Programs of an emulated network as processes of their nodes. Runs in the worker."""

from __future__ import annotations

import errno
import os
import pty
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fcntl import ioctl
from pathlib import Path
from shutil import which

from subflow_app.features.emulation.core.nodes import Node
from subflow_app.features.kernel.core import namespaces

KILL_AFTER_S = 2.0
"""Time after SIGTERM at which a program gets SIGKILL, s."""

_ROWS, _COLUMNS = 40, 160
_MOST_LINE = 4000
_READ_BYTES = 4096
# Output that is read between two samples; a program that writes more waits.
_MOST_OUTPUT_BYTES = 32_768
_ELF, _PROGRAM_INTERPRETER = b"\x7fELF", 3


@dataclass(slots=True)
class RunningProgram:
    """A program that was started.

    Attributes:
        number: its number, from 0 in the order of starts.
        node: its node.
        words: the program and its arguments.
        pid: number of its process, which leads a group of its own.
        output: file descriptor of its output; -1 without one, or after its end.
        started_s: monotonic time of its start, s.
        waiting_before: number of sockets that waited for clients at the node before.
        idle_since_s: monotonic time since which it has only waited, as far as known, s.
        code: exit code, or minus the number of the signal that ended it; None while it runs.
        kill_at_s: monotonic time at which it gets SIGKILL; None without a wish to end it.
        budget_bytes: output that may still be read before the next sample.
    """

    number: int
    node: str
    words: Sequence[str]
    pid: int
    output: int
    started_s: float
    waiting_before: int
    idle_since_s: float
    code: int | None = None
    kill_at_s: float | None = None
    budget_bytes: int = _MOST_OUTPUT_BYTES
    _rest: bytes = b""
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def is_busy(self) -> bool:
        """True if the program computes or reads files at this moment."""
        try:
            status = Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii", errors="replace")
        except OSError:
            return False
        return status.rpartition(")")[2].split()[:1] in (["R"], ["D"])

    def read(self) -> tuple[list[str], bool]:
        """Lines of output since the last call, and True if more may come."""
        try:
            data = os.read(self.output, _READ_BYTES)
        except OSError as error:
            if error.errno not in (errno.EIO, errno.EBADF):  # EIO: no process has the terminal open
                raise
            data = b""
        self.budget_bytes -= len(data)
        parts = (self._rest + data).replace(b"\r", b"\n").split(b"\n")
        self._rest = parts.pop()
        if not data or len(self._rest) > _MOST_LINE:
            parts.append(self._rest)
            self._rest = b""
        if not data:
            os.close(self.output)
            self.output = -1
        return [part[:_MOST_LINE].decode("utf-8", "replace") for part in parts if part.strip()], bool(data)

    def refill(self) -> None:
        """Allow output until the next sample."""
        self.budget_bytes = _MOST_OUTPUT_BYTES

    def end(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Send a signal to the program and its children; a second signal follows if it does not end."""
        if self.code is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)
            if self.kill_at_s is None:
                self.kill_at_s = time.monotonic() + KILL_AFTER_S

    def has_ended(self, status: int) -> None:
        """Note the exit status, as waitpid returns it."""
        self.code = os.waitstatus_to_exitcode(status)
        if self._process is not None:
            self._process.returncode = self.code  # so that Python does not wait for it, too


def start_program(
    number: int,
    node: Node,
    words: Sequence[str],
    *,
    environment: Mapping[str, str],
    terminal: int | None,
    waiting_before: int,
) -> RunningProgram:
    """Start a program at a node.

    Its output goes to a pseudo-terminal, so that programs write each line at once.

    Args:
        number: number of the program.
        node: the node.
        words: the program and its arguments.
        environment: additional variables.
        terminal: file descriptor of a terminal that the program controls; None: it reads nothing.
        waiting_before: see `RunningProgram`.

    Raises:
        OSError: if the program cannot be executed.
    """
    output, its_end = (-1, terminal) if terminal is not None else pty.openpty()
    if terminal is None:
        _prepare(its_end)
    stdin = its_end if terminal is not None else subprocess.DEVNULL

    def enter_node() -> None:
        namespaces.enter_network_namespace(node.network)
        namespaces.enter_mount_namespace(node.files)
        with suppress(OSError):
            namespaces.take_host_name(node.name)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if terminal is not None:
            ioctl(0, termios.TIOCSCTTY, 0)

    try:
        process = subprocess.Popen(
            list(words),
            stdin=stdin,
            stdout=its_end,
            stderr=its_end,
            env={**os.environ, **environment},
            start_new_session=True,
            preexec_fn=enter_node,  # after setsid, so that the program can take a terminal
        )
    except BaseException:
        if output != -1:
            os.close(output)
        raise
    finally:
        if terminal is None:
            os.close(its_end)
    if output != -1:
        os.set_blocking(output, False)
    now_s = time.monotonic()
    return RunningProgram(
        number, node.name, tuple(words), process.pid, output, now_s, waiting_before, now_s, _process=process
    )


def _prepare(terminal: int) -> None:
    """Make a pseudo-terminal pass output unchanged, and as wide as tables of programs need."""
    settings = termios.tcgetattr(terminal)
    settings[1] &= ~termios.OPOST
    settings[3] &= ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSANOW, settings)
    ioctl(terminal, termios.TIOCSWINSZ, struct.pack("4H", _ROWS, _COLUMNS, 0, 0))


def is_static(program: str) -> bool:
    """True if a program is linked statically, so that no library can be loaded before its own."""
    path = which(program)
    if path is None:
        return False
    try:
        with Path(path).open("rb") as file:
            header = file.read(64)
            if header[:4] != _ELF or len(header) < 64 or header[4] != 2:
                return False
            (start,) = struct.unpack_from("<Q", header, 32)
            size, count = struct.unpack_from("<HH", header, 54)
            file.seek(start)
            table = file.read(size * count)
    except OSError:
        return False
    kinds = [struct.unpack_from("<I", table, size * each)[0] for each in range(len(table) // size)] if size else []
    return _PROGRAM_INTERPRETER not in kinds
