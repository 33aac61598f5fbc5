"""Legend as a tree: the flows of each run, and below them their lines with check boxes and values.

A line shows its value at a time, its latest value, or its mean over the measured interval. Flows show measures.
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
from subflow_app.features.history.core.run_names import told_apart
from subflow_app.features.plots.core import TIME, Curve, PlotSpec
from subflow_app.features.plots.core.bar_plots import figure_column, measured_value
from subflow_app.features.plots.qt.curve_id import CurveId, axis_of, curve_id, run_names, title_of
from subflow_app.features.traces.core.traces import Traces
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.widgets.shorthand import as_written
from subflow_app.toolkit.widgets.tables import RIGHT, Index, TreeModel, bold
from subflow_app.vocabulary import palette
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.measures import default_measures
from subflow_app.vocabulary.number_text import finite
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
        return _of_instant(stacks, None, tr("No samples yet"))
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
    curves = [(spec, spec.overlay(runs)) for spec in specs if spec.kind == TIME]
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
    shown_as = [figure_column(spec) for spec, _shown in curves]
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
    columns = [values for stack in stacks for values in stack.values_at(time_s)]
    return LegendValues(heading, columns, [None] * len(columns))


def _mean_heading(starts_s: Sequence[float], ends_s: Sequence[float]) -> str:
    spans = {(start_s, end_s) for start_s, end_s in zip(starts_s, ends_s, strict=True) if end_s > 0}
    if not spans:
        return tr("No samples yet")
    if len(spans) > 1:
        return tr("Curve mean over time, after the warm-up")
    ((start_s, end_s),) = spans
    return tr("Curve mean over time, {first}–{last} s", first=fmt.number(start_s, 4), last=fmt.number(end_s, 4))


CURVE_ROLE = Qt.ItemDataRole.UserRole + 1  # Curve of a line; None for a group
WORDS_ROLE = Qt.ItemDataRole.UserRole + 2  # measures after the name of a flow; empty without measures
BRIEF_ROLE = Qt.ItemDataRole.UserRole + 3  # the same measures without their names
_LINKS = translatable("Links")
_SYMBOLS = {"cwnd": "cwnd", "rtt": "RTT"}  # headings of plots with long titles


@dataclass(slots=True, eq=False)
class _Line:
    id: CurveId
    curve: Curve


@dataclass(slots=True, eq=False)
class _Group:
    title: str
    run: int
    flow: str
    run_title: str
    lines: list[_Line] = field(default_factory=list)


class LegendModel(TreeModel):
    """Lines grouped by run and flow, with a column of names and, for each plot, a column of values."""

    hidden_changed = Signal(object)  # frozenset[CurveId]: lines switched off

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._groups: list[_Group] = []
        self._specs: tuple[PlotSpec, ...] = ()
        self.hidden: frozenset[CurveId] = frozenset()  # lines that are hidden
        self._values: Sequence[Mapping[CurveId, float]] = ()
        self._decimals: Sequence[int | None] = ()
        self._flows: Mapping[tuple[int, str], FlowWords] = {}
        self._are_means = False
        self.is_on_one_line = False  # headings on one line, for a wide and low legend

    @property
    def runs(self) -> tuple[str, ...]:
        """Names of the runs of the lines."""
        return tuple(dict.fromkeys(group.run_title for group in self._groups))

    def set_lines(self, curves: Mapping[CurveId, Curve], specs: Sequence[PlotSpec]) -> None:
        """Replaces all lines.

        Args:
            curves: curves in the order of their entries.
            specs: the plots, each with a column of values.
        """
        self.beginResetModel()
        groups: dict[tuple[int, str], _Group] = {}
        runs = run_names(curves.values())
        shorts = dict(zip(runs, told_apart(list(runs.values()))[1], strict=True))
        flow_of = {key: label_of(curve.owner.partition("/")[0]) for key, curve in curves.items()}
        names = {key: tr(_LINKS) if curve.kind == "link" else flow_of[key] for key, curve in curves.items()}
        flows: dict[int, set[str]] = {}
        for key, name in names.items():
            flows.setdefault(key.run, set()).add(name)
        for key, curve in curves.items():
            name = names[key]
            # With several runs, the title is the name of the run, followed by the flow if the run has several flows.
            parts = [name] if len(runs) == 1 else [shorts[key.run], name][: 1 + (len(flows[key.run]) > 1)]
            title = ": ".join(parts)
            group = groups.setdefault((key.run, name), _Group(title, key.run, name, runs[key.run]))
            group.lines.append(_Line(key, curve))
        self._groups = sorted(groups.values(), key=lambda group: group.lines[0].curve.run)
        self._specs = tuple(specs)
        self._values, self._flows = (), {}
        self.endResetModel()

    def set_values(
        self,
        values: Sequence[Mapping[CurveId, float]],
        decimals: Sequence[int | None] = (),
        flows: Mapping[tuple[int, str], FlowWords] | None = None,
        *,
        are_means: bool = False,
    ) -> None:
        """Replaces the values.

        Args:
            values: one mapping per plot, in the unit of the plot.
            decimals: decimals of each plot's values; None or missing: three significant digits.
            flows: measures that follow the names of flows, by run and name.
            are_means: whether the values are means over the measured interval.
        """
        self._values, self._decimals, self._are_means = values, decimals, are_means
        if (flows or {}) != self._flows:
            self._flows = flows or {}
            if self._groups:
                self.dataChanged.emit(self.index(0, 0), self.index(len(self._groups) - 1, 0))
        last = len(self._specs)
        if last == 0:
            return
        for row, group in enumerate(self._groups):
            # These indices are created directly, because index() would query the row counts many times per second.
            ends = self.createIndex(0, 1, row + 1), self.createIndex(len(group.lines) - 1, last, row + 1)
            self.dataChanged.emit(*ends, [Qt.ItemDataRole.DisplayRole])

    def value_text(self, key: CurveId, place: int) -> str:
        """Text of a line's value in the column of the plot at this place; empty if the value is unknown."""
        value = self._values[place].get(key, math.nan) if place < len(self._values) else math.nan
        if math.isnan(value):
            return ""
        decimals = self._decimals[place] if place < len(self._decimals) else None
        return fmt.number(value) if decimals is None else f"{value:.{decimals}f}"

    def widest_text(self, section: int) -> str:
        """The longest text of the lines in a column: a name in the first column, else a value."""
        texts = (
            line_text(line.curve) if section == 0 else self.value_text(line.id, section - 1)
            for group in self._groups
            for line in group.lines
        )
        return max(texts, key=len, default="")

    def set_hidden(self, hidden: frozenset[CurveId]) -> None:
        """Hides these lines, and shows all others."""
        if hidden == self.hidden:
            return
        self.hidden = hidden
        for row, group in enumerate(self._groups):
            parent = self.index(row, 0)
            self.dataChanged.emit(parent, parent, [Qt.ItemDataRole.CheckStateRole])
            self.dataChanged.emit(self.index(0, 0, parent), self.index(len(group.lines) - 1, 0, parent))
        self.hidden_changed.emit(hidden)

    def toggle(self, index: Index) -> None:
        """Shows or hides a line or a whole group."""
        lines = self._lines_at(index)
        ids = {line.id for line in lines}
        self.set_hidden(self.hidden | ids if any(key not in self.hidden for key in ids) else self.hidden - ids)

    def show_only(self, index: Index) -> None:
        """Shows only this line or group; shows everything if all other lines are already hidden."""
        wanted = {line.id for line in self._lines_at(index)}
        others = frozenset(line.id for group in self._groups for line in group.lines) - wanted
        self.set_hidden(frozenset() if others <= self.hidden and not wanted & self.hidden else others)

    def id_at(self, index: Index) -> CurveId | None:
        """Id of the line of an entry; None for a group."""
        item = self._at(index)
        return item.id if isinstance(item, _Line) else None

    def index_of(self, curve: CurveId) -> QModelIndex:
        """Index of a line; invalid if the legend lacks the line."""
        for row, group in enumerate(self._groups):
            for number, line in enumerate(group.lines):
                if line.id == curve:
                    return self.index(number, 0, self.index(row, 0))
        return QModelIndex()

    # ---- QAbstractItemModel ----

    def count(self, above: int | None) -> int:
        """Number of groups, or of lines in a group."""
        return len(self._groups if above is None else self._groups[above].lines)

    def columnCount(self, _parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """One column for names, and one per plot."""
        return 1 + len(self._specs)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Entries are selectable, and names can be checked."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return flags | Qt.ItemFlag.ItemIsUserCheckable if index.column() == 0 else flags

    def heading(self, section: int) -> list[str]:
        """Words of the heading of a column of values, with the unit last; narrow headings show one word per line."""
        spec = self._specs[section - 1]
        words = [_SYMBOLS[spec.id]] if spec.id in _SYMBOLS else title_of(spec).split()
        return [word for word in (*words, tr(spec.unit)) if word]

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object | None:
        """Name and unit of each column; the tool tip describes the values."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section <= len(self._specs):
            return None
        if section == 0:
            return "" if role == Qt.ItemDataRole.DisplayRole else None
        spec = self._specs[section - 1]
        if role == Qt.ItemDataRole.DisplayRole:
            return (" " if self.is_on_one_line else "\n").join(self.heading(section))
        if role == Qt.ItemDataRole.ToolTipRole:
            if not self._are_means:
                return axis_of(spec)
            if spec.id == "rtt":
                return tr(
                    "{quantity}: mean of the curve over time after the warm-up, without its gaps. The mean RTT of "
                    "history and results is over packets.",
                    quantity=axis_of(spec),
                )
            return tr(
                "{quantity}: mean of the curve over time after the warm-up, without its gaps", quantity=axis_of(spec)
            )
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return RIGHT
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object | None:
        """Text, check state, font and tool tip of an entry."""
        item = self._at(index)
        if isinstance(item, _Group):
            return self._group_data(item, index.column(), role)
        if isinstance(item, _Line):
            return self._line_data(item, index.column(), role)
        return None

    def setData(self, index: Index, _value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Shows or hides a line or group."""
        if role != Qt.ItemDataRole.CheckStateRole or not index.isValid():
            return False
        self.toggle(index)
        return True

    # ---- internals ----

    def _at(self, index: Index) -> _Group | _Line | None:
        if not index.isValid():
            return None
        above = index.internalId()
        return self._groups[above - 1].lines[index.row()] if above else self._groups[index.row()]

    def _lines_at(self, index: Index) -> list[_Line]:
        item = self._at(index)
        if isinstance(item, _Group):
            return item.lines
        return [item] if isinstance(item, _Line) else []

    def _group_data(self, group: _Group, column: int, role: int) -> object | None:
        if column != 0:
            return None
        told = self._flows.get((group.run, group.flow), NO_WORDS)
        # Next to the names of several runs, the names of measures do not fit.
        words = told.brief if any(other.run != group.run for other in self._groups) else told.words
        if role == WORDS_ROLE:
            return words
        if role == BRIEF_ROLE:
            return told.brief
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{group.title} · {words}" if words else group.title
        if role == Qt.ItemDataRole.ToolTipRole:
            return as_written("\n\n".join(text for text in (group.flow, told.tip, group.run_title) if text))
        if role == Qt.ItemDataRole.FontRole:
            return bold()
        if role == Qt.ItemDataRole.CheckStateRole:
            shown = sum(line.id not in self.hidden for line in group.lines)
            if shown == 0:
                return Qt.CheckState.Unchecked
            return Qt.CheckState.Checked if shown == len(group.lines) else Qt.CheckState.PartiallyChecked
        return None

    def _line_data(self, line: _Line, column: int, role: int) -> object | None:
        if role == CURVE_ROLE:
            return line.curve
        if column == 0:
            if role == Qt.ItemDataRole.DisplayRole:
                return line_text(line.curve)
            if role == Qt.ItemDataRole.ToolTipRole:
                ways = tr("Click: show or hide. Ctrl+click or Alt+click: show only this. Right click: colour.")
                return as_written(f"{line.curve.label}\n{line.curve.run_title}\n{ways}")
            if role == Qt.ItemDataRole.CheckStateRole:
                return Qt.CheckState.Unchecked if line.id in self.hidden else Qt.CheckState.Checked
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.value_text(line.id, column - 1)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return RIGHT
        return None


def line_text(curve: Curve) -> str:
    """Name of a line below its flow: its path, "total" or "all"; for links, the label."""
    _, separator, rest = curve.label.partition(" · ")
    if separator:
        return tr("total") if curve.kind == "total" else rest
    return tr("all") if curve.kind in ("flow", "total") else curve.label


def line_colour(curve: Curve, *, dark: bool) -> str:
    """Colour of the sample line beside an entry, ``#rrggbb``."""
    return palette.hex_colour(curve.colour, dark=dark)
