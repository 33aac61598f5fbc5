"""Programs as words of a command line."""

from __future__ import annotations

import shlex

import pytest
from tests.helpers.emulations import TWO_PATHS

from subflow_app.features.emulation.core.emulation import plain_output
from subflow_app.features.emulation.core.job_text import Program, check_node, check_program, read_programs, source_node
from subflow_app.foundation.errors import InputError
from subflow_sim.scenario import parse_scenario


@pytest.mark.parametrize(
    ("line", "rest", "programs"),
    [
        ("two.toml --mptcp -- curl -s http://b/", "two.toml --mptcp", [("", "curl -s http://b/")]),
        (
            "two.toml --on b -- iperf3 -s --on a -- iperf3 -c b",
            "two.toml",
            [("b", "iperf3 -s"), ("a", "iperf3 -c b")],
        ),
        # `--on` and `--` belong to a program unless they begin another one.
        ("two.toml -- tool --on x -- y --on a -- z", "two.toml", [("", "tool"), ("x", "y"), ("a", "z")]),
        ("two.toml -- tool --on x y -- z", "two.toml", [("", "tool --on x y -- z")]),
        ("two.toml --json", "two.toml --json", []),
    ],
)
def test_a_command_line_is_split_into_options_and_programs(
    line: str, rest: str, programs: list[tuple[str, str]]
) -> None:
    request = read_programs(shlex.split(line))
    assert request.rest == tuple(rest.split())
    assert request.programs == tuple(Program(node, tuple(text.split())) for node, text in programs)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("a.toml --", "--: a program must follow"),
        ("a.toml --on", "--on: give a node, then -- and a program"),
        ("a.toml --on b", "--on b: give a node, then -- and a program"),
        ("a.toml --on b --", "--on b --: a program must follow"),
        ("a.toml --on -- x", "--on --: give a node, then -- and a program"),
    ],
)
def test_an_incomplete_program_is_refused(line: str, problem: str) -> None:
    with pytest.raises(InputError) as refusal:
        read_programs(line.split())
    assert str(refusal.value) == problem


def test_unknown_nodes_and_missing_programs_are_named() -> None:
    scenario = parse_scenario(TWO_PATHS)
    assert source_node(scenario) == "client"
    check_node(scenario, "server", "--on server")
    with pytest.raises(InputError, match='--on phone: the scenario has no node "phone"; it has client, server'):
        check_node(scenario, "phone", "--on phone")
    check_program(Program("client", ("sh",)), "--")
    with pytest.raises(InputError, match='--: this machine has no program "no-such-program"'):
        check_program(Program("client", ("no-such-program",)), "--")


def test_output_becomes_plain_text() -> None:
    coloured = "\x1b[1;32mok\x1b[0m\x1b]0;title\x07 a\tb\x00\u202e \x9b31m \x1b(B!"
    assert plain_output(coloured) == "ok a    b 31m (B!"
