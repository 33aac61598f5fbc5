"""Anonymous network namespaces, and the netlink requests that configure them without the program `ip`.

A namespace exists while a process holds it open, and does not affect the rest of the machine. The requests set up veth
pairs, addresses, routes and MPTCP endpoints.

Source: linux/rtnetlink.h, if_link.h, if_addr.h, genetlink.h, mptcp_pm.h; rtnetlink(7).
"""

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
_CLONE_NEWNS, _CLONE_NEWPID, _CLONE_NEWUTS = 0x20000, 0x20000000, 0x4000000
_PR_SET_PDEATHSIG, _PR_SET_TIMERSLACK = 1, 29
_SIOCETHTOOL = 0x8946
_MNT_DETACH = 2
_MAX_HOST_NAME = 64
MS_BIND, MS_RECURSIVE, MS_PRIVATE = 0x1000, 0x4000, 0x40000
"""Flags of `mount`."""

# Commands (ETHTOOL_S... in linux/ethtool.h) that switch offloads. The segmentation offloads tso and gso require the
# first two.
_ETHTOOL_SWITCHES = {"tx checksums": 0x17, "scatter-gather": 0x19, "tso": 0x1F, "gso": 0x24, "gro": 0x2C}

_libc = ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments: int) -> None:
    """Call a function of libc that Python does not offer; raises OSError."""
    if getattr(_libc, name)(*arguments) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")


def enter_private_namespace(*, with_processes: bool = False) -> None:
    """Move this process, which must have one thread, into a new network namespace.

    Without root, the process first enters a user namespace in which it is root.

    Args:
        with_processes: whether to enter a new mount namespace, too, and to put children into a new PID namespace.

    Raises:
        OSError: if the machine allows neither a network namespace nor a user namespace.
    """
    wanted = _CLONE_NEWNET | (_CLONE_NEWNS | _CLONE_NEWPID if with_processes else 0)
    try:
        _call("unshare", wanted)
    except OSError as error:
        if error.errno != errno.EPERM:
            raise
        user, group = os.geteuid(), os.getegid()
        _call("unshare", _CLONE_NEWUSER | wanted)
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"0 {user} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"0 {group} 1", encoding="ascii")


def new_namespace() -> int:
    """Create a network namespace without entering it; return a file descriptor that keeps the namespace alive."""
    home = current_namespace()
    try:
        _call("unshare", _CLONE_NEWNET)
        created = current_namespace()
        _call("setns", home, _CLONE_NEWNET)
    finally:
        os.close(home)
    return created


def current_namespace() -> int:
    """File descriptor of this process's network namespace; the caller closes the descriptor."""
    return os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)


def new_mount_namespace() -> int:
    """Enter a copy of the current mount namespace; return a file descriptor that keeps the copy alive."""
    _call("unshare", _CLONE_NEWNS)
    return current_mount_namespace()


def current_mount_namespace() -> int:
    """File descriptor of this process's mount namespace; the caller closes the descriptor."""
    return os.open("/proc/self/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)


def enter_mount_namespace(namespace: int) -> None:
    """Move this process, which must have one thread, into a mount namespace, and keep its working directory."""
    folder = Path.cwd()
    _call("setns", namespace, _CLONE_NEWNS)
    try:
        os.chdir(folder)
    except OSError:
        os.chdir("/")


def enter_network_namespace(namespace: int) -> None:
    """Move this thread into a network namespace for good."""
    _call("setns", namespace, _CLONE_NEWNET)


def take_host_name(name: str) -> None:
    """Give this process and its future children a host name of their own."""
    _call("unshare", _CLONE_NEWUTS)
    socket.sethostname(name[:_MAX_HOST_NAME])


def mount(source: str, target: str, kind: str, flags: int = 0, options: str = "") -> None:
    """Make a file system visible at a place. Raises OSError.

    Source: mount(2), for all arguments.
    """
    texts = [text.encode() or None for text in (source, target, kind)]
    if _libc.mount(*texts, ctypes.c_ulong(flags), options.encode() or None) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"mount {target}: {os.strerror(code)}")


def detach_mount(target: str) -> None:
    """Unmount a file system when it is no longer used."""
    if _libc.umount2(target.encode(), _MNT_DETACH) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"umount {target}: {os.strerror(code)}")


@contextmanager
def inside(namespace: int) -> Iterator[None]:
    """Enter a namespace for the block, so that sockets, addresses and settings created there belong to it."""
    home = current_namespace()
    try:
        _call("setns", namespace, _CLONE_NEWNET)
        yield
    finally:
        _call("setns", home, _CLONE_NEWNET)
        os.close(home)


