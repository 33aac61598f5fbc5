"""A learning agent's decisions as tables: one row for each, and the numbers of one of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, Qt
from PySide6.QtGui import QColor

from subflow_app.features.training.core.agent_replay import AgentReplay, NumberRow, number_rows
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.models.table_model import Index, TableModel, bold
from subflow_app.toolkit.theme import current_tokens
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.tables import Column, NumberColumn
from subflow_sim.agent_steps import AgentDecision

_TITLES = {
    "seen": translatable("Input of the policy, scaled"),
    "done": translatable("Actions of the agent"),
    "epoch": translatable("Events since the previous decision"),
}
_FORMATS = {"bit/s": fmt.rate, "s": fmt.time, "pkt": fmt.packets, "": fmt.ratio}
_CACHED = 512


def number_text(value: float, unit: str) -> str:
    """A number of a decision in its unit; what is scaled has none."""
    return _FORMATS[unit](value) if unit in _FORMATS else fmt.number(value, 4)


def _whom(decision: AgentDecision) -> str:
    owners = dict.fromkeys(each.name.partition("/")[0] for each in decision.acting)
    return decision.acting[0].name if len(decision.acting) == 1 else ", ".join(owners)


def _action(decision: AgentDecision) -> str:
    if decision.agent.choices:
        return ", ".join(decision.agent.action_texts(each.action)[0] for each in decision.acting)
    return ", ".join("/".join(f"{value:+.2f}" for value in each.action) for each in decision.acting)


DECISION_COLUMNS: tuple[Column[AgentDecision], ...] = (
    NumberColumn(
        translatable("Time"),
        lambda decision: f"{decision.time_s:.3f} s",
        tip=translatable("Simulated time of the decision"),
    ),
    Column(translatable("For"), _whom, tip=translatable("Subflow or flow that it decided for")),
    Column(translatable("Action"), _action, tip=translatable("Its action on each subflow")),
    NumberColumn(
        translatable("Value"),
        lambda decision: fmt.number(decision.value),
        tip=translatable("Value that the policy expected; not every policy gives one"),
    ),
    NumberColumn(
        translatable("Earned"),
        lambda decision: fmt.number(decision.outcome, 4),
        tip=translatable("Reward of the epoch that followed"),
    ),
)


class DecisionList(TableModel[AgentDecision]):
    """Rows are the decisions of one agent, in order of time; each is put together when it comes into view."""

    VALUE = 3  # its column

    def __init__(self, parent: QObject | None = None) -> None:
        """An empty list."""
        super().__init__(DECISION_COLUMNS, parent)
        self._replay: AgentReplay | None = None
        self._count = 0
        self._decision_at = lru_cache(_CACHED)(self._read)

    def set_replay(self, replay: AgentReplay | None) -> None:
        """Shows the decisions of the agent that is looked at."""
        self.beginResetModel()
        self._replay = replay
        self._count = replay.count if replay is not None else 0
        self._decision_at.cache_clear()
        self.endResetModel()

    def grow(self) -> None:
        """Shows the decisions that have come."""
        self._decision_at.cache_clear()  # what the latest one has earned is known now
        count = self._replay.count if self._replay is not None else 0
        if count < self._count:
            # Of a very long run in memory the oldest were dropped.
            self.set_replay(self._replay)
        elif count > self._count:
            self.beginInsertRows(QModelIndex(), self._count, count - 1)
            self._count = count
            self.endInsertRows()

    def row_at(self, number: int) -> AgentDecision:
        """A decision."""
        return self._decision_at(number)

    def _read(self, number: int) -> AgentDecision:
        assert self._replay is not None
        return self._replay.at(number)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of decisions."""
        return 0 if parent.isValid() else self._count

    def other_data(self, row: AgentDecision, column: int, role: int) -> object | None:
        """What was done in full."""
        is_action = role == Qt.ItemDataRole.ToolTipRole and column == 2
        return row.action_text.replace("; ", "\n") if is_action else None


class DecisionNumbers(TableModel[NumberRow | str]):
    """Rows are the numbers of one decision, columns the subflows that were seen: those it acted on first, in bold.

    A text is the title of the numbers that follow.
    """

    translates = False

    def __init__(self, parent: QObject | None = None) -> None:
        """An empty table."""
        super().__init__((_column("", None),), parent)
        self._acting = 0

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
        columns = [_column("", None)]
        for index in sorted(range(len(subflows)), key=lambda index: not subflows[index].is_acting):
            name, is_acting = subflows[index].name, subflows[index].is_acting
            tip = f"{name}: {tr('decided for') if is_acting else tr('only seen')}"
            columns.append(_column(labels.get(name, name), index, tip))
        self._acting = sum(each.is_acting for each in subflows)
        if len(columns) != len(self.columns) or len(rows) != len(self.rows):
            self.show_rows(rows, columns)
            return True
        # So that scroll position and widths stay while a person steps.
        self.rows, self.columns = rows, columns
        self.say_changed()
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(columns) - 1)
        return False

    def title_rows(self) -> list[int]:
        """The rows that are titles of parts, to be drawn over all columns."""
        return [row for row, each in enumerate(self.rows) if isinstance(each, str)]

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Subflows that it acted on are bold."""
        if role == Qt.ItemDataRole.FontRole:
            return bold() if 1 <= section <= self._acting else None
        return super().headerData(section, orientation, role)

    def other_data(self, row: NumberRow | str, column: int, role: int) -> object | None:
        """What a number is; titles are muted and bold."""
        if isinstance(row, NumberRow):
            return row.help or None if role == Qt.ItemDataRole.ToolTipRole else None
        if role == Qt.ItemDataRole.ForegroundRole:
            return QColor(current_tokens().muted_text)
        return bold() if role == Qt.ItemDataRole.FontRole else None


def _column(title: str, subflow: int | None, tip: str = "") -> Column[NumberRow | str]:
    """A column of a subflow; None: of the names of the numbers."""

    def text(row: NumberRow | str) -> str:
        if subflow is None:
            return row if isinstance(row, str) else row.name
        if isinstance(row, str):
            return ""
        if row.texts:
            return row.texts[subflow]
        value = row.values[subflow]
        return "" if row.part == "done" and math.isnan(value) else number_text(value, row.unit)

    return Column(title, text, is_number=subflow is not None, tip=tip)
