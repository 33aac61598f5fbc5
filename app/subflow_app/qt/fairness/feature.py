"""The fairness lens in the window: it goes with the runs that the plots show, and with the scenario."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from subflow_app.core.history.run_names import run_names
from subflow_app.core.language import tr
from subflow_app.qt.fairness.panel import FairnessPanel
from subflow_app.qt.features import Feature
from subflow_app.qt.theme import Tokens

if TYPE_CHECKING:
    from subflow_app.core.fairness.lens_view import LensView
    from subflow_app.qt.fairness.reader import LensReader
    from subflow_app.qt.fairness.shares import SharesPage
    from subflow_app.qt.main_window import MainWindow


class FairnessFeature(Feature):
    """Computes while its panel is seen, and only then."""

    panel_name = "fairness"

    def __init__(self, window: MainWindow) -> None:
        """An empty panel."""
        super().__init__(window)
        self.panel: FairnessPanel = FairnessPanel()
        self.shares: SharesPage | None = None  # made when the panel is first seen
        self.reader: LensReader | None = None
        self._marked_s: float | None = None
        self._is_stale = True  # something changed while nobody looked

    def connect_parts(self) -> None:
        """Follows runs, marks, cursors and the scenario."""
        window = self.window
        window.plots.runs_changed.connect(self._on_runs_changed)
        window.plots.time_clicked.connect(self.mark_time)
        window.plots.span_changed.connect(self._ask_other)
        window.runs.ticked.connect(lambda _progress: self._ask(is_other=False))
        window.runs.ended.connect(lambda _job, _result: self._ask(is_other=False))
        window.documents.edited.connect(self._on_runs_changed)
        window.documents.replaced.connect(self._on_runs_changed)
        self.panel.shown.connect(self._on_shown)

    def mark_time(self, time_s: float) -> None:
        """Looks at the part of the run around this time, where that is wanted."""
        self._marked_s = time_s
        self._ask_other()

    def apply_tokens(self, tokens: Tokens) -> None:
        """Recolours the panel."""
        self.panel.apply_tokens(tokens)
        if self.shares is not None:
            self.shares.apply_tokens(tokens)

    def close(self) -> None:
        """Gives up what is being computed."""
        if self.reader is not None:
            self.reader.forget()

    def _on_shown(self) -> None:
        if self.shares is None:
            self._make_pages()
        if self._is_stale:
            self._on_runs_changed()

    def _make_pages(self) -> None:
        from subflow_app.qt.fairness.reader import LensReader
        from subflow_app.qt.fairness.shares import SharesPage

        shares = self.shares = SharesPage()
        reader = self.reader = LensReader(self.window.workers, self)
        shares.choice_changed.connect(self._ask_other)
        shares.link_chosen.connect(lambda name: self.window.topology.select(f"links.{name}"))
        reader.read.connect(shares.show_view)
        reader.failed.connect(lambda error: shares.show_nothing(tr("No shares to compare"), str(error)))
        self.panel.set_pages({tr("Shares"): shares})

    def _on_runs_changed(self) -> None:
        if self.shares is not None:
            scenario = self.window.documents.doc.scenario
            self.shares.set_runs(run_names(self.window.plots.runs), has_scenario=scenario is not None)
        self._ask_other()

    def _ask_other(self) -> None:
        self._ask(is_other=True)

    def _ask(self, *, is_other: bool) -> None:
        if self.shares is None or self.reader is None or not self.panel.isVisible():
            self._is_stale = True
            return
        work = self._work(self.shares)
        self._is_stale = False
        if work is not None:
            self.reader.ask(work, is_other=is_other)
        else:
            self.reader.forget()
            self.shares.show_nothing()

    def _work(self, shares: SharesPage) -> Callable[[Callable[[], bool]], LensView] | None:
        from subflow_app.core.fairness.lens_view import WindowOf, run_view, scenario_view

        runs, run = self.window.plots.runs, shares.run
        if 0 <= run < len(runs):
            traces = runs[run]
            window = WindowOf(shares.window_part, self._marked_s, self.window.plots.span_s)
            return lambda is_cancelled: run_view(traces, window, is_cancelled)
        scenario = self.window.documents.doc.scenario
        if scenario is not None:
            return lambda _is_cancelled: scenario_view(scenario)
        return None
