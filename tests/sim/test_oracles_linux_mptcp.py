"""The scheduler ``linux-mptcp`` against an oracle of mainline Linux (net/mptcp/protocol.c, pm.c).

The oracle follows the kernel, independently of the scheduler here; names and widths are the kernel's. After every
placed packet and every timeout of the connection, choice, average rates, buffers and stale marks are equal.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.networks import goodputs, link, mptcp, outage, run, scenario
from tests.helpers.statistics import mean

from subflow_sim import Simulation, _core
from subflow_sim.scenario_model import Choice

# (1 << 16) minus a TCP header, all its options, an IPv6 header and a fragment header: 20, 40, 40 and 8 bytes
BURST = (1 << 16) - 20 - 40 - 40 - 8
U32 = 0xFFFFFFFF
WMEM_MAX = 4 << 20
# tcp_sndbuf_expand: 1460 bytes, MAX_TCP_HEADER and skb_shared_info of 320 each, rounded up to a power of two; sk_buff
PER_MSS = 4096 + 256


@dataclass(eq=False)
class Sock:
    """A subflow's socket with its context."""

    established: bool = True
    backup: bool = False
    snd_cwnd: int = 10
    snd_ssthresh: int = 0x7FFFFFFF
    packets_out: int = 0
    unsent: int = 0
    srtt_us: int = 8 * 50_000
    """Eight times the smoothed round-trip time in microseconds, as in the kernel."""
    bbr_rate: int = 0
    rcv_tstamp: int = 0
    timeout_ns: int = 0
    avg_pacing_rate: int = 0
    sk_sndbuf: int = 0
    stale: bool = False
    stale_count: int = 0
    stale_rcv_tstamp: int = 0

    def pacing_rate(self, mss: int) -> int:
        """tcp_update_pacing_rate."""
        if self.bbr_rate:
            return self.bbr_rate
        rate = mss * ((1_000_000 // 100) << 3)
        rate *= 200 if self.snd_cwnd < self.snd_ssthresh // 2 else 120
        rate *= max(self.snd_cwnd, self.packets_out)
        return rate // self.srtt_us

    def expand(self) -> None:
        """tcp_should_expand_sndbuf, tcp_sndbuf_expand."""
        if self.sk_sndbuf and self.packets_out >= self.snd_cwnd:
            return
        sndmem = (3 if self.bbr_rate else 2) * max(10, self.snd_cwnd) * PER_MSS
        self.sk_sndbuf = max(self.sk_sndbuf, min(sndmem, WMEM_MAX))

    def is_active(self) -> bool:
        """mptcp_subflow_active."""
        if self.stale:
            if self.stale_rcv_tstamp == self.rcv_tstamp:
                return False
            self.stale = False
        return self.established

    def wmem(self, mss: int) -> int:
        return (self.packets_out + self.unsent) * mss

    def seen(self) -> Any:
        """The state that the scheduler receives."""
        if self.established:
            self.expand()
        socket = _core.Socket()
        socket.is_open = self.established
        socket.is_backup = self.backup
        socket.acks_heard = self.rcv_tstamp
        socket.cwnd_pkts = self.snd_cwnd
        socket.ssthresh_pkts = self.snd_ssthresh
        socket.packets_out = self.packets_out
        socket.unsent_pkts = self.unsent
        socket.srtt_eighth_us = self.srtt_us
        socket.paced_rate = self.bbr_rate
        socket.timer_ns = self.timeout_ns
        return socket


@dataclass(eq=False)
class Msk:
    """An MPTCP socket."""

    subflows: list[Sock]
    mss: int = 1424
    stale_loss_cnt: int = 4
    snd_burst: int = 0
    sending: Sock | None = None
    newly_stale: list[int] = field(default_factory=list)

    def get_send(self, wnd_left: int) -> Sock | None:
        """mptcp_subflow_get_send."""
        best: list[tuple[int, Sock] | None] = [None, None]
        nr_active = 0
        for ssk in self.subflows:
            if not ssk.is_active():
                continue
            nr_active += not ssk.backup
            pace = ssk.avg_pacing_rate & U32
            if not pace:
                ssk.avg_pacing_rate = ssk.pacing_rate(self.mss)
                pace = ssk.avg_pacing_rate & U32
                if not pace:
                    continue
            linger_time = (ssk.wmem(self.mss) << 32) // pace
            so_far = best[ssk.backup]
            if so_far is None or linger_time < so_far[0]:
                best[ssk.backup] = (linger_time, ssk)
        chosen = best[0] if nr_active else best[1]
        if chosen is None or chosen[1].wmem(self.mss) >= chosen[1].sk_sndbuf:
            return None
        ssk = chosen[1]
        burst = min(BURST, wnd_left)
        wmem = ssk.wmem(self.mss)
        if burst:
            ssk.avg_pacing_rate = (ssk.avg_pacing_rate * wmem + ssk.pacing_rate(self.mss) * burst) // (burst + wmem)
            self.snd_burst = burst
        else:
            self.snd_burst = 0
        return ssk

    def push_one(self, wnd_left: int) -> int | None:
        """A step of __subflow_push_pending: the subflow of the next packet; None ends the push."""
        ssk = self.sending
        if ssk is None or self.snd_burst <= 0 or ssk.wmem(self.mss) >= ssk.sk_sndbuf or not ssk.is_active():
            ssk = self.get_send(wnd_left)
        self.sending = ssk
        if ssk is None:
            return None
        self.snd_burst -= self.mss
        return self.subflows.index(ssk)

    def chk_stale(self, ssk: Sock) -> None:
        """mptcp_pm_subflow_chk_stale."""
        if not ssk.stale_count:
            ssk.stale_rcv_tstamp = ssk.rcv_tstamp
            ssk.stale_count += 1
            return
        if ssk.stale_rcv_tstamp != ssk.rcv_tstamp:
            ssk.stale_count = 0
            ssk.stale = False
            return
        ssk.stale_count = min(ssk.stale_count + 1, 255)
        if ssk.stale or not self.stale_loss_cnt or ssk.stale_count <= self.stale_loss_cnt:
            return
        for other in self.subflows:
            if other is not ssk and other.is_active() and other.stale_count < max(self.stale_loss_cnt - 1, 1):
                ssk.stale = True
                self.newly_stale.append(self.subflows.index(ssk))
                self.snd_burst = 0
                return

    def get_retrans(self) -> int | None:
        """mptcp_subflow_get_retrans."""
        pick = backup = None
        min_stale_count = 1 << 31
        for i, ssk in enumerate(self.subflows):
            if not ssk.established:
                continue
            if ssk.packets_out or ssk.unsent:
                self.chk_stale(ssk)
                min_stale_count = min(min_stale_count, ssk.stale_count)
            elif ssk.backup:
                backup = i if backup is None else backup
            else:
                pick = i if pick is None else pick
        if pick is not None:
            return pick
        return backup if min_stale_count > 1 else None

    def set_timeout(self) -> int:
        """mptcp_set_timeout, in ns."""
        return (
            max((s.timeout_ns for s in self.subflows if s.established and not s.stale_count), default=0) or 200_000_000
        )


class Pair:
    """The scheduler and the oracle, with the same input."""

    def __init__(self, subflows: list[Sock], stale_loss_cnt: int = 4, mss: int = 1424) -> None:
        self.msk = Msk(subflows, mss, stale_loss_cnt)
        self.ours = _core.DrivenLinuxMptcp({"stale_loss_count": stale_loss_cnt})
        self.now_ns = 0
        self.steps = 0

    def seen(self) -> list[Any]:
        return [ssk.seen() for ssk in self.msk.subflows]

    def push(self, pkts: int, wnd_left: int) -> None:
        """Places up to so many packets in one push."""
        self.now_ns += 1_000_000
        self.msk.sending = None
        for _ in range(pkts):
            ours = self.ours.select(self.now_ns, self.seen(), self.msk.mss, wnd_left)
            assert ours == self.msk.push_one(wnd_left)
            self.compare()
            if ours is None:
                return
            ssk = self.msk.subflows[ours]
            if ssk.packets_out < ssk.snd_cwnd and not ssk.unsent:
                ssk.packets_out += 1
            else:
                ssk.unsent += 1
            wnd_left = max(wnd_left - self.msk.mss, 0)

    def retransmit(self) -> None:
        """The timer of the connection expires."""
        self.msk.newly_stale.clear()
        theirs = self.msk.get_retrans()
        choice, stale = self.ours.select_retransmission(self.seen())
        assert (choice, list(stale)) == (theirs, self.msk.newly_stale)
        self.compare()

    def compare(self) -> None:
        self.steps += 1
        assert self.ours.timeout_ns(self.seen()) == self.msk.set_timeout()
        for i, ssk in enumerate(self.msk.subflows):
            assert self.ours.is_stale(i) == ssk.stale
            assert self.ours.mean_rate(i) == ssk.avg_pacing_rate
            assert self.ours.send_buffer(i) == ssk.sk_sndbuf


SOCKS = st.builds(
    Sock,
    established=st.sampled_from((True, True, True, False)),
    backup=st.sampled_from((False, False, True)),
    snd_cwnd=st.integers(1, 5000),
    snd_ssthresh=st.sampled_from((2, 7, 200, 0x7FFFFFFF)),
    packets_out=st.integers(0, 30),
    unsent=st.integers(0, 100),
    srtt_us=st.integers(1, 8 * 2_000_000),
    bbr_rate=st.sampled_from((0, 0, 0, 12_345, 9_000_000, (1 << 32) + 7, 1 << 32)),
    timeout_ns=st.sampled_from((0, 1, 230_000_000, 1_600_000_000)),
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("push"), st.integers(1, 200), st.sampled_from((0, 1424, 50_000, 3_000_000))),
        st.tuples(st.just("acknowledge"), st.integers(0, 4), st.integers(1, 40)),
        st.tuples(st.just("time out"), st.integers(0, 4), st.integers(1, 8)),
    ),
    min_size=1,
    max_size=20,
)


