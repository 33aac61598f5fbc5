"""The arithmetic of the emulator: departures in virtual time, the drop rule, random loss, and its lateness."""

from __future__ import annotations

import array
from dataclasses import replace

import pytest

from subflow_app.features.kernel.core.emulator import LinkQueue, lateness_percentiles
from subflow_app.features.kernel.core.network_plan import LinkPlan, RedPlan

MS = 1_000_000  # ns
# 12 Mbit/s: a packet of 1500 bytes takes 1 ms.
LINK = LinkPlan("wire/forward", rate_bps=12e6, delay_s=0.010, limit_pkts=3, limit_bytes=None, loss=0.0)


def test_departures_follow_each_other_at_the_rate_of_the_link() -> None:
    queue = LinkQueue(LINK, seed=1)
    # Three packets at once: they depart at 1, 2, 3 ms and arrive 10 ms later. One at 20 ms meets an idle link.
    assert [queue.offer(0, 1500) for _ in range(3)] == [11 * MS, 12 * MS, 13 * MS]
    assert queue.busy_until(2 * MS) == pytest.approx(2 * MS), "work still to do does not count yet"
    assert queue.offer(20 * MS, 750) == pytest.approx(30.5 * MS)
    assert queue.busy_ns == pytest.approx(3.5 * MS)
    # The packets stay 1, 2, 3 and 0.5 ms in the queue.
    assert queue.queue_ns == pytest.approx(6.5 * MS)
    # Times count from the arrival, even if the emulator handles the packet later.
    queue = LinkQueue(LINK, seed=1)
    arrivals = [queue.offer(moment * MS, 1500) for moment in (0, 0.5, 2.25)]
    assert arrivals == [11 * MS, 12 * MS, pytest.approx(13.25 * MS)]
    # An unlimited rate gives a pure delay.
    queue = LinkQueue(replace(LINK, rate_bps=None, limit_pkts=1), seed=1)
    assert [queue.offer(5 * MS, 1500) for _ in range(3)] == [15 * MS] * 3


def test_the_limit_counts_the_packet_in_service() -> None:
    queue = LinkQueue(LINK, seed=1)
    assert [queue.offer(0, 1500) is not None for _ in range(4)] == [True, True, True, False]
    assert queue.drops_queue == 1
    # At 1 ms the first packet has departed: the queue has room for only one more.
    assert [queue.offer(1 * MS, 1500) is not None for _ in range(2)] == [True, False]
    assert queue.max_queue_pkts == 3
    # A limit in bytes counts bytes.
    queue = LinkQueue(replace(LINK, limit_pkts=None, limit_bytes=3100), seed=1)
    assert [queue.offer(0, size) is not None for size in (1500, 1500, 101, 100)] == [True, True, False, True]


def test_what_waits_when_a_link_goes_down_and_what_comes_until_it_is_back_is_lost() -> None:
    queue = LinkQueue(replace(LINK, outages=((0.0025, 0.005), (0.1, 0.2))), seed=1, start_ns=1000 * MS)
    # The third would depart at 3 ms; the first two are on the wire by then.
    assert [queue.offer(1000 * MS, 1500) for _ in range(3)] == [1011 * MS, 1012 * MS, None]
    assert queue.queue_pkts(1002.2 * MS) == 1
    assert queue.offer(1004 * MS, 1500) is None
    assert queue.drops_down == 2
    # The link has sent until the outage, and restarts with an empty queue.
    assert queue.busy_until(1004 * MS) == pytest.approx(2.5 * MS)
    assert queue.offer(1005 * MS, 1500) == 1016 * MS
    assert queue.queue_pkts(1005 * MS) == 1


def test_a_packet_is_sent_at_the_rate_at_which_its_transmission_begins() -> None:
    # A packet takes 1 ms until 2.5 ms after the start, then 2 ms, and from 6 ms on half a millisecond.
    link = replace(LINK, limit_pkts=10, rates=((0.0025, 6e6), (0.006, 24e6)), outages=((0.0074, 0.0076),))
    queue = LinkQueue(link, seed=1, start_ns=1000 * MS)
    arrivals = [queue.offer(1000 * MS, 1500) for _ in range(6)]
    assert arrivals == [(1010 + ms) * MS for ms in (1, 2, 3, 5, 7)] + [None]  # the sixth would end at 7.5 ms
    assert queue.offer(1007.6 * MS, 1500) == pytest.approx(1018.1 * MS)


def test_loss_is_drawn_for_each_packet_before_the_queue() -> None:
    link = replace(LINK, rate_bps=None, limit_pkts=None, loss=0.02)
    queue = LinkQueue(link, seed=1)
    lost = [queue.offer(0, 1500) is None for _ in range(20_000)]
    # Binomial: mean 400, standard deviation sqrt(20000 * 0.02 * 0.98) = 19.8; five of them are 99.
    assert abs(sum(lost) - 400) < 99
    assert queue.drops_random == sum(lost)
    # The same seed loses the same packets; another seed or another link loses others.
    again = LinkQueue(link, seed=1)
    assert [again.offer(0, 1500) is None for _ in range(20_000)] == lost
    for other in (LinkQueue(link, seed=2), LinkQueue(replace(link, name="wire/reverse"), seed=1)):
        assert [other.offer(0, 1500) is None for _ in range(20_000)] != lost
    # A lost packet takes no transmission time.
    queue = LinkQueue(replace(LINK, loss=1.0), seed=1)
    assert (queue.offer(0, 1500), queue.queue_pkts(0), queue.busy_until(11 * MS)) == (None, 0, 0)


def test_red_marks_what_can_be_marked_and_drops_the_rest() -> None:
    red = RedPlan(min_pkts=1, max_pkts=2, max_p=1.0, gentle=False, marks=True)
    queue = LinkQueue(replace(LINK, limit_pkts=10, red=red), seed=1)
    told = [(queue.offer(0, 1500, ecn) is not None, queue.has_marked) for ecn in (2, 2, 2, 0)]
    # The second finds one packet, where the probability of a mark is 0; the third and fourth find two, where it is 1.
    assert told == [(True, False), (True, False), (True, True), (False, False)]
    assert (queue.marks, queue.drops_queue) == (1, 1)


def test_lateness_is_told_by_its_percentiles() -> None:
    # 1 to 101 microseconds: the median is the 51st, the 99th percentile the 100th, and the maximum the last.
    late = lateness_percentiles(array.array("q", [1000 * number for number in range(101, 0, -1)]))
    assert late == pytest.approx({"p50_s": 51e-6, "p99_s": 100e-6, "max_s": 101e-6})
    assert lateness_percentiles(array.array("q")) == {"p50_s": 0.0, "p99_s": 0.0, "max_s": 0.0}


def test_red_has_the_slopes_of_the_simulator() -> None:
    red = RedPlan(min_pkts=10, max_pkts=20, max_p=0.1, gentle=True, marks=False)
    assert [red.probability(pkts) for pkts in (9, 10, 15, 20, 30, 40)] == pytest.approx([0, 0, 0.05, 0.1, 0.55, 1])
