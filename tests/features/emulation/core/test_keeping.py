"""The scenario of a run of programs, and the judgement of its lateness."""

from __future__ import annotations

import pytest
from tests.helpers.emulations import TWO_PATHS

from subflow_app.features.catalog.core.uses import Use
from subflow_app.features.editor.core.scenario_source import source_of
from subflow_app.features.emulation.core.keeping import scenario_of_run
from subflow_app.features.emulation.core.lateness import lateness_of

EVENTS = """
[[events]]
at = "9s"
link = "lte"
up = false
[[events]]
at = "3s"
link = "wifi"
rate = "2Mbit/s"
"""


def test_the_scenario_of_a_run_is_as_long_as_the_run_and_has_its_changes() -> None:
    source = source_of(Use.EMULATE, TWO_PATHS.replace('"20s"', '"20s"\nwarmup = "5s"') + EVENTS)
    change = {"link": "wifi", "direction": "forward", "t_s": 4.5, "loss": 0.1, "delay_s": 0.04, "queue_pkts": 7}
    scenario = scenario_of_run(source, 4.8, [change]).scenario
    assert (scenario.duration_s, scenario.warmup_s) == (4.8, 0.0)
    assert [(event.at_s, event.link, event.rate_bps, event.loss) for event in scenario.events] == [
        (3.0, "wifi", 2e6, None),
        (4.5, "wifi", None, 0.1),
    ]
    queue = scenario.events[1].queue
    assert queue is not None
    assert queue.limit_pkts == 7
    assert scenario_of_run(source, 12.0).scenario.warmup_s == 5.0


def test_a_flow_that_would_start_later_keeps_the_scenario_as_it_is() -> None:
    source = source_of(Use.EMULATE, TWO_PATHS.replace('kind = "mptcp"', 'kind = "mptcp"\nstart = "15s"'))
    assert scenario_of_run(source, 3.0) is source


@pytest.mark.parametrize(
    ("p99_s", "delays", "is_reliable"),
    [
        (0.4e-3, ('"20ms"', '"30ms"'), True),
        (0.6e-3, ('"20ms"', '"30ms"'), False),  # above 0.5 ms
        (0.3e-3, ('"4ms"', '"30ms"'), False),  # above 5 % of 4 ms
        (0.3e-3, ('"0ms"', '"0ms"'), True),  # without a delay, only 0.5 ms counts
    ],
)
def test_lateness_is_judged_by_the_smallest_delay(p99_s: float, delays: tuple[str, str], is_reliable: bool) -> None:
    text = TWO_PATHS.replace('"20ms"', delays[0]).replace('"30ms"', delays[1])
    lateness = lateness_of({"p50_s": 1e-5, "p99_s": p99_s, "max_s": 0.01}, source_of(Use.EMULATE, text).scenario)
    assert lateness.is_reliable == is_reliable
    assert ("UNRELIABLE" in lateness.text) == (not is_reliable)