def switch_offloads_off(interface: str) -> None:
    """Make the stack send and receive individual packets with complete checksums."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for command in _ETHTOOL_SWITCHES.values():
            value = ctypes.create_string_buffer(struct.pack("=II", command, 0))
            request = struct.pack("@16sP16x", interface.encode(), ctypes.addressof(value))
            # Supported switches of a veth differ between kernels, so errors are ignored.
            with suppress(OSError):
                fcntl.ioctl(any_socket, _SIOCETHTOOL, request)


def set_sysctl(name: str, value: str) -> bool:
    """Set a kernel parameter of the current namespace; return False if /proc/sys is read-only."""
    try:
        Path("/proc/sys", *name.split(".")).write_text(value, encoding="ascii")
    except OSError:
        return False
    return True


def read_sysctl(name: str) -> str | None:
    """A kernel parameter of the current namespace; None if it cannot be read."""
    try:
        return Path("/proc/sys", *name.split(".")).read_text(encoding="ascii").strip()
    except OSError:
        return None


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent ends, so that no worker outlives the command.

    Args:
        parent: id of the parent; if the parent has already ended, this process exits immediately.
    """
    die_with_creator()
    if os.getppid() != parent:
        os._exit(1)


def die_with_creator() -> None:
    """Have the kernel kill this process when the thread that created it ends, unless it has ended already."""
    _call("prctl", _PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def hurry(priority: int) -> str:
    """Raise the scheduling priority of this process as far as the machine allows, and minimise its timer slack.

    Args:
        priority: real-time priority, 1 to 99; without permission for it, the nice value is lowered if possible.

    Returns:
        The priority obtained: "real-time", "nice" or "normal".
    """
    _call("prctl", _PR_SET_TIMERSLACK, 1, 0, 0, 0)
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
        return "real-time"
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, -20)
        return "nice"
    return "normal"


_NETLINK_ROUTE, _NETLINK_GENERIC = 0, 16
_NLM_F_REQUEST, _NLM_F_ACK, _NLM_F_EXCL, _NLM_F_CREATE = 0x1, 0x4, 0x200, 0x400
_NLMSG_ERROR = 2
_NLA_F_NESTED = 0x8000
_RTM_NEWLINK, _RTM_NEWADDR, _RTM_NEWROUTE, _RTM_NEWRULE = 16, 20, 24, 32
_IFLA_ADDRESS, _IFLA_IFNAME, _IFLA_MTU, _IFLA_LINKINFO, _IFLA_NET_NS_FD, _IFLA_GSO_MAX_SEGS = 1, 3, 4, 18, 28, 40
_IFLA_INFO_KIND, _IFLA_INFO_DATA, _VETH_INFO_PEER = 1, 2, 1
_IFF_UP, _IFF_NOARP = 0x1, 0x80
_IFA_ADDRESS, _IFA_LOCAL, _IFA_CACHEINFO, _IFA_FLAGS = 1, 2, 6, 8
_IFA_F_NODAD = 2
_FOREVER = 0xFFFFFFFF
_RTA_DST, _RTA_OIF, _RTA_GATEWAY, _RTA_PREFSRC, _RTA_TABLE = 1, 4, 5, 7, 15
_RT_TABLE_MAIN, _RTPROT_STATIC, _RT_SCOPE_UNIVERSE, _RT_SCOPE_LINK, _RTN_UNICAST = 254, 4, 0, 253, 1
_FRA_DST, _FRA_SRC, _FRA_TABLE, _FR_ACT_TO_TBL = 1, 2, 15, 1
_GENL_ID_CTRL, _CTRL_CMD_GETFAMILY, _CTRL_ATTR_FAMILY_ID, _CTRL_ATTR_FAMILY_NAME = 16, 3, 1, 2
_MPTCP_PM_VERSION, _MPTCP_PM_CMD_ADD_ADDR, _MPTCP_PM_CMD_DEL_ADDR = 1, 1, 2
_MPTCP_PM_CMD_SET_LIMITS, _MPTCP_PM_CMD_SET_FLAGS = 5, 7
_MPTCP_PM_ATTR_ADDR, _MPTCP_PM_ATTR_RCV_ADD_ADDRS, _MPTCP_PM_ATTR_SUBFLOWS = 1, 2, 3
_PM_ADDR_FAMILY, _PM_ADDR_ID, _PM_ADDR_ADDR4, _PM_ADDR_ADDR6, _PM_ADDR_FLAGS, _PM_ADDR_IF_IDX = 1, 2, 3, 4, 6, 7
_PM_ADDR_FLAG_SUBFLOW, _PM_ADDR_FLAG_BACKUP = 2, 4


def _attribute(kind: int, value: bytes) -> bytes:
    """Encode a netlink attribute, padded to a multiple of four bytes."""
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def _text(kind: int, value: str) -> bytes:
    return _attribute(kind, value.encode() + b"\0")


def _number(kind: int, value: int) -> bytes:
    return _attribute(kind, struct.pack("=I", value))


