"""Networks of the arena for agents: the networks of a training, and the score that selects the best policy."""

from __future__ import annotations

from pathlib import Path

import pytest

from subflow_agents import ConfigError, TrainingConfig, agent
from subflow_agents.evaluation import read_contender
from subflow_agents.families import FamilyEpisodes
from subflow_agents.scenarios import make_environment
from subflow_agents.validation import HOME, Validation, validate, validation_networks
from subflow_sim.arena.families import FAMILIES

SCENARIOS = Path(__file__).parents[2] / "assets" / "scenarios"


def training(**settings: object) -> TrainingConfig:
    text = (SCENARIOS / "t-1link.toml").read_text(encoding="utf-8")
    return TrainingConfig(agent="mplibra", scenario=text, steps=1, folder="x", **settings)  # type: ignore[arg-type]


def episodes(config: TrainingConfig) -> FamilyEpisodes:
    info = agent("mplibra")
    return FamilyEpisodes(config, info, info.controller_options(info.config()))


def test_as_many_episodes_as_asked_for_are_of_the_families_and_of_their_training_split() -> None:
    drawn = [episodes(training(families=("lossy", "walk"), families_share=0.25)).draw(3, n) for n in range(200)]

    of_families = [scenario for scenario in drawn if scenario is not None]
    assert 30 <= len(of_families) <= 70
    titles = {FAMILIES[name].title for name in ("lossy", "walk")}
    assert {scenario.name.partition(":")[0] for scenario in of_families} == titles
    assert all(": train " in scenario.name for scenario in of_families)
    assert len({scenario.seed for scenario in of_families}) == len(of_families)


def test_an_episode_depends_on_seed_environment_and_number_alone() -> None:
    config = training(families=("all",), families_share=1.0)

    assert episodes(config).draw(2, 7) == episodes(config).draw(2, 7)
    assert episodes(config).draw(2, 7) != episodes(config).draw(2, 8)


def test_those_beside_keep_their_own_controller() -> None:
    scenario = episodes(training(families=("beside-newreno",), families_share=1.0)).draw(0, 1)

    assert scenario is not None
    kinds = {flow.kind: flow.controller.name for flow in scenario.flows.values()}
    assert kinds == {"mptcp": "mplibra", "tcp": "newreno"}


def test_the_environment_has_room_for_every_topology() -> None:
    config = training(families=("all",), families_share=1.0, num_envs=8, episode_s=0.5)
    info = agent("mplibra")

    env = make_environment(config, info, info.config())
    env.reset(1)
    for _ in range(30):
        env.send(env.reward[:, :, None] * 0)
        env.recv()

    assert env.slots == 4  # of four connections


def test_a_family_that_does_not_exist_is_told() -> None:
    with pytest.raises(ConfigError, match=r"families: 'fats' is not acceptable.*all, slow, fast"):
        training(families=("fats",))


def test_the_best_is_chosen_on_the_validation_split_and_at_home() -> None:
    nets = validation_networks(training(validation_networks=1, validation_families=("lossy", "beside-newreno")))

    assert {net.family for net in nets} == {"lossy", "beside-newreno", HOME}
    assert all("/test/" not in net.name and "/train/" not in net.name for net in nets)
    home = [net for net in nets if net.family == HOME]
    assert [net.scenario.seed for net in home] == [1_000_000, 1_000_001, 1_000_002]
    assert home[0].competes == ("mptcp",)
    assert len(home[0].beside) == 1


def test_what_fills_its_paths_is_worth_more_than_what_leaves_them_empty() -> None:
    config = training(validation_networks=1, validation_families=("long",))
    net = validation_networks(config)[0]

    assert validate(read_contender("cubic"), net, config) > validate(read_contender("wvegas"), net, config) + 1


def test_half_of_the_score_is_that_at_home_and_half_of_each_is_of_the_worst_tenth() -> None:
    told = Validation({"lossy": (-1.0, -3.0), "walk": (0.0, 0.0), HOME: (-0.5, -0.7)})

    assert told.mean == pytest.approx((-2.0 + 0.0 - 0.6) / 3)
    assert told.worst_decile == -3.0
    # Other families: (-1 and -3) / 2 = -2; its own: (-0.6 and -0.7) / 2 = -0.65.
    assert told.score == pytest.approx((-2.0 - 0.65) / 2)
