"""Curves of trainings and the picture of a policy: the drawn values equal the reported values."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from tests.helpers.fake_trainings import FEATURES, FakeDesk, FakePolicy, observations

from subflow_app.features.plots.qt.panel_plot import PanelPlot
from subflow_app.features.training.core.policy_surface import policy_surface
from subflow_app.features.training.core.training_metrics import TRAINING_PLOTS
from subflow_app.features.training.core.training_progress import Training
from subflow_app.features.training.qt.training_plots import MetricPlot, TrainingPlots
from subflow_app.toolkit.theme import DARK, set_current
from subflow_app.vocabulary.picture import ColourScale


@pytest.fixture
def desk(tmp_path: Path) -> FakeDesk:
    return FakeDesk(tmp_path / "trainings")


@pytest.fixture
def plots(qtbot: QtBot) -> Iterator[TrainingPlots]:
    made = TrainingPlots(TRAINING_PLOTS)
    qtbot.addWidget(made)
    made.resize(QSize(900, 600))
    made.show()
    yield made
    made.close()


def plot_of(plots: TrainingPlots, metric: str) -> MetricPlot:
    return next(plot for plot in plots.plots if plot.spec.metric.key == metric)


def learned(desk: FakeDesk, **options: float) -> Training:
    training = desk.add()
    desk.learn(training, 50, **options)  # type: ignore[arg-type] # numbers of the helper
    return training


def test_curves_become_a_figure_in_the_same_units(plots: TrainingPlots, desk: FakeDesk) -> None:
    assert plots.panels() == ()
    training = learned(desk)
    plots.show_trainings([(training, 0)])

    panel = next(each for each in plots.panels() if "Mbit/s" in each.y_text)
    assert (panel.form, panel.x_text) == ("trace", "Decisions (thousands)")
    np.testing.assert_allclose(panel.series[0].means, training.log.values("flow_goodput_bps") / 1e6)
    np.testing.assert_allclose(panel.series[0].x, training.log.values("step") / 1000)
    lines = plots.data_text().splitlines()
    assert lines[0] == "training,measure,axis,position,value"
    assert len([line for line in lines if ",flow_goodput_bps," in line]) == 50


def test_curves_are_in_the_units_of_their_axes(plots: TrainingPlots, desk: FakeDesk) -> None:
    training = learned(desk)

    plots.show_trainings([(training, 0)])

    x, y = plot_of(plots, "flow_goodput_bps").curves[training.id].getOriginalDataset()
    np.testing.assert_allclose(x, training.log.values("step") / 1000)
    np.testing.assert_allclose(y, training.log.values("flow_goodput_bps") / 1e6)
    _x, y = plot_of(plots, "actor_saturation").curves[training.id].getOriginalDataset()
    np.testing.assert_allclose(y, training.log.values("actor_saturation") * 100)

    plots.set_x("elapsed_s")

    plot = plot_of(plots, "return_mean")
    x, _y = plot.curves[training.id].getOriginalDataset()
    np.testing.assert_allclose(x, training.log.values("elapsed_s") / 60)
    assert "min" in plots.plots[-1].item.getAxis("bottom").labelText


def test_new_reports_are_drawn_and_without_new_ones_nothing_is(plots: TrainingPlots, desk: FakeDesk) -> None:
    training = learned(desk)
    plots.show_trainings([(training, 0)])
    curve = plot_of(plots, "return_mean").curves[training.id]
    drawn: list[object] = []
    curve.sigPlotChanged.connect(drawn.append)

    plots.refresh()
    assert drawn == []
    desk.report(training, step=99_000.0, return_mean=7.0)
    plots.refresh()

    assert curve.getOriginalDataset()[1][-1] == 7.0
    assert plot_of(plots, "return_mean").curves[training.id] is curve


def test_a_long_training_is_drawn_from_few_points_until_someone_zooms_in(plots: TrainingPlots, desk: FakeDesk) -> None:
    training = desk.add()
    steps = np.arange(1.0, 50_001.0)
    training.log.extend_columns({"step": 1000 * steps, "return_mean": np.sin(steps)})
    plots.show_trainings([(training, 0)])
    plot = plot_of(plots, "return_mean")

    def drawn() -> np.ndarray:
        x, _y = plot.curves[training.id].getOriginalDataset()
        return np.asarray(x)

    assert 2000 < len(drawn()) < 4200
    plot.view.setXRange(1000.0, 1010.0, padding=0.0)
    plot.view.sigRangeChangedManually.emit([True, False])  # same as a turn of the wheel
    np.testing.assert_array_equal(drawn(), np.arange(999.0, 1012.0))

    plots.fit()

    assert drawn()[-1] == 50_000.0
    assert 2000 < len(drawn()) < 4200


def test_classics_are_bands_of_the_newest_evaluation(plots: TrainingPlots, desk: FakeDesk) -> None:
    training = learned(desk)
    plots.show_trainings([(training, 0)])

    bands = plot_of(plots, "flow_goodput_bps").bands

    assert list(bands) == ["lia", "olia", "balia", "wvegas"]
    assert bands["lia"].estimate.mean == 2.05e6
    assert bands["lia"].estimate.low < 2.05e6 < bands["lia"].estimate.high
    assert plot_of(plots, "return_mean").bands == {}
    classics = ["lia 2.05 Mbit/s", "olia 2 Mbit/s", "balia 1.9 Mbit/s", "wvegas 1.1 Mbit/s"]
    assert plots.legend_texts() == [training.name, *classics]


def test_bands_are_those_of_the_first_training_alone(plots: TrainingPlots, desk: FakeDesk) -> None:
    first, second = desk.add(), learned(desk)
    plots.show_trainings([(first, 0), (second, 1)])
    assert plot_of(plots, "flow_goodput_bps").bands == {}
    plots.show_trainings([(second, 1), (first, 0)])
    assert len(plot_of(plots, "flow_goodput_bps").bands) == 4


def test_a_saturated_actor_is_warned_of(plots: TrainingPlots, desk: FakeDesk) -> None:
    training = desk.add()
    desk.report(training, step=1.0, actor_saturation=0.5)
    plots.show_trainings([(training, 0)])
    title = plot_of(plots, "actor_saturation").title
    assert "above" not in title.text()

    desk.report(training, step=2.0, actor_saturation=0.51)
    plots.refresh()

    assert "above 50 %" in title.text()


def test_a_training_keeps_its_colour_in_both_themes(plots: TrainingPlots, desk: FakeDesk) -> None:
    first, second = learned(desk), learned(desk, rng=2)
    plots.show_trainings([(first, 0), (second, 1)])
    curves = plot_of(plots, "return_mean").curves
    ground = plots.backgroundBrush().color()
    light = [curves[each.id].opts["pen"].color().name() for each in (first, second)]

    set_current(DARK)

    dark = [curves[each.id].opts["pen"].color().name() for each in (first, second)]
    assert len({*light, *dark}) == 4
    assert plots.backgroundBrush().color() != ground


def test_a_training_without_reports_draws_nothing_and_breaks_nothing(plots: TrainingPlots, desk: FakeDesk) -> None:
    training = desk.add()
    plots.show_trainings([(training, 0)])
    plots.fit()
    QApplication.processEvents()
    x, _y = plot_of(plots, "return_mean").curves[training.id].getOriginalDataset()
    assert x is None or len(x) == 0


def test_a_wide_window_has_more_columns_than_a_narrow_one(plots: TrainingPlots, desk: FakeDesk) -> None:
    plots.show_trainings([(learned(desk), 0)])

    def columns() -> int:
        QApplication.processEvents()
        return len({round(plot.item.geometry().x()) for plot in plots.plots})

    plots.resize(1500, 500)
    wide = columns()
    plots.resize(350, 900)
    assert columns() < wide


def test_plots_that_come_later_share_the_whole_height(plots: TrainingPlots, desk: FakeDesk) -> None:
    # As in a training that starts: return and goodput first, the others with their first values.
    training = desk.add()
    plots.set_specs(TRAINING_PLOTS[:2])
    plots.show_trainings([(training, 0)])
    desk.learn(training, 20)
    plots.set_specs(TRAINING_PLOTS[:5])
    for width, height in ((900, 600), (420, 600), (1200, 400)):
        plots.resize(width, height)
        QApplication.processEvents()
        heights = {round(plot.view.geometry().height()) for plot in plots.plots}
        bottom = max(plot.item.geometry().bottom() for plot in plots.plots)
        assert max(heights) - min(heights) <= 1
        assert 0.95 * plots.height() < bottom <= plots.height()


def test_numbers_are_below_the_lowest_plots_and_clear_of_each_other(plots: TrainingPlots, desk: FakeDesk) -> None:
    plots.show_trainings([(learned(desk), 0)])
    QApplication.processEvents()
    lowest = {round(plot.item.geometry().x()): plot for plot in plots.plots}
    for plot in plots.plots:
        shown = plot.item.getAxis("bottom").style["showValues"]
        assert shown == (plot is lowest[round(plot.item.geometry().x())])

    plots.resize(900, 420)
    QApplication.processEvents()
    for plot in plots.plots:
        (low, high), height = plot.view.viewRange()[1], plot.view.height()
        numbered = plot.item.getAxis("left").tickValues(low, high, height)[0][1]
        assert numbered
        apart = np.diff(numbered) * height / (high - low)
        assert (apart >= plots.fontMetrics().height() - 1).all(), plot.spec.metric.key


def test_the_picture_of_a_policy_has_its_values_where_they_belong(qtbot: QtBot) -> None:
    surface = policy_surface(FakePolicy(), FEATURES, observations(), 0, 1, resolution=11)
    choices = ((-1.0, "decrease"), (1.0, "increase"))
    panel = surface.panel("Sending rate", "RTT", ColourScale("Window change", -1.0, 1.0, "fading", choices))
    picture = PanelPlot("heat_map", "Policy")
    qtbot.addWidget(picture)
    picture.show_panel(panel, ())
    # Low rate and low RTT: more window; the other corner: less.
    assert panel.cells[0][0] == pytest.approx(surface.action[0, 0])
    assert panel.cells[0][0] > 0.5 > -0.5 > panel.cells[-1][-1]
    # A cell around each value extends by half a cell beyond both ends.
    left, right, low, high = panel.extent
    assert (left + right) / 2 == pytest.approx((surface.x[0] + surface.x[-1]) / 2)
    assert right - left == pytest.approx((surface.x[-1] - surface.x[0]) * 11 / 10)
    assert high - low == pytest.approx((surface.y[-1] - surface.y[0]) * 11 / 10)
    assert picture.view.viewRange()[0] == pytest.approx([left, right])
    assert picture.titles() == ("Sending rate", "RTT")
    assert (picture.levels(), picture.bar_title()) == ((-1.0, 1.0), "Window change")
    assert picture.bar_ticks() == ["decrease", "increase"]
