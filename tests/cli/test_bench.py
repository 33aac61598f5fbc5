"""``subflow bench``: prints what was measured, for people and programs. The workloads have their own tests."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from tests.cli.conftest import Subflow

from subflow_app.bench import canvas, many_flows, seek, training
from subflow_app.core.scenarios.scenario_doc import ScenarioDoc
from subflow_sim import bench, bench_batch, bench_instructions, bench_learning


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


def test_store_is_compared_with_plain_sqlite(subflow: Subflow, monkeypatch: pytest.MonkeyPatch) -> None:
    figures = {
        "workload": {"samples": 400_000, "columns": 20},
        "store": {"insert_ms": 9.0, "list_ms": 1.0},
        "reference": {"insert_ms": 4.5},
        "ratio": {"insert_ms": 2.0},
    }
    monkeypatch.setattr("subflow_store.bench.run_store_benchmark", lambda _look: figures)

    assert subflow("bench", "store", "--json").document == {"workloads": [], "store": figures}
    answer = subflow("bench", "store")
    assert "400 000 samples in 20 columns" in answer.out
    assert [line.split() for line in answer.out.splitlines() if "_ms" in line] == [
        ["insert_ms", "9.000", "4.500", "2.00"],
        ["list_ms", "1.000", "–", "–"],
    ]


def test_the_canvas_tells_what_a_frame_costs(subflow: Subflow, monkeypatch: pytest.MonkeyPatch) -> None:
    figures = (
        canvas.CanvasFigure("open", "open the file and draw it", 2500.0, is_frame=False),
        canvas.CanvasFigure("pan_all", "pan, everything in view", 20.0, is_frame=True),
    )
    monkeypatch.setattr(canvas, "measure_canvas", lambda: figures)

    document = subflow("bench", "canvas", "--json").document
    assert document["canvas"]["figures"]["pan_all"]["fps"] == 50
    out = subflow("bench", "canvas").out
    assert "400 nodes and 700 links" in out
    assert [line.split()[-2:] for line in out.splitlines() if "view" in line] == [["20.0", "50"]]


def test_the_window_tells_how_long_it_does_not_answer(subflow: Subflow, monkeypatch: pytest.MonkeyPatch) -> None:
    figures = (many_flows.ManyFlowsFigure("100x", 54.3, 64.4, turns=300),)
    monkeypatch.setattr(many_flows, "measure_many_flows", lambda: figures)

    (run,) = subflow("bench", "run-window", "--json").document["run-window"]["runs"]
    assert run == {"speed": "100x", "cpu_ms": 54.3, "wall_ms": 64.4, "turns": 300}
    out = subflow("bench", "run-window").out
    assert [line.split() for line in out.splitlines() if "100x" in line] == [["100x", "54", "64"]]


def test_jumps_in_time_are_measured_and_told(subflow: Subflow, monkeypatch: pytest.MonkeyPatch) -> None:
    figures = seek.measure_seek(duration_s=2.0, seeks=5)
    assert [figure.name for figure in figures] == ["fast", "t-10b", "heavy"]
    for figure in figures:
        assert figure.crossings > 0
        assert figure.states >= 1
        assert 0 <= figure.median_ms <= figure.p95_ms <= figure.worst_ms

    monkeypatch.setattr(seek, "measure_seek", lambda: figures)
    document = subflow("bench", "seek", "--json").document["seek"]
    assert (document["duration_s"], document["target_ms"], len(document["runs"])) == (200.0, 100.0, 3)
    out = subflow("bench", "seek").out
    assert "T-10b, LIA" in out


def test_the_mesh_of_the_canvas_is_a_scenario() -> None:
    doc = ScenarioDoc(canvas.mesh_text())
    assert doc.problems == ()
    assert (len(doc.data["nodes"]), len(doc.data["links"])) == (400, 700)


def test_a_workload_is_really_measured(subflow: Subflow) -> None:
    name = next(iter(bench.WORKLOADS))
    (entry,) = subflow("bench", name, "--json").document["workloads"]

    assert entry["packets"] > 0
    assert entry["packets_per_cpu_s"] == pytest.approx(entry["packets"] / entry["cpu_s"])


def test_learning_is_measured_beside_its_targets(subflow: Subflow, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def run_figure(name: str) -> bench_learning.LearningFigure:
        asked.append(name)
        return bench_learning.LearningFigure(name, "so it is", 7.5, "us", 15.0 if len(asked) == 1 else 5.0, True)

    monkeypatch.setattr(bench_learning, "run_figure", run_figure)
    monkeypatch.setattr(training, "measure", run_figure)
    on_card = bench_learning.LearningFigure("recipe:mine", "by its card", 2.0, "min", 4.0, is_limit=True)
    monkeypatch.setattr(training, "recipes_on_cards", lambda: [on_card])
    figures = subflow("bench", "--learning", "--json").document["learning"]
    assert asked == [*bench_learning.FIGURES, "pause", "checkpoint"]
    assert [figure["is_met"] for figure in figures] == [True, *[False] * (len(asked) - 1), True]
    assert "7.5 us" in subflow("bench", "policy_mlp", "--learning").out
    answer = subflow("bench", "A", "--learning")
    assert answer.code == 2
    assert "policy_lstm" in answer.err
    assert subflow("bench", "--learning", "--decisions").code == 2


def test_a_sweep_is_measured_with_what_a_run_costs_beyond_its_simulation(
    subflow: Subflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    from subflow_app.bench.sweep import SweepSpeed

    speed = SweepSpeed(runs=10, cores=2, bare_cpu_s=1.0, one_cpu_s=1.5, one_s=1.6, all_s=0.8)
    monkeypatch.setattr("subflow_app.bench.sweep.measure_sweep", lambda: speed)
    document = subflow("bench", "sweep", "--json").document["sweep"]
    assert (document["overhead_ms"], document["speed_up"]) == (50.0, 2.0)
    assert "A sweep of 10 runs on 2 cores" in subflow("bench", "sweep").out
