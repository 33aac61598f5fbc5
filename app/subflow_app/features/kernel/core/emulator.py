"""A userspace emulator for the links between the namespaces, which computes each link in virtual time.

Each host's veth pair ends in the emulator's namespace. The emulator reads a packet there, offers it to the link
directions of its path (`LinkQueue`, in virtual time), and delivers it to the other host at its arrival in virtual time.
A late wake-up delays only this delivery: later departures are computed from the kernel's time stamps of arriving
packets. A link direction consists of random loss, a first-come-first-served queue, a transmitter and a wire.

Accuracy, measured on two cores at 10 to 100 Mbit/s:

* Lateness of deliveries consists of wake-up and processing time. With real-time priority it is 0.04 ms in the median
  and 0.1 to 0.2 ms at the 99th percentile, even while ten other processes compete for the two cores. Without real-time
  priority it is 0.3 and 4.5 ms on that busy machine. Each run reports its percentiles; `compare` repeats and flags runs
  with a 99th percentile above `LATE_P99_S`.
* The emulator needs 10 % of a core at 10 Mbit/s and 40 % at 70 Mbit/s, including the TCP work of the kernel.
* The lateness adds to every RTT, and matters on paths with an RTT below about 5 ms.
* Rates are exact in virtual time: a packet of n bytes occupies the link for 8 n / rate seconds. The size is that of the
  IP packet, as in the simulator. Acknowledgements with SACK blocks have 64 to 80 bytes, but 52 in the simulator.
* On shared links, the order of arrivals is accurate only to the lateness: a packet from another link may be offered
  after a packet that arrived slightly later.
"""

from __future__ import annotations

import array
import bisect
import gc
import heapq
import random
import select
import socket
import struct
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

from subflow_app.features.capture.core.headers import with_ecn
from subflow_app.features.kernel.core.network_plan import LinkPlan, NetworkPlan

NANOSECONDS = 1_000_000_000


