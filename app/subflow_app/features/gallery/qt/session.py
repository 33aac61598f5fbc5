"""Session of the gallery in a window: reads experiments, runs them in a queue, and draws their figures."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QPixmap

from subflow_app.features.gallery.core.exhibits import (
    Exhibit,
    announce_exhibit,
    read_exhibit,
    run_ids,
    with_figure,
)
from subflow_app.features.gallery.core.recipe import AgentColumn, Recipe, label_of
from subflow_app.features.gallery.core.recipe_reader import recipe_names
from subflow_app.features.gallery.core.report import figure_caption, write_report
from subflow_app.features.gallery.core.reproduction import QueuedState, ReproductionQueue
from subflow_app.features.gallery.core.results import Results
from subflow_app.features.gallery.qt.cards import PICTURE_SIZE
from subflow_app.features.gallery.qt.panel import GalleryPanel
from subflow_app.features.library.core.copying import copy_experiment, copy_to_go_on
from subflow_app.features.library.core.shipped import open_library, shipped_thumbnail, thumbnail
from subflow_app.features.paper.core.exported_figure import ExportedFigure
from subflow_app.features.paper.core.figure_plan import FigurePlan, Ground
from subflow_app.features.paper.core.figure_process import FigureProcess
from subflow_app.features.paper.core.paper_styles import MM_PER_INCH
from subflow_app.foundation.errors import ExportError, InputError, LibraryError
from subflow_app.foundation.jobs.executors import jobs_beside_window
from subflow_app.toolkit.ports import PanelPorts
from subflow_app.toolkit.study import Study
from subflow_app.toolkit.theme import Tokens, current_tokens, follow_theme
from subflow_app.toolkit.widgets.shorthand import timer
from subflow_app.vocabulary.language import tr, trn

if TYPE_CHECKING:
    from subflow_app.features.editor.qt.documents import Documents
    from subflow_app.features.exporting.qt.exporting import Exports
    from subflow_app.features.history.qt import History
    from subflow_app.features.running.qt.shown_runs import ShownRuns
    from subflow_app.toolkit.dialogs import Dialogs
    from subflow_app.toolkit.docks import Docks
    from subflow_app.toolkit.notices import Notices
    from subflow_store import Store

RUN_QUICK, RUN_FULL, RESUME, STOP = "gallery.run_quick", "gallery.run_full", "gallery.resume", "gallery.stop"
SHOW_RUNS, OPEN_SCENARIO = "gallery.show_runs", "gallery.open_scenario"
EXPORT_FIGURE, REPORT = "gallery.export_figure", "gallery.report"

_log = logging.getLogger(__name__)

_REDRAW_MS = 200  # delay after the last change of size
_MOST_PLOTTED = 30
_ANNOUNCED_TOGETHER = 8
_DPI_RANGE = (72, 300)


class GalleryPorts(PanelPorts, Protocol):
    """Parts of the window that the gallery uses."""

    dialogs: Dialogs
    docks: Docks
    documents: Documents
    exports: Exports
    history: History
    notices: Notices
    shown: ShownRuns

    def tell(self, text: str) -> None:
        """Show a message for a while."""

    def tell_failure(self, error: Exception) -> None:
        """Show an error."""


class GallerySession(QObject):
    """Implements the actions of the gallery."""

    changed = Signal()  # emitted when the set of possible actions may have changed

    def __init__(self, panel: GalleryPanel, ports: GalleryPorts, parent: QObject) -> None:
        """Start reading the experiments."""
        super().__init__(parent)
        self.panel = panel
        self._ports = ports
        self._recipes: dict[str, Recipe] = {}
        self._column = AgentColumn.PRINTED
        self._exhibits: dict[AgentColumn, dict[str, Exhibit]] = {}
        self._same: set[str] = set()  # labels of experiments that a column leaves as they are
        self._to_announce: list[tuple[str, AgentColumn]] = []
        self._to_read: list[str] = []
        self._is_reading = False
        self._queue: ReproductionQueue | None = None
        self.study: Study[ReproductionQueue] = Study(ports.workers, self, "experiments", ports.tell_failure)
        self.study.reports_problems = False  # a notice names the failed experiments instead
        self.study.ticked.connect(self._on_tick)
        self.study.ended.connect(self._on_through)
        self._states: dict[str, QueuedState] = {}
        self._library: Store | None = None
        self._wants_library = True
        self._library_problem = ""
        self._process = FigureProcess()
        self._to_draw: list[str] = []
        self._is_drawing = False
        self._is_closed = False
        self._redraw = timer(self, self._ask_drawing, _REDRAW_MS, is_single=True)
        panel.selection_changed.connect(self._on_selected)
        panel.column_changed.connect(self.show_column)
        panel.page.figure.resized.connect(self._redraw.start)
        ports.database.opened.connect(self._on_database_opened)
        follow_theme(self._recolour)
        # Start the process now, so that it is ready when the first experiment has been read.
        with suppress(ExportError):  # drawing a figure tries again and reports the error
            self._process.start()
        self.reload()

    # ---- actions ----

    def possible(self) -> frozenset[str]:
        """Ids of the actions that are possible now."""
        chosen = [exhibit for exhibit in self.panel.selected() if exhibit.recipe is not None]
        found = set()
        is_going = {name for name, state in self._states.items() if not state.is_over}
        idle = [exhibit for exhibit in chosen if exhibit.name not in is_going]
        if idle and self._ports.database.can_write:
            found |= {RUN_QUICK, RUN_FULL}
            if any(exhibit.is_begun for exhibit in idle):
                found.add(RESUME)
        if any(exhibit.name in is_going for exhibit in chosen):
            found.add(STOP)
        if any(exhibit.results is not None for exhibit in chosen):
            found.add(REPORT)
        current = self.panel.page.exhibit
        if current is not None and current.recipe is not None:
            found |= {OPEN_SCENARIO} if any(s.scenario for s in current.recipe.series.values()) else set()
            if current.results is not None:
                can_show = self._ports.database.can_write or not current.is_shipped
                found |= {SHOW_RUNS} if can_show and run_ids(current.results, 1) else set()
                found |= {EXPORT_FIGURE} if current.figure is not None else set()
        return frozenset(found)

    @property
    def is_busy(self) -> bool:
        """True while experiments wait or run."""
        return self.study.is_running

    def run(self, *, is_quick: bool) -> None:
        """Run the selected experiments; runs in the store are not repeated.

        Raises:
            InputError: if no writable database is open.
        """
        self._add([exhibit for exhibit in self.panel.selected() if exhibit.recipe is not None], lambda _: is_quick)

    def resume(self) -> None:
        """Execute the missing runs of the selected experiments, in the quick or full form of their existing runs.

        Raises:
            InputError: if no writable database is open.
        """
        begun = [exhibit for exhibit in self.panel.selected() if exhibit.is_begun]
        self._add(begun, lambda exhibit: exhibit.results is not None and exhibit.results.is_quick)

    def stop(self) -> None:
        """Stop the selected experiments; finished runs are kept."""
        if self._queue is not None:
            self._queue.stop([exhibit.name for exhibit in self.panel.selected()])
            self._on_tick()

    def show_runs(self) -> None:
        """Plot runs of the shown experiment, one of each series; shipped results are first copied into the database."""
        exhibit, store = self.panel.page.exhibit, self._ports.database.store
        if exhibit is None or exhibit.results is None or store is None:
            return
        if exhibit.is_shipped:
            self._take_over(exhibit, store)
        else:
            self._show_runs(exhibit.results, store)

    def _show_runs(self, results: Results, store: Store) -> None:
        every = run_ids(results, _MOST_PLOTTED + 1)
        # The plots show one run of each series at the first point. The history selects further runs.
        self._ports.history.select(every[:_MOST_PLOTTED])
        self._ports.shown.show_stored(store, every[: max(1, len(results.series))])

    def _take_over(self, exhibit: Exhibit, store: Store) -> None:
        """Copy the shipped results of an experiment into the user's database, and open the copied runs."""
        library, recipe = self._library, exhibit.recipe
        if library is None or recipe is None:
            return

        def copy() -> Exhibit:
            copy_experiment(library, recipe, store)
            return read_exhibit(store, recipe.label, recipe=recipe, library=library)

        def opened(own: Exhibit) -> None:
            if store is not self._ports.database.store or self._is_closed:
                return
            self._keep(own)
            self._ports.history.reload()
            if own.results is not None and not own.is_shipped:
                self._show_runs(own.results, store)

        self._ports.workers.start("copy experiment", copy, succeeded=opened, in_turn=True)

    def open_scenario(self) -> None:
        """Open a scenario of the shown experiment in the editor: that of the paper's proposal, or else the first."""
        exhibit = self.panel.page.exhibit
        if exhibit is None or exhibit.recipe is None:
            return
        series = [each for each in exhibit.recipe.series.values() if each.scenario is not None]
        ours = next((each for each in series if each.is_ours), series[0] if series else None)
        if ours is not None and ours.scenario is not None and self._ports.documents.open(ours.scenario):
            self._ports.docks.set_open("topology", True)
            self._ports.docks.raise_panel("topology")

    def ask_export_figure(self) -> None:
        """Open the dialog that exports the figure of the shown experiment."""
        exhibit = self.panel.page.exhibit
        if exhibit is not None and exhibit.figure is not None and exhibit.recipe is not None:
            self._ports.exports.export(ExportedFigure(exhibit.recipe.file_name, exhibit.figure))

    def ask_report(self) -> None:
        """Ask for a folder, and write a report on the selected experiments into it."""
        chosen = [exhibit.results for exhibit in self.panel.selected() if exhibit.results is not None]
        exports = self._ports.exports
        folder = self._ports.dialogs.folder(tr("Folder of the report"), exports.folder) if chosen else None
        if folder is None:
            return
        process = self._process

        def write() -> Path:
            return write_report(chosen, Path(folder), render=process.draw).html

        self._ports.tell(tr("The report is being written…"))
        exports.write_later("write report", write)

    def may_close(self) -> bool:
        """Ask the user whether to stop running experiments; True if they may be stopped, or no experiment runs."""
        if not self.is_busy:
            return True
        return self._ports.dialogs.confirm(
            tr("Experiments are in progress"),
            tr("End the experiments and close Subflow?"),
            tr("Finished runs are kept, and the experiments can be continued later."),
            tr("Stop and close"),
        )

    def close(self) -> None:
        """Stop all work; finished runs are kept."""
        self._is_closed = True
        self.study.forget()
        self._redraw.stop()
        self._to_read, self._to_draw = [], []
        self._process.close()
        # A worker may still read the library, so it is left to close with its last reference.

    def _recolour(self, _tokens: Tokens) -> None:
        """Draw all figures again in the colours of the theme."""
        self.panel.model.forget_pictures()
        self._to_draw = []
        for exhibit in self._known.values():
            self._want_picture(exhibit)
        self._ask_drawing()

    # ---- reading ----

    @property
    def _known(self) -> dict[str, Exhibit]:
        """Experiments of the shown column of agents, by label."""
        return self._exhibits.setdefault(self._column, {})

    def _column_of(self, label: str) -> AgentColumn:
        """Column of agents with this experiment."""
        return next((column for column, known in self._exhibits.items() if label in known), self._column)

    def show_column(self, column: AgentColumn) -> None:
        """Show the experiments with other agents; the first time, they are read."""
        if column is self._column:
            return
        self._column = column
        if column not in self._exhibits:
            self.panel.show_reading()
            self.reload()
            return
        self._show_list()
        for exhibit in self._known.values():
            if not self.panel.model.has_picture(exhibit.name):
                self._want_picture(exhibit)
        self.changed.emit()
        self._draw_next()

    def reload(self) -> None:
        """Read all experiments again: first unknown recipes, then all results, one after the other."""
        column = self._column
        names = {label_of(name, column): name for name in recipe_names()}
        names = {label: name for label, name in names.items() if label not in self._same}
        self._exhibits[column] = {label: self._known.get(label, Exhibit(label, is_read=False)) for label in names}
        # Experiments of the other column that wait are still read, but later.
        self._to_read = [*names, *(label for label in self._to_read if self._column_of(label) is not column)]
        if not names:
            self.panel.show_exhibits([])
        announced = {label_of(*pair) for pair in self._to_announce} | self._recipes.keys()
        new = [(name, column) for label, name in names.items() if label not in announced]
        self._to_announce = [*new, *self._to_announce]
        self._read_next()

    def _announce(self) -> None:
        # Only the column of wider training needs scenarios, which take time: its list appears part by part.
        is_fast = self._to_announce[0][1] is AgentColumn.PRINTED
        most = len(self._to_announce) if is_fast else _ANNOUNCED_TOGETHER
        pairs, self._to_announce = self._to_announce[:most], self._to_announce[most:]
        self._is_reading = True
        self._ports.workers.start(
            "read recipes",
            lambda: {label_of(*pair): announce_exhibit(*pair) for pair in pairs},
            succeeded=self._on_announced,
            failed=self._on_read_failed,
        )

    def _on_announced(self, exhibits: dict[str, Exhibit | None]) -> None:
        self._is_reading = False
        for label, exhibit in exhibits.items():
            known = self._exhibits[self._column_of(label)]
            if exhibit is None:
                self._same.add(label)
                known.pop(label, None)
                self._to_read = [other for other in self._to_read if other != label]
                continue
            if label in known:
                known[label] = exhibit
            if exhibit.recipe is not None:
                self._recipes[label] = exhibit.recipe
            elif self._column_of(label) is not AgentColumn.PRINTED:
                self._to_read = [other for other in self._to_read if other != label]
        self._show_list()
        self._read_next()

    def _show_list(self) -> None:
        shown = [each for each in self._known.values() if each.recipe is not None or each.problem]
        if shown or not any(column is self._column for _name, column in self._to_announce):
            self.panel.show_exhibits(shown)

    def _read_next(self) -> None:
        if self._is_reading or self._is_closed:
            return
        if self._to_announce:
            self._announce()
            return
        if not self._to_read:
            return
        name, store = self._wanted_first(self._to_read), self._ports.database.store
        self._to_read.remove(name)
        recipe = self._recipes.get(name)
        self._is_reading = True
        self._ports.workers.start(
            "read experiment",
            lambda: (store, read_exhibit(store, name, recipe=recipe, library=self._shipped(), draws_shipped=False)),
            succeeded=self._on_read,
            failed=self._on_read_failed,
        )

    def _wanted_first(self, names: list[str]) -> str:
        """The name to handle first: the current experiment, else the uppermost visible card, else the first name."""
        current = self.panel.current()
        looked_at = [*([] if current is None else [current.name]), *self.panel.in_sight()]
        return next((name for name in looked_at if name in names), names[0])

    def _shipped(self) -> Store | None:
        """The library of results, opened at the first call; None if it cannot be read.

        Called in one worker thread at a time.
        """
        if self._wants_library:
            self._wants_library = False
            try:
                self._library = open_library()
            except LibraryError as error:
                # The gallery works without a library.
                _log.warning("%s", error)
                self._library_problem = str(error)
        return self._library

    def _on_read(self, read: tuple[Store | None, Exhibit]) -> None:
        self._is_reading = False
        if self._library_problem:
            self._ports.notices.action_failed(self._library_problem)
            self._library_problem = ""
        store, exhibit = read
        if store is self._ports.database.store:
            self._keep(exhibit)
        self._read_next()

    def _on_read_failed(self, error: Exception) -> None:
        self._is_reading = False
        raise error

    def _keep(self, exhibit: Exhibit) -> None:
        has_moved = exhibit.recipe is not self._recipes.get(exhibit.name)  # its paper may have changed
        if exhibit.recipe is not None:
            self._recipes[exhibit.name] = exhibit.recipe
        column = self._column_of(exhibit.name)
        self._exhibits[column][exhibit.name] = exhibit
        if column is not self._column:
            return
        if has_moved or not self.panel.model.index_of(exhibit.name).isValid():
            self._show_list()
        else:
            self.panel.model.replace(exhibit)
        self._want_picture(exhibit)
        current = self.panel.current()
        if current is not None and current.name == exhibit.name:
            self._show_page(exhibit)
        self._draw_next()
        if any(each.name == exhibit.name for each in self.panel.selected()):
            self.changed.emit()

    def _on_database_opened(self, _store: Store) -> None:
        if self.study.job is not None:
            # The runs are stored in the previous database, which remains open until the last run is written.
            self._ports.database.close_after(self.study.job.wait)
            self.study.forget()
        self._queue, self._states = None, {}
        self.panel.show_queue({})
        # The other column is read from the new database when it is shown.
        self._exhibits = {self._column: self._known}
        self._to_read = []
        self._to_announce = [pair for pair in self._to_announce if pair[1] is self._column]
        self.reload()

    # ---- running ----

    def _add(self, exhibits: list[Exhibit], is_quick: Callable[[Exhibit], bool]) -> None:
        store = self._ports.database.store
        if store is None or not self._ports.database.can_write:
            raise InputError(tr("Experiments need a database that can be written: open one first."))
        if self._queue is None or not self.study.is_running:
            take_over = None if self._library is None else partial(copy_to_go_on, self._library)
            self._queue = ReproductionQueue(store, jobs=jobs_beside_window(), take_over=take_over)
        for exhibit in exhibits:
            if exhibit.recipe is not None:
                self._queue.add([exhibit.recipe], is_quick=is_quick(exhibit))
        if not self.study.is_running:
            self.study.start(self._queue)
        self._on_tick()

    def _on_tick(self) -> None:
        if self._queue is None:
            return
        before, self._states = self._states, self._queue.states()
        self.panel.show_queue(self._states)
        for name, state in self._states.items():
            if state.is_over and name in before and not before[name].is_over:
                self._to_read.append(name)
        if {n: s.state for n, s in before.items()} != {n: s.state for n, s in self._states.items()}:
            self.changed.emit()
        self._read_next()

    def _on_through(self, queue: ReproductionQueue) -> None:
        self._on_tick()
        if queue.is_busy:  # an experiment was added while the queue finished
            self.study.start(queue)
            return
        failed = {name: state for name, state in self._states.items() if state.state == "failed"}
        if failed:
            name, state = next(iter(failed.items()))
            self._ports.notices.action_failed(
                trn(
                    "The experiment {name} failed: {reason}",
                    "{count} experiments failed; the first, {name}: {reason}",
                    len(failed),
                    name=name,
                    reason=state.problem or "–",
                )
            )
        self.changed.emit()
        self._ports.history.reload()

    # ---- pictures ----

    def _on_selected(self) -> None:
        exhibit = self.panel.current()
        # An unread experiment is read next; its page appears afterwards.
        if exhibit is not None and exhibit.is_read:
            self._show_page(exhibit)
        self.changed.emit()

    def _show_page(self, exhibit: Exhibit) -> None:
        if exhibit is not self.panel.page.exhibit:
            self.panel.show_page(exhibit, self._states.get(exhibit.name))
            self._read_figure(exhibit)
            self._ask_drawing()

    def _read_figure(self, exhibit: Exhibit) -> None:
        """Draw the figure of shipped results, whose runs may be simulated again for it; does nothing for others."""
        if exhibit.is_drawn or self._is_closed:
            return

        def read(drawn: Exhibit) -> None:
            if self._exhibits.get(self._column_of(exhibit.name), {}).get(exhibit.name) is exhibit:
                self._keep(drawn)

        self._ports.workers.start("draw shipped results", lambda: with_figure(exhibit), succeeded=read)

    def _ask_drawing(self) -> None:
        """Draw the figure of the page before all others."""
        if self.panel.page.exhibit is not None and self.panel.page.exhibit.figure is not None:
            self._to_draw.insert(0, "")
        self._draw_next()

    def _draw_next(self) -> None:
        if self._is_drawing or self._is_closed or not self._to_draw:
            return
        name = "" if "" in self._to_draw else self._wanted_first(self._to_draw)
        self._to_draw = [other for other in self._to_draw if other != name]
        exhibit = self._known.get(name) if name else self.panel.page.exhibit
        if exhibit is None or exhibit.figure is None:
            self._draw_next()
            return
        figure = self._large(exhibit.figure) if not name else self._small(exhibit.figure)
        self._is_drawing = True
        process, shown = self._process, exhibit
        self._ports.workers.start(
            "draw figure",
            lambda: process.draw(figure),
            succeeded=lambda content: self._on_drawn(shown, content, is_small=bool(name)),
            failed=lambda error: self._on_draw_failed(shown, error, is_small=bool(name)),
            cancel=process.close,
        )

    def _on_drawn(self, exhibit: Exhibit, content: bytes, *, is_small: bool) -> None:
        self._is_drawing = False
        if is_small:
            self._show_picture(exhibit.name, content)
        elif self.panel.page.exhibit is exhibit and exhibit.results is not None and exhibit.figure is not None:
            self.panel.page.figure.show_picture(content, figure_caption(exhibit.results, exhibit.figure))
        self._draw_next()

    def _want_picture(self, exhibit: Exhibit) -> None:
        """Show the shipped thumbnail of an experiment, or queue a drawing of its figure."""
        content = shipped_thumbnail(exhibit.name) if exhibit.is_shipped else None
        if content is not None:
            self._show_picture(exhibit.name, content)
        elif exhibit.figure is not None:
            self._to_draw.append(exhibit.name)
        else:
            self._read_figure(exhibit)

    def _show_picture(self, name: str, content: bytes) -> None:
        ratio = self.panel.devicePixelRatioF()
        picture = QPixmap()
        picture.loadFromData(content)
        picture = picture.scaled(
            PICTURE_SIZE * ratio, Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation
        )
        picture.setDevicePixelRatio(ratio)
        self.panel.model.set_picture(name, picture)

    def _on_draw_failed(self, exhibit: Exhibit, error: Exception, *, is_small: bool) -> None:
        self._is_drawing = False
        if not is_small and self.panel.page.exhibit is exhibit and not self._is_closed:
            self.panel.page.figure.show_words(str(error))
        self._draw_next()

    def _large(self, figure: FigurePlan) -> FigurePlan:
        """The figure for the page, with the resolution of the screen."""
        view = self.panel.page.figure
        pixels = max(view.width(), view.minimumWidth()) * self.panel.devicePixelRatioF()
        low, high = _DPI_RANGE
        dpi = round(min(high, max(low, pixels / (figure.style.width_mm / MM_PER_INCH))))
        return replace(figure, kind="png", dpi=dpi, ground=ground_of(current_tokens()))

    def _small(self, figure: FigurePlan) -> FigurePlan:
        return thumbnail(figure, ground_of(current_tokens()), self.panel.devicePixelRatioF())


def ground_of(tokens: Tokens) -> Ground:
    """Colours of figures in the window."""
    return Ground(tokens.base, tokens.text, tokens.muted_text, tokens.grid, tokens.is_dark)
