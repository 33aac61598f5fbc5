"""Paper figures: the right lines and words, in every format, readable with many flows."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from tests.helpers.fake_runs import LEARNING, RICH, finished_traces
from tests.helpers.fake_simulation import make_flow, make_scenario
from tests.helpers.members import for_each
from tests.helpers.present import present

from subflow_app.features.exporting.core.exports import export_bars, export_curves
from subflow_app.features.paper.core import figures
from subflow_app.features.paper.core.figure_plan import FigurePlan, plot_data, run_plan
from subflow_app.features.paper.core.figures import drawing, figure_size_in, fill_figure, render_figure
from subflow_app.features.paper.core.paper_styles import DEFAULT_STYLE, MM_PER_INCH, STYLES, STYLES_BY_ID, PaperStyle
from subflow_app.features.plots.core import PLOTS, PLOTS_BY_ID, Bar, Curve, PlotSpec
from subflow_app.features.plots.core.bars import make_bar, repetitions
from subflow_app.features.plots.core.spec import XAxis, no_curves
from subflow_app.features.traces.core.traces import Traces
from subflow_app.foundation.errors import ExportError, InputError
from subflow_app.vocabulary import palette

THROUGHPUT = PLOTS_BY_ID["throughput"]
# Five MPTCP flows with two subflows each against five TCP flows: 20 curves in the throughput plot.
CROWD = make_scenario(make_flow("mp", count=5), make_flow("tcp", "tcp", ("wifi",), count=5))


def _phase(traces: Traces) -> list[Curve]:
    pairs = zip(PLOTS_BY_ID["cwnd"].curves(traces), PLOTS_BY_ID["rtt"].curves(traces), strict=True)
    return [replace(cwnd, x=rtt.values.astype(np.float64)) for cwnd, rtt in pairs]


def _means(runs: Sequence[Traces]) -> list[Bar]:
    group = repetitions(runs)
    return [
        make_bar(name, name, palette.ColourKey(0, 0), each, [value for _ in each.runs], note="nothing arrived")
        for name, value in (("download", 1e6), ("absent", np.nan))
        for each in group
    ]


PHASE = PlotSpec(
    "phase", "Phase", "Window", "packets", 1.0, (("subflow", "cwnd_pkts"),), _phase,
    x=XAxis("Smoothed RTT", "ms", 1e3, "srtt_s"),
)  # fmt: skip
MEANS = replace(PLOTS_BY_ID["goodput"], id="means", curves=no_curves, bars=_means)


def save_figure(plot: PlotSpec, runs: list, path: Path) -> Path:
    return figures.save_figure(run_plan([plot], runs), path)


def draw_figure(plan: FigurePlan) -> Figure:
    figure = Figure(figsize=figure_size_in(plan), layout="constrained")
    fill_figure(figure, plan)
    return figure


def drawn_plan(plots: list[PlotSpec], runs: list, style: PaperStyle = DEFAULT_STYLE) -> Figure:
    plan = replace(run_plan(plots, runs), style=style)
    with drawing(style):
        return draw_figure(plan)


def legend_of(figure: Figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def drawn(plot: PlotSpec, curves: list[Curve], end_s: float = 10.0) -> tuple[list, list[str]]:
    """Lines on the axes and texts of the legend."""
    figure = figure_of(plot, curves, end_s)
    return list(figure.axes[0].get_lines()), legend_of(figure)


def figure_of(plot: PlotSpec, curves: list[Curve], end_s: float = 10.0) -> Figure:
    plan = FigurePlan((plot_data(plot, curves),), (0.0, end_s))
    with drawing(plan.style):
        return draw_figure(plan)


@pytest.mark.parametrize(
    ("suffix", "magic"),
    [
        ("svg", b"<?xml"),
        pytest.param("pdf", b"%PDF", marks=pytest.mark.full("what is drawn is the same")),
        pytest.param("png", b"\x89PNG", marks=pytest.mark.full("what is drawn is the same")),
    ],
)
@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.id)
def test_every_plot_is_written_in_every_format(tmp_path: Path, plot: PlotSpec, suffix: str, magic: bytes) -> None:
    path = save_figure(plot, [finished_traces(RICH), finished_traces(LEARNING)], tmp_path / f"figure.{suffix}")

    assert path.read_bytes().startswith(magic)


def test_svg_names_axes_with_units_and_each_curve(tmp_path: Path) -> None:
    text = save_figure(THROUGHPUT, [finished_traces()], tmp_path / "t.svg").read_text(encoding="utf-8")
    words = re.findall(r"<text[^>]*>([^<]*)</text>", text)

    assert {"Time (s)", "Throughput (Mbit/s)", "download · wifi", "download · lte", "download · total"} <= set(words)


@for_each("suffix", ["svg", "pdf", "png"])
def test_same_run_gives_the_same_file(tmp_path: Path, suffix: str) -> None:
    files = [save_figure(THROUGHPUT, [finished_traces()], tmp_path / f"{number}.{suffix}") for number in range(2)]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_lines_are_in_the_unit_of_the_axis_and_the_colour_of_their_owner() -> None:
    curves = THROUGHPUT.curves(finished_traces())
    lines, _ = drawn(THROUGHPUT, curves)

    for line, curve in zip(lines, curves, strict=True):
        np.testing.assert_allclose(line.get_ydata(), curve.values / 1e6, rtol=1e-6)
        assert line.get_color() == palette.hex_colour(curve.colour)


def test_many_flows_are_drawn_by_group_with_their_mean() -> None:
    curves = THROUGHPUT.curves(finished_traces(CROWD))
    lines, texts = drawn(THROUGHPUT, curves)

    assert texts == [f"{name} (mean of 5)" for name in ("mp · wifi", "mp · lte", "mp · total", "tcp · wifi")]
    assert len(lines) == 20 + 4
    first_group = np.mean([curve.values for curve in curves if curve.label.endswith("wifi") and "mp" in curve.label], 0)
    np.testing.assert_allclose(lines[20].get_ydata(), first_group / 1e6, rtol=1e-5)
    assert lines[20].get_linewidth() > 2 * lines[0].get_linewidth()
    plot = PLOTS_BY_ID["rtt"]
    lines, _ = drawn(plot, plot.curves(finished_traces(CROWD)))
    mean = np.asarray(lines[-1].get_ydata())

    # No flow has an RTT in the first two samples; all have one from the third on.
    assert np.isnan(mean[:2]).all()
    assert np.isfinite(mean[2:]).all()


def test_overlay_lists_colours_once_and_then_the_runs_by_dash() -> None:
    runs = [finished_traces(title="LIA"), finished_traces(title="uncoupled")]
    lines, texts = drawn(THROUGHPUT, THROUGHPUT.overlay(runs))

    assert texts == ["download · wifi", "download · lte", "download · total", "LIA", "uncoupled"]
    assert [line.is_dashed() for line in lines] == [False] * 3 + [True] * 3


def test_legend_is_cut_where_it_would_outgrow_the_figure() -> None:
    flows = [make_flow(f"flow{n}", "tcp", ("wifi",)) for n in range(40)]
    plot = PLOTS_BY_ID["cwnd"]
    lines, texts = drawn(plot, plot.curves(finished_traces(make_scenario(*flows))))

    assert (len(lines), len(texts), texts[-1]) == (40, 24, "and 17 more")
    # The legend stays below the axes.
    figure = figure_of(THROUGHPUT, THROUGHPUT.curves(finished_traces()))
    figure.draw_without_rendering()
    legend, axes = figure.legends[0].get_window_extent(), present(figure.axes[0].get_tightbbox())
    assert legend.y1 <= axes.y0


def test_long_runs_show_rates_as_means_and_say_so() -> None:
    scenario = make_scenario(duration_s=200.0)
    curves = THROUGHPUT.curves(finished_traces(scenario))
    figure = figure_of(THROUGHPUT, curves, 200.0)
    x, y = map(np.asarray, figure.axes[0].get_lines()[0].get_data())

    # 2000 samples of 0.1 s: ten of them, 1 s, are the least nice number that leaves at most 250 points.
    assert figure.axes[0].get_ylabel() == "Throughput (Mbit/s), mean of 1 s"
    np.testing.assert_allclose(x, np.arange(1, 201), rtol=1e-9)
    expected = curves[0].values.reshape(200, 10).mean(axis=1, dtype=np.float64) / 1e6
    np.testing.assert_allclose(y, expected, rtol=1e-6)
    # States are drawn at their original samples.
    plot = PLOTS_BY_ID["cwnd"]
    figure = figure_of(plot, plot.curves(finished_traces(scenario)), 200.0)
    assert np.size(figure.axes[0].get_lines()[0].get_xdata()) == 2000
    assert "mean" not in figure.axes[0].get_ylabel()


def test_overlaid_rates_are_means_over_the_same_time() -> None:
    scenario = make_scenario(duration_s=100.0)
    runs = [finished_traces(scenario, interval_s=0.1), finished_traces(scenario, interval_s=0.5)]
    lines, _ = drawn(THROUGHPUT, THROUGHPUT.overlay(runs), 100.0)

    # 0.5 s is the mean of five samples of the first run and one of the second: 200 points each.
    assert {len(line.get_xdata()) for line in lines} == {200}


def test_queues_that_never_fill_are_left_out() -> None:
    plot = PLOTS_BY_ID["queue"]
    _, texts = drawn(plot, plot.curves(finished_traces()))

    assert texts == ["wifi client→server", "lte client→server"]


@for_each(
    ("plot", "count", "name", "why"),
    [
        (THROUGHPUT, 1, "x.gif", r'"\.gif"'),
        (THROUGHPUT, 1, "figure", r"figures are written as \.svg, \.pdf or \.png, and this name has no"),
        (THROUGHPUT, 1, "missing/x.svg", "No such file or directory"),
        (THROUGHPUT, 0, "x.svg", "throughput"),
        (replace(THROUGHPUT, least_flows=2, needs="two flows or more"), 1, "x.svg", "it takes two flows or more"),
    ],
)
def test_what_cannot_be_drawn_or_written_is_said(tmp_path: Path, plot: PlotSpec, count: int, name: str, why: str):
    with pytest.raises((InputError, ExportError), match=why):
        save_figure(plot, [finished_traces()] * count, tmp_path / name)


def test_a_plot_over_another_quantity_has_it_along_its_axis(tmp_path: Path) -> None:
    lines, texts = drawn(PHASE, PHASE.overlay([finished_traces(title="LIA"), finished_traces(title="OLIA")]))
    figure = figure_of(PHASE, PHASE.curves(finished_traces()))

    assert figure.axes[0].get_xlabel() == "Smoothed RTT (ms)"
    assert texts == ["download · wifi", "download · lte", "LIA", "OLIA"]
    curve = PHASE.curves(finished_traces())[0]
    np.testing.assert_allclose(lines[0].get_xdata(), present(curve.x) * 1e3, rtol=1e-6)
    table = export_curves([curve], tmp_path / "phase.csv", PHASE).read_text(encoding="utf-8").splitlines()
    assert table[0] == "run,owner,srtt_s,cwnd_pkts"
    assert table[1].startswith("1,download/1,")
    assert len(table) == 1 + len(curve.values)


def test_bars_have_their_mean_and_interval_and_say_what_it_is(tmp_path: Path) -> None:
    figure = drawn_plan([MEANS], [finished_traces(RICH), finished_traces(replace(RICH, seed=2))])
    axes = figure.axes[0]

    assert axes.get_ylabel() == "Goodput (Mbit/s)"
    assert axes.get_xlabel() == "mean of 2 runs, 95 % interval"
    assert [text.get_text() for text in axes.get_xticklabels()] == ["download", "absent"]
    # Both fake runs have the same samples: 1 Mbit/s each.
    assert [container.patches[0].get_height() for container in axes.containers if hasattr(container, "patches")] == [1]
    assert [text.get_text().strip() for text in axes.texts] == ["nothing arrived"]
    text = export_bars(MEANS.all_bars([finished_traces(RICH)]), tmp_path / "b.csv").read_text(encoding="utf-8")
    assert text.splitlines() == [
        "experiment,category,mean,ci95,runs,values,note",
        "Fake,download,1000000,,1,1000000,",
        "Fake,absent,,,0,,nothing arrived",
    ]


def test_bars_of_several_experiments_are_told_apart_in_the_legend(tmp_path: Path) -> None:
    runs = [finished_traces(RICH, title="LIA"), finished_traces(replace(RICH, duration_s=11.0), title="OLIA")]
    figure = drawn_plan([MEANS], runs)

    assert legend_of(figure) == ["LIA", "OLIA"]
    assert figure.axes[0].get_xlabel() == "one run each: no interval"
    assert save_figure(MEANS, runs, tmp_path / "bars.svg").exists()


# ---- styles ----

POINTS_PER_MM = 72.0 / MM_PER_INCH
SHOWN = [PLOTS_BY_ID[name] for name in ("throughput", "cwnd", "rtt")]
PAPER = [style for style in STYLES if not style.text_in_svg]


def plan_of(style: PaperStyle, kind: str, titles: tuple[str, ...] = ("LIA",), **changes: object) -> FigurePlan:
    plan = run_plan(SHOWN, [finished_traces(title=title) for title in titles])
    return replace(plan, style=style, kind=kind, **changes)  # type: ignore[arg-type] # the changes are of any field


@pytest.mark.parametrize(
    "style",
    [
        style
        if style.id in ("page", "ieee")
        else pytest.param(style, marks=pytest.mark.full("other lengths, drawn by the same"))
        for style in STYLES
    ],
    ids=lambda style: style.id,
)
def test_every_format_has_the_width_of_its_style_and_needs_no_font_of_the_reader(style: PaperStyle) -> None:
    pdf = render_figure(plan_of(style, "pdf", title="Ümläut → 中"))
    box = present(re.search(rb"/MediaBox \[ ?0 0 ([\d.]+)", pdf))
    assert float(box[1]) / POINTS_PER_MM == pytest.approx(style.width_mm, abs=0.01)
    descriptors = re.findall(rb"<<[^<>]*/Type /FontDescriptor[^<>]*>>", pdf)
    assert b"/Type3" not in pdf
    assert descriptors
    assert all(b"/FontFile2" in descriptor for descriptor in descriptors)

    svg = render_figure(plan_of(style, "svg"))
    head = present(re.search(rb'<svg[^>]* width="([\d.]+)pt"', svg))
    assert float(head[1]) / POINTS_PER_MM == pytest.approx(style.width_mm, abs=0.01)
    if style in PAPER:
        assert b"<text" not in svg
        assert b"<!-- Throughput (Mbit/s) -->" in svg  # the text that the paths draw

    png = render_figure(plan_of(style, "png", dpi=200))
    (pixels,) = struct.unpack(">I", png[16:20])
    assert pixels == pytest.approx(style.width_mm / MM_PER_INCH * 200, abs=1)
    per_metre = struct.unpack(">I", png[png.index(b"pHYs") + 4 :][:4])[0]
    assert per_metre * 0.0254 == pytest.approx(200, abs=0.1)


@for_each("style", STYLES, ids=lambda style: style.id)
def test_texts_are_at_least_as_large_as_papers_ask_for_and_inside_the_figure(style: PaperStyle) -> None:
    with drawing(style):
        figure = draw_figure(plan_of(style, "pdf", ("LIA", "a run with a name that is far too long for a legend" * 3)))
        figure.draw_without_rendering()
        sizes = [float(text.get_fontsize()) for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
        box = figure.get_tightbbox()

    assert min(sizes) >= 8.0
    # In inches; the tolerance is the width of a line.
    assert min(box.x0, box.y0) >= -0.01
    assert box.x1 <= figure.get_figwidth() + 0.01
    assert box.y1 <= figure.get_figheight() + 0.01


def test_stacked_plots_share_their_time_axis_and_one_legend() -> None:
    with drawing(STYLES_BY_ID["ieee"]):
        figure = draw_figure(plan_of(STYLES_BY_ID["ieee"], "pdf", ("LIA", "OLIA"), time_range=(4.0, 6.0)))

    assert [axes.get_xlim() for axes in figure.axes] == [(4.0, 6.0)] * 3
    assert [axes.get_xlabel() for axes in figure.axes] == ["", "", "Time (s)"]
    assert len(figure.legends) == 1
    # Curves differ without colour.
    looks = {(str(line.get_marker()), line.is_dashed()) for line in figure.axes[0].get_lines()}
    assert len(looks) == len(figure.axes[0].get_lines()) == 6
    # 2 s of samples of 0.1 s, and one beyond each end.
    assert all(20 <= np.size(line.get_xdata()) <= 23 for line in figure.axes[0].get_lines())


@for_each(("legend", "inside", "outside"), [("none", 0, 0), ("inside", 3, 0), ("above", 0, 1)])
def test_legend_stands_where_it_is_wanted(legend: str, inside: int, outside: int) -> None:
    with drawing(STYLES_BY_ID["ieee"]):
        figure = draw_figure(plan_of(STYLES_BY_ID["ieee"], "pdf", legend=legend, title="Two paths"))
        figure.draw_without_rendering()
        plots = [axes for axes in figure.axes if axes.get_legend() is not None]

    assert len(plots) == inside
    assert len(figure.legends) == outside


@for_each(("width_mm", "height_mm"), [(5.0, None), (5000.0, None), (float("nan"), None), (None, 5.0)])
def test_absurd_sizes_are_refused_with_what_is_allowed(width_mm: float | None, height_mm: float | None) -> None:
    with pytest.raises(InputError, match=r"is (40 to 600|20 to 400) mm, not"):
        STYLES_BY_ID["ieee"].sized(width_mm, height_mm)
    for dpi, why in ((10, "72 to 1200 px per inch, not 10"), (1200, r"have \d+ megapixels, and 100 are allowed")):
        with pytest.raises(InputError, match=why):
            render_figure(plan_of(STYLES_BY_ID["page"].sized(600, 400), "png", dpi=dpi))


def test_what_stood_there_stays_when_writing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save_figure(THROUGHPUT, [finished_traces()], tmp_path / "t.pdf")
    before = path.read_bytes()

    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(ExportError, match="No space left on device"):
        save_figure(PLOTS_BY_ID["rtt"], [finished_traces()], path)

    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["t.pdf"]


def test_bars_have_caps_names_and_hatches_at_column_width() -> None:
    def bar(n: int, run: int) -> Bar:
        colour = palette.ColourKey(n, 0)
        return Bar(f"a flow with quite a name {n}", f"f{n}", "flow", colour, run, f"run {run}", (1e6,), 1e6, 1e5)

    bars = [bar(n, run) for n in range(4) for run in range(3)]
    style = STYLES_BY_ID["ieee"]
    plan = FigurePlan((plot_data(MEANS, (), bars),), (0.0, 10.0), style)
    with drawing(style):
        figure = draw_figure(plan)
        figure.draw_without_rendering()
        box = figure.get_tightbbox()
    axes = figure.axes[0]

    assert len({patch.get_hatch() for patch in axes.patches}) == 3
    assert sum(line.get_marker() == "_" for line in axes.get_lines()) == 2 * len(bars)  # a cap on each end
    assert min(box.x0, box.y0) >= -0.01
    assert legend_of(figure) == ["run 0", "run 1", "run 2"]


def test_plots_of_all_kinds_stand_in_one_figure() -> None:
    figure = drawn_plan([THROUGHPUT, PLOTS_BY_ID["cwnd"], PHASE, MEANS], [finished_traces(RICH)])
    figure.draw_without_rendering()

    labels = [axes.get_xlabel() for axes in figure.axes]
    assert labels == ["", "Time (s)", "Smoothed RTT (ms)", "one run each: no interval"]


@for_each(
    ("titles", "shown"),
    [
        (("LIA", "OLIA", "LIA"), ["LIA (1)", "OLIA", "LIA (2)"]),
        (("_hidden", "costs $5 and $6"), ["_hidden", "costs $5 and $6"]),
    ],
)
def test_runs_are_named_in_the_legend_as_they_are_and_numbered(titles: tuple[str, ...], shown: list[str]) -> None:
    figure = drawn_plan([THROUGHPUT], [finished_traces(title=title) for title in titles], STYLES_BY_ID["page"])
    figure.draw_without_rendering()
    assert legend_of(figure)[-len(titles) :] == shown