class LinkQueue:
    """One link direction in virtual time, without sockets or clock.

    The rules are the simulator's. Random loss, with the same probability for each packet, acts before the queue. A
    packet that does not fit is dropped on arrival, and the packet in service counts towards the limit. The departure
    time is known on arrival, because the queue is first-come-first-served and all changes of the rate are planned. A
    packet is sent at the rate that applies when its transmission begins. All times are in ns of one clock, and calls of
    `offer` must be in time order.

    Attributes:
        packets_in: packets offered.
        drops_random: packets lost at random.
        drops_down: packets lost during outages of the link.
        drops_queue: packets dropped because the queue was full, or early by RED.
        marks: packets that RED marked instead of dropping them.
        has_marked: whether RED marked the packet offered last; meaningful only if `offer` accepted it.
        busy_ns: transmission time of all accepted packets, past and future, except those lost in an outage.
        queue_ns: sum of the queueing and transmission times of all accepted packets.
        max_queue_pkts: maximum number of packets in the queue, including the one in service; `Emulator` resets it at
            the end of the warm-up.
    """

    __slots__ = (
        "_departures",
        "_free_at_ns",
        "_outages",
        "_queue_bytes",
        "_rate_times",
        "_rates",
        "busy_ns",
        "delay_ns",
        "drops_down",
        "drops_queue",
        "drops_random",
        "has_marked",
        "limit_bytes",
        "limit_pkts",
        "loss",
        "marks",
        "max_queue_pkts",
        "ns_per_byte",
        "packets_in",
        "queue_ns",
        "random",
        "red",
    )

    def __init__(self, plan: LinkPlan, seed: int, start_ns: int = 0) -> None:
        # Beginning and end of each outage, ns.
        self._outages = deque(
            (start_ns + round(began_s * NANOSECONDS), start_ns + round(ended_s * NANOSECONDS))
            for began_s, ended_s in plan.outages
        )
        self.ns_per_byte = 0.0 if plan.rate_bps is None else 8 * NANOSECONDS / plan.rate_bps
        # Times of changes, ns, and ns per byte before the first and after each of them.
        self._rate_times = [start_ns + round(at_s * NANOSECONDS) for at_s, _ in plan.rates]
        self._rates = [self.ns_per_byte, *(8 * NANOSECONDS / rate_bps for _, rate_bps in plan.rates)]
        self.delay_ns = round(plan.delay_s * NANOSECONDS)
        self.limit_pkts = plan.limit_pkts
        self.limit_bytes = plan.limit_bytes
        self.loss = plan.loss
        self.red = plan.red
        self.marks = 0
        self.has_marked = False
        # Each link direction has its own random stream, so that changes elsewhere do not change its losses.
        self.random = random.Random(f"{seed}/{plan.name}").random
        self._departures: deque[tuple[float, int]] = deque()
        self._free_at_ns = 0.0
        self._queue_bytes = 0
        self.packets_in = 0
        self.drops_random = 0
        self.drops_queue = 0
        self.drops_down = 0
        self.busy_ns = 0.0
        self.queue_ns = 0.0
        self.max_queue_pkts = 0

    def offer(self, now_ns: float, size_bytes: int, ecn: int = 0) -> float | None:
        """Offer a packet to the link.

        Args:
            now_ns: time of arrival, ns; not before the arrival of the previous packet.
            size_bytes: size on the wire, including the IP header.
            ecn: ECN field of the IP header; 0 if the packet cannot be marked.

        Returns:
            Time of arrival at the far end, ns; None if the packet is dropped.
        """
        self.packets_in += 1
        if self._outages and self._is_down(now_ns):
            self.drops_down += 1
            return None
        if self.loss and self.random() < self.loss:
            self.drops_random += 1
            return None
        if not self.ns_per_byte:
            return now_ns + self.delay_ns
        queued = self.queue_pkts(now_ns)
        self.has_marked = False
        if self.red is not None and self.random() < self.red.probability(queued):
            if not (self.red.marks and ecn):
                self.drops_queue += 1
                return None
            self.has_marked = True
        if (self.limit_pkts is not None and queued >= self.limit_pkts) or (
            self.limit_bytes is not None and self._queue_bytes + size_bytes > self.limit_bytes
        ):
            self.drops_queue += 1
            return None
        self.marks += self.has_marked
        start_ns = max(now_ns, self._free_at_ns)
        service_ns = size_bytes * self._rates[bisect.bisect_right(self._rate_times, start_ns)]
        departure_ns = start_ns + service_ns
        self._free_at_ns = departure_ns
        self._departures.append((departure_ns, size_bytes))
        self._queue_bytes += size_bytes
        self.busy_ns += service_ns
        self.queue_ns += departure_ns - now_ns
        self.max_queue_pkts = max(self.max_queue_pkts, queued + 1)
        if self._outages and departure_ns > self._outages[0][0]:
            self.drops_down += 1
            return None  # the packet waits in the queue, and the next outage will drop it
        return departure_ns + self.delay_ns

    def _is_down(self, now_ns: float) -> bool:
        """Empty the queue if an outage has begun by `now_ns`; return True if the outage still lasts."""
        while self._outages and now_ns >= self._outages[0][0]:
            began_ns, ended_ns = self._outages[0]
            if self._free_at_ns > began_ns:
                self.busy_ns -= self._free_at_ns - began_ns
                self._free_at_ns = began_ns
                self._departures.clear()
                self._queue_bytes = 0
            if now_ns < ended_ns:
                return True
            self._outages.popleft()
        return False

    def queue_pkts(self, now_ns: float) -> int:
        """Number of packets in the queue, including the one in service. Later calls must not use an earlier time."""
        if self._outages:
            self._is_down(now_ns)
        departures = self._departures
        while departures and departures[0][0] <= now_ns:
            self._queue_bytes -= departures.popleft()[1]
        return len(departures)

    def busy_until(self, now_ns: float) -> float:
        """Transmission time used up to `now_ns`, ns."""
        return self.busy_ns - max(0.0, self._free_at_ns - now_ns)


PathCounts: TypeAlias = list[list[list[int]]]
"""For each flow and path: [data packets offered, data packets lost]."""

