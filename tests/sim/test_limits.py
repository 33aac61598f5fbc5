"""A run beyond the limits is refused before it starts, with the estimate, the limit and a remedy."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from tests.helpers.fake_simulation import FLOW_COLUMNS, LINK_COLUMNS, SUBFLOW_COLUMNS
from tests.helpers.members import for_each
from tests.helpers.networks import link, mptcp, scenario, tcp

from subflow_sim import DecisionLimits, Limits, ParamError, Simulation, SimulationError, TooLargeError, estimate
from subflow_sim.scenario_model import NO_CHOICE, Flow
from subflow_sim.whole_scenario import Scenario

COLUMNS = len(FLOW_COLUMNS) + len(SUBFLOW_COLUMNS) + 2 * len(LINK_COLUMNS)
"""Columns of a flow with one subflow over one link, which has two directions."""


def one_flow(duration_s: float = 100.0, **options: object) -> Scenario:
    return scenario([link("path", **options)], [tcp("download", "path")], duration_s=duration_s)  # type: ignore[arg-type]


def test_the_estimate_is_what_the_arithmetic_says() -> None:
    # 10 Mbit/s for 100 s are 83 333 packets of 1500 bytes, and textbook transport acknowledges each of them.
    cost = estimate(one_flow())
    assert cost.link_crossings == pytest.approx(2 * 83_333, rel=0.01)
    assert cost.busiest_flow == "download"
    # A thousand samples of each column, packed into two bytes each.
    assert (cost.columns, cost.samples, cost.trace_bytes) == (COLUMNS, 1000, COLUMNS * 1000 * 2)
    assert cost.memory_bytes == cost.trace_bytes + cost.packet_bytes + cost.object_bytes
    assert cost.decision_bytes == 0


@for_each(
    ("larger", "part"),
    [
        (one_flow(200.0), "link_crossings"),
        (one_flow(rate_bps=20e6), "link_crossings"),
        (one_flow(queue_pkts=10_000), "packet_bytes"),
        (one_flow(delay_s=5.0), "packet_bytes"),
        (one_flow(200.0), "trace_bytes"),
    ],
)
def test_it_grows_with_what_dominates(larger: Scenario, part: str) -> None:
    assert getattr(estimate(larger), part) >= 1.9 * getattr(estimate(one_flow()), part)


def test_flows_that_share_a_link_share_its_packets() -> None:
    crowd = replace(tcp("crowd", "path"), count=50)
    shared = scenario([link("path")], [crowd], duration_s=100)
    assert estimate(shared).link_crossings == pytest.approx(estimate(one_flow()).link_crossings, rel=0.05)


def test_what_is_measured_is_close_to_it() -> None:
    # The tolerances of the core's own tests, here through Python: a quarter above and a half below.
    both = scenario([link("wifi"), link("lte", delay_s=0.02)], [mptcp("d", ["wifi", "lte"])], duration_s=30)
    simulation = Simulation(both)
    simulation.run_until(30)
    assert 0.5 < simulation.link_crossings / simulation.estimate.link_crossings < 1.25


def test_both_sides_of_the_limit_of_events() -> None:
    told = estimate(one_flow()).link_crossings
    assert Simulation(one_flow(), limits=Limits(link_crossings=told * 1.01)).run_until(0.1)
    with pytest.raises(TooLargeError, match=r"about 1\.7e\+05 events .* limit of 1\.6e\+05; .* flow 'download'"):
        Simulation(one_flow(), limits=Limits(link_crossings=told * 0.97))


def test_both_sides_of_the_limit_of_memory() -> None:
    told = estimate(one_flow(), sample_interval_s=1e-4).memory_bytes
    # 10^6 samples of 2 bytes in each column, and a remainder
    traces_mb = COLUMNS * 2
    assert told == pytest.approx(traces_mb * 1e6 + 1.6e6, rel=0.01)
    assert Simulation(one_flow(), sample_interval_s=1e-4, limits=Limits(memory_bytes=told * 1.01)).run_until(0.1)
    refusal = rf"{told / 1e6:.0f} MB .* {told * 0.99 / 1e6:.0f} MB; {traces_mb} MB .* {COLUMNS} columns of 1000000"
    with pytest.raises(TooLargeError, match=refusal):
        Simulation(one_flow(), sample_interval_s=1e-4, limits=Limits(memory_bytes=told * 0.99))


def test_records_of_decisions_count_as_memory() -> None:
    # A ring of 2^24 records of 136 bytes, and 126 bytes for each record taken; 10^5 s of ACKs would be five times as
    # many.
    many = DecisionLimits(capacity=(1 << 24) - 1)
    told = estimate(one_flow(1e5), sample_interval_s=10.0, decisions=many)
    assert told.decision_bytes == pytest.approx(2**24 * (136 + 126), rel=1e-3)
    with pytest.raises(TooLargeError, match=r"4\.4 GB of it are decisions to be explained: keep fewer"):
        Simulation(one_flow(1e5), sample_interval_s=10.0, decisions=many)
    assert Simulation(one_flow(1e5), sample_interval_s=10.0, decisions=DecisionLimits()).estimate.decision_bytes < 2e7


def test_what_cannot_be_told_before_ends_the_run_when_it_is_there() -> None:
    # Without losses the sender never slows down, so no estimate can know the length of the queue: 104 bytes per packet,
    # and 833 packets in each second of 10 Mbit/s.
    endless = scenario([link("path", queue_pkts=None)], [tcp("download", "path")], duration_s=1e5)
    simulation = Simulation(endless, sample_interval_s=10.0, limits=Limits(memory_bytes=20e6))
    refusal = r"2\d MB of memory at t = .* s of 100000 s, .* 20 MB; 1\d MB .*(path/forward|download).*--max-memory 16GB"
    with pytest.raises(TooLargeError, match=refusal):
        simulation.run_until(1e5)
    # The run has stopped: it can be read, but not continued.
    reached_s = simulation.now_s
    assert 10 < reached_s < 1e3
    assert simulation.summary()["flows"][0]["goodput_bps"] > 9e6
    simulation.check_invariants()
    with pytest.raises(TooLargeError):
        simulation.run_until(1e5)
    assert simulation.now_s < reached_s + 60


def run_in_slices(simulation: Simulation) -> None:
    for t_s in range(1000):
        simulation.run_until(t_s + 1)


def test_the_limit_of_events_ends_runs_in_slices_and_forks_too() -> None:
    # Bursts of a second every ten seconds on average; this seed draws more of them.
    ends = ("server", "client", NO_CHOICE, NO_CHOICE, (("path",),))
    bursts = Flow("bursts", "onoff", *ends, rate_bps=10e6, mean_on_s=1.0, mean_off_s=9.0)
    lucky = scenario([link("path")], [bursts], duration_s=1000.0)
    whole = Simulation(lucky, seed=18)
    whole.run_until(1000)
    told = estimate(lucky).link_crossings
    assert whole.link_crossings > 1.1 * told
    simulation = Simulation(lucky, seed=18, limits=Limits(link_crossings=1.01 * told))
    fork = simulation.fork()
    for each in (simulation, fork):
        with pytest.raises(TooLargeError, match=r"made \d(\.\d)?e\+04 events .* at t = .* s of 1000 s, .*--max-events"):
            run_in_slices(each)
        assert 1.01 * told < each.link_crossings < 1.1 * told + 20_000


def test_hours_at_ten_gigabit_and_huge_buffers_are_refused_before_anything_is_built() -> None:
    began = time.process_time()
    for too_large, interval_s, message in (
        (one_flow(7200.0, rate_bps=1e10), 10.0, r"more than 2\^31 packets could be sent"),
        (one_flow(2000.0, rate_bps=1e10), 10.0, r"about 3\.3e\+09 events .* limit of 1e\+09"),
        (one_flow(2000.0, rate_bps=1e10, queue_pkts=10**8), 10.0, "GB of it are packets .* 'path/forward'"),
        (one_flow(1e5), 1e-5, "are traces"),
    ):
        with pytest.raises(SimulationError, match=message):
            Simulation(too_large, sample_interval_s=interval_s, limits=Limits(link_crossings=1e9))
    assert time.process_time() - began < 1


def test_a_lossy_path_behind_an_endless_queue_is_no_reason_to_refuse() -> None:
    # Losses keep its window small, which only the run itself can show.
    simulation = Simulation(one_flow(1200.0, rate_bps=1e9, queue_pkts=None, loss=0.001), sample_interval_s=10.0)
    assert simulation.run_until(5)


def test_the_defaults_let_a_day_of_a_hundred_megabit_pass_and_refuse_a_month_of_two_paths() -> None:
    # 86 400 s * 100 Mbit/s: 7.2 * 10^8 packets and as many ACKs, below 2 * 10^10 events
    Simulation(one_flow(86_400, rate_bps=1e8, queue_pkts=333), sample_interval_s=10.0)
    names = [f"path{i}" for i in range(20)]
    links = [link(name, rate_bps=1e8, queue_pkts=333) for name in names]
    flows = [tcp(name, name) for name in names]
    with pytest.raises(TooLargeError, match="--max-events"):
        Simulation(scenario(links, flows, duration_s=1e5), sample_interval_s=100.0)


def test_limits_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUBFLOW_MAX_MEMORY", "16GB")
    monkeypatch.setenv("SUBFLOW_MAX_EVENTS", "1e3")
    assert Limits.from_environment() == Limits(16e9, 1e3)
    with pytest.raises(TooLargeError):
        Simulation(one_flow())
    monkeypatch.setenv("SUBFLOW_MAX_MEMORY", "lots")
    with pytest.raises(ParamError, match='the limit of memory, "lots"'):
        Simulation(one_flow())
    monkeypatch.setenv("SUBFLOW_MAX_MEMORY", "0B")
    with pytest.raises(ParamError, match="greater than 0"):
        Limits.from_environment()


def test_what_cannot_be_simulated_cannot_be_estimated() -> None:
    with pytest.raises(SimulationError, match="sampl"):
        estimate(one_flow(), sample_interval_s=0)
