"""Makes this process, and those that it starts, meet what users meet: folders that cannot be written, full disks.

Linux alone; call them before anything starts a thread, hence before numpy is imported.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

from subflow_app.selftest.check import NotHereError

_CLONE_NEWNS, _CLONE_NEWUSER = 0x00020000, 0x10000000
_MS_REC, _MS_PRIVATE = 0x4000, 0x40000
_PR_CAPBSET_DROP = 24
_CAPABILITY_VERSION_3 = 0x20080522
# CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH and CAP_FOWNER: by them the permissions of files mean nothing to root.
_OVER_PERMISSIONS = (1, 2, 3)


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Capabilities(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def obey_permissions() -> None:
    """From now on this process is refused what the permissions of files refuse, also as root.

    Raises:
        NotHereError: if the system cannot do that.
    """
    _require_linux()
    if os.geteuid() != 0:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    # Those that a program started as root gets.
    for number in _OVER_PERMISSIONS:
        if libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0) != 0:
            raise NotHereError(f"root cannot be kept from overriding permissions: {_last_error()}")
    header, sets = _Header(_CAPABILITY_VERSION_3, 0), (_Capabilities * 2)()
    if libc.capget(ctypes.byref(header), sets) != 0:
        raise NotHereError(f"the rights of root cannot be read: {_last_error()}")
    kept = ~sum(1 << number for number in _OVER_PERMISSIONS) & 0xFFFFFFFF
    sets[0].effective &= kept
    sets[0].permitted &= kept
    sets[0].inheritable &= kept
    if libc.capset(ctypes.byref(header), sets) != 0:
        raise NotHereError(f"the rights of root cannot be given up: {_last_error()}")


def mount_small_disk(folder: Path, size_bytes: int) -> None:
    """Makes a folder a disk of that size, which this process and its children alone see, and which goes with them.

    Args:
        folder: an empty one.
        size_bytes: what fits on it.

    Raises:
        NotHereError: if the system lets this user make none.
    """
    _require_linux()
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.geteuid(), os.getegid()
    spaces = _CLONE_NEWNS if user == 0 else _CLONE_NEWNS | _CLONE_NEWUSER
    if libc.unshare(spaces) != 0:
        raise NotHereError(f"the system lets this user mount no disk of his own: {_last_error()}")
    if user != 0:
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")
    options = f"size={size_bytes},mode=700".encode("ascii")
    if libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None) != 0:
        raise NotHereError(f"mounts cannot be made private: {_last_error()}")
    if libc.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", 0, options) != 0:
        raise NotHereError(f"no disk can be mounted: {_last_error()}")


def _require_linux() -> None:
    if sys.platform != "linux":
        raise NotHereError("tried on Linux alone")


def _last_error() -> str:
    return os.strerror(ctypes.get_errno())