LATE_P99_S = 0.0025
"""Limit of the 99th percentile of lateness, s. Runs that exceed it are repeated and, if they still do, flagged."""

ETH_P_IP = 0x0800
_PACKET_IGNORE_OUTGOING, _PACKET_STATISTICS, _SOL_PACKET = 23, 6, 263
_SO_TIMESTAMPNS, _SO_RCVBUFFORCE = 35, 33
_RECEIVE_BUFFER_BYTES = 16 << 20
_ETHERNET_BYTES = 14
# Offset of the byte in a frame whose lower two bits are the ECN field, and the value of a mark (CE).
_ECN_AT, _MARKED = _ETHERNET_BYTES + 1, 3
# Number of packets read before deliveries are checked again; reading them takes about 0.2 ms.
_READ_AT_ONCE = 16
_LONGEST_WAIT_S = 0.05
# Time in ns for which the links work after the end of the run, while the endpoints read their sockets once more.
_LAST_LOOK_NS = 20_000_000


@dataclass(frozen=True, slots=True)
class Route:
    """Route of packets with one pair of addresses.

    Attributes:
        network: ordinal of the network.
        links: indices of the link directions on the route, in order.
        interface: veth interface of the destination host.
        counts_for: indices of the flow and the path in whose counts the packets appear; None for acknowledgements.
    """

    network: int
    links: tuple[int, ...]
    interface: str
    counts_for: tuple[int, int] | None


