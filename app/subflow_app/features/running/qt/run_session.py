"""Starts the runs of one window, shows them in the plots and the topology, stores them, and reports their outcome.

During a run, the topology shows the state of the links from the latest samples. A run pauses exactly at the end of a
step or a jump.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from PySide6.QtCore import QObject, QTimer, Signal

from subflow_app.features.catalog.core.uses import Use
from subflow_app.features.editor.core.event_words import change_text
from subflow_app.features.editor.core.form_text import unit_of, with_unit
from subflow_app.features.editor.core.scenario_source import ScenarioSource, source_of, source_of_document
from subflow_app.features.editor.qt.inspector.inspector import Inspector
from subflow_app.features.editor.qt.topology.view import TopologyView
from subflow_app.features.running.core.live_changes import LiveChange
from subflow_app.features.running.core.policy_names import news_of_policies
from subflow_app.features.running.core.runs import RunJob, RunProgress, RunResult, StepSize, next_event_s, step_end_s
from subflow_app.features.running.qt.live_panel import LivePanel
from subflow_app.features.running.qt.run_control import RunControl, ended_text
from subflow_app.features.traces.core.traces import LINK, SeriesKey
from subflow_app.foundation.errors import AppError, InputError
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.toolkit import format as fmt
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.link_ways import with_way
from subflow_sim.errors import ParamError, SimError
from subflow_sim.scenario import Scenario
from subflow_sim.units import Dimension, format_quantity, parse_quantity
from subflow_store import RunRow, StoreError

if TYPE_CHECKING:
    from subflow_app.features.editor.qt.documents import Documents
    from subflow_app.features.plots.qt.plot_view import PlotView
    from subflow_app.features.running.qt.run_status import RunStatus
    from subflow_app.features.running.qt.shown_runs import ShownRuns
    from subflow_app.features.running.qt.unsaved_runs import UnsavedRuns
    from subflow_app.toolkit.database import DatabaseControl
    from subflow_app.toolkit.dialogs import Dialogs
    from subflow_app.toolkit.notices import Notices
    from subflow_app.toolkit.preferences import Preferences


class _Direction(NamedTuple):
    owner: str
    utilisation: SeriesKey
    queue: SeriesKey


class LinkStates:
    """Shows the state of the links of the current run in the topology view."""

    def __init__(self, view: TopologyView) -> None:
        self._view = view
        self._job: RunJob | None = None
        self._text = ""
        self._directions: list[_Direction] = []
        self._is_shown = False
        self._is_held = False

    def hold(self, is_held: bool) -> None:
        """Stops showing states while a different part uses the topology view; later resumes with the next samples."""
        self._is_held = is_held
        if is_held:
            self._is_shown = False

    def start(self, job: RunJob, shown_text: str) -> None:
        """Shows this run from now on; ``shown_text`` is the text of the scenario in the topology view."""
        keys = {(key.owner, key.name): key for key in job.traces.keys() if key.scope == LINK}  # noqa: SIM118
        owners = dict.fromkeys(owner for owner, _ in keys)
        self._directions = [
            _Direction(owner, keys[owner, "utilisation"], keys[owner, "queue_pkts"]) for owner in owners
        ]
        self._job = job
        self._text = shown_text

    def update(self, shown_text: str) -> None:
        """Shows the latest samples, or removes the states if ``shown_text`` differs from the text given to `start`."""
        if self._job is None or self._is_held:
            return
        if shown_text != self._text:
            self._clear_picture()
            return
        traces = self._job.traces
        is_down: dict[str, bool] = {}
        for mark in traces.marks():
            if mark.kind in ("link_up", "link_down"):
                is_down[mark.owner] = mark.kind == "link_down"
        for owner, utilisation, queue in self._directions:
            _, shares = traces.read(utilisation)
            _, lengths = traces.read(queue)
            count = min(len(shares), len(lengths))
            if count:
                down = is_down.get(owner, is_down.get(owner.partition("/")[0], False))
                self._view.set_link_state(owner, float(shares[count - 1]), float(lengths[count - 1]), not down)
        self._is_shown = True

    def stop(self) -> None:
        """Removes the states of the run from the topology view."""
        self._job = None
        self._clear_picture()

    def _clear_picture(self) -> None:
        if self._is_shown:
            self._view.clear_link_states()
            self._is_shown = False


# Interval between updates of the display at full speed, s.
_EXPRESS_DRAWING_S = 1.0


class RunSessionPorts(Protocol):
    """Parts of the window that runs use."""

    runs: RunControl
    documents: Documents
    database: DatabaseControl
    shown: ShownRuns
    plots: PlotView
    topology: TopologyView
    unsaved: UnsavedRuns
    run_status: RunStatus
    notices: Notices
    preferences: Preferences

    def tell(self, text: str) -> None:
        """Shows a message for a while."""


class RunSession(QObject):
    """Starts, shows and stores the runs of one window, and reports their outcome."""

    stored = Signal()  # the list of stored runs may have changed

    def __init__(self, ports: RunSessionPorts, parent: QObject) -> None:
        """Connects to the parts of the window."""
        super().__init__(parent)
        self._runs = ports.runs
        self._documents = ports.documents
        self._database = ports.database
        self._shown = ports.shown
        self._plots = ports.plots
        self._link_states = LinkStates(ports.topology)
        self._unsaved = ports.unsaved
        self._status = ports.run_status
        self._notices = ports.notices
        self._tell = ports.tell
        self._preferences = ports.preferences
        self._starts_when_opened = False
        self._next: list[ScenarioSource] = []  # scenarios to run after the current run, in the same plots
        self._then: Callable[[], None] | None = None  # called after the last of these runs
        self._is_following = False
        self._is_again = self._is_wanted_again = False  # this or the next run shows its predecessor as a ghost
        self._live: LivePanel | None = None
        self._drawn_at = 0.0  # time.monotonic() of the latest update of the display
        ports.runs.started.connect(self._on_started)
        ports.runs.ticked.connect(self._on_ticked)
        ports.runs.state_changed.connect(self._on_state_changed)
        ports.runs.ended.connect(self._on_ended)
        ports.runs.refused.connect(ports.notices.scenario_refused)
        ports.database.opened.connect(self._on_database_settled)
        ports.database.failed.connect(self._on_database_settled)
        ports.unsaved.unsafe.connect(self._on_unsafe)
        ports.unsaved.saved.connect(self._on_saved)

    def toggle(self) -> None:
        """Pauses or resumes the current run, or starts a run of the scenario if no run is active."""
        if self._runs.is_running:
            self._runs.toggle_pause()
        elif self._database.is_opening:
            # While the program starts, the run waits for the database, so that it can be stored.
            self._starts_when_opened = True
        else:
            self._start()

    def start(self, until_s: float) -> None:
        """Runs the scenario up to the simulated time ``until_s``, s, and pauses; no effect if a run is active."""
        if not self._runs.is_running:
            self._start(until_s)

    def run_again(self) -> None:
        """Runs the changed scenario without a speed limit, and shows the previous run as a ghost.

        If a run is active, it is stopped first.
        """
        if self._runs.is_running:
            self._is_wanted_again = True
            self._next.clear()
            self._then = None
            self._runs.stop()
        elif self._database.is_opening:
            self._starts_when_opened = True
        else:
            self._is_again = True
            self._start()
            self._is_again = False

    def join_live(self, live: LivePanel, inspector: Inspector) -> None:
        """Connects the live panel to the current run and to the selection in the inspector."""
        self._live = live
        inspector.key_changed.connect(live.show_key)
        live.change_wanted.connect(self._runs.change)
        self._runs.live_changed.connect(self._on_live_changed)
        self._runs.live_refused.connect(self._on_live_refused)

    def hold_link_states(self, is_held: bool) -> None:
        """Stops or resumes showing link states; a different part may be showing the links at an earlier time."""
        self._link_states.hold(is_held)

    def run_together(
        self,
        sources: Sequence[ScenarioSource],
        *,
        is_unlimited: bool = False,
        then: Callable[[], None] | None = None,
    ) -> None:
        """Runs scenarios one after the other, and shows the runs in the same plots; no effect if a run is active.

        If a run is stopped or fails, the remaining runs are cancelled.

        Args:
            sources: scenarios to run.
            is_unlimited: whether the first run ignores the speed limit.
            then: called after the last run, unless a run was stopped or failed.
        """
        if self._runs.is_running or not sources:
            return
        self._next = list(sources[1:])
        self._then = then
        self._run(sources[0], is_unlimited=is_unlimited)

    def run_beside(self, source: ScenarioSource) -> None:
        """Runs a scenario as fast as possible, and adds it to the runs in the plots; no effect if a run is active."""
        self._is_following = True
        self._run(source, is_unlimited=True)
        self._is_following = False

    def complete(self, run: RunRow) -> None:
        """Simulates a stored run that was cut short again, as fast as possible and to its end, as a new run.

        Up to the cut it equals the stored run, because its scenario contains all changes. A run whose scenario this
        version cannot read is reported.
        """
        try:
            source = source_of(Use.RUN, run.scenario_text or "", overrides=[f"seed={run.seed}"])
        except (AppError, SimError) as error:
            self._notices.action_failed(str(error))
            return
        self.run_together([source], is_unlimited=True)

    def _start(self, until_s: float | None = None) -> None:
        source = source_of_document(Use.RUN, self._documents.doc)
        if source is not None:
            self._run(source, until_s)

    def _run(self, source: ScenarioSource, until_s: float | None = None, *, is_unlimited: bool = False) -> None:
        store = self._database.writable
        settings = self._preferences.settings
        self._runs.start(
            source.scenario,
            source.text,
            store,
            settings.sample_interval_s,
            records_decisions=settings.record_decisions,
            until_s=until_s,
            is_unlimited=is_unlimited or self._is_again,
        )

    def _run_next(self) -> None:
        if self._is_wanted_again:
            self._is_wanted_again = False
            self.run_again()
        elif self._next and not self._runs.is_running:
            self._is_following = True
            self._run(self._next.pop(0))
            self._is_following = False
        elif self._then is not None and not self._runs.is_running:
            then, self._then = self._then, None
            then()

    def _on_database_settled(self, _store_or_error: object) -> None:
        if self._starts_when_opened:
            self._starts_when_opened = False
            self._start()

    def _on_started(self, job: RunJob) -> None:
        news, settings = news_of_policies(job.scenario, self._preferences.settings)
        self._preferences.change(settings)
        self._notices.run_began((*job.warnings, *news))
        if job.past is not None:
            self._shown.show_fork(job)
        elif self._is_following:
            self._shown.add_job(job)
        elif self._is_again:
            self._shown.show_after(job)
        else:
            self._shown.show_job(job)
        self._link_states.start(job, self._documents.doc.text)
        # The message about the previous run is obsolete. The time bar shows this run.
        self._tell("")

    def _on_ticked(self, progress: RunProgress) -> None:
        self._status.show_progress(progress)
        if not self._is_drawing_due(progress):
            return
        self._plots.refresh()
        self._link_states.update(self._documents.doc.text)
        if self._live is not None:
            self._live.refresh()

    def _is_drawing_due(self, progress: RunProgress) -> bool:
        """True if the display should be updated now. At full speed, frequent updates would slow down the run."""
        now = time.monotonic()
        job = self._runs.job
        is_unlimited = job is not None and job.speed_limit is None and not job.is_measured
        is_express = is_unlimited and progress.state is JobState.RUNNING
        if is_express and now - self._drawn_at < _EXPRESS_DRAWING_S:
            return False
        self._drawn_at = now
        return True

    def _on_live_changed(self, change: LiveChange) -> None:
        self._notices.live_change_made()
        if self._live is not None:
            self._live.refresh()
        at, job = fmt.time(change.event.at_s), self._runs.job
        what = change_text(with_way(None if job is None else job.scenario, change.values))
        self._tell(tr("Changed at {time}: {what}", time=at, what=what))

    def _on_live_refused(self, reason: str) -> None:
        self._notices.live_change_refused(reason)
        if self._live is not None:
            self._live.refresh()

    def _on_state_changed(self) -> None:
        if self._live is not None:
            self._live.show_job(self._runs.job)
        if self._runs.progress is not None:
            self._status.show_progress(self._runs.progress)

    def _on_ended(self, job: RunJob, result: RunResult) -> None:
        self._link_states.stop()
        self._shown.job_stored(job, result.run_id)
        if result.error is not None:
            self._notices.run_failed(job.name, job.progress.sim_time_s, result.error)
        has_failed_at_once = job.is_measured and job.progress.sim_time_s == 0.0
        if result.run_id is None and not has_failed_at_once:
            self._unsaved.add(job, result)
        self.stored.emit()
        self._tell(ended_text(job, result))
        if result.status is not JobState.FINISHED:
            self._next.clear()
            self._then = None
        # Deferred, because other slots of this signal have not handled the end of this run yet.
        QTimer.singleShot(0, self, self._run_next)

    def _on_unsafe(self, job: RunJob, error: StoreError) -> None:
        self._notices.run_not_stored(
            job.name, error, lambda: self._unsaved.ask_save(job), lambda: self._unsaved.ask_export(job)
        )

    def _on_saved(self, job: RunJob, run_id: int, path: Path) -> None:
        self._notices.run_saved(job.name, run_id, path, lambda: self._database.open(path))
        if path == self._database.path:
            self._shown.job_stored(job, run_id)
            self.stored.emit()


class Stepping:
    """Continues the current run, or starts one, up to a given time at which it pauses."""

    def __init__(
        self, runs: RunControl, session: RunSession, documents: Documents, preferences: Preferences, dialogs: Dialogs
    ) -> None:
        """Connects to the parts of the window."""
        self._runs = runs
        self._session = session
        self._documents = documents
        self._preferences = preferences
        self._dialogs = dialogs

    def step(self, size: StepSize) -> None:
        """Continues by one step, and pauses."""
        scenario, now_s, interval_s = self._where()
        if scenario is not None:
            self._go_to(step_end_s(size, scenario, now_s, interval_s))

    def run_until(self) -> None:
        """Asks for a simulated time, continues up to that time, and pauses.

        Raises:
            InputError: if the text is not a time, or if the time has passed or is after the end of the run.
        """
        scenario, now_s, _interval_s = self._where()
        if scenario is None:
            return
        at_s = next_event_s(scenario, now_s)
        suggested = format_quantity(scenario.duration_s if at_s is None else at_s, Dimension.TIME)
        label = tr("Simulated time to pause at; the next event or the end is suggested")
        typed = self._dialogs.line(tr("Run until"), label, suggested)
        if not typed:
            return
        end = format_quantity(scenario.duration_s, Dimension.TIME)
        try:
            until_s = parse_quantity(with_unit(typed, unit_of(suggested, Dimension.TIME)), Dimension.TIME)
        except ParamError as error:
            raise InputError(tr('"{text}" is not a time to run until: {reason}', text=typed, reason=error)) from error
        if not now_s < until_s <= scenario.duration_s:
            now = format_quantity(now_s, Dimension.TIME)
            why = tr(
                'The run cannot go to "{text}": choose a time after {now}, up to {end}.', text=typed, now=now, end=end
            )
            raise InputError(why)
        self._go_to(until_s)

    def _where(self) -> tuple[Scenario | None, float, float]:
        """The scenario (None if it has problems), the simulated time (s), and the time between two samples (s)."""
        job = self._runs.job
        if job is not None:
            return job.scenario, job.progress.sim_time_s, job.sample_interval_s
        return self._documents.doc.scenario, 0.0, self._preferences.settings.sample_interval_s

    def _go_to(self, until_s: float) -> None:
        if self._runs.is_running:
            self._runs.run_to(until_s)
        else:
            self._session.start(until_s)
