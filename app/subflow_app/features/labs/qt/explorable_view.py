"""View of an explorable: a formula whose numbers can be dragged or changed with keys, and a plot of the result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QLocale, QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QKeyEvent, QMouseEvent, QValidator, QWheelEvent
from PySide6.QtWidgets import QAbstractSpinBox, QDoubleSpinBox, QFrame, QSizePolicy, QWidget

from subflow_app.features.labs.core.explorables import Equation, Explorable, Input, Point, axis_top
from subflow_app.features.plots.qt.curve_item import make_pen
from subflow_app.features.plots.qt.stacked_plot import colour_axes, label_style, make_plot_item, show_bottom_axis
from subflow_app.foundation.expressions import numbers_text
from subflow_app.toolkit.plotting.graphs import pg
from subflow_app.toolkit.plotting.plot_parts import PlotViewBox
from subflow_app.toolkit.theme import Tokens, follow_theme, set_style
from subflow_app.toolkit.widgets.formula_view import FormulaView, Span
from subflow_app.toolkit.widgets.shorthand import Label, WrapLayout, heading, named, v_box
from subflow_app.vocabulary.language import current_language, tr
from subflow_app.vocabulary.number_text import typeset, with_hyphens

_DRAG_PX = 250.0  # mouse movement for the whole range of a number
_STARTS_PX = 3.0  # movement beyond which a click counts as dragging
_ROOM_PX = 8  # extra width of a number field for the cursor
_PLOT_HEIGHT = 210
_SIGNS = {"*": "·", "-": "−", "sqrt(": "√("}
_POWERS = {"2": "²", "3": "³"}


class DraggedNumber(QDoubleSpinBox):
    """A number in a formula. Users drag it, type it, or change it with arrow keys, page keys, Home and End."""

    moved = Signal(float)

    def __init__(self, described: Input, label: str, parent: QWidget | None = None) -> None:
        """Start with the initial value of the input."""
        super().__init__(parent)
        self._input = described
        self._from: tuple[float, float] | None = None  # (mouse position, share of the range) at the press
        self._is_dragged = False
        named(self, f"explore_{described.name}", f"{label}, {described.unit}" if described.unit else label, label)
        self.setLocale(QLocale.c())
        self.setDecimals(6)
        self.setRange(described.least, described.most)
        self.setSuffix(f" {described.unit}" if described.unit else "")
        self.setButtonSymbols(QAbstractSpinBox.ButtonSymbols.NoButtons)
        self.setFrame(False)
        self.setKeyboardTracking(False)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.lineEdit().setCursor(Qt.CursorShape.SizeHorCursor)
        self.lineEdit().installEventFilter(self)
        set_style(
            self,
            lambda t: (
                f"DraggedNumber {{ color: {t.accent}; background: transparent; padding: 0; border: none;"
                f" border-bottom: 1px dashed {t.accent}; }}"
                f"DraggedNumber:focus {{ border: 1px solid {t.accent}; border-radius: 2px; }}"
            ),
        )
        self.show_value(described.value)
        self.valueChanged.connect(self._on_value)

    def show_value(self, value: float) -> None:
        """Shows a value without emitting a signal."""
        self.blockSignals(True)
        self.setValue(value)
        self.blockSignals(False)
        self._fit()

    def stepBy(self, steps: int) -> None:
        """Applies steps of arrow and page keys."""
        self.setValue(self._input.stepped(self.value(), steps))

    def textFromValue(self, value: float) -> str:
        """Formats a value with four significant digits."""
        return typeset(f"{value:.4g}")

    def valueFromText(self, text: str) -> float:
        """Parses a number with a decimal point or comma."""
        return float(with_hyphens(text.removesuffix(self.suffix()).replace(",", ".")))

    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        """Accepts a number within the range; any other text is intermediate."""
        try:
            value = self.valueFromText(text)
        except ValueError:
            return QValidator.State.Intermediate, text, position
        is_inside = self._input.least <= value <= self._input.most
        return (QValidator.State.Acceptable if is_inside else QValidator.State.Intermediate), text, position

    def fixup(self, text: str) -> str:
        """Replaces invalid text with a number within the range."""
        try:
            value = self.valueFromText(text)
        except ValueError:
            return self.textFromValue(self.value()) + self.suffix()
        inside = min(max(value, self._input.least), self._input.most) if math.isfinite(value) else self.value()
        return self.textFromValue(inside) + self.suffix()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Home and End set the ends of the range."""
        ends = {Qt.Key.Key_Home: self._input.least, Qt.Key.Key_End: self._input.most}
        end = ends.get(Qt.Key(event.key()))
        if end is None or event.modifiers():
            super().keyPressEvent(event)
        else:
            self.setValue(end)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Ignores the wheel, so that the scroll area around the formula receives it."""
        event.ignore()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QMouseEvent):
            return super().eventFilter(watched, event)
        x = event.globalPosition().x()
        if event.type() == QEvent.Type.MouseButtonPress and event.button() == Qt.MouseButton.LeftButton:
            self._from, self._is_dragged = (x, self._input.share(self.value())), False
        elif event.type() == QEvent.Type.MouseMove and self._from is not None:
            start, share = self._from
            self._is_dragged |= abs(x - start) >= _STARTS_PX
            if self._is_dragged:
                at = min(max(share + (x - start) / _DRAG_PX, 0.0), 1.0)
                self.setValue(self._input.rounded(self._input.at(at)))
            return True
        elif event.type() == QEvent.Type.MouseButtonRelease and self._from is not None:
            self._from = None
            if not self._is_dragged:
                self.selectAll()
                return True
        return super().eventFilter(watched, event)

    def _on_value(self, value: float) -> None:
        self._fit()
        self.moved.emit(value)

    def _fit(self) -> None:
        shown = self.textFromValue(self.value()) + self.suffix()
        self.setFixedWidth(self.fontMetrics().horizontalAdvance(shown) + _ROOM_PX)


class ExplorableView(QFrame):
    """Shows a formula in symbols and with numbers, its plot, and its conclusion."""

    def __init__(self, explorable: Explorable, parent: QWidget | None = None) -> None:
        """Start with the initial values of the inputs."""
        super().__init__(parent)
        named(self, "lab_explorable")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.explorable = explorable
        self.inputs = explorable.defaults()
        self.fields: dict[str, list[DraggedNumber]] = {}
        self._points: tuple[Point, ...] = ()
        self._is_own = False  # True once the student has changed a number
        self._results: dict[str, Label] = {}
        language = current_language()
        self._language = language
        symbols = FormulaView("explore_formula")
        symbols.set_lines(
            [
                (Span(f"{each.name} = {each.formula.text.replace('**', '^')}", is_formula=True),)
                for each in explorable.equations
            ]
        )
        self.plot = _Plot(explorable, language, self)
        self.legend = named(Label(tr("○ measured in your runs, with the same other numbers"), self), "explore_legend")
        self.legend.hide()
        v_box(
            self,
            heading(Label(explorable.titles[language], self, wordWrap=True)),
            symbols,
            *(self._line(each) for each in explorable.equations),
            self.plot,
            self.legend,
            named(Label(explorable.says[language], self, wordWrap=True), "explore_says"),
            margins=(10, 8, 10, 8),
        )
        self._follow()

    def show_points(self, points: Sequence[Point]) -> None:
        """Shows measured points, and the inputs of the last point unless the student changed a number."""
        if points and not self._is_own:
            self.inputs.update(points[-1].values)
        self._points = tuple(points)
        self._follow()

    def text(self, name: str) -> str:
        """Displayed result of an equation."""
        return self._results[name].text()

    def _line(self, equation: Equation) -> QWidget:
        """A row with an equation and a field for each occurrence of an input."""
        line = QWidget(self)
        row = WrapLayout(line, 1)
        row.setContentsMargins(0, 0, 0, 0)
        words = f"{equation.name} = "
        before = ""
        for part in equation.formula.parts():
            if before == "**":
                words = words.rstrip() + _POWERS.get(part, f"^{part}")
            elif part in self.inputs:
                row.addWidget(Label(words, line))
                words = ""
                row.addWidget(self._field(self.explorable.input(part), line))
            elif part != "**":
                words = (words.rstrip() if part in (")", ",") else words) + _SIGNS.get(part, part)
                words += "" if part.endswith("(") else " "
            before = part
        result = self._results[equation.name] = heading(named(Label(line), f"explore_{equation.name}"))
        row.addWidget(Label(f"{words.rstrip()} = ", line))
        row.addWidget(result)
        return line

    def _field(self, described: Input, parent: QWidget) -> DraggedNumber:
        field = DraggedNumber(described, described.labels[self._language], parent)
        field.moved.connect(partial(self._on_moved, described))
        self.fields.setdefault(described.name, []).append(field)
        return field

    def _on_moved(self, described: Input, value: float) -> None:
        self._is_own = True
        self.inputs[described.name] = value * described.worth
        self._follow()

    def _follow(self) -> None:
        known = self.explorable.values(self.inputs)
        for name, fields in self.fields.items():
            worth = self.explorable.input(name).worth
            for field in fields:
                field.show_value(self.inputs[name] / worth)
        for each in self.explorable.equations:
            value = known[each.name]
            shown = float(f"{value:.3g}") if math.isfinite(value) else value
            self._results[each.name].setText(numbers_text(shown, each.unit) if math.isfinite(value) else "?")
        fitting = [point for point in self._points if self.explorable.fits(point, self.inputs)]
        self.legend.setVisible(bool(self._points))
        self.plot.draw(self.inputs, known, fitting)


class _Plot(pg.GraphicsLayoutWidget):  # type: ignore[misc] # pyqtgraph is untyped
    """Plot of the last equation over one input."""

    def __init__(self, explorable: Explorable, language: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._explorable = explorable
        self._across, self._result = explorable.input(explorable.across), explorable.result
        self._title = self._result.labels[language]
        self._top = 0.0
        # The plot ignores the mouse, so that the wheel scrolls the page.
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFixedHeight(_PLOT_HEIGHT)
        font = QFont(self.font())
        view = PlotViewBox()
        self.item: Any = make_plot_item(view, font, over_time=False)
        self.addItem(self.item)
        show_bottom_axis(self.item, _with_unit(self._across.labels[language], self._across.unit), font)
        self.item.getAxis("left").setLabel(_with_unit(self._title, self._result.unit), **label_style(font))
        self.item.setLogMode(x=self._across.is_log)
        low, high = (self._place(end) for end in (self._across.least, self._across.most))
        self.item.setXRange(low, high, padding=0)
        self.curve: Any = pg.PlotDataItem(connect="finite")
        self.curve.setLogMode(self._across.is_log, False)
        self.measured: Any = pg.ScatterPlotItem(size=8, pxMode=True)
        self.chosen: Any = pg.ScatterPlotItem(size=10, pxMode=True)
        for part in (self.curve, self.measured, self.chosen):
            self.item.addItem(part)
        follow_theme(self._recolour)

    def draw(self, inputs: dict[str, float], known: dict[str, float], points: Sequence[Point]) -> None:
        """Draws the curve for these inputs, the current point on it, and the measured points."""
        x, y = self._explorable.curve(inputs)
        most = float(np.nanmax(y)) if np.isfinite(y).any() else 1.0
        self._top = self._explorable.top or axis_top(self._top, most or 1.0)
        worth, across = self._result.worth, self._across
        self.item.setYRange(0.0, self._top / worth, padding=0.04)
        self.curve.setData(x / across.worth, y / worth)
        value = known[self._result.name]
        here = [(self._place(inputs[across.name] / across.worth), value / worth)] if math.isfinite(value) else []
        self.chosen.setData(pos=here)
        found = [(point.values[across.name] / across.worth, point.result / worth) for point in points]
        self.measured.setData(pos=[(self._place(x), y) for x, y in found if across.least <= x <= across.most])
        self.setAccessibleName(f"{self._title}: {numbers_text(value, self._result.unit)}")

    def _place(self, value: float) -> float:
        """Position of a value on the x axis."""
        return math.log10(value) if self._across.is_log else value

    def _recolour(self, tokens: Tokens) -> None:
        self.setBackground(tokens.base)
        colour_axes(self.item, tokens)
        self.curve.setPen(make_pen(tokens.accent, width=2.0))
        self.chosen.setBrush(QColor(tokens.accent))
        self.chosen.setPen(make_pen(tokens.accent))
        self.measured.setBrush(None)
        self.measured.setPen(make_pen(tokens.text, width=1.5))


def _with_unit(label: str, unit: str) -> str:
    return f"{label} ({unit})" if unit else label
