"""Points in time as text: the year appears if it is not obvious."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.helpers.members import for_each

from subflow_app.vocabulary.number_text import short_time_text

NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)


@for_each(
    ("moment", "text"),
    [
        (datetime(2026, 6, 15, 9, 30, tzinfo=UTC), "15 Jun 09:30"),
        (datetime(2026, 1, 2, tzinfo=UTC), "02 Jan 00:00"),
        (datetime(2025, 6, 15, tzinfo=UTC), "15 Jun 2025"),
        (datetime(2026, 6, 15, 20, tzinfo=UTC), "15 Jun 20:00"),  # the clock of another machine
        (datetime(2110, 1, 1, tzinfo=UTC), "01 Jan 2110"),
    ],
)
def test_the_year_is_named_beyond_half_a_year(moment: datetime, text: str) -> None:
    assert short_time_text(moment, NOW) == text
