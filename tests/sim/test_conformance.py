"""Every controller and every scheduler keeps its promises through a storm, with any options.

These are the checks that need Python; the core's own conformance tests are in tests/sim_core/test_conformance.cpp.
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.helpers.combinations import multipath_choices, scheduler_choices, single_path_choices, storm
from tests.helpers.members import for_each
from tests.helpers.networks import MINRTT, column, run

from subflow_sim import controllers, schedulers
from subflow_sim.params import Algorithm, Dimension
from subflow_sim.scenario_model import Choice, OptionValue

COMBINATIONS = [
    pytest.param(controller, scheduler, id=f"{name}-{scheduler.name}")
    for name, controller in multipath_choices().items()
    for scheduler in scheduler_choices().values()
] + [pytest.param(controller, MINRTT, id=name) for name, controller in single_path_choices().items()]


@for_each(("controller", "scheduler"), COMBINATIONS)
def test_summary_and_trace_agree_on_every_byte_of_a_transfer_through_a_storm(
    controller: Choice, scheduler: Choice
) -> None:
    # 3 MB within 30 s at about 2 Mbit/s; the summary counts after two seconds of warm-up, the trace counts from the
    # start.
    done = run(storm(controller, scheduler, size_bytes=3_000_001), sample_interval_s=0.1)
    summary = done.summary()
    flow = summary["flows"][0]
    assert flow["completion_s"] is not None
    assert (flow["controller"], flow["scheduler"]) == (controller.name, scheduler.name)
    delivered = float(column(done, "goodput_bps", flow["name"]).sum(dtype="float64")) * 0.1 / 8
    # float32 samples: seven digits each
    assert delivered == pytest.approx(3_000_001, rel=1e-6)
    for direction in summary["links"]:
        assert 0 <= direction["utilisation"] <= 1


def option_values(algorithm: Algorithm) -> list[Choice]:
    """The algorithm with each of its options at each value other than the default, one at a time."""
    choices = []
    for option in algorithm.options:
        base: dict[str, OptionValue] = {"base": option.applies_to[0]} if option.applies_to else {}
        values: tuple[Any, ...] = (not option.default,)
        if option.dimension is Dimension.CHOICE:
            values = tuple(value for value in option.choices if value != option.default)
        elif option.dimension is not Dimension.FLAG:
            values = (option.minimum,)
        choices += [Choice(algorithm.name, {**base, option.key: value}) for value in values]
    return choices


@for_each(
    "controller",
    [choice for algorithm in controllers() for choice in option_values(algorithm)],
    ids=lambda choice: f"{choice.name}-{choice.options}",
)
def test_every_value_of_every_controller_option_runs_through_a_storm(controller: Choice) -> None:
    if controller.options.get("beta") == 0.0 and controller.name != "mplibra":
        controller = Choice(controller.name, {**controller.options, "alpha": 0.0})  # beta is not below alpha
    if "history" in controller.options:  # a shipped policy fits one value only
        controller = Choice(controller.name, {**controller.options, "policy": "neutral"})
    flow = run(storm(controller, MINRTT)).summary()["flows"][0]
    assert flow["goodput_bps"] > 1e5
    assert flow["controller_options"].items() >= controller.options.items()


@for_each(
    "scheduler",
    [choice for algorithm in schedulers() for choice in option_values(algorithm)],
    ids=lambda choice: f"{choice.name}-{choice.options}",
)
def test_every_value_of_every_scheduler_option_runs_through_a_storm(scheduler: Choice) -> None:
    flow = run(storm(Choice("lia"), scheduler)).summary()["flows"][0]
    assert flow["goodput_bps"] > 1e5
    assert flow["scheduler_options"].items() >= scheduler.options.items()
