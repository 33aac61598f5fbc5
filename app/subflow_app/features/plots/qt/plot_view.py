"""View of the plots with legend and empty state, which loads pyqtgraph only on demand.

The view and `visible_keys` also work while pyqtgraph is not loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QFont, QHideEvent, QMoveEvent, QPalette, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QMenu, QSplitter, QWidget

from subflow_app.features.plots.core import PLOTS, PLOTS_BY_ID, PlotSpec
from subflow_app.features.plots.core.drawing import CurveChoices
from subflow_app.features.plots.qt.curve_id import CurveId, left_out_text
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
    from subflow_app.features.plots.qt.legend import Legend, LegendSplitter
    from subflow_app.features.plots.qt.plot_stack import PlotStack
    from subflow_app.features.plots.qt.popped_plot import PoppedPlot
    from subflow_app.toolkit.plotting.plot_scroll import PlotScroll


def visible_keys(
    stacks: Sequence[PlotStack], specs: Sequence[PlotSpec], runs: Sequence[Traces], hidden: frozenset[CurveId]
) -> list[list[SeriesKey]]:
    """Traces of the visible lines for each run, including the traces that a median or a mean represents."""
    visible = {behind for stack in stacks for key in stack.curves if key not in hidden for behind in stack.behind(key)}
    return [
        [key for spec in specs for key in spec.series(traces) if (run, key.owner) in visible]
        for run, traces in enumerate(runs)
    ]


# With more lines, the legend is filled in a later turn of the event loop, and updated a few times per second.
_MOST_LINES_AT_ONCE = 60
_LINES_MS = 30
_VALUES_MS = 400

# If the view is lower than this, px, the results fold to one line, because the plots need the space more.
_LEAST_HEIGHT_OF_TABLE = 640

# Plots shown initially; the View menu contains the others.
DEFAULT_PLOTS = ("throughput", "cwnd", "rtt")


class PlotView(QWidget):
    """Shows one run, or several overlaid."""

    runs_changed = Signal()
    menu_requested = Signal(QPoint)  # global position
    time_clicked = Signal(float)  # s
    pointed = Signal(object)  # time under the mouse, s, or None
    curve_clicked = Signal(object)  # CurveId
    told = Signal(str)  # reason why an action failed
    span_changed = Signal()  # the cursors A and B have moved
    legend_dragged = Signal(int)  # width of the legend, px
    line_chosen = Signal(object)  # CurveId chosen in the legend
    axis_changed = Signal()  # position or range of the time axis have changed
    cancelled = Signal()  # the user cancelled the loading of data

    def __init__(self, run_action: QAction | None = None, parent: QWidget | None = None) -> None:
        """Starts in the empty state, which offers ``run_action`` as a button."""
        super().__init__(parent)
        self.setObjectName("plot_view")
        self._stack: PlotStack | None = None
        self._legend: Legend | None = None
        self._splitter: LegendSplitter | None = None
        self._legend_width = 0
        self.curves_menu = QMenu(self)  # menu of the button above the plots; the owner of the actions fills it
        self.curves_menu.setObjectName("curves_menu")
        self._button: CurvesButton | None = None
        self._scroll: PlotScroll | None = None
        self.legend_model = LegendModel(self)
        self.legend_model.hidden_changed.connect(self._on_hidden_changed)
        self.runs: tuple[Traces, ...] = ()  # the runs shown
        self._means: LegendValues | None = None  # means for these runs and plots; None until needed
        self._rows: list[RunRow | None] = []  # database rows of the runs whose results are displayed
        self._without_data: frozenset[str] | None = (
            None  # None until computed, because the runs may have thousands of traces
        )
        # The plots that are switched on.
        self.wanted: tuple[PlotSpec, ...] = tuple(spec for spec in PLOTS if spec.id in DEFAULT_PLOTS)
        self._more: tuple[PlotSpec, ...] = ()  # plots shown below those in `wanted`
        self.specs = self.wanted  # the plots shown, from top to bottom: those switched on that a run supports
        self._popped: dict[str, PoppedPlot] = {}  # by plot id: plots in separate windows
        self._clicked: CurveId | None = None
        self._of_numbers: dict[str, PlotSpec] = {}  # by plot id: plots for which a number of the agents was chosen
        self._colours: dict[CurveId, str] = {}  # chosen by the user, for this session
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
                "Run the scenario to see throughput, congestion window and round-trip time grow here, choose a stored "
                "run in the history, or drop a measurement here: ss, iperf3, pcap, qlog, CSV."
            ),
            run_action,
        )
        self._span = SpanPanel()
        self._lines_timer = timer(self, self._show_lines, _LINES_MS, is_single=True)
        self._values_timer = timer(
            self, lambda: self._update_values(self._loaded().cursor_s), _VALUES_MS, is_single=True
        )
        self._pages = pages(self, self._empty, fills=True)
        self.waiting = self._foreign = self._again = ""
        self._results = ResultsStrip(self)
        self._results.folded.connect(self._on_results_folded)
        self._results.cancelled.connect(self.cancelled)
        self._are_results_folded: bool | None = None  # the user's choice; None: depends on the height of the view
        layout = v_box(self, self._results, (self._pages, 1), margins=0)
        self._left_out = muted(SaidLine("plots_left_out", self))
        self._left_out.setBackgroundRole(QPalette.ColorRole.AlternateBase)
        self._left_out.setAutoFillBackground(True)
        layout.addWidget(self._left_out)

    def load(self) -> None:
        """Imports pyqtgraph and builds the plots, unless the plots already exist."""
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
        legend.line_chosen.connect(self.line_chosen)
        legend.colours_reset.connect(self.reset_colours)
        stack.cursor_moved.connect(self._update_values)
        stack.curves_changed.connect(self._on_curves_changed)
        stack.fed.connect(lambda: self._update_latest() if stack.cursor_s is None else None)
        stack.menu_requested.connect(self.menu_requested)
        stack.axis_changed.connect(self.axis_changed)
        stack.pointed.connect(self.pointed)
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
        splitter = self._splitter = LegendSplitter(plots, legend)
        splitter.set_legend_width(self._legend_width)
        splitter.dragged.connect(self.legend_dragged)
        scroll.verticalScrollBar().valueChanged.connect(lambda _value: self._align_legend())
        self._pages.addWidget(splitter)
        self._stack, self._legend = stack, legend
        self.axis_changed.connect(self._align_legend)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Folds the results if they would leave too little height for the plots."""
        super().resizeEvent(event)
        if self._are_results_folded is None:
            self._results.set_folded(self.height() < _LEAST_HEIGHT_OF_TABLE)

    def showEvent(self, event: QShowEvent) -> None:
        """Draws samples and results that arrived while the view was hidden."""
        super().showEvent(event)
        self.axis_changed.emit()
        if any(run.row is None for run in self.runs) or self._are_rows_new(self.runs):
            self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        """Announces that the time axis is hidden."""
        super().hideEvent(event)
        self.axis_changed.emit()

    def moveEvent(self, event: QMoveEvent) -> None:
        """Announces a new position of the time axis."""
        super().moveEvent(event)
        self.axis_changed.emit()

    def _on_results_folded(self, are_folded: bool) -> None:
        self._are_results_folded = are_folded

    # ---- runs ----

    def show_runs(self, runs: Sequence[Traces]) -> None:
        """Shows these runs; an empty list shows the empty state.

        Raises:
            StoreError: if a stored run cannot be read; the previous runs remain.
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
        # Never focuses a hidden widget, from which Tab would lead nowhere.
        self.setFocusProxy(stack if runs else None)  # type: ignore[arg-type] # the stubs do not allow None
        self.runs_changed.emit()
        self.axis_changed.emit()

    def set_waiting(self, text: str, *, can_cancel: bool = False) -> None:
        """Shows a message above the plots while data are loading; an empty text hides the message.

        Args:
            text: the message.
            can_cancel: whether a button emits `cancelled`.
        """
        self.waiting = text
        self._say(can_cancel=can_cancel)

    def say_foreign(self, text: str) -> None:
        """Shows a message above the plots for runs of a different scenario; an empty text hides the message."""
        self._foreign = text
        self._say()

    def say_again(self, text: str) -> None:
        """Shows a message above the plots for runs that were simulated again; an empty text hides the message."""
        self._again = text
        self._say()

    def _say(self, *, can_cancel: bool = False) -> None:
        note = self.waiting or " · ".join(filter(None, (self._foreign, self._again)))
        self._results.say(note, can_cancel=can_cancel)

    def refresh(self) -> None:
        """Draws the samples added since the last call; does nothing while the view is hidden."""
        if self._stack is not None and self.runs and self.isVisible():
            for stack in self._stacks:
                stack.refresh()
            self._update_span()
            if self._stack.cursor_s is None:
                self._update_latest()

    def shown_keys(self) -> list[list[SeriesKey]]:
        """Traces behind the visible curves, by run."""
        return visible_keys(self._stacks, self.specs, self.runs, self.legend_model.hidden)

    # ---- switches ----

    @property
    def without_data(self) -> frozenset[str]:
        """Ids of the plots that no run supports; empty if no runs are shown."""
        if self._without_data is None:
            self._without_data = frozenset(spec.id for spec in PLOTS if self.runs and not self._have(spec))
        return self._without_data

    def set_plot_shown(self, plot_id: str, is_shown: bool) -> None:
        """Switches a plot on or off; the last plot cannot be switched off."""
        wanted = tuple(s for s in PLOTS if (s in self.wanted or s.id == plot_id) and (is_shown or s.id != plot_id))
        if wanted:
            self.wanted = wanted
            self._choose_specs()

    def scroll_to(self, plot_id: str) -> None:
        """Scrolls to a plot after the next layout."""
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
        """Chooses the number that a plot of agents' numbers shows, until different runs are shown."""
        self._of_numbers[plot_id] = PLOTS_BY_ID[plot_id].of_number(name)
        self._choose_specs()

    def set_more(self, specs: Sequence[PlotSpec]) -> None:
        """Shows these plots below those that are switched on, even if no run has data for them."""
        if specs or self._more:
            self._more = tuple(specs)
            self._choose_specs()

    def set_pin(self, time_s: float | None) -> None:
        """Draws a line at this time through all plots; None removes it."""
        for stack in self._stacks:
            stack.set_pin(time_s)

    def point_at(self, time_s: float) -> None:
        """Moves the crosshair to a time under the mouse elsewhere in the window, s."""
        for stack in self._stacks:
            stack.set_cursor(time_s)

    def place_cursor(self, name: str) -> None:
        """Moves cursor A or B to the crosshair; once both are set, a table shows the statistics between them."""
        if self.runs:
            self._loaded().place_cursor(name)

    def clear_cursors(self) -> None:
        if self._stack is not None:
            self._stack.cursors.clear()

    @property
    def span_s(self) -> tuple[float, float] | None:
        """Times of the cursors A and B, s; None unless both are set."""
        return self._stack.cursors.span_s if self._stack is not None else None

    @property
    def axis_ends(self) -> tuple[int, int] | None:
        """Global x of both ends of the time axis, px; None while no plot over time is visible."""
        return self._stack.axis_ends if self._stack is not None and self.runs else None

    @property
    def seen_s(self) -> tuple[float, float] | None:
        """First and last time in view, s; None if the whole run is in view."""
        if self._stack is None or not self.runs:
            return None
        low_s, high_s = self._stack.time_range
        end_s = max(run.duration_s for run in self.runs)
        margin_s = 1e-3 * end_s
        return None if low_s <= margin_s and high_s >= end_s - margin_s else (low_s, high_s)

    @property
    def hidden(self) -> frozenset[CurveId]:
        """Lines hidden by the legend."""
        return self.legend_model.hidden

    @property
    def current_curve(self) -> CurveId | None:
        """The curve selected in the legend, or else the curve that was clicked last.

        If neither exists, the first curve of the only run; None if several runs or none are shown.
        """
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
        """Gives a line this colour, ``#RRGGBB``, in all plots until the window is closed; empty restores the default.

        The colour applies to all runs, unless colours distinguish runs.
        """
        if colour:
            # The latest choice wins if the same line is coloured in several runs.
            self._colours = {curve: colour, **{key: old for key, old in self._colours.items() if key != curve}}
        else:
            line = (curve.owner, curve.kind)
            self._colours = {key: old for key, old in self._colours.items() if (key.owner, key.kind) != line}
        for stack in self._stacks:
            stack.set_colours(self._colours)

    def reset_colours(self) -> None:
        """Restores the default colours of all lines."""
        self._colours.clear()
        for stack in self._stacks:
            stack.set_colours({})

    def set_legend_shown(self, is_shown: bool) -> None:
        """Shows or hides the legend; without it, the values at the crosshair follow the titles of the plots."""
        self._legend_shown = is_shown
        if self._stack is not None and self._legend is not None:
            self._legend.setVisible(is_shown)
            self._stack.set_readout_shown(not is_shown)

    def set_legend_width(self, width: int) -> None:
        """Sets the width of the legend beside the plots, px; 0: as its names and values need."""
        self._legend_width = width
        if self._splitter is not None:
            self._splitter.set_legend_width(width)

    def _align_legend(self) -> None:
        """Puts each block of the legend beside its plot."""
        if self._legend is None or self._stack is None or self._scroll is None:
            return
        scrolled = self._scroll.verticalScrollBar().value()
        self._legend.set_tops({plot_id: top - scrolled for plot_id, top in self._stack.tops().items()})

    def set_crosshair_shown(self, is_shown: bool) -> None:
        self._crosshair_shown = is_shown
        for stack in self._stacks:
            stack.set_crosshair_shown(is_shown)

    def set_marks_shown(self, is_shown: bool) -> None:
        """Shows or hides the marks of events, e.g. losses, timeouts and link changes."""
        self._marks_shown = is_shown
        for stack in self._stacks:
            stack.set_marks_shown(is_shown)

    def set_choices(self, choices: CurveChoices) -> None:
        self.choices = choices
        for stack in self._stacks:
            stack.set_choices(choices)
        if self._button is not None:
            self._button.show_bins(choices.bin_s)

    def set_side_by_side(self, is_on: bool) -> None:
        """Shows each run in a separate column, or overlays all runs."""
        self._is_side_by_side = is_on
        for stack in self._stacks:
            stack.set_side_by_side(is_on)

    def set_log(self, is_log: bool) -> None:
        """Switches to a logarithmic or linear scale."""
        self._log = is_log
        for stack in self._stacks:
            stack.set_log(is_log)

    # ---- view ----

    def set_type(self, font: QFont, line_scale: float) -> None:
        """Uses this font, and multiplies line widths by ``line_scale``."""
        for stack in self._stacks:
            stack.set_type(font, line_scale)
        if self._legend is not None:
            self._legend.fit_font(font)
        if self._button is not None:
            self._button.fit_font(font)

    def fit(self) -> None:
        """Shows the whole duration and all values."""
        for stack in self._stacks:
            stack.fit()

    def zoom(self, steps: int) -> None:
        """Zooms the time axis in, or out if ``steps`` is negative."""
        if self._stack is not None:
            self._stack.zoom(steps)

    @property
    def stack(self) -> PlotStack:
        """The plots of this view; loads them if necessary."""
        self.load()
        return self._loaded()

    # ---- internals ----

    def _have(self, spec: PlotSpec) -> bool:
        return any(spec.is_in(traces) for traces in self.runs)

    def _choose_specs(self) -> None:
        """Shows the chosen plots that a run supports, or the first of all plots if no run supports any of them."""
        had = tuple(spec for spec in self.wanted if spec.id not in self.without_data) or PLOTS[:1]
        self._say_left_out()
        specs = (*(self._of_numbers.get(spec.id, spec) for spec in had), *self._more)
        if specs != self.specs:
            self.specs = specs
            self._share_out()

    def _say_left_out(self) -> None:
        """Lists the plots that are switched on but missing, with the unmet requirements."""
        missing = [spec for spec in self.wanted if spec.id in self.without_data]
        self._left_out.say("\n".join(map(left_out_text, missing)))

    @property
    def stacks(self) -> Sequence[PlotStack]:
        """The plots of this view and of separate windows; empty before they are loaded."""
        return self._stacks

    @property
    def _stacks(self) -> list[PlotStack]:
        return [] if self._stack is None else [self._stack, *(popped.stack for popped in self._popped.values())]

    def _share_out(self) -> None:
        """Distributes the plots among this view and separate windows; at least one plot remains here."""
        shown = {spec.id: spec for spec in self.specs}
        for plot_id, popped in list(self._popped.items()):
            if shown.get(plot_id) != popped.spec or self._popped.keys() >= shown.keys():
                del self._popped[plot_id]
                popped.close()
        if self._stack is not None:
            self._stack.set_specs([spec for spec in self.specs if spec.id not in self._popped])

    # ---- separate windows ----

    @property
    def popped_ids(self) -> tuple[str, ...]:
        """Ids of the plots in separate windows."""
        return tuple(self._popped)

    def pop_out(self, plot_id: str = "") -> None:
        """Moves a plot to a separate window; an empty id means the plot last under the mouse."""
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
        popped.stack.pointed.connect(self.pointed)
        popped.stack.set_readout_shown(True)
        popped.stack.curve_clicked.connect(self._on_curve_clicked)
        self._popped[spec.id] = popped
        self._share_out()
        popped.show()

    def return_all(self) -> None:
        """Returns all plots from separate windows."""
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
            self._clicked = curve  # the legend has no line for a single flow behind a median
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
        self._means = None
        self.legend_model.set_lines([entry for each in self._stacks for entry in each.curves_by_spec()])
        self._align_legend()
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
        """Shows the latest values; if the lines are many, updates them only a few times per second."""
        if len(self._loaded().curves) <= _MOST_LINES_AT_ONCE:
            self._update_values(None)
        elif not self._values_timer.isActive():
            self._values_timer.start()

    def _update_values(self, cursor_s: float | None) -> None:
        if self._legend is None:
            return
        runs = self._loaded().runs
        self._update_results(runs)
        at = None
        is_going_on = any(run.row is None for run in runs)
        if cursor_s is not None:
            at = values_at(self._stacks, cursor_s)
        elif is_going_on:
            at = present_values(self._stacks)
        if is_going_on:
            self._means = None
        elif self._means is None:
            specs = [spec for each in self._stacks for spec, _curves in each.curves_by_spec()]
            self._means = summed_up(mean_values(specs, runs), self._stacks)
        self._legend.show_values(at, self._means)

    def _update_results(self, runs: Sequence[Traces]) -> None:
        """Shows the results once all runs have ended; for one run, only if it has several controllers."""
        if self._are_rows_new(runs):
            self._rows = [run.row for run in runs]
            is_race = any(len(set(run.controllers.values())) > 1 for run in runs)
            if len(runs) < 2 and not is_race:
                self._results.show_results(None)  # a single run needs no comparison: the legend shows its means
            elif None in self._rows:
                self._results.show_results(None, tr("Results are shown when the run is over."))
            else:
                from subflow_app.features.comparison.core.results import (
                    results_of,  # not needed at program start
                )

                nothing = (
                    tr("These runs have no results in common.") if len(runs) > 1 else tr("This run has no results yet.")
                )
                self._results.show_results(results_of(runs), nothing)

    def _are_rows_new(self, runs: Sequence[Traces]) -> bool:
        return list(map(id, self._rows)) != [id(run.row) for run in runs]
