"""The journey of a person with the time machine: sweeps T-10b, scrubs a run, explains a point, and forks it.

    QT_SCALE_FACTOR=2 python -m tests.helpers.time_journey FOLDER

All actions use the means of a person: dialogs, actions, keys and mouse. The journey writes pictures of the window into
FOLDER for viewing.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from tests.helpers.journey import SIZE, Journey
from tests.helpers.window import ScriptedDialogs, at_rest, make_window

from subflow_app.features.explain.core.explained import ExplainedDecision
from subflow_app.features.explain.qt.feature import ExplainFeature
from subflow_app.features.forking.qt.feature import ForkFeature
from subflow_app.features.playhead.qt.canvas_show import PacketItem
from subflow_app.features.playhead.qt.feature import PlayheadFeature
from subflow_app.features.playhead.qt.playhead import Playhead
from subflow_app.features.plots.qt.curve_id import CurveId
from subflow_app.features.sweeps.qt.feature import SweepFeature
from subflow_app.features.sweeps.qt.new_dialog import NewSweepDialog
from subflow_sim.instant import Instant

SCENARIO = "t-10b"
FLOW = "mptcp"
CONTROLLERS = ("lia", "olia")
SEEDS = 5
VIEWS = ("heat", "lines", "boxes", "scatter")


class SweepDialogs(ScriptedDialogs):
    """Fills in the real dialog of a new sweep like a person; other questions have scripted answers."""

    def __init__(self) -> None:
        super().__init__()
        self.journey: TimeJourney | None = None

    def ask(self, make: Any) -> Any:
        if not isinstance(make, partial) or make.func is not NewSweepDialog:
            return super().ask(make)
        assert self.journey is not None
        dialog = make(self.journey.window)
        dialog.show()
        dialog.flow.setCurrentIndex(dialog.flow.findData(FLOW))
        dialog.controllers.choose(CONTROLLERS)
        dialog.seeds.setText(f"1..{SEEDS}")
        self.journey.wait_for(lambda: dialog.answer is not None)
        self.journey.picture("1-new-sweep", dialog)
        dialog.accept()
        answer = dialog.answer
        dialog.deleteLater()
        return answer


class TimeJourney(Journey):
    """The stages of the journey in order; each leaves the window in the initial state of the next."""

    def sweep(self) -> None:
        """Sweeps LIA against OLIA on T-10b, five seeds each, to the end, and shows all views of the results."""
        window = self.window
        window.documents.open_example(SCENARIO)
        session = window.features[SweepFeature].session
        before = len(window.history.runs())
        window.bar.trigger("sweep.new")
        self.wait_for(lambda: not session.is_busy and len(window.history.runs()) == before + len(CONTROLLERS) * SEEDS)
        page = session.panel.page
        self.wait_for(
            lambda: (
                page.study is not None
                and sum(len(point.runs) for point in page.study.points) == len(CONTROLLERS) * SEEDS
            )
        )
        self.picture("2-table")
        for view in VIEWS:
            page.set_view(view)
            self.wait_for(lambda: page.is_drawn)
            self.picture(f"2-{view}")
        page.set_view("table")

    def show(self, run_id: int) -> None:
        """Shows one run in the plots, with its topology, and the playhead to scrub it."""
        window = self.window
        window.bar.trigger("view.workspace_run")
        window.history.select([run_id])
        window.bar.trigger("history.open")
        window.docks.raise_panel("plots")
        self.wait_for(lambda: [window.shown.id_of(0)] == [run_id] and len(window.plots.runs) == 1)

    def scrub(self, times_s: Sequence[float]) -> list[Instant]:
        """Drags the playhead to these times one after the other; returns the pictured state at each of them."""
        playhead = self.window.features[PlayheadFeature].playhead
        seen = []
        for number, time_s in enumerate(times_s):
            playhead.seek(time_s)
            self.wait_for(partial(_is_at, playhead, time_s))
            assert playhead.instant is not None
            seen.append(playhead.instant)
            if number < 2:
                self.picture(f"3-scrub-{number + 1}")
        return seen

    def painted(self) -> tuple[int, dict[str, int]]:
        """The number of packets on the canvas, including those without room, and the packets in each numbered queue."""
        places = [item.places for item in self.window.topology.scene.items() if isinstance(item, PacketItem)]
        if len(places) != 1 or places[0] is None:
            return 0, {}
        return len(places[0]) + places[0].left_out, {mark.owner: mark.waiting for mark in places[0].queues}

    def explain(self, owner: str, after_s: float) -> ExplainedDecision:
        """Clicks the curve of a subflow's window, with the mouse, at the first sample after a time."""
        window = self.window
        window.docks.set_open("explain", True)
        feature = window.features[ExplainFeature]

        def place() -> QPoint | None:
            """Current place of the sample: bins change with the width of the plot."""
            for plot in window.plots.stack.time_plots:
                for curve in plot.shown_curves() if plot.spec.id == "cwnd" else ():
                    if CurveId(curve.run, curve.owner, curve.kind) == CurveId(0, owner, "subflow"):
                        sample = int(np.searchsorted(curve.time_s, after_s))
                        point = QPointF(float(curve.time_s[sample]), float(curve.values[sample]))
                        stack = window.plots.stack
                        return QPoint(stack.mapFromScene(plot.view.mapViewToScene(point)))
            return None

        # The opened panel takes room from the plots.
        self.wait_for(lambda: place() is not None)
        self.wait_for(at_rest(place))
        found = place()
        assert found is not None
        QTest.mouseClick(window.plots.stack.viewport(), Qt.MouseButton.LeftButton, pos=found)
        self.wait_for(lambda: not feature.is_busy and feature.content.point is not None)
        self.picture("4-explained")
        point = feature.content.point
        assert point is not None
        return point

    def fork(self, at_s: float, link: str, loss: str) -> int:
        """Forks the run with a higher loss of that link from a time on; returns the id of the fork."""
        window = self.window
        before = len(window.history.runs())
        window.features[PlayheadFeature].playhead.seek(at_s)
        window.topology.select(f"links.{link}")
        feature = window.features[ForkFeature]
        window.bar.trigger("fork.new")
        self.wait_for(lambda: feature.dialog is not None)
        dialog = feature.dialog
        assert dialog is not None
        for field, text in ((dialog.time, f"{at_s:g} s"), (dialog.field("loss"), loss)):
            field.selectAll()
            QTest.keyClicks(field, text)
        self.picture("5-what-if", dialog)
        dialog.start.click()
        self.wait_for(lambda: not window.runs.is_running and len(window.history.runs()) == before + 1)
        self.wait_for(lambda: len(window.plots.runs) == 2)
        for theme in ("light", "dark"):
            window.bar.trigger(f"view.theme_{theme}")
            self.picture(f"5-ghost-{theme}")
        window.bar.trigger("view.theme_light")
        return window.history.runs()[0].id


