"""The Python interface of the core: columns, marks, summary, snapshots, threads, memory."""

from __future__ import annotations

import gc
import math
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.helpers.fake_simulation import (
    FLOW_COLUMNS,
    LINK_COLUMNS,
    MULTIPATH_COLUMNS,
    SHARE_COLUMNS,
    SUBFLOW_COLUMNS,
)
from tests.helpers.networks import column, link, mptcp, run, scenario, tcp

import subflow_sim
from subflow_sim import Simulation, SimulationError, _core, jain_index
from subflow_sim.scenario_model import Event
from subflow_sim.whole_scenario import Scenario


def two_paths(duration_s: float = 20.0, loss: float = 0.01) -> Scenario:
    links = [link("wifi", loss=loss), link("lte", delay_s=0.02)]
    return scenario(links, [mptcp("download", ["wifi", "lte"])], duration_s=duration_s, warmup_s=2, profile="linux")


def test_columns_are_named_by_scope_owner_and_unit() -> None:
    simulation = Simulation(two_paths())
    by_scope: dict[str, list[str]] = {}
    for c in simulation.columns:
        by_scope.setdefault(c.scope, []).append(f"{c.owner} {c.name} {c.unit}")

    def told(owners: Sequence[str], *columns: tuple[str, str]) -> list[str]:
        return [f"{owner} {name} {unit}" for owner in owners for name, unit in columns]

    assert by_scope["flow"] == told(["download"], *FLOW_COLUMNS, *MULTIPATH_COLUMNS)
    assert by_scope["subflow"] == told(["download/1", "download/2"], *SUBFLOW_COLUMNS, *SHARE_COLUMNS)
    ends = [f"{link}/{direction}" for link in ("wifi", "lte") for direction in ("forward", "reverse")]
    assert by_scope["link"] == told(ends, *LINK_COLUMNS)


def test_samples_are_published_as_time_passes_and_never_change() -> None:
    simulation = Simulation(two_paths(), sample_interval_s=0.1)
    assert simulation.sample_count == 0
    simulation.run_until(1.05)
    assert simulation.sample_count == 10
    early = simulation.values(0)
    assert early.dtype == np.float32
    assert not early.flags.writeable
    kept = early.copy()
    simulation.run_until(20)
    assert simulation.finished
    assert simulation.sample_count == 200
    assert np.array_equal(early, kept)
    assert np.array_equal(simulation.values(0)[:10], kept)
    assert np.array_equal(simulation.values(0, 150), simulation.values(0)[150:])
    assert simulation.values(0, 300).size == 0


def test_goodput_samples_add_up_to_the_summary() -> None:
    simulation = run(two_paths(), sample_interval_s=0.1)
    summary = simulation.summary()["flows"][0]
    after_warmup = column(simulation, "goodput_bps", "download")[20:]
    assert after_warmup.size == 180
    assert float(after_warmup.mean(dtype=np.float64)) == pytest.approx(summary["goodput_bps"], rel=1e-6)
    subflows = sum(subflow["goodput_bps"] for subflow in summary["subflows"])
    assert subflows == pytest.approx(summary["goodput_bps"], rel=1e-12)


def test_undefined_samples_are_nan() -> None:
    simulation = run(two_paths(), sample_interval_s=0.01)
    # The second subflow starts when the first receives an acknowledgement of data, and has its first sample after its
    # handshake.
    srtt = column(simulation, "srtt_s", "download/2")
    assert math.isnan(srtt[3])
    assert not math.isnan(srtt[40])
    assert np.isnan(column(simulation, "pacing_rate_bps", "download/1")).all()


def test_marks_tell_what_happened_when() -> None:
    events = (
        Event(5.0, link="wifi", direction="forward", up=False),
        Event(8.0, link="wifi", direction="forward", up=True),
    )
    links = [link("wifi"), link("lte")]
    simulation = run(scenario(links, [mptcp("d", ["wifi", "lte"])], duration_s=20, events=events))
    marks = simulation.take_marks()
    assert [m.time_s for m in marks] == sorted(m.time_s for m in marks)
    by_kind = {kind: [m for m in marks if m.kind == kind] for kind in {m.kind for m in marks}}
    assert [(m.owner, m.time_s) for m in by_kind["link_down"]] == [("wifi/forward", 5.0)]
    assert [(m.owner, m.time_s) for m in by_kind["link_up"]] == [("wifi/forward", 8.0)]
    assert [m.owner for m in by_kind["established"]] == ["d/1", "d/2"]
    assert {m.owner for m in by_kind["rto"]} == {"d/1"}
    assert simulation.take_marks() == []


