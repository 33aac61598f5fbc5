"""Worker process of a kernel run: sets up namespaces, emulator and endpoints, writes one JSON document, and exits.

It starts as `subflow kernel-worker` with the job on stdin, and forks one process for the emulator and one for the
endpoints, so that neither delays the other. All modules that it imports use only the standard library and the core,
because a process with threads (such as numpy's) cannot enter a user namespace.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from subflow_app.features.kernel.core import namespaces
from subflow_app.features.kernel.core.emulator import counters, emulate
from subflow_app.features.kernel.core.endpoint import (
    HOST_INTERFACE,
    RECEIVER_ADDRESS,
    Connection,
    run_connections,
    sender_address,
)
from subflow_app.features.kernel.core.namespaces import Netlink
from subflow_app.features.kernel.core.network_plan import FlowPlan, NetworkPlan
from subflow_sim.link_emulator import NANOSECONDS, Wire

_EMULATOR_PRIORITY, _ENDPOINT_PRIORITY = 20, 10
_HEAD_START_S = 0.3


def main() -> int:
    """Read a job from stdin, run it and write the answer to stdout; return the exit code.

    A job is ``{"networks": [...], "live": path or null}`` (`NetworkPlan.to_json`, `endpoint.run_connections`) or
    ``{"probe": [congestion controls]}``, with the id of the waiting process as ``"parent"``. The answer is the
    result, or ``{"error": text}`` with exit code 1 if the machine refuses an operation.
    """
    job = json.load(sys.stdin)
    try:
        namespaces.enter_private_namespace()
        # Entering a user namespace resets the parent-death signal, so it is set afterwards.
        namespaces.die_with_parent(job["parent"])
        answer = _probe(job["probe"]) if "probe" in job else _run_job(job)
    except OSError as error:
        json.dump({"error": str(error)}, sys.stdout)
        return 1
    json.dump(answer, sys.stdout)
    return 0


# ----------------------------------------------------------------------------------------------------- running networks


def _run_job(job: dict[str, Any]) -> dict[str, Any]:
    live = job.get("live")
    return _run([NetworkPlan.from_json(each) for each in job["networks"]], None if live is None else Path(live))


def _run(plans: Sequence[NetworkPlan], live: Path | None) -> dict[str, Any]:
    """Run all networks side by side, and return the answer of the worker."""
    wires: list[Wire] = []
    hosts: list[tuple[int, int, int, int]] = []
    for network, (plan, numbers) in enumerate(zip(plans, counters(plans), strict=True)):
        for flow in range(len(plan.flows)):
            hosts.append((network, flow, *_connect_hosts(plan, network, flow, len(hosts), numbers[flow], wires)))
    start_ns = time.monotonic_ns() + round(_HEAD_START_S * NANOSECONDS)

    def emulate_links() -> dict[str, Any]:
        priority = namespaces.hurry(_EMULATOR_PRIORITY)
        return emulate(plans, wires, start_ns) | {"priority": priority}

    def end_points() -> dict[str, Any]:
        connections = [
            Connection(plans[network], plans[network].flows[flow], sender, receiver, start_ns)
            for network, flow, sender, receiver in hosts
        ]
        namespaces.hurry(_ENDPOINT_PRIORITY)
        return {"connections": run_connections(connections, start_ns, live)}

    with _child(emulate_links) as emulated, _child(end_points) as ended:
        results, emulation = ended(), emulated()
    networks = emulation.pop("networks")
    for network in networks:
        network["flows"] = []
    for (network, _, _, _), result in zip(hosts, results["connections"], strict=True):
        networks[network]["flows"].append(result)
    return {"emulator": emulation, "networks": networks, "release": os.uname().release}


def _connect_hosts(
    plan: NetworkPlan, network: int, flow: int, number: int, counts: Sequence[int], wires: list[Wire]
) -> tuple[int, int]:
    """Create both hosts of a connection, each with a veth pair to the emulator, and add the ways of packets to `wires`.

    The kernel keeps MPTCP addresses and caches per namespace, but the flows of a scenario share no host state. Each
    connection therefore has its own namespaces. Both hosts use one MAC address, so that the emulator can deliver frames
    unchanged.

    Returns:
        File descriptors of the sender's and the receiver's namespace.
    """
    mac = f"02:00:00:00:{number >> 8:02x}:{number & 255:02x}"
    paths = plan.flows[flow].paths
    senders = [sender_address(index) for index in range(len(paths))]
    sender = _make_host(f"s{number}", mac, plan, senders, plan.flows[flow])
    receiver = _make_host(f"r{number}", mac, plan, [RECEIVER_ADDRESS])
    for path, address, count in zip(paths, senders, counts, strict=True):
        wires.append(Wire(f"s{number}", f"r{number}", path.data, network, address, RECEIVER_ADDRESS, count))
        wires.append(Wire(f"r{number}", f"s{number}", path.acks, network, RECEIVER_ADDRESS, address))
    return sender, receiver


def _make_host(cable: str, mac: str, plan: NetworkPlan, addresses: list[str], flow: FlowPlan | None = None) -> int:
    """Create a namespace with one interface, and return the file descriptor of the namespace.

    The other end of the veth pair, named `cable`, remains in the worker's namespace.
    """
    namespace = namespaces.new_namespace()
    with Netlink.route() as netlink:
        netlink.add_veth_pair(
            cable,
            peer_name=HOST_INTERFACE,
            peer_namespace=namespace,
            mac="02:00:00:00:ff:ff",
            peer_mac=mac,
            mtu_bytes=plan.mtu_bytes,
        )
        netlink.set_up(cable, asks_no_neighbours=True)
    with namespaces.inside(namespace):
        _settle_in(plan, addresses, flow)
    return namespace


def _settle_in(plan: NetworkPlan, addresses: list[str], flow: FlowPlan | None) -> None:
    """Configure the current namespace as a host; for a sender, also the MPTCP subflows of its flow."""
    # Failures are ignored: if /proc/sys is read-only, the run uses the default settings of a new namespace.
    namespaces.set_sysctl("net.ipv4.tcp_no_metrics_save", "1")
    namespaces.set_sysctl("net.mptcp.enabled", "1")
    if plan.ecn:
        namespaces.set_sysctl("net.ipv4.tcp_ecn", str(plan.ecn))
    for name in ("tcp_rmem", "tcp_wmem"):
        least, usual, _ = (namespaces.read_sysctl(f"net.ipv4.{name}") or "4096 65536 0").split()
        most = max(plan.socket_buffer_bytes, int(least))
        namespaces.set_sysctl(f"net.ipv4.{name}", f"{least} {min(int(usual), most)} {most}")
    namespaces.switch_offloads_off(HOST_INTERFACE)
    with Netlink.route() as netlink:
        netlink.set_up("lo")
        netlink.set_up(HOST_INTERFACE, asks_no_neighbours=True, packets_per_segment=1)
        for address in addresses:
            netlink.add_address(HOST_INTERFACE, address)
        netlink.add_default_route(HOST_INTERFACE)
    if flow is not None and len(addresses) > 1:
        with Netlink.generic() as netlink:
            netlink.limit_subflows(len(addresses) - 1)
            for path, address in enumerate(addresses):
                if path > 0 and path not in flow.late:
                    is_backup = path in flow.backup
                    netlink.add_subflow_address(HOST_INTERFACE, path, address, is_backup=is_backup)


@contextmanager
def _child(work: Callable[[], dict[str, Any]]) -> Iterator[Callable[[], dict[str, Any]]]:
    """Run a function in a forked process.

    Yields:
        A function that waits for the result and returns it, or raises OSError with the error of the process.
    """
    output, its_end = os.pipe()
    sys.stdout.flush()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        _be_child(work, its_end, parent)
    os.close(its_end)
    is_over = False

    def result() -> dict[str, Any]:
        nonlocal is_over
        with os.fdopen(output, "rb") as file:
            text = file.read()
        os.waitpid(pid, 0)
        is_over = True
        answer: dict[str, Any] = json.loads(text) if text else {"error": "a part of the worker was killed"}
        if "error" in answer:
            raise OSError(answer["error"])
        return answer

    try:
        yield result
    finally:
        if not is_over:
            os.kill(pid, 9)
            os.waitpid(pid, 0)


def _be_child(work: Callable[[], dict[str, Any]], output: int, parent: int) -> NoReturn:
    """Body of the forked process: do the work, write the answer to `output`, and exit without the parent's cleanup."""
    code = 1
    try:
        namespaces.die_with_parent(parent)
        answer = work()
        code = 0
    except BaseException as error:  # the pipe is the only way to report an error to the parent
        answer = {"error": f"{type(error).__name__}: {error}"}
    with os.fdopen(output, "w", encoding="utf-8") as file:
        json.dump(answer, file)
    os._exit(code)


# -------------------------------------------------------------------------------------------------- probing the machine


def _probe(congestion_controls: Sequence[str]) -> dict[str, Any]:
    """Try each operation that a run needs; report failures with the kernel's error text."""
    missing: dict[str, str] = {}

    def attempt(what: str, action: Callable[[], object]) -> None:
        try:
            action()
        except OSError as error:
            missing[what] = error.strerror or str(error)

    attempt("packet sockets", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close())
    attempt("veth", _try_cable)
    attempt("AccECN", Path("/proc/sys/net/ipv4/tcp_ecn_option").stat)
    attempt("mptcp", lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262).close())
    for name in congestion_controls:
        attempt(f"congestion control {name}", partial(_try_congestion_control, name))
    available = namespaces.read_sysctl("net.ipv4.tcp_available_congestion_control") or ""
    return {"missing": missing, "release": os.uname().release, "congestion_controls": available.split()}


def _try_cable() -> None:
    plan = NetworkPlan((), "", (), 1.0, 0.0, 0.1, 1500, 1, 1 << 20)
    os.close(_make_host("probe", "02:00:00:00:00:01", plan, [RECEIVER_ADDRESS]))


def _try_congestion_control(name: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tcp:
        tcp.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
