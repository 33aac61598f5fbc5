"""Conversion between quantities as text ("8Mbit/s", "50ms", "2%") and SI numbers.

The conversion is exact: text is scaled in decimal arithmetic and rounded to a double once, so that the output of
`format_quantity` parses to the same double.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal, localcontext
from enum import StrEnum
from types import MappingProxyType

from subflow_sim.errors import ParamError


class Dimension(StrEnum):
    """Kind of a parameter's value."""

    RATE = "rate"
    TIME = "time"
    SIZE = "size"
    QUEUE = "queue"
    RATIO = "ratio"
    COUNT = "count"
    NUMBER = "number"
    TEXT = "text"
    CHOICE = "choice"
    FLAG = "flag"
    POINT = "point"
    NAME = "name"
    PATHS = "paths"
    LIST = "list"
    COUNTS = "counts"
    POLICY = "policy"


UNITS: Mapping[Dimension, Mapping[str, Decimal]] = MappingProxyType(
    {
        Dimension.RATE: {
            "bit/s": Decimal(1),
            "kbit/s": Decimal("1e3"),
            "Mbit/s": Decimal("1e6"),
            "Gbit/s": Decimal("1e9"),
        },
        Dimension.TIME: {
            "ns": Decimal("1e-9"),
            "us": Decimal("1e-6"),
            "µs": Decimal("1e-6"),
            "ms": Decimal("1e-3"),
            "s": Decimal(1),
            "min": Decimal(60),
        },
        Dimension.SIZE: {"B": Decimal(1), "kB": Decimal("1e3"), "MB": Decimal("1e6"), "GB": Decimal("1e9")},
        Dimension.QUEUE: {"pkt": Decimal(1)},
        Dimension.RATIO: {"%": Decimal("1e-2"), "": Decimal(1)},
        Dimension.COUNT: {"": Decimal(1)},
        Dimension.NUMBER: {"": Decimal(1)},
    }
)
"""SI value of each accepted unit. Dimensions that list "" accept a number without a unit."""

# Units in the output of `format_quantity`: without "min", which is never the shortest, and "µs", which keyboards lack.
_PRINTED: Mapping[Dimension, tuple[str, ...]] = {
    Dimension.RATE: ("bit/s", "kbit/s", "Mbit/s", "Gbit/s"),
    Dimension.TIME: ("s", "ms", "us", "ns"),
    Dimension.SIZE: ("B", "kB", "MB", "GB"),
    Dimension.QUEUE: ("pkt",),
    Dimension.RATIO: ("%",),
    Dimension.COUNT: ("",),
    Dimension.NUMBER: ("",),
}

# Spellings from other tools, with the corresponding units. Wrong case ("mbit/s") is detected without this table.
_OTHER_SPELLINGS = {
    "bps": "bit/s", "kbps": "kbit/s", "mbps": "Mbit/s", "gbps": "Gbit/s",
    "bits/s": "bit/s", "kbits/s": "kbit/s", "mbits/s": "Mbit/s", "gbits/s": "Gbit/s",
    "mbs": "Mbit/s", "kbs": "kbit/s", "gbs": "Gbit/s", "mb/s": "Mbit/s", "kb/s": "kbit/s", "gb/s": "Gbit/s",
    "mbit": "Mbit/s", "kbit": "kbit/s", "gbit": "Gbit/s",
    "sec": "s", "secs": "s", "second": "s", "seconds": "s", "msec": "ms", "usec": "us", "nsec": "ns",
    "m": "min", "mins": "min", "minute": "min", "minutes": "min",
    "byte": "B", "bytes": "B", "kib": "kB", "mib": "MB", "gib": "GB",
    "p": "pkt", "pkts": "pkt", "packet": "pkt", "packets": "pkt",
    "percent": "%",
}  # fmt: skip

# At most 60 digits and an exponent of 4 digits: longer numbers are typing errors that would only cost time.
_QUANTITY = re.compile(
    r"\s*([+-]?[0-9](?:_?[0-9]){0,59}(?:\.[0-9]{1,60})?(?:[eE][+-]?[0-9]{1,4})?)\s*([^0-9\s.,][^\s]*)?\s*\Z"
)
_PLAIN_CHARACTERS = 21  # longer numbers are written with an exponent


def split_quantity(text: str) -> tuple[Decimal, str] | None:
    """Splits "8 Mbit/s" into its number and its unit (may be empty); None if the text does not start with a number."""
    match = _QUANTITY.match(text)
    return None if match is None else (Decimal(match[1].replace("_", "")), match[2] or "")


