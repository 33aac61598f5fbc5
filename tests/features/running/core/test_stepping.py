"""The end of a step, and the scale of speeds."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.helpers.members import for_each
from tests.helpers.present import present
from tests.helpers.scenario_texts import TWO_PATHS

from subflow_app.features.running.core.live_changes import LiveChange, live_controller, live_link, live_subflows
from subflow_app.features.running.core.runs import (
    MOST_SPEED_STEPS,
    StepSize,
    next_event_s,
    position_of,
    speed_at,
    speed_text,
    step_end_s,
)
from subflow_app.foundation.toml_edit import TomlValue
from subflow_sim.scenario import parse_scenario
from subflow_sim.scenario_reader import read_change

PLANNED = parse_scenario(
    TWO_PATHS
    + """
[[events]]
at = "5s"
link = "wifi"
rate = "2Mbit/s"
[[events]]
at = "9s"
link = "wifi"
direction = "reverse"
up = false
"""
)


@for_each(
    ("size", "now_s", "end_s"),
    [
        ("sample", 0.0, 0.1),
        ("sample", 0.3, 0.4),
        ("sample", 0.30000001, 0.4),
        ("1ms", 0.3, 0.301),
        ("100ms", 59.95, 60.0),
        ("event", 0.0, 5.0),
        ("event", 5.0, 9.0),
        ("event", 9.0, 60.0),
    ],
)
def test_a_step_ends_where_it_says(size: StepSize, now_s: float, end_s: float) -> None:
    assert step_end_s(size, PLANNED, now_s, 0.1) == pytest.approx(end_s, abs=1e-12)


def test_the_next_event_is_later_than_now() -> None:
    assert next_event_s(PLANNED, 4.999999999) == 5.0
    assert next_event_s(PLANNED, 60.0) is None


def test_the_scale_of_speeds_goes_from_slow_motion_to_no_limit() -> None:
    assert speed_at(0) == 0.01
    assert speed_at(MOST_SPEED_STEPS) is None
    assert speed_at(MOST_SPEED_STEPS - 1) == 1000.0
    for position in range(MOST_SPEED_STEPS + 1):
        assert position_of(speed_at(position)) == position
    assert [speed_text(limit) for limit in (0.01, 0.1, 1.0, 100.0)] == ["0.01×", "0.1×", "1×", "100×"]


def test_a_link_is_what_the_scenario_its_events_and_live_changes_have_made_of_it() -> None:
    values = {"link": "wifi", "loss": "5%", "queue": "9pkt"}
    changes = [LiveChange(read_change(PLANNED, {"at": "6s", **values}), values)]
    before = live_link(PLANNED, [], "wifi", "forward", 1.0)
    after = live_link(PLANNED, changes, "wifi", "forward", 10.0)
    back = live_link(PLANNED, changes, "wifi", "reverse", 10.0)
    assert before is not None
    assert after is not None
    assert (before.side.rate_bps, before.side.loss, before.is_up) == (8e6, 0.02, True)
    assert (after.side.rate_bps, after.side.loss, after.side.queue.limit_pkts, after.is_up) == (2e6, 0.05, 9, True)
    assert not present(back).is_up
    assert live_link(PLANNED, [], "wlan", "forward", 1.0) is None


def test_subflows_are_what_events_have_made_of_them() -> None:
    values: dict[str, TomlValue] = {"flow": "download", "subflow": 2, "open": False}
    changes = [LiveChange(read_change(PLANNED, {"at": "6s", **values}), values)]
    assert [each.is_open for each in live_subflows(PLANNED, [], "download", 1.0)] == [True, True]
    assert [each.is_open for each in live_subflows(PLANNED, changes, "download", 10.0)] == [True, False]
    assert live_subflows(PLANNED, [], "nothing", 1.0) == ()


def test_the_controller_is_the_one_that_an_event_or_a_live_change_gave() -> None:
    planned = parse_scenario(TWO_PATHS + '[[events]]\nat = "2s"\nflow = "download"\ncontroller = "olia"\n')
    values: dict[str, TomlValue] = {"flow": "download", "controller": {"name": "uncoupled", "base": "cubic"}}
    changes = [LiveChange(read_change(planned, {"at": "6s", **values}), values)]

    def at(time_s: float, made: Sequence[LiveChange] = (), name: str = "download") -> tuple[str, object]:
        controller = present(live_controller(planned, made, name, time_s))
        return controller.name, controller.options.get("base")

    assert at(1.0) == ("lia", None)
    assert at(2.0) == ("olia", None)
    assert at(7.0, changes) == ("uncoupled", "cubic")
    assert at(2.0, name="download.1") == ("olia", None)
    assert live_controller(planned, changes, "nothing", 7.0) is None


def test_one_copy_of_a_flow_can_have_a_controller_of_its_own() -> None:
    text = TWO_PATHS.replace('kind = "mptcp"', 'kind = "mptcp"\ncount = 2')
    planned = parse_scenario(text + '[[events]]\nat = "2s"\nflow = "download.2"\ncontroller = "olia"\n')
    found = [live_controller(planned, (), name, 3.0) for name in ("download", "download.1", "download.2")]
    assert [each.name for each in found if each is not None] == ["lia", "lia", "olia"]
