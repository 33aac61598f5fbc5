"""The panel of learning agents next to the plots: a table of decisions, and the numbers of the selected decision.

The table has a row for each decision. The numbers are the observation, the action and the figures of the epoch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractItemModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSignalBlocker,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QAction, QColor, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QPushButton,
    QSplitter,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from subflow_app.features.policies.core import has_card, policy_origin
from subflow_app.features.traces.core.traces import Traces
from subflow_app.features.training.core.agent_explanations import Numbers, learning_subflows
from subflow_app.features.training.core.agent_numbers import action_sentence, action_text
from subflow_app.features.training.core.agent_replay import AgentReplay, NumberRow, number_rows
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.theme import CELL_PADDING, current_tokens
from subflow_app.toolkit.widgets.empty_state import EmptyState
from subflow_app.toolkit.widgets.list_beside import action_buttons
from subflow_app.toolkit.widgets.shorthand import Choice, Label, h_box, named, pages, split, v_box
from subflow_app.toolkit.widgets.tables import FittedColumns, LazyRows, TableModel, bold, set_up_table
from subflow_app.vocabulary.language import tr, translatable, trn
from subflow_app.vocabulary.number_text import signed_text
from subflow_app.vocabulary.tables import Column, NumberColumn
from subflow_sim.agent_steps import AgentDecision
from subflow_store import StoreError

_TITLES = {
    "seen": translatable("Input of the policy, scaled"),
    "done": translatable("Actions of the agent"),
    "epoch": translatable("Events since the previous decision"),
}
_FORMATS = {"bit/s": fmt.rate, "s": fmt.time, "pkt": fmt.packets, "": fmt.ratio}


def number_text(value: float, unit: str) -> str:
    """A number of a decision as text, in a unit that suits its size; scaled numbers have no unit."""
    return _FORMATS[unit](value) if unit in _FORMATS else fmt.number(value, 4)


def _whom(decision: AgentDecision) -> str:
    owners = dict.fromkeys(each.name.partition("/")[0] for each in decision.acting)
    return decision.acting[0].name if len(decision.acting) == 1 else ", ".join(owners)


def _action(decision: AgentDecision) -> str:
    if decision.agent.choices:
        return ", ".join(decision.agent.action_texts(each.action)[0] for each in decision.acting)
    return ", ".join("/".join(signed_text(value, 2) for value in each.action) for each in decision.acting)


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
    """Table model of the decisions of one agent in order of time. Each row is created when it becomes visible."""

    VALUE = 3  # index of the value column

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(DECISION_COLUMNS, parent)

    def set_replay(self, replay: AgentReplay | None) -> None:
        """Shows the decisions of the current agent."""
        self.show_rows(LazyRows(replay.count, replay.at) if replay is not None else ())

    def grow(self, replay: AgentReplay) -> None:
        """Updates the table with new decisions and rewards."""
        rows = LazyRows(replay.count, replay.at)
        if len(rows) > len(self.rows):
            self.add_rows(rows)
        elif len(rows) < len(self.rows):
            self.show_rows(rows)  # a very long run in memory drops its oldest decisions
        else:
            self.rows = rows  # the reward of the latest decision has become known

    def other_data(self, row: AgentDecision, column: int, role: int) -> object | None:
        """The full text of an action, or the name of its flow or subflow, as a tooltip."""
        if role != Qt.ItemDataRole.ToolTipRole or column not in (1, 2):
            return None
        if column == 1:
            return _whom(row)
        return "\n".join(f"{each.name}: {action_text(row.agent, each)}" for each in row.acting)


class DecisionNumbers(TableModel[NumberRow | str]):
    """Table model of one decision, with a row for each number and a column for each observed subflow.

    The controlled subflows come first, in bold. A row that is a string is the title of the rows that follow.
    """

    translates = False

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__((_column("", None),), parent)
        self._acting = 0

    def set_decision(self, decision: AgentDecision | None, labels: Mapping[str, str]) -> bool:
        """Shows a decision. Returns True if the number of rows or columns has changed.

        Args:
            decision: the decision; None empties the table.
            labels: display text by subflow.
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
        # A model reset would lose the scroll position and the column widths at each step through the decisions.
        self.rows, self.columns = rows, columns
        self.say_changed()
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(columns) - 1)
        return False

    def title_rows(self) -> list[int]:
        """Indexes of title rows, which span all columns."""
        return [row for row, each in enumerate(self.rows) if isinstance(each, str)]

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Controlled subflows are bold."""
        if role == Qt.ItemDataRole.FontRole:
            return bold() if 1 <= section <= self._acting else None
        return super().headerData(section, orientation, role)

    def other_data(self, row: NumberRow | str, column: int, role: int) -> object | None:
        """The tooltip that explains a number, or the muted bold style of a title."""
        if isinstance(row, NumberRow):
            return row.help or None if role == Qt.ItemDataRole.ToolTipRole else None
        if role == Qt.ItemDataRole.ForegroundRole:
            return QColor(current_tokens().muted_text)
        return bold() if role == Qt.ItemDataRole.FontRole else None


def _column(title: str, subflow: int | None, tip: str = "") -> Column[NumberRow | str]:
    """The column of a subflow; for None, the column with the names of the numbers."""

    def text(row: NumberRow | str) -> str:
        if subflow is None:
            return row if isinstance(row, str) else row.name
        if isinstance(row, str):
            return ""
        if row.texts:
            return row.texts[subflow]
        value = row.values[subflow]
        shown = "" if row.part == "done" and math.isnan(value) else number_text(value, row.unit)
        meaning = row.meanings[subflow] if row.meanings else ""
        return f"{shown} = {meaning}" if meaning else shown

    return Column(title, text, is_number=subflow is not None, tip=tip)


_NUMBERS: dict[Numbers, str] = {
    "observation": translatable("Plot what it saw"),
    "action": translatable("Plot what it did"),
}
_MOST_ACTIONS = 3  # sentences about actions
_MOST_STRETCHED = 2  # columns of subflows that share the width
_CELL_MARGIN = 24  # px, beside the padding of a cell
_NAMES = 150  # largest initial width of the names, px
_EMPTY_TITLE = translatable("No learning agent")
_EMPTY_TEXT = translatable(
    "Run a scenario with a learned controller, such as drl-cc, or open such a run from the history: its decisions "
    "are listed here, with what the agent saw, did and earned."
)


class _Wrapped(QStyledItemDelegate):
    """Makes rows as high as their wrapped texts; the height that Qt suggests ignores the padding of cells."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Size of a cell in the width of its column."""
        hint = super().sizeHint(option, index)
        view = self.parent()
        if not isinstance(view, QTableView) or view.columnSpan(index.row(), index.column()) > 1:
            return hint
        width = view.columnWidth(index.column()) - 2 * CELL_PADDING - _CELL_MARGIN
        text = str(index.data() or "")
        lines = option.fontMetrics.boundingRect(QRect(0, 0, max(width, 1), 10_000), Qt.TextFlag.TextWordWrap, text)
        return QSize(hint.width(), max(hint.height(), lines.height() + 8))


