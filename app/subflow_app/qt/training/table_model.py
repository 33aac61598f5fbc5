"""The trainings as a table: how far each is and how it does, with the colour of its curves."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap

from subflow_app.core import palette
from subflow_app.core.language import tr, translatable
from subflow_app.core.learning.training_metrics import SATURATION_WARNING
from subflow_app.core.learning.training_progress import JobState, Training
from subflow_app.core.scenarios.problem_texts import problem_text
from subflow_app.qt import format as fmt
from subflow_app.qt.icons import icon
from subflow_app.qt.theme import current_tokens

Index = QModelIndex | QPersistentModelIndex

TRAINING_ROLE = Qt.ItemDataRole.UserRole + 1  # Training

_SWATCH = 12
_STATE_ICONS = {
    JobState.WAITING: "recent",
    JobState.STARTING: "recent",
    JobState.RUNNING: "run",
    JobState.PAUSED: "pause",
    JobState.STOPPING: "stop",
    JobState.FINISHED: "ok",
    JobState.STOPPED: "stop",
    JobState.FAILED: "error",
    JobState.INTERRUPTED: "warning",
}


@dataclass(frozen=True, slots=True)
class _Column:
    title: str
    text: Callable[[Training], str]
    widest: str  # what it holds at most as a rule, for its first width
    is_number: bool = False
    tip: str = ""


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
    return fmt.duration(_latest(training, "eta_s")) if training.state is JobState.RUNNING else fmt.MISSING


COLUMNS: tuple[_Column, ...] = (
    _Column(translatable("Training"), lambda t: t.name, "drl-cc on drlcc-sc1, seed 1"),
    _Column(translatable("State"), lambda t: tr(t.state.value), "      interrupted"),
    _Column(
        translatable("Done"), _progress, "100 %", is_number=True, tip=translatable("Share of the budget that is used")
    ),
    _Column(translatable("Time left"), _eta, "00 min 00 s", is_number=True),
    _Column(
        translatable("Return"),
        lambda t: fmt.number(_latest(t, "return_mean")),
        "-12.34",
        is_number=True,
        tip=translatable("Per decision"),
    ),
    _Column(
        translatable("Goodput"),
        lambda t: fmt.rate(_latest(t, "flow_goodput_bps")),
        "12.3 Mbit/s",
        is_number=True,
        tip=translatable("Of a flow, in the latest training episodes"),
    ),
    _Column(
        translatable("Against classics"),
        _versus,
        "1.52× wvegas",
        is_number=True,
        tip=translatable(
            "Goodput over that of the best classic controller, on the held-out seeds of the latest evaluation"
        ),
    ),
    _Column(
        translatable("Decisions"),
        lambda t: fmt.count(_latest(t, "step")),
        "1,234,567",
        is_number=True,
        tip=translatable("Learned from so far"),
    ),
    _Column(
        translatable("Updates/s"),
        lambda t: fmt.number(_latest(t, "updates_per_s")),
        "12,345",
        is_number=True,
        tip=translatable("Gradient steps per second"),
    ),
)
NAME_COLUMN = 0
STATE_COLUMN = 1


class TrainingTable(QAbstractTableModel):
    """Rows are trainings, newest first; :meth:`update_rows` is all it takes to follow them."""

    def __init__(self, parent: QObject | None = None) -> None:
        """An empty table."""
        super().__init__(parent)
        self._rows: list[Training] = []
        self._shown: list[tuple[str, ...]] = []
        self._hues: dict[str, int] = {}

    @property
    def rows(self) -> Sequence[Training]:
        """The trainings."""
        return self._rows

    def hue(self, training_id: str) -> int:
        """Number of the colour of a training; it keeps it as long as it is listed."""
        if training_id not in self._hues:
            taken = set(self._hues.values())
            self._hues[training_id] = next(hue for hue in range(len(taken) + 1) if hue not in taken)
        return self._hues[training_id]

    def update_rows(self, trainings: Sequence[Training]) -> None:
        """Shows these trainings; where they are the same as before, only cells that changed are drawn again."""
        texts = [tuple(column.text(training) for column in COLUMNS) for training in trainings]
        if [training.id for training in trainings] != [row.id for row in self._rows]:
            self.beginResetModel()
            self._rows, self._shown = list(trainings), texts
            listed = {training.id for training in trainings}
            self._hues = {key: hue for key, hue in self._hues.items() if key in listed}
            # Oldest first, so that a new training does not take the colour of one that is there.
            for training in reversed(trainings):
                self.hue(training.id)
            self.endResetModel()
            return
        self._rows = list(trainings)
        before, self._shown = self._shown, texts
        for row, (old, new) in enumerate(zip(before, texts, strict=True)):
            changed = [column for column in range(len(COLUMNS)) if old[column] != new[column]]
            if changed:
                self.dataChanged.emit(self.index(row, changed[0]), self.index(row, changed[-1]))

    def refresh_icons(self) -> None:
        """Has the icons drawn again, in the colours of another theme."""
        if self._rows:
            last = self.index(len(self._rows) - 1, len(COLUMNS) - 1)
            self.dataChanged.emit(self.index(0, 0), last, [Qt.ItemDataRole.DecorationRole])

    # ---- QAbstractTableModel ----

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of trainings."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of columns."""
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object | None:
        """Title of a column."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(COLUMNS):
            return None
        column = COLUMNS[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return tr(column.title)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tr(column.tip) if column.tip else None
        if role == Qt.ItemDataRole.TextAlignmentRole and column.is_number:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object | None:
        """Text, icon and tool tip of a cell."""
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        training, column = self._rows[index.row()], COLUMNS[index.column()]
        if role == TRAINING_ROLE:
            return training
        if role == Qt.ItemDataRole.DisplayRole:
            return self._shown[index.row()][index.column()]
        if role == Qt.ItemDataRole.TextAlignmentRole and column.is_number:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ToolTipRole:
            return _tip(training)
        if role == Qt.ItemDataRole.DecorationRole:
            return self._icon(training, index.column())
        return None

    def _icon(self, training: Training, column: int) -> QIcon | None:
        tokens = current_tokens()
        if column == NAME_COLUMN:
            key = palette.ColourKey(self.hue(training.id), 0)
            return _swatch(palette.hex_colour(key, dark=tokens.is_dark))
        if column != STATE_COLUMN:
            return None
        colours = {
            JobState.RUNNING: tokens.ok,
            JobState.FINISHED: tokens.ok,
            JobState.FAILED: tokens.error,
            JobState.INTERRUPTED: tokens.warning,
        }
        return icon(_STATE_ICONS[training.state], colours.get(training.state, tokens.muted_text))


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
