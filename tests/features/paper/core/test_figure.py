"""Figures of experiments: the drawn values, their colours, and the positions of the paper's numbers."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from tests.helpers.experiments import GOODPUT, TINY, FixedValues, tiny_results
from tests.helpers.members import for_each

from subflow_app.features.gallery.core.figure import experiment_figure, published_values, series_colours
from subflow_app.features.paper.core import panel_forms
from subflow_app.features.paper.core.figure_plan import FigureKind, FigurePlan, Ground
from subflow_app.features.paper.core.figure_process import pack, unpack
from subflow_app.features.paper.core.figure_worker import KINDS
from subflow_app.features.paper.core.figures import figure_size_in, fill_figure, render_figure
from subflow_app.features.paper.core.paper_styles import STYLES_BY_ID
from subflow_app.foundation.errors import InputError
from subflow_app.vocabulary.palette import OURS
from subflow_app.vocabulary.picture import ColourScale, Panel, PanelForm, PanelSeries

DARK = Ground("#171a1f", "#e6e9ed", "#a3acb8", "#2a3038", True)
DRAWS = """
[axis]
label = "Draw"
[axis.draws]
count = 3
[axis.draws.keys]
"links.wifi.queue" = { integer = [10, 30] }
"""


def with_axis(axis: str) -> str:
    """The small recipe over another axis, without the parts that name its points."""
    head, rest = TINY.split("[axis]")
    body = rest[rest.index("[series.OLIA]") :]
    check = """[[checks]]\nsays = "Something arrives"\nholds = "goodput('LIA') > 0 Mbit/s"\n"""
    return head + axis + body[: body.index("[[published]]")] + check


def test_values_are_in_the_unit_of_their_measure_and_points_where_they_lie(tmp_path: Path):
    lines, bars, trace = experiment_figure(tiny_results(tmp_path)).panels
    assert (lines.form, bars.form, trace.form) == ("lines", "bars", "trace")
    assert (lines.x_text, lines.y_text) == ("Loss (%)", "Goodput (Mbit/s)")
    assert lines.positions.tolist() == [1.0, 5.0]
    olia, lia = lines.series
    assert olia.means.tolist() == [6.5, 4.4]
    assert lia.means.tolist() == [5.25, 3.5]
    # Student's t for one degree of freedom is 12.706: half the distance of two values times that is the half-width.
    assert olia.halves[0] == pytest.approx(0.5 * 12.706, rel=1e-3)
    assert bars.series[0].means.tolist() == pytest.approx([85.0, 110.0])
    assert trace.series[0].means.tolist() == pytest.approx([6.000001] * 5)


def test_papers_improvement_stands_at_the_value_that_it_implies_from_our_baseline(tmp_path: Path):
    results = tiny_results(tmp_path)
    olia, lia = experiment_figure(results).panels[0].series
    assert [(mark.point, mark.value, mark.is_implied) for mark in lia.references] == [(0, 6.0, False)]
    (mark,) = olia.references
    # 20 % more than our LIA's 3.5 Mbit/s.
    assert (mark.point, mark.is_implied) == (1, True)
    assert mark.value == pytest.approx(4.2)
    assert experiment_figure(results).implied_text == "paper: its improvement over our LIA"
    assert [each.value for each in published_values(results)] == pytest.approx([6e6, 4.2e6])


def test_improvement_over_a_baseline_that_was_not_measured_is_not_drawn(tmp_path: Path):
    values = {place: given for place, given in GOODPUT.items() if place[1] != "LIA"}
    results = tiny_results(tmp_path, values=FixedValues(values, {"LIA": "agent is missing"}))
    lines, bars, _trace = experiment_figure(results).panels
    assert lines.series[0].references == ()
    # A lack of both panels is noted once.
    assert (lines.note, bars.note) == ("", "Not measured: LIA.")
    assert math.isnan(published_values(results)[1].value)


def test_controllers_keep_their_colours_and_what_the_paper_proposes_has_its_own(tmp_path: Path):
    first = series_colours(tiny_results(tmp_path).recipe)
    swapped = TINY.replace("ours = true\n", "").replace("[series.LIA]\n", "[series.LIA]\nours = true\n")
    second = series_colours(tiny_results(tmp_path, swapped).recipe)
    assert first["OLIA"] == second["LIA"] == OURS
    assert OURS not in (first["LIA"], second["OLIA"])
    more = "".join(f"[series.L{n}]\nset.seed = {n}\n" for n in range(9))
    many = series_colours(tiny_results(tmp_path, TINY + more).recipe)
    assert len(set(many.values())) == len(many) == 11


def test_draws_are_no_axis_but_repetitions(tmp_path: Path):
    text = with_axis(DRAWS).replace('form = "lines"', 'form = "box"')
    values = {("goodput", s, str(n)): (n * 1e6, n * 1e6) for s in ("OLIA", "LIA") for n in (1, 2, 3)}
    box = experiment_figure(tiny_results(tmp_path, text, FixedValues(values))).panels[0]
    assert box.points == ("",)
    assert box.series[0].means.tolist() == [2.0]
    assert box.series[0].values[0].tolist() == [1.0, 2.0, 3.0]
    assert "Over 3 random draws." in box.note


def test_scatter_has_another_measure_across(tmp_path: Path):
    text = TINY.replace('form = "lines"\nmeasure = "goodput"', 'form = "scatter"\nmeasure = "goodput"\nx = "rtt"')
    cloud = experiment_figure(tiny_results(tmp_path, text)).panels[0]
    assert cloud.x_text == "Round-trip time (ms)"
    assert cloud.series[1].x.tolist() == pytest.approx([95.0, 120.0])
    # Measures of a single point are columns of one table.
    text = with_axis("").replace('form = "lines"\nmeasure = "goodput"', 'form = "table"\nmeasures = ["goodput", "rtt"]')
    values = {(m, s, ""): given for (m, s, p), given in GOODPUT.items() if p == "1%"}
    table = experiment_figure(tiny_results(tmp_path, text, FixedValues(values))).panels[0]
    assert table.points == ("Goodput (Mbit/s)", "Round-trip time (ms)")
    assert table.series[0].means.tolist() == pytest.approx([6.5, 85.0])


@for_each(("kind", "begin"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_every_form_is_drawn_in_every_format_light_and_dark(tmp_path: Path, kind: FigureKind, begin: bytes):
    lines, bars, trace = experiment_figure(tiny_results(tmp_path)).panels
    box = replace(bars, form="box")
    cloud = replace(lines, form="scatter", series=tuple(replace(s, x=s.means, x_halves=s.halves) for s in lines.series))
    table = replace(lines, form="table")
    panels = (lines, bars, trace, box, cloud, table)
    figure = FigurePlan(panels=panels, style=STYLES_BY_ID["page"], kind=kind, dpi=72, title="All")
    if kind == "png":
        figure = replace(figure, ground=DARK)
    if kind == "pdf":
        figure = replace(figure, style=STYLES_BY_ID["ieee"])
    content = render_figure(figure)
    assert content.startswith(begin)
    if kind == "svg":
        # The same figure has the same bytes.
        assert render_figure(figure) == content
        assert b"Goodput (Mbit/s)" in content
        assert b"#d55e00" in content


def test_figure_goes_to_the_process_that_draws_and_comes_back_the_same(tmp_path: Path):
    figure = replace(experiment_figure(tiny_results(tmp_path)), kind="svg")
    assert render_figure(unpack(pack(figure), KINDS)) == render_figure(figure)


def test_thumbnail_is_the_first_panel_alone_without_words(tmp_path: Path):
    figure = experiment_figure(tiny_results(tmp_path))
    small = figure.as_thumbnail(40.0, 24.0)
    assert figure_size_in(small) == pytest.approx((40.0 / 25.4, 24.0 / 25.4))
    assert b"Goodput" not in render_figure(replace(small, kind="svg"))
    # The thumbnail of a table is a sketch without numbers, in which rows have the colours of their series.
    table = FigurePlan(panels=(replace(figure.panels[0], form="table"),), kind="svg")
    svg = render_figure(table.as_thumbnail(40.0, 24.0))
    assert (b"<text" in svg, b"#d55e00" in svg) == (False, True)
    # A figure without data or with too many plots is refused.
    nothing = experiment_figure(tiny_results(tmp_path, values=FixedValues({})))
    for refused, why in ((nothing, "nothing to draw"), (replace(figure, panels=figure.panels * 5), "12 plots at most")):
        with pytest.raises(InputError, match=why):
            render_figure(refused)


def test_panels_stand_in_pairs_and_tables_take_the_whole_width(tmp_path: Path):
    lines, bars, trace = experiment_figure(tiny_results(tmp_path)).panels
    table = replace(lines, form="table")
    figure = FigurePlan(panels=(lines, bars, trace, table))
    assert figure.rows == ((lines, bars), (trace,), (table,))
    assert figure.width_in(lines) == figure.width_in(table) / 2
    assert FigurePlan(panels=(lines, bars), style=STYLES_BY_ID["ieee"]).rows == ((lines,), (bars,))


def test_long_heads_of_a_table_and_long_names_of_bars_are_broken_into_lines(tmp_path: Path):
    lines, bars, _trace = experiment_figure(tiny_results(tmp_path)).panels
    long = "Time to fill the bottom link again after the step (s)"
    table = replace(lines, form="table", points=(long, long))
    layout = panel_forms.table_layout(table, FigurePlan(panels=(table,), style=STYLES_BY_ID["ieee"]))
    assert layout.head_lines > 1
    assert [head.replace("\n", " ") for head in layout.cells[0][1:]] == [long, long]
    assert sum(layout.shares) == pytest.approx(1.0)
    named = replace(bars, points=(long, long))
    assert [panel_forms.names_lines(each, FigurePlan(panels=(each,))) for each in (bars, named)] == [1.0, 2.0]


@for_each(
    ("mean", "half", "told"),
    [
        (3.024, 0.11, "3.02 ± 0.11"),
        (4.8312, 0.0015, "4.83 ± 0.01"),
        (85.94, 415.2, "85.9 ± 416"),
        (23322.0, 647.6, "23 322 ± 648"),
        (0.09999, 0.0, "0.100 ± 0"),
        (2.0, math.nan, "2.00"),
        (math.nan, math.nan, "–"),
    ],
)
def test_interval_has_no_more_decimals_than_what_it_belongs_to(mean: float, half: float, told: str):
    assert panel_forms.interval_text(mean, half) == told


def test_capacity_is_drawn_by_its_corners_and_drawing_names_what_is_used_only(tmp_path: Path):
    trace = experiment_figure(tiny_results(tmp_path)).panels[2]
    x = np.arange(5000.0)
    area = replace(trace.series[0], name="capacity", x=x, means=np.where(x < 2500, 4.0, 8.0))
    svg = render_figure(FigurePlan(panels=(replace(trace, area=area),), kind="svg")).decode()
    assert len(svg) < 20_000
    assert "font-family: 'DejaVu Sans', sans-serif" in svg
    names = set(re.findall(r' id="([^"]*)"', svg))
    assert names <= set(re.findall(r"#([\w.-]+)", svg))


def test_long_interval_does_not_press_the_figure_flat(tmp_path: Path):
    lines = experiment_figure(tiny_results(tmp_path)).panels[0]
    huge = replace(lines, series=tuple(replace(s, halves=s.halves * 1000) for s in lines.series))
    svg = render_figure(FigurePlan(panels=(huge,), kind="svg")).decode()
    # Means of up to 6.5: an axis over the whole interval would reach thousands.
    assert "10000" not in svg
    assert not np.isnan(huge.series[0].halves).any()


@for_each("form", ["lines", "bars", "scatter"])
def test_no_interval_of_a_goodput_is_drawn_below_zero(tmp_path: Path, form: PanelForm):
    """A mean of 5.25 with half an interval of 12 or more; the interval of a signed quantity is drawn completely."""
    lines = experiment_figure(tiny_results(tmp_path)).panels[0]
    wide = np.full(2, 12.0)
    series = tuple(replace(each, halves=wide, x=each.means, x_halves=wide) for each in lines.series)
    panel = replace(lines, form=form, series=series)
    assert not panel.is_signed
    for is_signed in (False, True):
        shown = replace(panel, is_signed=is_signed, x_is_signed=is_signed)
        axes = Figure().add_subplot()
        draw = {"lines": panel_forms.draw_lines, "bars": panel_forms.draw_bars, "scatter": panel_forms.draw_scatter}
        draw[form](axes, shown, FigurePlan(panels=(shown,)))
        drawn = [np.asarray(path.vertices) for each in axes.collections for path in each.get_paths()]
        columns = (0, 1) if form == "scatter" else (1,)
        ends = [float(vertices[:, column].min()) for vertices in drawn for column in columns]
        assert ends
        assert (min(ends) < 0) is is_signed


def test_maps_and_shaded_clouds_have_a_scale_with_its_texts_and_names_along_their_axes():
    cells = (np.array([1.0, 2.0]), np.array([3.0, math.nan]))
    scale = ColourScale("Goodput (Mbit/s)", 1.0, 3.0, ticks=((1.0, "least"), (3.0, "most")))
    names = ((0.0, "1%"), (1.0, "10%"))
    empty = np.empty(0)
    texts = (("one", "two"), ("three", ""))
    blank = Panel("map", "", "Loss", "Rate", (), empty, (), x_ticks=names, y_ticks=names, scale=scale)
    heat = replace(blank, cells=cells, cell_texts=texts)
    places, shades = (np.array([0.1, 0.5]), np.array([0.2, 0.9])), np.array([1.0, 3.0])
    marks = PanelSeries("", OURS, 0, False, places[1], empty, x=places[0], shades=shades)
    cloud = replace(blank, form="scatter", series=(marks,))
    texts_of: tuple[tuple[Panel, set[str]], ...] = ((heat, {"one", "two", "three"}), (cloud, set()))
    for panel, shown in texts_of:
        drawing = render_figure(FigurePlan(panels=(panel,), kind="svg")).decode()
        words = set(re.findall(r">([^<>]+)</text>", drawing))
        assert words >= {"Goodput (Mbit/s)", "least", "most", "1%", "10%", "Loss", "Rate"} | shown


def test_an_axis_on_which_less_is_better_is_reversed_and_the_view_is_that_of_the_screen(tmp_path: Path):
    lines = experiment_figure(tiny_results(tmp_path)).panels[0]
    series = tuple(replace(each, x=each.means) for each in lines.series)
    cloud = replace(lines, form="scatter", series=series, better=(-1, 1), view=(3.0, 5.0, 2.0, 7.0))
    figure = Figure(layout="constrained")
    fill_figure(figure, FigurePlan(panels=(cloud,)))
    assert (figure.axes[0].get_xlim(), figure.axes[0].get_ylim()) == ((5.0, 3.0), (2.0, 7.0))
