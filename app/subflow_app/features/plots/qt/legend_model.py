"""Legend as a tree: the plots over time, and below each plot its lines with their values.

A line shows its value at the time of the cursor, or its latest value, beside its mean over the measured interval. Below
the lines of the first plot, flows show their measures.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import QModelIndex, QObject, Qt, Signal

from subflow_app.features.comparison.core.conditions import flows_of
from subflow_app.features.history.core.run_comparison import run_figures
from subflow_app.features.plots.core import TIME, Curve, PlotSpec
from subflow_app.features.plots.core.bar_plots import figure_column, measured_value
from subflow_app.features.plots.core.line_names import LineName, line_names
from subflow_app.features.plots.qt.curve_id import CurveId, curve_id, run_names, short_run_names, title_of
from subflow_app.features.traces.core.traces import LINK, Traces
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.widgets.shorthand import as_written
from subflow_app.toolkit.widgets.tables import RIGHT, Index, TreeModel, bold
from subflow_app.vocabulary import palette
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.measures import default_measures
from subflow_app.vocabulary.number_text import finite, fixed_text
from subflow_app.vocabulary.palette import label_of
from subflow_app.vocabulary.plain_text import readable_line

if TYPE_CHECKING:
    from subflow_app.features.plots.qt.plot_stack import PlotStack


class FlowWords(NamedTuple):
    """Headline measures of a flow as text.

    Attributes:
        brief: numbers with units, for narrow legends: ``7.904 s, 0.911 Mbit/s``.
        words: the same numbers with the names of the measures.
        tip: a paragraph per measure with its definition, formula and time.
    """

    brief: str
    words: str
    tip: str


NO_WORDS = FlowWords("", "", "")


class LegendValues(NamedTuple):
    """Values of all lines and flows.

    Attributes:
        heading: time or interval of the values.
        columns: values by line for each plot over time, in the unit of the plot; NaN for unknown values.
        decimals: decimals of the values of each plot; None: three significant digits.
        flows: measures of each flow by run and name; None for values at an instant.
        are_means: whether the values are means over the measured interval.
    """

    heading: str
    columns: Sequence[Mapping[CurveId, float]]
    decimals: Sequence[int | None]
    flows: Mapping[tuple[int, str], FlowWords] | None = None
    are_means: bool = False


def values_at(stacks: Sequence[PlotStack], time_s: float) -> LegendValues:
    """The values of all lines at a time, s, e.g. at the crosshair or the playhead."""
    return _of_instant(stacks, time_s, tr("At {time} s", time=f"{time_s:.2f}"))


def present_values(stacks: Sequence[PlotStack]) -> LegendValues:
    """The latest values of running simulations, and the values of finished runs at the same time."""
    curves = [(stack.runs[c.run], c.time_s) for stack in stacks for c in stack.curves.values() if len(c.time_s)]
    going = [float(time_s[-1]) for run, time_s in curves if run.row is None]
    if not going:
        return _of_instant(stacks, None, "")
    now_s = max(going)
    # If all runs are still running, each line shows its latest sample, even if it is sampled less often.
    time_s = None if len(going) == len(curves) else now_s
    return _of_instant(stacks, time_s, tr("Now, {time} s", time=f"{now_s:.1f}"))


def mean_values(specs: Sequence[PlotSpec], runs: Sequence[Traces]) -> LegendValues:
    """Means of the curves of finished runs over their measured intervals, and the measures of their flows.

    A value is the time-weighted mean of its curve without gaps. Means over packets, e.g. the mean RTT in a summary, are
    different measures and do not appear here.

    Args:
        specs: specifications of all plots, in the order of the legend's columns.
        runs: the runs in the order of the plots.
    """
    figures = [{} if run.row is None else run_figures(run.row) for run in runs]
    curves = [(spec, spec.overlay(runs) if spec.kind == TIME else []) for spec in specs]
    ends_s = [0.0] * len(runs)
    for _spec, shown in curves:
        for curve in shown:
            if len(curve.time_s):
                ends_s[curve.run] = max(ends_s[curve.run], float(curve.time_s[-1]))
    # For a run that was stopped during its warm-up, all samples count.
    starts_s = [run.warmup_s if end_s > run.warmup_s else 0.0 for run, end_s in zip(runs, ends_s, strict=True)]
    columns = [
        {
            curve_id(curve): measured_value(spec, curve, figures[curve.run], starts_s[curve.run]) * spec.scale
            for curve in shown
        }
        for spec, shown in curves
    ]
    shown_as = [figure_column(spec) if spec.kind == TIME else None for spec, _shown in curves]
    decimals = [None if column is None else column.decimals for column in shown_as]
    flows = {
        (place, readable_line(str(flow["name"]))): flow_words(flow)
        for place, run in enumerate(runs)
        for flow in (flows_of(run.row) if run.row is not None else ())
        if finite(flow.get("goodput_bps")) is not None
    }
    return LegendValues(_mean_heading(starts_s, ends_s), columns, decimals, flows, are_means=True)


def flow_words(flow: Mapping[str, Any]) -> FlowWords:
    """Headline measures of a flow, from its entry in the summary, in three lengths.

    A flow with a size shows completion time and goodput while active, and any other flow its goodput after the warm-up.
    """
    shown = [(each, flow.get(each.key)) for each in default_measures(flow)]
    texts = [f"{each.checked_text(value)} {each.unit}".rstrip() for each, value in shown]
    is_complete = all(value is not None for _, value in shown)
    if len(texts) == 1:
        brief, words = texts[0], tr("goodput {rate}", rate=texts[0])
    elif is_complete:
        brief = ", ".join(texts)
        words = tr("took {time} at {rate}", time=texts[0], rate=texts[1])
    else:
        brief = tr("incomplete, {rate}", rate=texts[1])
        words = tr("incomplete, at {rate}", rate=texts[1])
    lines = [f"{tr(each.title)}: {text}\n{each.tip}" for (each, _), text in zip(shown, texts, strict=True)]
    return FlowWords(brief, words, "\n\n".join(lines))


def summed_up(values: LegendValues, stacks: Sequence[PlotStack]) -> LegendValues:
    """A copy of these values that also contains combined lines: medians over flows, and means over seeds."""
    columns = [dict(column) for column in values.columns]
    for stack in stacks:
        for key, curve in stack.curves.items():
            for column in columns if curve.bands else ():
                behind = [column.get(CurveId(run, owner, key.kind), math.nan) for run, owner in stack.behind(key)]
                known = [value for value in behind if math.isfinite(value)]
                if known:
                    column[key] = statistics.median(known) if len(curve.bands) > 1 else statistics.fmean(known)
    return values._replace(columns=columns)


def _of_instant(stacks: Sequence[PlotStack], time_s: float | None, heading: str) -> LegendValues:
    columns = [stack.values_of(spec, time_s) for stack in stacks for spec, _curves in stack.curves_by_spec()]
    return LegendValues(heading, columns, [None] * len(columns))


def _mean_heading(starts_s: Sequence[float], ends_s: Sequence[float]) -> str:
    spans = {(start_s, end_s) for start_s, end_s in zip(starts_s, ends_s, strict=True) if end_s > 0}
    if not spans:
        return tr("No samples yet")
    if len(spans) > 1:
        return tr("Curve mean over time, after the warm-up")
    ((start_s, end_s),) = spans
    return tr("Curve mean over time, {first}–{last} s", first=fmt.number(start_s, 4), last=fmt.number(end_s, 4))


CURVE_ROLE = Qt.ItemDataRole.UserRole + 1  # Curve of a line; None for a plot or a flow
SHORT_ROLE = Qt.ItemDataRole.UserRole + 2  # name of a line with a short path
NAME, AT, MEAN = range(3)  # columns


@dataclass(slots=True, eq=False)
class _Line:
    id: CurveId
    curve: Curve
    name: LineName


@dataclass(slots=True, eq=False)
class _Words:
    """Measures of a flow in one line of text."""

    run: int
    flow: str
    title: str  # run and flow, as far as several are shown; may be empty
    run_title: str


@dataclass(slots=True, eq=False)
class _Plot:
    spec: PlotSpec
    lines: list[_Line]
    words: list[_Words] = field(default_factory=list)


class LegendModel(TreeModel):
    """The plots over time with their lines, and columns for name, value at the time of the cursor, and mean."""

    hidden_changed = Signal(object)  # frozenset[CurveId]: lines switched off

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._plots: list[_Plot] = []
        self._runs: tuple[str, ...] = ()
        self.hidden: frozenset[CurveId] = frozenset()  # lines that are hidden
        self._at: LegendValues | None = None
        self._means: LegendValues | None = None

    @property
    def runs(self) -> tuple[str, ...]:
        """Names of the runs of the lines."""
        return self._runs

    @property
    def specs(self) -> tuple[PlotSpec, ...]:
        """The plots, in order of the upper rows."""
        return tuple(plot.spec for plot in self._plots)

    def set_lines(self, plots: Sequence[tuple[PlotSpec, Mapping[CurveId, Curve]]]) -> None:
        """Replaces all lines.

        Args:
            plots: the plots over time with their curves, each in the order of its entries.
        """
        self.beginResetModel()
        every = {key: curve for _spec, curves in plots for key, curve in curves.items()}
        runs = run_names(every.values())
        shorts = short_run_names(every.values())
        names = dict(zip(every, line_names([(shorts[key.run], curve) for key, curve in every.items()]), strict=True))
        # Lines of one path stand together, first the first run's.
        places = {place: number for number, place in enumerate(dict.fromkeys((k.owner, k.kind) for k in every))}
        self._plots = [
            _Plot(
                spec,
                [
                    _Line(key, curves[key], names[key])
                    for key in sorted(curves, key=lambda key: (places[key.owner, key.kind], key.run))
                ],
            )
            for spec, curves in plots
        ]
        self._runs = tuple(dict.fromkeys(runs.values()))
        if self._plots:
            self._plots[0].words = _flow_lines(every, runs, shorts)
        self._at = self._means = None
        self.endResetModel()

    def set_values(self, at: LegendValues | None, means: LegendValues | None) -> None:
        """Replaces the values.

        Args:
            at: values at the time of the cursor, or present ones; None without such a time.
            means: means over the measured interval; None while a run is in progress.
        """
        flows_before = self._flows
        self._at, self._means = at, means
        for row, plot in enumerate(self._plots):
            # These indices are created directly, because index() would query the row counts many times per second.
            ends = self.createIndex(0, AT, row + 1), self.createIndex(len(plot.lines) - 1, MEAN, row + 1)
            self.dataChanged.emit(*ends, [Qt.ItemDataRole.DisplayRole])
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, AT, MEAN)
        if flows_before != self._flows and self._plots and self._plots[0].words:
            first = len(self._plots[0].lines)
            self.dataChanged.emit(
                self.createIndex(first, NAME, 1), self.createIndex(first + len(self._plots[0].words) - 1, NAME, 1)
            )

    @property
    def _flows(self) -> Mapping[tuple[int, str], FlowWords]:
        return (self._means.flows or {}) if self._means is not None else {}

    def value_text(self, key: CurveId, place: int, column: int) -> str:
        """Text of a line's value in the plot at this place; empty if unknown, and "–" in a gap of the curve."""
        values = self._at if column == AT else self._means
        if values is None or place >= len(values.columns):
            return ""
        value = values.columns[place].get(key, math.nan)
        if math.isnan(value):
            return "–" if column == AT else ""
        decimals = values.decimals[place] if place < len(values.decimals) else None
        if decimals is not None:
            return fixed_text(value, decimals)
        if column == MEAN:
            return fmt.number(value)
        # Fixed decimals within each decade, so that a moving value keeps its width.
        size = abs(value)
        few = next((few for least, few in ((1000.0, 0), (10.0, 1), (1.0, 2), (0.01, 3)) if size >= least), None)
        return fmt.number(value) if few is None else fixed_text(value, few)

    def heading(self, column: int) -> str:
        """Heading of a column."""
        if column == NAME:
            return tr("Line")
        if column == MEAN:
            return tr("Mean")
        return self._at.heading if self._at is not None else ""

    def names(self, place: int, *, short: bool) -> list[str]:
        """Names of the lines of a plot, with whole or short paths."""
        return [line.name.short if short else line.name.whole for line in self._plots[place].lines]

    def widest_value(self, column: int) -> str:
        """The longest value in a column of all plots."""
        texts = (
            self.value_text(line.id, place, column) for place, plot in enumerate(self._plots) for line in plot.lines
        )
        return max(texts, key=len, default="")

    def set_hidden(self, hidden: frozenset[CurveId]) -> None:
        """Hides these lines, and shows all others."""
        if hidden == self.hidden:
            return
        self.hidden = hidden
        for row, plot in enumerate(self._plots):
            if plot.lines:
                ends = self.createIndex(0, NAME, row + 1), self.createIndex(len(plot.lines) - 1, MEAN, row + 1)
                self.dataChanged.emit(*ends)
        self.hidden_changed.emit(hidden)

    def toggle(self, index: Index) -> None:
        """Shows or hides a line in all plots, or all lines of a plot."""
        ids = {line.id for line in self._lines_at(index)}
        if ids:
            are_shown = any(key not in self.hidden for key in ids)
            self.set_hidden(self.hidden | ids if are_shown else self.hidden - ids)

    def show_only(self, index: Index) -> None:
        """Shows only this line, or only the lines of a plot; shows everything if all other lines are hidden already."""
        wanted = {line.id for line in self._lines_at(index)}
        if not wanted:
            return
        others = frozenset(line.id for plot in self._plots for line in plot.lines) - wanted
        self.set_hidden(frozenset() if others <= self.hidden and not wanted & self.hidden else others)

    def id_at(self, index: Index) -> CurveId | None:
        """Id of the line of an entry; None for other entries."""
        item = self._item_at(index)
        return item.id if isinstance(item, _Line) else None

    def index_of(self, curve: CurveId, plot_id: str = "") -> QModelIndex:
        """Index of a line in a plot, or in the first plot with this line; invalid if the legend lacks the line."""
        for row, plot in enumerate(self._plots):
            if plot_id in ("", plot.spec.id):
                for number, line in enumerate(plot.lines):
                    if line.id == curve:
                        return self.index(number, 0, self.index(row, 0))
        return QModelIndex()

    # ---- QAbstractItemModel ----

    def count(self, above: int | None) -> int:
        """Number of plots, or of lines of a plot and its flows."""
        if above is None:
            return len(self._plots)
        return len(self._plots[above].lines) + len(self._plots[above].words)

    def columnCount(self, _parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Columns of name, value and mean."""
        return 3

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Lines are selectable, and their names can be checked."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        item = self._item_at(index)
        if not isinstance(item, _Line):
            return Qt.ItemFlag.ItemIsEnabled
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return flags | Qt.ItemFlag.ItemIsUserCheckable if index.column() == NAME else flags

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object | None:
        """Heading of each column; the tool tip of the means names their interval."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section <= MEAN:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.heading(section)
        if role == Qt.ItemDataRole.ToolTipRole and section == MEAN:
            interval = self._means.heading if self._means is not None else tr("Known when the run is over")
            return tr(
                "{interval}, without gaps of the curve. The mean RTT of history and results is over packets.",
                interval=interval,
            )
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter if section == NAME else RIGHT
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object | None:
        """Text, check state, font and tool tip of an entry."""
        item = self._item_at(index)
        if isinstance(item, _Plot):
            return title_of(item.spec) if index.column() == NAME and role == Qt.ItemDataRole.DisplayRole else None
        if isinstance(item, _Line):
            return self._line_data(item, index, role)
        if isinstance(item, _Words):
            return self._words_data(item, index.column(), role)
        return None

    def setData(self, index: Index, _value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Shows or hides a line."""
        if role != Qt.ItemDataRole.CheckStateRole or not index.isValid():
            return False
        self.toggle(index)
        return True

    # ---- internals ----

    def _item_at(self, index: Index) -> _Plot | _Line | _Words | None:
        if not index.isValid():
            return None
        above = index.internalId()
        if not above:
            return self._plots[index.row()]
        plot = self._plots[above - 1]
        items: list[_Line | _Words] = [*plot.lines, *plot.words]
        return items[index.row()]

    def _lines_at(self, index: Index) -> list[_Line]:
        item = self._item_at(index)
        if isinstance(item, _Plot):
            return item.lines
        return [item] if isinstance(item, _Line) else []

    def _line_data(self, line: _Line, index: Index, role: int) -> object | None:
        column = index.column()
        if role == CURVE_ROLE:
            return line.curve
        if column == NAME:
            if role == Qt.ItemDataRole.DisplayRole:
                return line.name.whole
            if role == SHORT_ROLE:
                return line.name.short
            if role == Qt.ItemDataRole.ToolTipRole:
                ways = tr("Click: show or hide. Double click: show only this. Right click: colour.")
                return as_written(f"{line.curve.label}\n{line.curve.run_title}\n{ways}")
            if role == Qt.ItemDataRole.CheckStateRole:
                return Qt.CheckState.Unchecked if line.id in self.hidden else Qt.CheckState.Checked
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.value_text(line.id, index.internalId() - 1, column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return RIGHT
        if role == Qt.ItemDataRole.FontRole and column == AT:
            return bold()
        return None

    def _words_data(self, words: _Words, column: int, role: int) -> object | None:
        flow_words = self._flows.get((words.run, words.flow), NO_WORDS)
        if column != NAME:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return " · ".join(filter(None, (words.title, flow_words.brief if words.title else flow_words.words)))
        if role == Qt.ItemDataRole.ToolTipRole:
            return as_written("\n\n".join(text for text in (words.flow, flow_words.tip, words.run_title) if text))
        return None


def _flow_lines(curves: Mapping[CurveId, Curve], runs: Mapping[int, str], shorts: Mapping[int, str]) -> list[_Words]:
    """An entry for the measures of each flow of each run, in the order of the curves."""
    flows = dict.fromkeys(
        (key.run, label_of(curve.owner.partition("/")[0])) for key, curve in curves.items() if curve.kind != LINK
    )
    per_run: dict[int, int] = {}
    for run, _flow in flows:
        per_run[run] = per_run.get(run, 0) + 1
    return [
        _Words(
            run,
            flow,
            " · ".join([*([shorts[run]] if len(runs) > 1 else []), *([flow] if max(per_run.values()) > 1 else [])]),
            runs[run],
        )
        for run, flow in flows
    ]


def line_colour(curve: Curve, *, dark: bool) -> str:
    """Colour of the sample line beside an entry, ``#rrggbb``."""
    return palette.hex_colour(curve.colour, dark=dark)
