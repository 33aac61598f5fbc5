"""Asks for the runs to add to the queue: seeds, and controllers for one of the flows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QFormLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QSpinBox,
    QWidget,
)

from subflow_app.core.running.run_queue import MOST_AT_ONCE
from subflow_app.qt.plain_text import Label
from subflow_app.qt.widgets.choice import Choice
from subflow_app.qt.widgets.shorthand import accept_buttons, h_box, named, v_box
from subflow_app.vocabulary.language import tr, trn

_MOST_SEED = 999_999_999


@dataclass(frozen=True, slots=True)
class Enqueueing:
    """What to add.

    Attributes:
        seeds: of the runs, each controller with each.
        flow: whose controller varies; empty: none does.
        controllers: their names; none: the scenario's own.
        tag: of all these runs.
    """

    seeds: range
    flow: str
    controllers: tuple[str, ...]
    tag: str


class EnqueueDialog(QDialog):
    """A small grid of runs."""

    def __init__(
        self, seed: int, flows: Mapping[str, Sequence[str]], chosen: Mapping[str, str], parent: QWidget | None
    ) -> None:
        """Suggests five seeds from that of the scenario on.

        Args:
            seed: of the scenario.
            flows: controllers that each flow can have.
            chosen: the controller that each flow has.
            parent: what it belongs to.
        """
        super().__init__(parent)
        self.setObjectName("enqueue_dialog")
        self.setWindowTitle(tr("Queue several runs"))
        self._flows = flows
        self._chosen = chosen
        self.first = self._seed_field("enqueue_first_seed", tr("First seed"), seed)
        self.last = self._seed_field("enqueue_last_seed", tr("Last seed"), min(_MOST_SEED, seed + 4))
        choices = [("", tr("Leave all as they are")), *((name, name) for name in flows)]
        self.flow = Choice("enqueue_flow", choices, self)
        self.controllers = named(QListWidget(self), "enqueue_controllers", tr("Controllers"))
        self.tag = named(QLineEdit(tr("batch"), self), "enqueue_tag")
        self._count = named(Label(self), "enqueue_count")
        buttons, self._add = accept_buttons(self, tr("Add to the queue"))
        seeds = QWidget(self)
        h_box(seeds, self.first, Label(tr("to"), seeds), self.last, margins=0)
        form = QFormLayout()
        form.addRow(tr("Seeds"), seeds)
        form.addRow(tr("Vary the controller of"), self.flow)
        form.addRow(tr("Controllers"), self.controllers)
        form.addRow(tr("Tag"), self.tag)
        v_box(self, form, self._count, buttons)
        self.flow.currentIndexChanged.connect(self._show_controllers)
        self.controllers.itemChanged.connect(self._show_count)
        for field in (self.first, self.last):
            field.valueChanged.connect(self._show_count)
        self._show_controllers()

    @property
    def answer(self) -> Enqueueing:
        """What is asked for."""
        items = [self.controllers.item(row) for row in range(self.controllers.count())]
        chosen = tuple(item.text() for item in items if item.checkState() == Qt.CheckState.Checked)
        seeds = range(self.first.value(), self.last.value() + 1)
        flow = str(self.flow.currentData())
        return Enqueueing(seeds, flow if chosen else "", chosen if flow else (), self.tag.text().strip())

    def _seed_field(self, name: str, label: str, value: int) -> QSpinBox:
        field = named(QSpinBox(self), name, label)
        field.setRange(0, _MOST_SEED)
        field.setValue(value)
        return field

    def _show_controllers(self) -> None:
        flow = str(self.flow.currentData())
        self.controllers.blockSignals(True)
        self.controllers.clear()
        for name in self._flows.get(flow, ()):
            item = QListWidgetItem(name, self.controllers)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Checked if name == self._chosen.get(flow) else Qt.CheckState.Unchecked)
        self.controllers.setEnabled(bool(flow))
        self.controllers.blockSignals(False)
        self._show_count()

    def _show_count(self) -> None:
        answer = self.answer
        count = len(answer.seeds) * max(1, len(answer.controllers))
        is_possible = 0 < count <= MOST_AT_ONCE
        text = trn("{count} run will be added", "{count} runs will be added", count)
        if count == 0:
            text = tr("The last seed lies before the first")
        elif not is_possible:
            text = tr("{count} runs at once are too many; allowed: up to {most}", count=count, most=MOST_AT_ONCE)
        self._count.setText(text)
        self._add.setEnabled(is_possible)
