"""Paper figures: the right lines and words, in every format, readable with many flows."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from tests.helpers.fake_runs import LEARNING, RICH, finished_traces
from tests.helpers.fake_simulation import make_flow, make_scenario

from subflow_app.core import palette
from subflow_app.core.errors import ExportError, InputError
from subflow_app.core.figures import draw_figure, save_figure
from subflow_app.plots import PLOTS, PLOTS_BY_ID, Curve, PlotSpec

THROUGHPUT = PLOTS_BY_ID["throughput"]
# Five MPTCP flows with two subflows each against five TCP flows: 20 curves in the throughput plot.
CROWD = make_scenario(make_flow("mp", count=5), make_flow("tcp", "tcp", ("wifi",), count=5))


def drawn(plot: PlotSpec, curves: list[Curve]) -> tuple[list, list[str]]:
    """Lines on the axes and texts of the legend."""
    return drawn_for(plot, curves, 10.0)


def drawn_for(plot: PlotSpec, curves: list[Curve], end_s: float) -> tuple[list, list[str]]:
    figure = draw_figure(plot, curves, end_s=end_s)
    texts = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    return list(figure.axes[0].get_lines()), texts


@pytest.mark.parametrize(("suffix", "magic"), [("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG")])
@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.id)
def test_every_plot_is_written_in_every_format(tmp_path: Path, plot: PlotSpec, suffix: str, magic: bytes) -> None:
    path = save_figure(plot, [finished_traces(RICH), finished_traces(LEARNING)], tmp_path / f"figure.{suffix}")

    assert path.read_bytes().startswith(magic)


def test_svg_names_axes_with_units_and_each_curve(tmp_path: Path) -> None:
    text = save_figure(THROUGHPUT, [finished_traces()], tmp_path / "t.svg").read_text(encoding="utf-8")
    words = re.findall(r"<text[^>]*>([^<]*)</text>", text)

    assert {"Time (s)", "Throughput (Mbit/s)", "download · wifi", "download · lte", "download · total"} <= set(words)


@pytest.mark.parametrize("suffix", ["svg", "pdf", "png"])
def test_same_run_gives_the_same_file(tmp_path: Path, suffix: str) -> None:
    first = save_figure(THROUGHPUT, [finished_traces()], tmp_path / f"1.{suffix}")
    second = save_figure(THROUGHPUT, [finished_traces()], tmp_path / f"2.{suffix}")

    assert first.read_bytes() == second.read_bytes()


def test_lines_are_in_the_unit_of_the_axis_and_the_colour_of_their_owner() -> None:
    curves = THROUGHPUT.curves(finished_traces())
    lines, _ = drawn(THROUGHPUT, curves)

    for line, curve in zip(lines, curves, strict=True):
        np.testing.assert_allclose(line.get_ydata(), curve.values / 1e6, rtol=1e-6)
        assert line.get_color() == palette.hex_colour(curve.colour)


def test_many_flows_are_drawn_by_group_with_their_mean() -> None:
    curves = THROUGHPUT.curves(finished_traces(CROWD))
    lines, texts = drawn(THROUGHPUT, curves)

    assert texts == [
        "mp · wifi (mean of 5)",
        "mp · lte (mean of 5)",
        "mp · total (mean of 5)",
        "tcp · wifi (mean of 5)",
    ]
    assert len(lines) == 20 + 4
    first_group = np.mean([curve.values for curve in curves if curve.label.endswith("wifi") and "mp" in curve.label], 0)
    np.testing.assert_allclose(lines[20].get_ydata(), first_group / 1e6, rtol=1e-5)
    assert lines[20].get_linewidth() > 2 * lines[0].get_linewidth()


def test_mean_leaves_out_what_is_unknown() -> None:
    plot = PLOTS_BY_ID["rtt"]
    lines, _ = drawn(plot, plot.curves(finished_traces(CROWD)))
    mean = np.asarray(lines[-1].get_ydata())

    # No flow has an RTT in the first two samples; from the third on all have.
    assert np.isnan(mean[:2]).all()
    assert np.isfinite(mean[2:]).all()


def test_overlay_lists_colours_once_and_then_the_runs_by_dash() -> None:
    runs = [finished_traces(title="LIA"), finished_traces(title="uncoupled")]
    lines, texts = drawn(THROUGHPUT, THROUGHPUT.overlay(runs))

    assert texts == ["download · wifi", "download · lte", "download · total", "LIA", "uncoupled"]
    assert [line.is_dashed() for line in lines] == [False] * 3 + [True] * 3


def test_legend_stays_below_the_axes() -> None:
    figure = draw_figure(THROUGHPUT, THROUGHPUT.curves(finished_traces()), end_s=10.0)
    figure.draw_without_rendering()
    legend, axes = figure.legends[0].get_window_extent(), figure.axes[0].get_tightbbox()

    assert axes is not None
    assert legend.y1 <= axes.y0


def test_legend_is_cut_where_it_would_outgrow_the_figure() -> None:
    flows = [make_flow(f"flow{n}", "tcp", ("wifi",)) for n in range(40)]
    plot = PLOTS_BY_ID["cwnd"]
    lines, texts = drawn(plot, plot.curves(finished_traces(make_scenario(*flows))))

    assert len(lines) == 40
    assert len(texts) == 24
    assert texts[-1] == "and 17 more"


def test_long_runs_show_rates_as_means_and_say_so() -> None:
    scenario = make_scenario(duration_s=200.0)
    curves = THROUGHPUT.curves(finished_traces(scenario))
    figure = draw_figure(THROUGHPUT, curves, end_s=200.0)
    x, y = map(np.asarray, figure.axes[0].get_lines()[0].get_data())

    # 2000 samples of 0.1 s: ten of them, 1 s, are the least nice number that leaves at most 250 points.
    assert figure.axes[0].get_ylabel() == "Throughput (Mbit/s), mean of 1 s"
    np.testing.assert_allclose(x, np.arange(1, 201), rtol=1e-9)
    expected = curves[0].values.reshape(200, 10).mean(axis=1, dtype=np.float64) / 1e6
    np.testing.assert_allclose(y, expected, rtol=1e-6)


def test_states_are_drawn_as_they_were_sampled() -> None:
    plot = PLOTS_BY_ID["cwnd"]
    figure = draw_figure(plot, plot.curves(finished_traces(make_scenario(duration_s=200.0))), end_s=200.0)

    assert np.size(figure.axes[0].get_lines()[0].get_xdata()) == 2000
    assert "mean" not in figure.axes[0].get_ylabel()


def test_overlaid_rates_are_means_over_the_same_time() -> None:
    scenario = make_scenario(duration_s=100.0)
    runs = [finished_traces(scenario, interval_s=0.1), finished_traces(scenario, interval_s=0.5)]
    lines, _ = drawn_for(THROUGHPUT, THROUGHPUT.overlay(runs), 100.0)

    # 0.5 s is the mean of five samples of the first run and one of the second: 200 points each.
    assert {len(line.get_xdata()) for line in lines} == {200}


def test_queues_that_never_fill_are_left_out() -> None:
    plot = PLOTS_BY_ID["queue"]
    _, texts = drawn(plot, plot.curves(finished_traces()))

    assert texts == ["wifi client→server", "lte client→server"]


def test_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r'"\.gif"'):
        save_figure(THROUGHPUT, [finished_traces()], tmp_path / "x.gif")


def test_unwritable_place_is_said(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="No such file or directory"):
        save_figure(THROUGHPUT, [finished_traces()], tmp_path / "missing" / "x.svg")


def test_nothing_to_draw_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="throughput"):
        save_figure(THROUGHPUT, [], tmp_path / "x.svg")