class Emulator:
    """Emulates all links of all networks of a worker.

    Args:
        plans: the networks, which are independent of each other.
        routes: routes by key, which consists of the last two bytes of the source MAC address, the source IPv4 address
            and the destination IPv4 address.
        start_ns: start of the networks' time, in ns of the monotonic clock.
    """

    def __init__(self, plans: Sequence[NetworkPlan], routes: dict[bytes, Route], start_ns: int) -> None:
        self._plans = plans
        self._start_ns = start_ns
        self._queues = [[LinkQueue(link, plan.seed, start_ns) for link in plan.links] for plan in plans]
        self._sockets: dict[str, socket.socket] = {}
        self._ways: dict[bytes, tuple[list[LinkQueue], socket.socket, list[int] | None]] = {}
        # Counts of the current interval, which is the warm-up or the measurement; and those of the completed warm-up.
        self._path_counts = [_no_counts(plan) for plan in plans]
        self._warmup_counts: list[PathCounts] = [[] for _ in plans]
        self._routes = routes
        for key, route in routes.items():
            queues = [self._queues[route.network][index] for index in route.links]
            self._ways[key] = (queues, self._output(route.interface), self._counts_of(route))
        self._input = _input_socket()
        self._late_ns = array.array("q")
        self._samples: list[list[list[float]]] = [[] for _ in plans]
        self._baselines: list[list[tuple[int, int, int, int, float, float]]] = [[] for _ in plans]
        self._unknown_packets = 0

    def _counts_of(self, route: Route) -> list[int] | None:
        """The counts of a route's path; None for acknowledgements."""
        if route.counts_for is None:
            return None
        flow, path = route.counts_for
        return self._path_counts[route.network][flow][path]

    def _begin_measurement(self, network: int) -> None:
        """Restart the counts of a network; a packet in flight still counts in the interval in which it was sent."""
        self._warmup_counts[network] = self._path_counts[network]
        self._path_counts[network] = _no_counts(self._plans[network])
        for key, route in self._routes.items():
            if route.network == network:
                queues, output, _ = self._ways[key]
                self._ways[key] = (queues, output, self._counts_of(route))

    def run(self) -> dict[str, Any]:
        """Emulate all networks to their end, and return the counts as JSON values."""
        end_ns = self._start_ns + round(max(plan.duration_s for plan in self._plans) * NANOSECONDS)
        gc.collect()
        gc.disable()  # a collection takes milliseconds, and the loop creates no reference cycles
        began_cpu_s = time.process_time()
        try:
            self._loop(end_ns)
        finally:
            gc.enable()
        received, dropped = struct.unpack("=2I", self._input.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 8))
        return {
            "lateness": lateness_percentiles(self._late_ns),
            "cpu_s": time.process_time() - began_cpu_s,
            "packets": int(received),
            "overruns": int(dropped),
            "unknown_packets": self._unknown_packets,
            "networks": [self._network_result(number) for number in range(len(self._plans))],
        }

    def _loop(self, end_ns: int) -> None:
        """Deliver due packets, read new packets, and sleep until the next event; return shortly after `end_ns`."""
        clock, wall_clock = time.monotonic_ns, time.time_ns
        push, pop = heapq.heappush, heapq.heappop
        receive, wait, descriptor = self._input.recvmsg, select.select, [self._input.fileno()]
        ways, late = self._ways, self._late_ns
        timestamp_of = struct.Struct("=qq").unpack_from
        # (due, ordinal, frame, queues, hop, output, counts) of packets on a wire; `due` is the time of arrival at the
        # end of the wire, ns.
        due: list[tuple[float, int, bytes, list[LinkQueue], int, socket.socket, list[int] | None]] = []
        ordinal = 0
        ancillary_bytes = socket.CMSG_SPACE(16)
        next_sample_ns, take_samples = self._sampler()
        while True:
            now = clock()
            while due and due[0][0] <= now:
                due_ns, _, frame, queues, hop, output, counts = pop(due)
                if hop < len(queues):
                    arrival = queues[hop].offer(due_ns, len(frame) - _ETHERNET_BYTES, frame[_ECN_AT] & _MARKED)
                    if arrival is not None:
                        if queues[hop].has_marked:
                            frame = _marked(frame)
                        ordinal += 1
                        push(due, (arrival, ordinal, frame, queues, hop + 1, output, counts))
                    elif counts is not None:
                        counts[1] += 1
                    continue
                now = clock()
                late.append(int(now - due_ns))
                with suppress(OSError):  # at the end of a run, the host's namespace may be gone
                    output.send(frame)
                now = clock()
            if now >= next_sample_ns:
                next_sample_ns = take_samples(now)
            if now >= end_ns + _LAST_LOOK_NS:
                return
            until = min(next_sample_ns, due[0][0]) if due else next_sample_ns
            if until > now:
                wait(descriptor, (), (), min((until - now) / NANOSECONDS, _LONGEST_WAIT_S))
            offset = wall_clock() - clock()
            for _ in range(_READ_AT_ONCE):
                try:
                    frame, ancillary, _, _ = receive(65536, ancillary_bytes)
                except BlockingIOError:
                    break
                way = ways.get(frame[10:12] + frame[26:34])
                if way is None:
                    self._unknown_packets += 1
                    continue
                queues, output, counts = way
                seconds, nanoseconds = timestamp_of(ancillary[0][2])
                came = seconds * NANOSECONDS + nanoseconds - offset
                if counts is not None:
                    counts[0] += 1
                arrival = queues[0].offer(came, len(frame) - _ETHERNET_BYTES, frame[_ECN_AT] & _MARKED)
                if arrival is not None:
                    if queues[0].has_marked:
                        frame = _marked(frame)
                    ordinal += 1
                    push(due, (arrival, ordinal, frame, queues, 1, output, counts))
                elif counts is not None:
                    counts[1] += 1

    def _sampler(self) -> Any:
        """Time of the first sample, ns, and a function that takes due samples and returns the time of the next one."""
        # (time, network, ordinal of the sample); ordinal 0 is the end of the warm-up.
        pending = [
            (self._start_ns + round(plan.warmup_s * NANOSECONDS), number, 0) for number, plan in enumerate(self._plans)
        ]
        for number, plan in enumerate(self._plans):
            pending.append((self._start_ns + round(plan.sample_interval_s * NANOSECONDS), number, 1))
        heapq.heapify(pending)
        previous: list[list[tuple[int, float]]] = [[(0, 0.0)] * len(plan.links) for plan in self._plans]

        def take(now: int) -> int:
            while pending and pending[0][0] <= now:
                at, number, count = heapq.heappop(pending)
                plan, queues = self._plans[number], self._queues[number]
                if count == 0:
                    self._begin_measurement(number)
                    self._baselines[number] = [
                        (q.drops_queue, q.drops_random, q.drops_down, q.marks, q.busy_until(at), q.queue_ns)
                        for q in queues
                    ]
                    for q in queues:
                        q.max_queue_pkts = q.queue_pkts(at)
                    continue
                row: list[float] = []
                for index, q in enumerate(queues):
                    drops, busy = q.drops_queue + q.drops_random + q.drops_down, q.busy_until(at)
                    old_drops, old_busy = previous[number][index]
                    used = (busy - old_busy) / (plan.sample_interval_s * NANOSECONDS)
                    row += [q.queue_pkts(at), drops - old_drops, used]
                    previous[number][index] = (drops, busy)
                self._samples[number].append(row)
                if (count + 1) * plan.sample_interval_s <= plan.duration_s + 1e-9:
                    following = self._start_ns + round((count + 1) * plan.sample_interval_s * NANOSECONDS)
                    heapq.heappush(pending, (following, number, count + 1))
            return pending[0][0] if pending else 1 << 62

        return (pending[0][0], take)

    def _network_result(self, number: int) -> dict[str, Any]:
        plan, queues = self._plans[number], self._queues[number]
        measured_ns = (plan.duration_s - plan.warmup_s) * NANOSECONDS
        end_ns = self._start_ns + round(plan.duration_s * NANOSECONDS)
        links = []
        for link, q, base in zip(plan.links, queues, self._baselines[number], strict=True):
            drops_queue, drops_random, drops_down, marks, busy, queue_ns = base
            links.append(
                {
                    "name": link.name,
                    "utilisation": (q.busy_until(end_ns) - busy) / measured_ns,
                    "drops_queue": q.drops_queue - drops_queue,
                    "drops_random": q.drops_random - drops_random,
                    "drops_down": q.drops_down - drops_down,
                    "marks": q.marks - marks,
                    "mean_queue_pkts": (q.queue_ns - queue_ns) / measured_ns,
                    "max_queue_pkts": q.max_queue_pkts,
                }
            )
        return {
            "links": links,
            "samples": self._samples[number],
            "paths": self._path_counts[number],
            "warmup_paths": self._warmup_counts[number],
        }

    def _output(self, interface: str) -> socket.socket:
        """A packet socket that sends to the host at the other end of the veth pair."""
        if interface not in self._sockets:
            packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            packets.bind((interface, 0))
            self._sockets[interface] = packets
        return self._sockets[interface]


