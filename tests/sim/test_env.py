"""The Gymnasium environments: their specifications, and one learner among several flows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from tests.helpers.learning import COMING_AND_GOING, SHORT, SINGLE_PATH, VARYING
from tests.helpers.members import for_each
from tests.helpers.policies import make_plan, write_random_policy

from subflow_sim import AgentSpec, Scenario, SimulationError, agent_spec, controllers, parse_scenario
from subflow_sim.env import IDS, ConnectionEnv, HostEnv, PathEnv, SubflowEnv
from subflow_sim.policy import Policy
from subflow_sim.vec_env import with_learner

LEARNING: dict[str, AgentSpec] = {
    each.name: spec for each in controllers() if (spec := agent_spec(each.name)) is not None
}

# Environment for each controller, by their specifications. The keys are sorted so that parameters have the same order
# in every run.
MADE_FOR = {
    "Subflow/Host-v0": ("drl-cc",),
    "Subflow/Connection-v0": ("dql-mptcp", "clean-slate"),
    "Subflow/Subflow-v0": ("mplibra", "ddpg-mpcc", "confluence"),
    "Subflow/Path-v0": ("rl-explore",),
}
CASES = [(id_, name) for id_, names in MADE_FOR.items() for name in names]


def make(id_: str, controller: str, text: str = SHORT, **others: Any) -> gymnasium.Env[Any, Any]:
    scenario = parse_scenario(SINGLE_PATH if id_ == "Subflow/Path-v0" and text == SHORT else text)
    return gymnasium.make(id_, scenario=scenario, controller=controller, disable_env_checker=True, **others)


def test_every_learning_controller_has_an_environment():
    assert sorted(LEARNING) == sorted(name for _, name in CASES)


def lines_of(spec: AgentSpec) -> list[str]:
    """Lines that a specification must contain for a controller, without blanks."""
    numbers = [
        f"{index} {each.name} {each.minimum:g} to {each.maximum:.5g} {each.unit} {each.help}"
        for listed in (spec.features, spec.actions)
        for index, each in enumerate(listed)
    ]
    choices = [f"{index} {name}" for index, name in enumerate(spec.choices)]
    return [*numbers, *choices, f"{spec.controller}: {spec.reward}"]


@for_each(("id_", "controller"), CASES)
def test_the_docstring_is_the_specification(id_, controller):
    text = " ".join((IDS[id_].__doc__ or "").split())
    spec = LEARNING[controller]
    assert [line for line in lines_of(spec) if line not in text] == []
    assert spec.history == 1 or f"With {controller} (history {spec.history}):" in text
    assert not spec.actions or f"With {controller}, A = {len(spec.actions)}:" in text


@pytest.mark.parametrize(("id_", "controller"), CASES)
def test_gymnasium_has_nothing_against_it(id_, controller):
    longer = SHORT.replace('duration = "4s"', 'duration = "12s"')  # than the slow start of those that act after it
    text = SHORT if id_ == "Subflow/Path-v0" else longer
    check_env(make(id_, controller, text).unwrapped)


@pytest.mark.parametrize("id_", sorted({id_ for id_, _ in CASES}))
def test_all_of_it_has_defaults(id_):
    env = gymnasium.make(id_, seed=1)
    observation, info = env.reset()
    assert env.observation_space.contains(observation)
    assert info["learner"].startswith("download")


@pytest.mark.parametrize(("id_", "controller"), CASES)
def test_observations_and_actions_stay_within_their_spaces(id_, controller):
    env = make(id_, controller, seed=1)
    env.action_space.seed(1)
    observation, _ = env.reset()
    while True:
        assert env.observation_space.contains(observation)
        observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
        assert np.isfinite(float(reward))
        if terminated or truncated:
            break
    assert env.observation_space.contains(observation)
    assert (terminated, info["time_s"]) == (False, 4.0)
    assert info["metrics"]["duration_s"] == 4.0


def play(env: gymnasium.Env[Any, Any], seed: int | None, steps: int) -> list[Any]:
    """Results of random actions, which do not depend on the environment."""
    draws = np.random.default_rng(7)
    space = env.action_space
    observation, info = env.reset(seed=seed)
    told: list[Any] = [observation, info]
    for _ in range(steps):
        if isinstance(space, spaces.Box):
            action: Any = draws.uniform(space.low, space.high).astype(np.float32)
        else:
            action = np.int64(draws.integers(space.n))  # type: ignore[attr-defined]
        told += env.step(action)
        if told[-2] or told[-3]:
            told += env.reset()
    return told


def same(first: list[Any], second: list[Any]) -> bool:
    try:
        np.testing.assert_equal(first, second)
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize(("id_", "controller"), CASES)
def test_luck_is_that_of_seed_and_number(id_, controller):
    text = VARYING if id_ != "Subflow/Path-v0" else SHORT
    first = play(make(id_, controller, text), 5, 120)
    assert same(first, play(make(id_, controller, text, seed=5), None, 120))
    assert not same(first, play(make(id_, controller, text, number=1), 5, 120))


def test_reset_without_a_seed_goes_on_with_the_next_episode():
    env = make("Subflow/Connection-v0", "dql-mptcp", VARYING)
    numbers = [
        env.reset(seed=seed, options=options)[1]["episode_number"]
        for seed, options in ((3, None), (None, None), (None, None), (3, None), (None, {"episode": 7}), (None, None))
    ]
    assert numbers == [0, 1, 2, 0, 7, 8]


def test_an_unseeded_environment_draws_a_seed_of_its_own():
    env = make("Subflow/Connection-v0", "dql-mptcp")
    assert not same(play(env, None, 60), play(make("Subflow/Connection-v0", "dql-mptcp"), None, 60))


def test_a_host_serves_its_flows_in_turn():
    env = HostEnv(parse_scenario(SHORT), seed=1)
    observation, _ = env.reset()
    served = []
    for _ in range(20):
        # slots: two of each connection, one of the TCP flow, which is observed but not controlled
        (flow,) = set(np.flatnonzero(observation["acting"]) // 2)
        served.append(int(flow))
        observation, *_ = env.step(np.zeros((2, 1)))
    assert env.observation_space["subflows"].shape == (5, 7)  # type: ignore[index]
    assert env.action_space.shape == (2, 1)
    assert served in ([0, 1] * 10, [1, 0] * 10)


@pytest.mark.parametrize("learner", ["early", "late"])
def test_a_learner_may_come_late_or_be_done_early(learner):
    env = ConnectionEnv(parse_scenario(COMING_AND_GOING), "dql-mptcp", learner=learner, seed=1)
    observation, info = env.reset()
    assert info["learner"] == learner
    assert (info["time_s"] > 1) == (learner == "late")
    shown: set[Any] = {tuple(observation["mask"])}
    steps = 0
    while True:
        observation, reward, terminated, truncated, info = env.step(np.zeros((2, 2)))
        steps += 1
        shown.add(tuple(observation["mask"]))
        if terminated or truncated:
            break
    assert info["time_s"] == 4.0
    if learner == "early":
        # after its end it observes no subflows
        assert terminated
        assert not observation["subflows"].any()
        assert reward == 0
        assert steps < 20
    else:
        assert truncated
        assert {(1, 1), (1, 0)} <= shown


def test_only_the_named_flow_learns():
    env = ConnectionEnv(parse_scenario(SHORT), learner="download.2", seed=1)
    assert env.reset()[1]["learner"] == "download.2"
    early = with_learner(parse_scenario(COMING_AND_GOING), "dql-mptcp", flows=["late"]).flows
    assert [flow.controller.name for flow in early.values()] == ["lia", "dql-mptcp"]


def seen_beside(others: Any) -> Any:
    """Observations of a learner in 20 steps while other agents act in this way."""
    env = ConnectionEnv(parse_scenario(SHORT), "dql-mptcp", others=others, seed=1)
    env.reset()
    return np.stack([env.step(np.zeros((2, 2)))[0]["subflows"] for _ in range(20)])


def test_what_others_do_is_up_to_the_maker():
    """The learner's observations depend on the other flows, because they share its links."""

    class Grower:
        calls = 0

        def act(self, rows: Any, acting: Any) -> Any:
            Grower.calls += 1
            assert rows.shape == (len(acting), 6)
            return np.full((len(acting), 2), 0.5, np.float32), 0.0

    for others in ("random", Grower()):
        assert not (seen_beside(others) == seen_beside("neutral")).all()
    assert Grower.calls > 10


