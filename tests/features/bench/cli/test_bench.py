"""The command ``subflow bench`` prints its measurements as text and JSON. The workloads have their own tests."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.helpers.command_line import Subflow
from tests.helpers.members import for_each

from subflow_sim import bench, bench_batch, bench_instructions, bench_scale
from subflow_sim.build import build_text


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the requested workloads, whose measurement is replaced by an immediate result."""
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
    assert document["build"] == build_text()
    assert [entry["packets_per_cpu_s"] for entry in document["workloads"][:-1]] == [3e6] * len(bench.WORKLOADS)
    assert (document["workloads"][-1]["cores"], document["workloads"][-1]["scaling_efficiency"]) == (2, 0.97)


def test_instructions_are_counted_by_valgrind(
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


def test_recording_is_measured_on_request(
    subflow: Subflow, measured: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "recording_cost", lambda name: bench.RecordingCost(name, 41_000, 0.5, 0.875, 1.75))
    (entry,) = subflow("bench", "A", "--decisions", "--json").document["workloads"]
    assert (entry["decisions"], entry["recording_ratio"]) == (41_000, 1.75)
    assert "1.75" in subflow("bench", "A", "--decisions").out
    assert "recording_ratio" not in subflow("bench", "A", "--json").document["workloads"][0]


@pytest.fixture
def grown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replaces the measurements of scale by immediate results."""

    def point(size: float, _min_cpu_s: float) -> bench_scale.ScalePoint:
        return bench_scale.ScalePoint(size, 40.0 + size, 7000.0, 20_480.0)

    small = {name: replace(series, measure=point) for name, series in bench_scale.SERIES.items()}
    monkeypatch.setattr(bench_scale, "SERIES", small)


def test_what_grows_is_a_table_a_document_and_a_figure(subflow: Subflow, grown: None, tmp_path: Path) -> None:
    figure = tmp_path / "scale.svg"
    document = subflow("bench", "--scale", "--json", "--figure", str(figure)).document
    flows = document["scale"][0]
    assert document["build"] == build_text()
    assert [series["name"] for series in document["scale"]] == list(bench_scale.SERIES)
    assert (flows["name"], flows["size_unit"], flows["unit"]) == ("flows", "flows", "ns per packet")
    assert flows["points"][1] == {"size": 10, "value": 50.0, "fresh_bytes": 7000.0, "running_bytes": 20_480.0}
    drawn = figure.read_text(encoding="utf-8")
    assert all(text in drawn for text in ("Flows and subflows", "Environments", "2-packets", "10 000"))

    told = subflow("bench", "--scale").out
    assert "10 000 flows" in told
    assert "20.0" in told
    assert f"build: {build_text()}" in told


def test_the_instructions_of_the_mesh_are_counted_on_request(
    subflow: Subflow, grown: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench_instructions, "has_valgrind", lambda: True)
    monkeypatch.setattr(bench_instructions, "instructions_per_crossing", lambda: 481.6)
    series = {one["name"]: one for one in subflow("bench", "--scale", "--instructions", "--json").document["scale"]}
    assert series["mesh"]["points"] == [
        {"size": 400, "value": 440.0, "fresh_bytes": 7000.0, "running_bytes": 20_480.0}
        | {"instructions_per_crossing": 481.6}
    ]
    assert "instructions_per_crossing" not in series["line"]["points"][0]
    assert "482" in subflow("bench", "--scale", "--instructions").out


@for_each(
    ("words", "told"),
    [
        (["--figure", "scale.svg"], "--figure draws what --scale measures"),
        (["dhrystone"], next(iter(bench.WORKLOADS))),
        (["A", "--scale"], "--scale measures networks of its own"),
        (["--scale", "--decisions"], "--scale measures networks of its own"),
        (["--scale", "--figure", "scale.doc"], ".svg, .pdf or .png"),
    ],
)
def test_what_cannot_be_measured_is_refused(subflow: Subflow, measured: list[str], words: list[str], told: str) -> None:
    answer = subflow("bench", *words)
    assert answer.code == 2
    assert told in answer.err
    assert "measuring" not in answer.err
    assert measured == []


def test_named_workloads_only(subflow: Subflow, measured: list[str]) -> None:
    name = next(iter(bench.WORKLOADS))
    answer = subflow("bench", name, name)

    assert measured == [name]
    assert "3 000 000" in answer.out
    assert "per CPU s" in answer.out
    assert "0.970" in subflow("bench", "E").out, "the batch shows how it scales"


def test_a_workload_is_really_measured(subflow: Subflow) -> None:
    name = next(iter(bench.WORKLOADS))
    (entry,) = subflow("bench", name, "--json").document["workloads"]

    assert entry["packets"] > 0
    assert entry["packets_per_cpu_s"] == pytest.approx(entry["packets"] / entry["cpu_s"])
