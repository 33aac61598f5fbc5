"""A field for a time with arrows: it shows the shortest unit and takes any."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtGui import QValidator
from PySide6.QtWidgets import QDoubleSpinBox, QWidget

from subflow_app.features.editor.core.form_text import unit_of, with_unit
from subflow_app.toolkit import format as fmt
from subflow_sim.errors import ParamError
from subflow_sim.units import Dimension, parse_quantity

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
