"""Numbers as text: enough decimals for printed differences to agree with printed values."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from pathlib import Path

from tests.helpers.members import for_each

from subflow_app.toolkit import format as fmt
from subflow_app.vocabulary import number_text
from subflow_app.vocabulary.number_text import agreeing_decimals, fixed_text, signed_text, with_hyphens
from subflow_app.vocabulary.tables import csv_text

APP = Path(number_text.__file__).parents[1]


@for_each(
    ("reference", "others", "decimals"),
    [
        # 0.50 - 0.25 = 0.25 with two decimals already.
        (0.25, [(0.5, 0.25)], 2),
        # 0.29 - 0.27 is not 0.01, but 0.286 - 0.274 is 0.012.
        (0.286, [(0.274, -0.012)], 3),
        # The first agrees with two decimals, the second needs three.
        (0.286, [(0.5, 0.214), (0.274, -0.012)], 3),
        # Paired differences belong to other runs, and cannot be checked without a value.
        (0.286, [(0.274, -0.5), (math.nan, math.nan)], 2),
        (math.nan, [(0.274, math.nan)], 2),
        # With any number of decimals 0.67 - 0.33 ends in 4, and 0.33 in 3: the fewest decimals stay.
        (1 / 3, [(1.0, 2 / 3), (2 / 3, 1 / 3)], 2),
    ],
)
def test_decimals_grow_until_they_agree(reference: float, others: list[tuple[float, float]], decimals: int) -> None:
    assert agreeing_decimals(reference, others, 2) == decimals


@for_each(
    ("show", "text"),
    [
        (number_text.mbit_text, "−0.000"),
        (lambda value: fixed_text(value, 1), "−12.3"),
        (lambda value: signed_text(value, 1), "−12.3"),
        (lambda value: number_text.signed_percent_text(value / 100), "−12.3"),
        (number_text.rounded_text, "−12.3"),
        (number_text.count_text, "−12"),
        (lambda value: number_text.spread_texts((value, 0.0))[0], "−12"),
        (fmt.number, "−12.3"),
        (fmt.count, "−12"),
        (fmt.rate, "−12.3 bit/s"),
        (fmt.packets, "−12.3 pkt"),
    ],
)
def test_negative_numbers_have_a_minus_sign(show: Callable[[float], str], text: str) -> None:
    assert show(-12.3) == text.replace("−0.000", "0.000")


def test_a_number_that_is_rounded_to_zero_has_no_minus_sign() -> None:
    assert (fixed_text(-0.001, 2), signed_text(-0.001, 2), signed_text(0.0, 1)) == ("0.00", "+0.00", "+0.0")


def test_files_for_other_programs_have_hyphens() -> None:
    assert with_hyphens("B − A: −1.5 (−20.4 %)") == "B − A: -1.5 (-20.4 %)"
    assert csv_text(["change"], [[fixed_text(-1.5, 1)]]) == "change\n-1.5\n"


def test_signed_numbers_are_typeset() -> None:
    """Every format with a sign lies in a call of `typeset`, or in the module of numbers."""
    found = []
    for path in sorted(APP.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        typeset = {
            id(part)
            for call in ast.walk(tree)
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "typeset"
            for part in ast.walk(call)
        }
        for part in ast.walk(tree):
            if not isinstance(part, ast.FormattedValue) or part.format_spec is None or id(part) in typeset:
                continue
            if ast.unparse(part.format_spec).strip("f'\"").startswith("+") and path.name != "number_text.py":
                found.append(f"{path.relative_to(APP)}:{part.lineno}")
    assert found == []
