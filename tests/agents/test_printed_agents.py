"""The agents' defaults against the constants that their papers print; docs/algorithms has the sections."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from tests.helpers.members import for_each

from subflow_agents import agent
from subflow_agents.config import TrainingConfig
from subflow_agents.errors import ConfigError
from subflow_agents.log_env import LogEnv
from subflow_agents.logged_networks import PAPER_NETWORKS, paper_runs
from subflow_agents.scenarios import make_environment
from subflow_sim import load_scenario
from subflow_sim.vec_env import agent_spec

RECIPES = Path("assets/agents/recipes")

PRINTED: Mapping[str, Mapping[str, object]] = {
    "drl-cc": {
        "algorithm": "ddpg",
        "encoder": "lstm",
        "head": "joint",
        "rep_grad": "actor",
        "hidden": 128,
        "actor_lr": 1e-4,
        "critic_lr": 1e-3,
        "gamma": 0.9,
        "tau": 0.001,
        "updates_per_step": 1.0,
        "history": 1,
        "epoch": "rtt",
        "state": "epoch",
        "shows_kind": False,
        "rtt": "mean",
        "loss_weight": 0.0,
        "delay_weight": 0.0,
        "relative": False,
        "prioritised": False,
        "squash_penalty": 0.0,
    },
    "dql-mptcp": {
        "algorithm": "ddpg",
        "encoder": "lstm",
        "encoder_hidden": 128,
        "head": "joint",
        "rep_grad": "actor",
        "hidden": 128,
        "actor_lr": 1e-3,
        "critic_lr": 1e-2,
        "gamma": 0.95,
        "tau": 0.001,
        "updates_per_step": 1.0,
        "prioritised": True,
        "rtt": "mean",
        "loss_weight": 0.0,
        "delay_weight": 0.0,
        "relative": False,
        "squash_penalty": 0.0,
    },
    "ddpg-mpcc": {
        "algorithm": "ddpg",
        "base": "latency",
        "mode": "offline_log",
        "updates_per_step": 0.001,
        "log_networks": "paper",
        "log_runs": 5,
        "log_duration": 300.0,
        "squash_penalty": 0.0,
    },
    "mplibra": {
        "algorithm": "ddpg",
        "classic": "olia",
        "history": 10,
        "action_range": 5.0,
        "price": "by_rate",
        "loss_price": 10.0,
        "rtt_price": 5.0,
        "reward": "linear",
        "reward_delay": 1.0,
        "reward_loss": 10.0,
        "memory": 3600.0,
        "rtt": "mean",
        "sees": "exploration",
        "reward_over": "all",
        "falling_rtt": True,
        "hidden": 256,
        "squash_penalty": 0.0,
    },
    "clean-slate": {
        "algorithm": "ddpg",
        "encoder": "none",
        "head": "joint",
        "hidden": 256,
        "history": 10,
        "action_range": 2.0,
        "epoch": "time",
        "rtt": "mean",
        "loss_weight": 10.0,
        "delay_weight": 1.0,
        "memory": 3600.0,
        "relative": False,
        "squash_penalty": 0.0,
    },
    "rl-explore": {
        "hidden": 64,
        "learning_rate": 0.002,
        "anneal": False,
        "gamma": 0.99,
        "history": 1,
        "epoch": "packets",
        "epoch_packets": 50,
        "throughput_epochs": 5,
        "probe_interval": 8,
        "rtt": "mean",
    },
}


@for_each("name", PRINTED)
def test_the_defaults_of_an_agent_are_what_its_paper_prints(name: str) -> None:
    config = asdict(agent(name).config())
    assert {key: config[key] for key in PRINTED[name]} == PRINTED[name]


@for_each("name", PRINTED)
def test_the_controller_in_training_has_the_printed_options(name: str) -> None:
    info = agent(name)
    options = info.controller_options(info.config())
    passed_on = {"rtt", "state", "shows_kind", "sees", "falling_rtt", "memory", "epoch", "history", "base"}
    for key in passed_on & set(PRINTED[name]):
        assert options[key] == PRINTED[name][key]
    assert agent_spec(info.controller, options) is not None


def test_rates_of_dql_mptcp_in_the_printed_order_remain_available() -> None:
    assert agent("dql-mptcp").config({"paper_lr": True}).paper_lr


OURS = [path.stem for path in sorted(RECIPES.glob("*.toml")) if path.stem.endswith(("-wide", "-even"))]


@for_each("name", OURS)
def test_a_recipe_of_our_own_states_every_departure_from_the_paper(name: str) -> None:
    recipe = tomllib.loads((RECIPES / f"{name}.toml").read_text(encoding="utf-8"))
    info = agent(recipe["agent"])
    config = info.config(recipe.get("options", {}))  # raises for an unknown option
    # As these policies were trained, before the agents' defaults became those of the papers.
    expected: dict[str, object] = {
        "rtt": "lowest",
        "sees": "all",
        "falling_rtt": False,
        "state": "turn",
        "shows_kind": True,
        "anneal": True,
        "head": "each",
        "encoder": "pool",
        "mode": "closed_loop",
        "base": "loss",
    }
    values = asdict(config)
    for key in set(expected) & set(values):
        if info.name in ("mplibra", "ddpg-mpcc") and key == "encoder":
            continue  # these agents see one subflow
        assert values[key] == expected[key], key


# ---------------------------------------------------------------------------------------- the log of DDPG-MPCC


@for_each("name", PAPER_NETWORKS)
def test_the_first_run_on_a_network_is_the_papers_network(name: str) -> None:
    shipped = load_scenario(f"assets/scenarios/t-ddpg-{name}.toml")
    logged = paper_runs("loss", 1, 60.0, 1)[list(PAPER_NETWORKS).index(name)]
    assert logged.links == shipped.links
    assert logged.flows == shipped.flows


def test_the_other_runs_vary_rates_and_losses_by_the_seed() -> None:
    def drawn(seed: int) -> list[tuple[float, float]]:
        runs = paper_runs("latency", 5, 300.0, seed)
        assert [run.duration_s for run in runs] == [300.0] * 15
        assert {flow.controller.name for run in runs for flow in run.flows.values() if flow.kind == "mptcp"} == {
            "mpcc-latency"
        }
        links = [run.links[path].forward for run in runs for path in ("path1", "path2")]
        return [(link.rate_bps or 0.0, link.loss) for link in links]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)
    rates, losses = zip(*drawn(1), strict=True)
    assert min(rates) >= 25e6
    assert max(rates) == 100e6
    assert len(set(rates)) == 25  # 24 drawn ones and 100 Mbit/s
    assert 0 <= min(losses) < max(losses) <= 0.1


def training(tmp_path: Path, options: Mapping[str, object], threads: int = 1) -> LogEnv:
    config = TrainingConfig(
        agent="ddpg-mpcc",
        scenario=Path("assets/scenarios/t-ddpg-c.toml").read_text(encoding="utf-8"),
        overrides=("duration=10s", "warmup=0s"),
        options=options,
        num_envs=2,
        threads=threads,
        steps=100,
        folder=str(tmp_path),
    )
    env = make_environment(config, agent("ddpg-mpcc"), agent("ddpg-mpcc").config(options))
    assert isinstance(env, LogEnv)
    return env


def test_a_log_depends_on_its_networks_and_not_on_threads(tmp_path: Path) -> None:
    short = {"log_runs": 1, "log_duration": 10.0}
    tables = {
        networks: training(tmp_path, {**short, "log_networks": networks}).table
        for networks in ("paper", "scenario", "both")
    }
    sizes = {networks: len(table.rate) for networks, table in tables.items()}
    assert sizes["both"] > sizes["scenario"]
    threaded = training(tmp_path, {**short, "log_networks": "both"}, threads=3).table
    assert np.array_equal(threaded.utility, tables["both"].utility)
    assert np.array_equal(threaded.rate, tables["both"].rate)


def test_unknown_networks_of_a_log_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"log_networks.*'all' is not a choice; allowed: paper, scenario, both"):
        agent("ddpg-mpcc").config({"log_networks": "all"})
