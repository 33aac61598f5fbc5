"""The position of the playhead and its movement."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers.members import for_each

from subflow_app.features.explain.core.transport import (
    SPEEDS,
    Transport,
    neighbour_s,
    parse_time,
    shown_time,
    speed_label,
)
from subflow_app.foundation.errors import InputError


def whole(end_s: float = 10.0) -> Transport:
    made = Transport()
    made.set_run(end_s, end_s)
    return made


def test_nobody_looks_at_a_time_until_somebody_goes_to_one() -> None:
    transport = whole()
    assert transport.time_s is None
    assert transport.shown_s == 10.0
    assert transport.advance(1.0) is None
    assert transport.go_to(3.0) == 3.0
    assert transport.go_to(-1.0) == 0.0
    assert transport.go_to(11.0) == 10.0


def test_playing_follows_the_clock_in_both_directions() -> None:
    transport = whole()
    transport.go_to(5.0)
    transport.speed = 2.0
    transport.play(1)
    assert transport.advance(0.1) == pytest.approx(5.2)
    transport.play(-1)
    assert transport.advance(0.2) == pytest.approx(4.8)
    # After a delay of the timer the playhead advances by a quarter of a second at most.
    assert transport.advance(60.0) == pytest.approx(4.3)


def test_playing_ends_at_the_ends_and_begins_at_the_other() -> None:
    transport = whole()
    transport.speed = 100.0
    transport.play(1)
    assert transport.time_s == 0.0
    assert transport.advance(0.2) == 10.0
    assert not transport.is_playing
    transport.play(-1)
    assert transport.advance(0.05) == pytest.approx(5.0)
    assert transport.advance(0.2) == 0.0
    assert not transport.is_playing
    transport.play(-1)
    assert transport.time_s == 10.0


def test_playing_waits_at_the_newest_time_of_a_run_that_goes_on() -> None:
    transport = Transport()
    transport.set_run(10.0, 2.0, follows=True)
    assert transport.shown_s == 2.0
    transport.go_to(1.9)
    assert not transport.follows
    transport.play(1)
    assert transport.advance(0.25) == 2.0
    assert transport.is_playing
    assert not transport.set_known(2.1)
    assert transport.advance(0.25) == pytest.approx(2.1)
    transport.follow()
    assert transport.set_known(3.0)
    assert transport.shown_s == 3.0
    assert transport.time_s is None


def test_steps_go_to_multiples_of_the_interval() -> None:
    transport = whole()
    transport.go_to(0.25)
    assert transport.step(1, 0.1) == pytest.approx(0.3)
    # Steps go from a multiple to the next, despite rounded sums of tenths.
    assert transport.step(1, 0.1) == pytest.approx(0.4)
    assert transport.step(-1, 0.1) == pytest.approx(0.3)
    transport.go_to(0.25)
    assert transport.step(-1, 0.1) == pytest.approx(0.2)


def test_neighbours_are_before_and_after_but_not_here() -> None:
    times = np.array([1.0, 2.0, 2.0, 3.0])
    assert neighbour_s(times, 2.0, 1) == 3.0
    assert neighbour_s(times, 2.0, -1) == 1.0
    assert neighbour_s(times, 3.0, 1) is None
    assert neighbour_s(times, 0.5, -1) is None


def test_speeds_go_from_a_thousandth_to_a_hundred() -> None:
    assert SPEEDS[0] == 0.001
    assert SPEEDS[-1] == 100.0
    assert list(SPEEDS) == sorted(set(SPEEDS))
    assert [speed_label(speed) for speed in (SPEEDS[0], 0.1, 1.0, 100.0)] == ["1/1000×", "1/10×", "1×", "100×"]


def test_times_are_written_with_the_digits_that_can_be_seen_to_move() -> None:
    assert shown_time(12.3456789) == "12.35 s"
    assert shown_time(12.3456789, 0.001) == "12.34568 s"
    assert shown_time(12.3456789, 100.0) == "12.35 s"


@pytest.mark.parametrize(("text", "time_s"), [("12.5s", 12.5), ("12500ms", 12.5), ("12.5", 12.5), (" 3 ", 3.0)])
def test_times_can_be_typed_with_and_without_units(text: str, time_s: float) -> None:
    assert parse_time(text, 60.0) == time_s


@for_each("text", ["", "soon", "12 Mbit/s", "-3s", "61s", "1e3"])
def test_what_is_no_time_of_the_run_is_told(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_time(text, 60.0)
    assert f'"{text.strip()}"' in str(caught.value)
