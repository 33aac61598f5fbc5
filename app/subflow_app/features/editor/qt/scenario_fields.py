"""Fields for values of a scenario: a list of controllers to tick, and a box for a time with arrows.

The list has the controller of the scenario first, then all others that the flow can have. The box shows a time in the
shortest unit and accepts any unit.
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
    """Choices with boxes; `itemChanged` reports a tick."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        """Empty."""
        super().__init__(parent)
        named(self, name, tr("Controllers"))
        # The options of a choice can be long; the tool tip shows all of them.
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)

    def show_choices(self, choices: Sequence[AlgorithmChoice]) -> None:
        """Lists these; only the choice of the scenario is ticked."""
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
        """All that are listed."""
        return [self.item(row).data(_CHOICE) for row in range(self.count())]

    @property
    def chosen(self) -> list[AlgorithmChoice]:
        """Those that are ticked, from top to bottom."""
        items = [self.item(row) for row in range(self.count())]
        return [item.data(_CHOICE) for item in items if item.checkState() == Qt.CheckState.Checked]

    @property
    def values(self) -> list[TomlValue]:
        """Values of those that are ticked, as scenario files have them."""
        return [choice.value for choice in self.chosen]

    def choose(self, values: Sequence[TomlValue]) -> None:
        """Ticks the choices with these values and no others."""
        for row in range(self.count()):
            item = self.item(row)
            is_wanted = item.data(_CHOICE).value in values
            item.setCheckState(Qt.CheckState.Checked if is_wanted else Qt.CheckState.Unchecked)

    def replaced(self, key: str) -> str:
        """A line about ticked choices that leave out options of the scenario; empty: none does.

        Args:
            key: of the controller in the scenario.
        """
        own = next((choice.value for choice in self.choices if choice.is_own), "")
        others = [value_text(choice.value) for choice in self.chosen if not choice.is_own]
        return replaced_text(key, others, own) if others and not isinstance(own, str) else ""


_WIDEST = "-123.456 ms"
_DECIMALS = 9  # of a second: times are whole nanoseconds


class TimeBox(QDoubleSpinBox):
    """Holds seconds; shows "100 ms" and takes "0.1s", "100ms" or, in the unit that is shown, "100"."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Zero."""
        super().__init__(parent)
        self.setDecimals(_DECIMALS)
        self.setStepType(QDoubleSpinBox.StepType.AdaptiveDecimalStepType)
        # Otherwise 2000 over "100 ms" would be two seconds before the last digit is typed, and that one one of seconds.
        self.setKeyboardTracking(False)

    def sizeHint(self) -> QSize:
        """Room for a time in any unit: the least and the longest have short texts both."""
        hint = super().sizeHint()
        bounds = (self.minimum(), self.maximum())
        shown = max(self.fontMetrics().horizontalAdvance(self.textFromValue(each)) for each in bounds)
        more = self.fontMetrics().horizontalAdvance(_WIDEST) - shown
        return QSize(hint.width() + max(0, more), hint.height())

    def minimumSizeHint(self) -> QSize:
        """The same."""
        return self.sizeHint()

    def textFromValue(self, value: float) -> str:
        """The time in its shortest unit."""
        return fmt.time(value, _DECIMALS)

    def valueFromText(self, text: str) -> float:
        """The time that is typed; the present one while it is none."""
        time_s = self._read(text)
        return self.value() if time_s is None else time_s

    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        """Anything can become a time while it is typed; only one that is allowed is taken."""
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
