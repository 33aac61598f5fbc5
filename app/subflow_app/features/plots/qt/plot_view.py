"""View of the plots with their legend and their empty state, which loads pyqtgraph only on demand.

The view exists before pyqtgraph. The list of traces behind the visible curves is therefore free of pyqtgraph too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QFont, QPalette, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QMenu, QSplitter, QWidget

from subflow_app.features.history.core.run_names import told_apart
from subflow_app.features.plots.core import PLOTS, PLOTS_BY_ID, TIME, PlotSpec
from subflow_app.features.plots.core.drawing import CurveChoices
from subflow_app.features.plots.qt.curve_id import CurveId, left_out_text, run_names
from subflow_app.features.plots.qt.legend_model import (
    LegendModel,
    LegendValues,
    mean_values,
    present_values,
    summed_up,
    values_at,
)
from subflow_app.features.plots.qt.span import SpanPanel
from subflow_app.features.traces.core.traces import SeriesKey, Traces
from subflow_app.toolkit.theme import muted
from subflow_app.toolkit.widgets.empty_state import EmptyState
from subflow_app.toolkit.widgets.labels import SaidLine
from subflow_app.toolkit.widgets.results_strip import ResultsStrip
from subflow_app.toolkit.widgets.shorthand import named, pages, split, timer, v_box
from subflow_app.vocabulary.language import tr
from subflow_store.values import RunRow

if TYPE_CHECKING:
    from subflow_app.features.plots.qt.curves_button import CurvesButton
    from subflow_app.features.plots.qt.legend import Legend
    from subflow_app.features.plots.qt.plot_stack import PlotStack
    from subflow_app.features.plots.qt.popped_plot import PoppedPlot
    from subflow_app.toolkit.plotting.plot_scroll import PlotScroll


def visible_keys(
    stacks: Sequence[PlotStack], specs: Sequence[PlotSpec], runs: Sequence[Traces], hidden: frozenset[CurveId]
) -> list[list[SeriesKey]]:
    """Per run, the traces behind the lines that are not hidden, also those that a median or a mean stands for."""
    visible = {behind for stack in stacks for key in stack.curves if key not in hidden for behind in stack.behind(key)}
    # The total of a flow is made of its subflows, so their traces are the data behind it.
    return [
        [key for spec in specs for key in spec.series(traces) if (run, key.owner) in visible]
        for run, traces in enumerate(runs)
    ]


_MOST_LINES_AT_ONCE = 60  # more are listed in a turn of their own, and their values told a few times a second
_LINES_MS = 30
_VALUES_MS = 400

# Lower than this, px, the results are a line: the plots need the room more than a table of the same figures.
_LEAST_HEIGHT_OF_TABLE = 640

# The plots a person sees first; the others are one click away in the View menu.
DEFAULT_PLOTS = ("throughput", "cwnd", "rtt")


class PlotView(QWidget):
    """Shows one run, or several over each other."""

    runs_changed = Signal()
    menu_requested = Signal(QPoint)  # global position
    time_clicked = Signal(float)  # s
    curve_clicked = Signal(object)  # CurveId
    told = Signal(str)  # why something was not done
    span_changed = Signal()  # the cursors A and B stand elsewhere

    def __init__(self, run_action: QAction | None = None, parent: QWidget | None = None) -> None:
        """An empty view; ``run_action`` is the button of its empty state."""
        super().__init__(parent)
        self.setObjectName("plot_view")
        self._stack: PlotStack | None = None
        self._legend: Legend | None = None
        self.curves_menu = QMenu(self)  # of the button above the plots, for whoever has the actions
        self.curves_menu.setObjectName("curves_menu")
        self._button: CurvesButton | None = None
        self._scroll: PlotScroll | None = None
        self.legend_model = LegendModel(self)
        self.legend_model.hidden_changed.connect(self._on_hidden_changed)
        self.runs: tuple[Traces, ...] = ()  # the runs shown
        self._means: LegendValues | None = None  # of these runs and plots, once they are asked for
        self._rows: list[RunRow | None] = []  # of the runs whose results are shown
        self._without_data: frozenset[str] | None = (
            None  # worked out once for these runs: there may be thousands of traces
        )
        # The plots that are switched on.
        self.wanted: tuple[PlotSpec, ...] = tuple(spec for spec in PLOTS if spec.id in DEFAULT_PLOTS)
        self._more: tuple[PlotSpec, ...] = ()  # that stand below those
        self.specs = self.wanted  # the plots shown, from top to bottom: those wanted that some run has
        self._popped: dict[str, PoppedPlot] = {}  # by plot id: in windows of their own
        self._clicked: CurveId | None = None
        self._of_numbers: dict[str, PlotSpec] = {}  # by plot id: the plot of the number that is chosen
        self._colours: dict[CurveId, str] = {}  # that a person chose, for this session
        self._legend_shown = True
        self._crosshair_shown = True
        self._marks_shown = True
        self.choices = CurveChoices()
        self._is_side_by_side = False
        self._log = False
        self._empty = EmptyState(
            "plots",
            tr("No run shown"),
            tr(
                "Run the scenario to see throughput, congestion window and round-trip time grow here, or choose a "
                "stored run in the history."
            ),
            run_action,
        )
        self._span = SpanPanel()
        self._lines_timer = timer(self, self._show_lines, _LINES_MS, is_single=True)
        self._values_timer = timer(
            self, lambda: self._update_values(self._loaded().cursor_s), _VALUES_MS, is_single=True
        )
        self._pages = pages(self, self._empty, fills=True)
        self.waiting = self._foreign = ""
        self._results = ResultsStrip(self)
        self._results.folded.connect(self._on_results_folded)
        self._are_results_folded: bool | None = None  # as a person chose; None: by the height that there is
        layout = v_box(self, self._results, (self._pages, 1), margins=0)
        self._left_out = muted(SaidLine("plots_left_out", self))
        self._left_out.setBackgroundRole(QPalette.ColorRole.AlternateBase)
        self._left_out.setAutoFillBackground(True)
        layout.addWidget(self._left_out)

    def load(self) -> None:
        """Imports pyqtgraph and builds the plots: in the first idle moment, or with the first run if earlier."""
        if self._stack is not None:
            return
        from subflow_app.features.plots.qt.curves_button import CurvesButton
        from subflow_app.features.plots.qt.legend import Legend, LegendSplitter
        from subflow_app.features.plots.qt.plot_stack import PlotStack
        from subflow_app.toolkit.plotting.plot_scroll import PlotScroll

        stack = PlotStack(self.specs, self)
        legend = Legend(self.legend_model, self)
        stack.set_log(self._log)
        stack.set_marks_shown(self._marks_shown)
        stack.set_choices(self.choices)
        stack.set_side_by_side(self._is_side_by_side)
        stack.set_crosshair_shown(self._crosshair_shown)
        stack.set_readout_shown(not self._legend_shown)
        legend.setVisible(self._legend_shown)
        legend.colour_chosen.connect(self.set_colour)
        legend.colours_reset.connect(self.reset_colours)
        stack.cursor_moved.connect(self._update_values)
        stack.curves_changed.connect(self._on_curves_changed)
        stack.fed.connect(lambda: self._update_latest() if stack.cursor_s is None else None)
        stack.menu_requested.connect(self.menu_requested)
        stack.time_clicked.connect(self.time_clicked)
        stack.curve_clicked.connect(self._on_curve_clicked)
        stack.cursors.changed.connect(self._update_span)
        stack.cursors.changed.connect(self.span_changed)
        self._span.cleared.connect(stack.cursors.clear)
        plots = named(QSplitter(Qt.Orientation.Vertical, childrenCollapsible=False), "span_splitter")
        scroll = self._scroll = PlotScroll(stack)
        self._button = CurvesButton(scroll, self.curves_menu, self.choices.bin_s)
        low = self._span.sizeHint().height()
        split(plots, scroll, self._span, shares=(1, 0), sizes=[self.height() - low, low])
        self._pages.addWidget(LegendSplitter(plots, stack, legend))
        self._stack, self._legend = stack, legend

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Folds the results where they would leave the plots too little."""
        super().resizeEvent(event)
        if self._are_results_folded is None:
            self._results.set_folded(self.height() < _LEAST_HEIGHT_OF_TABLE)

    def showEvent(self, event: QShowEvent) -> None:
        """Catches up with what runs did while the view was hidden."""
        super().showEvent(event)
        if any(run.row is None for run in self.runs) or self._are_rows_new(self.runs):
            self.refresh()

    def _on_results_folded(self, are_folded: bool) -> None:
        self._are_results_folded = are_folded

    # ---- runs ----

    def show_runs(self, runs: Sequence[Traces]) -> None:
        """Shows these runs; none shows the empty state.

        Raises:
            StoreError: if a stored run cannot be read; what was shown stays.
        """
        self.load()
        stack = self._loaded()
        before = self.runs
        stack.set_pin(None)
        self._of_numbers.clear()
        self._clicked = None
        try:
            for each in self._stacks:
                each.show_runs(runs)
        except Exception:
            for each in self._stacks:
                each.show_runs(before)
            raise
        self.runs = tuple(runs)
        self._without_data = None
        self._choose_specs()
        self._pages.setCurrentIndex(1 if runs else 0)
        # Never to what is hidden: from there Tab leads nowhere.
        self.setFocusProxy(stack if runs else None)  # type: ignore[arg-type] # the stubs know no way to take it away
        self.runs_changed.emit()

    def set_waiting(self, text: str) -> None:
        """Says above the plots what is on its way; empty: nothing."""
        self.waiting = text
        self._results.say(self.waiting or self._foreign)

    def say_foreign(self, text: str) -> None:
        """Says above the plots that runs are of another scenario than the one that is open; empty: nothing."""
        self._foreign = text
        self._results.say(self.waiting or self._foreign)

    def refresh(self) -> None:
        """Draws the samples that came since the last call; nothing to do while the view is hidden."""
        if self._stack is not None and self.runs and self.isVisible():
            for stack in self._stacks:
                stack.refresh()
            self._update_span()
            if self._stack.cursor_s is None:
                self._update_latest()

    def shown_keys(self) -> list[list[SeriesKey]]:
        """Per run, the traces behind the curves that are visible."""
        return visible_keys(self._stacks, self.specs, self.runs, self.legend_model.hidden)

    # ---- switches ----

    @property
    def without_data(self) -> frozenset[str]:
        """Ids of the plots that none of the runs shown has; empty while none is shown."""
        if self._without_data is None:
            self._without_data = frozenset(spec.id for spec in PLOTS if self.runs and not self._have(spec))
        return self._without_data

    def set_plot_shown(self, plot_id: str, is_shown: bool) -> None:
        """Switches one plot on or off; the last one stays."""
        wanted = tuple(s for s in PLOTS if (s in self.wanted or s.id == plot_id) and (is_shown or s.id != plot_id))
        if wanted:
            self.wanted = wanted
            self._choose_specs()

    def scroll_to(self, plot_id: str) -> None:
        """Brings a plot into sight where the plots need more height than there is, once they have their places."""
        QTimer.singleShot(0, self, lambda: self._scroll_to(plot_id))

    def _scroll_to(self, plot_id: str) -> None:
        stack = self._stack
        if stack is None or self._scroll is None:
            return
        for spec, plots in stack.plots_by_spec():
            if spec.id == plot_id and plots:
                area = stack.mapFromScene(plots[0].item.sceneBoundingRect()).boundingRect()
                middle, half = area.center(), area.height() // 2
                self._scroll.ensureVisible(self._scroll.horizontalScrollBar().value(), middle.y(), 0, half)

    def set_number(self, plot_id: str, name: str) -> None:
        """Has a plot of one of several numbers show another; the first again with other runs."""
        self._of_numbers[plot_id] = PLOTS_BY_ID[plot_id].of_number(name)
        self._choose_specs()

    def set_more(self, specs: Sequence[PlotSpec]) -> None:
        """Shows these below the plots that are switched on, whatever the runs have."""
        if specs or self._more:
            self._more = tuple(specs)
            self._choose_specs()

    def set_pin(self, time_s: float | None) -> None:
        """Draws a line at this time through all plots; None takes it away."""
        for stack in self._stacks:
            stack.set_pin(time_s)

    def place_cursor(self, name: str) -> None:
        """Puts the cursor A or B to the crosshair; with both, a table tells what lies between them."""
        if self.runs:
            self._loaded().place_cursor(name)

    def clear_cursors(self) -> None:
        """Takes the cursors A and B away."""
        if self._stack is not None:
            self._stack.cursors.clear()

    @property
    def span_s(self) -> tuple[float, float] | None:
        """Times of the cursors A and B, s; None unless both are set."""
        return self._stack.cursors.span_s if self._stack is not None else None

    @property
    def hidden(self) -> frozenset[CurveId]:
        """Lines that are switched off in the legend."""
        return self.legend_model.hidden

    @property
    def current_curve(self) -> CurveId | None:
        """The curve that was clicked, or chosen in the legend, last; that of the only run if there was none."""
        if self._legend is not None and self._legend.current is not None:
            return self._legend.current
        if self._clicked is not None:
            return self._clicked
        ids = self._curve_ids()
        return ids[0] if ids and len(self.runs) == 1 else None

    def names_of(self, curve: CurveId) -> tuple[str, str]:
        """Label of a curve, and name of its run."""
        found = next(found for found in (stack.curve_of(curve) for stack in self._stacks) if found is not None)
        return found.label, found.run_title

    def set_colour(self, curve: CurveId, colour: str) -> None:
        """Draws a line in a colour, ``#RRGGBB``, in all plots until the window is closed; empty: its own.

        In all runs, unless colours tell runs apart.
        """
        if colour:
            # The latest counts where several are of the same line in different runs.
            self._colours = {curve: colour, **{key: old for key, old in self._colours.items() if key != curve}}
        else:
            line = (curve.owner, curve.kind)
            self._colours = {key: old for key, old in self._colours.items() if (key.owner, key.kind) != line}
        for stack in self._stacks:
            stack.set_colours(self._colours)

    def reset_colours(self) -> None:
        """Gives all lines their own colours back."""
        self._colours.clear()
        for stack in self._stacks:
            stack.set_colours({})

    def set_legend_shown(self, is_shown: bool) -> None:
        """Shows or hides the legend; without it the values at the crosshair stand behind the titles of the plots."""
        self._legend_shown = is_shown
        if self._stack is not None and self._legend is not None:
            self._legend.setVisible(is_shown)
            self._stack.set_readout_shown(not is_shown)

    def set_crosshair_shown(self, is_shown: bool) -> None:
        """Shows or hides the crosshair."""
        self._crosshair_shown = is_shown
        for stack in self._stacks:
            stack.set_crosshair_shown(is_shown)

    def set_marks_shown(self, is_shown: bool) -> None:
        """Shows or hides losses, timeouts, actions of agents and link changes."""
        self._marks_shown = is_shown
        for stack in self._stacks:
            stack.set_marks_shown(is_shown)

    def set_choices(self, choices: CurveChoices) -> None:
        """Draws curves in other bins or colours, or others of them."""
        self.choices = choices
        for stack in self._stacks:
            stack.set_choices(choices)
        if self._button is not None:
            self._button.show_bins(choices.bin_s)

    def set_side_by_side(self, is_on: bool) -> None:
        """Gives each run a column of its own, or lays all over each other."""
        self._is_side_by_side = is_on
        for stack in self._stacks:
            stack.set_side_by_side(is_on)

    def set_log(self, is_log: bool) -> None:
        """Logarithmic or linear values."""
        self._log = is_log
        for stack in self._stacks:
            stack.set_log(is_log)

    # ---- view ----

    def set_type(self, font: QFont, line_scale: float) -> None:
        """Writes with this font and draws lines so many times as wide."""
        for stack in self._stacks:
            stack.set_type(font, line_scale)
        if self._legend is not None:
            self._legend.fit_font(font)
        if self._button is not None:
            self._button.fit_font(font)

    def fit(self) -> None:
        """Shows everything."""
        for stack in self._stacks:
            stack.fit()

    def zoom(self, steps: int) -> None:
        """Zooms time in (positive) or out."""
        if self._stack is not None:
            self._stack.zoom(steps)

    @property
    def stack(self) -> PlotStack:
        """The plots themselves, loaded if need be."""
        self.load()
        return self._loaded()

    # ---- inside ----

    def _have(self, spec: PlotSpec) -> bool:
        return any(spec.is_in(traces) for traces in self.runs)

    def _choose_specs(self) -> None:
        """Shows the plots that are wanted and have something to show; the first of all if that is none."""
        had = tuple(spec for spec in self.wanted if spec.id not in self.without_data) or PLOTS[:1]
        self._say_left_out()
        specs = (*(self._of_numbers.get(spec.id, spec) for spec in had), *self._more)
        if specs != self.specs:
            self.specs = specs
            self._share_out()

    def _say_left_out(self) -> None:
        """Says which plots are switched on and still not there, and what a run would need for them."""
        missing = [spec for spec in self.wanted if spec.id in self.without_data]
        self._left_out.say("\n".join(map(left_out_text, missing)))

    @property
    def stacks(self) -> Sequence[PlotStack]:
        """The plots here, and those in windows of their own; none before they are loaded."""
        return self._stacks

    @property
    def _stacks(self) -> list[PlotStack]:
        """The plots here, and those in windows of their own."""
        return [] if self._stack is None else [self._stack, *(popped.stack for popped in self._popped.values())]

    def _share_out(self) -> None:
        """Gives each plot its place: those that are popped out and still shown stay there; some plot is always here."""
        shown = {spec.id: spec for spec in self.specs}
        for plot_id, popped in list(self._popped.items()):
            if shown.get(plot_id) != popped.spec or self._popped.keys() >= shown.keys():
                del self._popped[plot_id]
                popped.close()
        if self._stack is not None:
            self._stack.set_specs([spec for spec in self.specs if spec.id not in self._popped])

    # ---- windows of their own ----

    @property
    def popped_ids(self) -> tuple[str, ...]:
        """Ids of the plots that have windows of their own."""
        return tuple(self._popped)

    def pop_out(self, plot_id: str = "") -> None:
        """Gives a plot a window of its own: the one that the mouse was over last, if none is named."""
        from subflow_app.features.plots.qt.popped_plot import PoppedPlot

        stack = self._loaded()
        spec = next((plot.spec for plot in stack.plots if plot.spec.id == (plot_id or stack.pointed_id)), None)
        if spec is None or len(stack.plots) < 2:
            self.told.emit(tr("The last plot stays here: switch another one on first."))
            return
        popped = PoppedPlot(spec, stack, self)
        popped.returned.connect(self._on_returned)
        popped.stack.menu_requested.connect(self.menu_requested)
        popped.stack.time_clicked.connect(self.time_clicked)
        popped.stack.curve_clicked.connect(self._on_curve_clicked)
        self._popped[spec.id] = popped
        self._share_out()
        popped.show()

    def return_all(self) -> None:
        """Brings all plots back."""
        for popped in list(self._popped.values()):
            popped.close()

    def _on_returned(self, plot_id: str) -> None:
        if self._popped.pop(plot_id, None) is not None:
            self._share_out()

    def _loaded(self) -> PlotStack:
        assert self._stack is not None
        return self._stack

    def _curve_ids(self) -> Sequence[CurveId]:
        return tuple(dict.fromkeys(key for stack in self._stacks for key in stack.curves))

    def _on_curve_clicked(self, curve: CurveId) -> None:
        if self._legend is not None:
            self._clicked = curve  # the legend has no line for a flow of a crowd
            self._legend.set_current(curve)
        self.curve_clicked.emit(curve)

    def _on_hidden_changed(self, hidden: frozenset[CurveId]) -> None:
        if self._stack is not None:
            for stack in self._stacks:
                stack.set_hidden(hidden)
            self._update_span()

    def _on_curves_changed(self) -> None:
        if len(self._loaded().curves) <= _MOST_LINES_AT_ONCE:
            self._show_lines()
        else:
            self._lines_timer.start()

    def _show_lines(self) -> None:
        """Fills the legend."""
        self._lines_timer.stop()
        stack = self._loaded()
        curves = {key: curve for each in reversed(self._stacks) for key, curve in each.curves.items()}
        in_order = {key: curves[key] for each in self._stacks for key in each.curves}
        self._means = None
        self.legend_model.set_lines(
            in_order, [spec for each in self._stacks for spec in each.specs if spec.kind == TIME]
        )
        if self._legend is not None:
            names = run_names(curves.values())
            self._legend.set_run(next(iter(names.values())) if len(names) == 1 else told_apart([*names.values()])[0])
        if stack.cursor_s is None:
            self._update_latest()
        else:
            self._update_values(stack.cursor_s)
        self._update_span()

    def _update_span(self) -> None:
        stack = self._loaded()
        span_s = stack.cursors.span_s if self.runs else None
        if span_s is None:
            self._span.hide()
        else:
            self._span.show_span(*span_s, stack.span_rows())

    def _update_latest(self) -> None:
        """Tells the newest values; those of very many lines in a turn of their own and only a few times a second."""
        if len(self._loaded().curves) <= _MOST_LINES_AT_ONCE:
            self._update_values(None)
        elif not self._values_timer.isActive():
            self._values_timer.start()

    def _update_values(self, cursor_s: float | None) -> None:
        if self._legend is None:
            return
        runs = self._loaded().runs
        self._update_results(runs)
        if cursor_s is not None:
            values = values_at(self._stacks, cursor_s)
        elif any(run.row is None for run in runs):
            self._means = None
            values = present_values(self._stacks)
        else:
            if self._means is None:
                specs = [spec for each in self._stacks for spec in each.specs]
                self._means = summed_up(mean_values(specs, runs), self._stacks)
            values = self._means
        self._legend.show_values(values)

    def _update_results(self, runs: Sequence[Traces]) -> None:
        """Tells what came out, once all runs shown are over."""
        if self._are_rows_new(runs):
            self._rows = [run.row for run in runs]
            is_race = any(len(set(run.controllers.values())) > 1 for run in runs)
            if len(runs) < 2 and not is_race:
                self._results.show_results(None)  # the legend has the means of a run that is compared with nothing
            elif None in self._rows:
                self._results.show_results(None, tr("Results are shown when the run is over."))
            else:
                from subflow_app.features.comparison.core.results import (
                    results_of,  # late: a start has no runs to compare
                )

                self._results.show_results(results_of(runs), tr("These runs have no results in common."))

    def _are_rows_new(self, runs: Sequence[Traces]) -> bool:
        return list(map(id, self._rows)) != [id(run.row) for run in runs]
