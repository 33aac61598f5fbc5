"""One direction of a link in virtual time: random loss, a first-come-first-served queue, a transmitter, a wire."""

from __future__ import annotations

import random
from collections import deque

from subflow_app.features.kernel.core.network_plan import LinkPlan

NANOSECONDS = 1_000_000_000


class LinkQueue:
    """The arithmetic of the emulator; knows neither sockets nor the clock.

    The rules are the simulator's: a packet is lost before it reaches the queue, each with the same probability; one
    that does not fit is dropped on arrival, and the packet in service counts; the departure is known on arrival, since
    nothing overtakes. All times are in ns of one clock, and `offer` is called in their order.

    Attributes:
        packets_in: packets offered.
        drops_random: lost at random.
        drops_down: lost because the link was out of service.
        drops_queue: dropped because the queue was full, or early by RED.
        marks: packets that RED marked instead.
        has_marked: whether it did so with the packet offered last.
        busy_ns: time the transmitter is engaged by the accepted packets, past or still to come.
        max_queue_pkts: most packets in the queue, the one in service included.
    """

    __slots__ = (
        "_departures",
        "_free_at_ns",
        "_outages",
        "_queue_bytes",
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
        # When the link goes out of service, and when it is back.
        self._outages = deque(
            (start_ns + round(began_s * NANOSECONDS), start_ns + round(ended_s * NANOSECONDS))
            for began_s, ended_s in plan.outages
        )
        self.ns_per_byte = 0.0 if plan.rate_bps is None else 8 * NANOSECONDS / plan.rate_bps
        self.delay_ns = round(plan.delay_s * NANOSECONDS)
        self.limit_pkts = plan.limit_pkts
        self.limit_bytes = plan.limit_bytes
        self.loss = plan.loss
        self.red = plan.red
        self.marks = 0
        self.has_marked = False
        # A stream per link direction, so that another link or flow does not change this one's luck.
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
        """A packet comes to the link.

        Args:
            now_ns: when, not before the packet offered last.
            size_bytes: on the wire, IP header included.
            ecn: the field of its IP header; 0: it cannot be marked.

        Returns:
            When it arrives at the far end, ns; None if it is lost or does not fit.
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
        service_ns = size_bytes * self.ns_per_byte
        departure_ns = max(now_ns, self._free_at_ns) + service_ns
        self._free_at_ns = departure_ns
        self._departures.append((departure_ns, size_bytes))
        self._queue_bytes += size_bytes
        self.busy_ns += service_ns
        self.queue_ns += departure_ns - now_ns
        self.max_queue_pkts = max(self.max_queue_pkts, queued + 1)
        if self._outages and departure_ns > self._outages[0][0]:
            self.drops_down += 1
            return None  # it waits, and will be lost when the link goes out of service
        return departure_ns + self.delay_ns

    def _is_down(self, now_ns: float) -> bool:
        """Whether it is out of service; what waited when that began does not wait any more."""
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
        """Packets in the queue then, the one in service included; time does not go back after this."""
        if self._outages:
            self._is_down(now_ns)
        departures = self._departures
        while departures and departures[0][0] <= now_ns:
            self._queue_bytes -= departures.popleft()[1]
        return len(departures)

    def busy_until(self, now_ns: float) -> float:
        """Time the transmitter was engaged up to then, ns."""
        return self.busy_ns - max(0.0, self._free_at_ns - now_ns)
