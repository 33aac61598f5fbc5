"""Makes the nodes of an emulated network: network namespaces, cables, addresses, routes, and files of their own.

Runs in the worker after it has entered its private namespaces. Everything is anonymous: the kernel removes it when the
worker's last process ends.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from subflow_app.features.kernel.core import namespaces
from subflow_app.features.kernel.core.namespaces import MS_BIND, MS_PRIVATE, MS_RECURSIVE, Netlink

_CABLE_MAC = "02:00:00:00:ff:ff"
# A folder that every machine has; it is covered for a moment in a namespace that no program uses yet.
_SCRATCH = "/tmp"
_NEEDED_SETTINGS = ("net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding")
_UPLINK_NAME_SERVER = "10.255.255.3"


@dataclass(frozen=True, slots=True)
class Node:
    """A node that exists.

    Attributes:
        name: name of the node.
        network: file descriptor of its network namespace.
        files: file descriptor of its mount namespace.
    """

    name: str
    network: int
    files: int


def make_nodes(network: Mapping[str, Any], uplink: str | None) -> tuple[dict[str, Node], dict[str, str]]:
    """Make all nodes.

    Args:
        network: document of an `EmulatedNetwork`.
        uplink: node whose names are also resolved outside.

    Returns:
        The nodes by name, and the congestion control that programs at each node must choose themselves, because the
        kernel does not let the namespace choose it.

    Raises:
        OSError: if the kernel refuses an operation.
    """
    documents = network["nodes"]
    controls: dict[str, str] = {}
    # The emulator's namespace only passes frames on: its interfaces must not send packets of their own.
    namespaces.set_sysctl("net.ipv6.conf.all.disable_ipv6", "1")
    namespaces.set_sysctl("net.ipv6.conf.default.disable_ipv6", "1")
    spaces = {document["name"]: namespaces.new_namespace() for document in documents}
    for document in documents:
        with namespaces.inside(spaces[document["name"]]):
            control = _settle_in(document)
            if control:
                controls[document["name"]] = control
    with Netlink.route() as netlink:
        for document in documents:
            for interface in document["interfaces"]:
                netlink.add_veth_pair(
                    interface["cable"],
                    peer_name=interface["name"],
                    peer_namespace=spaces[document["name"]],
                    mac=_CABLE_MAC,
                    peer_mac=interface["mac"],
                    mtu_bytes=network["mtu_bytes"],
                )
                namespaces.switch_offloads_off(interface["cable"])
                netlink.set_up(interface["cable"], asks_no_neighbours=True)
    for document in documents:
        with namespaces.inside(spaces[document["name"]]):
            _connect(document)
    home = namespaces.current_mount_namespace()
    nodes = {}
    for document in documents:
        name = document["name"]
        with namespaces.inside(spaces[name]):
            nodes[name] = Node(name, spaces[name], _own_files(document["hosts"], has_uplink=name == uplink))
        namespaces.enter_mount_namespace(home)
    os.close(home)
    return nodes, controls


def make_mounts_private() -> None:
    """Let mounts of this process be invisible outside, and show the processes of its own PID namespace in /proc."""
    namespaces.mount("", "/", "", MS_RECURSIVE | MS_PRIVATE)
    # In a container with parts of /proc hidden, the kernel refuses this. The old one then stays, and works, too.
    with suppress(OSError):
        namespaces.mount("proc", "/proc", "proc")


def _settle_in(document: Mapping[str, Any]) -> str:
    """Set the kernel parameters of the current namespace; return the congestion control if that one is refused."""
    refused = ""
    for key, value in document["settings"].items():
        if namespaces.set_sysctl(key, value):
            continue
        if key in _NEEDED_SETTINGS:
            name = document["name"]
            raise OSError(f"{name} cannot forward packets, because /proc/sys is read-only here (setting {key})")
        if key == "net.ipv4.tcp_congestion_control" and namespaces.read_sysctl(key) != value:
            refused = value
    with Netlink.route() as netlink:
        netlink.set_up("lo")
    return refused


def _connect(document: Mapping[str, Any]) -> None:
    """Give the interfaces of the current namespace their addresses and routes."""
    with Netlink.route() as netlink:
        for interface in document["interfaces"]:
            namespaces.switch_offloads_off(interface["name"])
            netlink.set_up(interface["name"], asks_no_neighbours=True, packets_per_segment=1)
            for address, prefix_length in interface["addresses"]:
                netlink.add_address(interface["name"], address, prefix_length)
        for route in document["routes"]:
            netlink.add_route(
                route["destination"], route["via"], route["interface"], source=route["source"], table=route["table"]
            )
        for rule in document["rules"]:
            netlink.add_rule(rule["source"], rule["destination"], rule["table"])
    if document["subflow_limit"]:
        # Kernels without MPTCP lack the path manager; a program that asks for MPTCP then reports it.
        with suppress(OSError), Netlink.generic() as netlink:
            netlink.limit_subflows(document["subflow_limit"])
            for endpoint in document["endpoints"]:
                if not endpoint["is_late"]:
                    _add_endpoint(netlink, endpoint)


def _add_endpoint(netlink: Netlink, endpoint: Mapping[str, Any]) -> None:
    netlink.add_subflow_address(
        endpoint["interface"], endpoint["number"], endpoint["address"], is_backup=endpoint["is_backup"]
    )


def change_endpoint(node: Node, change: Mapping[str, Any]) -> None:
    """Add or remove an MPTCP endpoint, or change whether it is a backup; raises OSError."""
    endpoint = change["endpoint"]
    with namespaces.inside(node.network), Netlink.generic() as netlink:
        if not change["is_there"]:
            netlink.remove_subflow_address(endpoint["interface"], endpoint["number"], endpoint["address"])
        elif change["is_new"]:
            _add_endpoint(netlink, endpoint)
        else:
            netlink.set_backup(
                endpoint["interface"], endpoint["number"], endpoint["address"], is_backup=endpoint["is_backup"]
            )


def _own_files(hosts: str, *, has_uplink: bool) -> int:
    """Enter a new mount namespace in which names of nodes resolve; return its file descriptor.

    The files lie in a file system in memory, which is visible only through them.
    """
    namespace = namespaces.new_mount_namespace()
    with suppress(OSError):  # so that /sys/class/net shows the interfaces of the node; not allowed in some containers
        namespaces.mount("sysfs", "/sys", "sysfs")
    resolver = f"nameserver {_UPLINK_NAME_SERVER}\n" if has_uplink else "# no name server: /etc/hosts has all names\n"
    order = "hosts: files dns" if has_uplink else "hosts: files"
    files = {"/etc/hosts": hosts, "/etc/resolv.conf": resolver, "/etc/nsswitch.conf": _name_services(order)}
    namespaces.mount("tmpfs", _SCRATCH, "tmpfs", 0, "mode=0755,size=1m")
    try:
        for number, (path, text) in enumerate(files.items()):
            own = Path(_SCRATCH, str(number))
            own.write_text(text, encoding="utf-8")
            own.chmod(0o644)
            with suppress(OSError):  # a file that the machine lacks cannot be covered, and needs not be
                namespaces.mount(str(own), path, "", MS_BIND)
    finally:
        namespaces.detach_mount(_SCRATCH)
    return namespace


def _name_services(order: str) -> str:
    """The machine's /etc/nsswitch.conf with another order for names of hosts.

    Without it, services of the machine outside of the namespace would be asked through their sockets.
    """
    try:
        lines = Path("/etc/nsswitch.conf").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    return "\n".join([*(line for line in lines if not line.startswith("hosts:")), order, ""])


def addresses(network: Mapping[str, Any]) -> dict[str, Sequence[str]]:
    """Addresses of each node."""
    return {
        document["name"]: [address for interface in document["interfaces"] for address, _ in interface["addresses"]]
        for document in network["nodes"]
    }
