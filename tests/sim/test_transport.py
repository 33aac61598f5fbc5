"""The `[transport]` section: how its keys reach the core, what the profiles choose, what a run records of it."""

from __future__ import annotations

import dataclasses

import pytest
from tests.helpers.networks import link, run, scenario, tcp
from tests.helpers.scenario_texts import TWO_PATHS, read

from subflow_sim import Simulation, parse_scenario
from subflow_sim.errors import ScenarioError
from subflow_sim.lowering import transport_options
from subflow_sim.transport_params import PROFILES, TRANSPORT, effective_transport


def with_transport(text: str) -> str:
    return f"{TWO_PATHS}\n[transport]\n{text}\n"


def test_every_key_has_a_value_in_each_profile():
    keys = [param.key for param in TRANSPORT]
    for profile in PROFILES:
        chosen = effective_transport(profile, {})
        assert list(chosen) == keys
        for param in TRANSPORT:
            assert param.read(chosen[param.key]) == chosen[param.key]


def test_every_choice_reaches_the_core():
    for param in TRANSPORT:
        for choice in param.choices:
            transport_options("textbook", {param.key: choice})


def test_options_of_the_file_come_before_those_of_the_profile():
    given = read(with_transport('rto = "rfc6298"\nrto_min = "1s"\ninitial_window = 3')).transport
    assert given == {"rto": "rfc6298", "rto_min": 1.0, "initial_window": 3}
    chosen = effective_transport("linux", given)
    assert (chosen["rto_min"], chosen["initial_window"], chosen["delayed_ack"]) == (1.0, 3, "linux")


def test_the_timeout_of_delayed_acks_follows_their_kind():
    assert effective_transport("textbook", {"delayed_ack": "rfc"})["delayed_ack_timeout"] == 0.2
    assert effective_transport("linux", {})["delayed_ack_timeout"] == 0.04
    assert effective_transport("linux", {"delayed_ack_timeout": 0.1})["delayed_ack_timeout"] == 0.1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('rto = "bsd"', 'transport.rto = "bsd": unknown'),
        ("rto_minimum = 1", "rto_min"),
        ('rto_min = "2min"', "transport.rto_min"),
        ("initial_window = 0", "transport.initial_window"),
    ],
)
def test_problems_name_the_key(text, problem):
    with pytest.raises(ScenarioError, match=problem):
        read(with_transport(text))


def test_a_section_that_is_no_table_is_a_problem():
    with pytest.raises(ScenarioError, match="transport"):
        read(TWO_PATHS.replace("format = 1", 'format = 1\ntransport = "linux"'))


def test_overrides_reach_the_section():
    parsed = parse_scenario(TWO_PATHS, overrides=["transport.delayed_ack=off"])
    assert parsed.transport == {"delayed_ack": "off"}


def test_a_run_records_the_options_that_applied():
    text = TWO_PATHS.replace("format = 1", 'format = 1\nprofile = "textbook"') + '\n[transport]\nrto_min = "1s"\n'
    summary = Simulation(read(text)).summary()
    assert summary["transport"]["rto_min"] == 1.0
    assert summary["transport"]["delayed_ack"] == "off"
    assert list(summary["transport"]) == [param.key for param in TRANSPORT]


def test_delayed_acks_halve_the_acknowledgements():
    # A clean path: one ACK per packet, or one per two. The link back is slow enough for its utilisation to count them.
    acks = {}
    for delayed_ack in ("off", "rfc"):
        wifi = link("wifi", queue_pkts=None)
        wifi = dataclasses.replace(wifi, reverse=dataclasses.replace(wifi.reverse, rate_bps=10e6))
        flow = tcp("download", "wifi", size_bytes=1448 * 400)
        simulation = run(scenario([wifi], [flow], duration_s=10, transport={"delayed_ack": delayed_ack}))
        assert simulation.summary()["flows"][0]["completion_s"] is not None
        acks[delayed_ack] = simulation.summary()["links"][1]["utilisation"]
    assert acks["rfc"] == pytest.approx(acks["off"] / 2, rel=0.02)
