"""The panel of the arena and its actions: reading the board from the database, running, stopping and exporting."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from subflow_app.toolkit.action_bar import WRITABLE, ActionSpec, possible
from subflow_app.toolkit.feature import FeatureHolder, PanelFeature
from subflow_app.toolkit.ports import PanelPorts
from subflow_app.toolkit.study import Study
from subflow_app.toolkit.workers import LatestReader
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.number_text import duration_text

if TYPE_CHECKING:
    from subflow_app.features.arena.core.job import ArenaJob
    from subflow_app.features.arena.core.results import Board
    from subflow_app.features.arena.qt.panel import ArenaPanel
    from subflow_app.features.exporting.qt.exporting import Exports
    from subflow_app.features.history.qt import History
    from subflow_store import Store


ARENA_BUTTONS = ("arena.run_quick", "arena.run_full", "arena.stop", "arena.export")

RUN_QUICK, RUN_FULL, STOP, EXPORT = (f"arena.{name}" for name in ("run_quick", "run_full", "stop", "export"))

_FILTERS = translatable("Table of all values (*.csv);;Scalable drawing (*.svg);;Image (*.png)")


class ArenaPorts(PanelPorts, Protocol):
    """Parts of the window that the arena uses."""

    exports: Exports
    history: History

    def tell_failure(self, error: Exception) -> None:
        """Shows an error."""


class ArenaFeature(PanelFeature["ArenaPanel"]):
    """The panel of the arena and its actions."""

    panel_name = "arena"
    export_action = "arena.export"
    title = translatable("Arena")

    def __init__(self, ports: ArenaPorts) -> None:
        """Connects the job and the readers; `make` creates the panel later."""
        super().__init__()
        self.ports = ports
        self._entrants: Sequence[str] = ()
        self.study: Study[ArenaJob] = Study(ports.workers, self, "arena", ports.tell_failure)
        self.study.changed.connect(self.changed)
        self.study.ticked.connect(self._show_progress)
        self.study.ended.connect(self._on_ended)
        self._reader = LatestReader(ports.workers, self, "read arena")
        self._reader.read.connect(self._on_read)
        self._reader.failed.connect(ports.tell_failure)
        self._estimator = LatestReader(ports.workers, self, "estimate arena")
        self._estimator.read.connect(self._on_estimated)
        self._estimator.failed.connect(ports.tell_failure)

    def make(self) -> ArenaPanel:
        """Creates the panel with its buttons."""
        from subflow_app.features.arena.qt.panel import ArenaPanel

        bar = self.ports.bar
        content = ArenaPanel([bar[name] for name in ARENA_BUTTONS], bar[RUN_QUICK])
        content.choice_changed.connect(self.read)
        return content

    def on_made(self) -> None:
        """Reads the board for the new panel."""
        self.read()

    def connect_parts(self) -> None:
        """Reads the board again whenever a database is opened."""
        self.ports.database.opened.connect(lambda _store: self.read())

    def possible(self) -> frozenset[str]:
        """Names of the actions that are possible in the current state of the job and the board."""
        found = set()
        if self.study.is_running:
            found.add(STOP)
        elif self.ports.database.store is not None and self.ports.database.can_write:
            found |= {RUN_QUICK, RUN_FULL}
        if self.shown is not None and self.shown.rows:
            found.add(EXPORT)
        return frozenset(found)

    def close(self) -> None:
        """Stops the running job; finished outcomes are kept, and the next run continues from them."""
        self.study.forget()

    # ---- called by actions ----

    def show(self) -> None:
        """Brings the panel to the front."""
        self.ports.workspaces.go_to(self.panel_name)

    def limit_to(self, entrants: Sequence[str]) -> None:
        """Limits the arena to the named entrants. If no names are given, all entrants take part."""
        self._entrants = tuple(entrants)

    def run(self, *, is_quick: bool) -> None:
        """Starts the missing runs and shows the panel. Does nothing if no database is open or a job is running."""
        from subflow_app.features.arena.core.job import ArenaJob
        from subflow_app.features.arena.core.results import entry
        from subflow_app.foundation.jobs.executors import jobs_beside_window

        store = self.ports.database.store
        if store is None or self.study.is_running:
            return
        self.show()
        self.content.quick.setChecked(is_quick)
        entrants = self._entrants
        self.content.estimate.clear()
        self.study.start(lambda: ArenaJob(entry(entrants, is_quick=is_quick), store, jobs=jobs_beside_window()))

    def stop(self) -> None:
        """Stops soon after the current runs; finished outcomes are kept, and the next run starts from them."""
        self.study.stop()

    def read(self) -> None:
        """Reads the board from the database in the background."""
        store = self.ports.database.store
        if self.shown is None or store is None:
            return
        # Imported late: these modules would be a tenth of all imports at startup, when the panel is rarely open.
        from subflow_app.features.arena.core.results import entry, known_board
        from subflow_app.features.library.core.shipped import shipped_outcomes

        entrants, is_quick = self._entrants, self.shown.quick.isChecked()

        def work(is_given_up: Callable[[], bool]) -> tuple[Store, Board]:
            return store, known_board(entry(entrants, is_quick=is_quick), store, shipped_outcomes(), is_given_up)

        self._reader.ask(work, is_other=True)

    def ask_export(self) -> None:
        """Opens the dialog that exports the plots: as shown the visible plot, else both; beside them the table."""
        content = self.shown
        if content is None or content.board is None:
            return
        from subflow_app.features.paper.core.exported_figure import ExportedFigure
        from subflow_app.features.paper.core.figure_plan import FigurePlan
        from subflow_app.foundation.files import write_file

        shown = (content.chart or content.delay).shown_panel()
        panels = tuple(
            panel for panel in (content.delay.shown_panel(), content.harm.shown_panel()) if panel is not None
        )
        text = content.csv()
        self.ports.exports.export(
            ExportedFigure(
                "arena",
                FigurePlan(panels=panels),
                None if shown is None else FigurePlan(panels=(shown,)),
                write_data=lambda path: write_file(path, text),
            )
        )

    # ---- internals ----

    def _show_progress(self) -> None:
        if self.shown is None:
            return
        job = self.study.job
        if job is None:
            self.shown.bar.show_told(0.0, tr("Reading the arena …"))
            return
        progress = job.progress
        left = duration_text(progress.eta_s)
        text = tr(
            "{name}: {done} of {all} runs, {left} to go",
            name=progress.doing,
            done=progress.finished,
            all=progress.runs,
            left=left,
        )
        self.shown.bar.show_told(progress.fraction, text)

    def _on_ended(self, _job: ArenaJob | None) -> None:
        if self.shown is not None:
            self.shown.bar.hide()
        self.ports.history.reload()
        self.read()

    def _on_read(self, read: tuple[Store, Board]) -> None:
        store, board = read
        if self.shown is not None and store is self.ports.database.store:
            self.shown.show_board(board)
            self.changed.emit()
            self._estimate()

    def _estimate(self) -> None:
        """Estimates the time of the missing runs in the background."""
        from subflow_app.features.arena.core.job import ArenaJob
        from subflow_app.features.arena.core.results import entry
        from subflow_app.foundation.jobs.executors import jobs_beside_window

        content, store = self.shown, self.ports.database.store
        if content is None:
            return
        content.estimate.clear()
        if store is None or self.study.is_running or not self.ports.database.can_write:
            return
        entrants, is_quick, jobs = self._entrants, content.quick.isChecked(), jobs_beside_window()

        def work(is_given_up: Callable[[], bool]) -> str:
            chosen = entry(entrants, is_quick=is_quick)
            missing = ArenaJob(chosen, store, jobs=jobs).estimate(is_given_up) if chosen.taking_part else None
            return "" if missing is None else tr("Missing runs: about {time}", time=missing.time_text(jobs))

        self._estimator.ask(work, is_other=True)

    def _on_estimated(self, text: str) -> None:
        if self.shown is not None and not self.study.is_running:
            self.shown.estimate.setText(text)


def rows() -> Iterator[ActionSpec[FeatureHolder]]:
    """Actions of the arena in the Study menu."""
    yield ActionSpec(
        "arena.show",
        "Sho&w the arena",
        "Rank controllers and agents in families of networks, with intervals",
        "arena",
        (),
        lambda w, _: w.features[ArenaFeature].show(),
    )
    yield ActionSpec(
        "arena.run_quick",
        "Run the arena &quickly",
        "Enter everyone in ten networks of each family; existing outcomes are kept",
        "run_quick",
        (),
        lambda w, _: w.features[ArenaFeature].run(is_quick=True),
        (
            WRITABLE,
            possible("arena.run_quick", translatable("the arena is running")),
        ),
    )
    yield ActionSpec(
        "arena.run_full",
        "Run the arena in f&ull",
        "Enter everyone in twenty networks of each family; existing outcomes are kept",
        "run",
        (),
        lambda w, _: w.features[ArenaFeature].run(is_quick=False),
        (
            WRITABLE,
            possible("arena.run_full", translatable("the arena is running")),
        ),
    )
    yield ActionSpec(
        "arena.stop",
        "St&op the arena",
        "End the arena; finished outcomes are kept, and running it again computes the missing ones",
        "stop",
        (),
        lambda w, _: w.features[ArenaFeature].stop(),
        (possible("arena.stop", translatable("the arena is not running")),),
    )
    yield ActionSpec(
        "arena.export",
        "Export the lea&derboard…",
        "Write every value as CSV, or the picture that is shown as SVG or PNG",
        "export_figure",
        (),
        lambda w, _: w.features[ArenaFeature].ask_export(),
        (possible("arena.export", translatable("the arena shows nothing yet")),),
    )
