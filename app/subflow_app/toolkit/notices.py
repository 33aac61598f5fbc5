"""Banners that report errors and results, one per topic, with a remedy or a next action."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from subflow_app.foundation.problem_texts import error_text, problem_text
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.widgets.banner import Banners, Way
from subflow_app.vocabulary.language import tr, trn
from subflow_sim.gate import is_folder
from subflow_store import StoreClosed, StoreError


class Notices:
    """Shows and removes the banners of one window; each method reports one kind of event."""

    def __init__(self, banners: Banners) -> None:
        """Show notices in ``banners``."""
        self._banners = banners
        # Returns remedies for an error; the feature for databases replaces this function.
        self.ways_of: Callable[[Exception], Sequence[Way]] = lambda _error: ()

    def file_failed(self, text: str) -> None:
        """Report that a scenario file could not be read or written."""
        self._banners.show_banner("file", "error", problem_text(text))

    def recovery_failed(self, where_and_why: str) -> None:
        """Report that unsaved changes cannot be saved for recovery after a crash."""
        text = tr(
            "Unsaved changes cannot be kept for recovery: {reason}. You can work on; save more often than usual.",
            reason=where_and_why,
        )
        self._banners.show_banner("recovery", "warning", text)

    def action_failed(self, text: str, ways: Sequence[Way] = ()) -> None:
        """Report that an action failed, with buttons for remedies."""
        self._banners.show_banner("action", "error", problem_text(text), ways)

    def time_told(self, text: str, ways: Sequence[Way]) -> None:
        """Show information about the time at the playhead; an empty text removes the banner."""
        if text:
            self._banners.show_banner("time", "warning", text, ways)
        else:
            self._banners.close_banner("time")

    def export_failed(self, text: str) -> None:
        """Report that a figure or data could not be written; the text gives a remedy."""
        self._banners.show_banner("export", "error", problem_text(text))

    def exported(self, path: Path) -> None:
        """Report that a figure or data was written, with a button that opens its folder."""
        folder = QUrl.fromLocalFile(str(path if is_folder(path) else path.parent))
        ways = [Way(tr("Open folder"), lambda: QDesktopServices.openUrl(folder))]
        self._banners.show_banner("export", "info", tr("Written: {path}", path=path), ways)

    def settings_later(self, labels: Sequence[str], restart: Callable[[], None]) -> None:
        """Report that the settings with these labels take effect at the next start, with a button that restarts."""
        text = trn(
            "{settings}: this setting changes when Subflow starts again.",
            "{settings}: these settings change when Subflow starts again.",
            len(labels),
            settings=", ".join(labels),
        )
        self._banners.show_banner("settings", "info", text, [Way(tr("Restart now"), restart)])

    def settings_failed(self, text: str) -> None:
        """Report that the settings could not be saved."""
        self._banners.show_banner("settings", "warning", problem_text(text))

    def database_failed(
        self, error: StoreError, has_other: bool, choose: Callable[[], None], again: Callable[[], None]
    ) -> None:
        """Report that a database could not be opened; ``has_other`` is True if the previous one remains open."""
        what_now = (
            tr("The database from before stays open.")
            if has_other
            else tr("You can work on; runs stay in memory, and can be exported, until another database is chosen.")
        )
        self._banners.show_banner(
            "database",
            "error",
            f"{error_text(error)} {what_now}",
            [*self.ways_of(error), Way(tr("Choose another file…"), choose), Way(tr("Try again"), again)],
        )

    def database_damaged(self, error: StoreError, choose: Callable[[], None]) -> None:
        """Report that the database is read-only because of damage."""
        what_now = tr("The sound part can be opened; new runs stay in memory, and can be exported.")
        ways = [*self.ways_of(error), Way(tr("Choose another file…"), choose)]
        self._banners.show_banner("database", "error", f"{error_text(error)} {what_now}", ways)

    def database_read_only(self, path: Path | None, choose: Callable[[], None]) -> None:
        """Report that the database is read-only because the file cannot be written."""
        self._banners.show_banner(
            "database",
            "warning",
            tr(
                "{path} cannot be written: its runs can be opened, but new runs stay in memory, and can be exported.",
                path=path,
            ),
            [Way(tr("Choose another file…"), choose)],
        )

    def database_opened(self) -> None:
        """Remove the banner about earlier problems with the database, because it is open now."""
        self._banners.close_banner("database")

    def history_failed(self, error: Exception) -> None:
        """Report that stored runs could not be read or changed."""
        self._show_history_error(error, self.ways_of(error))

    def list_failed(self, error: StoreError, choose: Callable[[], None], again: Callable[[], None]) -> None:
        """Report that the list of runs could not be read, or a run could not be changed; the list is not cleared."""
        ways = [*self.ways_of(error), Way(tr("Try again"), again), Way(tr("Choose another file…"), choose)]
        self._show_history_error(error, ways)

    def _show_history_error(self, error: Exception, ways: Sequence[Way]) -> None:
        # `StoreClosed` means that another database has been opened, whose list of runs will be shown.
        if not isinstance(error, StoreClosed):
            self._banners.show_banner("history", "error", error_text(error), ways)

    def deleted(self, what: str, undo: Callable[[], None]) -> None:
        """Report that runs were deleted, with a button for undo."""
        self._banners.show_banner("deleted", "info", tr("Deleted {what}.", what=what), [Way(tr("Undo"), undo)])

    def purged(self, count: int) -> None:
        """Report that deleted runs were removed permanently; ``count`` may be 0."""
        what = (
            tr("No deleted runs.")
            if count == 0
            else trn("{count} deleted run is gone.", "{count} deleted runs are gone.", count)
        )
        self._banners.close_banner("deleted")
        self._banners.show_banner("purged", "info", what)

    def training_began(self) -> None:
        """Remove notices about earlier trainings when a training begins."""
        self._banners.close_banner("training")

    def training_failed(self, text: str) -> None:
        """Report that a training could not be started or controlled, or ended before its budget was used up."""
        self._banners.show_banner("training", "error", problem_text(text))

    def promoted(self, name: str, controller: str, use: Callable[[], object] | None = None) -> None:
        """Report that a policy was added to the library, and how scenarios use it; ``use`` uses it in the open one."""
        how = f'controller = {{ name = "{controller}", policy = "{name}" }}'
        text = tr("The policy is in your library: {how}.", how=how)
        ways = [] if use is None else [Way(tr("Use in this scenario"), use)]
        self._banners.show_banner("training", "info", text, ways)

    def scenario_refused(self, text: str) -> None:
        """Report that the simulator refuses the scenario."""
        self._banners.show_banner("run", "error", tr("The scenario cannot be run: {reason}", reason=problem_text(text)))

    def live_change_refused(self, reason: str) -> None:
        """Report that a change of the current run is not possible; the run is unchanged."""
        text = tr("The run was not changed: {reason}", reason=reason)
        self._banners.show_banner("live", "warning", text)

    def live_change_made(self) -> None:
        """Remove notices about refused changes of the run once a change has been made."""
        self._banners.close_banner("live")

    def run_began(self, warnings: Sequence[str]) -> None:
        """Remove notices about earlier runs and show warnings about the scenario when a run begins."""
        self._banners.close_banner("run")
        if warnings:
            self._banners.show_banner("scenario", "warning", " ".join(f"{problem_text(each)}." for each in warnings))
        else:
            self._banners.close_banner("scenario")

    def run_failed(self, name: str, at_s: float, error: Exception) -> None:
        """Report that the simulation stopped with an error at ``at_s``, in simulated seconds."""
        text = tr('"{run}" failed at {time}: {error}.', run=name, time=fmt.time(at_s), error=error_text(error))
        self._banners.show_banner("run", "error", f"{text} {tr('The part simulated until then is kept.')}")

    def run_not_stored(
        self, name: str, error: StoreError, save: Callable[[], None], export: Callable[[], None]
    ) -> None:
        """Report that a run is only in memory, because its database failed."""
        self._banners.show_banner(
            "not_stored",
            "error",
            tr(
                '"{run}" is not in the database: {error} The run is complete in memory.',
                run=name,
                error=error_text(error),
            ),
            [Way(tr("Save to another database…"), save), Way(tr("Export data…"), export)],
        )

    def run_saved(self, name: str, run_id: int, path: Path, use: Callable[[], None]) -> None:
        """Report that a run that was only in memory has been saved in another database."""
        self._banners.close_banner("not_stored")
        text = tr('"{run}" is saved as run {number} in {path}.', run=name, number=run_id, path=path)
        self._banners.show_banner("saved", "info", text, [Way(tr("Use this database"), use)])

    def copied(self, path: Path) -> None:
        """Report that the database was copied."""
        self._banners.show_banner("copied", "info", tr("All runs are copied to {path}.", path=path))

    def copy_failed(self, error: Exception, again: Callable[[], None]) -> None:
        """Report that the database could not be copied."""
        self._banners.show_banner("copied", "error", error_text(error), [Way(tr("Choose another place…"), again)])
