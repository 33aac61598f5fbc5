"""The latest evaluation of a training: agent and classic controllers in physical units, and the parts of the reward."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtWidgets import QStackedWidget, QTableView, QWidget

from subflow_app.features.training.core.training_progress import Comparison, Training
from subflow_app.features.training.core.training_text import reward_text
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.widgets.empty_state import EmptyState
from subflow_app.toolkit.widgets.shorthand import Label, named, v_box
from subflow_app.toolkit.widgets.tables import FollowedTable, set_up_table
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.number_text import NOTHING
from subflow_app.vocabulary.tables import Column, NumberColumn
from subflow_app.vocabulary.trace_measures import EVALUATION_MEASURES


@dataclass(frozen=True, slots=True)
class _Row:
    """A controller of an evaluation."""

    name: str
    comparison: Comparison
    is_agent: bool

    def text(self, metric: str) -> str:
        """A result with its confidence interval; a dash if it is unknown."""
        found = self.comparison.figures.get(self.name, {}).get(metric)
        return NOTHING if found is None else EVALUATION_MEASURES[metric].interval_text(found)

    @property
    def gain(self) -> str:
        """Goodput over that of the best classic controller."""
        if self.is_agent:
            return f"{fmt.number(self.comparison.gain)}×"
        return tr("best") if self.name == self.comparison.best_classic else ""


def _result(title: str, metric: str) -> Column[_Row]:
    measure = EVALUATION_MEASURES[metric]
    return NumberColumn(title, lambda row: row.text(metric), unit=measure.unit, tip=measure.definition)


COLUMNS: tuple[Column[_Row], ...] = (
    Column(translatable("Controller"), lambda row: row.name),
    _result(translatable("Goodput"), "goodput_bps"),
    _result(translatable("RTT"), "rtt_s"),
    _result(translatable("Loss"), "loss_ratio"),
    _result(translatable("Jain index"), "jain"),
    NumberColumn(translatable("Against classics"), lambda row: row.gain, widest="1.52×"),
)


class EvaluationView(QWidget):
    """A table of the latest evaluation of one training run, above the parts of the agent's reward."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        named(self, "training_evaluation", tr("Latest evaluation"))
        self._training: Training | None = None
        self._shown: Comparison | None = None
        self.about = named(Label(self, wordWrap=True), "training_evaluation_about")
        self.reward = named(Label(self, wordWrap=True), "training_reward")
        self.model: FollowedTable[_Row] = FollowedTable(COLUMNS, lambda row: row.name, self)
        self.table = QTableView(self)
        set_up_table(self.table, "training_evaluation_table", tr("Results of the latest evaluation"), self.model)
        self._empty = EmptyState(
            "train", tr("No evaluation yet"), tr("Select one training; its form sets the time between two evaluations.")
        )
        content = QWidget(self)
        v_box(content, self.about, (self.table, 1), self.reward, margins=8, spacing=6)
        self._pages = QStackedWidget(self)
        self._pages.addWidget(self._empty)
        self._pages.addWidget(content)
        v_box(self, self._pages, margins=0)

    def show_training(self, training: Training | None) -> None:
        """Shows the latest evaluation of a training run; None: of none."""
        self._training = training
        self.refresh()

    def refresh(self) -> None:
        """Shows a new evaluation."""
        found = self._training.comparison if self._training is not None else None
        self._pages.setCurrentIndex(0 if found is None else 1)
        if found is None or found is self._shown or self._training is None:
            return
        self._shown = found
        agent = self._training.agent
        names = dict.fromkeys((agent, *found.figures))
        self.model.update_rows([_Row(name, found, name == agent) for name in names])
        self.table.resizeColumnsToContents()
        self.about.setText(
            tr(
                "After {step} decisions, on seeds that no training uses. Means and 95 % confidence intervals.",
                step=fmt.count(found.step),
            )
        )
        self.reward.setText(reward_text(found.reward))
