from __future__ import annotations

from pathlib import Path

import pytest

from subflow_agents.errors import ConfigError
from subflow_agents.evaluation import contender_scenario, default_baselines, evaluate, read_contender
from subflow_agents.registry import agent
from subflow_agents.scenarios import read_scenario, require_paths, steered_flows

SC7 = (Path(__file__).parents[2] / "assets/scenarios/drlcc-sc7.toml").read_text(encoding="utf-8")
SHORT = ("duration=10s", "warmup=0")
SEEDS = (1_000_001, 1_000_002, 1_000_003)


def test_contenders_run_on_the_same_seeds_beside_flows_that_keep_their_controller() -> None:
    contenders = ["{ name = 'drl-cc', policy = 'neutral' }", "balia"]
    told = evaluate(contenders, SC7, SEEDS, baselines=["lia"], overrides=SHORT)

    assert [result.contender.name for result in told.results] == ["drl-cc", "balia", "lia"]
    assert [result.contender.is_baseline for result in told.results] == [False, False, True]
    document = told.to_json()
    assert document["best_baseline"] == "lia"
    by_label = {each["label"]: each for each in document["controllers"]}
    assert by_label["lia"]["ratio_to_best_baseline"] == 1
    assert len(by_label["lia"]["flows"]) == 5
    for each in document["controllers"]:
        assert 0 < each["goodput_bps"]["mean"] < 16e6
        assert each["other_goodput_bps"]["mean"] > 0  # five TCP flows
        assert 0 < each["jain"]["mean"] <= 1
        assert 0.1 <= each["rtt_s"]["mean"] < 0.3
        assert len(each["goodput_bps"]["values"]) == 3
        mean_of_flows = sum(flow["mean"] for flow in each["flows"].values()) / 5
        assert each["goodput_bps"]["mean"] == pytest.approx(mean_of_flows)


def test_a_run_is_what_its_seed_says() -> None:
    first, again, other = (
        evaluate(["lia"], SC7, [seed], baselines=[], overrides=SHORT).results[0].runs[0]
        for seed in (1_000_001, 1_000_001, 1_000_002)
    )
    assert first == again
    assert first.goodput_bps != other.goodput_bps


def test_what_is_no_contender_is_refused() -> None:
    for text in ("drlcc", "missing.safetensors", "{ colour = 'red' }", "{ name ="):
        with pytest.raises(ConfigError, match="contender"):
            read_contender(text)


def test_an_agent_stands_for_its_controller_with_its_own_policy() -> None:
    told = read_contender("lia", is_baseline=True)
    assert (told.name, told.controller, told.is_baseline) == ("lia", '"lia"', True)


def test_flows_under_evaluation_are_those_that_learn_else_those_with_several_paths() -> None:
    scenario = read_scenario(SC7, "sc7", "")
    multipath = steered_flows(scenario, "lia")
    assert all(scenario.flows[name].kind == "mptcp" for name in multipath)
    assert default_baselines(scenario) == ("lia", "olia", "balia", "wvegas")
    changed, names = contender_scenario(read_contender("{ name = 'dql-mptcp', policy = 'neutral' }"), SC7, "sc7")
    assert names == multipath
    for name in multipath:
        assert (changed.flows[name].controller.name, changed.flows[name].scheduler.name) == ("dql-mptcp", "goodput")
    assert all(changed.flows[name] == flow for name, flow in scenario.flows.items() if name not in multipath)


def test_a_scenario_without_what_an_agent_needs_is_refused_with_what_is_missing() -> None:
    folder = Path(__file__).parents[2] / "assets/scenarios"
    single = read_scenario((folder / "reno-sawtooth.toml").read_text(encoding="utf-8"), "reno-sawtooth", "")
    with pytest.raises(ConfigError, match="DRL-CC needs a flow of kind mptcp, which it lacks"):
        require_paths(single, agent("drl-cc"))
    datagrams = [f"flows.tcp.{key}" for key in ("kind=cbr", "rate=1Mbit/s", "count=1")]
    text = SC7.partition("[flows.mptcp]")[0] + "[flows.tcp]" + SC7.partition("[flows.tcp]")[2]
    text = text.replace('controller = "newreno"', "").replace('recv_buffer = "78kB"', "")
    with pytest.raises(ConfigError, match="has no tcp or mptcp flow"):
        steered_flows(read_scenario(text, "sc7", "", datagrams), "lia")
