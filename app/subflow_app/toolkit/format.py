"""SI values as text for users: "8 Mbit/s", "50 ms", "67 pkt".

Every function takes an SI value (bit/s, s, bytes, packets, ratio) and returns text, with a unit if the quantity has
one. A missing value (NaN, ``None``) becomes an en dash. An infinite rate, time, size or number becomes "unlimited".
Numbers use a decimal point in every language, as in fields, files and figures, so a value read off a plot can be typed
into a field. In numbers of five or more digits, a thin space groups thousands, because the meaning of a comma differs
between languages.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.number_text import MINUS, typeset

MISSING = "\N{EN DASH}"
UNLIMITED = translatable("unlimited")

_THIN = "\N{NARROW NO-BREAK SPACE}"

_RATE = ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s"))
_TIME = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_SIZE = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))

_MONTHS = (
    translatable("Jan"),
    translatable("Feb"),
    translatable("Mar"),
    translatable("Apr"),
    translatable("May"),
    translatable("Jun"),
    translatable("Jul"),
    translatable("Aug"),
    translatable("Sep"),
    translatable("Oct"),
    translatable("Nov"),
    translatable("Dec"),
)


def number(value: float | None, digits: int = 3) -> str:
    """A number with ``digits`` significant digits and grouped thousands: 12345.6 -> "12 346".

    Numbers below a millionth have an exponent, because readers misjudge many leading zeros: 1.43e−8, not 0.0000000143.
    """
    if value is None or math.isnan(value):
        return MISSING
    if math.isinf(value):
        return tr(UNLIMITED) if value > 0 else MINUS + tr(UNLIMITED)
    if value == 0:
        return "0"
    if abs(value) < 1e-6:
        mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
        return typeset(f"{mantissa.rstrip('0').rstrip('.') if '.' in mantissa else mantissa}e{int(exponent)}")
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{decimals}f}"
    return typeset(_grouped(text.rstrip("0").rstrip(".") if "." in text else text))


def rate(bit_per_s: float | None, digits: int = 3) -> str:
    """A data rate: 8e6 -> "8 Mbit/s"."""
    return _scaled(bit_per_s, _RATE, digits)


def time(seconds: float | None, digits: int = 3) -> str:
    """A delay or an instant: 0.05 -> "50 ms"."""
    return _scaled(seconds, _TIME, digits)


def size(size_bytes: float | None, digits: int = 3) -> str:
    """An amount of data, with decimal prefixes: 600e6 -> "600 MB"."""
    return _scaled(size_bytes, _SIZE, digits)


def packets(count: float | None, digits: int = 3) -> str:
    """A number of packets: 67 -> "67 pkt"."""
    return _with_unit(number(count, digits), "pkt")


def ratio(value: float | None, digits: int = 3) -> str:
    """A ratio in percent: 0.02 -> "2 %"."""
    return _with_unit(number(None if value is None else value * 100.0, digits), "%")


def count(value: float | None) -> str:
    """A whole number with grouped thousands: 123456 -> "123 456"."""
    return MISSING if value is None or math.isnan(value) else typeset(_grouped(f"{round(value):,}"))


def index(value: float | None) -> str:
    """An index between 0 and 1 such as Jain's, always with three decimals, so that columns line up."""
    return MISSING if value is None or math.isnan(value) else f"{value:.3f}"


def speed(sim_s_per_s: float | None) -> str:
    """Speed of simulated time: 10 -> "10× real time"."""
    if sim_s_per_s is None or math.isnan(sim_s_per_s):
        return MISSING
    if math.isinf(sim_s_per_s):
        return tr("as fast as possible")
    return tr("{factor}× real time", factor=number(sim_s_per_s, 2))


def duration(seconds: float | None) -> str:
    """A duration with the precision useful to a waiting user: 0.213 -> "0.2 s", 65 -> "1 min 05 s"."""
    if seconds is None or math.isnan(seconds) or math.isinf(seconds):
        return MISSING
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def progress(now_s: float, end_s: float) -> str:
    """Simulated time of a run: "12.3 of 60 s"; always with one decimal, so that the width of the text is steady."""
    return tr("{now} of {end} s", now=f"{now_s:.1f}", end=number(end_s, 6))


def moment(utc: datetime | str | None, now: datetime | None = None) -> str:
    """A point in time, in local time: "today 13:05", "yesterday 09:12", "12 Nov 2026 09:12".

    Args:
        utc: a datetime or ISO 8601 text; if it has no time zone, UTC is assumed.
        now: an aware datetime; default: the current time.
    """
    if not utc:
        return MISSING
    then = datetime.fromisoformat(utc) if isinstance(utc, str) else utc
    if then.tzinfo is None:
        then = then.replace(tzinfo=UTC)
    then = then.astimezone()
    today = (now or datetime.now(UTC)).astimezone().date()
    clock = then.strftime("%H:%M")
    if then.date() == today:
        return tr("today {time}", time=clock)
    if then.date() == today - timedelta(days=1):
        return tr("yesterday {time}", time=clock)
    return tr(
        "{day} {month} {year} {time}", day=then.day, month=tr(_MONTHS[then.month - 1]), year=then.year, time=clock
    )


def _scaled(value: float | None, steps: tuple[tuple[float, str], ...], digits: int) -> str:
    if value is None or math.isnan(value):
        return MISSING
    if math.isinf(value):
        return tr(UNLIMITED)
    base_unit = next(unit for factor, unit in steps if factor == 1.0)
    if value == 0:
        return f"0 {base_unit}"
    # A value that would be rounded up to 1000 gets the next prefix: 999.9996 kbit/s is "1 Mbit/s", not "1000 kbit/s".
    rounded = abs(value) * (1 + 0.5 * 10.0**-digits)
    factor, unit = next(((f, u) for f, u in steps if rounded >= f), steps[-1])
    return f"{number(value / factor, digits)} {unit}"


def _grouped(text: str) -> str:
    """The text with thin spaces instead of grouping commas; four digits are not grouped."""
    has_four = len(text.partition(".")[0].lstrip("-")) == len("1,000")
    return text.replace(",", "" if has_four else _THIN)


def _with_unit(text: str, unit: str) -> str:
    return text if text in (MISSING, tr(UNLIMITED)) else f"{text} {unit}"