def play(pair: Pair, steps: list[tuple[str, int, int]]) -> None:
    for what, first, second in steps:
        if what == "push":
            pair.push(first, second)
        elif what == "time out":
            for _ in range(second):
                pair.retransmit()
        else:
            ssk = pair.msk.subflows[first % len(pair.msk.subflows)]
            ssk.packets_out -= min(second, ssk.packets_out)
            leaves = min(ssk.unsent, max(ssk.snd_cwnd - ssk.packets_out, 0))
            ssk.packets_out += leaves
            ssk.unsent -= leaves
            ssk.snd_cwnd += second // 8
            ssk.rcv_tstamp += 1


@settings(max_examples=max(100, settings().max_examples))
@given(
    subflows=st.lists(SOCKS, min_size=1, max_size=5),
    steps=STEPS,
    count=st.sampled_from((4, 4, 0, 1, 2)),
    mss=st.sampled_from((1424, 500)),
)
def test_every_choice_is_that_of_the_kernel(
    subflows: list[Sock], steps: list[tuple[str, int, int]], count: int, mss: int
) -> None:
    pair = Pair(subflows, count, mss)
    play(pair, steps)
    pair.compare()
    assert pair.steps > sum(what == "push" for what, _, _ in steps)


def test_the_choices_agree_for_thousands_of_packets_and_every_branch_is_taken() -> None:
    pair = Pair([Sock(), Sock(srtt_us=8 * 120_000, snd_cwnd=40), Sock(backup=True)])
    for n in range(120):
        play(pair, [("push", 90, 400_000), ("acknowledge", 0, 9 + n % 7), ("acknowledge", 1, 5)])
    # The second path dies: five timers of the connection expire without an acknowledgement on it.
    for _ in range(6):
        play(pair, [("acknowledge", 0, 1), ("time out", 0, 1)])
    assert pair.msk.subflows[1].stale
    pair.push(50, 400_000)
    assert pair.msk.subflows[1].stale
    # It is acknowledged again, the first subflow is closed, and the backup is used once the second is closed, too.
    play(pair, [("acknowledge", 1, 1), ("push", 10, 400_000)])
    assert not pair.msk.subflows[1].stale
    for dead in pair.msk.subflows[:2]:
        dead.established = False
    pair.push(20, 400_000)
    assert pair.msk.subflows[2].packets_out == 10
    assert pair.msk.subflows[2].unsent == 10
    assert pair.steps > 2000


