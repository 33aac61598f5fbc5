"""The workloads of the bench run and say what they did; how fast they are is never asserted."""

from __future__ import annotations

import pytest

from subflow_sim.bench import WORKLOADS, run_workload


def test_a_workload_reports_packets_per_cpu_second() -> None:
    result = run_workload("A", repetitions=1)
    # 100 s of 10 Mbit/s are 83 333 packets of 1500 bytes; the link is full but for the start and the first overshoot.
    assert 0.98 * 83_333 < result.packets <= 83_333
    assert result.packets_per_cpu_s == pytest.approx(result.packets / result.cpu_s)
    assert result.signature == run_workload("A", repetitions=1).signature


@pytest.mark.parametrize("name", WORKLOADS)
def test_every_workload_is_a_valid_scenario(name: str) -> None:
    assert WORKLOADS[name].scenario().flows
