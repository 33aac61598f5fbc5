"""The analysis over runs: shares, distances, pooling, and their description in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest
from tests.helpers.members import for_each
from tests.helpers.present import present
from tests.helpers.table_traces import TableTraces

from subflow_app.features.fairness.core.analysis import (
    FairnessAnalysis,
    PoolingGain,
    analysis_document,
    distance,
    run_analysis,
    scenario_analysis,
    shared_index,
)
from subflow_app.features.fairness.core.analysis_view import meaning, share_table, window_text
from subflow_app.features.traces.core.traces import TraceMark
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.resources import find_scenario
from subflow_sim.scenario import Scenario, load_scenario

PAYLOAD = 1448 / 1500
FAIR = 10e6 / 3 * PAYLOAD


class MadeTraces(TableTraces):
    """A run of a scenario with given goodputs, sampled every 0.5 s."""

    def __init__(
        self, scenario: Scenario, goodputs: Mapping[str, Sequence[float]], marks: Sequence[TraceMark] = ()
    ) -> None:
        columns: dict[tuple[str, str, str], Sequence[float]] = {
            ("flow", name, "goodput_bps"): values for name, values in goodputs.items()
        }
        columns |= {("subflow", f"{name}/1", "cwnd_pkts"): values for name, values in goodputs.items()}
        super().__init__(columns, warmup_s=scenario.warmup_s, title=scenario.name, marks=marks)
        self.scenario: Scenario | None = scenario


def shipped(name: str, *overrides: str) -> Scenario:
    return load_scenario(find_scenario(name), overrides=overrides)


def pooled_run(*, mptcp: float, tcp: float, samples: int = 100) -> FairnessAnalysis:
    """T-10b with these goodputs in Mbit/s over the whole run."""
    scenario = shipped("t-10b", "warmup=10s")
    rates = {"mptcp": mptcp, "tcp1": tcp, "tcp2": tcp}
    return run_analysis(MadeTraces(scenario, {name: [rate * 1e6] * samples for name, rate in rates.items()}))


def test_a_run_at_the_ideal_is_at_distance_zero() -> None:
    analysis = pooled_run(mptcp=FAIR / 1e6, tcp=FAIR / 1e6)
    assert (analysis.from_s, analysis.to_s) == (10.0, 50.0)
    assert [each.of_max_min for each in analysis.connections] == pytest.approx([1.0] * 3)
    assert analysis.jain == pytest.approx(1.0)
    assert analysis.to_max_min == pytest.approx(0.0, abs=1e-6)
    assert analysis.to_proportional == pytest.approx(0.0, abs=1e-4)
    assert "close to the max-min fair split" in meaning(analysis)
    # One path: half of a link, 2.5 Mbit/s. Pooled: a third of both, 3.33. The connection achieved all of that.
    pooling = present(analysis.pooling)
    assert (pooling.gain, pooling.potential, pooling.efficiency) == pytest.approx((4 / 3, 4 / 3, 1.0))


def test_a_greedy_connection_is_named() -> None:
    """Uncoupled: 5 and twice 2.5. Distances: (1.67 + 2 x 0.83) / 10 = 1/3. Jain: 100 / (3 x 37.5) = 0.889."""
    analysis = pooled_run(mptcp=5 * PAYLOAD, tcp=2.5 * PAYLOAD)
    assert analysis.to_max_min == pytest.approx(1 / 3)
    assert analysis.jain == pytest.approx(100 / 112.5)
    assert analysis.jain_of_shares == pytest.approx(100 / 112.5)
    assert share_table(analysis).rows[0][4] == "150.00"
    assert meaning(analysis).startswith("mptcp takes 150 % of its fair share, while tcp1 has 75 % of its own.")
    assert present(analysis.pooling).efficiency == pytest.approx((5 - 2.5) / (10 / 3 - 2.5))


@for_each(
    ("mptcp", "tcp", "said"),
    [
        (0.5, 0.5, "50 % of the usable capacity is not used"),
        (0.2, 1.0, "mptcp has 20 % of its fair share, and tcp1 has 100 % of its own. 27 % of the usable capacity is"),
        # Above the fair share, although within the tolerance.
        (1.09, 0.6, "tcp1 has 60 % of its fair share, and mptcp has 109 % of its own. 24 % of the usable capacity is"),
        (1.12, 1.12, "Each connection has 112 % of its fair share."),
    ],
)
def test_waste_and_neglect_are_told_apart(mptcp: float, tcp: float, said: str) -> None:
    assert said in meaning(pooled_run(mptcp=mptcp * FAIR / 1e6, tcp=tcp * FAIR / 1e6))


def test_a_window_counts_what_was_sent_in_it() -> None:
    """2 s at 1 Mbit/s, then at 3: the window from 1.75 s to 2.75 s has a quarter of the first."""
    traces = MadeTraces(
        shipped("t-10b", "duration=4s", "warmup=0s"),
        {"mptcp": [1e6] * 4 + [3e6] * 4, "tcp1": [0.0] * 8, "tcp2": [0.0] * 8},
    )
    assert run_analysis(traces, 1.75, 2.75).connections[0].goodput_bps == pytest.approx(2.5e6)
    assert run_analysis(traces).to_s == 4.0
    assert window_text(run_analysis(traces)) == "0 s to 4.0 s, 3 connections"
    # A run in its warm-up is analysed from its start.
    traces.warmup_s = 10.0
    assert (run_analysis(traces).from_s, run_analysis(traces).to_s) == (0.0, 4.0)


def test_a_connection_that_is_done_leaves_its_share_to_the_others() -> None:
    """tcp1 ends at 25 s of 50: each gets a third until then, and the other two get a link each afterwards."""
    scenario = shipped("t-10b", "warmup=0s")
    half = [FAIR] * 50
    marks = [TraceMark(25.0, "tcp1", "completed", 0.0)]
    rates = {"mptcp": half + [5e6 * PAYLOAD] * 50, "tcp1": half + [0.0] * 50, "tcp2": half + [5e6 * PAYLOAD] * 50}
    analysis = run_analysis(MadeTraces(scenario, rates, marks))
    assert {each.name: each.goodput_bps for each in analysis.connections} == pytest.approx(
        {"mptcp": (FAIR + 5e6 * PAYLOAD) / 2, "tcp1": FAIR, "tcp2": (FAIR + 5e6 * PAYLOAD) / 2}
    )
    assert analysis.to_max_min == pytest.approx(0.0, abs=1e-6)
    later = run_analysis(MadeTraces(scenario, rates, marks), 30.0)
    assert {each.name for each in later.connections} == {"mptcp", "tcp2"}


def test_copies_that_arrive_count_from_when_they_did() -> None:
    scenario = shipped("drlcc-sc5")
    marks = [TraceMark(10.0, "download.1/1", "established", 0.0)]
    samples = [0.0] * 20 + [4e6] * 20
    analysis = run_analysis(MadeTraces(scenario, {"download.1": samples, "download.2": [0.0] * 40}, marks))
    assert {each.name: each.goodput_bps for each in analysis.connections} == pytest.approx({"download.1": 4e6})
    assert scenario_analysis(scenario).connections == ()
    assert any("arrive at random" in notice for notice in scenario_analysis(scenario).notices)


def test_what_is_refused_says_what_is_allowed() -> None:
    traces = MadeTraces(shipped("t-10b"), {"mptcp": [1e6] * 100})
    for window, said in (((30.0, 20.0), "30 s to 20 s: .* between 0 s and 50 s"), ((60.0,), "from 60 s to 50 s")):
        with pytest.raises(InputError, match=said):
            run_analysis(traces, *window)
    traces.scenario = None
    with pytest.raises(InputError, match="is not known: no fair split"):
        run_analysis(traces)


def test_document_and_table_have_all_connections() -> None:
    analysis = scenario_analysis(shipped("t-10a", "links.bottom.rate=unlimited", "links.bottom-in.rate=unlimited"))
    # The bottom path is limited only by its last link, of 1 Gbit/s.
    document = analysis_document(analysis)
    assert [each["name"] for each in document["connections"]] == ["mptcp", "tcp"]
    assert document["connections"][0]["goodput_bps"] is None
    assert {each["link"] for each in document["bottlenecks"]} == {"top/forward", "bottom-out/forward"}
    assert len(share_table(analysis).rows) == 2
    assert document["duality_gap"] < 1e-6


def test_indices_where_they_are_undefined() -> None:
    assert math.isnan(shared_index([1.0]))
    assert math.isnan(shared_index([0.0, 0.0]))
    assert shared_index([1.0, 0.0, math.nan]) == pytest.approx(0.5)
    assert math.isnan(distance([1.0], [math.inf]))
    assert math.isnan(PoolingGain(1.0, 5.0, 5.0).efficiency)
    assert math.isnan(PoolingGain(1.0, 0.0, 0.0).gain)