def _family(text: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in text else socket.AF_INET


def _address(text: str) -> bytes:
    return socket.inet_pton(_family(text), text)


def _mac(text: str) -> bytes:
    return bytes.fromhex(text.replace(":", ""))


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        yield kind & ~_NLA_F_NESTED, data[4:length]
        data = data[(length + 3) & ~3 :]


class Netlink:
    """A netlink socket of the current namespace. Methods raise OSError if the kernel refuses a request."""

    def __init__(self, protocol: int) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol)
        self._sequence = 0

    def __enter__(self) -> Netlink:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    @classmethod
    def route(cls) -> Netlink:
        """Socket for links, addresses and routes."""
        return cls(_NETLINK_ROUTE)

    @classmethod
    def generic(cls) -> Netlink:
        """Socket for the MPTCP path manager."""
        return cls(_NETLINK_GENERIC)

    def add_veth_pair(
        self, name: str, *, peer_name: str, peer_namespace: int, mac: str, peer_mac: str, mtu_bytes: int
    ) -> None:
        """Create a veth pair between this namespace and the namespace with the file descriptor `peer_namespace`."""
        peer = (
            _interface(0, 0, 0)
            + _text(_IFLA_IFNAME, peer_name)
            + _attribute(_IFLA_ADDRESS, _mac(peer_mac))
            + _number(_IFLA_MTU, mtu_bytes)
            + _number(_IFLA_NET_NS_FD, peer_namespace)
        )
        data = _attribute(_VETH_INFO_PEER | _NLA_F_NESTED, peer)
        info = _text(_IFLA_INFO_KIND, "veth") + _attribute(_IFLA_INFO_DATA | _NLA_F_NESTED, data)
        self._change(
            _RTM_NEWLINK,
            _interface(0, 0, 0)
            + _text(_IFLA_IFNAME, name)
            + _attribute(_IFLA_ADDRESS, _mac(mac))
            + _number(_IFLA_MTU, mtu_bytes)
            + _attribute(_IFLA_LINKINFO | _NLA_F_NESTED, info),
        )

    def set_up(self, name: str, *, asks_no_neighbours: bool = False, packets_per_segment: int | None = None) -> None:
        """Bring an interface up.

        Args:
            name: name of the interface.
            asks_no_neighbours: whether to disable ARP; frames are then sent to the interface's own MAC address.
            packets_per_segment: limit of segmentation offload; 1 makes the stack send individual packets, None keeps
                the default.
        """
        flags = _IFF_UP | (_IFF_NOARP if asks_no_neighbours else 0)
        body = _interface(socket.if_nametoindex(name), flags, flags)
        if packets_per_segment is not None:
            body += _number(_IFLA_GSO_MAX_SEGS, packets_per_segment)
        self._change(_RTM_NEWLINK, body, create=False)

    def add_address(self, name: str, address: str, prefix_length: int = 32) -> None:
        """Add an IPv4 or IPv6 address to an interface.

        IPv6 addresses count as deprecated, so that programs prefer IPv4 where a name has addresses of both families.
        """
        family = _family(address)
        body = struct.pack("=BBBBI", family, prefix_length, 0, 0, socket.if_nametoindex(name))
        body += _attribute(_IFA_LOCAL, _address(address)) + _attribute(_IFA_ADDRESS, _address(address))
        if family == socket.AF_INET6:
            body += _attribute(_IFA_CACHEINFO, struct.pack("=4I", 0, _FOREVER, 0, 0))
            body += _number(_IFA_FLAGS, _IFA_F_NODAD)
        self._change(_RTM_NEWADDR, body)

    def add_default_route(self, name: str) -> None:
        """Add a default route through an interface."""
        body = struct.pack(
            "=BBBBBBBBI",
            *(socket.AF_INET, 0, 0, 0),
            *(_RT_TABLE_MAIN, _RTPROT_STATIC, _RT_SCOPE_LINK, _RTN_UNICAST, 0),
        )
        self._change(_RTM_NEWROUTE, body + _number(_RTA_OIF, socket.if_nametoindex(name)))

    def add_route(self, destination: str, via: str, name: str, *, source: str = "", table: int = 0) -> None:
        """Add an IPv4 or IPv6 route over a next hop.

        Args:
            destination: network with its prefix length, "0.0.0.0/0" for all.
            via: address of the next hop.
            name: name of the interface.
            source: preferred source address; empty for the kernel's choice.
            table: number of the routing table; 0: the main table.
        """
        network, _, length = destination.partition("/")
        body = struct.pack(
            "=BBBBBBBBI",
            *(_family(via), int(length), 0, 0),
            *(0 if table else _RT_TABLE_MAIN, _RTPROT_STATIC, _RT_SCOPE_UNIVERSE, _RTN_UNICAST, 0),
        )
        if int(length):
            body += _attribute(_RTA_DST, _address(network))
        body += _attribute(_RTA_GATEWAY, _address(via)) + _number(_RTA_OIF, socket.if_nametoindex(name))
        if source:
            body += _attribute(_RTA_PREFSRC, _address(source))
        if table:
            body += _number(_RTA_TABLE, table)
        self._change(_RTM_NEWROUTE, body)

    def add_rule(self, source: str, destination: str, table: int) -> None:
        """Let packets between two IPv4 or IPv6 addresses use a routing table."""
        length = 8 * len(_address(source))
        body = struct.pack("=BBBBBBBBI", _family(source), length, length, 0, 0, 0, 0, _FR_ACT_TO_TBL, 0)
        body += _attribute(_FRA_DST, _address(destination)) + _attribute(_FRA_SRC, _address(source))
        self._change(_RTM_NEWRULE, body + _number(_FRA_TABLE, table))

    def limit_subflows(self, count: int) -> None:
        """Limit the number of additional subflows of MPTCP connections, and ignore addresses that peers announce."""
        self._mptcp(
            _MPTCP_PM_CMD_SET_LIMITS,
            _number(_MPTCP_PM_ATTR_RCV_ADD_ADDRS, 0) + _number(_MPTCP_PM_ATTR_SUBFLOWS, count),
        )

    def add_subflow_address(self, name: str, number: int, address: str, *, is_backup: bool = False) -> None:
        """Make all MPTCP connections of this namespace, current and future, open a subflow from an address."""
        self._change_address(_MPTCP_PM_CMD_ADD_ADDR, name, number, address, is_backup=is_backup)

    def remove_subflow_address(self, name: str, number: int, address: str) -> None:
        """Make all MPTCP connections of this namespace close the subflow from an address."""
        self._change_address(_MPTCP_PM_CMD_DEL_ADDR, name, number, address)

    def set_backup(self, name: str, number: int, address: str, *, is_backup: bool) -> None:
        """Announce to the peers whether the subflow is a backup (MP_PRIO)."""
        self._change_address(_MPTCP_PM_CMD_SET_FLAGS, name, number, address, is_backup=is_backup)

    def _change_address(self, command: int, name: str, number: int, address: str, *, is_backup: bool = False) -> None:
        family = _family(address)
        body = (
            _attribute(_PM_ADDR_FAMILY, struct.pack("=H", family))
            + _attribute(_PM_ADDR_ID, bytes([number]))
            + _attribute(_PM_ADDR_ADDR6 if family == socket.AF_INET6 else _PM_ADDR_ADDR4, _address(address))
            + _number(_PM_ADDR_FLAGS, _PM_ADDR_FLAG_SUBFLOW | (_PM_ADDR_FLAG_BACKUP if is_backup else 0))
            + _attribute(_PM_ADDR_IF_IDX, struct.pack("=i", socket.if_nametoindex(name)))
        )
        self._mptcp(command, _attribute(_MPTCP_PM_ATTR_ADDR | _NLA_F_NESTED, body))

    def _mptcp(self, command: int, attributes: bytes) -> None:
        self._request(self._mptcp_family(), _NLM_F_ACK, struct.pack("=BBH", command, _MPTCP_PM_VERSION, 0) + attributes)

    def _mptcp_family(self) -> int:
        body = struct.pack("=BBH", _CTRL_CMD_GETFAMILY, 1, 0) + _text(_CTRL_ATTR_FAMILY_NAME, "mptcp_pm")
        reply = self._request(_GENL_ID_CTRL, 0, body)
        for kind, value in _attributes(reply[4:]):
            if kind == _CTRL_ATTR_FAMILY_ID:
                return int(struct.unpack("=H", value)[0])
        raise OSError(errno.ENOENT, "the kernel has no MPTCP path manager")

    def _change(self, kind: int, body: bytes, *, create: bool = True) -> None:
        self._request(kind, _NLM_F_ACK | (_NLM_F_CREATE | _NLM_F_EXCL if create else 0), body)

    def _request(self, kind: int, flags: int, body: bytes) -> bytes:
        """Send one request and return the body of the answer; raise OSError if the kernel refuses the request."""
        self._sequence += 1
        header = struct.pack("=IHHII", 16 + len(body), kind, _NLM_F_REQUEST | flags, self._sequence, 0)
        self._socket.sendall(header + body)
        reply = self._socket.recv(65536)
        length, answer_kind = struct.unpack_from("=IH", reply)
        if answer_kind == _NLMSG_ERROR:
            (code,) = struct.unpack_from("=i", reply, 16)
            if code:
                raise OSError(-code, os.strerror(-code))
        return reply[16:length]


def _interface(index: int, flags: int, changed: int) -> bytes:
    """The fixed part of a message about links (struct ifinfomsg)."""
    return struct.pack("=BBHiII", socket.AF_UNSPEC, 0, 0, index, flags, changed)