def units_text(dimension: Dimension) -> str:
    """The units of a dimension as prose: '"ns", "us", "ms", "s" or "min"'."""
    names = [f'"{unit}"' for unit in UNITS[dimension] if unit not in ("", "µs")]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}" if names else "no unit"


def parse_quantity(text: str, dimension: Dimension) -> float:
    """Reads a quantity with its unit.

    Args:
        text: text such as "8Mbit/s"; spaces around the number are allowed, and the unit's case matters (m is milli, M
            is mega).
        dimension: required dimension.

    Returns:
        The value in SI units (bit/s, s, bytes, packets, ratio), correctly rounded; infinite if too large for a double.

    Raises:
        ParamError: if the text is not a number with a unit of this dimension.
    """
    units = UNITS[dimension]
    example = _EXAMPLES[dimension]
    split = split_quantity(text)
    if split is None:
        hint = ", decimals need a point" if re.match(r"\s*[+-]?\d+,\d", text) else ""
        noun = "a number" if "" in units and len(units) == 1 else "a number with a unit"
        raise ParamError(f"this is not {noun}{hint}", example)
    number, unit = split
    if unit not in units:
        if not unit:
            raise ParamError("the unit is missing", f"a number with {units_text(dimension)}, {example}")
        if len(units) == 1 and "" in units:
            raise ParamError(f'"{unit}" does not belong here, this number has no unit', example)
        meant = _meant_unit(unit, dimension)
        hint = f', did you mean "{meant}"?' if meant else ""
        allowed = f"a number with {units_text(dimension)}"
        raise ParamError(f'"{unit}" is not a unit of {_NOUNS[dimension]}{hint}', f"{allowed}, {example}")
    with localcontext(prec=160):
        return float(number * units[unit])


def format_quantity(value: float, dimension: Dimension) -> str:
    """Writes a quantity with the unit that makes it shortest: 8e6 -> "8Mbit/s", 0.05 -> "50ms", 0.02 -> "2%".

    Args:
        value: SI value, finite.
        dimension: dimension of the value.

    Returns:
        Text that `parse_quantity` converts back to the same double.

    Raises:
        ValueError: if the value is not finite.
    """
    if not math.isfinite(value):
        raise ValueError(f"{value} has no text with a unit")
    # repr is the shortest text that identifies a double; integers are exact
    digits = Decimal(value) if isinstance(value, int) else Decimal(repr(value))
    candidates = []
    with localcontext(prec=160):
        for order, unit in enumerate(_PRINTED[dimension]):
            number = _plain(digits / UNITS[dimension][unit])
            # Among equally short strings, those without a decimal point read best: "1500B", not "1.5kB".
            candidates.append((len(number) + len(unit), "." in number, order, number + unit))
    return min(candidates)[-1]


def _plain(number: Decimal) -> str:
    """Digits without trailing zeros, and without an exponent unless the number is very long."""
    if number == 0:
        return "0"
    text = f"{number:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    if len(text) <= _PLAIN_CHARACTERS:
        return text
    return f"{number.normalize():e}".replace("e+", "e")


def _meant_unit(unit: str, dimension: Dimension) -> str | None:
    lowered = unit.lower()
    for known in UNITS[dimension]:
        if known and known.lower() == lowered:
            return known
    other = _OTHER_SPELLINGS.get(lowered)
    if other in UNITS[dimension]:
        return other
    # queue limits may also be given in bytes
    return _meant_unit(unit, Dimension.SIZE) if dimension is Dimension.QUEUE else None


_EXAMPLES: Mapping[Dimension, str] = {
    Dimension.RATE: 'e.g. "8Mbit/s"',
    Dimension.TIME: 'e.g. "50ms"',
    Dimension.SIZE: 'e.g. "8MB"',
    Dimension.QUEUE: 'e.g. "67pkt"',
    Dimension.RATIO: 'e.g. "2%" or 0.02',
    Dimension.COUNT: "e.g. 5",
    Dimension.NUMBER: "e.g. 0.9",
}
_NOUNS: Mapping[Dimension, str] = {
    Dimension.RATE: "rate",
    Dimension.TIME: "time",
    Dimension.SIZE: "size",
    Dimension.QUEUE: "queue length",
    Dimension.RATIO: "ratio",
}