# --- In a network -----------------------------------------------------------------------------------------------------

LINUX_MPTCP = Choice("linux-mptcp")


def test_an_endless_flow_uses_both_paths_to_the_full() -> None:
    paths = [link("near", rate_bps=20e6, delay_s=0.01, queue_pkts=40), link("far", delay_s=0.05, queue_pkts=84)]
    flow = mptcp("flow", ["near", "far"], "uncoupled", scheduler=LINUX_MPTCP)
    simulation = run(scenario(paths, [flow], duration_s=20, warmup_s=5, profile="linux"))
    links = {row["name"]: row["utilisation"] for row in simulation.summary()["links"] if row["direction"] == "forward"}
    assert min(links.values()) > 0.97
    # As much as its rate permits: 1424 of 1500 bytes are payload.
    assert simulation.summary()["flows"][0]["goodput_bps"] == pytest.approx(30e6 * 1424 / 1500, rel=0.03)


def test_data_is_bound_ahead_of_the_window_as_far_as_the_send_buffer_goes() -> None:
    # A window of 10 may hold 2 * 10 * 4352 bytes, that is 39 packets of 1424 and 832 with the packet that exceeds it. A
    # transfer of 38 packets is bound to the first subflow before the second has joined: minRTT places 10 and then has
    # two paths.
    paths = [link("first", delay_s=0.05, queue_pkts=100), link("second", delay_s=0.01, queue_pkts=100)]
    for scheduler, second in ((LINUX_MPTCP, 0), (Choice("minrtt"), 1)):
        flow = mptcp("flow", ["first", "second"], "uncoupled", scheduler=scheduler, size_bytes=38 * 1424)
        simulation = run(scenario(paths, [flow], duration_s=5, profile="linux"))
        subflows = simulation.summary()["flows"][0]["subflows"]
        assert (subflows[1]["throughput_bps"] > 0) == bool(second)


