"""The fairness analysis in the window: it goes with the runs that the plots show, and with the scenario."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from subflow_app.core.history.run_names import run_names
from subflow_app.qt.fairness.panel import FairnessPanel
from subflow_app.qt.feature import Feature
from subflow_app.qt.playhead.feature import PlayheadFeature
from subflow_app.vocabulary.language import tr

if TYPE_CHECKING:
    from subflow_app.core.fairness.analysis_view import AnalysisView
    from subflow_app.core.fairness.trade_offs import KnownFigures, Point, TradeOffKind
    from subflow_app.qt.fairness.shares import SharesPage
    from subflow_app.qt.fairness.trade_offs import TradeOffPage
    from subflow_app.qt.latest_reader import LatestReader
    from subflow_app.qt.main_window import MainWindow

_EXPORT = "study.export_trade_offs"
Cancelled = Callable[[], bool]


class FairnessFeature(Feature):
    """Computes while its panel is seen, and only what its page in front shows."""

    panel_name = "fairness"

    def __init__(self, window: MainWindow) -> None:
        """An empty panel."""
        super().__init__()
        self.window = window
        self.panel: FairnessPanel = FairnessPanel()
        # Made when the panel is first seen.
        self.shares: SharesPage | None = None
        self.trade_offs: TradeOffPage | None = None
        self.reader: LatestReader | None = None
        self._known: KnownFigures | None = None
        self._marked_s: float | None = None
        self._is_stale = True  # something changed while nobody looked

    def connect_parts(self) -> None:
        """Follows runs, marks, cursors and the scenario."""
        window = self.window
        window.plots.runs_changed.connect(self._on_runs_changed)
        window.plots.time_clicked.connect(self.mark_time)
        window.features[PlayheadFeature].playhead.moved.connect(self.mark_time)
        window.plots.span_changed.connect(self._ask_other)
        window.runs.ticked.connect(lambda _progress: self._ask(is_other=False))
        window.runs.ended.connect(lambda _job, _result: self._ask(is_other=False))
        window.documents.edited.connect(self._on_runs_changed)
        window.documents.replaced.connect(self._on_runs_changed)
        self.panel.shown.connect(self._on_shown)

    def possible(self) -> frozenset[str]:
        """Writing the points that are shown."""
        return frozenset({_EXPORT} if self.trade_offs is not None and self.trade_offs.points else set())

    def mark_time(self, time_s: float) -> None:
        """Looks at the part of the run around this time, where that is wanted."""
        self._marked_s = time_s
        if self.shares is not None and self.shares.window_part == "around":
            self._ask(is_other=False)

    def show_trade_offs(self) -> None:
        """Opens the panel on that page."""
        self.window.workspaces.go_to("fairness")
        if self.panel.tabs is not None and self.trade_offs is not None:
            self.panel.tabs.setCurrentWidget(self.trade_offs)
            self.trade_offs.setFocus()

    def ask_export(self) -> None:
        """Asks for a place, and writes the points as a figure or a table."""
        page, window = self.trade_offs, self.window
        if page is None or not page.points:
            return
        filters = ";;".join(
            (
                tr("Image (*.png)"),
                tr("Scalable drawing (*.svg)"),
                tr("Document (*.pdf)"),
                tr("Table of the points (*.csv)"),
            )
        )
        path = window.exports.ask_path(tr("Export trade-offs"), filters, f"trade-off-{page.kind}.png")
        if path is not None:
            window.exports.write_later("export trade-offs", lambda: page.write(path))

    def close(self) -> None:
        """Gives up what is being computed."""
        if self.reader is not None:
            self.reader.forget()

    # ---- inside ----

    @property
    def _weighs(self) -> bool:
        """Whether the page of trade-offs is in front."""
        return self.panel.tabs is not None and self.panel.tabs.currentWidget() is self.trade_offs

    def _on_shown(self) -> None:
        if self.shares is None:
            self._make_pages()
        if self._is_stale:
            self._on_runs_changed()

    def _make_pages(self) -> None:
        from subflow_app.qt.fairness.shares import SharesPage
        from subflow_app.qt.fairness.trade_offs import TradeOffPage
        from subflow_app.qt.latest_reader import LatestReader

        shares = self.shares = SharesPage()
        points = self.trade_offs = TradeOffPage(self.window.bar[_EXPORT])
        reader = self.reader = LatestReader(self.window.workers, self, "fairness", pause_ms=500)
        shares.choice_changed.connect(self._ask_other)
        shares.link_chosen.connect(lambda name: self.window.topology.select(f"links.{name}"))
        points.kind_changed.connect(self._ask_other)
        points.point_chosen.connect(self._on_point_chosen)
        reader.read.connect(lambda show: show())
        reader.failed.connect(self._on_failed)
        self.panel.set_pages({tr("Shares"): shares, tr("Trade-offs"): points})
        assert self.panel.tabs is not None
        self.panel.tabs.currentChanged.connect(lambda _: self._ask_other())

    def _on_runs_changed(self) -> None:
        if self.shares is not None:
            scenario = self.window.documents.doc.scenario
            self.shares.set_runs(run_names(self.window.plots.runs), has_scenario=scenario is not None)
        self._ask_other()

    def _ask_other(self) -> None:
        self._ask(is_other=True)

    def _ask(self, *, is_other: bool) -> None:
        shares, points, reader = self.shares, self.trade_offs, self.reader
        if shares is None or points is None or reader is None or not self.panel.isVisible():
            self._is_stale = True
            return
        self._is_stale = False
        work = self._points_work(points) if self._weighs else self._shares_work(shares)
        if work is not None:
            reader.ask(work, is_other=is_other)
            return
        reader.forget()
        shares.show_nothing()
        self._show_points([], points.kind)

    def _shares_work(self, shares: SharesPage) -> Callable[[Cancelled], Callable[[], None]] | None:
        """Computes in the thread; what it returns shows the result."""
        from subflow_app.core.fairness.analysis_view import WindowOf, run_view, scenario_view

        def showing(view: AnalysisView) -> Callable[[], None]:
            return lambda: shares.show_view(view)

        runs, run = self.window.plots.runs, shares.run
        if 0 <= run < len(runs):
            traces = runs[run]
            window = WindowOf(shares.window_part, self._marked_s, self.window.plots.span_s)
            return lambda is_cancelled: showing(run_view(traces, window, is_cancelled))
        scenario = self.window.documents.doc.scenario
        if scenario is not None:
            return lambda _is_cancelled: showing(scenario_view(scenario))
        return None

    def _points_work(self, page: TradeOffPage) -> Callable[[Cancelled], Callable[[], None]] | None:
        from subflow_app.core.fairness.trade_offs import KnownFigures, default_kind, trade_off_points

        runs, chosen = self.window.plots.runs, page.kind if page.is_kind_chosen else None
        # While one run grows, the others stay as they are.
        known = self._known = self._known or KnownFigures()

        def work(is_cancelled: Cancelled) -> Callable[[], None]:
            kind = default_kind(runs) if chosen is None else chosen
            points = trade_off_points(runs, kind, is_cancelled, known)
            return lambda: self._show_points(points, kind)

        return work if runs else None

    def _show_points(self, points: list[Point], kind: TradeOffKind) -> None:
        assert self.trade_offs is not None
        self.trade_offs.propose_kind(kind)
        self.trade_offs.show_points(points, kind)
        self.changed.emit()

    def _on_failed(self, error: Exception) -> None:
        assert self.shares is not None
        assert self.trade_offs is not None
        if self._weighs:
            self._show_points([], self.trade_offs.kind)
            self.trade_offs.show_nothing(str(error))
        else:
            self.shares.show_nothing(tr("No shares to compare"), str(error))

    def _on_point_chosen(self, point: Point) -> None:
        """Selects its runs in the history, as far as they are stored."""
        ids = [self.window.shown.id_of(run) for run in point.runs]
        self.window.history.select([run_id for run_id in ids if run_id is not None])
