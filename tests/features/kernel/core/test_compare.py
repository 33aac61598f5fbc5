"""Packing runs into batches, repeating late runs, and the shape of the results, without using the kernel."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.features.kernel.core.test_plan import SCENARIO, plan_of
from tests.helpers.members import for_each

from subflow_app.features.kernel.core import compare
from subflow_app.features.kernel.core.compare import Case, batches, difference, run_comparisons
from subflow_app.features.kernel.core.comparison_text import comparison_line, comparison_table, grid_table, grid_verdict
from subflow_app.features.kernel.core.network_plan import NetworkPlan
from subflow_app.features.kernel.core.probe import machine_from
from subflow_app.features.kernel.core.recording import FLOW_COLUMNS, LINK_COLUMNS, SUBFLOW_COLUMNS
from subflow_app.foundation.errors import InputError, KernelError
from subflow_app.foundation.json_document import json_text
from subflow_sim.errors import SimulationError
from subflow_sim.scenario import parse_scenario
from subflow_sim.simulation import Simulation

MACHINE = machine_from({"release": "6.18.1", "congestion_controls": ["reno", "cubic"], "missing": {}})


def fake_answer(job: dict[str, Any], *, p99_s: float = 0.0005, goodput_bps: float = 5e6) -> dict[str, Any]:
    """The answer of a worker: all subflows alike, ten samples a second."""
    networks = []
    for document in job["networks"]:
        plan = NetworkPlan.from_json(document)
        count = round(plan.duration_s / plan.sample_interval_s)
        link_values = {"utilisation": 0.5, "drops_queue": 1, "drops_random": 2, "drops_down": 0}
        link_values |= {"mean_queue_pkts": 3.0, "max_queue_pkts": 4}
        subflow: dict[str, Any] = {"is_established": True, "throughput_bps": goodput_bps, "goodput_bps": goodput_bps}
        subflow |= {"mean_cwnd_pkts": 20.0, "mean_rtt_s": 0.05, "rtt_weight": 100, "sent_pkts": 1000, "retransmits": 10}
        subflow |= {"timeouts": 1, "rwnd_limited_s": 0.0, "sndbuf_limited_s": 0.0}
        subflow |= {"rows": [[1.0] * len(SUBFLOW_COLUMNS)] * count}
        networks.append(
            {
                "links": [{"name": link.name} | link_values for link in plan.links],
                "samples": [[0.0] * len(LINK_COLUMNS) * len(plan.links)] * count,
                "paths": [[[1000, 20] for _ in flow.paths] for flow in plan.flows],
                "flows": [
                    {
                        "name": flow.name,
                        "goodput_bps": goodput_bps * len(flow.paths),
                        "completion_s": None,
                        "rows": [[1.0] * len(FLOW_COLUMNS)] * count,
                        "subflows": [subflow for _ in flow.paths],
                    }
                    for flow in plan.flows
                ],
            }
        )
    emulator = {"overruns": 0, "cpu_s": 1.0, "packets": 2000, "unknown_packets": 0, "priority": "normal"}
    emulator |= {"lateness": {"p50_s": 0.0001, "p99_s": p99_s, "max_s": 0.004}}
    return {"emulator": emulator, "networks": networks, "release": "6.18.1"}


class FakeWorker:
    """Answers jobs, each with a given lateness."""

    def __init__(self, *p99_s: float) -> None:
        self.jobs: list[dict[str, Any]] = []
        self._p99_s = list(p99_s)

    def __call__(self, job: dict[str, Any], **_: object) -> dict[str, Any]:
        self.jobs.append(job)
        return fake_answer(job, p99_s=self._p99_s.pop(0) if self._p99_s else 0.0005)


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> FakeWorker:
    fake = FakeWorker()
    monkeypatch.setattr(compare, "ask_worker", fake)
    return fake


def a_case() -> Case:
    return Case.of(parse_scenario(SCENARIO), seed=7, socket_buffer_bytes=1 << 20)


def test_as_many_networks_run_side_by_side_as_the_emulator_keeps_time_for() -> None:
    # The plan carries 14 Mbit/s, 3 connections: seven copies make 98 Mbit/s.
    packed = batches([plan_of("links.core.loss=0")], repetitions=16)
    assert [len(batch.members) for batch in packed] == [14, 2]
    assert [repetition for batch in packed for _, repetition in batch.members] == list(range(9))
    # Networks of different duration run separately.
    plan = plan_of()
    packed = batches([plan, replace(plan, duration_s=20.0)], repetitions=2)
    assert [batch.duration_s for batch in packed] == [20.0, 10.0]
    assert [batch.members for batch in packed] == [[(1, 0), (1, 1)], [(0, 0), (0, 1)]]


@for_each(("p99_s", "counted_s", "is_late"), [((0.009, 0.001), 0.001, False), ((0.009, 0.005, 0.007), 0.005, True)])
def test_a_late_run_is_repeated_and_the_least_late_counts(
    monkeypatch: pytest.MonkeyPatch, p99_s: tuple[float, ...], counted_s: float, *, is_late: bool
) -> None:
    fake = FakeWorker(*p99_s)
    monkeypatch.setattr(compare, "ask_worker", fake)
    (comparison,) = run_comparisons([a_case()], MACHINE, seeds=1, repetitions=1)
    document = comparison.document()
    assert (len(fake.jobs), document["lateness"]["p99_s"], document["is_late"]) == (len(p99_s), counted_s, is_late)
    assert ("TOO LATE" in comparison_line(document, "6.18.1")) is is_late
    assert ("late" in grid_table([document]).rows[0][-1].split(", ")) is is_late


def test_refusals_are_told_before_the_kernel_runs(worker: FakeWorker, monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = machine_from({"release": "5.4", "congestion_controls": ["reno"], "missing": {"mptcp": "not supported"}})
    with pytest.raises(KernelError, match="no MPTCP"):
        list(run_comparisons([a_case()], lacking, seeds=1, repetitions=1))

    def refuse(*_: object, **__: object) -> None:
        raise SimulationError("would need 3 TB of memory")

    monkeypatch.setattr(compare, "Simulation", refuse)
    with pytest.raises(InputError, match="would need 3 TB of memory"):
        list(run_comparisons([a_case()], MACHINE, seeds=1, repetitions=1))
    assert worker.jobs == []


def test_the_document_has_both_sides_of_each_figure(worker: FakeWorker) -> None:
    (comparison,) = run_comparisons([a_case()], MACHINE, seeds=2, repetitions=3)
    document = comparison.document()
    assert json_text(document)
    assert [network["seed"] for network in worker.jobs[0]["networks"]] == [7, 8, 9], "one of each repetition"
    assert (document["seeds"], document["repetitions"]) == ([7, 8], 3)
    assert [flow["name"] for flow in document["flows"]] == ["bulk", "other.1", "other.2"]
    bulk = document["flows"][0]
    assert bulk["goodput_bps"]["kernel"] == {"mean": 10e6, "min": 10e6, "max": 10e6}
    simulated = bulk["goodput_bps"]["simulated"]
    assert simulated["min"] <= simulated["mean"] <= simulated["max"]
    assert bulk["goodput_bps"]["difference"] == pytest.approx(simulated["mean"] / 10e6 - 1)
    assert [subflow["path"] for subflow in bulk["subflows"]] == [["core", "access"], ["lte"]]
    assert bulk["subflows"][0]["mean_cwnd_pkts"]["kernel"]["mean"] == 20.0
    assert bulk["loss_ratio"]["kernel"]["mean"] == pytest.approx(0.02)
    assert bulk["retransmits"]["kernel"]["mean"] == 20
    assert difference(11.0, 10.0) == pytest.approx(0.1)
    assert (difference(1.0, 0.0), difference(None, 1.0)) == (None, None)
    # The table has a row for each flow and subflow.
    table = comparison_table(document)
    assert [row[0] for row in table.rows] == ["bulk", "  · core→access", "  · lte", "other.1", "other.2"]
    assert all(len(row) == len(table.columns) for row in table.rows)
    kernel_column = next(i for i, column in enumerate(table.columns) if column.unit == "kernel")
    assert table.rows[0][kernel_column] == "10.000"


def test_the_verdict_counts_what_is_within_the_target() -> None:
    def case(name: str, **figures: tuple[float, float]) -> dict[str, Any]:
        keys = ("goodput_bps", "completion_s", "mean_rtt_s", "retransmits")
        found = {key: figures.get(key, (None, None)) for key in keys}
        flow = {key: {"simulated": {"mean": ours}, "kernel": {"mean": theirs}} for key, (ours, theirs) in found.items()}
        return {"scenario": name, "flows": [flow]}

    cases = [
        case("good", goodput_bps=(10.9, 10), mean_rtt_s=(0.05, 0.05), retransmits=(125, 100)),
        case("bad", goodput_bps=(7.5, 10), mean_rtt_s=(0.03, 0.04), retransmits=(100, 260)),
        case("undefined", goodput_bps=(1, 0), retransmits=(9, 0)),
    ]
    verdict = "1 of 2 within 10 % of the kernel's goodput; furthest off by 25.0 %: bad"
    others = (
        "1 of 2 within 10 % of the kernel's RTT; furthest off by 25.0 %: bad\n"
        "2 of 3 within a factor of 1.3 of the kernel's retransmissions; furthest off by a factor of 2.6: bad"
    )
    assert grid_verdict(cases) == f"{verdict}\n{others}"
    # The goodput of a transfer over the run is its size divided by the duration of the run.
    assert grid_verdict([*cases, case("10kB", goodput_bps=(5, 10), completion_s=(1.3, 1))]) == (
        f"{verdict}\n0 of 1 within 10 % of the kernel's completion time; furthest off by 30.0 %: 10kB\n{others}"
    )
    assert grid_verdict([case("none", retransmits=(10, 0))]).endswith(
        "off by an infinite factor (zero on one side): none"
    )
    assert grid_verdict([]) == "no case has a goodput to compare"


def test_the_grid_shows_what_the_links_dropped_and_what_transfers_took(worker: FakeWorker) -> None:
    (comparison,) = run_comparisons([a_case()], MACHINE, seeds=1, repetitions=2)
    document = comparison.document()
    # Each of the six link directions of the fake worker drops 1 packet in the queue and 2 at random.
    assert document["drops"]["kernel"] == {"mean": 18, "min": 18, "max": 18}
    table = grid_table([document])
    heads = [column.title for column in table.columns]
    assert table.rows[0][heads.index("Drops") + 1] == "18"
    transfer = {"simulated": {"mean": 1.204}, "kernel": {"mean": 1.205}, "difference": 1.204 / 1.205 - 1}
    document["flows"][0]["completion_s"] = transfer
    assert grid_table([document]).rows[0][heads.index("Completion") :][:3] == ("1.204", "1.205", "−0.1")


def test_a_kernel_run_has_the_face_of_a_simulation(worker: FakeWorker) -> None:
    (comparison,) = run_comparisons([a_case()], MACHINE, seeds=1, repetitions=1)
    recording = comparison.kernel[0].recording
    assert recording.finished
    # 3 flows with one column, 4 subflows with nine, 6 link directions with three; 10 s at ten samples a second.
    assert len(recording.columns) == 3 * 1 + 4 * 9 + 6 * 3
    assert (recording.sample_count, recording.values(0).shape) == (100, (100,))
    names = {(column.scope, column.name) for column in recording.columns}
    ours = {(column.scope, column.name) for column in Simulation(parse_scenario(SCENARIO)).columns}
    assert names < ours
    summary = recording.summary()
    assert summary["flows"][0]["mean_rtt_s"] == pytest.approx(0.05)
    assert summary["kernel"]["release"] == "6.18.1"
    assert recording.packets == 4 * 980


def test_a_kernel_run_measures_by_the_formulas_of_the_simulator(monkeypatch: pytest.MonkeyPatch) -> None:
    case = a_case()
    flow, *others = (
        replace(each, size_bytes=size) for each, size in zip(case.plan.flows, (1_000_000, None, None), strict=True)
    )
    case = replace(case, plan=replace(case.plan, flows=(flow, *others), warmup_s=2.0))

    def answer(job: dict[str, Any], **_: object) -> dict[str, Any]:
        made = fake_answer(job)
        made["networks"][0]["flows"][0]["completion_s"] = 4.0
        # Losses of the warm-up count among the packets of the run, but not in loss ratios.
        made["networks"][0]["warmup_paths"] = [[[500, 400] for _ in each.paths] for each in case.plan.flows]
        return made

    monkeypatch.setattr(compare, "ask_worker", answer)
    (comparison,) = run_comparisons([case], MACHINE, seeds=1, repetitions=1)
    summary = comparison.kernel[0].recording.summary()
    bulk, other = summary["flows"][:2]
    assert bulk["loss_ratio"] == bulk["packets_lost"] / bulk["packets_sent"] == 40 / 2000
    assert (bulk["size_bytes"], other["size_bytes"]) == (1_000_000, None)
    assert bulk["active_s"] == pytest.approx(flow.start_s + 4.0 - 2.0)
    assert bulk["active_goodput_bps"] == pytest.approx(bulk["goodput_bps"] * 8.0 / bulk["active_s"])
    rates = [each["active_goodput_bps"] for each in summary["flows"]]
    assert summary["fairness"]["jain"] == pytest.approx(sum(rates) ** 2 / (len(rates) * sum(x * x for x in rates)))
    assert comparison.kernel[0].recording.packets == 4 * 980 + 4 * 100
    assert comparison_table(comparison.document()).columns[2].title == "Goodput while active / Goodput"
