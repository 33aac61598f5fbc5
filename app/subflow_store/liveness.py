"""Check if the process that writes a run is still alive; each running run records its writer.

On Linux the answer is certain for processes visible to this one: boot id, pid namespace, pid and start time identify a
process uniquely, despite reused pids and reboots. Elsewhere (another machine on a shared disk, another container,
another operating system) the age of the run's heartbeat is the only evidence. A system lock would need a second file
for each database while a run lasts.
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
"""Interval at which a living writer renews its heartbeat, also while its run is paused."""

STALE_S = 60.0
"""Age of a heartbeat beyond which its writer counts as dead, if no better information exists."""


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """Identifies one process among all machines and times, as far as the system allows.

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
        """The identity from the result of `dataclasses.asdict`, as read from a file.

        Raises:
            ValueError: if the document does not describe a process.
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
        """True if this process has ended; if only the heartbeat is known, True if it is older than STALE_S.

        Args:
            heartbeat_age_s: seconds since the last renewal of its heartbeat.
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
    return _identity(os.getpid())  # read anew each time, because a forked child differs from its parent


@cache
def _identity(pid: int) -> ProcessIdentity:
    return ProcessIdentity(socket.gethostname(), _boot(), pid, _start_ticks(pid))


def _boot() -> str:
    """Boot id and pid namespace, or "" if the system does not provide them."""
    try:
        boot_id = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot_id}/{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return ""


def _start_ticks(pid: int) -> str:
    """Start time of a process in clock ticks since boot; "" without /proc, or if the process has ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    # proc(5): the command name in parentheses may contain blanks and parentheses; field 3 follows the last parenthesis.
    fields = stat.rpartition(")")[2].split()
    is_zombie = fields[0] == "Z"
    return "" if is_zombie else fields[22 - 3]


def _is_pid_unused(pid: int) -> bool:
    """True if certainly no process has this pid; False if the system cannot be queried."""
    if sys.platform == "win32":
        return False  # os.kill(pid, 0) would send a console event there
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
