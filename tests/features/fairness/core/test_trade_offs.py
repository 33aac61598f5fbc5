"""Points of runs, their Pareto front, and friendliness."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.features.fairness.core.test_analysis import FAIR, MadeTraces, shipped
from tests.helpers.table_traces import TableTraces

from subflow_app.features.fairness.core import trade_offs
from subflow_app.features.fairness.core.trade_offs import TradeOffKind, mean_delay_s, short_titles, trade_off_points
from subflow_app.features.traces.core.traces import TraceMark, Traces
from subflow_app.foundation.errors import ExportError
from subflow_app.vocabulary.means import pareto_front
from subflow_store.values import RunRow


class RunOf(MadeTraces):
    """T-10b with goodputs in Mbit/s, RTTs, and two subflows of the mptcp connection."""

    def __init__(
        self, title: str, mptcp: float, tcp: float, rtt_s: float = 0.15, condition: str = "", **options: Any
    ) -> None:
        rates = {"mptcp": [mptcp * 1e6] * 60, "tcp1": [tcp * 1e6] * 60, "tcp2": [tcp * 1e6] * 60}
        super().__init__(shipped("t-10b", "warmup=10s"), rates, **options)
        for name, rate in (("mptcp/1", mptcp / 2), ("mptcp/2", mptcp / 2), ("tcp1/1", tcp), ("tcp2/1", tcp)):
            self.add_column("subflow", name, "srtt_s", [9.0] * 20 + [rtt_s] * 40)
            self.add_column("subflow", name, "throughput_bps", [rate * 1e6] * 60)
        self.title = title
        self.condition = condition or title


def test_figures_of_a_run_count_what_comes_after_the_warm_up() -> None:
    run = RunOf("LIA", 3.0, 3.0, rtt_s=0.2)
    assert trade_offs.total_goodput_bps(run) == pytest.approx(9e6)
    assert trade_offs.multipath_goodput_bps(run) == pytest.approx(3e6)
    assert mean_delay_s(run) == pytest.approx(0.2)
    run.row = cast("RunRow", SimpleNamespace(mean_rtt_s=0.0604))
    assert mean_delay_s(run) == 0.0604, "the mean RTT of the run, where it has one"


def test_delay_counts_packets_of_a_flow_and_every_flow_alike() -> None:
    """Twice as many packets at 100 ms as at 400 ms average 200 ms in one flow; another flow has 300 ms."""
    columns: Mapping[tuple[str, str, str], Sequence[float]] = {
        ("subflow", "a/1", "srtt_s"): [0.1] * 4,
        ("subflow", "a/1", "throughput_bps"): [2e6] * 4,
        ("subflow", "a/2", "srtt_s"): [0.4] * 4,
        ("subflow", "a/2", "throughput_bps"): [1e6] * 4,
        ("subflow", "b/1", "srtt_s"): [0.3] * 4,
        ("subflow", "b/1", "throughput_bps"): [9e6] * 4,
    }
    assert mean_delay_s(TableTraces(columns)) == pytest.approx(0.25)
    assert math.isnan(mean_delay_s(TableTraces({("flow", "a", "goodput_bps"): [1.0]})))


def test_transfers_are_weighed_by_their_time() -> None:
    run = RunOf("LIA", 3.0, 3.0)
    assert math.isnan(trade_offs.mean_completion_s(run))
    assert trade_offs.default_kind([run]) == TradeOffKind.DELAY
    took = {"mptcp": 4.0, "tcp1": 2.0, "tcp2": 9.0}
    marks = [TraceMark(1.0 + value, owner, "completed", value) for owner, value in took.items()]
    run = RunOf("LIA", 3.0, 3.0, marks=marks)
    assert trade_offs.mean_completion_s(run) == pytest.approx(5.0)
    run.scenario = shipped("t-10b", *(f"flows.{name}.size=5MB" for name in took))
    assert trade_offs.default_kind([run]) == TradeOffKind.TRANSFER
    (point,) = trade_off_points([run], TradeOffKind.TRANSFER)
    document = trade_offs.points_document([point], TradeOffKind.TRANSFER, [7])
    assert document["points"][0]["mean_completion_s"]["mean"] == pytest.approx(5.0)


def test_friendliness_is_what_rivals_have_of_their_fair_share() -> None:
    fair = FAIR / 1e6
    assert trade_offs.friendliness(RunOf("fair", fair, fair)) == pytest.approx(1.0)
    assert trade_offs.friendliness(RunOf("greedy", 2 * fair, fair / 2)) == pytest.approx(0.5)
    # Friendliness needs both single-path and multipath connections.
    alone = MadeTraces(shipped("t-10b"), {"tcp1": [1e6] * 100})
    assert math.isnan(trade_offs.friendliness(alone))
    assert math.isnan(trade_offs.multipath_goodput_bps(alone))


def test_runs_of_one_experiment_are_one_point_with_its_interval() -> None:
    """Three seeds with 9, 12 and 15 Mbit/s: 12 +- 4.303 x 3 / sqrt(3) = 7.45 (Student's t with 2 degrees)."""
    runs = [RunOf("A", rate, rate, condition="a") for rate in (3.0, 4.0, 5.0)] + [RunOf("B", 1.0, 1.0)]
    first, second = trade_off_points(runs, TradeOffKind.DELAY)
    assert (first.runs, second.runs) == ((0, 1, 2), (3,))
    assert (first.y.mean, first.y.ci95) == pytest.approx((12e6, 7.452e6), rel=1e-3)
    assert math.isnan(second.y.ci95)
    assert (first.is_best, second.is_best) == (True, False)


def test_the_front_has_what_nothing_else_beats() -> None:
    assert pareto_front([(1, 5), (2, 4), (2, 3), (3, 1), (0, 5), (3, 1)]) == [True, True, False, True, False, True]
    assert pareto_front([]) == []
    runs = [RunOf("fast", 4.0, 3.0, 0.3), RunOf("quick", 2.0, 2.0, 0.1), RunOf("neither", 2.0, 2.0, 0.2)]
    assert [point.is_best for point in trade_off_points(runs, TradeOffKind.DELAY)] == [True, True, False]
    # The greedy run has more goodput, the others are friendlier; mild and meek are equally friendly, and mild has more.
    runs = [RunOf("greedy", 5.0, 2.0), RunOf("mild", 3.0, 3.0), RunOf("meek", 2.0, 3.0)]
    assert [point.is_best for point in trade_off_points(runs, TradeOffKind.FRIENDLINESS)] == [True, True, False]


def test_runs_without_the_figures_are_left_out() -> None:
    runs = [MadeTraces(shipped("t-10b"), {"tcp1": [1e6] * 100}), RunOf("A", 3.0, 3.0)]
    (point,) = trade_off_points(runs, TradeOffKind.FRIENDLINESS)
    assert point.runs == (1,)
    with pytest.raises(InterruptedError):
        trade_off_points(runs, TradeOffKind.DELAY, lambda: True)


def test_points_as_documents(tmp_path: Path) -> None:
    points = trade_off_points([RunOf("A", 3.0, 3.0, 0.25)], TradeOffKind.DELAY)
    document = trade_offs.points_document(points, TradeOffKind.DELAY, [17])
    assert document["points"][0]["run_ids"] == [17]
    assert document["points"][0]["delay_s"]["mean"] == pytest.approx(0.25)
    trade_offs.write_points(points, TradeOffKind.DELAY, tmp_path / "points.csv")
    with (tmp_path / "points.csv").open(encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert (row["title"], row["goodput_bps_ci95"]) == ("A", "")
    assert float(row["goodput_bps"]) == pytest.approx(9e6)
    with pytest.raises(ExportError, match="cannot be written"):
        trade_offs.write_points(points, TradeOffKind.DELAY, tmp_path)


def test_only_runs_that_have_grown_are_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[str] = []
    runs = [RunOf("LIA", 3.0, 3.0), RunOf("OLIA", 3.2, 3.2)]

    def counted(traces: Traces) -> float:
        computed.append(traces.title)
        return mean_delay_s(traces)

    spec = trade_offs.TRADE_OFFS[TradeOffKind.DELAY]
    changed = replace(spec, x=replace(spec.x, of_run=counted))
    monkeypatch.setitem(trade_offs.TRADE_OFFS, TradeOffKind.DELAY, changed)
    known = trade_offs.KnownFigures()
    first = trade_off_points(runs, TradeOffKind.DELAY, known=known)
    assert trade_off_points(runs, TradeOffKind.DELAY, known=known) == first
    assert computed == ["LIA", "OLIA"]
    runs[1].add_column("flow", "mptcp", "goodput_bps", [3.2e6] * 61)
    trade_off_points(runs, TradeOffKind.DELAY, known=known)
    assert computed == ["LIA", "OLIA", "OLIA"]
    # A known run, now without the others.
    trade_off_points(runs[:1], TradeOffKind.DELAY, known=known)
    assert computed == ["LIA", "OLIA", "OLIA"]


def test_titles_leave_out_what_all_begin_with() -> None:
    assert short_titles(["S: controller = lia", "S: controller = olia"]) == ["lia", "olia"]
    for whole in (["T-10b", "T-10b: lia"], ["T-10b by loss", "T-10b by loss again"], ["alone"], []):
        assert short_titles(whole) == whole
