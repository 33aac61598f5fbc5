"""Which runs the plots show: the one that goes on or was run last, stored ones, or several over each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from subflow_app.core.runs import RunJob
from subflow_app.core.traces import StoredTraces, Traces
from subflow_app.qt.plot_view import PlotView

if TYPE_CHECKING:
    # At run time this would load SQLAlchemy, which start-up leaves to the thread that opens the database.
    from subflow_store import Store


class ShownRuns(QObject):
    """Chooses what a plot view shows, and remembers the numbers of the runs."""

    changed = Signal()

    def __init__(self, plots: PlotView, parent: QObject) -> None:
        """Shows nothing."""
        super().__init__(parent)
        self._plots = plots
        self._runs: list[tuple[Traces, int | None]] = []

    @property
    def count(self) -> int:
        """How many runs are shown."""
        return len(self._runs)

    @property
    def ids(self) -> frozenset[int]:
        """Numbers of the shown runs that are stored."""
        return frozenset(run_id for _, run_id in self._runs if run_id is not None)

    def id_of(self, run: int) -> int | None:
        """Number of the run at this position of the overlay; None if it is not stored (yet), or not there any more."""
        return self._runs[run][1] if run < len(self._runs) else None

    def show_job(self, job: RunJob) -> None:
        """Shows a run that starts now, and nothing else."""
        self._show([(job.traces, None)])

    def add_job(self, job: RunJob) -> None:
        """Lays a run that starts now over those that are shown."""
        self._show([*self._runs, (job.traces, None)])

    def job_stored(self, job: RunJob, run_id: int | None) -> None:
        """Notes the number that a shown run has in the store, so that the history can mark it."""
        self._runs = [(traces, run_id if traces is job.traces else known) for traces, known in self._runs]
        self.changed.emit()

    def show_stored(self, store: Store, run_ids: Sequence[int]) -> None:
        """Shows stored runs over each other, the first one solid.

        Raises:
            StoreError: if one of them cannot be read; what was shown stays.
        """
        self._show([(StoredTraces(store, run_id), run_id) for run_id in run_ids])

    def overlay(self, store: Store, run_ids: Sequence[int]) -> None:
        """Lays stored runs over what is shown; those that are shown already are left as they are.

        Raises:
            StoreError: if one of them cannot be read; what was shown stays.
        """
        new = [run_id for run_id in run_ids if run_id not in self.ids]
        if new:
            self._show([*self._runs, *((StoredTraces(store, run_id), run_id) for run_id in new)])

    def keep_first(self) -> None:
        """Shows the first run only."""
        self._show(self._runs[:1])

    def drop_stored(self) -> None:
        """Lets go of everything that is read from a database, because that is about to be closed."""
        kept: list[tuple[Traces, int | None]] = [
            (traces, None) for traces, _ in self._runs if not isinstance(traces, StoredTraces)
        ]
        if len(kept) != len(self._runs):
            self._show(kept)
        else:
            self._runs = kept
            self.changed.emit()

    def _show(self, runs: list[tuple[Traces, int | None]]) -> None:
        self._plots.show_runs([traces for traces, _ in runs])
        self._runs = runs
        self.changed.emit()
