"""Expressions over measured numbers: the questions of labs, claims, and the formulas of decision rules.

    goodput('DRL-CC', '8MB') / goodput('LIA', '8MB') in 3.51 .. 4.75

An expression contains numbers with or without a unit (`3.2 Mbit/s`, `20 ms`, `15 %`, `67 pkt`), quoted strings, `true`,
`false`, `+ - * /`, parentheses, chained comparisons (`a > b > c`), bands (`x in low .. high`), `and`, `or`, `not`, and
functions. Callers supply functions in addition to `BUILT_IN`. A function may return a vector of numbers: arithmetic
then works element by element, and a comparison holds only if it holds for every element. Formulas may also refer to
numbers by name, raise to a power (`**`), and choose between two values (`a if b else c`).

Python's parser resolves the precedence of operators, but it never receives the user's text. First the order of
operators and brackets is checked, and each value or name is replaced by one letter. So no input can execute code, and
errors name the column.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

from subflow_app.foundation.errors import InputError
from subflow_sim.plain_text import did_you_mean, either
from subflow_sim.units import UNITS

Kind = Literal["number", "truth", "text"]
ArgumentKind = Literal["number", "truth", "text", "any"]


@dataclass(frozen=True, slots=True)
class Missing:
    """An unknown value.

    Attributes:
        reason: why the value is unknown, in words for users.
    """

    reason: str


Numbers: TypeAlias = float | tuple[float, ...]
Value: TypeAlias = Numbers | bool | str | Missing
Resolver: TypeAlias = Callable[[str, tuple[Value, ...]], Value]
"""Returns the value of a function, given its name and its arguments; `Missing` if it is unknown."""


@dataclass(frozen=True, slots=True)
class Function:
    """The signature of a function that an expression may call.

    Attributes:
        arguments: kinds of its arguments in order; "any" accepts every kind.
        optional: number of arguments that may be omitted at the end.
        gives: kind of its result.
        unit: unit in which its numbers are shown; empty: none.
        takes_any_number: whether the last argument may be followed by any number of arguments of the same kind.
    """

    arguments: tuple[ArgumentKind, ...]
    optional: int = 0
    gives: Kind = "number"
    unit: str = ""
    takes_any_number: bool = False


# `min`, `max`, `mean`, `sum` of all numbers in their arguments; `abs` of each. `spread(v)`: (largest - smallest) /
# mean. `ratio(a, b)` is a / b; `ratio(v)` is the last number divided by the first. `rises(v)`: the last number exceeds
# the first, and no number is below its predecessor; `rises(v, 10 %)` lets each number be up to 10 % below its
# predecessor. `falls` tests the opposite direction.
BUILT_IN: Mapping[str, Function] = {
    **dict.fromkeys(("min", "max", "mean", "sum", "spread"), Function(("number",), takes_any_number=True)),
    **dict.fromkeys(("rises", "falls"), Function(("number", "number"), optional=1, gives="truth")),
    "abs": Function(("number",)),
    "ratio": Function(("number", "number"), optional=1),
}

UNIT_WORTH: Mapping[str, float] = {
    unit: float(worth) for units in UNITS.values() for unit, worth in units.items() if unit
}
"""Value of each unit of scenario files in SI units."""
MOST_CHARACTERS = 2000
_MOST_SHOWN = 120
_DEEPEST = 40
MOST_OPERATORS = 100  # limits the depth of the syntax tree: `a + b + c` is parsed as `(a + b) + c`
# Python 3.11 counts the depth of all parsers in the process together, so parsing in two threads at a time may fail.
_PARSING = threading.Lock()
_Operation: TypeAlias = tuple[str, Callable[[Any, Any], Any]]
_ARITHMETIC: Mapping[type[ast.operator], _Operation] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.Pow: ("**", math.pow),
}
COMPARISONS: Mapping[type[ast.cmpop], _Operation] = {
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
    ast.Eq: ("==", operator.eq),
    ast.In: ("in", operator.ge),  # a band, together with the next operator
    ast.Is: ("..", operator.le),
}
_COUNTED = {"not", *(symbol for symbol, _operation in _ARITHMETIC.values())}
_BETWEEN = {*_COUNTED, "and", "or", *(symbol for symbol, _operation in COMPARISONS.values())} - {"not", ".."}
_KIND_NAMES = {"number": "a number", "truth": "a comparison", "text": "a text in quotes", "any": "a value"}
_TOKEN = re.compile(
    r"(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?)"
    rf"(?:[ \t]*(?P<unit>{'|'.join(sorted(map(re.escape, UNIT_WORTH), key=len, reverse=True))})(?![A-Za-z0-9_]))?"
    r"""|'(?P<single>[^']*)'|"(?P<double>[^"]*)\""""
    r"|(?P<truth>(?:true|false)\b)|(?P<word>(?:and|or|not|in|if|else)\b)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)(?P<call>\s*\()?"
    r"|(?P<symbol>\.\.|<=|>=|==|\*\*|[-+*/()<>,])"
)


