"""Explorables: formulas with draggable numbers and a plot of the result, read from `assets/explorables`.

A file defines inputs with ranges, and equations that use inputs and earlier equations. The plot shows the last equation
over the range of one input. A formula contains only numbers, names, `+ - * / **`, brackets, `min`, `max` and `sqrt`.
Both `foundation.expressions` and `assets/web/explorable.js` evaluate the same text, and no part of it runs as code.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from subflow_app.foundation.errors import InputError
from subflow_app.foundation.expressions import UNIT_WORTH, ClaimError, Expression, Function, Missing, Value
from subflow_app.foundation.resources import resource_path
from subflow_app.foundation.toml_files import checked, read_text
from subflow_app.vocabulary.language import ENGLISH, LANGUAGES
from subflow_sim.parameter import Param
from subflow_sim.plain_text import either
from subflow_sim.section_reader import Report, read_section
from subflow_sim.toml_map import Path as Place
from subflow_sim.units import Dimension

_CALLS = ("min", "max", "sqrt")
_POINTS = 121
_LOG_FROM = 40.0  # smallest ratio of `most` to `least` for a logarithmic input, which needs no step
_KEY_STEPS_PER_DECADE = 20
_DIGITS = 2  # significant digits of a logarithmic input
_TEXT = tuple(Param(language, Dimension.TEXT, "Words.", required=True) for language in LANGUAGES)
_FILE = (
    Param("format", Dimension.COUNT, "Version of the file format.", required=True, minimum=1, maximum=1),
    Param("across", Dimension.TEXT, "The input that the curve goes over.", required=True),
    Param("top", Dimension.TEXT, "End of the upright axis, with its unit; left out: it follows.", default=""),
)
_INPUT = (
    Param("name", Dimension.TEXT, "Name in formulas.", required=True),
    Param("unit", Dimension.TEXT, "Unit in which it is shown.", default=""),
    Param("from", Dimension.NUMBER, "Its least value, in that unit.", required=True),
    Param("to", Dimension.NUMBER, "Its largest value.", required=True),
    Param("default", Dimension.NUMBER, "Its value at first.", required=True),
    Param("step", Dimension.NUMBER, "Step of the arrow keys; left out: factors.", minimum=0, exclusive_minimum=True),
    *_TEXT,
)
_EQUATION = (
    Param("name", Dimension.TEXT, "Name in later equations.", required=True),
    Param("formula", Dimension.TEXT, "Over inputs and earlier equations, in SI units.", required=True),
    Param("unit", Dimension.TEXT, "Unit in which it is shown.", default=""),
    *_TEXT,
)


@dataclass(frozen=True, slots=True)
class Input:
    """An input that the user can change; its values are in `unit`.

    Attributes:
        name: name in formulas.
        labels: descriptions by language.
        unit: displayed unit; may be empty.
        least: minimum value.
        most: maximum value.
        value: initial value.
        step: step of the arrow keys; 0 for a logarithmic input.
    """

    name: str
    labels: Mapping[str, str]
    unit: str
    least: float
    most: float
    value: float
    step: float

    @property
    def worth(self) -> float:
        """Value of one `unit` in SI units; 1 if the unit is empty."""
        return UNIT_WORTH.get(self.unit, 1.0)

    @property
    def is_log(self) -> bool:
        """True if arrow keys multiply the number instead of adding a step."""
        return not self.step

    def share(self, value: float) -> float:
        """Position of a value between the ends, 0 to 1."""
        if self.is_log:
            return math.log(value / self.least) / math.log(self.most / self.least)
        return (value - self.least) / (self.most - self.least)

    def at(self, share: float) -> float:
        """Value at a position between the ends, 0 to 1."""
        if self.is_log:
            return float(self.least * (self.most / self.least) ** share)
        return self.least + (self.most - self.least) * share

    def rounded(self, value: float) -> float:
        """A value rounded to two significant digits (logarithmic input) or a multiple of the step, within the range."""
        near = float(f"{value:.{_DIGITS}g}") if self.is_log else round(value / self.step) * self.step
        return min(max(float(f"{near:.6g}"), self.least), self.most)

    def stepped(self, value: float, steps: int) -> float:
        """Value after this many presses of an arrow key (negative: the opposite key), limited to the range."""
        moved = value * 10.0 ** (steps / _KEY_STEPS_PER_DECADE) if self.is_log else value + steps * self.step
        return self.rounded(moved)


class Formula(Expression):
    """A formula of an explorable: arithmetic, `min`, `max`, `sqrt` and names."""

    is_formula: ClassVar[bool] = True

    def __init__(self, text: str, names: Sequence[str]) -> None:
        """Parse a formula.

        Args:
            text: text of the formula.
            names: allowed names.

        Raises:
            ClaimError: if the text cannot be parsed, or contains anything else.
        """
        super().__init__(text, {"sqrt": Function(("number",))})
        for part in ast.walk(self.root):
            match part:
                case ast.Call() if self.at(part).text not in _CALLS:
                    raise self.error(self.at(part).column, "no function of an explorable", either(_CALLS))
                case ast.Name() if self.at(part).unit:
                    raise self.error(self.at(part).column, "numbers of a formula have no unit", "SI units")
                case ast.expr() if not isinstance(part, ast.Call | ast.Name | ast.BinOp | ast.UnaryOp):
                    raise self.error(self.at(part).column, "this is not arithmetic", "+ - * / **")
        for name, column in self.named().items():
            if name not in names:
                raise self.error(column, f'unknown name "{name}"', either(list(names)) if names else "numbers")

    def parts(self) -> list[str]:
        """Numbers, names and operators of the formula in order."""
        return [f"{token.text}(" if token.kind == "call" else token.text for token in self._tokens()][:-1]

    def of(self, values: Mapping[str, float]) -> float:
        """Value of the formula; NaN if undefined."""

        def resolve(name: str, arguments: tuple[Value, ...]) -> Value:
            if name != "sqrt":
                return values[name]
            (square,) = arguments
            assert isinstance(square, float)
            return math.sqrt(square) if square >= 0 else Missing("root of a negative number")

        found = self.value(resolve)
        return found if isinstance(found, float) and math.isfinite(found) else math.nan


@dataclass(frozen=True, slots=True)
class Equation:
    """A number computed from inputs and earlier equations.

    Attributes:
        name: name in later equations.
        labels: descriptions by language.
        formula: formula over inputs and earlier equations, in SI units.
        unit: displayed unit; may be empty.
    """

    name: str
    labels: Mapping[str, str]
    formula: Formula
    unit: str

    @property
    def worth(self) -> float:
        """Value of one `unit` in SI units; 1 if the unit is empty."""
        return UNIT_WORTH.get(self.unit, 1.0)


@dataclass(frozen=True, slots=True)
class Point:
    """A point measured by a run.

    Attributes:
        values: values of inputs by name, SI.
        result: value of the last equation, SI.
    """

    values: Mapping[str, float]
    result: float


@dataclass(frozen=True, slots=True)
class Explorable:
    """A formula to explore.

    Attributes:
        name: name of its file.
        titles: titles by language.
        says: conclusion that the student should draw, by language.
        inputs: inputs in the order of the file.
        equations: equations in the order of the file; the last one is drawn.
        across: name of the input on the x axis.
        top: upper end of the y axis, SI; 0 to follow the curve.
    """

    name: str
    titles: Mapping[str, str]
    says: Mapping[str, str]
    inputs: tuple[Input, ...]
    equations: tuple[Equation, ...]
    across: str
    top: float

    @property
    def result(self) -> Equation:
        """The last equation, which the plot shows."""
        return self.equations[-1]

    def input(self, name: str) -> Input:
        """The input with this name."""
        return next(each for each in self.inputs if each.name == name)

    def defaults(self) -> dict[str, float]:
        """Initial values of all inputs, SI."""
        return {each.name: each.value * each.worth for each in self.inputs}

    def values(self, inputs: Mapping[str, float]) -> dict[str, float]:
        """Values of inputs and equations by name, SI; NaN if undefined."""
        known = dict(inputs)
        for each in self.equations:
            known[each.name] = each.formula.of(known)
        return known

    def curve(self, inputs: Mapping[str, float]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The plotted curve, SI: values of the input on the x axis, and values of the last equation."""
        across = self.input(self.across)
        x = np.array([across.at(share) * across.worth for share in np.linspace(0.0, 1.0, _POINTS)])
        y = [self.values({**inputs, across.name: each})[self.result.name] for each in x.tolist()]
        return x, np.array(y)

    def fits(self, point: Point, inputs: Mapping[str, float]) -> bool:
        """True if a point was measured within 2 % of these inputs; the input on the x axis may differ."""
        known = {name: value for name, value in point.values.items() if name != self.across}
        return all(abs(value - inputs[name]) <= 0.02 * abs(inputs[name]) for name, value in known.items())

    def document(self, language: str = ENGLISH) -> dict[str, Any]:
        """The explorable in the form that `assets/web/explorable.js` reads."""
        return {
            "name": self.name,
            "title": self.titles[language],
            "says": self.says[language],
            "across": self.across,
            "top": self.top,
            "inputs": [
                {
                    "name": each.name,
                    "label": each.labels[language],
                    "unit": each.unit,
                    "worth": each.worth,
                    "least": each.least,
                    "most": each.most,
                    "value": each.value,
                    "step": each.step,
                    "is_log": each.is_log,
                }
                for each in self.inputs
            ],
            "equations": [
                {
                    "name": each.name,
                    "label": each.labels[language],
                    "formula": each.formula.text,
                    "unit": each.unit,
                    "worth": each.worth,
                }
                for each in self.equations
            ],
        }


