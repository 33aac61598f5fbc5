"""Formulas of explorables and their numbers, for both evaluators: the program and a browser."""

from __future__ import annotations

import math

NAMES = {"a": 3.0, "b": 2.0, "cwnd_1": 0.5}
"""Numbers that formulas may name."""

NUMBERS: list[tuple[str, float]] = [
    ("2 + 3 * 4", 14),
    ("(2 + 3) * 4", 20),
    ("10 - 4 - 3", 3),
    ("24 / 4 / 2", 3),
    ("-a ** 2", -9),
    ("(-a) ** 2", 9),
    ("2 ** 3 ** 2", 512),
    ("2 ** -1", 0.5),
    ("--2", 2),
    ("a * -b", -6),
    ("1e3 + 2.5", 1002.5),
    ("min(3, a, b)", 2),
    ("max(a * b, 5)", 6),
    ("min(7)", 7),
    ("sqrt(a * a + 7)", 4),
    ("cwnd_1*8", 4),
    ("sqrt(-1)", math.nan),
    ("1 / (a - 3)", math.nan),
    ("0 / 0 + 1", math.nan),
    ("1e300 * 1e300", math.nan),
    ("1 / (1e300 * 1e300)", math.nan),
    ("min(1, 1 / 0)", math.nan),
    ("(0 - 8) ** 0.5", math.nan),
    ("10 ** 400", math.nan),
]
