"""Claims about measured numbers, as recipes of experiments and labs write them: read, checked and evaluated.

    goodput('DRL-CC', '8MB') / goodput('LIA', '8MB') in 3.51 .. 4.75
    rtt('wVegas') < 20 ms and not rises(loss('LIA'))

Numbers with or without a unit (`3.2 Mbit/s`, `20 ms`, `15 %`, `67 pkt`), texts in quotes, `+ - * /`, parentheses,
comparisons that chain (`a > b > c`), bands (`x in low .. high`), `and`, `or`, `not`, and functions. Which functions
there are is for the caller to say; `BUILT_IN` are always there. A function may return several numbers, a vector:
arithmetic goes element by element then, and a comparison holds if it does for all elements.

A parser of our own rather than Python's: what a lecturer writes must not be able to run anything, and must be told by
column what is wrong with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

from subflow_app.core.claim_parts import (
    BUILT_IN,
    COMPARISONS,
    UNIT_WORTH,
    ArgumentKind,
    Arithmetic,
    Band,
    Called,
    Compared,
    Constant,
    Function,
    Kind,
    Logic,
    Missing,
    Node,
    Numbers,
    Resolver,
    Value,
    dimension_of,
    is_band_node,
    numbers_text,
    unit_worth,
)
from subflow_app.core.errors import InputError
from subflow_sim.parameter import did_you_mean, either

__all__ = [
    "BUILT_IN",
    "ArgumentKind",
    "Call",
    "Claim",
    "ClaimError",
    "Expression",
    "Function",
    "Kind",
    "Missing",
    "Numbers",
    "Outcome",
    "Resolver",
    "Value",
    "numbers_text",
    "unit_worth",
]

_MOST_CHARACTERS = 2000
_MOST_SHOWN = 120
_DEEPEST = 40

_WORDS = ("and", "or", "not", "in", "true", "false")
_TOKEN = re.compile(
    r"(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?)"
    rf"(?:[ \t]*(?P<unit>{'|'.join(sorted(map(re.escape, UNIT_WORTH), key=len, reverse=True))})(?![A-Za-z0-9_]))?"
    r"""|'(?P<single>[^']*)'|"(?P<double>[^"]*)\""""
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<symbol>\.\.|<=|>=|==|[-+*/()<>,])"
)
_SPACE = re.compile(r"\s*")


class _Token(NamedTuple):
    kind: Literal["number", "text", "name", "symbol", "end"]
    text: str
    column: int
    unit: str = ""


