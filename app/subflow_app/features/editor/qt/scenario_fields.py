"""Fields for values of a scenario: a list of controllers with check boxes, and a spin box for a time.

The list begins with the scenario's own controller, followed by all others that the flow can use. The spin box shows a
time in the largest unit that gives a number of at least 1, and accepts any unit.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, QSize, Qt
from PySide6.QtGui import QValidator
from PySide6.QtWidgets import QDoubleSpinBox, QListWidget, QListWidgetItem, QWidget

from subflow_app.features.editor.core.algorithm_choices import AlgorithmChoice, replaced_text, value_text
from subflow_app.features.editor.core.form_text import unit_of, with_unit
from subflow_app.foundation.toml_edit import TomlValue
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.widgets.shorthand import as_written, named
from subflow_app.vocabulary.language import tr
from subflow_sim.errors import ParamError
from subflow_sim.units import Dimension, parse_quantity

_CHOICE = Qt.ItemDataRole.UserRole


class AlgorithmList(QListWidget):
    """Choices with check boxes; `itemChanged` reports a change."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        """Creates a list with the object name `name`; `show_choices` fills the list."""
        super().__init__(parent)
        named(self, name, tr("Controllers"))
        # Long texts are elided, because the tooltip shows the whole text of a choice.
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)

    def show_choices(self, choices: Sequence[AlgorithmChoice]) -> None:
        """List these choices, and check only the scenario's own."""
        with QSignalBlocker(self):
            self.clear()
            for choice in choices:
                item = QListWidgetItem(choice.text, self)
                item.setData(_CHOICE, choice)
                item.setToolTip(as_written(f"{choice.text}\n{choice.summary}".rstrip()))
                item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
                item.setCheckState(Qt.CheckState.Checked if choice.is_own else Qt.CheckState.Unchecked)

    @property
    def choices(self) -> list[AlgorithmChoice]:
        """All listed choices."""
        return [self.item(row).data(_CHOICE) for row in range(self.count())]

    @property
    def chosen(self) -> list[AlgorithmChoice]:
        """The checked choices, from top to bottom."""
        items = [self.item(row) for row in range(self.count())]
        return [item.data(_CHOICE) for item in items if item.checkState() == Qt.CheckState.Checked]

    @property
    def values(self) -> list[TomlValue]:
        """Values of the checked choices, as written in scenario files."""
        return [choice.value for choice in self.chosen]

    def choose(self, values: Sequence[TomlValue]) -> None:
        """Check exactly the choices with these values."""
        for row in range(self.count()):
            item = self.item(row)
            is_wanted = item.data(_CHOICE).value in values
            item.setCheckState(Qt.CheckState.Checked if is_wanted else Qt.CheckState.Unchecked)

    def replaced(self, key: str) -> str:
        """Return a warning about checked choices that drop options of the scenario; empty if all options are kept.

        Args:
            key: dotted key of the controller in the scenario.
        """
        own = next((choice.value for choice in self.choices if choice.is_own), "")
        others = [value_text(choice.value) for choice in self.chosen if not choice.is_own]
        return replaced_text(key, others, own) if others and not isinstance(own, str) else ""


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
