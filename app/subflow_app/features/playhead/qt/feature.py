"""Playhead in the window: transport bar, canvas, list of events, and a line in the plots, all at one simulated time.

The playhead belongs to the runs in the plots, and all views with a time follow it. Its line in the plots can be
dragged; the legend shows the values at its time.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import QObject, Qt

from subflow_app.features.editor.qt.topology.event_strip import EventStrip
from subflow_app.features.playhead.qt.playhead import Playhead, ScrubbedRun
from subflow_app.features.playhead.qt.strip import BUTTONS, TransportStrip
from subflow_app.features.traces.core.events import DECISION
from subflow_app.toolkit.action_bar import ActionSpec, possible
from subflow_app.toolkit.feature import FeatureHolder, PanelFeature
from subflow_app.toolkit.ports import StudyPorts
from subflow_app.toolkit.widgets.banner import Way
from subflow_app.toolkit.widgets.shorthand import timer
from subflow_app.vocabulary.language import tr, translatable

if TYPE_CHECKING:
    from PySide6.QtGui import QUndoStack

    from subflow_app.features.editor.qt.documents import Documents
    from subflow_app.features.editor.qt.topology.view import TopologyView
    from subflow_app.features.explain.core.run_events import RunEvents
    from subflow_app.features.explain.core.seek_loop import SeekableRun
    from subflow_app.features.playhead.qt.canvas_show import CanvasShow
    from subflow_app.features.playhead.qt.events_panel import EventsPanel
    from subflow_app.features.plots.qt.plot_view import PlotView
    from subflow_app.features.running.core.runs import RunJob
    from subflow_app.features.running.qt.run_control import RunControl
    from subflow_app.features.running.qt.run_session import RunSession
    from subflow_app.features.running.qt.run_status import RunStatus
    from subflow_app.features.running.qt.shown_runs import RunOpening, ShownRuns
    from subflow_app.features.traces.core.traces import Traces
    from subflow_app.toolkit.notices import Notices
    from subflow_app.toolkit.preferences import Preferences
    from subflow_store import Store


# Update interval of the plots during playback; not shorter, because each update redraws all plots.
_PLAYING_MS = 66


class PlotsShow(QObject):
    """Moves the playhead line in the plots of one view."""

    def __init__(self, playhead: Playhead, plots: PlotView) -> None:
        super().__init__(playhead)
        self._playhead = playhead
        self._plots = plots
        self._lines: weakref.WeakSet[Any] = weakref.WeakSet()
        self._timer = timer(self, self._show, _PLAYING_MS, is_single=True)
        playhead.moved.connect(self._on_moved)
        playhead.left.connect(self._on_left)

    def _on_moved(self, _time_s: float) -> None:
        if not self._playhead.transport.is_playing:
            self._timer.stop()
            self._show()
        elif not self._timer.isActive():
            self._timer.start()

    def _on_left(self) -> None:
        self._timer.stop()
        self._plots.set_pin(None)

    def _show(self) -> None:
        time_s, preview_s = self._playhead.time_s, self._playhead.preview_s
        if time_s is not None and preview_s is None:
            self._let_lines_be_dragged()
            self._plots.set_pin(time_s)
        elif preview_s is not None:
            self._plots.point_at(preview_s)

    def _let_lines_be_dragged(self) -> None:
        for stack in self._plots.stacks:
            for plot in stack.time_plots:
                if plot.pin not in self._lines:
                    self._lines.add(plot.pin)
                    plot.pin.setMovable(True)
                    plot.pin.setCursor(Qt.CursorShape.SizeHorCursor)
                    # Drawn above the crosshair, which `set_pin` moves to the same time.
                    plot.pin.setZValue(21)
                    plot.pin.sigDragged.connect(self._on_dragged)

    def _on_dragged(self, line: Any) -> None:
        if self._playhead.run is not None:
            self._playhead.seek(float(line.value()))


class PlayheadPorts(StudyPorts, Protocol):
    """Parts of the window that the playhead uses."""

    documents: Documents
    document_stack: QUndoStack
    notices: Notices
    opening: RunOpening
    plots: PlotView
    preferences: Preferences
    run_status: RunStatus
    runs: RunControl
    session: RunSession
    shown: ShownRuns
    topology: TopologyView


class PlayheadFeature(PanelFeature["EventsPanel"]):
    """Transport bar, the views that follow it, and the list of events."""

    panel_name = "events"
    title = translatable("Events")
    room = (298, 112)  # px; minimum size of the list of events
    scrolls = False

    def __init__(self, ports: PlayheadPorts) -> None:
        """Starts without a time."""
        super().__init__()
        self.ports = ports
        self.playhead = Playhead(ports.workers, self)
        names = (*BUTTONS, "go_to", "live", "leave")
        self.lanes = EventStrip(ports.documents.doc, ports.document_stack)
        self.strip: TransportStrip = TransportStrip(
            self.playhead, {name: ports.bar[f"playhead.{name}"] for name in names}, self.lanes, ports.run_status
        )
        self._jobs: dict[int, RunJob] = {}  # jobs of runs in memory, by the identity of their traces
        self.canvas: CanvasShow | None = None  # created at the first seek
        self._plots = PlotsShow(self.playhead, ports.plots)
        playhead = self.playhead
        self._acts: dict[str, Callable[[], object]] = {
            "play": partial(playhead.toggle, 1),
            "play_back": partial(playhead.toggle, -1),
            "step_back": partial(playhead.step, -1),
            "step_forward": partial(playhead.step, 1),
            "previous_event": partial(playhead.go_to_event, -1),
            "next_event": partial(playhead.go_to_event, 1),
            "start": playhead.go_to_start,
            "end": playhead.go_to_end,
            "go_to": self.strip.focus_time,
            "live": playhead.follow,
            "leave": playhead.leave,
        }
        self._was_possible: frozenset[str] = frozenset()
        self._was_looking = False

    def do(self, name: str) -> None:
        """Executes an action of the Time menu; the name is its id without ``playhead.``."""
        self._acts[name]()

    def move_to(self, time_s: float) -> None:
        """Moves the playhead; does nothing while it follows a run in progress, which a click must not hold."""
        if self.playhead.run is not None and not self.playhead.transport.follows:
            self.playhead.seek(time_s)

    def make(self) -> EventsPanel:
        """Creates the list of events."""
        from subflow_app.features.playhead.qt.events_panel import EventsPanel

        content = EventsPanel(self.playhead)
        content.event_chosen.connect(self._on_event_chosen)
        return content

    def connect_parts(self) -> None:
        """Connects signals of plots, runs and document."""
        ports, playhead = self.ports, self.playhead
        ports.shown.changed.connect(self._on_shown)
        ports.runs.ticked.connect(lambda _progress: playhead.on_run_grew())
        ports.runs.ended.connect(lambda _job, _result: self._on_shown())
        ports.plots.time_clicked.connect(self.move_to)
        ports.plots.pointed.connect(playhead.point_at)
        self.strip.pointed.connect(playhead.point_at)
        ports.plots.line_chosen.connect(lambda line: playhead.set_run(line.run))
        playhead.moved.connect(self._on_moved)
        playhead.left.connect(self._on_left)
        playhead.changed.connect(self._on_changed)
        ports.documents.edited.connect(self._compare_picture)
        ports.documents.replaced.connect(lambda _doc: self._compare_picture())
        self.strip.said.connect(self._tell)
        ports.documents.replaced.connect(self.lanes.set_document)
        ports.topology.selection_changed.connect(self.lanes.set_selected)
        self.lanes.row_chosen.connect(ports.topology.select)
        self.lanes.activated.connect(ports.topology.activated)
        self.lanes.failed.connect(ports.topology.edit_refused)
        ports.plots.axis_changed.connect(self._align)

    def _align(self) -> None:
        self.strip.align(self.ports.plots.axis_ends, self.ports.plots.seen_s)

    def possible(self) -> frozenset[str]:
        """Ids of the possible actions.

        Seeking requires a run, and "live" a running simulation that the playhead does not follow.
        """
        run, transport = self.playhead.run, self.playhead.transport
        if run is None:
            return frozenset()
        names = set(BUTTONS) | {"go_to"}
        if run.goes_on and not transport.follows:
            names.add("live")
        if transport.time_s is not None:
            names.add("leave")
        return frozenset(f"playhead.{name}" for name in names)

    def close(self) -> None:
        """Ends seeks and playback."""
        self.playhead.close()

    # ---- choice of runs ----

    def _on_shown(self) -> None:
        runs = self.ports.plots.runs
        kept = {id(traces) for traces in runs}
        self._jobs = {key: job for key, job in self._jobs.items() if key in kept}
        job = self.ports.runs.job
        if job is not None:
            self._jobs[id(job.traces)] = job
        self.playhead.set_runs([self._scrubbed(place, traces) for place, traces in enumerate(runs)])

    def _scrubbed(self, place: int, traces: Traces) -> ScrubbedRun:
        job, run_id = self._jobs.get(id(traces)), self.ports.shown.id_of(place)
        store = self.ports.database.store
        budget_bytes = self.ports.preferences.settings.replay_budget_bytes
        if job is not None:
            goes_on = self.ports.runs.job is job
            return ScrubbedRun(
                traces,
                partial(_live_replay, job, budget_bytes),
                partial(_events_of_job, job),
                lambda: job.live_changes,
                (lambda: job.progress.sim_time_s) if goes_on else None,
            )
        if run_id is not None and store is not None:
            return ScrubbedRun(
                traces, partial(_stored_replay, store, run_id, budget_bytes), partial(_events_of_stored, traces)
            )
        return ScrubbedRun(traces, None, partial(_events_of_stored, traces))

    # ---- following ----

    def _show_on_canvas(self) -> None:
        from subflow_app.features.playhead.qt.canvas_show import CanvasShow

        canvas = self.canvas = CanvasShow(self.playhead, self.ports.topology, self.ports.plots)
        # Connected after the canvas, which counts the omitted packets while it draws.
        self.playhead.arrived.connect(lambda: self.strip.say_left_out(canvas.left_out))

    def _on_moved(self, _time_s: float) -> None:
        if self.canvas is None:
            self._show_on_canvas()
        self._note_looking()

    def _on_left(self) -> None:
        self.strip.say_left_out(0)
        self._note_looking()

    def _on_event_chosen(self, time_s: float) -> None:
        self.playhead.transport.stop()
        self.playhead.seek(time_s)

    def _note_looking(self) -> None:
        """While a time is shown, the canvas does not follow a run in progress."""
        is_looking = self.playhead.looked_s is not None
        if is_looking != self._was_looking:
            self._was_looking = is_looking
            self.ports.session.hold_link_states(is_looking)
            self._compare_picture()

    def _on_changed(self) -> None:
        self._note_looking()
        possible = self.possible()
        if possible != self._was_possible:
            self._was_possible = possible
            self.changed.emit()

    def _compare_picture(self) -> None:
        canvas = self.canvas if self.playhead.time_s is not None else None
        self.strip.say_of_picture(canvas.difference() if canvas is not None else "")

    def _tell(self, text: str) -> None:
        ways = [Way(tr("Open this run's scenario"), self._open_scenario)] if self.strip.is_of_picture else []
        self.ports.notices.time_told(text, ways)

    def _open_scenario(self) -> None:
        run_id = self.ports.shown.id_of(self.playhead.run_shown)
        run = self.playhead.run
        job = self._jobs.get(id(run.traces)) if run is not None else None
        if job is not None:
            self.ports.documents.open_text(job.scenario_text, job.name)
        elif run_id is not None:
            self.ports.opening.open_scenario_of(run_id)


def _live_replay(job: RunJob, budget_bytes: int) -> SeekableRun:
    from subflow_app.features.explain.core.replay import Replay

    return Replay.live(job, budget_bytes=budget_bytes)


def _stored_replay(store: Store, run_id: int, budget_bytes: int) -> SeekableRun:
    from subflow_app.features.explain.core.replay import Replay

    return Replay.stored(store, run_id, budget_bytes=budget_bytes)


def _events_of_job(job: RunJob) -> RunEvents:
    from subflow_app.features.explain.core.run_events import RunEvents

    events = RunEvents(job.traces, job.scenario)
    events.take_new(job.live_changes)
    return events


def _events_of_stored(traces: Traces) -> RunEvents:
    from subflow_app.features.explain.core.run_events import RunEvents
    from subflow_app.features.fairness.core.analysis import scenario_of

    # Measured traces have no scenario, but their marks are still events.
    return RunEvents(traces, scenario_of(traces), decisions=traces.events(DECISION.name))


# Id after "playhead.", text, tool tip, icon, shortcut.
_PLAYHEAD = (
    (
        "play",
        "&Play",
        "Play the run from here at the speed of the transport bar, or stop",
        "play",
        "F12",
    ),
    (
        "play_back",
        "Play &backwards",
        "Play the run backwards from here, or stop",
        "play_back",
        "Shift+F12",
    ),
    (
        "step_back",
        "Step bac&k",
        "Go to the previous sample of the run that is shown",
        "step_back",
        "Shift+F10",
    ),
    (
        "step_forward",
        "Step &forward",
        "Go to the next sample of the run that is shown",
        "step",
        "Ctrl+Shift+F10",
    ),
    (
        "previous_event",
        "Pre&vious event",
        "Go to the previous event in the list",
        "previous_event",
        "Shift+F3",
    ),
    (
        "next_event",
        "&Next event",
        "Go to the next event in the list",
        "next_event",
        "F3",
    ),
    (
        "start",
        "To the &start",
        "Go to the beginning of the run that is shown",
        "first",
        "Alt+Shift+Home",
    ),
    (
        "end",
        "To the &end",
        "Go to the end of the run that is shown",
        "last",
        "Alt+Shift+End",
    ),
    (
        "go_to",
        "&Go to time…",
        "Type the time to go to into the transport bar",
        "time",
        "Ctrl+G",
    ),
    (
        "live",
        "Back to &live",
        "Follow the newest time of the run in progress",
        "live",
        "Ctrl+F12",
    ),
    (
        "leave",
        "Leave this t&ime",
        "Stop showing a moment of the run: packets leave the picture, and the line leaves the plots",
        "close",
        "Ctrl+Shift+F12",
    ),
)

_NO_TIME = translatable("no run to go through")
_NOT_THERE = {
    "live": translatable("no run in progress is away from its newest time"),
    "leave": translatable("no time is marked"),
}


def rows() -> Iterator[ActionSpec[FeatureHolder]]:
    """Action rows of the Time menu."""
    for name, text, tip, icon_name, shortcut in _PLAYHEAD:
        yield ActionSpec(
            f"playhead.{name}",
            text,
            tip,
            icon_name,
            (shortcut,),
            lambda w, _, name=name: w.features[PlayheadFeature].do(name),  # type: ignore[misc]
            (possible(f"playhead.{name}", _NOT_THERE.get(name, _NO_TIME)),),
        )
