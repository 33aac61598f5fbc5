"""The sweeps of one window, and their connections to the scenario, database, history and panel."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction

from subflow_app.features.catalog.core.uses import Use
from subflow_app.features.editor.core.algorithm_choices import controller_choices
from subflow_app.features.editor.core.scenario_source import source_of_document
from subflow_app.features.editor.core.sketch import next_step_text
from subflow_app.features.sweeps.core.axes import sweep_parameters
from subflow_app.features.sweeps.core.sweep_draft import DraftEstimate, SweepDraft, estimate_draft
from subflow_app.features.sweeps.core.sweep_estimate import SweepLimits
from subflow_app.features.sweeps.core.sweep_job import SweepJob
from subflow_app.features.sweeps.core.sweep_list import HereSweep, SweepEntry, interrupted, possible, sweep_entries
from subflow_app.features.sweeps.core.sweep_results import stored_table
from subflow_app.features.sweeps.core.views.study import SweepStudy, study_of
from subflow_app.features.sweeps.qt.new_dialog import NewSweepDialog, SweepSubject, SweepSuggestion
from subflow_app.features.sweeps.qt.panel import SweepPanel
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.jobs.executors import jobs_beside_window
from subflow_app.foundation.jobs.job import JobOutcome
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.foundation.toml_edit import read_toml
from subflow_app.toolkit.ports import PanelPorts
from subflow_app.toolkit.study import Study
from subflow_app.toolkit.widgets.banner import Banners, Way
from subflow_app.toolkit.workers import LatestReader
from subflow_app.toolkit.workspaces import WORKSPACES
from subflow_app.vocabulary.language import tr, trn

if TYPE_CHECKING:
    from subflow_app.features.editor.qt.documents import Documents
    from subflow_app.features.editor.qt.inspector.inspector import Inspector
    from subflow_app.features.exporting.qt.exporting import Exports
    from subflow_app.features.history.qt import History
    from subflow_app.features.running.qt.shown_runs import ShownRuns
    from subflow_app.toolkit.database import DatabaseWatch
    from subflow_app.toolkit.dialogs import Dialogs
    from subflow_app.toolkit.notices import Notices
    from subflow_app.toolkit.preferences import Preferences
    from subflow_store import Store
    from subflow_store.values import SweepRecord

_DRAWING, _STUDY = "design", "study"  # workspaces
# A growing sweep is read again after this time, s, or after this multiple of the duration of the last read, if longer.
_LEAST_PAUSE_S, _PAUSE_SHARE = 1.0, 5.0
# Overlaying more curves than this would be unreadable.
_MOST_PLOTTED = 30


class SweepPorts(PanelPorts, Protocol):
    """Parts of the window that sweeps use."""

    banners: Banners
    database_watch: DatabaseWatch
    dialogs: Dialogs
    documents: Documents
    exports: Exports
    history: History
    inspector: Inspector
    notices: Notices
    preferences: Preferences
    shown: ShownRuns

    def tell(self, text: str) -> None:
        """Shows a message temporarily."""

    def tell_failure(self, error: Exception) -> None:
        """Shows an error."""


class SweepSession(QObject):
    """Starts, resumes, stops, deletes and shows the sweeps of one window."""

    changed = Signal()  # the possible actions have changed

    def __init__(self, panel: SweepPanel, ports: SweepPorts, parent: QObject) -> None:
        """Reads the sweeps of the open database."""
        super().__init__(parent)
        self.panel = panel
        self._ports = ports
        self._here: list[HereSweep] = []
        self._running: dict[int, Study[SweepJob]] = {}  # by number, until their end
        self._records: list[SweepRecord] = []
        self._next_number = 1
        self._study_of: tuple[int, int] | None = None  # key of the sweep whose study is shown or being read
        self._reader = LatestReader(ports.workers, self, "read sweep")
        self._reader.read.connect(lambda read: self._on_study(*read))
        self._reader.failed.connect(ports.tell_failure)
        self._read_at = 0.0
        self._pause_s = _LEAST_PAUSE_S
        self._states: object = None
        self._was_offered = False
        panel.selection_changed.connect(self._on_selected)
        panel.page.selection_changed.connect(self._on_runs_selected)
        panel.page.opened.connect(self.show_runs)
        ports.database.opened.connect(self._on_database_opened)
        ports.database_watch.changed.connect(self.reload)
        self._to_network = QAction(tr("Show the network"), self)
        self._to_network.triggered.connect(lambda: ports.workspaces.enter(_DRAWING))
        self._begin = QAction(tr("Choose a template or an example…"), self)
        self._begin.triggered.connect(self._begin_scenario)
        self._open_database = QAction(tr("Open a database…"), self)
        self._open_database.triggered.connect(ports.database.ask_open)
        self._back = QAction(self)
        self._back.triggered.connect(lambda: ports.workspaces.show(ports.workspaces.previous))
        ports.documents.replaced.connect(self._offer_next_step)
        ports.documents.edited.connect(self._offer_next_step)
        ports.database.opened.connect(self._offer_next_step)
        ports.database.failed.connect(self._offer_next_step)
        ports.workspaces.changed.connect(self._offer_next_step)
        self._offer_next_step()
        self.reload()

    # ---- without sweeps ----

    def _offer_next_step(self, *_: object) -> None:
        """Say what the first sweep still needs, and offer the action that provides it and the way back."""
        ports, doc = self._ports, self._ports.documents.doc
        missing = next_step_text(doc.missing_part)
        if not ports.database.can_write:
            title, action = tr("No database"), self._open_database
            text = tr("A sweep stores its runs in a database: open one that can be written.")
        elif doc.missing_part == "nodes":
            title, action = tr("No scenario to vary yet"), self._begin
            text = tr("A sweep runs the open scenario with other values and seeds, and this scenario is empty.")
        elif missing:
            title, action, text = tr("The scenario is not complete"), self._to_network, missing
        elif not doc.is_valid:
            title, action = tr("The scenario has problems"), self._to_network
            text = tr("A sweep needs a scenario without problems: the inspector beside the network lists them.")
        else:
            title, action = tr("No sweeps yet"), ports.bar["sweep.new"]
            text = tr(
                "Vary any parameters of {scenario} over any values and seeds, and see the results at a glance.",
                scenario=ports.documents.shown_name,
            )
        workspaces = ports.workspaces
        self._back.setText(tr("Back to {name}", name=tr(WORKSPACES[workspaces.previous][0])))
        self.panel.empty.set_text(title, text)
        self.panel.empty.offer(action, self._back if workspaces.current == _STUDY != workspaces.previous else None)

    def _begin_scenario(self) -> None:
        """Ask for a template, and show its network; a banner leads back."""
        if self._ports.documents.ask_template():
            self._ports.workspaces.enter(_DRAWING)

    # ---- possible actions ----

    def possible(self) -> frozenset[str]:
        """Ids of the possible actions."""
        page = self.panel.page
        found = set(possible(self.panel.selected(), can_write=self._ports.database.can_write))
        if page.run_ids():
            found.add("sweep.show_runs")
        if page.is_drawn:
            is_table = page.pages.currentWidget() is page.table
            found |= {"sweep.export_data", "sweep.copy" if is_table else "sweep.export_figure"}
            from subflow_app.features.exporting.core.web_page import is_offered

            found |= {"sweep.page"} if is_offered() else set()
        return frozenset(found)

    @property
    def shown_sweep(self) -> int | None:
        """Number of the sweep whose results are shown; None if no results are shown."""
        entry = next((entry for entry in self.panel.selected() if entry.key == self._study_of), None)
        return None if entry is None else entry.id

    @property
    def is_busy(self) -> bool:
        """True if a sweep runs in this window."""
        return bool(self._running)

    def entries(self) -> list[SweepEntry]:
        """All sweeps, newest first."""
        return sweep_entries(self._records, self._here)

    def new(self, suggestion: SweepSuggestion | None = None) -> None:
        """Asks for a sweep of the open scenario, and starts it.

        Args:
            suggestion: initial contents of the dialog; None: the defaults.

        Raises:
            InputError: if no writable database is open.
        """
        ports = self._ports
        ports.documents.settling.emit()
        doc = ports.documents.doc
        source = source_of_document(Use.SWEEP, doc)
        if source is None:
            return
        store = self._store()
        if store is None:
            raise InputError(tr("A sweep needs a database that can be written: open one first."))
        text = source.text
        folder = None if doc.path is None else doc.path.parent
        interval_s = ports.preferences.settings.sample_interval_s

        def estimate(draft: SweepDraft) -> DraftEstimate:
            return estimate_draft(draft, text, folder, store.path, self.limits)

        subject = SweepSubject(
            source.scenario.name or doc.title,
            sweep_parameters(doc),
            controller_choices(read_toml(text), source.scenario, folder),
            jobs_beside_window(),
            interval_s,
            estimate,
            suggestion or SweepSuggestion(),
        )
        wish = ports.dialogs.ask(partial(NewSweepDialog, subject, ports.workers))
        if wish is not None:
            self.start(SweepJob(wish.plan, store, jobs=wish.jobs, limits=self.limits))

    def start(self, job: SweepJob, *, reports_end: bool = True) -> Study[SweepJob]:
        """Starts a sweep in the background; several sweeps can run at the same time.

        Args:
            job: the sweep.
            reports_end: whether to report its end; False if the caller does.

        Returns:
            The control of the sweep, which is deleted after its signal `ended`.
        """
        sweep = HereSweep(self._next_number, job)
        self._next_number += 1
        self._here.append(sweep)
        study = Study[SweepJob](self._ports.workers, self, "sweep", self._ports.tell_failure)
        study.reports_problems = False  # the end of the sweep reports the number of failed runs
        study.ticked.connect(self._on_tick)
        study.ended.connect(lambda _job, outcome: self._on_ended(sweep, outcome, reports=reports_end))
        self._running[sweep.number] = study
        study.start(job)
        self.panel.select((0, sweep.number) if job.sweep_id is None else (job.sweep_id, 0))
        return study

    def toggle(self) -> None:
        """Pauses or resumes the selected sweeps, including those that have ended early."""
        for entry in self._selected():
            job = self._job_of(entry)
            if job is None or not entry.goes_on:
                if entry.can_resume:
                    self.resume(entry)
            elif entry.state == JobState.PAUSED:
                job.unpause()
            else:
                job.pause()
        self.refresh()

    def resume(self, entry: SweepEntry) -> None:
        """Carries out the missing runs of a stored sweep."""
        store = self._store()
        if store is None or entry.id is None:
            return
        sweep_id, jobs, limits = entry.id, jobs_beside_window(), self.limits
        # Done in the background, because the plan may contain a large scenario.
        self._ports.workers.start(
            "open sweep",
            lambda: SweepJob.resumed(store, sweep_id, jobs=jobs, limits=limits),
            succeeded=self._take_up,
        )

    def _take_up(self, job: SweepJob) -> None:
        self.start(job)

    @property
    def limits(self) -> SweepLimits:
        """Limits of sweeps in the settings."""
        return SweepLimits(self._ports.preferences.settings.max_sweep_runs)

    def stop(self) -> None:
        """Ends the selected sweeps; finished runs are kept."""
        for entry in self._selected():
            job = self._job_of(entry)
            if job is not None:
                job.stop()
        self.refresh()

    def delete(self) -> None:
        """Removes the selected sweeps from the list after a confirmation. Their runs are kept."""
        store = self._store()
        gone = [entry for entry in self._selected() if entry.id is not None and not entry.goes_on]
        gone = [entry for entry in gone if not entry.is_elsewhere]
        if store is None or not gone:
            return
        names = ", ".join(f'"{entry.name}"' for entry in gone[:3]) + (" …" if len(gone) > 3 else "")
        if not self._ports.dialogs.confirm(
            tr("Delete sweeps"),
            trn("Delete the sweep {names}?", "Delete {count} sweeps: {names}?", len(gone), names=names),
            tr("Its runs stay in the history. The sweep itself cannot be brought back."),
            tr("Delete"),
        ):
            return
        ids = [entry.id for entry in gone if entry.id is not None]
        self._ports.workers.start(
            "delete sweeps",
            lambda: store.sweeps.delete(ids),
            succeeded=lambda _none: self.reload(),
            in_turn=True,
        )

    def show_runs(self) -> None:
        """Shows the selected runs in the plots, at most `_MOST_PLOTTED` of them."""
        ports, ids = self._ports, self.panel.page.run_ids()
        if ports.database.store is None or not ids:
            return
        if len(ids) > _MOST_PLOTTED:
            told = tr("The first {most} of {count} runs are shown.", most=_MOST_PLOTTED, count=len(ids))
            ports.tell(told)
        ports.shown.show_stored(ports.database.store, ids[:_MOST_PLOTTED])

    def may_close(self) -> bool:
        """Asks whether to end active sweeps, if any; returns False to keep the window open."""
        if not self.is_busy:
            return True
        return self._ports.dialogs.confirm(
            tr("A sweep is in progress"),
            tr("End the sweep and close Subflow?"),
            tr("Finished runs are kept, and the sweep can be continued later."),
            tr("Stop and close"),
        )

    def close(self) -> None:
        """Ends all sweeps; finished runs are kept."""
        for study in self._running.values():
            study.forget()
            study.deleteLater()
        self._running.clear()

    # ---- reading ----

    def reload(self) -> None:
        """Reads the list of sweeps again, in the background."""
        store = self._ports.database.store
        if store is None:
            self._records, self._here = [], []
            self.refresh()
            return
        self._ports.workers.start(
            "read sweeps",
            lambda: (store, store.sweeps.rows()),
            succeeded=self._on_read,
        )

    def refresh(self) -> None:
        """Shows the current state of the sweeps; emits `changed` if a state has changed."""
        entries = self.entries()
        self.panel.update_rows(entries)
        states = [(entry.key, entry.state, entry.is_elsewhere) for entry in entries]
        if states != self._states:
            self._states = states
            self.changed.emit()

    def _on_tick(self) -> None:
        self.refresh()
        if self.panel.isVisible() and time.monotonic() - self._read_at > self._pause_s:
            self._read_study()

    def _on_read(self, read: tuple[Store, list[SweepRecord]]) -> None:
        store, records = read
        if store is not self._ports.database.store:
            return
        self._records = records
        self._here = [sweep for sweep in self._here if sweep.number in self._running]
        self.refresh()
        if not self._was_offered:
            self._was_offered = True
            self._offer_interrupted()

    def _offer_interrupted(self) -> None:
        """Offers to resume a sweep that a crash interrupted."""
        found = interrupted(self.entries())
        if not found or not self._ports.database.can_write:
            return
        entry = found[0]
        text = tr(
            'The sweep "{name}" was interrupted: {done} of {total} runs exist.',
            name=entry.name,
            done=entry.finished,
            total=entry.runs,
        )
        way = Way(tr("Make the missing runs"), lambda: self.resume(entry))
        self._ports.banners.show_banner("sweep", "warning", text, [way])

    def _on_database_opened(self, _store: Store) -> None:
        for sweep in self._here:
            # The database of the sweep is kept open until the last run is written, so that the sweep can be resumed.
            self._ports.database.close_after(sweep.job.wait)
        self.close()
        # The numbers in the old list are invalid in the new database.
        self._records, self._here = [], []
        self._study_of = None
        self._was_offered = False
        self.refresh()
        self.panel.page.show_study(None)
        self.reload()

    def _on_selected(self) -> None:
        selected = self.panel.selected()
        key = selected[0].key if selected else None
        if key != self._study_of:
            self._study_of = key
            self._read_study()
        self.changed.emit()

    def _on_runs_selected(self) -> None:
        ids = self.panel.page.run_ids()
        if ids:
            self._ports.history.select(ids)
        self.changed.emit()

    def _read_study(self) -> None:
        """Reads the results of the selected sweep. If a read is in progress, the new read starts afterwards."""
        store, selected = self._ports.database.store, self.panel.selected()
        entry = selected[0] if selected else None
        if store is None or entry is None or entry.id is None:
            self._reader.forget()
            self.panel.page.show_study(None)
            return
        key, sweep_id, began = entry.key, entry.id, time.monotonic()

        def read(_is_given_up: object) -> tuple[tuple[int, int], SweepStudy, float]:
            return key, study_of(stored_table(store, sweep_id)), time.monotonic() - began

        self._reader.ask(read, is_other=False)

    def _on_study(self, key: tuple[int, int], study: SweepStudy, took_s: float) -> None:
        self._read_at = time.monotonic()
        self._pause_s = max(_LEAST_PAUSE_S, _PAUSE_SHARE * took_s)
        selected = self.panel.selected()
        if selected and selected[0].key == key:
            self._study_of = key
            self.panel.page.show_study(study)

    # ---- ends ----

    def _on_ended(self, sweep: HereSweep, outcome: JobOutcome | None, *, reports: bool) -> None:
        self._running.pop(sweep.number).deleteLater()
        if reports:
            self._report_end(sweep, outcome)
        self.refresh()
        self._ports.history.reload()
        self.reload()
        self._read_study()

    def _report_end(self, sweep: HereSweep, outcome: JobOutcome | None) -> None:
        progress, name = sweep.job.progress, sweep.job.plan.name
        if progress.failed and outcome is not None and outcome.error is None:
            text = trn(
                'A run of the sweep "{name}" failed: {first}',
                '{count} runs of the sweep "{name}" failed; the first: {first}',
                progress.failed,
                name=name,
                first=outcome.problems[0] if outcome.problems else "–",
            )
            self._ports.notices.action_failed(text)
        elif progress.state is JobState.FINISHED:
            told = trn(
                'Sweep "{name}": its {count} run is complete.',
                'Sweep "{name}": all {count} runs are complete.',
                progress.runs,
                name=name,
            )
            self._ports.tell(told)

    def _store(self) -> Store | None:
        database = self._ports.database
        return database.writable

    def _selected(self) -> list[SweepEntry]:
        """The current state of the selected sweeps, which may be more recent than the displayed state."""
        chosen = self.panel.selected()
        return [entry for entry in self.entries() if entry.is_of(chosen)]

    def _job_of(self, entry: SweepEntry) -> SweepJob | None:
        return next((sweep.job for sweep in self._here if sweep.number == entry.number), None)
