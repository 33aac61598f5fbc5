"""SI values become texts for people."""

from __future__ import annotations

import math
from datetime import UTC, datetime

from tests.helpers.members import for_each

from subflow_app.toolkit import format as fmt

NAN = math.nan


@for_each(
    ("value", "text"),
    [
        (8e6, "8 Mbit/s"),
        (3.1234e6, "3.12 Mbit/s"),
        (512e3, "512 kbit/s"),
        (999_999.6, "1 Mbit/s"),
        (1e9, "1 Gbit/s"),
        (12.0, "12 bit/s"),
        (0.0, "0 bit/s"),
        (math.inf, "unlimited"),
        (None, "–"),
        (NAN, "–"),
    ],
)
def test_rates(value: float | None, text: str) -> None:
    assert fmt.rate(value) == text


@for_each(
    ("value", "text"), [(0.05, "50 ms"), (1.5, "1.5 s"), (60.0, "60 s"), (250e-6, "250 µs"), (0.0, "0 s"), (NAN, "–")]
)
def test_times(value: float, text: str) -> None:
    assert fmt.time(value) == text


def test_other_units() -> None:
    assert fmt.size(600e6) == "600 MB"
    assert fmt.size(1448) == "1.45 kB"
    assert fmt.packets(67) == "67 pkt"
    assert fmt.packets(math.inf) == "unlimited"
    assert fmt.ratio(0.02) == "2 %"
    assert fmt.ratio(0.0005) == "0.05 %"
    assert fmt.count(123456) == "123\u202f456"
    assert fmt.index(0.98765) == "0.988"
    assert fmt.number(1234567.8) == "1\u202f234\u202f568"
    assert fmt.number(-12345.6) == "−12\u202f346"
    assert fmt.packets(1000) == "1000 pkt"  # can be typed in again
    assert fmt.number(-1234.5, 5) == "−1234.5"
    assert fmt.number(1.234e-6) == "0.00000123"
    # The KL divergence of a small step must not show as 0.000000.
    assert fmt.number(1.43e-8) == "1.43e−8"
    assert fmt.number(-2e-7) == "−2e−7"
    assert fmt.number(9.996e-12, 1) == "1e−11"


def test_speeds() -> None:
    assert fmt.speed(10) == "10× real time"
    assert fmt.speed(1234.5) == "1234× real time"
    assert fmt.speed(math.inf) == "as fast as possible"


@for_each(
    ("seconds", "text"),
    [(0.213, "0.2 s"), (12.4, "12 s"), (59.7, "1 min 00 s"), (65.2, "1 min 05 s"), (3720, "1 h 02 min"), (NAN, "–")],
)
def test_durations(seconds: float, text: str) -> None:
    assert fmt.duration(seconds) == text


def test_progress_keeps_its_width() -> None:
    assert fmt.progress(2.0, 60.0) == "2.0 of 60 s"


def test_moments_are_local_and_relative() -> None:
    # Made from local times, so that the expectation holds in every time zone.
    now = datetime(2026, 11, 21, 13, 5).astimezone()
    assert fmt.moment(datetime(2026, 11, 21, 9, 7).astimezone(UTC), now) == "today 09:07"
    assert fmt.moment(datetime(2026, 11, 20, 23, 59).astimezone(UTC), now) == "yesterday 23:59"
    assert fmt.moment(datetime(2026, 3, 2, 8, 0).astimezone(UTC).isoformat(), now) == "2 Mar 2026 08:00"
    assert fmt.moment(None) == "–"
