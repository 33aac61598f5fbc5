"""The panel of learning agents: their decisions one by one, with what they saw, did and earned, beside the plots."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QAbstractItemModel, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QAction, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QSplitter,
    QTableView,
    QWidget,
)

from subflow_app.features.traces.core.traces import Traces
from subflow_app.features.training.core.agent_replay import AgentReplay
from subflow_app.features.training.core.agent_series import Numbers, learning_subflows
from subflow_app.features.training.qt.agent_tables import DecisionList, DecisionNumbers
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.plain_text import Label
from subflow_app.toolkit.widgets.action_buttons import action_buttons
from subflow_app.toolkit.widgets.choice import Choice
from subflow_app.toolkit.widgets.empty_state import EmptyState
from subflow_app.toolkit.widgets.shorthand import h_box, named, pages, split, v_box
from subflow_app.toolkit.widgets.tables import set_up_table
from subflow_app.vocabulary.language import tr, translatable
from subflow_sim.agent_steps import AgentDecision
from subflow_store import StoreError

_NUMBERS: dict[Numbers, str] = {
    "observation": translatable("Plot what it saw"),
    "action": translatable("Plot what it did"),
}
_EMPTY_TITLE = translatable("No learning agent")
_EMPTY_TEXT = translatable(
    "Run a scenario with a learned controller, such as drl-cc, or open such a run from the history: its decisions "
    "are listed here, with what the agent saw, did and earned."
)


class AgentPanel(QWidget):
    """Shows one agent of one of the runs that the plots show."""

    decision_chosen = Signal(int, float)  # position of the run among those shown, time of the decision, s
    number_chosen = Signal(str, str)  # "observation" or "action", and the name of one of its numbers
    changed = Signal()  # whether there are decisions before or after this one
    failed = Signal(object)  # StoreError

    def __init__(self, steps: Sequence[QAction], parent: QWidget | None = None) -> None:
        """A panel without an agent; ``steps`` are the actions that go from decision to decision."""
        super().__init__(parent)
        self.setObjectName("agent")
        self._runs: list[Traces] = []
        self._replays: list[tuple[int, AgentReplay]] = []  # with their positions among the runs shown
        self._current = 0
        self._waiting: list[tuple[int, Traces]] = []  # runs that learn, but have not decided yet
        self._is_showing = False  # a row is selected by us, not by the person
        self.agents = Choice("agent_choice", text=tr("Agent"), letters=8)
        self.agents.activated.connect(self._on_agent_chosen)
        self.plotted = {kind: Choice(f"agent_{kind}", text=tr(text), letters=8) for kind, text in _NUMBERS.items()}
        for kind, combo in self.plotted.items():
            combo.setToolTip(tr("{what}, over time", what=tr(_NUMBERS[kind])))
            combo.textActivated.connect(lambda name, kind=kind: self.number_chosen.emit(kind, name))
        self._about = named(Label(self, wordWrap=True), "agent_about")
        self._about.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.why = named(Label(self, wordWrap=True), "agent_why")
        self.why.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._list = DecisionList(self)
        self._numbers = DecisionNumbers(self)
        self.decisions = _table("agent_decisions", tr("Decisions of the agent"), self._list)
        self.decisions.selectionModel().currentRowChanged.connect(self._on_row_chosen)
        self.numbers = _table("agent_numbers", tr("Observations and actions of the agent"), self._numbers)
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
        v_box(content, first, second, self._about, self.why, (parts, 1), margins=6, spacing=6)
        return content

    # ---- what the window uses ----

    def show_runs(self, runs: Sequence[Traces]) -> None:
        """Lists the agents of these runs."""
        self._runs = list(runs)
        self._replays, self._current = [], 0
        self._waiting = [(run, traces) for run, traces in enumerate(runs) if learning_subflows(traces)]
        self._take_waiting()
        self._show_agents()

    def refresh(self) -> None:
        """Takes over what has come since the last call; nothing to do while the panel is hidden."""
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
            self._list.grow()
            self._show_decision()

    @property
    def replay(self) -> AgentReplay | None:
        """What is looked at."""
        return self._replays[self._current][1] if self._replays else None

    @property
    def can_go_back(self) -> bool:
        """Whether there is a decision before this one."""
        return self.replay is not None and self.replay.position > 0

    @property
    def can_go_on(self) -> bool:
        """Whether there is a decision after this one."""
        return self.replay is not None and not self.replay.is_at_end

    def step(self, by: int) -> None:
        """Goes on by so many decisions, or back."""
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
        """Shows the decision nearest to a time, as the playhead moves there; tells nobody to go to that decision."""
        if self.replay is not None and self.replay.count and self.isVisible():
            self.replay.go_to_time(time_s)
            self._show_decision()

    def showEvent(self, event: QShowEvent) -> None:
        """Takes over what came while the panel was hidden."""
        super().showEvent(event)
        self.refresh()

    # ---- inside ----

    def _take_waiting(self) -> bool:
        """Makes replays of runs whose agents have decided by now; whether there are any."""
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
                    self.agents.addItem(f"{replay.title}: {text}" if several else text, (index, agent.name))
            self.agents.setCurrentIndex(max(0, self.agents.findText(chosen)))

    def _show_agent(self) -> None:
        replay = self.replay
        self._list.set_replay(replay)
        for kind, combo in self.plotted.items():
            combo.clear()
            combo.addItems(replay.numbers(kind) if replay is not None else ())
            combo.setEnabled(combo.count() > 0)
        self._show_decision()
        self.decisions.resizeColumnsToContents()
        self.decisions.setColumnHidden(DecisionList.VALUE, replay is not None and not replay.has_values)

    def _on_agent_chosen(self, item: int) -> None:
        self._current, agent = self.agents.itemData(item)
        replay = self.replay
        assert replay is not None
        replay.choose(agent)
        self._show_agent()
        self._tell()

    def _on_row_chosen(self) -> None:
        replay, row = self.replay, self.decisions.currentIndex().row()
        if not self._is_showing and replay is not None and row >= 0 and row != replay.position:
            replay.go_to(row)
            self._show_decision()
            self._tell()

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
        others = [traces for traces in self._runs if replay is not None and traces is not replay.traces]
        self.why.setText("\n".join(replay.why(others)) if replay is not None else "")
        if replay is not None and replay.count:
            self._is_showing = True
            self.decisions.selectRow(replay.position)
            self._is_showing = False
        if has_new_shape:
            self.numbers.resizeColumnsToContents()
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


def _table(name: str, text: str, model: QAbstractItemModel) -> QTableView:
    return set_up_table(QTableView(), name, text, model, is_single=True)
