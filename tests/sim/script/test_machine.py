"""Results of scripts, and errors of scripts that cannot continue."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from tests.helpers.members import for_each

from subflow_sim import _core
from subflow_sim.decisions import Decisions, from_core
from subflow_sim.lowering import Lowered, lower
from subflow_sim.scenario import parse_scenario
from subflow_sim.scenario_model import Choice, ScriptFile

_SCENARIO = """
format = 1
duration = "{duration}s"
nodes = {{ a = {{}}, b = {{}} }}
links.l = {{ ends = ["a", "b"], rate = "10Mbit/s", delay = "10ms", queue = "20pkt" }}
flows.f = {{ kind = "tcp", from = "a", to = "b", controller = "newreno" }}
"""


def _lowered(text: str, duration: float) -> Lowered:
    """A script over one link."""
    whole = parse_scenario(_SCENARIO.format(duration=duration), file="<test>")
    mine = Choice("mine", script=ScriptFile("mine", "controller", text))
    flows = {name: replace(flow, controller=mine) for name, flow in whole.flows.items()}
    return lower(replace(whole, flows=flows), 1)


def _run(text: str, *, duration: float = 2.0) -> _core.Simulation:
    """A run of a script over one link."""
    simulation = _core.Simulation(_lowered(text, duration).core, 1, 10_000_000)
    simulation.record_decisions(100_000, None)
    simulation.run_until(round(duration * 1e9))
    return simulation


def _decisions(simulation: _core.Simulation) -> Decisions:
    table = simulation.take_decisions()
    return from_core(table, ("f/1",), ("f",), simulation.scripts(), simulation.script_rules())


def _values(expressions: Sequence[str]) -> list[float]:
    """Values of expressions, in the first call of a script."""
    lines = "".join(f"    x{i} = {each}\n" for i, each in enumerate(expressions))
    keep = "".join(f"    my.k += x{i} * 0\n" for i in range(len(expressions)))
    head = "my = state(k=0)\nONE = 1.0\none = option(1.0)\ndef on_ack(w, ack, siblings):\n"
    decisions = _decisions(_run(f"{head}{lines}{keep}    w.cwnd += 0\n", duration=0.2))
    for row in decisions.rows("f/1"):
        steps = decisions.explain(int(row)).steps
        if steps:
            found = {step.name: step.value for step in steps}
            return [found[f"x{i}"] for i in range(len(expressions))]
    raise AssertionError("the script was never called")


def test_arithmetic_is_that_of_the_platform_and_functions_those_of_the_core() -> None:
    cases = {
        "one + 2 * 3": 7.0,
        "(one + 0.1) / 3": 1.1 / 3,
        "7 // (2 * one)": 3.0,
        "-7 % (4 * one)": 1.0,
        "(2 * one) ** 3": 8.0,
        "(2 * one) ** 0.5": _core.power(2.0, 0.5),
        "sqrt(2 * one)": math.sqrt(2),
        "cbrt(27 * one)": _core.cube_root(27.0),
        "exp(one)": _core.exponential(1.0),
        "log(10 * one)": _core.natural_log(10.0),
        "floor(2.7 * one) + ceil(2.2 * one)": 5.0,
        "min(3 * one, 2, 5) + max(one, 4)": 6.0,
        "abs(-3 * one)": 3.0,
        "2 if one > 0 else 3": 2.0,
        "2 if one > 0 and one < 1 or one == 2 else 3": 3.0,
        "0 < one < 2": 1.0,
        "not one == 1": 0.0,
        "len(siblings)": 1.0,
        "sum(s.cwnd for s in siblings) / w.cwnd": 1.0,
        "count(s.cwnd > 1 for s in siblings)": 1.0,
        "any(s.cwnd > 1e9 for s in siblings)": 0.0,
        "min((s.cwnd for s in siblings if s.cwnd > 1e9), default=5) if one > 0 else 1": 5.0,
    }
    assert _values(list(cases)) == list(cases.values())


def test_filters_and_averages() -> None:
    text = """
my = state(high=windowed_max(over=3), low=windowed_min(over=3), mean=ewma(weight=0.5), n=0)
def on_ack(w, ack):
    my.n += 1
    value = 10 - my.n if my.n < 8 else 1
    my.high.update(value, at=my.n)
    my.low.update(value, at=my.n)
    my.mean.update(value)
    w.cwnd = min(w.cwnd, 10)