class ClaimError(InputError):
    """An expression that cannot be read.

    Attributes:
        message: the problem, with the column.
        allowed: the accepted alternatives.
        column: column of the problem, from 1.
    """

    def __init__(self, text: str, column: int, message: str, allowed: str, *, file: str = "", key: str = "") -> None:
        self.column = column
        self.message = f"column {column}: {message}"
        self.allowed = allowed
        place = " ".join(filter(None, (f"{file}:" if file else "", key)))
        shown = text if len(text) <= _MOST_SHOWN else text[: _MOST_SHOWN - 1] + "…"
        sentence = f'{place + " = " if place else ""}"{shown}": {self.message}'
        super().__init__(f"{sentence}; allowed: {allowed}" if allowed else sentence)


class Call(NamedTuple):
    """A function that an expression calls.

    Attributes:
        name: name of the function.
        texts: its arguments in order; None for an argument that is not a quoted string.
        columns: column of each argument, from 1.
    """

    name: str
    texts: tuple[str | None, ...]
    columns: tuple[int, ...]


class _Token(NamedTuple):
    kind: str  # a group of _TOKEN, "text" or "end"
    text: str
    column: int
    value: float | bool | str = ""
    unit: str = ""

    @property
    def symbol(self) -> str:
        return self.text if self.kind in ("symbol", "word") else ""

    @property
    def shown(self) -> str:
        return "the end" if self.kind == "end" else f'"{self.text}"'


class _Level(NamedTuple):
    """An open bracket: its closing symbol, its description in error messages, and the symbols allowed next."""

    closing: str
    where: str
    allowed: str


_WHOLE = _Level("", "is not expected here", "an operator, or the end")
_PARENTHESES = _Level(")", "in parentheses", '")"')
_BAND = _Level("..", "in a band", '".." and its upper end')


class Evaluated(NamedTuple):
    """A part of an expression: its value, and the text that shows it."""

    value: Value
    text: str
    column: int
    kind: str = "number"
    unit: str = ""
    is_constant: bool = False


