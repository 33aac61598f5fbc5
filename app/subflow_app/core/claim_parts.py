"""What claims are made of: values, functions, and the parts that evaluate and tell themselves; see `claims`."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

from subflow_sim.units import UNITS

Kind = Literal["number", "truth", "text"]
ArgumentKind = Literal["number", "truth", "text", "any"]


@dataclass(frozen=True, slots=True)
class Missing:
    """A value that is not known.

    Attributes:
        reason: why, for people.
    """

    reason: str


Numbers: TypeAlias = float | tuple[float, ...]
Value: TypeAlias = Numbers | bool | str | Missing
Resolver: TypeAlias = Callable[[str, tuple[Value, ...]], Value]
"""Gives the value of a function, by its name and its arguments."""


@dataclass(frozen=True, slots=True)
class Function:
    """What a claim may call.

    Attributes:
        arguments: kinds of its arguments, in order, "any" for those that may be of several; of a built-in one that
            takes any number, that of all.
        optional: how many of the last ones may be left out.
        gives: what it returns.
        unit: that its numbers are shown in; empty: none.
        takes_any_number: of arguments, of the kind of the last one.
    """

    arguments: tuple[ArgumentKind, ...]
    optional: int = 0
    gives: Kind = "number"
    unit: str = ""
    takes_any_number: bool = False


BUILT_IN: Mapping[str, Function] = {
    "min": Function(("number",), takes_any_number=True),
    "max": Function(("number",), takes_any_number=True),
    "mean": Function(("number",), takes_any_number=True),
    "sum": Function(("number",), takes_any_number=True),
    "abs": Function(("number",)),
    "rises": Function(("number", "number"), optional=1, gives="truth"),
    "falls": Function(("number", "number"), optional=1, gives="truth"),
    "ratio": Function(("number", "number"), optional=1),
    "spread": Function(("number",), takes_any_number=True),
}
"""`min`, `max`, `mean`, `sum` of all numbers in their arguments; `abs` of each.

