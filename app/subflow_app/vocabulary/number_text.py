"""Numbers and points in time as text: the formats of rates, times, ratios and counts in all tables."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal

NOTHING = "–"
"""Text for a missing number."""
MINUS = "\N{MINUS SIGN}"
"""Minus sign of numbers that people read; files for other programs have a hyphen, see `with_hyphens`."""
_MINUS_OF_NUMBER = re.compile(f"{MINUS}(?=[\\d.])")
_MORE_DECIMALS = 3


def typeset(number: str) -> str:
    """The text of a number for people, with a minus sign in place of each hyphen."""
    return number.replace("-", MINUS)


def with_hyphens(text: str) -> str:
    """The text with a hyphen in place of the minus sign of each number, which other programs can read."""
    return _MINUS_OF_NUMBER.sub("-", text)


def ordinal(text: str) -> int | None:
    """The number of a subflow, row or copy from its text; None if it is not a number or has more than nine digits."""
    return int(text) if text.isdecimal() and len(text) <= 9 else None


def mbit_text(rate_bps: object) -> str:
    """A rate in Mbit/s with three decimals, without the unit."""
    return fixed_text(rate_bps, 3, 1e-6)


def milliseconds_text(time_s: object) -> str:
    """A time in milliseconds with one decimal, without the unit."""
    return fixed_text(time_s, 1, 1e3)


def percent_text(ratio: object) -> str:
    """A ratio in percent with two decimals, without the percent sign."""
    return fixed_text(ratio, 2, 100.0)


def signed_percent_text(ratio: float | None) -> str:
    """A difference in percent with its sign and one decimal, without the unit."""
    return NOTHING if ratio is None else signed_text(ratio * 100, 1)


def signed_text(value: float, decimals: int) -> str:
    """A number with its sign and a fixed number of decimals; a number that is rounded to zero has a plus."""
    text = f"{value:+.{decimals}f}"
    return typeset(text if float(text) else text.replace("-", "+"))


def count_text(count: object) -> str:
    """A count with digits in groups of three: ``123 456``."""
    number = finite(count)
    return NOTHING if number is None else typeset(f"{number:,.0f}".replace(",", " "))


def duration_text(time_s: object) -> str:
    """A duration with its unit: ``410 ms``, ``8.25 s``, from 100 s on ``3 min 20 s``, from 1 h on ``1 h 05 min``."""
    number = finite(time_s)
    if number is None:
        return NOTHING
    if number >= 100:
        hours, rest = divmod(round(number), 3600)
        minutes, seconds = divmod(rest, 60)
        if hours:
            return f"{hours} h {minutes:02d} min"
        return f"{minutes} min {seconds:02d} s" if seconds else f"{minutes} min"
    if number >= 1 or number == 0:
        return f"{number:.3g} s"
    return f"{number * 1e3:.3g} ms"


def speed_text(speed: float) -> str:
    """Simulated time per wall-clock time: ``146×``; a dash while unknown."""
    if not speed > 0:
        return NOTHING
    return f"{speed:.0f}×" if speed >= 10 else f"{speed:.2g}×"


def rounded_text(value: float, digits: int = 3) -> str:
    """A number with `digits` significant digits and, up to 10 digits, without an exponent: 1300, not 1.3e+03."""
    return typeset(f"{float(f'{value:.{digits}g}'):.10g}")


def fixed_text(value: object, decimals: int, scale: float = 1.0) -> str:
    """A number with a fixed number of decimals; `NOTHING` for anything else. Zero has no sign."""
    number = finite(value)
    if number is None:
        return NOTHING
    text = f"{number * scale:.{decimals}f}"
    return typeset(text if float(text) else text.removeprefix("-"))


def agreeing_decimals(reference: float, others: Iterable[tuple[float, float]], decimals: int) -> int:
    """The fewest decimals with which printed differences equal the differences of the printed values.

    With two decimals, 0.286 and 0.274 would be printed with a difference of 0.02, although their difference 0.012 is
    printed as 0.01.

    Args:
        reference: the value with which the others are compared, in the unit for display.
        others: further values, each with its difference from the reference; pairs with a wrong difference are ignored.
        decimals: the smallest allowed number of decimals.

    Returns:
        At most `_MORE_DECIMALS` more than `decimals`; if differences never agree, the number for which most agree.
    """
    known = [
        (value, difference)
        for value, difference in others
        if math.isclose(value - reference, difference, rel_tol=1e-6, abs_tol=1e-9 * abs(reference))
    ]

    def disagreeing(places: int) -> int:
        def printed(number: float) -> Decimal:
            return Decimal(f"{number:.{places}f}")

        return sum(printed(value) - printed(reference) != printed(difference) for value, difference in known)

    return min(range(decimals, decimals + _MORE_DECIMALS + 1), key=disagreeing)


def counted(number: int, one: str) -> str:
    """A number of objects, in English: ``1 run``, ``3 runs``."""
    return f"{number} {one}{'' if number == 1 else 's'}"


def fixed(decimals: int, scale: float = 1.0) -> Callable[[object], str]:
    """A function that calls `fixed_text` with these arguments, for columns of tables."""
    return lambda value: fixed_text(value, decimals, scale)


def finite(value: object) -> float | None:
    """The value as a finite number; None for everything else (null in the document, NaN, text)."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


_RECENT = timedelta(days=180)
_CLOCKS_DIFFER = timedelta(days=1)


def short_time_text(moment: datetime, now: datetime | None = None) -> str:
    """Day and time within the last half year, otherwise day and year, as in `ls`; in the local time zone.

    Args:
        moment: an aware datetime.
        now: an aware datetime; default: now.
    """
    age = (now or datetime.now(UTC)) - moment
    return moment.astimezone().strftime("%d %b %H:%M" if -_CLOCKS_DIFFER < age < _RECENT else "%d %b %Y")


def spread_texts(values: Sequence[float], digits: int = 2) -> list[str]:
    """Numbers with enough decimals to distinguish them: `digits` significant digits of their spread.

    >>> spread_texts((9.6518, 9.6521, 9.6524))
    ['9.65180', '9.65210', '9.65240']
    """
    spread = max(values) - min(values)
    reach = spread or max(abs(value) for value in values) or 1.0
    decimals = max(0, digits - 1 - math.floor(math.log10(reach)))
    return [fixed_text(value, decimals) for value in values]
