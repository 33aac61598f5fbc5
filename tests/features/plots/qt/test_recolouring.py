"""Curves in colours chosen by a person, in all plots and runs, until they are reset."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QColorDialog, QMenu
from tests.helpers.fake_runs import finished_traces
from tests.helpers.fake_simulation import make_flow, make_scenario
from tests.helpers.present import child

from subflow_app.features.plots.core.drawing import BY_RUN, CurveChoices
from subflow_app.features.plots.qt.curve_id import CurveId
from subflow_app.features.plots.qt.legend import Legend
from subflow_app.features.plots.qt.legend_model import CURVE_ROLE
from subflow_app.features.plots.qt.plot_view import PlotView
from subflow_app.features.plots.qt.xy_plot import BarPlot
from subflow_app.toolkit.theme import DARK, set_current
from subflow_app.vocabulary import palette

WIFI = CurveId(0, "download/1", "subflow")
GREEN = palette.OKABE_ITO["green"]


@pytest.fixture
def view(view: PlotView) -> PlotView:
    view.set_choices(CurveChoices())
    view.show_runs([finished_traces(title="first"), finished_traces(title="second")])
    return view


def colours(view: PlotView, owner: str) -> set[str]:
    """Colours of this curve in all plots over time and the legend."""
    items = [pair for plot in view.stack.time_plots for pair in plot.curves.items()]
    drawn = {item.opts["pen"].color().name().upper() for key, item in items if key.owner == owner}
    listed = [view.legend_model.index_of(key).data(CURVE_ROLE) for key in view.stack.curves if key.owner == owner]
    return drawn | {palette.hex_colour(curve.colour) for curve in listed}


def test_a_line_has_its_new_colour_in_all_plots_and_runs(view: PlotView) -> None:
    before = colours(view, "download/2")
    view.set_colour(WIFI, GREEN)

    assert colours(view, "download/1") == {GREEN}
    assert colours(view, "download/2") == before
    set_current(DARK)
    assert colours(view, "download/1") == {GREEN}


def test_colour_is_kept_for_other_runs_and_can_be_reset(view: PlotView) -> None:
    own = colours(view, "download/1")
    view.set_colour(WIFI, "#123456")
    view.show_runs([finished_traces(title="third")])
    assert colours(view, "download/1") == {"#123456"}

    view.set_colour(WIFI, "")
    assert colours(view, "download/1") == own
    view.set_colour(WIFI, "#123456")
    view.reset_colours()
    assert colours(view, "download/1") == own


def test_where_colours_tell_runs_apart_a_line_has_its_new_colour_in_its_run(view: PlotView) -> None:
    view.set_choices(CurveChoices(colour_by=BY_RUN))
    of_the_other = view.stack.curves[WIFI._replace(run=1)].colour
    view.set_colour(WIFI, GREEN)

    assert palette.hex_colour(view.stack.curves[WIFI].colour) == GREEN
    assert view.stack.curves[WIFI._replace(run=1)].colour == of_the_other


def test_bars_have_the_colour_of_their_flow(view: PlotView) -> None:
    view.show_runs([finished_traces(make_scenario(make_flow("download"), make_flow("cross", "tcp", ("wifi",))))])
    view.set_plot_shown("goodput_bars", True)
    view.set_colour(CurveId(0, "download", "flow"), GREEN)
    bars = next(plot for plot in view.stack.plots if isinstance(plot, BarPlot))

    assert palette.hex_colour(bars.shown_bars()[0].colour) == GREEN


def test_menu_of_a_line_offers_distinct_colours_first(view: PlotView) -> None:
    legend = child(view, Legend)
    legend.set_current(WIFI)
    # A position beside all entries, as for the menu key: the menu belongs to the current entry.
    menu = child(legend.make_menu(legend.blocks[0], QPoint(5, 5000)), QMenu, "legend_colours")
    actions = [action for action in menu.actions() if not action.isSeparator()]

    assert [action.text() for action in actions[:3]] == ["Blue", "Vermilion", "Green"]
    actions[2].trigger()
    assert colours(view, "download/1") == {GREEN}


def test_any_other_colour_can_be_asked_for(view: PlotView) -> None:
    child(view, Legend).ask_colour(WIFI)
    dialog = child(view, QColorDialog, "colour_dialog")
    assert QColorDialog.customColor(0) == QColor(palette.OKABE_ITO["blue"])
    dialog.setCurrentColor(QColor("#AB34CD"))
    dialog.accept()

    assert {colour.upper() for colour in colours(view, "download/1")} == {"#AB34CD"}


def test_click_with_alt_shows_a_line_alone_as_a_double_click_does(view: PlotView) -> None:
    QApplication.processEvents()
    tree = child(view, Legend).blocks[0]
    index = view.legend_model.index_of(WIFI)
    position = tree.visualRect(index).center()
    QTest.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.AltModifier, position)

    assert view.hidden == frozenset(view.stack.curves) - {WIFI}
    assert "Double click: show only this" in index.data(Qt.ItemDataRole.ToolTipRole)