def axis_top(top: float, most: float) -> float:
    """Upper end of the y axis: `top` unless the curve exceeds it or reaches less than a quarter of it."""
    return most * 1.25 if most > top or most < top / 4 else top


def explorable_names() -> tuple[str, ...]:
    """Sorted names of the shipped explorables."""
    return tuple(sorted(path.stem for path in resource_path("explorables").glob("*.toml")))


@cache
def load_explorable(name: str) -> Explorable:
    """Load a shipped explorable.

    Raises:
        InputError: if the file is invalid because the installation is damaged; the error lists all problems.
    """
    path = resource_path(f"explorables/{name}.toml")
    text = read_text(path, InputError, "an explorable")
    return parse_explorable(text, name, str(path))


def parse_explorable(text: str, name: str, file: str) -> Explorable:
    """Read an explorable from the text of its file.

    Raises:
        InputError: if the text is invalid; the error lists all problems, one line each.
    """
    return checked(text, file, InputError, lambda tree, report: _read(tree, report, name))


def _read(tree: Mapping[str, Any], report: Report, name: str) -> Explorable | None:
    values = read_section(report, (), tree, _FILE, also_known=("title", "says", "inputs", "equations"))
    words = {}
    for key in ("title", "says"):
        table = report.expect_table((key,), tree.get(key), f"[{key}] with the text in each language")
        words[key] = {} if table is None else read_section(report, (key,), table, _TEXT)
    inputs = [found for place, each in _tables(report, tree, "inputs") if (found := _input(report, place, each))]
    equations: list[Equation] = []
    names = [each.name for each in inputs]
    for place, each in _tables(report, tree, "equations"):
        if equation := _equation(report, place, each, [*names, *(other.name for other in equations)]):
            equations.append(equation)
    if values.get("across") not in names and names:
        report.add(("across",), "this is not an input", either(names))
    top = 0.0
    if values.get("top"):
        try:
            end = Expression(values["top"], {}).value(lambda *_: 0.0)
            top = end if isinstance(end, float) else 0.0
        except ClaimError as error:
            report.add(("top",), error.message, error.allowed)
    if report.problems:
        return None
    return Explorable(name, words["title"], words["says"], tuple(inputs), tuple(equations), values["across"], top)


