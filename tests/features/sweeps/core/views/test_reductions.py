"""Numbers of the views of a sweep, derived by hand from those of `small_study`."""

import numpy as np
import pytest
from tests.helpers.present import present
from tests.helpers.studies import CONTROLLER, LOSS, make_parameter, small_study

from subflow_app.features.sweeps.core.views.pictures import (
    box_plot,
    heat_map,
    line_plot,
    runs_csv,
    scatter,
    span_of,
    study_columns,
    study_rows,
)
from subflow_app.features.sweeps.core.views.study import StudyPoint, StudyRun, SweepStudy, make_figure
from subflow_app.features.sweeps.core.views.view import Picture
from subflow_app.vocabulary.tables import TextTable


def one_parameter(values: list[float], texts: tuple[str, ...] = ("5ms",)) -> SweepStudy:
    """One point per text, with these values as the goodputs of its seeds; equal values belong to one run."""
    runs = tuple(StudyRun(seed, seed, {"goodput_bps": value}, f"{value}") for seed, value in enumerate(values))
    points = tuple(StudyPoint((place,), runs) for place in range(len(texts)))
    return SweepStudy("One", (make_parameter("links.lte.delay", texts),), (make_figure("goodput_bps"),), points)


def span(content: Picture) -> tuple[float, float]:
    scale = present(content.panel.scale)
    return scale.low, scale.high


def test_map_has_a_cell_for_each_pair_of_levels():
    content = heat_map(small_study(), "goodput_bps", CONTROLLER, LOSS)
    # Rows: 1 %, 10 %; columns: lia, olia. The last point has no run.
    np.testing.assert_allclose(content.panel.cells, [[5.0, 8.0], [1.0, np.nan]])
    # Intervals of 2 * 12.706, 0 and 0 are 8.47 wide on average, and the means lie 7 apart: colours span the larger.
    assert span(content) == pytest.approx((4.5 - 12.706 / 3, 4.5 + 12.706 / 3), rel=1e-3)
    assert content.note.startswith("The colours span 8.471 Mbit/s")
    assert [hit.points for hit in content.hits] == [(0,), (2,), (1,), (3,)]
    assert content.hits[0].text.endswith("Goodput: 5 ± 13 Mbit/s (95 % interval)\n2 runs")
    assert "Averaged" not in content.note


def test_colours_reach_from_the_least_to_the_greatest_mean_where_intervals_are_narrower():
    # Without intervals, and with means further apart than the width of the intervals.
    assert span(heat_map(small_study(), "goodput_bps", CONTROLLER)) == (3.0, 8.0)
    assert span(heat_map(small_study(), "mean_rtt_s", LOSS, fixed={CONTROLLER: 0})) == (50.0, 80.0)
    assert "The colours reach" not in heat_map(small_study(), "goodput_bps", CONTROLLER).note


def test_map_averages_over_what_is_not_held_and_says_so():
    content = heat_map(small_study(), "goodput_bps", CONTROLLER)
    # lia: 4, 6, 1, 1; olia: 8, 8.
    np.testing.assert_allclose(content.panel.cells, [[3.0, 8.0]])
    assert content.note == f"Averaged over {LOSS}, so no interval is shown."
    assert content.panel.cell_texts == (("3.000", "8.000"),)
    held = heat_map(small_study(), "goodput_bps", CONTROLLER, fixed={LOSS: 1})
    np.testing.assert_allclose(held.panel.cells, [[1.0, np.nan]])
    assert held.note == ""


def test_box_has_quartiles_and_whiskers_within_one_and_a_half_of_its_height():
    # Quartiles of 1..8 and 30 by linear interpolation at ranks 2, 4, 6 of 0..8: 3, 5, 7. Whiskers may reach to 3 - 6
    # and 7 + 6: the values 1 and 8 lie within, 30 does not.
    values = [1e6, 2e6, 3e6, 4e6, 5e6, 6e6, 7e6, 8e6, 30e6]
    content = box_plot(one_parameter(values), "goodput_bps", "links.lte.delay")
    box = present(content.panel.box(0, 0))
    assert (box.low, box.q1, box.median, box.q3, box.high) == (1.0, 3.0, 5.0, 7.0, 8.0)
    assert [number for number, _x in box.dots] == list(range(9))
    assert content.hits[-1].run_ids == (8,)
    assert content.panel.legend == ""
    # With very many values, only those beyond the whiskers are drawn.
    many = present(box_plot(one_parameter([*values, *[5e6] * 60]), "goodput_bps", "links.lte.delay").panel.box(0, 0))
    assert {number for number, _x in many.dots} == {0, 1, 2, 3, 5, 6, 7, 8}


def test_boxes_stand_by_level_and_series():
    content = box_plot(small_study(), "goodput_bps", LOSS, CONTROLLER)
    panel = content.panel
    boxes = {(series, point): panel.box(series, point) for series in range(2) for point in range(2)}
    found = {place: (round(box.middle), box.median) for place, box in boxes.items() if box is not None}
    assert found == {(0, 0): (0, 5), (1, 0): (0, 8), (0, 1): (1, 1)}
    assert [hit.y for hit in content.hits if not hit.run_ids] == [5, 8, 1]
    assert content.hits[0].x < 0 < next(hit.x for hit in content.hits if hit.y == 8)
    alone = box_plot(small_study(), "goodput_bps", CONTROLLER, CONTROLLER)
    assert alone.panel.legend == ""
    assert alone.note == f"Each box has runs with all values of {LOSS}."