def test_a_policy_decides_for_others(tmp_path):
    file = tmp_path / "other.safetensors"
    write_random_policy(file, make_plan("dql-mptcp", encoder="lstm"))
    by_policy = seen_beside(str(file))
    assert (by_policy == seen_beside(Policy.load(file))).all()
    assert not (by_policy == seen_beside("neutral")).all()
    write_random_policy(file, make_plan("dql-mptcp", history=2))
    with pytest.raises(SimulationError, match="history = 2"):
        seen_beside(str(file))


def test_the_reward_of_the_team_is_that_of_all_flows():
    own, team = (ConnectionEnv(parse_scenario(SHORT), reward=reward, seed=1) for reward in ("own", "team"))
    own.reset()
    team.reset()
    for _ in range(20):
        _, _, _, _, info = own.step(np.zeros((2, 2)))
        _, reward, _, _, _ = team.step(np.zeros((2, 2)))
        assert reward == info["team_reward"]


def test_epochs_can_be_times_round_trips_or_packets():
    times = {}
    for options in ({"epoch": "time", "epoch_time": 0.2}, {"epoch": "rtt", "epoch_time": 0.001}, {"epoch": "packets"}):
        env = ConnectionEnv(parse_scenario(SHORT), options={**options, "history": 2}, seed=1)
        assert env.observation_space["subflows"].shape == (2, 12)  # type: ignore[index]
        env.reset()
        seen = [env.step(np.zeros((2, 2)))[4]["time_s"] for _ in range(10)]
        times[options["epoch"]] = np.diff(seen)
    assert times["time"] == pytest.approx(0.2, abs=1e-6)
    assert (times["rtt"] < 0.2).all()
    assert len(set(times["packets"])) > 4  # at the times of the packets


