"""Actions of the window that check a damaged database, or salvage its sound rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from subflow_app.features.databases.core import Rescue
from subflow_app.foundation.file_kinds import DATABASE_SUFFIXES
from subflow_app.foundation.problem_texts import error_text
from subflow_app.toolkit.dialogs import DATABASE_FILTER, Dialogs
from subflow_app.toolkit.feature import Feature
from subflow_app.toolkit.study import Study
from subflow_app.toolkit.widgets.banner import Banners, Way
from subflow_app.vocabulary.language import tr, trn
from subflow_store import StoreCorrupt

if TYPE_CHECKING:
    from subflow_app.features.history.qt import History
    from subflow_app.toolkit.database import DatabaseControl
    from subflow_app.toolkit.notices import Notices
    from subflow_app.toolkit.workers import Workers
    from subflow_store.damage import Damage


_BANNER = "rescue"


class RescuePorts(Protocol):
    """Parts of the window that this feature uses."""

    database: DatabaseControl
    history: History
    notices: Notices
    banners: Banners
    dialogs: Dialogs
    workers: Workers


class RescueFeature(Feature):
    """Offers to check or salvage a database when damage is found."""

    def __init__(self, ports: RescuePorts) -> None:
        super().__init__()
        self.ports = ports
        self.study: Study[Rescue] = Study(ports.workers, self, "rescue database", self._on_failed)
        self.study.ended.connect(self._on_ended)

    def connect_parts(self) -> None:
        """Adds offers to check or salvage a database to error notices, and reports damage found by the history."""
        self.ports.notices.ways_of = self.ways
        self.ports.history.damaged.connect(self._on_damaged)

    def ways(self, error: Exception) -> Sequence[Way]:
        """Actions for an error that reports damage in a known file; empty for other errors."""
        return self._offers(Path(error.path)) if isinstance(error, StoreCorrupt) and error.path else ()

    def check(self, path: Path) -> None:
        """Checks every row of a database."""
        self._start(Rescue(path))

    def salvage(self, path: Path) -> None:
        """Opens a file dialog for the new database, then copies all sound rows to it."""
        suggested = path.with_name(f"{path.stem}-salvaged{path.suffix or DATABASE_SUFFIXES[0]}")
        target = self.ports.dialogs.save_path(tr("Salvage the database"), tr(DATABASE_FILTER), suggested)
        if target is not None:
            # The file dialog has already asked to overwrite an existing file.
            self._start(Rescue(path, target, overwrite=True))

    def close(self) -> None:
        """Stops the running job; an incomplete file is removed."""
        self.study.forget()

    # ---- internals ----

    def _offers(self, path: Path) -> list[Way]:
        return [
            Way(tr("Check…"), lambda: self.check(path)),
            Way(tr("Salvage…"), lambda: self.salvage(path)),
        ]

    def _on_damaged(self, path: Path, damage: Sequence[Damage]) -> None:
        """Reports that damaged runs are missing from the history."""
        text = trn(
            "Something is damaged, and not listed: {what}.",
            "{count} things are damaged, and not listed, the first: {what}.",
            len(damage),
            what=damage[0],
        )
        self.ports.banners.show_banner("history", "error", text, self._offers(path))

    def _start(self, job: Rescue) -> None:
        text = tr("{path} is being read…", path=job.path)
        self.ports.banners.show_banner(_BANNER, "warning", text, [Way(tr("Stop"), job.stop)])
        self.study.start(job)

    def _on_failed(self, error: Exception) -> None:
        self.ports.banners.show_banner(_BANNER, "error", error_text(error))

    def _on_ended(self, job: Rescue | None) -> None:
        self.ports.banners.close_banner(_BANNER)
        if job is not None and job.findings is not None:
            if job.target is not None:
                self.ports.database.open(job.target)
            title = tr("Check of the database") if job.target is None else tr("Salvaged database")
            self.ports.dialogs.report(title, _report(job))


def _report(job: Rescue) -> str:
    """Text that counts the sound items, then lists the damage."""
    assert job.findings is not None
    found = job.findings
    counts = [
        trn("{count} run", "{count} runs", len(found.runs)),
        trn("{count} training", "{count} trainings", len(found.trainings)),
        trn("{count} sweep", "{count} sweeps", len(found.sweeps)),
    ]
    lines = [f"{job.target or job.path}: {', '.join(counts)}", ""]
    if not found.damage:
        lines.append(tr("Nothing is damaged.") if job.target is None else tr("Nothing is lost."))
    else:
        lines.append(tr("Damaged:") if job.target is None else tr("Lost, or rebuilt as far as possible:"))
    return "\n".join([*lines, *map(str, found.damage)])
