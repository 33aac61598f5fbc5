"""The PettingZoo environment: connections or subflows as agents that join and leave."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pettingzoo.test import parallel_api_test  # type: ignore[import-untyped]
from tests.helpers.learning import COMING_AND_GOING, SHORT, VARYING
from tests.sim.test_env import LEARNING

from subflow_sim import SimulationError, parse_scenario
from subflow_sim.env import ConnectionEnv
from subflow_sim.parallel_env import SubflowParallelEnv

CONTROLLERS = [name for name, spec in LEARNING.items() if spec.scope != "host"]


def idle(env: SubflowParallelEnv) -> dict[str, Any]:
    """Actions that change nothing."""
    space = env.action_space(env.possible_agents[0])
    neutral = np.zeros(space.shape or (), space.dtype) if not env.info.choices else env.info.neutral_choice
    return dict.fromkeys(env.agents, neutral)


# An agent without a decision never joins: one that chooses its epochs may be late for a short transfer.
@pytest.mark.filterwarnings("ignore:No agents present but not all possible_agents")
@pytest.mark.parametrize("controller", CONTROLLERS)
@pytest.mark.parametrize("text", [SHORT, COMING_AND_GOING], ids=["short", "coming and going"])
def test_pettingzoo_has_nothing_against_it(controller, text, capsys):
    env = SubflowParallelEnv(parse_scenario(text), controller, seed=1)
    parallel_api_test(env, num_cycles=300)
    assert capsys.readouterr().out == "Passed Parallel API test\n"
    assert int(env._vec.episode[0]) >= 2  # two episodes after that of the seed


@pytest.mark.parametrize("controller", CONTROLLERS)
def test_agents_come_and_go(controller):
    env = SubflowParallelEnv(parse_scenario(COMING_AND_GOING), controller, seed=1)
    is_joint = LEARNING[controller].scope == "connection"
    names = ["early", "late"] if is_joint else ["early/1", "early/2", "late/1", "late/2"]
    assert env.possible_agents == names
    has_own_epochs = LEARNING[controller].epoch == "own"
    observations, infos = env.reset()
    assert has_own_epochs or {name.partition("/")[0] for name in env.agents} == {"early"}
    ends: dict[str, str] = {}
    idle_after_closing = 0
    while env.agents:
        before = set(env.agents)
        observations, rewards, terminations, truncations, infos = env.step(idle(env))
        assert set(observations) == set(rewards) == set(terminations) == set(truncations) == set(infos)
        assert before <= set(observations)
        for agent in observations:
            assert env.observation_space(agent).contains(observations[agent])
            assert infos[agent]["acting"] or rewards[agent] == 0
            if terminations[agent]:
                ends[agent] = "terminated"
            elif truncations[agent]:
                ends[agent] = "truncated"
        if 2.2 < next(iter(infos.values()))["time_s"] < 3:
            late = observations["late"]["mask"].tolist() == [1, 0] if is_joint else not infos["late/2"]["acting"]
            idle_after_closing += late
    expected = {name: "terminated" if name.startswith("early") else "truncated" for name in names}
    if has_own_epochs:
        assert {"late/1"} <= ends.keys()
        assert ends.items() <= expected.items()
    else:
        assert idle_after_closing > 1
        assert ends == expected
    assert next(iter(infos.values()))["metrics"]["duration_s"] == 4.0


def test_an_agent_sees_what_it_would_see_as_the_only_learner():
    """The other connection is the same in both environments; its decisions are not steps of the single one."""
    single = ConnectionEnv(parse_scenario(SHORT), "dql-mptcp", learner="download.2", seed=3)
    many = SubflowParallelEnv(parse_scenario(SHORT), "dql-mptcp", seed=3)
    seen = [single.reset()[0]["subflows"]]
    earned = [0.0]
    for _ in range(15):
        observation, reward, *_ = single.step(np.full((2, 2), 0.1))
        seen.append(observation["subflows"])
        earned.append(reward)
    observations, infos = many.reset()
    shown: list[Any] = []
    paid: list[float] = []
    rewards = dict.fromkeys(many.agents, 0.0)
    while len(shown) < 16:
        if infos.get("download.2", {}).get("acting"):
            shown.append(observations["download.2"]["subflows"])
            paid.append(rewards["download.2"])
        actions = idle(many) | {"download.2": np.full((2, 2), 0.1, np.float32)}
        observations, rewards, _, _, infos = many.step(actions)
    np.testing.assert_equal(shown, seen)
    assert paid == earned


def test_episodes_differ_and_repeat():
    env = SubflowParallelEnv(parse_scenario(VARYING), "clean-slate", seed=2)
    assert env.possible_agents == ["download.1", "download.2", "download.3"]

    def joined() -> set[str]:
        names = set()
        while env.agents:
            observations, *_ = env.step(idle(env))
            names |= set(observations)
        return names

    env.reset()
    episodes = [joined()]
    for _ in range(8):
        env.reset()
        episodes.append(joined())
    assert {len(names) for names in episodes} == {1, 2, 3}
    env.reset(seed=2)
    assert joined() == episodes[0]


def test_it_shows_itself_as_text():
    env = SubflowParallelEnv(parse_scenario(SHORT), seed=1, render_mode="ansi")
    env.reset()
    assert str(env.render()).splitlines()[1:] in (["download.1 *"], ["download.2 *"], ["download.1 *", "download.2 *"])


def test_refuses_what_cannot_be():
    scenario = parse_scenario(SHORT)
    with pytest.raises(SimulationError, match="use HostEnv"):
        SubflowParallelEnv(scenario, "drl-cc")
    with pytest.raises(SimulationError, match='nothing is drawn as "human"'):
        SubflowParallelEnv(scenario, render_mode="human")
    env = SubflowParallelEnv(scenario, "dql-mptcp", seed=1)
    with pytest.raises(SimulationError, match=r"call reset\(\) first"):
        env.step({})
    env.reset()
    with pytest.raises(SimulationError, match="has to act, but no action was given for it"):
        env.step({})
    with pytest.raises(SimulationError, match="has 3 numbers, not 4"):
        env.step(dict.fromkeys(env.agents, np.zeros(3)))
    with pytest.raises(SimulationError, match="end before an agent has anything to decide"):
        SubflowParallelEnv(scenario, episode_s=0.01).reset()