def _no_counts(plan: NetworkPlan) -> PathCounts:
    return [[[0, 0] for _ in flow.paths] for flow in plan.flows]


def _marked(frame: bytes) -> bytes:
    return frame[:_ETHERNET_BYTES] + with_ecn(frame[_ETHERNET_BYTES:], _MARKED)


def _input_socket() -> socket.socket:
    """A packet socket that receives the packets of all hosts, with the kernel's time stamps."""
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_IP))
    packets.setsockopt(_SOL_PACKET, _PACKET_IGNORE_OUTGOING, 1)
    packets.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
    try:
        packets.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _RECEIVE_BUFFER_BYTES)
    except OSError:  # not allowed in a user namespace; the machine's limit then applies
        packets.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER_BYTES)
    packets.setblocking(False)
    return packets


def lateness_percentiles(late_ns: array.array[int]) -> dict[str, float]:
    """Median, 99th percentile and maximum of the lateness, s; all are 0 if no packet was delivered."""
    if not late_ns:
        return {"p50_s": 0.0, "p99_s": 0.0, "max_s": 0.0}
    ordered = sorted(late_ns)
    last = len(ordered) - 1
    return {
        name: ordered[round(share * last)] / NANOSECONDS
        for name, share in (("p50_s", 0.50), ("p99_s", 0.99), ("max_s", 1.0))
    }
