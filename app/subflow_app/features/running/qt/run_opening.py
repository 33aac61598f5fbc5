"""What can be opened of the runs that are selected in the history: their plots, and the scenario of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from subflow_app.features.editor.qt.documents import Documents
    from subflow_app.features.history.qt import History
    from subflow_app.features.running.qt.shown_runs import ShownRuns
    from subflow_app.toolkit.database import DatabaseControl
    from subflow_store import RunRow


class RunOpening:
    """Opens them; what has to be read comes when it is there."""

    def __init__(self, history: History, database: DatabaseControl, shown: ShownRuns, documents: Documents) -> None:
        """Opens runs that are selected in the history."""
        self._history = history
        self._database = database
        self._shown = shown
        self._documents = documents

    def show(self) -> None:
        """Shows the selected runs in the plots."""
        if self._database.store is not None:
            # The oldest first: it is A, with which the others are compared, however the list is sorted.
            self._shown.show_stored(self._database.store, sorted(row.id for row in self._history.selected()))

    def overlay(self) -> None:
        """Lays the selected runs over those that are shown."""
        if self._database.store is not None:
            self._shown.overlay(self._database.store, sorted(row.id for row in self._history.selected()))

    def open_scenario(self) -> None:
        """Opens the scenario that the selected run was made with."""
        rows, store = self._history.selected(), self._database.store
        if len(rows) == 1 and store is not None:
            self._shown.read_run(store, rows[0].id, self._open_scenario_of)

    def open_scenario_of(self, run_id: int) -> None:
        """Opens the scenario that a stored run was made with."""
        if self._database.store is not None:
            self._shown.read_run(self._database.store, run_id, self._open_scenario_of)

    def _open_scenario_of(self, run: RunRow) -> None:
        self._documents.open_text(run.scenario_text or "", f"{run.scenario_name} (run {run.id})")
