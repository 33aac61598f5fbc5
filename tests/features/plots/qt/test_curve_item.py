"""Gaps of a curve on the screen keep their width, even if many samples share a column of pixels."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
import pytest
from numpy.typing import NDArray
from pytestqt.qtbot import QtBot

from subflow_app.features.plots.core import Curve
from subflow_app.features.plots.qt.curve_item import TraceCurve
from subflow_app.features.traces.core.traces import SUBFLOW
from subflow_app.vocabulary.palette import ColourKey

COUNT = 4000


def shown(qtbot: QtBot, values: NDArray[np.float32]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Times and values painted in some 200 pixels: some twenty samples to a column."""
    times = np.arange(1, len(values) + 1, dtype=np.float64) * 0.1
    widget = pg.PlotWidget()
    qtbot.addWidget(widget)
    widget.resize(260, 100)
    with qtbot.waitExposed(widget):
        widget.show()
    widget.setXRange(0, float(times[-1]), padding=0)
    item = TraceCurve(1.0)
    widget.getViewBox().addItem(item)
    item.feed(Curve("a", "a/1", SUBFLOW, ColourKey(0, 0), times, values))
    x, y = item.getData()
    assert x is not None
    assert len(x) < COUNT / 4
    return x, y


def test_a_curve_that_is_known_now_and_then_is_seen(qtbot: QtBot) -> None:
    values = np.full(COUNT, np.nan, np.float32)
    values[::3] = np.arange(0, COUNT, 3)
    _, y = shown(qtbot, values)
    assert np.isfinite(y).all()
    # Highest and lowest of each column, like a curve without gaps.
    assert np.all(y[::2] >= y[1::2])
    assert y.max() == pytest.approx(COUNT, abs=40)


def test_a_gap_is_as_wide_as_it_is(qtbot: QtBot) -> None:
    values = np.ones(COUNT, np.float32)
    values[1000:2000] = np.nan
    x, y = shown(qtbot, values)
    gap = x[np.isnan(y)]
    assert gap.min() == pytest.approx(100, abs=3)
    assert gap.max() == pytest.approx(200, abs=3)
    assert np.isfinite(y[(x < 97) | (x > 203)]).all()