class ClaimError(InputError):
    """A claim cannot be read.

    Attributes:
        message: what is wrong, with the column.
        allowed: what would be accepted.
        column: from 1.
    """

    def __init__(self, text: str, column: int, message: str, allowed: str, *, file: str = "", key: str = "") -> None:
        self.column = column
        self.message = f"column {column}: {message}"
        self.allowed = allowed
        place = " ".join(filter(None, (f"{file}:" if file else "", key)))
        shown = text if len(text) <= _MOST_SHOWN else text[: _MOST_SHOWN - 1] + "…"
        told = f'{place + " = " if place else ""}"{shown}": {self.message}'
        super().__init__(f"{told}; allowed: {allowed}" if allowed else told)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a claim.

    Attributes:
        holds: None: it could not be told, `reason` says why.
        is_band: whether it says that numbers lie in bands, and nothing else.
        left: the number before the first comparison as text; empty for what is no comparison.
        right: what it was compared with, numbers as text: "3.51 .. 4.75", "0.91 Mbit/s > 0.85 Mbit/s".
        told: the whole claim with numbers in place of what was called.
        reason: why it is not known.
    """

    holds: bool | None
    is_band: bool
    left: str
    right: str
    told: str
    reason: str = ""


class Call(NamedTuple):
    """A function that a claim calls.

    Attributes:
        name: of the function.
        texts: its arguments in order; None for those that are no texts in quotes.
        columns: where each stands, from 1.
    """

    name: str
    texts: tuple[str | None, ...]
    columns: tuple[int, ...]


class Claim:
    """A claim that was read.

    Attributes:
        text: as it was written.
        is_band: whether it says that numbers lie in bands, and nothing else.
    """

    def __init__(self, text: str, root: Node) -> None:
        """For `parse`."""
        self.text = text
        self._root = root
        self.is_band = is_band_node(root)

    @classmethod
    def parse(cls, text: str, functions: Mapping[str, Function], *, file: str = "", key: str = "") -> Claim:
        """Read a claim.

        Args:
            text: the claim.
            functions: what it may call besides `BUILT_IN`.
            file: where it stands, for messages.
            key: likewise.

        Raises:
            ClaimError: if it cannot be read.
        """
        return cls(text, _Parser(text, functions, file, key).claim())

    def calls(self) -> Iterator[Call]:
        """The functions of the caller that it calls, in order."""
        return _calls(self._root)

    def compared(self) -> Iterator[tuple[Call, Call]]:
        """Pairs of calls of one function that stand on both sides of a comparison."""
        waiting: list[Node] = [self._root]
        while waiting:
            node = waiting.pop(0)
            if isinstance(node, Compared):
                for left, right in pairwise(node.operands):
                    others = list(_calls(right))
                    yield from ((one, other) for one in _calls(left) for other in others if one.name == other.name)
            waiting += node.parts()

    def evaluate(self, resolver: Resolver) -> Outcome:
        """What comes of it.

        Args:
            resolver: gives the values of the functions; `Missing` for what is not known.
        """
        root = self._root
        told = root.told(resolver)
        left = right = ""
        if isinstance(root, Compared | Band):
            separator = f" {root.symbols[0]} " if isinstance(root, Compared) else " in "
            left, _, right = told.text.partition(separator)
        if isinstance(told.value, Missing):
            return Outcome(None, self.is_band, left, right, told.text, told.value.reason)
        return Outcome(bool(told.value), self.is_band, left, right, told.text)


class Expression:
    """A number to be worked out, in the language of claims: an answer, a prediction.

    Attributes:
        text: as it was written.
    """

    def __init__(self, text: str, root: Node) -> None:
        """For `parse`."""
        self.text = text
        self._root = root

    @classmethod
    def parse(cls, text: str, functions: Mapping[str, Function], *, file: str = "", key: str = "") -> Expression:
        """Read an expression; the arguments are those of `Claim.parse`.

        Raises:
            ClaimError: if it cannot be read, or is no number.
        """
        return cls(text, _Parser(text, functions, file, key).number())

    @property
    def unit(self) -> str:
        """The unit that it is shown in; empty: none is known."""
        return self._root.shown_unit

    def calls(self) -> Iterator[Call]:
        """The functions of the caller that it calls, in order."""
        return _calls(self._root)

    def value(self, resolver: Resolver) -> Numbers | Missing:
        """What it comes to, in SI units."""
        value = self._root.told(resolver).value
        assert not isinstance(value, str | bool)
        return value


def _calls(root: Node) -> Iterator[Call]:
    waiting: list[Node] = [root]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, Called) and not node.is_built_in:
            texts = tuple(
                each.value if isinstance(each, Constant) and isinstance(each.value, str) else None
                for each in node.arguments
            )
            yield Call(node.name, texts, node.columns)
        waiting[:0] = node.parts()


class _Parser:
    def __init__(self, text: str, functions: Mapping[str, Function], file: str, key: str) -> None:
        self._text = text
        self._functions = {**BUILT_IN, **functions}
        self._own = functions
        self._file = file
        self._key = key
        if len(text) > _MOST_CHARACTERS:
            raise self._error(1, "too long", f"up to {_MOST_CHARACTERS} characters")
        self._tokens = list(self._split())
        self._place = 0
        self._depth = 0

    def claim(self) -> Node:
        root = self._whole()
        if root.kind != "truth":
            raise self._error(1, "this says nothing that could hold or fail", "a comparison, or a band: x in 1 .. 2")
        return root

    def number(self) -> Node:
        root = self._whole()
        self._expect_kind(root, "number", 1, "a number is to be worked out")
        return root

    def _whole(self) -> Node:
        root = self._logic("or")
        token = self._next
        if token.kind != "end":
            raise self._error(token.column, f"{_shown(token)} is not expected here", "an operator, or the end")
        return root

    # Grammar, from the loosest to the tightest

    def _logic(self, word: Literal["or", "and"]) -> Node:
        inner = self._inverted if word == "and" else lambda: self._logic("and")
        column = self._next.column
        operands = [inner()]
        while self._takes("name", word):
            self._expect_kind(operands[-1], "truth", column, f'"{word}" joins comparisons')
            column = self._next.column
            operands.append(inner())
            self._expect_kind(operands[-1], "truth", column, f'"{word}" joins comparisons')
        return operands[0] if len(operands) == 1 else Logic(word, tuple(operands))

    def _inverted(self) -> Node:
        column = self._next.column
        if not self._takes("name", "not"):
            return self._comparison()
        operand = self._deeper(self._inverted)
        self._expect_kind(operand, "truth", column, '"not" stands before a comparison')
        return Logic("not", (operand,))

    def _comparison(self) -> Node:
        columns = [self._next.column]
        operands = [self._sum()]
        if self._takes("name", "in"):
            low = self._sum()
            if not self._takes("symbol", ".."):
                raise self._error(self._next.column, f"{_shown(self._next)} in a band", '".." and its upper end')
            band = Band(operands[0], low, self._sum())
            for part in band.parts():
                self._expect_kind(part, "number", columns[0], "a band is of numbers")
            self._expect_one_dimension(band.parts(), columns[0])
            if isinstance(low, Constant) and isinstance(band.high, Constant):
                assert isinstance(low.value, float)
                assert isinstance(band.high.value, float)
                if low.value > band.high.value:
                    raise self._error(low.column, "the lower end of the band is above the upper one", "low .. high")
            return band
        symbols: list[str] = []
        while self._next.kind == "symbol" and self._next.text in COMPARISONS:
            symbols.append(self._take().text)
            columns.append(self._next.column)
            operands.append(self._sum())
        if not symbols:
            return operands[0]
        is_text = [operand.kind == "text" for operand in operands]
        if any(is_text):
            if not all(is_text) or set(symbols) != {"=="}:
                raise self._error(columns[is_text.index(True)], "a text is compared", 'only with "==" and another text')
        else:
            for operand, column in zip(operands, columns, strict=True):
                self._expect_kind(operand, "number", column, "numbers are compared")
            self._expect_one_dimension(operands, columns[0])
        return Compared(tuple(operands), tuple(symbols))

    def _sum(self) -> Node:
        return self._left_to_right("+-", self._product)

    def _product(self) -> Node:
        return self._left_to_right("*/", self._signed)

    def _left_to_right(self, symbols: str, inner: Callable[[], Node]) -> Node:
        column = self._next.column
        node = inner()
        while self._next.kind == "symbol" and self._next.text in symbols:
            self._expect_kind(node, "number", column, f'"{self._next.text}" is for numbers')
            symbol, column = self._take().text, self._next.column
            right = inner()
            self._expect_kind(right, "number", column, f'"{symbol}" is for numbers')
            if symbol in "+-":
                self._expect_one_dimension((node, right), column)
            node = Arithmetic(symbol, node, right)
        return node

    def _signed(self) -> Node:
        if not self._takes("symbol", "-"):
            return self._single()
        column = self._next.column
        operand = self._deeper(self._signed)
        self._expect_kind(operand, "number", column, '"-" is for numbers')
        if isinstance(operand, Constant):
            assert isinstance(operand.value, float)
            return Constant(-operand.value, operand.column, operand.unit)
        return Arithmetic("-", Constant(0.0, column), operand)

    def _single(self) -> Node:
        token = self._take()
        if token.kind == "number":
            value = float(token.text) * UNIT_WORTH.get(token.unit, 1.0)
            self._refuse_word_after_number()
            return Constant(value, token.column, token.unit)
        if token.kind == "text":
            return Constant(token.text, token.column)
        if token.kind == "name" and token.text in ("true", "false"):
            return Constant(token.text == "true", token.column)
        if token.kind == "name" and token.text not in _WORDS:
            return self._call(token)
        if token == _Token("symbol", "(", token.column):
            node = self._deeper(lambda: self._logic("or"))
            if not self._takes("symbol", ")"):
                raise self._error(self._next.column, f"{_shown(self._next)} in parentheses", '")"')
            return node
        names = either(sorted(self._functions))
        raise self._error(
            token.column, f"{_shown(token)} where a value is expected", f"a number, a text in quotes, {names}"
        )

    def _call(self, token: _Token) -> Node:
        function = self._functions.get(token.text)
        names = sorted(self._functions)
        if function is None:
            meant = did_you_mean(token.text, names)
            raise self._error(token.column, f'there is no "{token.text}"{meant}', either(names))
        if not self._takes("symbol", "("):
            raise self._error(self._next.column, f'"{token.text}" is called', f"{token.text}(…)")
        arguments: list[Node] = []
        columns: list[int] = []
        while not self._takes("symbol", ")"):
            if arguments and not self._takes("symbol", ","):
                raise self._error(self._next.column, f'{_shown(self._next)} in "{token.text}(…)"', '"," or ")"')
            columns.append(self._next.column)
            arguments.append(self._deeper(lambda: self._logic("or")))
        least, most = len(function.arguments) - function.optional, len(function.arguments)
        if len(arguments) < least or (len(arguments) > most and not function.takes_any_number):
            number = f"{least}" if least == most else f"{least} to {most}"
            number = f"{least} or more" if function.takes_any_number else number
            raise self._error(
                token.column, f'"{token.text}" has {len(arguments)} argument{"s" * (len(arguments) != 1)}', number
            )
        for place, (argument, column) in enumerate(zip(arguments, columns, strict=True)):
            kind = function.arguments[min(place, most - 1)]
            self._expect_kind(argument, kind, column, f'argument {place + 1} of "{token.text}"')
        is_built_in = token.text not in self._own
        return Called(token.text, tuple(arguments), tuple(columns), function, is_built_in)

    # Helpers of the grammar

    def _deeper(self, inner: Callable[[], Node]) -> Node:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._error(self._next.column, "too deeply nested", f"up to {_DEEPEST} levels")
        node = inner()
        self._depth -= 1
        return node

    def _expect_kind(self, node: Node, kind: ArgumentKind, column: int, message: str) -> None:
        if kind not in ("any", node.kind):
            raise self._error(column, f"{message}, and this is {_KIND_NAMES[node.kind]}", _KIND_NAMES[kind])

    def _expect_one_dimension(self, operands: Sequence[Node], column: int) -> None:
        """Refuse rates beside times, and a bare number beside a rate: it would be taken for so many bit/s."""
        units = {dimension: unit for each in operands if (dimension := dimension_of(unit := each.shown_unit))}
        if len(units) > 1:
            first, second = list(units.values())[:2]
            raise self._error(column, f"{first} stands against {second}", "quantities of the same kind")
        bare = next((each for each in operands if isinstance(each, Constant) and not each.unit and each.value), None)
        if bare is not None and units and "queue" not in units:
            unit = next(iter(units.values()))
            told = numbers_text(bare.value) if isinstance(bare.value, float) else str(bare.value)
            raise self._error(bare.column, f"{told} has no unit, and stands against {unit}", f"e.g. {told} {unit}")

    def _refuse_word_after_number(self) -> None:
        token = self._next
        if token.kind == "name" and token.text not in _WORDS:
            units = list(UNIT_WORTH)
            raise self._error(
                token.column, f'"{token.text}" is no unit{did_you_mean(token.text, units)}', either(units)
            )

    @property
    def _next(self) -> _Token:
        return self._tokens[self._place]

    def _take(self) -> _Token:
        token = self._tokens[self._place]
        if token.kind != "end":
            self._place += 1
        return token

    def _takes(self, kind: str, text: str) -> bool:
        if self._next.kind == kind and self._next.text == text:
            self._place += 1
            return True
        return False

    def _split(self) -> Iterator[_Token]:
        place = 0
        while True:
            space = _SPACE.match(self._text, place)
            assert space is not None
            place = space.end()
            column = place + 1
            if place == len(self._text):
                yield _Token("end", "", column)
                return
            match = _TOKEN.match(self._text, place)
            if match is None:
                character = self._text[place]
                if character in "'\"":
                    raise self._error(column, "the text has no end", f"another {character}")
                raise self._error(column, f'"{character}" means nothing', "numbers, texts in quotes, names, operators")
            place = match.end()
            if match["number"] is not None:
                yield _Token("number", match["number"], column, match["unit"] or "")
            elif match["name"] is not None:
                yield _Token("name", match["name"], column)
            elif match["symbol"] is not None:
                yield _Token("symbol", match["symbol"], column)
            else:
                yield _Token("text", match["single"] if match["single"] is not None else match["double"], column)

    def _error(self, column: int, message: str, allowed: str) -> ClaimError:
        return ClaimError(self._text, column, message, allowed, file=self._file, key=self._key)


_KIND_NAMES: Mapping[ArgumentKind, str] = {
    "number": "a number",
    "truth": "a comparison",
    "text": "a text in quotes",
    "any": "a value",
}


def _shown(token: _Token) -> str:
    return "the end" if token.kind == "end" else f'"{token.text}"'
