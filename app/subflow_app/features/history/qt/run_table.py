"""Table of the stored runs, with any columns in any order, and groups that fold by click or by arrow keys.

The list can have thousands of runs. The table sorts them with precomputed keys and formats rows only for drawing. A
proxy model would request a sort key through Qt for every comparison.

Letter keys are left to the actions of the window.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import (
    QAbstractTableModel,
    QItemSelection,
    QItemSelectionModel,
    QItemSelectionRange,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QIcon, QKeyEvent, QMouseEvent, QPainter, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from subflow_app.features.history.core.run_columns import (
    COLUMNS,
    NAME,
    NOTE,
    STARTED,
    STATUS,
    SWEEP,
    TRANSFERS,
    RunColumn,
    RunGroup,
    Value,
    column,
    fork_of,
    grouped,
    mean_interval,
    shared_beginning,
    sorted_runs,
    sweep_of,
    with_sweeps,
)
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.icons import STATE_ICONS, icon
from subflow_app.toolkit.theme import CELL_PADDING, current_tokens
from subflow_app.toolkit.widgets.shorthand import as_written, sized
from subflow_app.toolkit.widgets.tables import LEFT, RIGHT, Index, bold, set_up_table, set_widths
from subflow_app.vocabulary.language import tr, trn
from subflow_app.vocabulary.number_text import NOTHING
from subflow_store.values import RunRow

RUN_ROLE = Qt.ItemDataRole.UserRole + 1  # RunRow; None for the heading of a group
GROUP_ROLE = Qt.ItemDataRole.UserRole + 2  # label of a group; None for a run
SHARED_ROLE = Qt.ItemDataRole.UserRole + 3  # length of the beginning that a name shares with a neighbour
SECOND_ROLE = Qt.ItemDataRole.UserRole + 4  # text of the second line of a row in a narrow list

DEFAULT_COLUMNS = tuple(each.key for each in COLUMNS)
NEWEST_FIRST = (STARTED, True)
_FIRST_MEASURES = (TRANSFERS[0], "goodput_bps")  # the first known one is shown in a narrow list
NARROW = 480
"""Width below which the list has two lines for each run in place of columns, px."""
_TICK_GAP = 4  # px
_LOOKED_AT = 20  # rows above and below that are searched for shared beginnings
_SORTED_BY = 3  # remembered sort columns; the last clicked has precedence


class RunTable(QAbstractTableModel):
    """Table model of runs and, if grouped, headings of groups."""

    note_written = Signal(object, str)  # RunRow, and the note typed in its cell

    def __init__(self, parent: QObject | None = None) -> None:
        """Create an empty table with the columns of a new list."""
        super().__init__(parent)
        self.rows: list[RunRow] = []  # as read, newest first
        self._shown_rows: list[RunRow | RunGroup] = []
        self.columns: list[RunColumn] = list(COLUMNS)
        self._recorded: Mapping[str, Mapping[int, Value]] = {}
        self._order: list[tuple[str, bool]] = [NEWEST_FIRST]
        self.grouping = SWEEP  # grouping of the runs; empty if they are not grouped
        self._sweeps: Mapping[str, str] = {}  # names of sweeps, by the tag of their runs
        self._folded: set[str] = set()  # keys of folded groups, in groupings that are initially open
        self._opened: set[str] = set()  # keys of open groups, in groupings that are initially folded
        self._is_search = False
        self._below: dict[int, str] = {}  # names of the open sweeps, by number of their runs
        self._means: dict[tuple[str, str], str] = {}
        self._shown: frozenset[int] = frozenset()
        self._can_write = False
        self._icons: dict[str, QIcon] = {}

    # ---- content ----

    @property
    def listed(self) -> list[RunRow]:
        """The visible runs in the order of the rows, without runs in folded groups, each once."""
        return list({row.id: row for row in self._shown_rows if isinstance(row, RunRow)}.values())

    @property
    def in_order(self) -> list[RunRow]:
        """All runs in the order of the rows, including runs in folded groups, each once."""
        groups = ((row.rows if isinstance(row, RunGroup) else (row,)) for row in self._shown_rows)
        return list({run.id: run for runs in groups for run in runs}.values())

    def row_at(self, number: int) -> RunRow | RunGroup:
        """The run or group in a row."""
        return self._shown_rows[number]

    def row_numbers(self, run_ids: Collection[int]) -> list[int]:
        """Row numbers of runs, from top to bottom; a folded group counts if all of its runs are included."""
        return [
            number
            for number, row in enumerate(self._shown_rows)
            if (row.id in run_ids if isinstance(row, RunRow) else self._is_folded_within(row, run_ids))
        ]

    def _is_folded_within(self, group: RunGroup, run_ids: Collection[int]) -> bool:
        return self.is_folded(group.key) and all(row.id in run_ids for row in group.rows)

    @property
    def order(self) -> tuple[str, bool]:
        """The first sort column, and True for descending order."""
        return self._order[0]

    def set_rows(
        self,
        rows: Sequence[RunRow],
        recorded: Mapping[str, Mapping[int, Value]],
        sweeps: Mapping[str, str] | None = None,
        *,
        is_search: bool = False,
    ) -> None:
        """Replace the runs and the values of recorded columns.

        If the rows are still the same, they are kept, and so are the selection and the scroll position.

        Args:
            rows: the runs, newest first.
            recorded: values of the recorded columns, by key and run.
            sweeps: names of the sweeps, by the tag of their runs.
            is_search: whether the runs are results of a search, which opens all sweeps.
        """
        self.rows, self._recorded = list(rows), recorded
        self._sweeps, self._is_search = sweeps or {}, is_search
        self._means.clear()
        shown = self._arranged()
        if list(map(_identity, shown)) == list(map(_identity, self._shown_rows)):
            self._shown_rows = shown
            self._say_changed(0, len(self.columns) - 1)
            return
        self._reset(shown)

    def set_columns(self, keys: Sequence[str], recorded: Mapping[str, Mapping[int, Value]]) -> None:
        """Show columns, with the name always first."""
        self.beginResetModel()
        self.columns = [column(key) for key in dict.fromkeys((NAME, *keys))]
        self._recorded = recorded
        self._means.clear()
        self._order = [each for each in self._order if each[0] in {one.key for one in self.columns}] or [NEWEST_FIRST]
        self._shown_rows = self._arranged()
        self.endResetModel()

    def set_grouping(self, by: str) -> None:
        """Group the runs by one of `GROUPINGS`; changing the grouping resets which groups are folded."""
        if by != self.grouping:
            self.grouping = by
            self._folded.clear()
            self._means.clear()
            self._reset(self._arranged())

    def fold(self, keys: Iterable[str], is_folded: bool) -> None:
        """Fold or unfold the groups with these keys."""
        changed = {key for key in keys if self.is_folded(key) != is_folded}
        if changed:
            if self._begins_folded:
                self._opened ^= changed
            else:
                self._folded ^= changed
            self._reset(self._arranged())

    def is_folded(self, key: str) -> bool:
        """True if a group is folded."""
        return key not in self._opened if self._begins_folded else key in self._folded

    def unfold_runs(self, run_ids: Collection[int]) -> None:
        """Unfold the groups that contain these runs."""
        self.fold({group.key for group in self._groups(row for row in self.rows if row.id in run_ids)}, False)

    @property
    def opened(self) -> Sequence[str]:
        """The keys of the open sweeps, to be stored between sessions."""
        return sorted(self._opened)

    def set_opened(self, keys: Iterable[str]) -> None:
        """Open the sweeps with these keys, and fold all others."""
        self._opened = set(keys)
        self._reset(self._arranged())

    @property
    def _begins_folded(self) -> bool:
        return self.grouping == SWEEP and not self._is_search

    def _groups(self, rows: Iterable[RunRow]) -> Iterator[RunGroup]:
        if self.grouping == SWEEP:
            yield from (RunGroup(tag, "", []) for tag in {sweep_of(row) for row in rows} - {""})
        elif self.grouping:
            yield from grouped(rows, self.grouping)

    def set_shown(self, run_ids: frozenset[int]) -> None:
        """Mark the runs that the plots show."""
        if run_ids != self._shown:
            self._shown = run_ids
            self._say_changed(0, 0)

    def set_writable(self, can_write: bool) -> None:
        """Allow or forbid editing of notes in the table; forbidden initially."""
        self._can_write = can_write

    # ---- QAbstractTableModel ----

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of visible runs and headings; 0 below a row."""
        return 0 if parent.isValid() else len(self._shown_rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of columns; 0 below a row."""
        return 0 if parent.isValid() else len(self.columns)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; equal rows are ordered by the columns clicked before."""
        if not 0 <= column < len(self.columns):
            return
        key = self.columns[column].key
        kept = [each for each in self._order if each[0] != key]
        self._order = [(key, order == Qt.SortOrder.DescendingOrder), *kept][:_SORTED_BY]
        self._reset(self._arranged())

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object | None:
        """Title and unit of a column."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self.columns):
            return None
        shown = self.columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return short_heading(shown)
        if role == Qt.ItemDataRole.ToolTipRole:
            again = tr("Runs that are equal here are ordered by the column clicked before.")
            title = tr(shown.title) if shown.symbol else ""
            return "\n".join(filter(None, (title, shown.tip and tr(shown.tip), again)))
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return RIGHT if shown.is_number else LEFT
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Runs and groups can be selected; notes can be edited."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
        if isinstance(self._shown_rows[index.row()], RunGroup):
            return flags
        if self._can_write and self.columns[index.column()].key == NOTE:
            flags |= Qt.ItemFlag.ItemIsEditable
        return flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object | None:
        """Text, icon and tool tip of a cell."""
        if not index.isValid():
            return None
        row, shown = self._shown_rows[index.row()], self.columns[index.column()]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return RIGHT if shown.is_number else LEFT
        if isinstance(row, RunGroup):
            return self._group_data(row, shown, role)
        return self._run_data(row, index.row(), shown, role)

    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Emit an entered note, which the table shows after it has been stored; False for groups and other roles."""
        row = self._shown_rows[index.row()]
        if role != Qt.ItemDataRole.EditRole or not isinstance(row, RunRow):
            return False
        self.note_written.emit(row, str(value).rstrip())
        return True

    # ---- internals ----

    def _run_data(self, row: RunRow, number: int, shown: RunColumn, role: int) -> object | None:
        if role == Qt.ItemDataRole.DisplayRole:
            return self._name(row) if shown.key == NAME else self._text(row, shown)
        if role == RUN_ROLE:
            return row
        if role == SHARED_ROLE:
            return self._shared(row, number)
        if role == SECOND_ROLE:
            return self._second_line(row)
        if role == Qt.ItemDataRole.EditRole:
            return row.note if shown.key == NOTE else self._text(row, shown)
        if role == Qt.ItemDataRole.DecorationRole:
            return self._icon_of(row, shown)
        if role == Qt.ItemDataRole.ToolTipRole:
            return as_written(_tip(row))
        if role == Qt.ItemDataRole.FontRole and shown.key == NAME and row.id in self._shown:
            return bold()
        return None

    def _group_data(self, group: RunGroup, shown: RunColumn, role: int) -> object | None:
        if role == GROUP_ROLE:
            return group.label
        if role == SECOND_ROLE:
            return trn("{count} run", "{count} runs", len(group.rows))
        if role == Qt.ItemDataRole.FontRole:
            return bold()
        if role == Qt.ItemDataRole.DisplayRole:
            count = trn("{count} run", "{count} runs", len(group.rows))
            # Number columns are too narrow for this text.
            counted = next((each for each in self.columns[1:] if not (each.is_metric or each.is_number)), None)
            if shown.key == NAME:
                return self._label(group) if counted is not None else f"{self._label(group)} ({count})"
            if shown is counted:
                return count
            return self._mean(group, shown) if shown.is_metric else ""
        if role == Qt.ItemDataRole.DecorationRole and shown.key == NAME:
            return self._icon("folded" if self.is_folded(group.key) else "unfolded", "muted_text")
        if role == Qt.ItemDataRole.ToolTipRole:
            if group.is_mixed:
                told = tr("These runs have different controllers, so no mean is shown.")
            elif self.grouping == SWEEP:
                told = tr("Means of the runs of this sweep.")
            else:
                told = tr("Mean of the runs ± half of its 95 % confidence interval.")
            how = tr("Click the arrow to fold or unfold; the row selects all of its runs.")
            return as_written("\n".join((self._label(group), told, how)))
        return None

    def _second_line(self, row: RunRow) -> str:
        """Second line of a run in a narrow list: number, controllers, its first known measure, and its start."""
        measures = ((each, self._value(row, each)) for each in map(column, _FIRST_MEASURES))
        known = (f"{each.text(value)} {each.unit}".rstrip() for each, value in measures if value is not None)
        shown = (tr("run {number}", number=row.id), row.controllers, next(known, ""), fmt.moment(row.started_at))
        return " · ".join(filter(None, shown))

    def _name(self, row: RunRow) -> str:
        """The displayed name; below the heading of a sweep, the name of the sweep is left out."""
        sweep = self._below.get(row.id)
        return row.name if sweep is None else row.name.replace(f"{sweep}: ", "…", 1)

    def _shared(self, row: RunRow, number: int) -> int:
        """Length of the beginning that the displayed name shares with a run above or below."""
        name = self._name(row)
        above = range(number - 1, max(-1, number - _LOOKED_AT), -1)
        below = range(number + 1, min(len(self._shown_rows), number + _LOOKED_AT))
        # Compare with the nearest different name on each side, because runs that differ only in their seed share a
        # name.
        nearest = (next(filter(name.__ne__, map(self._name, self._runs_at(places))), "") for places in (above, below))
        return shared_beginning(name, nearest)

    def _runs_at(self, places: Iterable[int]) -> Iterator[RunRow]:
        for place in places:
            row = self._shown_rows[place]
            if isinstance(row, RunRow):
                yield row

    def _label(self, group: RunGroup) -> str:
        if not group.label:
            return tr("without tags") if self.grouping == "tag" else NOTHING
        if self.grouping == SWEEP:
            # Sweeps of one scenario share a name, so their number is shown as well.
            return tr("Sweep {number}: {name}", number=group.key.rpartition(" ")[2], name=group.label)
        if self.grouping == "seed":
            return tr("seed {seed}", seed=group.label)
        return tr(group.label) if self.grouping == "status" else group.label

    def _mean(self, group: RunGroup, shown: RunColumn) -> str:
        key = (group.key, shown.key)
        if key not in self._means:
            found = mean_interval(self._value(row, shown) for row in group.rows)
            if found is None:
                self._means[key] = NOTHING
            elif group.is_mixed:
                # A mean over different controllers is meaningless.
                self._means[key] = tr("varies")
            elif math.isnan(found.ci95) or self.grouping == SWEEP or group.is_one_run:
                # Runs with different settings are not repetitions, so their spread is not random.
                self._means[key] = shown.text(found.mean)
            else:
                self._means[key] = f"{shown.text(found.mean)} ± {shown.text(found.ci95)}"
        return self._means[key]

    def _value(self, row: RunRow, shown: RunColumn) -> Value:
        return shown.value(row, self._recorded)

    def _text(self, row: RunRow, shown: RunColumn) -> str:
        if shown.key == STARTED:
            return fmt.moment(row.started_at)
        if shown.key == NOTE:
            return " ".join(row.note.split())
        if shown.key == STATUS:
            return tr(row.status)
        return shown.text(self._value(row, shown))

    def _icon_of(self, row: RunRow, shown: RunColumn) -> QIcon | None:
        if shown.key == STATUS:
            colours = {"finished": "ok", "running": "accent", "failed": "error"}
            return self._icon(STATE_ICONS[row.status], colours.get(row.status, "muted_text"))
        if shown.key == NAME:
            # The icon distinguishes a fork from its original, because their names begin alike.
            return self._icon("plots" if row.fork is None else "fork", "accent" if row.id in self._shown else "border")
        return None

    def _icon(self, name: str, colour: str) -> QIcon:
        key = f"{name} {colour}"
        if key not in self._icons:
            self._icons[key] = icon(name, colour)
        return self._icons[key]

    def _arranged(self) -> list[RunRow | RunGroup]:
        rows = self.rows
        if self._order != [NEWEST_FIRST]:
            order = [(column(key), is_descending) for key, is_descending in self._order]
            rows = sorted_runs(rows, order, self._recorded)
        self._below = {}
        if not self.grouping:
            return list(rows)
        shown: list[RunRow | RunGroup] = []
        for each in with_sweeps(rows, self._sweeps) if self.grouping == SWEEP else grouped(rows, self.grouping):
            shown.append(each)
            if isinstance(each, RunGroup) and not self.is_folded(each.key):
                shown += each.rows
                if self.grouping == SWEEP:
                    self._below |= dict.fromkeys((row.id for row in each.rows), each.label)
        return shown

    def _reset(self, shown: list[RunRow | RunGroup]) -> None:
        self.beginResetModel()
        self._shown_rows = shown
        self.endResetModel()

    def _say_changed(self, first_column: int, last_column: int) -> None:
        if self._shown_rows:
            self.dataChanged.emit(self.index(0, first_column), self.index(len(self._shown_rows) - 1, last_column))


def heading(shown: RunColumn) -> str:
    """Heading of a column: translated title and unit."""
    title = tr(shown.title) if not shown.is_recorded else shown.title
    return f"{title}, {shown.unit}" if shown.unit else title


def short_heading(shown: RunColumn) -> str:
    """Heading of a narrow column; its tool tip shows the full title."""
    return heading(replace(shown, title=shown.symbol)) if shown.symbol else heading(shown)


def _identity(row: RunRow | RunGroup) -> int | str:
    return row.id if isinstance(row, RunRow) else row.key


def _tip(row: RunRow) -> str:
    lines = [
        tr("Run {number}: {name}", number=row.id, name=row.name),
        tr("{now} of {end} s simulated", now=f"{row.simulated_s:g}", end=f"{row.duration_s:g}"),
    ]
    if row.packets is not None:
        lines.append(tr("{count} packets in {time}", count=fmt.count(row.packets), time=fmt.duration(row.wall_s)))
    fork = fork_of(row)
    if fork is not None:
        lines.insert(1, tr("Fork of {fork}", fork=fork))
    if row.note:
        lines.append(tr("Note: {note}", note=row.note))
    return "\n".join(lines)


class RunNames(QStyledItemDelegate):
    """Draws the ticks of selected runs and their names; a narrow list has a second line below each name.

    Long names are shortened where they agree with their neighbours, so that the distinguishing part remains visible.
    """

    def __init__(self, view: RunView) -> None:
        super().__init__(view)
        self._view = view

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        """Place the ellipsis in the shared beginning, or in the middle of a name without a shared beginning."""
        super().initStyleOption(option, index)
        if index.data(GROUP_ROLE) is not None:
            # The distinguishing part of a group's label, such as the number of a sweep, is at the beginning.
            option.textElideMode = Qt.TextElideMode.ElideRight
            return
        option.textElideMode = Qt.TextElideMode.ElideMiddle
        option.features |= QStyleOptionViewItem.ViewItemFeature.HasCheckIndicator
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
        option.checkState = Qt.CheckState.Checked if is_selected else Qt.CheckState.Unchecked
        # Qt passes an empty rectangle to measure the whole text.
        if option.rect.width() <= 0:
            return
        width = self._text_area(option).width()
        if option.fontMetrics.horizontalAdvance(option.text) > width:
            option.text = shortened(option.text, index.data(SHARED_ROLE) or 0, option.fontMetrics, width)

    def _text_area(self, option: QStyleOptionViewItem) -> QRect:
        style = option.widget.style()
        margin = style.pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin) + 1
        area = style.subElementRect(QStyle.SubElement.SE_ItemViewItemText, option, option.widget)
        return area.adjusted(margin + CELL_PADDING, 0, -margin - CELL_PADDING, 0)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw a name, and in a narrow list the second line below it."""
        if not self._view.has_two_lines:
            super().paint(painter, option, index)
            return
        shown = QStyleOptionViewItem(option)
        self.initStyleOption(shown, index)
        area, name = self._text_area(shown), shown.text
        if index.data(GROUP_ROLE) is not None:
            name = shown.fontMetrics.elidedText(name, Qt.TextElideMode.ElideRight, area.width())
        shown.text = ""
        shown.widget.style().drawControl(QStyle.ControlElement.CE_ItemViewItem, shown, painter, shown.widget)
        tokens = current_tokens()
        is_selected = bool(shown.state & QStyle.StateFlag.State_Selected)
        selected = shown.palette.color(QPalette.ColorRole.HighlightedText)
        middle = area.center().y() + 1
        painter.save()
        painter.setFont(shown.font)
        painter.setPen(selected if is_selected else QColor(tokens.text))
        upper = QRect(area.left(), area.top(), area.width(), middle - area.top())
        painter.drawText(upper, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom, name)
        painter.setFont(sized(QFont(option.font), 0.9))
        painter.setPen(selected if is_selected else QColor(tokens.muted_text))
        second = painter.fontMetrics().elidedText(
            str(index.data(SECOND_ROLE) or ""), Qt.TextElideMode.ElideRight, area.width()
        )
        lower = QRect(area.left(), middle, area.width(), area.bottom() - middle)
        painter.drawText(lower, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop, second)
        painter.restore()

    def tick_area(self, index: QModelIndex) -> QRect:
        """Where a click ticks a run; empty for the heading of a group."""
        if index.column() != 0 or index.data(GROUP_ROLE) is not None:
            return QRect()
        option = QStyleOptionViewItem()
        option.initFrom(self._view)
        option.widget = self._view
        option.rect = self._view.visualRect(index)
        self.initStyleOption(option, index)
        area = self._view.style().subElementRect(QStyle.SubElement.SE_ItemViewItemCheckIndicator, option, self._view)
        return area.adjusted(-_TICK_GAP, 0, _TICK_GAP, 0).united(QRect(option.rect.topLeft(), area.bottomRight()))


def shortened(name: str, shared: int, metrics: QFontMetrics, width: int) -> str:
    """A shortened name, cut as far as possible in the beginning that it shares with its neighbours.

    Args:
        name: the name.
        shared: length of the shared beginning.
        metrics: metrics of the font.
        width: width of the cell, px.
    """
    own = name[shared:]
    room = width - metrics.horizontalAdvance(own)
    if not shared or room < metrics.horizontalAdvance("…"):
        return metrics.elidedText(f"…{own}" if shared else name, Qt.TextElideMode.ElideMiddle, width)
    return metrics.elidedText(name[:shared], Qt.TextElideMode.ElideRight, room) + own


class RunView(QTableView):
    """Table with rows of equal height, of which the user can select several."""

    opened = Signal()  # the selected runs, by double-click
    note_wanted = Signal()  # request to edit the note of the selected run, because it is too long for a cell

    def __init__(self, model: RunTable, parent: QWidget) -> None:
        """Show ``model``."""
        super().__init__(parent)
        self._runs = model
        set_up_table(self, "history_table", tr("Stored runs"), model)
        self.has_two_lines = False
        self._row_height = 0  # of a list with columns, px; 0: not known yet
        self._wide: dict[str, int] = {}  # widths of the columns while the list has two lines in their place
        self._names = RunNames(self)
        self.setItemDelegateForColumn(0, self._names)
        self.setFrameShape(QTableView.Shape.NoFrame)
        self.setIconSize(QSize(14, 14))
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = self.horizontalHeader()
        header.setSectionsMovable(True)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.set_default_widths()
        started = [each.key for each in model.columns].index(STARTED)
        header.setSortIndicator(started, Qt.SortOrder.DescendingOrder)
        self.setSortingEnabled(True)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.doubleClicked.connect(self._on_double_clicked)

    def set_default_widths(self) -> None:
        """Set the widths of all columns to fit typical contents."""
        was_narrow = self.has_two_lines
        self._set_two_lines(False)
        set_widths(self, ((short_heading(column), column.widest) for column in self._runs.columns))
        self._set_two_lines(was_narrow)

    def widths(self) -> dict[str, int]:
        """Widths of the columns by their keys, px; for a narrow list, those that it has when it is wide."""
        if self.has_two_lines:
            return dict(self._wide)
        header = self.horizontalHeader()
        return {each.key: header.sectionSize(number) for number, each in enumerate(self._runs.columns)}

    def set_widths(self, widths: Mapping[str, int]) -> None:
        """Set the widths of columns by their keys, px; a narrow list uses them once it becomes wide."""
        known = {key: width for key, width in widths.items() if width > 0}
        if self.has_two_lines:
            self._wide |= known
            return
        for number, each in enumerate(self._runs.columns):
            if each.key in known:
                self.horizontalHeader().resizeSection(number, known[each.key])

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show two lines for each run in a narrow list, and columns in a wide one."""
        super().resizeEvent(event)
        self._set_two_lines(self.width() < NARROW)

    def _set_two_lines(self, is_on: bool) -> None:
        if is_on == self.has_two_lines:
            return
        if is_on:
            self._wide = self.widths()
        self.has_two_lines = is_on
        self._show_lines()
        if not is_on:
            self.set_widths(self._wide)

    def _show_lines(self) -> None:
        """Show the columns, or only the names with a line below each."""
        header, rows = self.horizontalHeader(), self.verticalHeader()
        for number in range(1, self._runs.columnCount()):
            self.setColumnHidden(number, self.has_two_lines)
        header.setVisible(not self.has_two_lines)
        stretch, free = QHeaderView.ResizeMode.Stretch, QHeaderView.ResizeMode.Interactive
        header.setSectionResizeMode(0, stretch if self.has_two_lines else free)
        self._row_height = self._row_height or rows.defaultSectionSize()
        line = self.fontMetrics().height()
        rows.setDefaultSectionSize(2 * line + 12 if self.has_two_lines else self._row_height)

    @property
    def is_editing(self) -> bool:
        """True while the user edits a cell; a new list would end the editing."""
        return self.state() == QTableView.State.EditingState

    def selected(self) -> list[RunRow]:
        """The selected runs, from top to bottom, each once."""
        # Iterate over ranges, because creating an index for each of thousands of rows takes ten times as long.
        parts: Iterable[QItemSelectionRange] = self.selectionModel().selection()  # type: ignore[assignment] # a list
        numbers = sorted({number for part in parts for number in range(part.top(), part.bottom() + 1)})
        rows = (self._runs.row_at(number) for number in numbers)
        # A selected group includes all of its runs.
        runs = (run for row in rows for run in (row.rows if isinstance(row, RunGroup) else (row,)))
        return list({run.id: run for run in runs}.values())

    def select(self, run_ids: Collection[int]) -> None:
        """Select exactly these runs in one step; the last run becomes current."""
        numbers = self._runs.row_numbers(set(run_ids))
        selection, last = QItemSelection(), self._runs.columnCount() - 1
        start = 0
        for end in range(1, len(numbers) + 1):
            if end == len(numbers) or numbers[end] != numbers[end - 1] + 1:
                selection.select(self._runs.index(numbers[start], 0), self._runs.index(numbers[end - 1], last))
                start = end
        flags = QItemSelectionModel.SelectionFlag
        self.selectionModel().select(selection, flags.ClearAndSelect | flags.Rows)
        if numbers:
            self.selectionModel().setCurrentIndex(self._runs.index(numbers[-1], 0), flags.NoUpdate)

    def reveal(self, run_id: int) -> None:
        """Scroll to a run."""
        numbers = self._runs.row_numbers({run_id})
        if numbers:
            self.scrollTo(self._runs.index(numbers[0], 0), QAbstractItemView.ScrollHint.PositionAtCenter)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Fold groups, and ignore characters, because the search field and the shortcuts of the window use them."""
        index = self.currentIndex()
        row = self._runs.row_at(index.row()) if index.isValid() else None
        if isinstance(row, RunGroup) and event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Return):
            is_folded = self._runs.is_folded(row.key)
            folds = not is_folded if event.key() == Qt.Key.Key_Return else event.key() == Qt.Key.Key_Left
            self._fold(index, folds)
            return
        if event.key() == Qt.Key.Key_Space and isinstance(row, RunRow) and not event.modifiers():
            self._tick(index)
            return
        if event.text().isprintable() and event.text() and not event.modifiers():
            event.ignore()
            return
        super().keyPressEvent(event)

    def _fold(self, index: QModelIndex, is_folded: bool) -> None:
        group = self._runs.row_at(index.row())
        assert isinstance(group, RunGroup)
        kept = {row.id for row in self.selected()}
        place = self.verticalScrollBar().value()
        self._runs.fold([group.key], is_folded)
        self.select(kept)
        # The heading keeps its position, because the rows above have not changed.
        self.selectionModel().setCurrentIndex(
            self._runs.index(index.row(), 0), QItemSelectionModel.SelectionFlag.NoUpdate
        )
        self.verticalScrollBar().setValue(place)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Fold a group after a click on its arrow; other clicks select its runs."""
        index = self.indexAt(event.position().toPoint())
        group = self._runs.row_at(index.row()) if index.isValid() else None
        is_on_arrow = index.column() == 0 and event.position().x() - self.visualRect(index).left() < self._arrow_width()
        if isinstance(group, RunGroup) and is_on_arrow and event.button() == Qt.MouseButton.LeftButton:
            self._fold(index, not self._runs.is_folded(group.key))
            event.accept()
            return
        is_left = event.button() == Qt.MouseButton.LeftButton
        if index.isValid() and is_left and self._names.tick_area(index).contains(event.position().toPoint()):
            self._tick(index)
            event.accept()
            return
        super().mousePressEvent(event)

    def _tick(self, index: QModelIndex) -> None:
        """Add a run to the selected ones, or remove it, as its tick shows."""
        flags = QItemSelectionModel.SelectionFlag
        self.selectionModel().setCurrentIndex(index, flags.NoUpdate)
        self.selectionModel().select(index, flags.Toggle | flags.Rows)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Two quick clicks on a tick change it twice; elsewhere, a double click opens a run."""
        index = self.indexAt(event.position().toPoint())
        if index.isValid() and self._names.tick_area(index).contains(event.position().toPoint()):
            self._tick(index)
            return
        super().mouseDoubleClickEvent(event)

    def _arrow_width(self) -> int:
        return self.iconSize().width() + 4 * self.style().pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin) + 8

    def _on_double_clicked(self, index: QModelIndex) -> None:
        row = self._runs.row_at(index.row())
        if isinstance(row, RunGroup):
            self._fold(index, not self._runs.is_folded(row.key))
            return
        if self._runs.columns[index.column()].key == NOTE and index.flags() & Qt.ItemFlag.ItemIsEditable:
            if "\n" in row.note:
                self.note_wanted.emit()
            else:
                self.edit(index)
            return
        self.opened.emit()
