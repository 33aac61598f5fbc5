"""``subflow bench``: prints what was measured, for people and programs. The workloads have their own tests."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from tests.cli.conftest import Subflow

from subflow_sim import bench, bench_batch, bench_instructions


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the workloads that were asked for; they take no time."""
    names: list[str] = []

    def run_workload(name: str) -> SimpleNamespace:
        names.append(name)
        return SimpleNamespace(
            name=name, description="so it is", packets=1_500_000, cpu_s=0.5, packets_per_cpu_s=3_000_000.0
        )

    def run_batch() -> bench_batch.BatchResult:
        names.append("E")
        return bench_batch.BatchResult(1000, 2, 83_000_000, 10.0, 5.0, 8.3e6, 0.97)

    monkeypatch.setattr(bench, "run_workload", run_workload)
    monkeypatch.setattr(bench_batch, "run_batch", run_batch)
    return names


def test_all_workloads_of_the_simulator_by_default(subflow: Subflow, measured: list[str]) -> None:
    document = subflow("bench", "--json").document

    assert measured == [*bench.WORKLOADS, "E"]
    assert [entry["packets_per_cpu_s"] for entry in document["workloads"][:-1]] == [3e6] * len(bench.WORKLOADS)
    assert (document["workloads"][-1]["cores"], document["workloads"][-1]["scaling_efficiency"]) == (2, 0.97)


def test_the_batch_shows_how_it_scales(subflow: Subflow, measured: list[str]) -> None:
    assert "0.970" in subflow("bench", "E").out
    assert measured == ["E"]


def test_instructions_are_counted_on_request_and_where_valgrind_is(
    subflow: Subflow, measured: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench_instructions, "has_valgrind", lambda: True)
    monkeypatch.setattr(bench_instructions, "instructions_per_packet", lambda name: 1234.4)
    (entry,) = subflow("bench", "A", "--instructions", "--json").document["workloads"]
    assert entry["instructions_per_packet"] == 1234.4

    monkeypatch.setattr(bench_instructions, "has_valgrind", lambda: False)
    answer = subflow("bench", "A", "--instructions")
    assert answer.code == 2
    assert "valgrind is not installed" in answer.err


def test_what_recording_costs_is_measured_on_request(
    subflow: Subflow, measured: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "recording_cost", lambda name: bench.RecordingCost(name, 41_000, 0.5, 0.875, 1.75))
    (entry,) = subflow("bench", "A", "--decisions", "--json").document["workloads"]
    assert (entry["decisions"], entry["recording_ratio"]) == (41_000, 1.75)
    assert "1.75" in subflow("bench", "A", "--decisions").out
    assert "recording_ratio" not in subflow("bench", "A", "--json").document["workloads"][0]


def test_named_workloads_only(subflow: Subflow, measured: list[str]) -> None:
    name = next(iter(bench.WORKLOADS))
    answer = subflow("bench", name, name)

    assert measured == [name]
    assert "3 000 000" in answer.out
    assert "per CPU s" in answer.out


def test_unknown_workload_names_the_allowed_ones(subflow: Subflow, measured: list[str]) -> None:
    answer = subflow("bench", "dhrystone")

    assert answer.code == 2
    assert next(iter(bench.WORKLOADS)) in answer.err
    assert measured == []


def test_a_workload_is_really_measured(subflow: Subflow) -> None:
    name = next(iter(bench.WORKLOADS))
    (entry,) = subflow("bench", name, "--json").document["workloads"]

    assert entry["packets"] > 0
    assert entry["packets_per_cpu_s"] == pytest.approx(entry["packets"] / entry["cpu_s"])
