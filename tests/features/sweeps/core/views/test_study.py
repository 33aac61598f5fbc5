import math

import numpy as np
import pytest
from tests.helpers.studies import CONTROLLER, LOSS, large_study, make_parameter, small_study

from subflow_app.features.sweeps.core.views.pictures import span_of
from subflow_app.features.sweeps.core.views.study import make_figure, short_key
from subflow_app.vocabulary.number_text import spread_texts
from subflow_sim.stats import Estimate


def test_numbers_are_shown_in_the_largest_unit_that_fits():
    rates = make_parameter("links.lte.rate", ("500kbit/s", "8Mbit/s"))
    assert rates.title == "links.lte.rate (Mbit/s)"
    assert [rates.position(level) for level in (0, 1)] == pytest.approx([0.5, 8.0])
    assert make_parameter("links.lte.delay", ("5ms", "20ms")).unit == "ms"
    assert make_parameter("links.lte.loss", ("1%", "2%")).position(1) == pytest.approx(2.0)
    assert make_parameter("links.lte.queue", ("20pkt", "5pkt")).title == "links.lte.queue (pkt)"


def test_names_keep_their_order_and_stand_at_their_rank():
    controllers = make_parameter(CONTROLLER, ("olia", "lia"))
    assert not controllers.is_numeric
    assert [controllers.position(level) for level in (0, 1)] == [0.0, 1.0]
    assert controllers.title == CONTROLLER


def test_unit_of_a_figure_is_told_by_its_key():
    goodput = make_figure("goodput_bps")
    assert goodput.axis_title == "Goodput (Mbit/s)"
    assert goodput.text(7.5e6) == "7.500 Mbit/s"
    assert (goodput.better, make_figure("mean_rtt_s").better, make_figure("packets").better) == (1, -1, 0)
    assert make_figure("flows.download.p95_rtt_s").unit == "ms"
    assert make_figure("loss_ratio").text(0.025) == "2.50 %"


def test_mean_has_the_interval_of_students_t():
    study = small_study()
    # 4 and 6: mean 5, standard deviation sqrt(2), t(1) = 12.706: 12.706 * sqrt(2) / sqrt(2) = 12.706.
    found = study.mean([0], "goodput_bps")
    assert found.mean == pytest.approx(5e6)
    assert found.ci95 == pytest.approx(12.706e6, rel=1e-3)
    assert study.figure("goodput_bps").interval_text(found) == "5 ± 13 Mbit/s"


def test_runs_of_several_points_have_no_interval():
    # 4, 6, 1, 1.
    found = small_study().mean([0, 1], "goodput_bps")
    assert found.mean == pytest.approx(3e6)
    assert math.isnan(found.ci95)


def test_points_are_chosen_by_levels_and_described_by_the_rest():
    study = small_study()
    assert study.chosen({CONTROLLER: 0}) == [0, 1]
    # Losses are sorted by size: 1 % is the first level.
    assert study.chosen({LOSS: 0}) == [0, 2]
    assert study.words(1) == "controller lia, loss 10%"
    assert study.words(1, [CONTROLLER]) == "loss 10%"
    assert study.run_ids([0, 3]) == [1, 2]
    assert study.default_series() == CONTROLLER
    assert study.default_figure("jain", "mean_rtt_s") == "mean_rtt_s"


def test_a_key_is_told_in_full_where_its_last_part_is_not_enough():
    study = large_study(1)
    assert short_key(LOSS, study) == "loss"
    with pytest.raises(KeyError):
        study.figure("nothing")


def test_mean_has_no_more_digits_than_its_interval_tells_nor_than_anybody_reads():
    goodput = make_figure("goodput_bps")
    assert goodput.interval_text(Estimate(9.6518e6, 0.12e6)) == "9.65 ± 0.12 Mbit/s"
    assert goodput.interval_text(Estimate(9.65178e6, 520.0)) == "9.6518 ± 0.0005 Mbit/s"
    assert goodput.interval_text(Estimate(9.65178e6, 5.0)) == "9.6518 ± <0.0001 Mbit/s"
    assert goodput.interval_text(Estimate(0.0, 5.0)) == "0.000000 ± 0.000005 Mbit/s"


def test_figures_of_flows_and_links_say_whose_they_are():
    assert make_figure("flows.mptcp.goodput_bps").axis_title == "mptcp: Goodput (Mbit/s)"
    assert make_figure("flows.download.3.mean_rtt_s").axis_title == "download.3: Mean RTT (ms)"
    assert make_figure("links.top/forward.max_queue_pkts").axis_title == "top/forward: Longest queue (pkt)"
    assert make_figure("goodput_bps").owner == ""
    assert make_figure("flows.mptcp.novelty").name == "flows.mptcp.novelty"


def test_numbers_of_a_colour_bar_differ():
    assert spread_texts((9.6518, 9.6521, 9.6524)) == ["9.65180", "9.65210", "9.65240"]
    assert spread_texts((0.0, 50.0, 100.0)) == ["0", "50", "100"]
    assert span_of(np.array([1.0, 1.0 + 1e-15])) == pytest.approx((0.95, 1.05))