"""
    decisions = _decisions(_run(text, duration=1.0))
    seen = []
    for row in decisions.rows("f/1"):
        last = {step.name: step.value for step in decisions.explain(int(row)).steps}
        if "my.high" in last:
            seen.append((last["my.n"], last["my.high"], last["my.low"], last["my.mean"]))
    assert seen[0] == (1.0, 9.0, 9.0, 9.0)
    assert seen[1] == (2.0, 9.0, 8.0, 8.5)
    assert seen[6][1] <= 6.0  # values older than three calls are dropped
    assert seen[6][1] >= 3.0


@for_each(
    ("body", "what"),
    [
        ("w.cwnd = 1 / (ack.acked - ack.acked)", "division by zero"),
        ("w.cwnd = log(0 - ack.acked)", "no logarithm of"),
        ("w.cwnd = sqrt(0 - ack.acked)", "no square root of"),
        ("w.cwnd = w.cwnd * inf * 0", "w.cwnd is not a number"),
        ("w.rate = 0 - ack.acked / ack.srtt", "w.rate is negative"),
        ("w.rate = inf * ack.acked / ack.srtt", "w.rate is infinite"),
        ("w.cwnd = exp(1000 * ack.acked)", "is too large"),
    ],
)
def test_a_run_that_cannot_go_on_names_script_line_subflow_time_and_values(body: str, what: str) -> None:
    script = f"gain = option(2)\ndef on_ack(w, ack):\n    held = ack.acked * gain\n    {body}\n    w.cwnd += held * 0\n"
    with pytest.raises(_core.CoreScriptRunError) as raised:
        _run(script)
    # The window is checked after the function has returned.
    line = 5 if what.startswith("w.") else 4
    for told in (f"script 'mine', line {line}, f/1 at 0.", what, "gain = 2", "w.cwnd = "):
        assert told in str(raised.value)


@for_each("ssthresh", ["0", "w.cwnd * 1e9"])
def test_windows_and_thresholds_are_bounded(ssthresh: str) -> None:
    text = f"def on_ack(w, ack):\n    w.cwnd = w.cwnd * 1000\ndef on_loss(w, loss):\n    w.ssthresh = {ssthresh}\n"
    simulation = _run(text)
    windows = _decisions(simulation).cwnd_after_pkts
    assert 1 <= np.nanmin(windows) <= np.nanmax(windows) <= 1e6
    assert simulation.memory_bytes < 1 << 30


@for_each(
    ("text", "message"),
    [
        ("def on_loss(w, loss):\n    w.cwnd = w.cwnd\n", r"w\.ssthresh is still infinite after a loss"),
        ("def on_start(w):\n    w.rate = 0 - 1\n", r"script 'mine', line 4, at the start: w\.rate is negative"),
    ],
)
def test_a_script_that_cannot_begin_or_sets_no_threshold_is_told(text: str, message: str) -> None:
    with pytest.raises(_core.CoreScriptRunError, match=message):
        _run(f"def on_ack(w, ack):\n    w.cwnd += 1\n{text}", duration=5.0)


def test_without_on_loss_the_window_is_halved() -> None:
    grows = "def on_ack(w, ack):\n    w.cwnd += ack.acked / w.cwnd\n"
    halves = "def on_loss(w, loss):\n    w.ssthresh = max(w.cwnd / 2, 2)\n"
    assert _run(grows, duration=5.0).signature() == _run(grows + halves, duration=5.0).signature()


def test_intervals_of_a_script_set_rates_and_utilities() -> None:
    text = """
my = state(rate=0, step=1)
def plan(w, moment):
    if my.rate == 0:
        my.rate = 100
    w.rate = my.rate
    return interval(max(moment.srtt, 0.01), min_packets=5, tag=my.step)
def on_interval(w, record, moment):
    record.utility = record.throughput * (1 - 2 * record.loss_ratio)
    my.step = record.tag + 1
    my.rate = max(record.throughput * 1.1, 100)
    return now
"""
    simulation = _run(text, duration=4.0)
    intervals = simulation.take_intervals()
    assert len(intervals["utility"]) > 20
    assert all(value == value for value in intervals["utility"])
    assert max(intervals["rate_bps"]) > 2e6
    assert simulation.flow_result(0).goodput_bps > 1e6


def test_random_numbers_are_those_of_the_seed() -> None:
    text = "def on_ack(w, ack):\n    w.cwnd += random() * ack.acked / w.cwnd\n"
    assert _run(text).signature() == _run(text).signature()
    draws = _values(["random()", "random()"])
    assert draws[0] != draws[1]
    assert all(0 <= each < 1 for each in draws)


def test_a_snapshot_has_the_state_of_a_script() -> None:
    text = "my = state(n=0)\ndef on_ack(w, ack):\n    my.n += 1\n    w.cwnd += my.n / 100 / w.cwnd\n"
    simulation = _core.Simulation(_lowered(text, 4).core, 1, 10_000_000)
    simulation.run_until(2_000_000_000)
    snapshot = simulation.snapshot()
    simulation.run_until(4_000_000_000)
    whole = simulation.signature()
    other = simulation.fork(snapshot)
    other.run_until(4_000_000_000)
    assert other.signature() == whole
    simulation.restore(snapshot)
    simulation.run_until(4_000_000_000)
    assert simulation.signature() == whole


def test_the_lines_that_were_executed_are_told_with_their_numbers() -> None:
    text = "gain = option(2)\ndef on_ack(w, ack):\n    left = slow_start(w, ack)\n    w.cwnd += gain * left / w.cwnd\n"
    decisions = _decisions(_run(text, duration=3.0))
    rows = [decisions.explain(int(row)) for row in decisions.rows("f/1")]
    told = next(each for each in rows if each.script is not None and each.rule.name == "on_ack")
    assert told.script is not None
    assert told.script.text == text
    lines = [line.text for line in told.lines]
    assert lines[0].startswith("left = slow_start(w, ack) = ")
    assert lines[1].startswith("w.cwnd += gain * left / w.cwnd: ")
    assert lines[1].endswith(f"= {told.cwnd_pkts[1]:.6g}")


def test_numbers_are_filled_in_whatever_a_function_calls_what_it_is_given() -> None:
    text = "def on_ack(me, a):\n    left = slow_start(me, a)\n    me.cwnd += (left + 0 * a.acked) / me.cwnd\n"
    decisions = _decisions(_run(text, duration=3.0))
    told = next(each for each in map(decisions.explain, map(int, decisions.rows("f/1"))) if each.rule.name == "on_ack")
    assert "me" not in told.lines[1].filled
    assert "a.acked" not in told.lines[1].filled


def test_a_program_of_somebody_else_is_refused() -> None:
    given = {"code": [{"op": "Move", "to": 200}], "lines": [1], "notes": [0], "frame": [0.0] * 5}
    with pytest.raises(_core.CoreScriptProgramError, match="a cell beyond its frame"):
        _core.read_program(given)
    with pytest.raises(_core.CoreScriptProgramError, match="a jump to an invalid target"):
        _core.read_program({**given, "code": [{"op": "Jump"}]})