`rises(v)`: the last number is above the first, and none below the one before it; `rises(v, 10 %)` lets each be up to
10 % below the one before it. `falls` likewise. `ratio(a, b)` is a / b; `ratio(v)` the last number over the first.
`spread(v)`: (largest - smallest) / mean.
"""

COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
}
UNIT_WORTH: Mapping[str, float] = {
    unit: float(worth) for units in UNITS.values() for unit, worth in units.items() if unit
}
NOT_KNOWN = "?"


class Told(NamedTuple):
    """A value, and what of it is shown."""

    value: Value
    text: str
    unit: str = ""


class Node:
    """A part of a claim."""

    __slots__ = ()

    @property
    def kind(self) -> Kind:
        """What it gives."""
        return "truth"

    @property
    def shown_unit(self) -> str:
        """The unit that its numbers are shown in; empty: none, or none that is known."""
        return ""

    def told(self, resolver: Resolver) -> Told:
        """Its value, and itself with numbers in place of calls."""
        raise NotImplementedError

    def parts(self) -> tuple[Node, ...]:
        """What it is made of."""
        return ()


@dataclass(frozen=True, slots=True)
class Constant(Node):
    """A number, a text, true or false."""

    value: float | bool | str
    column: int
    unit: str = ""

    @property
    def kind(self) -> Kind:
        """What it gives."""
        return "truth" if isinstance(self.value, bool) else "text" if isinstance(self.value, str) else "number"

    @property
    def shown_unit(self) -> str:
        """The unit that it was written with."""
        return self.unit

    def told(self, resolver: Resolver) -> Told:
        """Its value, and itself with numbers in place of calls."""
        if isinstance(self.value, str):
            return Told(self.value, f"'{self.value}'")
        if isinstance(self.value, bool):
            return Told(self.value, "true" if self.value else "false")
        return Told(self.value, numbers_text(self.value, self.unit), self.unit)


@dataclass(frozen=True, slots=True)
class Called(Node):
    """A function and its arguments."""

    name: str
    arguments: tuple[Node, ...]
    columns: tuple[int, ...]
    function: Function
    is_built_in: bool

    @property
    def kind(self) -> Kind:
        """What it gives."""
        return self.function.gives

    @property
    def shown_unit(self) -> str:
        """That of the function; built-in ones keep that of their arguments."""
        if not self.is_built_in:
            return self.function.unit
        if self.name in ("ratio", "spread"):
            return ""
        return next((unit for each in self.arguments if (unit := each.shown_unit)), "")

    def parts(self) -> tuple[Node, ...]:
        """What it is made of."""
        return self.arguments

    def told(self, resolver: Resolver) -> Told:
        """Its value, and itself with numbers in place of calls."""
        told = [argument.told(resolver) for argument in self.arguments]
        missing = next((each.value for each in told if isinstance(each.value, Missing)), None)
        if missing is not None:
            return Told(missing, NOT_KNOWN)
        if self.is_built_in:
            numbers = [_numbers(each.value) for each in told]
            value = _built_in(self.name, numbers)
            unit = self.shown_unit
            if self.kind == "truth":
                return Told(value, f"{self.name}({', '.join(each.text for each in told)})")
        else:
            value, unit = resolver(self.name, tuple(each.value for each in told)), self.function.unit
        if isinstance(value, Missing):
            return Told(value, NOT_KNOWN)
        if self.kind == "truth":
            if not isinstance(value, bool):
                raise TypeError(f"{self.name} gave {value!r}")
            return Told(value, f"{self.name}({', '.join(each.text for each in told)})")
        if self.kind == "text":
            return Told(str(value), f"'{value}'")
        if isinstance(value, bool | str):
            raise TypeError(f"{self.name} gave {value!r}")
        if not all(map(math.isfinite, _numbers(value))):
            return Told(Missing(f"{self.name} has no value here"), NOT_KNOWN)
        return Told(value, numbers_text(value, unit), unit)


@dataclass(frozen=True, slots=True)
class Arithmetic(Node):
    """Two numbers or vectors and what is between them."""

    symbol: str
    left: Node
    right: Node

    @property
    def kind(self) -> Kind:
        """What it gives."""
        return "number"

    def parts(self) -> tuple[Node, ...]:
        """What it is made of."""
        return (self.left, self.right)

    def told(self, resolver: Resolver) -> Told:
        """Its value, and itself with numbers in place of calls."""
        left, right = self.left.told(resolver), self.right.told(resolver)
        for each in (left.value, right.value):
            if isinstance(each, Missing):
                return Told(each, NOT_KNOWN)
        pairs = _pairs(left.value, right.value)
        if isinstance(pairs, Missing):
            return Told(pairs, NOT_KNOWN)
        if self.symbol == "/" and any(divisor == 0 for _, divisor in pairs):
            return Told(Missing(f"{left.text} / {right.text} is a division by 0"), NOT_KNOWN)
        results = tuple(_ARITHMETIC[self.symbol](*pair) for pair in pairs)
        if not all(map(math.isfinite, results)):
            return Told(Missing(f"{left.text} {self.symbol} {right.text} is too large"), NOT_KNOWN)
        is_vector = isinstance(left.value, tuple) or isinstance(right.value, tuple)
        value: Numbers = results if is_vector else results[0]
        return Told(value, numbers_text(value, self.shown_unit), self.shown_unit)

    @property
    def shown_unit(self) -> str:
        """Products and quotients of two quantities have none of ours."""
        left, right = self.left.shown_unit, self.right.shown_unit
        if self.symbol in "+-":
            return left or right
        if self.symbol == "/":
            return "" if right not in ("", "%") else left
        if "%" in (left, right):
            return right if left == "%" and right else left
        return "" if left and right else left or right


_ARITHMETIC: Mapping[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


@dataclass(frozen=True, slots=True)
class Compared(Node):
    """A chain of comparisons."""

    operands: tuple[Node, ...]
    symbols: tuple[str, ...]

    def parts(self) -> tuple[Node, ...]:
        """What it is made of."""
        return self.operands

    def told(self, resolver: Resolver) -> Told:
        """Its value, and itself with numbers in place of calls."""
        told = [operand.told(resolver) for operand in self.operands]
        unit = next((each.unit for each in told if each.unit), "")
        texts = [_text_in(each, unit) for each in told]
        text = texts[0] + "".join(f" {symbol} {each}" for symbol, each in zip(self.symbols, texts[1:], strict=True))
        missing = next((each.value for each in told if isinstance(each.value, Missing)), None)
        if missing is not None:
            return Told(missing, text)
        holds = True
        for symbol, left, right in zip(self.symbols, told, told[1:], strict=False):
            if isinstance(left.value, str) or isinstance(right.value, str):
                holds &= left.value == right.value
                continue
            pairs = _pairs(left.value, right.value)
            if isinstance(pairs, Missing):
                return Told(pairs, text)
            holds &= all(COMPARISONS[symbol](*pair) for pair in pairs)
        return Told(holds, text)


@dataclass(frozen=True, slots=True)
class Band(Node):
    """A number between two others."""

    operand: Node
    low: Node
    high: Node

    def parts(self) -> tuple[Node, ...]:
        """What it is made of."""
        return (self.operand, self.low, self.high)

    def told(self, resolver: Resolver) -> Told:
        """Its value, and itself with numbers in place of calls."""
        told = [each.told(resolver) for each in self.parts()]
        unit = next((each.unit for each in (told[1], told[2], told[0]) if each.unit), "")
        operand, low, high = (_text_in(each, unit) for each in told)
        text = f"{operand} in {low} .. {high}"
        missing = next((each.value for each in told if isinstance(each.value, Missing)), None)
        if missing is not None:
            return Told(missing, text)
        below, above = _pairs(told[1].value, told[0].value), _pairs(told[0].value, told[2].value)
        for pairs in (below, above):
            if isinstance(pairs, Missing):
                return Told(pairs, text)
        assert not isinstance(below, Missing)
        assert not isinstance(above, Missing)
        return Told(all(first <= second for first, second in (*below, *above)), text)


@dataclass(frozen=True, slots=True)
class Logic(Node):
    """Comparisons joined by "and" or "or", or one behind "not"."""

    symbol: str
    operands: tuple[Node, ...]

    def parts(self) -> tuple[Node, ...]:
        """What it is made of."""
        return self.operands

    def told(self, resolver: Resolver) -> Told:
        """Its value, and itself with numbers in place of calls."""
        told = [operand.told(resolver) for operand in self.operands]
        if self.symbol == "not":
            only = told[0].value
            return Told(
                only if isinstance(only, Missing) else not only,
                f"not {told[0].text}" if isinstance(self.operands[0], Called) else f"not ({told[0].text})",
            )
        text = f" {self.symbol} ".join(
            f"({each.text})" if isinstance(node, Logic) else each.text
            for node, each in zip(self.operands, told, strict=True)
        )
        deciding = self.symbol == "or"  # the value that settles it, whatever else is not known
        if any(each.value is deciding for each in told):
            return Told(deciding, text)
        missing = next((each.value for each in told if isinstance(each.value, Missing)), None)
        return Told(not deciding if missing is None else missing, text)


def numbers_text(value: Numbers, unit: str = "") -> str:
    """Numbers with four digits in a unit of scenario files: "3.051 Mbit/s", "1.2, 3.4 ms"."""
    worth = UNIT_WORTH.get(unit, 1.0)
    text = ", ".join(_digits(number / worth) for number in _numbers(value))
    return f"{text} {unit}" if unit else text


def dimension_of(unit: str) -> str:
    """What a unit of scenario files measures; empty for none, and for shares."""
    return next((each.value for each, units in UNITS.items() if unit and unit != "%" and unit in units), "")


def unit_worth(unit: str) -> float | None:
    """How many SI units a unit of scenario files is worth; None if there is no such unit. Empty is 1."""
    return 1.0 if not unit else UNIT_WORTH.get(unit)


def is_band_node(node: Node) -> bool:
    """Whether it says that numbers lie in bands, and nothing else."""
    if isinstance(node, Logic):
        return node.symbol == "and" and all(map(is_band_node, node.operands))
    return isinstance(node, Band)


def _numbers(value: Value) -> tuple[float, ...]:
    if isinstance(value, tuple):
        return value
    assert isinstance(value, int | float)
    return (float(value),)


def _pairs(left: Value, right: Value) -> Sequence[tuple[float, float]] | Missing:
    first, second = _numbers(left), _numbers(right)
    if not isinstance(left, tuple):
        first *= len(second)
    if not isinstance(right, tuple):
        second *= len(first)
    if len(first) != len(second):
        return Missing(f"{len(first)} numbers stand against {len(second)}")
    if not first:
        return Missing("there are no numbers")
    return list(zip(first, second, strict=True))


def _built_in(name: str, arguments: Sequence[tuple[float, ...]]) -> Value:
    numbers = [number for argument in arguments for number in argument]
    if not numbers:
        return Missing(f"{name} of nothing")
    first = arguments[0]
    match name:
        case "min":
            return min(numbers)
        case "max":
            return max(numbers)
        case "mean":
            return math.fsum(numbers) / len(numbers)
        case "sum":
            return math.fsum(numbers)
        case "abs":
            return tuple(map(abs, first)) if len(first) > 1 else abs(first[0])
        case "spread":
            mean = math.fsum(numbers) / len(numbers)
            return (max(numbers) - min(numbers)) / mean if mean else Missing("spread around a mean of 0")
        case "ratio":
            over, under = (first[-1], first[0]) if len(arguments) == 1 else (first[0], arguments[1][0])
            if len(arguments) == 2 and max(map(len, arguments)) > 1:
                return Missing("ratio of two vectors: / goes element by element")
            return over / under if under else Missing("ratio to 0")
        case _:
            return _goes_one_way(name, first, arguments[1][0] if len(arguments) > 1 else 0.0)


def _goes_one_way(name: str, values: tuple[float, ...], slack: float) -> Value:
    if len(values) < 2:
        return Missing(f"{name} needs two numbers or more")
    sign = 1.0 if name == "rises" else -1.0
    steps = pairwise(values)
    return sign * (values[-1] - values[0]) > 0 and all(
        sign * (second - first) >= -slack * max(abs(first), abs(second)) for first, second in steps
    )


def _text_in(told: Told, unit: str) -> str:
    """What is shown of a value beside others of a unit."""
    if isinstance(told.value, bool | str | Missing):
        return told.text
    return numbers_text(told.value, told.unit or unit)


def _digits(number: float) -> str:
    return f"{number:.0f}" if 1e4 <= abs(number) < 1e15 else f"{number:.4g}"
