"""Is the process that writes a run still there? Each running run records who writes it; opening a store asks here.

On Linux the answer is certain for processes that this one can see: boot id, pid namespace, pid and the process's start
time name a process once and for all, so neither a reused pid nor a reboot deceives. Where that is not to be had
(another machine on a shared disk, another container, another system) the run's heartbeat decides. A lock held by
the system would need a second file beside each database for as long as a run lasts.
"""

from __future__ import annotations

import os
import socket
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

HEARTBEAT_S = 10.0
"""How often a living writer renews its heartbeat, also while its run is paused."""

STALE_S = 60.0
"""A heartbeat older than this is that of a dead writer, where nothing better is known."""


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """Names one process among all machines and all time, as well as the system allows.

    Attributes:
        host: host name.
        boot: boot id and pid namespace (Linux), else "".
        pid: process id.
        started: start time in clock ticks since boot (Linux), else "".
    """

    host: str
    boot: str
    pid: int
    started: str

    @classmethod
    def from_document(cls, document: Any) -> ProcessIdentity:
        """From what `dataclasses.asdict` made, and a file held since.

        Raises:
            ValueError: if it is no such document.
        """
        kinds = {"host": str, "boot": str, "pid": int, "started": str}
        if not isinstance(document, dict) or set(document) != set(kinds):
            raise ValueError("it does not name a process")
        if (
            not all(isinstance(document[name], kind) for name, kind in kinds.items())
            or not 0 <= document["pid"] < 2**31
        ):
            raise ValueError("it names a process that cannot exist")
        return cls(**document)

    def is_gone(self, heartbeat_age_s: float) -> bool:
        """Whether this process has ended.

        Args:
            heartbeat_age_s: seconds since it last renewed its heartbeat.
        """
        here = this_process()
        if self.host == here.host:
            if self.boot and self.boot == here.boot:
                return _start_ticks(self.pid) != self.started
            if not self.boot and not here.boot and _is_pid_unused(self.pid):
                return True
        return heartbeat_age_s > STALE_S


def this_process() -> ProcessIdentity:
    """The identity of the calling process."""
    return _identity(os.getpid())  # asked anew each time: a forked child must not pass for its parent


@cache
def _identity(pid: int) -> ProcessIdentity:
    return ProcessIdentity(socket.gethostname(), _boot(), pid, _start_ticks(pid))


def _boot() -> str:
    """Boot id and pid namespace, or "" where the system does not tell."""
    try:
        boot_id = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot_id}/{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return ""


def _start_ticks(pid: int) -> str:
    """When a process started, in clock ticks since boot; "" if there is no such process (or no /proc)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    # proc(5): the command name, in parentheses, may itself hold blanks and parentheses; field 3 follows the last one.
    fields = stat.rpartition(")")[2].split()
    is_zombie = fields[0] == "Z"
    return "" if is_zombie else fields[22 - 3]


def _is_pid_unused(pid: int) -> bool:
    """Whether surely no process has this pid; False where the system cannot be asked."""
    if sys.platform == "win32":
        return False  # os.kill(pid, 0) would send it a console event there
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
