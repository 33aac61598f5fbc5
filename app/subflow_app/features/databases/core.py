"""Job that checks a damaged database and copies its sound rows to a new file, in the terminal and in the window."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from subflow_app.foundation.jobs.job import Job
from subflow_app.vocabulary.number_text import counted
from subflow_app.vocabulary.tables import Column

if TYPE_CHECKING:
    from subflow_store.damage import Damage
    from subflow_store.salvage import Findings


DAMAGE_COLUMNS: Sequence[Column[Damage]] = (
    Column("Of", lambda damage: damage.owner),
    Column("Table", lambda damage: damage.table),
    Column("Damage", lambda damage: damage.problem),
)
"""Columns of the list of damage: owner, table and problem."""


class Rescue(Job):
    """Checks every row of a database, and copies sound rows to a target if one is given.

    Args:
        path: database to check.
        target: new database; None to check only.
        overwrite: whether to replace an existing target.
    """

    def __init__(self, path: Path, target: Path | None = None, *, overwrite: bool = False) -> None:
        super().__init__(1, path.name)
        self.path = path
        self.target = target
        self.findings: Findings | None = None
        self._overwrite = overwrite

    def _work(self) -> None:
        from subflow_store.salvage import check, salvage

        try:
            if self.target is None:
                self.findings = check(self.path, self._on_progress)
            else:
                self.findings = salvage(
                    self.path, self.target, overwrite=self._overwrite, on_progress=self._on_progress
                )
        except _StoppedError:
            return
        self._tell(share=1.0)

    def _on_progress(self, done: int, of: int) -> None:
        if self.is_stopped:
            raise _StoppedError
        self._tell(share=min(0.99, done / max(1, of)))


class _StoppedError(Exception):
    """Raised to end the store's work when the job has been stopped."""


def contents_text(findings: Findings) -> str:
    """The number of items of each kind: ``3 runs, 1 training, 2 sweeps``."""
    others = ((findings.trainings, "training"), (findings.sweeps, "sweep"))
    return ", ".join([counted(len(findings.runs), "run"), *(counted(len(each), one) for each, one in others if each)])