# Goodput of Linux 6.18 on a path with 0.5 % loss and one with 20 %, whose window is 2.5 packets: mean of six runs of
# 30 s by `subflow compare-kernel`, which range from 2.93 to 4.16.
KERNEL_HELD_UP_MBIT = 3.43


def test_a_slow_path_holds_up_the_connection_as_in_the_kernel() -> None:
    paths = [
        link(name, rate_bps=20e6, delay_s=delay_s, queue_pkts=100, loss=loss)
        for name, delay_s, loss in (("good", 0.02, 0.005), ("bad", 0.04, 0.2))
    ]

    def goodput_mbps(**values: Any) -> float:
        flow = mptcp("flow", ["good", "bad"], "uncoupled", scheduler=LINUX_MPTCP, **values)
        a_scenario = scenario(paths, [flow], duration_s=30, warmup_s=2, profile="linux")
        return mean([goodputs(run(a_scenario, seed=seed))["flow"] / 1e6 for seed in range(1, 31)])

    assert goodput_mbps() == pytest.approx(KERNEL_HELD_UP_MBIT, rel=0.12)
    # Without a limit, the good path sends ahead by megabytes.
    assert goodput_mbps(send_buffer_bytes=10**9) > 1.3 * KERNEL_HELD_UP_MBIT


def test_a_dead_path_becomes_stale_and_gets_nothing_more_until_it_is_heard_of() -> None:
    paths = [link("good", delay_s=0.01, queue_pkts=60), link("dying", delay_s=0.03, queue_pkts=60)]
    events = outage("dying", 3.0, 25.0, "both")
    flow = mptcp("flow", ["good", "dying"], "uncoupled", scheduler=LINUX_MPTCP)
    simulation = run(scenario(paths, [flow], duration_s=80, profile="linux", events=events))
    stale = [mark for mark in simulation.take_marks() if mark.kind == "stale"]
    assert [mark.owner for mark in stale] == ["flow/2"]
    assert 3.0 < stale[0].time_s < 10.0
    links = {(row["name"], row["direction"]): row for row in simulation.summary()["links"]}
    assert links["good", "forward"]["utilisation"] > 0.9
    # It returns with its own retransmission, whose timer has backed off during the outage.
    assert links["dying", "forward"]["utilisation"] > 0.25


# Times of Linux 6.18 (250 ticks per second) in this scenario; throughput of both subflows, Mbit/s of payload.
KERNEL_REPEATS = (12.654, 12.963, 13.290)
KERNEL_STALE_S = 13.710
KERNEL_TIMEOUTS = (12.454, 13.030, 14.150, 16.358, 20.966)
KERNEL_MBIT = (12.0, 2.93)


def test_a_backup_takes_over_when_it_does_in_the_kernel() -> None:
    """`subflow compare-kernel --grid --only "cubic 20Mbit/s 50ms 0% backup"`; its times are those of its packets."""
    paths = [link("first", rate_bps=20e6, delay_s=0.025), link("second", rate_bps=10e6, delay_s=0.05)]
    cubic = Choice("uncoupled", {"base": "cubic"})

    def run_with(scheduler: Choice) -> Simulation:
        flow = mptcp("flow", ["first", "second"], cubic, scheduler=scheduler, backup=(2,))
        events = outage("first", 12.0, 20.0, "both")
        return run(scenario(paths, [flow], duration_s=30, warmup_s=5, profile="linux", events=events))

    simulation = run_with(LINUX_MPTCP)
    marks = [mark for mark in simulation.take_marks() if mark.time_s > 12]
    times = {kind: [mark.time_s for mark in marks if mark.kind == kind] for kind in ("meta_rto", "rto", "stale")}
    assert times["meta_rto"][:3] == pytest.approx(KERNEL_REPEATS, abs=0.03)
    assert times["rto"] == pytest.approx(KERNEL_TIMEOUTS, abs=0.06)
    assert times["stale"] == pytest.approx([KERNEL_STALE_S], abs=0.05)
    rates = [row["throughput_bps"] / 1e6 for row in simulation.summary()["flows"][0]["subflows"]]
    assert rates == pytest.approx(KERNEL_MBIT, rel=0.03)
    # With exact timers the first path returns half a second earlier.
    exact = run_with(Choice("linux-mptcp", {"tick_ms": 0}))
    last = [mark.time_s for mark in exact.take_marks() if mark.kind == "rto"][-1]
    assert last < KERNEL_TIMEOUTS[-1] - 0.25