class Expression:
    """An expression whose value is a number, such as an answer or a prediction.

    Attributes:
        text: the expression as written.
        unit: unit in which the number is shown; empty if unknown.
    """

    is_formula: ClassVar[bool] = False
    """True if the expression may refer to numbers by name, raise to a power, choose, and contain infinite numbers."""

    def __init__(self, text: str, functions: Mapping[str, Function], *, file: str = "", key: str = "") -> None:
        """Parse and check the expression.

        Args:
            text: the expression as written.
            functions: functions that it may call in addition to `BUILT_IN`.
            file: file that contains it, for messages.
            key: key in the file, for messages.

        Raises:
            ClaimError: if the text cannot be read, or its value has the wrong kind.
        """
        self.text = text
        self._own, self._functions = functions, {**BUILT_IN, **functions}
        self._place = {"file": file, "key": key}
        if len(text) > MOST_CHARACTERS:
            raise self.error(1, "too long", f"up to {MOST_CHARACTERS} characters")
        self._at: dict[int, _Token] = {}  # tokens by their position in the translated text
        try:
            with _PARSING:
                self.root = ast.parse(self._translated(), mode="eval").body
            evaluated = self.tell(self.root, lambda *_: Missing("nothing is known yet"))
        except (RecursionError, MemoryError):
            raise self.error(1, "too deeply nested", f"up to {_DEEPEST} levels") from None
        self.check(evaluated)
        self.unit = evaluated.unit

    def calls(self, root: ast.AST | None = None) -> Iterator[Call]:
        """Calls of the supplied functions, in order, within `root` (default: the whole expression)."""
        root = root or self.root
        if isinstance(root, ast.Call) and (name := self.at(root).text) in self._own:
            tokens = [self.at(each) for each in root.args]
            are_texts = [isinstance(each, ast.Name) and self.at(each).kind == "text" for each in root.args]
            texts = (token.text if is_text else None for token, is_text in zip(tokens, are_texts, strict=True))
            yield Call(name, tuple(texts), tuple(token.column for token in tokens))
        for part in ast.iter_child_nodes(root):
            yield from self.calls(part)

    def named(self) -> dict[str, int]:
        """The names of numbers in a formula, each with the column of its first use, from 1."""
        tokens = [self.at(part) for part in ast.walk(self.root) if isinstance(part, ast.Name)]
        names = sorted((token.column, token.text) for token in tokens if token.kind == "name")
        return {name: column for column, name in reversed(names)}

    def value(self, resolver: Resolver) -> Numbers | Missing:
        """The value in SI units; `Missing` if it is unknown."""
        value = self.tell(self.root, resolver).value
        assert not isinstance(value, str | bool)
        return value

    def at(self, node: ast.expr) -> _Token:
        """The token at which a part begins."""
        return self._at[node.col_offset]

    def check(self, parts: Evaluated) -> None:
        """Raise ClaimError unless the expression gives a number."""
        self._expect(parts, "number", 1, "a number is to be worked out")

    def error(self, column: int, message: str, allowed: str) -> ClaimError:
        """A `ClaimError` with the place of this expression; `column` counts from 1."""
        return ClaimError(self.text, column, message, allowed, **self._place)

    # Translation of the text for Python's parser

    def _tokens(self) -> Iterator[_Token]:
        place = 0
        while rest := self.text[place:].lstrip():
            place = len(self.text) - len(rest)
            match = _TOKEN.match(self.text, place)
            if match is None and rest[0] in "'\"":
                raise self.error(place + 1, "the text has no end", f"another {rest[0]}")
            if match is None:
                raise self.error(place + 1, f'"{rest[0]}" means nothing', "numbers, texts in quotes, names, operators")
            kind, unit = "number" if match["number"] else match.lastgroup or "", match["unit"] or ""
            text = match["name"] or match[kind]
            value = text == "true" if kind == "truth" else text
            if kind == "number":
                value = float(text) * UNIT_WORTH.get(unit, 1.0)
            yield _Token("text" if kind in ("single", "double") else kind, text, place + 1, value, unit)
            place = match.end()
        yield _Token("end", "", len(self.text) + 1)

    def _translated(self) -> str:
        """The expression with one letter for each value, and "is" in place of the ".." of a band."""
        translated, levels, operators = "", [_WHOLE], 0
        before = _Token("symbol", "(", 0)
        for token, after in pairwise((*self._tokens(), before)):
            symbol, level = token.symbol, levels[-1]
            if before.kind in ("number", "text", "truth", "name") or before.symbol == ")":
                if symbol and symbol == level.closing:
                    levels.pop()
                elif symbol == "in":
                    levels.append(_BAND)
                elif not self._may_follow(token, level):
                    self._refuse(before, token, level)
            elif token.kind in ("call", "name"):
                self._check_name(token, after)
                levels += [_Level(")", f'in "{token.text}(…)"', '"," or ")"')] * (token.kind == "call")
            elif symbol == "(":
                levels.append(_PARENTHESES)
            elif symbol == ")" and before.kind == "call":
                levels.pop()
            elif not self._may_begin(token, before):
                allowed = f"a number, a text in quotes, {either(sorted(self._functions))}"
                raise self.error(token.column, f"{token.shown} where a value is expected", allowed)
            operators += symbol in _COUNTED
            if operators > MOST_OPERATORS:
                raise self.error(token.column, "too many operators", f"up to {MOST_OPERATORS}")
            if len(levels) > _DEEPEST + 1:
                raise self.error(after.column, "too deeply nested", f"up to {_DEEPEST} levels")
            self._at[len(translated)] = before = token
            translated += {"call": "v( ", "end": "", "..": "is "}.get(symbol or token.kind, f"{symbol or 'v'} ")
        return translated

    def _may_begin(self, token: _Token, before: _Token) -> bool:
        """True if a token may begin a value; "not" only where a comparison is allowed."""
        if token.symbol == "not":
            return before.kind == "call" or before.symbol in ("(", ",", "and", "or", "not")
        return token.symbol == "-" or token.kind in ("number", "text", "truth")

    def _may_follow(self, token: _Token, level: _Level) -> bool:
        """True if a token may follow a value."""
        if token.symbol in ("**", "if", "else"):
            return self.is_formula
        if token.symbol == ",":
            return level not in (_WHOLE, _PARENTHESES, _BAND)
        return token.symbol in _BETWEEN or (token.kind == "end" and level is _WHOLE)

    def _refuse(self, before: _Token, token: _Token, level: _Level) -> None:
        if before.kind == "number" and token.kind in ("name", "call"):
            units = list(UNIT_WORTH)
            meant = did_you_mean(token.text, units)
            raise self.error(token.column, f'"{token.text}" is not a unit{meant}', either(units))
        raise self.error(token.column, f"{token.shown} {level.where}", level.allowed)

    def _check_name(self, token: _Token, after: _Token) -> None:
        names = sorted(self._functions)
        if self.is_formula and token.kind == "name":
            return
        if token.text not in names:
            meant = did_you_mean(token.text, names)
            raise self.error(token.column, f'unknown name "{token.text}"{meant}', either(names))
        if token.kind == "name":
            raise self.error(after.column, f'"{token.text}" is called', f"{token.text}(…)")

    # Evaluation. The first pass, in the constructor, has no values and checks only kinds and units.

    def tell(self, node: ast.expr, resolver: Resolver) -> Evaluated:
        """The value of a part, and its text with numbers in place of function calls.

        Raises:
            ClaimError: if operands have the wrong kind or unit.
        """
        token = self.at(node)
        column = token.column
        match node:
            case ast.Name() if token.kind == "name":
                value = resolver(token.text, ())
                return Evaluated(value, self.shown(node, (), value, ""), column)
            case ast.Name():
                text = self.shown(node, (), token.value, token.unit)
                return Evaluated(token.value, text, column, token.kind, token.unit, is_constant=True)
            case ast.Call(args=arguments):
                return self._called(node, [self.tell(each, resolver) for each in arguments], resolver)
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                (only,) = self._operands(None, [inner], resolver, "truth", '"not" takes a comparison')
                text = f"not {only.text}" if isinstance(inner, ast.Call) else f"not ({only.text})"
                return Evaluated(_missing([only]) or not only.value, text, column, "truth")
            case ast.UnaryOp(operand=inner):
                (only,) = self._operands(None, [inner], resolver, "number", '"-" is for numbers')
                value = _each(("-", operator.sub), Evaluated(0.0, "0", column), only)
                return only._replace(value=value, text=self.shown(node, (only,), value, only.unit))
            case ast.BinOp(left=left, op=op, right=right):
                symbol = _ARITHMETIC[type(op)][0]
                pair = self._operands(column, [left, right], resolver, "number", f'"{symbol}" is for numbers')
                if symbol in "+-":
                    self._expect_one_dimension(pair, pair[1].column)
                value, unit = _each(_ARITHMETIC[type(op)], *pair), _unit_of(symbol, pair[0].unit, pair[1].unit)
                return Evaluated(value, self.shown(node, pair, value, unit), column, unit=unit)
            case ast.Compare(left=left, ops=ops, comparators=others):
                parts = self._operands(column, [left, *others], resolver, "any", "")
                return self._compared(parts, [COMPARISONS[type(op)] for op in ops])
            case ast.BoolOp(op=op, values=nodes):
                # One operand with this value settles the result, even if others are unknown.
                settles = isinstance(op, ast.Or)
                symbol = "or" if settles else "and"
                parts = self._operands(column, nodes, resolver, "truth", f'"{symbol}" joins comparisons')
                is_settled = any(each.value is settles for each in parts)
                are_joined = [isinstance(each, ast.BoolOp | ast.UnaryOp) for each in nodes]
                texts = (
                    f"({part.text})" if joined else part.text for joined, part in zip(are_joined, parts, strict=True)
                )
                text = f" {symbol} ".join(texts)
                return Evaluated(settles if is_settled else _missing(parts) or not settles, text, column, "truth")
            case ast.IfExp(test=test, body=body, orelse=other):
                return self.tell(body if self.tell(test, resolver).value is True else other, resolver)
        raise AssertionError(ast.dump(node))

    def shown(self, node: ast.expr, parts: Sequence[Evaluated], value: Value, unit: str) -> str:
        """The text that shows a value; ``?`` if it is unknown.

        Args:
            node: the part with this value.
            parts: the evaluated operands of the part.
            value: the value, in SI units if it is a number.
            unit: unit in which numbers are shown.
        """
        if isinstance(value, Missing):
            return "?"
        if isinstance(value, bool):
            called = f"{self.at(node).text}({', '.join(each.text for each in parts)})"
            return called if isinstance(node, ast.Call) else str(value).lower()
        return f"'{value}'" if isinstance(value, str) else numbers_text(value, unit)

    def _operands(
        self, column: int | None, nodes: Sequence[ast.expr], resolver: Resolver, kind: str, message: str
    ) -> list[Evaluated]:
        """Operands of one kind; an error in the first operand is reported at `column`, as brackets may precede it."""
        parts = [self.tell(each, resolver) for each in nodes]
        if column is not None:
            parts[0] = parts[0]._replace(column=column)
        for each in parts:
            self._expect(each, kind, each.column, message)
        return parts

    def _called(self, node: ast.Call, parts: Sequence[Evaluated], resolver: Resolver) -> Evaluated:
        token = self.at(node)
        name, function = token.text, self._functions[token.text]
        count, least, most = len(parts), len(function.arguments) - function.optional, len(function.arguments)
        if count < least or (count > most and not function.takes_any_number):
            number = f"{least}" if least == most else f"{least} to {most}"
            number = f"{least} or more" if function.takes_any_number else number
            raise self.error(token.column, f'"{name}" has {count} argument{"s" * (count != 1)}', number)
        for place, each in enumerate(parts):
            kind = function.arguments[min(place, most - 1)]
            self._expect(each, kind, each.column, f'argument {place + 1} of "{name}"')
        unit, values = function.unit, tuple(each.value for each in parts)
        if name not in self._own and name not in ("ratio", "spread"):
            unit = next((each.unit for each in parts if each.unit), "")
        value = _missing(parts) or (resolver(name, values) if name in self._own else _built_in(name, values))
        if not isinstance(value, Missing):
            gave = "truth" if isinstance(value, bool) else "text" if isinstance(value, str) else "number"
            if gave != function.gives:
                raise TypeError(f"{name} gave {value!r}")
            if gave == "number" and not self.is_formula and not all(map(math.isfinite, _numbers(value))):
                value = Missing(f"{name} has no value here")
        return Evaluated(value, self.shown(node, parts, value, unit), token.column, function.gives, unit)

    def _compared(self, parts: Sequence[Evaluated], operations: Sequence[_Operation]) -> Evaluated:
        column, symbols = parts[0].column, [symbol for symbol, _operation in operations]
        is_band = symbols == ["in", ".."]
        texts = [each for each in parts if each.kind == "text"]
        if not is_band and "in" in symbols:
            raise self.error(column, "a range cannot be combined with a comparison", "x in low .. high")
        if texts and not is_band:
            if len(texts) < len(parts) or {*symbols} != {"=="}:
                raise self.error(texts[0].column, "a text is compared", 'only with "==" and another text')
        else:
            message = "a band is of numbers" if is_band else "numbers are compared"
            for each in parts:
                self._expect(each, "number", column if is_band else each.column, message)
            self._expect_one_dimension(parts, column)
        pairs = [*pairwise(parts)]
        if is_band:
            value, low, high = parts
            pairs = [(value, low), (value, high)]
            if low.is_constant and high.is_constant and _numbers(low.value) > _numbers(high.value):
                raise self.error(low.column, "the lower end of the range is above the upper one", "low .. high")
        units = [each.unit for each in (*parts[is_band:], parts[0]) if not isinstance(each.value, Missing)]
        unit = next(filter(None, units), "")
        first, *others = (
            each.text if isinstance(each.value, str | Missing) else numbers_text(each.value, each.unit or unit)
            for each in parts
        )
        text = first + "".join(f" {symbol} {each}" for symbol, each in zip(symbols, others, strict=True))
        return Evaluated(_missing(parts) or _holds(operations, pairs), text, column, "truth")

    def _expect(self, parts: Evaluated, kind: str, column: int, message: str) -> None:
        if kind not in ("any", parts.kind):
            raise self.error(column, f"{message}, and this is {_KIND_NAMES[parts.kind]}", _KIND_NAMES[kind])

    def _expect_one_dimension(self, operands: Sequence[Evaluated], column: int) -> None:
        """Raise ClaimError if, e.g., a rate is combined with a time, or with a bare number, which would mean bit/s."""
        units = {dimension: each.unit for each in operands if (dimension := _dimension_of(each.unit))}
        if len(units) > 1:
            first, second = list(units.values())[:2]
            raise self.error(column, f"{first} is combined with {second}", "quantities of the same kind")
        bare = next((each for each in operands if each.is_constant and not each.unit and each.value), None)
        if bare is not None and units and "queue" not in units:
            unit = next(iter(units.values()))
            raise self.error(
                bare.column, f"{bare.text} has no unit, but is combined with {unit}", f"e.g. {bare.text} {unit}"
            )


