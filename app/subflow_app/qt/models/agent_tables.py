"""A learning agent's decisions as tables: one row for each, and the numbers of one of them."""

from __future__ import annotations

import math
from collections.abc import Mapping

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QFont

from subflow_app.core.language import tr, translatable
from subflow_app.core.learning.agent_replay import AgentReplay, NumberRow, number_rows
from subflow_app.qt import format as fmt
from subflow_app.qt.theme import current_tokens
from subflow_sim.agent_steps import AgentDecision

Index = QModelIndex | QPersistentModelIndex

_TITLES = {
    "seen": translatable("What the policy was given, scaled"),
    "done": translatable("What the agent did"),
    "epoch": translatable("What happened since the decision before"),
}
_FORMATS = {"bit/s": fmt.rate, "s": fmt.time, "pkt": fmt.packets, "": fmt.ratio}
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


def number_text(value: float, unit: str) -> str:
    """A number of a decision in its unit; what is scaled has none."""
    return _FORMATS[unit](value) if unit in _FORMATS else fmt.number(value, 4)


class DecisionList(QAbstractTableModel):
    """Rows are the decisions of one agent, in order of time; each is put together when it comes into view."""

    COLUMNS = (
        (translatable("Time"), translatable("Simulated time of the decision")),
        (translatable("For"), translatable("What it decided for")),
        (translatable("Action"), translatable("What it did to each subflow")),
        (translatable("Value"), translatable("How good the policy thought it would be; not every policy says")),
        (translatable("Earned"), translatable("Reward of the epoch that followed")),
    )

    VALUE = 3  # its column

    def __init__(self, parent: QObject | None = None) -> None:
        """An empty list."""
        super().__init__(parent)
        self._replay: AgentReplay | None = None
        self._count = 0

    def set_replay(self, replay: AgentReplay | None) -> None:
        """Shows the decisions of the agent that is looked at."""
        self.beginResetModel()
        self._replay = replay
        self._count = replay.count if replay is not None else 0
        self.endResetModel()

    def grow(self) -> None:
        """Shows the decisions that have come."""
        count = self._replay.count if self._replay is not None else 0
        if count < self._count:
            # Of a very long run in memory the oldest were dropped.
            self.set_replay(self._replay)
        elif count > self._count:
            self.beginInsertRows(QModelIndex(), self._count, count - 1)
            self._count = count
            self.endInsertRows()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of decisions."""
        return 0 if parent.isValid() else self._count

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of columns."""
        return 0 if parent.isValid() else len(self.COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object | None:
        """Title of a column."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self.COLUMNS):
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _LEFT if section in (1, 2) else _RIGHT
        titles = {Qt.ItemDataRole.DisplayRole: 0, Qt.ItemDataRole.ToolTipRole: 1}
        return tr(self.COLUMNS[section][titles[Qt.ItemDataRole(role)]]) if role in titles else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object | None:
        """Text of a cell."""
        if not index.isValid() or self._replay is None:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _LEFT if index.column() in (1, 2) else _RIGHT
        if role == Qt.ItemDataRole.DisplayRole:
            return _cell(self._replay.at(index.row()), index.column())
        if role == Qt.ItemDataRole.ToolTipRole and index.column() == 2:
            return self._replay.at(index.row()).action_text.replace("; ", "\n")
        return None


def _cell(decision: AgentDecision, column: int) -> str:
    match column:
        case 0:
            return f"{decision.time_s:.3f} s"
        case 1:
            owners = dict.fromkeys(each.name.partition("/")[0] for each in decision.acting)
            return decision.acting[0].name if len(decision.acting) == 1 else ", ".join(owners)
        case 2:
            if decision.agent.choices:
                return ", ".join(decision.agent.action_texts(each.action)[0] for each in decision.acting)
            return ", ".join("/".join(f"{value:+.2f}" for value in each.action) for each in decision.acting)
        case 3:
            return fmt.number(decision.value)
        case _:
            return fmt.number(decision.outcome, 4)


class DecisionNumbers(QAbstractTableModel):
    """Rows are the numbers of one decision, columns the subflows that were seen: those it acted on first, in bold."""

    def __init__(self, parent: QObject | None = None) -> None:
        """An empty table."""
        super().__init__(parent)
        self._rows: list[NumberRow | str] = []  # a text is the title of a part
        self._order: list[int] = []  # of the subflows
        self._names: list[str] = []
        self._acting = 0
        self._labels: Mapping[str, str] = {}

    def set_decision(self, decision: AgentDecision | None, labels: Mapping[str, str]) -> bool:
        """Shows a decision. Returns whether it has other rows or columns than the one before.

        Args:
            decision: None empties the table.
            labels: text for people by subflow.
        """
        rows: list[NumberRow | str] = []
        for row in number_rows(decision) if decision is not None else []:
            if not rows or (isinstance(rows[-1], NumberRow) and rows[-1].part != row.part):
                rows.append(tr(_TITLES[row.part]))
            rows.append(row)
        subflows = decision.subflows if decision is not None else ()
        order = sorted(range(len(subflows)), key=lambda index: not subflows[index].is_acting)
        names = [subflows[index].name for index in order]
        is_same_shape = len(names) == len(self._names) and len(rows) == len(self._rows)
        if not is_same_shape:
            self.beginResetModel()
        self._rows, self._order, self._names, self._labels = rows, order, names, labels
        self._acting = sum(each.is_acting for each in subflows)
        if not is_same_shape:
            self.endResetModel()
        elif rows and names:
            # So that scroll position and widths stay while a person steps.
            self.dataChanged.emit(self.index(0, 0), self.index(len(rows) - 1, len(names)))
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(names))
        return not is_same_shape

    def title_rows(self) -> list[int]:
        """The rows that are titles of parts, to be drawn over all columns."""
        return [row for row, each in enumerate(self._rows) if isinstance(each, str)]

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Numbers and titles."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """The name, and a column per subflow."""
        return 0 if parent.isValid() else 1 + len(self._names)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object | None:
        """The subflows."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section <= len(self._names):
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _LEFT if section == 0 else _RIGHT
        if section == 0:
            return "" if role == Qt.ItemDataRole.DisplayRole else None
        name = self._names[section - 1]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._labels.get(name, name)
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{name}: {tr('decided for') if section <= self._acting else tr('only seen')}"
        return _bold() if role == Qt.ItemDataRole.FontRole and section <= self._acting else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object | None:
        """Text of a cell."""
        if not index.isValid():
            return None
        row, column = self._rows[index.row()], index.column()
        if isinstance(row, str):
            if column == 0 and role == Qt.ItemDataRole.DisplayRole:
                return row
            if role == Qt.ItemDataRole.ForegroundRole:
                return QColor(current_tokens().muted_text)
            return _bold() if role == Qt.ItemDataRole.FontRole else None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _LEFT if column == 0 else _RIGHT
        if role == Qt.ItemDataRole.ToolTipRole:
            return row.help or None
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        if column == 0:
            return row.name
        subflow = self._order[column - 1]
        if row.texts:
            return row.texts[subflow]
        value = row.values[subflow]
        return "" if row.part == "done" and math.isnan(value) else number_text(value, row.unit)


def _bold() -> QFont:
    font = QFont()
    font.setBold(True)
    return font