def test_it_shows_itself_as_text():
    env = HostEnv(parse_scenario(SHORT), seed=1, render_mode="ansi")
    observation, _ = env.reset()
    lines = str(env.render()).splitlines()
    assert lines[0].startswith("episode 0, t = 0.")
    assert lines[1].split() == ["subflow", *(each.name for each in env.info.features)]
    assert sum(" * " in line for line in lines) == observation["acting"].sum()
    assert len(lines) == 2 + observation["mask"].sum()
    assert HostEnv(parse_scenario(SHORT)).render() is None


REFUSALS: list[tuple[Callable[[Scenario], object], str]] = [
    (lambda _: HostEnv("no-such-name"), r"no-such-name: no such scenario file.*allowed: .*drlcc-sc1"),
    (lambda given: ConnectionEnv(given, "drl-cc"), 'agent of "drl-cc" is one of each host, not of each connection'),
    (lambda given: HostEnv(given, "drl"), 'unknown controller "drl"'),
    (lambda given: HostEnv(given, "lia"), '"lia" has no learning agent'),
    (lambda given: ConnectionEnv(given, learner="reno"), 'no flow of kind mptcp for "dql-mptcp": "reno"'),
    (lambda given: ConnectionEnv(given, learner="download.9").reset(), r"allowed: download\.1, download\.2"),
    (lambda given: ConnectionEnv(given, others="friendly"), '"friendly" cannot decide for others: no policy'),
    (lambda given: HostEnv(given, reward="mine"), 'unknown reward "mine"'),
    (lambda given: HostEnv(given, render_mode="human"), 'nothing is drawn as "human"'),
    (lambda given: HostEnv(given, episode_s=0.01).reset(), "end before the learner has anything to decide"),
    (lambda given: HostEnv(given, seed=1).step(np.zeros((2, 1))), r"call reset\(\) first"),
    (lambda given: SubflowEnv(given, learner="download.1/3").reset(), "no learner"),
    (lambda given: PathEnv(given, "dql-mptcp"), "one of each connection"),
]


@for_each(("use", "message"), REFUSALS)
def test_refuses_what_cannot_be(use, message):
    with pytest.raises(SimulationError, match=message):
        use(parse_scenario(SHORT))


def test_refuses_actions_and_episodes_that_cannot_be():
    env = HostEnv(parse_scenario(SHORT), seed=1)
    env.reset()
    for action, message in ((np.zeros(3), "an action has 3 numbers, not 2"), (np.full((2, 1), np.nan), "finite")):
        with pytest.raises(SimulationError, match=message):
            env.step(action)
    with pytest.raises(SimulationError, match="unknown episode -1"):
        env.reset(options={"episode": -1})
