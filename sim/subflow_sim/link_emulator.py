"""Carries packets of real programs over the links of a scenario, between interfaces of the current network namespace.

The core's links work in virtual time: departures follow from the kernel's time stamps of arriving packets. A late
wake-up therefore delays a packet, but neither the queue nor the departures behind it. Links behave as simulated: rates,
delays, traces, queue disciplines, marks, losses, and events of links. Shared media and losses by packet number are
refused.

Linux only. The module imports only the standard library and the core, because a process with threads cannot enter a
user namespace.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Any

from subflow_sim import _core
from subflow_sim.errors import SimulationError

NANOSECONDS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Wire:
    """The way of packets that arrive at an interface.

    Attributes:
        arrives_at: interface.
        leaves_at: interface.
        links: link directions to cross, in order: twice the ordinal of the link in its file, and 1 more for reverse.
        network: ordinal of the network.
        source: only packets with this IPv4 address; empty, as is `destination`: all packets, also ARP and IPv6.
        destination: IPv4 address of the receiver.
        counter: number of the counts for these packets; -1: no counts.
    """

    arrives_at: str
    leaves_at: str
    links: tuple[int, ...]
    network: int = 0
    source: str = ""
    destination: str = ""
    counter: int = -1


@dataclass(frozen=True, slots=True)
class Counts:
    """Packets of a wire or a conversation.

    Attributes:
        offered: packets that arrived.
        lost: packets that a link lost.
        delivered_bytes: size of the delivered IP packets, bytes.
    """

    offered: int
    lost: int
    delivered_bytes: int


@dataclass(frozen=True, slots=True)
class Conversation:
    """Packets by UDP between two ports, on one wire.

    Attributes:
        wire: ordinal of the wire.
        source: IPv4 or IPv6 address.
        source_port: port of the sender.
        destination: IPv4 or IPv6 address.
        destination_port: port of the receiver.
        counts: its packets so far.
    """

    wire: int
    source: str
    source_port: int
    destination: str
    destination_port: int
    counts: Counts


@dataclass(frozen=True, slots=True)
class Row:
    """Sample of the links of a network.

    Attributes:
        network: ordinal of the network.
        time_s: time since the start of the network, s.
        links: for each link direction: packets in the queue, packets lost and packets marked since the row before, and
            utilisation.
    """

    network: int
    time_s: float
    links: list[tuple[float, float, float, float]]


class LinkEmulator:
    """Emulates the links of one or more networks.

    Args:
        networks: for each network its document (`portable.links_document`) and the seed of its random losses.
        wires: all ways of packets.
        start_ns: start of the networks' time, ns of the monotonic clock.
        sample_interval_s: time between two rows of samples, s.
        mtu_bytes: size of the largest IP packet, bytes. The far ends of the interfaces must not use offloads that send
            larger ones.

    Raises:
        SimulationError: if a link cannot be emulated.
        OSError: if the kernel refuses an operation, or an interface is missing.
        ValueError: if a wire names no network or no link.
    """

    def __init__(
        self,
        networks: Sequence[tuple[str, int]],
        wires: Sequence[Wire],
        start_ns: int,
        sample_interval_s: float,
        mtu_bytes: int,
    ) -> None:
        if sys.platform != "linux":
            raise OSError("links are emulated only on Linux")
        try:
            self._core = _core.LinkEmulator(
                list(networks),
                [astuple(wire) for wire in wires],
                start_ns,
                round(sample_interval_s * NANOSECONDS),
                mtu_bytes,
            )
        except _core.CoreScenarioError as error:
            raise SimulationError(str(error)) from None

    def run(self, end_ns: int | None = None) -> None:
        """Carry packets until `end_ns` by the monotonic clock, or until `stop`; call it once."""
        self._core.run(_core.NEVER_NS if end_ns is None else end_ns)

    def stop(self) -> None:
        """End `run` in another thread."""
        self._core.stop()

    def change(
        self,
        network: int,
        link: int,
        *,
        rate_bps: float | None = None,
        delay_s: float | None = None,
        loss: float | None = None,
        up: bool | None = None,
        queue_pkts: int | None = None,
    ) -> None:
        """Change a link direction now, while another thread is in `run`. Values that are None do not change.

        Args:
            network: ordinal of the network.
            link: link direction, counted as in `Wire.links`.
            rate_bps: new rate, bit/s.
            delay_s: new one-way delay, s.
            loss: new loss probability.
            up: False: all queued and arriving packets are lost. True: back in service.
            queue_pkts: new limit of the queue, packets.

        Raises:
            SimulationError: if a value is not allowed.
        """
        event: dict[str, Any] = {"at": 0, "link": link}
        if rate_bps is not None:
            event["rate"] = rate_bps
        if delay_s is not None:
            event["delay"] = round(delay_s * NANOSECONDS)
        if loss is not None:
            event["loss"] = loss
        if up is not None:
            event["up"] = up
        if queue_pkts is not None:
            event |= {"sets_queue": True, "queue_limit_pkts": queue_pkts}
        try:
            self._core.change(network, json.dumps({"scenario": {"duration": 1, "events": [event]}}))
        except _core.CoreScenarioError as error:
            raise SimulationError(str(error)) from None

    def take_samples(self) -> list[Row]:
        """Rows since the previous call."""
        return [
            Row(network, time_s, list(zip(*(values[first::4] for first in range(4)), strict=True)))
            for network, time_s, values in self._core.take_samples()
        ]

    def measured_counts(self) -> tuple[list[Counts], list[Counts]]:
        """Counts of packets sent during the warm-up, and of later ones; after the end of `run`."""
        before, after = self._core.measured_counts()
        return [Counts(*each) for each in before], [Counts(*each) for each in after]

    def conversations(self) -> list[Conversation]:
        """The first 256 conversations by UDP, with counts up to the latest sample."""
        return [
            Conversation(wire, source, source_port, destination, destination_port, Counts(*counts))
            for wire, source, source_port, destination, destination_port, counts in self._core.conversations()
        ]

    def results(self) -> dict[str, Any]:
        """Results after the end of `run` as JSON values.

        Keys: `lateness` with `p50_s`, `p99_s` and `max_s`; `cpu_s`; `packets`; `overruns`, packets without room in the
        ring or in memory; `unknown_packets`; and for each of `networks` its `links` after the warm-up with `name`,
        `utilisation`, `drops_queue`, `drops_random`, `drops_down`, `marks`, `mean_queue_pkts` and `max_queue_pkts`.
        """
        results: dict[str, Any] = self._core.results()
        return results
