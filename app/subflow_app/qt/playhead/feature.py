"""The playhead in the window: it goes with the runs that the plots show, and everything that has a time follows it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from subflow_app.core.events import DECISION
from subflow_app.qt.feature import Feature
from subflow_app.qt.playhead.playhead import Playhead, ScrubbedRun
from subflow_app.qt.playhead.plots_show import PlotsShow
from subflow_app.qt.playhead.strip import BUTTONS, TransportStrip
from subflow_app.qt.widgets.banner import Way
from subflow_app.qt.widgets.lazy_panel import LazyPanel
from subflow_app.vocabulary.language import tr

if TYPE_CHECKING:
    from subflow_app.core.replay.run_events import RunEvents
    from subflow_app.core.replay.seek_loop import SeekableRun
    from subflow_app.core.running.runs import RunJob
    from subflow_app.core.traces import Traces
    from subflow_app.qt.main_window import MainWindow
    from subflow_app.qt.playhead.canvas_show import CanvasShow
    from subflow_app.qt.playhead.events_panel import EventsPanel
    from subflow_store import Store

_ROOM = (298, 112)  # px; the least that the list of events needs


class PlayheadFeature(Feature):
    """The transport bar, what follows it, and the list of events."""

    panel_name = "events"

    def __init__(self, window: MainWindow) -> None:
        """Nothing to look at yet."""
        super().__init__()
        self.window = window
        self.playhead = Playhead(window.workers, self)
        names = (*BUTTONS, "go_to", "live", "leave")
        self.strip: TransportStrip = TransportStrip(
            self.playhead, {name: window.bar[f"playhead.{name}"] for name in names}
        )
        self.panel: LazyPanel = LazyPanel("events_panel", tr("Events"), room=_ROOM)
        self._content: EventsPanel | None = None
        self._jobs: dict[int, RunJob] = {}  # of runs in memory, by the identity of their traces
        self._canvas: CanvasShow | None = None  # once somebody has gone to a time
        self._plots = PlotsShow(self.playhead, window.plots)
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
        """Does what an action of the Time menu says, by what follows ``playhead.`` in its id."""
        self._acts[name]()

    @property
    def content(self) -> EventsPanel:
        """What is in the panel; it comes when it is first asked for."""
        if self._content is None:
            from subflow_app.qt.playhead.events_panel import EventsPanel

            content = self._content = EventsPanel(self.playhead)
            self.panel.put_in(content)
            content.event_chosen.connect(self._on_event_chosen)
        return self._content

    def connect_parts(self) -> None:
        """Follows plots, runs and document; the panel wakes when it is first shown."""
        self.panel.first_shown.connect(lambda: self.content)
        window, playhead = self.window, self.playhead
        window.shown.changed.connect(self._on_shown)
        window.runs.ticked.connect(lambda _progress: playhead.on_run_grew())
        window.runs.ended.connect(lambda _job, _result: self._on_shown())
        window.plots.time_clicked.connect(self._on_time_clicked)
        playhead.moved.connect(self._on_moved)
        playhead.left.connect(lambda: self.strip.say_left_out(0))
        window.agent.decision_chosen.connect(lambda _run, time_s: self._on_time_clicked(time_s))
        playhead.changed.connect(self._on_changed)
        window.documents.edited.connect(self._compare_picture)
        window.documents.replaced.connect(lambda _doc: self._compare_picture())
        self.strip.said.connect(self._tell)

    def possible(self) -> frozenset[str]:
        """Going somewhere while there is a run; back to live while one goes on that is not followed."""
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
        """Ends seeks and playing."""
        self.playhead.close()

    # ---- which runs ----

    def _on_shown(self) -> None:
        runs = self.window.plots.runs
        kept = {id(traces) for traces in runs}
        self._jobs = {key: job for key, job in self._jobs.items() if key in kept}
        job = self.window.runs.job
        if job is not None:
            self._jobs[id(job.traces)] = job
        self.playhead.set_runs([self._scrubbed(place, traces) for place, traces in enumerate(runs)])

    def _scrubbed(self, place: int, traces: Traces) -> ScrubbedRun:
        job, run_id = self._jobs.get(id(traces)), self.window.shown.id_of(place)
        store = self.window.database.store
        budget_bytes = self.window.preferences.settings.replay_budget_bytes
        if job is not None:
            goes_on = self.window.runs.job is job
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
        from subflow_app.qt.playhead.canvas_show import CanvasShow

        canvas = self._canvas = CanvasShow(self.playhead, self.window.topology, self.window.plots)
        # Connected behind the canvas: what it leaves out is known once it has drawn.
        self.playhead.arrived.connect(lambda: self.strip.say_left_out(canvas.left_out))

    def _on_moved(self, time_s: float) -> None:
        if self._canvas is None:
            self._show_on_canvas()
        self.window.agent.show_time(time_s)
        self.window.topology.set_position(time_s)

    def _on_time_clicked(self, time_s: float) -> None:
        # Whoever has not gone to a time yet reads the plots, and does not mean the picture.
        if self.playhead.time_s is not None:
            self.playhead.seek(time_s)

    def _on_event_chosen(self, time_s: float) -> None:
        self.playhead.transport.stop()
        self.playhead.seek(time_s)

    def _on_changed(self) -> None:
        is_looking = self.playhead.time_s is not None
        if is_looking != self._was_looking:
            self._was_looking = is_looking
            self.window.session.hold_link_states(is_looking)
            self._compare_picture()
        possible = self.possible()
        if possible != self._was_possible:
            self._was_possible = possible
            self.changed.emit()

    def _compare_picture(self) -> None:
        canvas = self._canvas if self.playhead.time_s is not None else None
        self.strip.say_of_picture(canvas.difference() if canvas is not None else "")

    def _tell(self, text: str) -> None:
        ways = [Way(tr("Open this run's scenario"), self._open_scenario)] if self.strip.is_of_picture else []
        self.window.notices.time_told(text, ways)

    def _open_scenario(self) -> None:
        run_id = self.window.shown.id_of(self.playhead.run_shown)
        run = self.playhead.run
        job = self._jobs.get(id(run.traces)) if run is not None else None
        if job is not None:
            self.window.documents.open_text(job.scenario_text, job.name)
        elif run_id is not None:
            self.window.opening.open_scenario_of(run_id)


def _live_replay(job: RunJob, budget_bytes: int) -> SeekableRun:
    from subflow_app.core.replay.replay import Replay

    return Replay.live(job, budget_bytes=budget_bytes)


def _stored_replay(store: Store, run_id: int, budget_bytes: int) -> SeekableRun:
    from subflow_app.core.replay.replay import Replay

    return Replay.stored(store, run_id, budget_bytes=budget_bytes)


def _events_of_job(job: RunJob) -> RunEvents:
    from subflow_app.core.replay.run_events import RunEvents

    events = RunEvents(job.traces, job.scenario)
    events.take_new(job.live_changes)
    return events


def _events_of_stored(traces: Traces) -> RunEvents:
    from subflow_app.core.fairness.measured import scenario_of
    from subflow_app.core.replay.run_events import RunEvents

    # Measured traces have no scenario; what is marked in them is known all the same.
    return RunEvents(traces, scenario_of(traces), decisions=traces.events(DECISION.name))
