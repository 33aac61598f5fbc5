"""Plots in separate windows follow the runs, the time and the legend, and return when closed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.helpers.fake_runs import finished_traces

from subflow_app.features.plots.qt.plot_view import PlotView
from subflow_app.features.plots.qt.popped_plot import PoppedPlot
from subflow_app.toolkit.theme import DARK, set_current


@pytest.fixture
def view(view: PlotView) -> Iterator[PlotView]:
    view.show_runs([finished_traces()])
    yield view
    view.return_all()


def popped(view: PlotView, plot_id: str) -> PoppedPlot:
    view.pop_out(plot_id)
    return view._popped[plot_id]


def here(view: PlotView) -> list[str]:
    return [plot.spec.id for plot in view.stack.plots]


def test_popped_plot_is_there_and_not_here_until_it_is_closed(view: PlotView) -> None:
    window = popped(view, "cwnd")
    assert here(view) == ["throughput", "rtt"]
    assert window.windowTitle() == "Congestion window plot — Subflow"
    assert [plot.spec.id for plot in window.stack.plots] == ["cwnd"]

    window.close()
    assert here(view) == ["throughput", "cwnd", "rtt"]
    assert view.popped_ids == ()
    # Switching the plot off closes its window too.
    popped(view, "cwnd")
    view.set_plot_shown("cwnd", False)
    assert (view.popped_ids, here(view)) == ((), ["throughput", "rtt"])
    # Other kinds of plots open in windows too.
    for plot_id in ("rtt_cdf", "goodput_bars"):
        view.set_plot_shown(plot_id, True)
        popped(view, plot_id).grab()
    assert here(view) == ["throughput", "rtt"]


def test_popped_plot_follows_runs_legend_and_switches(view: PlotView) -> None:
    window = popped(view, "cwnd")
    # Time is linked in both directions.
    for one, other, times in ((view.stack, window.stack, (2.0, 4.0)), (window.stack, view.stack, (5.0, 8.0))):
        one.set_time_range(*times)
        assert other.time_range == pytest.approx(times, abs=1e-3)
    window.stack.set_cursor(6.0)
    assert view.stack.cursor_s == 6.0
    view.show_runs([finished_traces(title="Another"), finished_traces(title="And another")])
    assert len(window.stack.time_plots[0].curves) == 4
    assert len(view.legend_model.specs) == 3  # a block for each plot, in either window

    hidden = frozenset(list(view.stack.curves)[:1])
    view.legend_model.set_hidden(hidden)
    assert window.stack.hidden == hidden
    view.set_log(True)
    assert window.stack.is_log
    view.set_colour(next(iter(window.stack.curves)), "#123456")
    set_current(DARK)
    view.refresh()
    window.grab()


def test_some_plot_is_always_here(view: PlotView) -> None:
    told: list[str] = []
    view.told.connect(told.append)
    for plot_id in ("throughput", "cwnd", "rtt"):
        view.pop_out(plot_id)
    assert here(view) == ["rtt"]
    assert "last plot stays" in told[0]

    view.set_plot_shown("rtt", False)
    assert len(here(view)) == 1
    view.return_all()
    assert here(view) == ["throughput", "cwnd"]


def test_the_plot_under_the_mouse_pops_out_and_comes_back(view: PlotView) -> None:
    view.stack.scene().sigMouseMoved.emit(view.stack.time_plots[2].view.sceneBoundingRect().center())
    view.pop_out()
    assert "rtt" in view.popped_ids
    view.return_all()
    assert not view.popped_ids
