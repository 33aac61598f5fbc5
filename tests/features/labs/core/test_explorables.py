"""Explorables: the allowed formulas, and the agreement of the simulator with them."""

from __future__ import annotations

import math
from typing import Any

import pytest
from tests.helpers.formulas import NAMES, NUMBERS
from tests.helpers.members import for_each

from subflow_app.features.labs.core import explorables
from subflow_app.features.labs.core.explorables import Formula, Point, load_explorable
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.resources import find_scenario, resource_path
from subflow_sim import Simulation
from subflow_sim.decisions import DecisionLimits
from subflow_sim.scenario import load_scenario


def summary(name: str, *overrides: str) -> dict[str, Any]:
    simulation = Simulation(load_scenario(find_scenario(name), overrides=overrides))
    simulation.run_until(simulation.duration_s)
    return simulation.summary()


def utilisation(found: dict[str, Any]) -> float:
    ways = (each for each in found["links"] if each["name"] == "bottleneck" and each["direction"] == "forward")
    return float(next(ways)["utilisation"])


def result(name: str, **inputs: float) -> float:
    explorable = load_explorable(name)
    return explorable.values({**explorable.defaults(), **inputs})[explorable.result.name]


@for_each(("text", "number"), NUMBERS)
def test_a_formula_has_this_number(text: str, number: float) -> None:
    assert Formula(text, list(NAMES)).of(NAMES) == pytest.approx(number, nan_ok=True)


@for_each(
    ("text", "told"),
    [
        ("mean(1, 2)", "no function of an explorable"),
        ("3 ms", "have no unit"),
        ("1 < 2", "this is a comparison"),
        ("a if 1 < 2 else b", "not arithmetic"),
        ("a + c", 'unknown name "c"'),
        ("__import__('os')", "column"),
        ("", "column"),
    ],
)
def test_nothing_but_arithmetic_is_a_formula(text: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        Formula(text, ["a", "b"])


@for_each("name", explorables.explorable_names())
def test_each_can_be_moved_from_end_to_end(name: str) -> None:
    explorable = load_explorable(name)
    for each in explorable.inputs:
        for value in (each.least, each.value, each.most):
            values = explorable.values({**explorable.defaults(), each.name: value * each.worth})
            assert all(map(math.isfinite, values.values())), (each.name, value)
            assert each.at(each.share(value)) == pytest.approx(value)
        assert each.stepped(each.value, 1) > each.value > each.stepped(each.value, -1)
        assert each.rounded(each.value) == each.value
    x, y = explorable.curve(explorable.defaults())
    assert len(x) == len(y)
    assert max(y) > 1.05 * min(y)  # the curve is not flat
    assert explorable.document("de")["title"] != explorable.document("en")["title"]


def test_a_damaged_one_is_told_line_by_line() -> None:
    text = resource_path("explorables/utilisation.toml").read_text(encoding="utf-8")
    for right, wrong in (('"buffer"\ntop', '"bufer"\ntop'), ("min(1, buffer", "min(1, bufer"), ("to = 500", "to = 6")):
        text = text.replace(right, wrong)
    with pytest.raises(InputError) as refused:
        explorables.parse_explorable(text, "utilisation", "damaged.toml")
    for told in ('damaged.toml:3: across = "bufer"', 'unknown name "bufer"', "outside of its range; allowed: 5 to 6"):
        assert told in str(refused.value)


def test_the_upright_axis_stays_and_runs_count_where_their_other_numbers_are_those_that_are_set() -> None:
    highest = (26, 100, 24, 120)
    assert [explorables.axis_top(100, most) for most in highest] == [100, 100, 30, 150]
    explorable = load_explorable("utilisation")
    points = [Point({"buffer": 84, "rate": 1.01e7}, 1.0), Point({"buffer": 17, "rate": 2e7}, 1.0)]
    assert [explorable.fits(point, explorable.defaults()) for point in points] == [True, False]


@for_each(
    ("buffer", "rate", "delay"), [(8, 10, 50), (17, 10, 50), (42, 10, 50), (84, 10, 50), (30, 20, 20), (20, 5, 100)]
)
def test_the_simulator_uses_the_link_as_the_formula_says(buffer: int, rate: int, delay: int) -> None:
    """Within 2 % of the link, because packets are whole and a halving takes a round trip."""
    keys = f"queue={buffer}pkt", f"rate={rate}Mbit/s", f"delay={delay}ms"
    found = summary("reno-sawtooth", "duration=80s", *(f"links.bottleneck.{key}" for key in keys))
    said = result("utilisation", buffer=buffer, rate=rate * 1e6, RTT=2 * delay / 1e3)
    assert utilisation(found) == pytest.approx(said, abs=0.02)


@for_each(("loss", "delay"), [(0.25, 50), (0.5, 50), (1, 50), (1, 100)])
def test_the_simulator_keeps_the_square_root_law(loss: float, delay: int) -> None:
    """Within 10 % for losses up to 1 %; beyond that, timeouts reduce the goodput: at 4 % to 0.8 of the formula."""
    found = summary("reno-bernoulli", "duration=400s", f"links.link.loss={loss}%", f"links.link.delay={delay}ms")
    said = result("square-root-law", loss=loss / 100, RTT=2 * delay / 1e3)
    assert found["flows"][0]["goodput_bps"] == pytest.approx(said, rel=0.1)


@for_each("window", [20, 40, 80, 120])
def test_the_simulator_carries_what_a_window_carries(window: int) -> None:
    """Within 2 %: the receiver limits the window to this number of packets, which take 1500 bytes each on the link."""
    found = summary("reno-sawtooth", "duration=40s", f"flows.reno.recv_buffer={window * 1448}B")
    assert utilisation(found) * 10e6 == pytest.approx(result("bandwidth-delay-product", window=window), rel=0.02)


def test_the_simulator_has_the_alpha_of_the_formula() -> None:
    """Within 1 %: alpha from windows and RTTs at an instant, and at the last growth decision before it."""
    scenario = load_scenario(find_scenario("lab-two-paths"), overrides=['flows.download.paths=[["wifi"],["lte"]]'])
    simulation = Simulation(scenario, decisions=DecisionLimits(1 << 18))
    for time_s in (10, 20, 30):
        simulation.run_until(time_s)
        now, decisions = simulation.inspect().subflows, simulation.take_decisions()
        rules = [decisions.rules[rule].name for rule in decisions.rule]
        last_growth = len(rules) - 1 - rules[::-1].index("linked_increase")
        numbers = {each.name: each.value for each in decisions.explain(last_growth).numbers}
        (cwnd_1, cwnd_2), (rtt_1, rtt_2) = now.cwnd_pkts, now.srtt_s
        said = result("lia-alpha", cwnd_1=cwnd_1, cwnd_2=cwnd_2, RTT_1=rtt_1, RTT_2=rtt_2)
        assert numbers["alpha"] == pytest.approx(said, rel=0.01)
