"""Fields for values of a scenario: a list of controllers with check boxes, and a spin box for a time.

The list begins with the scenario's own controller, followed by all others that the flow can use. The spin box shows a
time in the largest unit that gives a number of at least 1, and accepts any unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRect, QSignalBlocker, QSize, Qt
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPalette, QValidator
from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from subflow_app.features.editor.core.algorithm_choices import AlgorithmChoice, replaced_text, value_text
from subflow_app.features.editor.core.form_text import unit_of, with_unit
from subflow_app.foundation.toml_edit import TomlValue
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.theme import current_tokens
from subflow_app.toolkit.widgets.shorthand import as_written, named
from subflow_app.toolkit.widgets.tables import Index
from subflow_app.vocabulary.language import tr
from subflow_sim.errors import ParamError
from subflow_sim.units import Dimension, parse_quantity

_CHOICE, _PROGRESS = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1
_LINE = 24  # least height of a line, px
_CHECK = 32  # width of a check box with its gaps, px
_GAP = 8  # px
_SHARE = 0.4  # share of the width for the choice, unless its text is longer


class AlgorithmList(QListWidget):
    """Choices with check boxes, under headings for their origins; `itemChanged` reports a change.

    A line shows the choice, and beside it its summary, or the progress of its runs.
    """

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        """Creates a list with the object name `name`; `show_choices` fills the list."""
        super().__init__(parent)
        named(self, name, tr("Controllers"))
        # Long texts are elided, because the tooltip shows the whole text of a choice.
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setItemDelegate(_ChoiceLine(self))
        self._field: QLineEdit | None = None
        self._pressed: tuple[QListWidgetItem, Qt.CheckState] | None = None

    def filter_with(self, field: QLineEdit) -> None:
        """Let a field filter the list; letters typed in the list go to the field."""
        self._field = field
        field.textChanged.connect(self._filter)

    def show_choices(self, choices: Sequence[AlgorithmChoice]) -> None:
        """List these choices, and check only the scenario's own."""
        with QSignalBlocker(self):
            self.clear()
            origin = ""
            for choice in choices:
                if choice.origin != origin:
                    origin = choice.origin
                    QListWidgetItem(tr(origin), self).setFlags(Qt.ItemFlag.NoItemFlags)
                item = QListWidgetItem(choice.text, self)
                item.setData(_CHOICE, choice)
                item.setData(Qt.ItemDataRole.AccessibleDescriptionRole, choice.summary)
                item.setToolTip(as_written(f"{choice.text}\n{choice.summary}".rstrip()))
                item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
                item.setCheckState(Qt.CheckState.Checked if choice.is_own else Qt.CheckState.Unchecked)
        self._filter()
        self.setCurrentRow(1 if choices else -1)

    @property
    def choices(self) -> list[AlgorithmChoice]:
        """All choices, including those that a filter hides."""
        return [item.data(_CHOICE) for item in self._items]

    @property
    def chosen(self) -> list[AlgorithmChoice]:
        """The checked choices, from top to bottom."""
        return [item.data(_CHOICE) for item in self._items if item.checkState() == Qt.CheckState.Checked]

    @property
    def values(self) -> list[TomlValue]:
        """Values of the checked choices, as written in scenario files."""
        return [choice.value for choice in self.chosen]

    def choose(self, values: Sequence[TomlValue]) -> None:
        """Check exactly the choices with these values."""
        for item in self._items:
            is_wanted = item.data(_CHOICE).value in values
            item.setCheckState(Qt.CheckState.Checked if is_wanted else Qt.CheckState.Unchecked)

    def item_of(self, value: TomlValue) -> QListWidgetItem:
        """The line of a choice.

        Raises:
            KeyError: if no choice has this value.
        """
        for item in self._items:
            if item.data(_CHOICE).value == value:
                return item
        raise KeyError(value)

    def show_progress(self, progress: Sequence[ChoiceProgress]) -> None:
        """Show the progress of the checked choices, from top to bottom; an empty sequence shows summaries again."""
        rest = iter(progress)
        with QSignalBlocker(self):
            for item in self._items:
                is_chosen = item.checkState() == Qt.CheckState.Checked
                shown = next(rest, None) if is_chosen else None
                item.setData(_PROGRESS, shown)
                text = item.data(_CHOICE).summary if shown is None else shown.text
                item.setData(Qt.ItemDataRole.AccessibleDescriptionRole, text)
        self.viewport().update()

    def replaced(self, key: str) -> str:
        """Return a warning about checked choices that drop options of the scenario; empty if all options are kept.

        Args:
            key: dotted key of the controller in the scenario.
        """
        own = next((choice.value for choice in self.choices if choice.is_own), "")
        others = [value_text(choice.value) for choice in self.chosen if not choice.is_own]
        return replaced_text(key, others, own) if others and not isinstance(own, str) else ""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Pass letters on to the field that filters the list."""
        letter = event.text()
        if self._field is not None and letter.strip() and letter.isprintable():
            self._field.setFocus()
            self._field.setText(self._field.text() + letter)
            return
        super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Remember the state of the pressed line."""
        item = self.itemAt(event.position().toPoint())
        self._pressed = None if item is None or item.data(_CHOICE) is None else (item, item.checkState())
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Check or uncheck the pressed line, wherever it was clicked."""
        super().mouseReleaseEvent(event)
        pressed, self._pressed = self._pressed, None
        item = self.itemAt(event.position().toPoint())
        # A click on the check box has changed the state already.
        if pressed is not None and item is pressed[0] and item.checkState() == pressed[1]:
            is_on = pressed[1] == Qt.CheckState.Checked
            item.setCheckState(Qt.CheckState.Unchecked if is_on else Qt.CheckState.Checked)

    @property
    def _items(self) -> list[QListWidgetItem]:
        items = (self.item(row) for row in range(self.count()))
        return [item for item in items if item.data(_CHOICE) is not None]

    def _filter(self) -> None:
        """Hide the choices without the words of the field, and headings without choices."""
        words = self._field.text().lower().split() if self._field is not None else []
        heading: QListWidgetItem | None = None
        for item in (self.item(row) for row in range(self.count())):
            choice = item.data(_CHOICE)
            if choice is None:
                heading = item
                heading.setHidden(True)
                continue
            is_shown = all(word in f"{choice.text} {choice.summary}".lower() for word in words)
            item.setHidden(not is_shown)
            if heading is not None and is_shown:
                heading.setHidden(False)


@dataclass(frozen=True, slots=True)
class ChoiceProgress:
    """Progress of the runs of a choice.

    Attributes:
        finished: number of finished runs.
        failed: number of failed runs.
        runs: number of all runs.
    """

    finished: int
    failed: int
    runs: int

    @property
    def text(self) -> str:
        """The numbers as text: "4 of 5, 1 failed"."""
        text = tr("{done} of {total}", done=self.finished, total=self.runs)
        return tr("{done}, {failed} failed", done=text, failed=self.failed) if self.failed else text


class _ChoiceLine(QStyledItemDelegate):
    """Draws a heading, or a choice with its summary or progress."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """The height of a line with some space, and no minimum width."""
        return QSize(0, max(_LINE, super().sizeHint(option, index).height()))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw a line: the choice on the left, and its summary or progress on the right."""
        area, choice = option.rect, index.data(_CHOICE)
        if choice is None:
            painter.setPen(option.palette.color(QPalette.ColorRole.PlaceholderText))
            middle = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
            painter.drawText(area.adjusted(_GAP, 0, 0, 0), middle, str(index.data()))
            return
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
        if is_selected:
            painter.fillRect(area, option.palette.highlight())
        whole = option.fontMetrics.horizontalAdvance(choice.text) + _CHECK
        left = min(max(round(area.width() * _SHARE), whole), area.width())
        name = QStyleOptionViewItem(option)
        name.rect = area.adjusted(0, 0, left - area.width(), 0)
        super().paint(painter, name, index)
        rest = area.adjusted(left + _GAP, 0, -_GAP, 0)
        is_on = bool(option.state & QStyle.StateFlag.State_Enabled)
        group = QPalette.ColorGroup.Normal if is_on else QPalette.ColorGroup.Disabled
        role = QPalette.ColorRole.HighlightedText if is_selected else QPalette.ColorRole.PlaceholderText
        painter.setPen(option.palette.color(group, role))
        progress: ChoiceProgress | None = index.data(_PROGRESS)
        middle = Qt.AlignmentFlag.AlignVCenter
        if progress is None:
            text = option.fontMetrics.elidedText(choice.summary, Qt.TextElideMode.ElideRight, rest.width())
            painter.drawText(rest, middle | Qt.AlignmentFlag.AlignLeft, text)
            return
        painter.setPen(option.palette.color(QPalette.ColorGroup.Normal, QPalette.ColorRole.Text))
        painter.drawText(rest, middle | Qt.AlignmentFlag.AlignRight, progress.text)
        widest = option.fontMetrics.horizontalAdvance(progress.text) + 2 * _GAP
        bar = QRect(rest.left(), rest.center().y() - 2, max(0, rest.width() - widest), 5)
        tokens = current_tokens()
        share = (progress.finished + progress.failed) / progress.runs if progress.runs else 1.0
        painter.fillRect(bar, QColor(tokens.border))
        done = round(bar.width() * share)
        painter.fillRect(bar.adjusted(0, 0, done - bar.width(), 0), QColor(tokens.accent))