class AgentPanel(QWidget):
    """Shows one learning agent of one plotted run."""

    decision_chosen = Signal(int, float)  # index of the run in the plots, time of the decision in s
    number_chosen = Signal(str, str)  # "observation" or "action", and the name of one of its numbers
    card_wanted = Signal(str)  # name of the policy of the current agent
    changed = Signal()  # `can_go_back` or `can_go_on` may have changed
    failed = Signal(object)  # StoreError

    def __init__(self, steps: Sequence[QAction], parent: QWidget | None = None) -> None:
        """Starts with an empty list of agents; ``steps`` are the actions that step through decisions."""
        super().__init__(parent)
        self.setObjectName("agent")
        self._runs: list[Traces] = []
        self._replays: list[tuple[int, AgentReplay]] = []  # index of the run in the plots, replay
        self._current = 0
        self._waiting: list[tuple[int, Traces]] = []  # runs whose agents have not made a decision yet
        self._is_showing = False  # true while the panel itself selects a row
        self.agents = Choice("agent_choice", text=tr("Agent"), letters=8)
        self.agents.activated.connect(self._on_agent_chosen)
        self.plotted = {kind: Choice(f"agent_{kind}", text=tr(text), letters=8) for kind, text in _NUMBERS.items()}
        for kind, combo in self.plotted.items():
            combo.setToolTip(tr("{what}, over time", what=tr(_NUMBERS[kind])))
            combo.textActivated.connect(lambda name, kind=kind: self.number_chosen.emit(kind, name))
        self._about = named(Label(self, wordWrap=True), "agent_about")
        self._about.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._origin = named(Label(self, wordWrap=True), "agent_origin")
        self._origin.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._action = named(Label(self, wordWrap=True), "agent_action")
        self._action.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.card = named(QPushButton(tr("Card…"), self), "agent_card")
        self.card.setToolTip(tr("Training of the policy with its seeds, and the results of its evaluation"))
        self.card.clicked.connect(self._ask_card)
        self.why = named(Label(self, wordWrap=True), "agent_why")
        self.why.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._list = DecisionList(self)
        self._numbers = DecisionNumbers(self)
        self.decisions = _table("agent_decisions", tr("Decisions of the agent"), self._list)
        self._columns = FittedColumns(self.decisions)
        self.decisions.selectionModel().currentRowChanged.connect(self._on_row_chosen)
        self.numbers = _table("agent_numbers", tr("Observations and actions of the agent"), self._numbers)
        self.numbers.setWordWrap(True)
        self.numbers.setItemDelegate(_Wrapped(self.numbers))
        self.numbers.setTextElideMode(Qt.TextElideMode.ElideNone)
        self.numbers.horizontalHeader().sectionResized.connect(lambda *_sizes: self.numbers.resizeRowsToContents())
        self.numbers.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.numbers.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._empty = EmptyState("agent", tr(_EMPTY_TITLE), tr(_EMPTY_TEXT))
        self._pages = pages(self, self._empty, self._content(steps))
        v_box(self, self._pages, margins=0)

    def _content(self, steps: Sequence[QAction]) -> QWidget:
        content = QWidget(self)
        first = h_box(None, (self.agents, 1), *action_buttons(steps), spacing=4)
        texts = Label(tr("Plot:"), content), Label(tr("and:"), content)
        observation, action = (self.plotted["observation"], 1), (self.plotted["action"], 1)
        second = h_box(None, texts[0], observation, texts[1], action, spacing=4)
        border = QSplitter(Qt.Orientation.Vertical, content, childrenCollapsible=False)
        parts = split(border, self.numbers, self.decisions, shares=(3, 2))
        origin = h_box(None, (self._origin, 1), self.card, spacing=4)
        v_box(content, first, second, origin, self._about, self._action, self.why, (parts, 1), margins=6, spacing=6)
        return content

    # ---- used by the window ----

    def show_runs(self, runs: Sequence[Traces]) -> None:
        """Replaces the listed agents by those of the given runs."""
        self._runs = list(runs)
        self._replays, self._current = [], 0
        self._waiting = [(run, traces) for run, traces in enumerate(runs) if learning_subflows(traces)]
        self._take_waiting()
        self._show_agents()

    def refresh(self) -> None:
        """Adds data that has arrived since the last call; no effect while the panel is hidden."""
        if not self.isVisible():
            return
        if self._take_waiting():
            self._show_agents()
        replay = self.replay
        if replay is None:
            return
        try:
            has_come = replay.refresh()
        except StoreError as error:
            self.failed.emit(error)
            return
        if has_come:
            if len(replay.agents) != self.agents.count():
                self._list_agents()
            self._list.grow(replay)
            self._show_decision()

    @property
    def replay(self) -> AgentReplay | None:
        """The replay of the current agent; None if no agent is listed."""
        return self._replays[self._current][1] if self._replays else None

    @property
    def can_go_back(self) -> bool:
        """True if the agent has an earlier decision."""
        return self.replay is not None and self.replay.position > 0

    @property
    def can_go_on(self) -> bool:
        """True if the agent has a later decision."""
        return self.replay is not None and not self.replay.is_at_end

    def step(self, by: int) -> None:
        """Goes forward by ``by`` decisions; back if negative."""
        if self.replay is not None:
            self._go_to(self.replay.position + by)

    def go_to_first(self) -> None:
        """Goes to the first decision."""
        self._go_to(0)

    def go_to_last(self) -> None:
        """Goes to the last decision."""
        if self.replay is not None:
            self._go_to(self.replay.count - 1)

    def go_to_time(self, time_s: float) -> None:
        """Goes to the decision nearest to a time."""
        if self.replay is not None:
            self.replay.go_to_time(time_s)
            self._go_to(self.replay.position)

    def show_time(self, time_s: float) -> None:
        """Shows the decision nearest to a time without emitting `decision_chosen`; no effect while not visible."""
        if self.replay is not None and self.replay.count and self.isVisible():
            self.replay.go_to_time(time_s)
            self._show_decision()

    def showEvent(self, event: QShowEvent) -> None:
        """Adds data that arrived while the panel was hidden."""
        super().showEvent(event)
        self.refresh()

    # ---- internals ----

    def _take_waiting(self) -> bool:
        """Creates replays for waiting runs whose agents have since made a decision; returns True if it created any."""
        taken = []
        for run, traces in self._waiting:
            try:
                replay = AgentReplay(traces)
            except StoreError as error:
                self.failed.emit(error)
                continue
            if replay.agents:
                replay.go_to(0)
                taken.append((run, replay))
        self._waiting = [each for each in self._waiting if each[0] not in {run for run, _ in taken}]
        self._replays += taken
        return bool(taken)

    def _show_agents(self) -> None:
        self._pages.setCurrentIndex(1 if self._replays else 0)
        self.setFocusProxy(self.decisions if self._replays else None)  # type: ignore[arg-type] # as in PlotView
        if self._waiting:
            self._empty.set_text(tr("No decision yet"), "")
        else:
            self._empty.set_text(tr(_EMPTY_TITLE), tr(_EMPTY_TEXT))
        self._list_agents()
        self._show_agent()

    def _list_agents(self) -> None:
        several = len(self._replays) > 1
        chosen = self.agents.currentText()
        with QSignalBlocker(self.agents):
            self.agents.clear()
            for index, (_run, replay) in enumerate(self._replays):
                for agent in replay.agents:
                    text = tr(
                        "{agent}: {controller} by {policy}",
                        agent=agent.name,
                        controller=agent.controller,
                        policy=agent.policy,
                    )
                    self.agents.addItem(f"{replay.traces.title}: {text}" if several else text, (index, agent.name))
            self.agents.setCurrentIndex(max(0, self.agents.findText(chosen)))

    def _show_agent(self) -> None:
        replay = self.replay
        agent = replay.agent if replay is not None else None
        origin = "" if agent is None else policy_origin(agent.policy, has_path=False)
        self._origin.setText(tr("Policy {origin}", origin=origin) if origin else "")
        self._origin.setToolTip("" if agent is None else policy_origin(agent.policy))
        self.card.setVisible(agent is not None and has_card(agent.policy))
        self._list.set_replay(replay)
        for kind, combo in self.plotted.items():
            combo.clear()
            combo.addItems(replay.numbers(kind) if replay is not None else ())
            combo.setEnabled(combo.count() > 0)
        self._show_decision()
        self.decisions.resizeColumnsToContents()
        self.decisions.setColumnHidden(DecisionList.VALUE, replay is not None and not replay.has_values)
        self._columns.want()

    def _ask_card(self) -> None:
        replay = self.replay
        if replay is not None and replay.agent is not None:
            self.card_wanted.emit(replay.agent.policy)

    def _on_agent_chosen(self, item: int) -> None:
        self._current, agent = self.agents.itemData(item)
        replay = self.replay
        assert replay is not None
        replay.choose(agent)
        self._show_agent()
        self._tell()

    def _share_width(self) -> None:
        """Make the names as wide as needed; few subflows share the rest of the width, and their texts wrap."""
        header, count = self.numbers.horizontalHeader(), self.numbers.model().columnCount()
        header.setStretchLastSection(False)
        is_few = count <= _MOST_STRETCHED + 1
        for column in range(count):
            stretches = is_few and column > 0
            header.setSectionResizeMode(
                column, QHeaderView.ResizeMode.Stretch if stretches else QHeaderView.ResizeMode.Interactive
            )
        self.numbers.resizeColumnsToContents()
        if count:
            header.resizeSection(0, min(header.sectionSize(0), _NAMES))

    def _on_row_chosen(self) -> None:
        replay, row = self.replay, self.decisions.currentIndex().row()
        if not self._is_showing and replay is not None and row >= 0 and row != replay.position:
            self._go_to(row)

    def _go_to(self, position: int) -> None:
        replay = self.replay
        if replay is not None and replay.count:
            replay.go_to(position)
            self._show_decision()
            self._tell()

    def _tell(self) -> None:
        replay = self.replay
        if replay is not None and replay.decision is not None:
            self.decision_chosen.emit(self._replays[self._current][0], replay.decision.time_s)

    def _show_decision(self) -> None:
        replay = self.replay
        decision = replay.decision if replay is not None else None
        labels = replay.traces.labels if replay is not None else {}
        has_new_shape = self._numbers.set_decision(decision, labels)
        self.numbers.clearSpans()
        for row in self._numbers.title_rows() if self._numbers.columnCount() > 1 else ():
            self.numbers.setSpan(row, 0, 1, self._numbers.columnCount())
        self._about.setText(_about(decision, replay.count) if decision is not None and replay is not None else "")
        self._action.setText("" if decision is None else _actions(decision))
        self._action.setVisible(decision is not None)
        others = [traces for traces in self._runs if replay is not None and traces is not replay.traces]
        self.why.setText("\n".join(replay.why(others)) if replay is not None else "")
        if replay is not None and replay.count:
            self._is_showing = True
            self.decisions.selectRow(replay.position)
            self._is_showing = False
        if has_new_shape:
            self._share_width()
        self.numbers.resizeRowsToContents()
        self.changed.emit()


def _about(decision: AgentDecision, count: int) -> str:
    where = tr(
        "Decision {number} of {count} at {time} s",
        number=decision.number + 1,
        count=count,
        time=f"{decision.time_s:.3f}",
    )
    reward, outcome = fmt.number(decision.reward, 4), fmt.number(decision.outcome, 4)
    if math.isnan(decision.value):
        earned = tr("Reward {before} for what it did before, {now} for this", before=reward, now=outcome)
    else:
        earned = tr(
            "Reward {before} for what it did before, {now} for this (expected {value})",
            before=reward,
            now=outcome,
            value=fmt.number(decision.value, 4),
        )
    return f"{where}\n{earned}"


def _actions(decision: AgentDecision) -> str:
    """The meaning of the actions, a line for each of the first subflows."""
    acting = decision.acting
    lines = [action_sentence(decision.agent, each) for each in acting[:_MOST_ACTIONS]]
    rest = len(acting) - len(lines)
    if rest:
        lines.append(trn("And for {count} other subflow.", "And for {count} other subflows.", rest))
    return "\n".join(lines)


def _table(name: str, text: str, model: QAbstractItemModel) -> QTableView:
    return set_up_table(QTableView(), name, text, model, is_single=True)
