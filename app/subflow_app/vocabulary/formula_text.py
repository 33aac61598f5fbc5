"""Formulas of rules as trees of fractions, indices and words, for drawing.

The source text is a rule as written in the core, e.g. `cwnd + acked * min(alpha / cwnd_total, 1 / cwnd)`. Words between
formulas remain words. The alternative, LaTeX typeset by matplotlib, takes half a second to import and would require a
second version of every rule.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

GREEK = {
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "delta": "δ",
    "theta": "θ",
    "lambda": "λ",
}
"""Greek letters that formulas spell out."""

_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<number>\d+(?:[.,]\d+)?(?:e[+-]?\d+)?)|(?P<name>[A-Za-z][\w']*)|(?P<sign><=|>=|!=|.)", re.DOTALL
)
_SIGNS = {"*": "·", "·": "·", "-": "−", "<=": "≤", ">=": "≥", "!=": "≠"}
# Names with an index; other underscores are part of a name, as in total_rate.
_INDEXED = re.compile(r"(?P<base>[A-Za-z]|cwnd|s?rtt|d?RTT|" + "|".join(GREEK) + r")_(?P<index>[A-Za-z0-9]+)")
# Functions with an index: max_k(x_k), sum_k x_k.
_OVER = re.compile(r"(?P<base>max|min|sum)_(?P<index>[a-z])")
# Adjacent quantities form a product, as in "2 rate srtt"; any other adjacent names are words.
_QUANTITIES = frozenset({"rate", "srtt", "rtt", "cwnd", "margin", "reference"})
_CLOSING = {"(": ")", "[": "]"}

_BLOCK = re.compile(r"(?:\A|\n)\n*((?: {4}[^\n]*(?:\n|\Z))+)")
_SQUARE = str.maketrans({"²": "^2", "³": "^3"})
_PHRASE = r"[^\W\d_]{2,}(?:[ -][^\W\d_]+)*"
_APART = re.compile(r" {4,}")  # separates formulas in one line


@dataclass(frozen=True, slots=True)
class Word:
    """A word, number or sign; a line may break before it if ``gap`` is set."""

    text: str
    is_italic: bool = False
    gap: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """Elements in sequence."""

    parts: tuple[Node, ...]
    gap: bool = False


@dataclass(frozen=True, slots=True)
class Fraction:
    """A fraction with a horizontal line."""

    above: Node
    below: Node
    gap: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    """An element with an index or an exponent."""

    base: Node
    index: Node | None = None
    power: Node | None = None
    gap: bool = False


@dataclass(frozen=True, slots=True)
class Root:
    """A square root."""

    inside: Node
    gap: bool = False


Node = Word | Row | Fraction | Script | Root


def split_blocks(markdown: str) -> list[tuple[bool, str]]:
    """Parts of a text, each with a flag that is True for blocks of formulas (lines indented by four spaces)."""
    parts = _BLOCK.split(markdown)
    return [(bool(number % 2), part.strip("\n")) for number, part in enumerate(parts) if part.strip()]


def block_formulas(block: str) -> list[str]:
    """The formulas of a block, in the form that `parse_formula` accepts.

    In blocks, names may be phrases, and the letter x multiplies, as in ``w x RTT / size of a packet``. At least four
    spaces separate formulas in one line.
    """
    found = []
    for text in _APART.split(re.sub(r"\n", " " * 4, block.strip())):
        formula = re.sub(r"(?<=\S) x (?=\S)", " × ", " ".join(text.split())).translate(_SQUARE)
        formula = re.sub(r"(?<=[(\[]) | (?=[)\],])", "", formula)
        found.append(re.sub(rf"({_PHRASE}) / ({_PHRASE})(?!\()", _as_quotient, formula))
    return found


def _as_quotient(found: re.Match[str]) -> str:
    above, below = (f"({part})" if " " in part else part for part in found.groups())
    return f"{above} / {below}"


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    is_spaced: bool


def parse_formula(text: str) -> Row:
    """The tree of a formula; never fails, because any other text becomes words and signs."""
    tokens, is_spaced = [], False
    for found in _TOKEN.finditer(text):
        kind = found.lastgroup or "sign"
        if kind == "space":
            is_spaced = True
            continue
        tokens.append(_Token(kind, found[0], is_spaced))
        is_spaced = False
    return _Parser(tokens).row("")


class _Parser:
    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._at = 0

    def row(self, end: str) -> Row:
        parts: list[Node] = []
        while (token := self._peek()) is not None and token.text != end:
            parts += self._product() if _begins_factor(token) else [self._sign()]
        return Row(tuple(parts))

    def _peek(self, ahead: int = 0) -> _Token | None:
        at = self._at + ahead
        return self._tokens[at] if at < len(self._tokens) else None

    def _next(self) -> _Token:
        token = self._tokens[self._at]
        self._at += 1
        return token

    def _sign(self) -> Word:
        token = self._next()
        is_hyphen = (
            token.text == "-" and not token.is_spaced and self._at > 1 and self._tokens[self._at - 2].kind == "name"
        )
        return Word("-" if is_hyphen else _SIGNS.get(token.text, token.text), gap=token.is_spaced)

    def _product(self) -> list[Node]:
        """Parts of a product; a slash divides all factors since the last fraction by the next factor."""
        found: list[Node] = []
        above: list[Node] = []
        below: list[Node] = []

        def finish() -> None:
            if below:
                found.append(Fraction(_bare(above), _bare(below), gap=above[0].gap))
            else:
                found.extend(above)
            above.clear()
            below.clear()

        before = self._peek()
        assert before is not None
        above.append(self._factor())
        while (token := self._peek()) is not None:
            after = self._peek(1)
            if token.text == "/" and after is not None and _begins_factor(after) and not _is_unit(before, after):
                self._next()
                before = after
                below.append(self._factor())
            elif token.text in ("*", "·") and after is not None and _begins_factor(after):
                if below:
                    finish()
                    found.append(self._sign())
                else:
                    above.append(self._sign())
                before = after
                above.append(self._factor())
            elif _begins_factor(token) and _multiplies(before, token):
                if below:
                    finish()
                before = token
                above.append(self._factor())
            else:
                break
        finish()
        return found

    def _factor(self) -> Node:
        token = self._next()
        if token.text in _CLOSING:
            node: Node = self._bracketed(token)
        elif token.kind == "name":
            node = self._named(token)
        else:
            node = Word(token.text, gap=token.is_spaced)
        sign, power = self._peek(), self._peek(1)
        if sign is not None and sign.text == "^" and power is not None and _begins_factor(power):
            self._next()
            raised = _bare([self._factor()])
            if isinstance(node, Script) and node.power is None:
                return Script(node.base, node.index, raised, gap=node.gap)
            return Script(node, power=raised, gap=node.gap)
        return node

    def _bracketed(self, opening: _Token) -> Row:
        closing = _CLOSING[opening.text]
        inside = self.row(closing)
        parts: list[Node] = [Word(opening.text), *inside.parts]
        if self._peek() is not None:
            self._next()
            parts.append(Word(closing))
        return Row(tuple(parts), gap=opening.is_spaced)

    def _named(self, token: _Token) -> Node:
        word, of, what = self._peek(), self._peek(), self._peek(1)
        if token.text == "sum" and of is not None and of.text == "of" and what is not None and what.kind == "name":
            self._next()
            return Row((Word("Σ"), self._named(self._next())), gap=token.is_spaced)
        if word is not None and word.text == "(" and not word.is_spaced:
            inside = self._bracketed(self._next())
            if token.text == "sqrt":
                return Root(Row(inside.parts[1:-1]), gap=token.is_spaced)
            name = Word("Σ") if token.text == "sum" else _name(token.text)
            return Row((name, inside), gap=token.is_spaced)
        found = _name(token.text)
        if isinstance(found, Script):
            return Script(found.base, found.index, gap=token.is_spaced)
        assert isinstance(found, Word)
        return Word(found.text, found.is_italic, gap=token.is_spaced)


def _name(text: str) -> Node:
    over = _OVER.fullmatch(text)
    if over is not None:
        return Script(Word("Σ" if over["base"] == "sum" else over["base"]), Word(over["index"]))
    indexed = _INDEXED.fullmatch(text)
    if indexed is not None:
        return Script(_name(indexed["base"]), Word(indexed["index"]))
    if text in GREEK:
        return Word(GREEK[text], is_italic=True)
    return Word(text, is_italic=len(text) == 1 and text not in "aI")


def _begins_factor(token: _Token) -> bool:
    return token.kind in ("number", "name") or token.text in _CLOSING


def _is_unit(above: _Token, below: _Token) -> bool:
    """True if a slash belongs to a unit: "0.5 Mbit/s"."""
    return above.text.endswith(("bit", "pkt", "packets")) and below.text == "s"


def _is_quantity(token: _Token) -> bool:
    text = token.text
    is_letter = len(text) == 1 and text not in "aI"
    return token.kind == "name" and (is_letter or "_" in text or text in GREEK or text in _QUANTITIES)


def _multiplies(before: _Token, after: _Token) -> bool:
    """True if two adjacent tokens form a product; a slash after the product divides all of it."""
    if not after.is_spaced:
        return before.kind == "number" and _is_quantity(after)  # 3W
    if _OVER.fullmatch(before.text):
        return False  # a sum covers all following factors
    if before.kind == "number" or before.text in _CLOSING:
        return _is_quantity(after) or (before.kind == "number" and after.text == "(")
    return _is_quantity(before) and (_is_quantity(after) or after.text == "(")


def _bare(factors: list[Node]) -> Node:
    """The factors as one element, without enclosing brackets, which a fraction or superscript does not need."""
    if len(factors) == 1 and isinstance(factors[0], Row):
        parts = factors[0].parts
        first, last = (parts[0], parts[-1]) if len(parts) > 1 else (None, None)
        if isinstance(first, Word) and isinstance(last, Word) and _CLOSING.get(first.text) == last.text:
            return Row(parts[1:-1])
    return Row(tuple(factors))