def numbers_text(value: Numbers, unit: str = "") -> str:
    """Numbers as text, with four significant digits and a unit of scenario files: "3.051 Mbit/s", "1.2, 3.4 ms"."""
    scaled = [number / UNIT_WORTH.get(unit, 1.0) for number in _numbers(value)]
    text = ", ".join(f"{number:.0f}" if 1e4 <= abs(number) < 1e15 else f"{number:.4g}" for number in scaled)
    return f"{text} {unit}" if unit else text


def _unit_of(symbol: str, left: str, right: str) -> str:
    """The unit of a sum, product or quotient; empty if the result has none of the known units."""
    if symbol in "+-":
        return left or right
    if symbol == "/":
        return "" if right not in ("", "%") else left
    if "%" in (left, right):
        return right if left == "%" and right else left
    return "" if left and right else left or right


def _dimension_of(unit: str) -> str:
    """The dimension of a unit of scenario files; empty for no unit and for percentages."""
    return next((each.value for each, units in UNITS.items() if unit and unit != "%" and unit in units), "")


def _missing(parts: Sequence[Evaluated]) -> Missing | None:
    return next((each.value for each in parts if isinstance(each.value, Missing)), None)


def _numbers(value: Value) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def number_pairs(left: Value, right: Value) -> list[tuple[Any, Any]] | Missing:
    """Pairs of the elements of two vectors; a single number is paired with each element of the other vector.

    The result is `Missing` for vectors of different lengths and for empty vectors.
    """
    first, second = _numbers(left), _numbers(right)
    if not isinstance(left, tuple):
        first *= len(second)
    if not isinstance(right, tuple):
        second *= len(first)
    if len(first) != len(second):
        return Missing(f"{len(first)} numbers cannot be compared with {len(second)}")
    return list(zip(first, second, strict=True)) or Missing("no numbers")


