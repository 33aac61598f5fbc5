"""The transport bar, the parts that follow it, and the list of events, driven by mouse and keys with a fake clock."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QObject, QPoint, QPointF, Qt
from PySide6.QtGui import QAction, QImage, QPainter, QUndoStack
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QStyleOptionGraphicsItem
from pytestqt.qtbot import QtBot
from tests.helpers.desk import Desk, MakeDesk
from tests.helpers.fake_runs import finished_traces
from tests.helpers.fake_simulation import make_scenario
from tests.helpers.instants import P, make_instant
from tests.helpers.members import for_each
from tests.helpers.present import present
from tests.helpers.window import TWO_PATHS

from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.editor.qt.topology.event_strip import EventStrip
from subflow_app.features.editor.qt.topology.view import TopologyView
from subflow_app.features.explain.core.instants import PacketPlaces
from subflow_app.features.explain.core.run_events import RunEvents
from subflow_app.features.playhead.qt.canvas_show import ACK, DATA, DATAGRAM, CanvasShow, PacketItem
from subflow_app.features.playhead.qt.events_panel import EventsPanel
from subflow_app.features.playhead.qt.feature import PlayheadFeature, PlotsShow
from subflow_app.features.playhead.qt.playhead import FAST_S, Playhead, ScrubbedRun
from subflow_app.features.playhead.qt.strip import TransportStrip
from subflow_app.features.plots.qt.legend_model import AT
from subflow_app.features.plots.qt.plot_view import PlotView
from subflow_app.features.running.qt.run_status import RunStatus
from subflow_app.features.traces.core.traces import TraceMark
from subflow_app.toolkit.workers import Workers
from subflow_sim import Simulation

LINKS = ("wifi/forward", "wifi/reverse", "lte/forward", "lte/reverse")
SUBFLOWS = ("download/1", "download/2")
MARKS = (
    TraceMark(1.0, "download/1", "loss", 12.0),
    TraceMark(4.0, "wifi/forward", "link_down", 0.0),
    TraceMark(4.5, "download/1", "rto", 2.0),
    TraceMark(6.0, "wifi/forward", "link_up", 0.0),
)


class FakeReplay:
    """A packet travels along wifi with the progress of the run, and the queue holds one packet per simulated second."""

    notice = "made by another version"

    def __init__(self) -> None:
        self.sought: list[float] = []
        self.may_answer = threading.Event()
        self.may_answer.set()

    def prepare(self, _is_cancelled: Callable[[], bool], progress: Callable[[float], None]) -> bool:
        progress(1.0)
        return True

    def seek(self, t_s: float, _is_cancelled: Callable[[], bool]) -> Any:
        self.sought.append(t_s)
        assert self.may_answer.wait(20)
        queue = [P("lte/forward", "download/2", 0, 0.0, place) for place in range(int(t_s))]
        return make_instant(t_s, [P("wifi/forward", "download/1", 0, t_s / 10), *queue], LINKS, SUBFLOWS)


class Stage(QObject):
    """A playhead with all parts that follow it, without a window."""

    def __init__(self, qtbot: QtBot, plots: PlotView) -> None:
        super().__init__()
        self.now_s = 100.0
        self.workers = Workers(self)
        self.playhead = Playhead(self.workers, self, clock=lambda: self.now_s)
        self.view = TopologyView(ScenarioDoc(TWO_PATHS), QUndoStack(self))
        self.plots = plots
        self.canvas = CanvasShow(self.playhead, self.view, plots)
        PlotsShow(self.playhead, plots)
        self.panel = EventsPanel(self.playhead)
        self.panel.event_chosen.connect(self.playhead.seek)
        self.actions = {name: QAction(name, self) for name in NAMES}
        self.actions["play"].triggered.connect(lambda: self.playhead.toggle(1))
        # As long as the run: otherwise the lanes would show no position of it.
        self.lanes = EventStrip(ScenarioDoc(TWO_PATHS.replace('duration = "2s"', 'duration = "10s"')), QUndoStack(self))
        self.strip = TransportStrip(self.playhead, self.actions, self.lanes, RunStatus())
        for widget, size in ((self.view, (500, 400)), (self.panel, (500, 300))):
            qtbot.addWidget(widget)
            widget.resize(*size)
            widget.show()
        qtbot.addWidget(self.strip)
        self.strip.resize(1000, self.strip.height())
        self.strip.show()
        self.traces = finished_traces(make_scenario(), marks=MARKS)
        self.replay = FakeReplay()

    def show(self) -> None:
        self.plots.show_runs([self.traces])
        run = ScrubbedRun(self.traces, lambda: self.replay, lambda: RunEvents(self.traces, make_scenario()))
        self.playhead.set_runs([run])

    def close(self) -> None:
        self.playhead.close()
        self.workers.finish_all()
        self.plots.show_runs([])


_BACK, _FORTH = ("start", "previous_event", "step_back", "play_back"), ("play", "step_forward", "next_event", "end")
NAMES = (*_BACK, *_FORTH, "go_to", "live", "leave")


@pytest.fixture
def stage(qtbot: QtBot, view: PlotView) -> Iterator[Stage]:
    made = Stage(qtbot, view)
    made.show()
    qtbot.waitUntil(lambda: made.playhead.events is not None)
    yield made
    made.close()


def settled(qtbot: QtBot, stage: Stage) -> None:
    """Waits until the replay has answered all requests."""
    qtbot.waitUntil(lambda: not stage.playhead.is_waiting)
    stage.playhead.tick()


def test_the_bar_waits_for_a_run_and_nothing_moves_before_somebody_asks(qtbot: QtBot, view: PlotView) -> None:
    stage = Stage(qtbot, view)
    assert (stage.strip.field.text(), stage.strip.track.isEnabled()) == ("", False)
    stage.show()
    assert stage.strip.track.isEnabled()
    assert stage.strip.field.text() == "10.00 s"
    assert (stage.playhead.time_s, view.stack.pin_s, stage.canvas.places, stage.replay.sought) == (None, None, None, [])
    stage.playhead.set_runs([])
    assert (stage.strip.field.text(), stage.strip.track.isEnabled()) == ("", False)
    qtbot.waitUntil(lambda: not stage.workers.is_busy)
    stage.close()


def test_keys_move_by_hundredths_and_tenths(stage: Stage, qtbot: QtBot) -> None:
    track = stage.strip.track
    told: list[float] = []
    stage.playhead.moved.connect(told.append)
    QTest.keyClick(track, Qt.Key.Key_Home)
    keys, shift = Qt.Key, Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(track, keys.Key_Right)
    QTest.keyClick(track, keys.Key_Right, shift)
    QTest.keyClick(track, keys.Key_Left)
    QTest.keyClick(track, keys.Key_End)
    QTest.keyClick(track, keys.Key_Left, shift)
    assert told == pytest.approx([0.0, 0.1, 1.1, 1.0, 10.0, 9.0])
    assert track.value() == 90_000
    settled(qtbot, stage)
    assert stage.strip.message == FakeReplay.notice
    # The line in the plots can be dragged.
    line = stage.plots.stack.time_plots[1].pin
    line.setValue(3.0)
    line.sigDragged.emit(line)
    assert (stage.playhead.time_s, stage.plots.stack.time_plots[0].pin.value()) == (3.0, 3.0)
    settled(qtbot, stage)


def test_dragging_scrubs_forwards_and_backwards_and_everything_goes_along(stage: Stage, qtbot: QtBot) -> None:
    track = stage.strip.track

    def x_of(time_s: float) -> QPoint:
        return QPoint(round(float(track._x_of(np.array(time_s)))), track.height() // 2)

    QTest.mousePress(track, Qt.MouseButton.LeftButton, pos=x_of(2.0))
    shown: list[tuple[float, float, float]] = []
    for time_s in (5.0, 8.0, 3.0):
        QTest.mouseMove(track, x_of(time_s))
        settled(qtbot, stage)
        at_s = stage.playhead.time_s
        assert at_s == pytest.approx(time_s, abs=10 / track.width())
        instant, places = present(stage.playhead.instant), present(stage.canvas.places)
        assert instant.now_s == at_s
        # The line of the plots, the values in the legend, and the drawn state show the same time.
        assert (stage.plots.stack.pin_s, stage.plots.stack.cursor_s) == (at_s, at_s)
        assert len(places) == 1 + int(at_s)
        shown.append((at_s, float(places.x[~places.is_queued][0]), float(places.y[~places.is_queued][0])))
    QTest.mouseRelease(track, Qt.MouseButton.LeftButton, pos=x_of(3.0))
    # The packet lies on the drawn link at the progress of the run, compared with the curve of the canvas.
    curve = present(stage.view.scene.link_items()["wifi"].curve)
    points = np.array([(point.x(), point.y()) for point in curve.points])
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
    for time_s, x, y in shown:
        nearest = np.argmin(np.hypot(points[:, 0] - x, points[:, 1] - y))
        assert along[nearest] / along[-1] == pytest.approx(0.1 + 0.08 * time_s, abs=0.08)
        assert np.hypot(*(points[nearest] - (x, y))) < along[-1] / 30 + 6


def test_what_is_painted_is_where_the_packet_is(stage: Stage, qtbot: QtBot) -> None:
    stage.playhead.seek(5.0)
    settled(qtbot, stage)
    places = present(stage.canvas.places)
    moving = np.flatnonzero(~places.is_queued)[0]
    canvas = stage.view.canvas
    at = canvas.mapFromScene(QPointF(float(places.x[moving]), float(places.y[moving])))
    # The colour is that of the first subflow in the plots.
    assert canvas.grab().toImage().pixelColor(at).name() == "#0072b2"
    stage.playhead.leave()
    assert stage.canvas.places is None
    assert not stage.canvas.gauges.isVisible()
    # A link that is down at that time is drawn as down, from the marks.
    stage.playhead.seek(5.0)
    assert stage.view.scene.link_items()["lte"].queue_share is not None


def test_playing_goes_with_the_clock_until_the_end(stage: Stage, qtbot: QtBot) -> None:
    stage.playhead.seek(1.0)
    stage.playhead.set_speed(10.0)
    QTest.keyClick(stage.strip.track, Qt.Key.Key_Space)
    for _ in range(3):
        stage.now_s += 0.1
        stage.playhead.tick()
    assert stage.playhead.time_s == pytest.approx(4.0)
    stage.playhead.toggle(-1)
    stage.now_s += 0.2
    stage.playhead.tick()
    assert stage.playhead.time_s == pytest.approx(2.0)
    stage.playhead.toggle(1)
    for _ in range(5):
        stage.now_s += 0.2
        stage.playhead.tick()
    assert stage.playhead.time_s == 10.0
    assert not stage.playhead.transport.is_playing
    settled(qtbot, stage)
    # The plots follow less often during playback, but end at the same time.
    qtbot.waitUntil(lambda: stage.plots.stack.pin_s == 10.0)


def test_times_are_typed_and_bad_ones_told_beside_the_field(stage: Stage, qtbot: QtBot) -> None:
    field = stage.strip.field
    for typed, time_s in (("2500ms", 2.5), ("7", 7.0)):
        field.setText("")
        QTest.keyClicks(field, typed)
        QTest.keyClick(field, Qt.Key.Key_Return)
        assert stage.playhead.time_s == time_s
    field.setText("")
    QTest.keyClicks(field, "11s")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert stage.playhead.time_s == 7.0
    assert '"11s" is not in this run' in stage.strip.message
    assert field.accessibleDescription() == stage.strip.message
    QTest.keyClick(field, Qt.Key.Key_Backspace)
    assert '"11s" is not in this run' not in stage.strip.message
    settled(qtbot, stage)


def test_ticks_are_thinned_to_one_a_pixel(stage: Stage, qtbot: QtBot) -> None:
    stage.traces.add_marks(TraceMark(7.0 + k * 1e-4, "download/1", "loss", 5.0) for k in range(5000))
    stage.playhead.set_runs([])
    stage.show()  # events are read anew
    qtbot.waitUntil(lambda: len(stage.strip.track.tick_columns("loss")) >= 2)
    assert len(stage.strip.track.tick_columns("loss")) <= stage.strip.track.width() * 0.1
    assert len(stage.strip.track.tick_columns("rto")) == 1


def test_the_list_follows_the_playhead_and_leads_it(stage: Stage, qtbot: QtBot) -> None:
    table, model = stage.panel.table, stage.panel.model
    texts = [[model.index(row, column).data() for column in range(4)] for row in range(model.rowCount())]
    assert texts == [
        ["0.000000 s", "Flow starts", "download", ""],
        ["1.000000 s", "Loss, fast retransmit", "download · wifi", "ssthresh 12 pkt"],
        ["4.000000 s", "Link down", "wifi client→server", ""],
        ["4.500000 s", "Retransmission timeout", "download · wifi", "ssthresh 2 pkt"],
        ["6.000000 s", "Link up", "wifi client→server", ""],
    ]
    stage.playhead.seek(4.2)
    assert table.currentIndex().row() == 2
    stage.playhead.go_to_event(1)
    assert stage.playhead.time_s == 4.5
    stage.playhead.go_to_event(-1)
    assert stage.playhead.time_s == 4.0
    position = table.visualRect(model.index(4, 0)).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=position)
    assert stage.playhead.time_s == 6.0
    # With a filter, next and previous pass through the remaining events.
    stage.panel.kinds.setCurrentIndex(stage.panel.kinds.findText("Losses and timeouts"))
    stage.panel.kinds.activated.emit(stage.panel.kinds.currentIndex())
    assert model.rowCount() == 2
    stage.playhead.go_to_event(-1)
    assert stage.playhead.time_s == 4.5
    stage.panel.owners.setCurrentIndex(stage.panel.owners.findData("wifi"))
    stage.panel.owners.activated.emit(stage.panel.owners.currentIndex())
    assert model.rowCount() == 0
    settled(qtbot, stage)


def test_gauges_tell_windows_and_states(stage: Stage, qtbot: QtBot) -> None:
    stage.playhead.seek(2.0)
    settled(qtbot, stage)
    gauges = stage.canvas.gauges
    assert gauges.isVisible()
    # Names and numbers fit into a narrow column, and leave room for a bar.
    names, numbers = gauges.widths(284)
    metrics = gauges.fontMetrics()
    assert all(metrics.horizontalAdvance(each.label) < names for each in gauges.gauges)
    assert metrics.horizontalAdvance("34.2 pkt") < numbers
    assert names + numbers <= 244
    windows = [(each.label, each.window.cwnd_pkts, each.window.ssthresh_pkts) for each in gauges.gauges]
    assert windows == [("wifi", 10.0, 5.0), ("lte", 10.0, 5.0)]
    assert "cwnd 10 pkt, ssthresh 5 pkt, in flight 9 pkt" in gauges.accessibleDescription()


def test_packets_have_the_picture_to_themselves_while_a_run_is_scrubbed(stage: Stage, qtbot: QtBot) -> None:
    view = stage.view
    view.resize(260, 330)
    QApplication.processEvents()
    labels = view.scene._labels.values()
    assert view.canvas.zoom < 0.8  # labels are enlarged
    assert not all(label.is_crowded_out for label in labels)
    stage.playhead.seek(5.0)
    settled(qtbot, stage)
    qtbot.waitUntil(lambda: view._zoom_bar.isVisible() and not view.legend.isVisible())
    assert all(label.is_crowded_out for label in labels)
    # A gauge replaces an entry of the legend: a click chooses its flow.
    QTest.mouseClick(stage.canvas.gauges, Qt.MouseButton.LeftButton, pos=QPoint(20, 10))
    assert view.selected == "flows.download"
    stage.playhead.leave()
    assert view.legend.isVisible()
    assert not all(label.is_crowded_out for label in labels)


def test_packets_of_another_moment_are_faint_while_the_right_ones_are_late(stage: Stage, qtbot: QtBot) -> None:
    stage.playhead.seek(2.0)
    settled(qtbot, stage)
    item = present(stage.canvas.item)
    assert item.opacity() == 1.0
    stage.replay.may_answer.clear()
    stage.playhead.seek(8.0)
    assert item.opacity() == 1.0
    qtbot.waitUntil(lambda: item.opacity() < 0.5)
    stage.replay.may_answer.set()
    settled(qtbot, stage)
    assert stands_at(stage.playhead, 8.0)
    assert item.opacity() == 1.0


@for_each("size", [(260, 330), (300, 240), (420, 420), (900, 600)])
def test_the_picture_keeps_its_place_while_a_run_is_scrubbed(stage: Stage, qtbot: QtBot, size: tuple[int, int]) -> None:
    view = stage.view
    view.resize(*size)
    QApplication.processEvents()

    def seen() -> tuple[dict[str, QPoint], float]:
        places = {name: view.canvas.mapFromScene(at) for name, at in view.scene.node_positions().items()}
        return places, view.canvas.zoom

    before = seen()
    for time_s in (2.0, 5.0, 0.5):
        stage.playhead.seek(time_s)
        settled(qtbot, stage)
        QApplication.processEvents()
        assert seen() == before, time_s
    # The view still follows changes of the panel by a person.
    view.resize(size[0] + 200, size[1] + 160)
    QApplication.processEvents()
    assert view.canvas.zoom > min(before[1], 1.4)  # the most is 1.5
    view.resize(*size)
    QApplication.processEvents()
    stage.playhead.leave()
    QApplication.processEvents()
    assert seen() == before


@for_each("zoom", [0.1, 0.4, 1.0, 3.0])
def test_packets_of_every_kind_can_be_seen_at_every_zoom(zoom: float, qtbot: QtBot) -> None:
    for kind in (DATA, ACK, DATAGRAM):
        item = PacketItem()
        none = np.zeros(1)
        kinds, seqs = np.array([kind], np.uint8), np.array([0], np.int32)
        places = PacketPlaces(none, none, none, none + 1, kinds, seqs, none > 0, 0)
        item.show_places(places, {0: "#ff0000"})
        picture = QImage(64, 64, QImage.Format.Format_RGB32)
        picture.fill(Qt.GlobalColor.white)
        painter = QPainter(picture)
        painter.translate(32.5, 32.5)
        painter.scale(zoom, zoom)
        item.paint(painter, QStyleOptionGraphicsItem())
        painter.end()
        column = [picture.pixelColor(32, y).green() for y in range(64)]
        assert sum(255 - green for green in column) / 255 >= 2.5  # px high, counted as ink


def stands_at(playhead: Playhead, time_s: float) -> bool:
    return playhead.instant is not None and playhead.instant.now_s == time_s


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    return make_desk(PlayheadFeature)


def test_a_real_run_is_scrubbed_and_the_picture_is_that_of_the_run(desk: Desk, qtbot: QtBot) -> None:
    feature = desk.features[PlayheadFeature]
    playhead, strip = feature.playhead, feature.strip
    assert not strip.track.isEnabled()
    desk.session.toggle()
    qtbot.waitUntil(lambda: not desk.runs.is_running)
    assert strip.track.isEnabled()
    assert not desk.bar["playhead.leave"].isEnabled()
    original = Simulation(present(desk.documents.doc.scenario), sample_interval_s=0.1)
    wanted = {}
    for time_s in (0.313, 0.9, 1.777):
        original.run_until(time_s)
        wanted[time_s] = original.inspect()
    for time_s in (1.777, 0.313, 0.9):
        playhead.seek(time_s)
        qtbot.waitUntil(partial(stands_at, playhead, time_s))
        shown, there = present(playhead.instant), wanted[time_s]
        for column in ("link", "subflow", "kind", "seq", "progress", "queue_position"):
            assert np.array_equal(getattr(shown.packets, column), getattr(there.packets, column)), column
        assert np.array_equal(shown.links.queue_pkts, there.links.queue_pkts)
        assert len(present(present(feature.canvas).places)) == len(there.packets)
    assert desk.bar["playhead.leave"].isEnabled()
    # The open scenario differs from that of the run: a notice offers the scenario of the run.
    desk.documents.open_example("t-1link")
    assert playhead.run is None
    desk.history.select([desk.history.runs()[0].id])
    desk.opening.show()
    qtbot.waitUntil(lambda: playhead.run is not None)
    playhead.seek(0.9)
    qtbot.waitUntil(partial(stands_at, playhead, 0.9))
    assert "a scenario other than that of this run" in desk.banners.text("time")
    desk.banners.press("time", "Open this run's scenario")
    qtbot.waitUntil(lambda: desk.documents.doc.scenario is not None and "wifi" in desk.documents.doc.scenario.links)
    assert desk.banners.text("time") == ""
    desk.bar.trigger("playhead.leave")
    assert (playhead.time_s, desk.plots.stack.pin_s) == (None, None)
    desk.document_stack.setClean()
    desk.wait_for_workers()


def test_a_run_that_goes_on_is_followed_until_somebody_scrubs(desk: Desk, qtbot: QtBot) -> None:
    playhead = desk.features[PlayheadFeature].playhead
    desk.session.start(0.5)
    qtbot.waitUntil(lambda: desk.runs.is_paused)
    qtbot.waitUntil(lambda: playhead.shown_s == pytest.approx(0.5))
    assert playhead.transport.follows
    assert not desk.bar["playhead.live"].isEnabled()
    playhead.seek(0.2)
    qtbot.waitUntil(partial(stands_at, playhead, 0.2))
    assert desk.bar["playhead.live"].isEnabled()
    playhead.seek(1.5)
    assert playhead.time_s == pytest.approx(0.5)
    desk.bar.trigger("playhead.live")
    assert playhead.transport.follows
    assert playhead.time_s is None
    playhead.seek(0.3)
    desk.runs.stop()
    qtbot.waitUntil(lambda: not desk.runs.is_running)
    # The chosen time stays when the run ends.
    assert playhead.time_s == 0.3
    assert not desk.bar["playhead.live"].isEnabled()
    desk.wait_for_workers()


def test_the_keyboard_goes_into_the_list_that_opens(desk: Desk) -> None:
    desk.run_once()
    desk.docks.go_to("events")
    assert desk.features[PlayheadFeature].content.isAncestorOf(present(desk.focusWidget()))


def test_pointing_moves_every_view_until_the_mouse_leaves(stage: Stage, qtbot: QtBot) -> None:
    playhead, stack = stage.playhead, stage.plots.stack
    stage.panel.show()

    def shown() -> tuple[float | None, str, str, float | None, int]:
        heading = stage.plots.legend_model.heading(AT)
        return (
            stack.cursor_s,
            heading,
            stage.strip.field.text(),
            stage.lanes._position_s,
            stage.panel.table.currentIndex().row(),
        )

    stage.strip.track.pointed.connect(playhead.point_at)
    # Before a click, samples are shown, and the run is not simulated for it.
    playhead.point_at(4.2)
    qtbot.waitUntil(lambda: shown() == (4.2, "At 4.20 s", "4.20 s", 4.2, 2))
    assert (playhead.time_s, stage.replay.sought) == (None, [])
    assert stage.view.scene.link_items()["lte"].queue_share is not None
    playhead.point_at(None)
    qtbot.waitUntil(lambda: stage.lanes._position_s == 10.0)
    assert stage.view.scene.link_items()["lte"].queue_share is None
    # A click sets the time; from then on, fast states are shown at the time under the mouse.
    playhead.seek(2.0)
    settled(qtbot, stage)
    present(playhead._loop).took_s = 0.0  # whatever a busy computer took
    assert playhead.is_fast
    playhead.point_at(6.0)
    qtbot.waitUntil(lambda: stands_at(playhead, 6.0))
    assert (playhead.time_s, stack.pin_s, stack.cursor_s) == (2.0, 2.0, 6.0)
    assert len(present(stage.canvas.places)) == 7
    playhead.point_at(None)
    qtbot.waitUntil(lambda: stands_at(playhead, 2.0) and shown()[:3] == (2.0, "At 2.00 s", "2.00 s"))


def test_slow_states_wait_for_a_click(stage: Stage, qtbot: QtBot) -> None:
    stage.playhead.seek(2.0)
    settled(qtbot, stage)
    present(stage.playhead._loop).took_s = FAST_S
    stage.playhead.point_at(6.0)
    qtbot.waitUntil(lambda: stage.plots.legend_model.heading(AT) == "At 6.00 s")
    assert stage.replay.sought == [2.0]
    assert present(stage.canvas.item).opacity() < 0.5  # the packets are those of another time
    stage.playhead.seek(6.0)
    settled(qtbot, stage)
    assert present(stage.canvas.item).opacity() == 1.0


def test_the_track_lies_below_the_axis_of_the_plots(desk: Desk) -> None:
    desk.run_once()
    strip, stack = desk.features[PlayheadFeature].strip, desk.plots.stack
    desk.plots.resize(900, 500)
    desk.plots.show()
    strip.resize(1200, strip.height())
    strip.show()
    strip.align((strip.mapToGlobal(QPoint(60, 0)).x(), strip.mapToGlobal(QPoint(860, 0)).x()), (0.5, 1.0))
    ends = np.array([0.0, desk.features[PlayheadFeature].playhead.transport.end_s])
    assert (strip.track.x() + strip.track._x_of(ends)).tolist() == pytest.approx([60.0, 860.0])
    assert stack.time_plots
    # Without plots, and with a narrow axis, the cell keeps its width.
    strip.align(None, None)
    assert strip.width() - strip.track.width() >= 256
