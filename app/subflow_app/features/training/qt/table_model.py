"""The trainings as a table: how far each is and how it does, with the colour of its curves."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QObject, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap

from subflow_app.features.training.core.training_metrics import SATURATION_WARNING
from subflow_app.features.training.core.training_progress import Training
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.foundation.problem_texts import problem_text
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.icons import STATE_ICONS, icon
from subflow_app.toolkit.models.table_model import FollowedTable
from subflow_app.toolkit.theme import current_tokens
from subflow_app.vocabulary import palette
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.tables import Column, NumberColumn

_SWATCH = 12


def _latest(training: Training, metric: str) -> float:
    return training.log.latest(metric)


def _progress(training: Training) -> str:
    return fmt.MISSING if math.isnan(training.fraction) else fmt.ratio(min(1.0, training.fraction), 2)


def _versus(training: Training) -> str:
    newest = training.comparison
    if newest is None or math.isnan(newest.gain):
        return fmt.MISSING
    return f"{newest.gain:.2f}× {newest.best_classic}"


def _eta(training: Training) -> str:
    if training.state is not JobState.RUNNING:
        return fmt.MISSING
    return tr("evaluating") if training.fraction >= 1 else fmt.duration(_latest(training, "eta_s"))


COLUMNS: tuple[Column[Training], ...] = (
    Column(translatable("Training"), lambda t: t.name, widest="drl-cc on drlcc-sc1, seed 1"),
    Column(translatable("State"), lambda t: tr(t.state.value), widest="      interrupted"),
    NumberColumn(translatable("Done"), _progress, widest="100 %", tip=translatable("Share of the budget that is used")),
    NumberColumn(translatable("Time left"), _eta, widest="00 min 00 s"),
    NumberColumn(
        translatable("Return"),
        lambda t: fmt.number(_latest(t, "return_mean")),
        widest="-12.34",
        tip=translatable("Per decision"),
    ),
    NumberColumn(
        translatable("Goodput"),
        lambda t: fmt.rate(_latest(t, "flow_goodput_bps")),
        widest="12.3 Mbit/s",
        tip=translatable("Of a flow, mean of the latest training episodes on all networks that the training draws"),
    ),
    NumberColumn(
        translatable("Against classics"),
        _versus,
        widest="1.52× wvegas",
        tip=translatable(
            "Goodput over that of the best classic controller, on the held-out seeds of the latest evaluation"
        ),
    ),
    NumberColumn(
        translatable("Decisions"),
        lambda t: fmt.count(_latest(t, "step")),
        widest="1 234 567",
        tip=translatable("Learned from so far"),
    ),
    NumberColumn(
        translatable("Updates/s"),
        lambda t: fmt.number(_latest(t, "updates_per_s")),
        widest="12 345",
        tip=translatable("Gradient steps per second"),
    ),
)
NAME_COLUMN = 0
STATE_COLUMN = 1


class TrainingTable(FollowedTable[Training]):
    """Rows are trainings, newest first."""

    def __init__(self, parent: QObject | None = None) -> None:
        """An empty table."""
        super().__init__(COLUMNS, lambda training: training.id, parent, tip=_tip)
        self._hues: dict[str, int] = {}

    def hue(self, training_id: str) -> int:
        """Number of the colour of a training; it keeps it as long as it is listed."""
        if training_id not in self._hues:
            taken = set(self._hues.values())
            self._hues[training_id] = next(hue for hue in range(len(taken) + 1) if hue not in taken)
        return self._hues[training_id]

    def update_rows(self, rows: Sequence[Training]) -> None:
        """Gives new trainings a colour, oldest first, so that none takes the colour of one that is there."""
        listed = {training.id for training in rows}
        self._hues = {key: hue for key, hue in self._hues.items() if key in listed}
        for training in reversed(rows):
            self.hue(training.id)
        super().update_rows(rows)

    def other_data(self, row: Training, column: int, role: int) -> QIcon | None:
        """The colour of its curves, and the sign of where it stands."""
        if role != Qt.ItemDataRole.DecorationRole:
            return None
        if column == NAME_COLUMN:
            key = palette.ColourKey(self.hue(row.id), 0)
            return _swatch(palette.hex_colour(key, dark=current_tokens().is_dark))
        if column != STATE_COLUMN:
            return None
        colours = {
            JobState.RUNNING: "ok",
            JobState.FINISHED: "ok",
            JobState.FAILED: "error",
            JobState.INTERRUPTED: "warning",
        }
        return icon(STATE_ICONS[row.state], colours.get(row.state, "muted_text"))


def _tip(training: Training) -> str:
    lines = [
        training.name,
        tr("Learns on {scenario}, seed {seed}", scenario=training.scenario, seed=training.seed),
        tr("Budget: {budget}", budget=training.budget),
    ]
    if training.message:
        lines.append(problem_text(training.message))
    saturation = training.log.latest("actor_saturation")
    if saturation > SATURATION_WARNING:
        share = fmt.ratio(saturation, 2)
        lines.append(tr("{share} of its actions are at their bounds: it has all but stopped learning.", share=share))
    if training.folder is not None:
        lines.append(str(training.folder))
    return "\n".join(lines)


def _swatch(colour: str) -> QIcon:
    picture = QPixmap(4 * _SWATCH, 4 * _SWATCH)  # enough for any scaling of the screen
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    # A light rim, which shows only on the dark ground of a selected row.
    painter.setPen(QPen(QColor(current_tokens().highlighted_text), 3))
    painter.setBrush(QColor(colour))
    painter.drawRoundedRect(QRectF(picture.rect()).adjusted(4, 4, -4, -4), 8, 8)
    painter.end()
    swatch = QIcon(picture)
    # The same in selected rows: left to itself, Qt would tint it.
    swatch.addPixmap(picture, QIcon.Mode.Selected)
    return swatch