def _holds(operations: Sequence[_Operation], operands: Sequence[tuple[Evaluated, Evaluated]]) -> bool | Missing:
    holds = True
    for (_symbol, operation), (left, right) in zip(operations, operands, strict=True):
        pairs = number_pairs(left.value, right.value)
        if isinstance(pairs, Missing):
            return pairs
        holds &= all(operation(*pair) for pair in pairs)
    return holds


def _each(operation: _Operation, left: Evaluated, right: Evaluated) -> Numbers | Missing:
    """Calculate element by element; `Missing` for a division by zero and for results that are not finite."""
    pairs = _missing((left, right)) or number_pairs(left.value, right.value)
    if isinstance(pairs, Missing):
        return pairs
    symbol, operate = operation
    if symbol == "/" and any(divisor == 0 for _, divisor in pairs):
        return Missing(f"{left.text} / {right.text} is a division by 0")
    try:
        results = tuple(operate(*pair) for pair in pairs)
    except ValueError:  # a power such as (-8) ** 0.5
        return Missing(f"{left.text} {symbol} {right.text} is not a real number")
    except OverflowError:  # only from powers
        results = (math.inf,)
    if not all(map(math.isfinite, results)):
        return Missing(f"{left.text} {symbol} {right.text} is too large")
    return results if isinstance(left.value, tuple) or isinstance(right.value, tuple) else results[0]


