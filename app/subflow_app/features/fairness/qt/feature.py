"""The fairness analysis in the window, for the runs in the plots and for the open scenario."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Protocol

from subflow_app.features.history.core.run_names import run_names
from subflow_app.features.playhead.qt.feature import PlayheadFeature
from subflow_app.toolkit.action_bar import ActionBar, ActionSpec, possible
from subflow_app.toolkit.feature import FeatureHolder, PanelFeature
from subflow_app.toolkit.workers import LatestReader, Workers
from subflow_app.vocabulary.language import tr, translatable

if TYPE_CHECKING:
    from subflow_app.features.editor.qt.documents import Documents
    from subflow_app.features.editor.qt.topology.view import TopologyView
    from subflow_app.features.exporting.qt.exporting import Exports
    from subflow_app.features.fairness.core.analysis_view import AnalysisView
    from subflow_app.features.fairness.core.trade_offs import KnownFigures, Point, TradeOffKind
    from subflow_app.features.fairness.qt.panel import FairnessPanel, TradeOffPage
    from subflow_app.features.fairness.qt.shares import SharesPage
    from subflow_app.features.history.qt import History
    from subflow_app.features.plots.qt.plot_view import PlotView
    from subflow_app.features.running.qt.run_control import RunControl
    from subflow_app.features.running.qt.shown_runs import ShownRuns
    from subflow_app.toolkit.workspaces import Workspaces

_EXPORT = "study.export_trade_offs"
Cancelled = Callable[[], bool]


class FairnessPorts(FeatureHolder, Protocol):
    """Parts of the window that the analysis uses."""

    bar: ActionBar
    documents: Documents
    exports: Exports
    history: History
    plots: PlotView
    runs: RunControl
    shown: ShownRuns
    topology: TopologyView
    workers: Workers
    workspaces: Workspaces


class FairnessFeature(PanelFeature["FairnessPanel"]):
    """The fairness panel. Results are computed only while it is visible, and only for its current page."""

    panel_name = "fairness"
    export_action = "study.export_trade_offs"
    title = translatable("Fairness")
    room = (0, 0)
    scrolls = False

    def __init__(self, ports: FairnessPorts) -> None:
        """Prepare the computations; `make` creates the panel later."""
        super().__init__()
        self.ports = ports
        self.reader = LatestReader(ports.workers, self, "fairness", pause_ms=500)
        self.reader.read.connect(lambda show: show())
        self.reader.failed.connect(self._on_failed)
        self._known: KnownFigures | None = None
        self._marked_s: float | None = None
        self._is_stale = True  # True if something changed while the panel was hidden

    def connect_parts(self) -> None:
        """Connect changes of runs, marks, cursors and scenario."""
        ports = self.ports
        ports.plots.runs_changed.connect(self._on_runs_changed)
        ports.plots.time_clicked.connect(self.mark_time)
        ports.features[PlayheadFeature].playhead.moved.connect(self.mark_time)
        ports.plots.span_changed.connect(self._ask_other)
        ports.runs.ticked.connect(lambda _progress: self._ask(is_other=False))
        ports.runs.ended.connect(lambda _job, _result: self._ask(is_other=False))
        ports.documents.edited.connect(self._on_runs_changed)
        ports.documents.replaced.connect(self._on_runs_changed)

    def make(self) -> FairnessPanel:
        """Create the panel with both pages."""
        from subflow_app.features.fairness.qt.panel import FairnessPanel

        panel = FairnessPanel(self.ports.bar[_EXPORT])
        panel.seen.connect(self._on_seen)
        panel.tabs.currentChanged.connect(lambda _: self._ask_other())
        panel.shares.choice_changed.connect(self._ask_other)
        panel.shares.link_chosen.connect(lambda name: self.ports.topology.select(f"links.{name}"))
        panel.trade_offs.kind_changed.connect(self._ask_other)
        panel.trade_offs.point_chosen.connect(self._on_point_chosen)
        return panel

    def possible(self) -> frozenset[str]:
        """The action that exports the points; empty while no points are shown."""
        return frozenset({_EXPORT} if self.shown is not None and self.shown.trade_offs.points else set())

    def mark_time(self, time_s: float) -> None:
        """Mark a time, and analyse the run around it if the window around the marked time is chosen."""
        self._marked_s = time_s
        if self.shown is not None and self.shown.shares.window_part == "around":
            self._ask(is_other=False)

    def show_trade_offs(self) -> None:
        """Open the panel on the page of trade-offs."""
        self.ports.workspaces.go_to(self.panel_name)
        self.content.tabs.setCurrentWidget(self.content.trade_offs)
        self.content.trade_offs.setFocus()

    def ask_export(self) -> None:
        """Open the dialog that exports the points as a figure, with a table of them beside it."""
        page = self.content.trade_offs
        panel, points, kind = page.plot.shown_panel(), tuple(page.points), page.kind
        if not points or panel is None:
            return
        from subflow_app.features.fairness.core.trade_offs import write_points
        from subflow_app.features.paper.core.exported_figure import ExportedFigure
        from subflow_app.features.paper.core.figure_plan import FigurePlan

        plan = FigurePlan(panels=(panel,))
        write_data = partial(write_points, points, kind)
        self.ports.exports.export(ExportedFigure(f"trade-off-{kind}", plan, write_data=write_data))

    def close(self) -> None:
        """Cancel the computation."""
        self.reader.forget()

    # ---- internals ----

    def _on_seen(self) -> None:
        if self._is_stale:
            self._on_runs_changed()

    def _on_runs_changed(self) -> None:
        if self.shown is not None:
            has_scenario = self.ports.documents.doc.scenario is not None
            self.shown.shares.set_runs(run_names(self.ports.plots.runs), has_scenario=has_scenario)
        self._ask_other()

    def _ask_other(self) -> None:
        self._ask(is_other=True)

    def _ask(self, *, is_other: bool) -> None:
        panel = self.shown
        if panel is None or not panel.isVisible():
            self._is_stale = True
            return
        self._is_stale = False
        work = self._points_work(panel.trade_offs) if panel.weighs else self._shares_work(panel.shares)
        if work is not None:
            self.reader.ask(work, is_other=is_other)
            return
        self.reader.forget()
        panel.shares.show_nothing()
        self._show_points([], panel.trade_offs.kind)

    def _shares_work(self, shares: SharesPage) -> Callable[[Cancelled], Callable[[], None]] | None:
        """The work for a thread, which returns a function that shows the shares; None without a run or scenario."""
        from subflow_app.features.fairness.core.analysis_view import WindowOf, run_view, scenario_view

        def showing(view: AnalysisView) -> Callable[[], None]:
            return lambda: shares.show_view(view)

        runs, run = self.ports.plots.runs, shares.run
        if 0 <= run < len(runs):
            traces = runs[run]
            window = WindowOf(shares.window_part, self._marked_s, self.ports.plots.span_s)
            return lambda is_cancelled: showing(run_view(traces, window, is_cancelled))
        scenario = self.ports.documents.doc.scenario
        if scenario is not None:
            return lambda _is_cancelled: showing(scenario_view(scenario))
        return None

    def _points_work(self, page: TradeOffPage) -> Callable[[Cancelled], Callable[[], None]] | None:
        from subflow_app.features.fairness.core.trade_offs import KnownFigures, default_kind, trade_off_points

        runs, chosen = self.ports.plots.runs, page.kind if page.is_kind_chosen else None
        # Kept while an active run grows, because the values of the other runs remain valid.
        known = self._known = self._known or KnownFigures()

        def work(is_cancelled: Cancelled) -> Callable[[], None]:
            kind = default_kind(runs) if chosen is None else chosen
            points = trade_off_points(runs, kind, is_cancelled, known)
            return lambda: self._show_points(points, kind)

        return work if runs else None

    def _show_points(self, points: list[Point], kind: TradeOffKind) -> None:
        self.content.trade_offs.propose_kind(kind)
        self.content.trade_offs.show_points(points, kind)
        self.changed.emit()

    def _on_failed(self, error: Exception) -> None:
        if self.content.weighs:
            self._show_points([], self.content.trade_offs.kind)
            self.content.trade_offs.show_nothing(str(error))
        else:
            self.content.shares.show_nothing(tr("No shares to compare"), str(error))

    def _on_point_chosen(self, point: Point) -> None:
        """Select the stored runs of a point in the history."""
        ids = [self.ports.shown.id_of(run) for run in point.runs]
        self.ports.history.select([run_id for run_id in ids if run_id is not None])


def rows() -> Iterator[ActionSpec[FeatureHolder]]:
    """Entries of the Study menu."""
    yield ActionSpec(
        "study.trade_offs",
        "&Trade-offs of the runs",
        "Plot throughput against delay or friendliness for the runs in the plots, with their Pareto front",
        "trade_offs",
        (),
        lambda w, _: w.features[FairnessFeature].show_trade_offs(),
    )
    yield ActionSpec(
        "study.export_trade_offs",
        "&Export trade-offs…",
        "Write the trade-offs that are shown as a figure, with a table of them",
        "export_figure",
        (),
        lambda w, _: w.features[FairnessFeature].ask_export(),
        (possible("study.export_trade_offs", translatable("the Fairness panel shows no trade-offs")),),
        is_contextual=True,
    )