def test_lines_run_over_the_numbers_of_a_parameter():
    content = line_plot(small_study(), "goodput_bps", LOSS, CONTROLLER)
    panel = content.panel
    lia, olia = panel.series
    assert (panel.form, panel.legend, lia.name, olia.name) == ("lines", CONTROLLER, "lia", "olia")
    assert panel.positions == pytest.approx([1.0, 10.0])
    assert lia.means == pytest.approx([5.0, 1.0])
    assert lia.halves[1] == pytest.approx(0.0)
    assert content.hits[2].text.endswith("2 runs")
    assert olia.means == pytest.approx([8.0, np.nan], nan_ok=True)
    # From 1 % to 10 % is a decade.
    assert panel.is_log_x
    assert not line_plot(small_study(), "goodput_bps", CONTROLLER).panel.is_log_x
    assert not panel.is_signed


def test_names_have_points_beside_each_other_and_no_line_between_them():
    content = line_plot(small_study(), "goodput_bps", CONTROLLER, LOSS)
    low, high = content.panel.series
    assert content.panel.x_ticks == ((0.0, "lia"), (1.0, "olia"))
    assert low.x == pytest.approx([-0.06, 0.94])
    assert high.x == pytest.approx([0.06])
    # The axis spans at least the mean width of the intervals, 2 * 12.706 / 3.
    assert (content.panel.form, len(low.x_halves)) == ("scatter", 2)
    assert content.panel.least == pytest.approx(2 * 12.706 / 3, rel=1e-3)


def test_axis_of_lines_reaches_over_a_tenth_of_the_values():
    content = line_plot(one_parameter([21.0e6], ("5ms", "9ms")), "goodput_bps", "links.lte.delay")
    assert content.panel.least == pytest.approx(2.1)
    assert content.panel.form == "lines"


def test_seeds_that_repeat_a_run_have_no_interval():
    content = line_plot(one_parameter([21.0e6] * 5, ("5ms", "9ms")), "goodput_bps", "links.lte.delay")
    assert np.isnan(content.panel.series[0].halves).all()
    assert "±" not in content.hits[0].text
    assert content.hits[0].text.endswith("\n1 run")


def test_scatter_knows_which_way_is_better():
    content = scatter(small_study(), "mean_rtt_s", "goodput_bps", CONTROLLER)
    assert content.panel.better == (-1, 1)
    assert [hit.text.splitlines()[1] for hit in content.hits] == ["loss 1%", "loss 10%", "loss 1%"]
    lia, olia = content.panel.series
    assert (lia.name, len(lia.x), olia.name, len(olia.x)) == ("lia", 2, "olia", 1)
    assert olia.x == pytest.approx([50.0])
    assert olia.means == pytest.approx([8.0])
    # 40 and 60 ms: standard deviation sqrt(200), by sqrt(2) runs and t(1): 127.06 ms.
    assert olia.x_halves == pytest.approx([127.06], rel=1e-3)
    assert olia.halves == pytest.approx([0.0])
    held = scatter(small_study(), "mean_rtt_s", "goodput_bps", CONTROLLER, {LOSS: 1})
    assert [hit.points for hit in held.hits] == [(1,)]


def test_colours_of_equal_values_have_room_around_them():
    assert list(span_of(np.array([2.0, 2.0, np.nan]))) == pytest.approx([1.9, 2.1])
    assert span_of(np.array([0.0])) == (-0.5, 0.5)
    assert span_of(np.array([np.nan])) == (0.0, 1.0)


def test_table_tells_means_with_their_intervals():
    study = small_study()
    rows = study_rows(study, ["goodput_bps", "mean_rtt_s"])
    columns = study_columns(study, study.figures)
    assert [column.text(rows[0]) for column in columns] == ["lia", "1%", "5 ± 13", "50.0 ± 0", "2"]
    assert [column.text(rows[3]) for column in columns] == ["olia", "10%", "–", "–", "0"]
    by_goodput = sorted(rows, key=columns[2].sort_key)
    assert [row.point for row in by_goodput] == [3, 1, 0, 2]
    by_loss = sorted(rows, key=columns[1].sort_key, reverse=True)
    assert [row.levels[1] for row in by_loss] == ["10%", "10%", "1%", "1%"]
    assert sorted(rows, key=columns[4].sort_key)[0].point == 3
    copied = TextTable.of(rows[:1], columns).tab_separated.splitlines()
    assert copied[0].split("\t") == [CONTROLLER, LOSS, "Goodput (Mbit/s)", "RTT per flow (ms)", "Runs"]
    assert copied[1].split("\t")[2] == "5 ± 13"


def test_csv_has_a_line_for_each_run_in_si_units():
    lines = runs_csv(small_study()).splitlines()
    assert lines[0] == f"{CONTROLLER},{LOSS},seed,run_id,goodput_bps,mean_rtt_s"
    assert lines[1] == "lia,1%,1,1,4000000.0,0.05"
    assert len(lines) == 7
