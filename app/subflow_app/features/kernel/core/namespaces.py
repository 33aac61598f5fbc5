"""Anonymous network namespaces: they live as long as a process holds them and change nothing outside."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import signal
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_CLONE_NEWNET, _CLONE_NEWUSER = 0x40000000, 0x10000000
_PR_SET_PDEATHSIG, _PR_SET_TIMERSLACK = 1, 29
_SIOCETHTOOL = 0x8946
# ETHTOOL_S...: checksums and scatter-gather off, and with them each kind of segmentation offload; receive offload too.
_ETHTOOL_SWITCHES = {"tx checksums": 0x17, "scatter-gather": 0x19, "tso": 0x1F, "gso": 0x24, "gro": 0x2C}

_libc = ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments: int) -> None:
    """A system call of libc that Python has no name for; raises OSError."""
    if getattr(_libc, name)(*arguments) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")


def enter_private_namespace() -> None:
    """Move this process, which must have one thread, into a network namespace of its own.

    As root directly; else through a user namespace in which it is root.

    Raises:
        OSError: if the machine allows neither.
    """
    try:
        _call("unshare", _CLONE_NEWNET)
    except OSError as error:
        if error.errno != errno.EPERM:
            raise
        user, group = os.geteuid(), os.getegid()
        _call("unshare", _CLONE_NEWUSER | _CLONE_NEWNET)
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"0 {user} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"0 {group} 1", encoding="ascii")


def new_namespace() -> int:
    """One more network namespace; this process stays where it is. Returns a file descriptor that keeps it alive."""
    home = current_namespace()
    try:
        _call("unshare", _CLONE_NEWNET)
        created = current_namespace()
        _call("setns", home, _CLONE_NEWNET)
    finally:
        os.close(home)
    return created


def current_namespace() -> int:
    """A file descriptor of the network namespace that this process is in."""
    return os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)


@contextmanager
def inside(namespace: int) -> Iterator[None]:
    """What is made in this block (sockets, addresses, settings) belongs to that namespace."""
    home = current_namespace()
    try:
        _call("setns", namespace, _CLONE_NEWNET)
        yield
    finally:
        _call("setns", home, _CLONE_NEWNET)
        os.close(home)


def switch_offloads_off(interface: str) -> None:
    """The stack hands over whole packets with their checksums, and takes them one by one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for command in _ETHTOOL_SWITCHES.values():
            value = ctypes.create_string_buffer(struct.pack("=II", command, 0))
            request = struct.pack("@16sP16x", interface.encode(), ctypes.addressof(value))
            # Kernels differ in which of these a veth has; the checksum decides, and the worker tries one exchange.
            with suppress(OSError):
                fcntl.ioctl(any_socket, _SIOCETHTOOL, request)


def set_sysctl(name: str, value: str) -> bool:
    """Set a kernel parameter of the current namespace; whether that was allowed (/proc/sys may be read-only)."""
    try:
        Path("/proc/sys", *name.split(".")).write_text(value, encoding="ascii")
    except OSError:
        return False
    return True


def read_sysctl(name: str) -> str | None:
    """A kernel parameter of the current namespace; None if there is no such one."""
    try:
        return Path("/proc/sys", *name.split(".")).read_text(encoding="ascii").strip()
    except OSError:
        return None


def die_with_parent(parent: int) -> None:
    """When the parent process goes, however that happens, this one is killed: nothing outlives the command.

    Args:
        parent: its id; if it is gone already, so is this process.
    """
    _call("prctl", _PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def hurry(priority: int) -> str:
    """Get this process scheduled before others, as far as the machine allows.

    Args:
        priority: real-time priority, 1 to 99; without the right to it the nice value is lowered, if that is allowed.

    Returns:
        "real-time", "nice" or "normal".
    """
    _call("prctl", _PR_SET_TIMERSLACK, 1, 0, 0, 0)
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
        return "real-time"
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, -20)
        return "nice"
    return "normal"
