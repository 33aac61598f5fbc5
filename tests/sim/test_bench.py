"""The workloads of the benchmark run and report their results; no test asserts a speed."""

from __future__ import annotations

import pytest
from tests.helpers.members import for_each

from subflow_sim import bench_instructions
from subflow_sim.bench import WORKLOADS, recording_cost, run_workload
from subflow_sim.bench_batch import run_batch
from subflow_sim.bench_instructions import instructions_per_crossing, instructions_per_packet


def test_a_workload_reports_packets_per_cpu_second() -> None:
    result = run_workload("A", repetitions=1)
    # 100 s of 10 Mbit/s are 83 333 packets of 1500 bytes; the link is full but for the start and the first overshoot.
    assert 0.98 * 83_333 < result.packets <= 83_333
    assert result.packets_per_cpu_s == pytest.approx(result.packets / result.cpu_s)
    assert result.signature == run_workload("A", repetitions=1).signature


def test_recording_is_compared_with_the_same_run_without() -> None:
    cost = recording_cost("A", repetitions=1, min_cpu_s=0)
    # A delayed ACK for every two of 83 333 packets, each of which grows the window, and a few more around losses
    assert 0.95 < cost.decisions / (83_333 / 2) < 1.1
    assert cost.ratio == pytest.approx(cost.recorded_cpu_s / cost.plain_cpu_s)


@for_each("name", WORKLOADS)
def test_every_workload_is_a_valid_scenario(name: str) -> None:
    assert WORKLOADS[name].scenario().flows


def test_a_batch_runs_every_copy_and_tells_how_it_scales() -> None:
    result = run_batch(4, cores=2, rounds=2)
    # Four copies of A without random draws: each delivers as many packets as A.
    assert result.packets == 4 * run_workload("A", repetitions=1).packets
    assert (result.copies, result.cores) == (4, 2)
    assert result.packets_per_cpu_s == pytest.approx(result.packets / result.cpu_s)
    assert result.scaling_efficiency > 0


def test_what_a_start_costs_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    # Startup takes 10^9 instructions and each packet or crossing 500, for any share
    monkeypatch.setattr(
        bench_instructions,
        "_count",
        lambda _, *words: (10**9 + 500 * round(words[-1] * 80_000), round(words[-1] * 80_000)),
    )
    assert instructions_per_packet("A") == 500
    assert instructions_per_crossing() == 500