_WIDEST = "-123.456 ms"
_DECIMALS = 9  # decimals of a second: times are whole nanoseconds


class TimeBox(QDoubleSpinBox):
    """Holds a time in seconds; shows "100 ms" and accepts "0.1s", "100ms" or, in the shown unit, "100"."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Starts at zero seconds."""
        super().__init__(parent)
        self.setDecimals(_DECIMALS)
        self.setStepType(QDoubleSpinBox.StepType.AdaptiveDecimalStepType)
        # Otherwise, typing 2000 over "100 ms" would change the unit before the last digit.
        self.setKeyboardTracking(False)

    def sizeHint(self) -> QSize:
        """Return a size that fits a time in any unit; Qt would measure only minimum and maximum, which may be short."""
        hint = super().sizeHint()
        bounds = (self.minimum(), self.maximum())
        shown = max(self.fontMetrics().horizontalAdvance(self.textFromValue(each)) for each in bounds)
        more = self.fontMetrics().horizontalAdvance(_WIDEST) - shown
        return QSize(hint.width() + max(0, more), hint.height())

    def minimumSizeHint(self) -> QSize:
        """Return the same size as `sizeHint`."""
        return self.sizeHint()

    def textFromValue(self, value: float) -> str:
        """Format the time in the largest unit that gives a number of at least 1: "100 ms" for 0.1."""
        return fmt.time(value, _DECIMALS)

    def valueFromText(self, text: str) -> float:
        """Return the typed time, or the current time for invalid text."""
        time_s = self._read(text)
        return self.value() if time_s is None else time_s

    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        """Accept allowed times and the special text; treat all other text as incomplete."""
        time_s = self._read(text)
        is_allowed = time_s is not None and self.minimum() <= time_s <= self.maximum()
        is_done = is_allowed or (bool(text) and text == self.specialValueText())
        state = QValidator.State.Acceptable if is_done else QValidator.State.Intermediate
        return state, text, position

    def _read(self, text: str) -> float | None:
        if text and text == self.specialValueText():
            return self.minimum()
        shown = unit_of(self.textFromValue(self.value()), Dimension.TIME)
        try:
            return parse_quantity(with_unit(text, shown), Dimension.TIME)
        except ParamError:
            return None