def _is_at(playhead: Playhead, time_s: float) -> bool:
    return not playhead.is_waiting and playhead.instant is not None and playhead.instant.now_s == time_s


def everything_in(instant: Instant) -> list[tuple[object, ...]]:
    """All data about the packets and queues of an instant, for comparison."""
    packets = instant.packets
    columns: tuple[NDArray[np.generic], ...] = (
        packets.link,
        packets.subflow,
        packets.kind,
        packets.seq,
        packets.progress,
        packets.queue_position,
    )
    rows: list[tuple[object, ...]] = [*zip(*(column.tolist() for column in columns), strict=True)]
    return [*rows, tuple(instant.links.queue_pkts.tolist())]


def main(folder: Path) -> None:
    """The whole journey, in a separate window."""
    from subflow_app.shell.app import make_application

    folder.mkdir(parents=True, exist_ok=True)
    application = make_application([])
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["XDG_DATA_HOME"] = scratch
        dialogs = SweepDialogs()
        window = make_window(application, Path(scratch), database=Path(scratch) / "subflow.db", dialogs=dialogs)
        window.resize(SIZE)
        window.show()
        window.load()
        journey = dialogs.journey = TimeJourney(window, dialogs, folder)
        journey.wait_for(lambda: not window.database.is_opening)
        journey.sweep()
        run = min(row.id for row in window.history.runs())
        journey.show(run)
        journey.scrub((150.0, 20.0, 90.0))
        journey.explain("mptcp/1", 60.0)
        journey.fork(80.0, "top", "2%")
        window.close_at_once()


if __name__ == "__main__":
    # Before Qt reads it: the pictures must not depend on this machine's screen.
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    main(Path(sys.argv[1]))
