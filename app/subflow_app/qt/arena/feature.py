"""The arena as a part of the window: read from the database, run in the background, written as files."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from subflow_app.core.language import tr, translatable
from subflow_app.core.number_text import duration_text
from subflow_app.qt.feature import Feature
from subflow_app.qt.latest_reader import LatestReader
from subflow_app.qt.menus import ARENA_BUTTONS
from subflow_app.qt.widgets.lazy_panel import LazyPanel
from subflow_app.qt.widgets.shorthand import timer

if TYPE_CHECKING:
    from subflow_app.core.arena.job import ArenaJob
    from subflow_app.core.arena.results import Board
    from subflow_app.qt.arena.panel import ArenaPanel
    from subflow_app.qt.main_window import MainWindow
    from subflow_store import Store

RUN_QUICK, RUN_FULL, STOP, EXPORT = (f"arena.{name}" for name in ("run_quick", "run_full", "stop", "export"))

_REFRESH_MS = 300
_FILTERS = translatable("Table of all values (*.csv);;Scalable drawing (*.svg);;Image (*.png)")

_ROOM = (430, 240)  # px


class ArenaFeature(Feature):
    """The panel of the arena and what its actions do."""

    panel_name = "arena"

    def __init__(self, window: MainWindow) -> None:
        """An empty panel."""
        super().__init__(window)
        self.panel: LazyPanel = LazyPanel("arena_panel", tr("Arena"), room=_ROOM)
        self._content: ArenaPanel | None = None
        self._entrants: Sequence[str] = ()
        self._job: ArenaJob | None = None
        self._is_running = False
        self._stopped = threading.Event()
        self._reader = LatestReader(window.workers, self, "read arena")
        self._reader.read.connect(self._on_read)
        self._reader.failed.connect(lambda error: window.statusBar().showMessage(str(error)))
        self._timer = timer(self, self._show_progress, _REFRESH_MS)

    @property
    def content(self) -> ArenaPanel:
        """What is in the panel; it comes when it is first asked for."""
        if self._content is None:
            from subflow_app.qt.arena.panel import ArenaPanel

            bar = self.window.bar
            content = self._content = ArenaPanel([bar[name] for name in ARENA_BUTTONS], bar[RUN_QUICK])
            self.panel.put_in(content, scrolls=True)
            content.choice_changed.connect(self.read)
            self.read()
        return self._content

    @property
    def is_settled(self) -> bool:
        """Whether nothing runs, and everything has been read."""
        return not (self._is_running or self._reader.is_busy)

    def connect_parts(self) -> None:
        """The panel wakes when it is first shown; another database has another board."""
        self.panel.woken.connect(lambda: self.content)
        self.window.database.opened.connect(lambda _store: self.read())

    def possible(self) -> frozenset[str]:
        """Running, unless it does; stopping, if it does; writing what is shown."""
        found = set()
        if self._is_running:
            found.add(STOP)
        elif self.window.database.store is not None and self.window.database.can_write:
            found |= {RUN_QUICK, RUN_FULL}
        if self._content is not None and self._content.rows:
            found.add(EXPORT)
        return frozenset(found)

    def close(self) -> None:
        """Ends the runs that go on; what has ended is kept, and the next time goes on from there."""
        self.stop()

    # ---- what actions call ----

    def limit_to(self, entrants: Sequence[str]) -> None:
        """Takes only these entrants, by names; without any, all."""
        self._entrants = tuple(entrants)

    def run(self, *, is_quick: bool) -> None:
        """Makes all runs that are missing; its panel comes to the front."""
        from subflow_app.core.arena.job import ArenaJob
        from subflow_app.core.arena.results import entry
        from subflow_app.core.jobs.executors import jobs_beside_window

        store = self.window.database.store
        if store is None or self._is_running:
            return
        self.window.workspaces.go_to("arena")
        self.content.quick.setChecked(is_quick)
        self._is_running = True
        self._stopped.clear()
        entrants = self._entrants

        def work() -> tuple[str, ...]:
            job = ArenaJob(entry(entrants, is_quick=is_quick), store, jobs=jobs_beside_window())
            self._job = job
            if not self._stopped.is_set():
                job.run()
            return job.problems

        self.window.workers.start("arena", work, succeeded=self._on_ended, failed=self._on_failed, cancel=self.stop)
        self._timer.start()
        self._show_progress()
        self.changed.emit()

    def stop(self) -> None:
        """Ends it soon; what has ended is kept, and running again makes what is missing."""
        self._stopped.set()
        if self._job is not None:
            self._job.stop()

    def read(self) -> None:
        """Reads what the database has, in the background."""
        store = self.window.database.store
        if self._content is None or store is None:
            return
        # Imported here: at the start nobody has opened the panel, and these are a tenth of what is imported then.
        from subflow_app.core.arena.results import entry, known_board
        from subflow_app.core.library.shipped import shipped_outcomes

        entrants, is_quick = self._entrants, self._content.quick.isChecked()

        def work(is_given_up: Callable[[], bool]) -> tuple[Store, Board]:
            return store, known_board(entry(entrants, is_quick=is_quick), store, shipped_outcomes(), is_given_up)

        self._reader.ask(work, is_other=True)

    def ask_export(self) -> None:
        """Asks for a place, and writes the values, or the picture in front."""
        content, window = self._content, self.window
        if content is None or content.board is None:
            return
        board, suffix = content.board, ".csv" if content.chart is None else ".svg"
        path = window.exports.ask_path(tr("Export the arena"), tr(_FILTERS), f"arena{suffix}")
        if path is None:
            return
        from subflow_app.qt.arena.board_file import save_board

        window.exports.write(path, lambda: save_board(board, content.chart or content.delay, path))

    # ---- inside ----

    def _show_progress(self) -> None:
        if self._content is None:
            return
        job = self._job
        if job is None:
            self._content.bar.show_told(0.0, tr("Reading the arena …"))
            return
        told = job.progress
        left = duration_text(told.eta_s)
        text = tr(
            "{name}: {done} of {all} runs, {left} to go", name=told.doing, done=told.finished, all=told.runs, left=left
        )
        self._content.bar.show_told(told.fraction, text)

    def _on_ended(self, problems: tuple[str, ...]) -> None:
        self._end()
        if problems:
            self.window.statusBar().showMessage(problems[0])
        self.window.history.reload()

    def _on_failed(self, error: Exception) -> None:
        self._end()
        self.window.statusBar().showMessage(str(error))

    def _end(self) -> None:
        self._timer.stop()
        self._is_running, self._job = False, None
        if self._content is not None:
            self._content.bar.hide()
        self.read()
        self.changed.emit()

    def _on_read(self, read: tuple[Store, Board]) -> None:
        store, board = read
        if self._content is not None and store is self.window.database.store:
            self._content.show_board(board)
            self.changed.emit()
