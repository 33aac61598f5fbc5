"""``subflow bench plots`` measures what it says; how fast that is, no test tells."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from subflow_app.bench import plots


def test_every_view_is_measured_with_and_without_our_settings(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plots, "_FRAMES", 1)
    monkeypatch.setattr(plots, "_WARM_UP", 0)
    frames = plots.measure_plots()

    assert list(frames) == [*plots.VIEWS, plots.LIVE]
    assert all(times.ours_ms > 0 and times.plain_ms > 0 for times in frames.values())
