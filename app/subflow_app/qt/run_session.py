"""From "Run" to a run in the history: joins scenario, runs, plots, database, and what is told about them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from subflow_app.core.runs import RunJob, RunProgress, RunResult, RunState
from subflow_app.core.scenario_source import ScenarioSource, with_traces
from subflow_app.qt.database import DatabaseControl
from subflow_app.qt.documents import Documents
from subflow_app.qt.link_states import LinkStates
from subflow_app.qt.notices import Notices
from subflow_app.qt.plot_view import PlotView
from subflow_app.qt.preferences import Preferences
from subflow_app.qt.run_control import RunControl, ended_text
from subflow_app.qt.shown_runs import ShownRuns
from subflow_app.qt.unsaved_runs import UnsavedRuns
from subflow_app.qt.widgets.run_status import RunStatus


class RunSession(QObject):
    """What happens around the runs of one window."""

    stored = Signal()  # the list of stored runs may have changed
    told = Signal(str)  # a sentence for the status bar

    def __init__(
        self,
        runs: RunControl,
        documents: Documents,
        database: DatabaseControl,
        shown: ShownRuns,
        plots: PlotView,
        link_states: LinkStates,
        unsaved: UnsavedRuns,
        status: RunStatus,
        notices: Notices,
        preferences: Preferences,
        parent: QObject,
    ) -> None:
        """Joins these parts of one window."""
        super().__init__(parent)
        self._runs = runs
        self._documents = documents
        self._database = database
        self._shown = shown
        self._plots = plots
        self._link_states = link_states
        self._unsaved = unsaved
        self._status = status
        self._notices = notices
        self._preferences = preferences
        self._starts_when_opened = False
        self._next: list[ScenarioSource] = []  # runs that follow the present one, in the same plots
        self._is_following = False
        runs.started.connect(self._on_started)
        runs.ticked.connect(self._on_ticked)
        runs.state_changed.connect(self._on_state_changed)
        runs.ended.connect(self._on_ended)
        runs.refused.connect(notices.scenario_refused)
        database.opened.connect(self._on_database_settled)
        database.failed.connect(self._on_database_settled)
        unsaved.saved.connect(self._on_saved)

    def toggle(self) -> None:
        """Runs the scenario; pauses or resumes the run that goes on."""
        if self._runs.is_running:
            self._runs.toggle_pause()
        elif self._database.is_opening:
            # Within the first half second of the program: the run shall be kept all the same.
            self._starts_when_opened = True
        else:
            self._start()

    def run_together(self, sources: Sequence[ScenarioSource]) -> None:
        """Runs these one after the other and shows them over each other; nothing while another run goes on.

        A run that is stopped or fails ends the row.
        """
        if self._runs.is_running or not sources:
            return
        self._next = list(sources[1:])
        self._run(sources[0])

    def _start(self) -> None:
        doc = self._documents.doc
        if doc.scenario is not None:
            self._run(ScenarioSource(doc.scenario, with_traces(doc.text, doc.scenario)))

    def _run(self, source: ScenarioSource) -> None:
        store = self._database.store if self._database.can_write else None
        settings = self._preferences.settings
        self._runs.start(
            source.scenario,
            source.text,
            store,
            settings.sample_interval_s,
            records_decisions=settings.record_decisions,
        )

    def _run_next(self) -> None:
        if self._next and not self._runs.is_running:
            self._is_following = True
            self._run(self._next.pop(0))
            self._is_following = False

    def _on_database_settled(self, _store_or_error: object) -> None:
        if self._starts_when_opened:
            self._starts_when_opened = False
            self._start()

    def _on_started(self, job: RunJob) -> None:
        self._notices.run_began()
        if self._is_following:
            self._shown.add_job(job)
        else:
            self._shown.show_job(job)
        self._link_states.start(job, self._documents.doc.text)
        self.told.emit(f"{job.name}: running")

    def _on_ticked(self, progress: RunProgress) -> None:
        self._status.show_progress(progress)
        self._plots.refresh()
        self._link_states.update(self._documents.doc.text)

    def _on_state_changed(self) -> None:
        if self._runs.progress is not None:
            self._status.show_progress(self._runs.progress)

    def _on_ended(self, job: RunJob, result: RunResult) -> None:
        self._link_states.stop()
        self._shown.job_stored(job, result.run_id)
        if result.error is not None:
            self._notices.run_failed(job, result.error)
        if result.run_id is None:
            self._unsaved.add(job, result)
        if result.store_error is not None:
            self._notices.run_not_stored(
                job,
                result.store_error,
                lambda: self._unsaved.ask_save(job),
                lambda: self._unsaved.ask_export(job),
            )
        self.stored.emit()
        self.told.emit(ended_text(job, result))
        if result.status is not RunState.FINISHED:
            self._next.clear()
        # Not from inside the signal: others have not heard yet that this run is over.
        QTimer.singleShot(0, self, self._run_next)

    def _on_saved(self, job: RunJob, run_id: int, path: Path) -> None:
        self._notices.run_saved(job.name, run_id, path, lambda: self._database.open(path))
        if path == self._database.path:
            self._shown.job_stored(job, run_id)
            self.stored.emit()
