"""Dialog for adding several runs to the queue, with different seeds and with different controllers for one flow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSize
from PySide6.QtWidgets import (
    QDialog,
    QFormLayout,
    QLineEdit,
    QSpinBox,
    QWidget,
)

from subflow_app.features.editor.core.algorithm_choices import AlgorithmChoice
from subflow_app.features.editor.qt.scenario_fields import AlgorithmList
from subflow_app.features.running.core.run_queue import MOST_AT_ONCE
from subflow_app.foundation.toml_edit import TomlValue
from subflow_app.toolkit.theme import muted
from subflow_app.toolkit.widgets.shorthand import Choice, Label, accept_buttons, h_box, named, v_box
from subflow_app.vocabulary.language import tr, trn

_MOST_SEED = 999_999_999


@dataclass(frozen=True, slots=True)
class Enqueueing:
    """Runs to add to the queue.

    Attributes:
        seeds: seeds of the runs; each controller runs with each seed.
        flow: flow whose controller varies; empty if no controller varies.
        controllers: controllers in the notation of scenario files; empty keeps the controllers of the scenario.
        tag: tag for all these runs; empty for no tag.
    """

    seeds: range
    flow: str
    controllers: tuple[TomlValue, ...]
    tag: str


class EnqueueDialog(QDialog):
    """Dialog for choosing seeds and controllers, each combination of which is queued as a run."""

    def __init__(self, seed: int, flows: Mapping[str, Sequence[AlgorithmChoice]], parent: QWidget | None) -> None:
        """Suggests five seeds, beginning with the seed of the scenario.

        Args:
            seed: seed of the scenario.
            flows: possible controllers of each flow, beginning with its controller in the scenario.
            parent: owner of the dialog.
        """
        super().__init__(parent)
        self.setObjectName("enqueue_dialog")
        self.setWindowTitle(tr("Queue several runs"))
        self._flows = flows
        self.first = self._seed_field("enqueue_first_seed", tr("First seed"), seed)
        self.last = self._seed_field("enqueue_last_seed", tr("Last seed"), min(_MOST_SEED, seed + 4))
        choices = [("", tr("Leave all as they are")), *((name, name) for name in flows)]
        self.flow = Choice("enqueue_flow", choices, self)
        self.controllers = AlgorithmList("enqueue_controllers", self)
        self.tag = named(QLineEdit(tr("batch"), self), "enqueue_tag")
        self._replaced = named(muted(Label(self, wordWrap=True)), "enqueue_replaced")
        self._count = named(Label(self), "enqueue_count")
        buttons, self._add = accept_buttons(self, tr("Add to the queue"))
        seeds = QWidget(self)
        h_box(seeds, self.first, Label(tr("to"), seeds), self.last, margins=0)
        form = QFormLayout()
        form.addRow(tr("Seeds"), seeds)
        form.addRow(tr("Vary the controller of"), self.flow)
        form.addRow(tr("Controllers"), self.controllers)
        form.addRow(tr("Tag"), self.tag)
        v_box(self, form, self._replaced, self._count, buttons)
        self.flow.currentIndexChanged.connect(self._show_controllers)
        self.controllers.itemChanged.connect(self._show_count)
        for field in (self.first, self.last):
            field.valueChanged.connect(self._show_count)
        self._show_controllers()
        self.resize(self.sizeHint().expandedTo(QSize(520, 460)))

    @property
    def answer(self) -> Enqueueing:
        """The chosen seeds, controllers and tag."""
        chosen = tuple(self.controllers.values)
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
        self.controllers.show_choices(self._flows.get(flow, ()))
        self.controllers.setEnabled(bool(flow))
        self._show_count()

    def _show_count(self) -> None:
        answer = self.answer
        replaced = self.controllers.replaced(f"flows.{answer.flow}.controller")
        self._replaced.setText(replaced)
        self._replaced.setVisible(bool(replaced))
        count = len(answer.seeds) * max(1, len(answer.controllers))
        is_possible = 0 < count <= MOST_AT_ONCE
        text = trn("{count} run will be added", "{count} runs will be added", count)
        if count == 0:
            text = tr("The last seed lies before the first")
        elif not is_possible:
            text = tr("{count} runs at once are too many; allowed: up to {most}", count=count, most=MOST_AT_ONCE)
        self._count.setText(text)
        self._add.setEnabled(is_possible)
