"""From "Run" to a run in the history: joins scenario, runs, plots, database, and what is told about them."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from subflow_app.core.runs import RunJob, RunProgress, RunResult
from subflow_app.core.scenario_source import with_traces
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

    def _start(self) -> None:
        doc = self._documents.doc
        if doc.scenario is None:
            return
        store = self._database.store if self._database.can_write else None
        text = with_traces(doc.text, doc.scenario)
        settings = self._preferences.settings
        self._runs.start(
            doc.scenario, text, store, settings.sample_interval_s, records_decisions=settings.record_decisions
        )

    def _on_database_settled(self, _store_or_error: object) -> None:
        if self._starts_when_opened:
            self._starts_when_opened = False
            self._start()

    def _on_started(self, job: RunJob) -> None:
        self._notices.run_began()
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

    def _on_saved(self, job: RunJob, run_id: int, path: Path) -> None:
        self._notices.run_saved(job.name, run_id, path, lambda: self._database.open(path))
        if path == self._database.path:
            self._shown.job_stored(job, run_id)
            self.stored.emit()
