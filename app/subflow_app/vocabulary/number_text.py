"""Numbers and points in time as text: rates, times, ratios and counts as every table writes them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal

NOTHING = "–"
"""What stands where there is no number."""
MINUS = "\N{MINUS SIGN}"
"""What people read in place of a hyphen."""
_MORE_DECIMALS = 3


def ordinal(text: str) -> int | None:
    """The number of a subflow, a row or a copy as people write it; None if it is none, or of more than nine digits."""
    return int(text) if text.isdecimal() and len(text) <= 9 else None


def mbit_text(rate_bps: object) -> str:
    """A rate as Mbit/s with three decimals, unit left out."""
    return fixed_text(rate_bps, 3, 1e-6)


def milliseconds_text(time_s: object) -> str:
    """A time as milliseconds with one decimal, unit left out."""
    return fixed_text(time_s, 1, 1e3)


def percent_text(ratio: object) -> str:
    """A ratio as percent with two decimals, sign left out."""
    return fixed_text(ratio, 2, 100.0)


def signed_percent_text(ratio: float | None) -> str:
    """A difference as percent with its sign and one decimal, the unit left out."""
    return NOTHING if ratio is None else f"{ratio * 100:+.1f}"


def count_text(count: object) -> str:
    """A count with thin groups of three digits: ``123 456``."""
    number = finite(count)
    return NOTHING if number is None else f"{number:,.0f}".replace(",", " ")


def duration_text(time_s: object) -> str:
    """A duration with its unit: ``410 ms``, ``8.25 s``, and from 100 s on ``3 min 20 s``."""
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
    """Simulated time per wall time: ``146×``; a dash before anything is known."""
    if not speed > 0:
        return NOTHING
    return f"{speed:.0f}×" if speed >= 10 else f"{speed:.2g}×"


def rounded_text(value: float, digits: int = 3) -> str:
    """So many digits and, up to 10, never an exponent: 1300, not 1.3e+03."""
    return f"{float(f'{value:.{digits}g}'):.10g}"


def fixed_text(value: object, decimals: int, scale: float = 1.0) -> str:
    """A number with so many decimals; `NOTHING` for what is none."""
    number = finite(value)
    return NOTHING if number is None else f"{number * scale:.{decimals}f}"


def agreeing_decimals(reference: float, others: Iterable[tuple[float, float]], decimals: int) -> int:
    """The fewest decimals with which differences, as printed, are those of the printed values.

    With two decimals 0.286 and 0.274 would differ by 0.02, although the difference 0.012 would be printed as 0.01.

    Args:
        reference: the value that the others are compared with, in the unit shown.
        others: further values and their differences from the reference. Differences of other pairs do not count.
        decimals: the fewest allowed.

    Returns:
        At most `_MORE_DECIMALS` more than allowed; where differences never agree, the number with most that do.
    """
    told = [
        (value, difference)
        for value, difference in others
        if math.isclose(value - reference, difference, rel_tol=1e-6, abs_tol=1e-9 * abs(reference))
    ]

    def disagreeing(places: int) -> int:
        def printed(number: float) -> Decimal:
            return Decimal(f"{number:.{places}f}")

        return sum(printed(value) - printed(reference) != printed(difference) for value, difference in told)

    return min(range(decimals, decimals + _MORE_DECIMALS + 1), key=disagreeing)


def counted(number: int, one: str) -> str:
    """So many things, in English: ``1 run``, ``3 runs``."""
    return f"{number} {one}{'' if number == 1 else 's'}"


def fixed(decimals: int, scale: float = 1.0) -> Callable[[object], str]:
    """Writes numbers so: for columns of tables."""
    return lambda value: fixed_text(value, decimals, scale)


def finite(value: object) -> float | None:
    """The value as a finite number; None for everything else (null in the document, NaN, text)."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


_RECENT = timedelta(days=180)
_CLOCKS_DIFFER = timedelta(days=1)


def short_time_text(moment: datetime, now: datetime | None = None) -> str:
    """Day and time in the last half year, day and year at any other time, as `ls` has it; in the local time zone.

    Args:
        moment: aware.
        now: aware; the present by default.
    """
    age = (now or datetime.now(UTC)) - moment
    return moment.astimezone().strftime("%d %b %H:%M" if -_CLOCKS_DIFFER < age < _RECENT else "%d %b %Y")


def spread_texts(values: Sequence[float], digits: int = 2) -> list[str]:
    """Numbers with as many decimals as telling them apart takes: so many digits of what lies between them.

    >>> spread_texts((9.6518, 9.6521, 9.6524))
    ['9.65180', '9.65210', '9.65240']
    """
    spread = max(values) - min(values)
    reach = spread or max(abs(value) for value in values) or 1.0
    decimals = max(0, digits - 1 - math.floor(math.log10(reach)))
    return [f"{value:.{decimals}f}" for value in values]
