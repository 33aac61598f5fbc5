"""The journey of a person with the time machine: a sweep with intervals, a scrubbed run, an explained point, a what-if.

The journey writes pictures for viewing: set SUBFLOW_PLOT_DIR to keep them.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from tests.helpers.journey import SIZE
from tests.helpers.present import present
from tests.helpers.time_journey import CONTROLLERS, FLOW, SEEDS, VIEWS, SweepDialogs, TimeJourney, everything_in
from tests.helpers.window import make_window

from subflow_app.features.plots.qt.curve_id import CurveId
from subflow_app.features.sweeps.qt.feature import SweepFeature
from subflow_app.shell.main_window import MainWindow
from subflow_sim.scenario import parse_scenario
from subflow_sim.simulation import Simulation

FORKED_AT_S = 80.0
DIFFERENCE = "top loss 0.001 % / 0 % → 2 %"  # forward and reverse; no ACKs were lost
PICTURES = (
    "1-new-sweep",
    "2-table",
    *(f"2-{view}" for view in VIEWS),
    "3-scrub-1",
    "4-explained",
    "5-what-if",
    "5-ghost-light",
)


@pytest.fixture
def journey(qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> Iterator[TimeJourney]:
    folder = Path(os.environ["SUBFLOW_PLOT_DIR"]) if "SUBFLOW_PLOT_DIR" in os.environ else tmp_path
    folder = folder / "time-journey"
    folder.mkdir(parents=True, exist_ok=True)
    dialogs = SweepDialogs()
    window = make_window(qapp, tmp_path, dialogs=dialogs)
    qtbot.addWidget(window)
    window.resize(SIZE)
    window.show()
    window.load()
    qtbot.waitUntil(lambda: not window.database.is_opening)
    window.bar.trigger("run.speed_express")
    dialogs.journey = TimeJourney(window, dialogs, folder)
    yield dialogs.journey
    window.close_at_once()


@pytest.mark.timeout(240)
def test_a_person_sweeps_scrubs_explains_and_asks_what_if(journey: TimeJourney) -> None:
    window = journey.window
    journey.sweep()
    sweep_shows_both_controllers_with_intervals(window)
    store = present(window.database.store)
    run_id = min(row.id for row in window.history.runs())
    row = store.run(run_id)
    scenario = parse_scenario(row.scenario_text or "")

    # Scrubbed back and forth: every packet and every queue is in the state of the run itself.
    journey.show(run_id)
    draw = random.Random(7)
    times_s = [round(draw.uniform(1.0, 199.0), 4) for _ in range(10)]
    assert times_s != sorted(times_s)
    original = Simulation(scenario, seed=row.seed)
    at = {}
    for time_s in sorted(times_s):
        original.run_until(time_s)
        at[time_s] = original.inspect()
    for time_s, seen in zip(times_s, journey.scrub(times_s), strict=True):
        assert seen.now_s == time_s
        assert everything_in(seen) == everything_in(at[time_s])
    # The canvas shows the last state.
    last = at[times_s[-1]]
    lengths = dict(zip(last.links.names, last.links.queue_pkts.tolist(), strict=True))
    assert len(last.packets) > 10
    expected = len(last.packets), {owner: length for owner, length in lengths.items() if length}
    journey.wait_for(lambda: journey.painted() == expected)

    # A point of the window's curve: the rule, computed from its numbers, gives the drawn window.
    point = journey.explain(f"{FLOW}/1", 60.0)
    (computed,) = point.worked
    assert computed.is_same
    fresh = Simulation(scenario, seed=row.seed)
    fresh.run_until(point.told.time_s)
    subflow = fresh.inspect().subflows
    cwnd_pkts = subflow.cwnd_pkts[subflow.names.index(f"{FLOW}/1")]
    assert computed.value == pytest.approx(cwnd_pkts, rel=1e-9)

    # A fork with a higher loss of the upper link: the same random losses until then, and the original as a ghost.
    forked = store.run(journey.fork(FORKED_AT_S, "top", "2%"))
    origin = present(store.forks.origin_of(forked.id))
    assert (origin.parent_id, origin.forked_at_s, origin.difference) == (run_id, FORKED_AT_S, DIFFERENCE)
    ghost_is_shown_from_the_fork_on(window)
    again = Simulation(parse_scenario(forked.scenario_text or ""), seed=forked.seed)
    again.run_until(FORKED_AT_S)
    original = Simulation(scenario, seed=row.seed)
    original.run_until(FORKED_AT_S)
    assert again.signature() == original.signature()
    again.run_until(again.duration_s)
    assert again.signature() == forked.signature != row.signature
    for name in PICTURES:
        assert not QImage(str(journey.folder / f"{name}.png")).isNull(), name


def sweep_shows_both_controllers_with_intervals(window: MainWindow) -> None:
    page = window.features[SweepFeature].session.panel.page
    rows = page.table.study_model.rows
    assert [row.levels for row in rows] == [(name,) for name in CONTROLLERS]
    assert [row.runs for row in rows] == [SEEDS] * len(CONTROLLERS)
    # Coupled controllers pool the two links: roughly 10/3 Mbit/s for the multipath connection (algorithms, T-10b).
    assert all(row.figures[0].ci95 > 0 for row in rows)


def ghost_is_shown_from_the_fork_on(window: MainWindow) -> None:
    (plot,) = [plot for plot in window.plots.stack.time_plots if plot.spec.id == "cwnd"]
    curves = {CurveId(c.run, c.owner, c.kind): c for c in plot.shown_curves()}
    line, ghost = (curves[CurveId(run, f"{FLOW}/1", "subflow")] for run in range(2))
    assert (line.is_ghost, ghost.is_ghost) == (False, True)
    assert FORKED_AT_S <= ghost.time_s[0] <= FORKED_AT_S + ghost.bin_s  # a point in the middle of its bin
    after = len(ghost.time_s) // 2
    assert line.values[-after:].mean() < 0.8 * ghost.values[-after:].mean()  # 2 % of loss reduce the window
    assert window.plots.stack.forks.texts == [(FORKED_AT_S, DIFFERENCE)]
