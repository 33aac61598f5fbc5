"""LIA, OLIA, BALIA and wVegas with ``arithmetic = "kernel"`` against an oracle of the MPTCP kernel's modules.

After every acknowledgement, loss and recovery each subflow has the oracle's window and slow start threshold, to the
packet.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.kernel_mptcp import INFINITE_SSTHRESH, MODULES, KernelConnection

from subflow_sim import _core

KERNEL: dict[str, bool | float | str] = {"arithmetic": "kernel"}


@dataclass(frozen=True)
class Round:
    """Events on one subflow: ACKs of so many packets each, and a loss or a pause before the next round."""

    subflow: int
    acks: tuple[int, ...]
    queued_us: int
    jitter_us: int
    is_cwnd_limited: bool
    ends_with: str


ENDS = ("nothing", "nothing", "nothing", "loss", "timeout", "halved by the scheduler")


def rounds(subflows: int) -> st.SearchStrategy[list[Round]]:
    return st.lists(
        st.builds(
            Round,
            subflow=st.integers(0, subflows - 1),
            acks=st.lists(st.integers(1, 4), max_size=40).map(tuple),
            queued_us=st.one_of(st.just(0), st.integers(0, 50), st.integers(0, 400_000)),
            jitter_us=st.one_of(st.just(0), st.integers(1, 3000)),
            is_cwnd_limited=st.sampled_from((True, True, True, False)),
            ends_with=st.sampled_from(ENDS),
        ),
        min_size=1,
        max_size=25,
    )


@st.composite
def stories(draw: st.DrawFn) -> tuple[list[int], int, list[Round]]:
    """Round-trip times in ns of one to five subflows, the initial window, and the rounds."""
    base = draw(st.lists(st.integers(20_000, 500_000_000), min_size=1, max_size=5))
    return base, draw(st.sampled_from((1, 2, 10, 40, 300))), draw(rounds(len(base)))


class Pair:
    """The controllers and the oracle, with the same input."""

    def __init__(self, name: str, base_ns: list[int], cwnd_pkts: int) -> None:
        self.ours = _core.DrivenControllers(name, KERNEL, base_ns, cwnd_pkts)
        self.kernel = KernelConnection(name, base_ns, cwnd_pkts)
        self.base_ns = base_ns
        self.srtt_ns = list(base_ns)
        self.next = [0] * len(base_ns)
        self.steps = 0

    def acknowledge(self, subflow: int, pkts: int, rtt_ns: int, is_cwnd_limited: bool = True) -> None:
        sk = self.kernel.sockets[subflow]
        self.srtt_ns[subflow] += (rtt_ns - self.srtt_ns[subflow]) // 8
        self.next[subflow] = max(self.next[subflow], sk.snd_una + pkts + sk.snd_cwnd)
        told = (subflow, pkts, rtt_ns, self.srtt_ns[subflow], self.next[subflow], is_cwnd_limited)
        self.ours.acknowledge(*told)
        self.kernel.acknowledge(*told)
        self.compare()

    def lose(self, subflow: int, by_timeout: bool) -> None:
        self.ours.lose(subflow, by_timeout)
        self.kernel.lose(subflow, by_timeout)
        self.compare()

    def recover(self, subflow: int) -> None:
        self.ours.recover(subflow, self.next[subflow])
        self.kernel.recover(subflow, self.next[subflow])
        self.compare()

    def halve(self, subflow: int) -> None:
        pkts = max(self.kernel.sockets[subflow].snd_cwnd >> 1, 1)
        self.ours.set_window(subflow, pkts)
        self.kernel.set_window(subflow, pkts)

    def compare(self) -> None:
        self.steps += 1
        for i, sk in enumerate(self.kernel.sockets):
            assert self.ours.cwnd_pkts(i) == sk.snd_cwnd
            ssthresh = self.ours.ssthresh_pkts(i)
            assert ssthresh == sk.snd_ssthresh or (math.isinf(ssthresh) and sk.snd_ssthresh == INFINITE_SSTHRESH)

    def play(self, each: Round) -> None:
        for n, pkts in enumerate(each.acks):
            rtt_us = self.base_ns[each.subflow] // 1000 + each.queued_us + each.jitter_us * (n % 3)
            self.acknowledge(each.subflow, pkts, rtt_us * 1000 + 437 * n, each.is_cwnd_limited)
        if each.ends_with == "halved by the scheduler":
            self.halve(each.subflow)
        elif each.ends_with != "nothing":
            self.lose(each.subflow, each.ends_with == "timeout")
            # The retransmission is acknowledged, and ACKs of other subflows arrive in between.
            self.acknowledge(each.subflow, 3, self.base_ns[each.subflow] + each.queued_us * 1000)
            for other in range(len(self.base_ns)):
                if other != each.subflow:
                    self.acknowledge(other, 1, self.base_ns[other] + each.jitter_us * 1000)
            self.recover(each.subflow)


@pytest.mark.parametrize("name", MODULES)
@settings(max_examples=max(100, settings().max_examples))
@given(story=stories())
def test_every_window_is_that_of_the_kernels_module(name: str, story: tuple[list[int], int, list[Round]]) -> None:
    base_ns, cwnd_pkts, happens = story
    pair = Pair(name, base_ns, cwnd_pkts)
    for each in happens:
        pair.play(each)
    pair.compare()


@pytest.mark.parametrize("name", MODULES)
def test_the_windows_agree_for_a_hundred_thousand_acknowledgements(name: str) -> None:
    # Two paths of 50 and 120 ms with a loss every few hundred packets: the windows take every branch many times.
    pair = Pair(name, [50_000_000, 120_000_000], 10)
    seen = set()
    for n in range(4000):
        pair.play(
            Round(
                subflow=(n * 7 + n // 11) % 2,
                acks=(2, 1, 2, 2, 1) * 5,
                queued_us=(n * 7919) % 23_000,
                jitter_us=(n * 104_729) % 900,
                is_cwnd_limited=n % 17 != 0,
                ends_with=("timeout" if n % 310 == 5 else "loss") if n % 23 == 5 else "nothing",
            )
        )
        seen |= {sk.snd_cwnd for sk in pair.kernel.sockets}
    assert pair.steps > 100_000
    assert len(seen) > 10


def test_lia_takes_the_first_path_for_the_best_where_all_ranks_come_to_nought() -> None:
    # 100 ms are 800 000 eighths of a microsecond: w * 2^32 / 800000^2 is 0 below 149 packets. With windows of 10 and 40
    # packets the best is 40; the kernel takes the 10 of the first: alpha * 4096 = 10 * 4096 / 50^2 = 16, not 65.
    for first, second, steps in ((10, 40, 4096 // 16), (40, 10, 4096 // 65)):
        pair = Pair("lia", [100_000_000] * 2, 10)
        pair.lose(0, False)
        pair.lose(1, False)
        pair.recover(0)
        pair.recover(1)
        for subflow, pkts in ((0, first), (1, second)):
            pair.ours.set_window(subflow, pkts)
            pair.kernel.set_window(subflow, pkts)
        acks = 0
        while pair.kernel.sockets[0].snd_cwnd == first:
            pair.acknowledge(0, 1, 100_000_000)
            acks += 1
        assert acks == max(steps, first) + 1


def test_olia_stands_still_where_an_increase_is_less_than_a_1024th_of_a_packet() -> None:
    # 600 packets each: 600 / 1200^2 of a packet per ACK is 0.43 / 1024, always rounded to 0.
    pair = Pair("olia", [100_000_000] * 2, 600)
    for subflow in (0, 1):
        pair.ours.lose(subflow, False)
        pair.kernel.lose(subflow, False)
        pair.recover(subflow)
        pair.ours.set_window(subflow, 600)
        pair.kernel.set_window(subflow, 600)
    for _ in range(5000):
        pair.acknowledge(0, 1, 100_000_000)
    assert pair.ours.cwnd_pkts(0) == 600


def test_balia_loses_half_below_twice_the_others_rate_and_three_quarters_from_there() -> None:
    # The fastest rate divided by the own rate, in whole numbers: 1 for 39 packets beside 20, 2 for 40 beside 20.
    for other, left in ((39, 10), (40, 5)):
        pair = Pair("balia", [100_000_000] * 2, 20)
        pair.ours.set_window(1, other)
        pair.kernel.set_window(1, other)
        pair.ours.set_window(0, 19)
        pair.kernel.set_window(0, 19)
        pair.acknowledge(0, 1, 100_000_000)  # slow start: 20 packets, and the decrease is computed
        pair.lose(0, False)
        assert pair.ours.ssthresh_pkts(0) == left


def test_wvegas_drains_a_queue_that_is_not_there() -> None:
    # All round-trip times are equal, in congestion avoidance: the queueing delay is 0, and 0 >= 2 * 0. The window of 20
    # grows by one and is halved, slow start brings it back to its threshold of 20, and this repeats; without the drain,
    # it grows.
    for drain, expected in ((True, [10, 10, 10]), (False, [21, 22, 23])):
        ours = _core.DrivenControllers("wvegas", KERNEL | {"drain": drain}, [100_000_000], 40)
        ours.lose(0, False)
        ours.recover(0, 40)
        windows = []
        for una in range(1, 82):
            ours.acknowledge(0, 1, 100_000_000, 100_000_000, una + 19, True)
            if una in (41, 61, 81):  # the first beyond the data sent at the start of the round trip
                windows.append(ours.cwnd_pkts(0))
        assert windows == expected


def test_a_controller_without_it_says_so() -> None:
    with pytest.raises(ValueError, match="arithmetic"):
        _core.DrivenControllers("ewtcp", KERNEL, [100_000_000], 10)
