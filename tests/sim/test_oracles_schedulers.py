"""Packet schedulers against known results: cases of equality, and their advantages over minRTT.

tests/sim_core/test_schedulers.cpp tests their arithmetic. Except in tests of coupled windows, each subflow runs an
independent NewReno, so that a path carries as much as a TCP connection.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.helpers.networks import MINRTT, column, decisions_of, link, mptcp, outage, run, scenario
from tests.helpers.statistics import mean

from subflow_sim import Simulation
from subflow_sim.scenario_model import Choice, Event, Link, Profile

NO_REPAIR = {"opportunistic_retransmission": False, "penalisation": False}
"""Options whose absence makes minRTT and ECF ignore a full receive window."""


def carried(
    scheduler: Choice,
    paths: Sequence[Link],
    *,
    controller: str | Choice = "uncoupled",
    duration_s: float = 20,
    seed: int = 1,
    sample_interval_s: float = 1,
    **values: Any,
) -> Simulation:
    """A run of one connection with a subflow per path; `values` are options of the scenario and of the flow."""
    of_scenario = {key: values.pop(key) for key in ("profile", "events", "warmup_s") if key in values}
    flow = mptcp("flow", [path.name for path in paths], controller, scheduler=scheduler, **values)
    a_scenario = scenario(paths, [flow], duration_s=duration_s, **of_scenario)
    return run(a_scenario, seed=seed, sample_interval_s=sample_interval_s)


def flow_of(simulation: Simulation) -> dict[str, Any]:
    """The summary of the one flow."""
    flow: dict[str, Any] = simulation.summary()["flows"][0]
    return flow


def completion_s(scheduler: Choice, paths: Sequence[Link], size_bytes: int, **values: Any) -> float:
    """Completion time of a transfer."""
    done = flow_of(carried(scheduler, paths, size_bytes=size_bytes, **values))["completion_s"]
    assert done is not None
    return float(done)


def shares(simulation: Simulation) -> list[float]:
    """Throughput of the subflows as shares of their sum."""
    rates = [subflow["throughput_bps"] for subflow in flow_of(simulation)["subflows"]]
    return [rate / sum(rates) for rate in rates]


def mean_reordered_bytes(simulation: Simulation) -> float:
    """Mean bytes in the receiver's reorder queue, over the samples after two seconds."""
    values = column(simulation, "recv_buffer_bytes")
    return float(values[len(values) // 10 :].mean(dtype="float64"))


NEAR = link("near", delay_s=0.01, queue_pkts=20)
FAR = link("far", delay_s=0.05, queue_pkts=84)
FURTHEST = link("furthest", delay_s=0.1, queue_pkts=170)
FAT = link("fat", rate_bps=20e6, delay_s=0.01, queue_pkts=50)
THIN = link("thin", rate_bps=2e6, delay_s=0.1, queue_pkts=50)


# --- BLEST and ECF in cases of equality with minRTT
# ---------------------------------------------------------------------


@pytest.mark.parametrize("controller", ["lia", "olia", "wvegas", Choice("uncoupled", {"base": "bbr"})])
@pytest.mark.parametrize("scheduler", ["blest", "ecf"])
def test_blest_and_ecf_are_minrtt_packet_for_packet_without_a_limit_to_window_and_data(
    scheduler: str, controller: str | Choice
) -> None:
    # BLEST compares the window with the data that the fastest subflow could send meanwhile: an infinite window has
    # room. ECF compares the completion times of the remaining data: an endless transfer never completes. Loss, an
    # outage and a subflow that is closed and opened again ensure that reinjections are placed alike.
    paths = [replace_loss(NEAR, 0.005), replace_loss(FURTHEST, 0.005), link("third", rate_bps=5e6, delay_s=0.03)]
    closed = (Event(at_s, flow="flow", subflow=2, open=is_open) for at_s, is_open in ((7.0, False), (9.0, True)))
    values: dict[str, Any] = {"events": (*outage("near", 3.0, 5.0), *closed), "profile": "linux", "duration_s": 12}
    runs = [carried(Choice(name), paths, controller=controller, **values) for name in ("minrtt", scheduler)]
    assert runs[0].signature() == runs[1].signature()


def replace_loss(path: Link, loss: float) -> Link:
    """The same path with random loss in the forward direction."""
    return replace(path, forward=replace(path.forward, loss=loss))


# --- BLEST and ECF in other cases
# ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("buffer_bytes", [100_000, 150_000, 300_000])
def test_blest_with_little_receive_buffer_carries_what_the_fast_path_does_alone(buffer_bytes: int) -> None:
    # A packet on the thin path takes at least 100 ms, in which the fat path fills any of these buffers (20 Mbit/s in
    # 0.1 s are 250 kB): packets on the thin path block minRTT repeatedly.
    values: dict[str, Any] = {"recv_buffer_bytes": buffer_bytes, "warmup_s": 5, "profile": "linux"}
    plain = flow_of(carried(Choice("minrtt", NO_REPAIR), [FAT, THIN], **values))["goodput_bps"]
    blest = flow_of(carried(Choice("blest"), [FAT, THIN], **values))["goodput_bps"]
    alone = flow_of(carried(MINRTT, [FAT], **values))["goodput_bps"]
    assert blest >= 0.97 * alone
    # The fat path fills the smallest buffer before the thin path has joined, so that the thin path stays unused.
    assert plain < 0.5 * blest or buffer_bytes == 100_000


@pytest.mark.parametrize("buffer_bytes", [100_000, 150_000, 300_000])
def test_ecf_with_little_send_buffer_carries_what_the_fast_path_does_alone(buffer_bytes: int) -> None:
    # The remaining data is the content of the send buffer. The fast path sends it before an ACK of the thin path
    # returns.
    values: dict[str, Any] = {"send_buffer_bytes": buffer_bytes, "recv_buffer_bytes": buffer_bytes, "warmup_s": 5}
    plain = flow_of(carried(Choice("minrtt", NO_REPAIR), [FAT, THIN], **values))["goodput_bps"]
    ecf = flow_of(carried(Choice("ecf", NO_REPAIR), [FAT, THIN], **values))["goodput_bps"]
    alone = flow_of(carried(MINRTT, [FAT], **values))["goodput_bps"]
    assert ecf >= 0.97 * alone
    assert plain < 0.5 * ecf


@pytest.mark.parametrize("size_bytes", [1_000_000, 2_000_000, 4_000_000])
def test_ecf_sends_the_end_of_a_transfer_over_the_fast_path(size_bytes: int) -> None:
    # minRTT uses the slow path until the end, and then waits for it.
    last = {}
    for scheduler in ("minrtt", "ecf"):
        flow = mptcp("flow", ["near", "furthest"], "uncoupled", size_bytes=size_bytes, scheduler=Choice(scheduler))
        made = decisions_of(scenario([NEAR, FURTHEST], [flow], duration_s=10))
        end = int(made.data_seq[made.chosen == 1].max())
        last[scheduler] = int(made.data_seq.max()) - end
    # The window of the fast path is at most BDP and queue, 17 + 20 packets. ECF's first test holds for the last time
    # when the remaining data fits into it.
    assert last["ecf"] > 37
    assert last["ecf"] > last["minrtt"]


def test_ecf_completes_transfers_sooner_than_minrtt() -> None:
    # By at least half of a round trip of the slow path if it carried much data; never later by a tenth.
    ratios = [
        completion_s(Choice("ecf"), [NEAR, slow], size) / completion_s(MINRTT, [NEAR, slow], size)
        for slow in (FAR, FURTHEST)
        for size in (1_000_000, 2_000_000, 4_000_000)
    ]
    assert max(ratios) < 1.1
    assert min(ratios) < 0.95
    assert mean(ratios) < 1


# --- Round-robin ------------------------------------------------------------------------------------------------------

UNEQUAL = [link("wide", rate_bps=20e6, delay_s=0.02, queue_pkts=70), link("narrow", rate_bps=5e6, queue_pkts=42)]


def test_round_robin_within_windows_shares_a_saturated_connection_out_by_them() -> None:
    # Each window is always full, and each ACK permits one packet: 20 and 5 Mbit/s.
    done = carried(Choice("roundrobin"), UNEQUAL, warmup_s=5)
    assert shares(done) == pytest.approx([0.8, 0.2], abs=0.005)
    assert all(part["utilisation"] > 0.99 for part in done.summary()["links"] if part["direction"] == "forward")


@pytest.mark.parametrize("segments", [1, 4])
def test_strict_round_robin_is_as_fast_as_its_slowest_subflow_times_their_number(segments: int) -> None:
    # 5 Mbit/s each, of which 1448 of 1500 bytes are payload.
    scheduler = Choice("roundrobin", {"cwnd_limited": False, "num_segments": segments})
    done = carried(scheduler, UNEQUAL, warmup_s=5)
    assert shares(done) == pytest.approx([0.5, 0.5], abs=0.005)
    assert flow_of(done)["goodput_bps"] == pytest.approx(2 * 5e6 * 1448 / 1500, rel=0.02)


# --- Redundant --------------------------------------------------------------------------------------------------------


FAST_AND_FAR = link("fast and far", rate_bps=20e6, delay_s=0.1, queue_pkts=300)
SLOW_AND_NEAR = link("slow and near", rate_bps=2e6, delay_s=0.01)


@pytest.mark.parametrize(
    ("paths", "size_bytes"),
    [
        pytest.param([NEAR, FURTHEST], 300_000, id="the fast one first"),
        pytest.param([FURTHEST, NEAR], 3_000_000, id="the fast one joins"),
        pytest.param([FAR, replace(FAR, name="other")], 1_000_000, id="equal"),
        pytest.param([FAST_AND_FAR, SLOW_AND_NEAR], 2_000_000, id="fast and far, slow and near"),
    ],
)
def test_redundant_completes_with_the_best_path_and_a_round_trip_at_most(paths: list[Link], size_bytes: int) -> None:
    alone = [completion_s(MINRTT, [path], size_bytes) for path in paths]
    best = min(range(2), key=alone.__getitem__)
    round_trip_s = 2 * paths[best].forward.delay_s
    assert completion_s(Choice("redundant"), paths, size_bytes) <= alone[best] + round_trip_s


def test_redundant_gains_from_loss_that_does_not_hit_both_copies() -> None:
    # Losses differ between runs, so the mean counts: of six runs over either single path, and over both.
    paths = [link("one", delay_s=0.025, loss=0.02), link("two", delay_s=0.03, loss=0.02)]
    seeds = range(1, 7)
    both = mean([completion_s(Choice("redundant"), paths, 500_000, seed=seed) for seed in seeds])
    alone = [mean([completion_s(MINRTT, [path], 500_000, seed=seed) for seed in seeds]) for path in paths]
    assert both <= min(alone) + 0.05
    for seed in seeds:
        # The first subflow has the same losses with and without a second.
        first = completion_s(MINRTT, paths[:1], 500_000, seed=seed)
        assert completion_s(Choice("redundant"), paths, 500_000, seed=seed) <= first + 0.05


def test_redundant_goodput_is_that_of_the_best_path_and_copies_are_no_goodput() -> None:
    done = flow_of(carried(Choice("redundant"), UNEQUAL, warmup_s=5))
    assert done["goodput_bps"] == pytest.approx(20e6 * 1448 / 1500, rel=0.01)
    assert sum(subflow["goodput_bps"] for subflow in done["subflows"]) == pytest.approx(done["goodput_bps"], rel=1e-6)
    # Both paths are full nevertheless.
    assert sum(subflow["throughput_bps"] for subflow in done["subflows"]) == pytest.approx(25e6 * 1448 / 1500, rel=0.01)


def test_redundant_copies_that_have_to_find_room_at_once_are_rare_on_a_saturated_connection() -> None:
    # With full windows, one path at a time has room for one packet: the rates of the paths add up.
    now = Choice("redundant", {"copies": "now"})
    done = flow_of(carried(now, UNEQUAL, warmup_s=5))
    assert done["goodput_bps"] == pytest.approx(25e6 * 1448 / 1500, rel=0.02)
    # A transfer within the initial windows is sent twice. The second subflow carries copies of its ten packets except
    # the first, which left before the other path had joined.
    assert completion_s(now, [NEAR, FAR], 300_000) <= completion_s(MINRTT, [NEAR], 300_000) + 0.02


# --- Goodput-proportional batches -------------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", ["textbook", "linux"])
@pytest.mark.parametrize("delay_s", [0.03, 0.05, 0.1])
def test_batches_need_less_reordering_than_minrtt_at_nearly_the_same_goodput(delay_s: float, profile: Profile) -> None:
    # The data of a slot is sent as one piece per path, and the piece that arrives last ends the slot. Longer slots have
    # larger pieces, and the near path waits longer for its next piece.
    far = link("far", delay_s=delay_s, queue_pkts=round(delay_s * 1700))
    values: dict[str, Any] = {"sample_interval_s": 0.01, "warmup_s": 2, "duration_s": 60, "profile": profile}
    minrtt = carried(MINRTT, [NEAR, far], **values)
    for slot, reordered, goodput in ((0.25, 0.96, 0.97), (0.5, 0.88, 0.93)):
        batches = carried(Choice("goodput", {"slot": slot}), [NEAR, far], **values)
        assert mean_reordered_bytes(batches) < reordered * mean_reordered_bytes(minrtt)
        assert flow_of(batches)["goodput_bps"] > goodput * flow_of(minrtt)["goodput_bps"]


def test_batches_are_split_as_the_paths_deliver() -> None:
    # Decisions record the rates of a batch: their shares equal the shares of the sent data, within 5 %.
    flow = mptcp("flow", ["wide", "narrow"], "uncoupled", scheduler=Choice("goodput"))
    simulation = Simulation(scenario(UNEQUAL, [flow], duration_s=20, warmup_s=5))
    simulation.run_until(5)
    simulation.record_decisions()
    simulation.run_until(20)
    made = simulation.take_decisions()
    for position, sent in enumerate(shares(simulation)):
        theta = made.numbers[made.chosen == position]
        assert float(np.mean(theta[:, 0] / theta[:, 1])) == pytest.approx(sent, rel=0.05)


# --- MPCC's rate-based scheduler --------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", ["bbr", "vivace"])
def test_the_rate_based_rule_saturates_both_links_with_short_queues_at_the_sender(base: str) -> None:
    # The window of a paced controller is well above its packets in flight: minRTT places the remaining packets as well,
    # and packets that wait at the sender arrive late.
    values: dict[str, Any] = {"sample_interval_s": 0.01, "warmup_s": 5, "duration_s": 30}
    values["controller"] = Choice("uncoupled", {"base": base})
    minrtt = carried(MINRTT, [NEAR, FAR], **values)
    rates = carried(Choice("mpcc-rate"), [NEAR, FAR], **values)
    for part in rates.summary()["links"]:
        assert part["direction"] == "reverse" or part["utilisation"] > 0.9
    assert mean_reordered_bytes(rates) < 0.5 * mean_reordered_bytes(minrtt)