def _tables(report: Report, tree: Mapping[str, Any], key: str) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    tables = tree.get(key)
    if not isinstance(tables, list) or not tables:
        report.add((key,), "missing", f"[[{key}]], at least one")
        return
    for number, table in enumerate(tables):
        checked_table = report.expect_table((key, number), table, f"[[{key}]]")
        if checked_table is not None:
            yield (key, number), checked_table


def _input(report: Report, place: Place, table: Mapping[str, Any]) -> Input | None:
    values = read_section(report, place, table, _INPUT)
    least, most, value, step = (values.get(key) for key in ("from", "to", "default", "step"))
    _check_unit(report, place, values.get("unit"))
    if least is None or most is None or value is None:
        return None
    if not least <= value <= most or least == most:
        report.add((*place, "default"), "it lies outside of its range", f"{least:g} to {most:g}")
    if not step and (least <= 0 or most / least < _LOG_FROM):
        report.add((*place, "step"), "missing", "a step; only a range above 0 over a factor of 40 does without")
    labels = {language: values.get(language, "") for language in LANGUAGES}
    return Input(values.get("name", ""), labels, values.get("unit") or "", least, most, value, step or 0.0)


def _equation(report: Report, place: Place, table: Mapping[str, Any], names: Sequence[str]) -> Equation | None:
    values = read_section(report, place, table, _EQUATION)
    _check_unit(report, place, values.get("unit"))
    try:
        formula = Formula(values.get("formula") or "", names)
    except ClaimError as error:
        report.add((*place, "formula"), error.message, error.allowed)
        return None
    labels = {language: values.get(language, "") for language in LANGUAGES}
    return Equation(values.get("name", ""), labels, formula, values.get("unit") or "")


def _check_unit(report: Report, place: Place, unit: str | None) -> None:
    if unit and unit not in UNIT_WORTH:
        report.add((*place, "unit"), "this is not a unit of scenario files", either(list(UNIT_WORTH)))
