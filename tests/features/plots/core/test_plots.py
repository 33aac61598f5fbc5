"""Plot descriptions: the curves with their order, labels and colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from tests.features.history.core.test_run_columns import run as make_row
from tests.helpers.fake_runs import LEARNING, finished_traces
from tests.helpers.fake_simulation import make_flow, make_scenario
from tests.helpers.members import for_each
from tests.helpers.present import present
from tests.helpers.table_traces import TableTraces as Table

from subflow_app.features.plots import core as plots
from subflow_app.features.plots.core import PLOTS, PLOTS_BY_ID, PlotSpec, averaged, interval_text, samples_to_average
from subflow_app.features.plots.core.bar_plots import convergence_time, measured_value
from subflow_app.features.plots.core.bars import bar_places, flow_bars, make_bar, repetitions
from subflow_app.features.plots.core.spec import AGENTS, CONNECTION, FAIRNESS, INTERVALS, STATISTICS, transport_colours
from subflow_app.features.traces.core.traces import FLOW, LINK, SUBFLOW, LiveTraces, TraceMark, select_keys
from subflow_app.vocabulary import palette

SEEN, DONE = PLOTS_BY_ID["agent_observation"], PLOTS_BY_ID["agent_action"]
MIXED = make_scenario(
    make_flow("download", count=2), make_flow("cross", "tcp", ("wifi",)), make_flow("noise", "cbr", ("lte",))
)
MANY = make_scenario(make_flow("download", controller="mpcc-loss", count=2), make_flow("cross", "tcp", ("wifi",)))
ALL_COLUMNS = make_scenario(
    *MANY.flows.values(),
    *(f for f in LEARNING.flows.values() if f.name == "probe"),
    make_flow("learner", controller="drl-cc"),
    make_flow("marked", ecn="accecn"),
    make_flow("live", "tcp", ("wifi",), one_way_delay=True),
    make_flow("voice", "cbr", ("lte",), one_way_delay=True),
)

LOST = [0.0, 25.0, 10.0, 0.0, 0.0]


def test_every_plot_of_the_folder_is_in_the_list() -> None:
    files = (path.stem for path in Path(plots.__file__).parent.glob("*.py"))
    modules = [import_module(f"{plots.__name__}.{name}") for name in files if name != "__init__"]
    made = {each.id for module in modules for each in vars(module).values() if isinstance(each, PlotSpec)}

    assert made - set(PLOTS_BY_ID) == set()
    assert len(made) > 10
    assert len(PLOTS_BY_ID) == len(PLOTS)


@for_each("plot", PLOTS, ids=lambda plot: plot.id)
def test_plot_has_a_unit_and_reads_only_columns_that_runs_have(plot: PlotSpec) -> None:
    traces = finished_traces(ALL_COLUMNS)

    assert plot.unit in plot.axis_text
    assert plot.scale > 0
    for column in plot.columns:
        assert any((key.scope, key.name) == column for key in plot.series(traces))
    # A plot that some run lacks names its requirements.
    datagrams = finished_traces(make_scenario(make_flow("noise", "cbr", ("lte",))))
    assert plot.is_in(datagrams) or plot.needs


@for_each("plot", PLOTS, ids=lambda plot: plot.id)
def test_curves_are_the_same_in_the_same_order_at_every_call(plot: PlotSpec) -> None:
    def names(until_s: float) -> list[tuple[str, str, palette.ColourKey]]:
        curves = plot.curves(finished_traces(ALL_COLUMNS, until_s=until_s))
        return [(curve.owner, curve.kind, curve.colour) for curve in curves]

    assert names(0.0) == names(3.0) == names(10.0)
    assert len(set(names(0.0))) == len(names(0.0))


def test_plots_that_few_runs_have_stand_in_groups() -> None:
    everyday = finished_traces(make_scenario(make_flow("cross", "tcp", ("wifi",))))
    several = finished_traces(MIXED)
    rich = finished_traces(MANY)

    def shown(traces: LiveTraces) -> dict[str, set[str]]:
        groups: dict[str, set[str]] = {}
        for plot in PLOTS:
            if plot.is_in(traces):
                groups.setdefault(plot.group, set()).add(plot.id)
        return groups

    # Every run has these, and no plot of another group.
    everyday_groups = shown(everyday)
    for group, plots_of in (
        ("", {"throughput", "cwnd", "rtt", "queue", "goodput", "inflight", "drops", "loss_ratio", "utilisation"}),
        (STATISTICS, {"rtt_cdf", "throughput_cdf", "phase", "goodput_bars", "controller_bars"}),
        (FAIRNESS, {"convergence"}),
        (CONNECTION, {"recv_buffer"}),
    ):
        assert plots_of <= everyday_groups[group]
    assert everyday_groups.keys() == {"", STATISTICS, FAIRNESS, CONNECTION}
    assert {"jain", "fairness_bars"} <= shown(several)[FAIRNESS] - everyday_groups[FAIRNESS]
    of_paths = {"schedule_share", "reorder_queue", "hol_blocking", "reinjections"}
    assert of_paths <= shown(several)[CONNECTION] - everyday_groups[CONNECTION]
    assert {"interval_rate", "interval_loss", "rtt_gradient", "utility"} <= shown(rich)[INTERVALS]
    assert {"reward", "agent_action", "agent_observation"} <= shown(finished_traces(LEARNING))[AGENTS]


def test_delays_are_drawn_for_subflows_and_for_flows_without_subflows() -> None:
    curves = PLOTS_BY_ID["one_way_delay"].curves(finished_traces(ALL_COLUMNS))

    assert [(curve.owner, curve.kind) for curve in curves] == [("live/1", "subflow"), ("voice", "flow")]
    assert [curve.owner for curve in PLOTS_BY_ID["ack_delay"].curves(finished_traces(ALL_COLUMNS))] == ["live/1"]
    assert not PLOTS_BY_ID["jitter"].is_in(finished_traces(MIXED))


def test_agents_have_a_sample_per_decision_and_no_curve_of_flows_that_do_not_learn() -> None:
    traces = finished_traces(LEARNING, until_s=3.0)
    curves = PLOTS_BY_ID["agent_observation"].curves(traces)

    assert [curve.label for curve in curves] == ["download · wifi", "download · lte", "probe · lte"]
    # Rewards belong to the unit that decides.
    rewards = PLOTS_BY_ID["reward"].curves(traces)
    assert [(curve.owner, curve.kind) for curve in rewards] == [("download", "flow"), ("probe/1", "subflow")]
    for curve in curves:
        # The first feature is t at second t.
        assert curve.time_s.tolist() == curve.values.tolist() == [1.0, 2.0, 3.0]


def test_a_plot_shows_the_number_that_is_chosen() -> None:
    traces = finished_traces(LEARNING, until_s=2.0)
    download, _, probe = SEEN.of_number("rtt").curves(traces)
    changes = DONE.of_number("window_change").curves(traces)

    assert download.values.tolist() == probe.values.tolist() == [1.25, 2.25]
    np.testing.assert_allclose(changes[0].values, np.sin([1.0, 2.0]), rtol=1e-6)
    # The agent of the probe makes discrete choices and lacks this number.
    assert [len(curve.values) for curve in changes] == [2, 2, 0]
    assert SEEN.of_number("rtt").axis_text == "Observation, scaled: rtt"
    # A quantity without a unit has no unit on its axis.
    axes = [PLOTS_BY_ID[name].axis_text for name in ("utility", "rtt_gradient")]
    assert axes == ["Utility", "RTT gradient (ms/s)"]


def test_throughput_shows_subflows_then_their_total_flow_by_flow() -> None:
    traces = finished_traces(MIXED)
    curves = PLOTS_BY_ID["throughput"].curves(traces)
    of_flows = [[f"download.{number} · {name}" for name in ("wifi", "lte", "total")] for number in (1, 2)]
    assert [curve.label for curve in curves] == [*of_flows[0], *of_flows[1], "cross · wifi", "noise"]
    # A flow of constant rate shows its arrivals.
    arrived = traces.read(select_keys(traces, FLOW, "goodput_bps", "noise")[0])[1]
    np.testing.assert_array_equal(curves[-1].values, arrived)
    # Only multipath flows have shares, and distributions have one curve for each flow.
    shares = PLOTS_BY_ID["schedule_share"].curves(traces)
    assert [curve.owner for curve in shares] == [f"download.{number}/{path}" for number in (1, 2) for path in (1, 2)]
    labels = [curve.label for curve in PLOTS_BY_ID["throughput_cdf"].curves(traces)]
    assert labels == ["download.1 · total", "download.2 · total", "cross · wifi", "noise"]


def test_total_is_the_sum_of_the_subflows() -> None:
    traces = finished_traces()
    total = next(curve for curve in PLOTS_BY_ID["throughput"].curves(traces) if curve.kind == "total")
    parts = [traces.read(select_keys(traces, SUBFLOW, "throughput_bps", f"download/{n}")[0])[1] for n in (1, 2)]

    # float32 holds 7 digits; the sum is rounded once.
    np.testing.assert_allclose(total.values, parts[0] + parts[1], rtol=1e-6)
    assert len(total.time_s) == len(total.values) == 100


def test_a_subflow_has_the_same_colour_in_every_plot() -> None:
    traces = finished_traces(MIXED)
    colours: dict[str, set[palette.ColourKey]] = {}
    for plot in PLOTS:
        for curve in plot.curves(traces):
            if curve.kind == SUBFLOW:
                colours.setdefault(curve.owner, set()).add(curve.colour)

    assert len(colours) == 5  # 2 × 2 subflows of download, 1 of cross
    assert all(len(each) == 1 for each in colours.values())


def test_overlay_numbers_the_runs_and_keeps_their_titles() -> None:
    runs = [finished_traces(title="first"), finished_traces(title="second")]
    curves = PLOTS_BY_ID["cwnd"].overlay(runs)

    assert [(curve.owner, curve.run, curve.run_title) for curve in curves] == [
        (f"download/{path}", run, title) for run, title in enumerate(("first", "second")) for path in (1, 2)
    ]


@for_each(
    ("interval_s", "duration_s", "samples"),
    [(0.1, 10.0, 1), (0.1, 25.0, 1), (0.1, 60.0, 5), (0.1, 200.0, 10), (0.001, 60.0, 500), (1.0, 10.0, 1)],
)
def test_samples_are_averaged_in_nice_numbers(interval_s: float, duration_s: float, samples: int) -> None:
    assert samples_to_average(interval_s, duration_s, 250) == samples


def test_average_leaves_out_unknown_samples_and_keeps_the_last_partial_group() -> None:
    curve = replace(
        PLOTS_BY_ID["cwnd"].curves(finished_traces())[0],
        time_s=np.array([1.0, 2.0, 3.0, 4.0, 5.0]),
        values=np.array([1.0, np.nan, np.nan, np.nan, 7.0], np.float32),
    )
    mean = averaged(curve, 2)

    assert mean.time_s.tolist() == [2.0, 4.0, 5.0]
    np.testing.assert_array_equal(mean.values, np.array([1.0, np.nan, 7.0], np.float32))
    assert averaged(curve, 1) is curve


def test_rtt_is_undefined_before_its_first_sample_and_not_zero() -> None:
    curve = PLOTS_BY_ID["rtt"].curves(finished_traces())[0]

    # The fake's first RTT comes after 0.25 s: the samples at 0.1 s and 0.2 s have no value.
    assert np.isnan(curve.values).tolist() == [True, True] + [False] * 98


def test_drops_are_per_second_whatever_the_sampling_interval() -> None:
    traces = finished_traces(interval_s=0.5)
    drops = PLOTS_BY_ID["drops"].curves(traces)[0]

    dropped = traces.read(select_keys(traces, LINK, "drops_pkts", "wifi/forward")[0])[1]
    np.testing.assert_allclose(drops.values, dropped / 0.5)


def test_loss_ratio_is_what_was_lost_of_the_packets_of_the_last_second() -> None:
    traces = Table(
        # 1500-byte packets at 1.2 Mbit/s are 100 packets/s: 50 in each half second.
        {(SUBFLOW, "a/1", "throughput_bps"): [1.2e6, 1.2e6, 0.0, 0.0, 0.0], (SUBFLOW, "a/1", "losses_pkts"): LOST}
    )
    curve = PLOTS_BY_ID["loss_ratio"].curves(traces)[0]

    # Lost of lost and delivered: 0 of 50; 25 of 125; 35 of 85; 10 of 10; then no packet is lost or delivered.
    np.testing.assert_allclose(curve.values, [0.0, 0.2, 35 / 85, 1.0, np.nan], rtol=1e-6)


def test_runs_that_differ_in_their_seed_alone_repeat_one_experiment() -> None:
    again = replace(MIXED, seed=7, name="Another name")
    other = replace(MIXED, duration_s=11.0)
    runs = [finished_traces(each) for each in (MIXED, other, again)]

    assert [(group.first, len(group.runs)) for group in repetitions(runs)] == [(0, 2), (1, 1)]
    assert runs[0].controllers == {"download.1": "lia", "download.2": "lia", "cross": "newreno"}


def test_a_run_that_repeats_another_bit_for_bit_does_not_count() -> None:
    runs = [finished_traces(replace(MIXED, seed=seed)) for seed in (1, 2, 1)]
    (before,) = repetitions(runs)
    assert before.sample_positions == (0, 1, 2)

    for run, signature in zip(runs, ("a", "b", "a"), strict=True):
        run.close(make_row(1, signature=signature))
    (group,) = repetitions(runs)
    assert (group.positions, group.sample_positions) == ((0, 1, 2), (0, 1))
    assert group.runs == (runs[0], runs[1])


def test_a_bar_is_the_mean_of_its_runs_with_the_interval_of_student() -> None:
    group = repetitions([finished_traces(title="LIA")])[0]
    bar = make_bar("a", "a", palette.ColourKey(0, 0), group, [1.0, 3.0, np.nan, np.inf])

    # Mean 2, deviation sqrt(2); t(1) = 12.7062, over sqrt(2) runs.
    assert (bar.mean, bar.values, bar.run_title) == (2.0, (1.0, 3.0), "LIA")
    assert bar.ci95 == pytest.approx(12.7062, rel=1e-4)
    # Drawn from zero on, if the quantity cannot be negative.
    assert bar.reach(is_signed=False) == pytest.approx((2.0, 12.7062), rel=1e-4)
    assert bar.reach(is_signed=True) == pytest.approx((12.7062, 12.7062), rel=1e-4)
    assert interval_text([bar]) == "mean of 2 runs, 95 % interval"
    alone = make_bar("a", "a", palette.ColourKey(0, 0), group, [1.0])
    assert np.isnan(alone.ci95)
    assert interval_text([alone]) == "one run each: no interval"
    assert interval_text([alone, bar]) == "mean of 1 to 2 runs, 95 % interval"


def test_bars_of_a_category_stand_beside_each_other() -> None:
    runs = [finished_traces(MIXED), finished_traces(replace(MIXED, duration_s=11.0))]
    bars = flow_bars(runs, transport_colours, lambda traces: dict.fromkeys(traces.controllers, traces.duration_s))
    places = bar_places(bars)

    assert places.categories == ("download.1", "download.2", "cross")
    assert [(bar.owner, bar.run, bar.mean) for bar in bars[:2]] == [("download.1", 0, 10.0), ("download.1", 1, 11.0)]
    # Two bars of 0.38 fill 0.76 of the category, on both sides of its middle.
    np.testing.assert_allclose(places.bars[:3], [(-0.19, 0.38), (0.19, 0.38), (0.81, 0.38)])


def duel(first: Sequence[float], second: Sequence[float], **options: object) -> Table:
    """Two flows with a subflow each, of these goodputs, one sample per second."""
    columns: dict[tuple[str, str, str], Sequence[float]] = {}
    for flow, values in (("a", first), ("b", second)):
        columns |= {(FLOW, flow, "goodput_bps"): values, (SUBFLOW, f"{flow}/1", "goodput_bps"): values}
    return Table(columns, interval_s=1.0, **options)  # type: ignore[arg-type] # the options of a table


def test_jain_index_over_time_is_of_the_flows_that_are_active() -> None:
    traces = duel([1, 1, 1, 3, 3, 3, 0, 0], [0, 0, 1, 1, 1, 1, 1, 1], marks=[TraceMark(6.0, "a", "completed", 6.0)])
    (curve,) = PLOTS_BY_ID["jain"].curves(traces)

    # One flow in the first two seconds; equal once both run ([1 1 1] and [1]); then a has 6/4, 9/5, 11/5 and b 1: (r +
    # 1)² / 2 (r² + 1). At 6 s a completes, which may still affect the sample at 7 s.
    expected = [np.nan, np.nan, 1.0, *((r + 1) ** 2 / (2 * (r * r + 1)) for r in (6 / 4, 9 / 5, 11 / 5))]
    np.testing.assert_allclose(curve.values[:6], expected, rtol=1e-6)
    assert np.isnan(curve.values[7])
    # A starved flow counts as zero, five seconds after its only byte: (r + 0)² / 2 r².
    (curve,) = PLOTS_BY_ID["jain"].curves(duel([1] * 12, [1] + [0] * 11))
    assert curve.values[-1] == pytest.approx(0.5)


def test_one_flow_has_no_fairness() -> None:
    alone = finished_traces(make_scenario(make_flow("cross", "tcp", ("wifi",))))

    for name in ("jain", "fairness_bars"):
        assert not PLOTS_BY_ID[name].is_in(alone)
        assert "two" in PLOTS_BY_ID[name].needs
    assert len(PLOTS_BY_ID["jain"].curves(alone)[0].values) == 0


def test_fairness_of_an_experiment_is_the_mean_of_its_runs() -> None:
    runs = [duel([1.0] * 4, [second] * 4, condition="x") for second in (1.0, 3.0)]
    (bar,) = PLOTS_BY_ID["fairness_bars"].all_bars(runs)

    # 1 and (1 + 3)² / 2 (1 + 9) = 0.8.
    assert list(bar.values) == pytest.approx([1.0, 0.8])


def test_distribution_is_of_the_samples_after_the_warm_up() -> None:
    samples = [9.0, 0.3, 0.1, np.nan, 0.2, 0.2]
    traces = Table({(SUBFLOW, "a/1", "srtt_s"): samples}, interval_s=1.0, warmup_s=1.0)
    (curve,) = PLOTS_BY_ID["rtt_cdf"].curves(traces)

    np.testing.assert_allclose(present(curve.x), [0.1, 0.1, 0.2, 0.2, 0.3], rtol=1e-6)
    np.testing.assert_allclose(curve.values, [0.0, 0.25, 0.5, 0.75, 1.0])
    # A reduction of many samples keeps the ends.
    traces = Table({(SUBFLOW, "a/1", "srtt_s"): np.arange(1, 50_001).tolist()}, interval_s=1.0)
    (curve,) = PLOTS_BY_ID["rtt_cdf"].curves(traces)
    x = present(curve.x)
    assert len(x) == 1001
    assert (x[0], x[-1], curve.values[0], curve.values[-1]) == (1.0, 50_000.0, 0.0, 1.0)


def test_phase_plot_knows_the_time_of_its_points() -> None:
    # Unknown values at the ends give no points; a gap of several samples gives one.
    windows, rtts = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0], [np.nan, 0.1, np.nan, np.nan, 0.4, 0.5, np.nan]
    traces = Table({(SUBFLOW, "a/1", "cwnd_pkts"): windows, (SUBFLOW, "a/1", "srtt_s"): rtts}, interval_s=1.0)
    (curve,) = PLOTS_BY_ID["phase"].curves(traces)
    assert (present(curve.x)[[0, -1]].tolist(), curve.time_s.tolist()) == ([20.0, 60.0], [2.0, 3.0, 5.0, 6.0])
    np.testing.assert_allclose(curve.values, [0.1, np.nan, 0.4, 0.5], rtol=1e-6)


def test_the_mean_of_a_state_is_that_of_its_curve_and_of_a_rate_that_of_the_summary() -> None:
    columns = {(SUBFLOW, "a/1", "cwnd_pkts"): [10, 20, np.nan, np.nan], (FLOW, "a", "goodput_bps"): [1e6, 3e6, 0, 0]}
    figures = {"flows.a/1.mean_cwnd_pkts": 17.0, "flows.a.goodput_bps": 1.000001e6, "flows.a.mean_rtt_s": 0.1}
    traces = Table(columns, interval_s=1.0)
    means = {}
    for name in ("cwnd", "goodput"):
        (curve,) = PLOTS_BY_ID[name].curves(traces)
        means[name] = measured_value(PLOTS_BY_ID[name], curve, figures, 0.0)
    assert means == {"cwnd": 15.0, "goodput": 1.000001e6}
    # A figure that is not the mean of the curve is not used.
    (curve,) = PLOTS_BY_ID["goodput"].curves(traces)
    assert measured_value(PLOTS_BY_ID["goodput"], curve, {"flows.a.goodput_bps": 2e6}, 0.0) == pytest.approx(1e6)


@for_each(
    ("rates", "expected"),
    [
        ([0, 0, *[4.0] * 20], 0.0),  # from its first second, regardless of the level
        ([1.0, 2.0, *[4.0] * 20], 2.0),
        ([4.0, 4.0, 4.0, 4.0, 1.0, *[4.0] * 20], 5.0),  # four seconds are not enough
        ([1.0, 8.0] * 10, np.nan),
        ([4.0] * 9, np.nan),  # too short to judge
        ([0.0] * 20, np.nan),
        ([np.nan, np.inf, *[4.0] * 20], 0.0),
    ],
)
def test_convergence_is_when_five_seconds_are_near_the_final_share(rates: list[float], expected: float) -> None:
    assert convergence_time(np.array(rates, np.float32)) == pytest.approx(expected, nan_ok=True)


def test_controllers_are_compared_by_their_flows() -> None:
    runs = [
        duel([2.0] * 4, [4.0] * 4, controllers={"a": "lia", "b": "lia"}, condition="x"),
        duel([1.0] * 4, [5.0] * 4, controllers={"a": "lia", "b": "olia"}, condition="y"),
    ]
    bars = PLOTS_BY_ID["controller_bars"].all_bars(runs)

    values = [(bar.category, bar.run, bar.values) for bar in bars]
    assert values == [("lia", 0, (3.0,)), ("lia", 1, (1.0,)), ("olia", 1, (5.0,))]
    # Means cover the time after the warm-up.
    bars = PLOTS_BY_ID["goodput_bars"].all_bars([duel([9, 9, 1, 3], [0, 0, 2, 2], warmup_s=2.0)])
    assert [(bar.category, bar.mean) for bar in bars] == [("a", 2.0), ("b", 2.0)]
