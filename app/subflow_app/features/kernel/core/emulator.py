"""The links between the namespaces of a kernel run, emulated in real time by the core's links.

Each host's veth pair ends in the emulator's namespace. The emulator reads a packet there, offers it to the link
directions of its path, and delivers it to the other host at its arrival in virtual time (`subflow_sim.link_emulator`).

Accuracy, measured on two cores at 10 to 100 Mbit/s:

* Lateness of deliveries consists of wake-up and processing time. Each run reports its percentiles; `compare` repeats
  and flags runs with a 99th percentile above `LATE_P99_S`.
* The lateness adds to every RTT, and matters on paths with an RTT below about 5 ms.
* Rates are exact in virtual time: a packet of n bytes occupies the link for 8 n / rate seconds. The size is that of the
  IP packet, as in the simulator. Acknowledgements with SACK blocks have 64 to 80 bytes, but 52 in the simulator.
* On shared links, the order of arrivals is accurate only to the lateness: a packet from another link may be offered
  after a packet that arrived slightly later.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from subflow_app.features.kernel.core.network_plan import NetworkPlan
from subflow_sim.link_emulator import NANOSECONDS, Counts, LinkEmulator, Wire

LATE_P99_S = 0.0025
"""Limit of the 99th percentile of lateness, s. Runs that exceed it are repeated and, if they still do, flagged."""

PathCounts: TypeAlias = list[list[list[int]]]
"""For each flow and path: [data packets offered, data packets lost]."""


def emulate(plans: Sequence[NetworkPlan], wires: Sequence[Wire], start_ns: int) -> dict[str, Any]:
    """Emulate all links of all networks to their end, and return the counts as JSON values.

    Args:
        plans: the networks, which are independent of each other and have the same sampling interval.
        wires: the ways of all packets. The counters of data are numbered by `counters`.
        start_ns: start of the networks' time, in ns of the monotonic clock.

    Raises:
        SimulationError: if a link cannot be emulated.
        OSError: if the kernel refuses an operation.
    """
    emulator = LinkEmulator(
        [(plan.document, plan.seed) for plan in plans],
        wires,
        start_ns,
        plans[0].sample_interval_s,
        max(plan.mtu_bytes for plan in plans),
    )
    emulator.run(start_ns + round(max(plan.duration_s for plan in plans) * NANOSECONDS))
    results = emulator.results()
    warmup, measured = emulator.measured_counts()
    for network, numbers in zip(results["networks"], counters(plans), strict=True):
        network["samples"] = []
        network["paths"] = _path_counts(measured, numbers)
        network["warmup_paths"] = _path_counts(warmup, numbers)
    for row in emulator.take_samples():
        # Marks have no column.
        values = [value for queue, drops, _, used in row.links for value in (queue, drops, used)]
        results["networks"][row.network]["samples"].append(values)
    return results


def counters(plans: Sequence[NetworkPlan]) -> list[list[list[int]]]:
    """Number of the counter of data packets, by network, flow and path."""
    number = 0
    numbers: list[list[list[int]]] = []
    for plan in plans:
        numbers.append([])
        for flow in plan.flows:
            numbers[-1].append(list(range(number, number + len(flow.paths))))
            number += len(flow.paths)
    return numbers


def _path_counts(counts: Sequence[Counts], numbers: list[list[int]]) -> PathCounts:
    return [[[counts[number].offered, counts[number].lost] for number in flow] for flow in numbers]
