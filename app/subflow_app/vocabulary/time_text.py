"""Points in time as text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

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