def _built_in(name: str, arguments: Sequence[Value]) -> Value:
    vectors = [_numbers(argument) for argument in arguments]
    first, numbers = vectors[0], [number for vector in vectors for number in vector]
    if not numbers:
        return Missing(f"{name} of nothing")
    match name:
        case "min" | "max":
            return float(min(numbers) if name == "min" else max(numbers))
        case "mean" | "sum":
            return math.fsum(numbers) / (len(numbers) if name == "mean" else 1)
        case "abs":
            return tuple(map(abs, first)) if len(first) > 1 else abs(first[0])
        case "spread":
            mean = math.fsum(numbers) / len(numbers)
            return (max(numbers) - min(numbers)) / mean if mean else Missing("spread around a mean of 0")
        case "ratio":
            over, under = (first[-1], first[0]) if len(vectors) == 1 else (first[0], vectors[1][0])
            if len(vectors) == 2 and max(map(len, vectors)) > 1:
                return Missing("ratio of two vectors: / goes element by element")
            return over / under if under else Missing("ratio to 0")
    # `rises` or `falls`.
    if len(first) < 2:
        return Missing(f"{name} needs two numbers or more")
    sign, slack = 1.0 if name == "rises" else -1.0, vectors[1][0] if len(vectors) > 1 else 0.0
    return sign * (first[-1] - first[0]) > 0 and all(
        sign * (later - earlier) >= -slack * max(abs(earlier), abs(later)) for earlier, later in pairwise(first)
    )