def test_summary_has_every_key_of_the_contract() -> None:
    summary = run(two_paths()).summary()
    flow = summary["flows"][0]
    keys = {
        "scenario seed duration_s warmup_s signature packets flows links fairness": summary,
        "name kind controller goodput_bps completion_s mean_rtt_s p95_rtt_s loss_ratio retransmits subflows": flow,
        "path throughput_bps goodput_bps mean_cwnd_pkts mean_rtt_s loss_ratio": flow["subflows"][0],
        "name direction utilisation drops_queue drops_random mean_queue_pkts max_queue_pkts": summary["links"][0],
    }
    assert [set(names.split()) - part.keys() for names, part in keys.items()] == [set()] * 4
    assert flow["completion_s"] is None
    assert flow["mean_rtt_s"] < flow["p95_rtt_s"]
    assert summary["fairness"]["jain"] == 1.0


def test_the_95th_percentile_of_a_constant_rtt_is_that_rtt() -> None:
    # One packet at a time over 10 Mbit/s and 2 * 50 ms: RTT = 101.2 ms; the histogram has a resolution of 1/32 of it.
    path = link("path", queue_pkts=None)
    done = run(scenario([path], [tcp("t", "path", size_bytes=1448)], duration_s=1))
    assert done.summary()["flows"][0]["mean_rtt_s"] == pytest.approx(0.1012, abs=1e-9)
    assert done.summary()["flows"][0]["p95_rtt_s"] == pytest.approx(0.1012, rel=1 / 32)


def test_samples_can_be_read_while_another_thread_simulates() -> None:
    simulation = Simulation(two_paths(duration_s=400), sample_interval_s=0.05)
    thread = threading.Thread(target=simulation.run_until, args=(400.0,))
    thread.start()
    seen = 0
    while thread.is_alive():
        values = column(simulation, "cwnd_pkts")
        assert values.size >= seen
        # Published samples are complete: a window is at least one packet after the handshake of 100 ms.
        assert (values[2:] >= 1).all()
        seen = values.size
    thread.join()
    assert simulation.sample_count == 8000


def test_samples_outlive_their_simulation() -> None:
    simulation = Simulation(two_paths())
    simulation.run_until(20)
    values = simulation.values(2)
    expected = values.copy()
    del simulation
    gc.collect()
    assert np.array_equal(values, expected)


def test_what_the_core_refuses_is_a_simulation_error() -> None:
    endless = scenario([link("path", rate_bps=math.inf)], [tcp("t", "path")], duration_s=1)
    with pytest.raises(SimulationError, match="finite rate"):
        Simulation(endless)
    with pytest.raises(SimulationError, match="sampl"):
        Simulation(two_paths(), sample_interval_s=0)


def test_jain_index_of_equal_and_unequal_rates() -> None:
    assert jain_index([3.0, 3.0, 3.0]) == pytest.approx(1.0)
    assert jain_index([1.0, 0.0, 0.0, 0.0]) == pytest.approx(0.25)
    with pytest.raises(ValueError, match="undefined"):
        jain_index([0.0, 0.0])


def test_the_stub_names_everything_the_core_has() -> None:
    # The build generates _core.pyi and dev.py copies it here; a forgotten copy shows as a missing name.
    stub = Path(subflow_sim.__file__).with_name("_core.pyi").read_text()
    for name, value in vars(_core).items():
        if name.startswith("_"):
            continue
        assert any(form in stub for form in (f"class {name}", f"def {name}", f"\n{name}: ")), name
        for member in vars(value) if isinstance(value, type) else ():
            if not member.startswith("_") and member.isidentifier():
                assert f"def {member}" in stub or f"    {member} = " in stub, f"{name}.{member}"
