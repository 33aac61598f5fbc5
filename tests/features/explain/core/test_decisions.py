from __future__ import annotations

from dataclasses import replace
from typing import cast

from tests.helpers.window import TWO_PATHS

from subflow_app.features.explain.core.decisions import deciding_algorithm
from subflow_sim.decisions import Explanation
from subflow_sim.scenario import parse_scenario

TAKEN_OVER = '\n[[events]]\nat = "1s"\nflow = "download"\ncontroller = "olia"\n'
_TOLD = Explanation(
    time_s=0.5,
    owner="download/1",
    scope="subflow",
    cause="ack",
    rule=None,  # type: ignore[arg-type] # it does not matter which
    numbers=(),
    cwnd_pkts=(1.0, 2.0),
    rate_bps=(0.0, 0.0),
    data_seq=0,
    chosen=None,
    available=(),
    usable=(),
)


def topic(text: str, **changes: object) -> str:
    told = replace(_TOLD, **cast(dict, changes))
    return deciding_algorithm(parse_scenario(text), (), told)


def test_a_window_is_its_controllers_and_a_packet_its_schedulers() -> None:
    assert topic(TWO_PATHS) == "controller/lia"
    assert topic(TWO_PATHS, owner="download", scope="flow") == "scheduler/minrtt"


def test_a_controller_that_took_over_decides_from_then_on() -> None:
    assert topic(TWO_PATHS + TAKEN_OVER) == "controller/lia"
    assert topic(TWO_PATHS + TAKEN_OVER, time_s=1.0) == "controller/olia"
    changes = parse_scenario(TWO_PATHS + TAKEN_OVER).events
    assert deciding_algorithm(parse_scenario(TWO_PATHS), changes, replace(_TOLD, time_s=2.0)) == "controller/olia"


def test_copies_have_the_controller_of_their_flow_and_uncoupled_subflows_their_base() -> None:
    text = TWO_PATHS.replace('controller = "lia"', 'controller = { name = "uncoupled", base = "cubic" }\ncount = 2')
    assert topic(text, owner="download.2/1") == "controller/cubic"
