from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.helpers.choice_env import SHOWN_CHOICE
from tests.helpers.members import for_each

from subflow_agents.config import TrainingConfig
from subflow_agents.errors import AgentError
from subflow_agents.interval_log import COLUMNS, IntervalLog, record_log
from subflow_agents.log_env import LogEnv, LogTable
from subflow_agents.registry import agent
from subflow_agents.scenarios import make_environment
from subflow_sim import VecEnv, load_scenario
from subflow_sim.vec_env import learner_spec

SCENARIO = Path("assets/scenarios/t-ddpg-c.toml")
SPEC = learner_spec("ddpg-mpcc")


def log_of(rates: list[float], utilities: list[float]) -> IntervalLog:
    """Rates in Mbit/s; the RTT grows with the rate, and packets above 100 Mbit/s are lost."""
    table = np.zeros((len(rates), len(COLUMNS)))
    for row, rate, utility in zip(table, rates, utilities, strict=True):
        loss = max(0.0, 1 - 100 / rate)
        values = {"rate": rate * 1e6, "total_rate": rate * 1e6, "util": utility, "rtt": 0.04 + rate / 5e3}
        values |= {"loss_rate": loss, "thpt": (1 - loss) * rate * 1e6, "sent": 100.0, "lost": 100 * loss}
        for name, value in values.items():
            row[COLUMNS.index(name)] = value
    return IntervalLog(table)


SMALL = log_of([20, 50, 80, 100, 120], [15, 35, 52, 63, 10])


def log_of_runs(*seeds: int) -> IntervalLog:
    scenario = replace(load_scenario(SCENARIO), duration_s=20.0, warmup_s=0.0)
    return record_log([(scenario, seed) for seed in seeds])


@pytest.fixture(scope="module")
def recorded() -> IntervalLog:
    return log_of_runs(1)


# ------------------------------------------------------------------------------------------------------- the log


def test_a_run_of_mpcc_leaves_a_log(recorded: IntervalLog) -> None:
    assert len(recorded) > 500
    assert set(recorded["session"]) == {0, 1, 2, 3}  # two connections of two subflows
    assert (np.diff(recorded["time"]) >= 0).all()
    # Intervals of one subflow: in order, each with the utility of the previous interval
    own = recorded.table[recorded["session"] == 1]
    number, util, old = (own[:, COLUMNS.index(name)] for name in ("sequences", "util", "old_util"))
    assert (np.diff(number) >= 1).all()
    follows = np.flatnonzero(np.diff(number) == 1) + 1
    assert len(follows) > 50
    assert (old[follows] == util[follows - 1]).all()
    assert np.allclose(recorded["lost"] / recorded["sent"], recorded["loss_rate"])
    assert (recorded["total_rate"] >= recorded["rate"]).all()
    assert recorded["rtt"].min() >= 0.04


def test_utilities_of_a_log_are_mpccs() -> None:
    recorded = log_of_runs(1, 2, 3, 4, 5)
    # Gilad et al. 2020: U = R^0.9 - 11.35 L R, with R the total rate in Mbit/s. The controller computes with the rates
    # that siblings advertise, so only rows of a first subflow without siblings are exact: the first rows.
    alone = recorded["total_rate"] == recorded["rate"]
    assert alone.any()
    total = recorded["total_rate"] / 1e6
    expected = total**0.9 - 11.35 * recorded["loss_rate"] * total
    clean = recorded["loss_rate"] == 0
    # Without losses, the error stays within the changes of the siblings' rates by probing.
    assert np.median(np.abs(recorded["util"][clean] / expected[clean] - 1)) < 0.08


@for_each(
    ("rows", "says"),
    [
        ([[1.0, 2.0]], "has the columns time, session, "),
        (np.empty((0, len(COLUMNS))), "no monitor interval"),
        ([[1.0] * 11 + [math.nan]], "row 1 has no finite rtt"),
        ([[1.0] * 11 + [0.0]], "row 1 has a rtt of 0 or less"),
        ([[1.0] * 7 + [-1.0] + [1.0] * 4], "nothing to aim at"),
    ],
)
def test_a_table_that_is_no_log_is_refused_with_the_reason(rows: list[list[float]], says: str) -> None:
    with pytest.raises(AgentError, match=says):
        IntervalLog(np.array(rows))


def test_a_run_without_monitor_intervals_leaves_no_log() -> None:
    scenario = replace(load_scenario("assets/scenarios/reno-sawtooth.toml"), duration_s=2.0, warmup_s=0.0)
    with pytest.raises(AgentError, match="no monitor interval"):
        record_log([(scenario, 1)])


# ------------------------------------------------------------------------------------------------- the environment


def test_the_nearest_rate_is_looked_up() -> None:
    table = LogTable.of(SMALL)
    rates = np.array([1, 34, 36, 64, 66, 99, 111, 500]) / 120
    assert list(table.nearest(rates)) == [0, 0, 1, 1, 2, 3, 4, 4]
    alone = LogTable.of(log_of([50], [10]))
    assert list(alone.nearest(np.array([0.1, 5.0]))) == [0, 0]


def test_of_rates_that_are_much_the_same_the_best_stands() -> None:
    table = LogTable.of(log_of([100, 100.1, 100.2, 50], [10, 63, 20, 30]))
    assert list(table.rate * 100.2) == pytest.approx([50, 100.1])
    assert list(table.utility) == pytest.approx([30 / 63, 1])


def test_the_maximum_of_a_log_stays_where_it_is(recorded: IntervalLog) -> None:
    table = LogTable.of(recorded)
    best = recorded["util"].argmax()
    assert table.utility.max() == 1
    assert table.rate[table.utility.argmax()] == pytest.approx(recorded["rate"][best] / recorded["rate"].max())


def test_what_it_shows_and_pays_is_between_0_and_1(recorded: IntervalLog) -> None:
    env = LogEnv(recorded, SPEC, 16, episode_steps=100)
    env.reset()
    rng = np.random.default_rng(1)
    for _ in range(300):
        assert ((env.obs >= 0) & (env.obs <= 1)).all()
        assert ((env.reward >= 0) & (env.reward <= 1)).all()
        env.step(rng.uniform(-2, 2, (16, 1, 1)).astype(np.float32))


def test_episodes_begin_at_40_to_70_percent_of_the_best_utility(recorded: IntervalLog) -> None:
    env = LogEnv(recorded, SPEC, 200)
    env.reset()
    starts = env.table.utility[env.table.nearest(env.obs[:, 0, 0].astype(np.float64))]
    assert starts.min() >= 0.4
    assert starts.max() <= 0.7
    assert len(set(starts)) > 3
    # Without such a rate: the nearest, which is 80 % of the best here.
    env = LogEnv(log_of([50, 80, 100], [1, 48, 60]), SPEC, 4)
    env.reset()
    assert env.obs[:, 0, 0] == pytest.approx([0.8] * 4)


def test_an_action_moves_the_rate_by_a_quarter_at_most() -> None:
    env = LogEnv(SMALL, SPEC, 1)
    env.reset()  # 50 Mbit/s is the only rate with 40 to 70 % of 63
    assert env.obs[0, 0, 0] == pytest.approx(50 / 120)
    env.step(np.full((1, 1, 1), 1.0, dtype=np.float32))
    assert env.obs[0, 0, 0] == pytest.approx(62.5 / 120)
    env.step(np.full((1, 1, 1), -7.0, dtype=np.float32))
    assert env.obs[0, 0, 0] == pytest.approx(62.5 * 0.75 / 120)
    for _ in range(20):
        env.step(np.full((1, 1, 1), 1.0, dtype=np.float32))
    assert env.obs[0, 0, 0] == 1


def test_who_knows_the_log_gets_its_maximum(recorded: IntervalLog) -> None:
    env = LogEnv(recorded, SPEC, 8)
    env.reset()
    best = env.table.rate[env.table.utility.argmax()]
    for _ in range(20):
        env.step(((best / env.obs[:, :, :1] - 1) / 0.25).astype(np.float32))
    assert env.reward[:, 0] == pytest.approx(np.ones(8))


def test_an_episode_is_cut_off_and_the_next_begins_with_the_step_after() -> None:
    env = LogEnv(SMALL, SPEC, 2, episode_steps=3)
    env.reset()
    keep = np.zeros((2, 1, 1), dtype=np.float32)
    for _ in range(2):
        env.step(keep)
        assert not env.truncated.any()
    env.step(keep)
    assert env.truncated.all()
    assert not env.terminated.any()
    assert (env.reward[:, 0] > 0).all()
    metrics = env.episode_metrics(0)
    assert metrics["goodput_bps"] == metrics["flow_goodput_bps"] == pytest.approx(50e6)
    assert metrics["rtt_inflation"] == pytest.approx(0.05 / 0.044)
    assert metrics["duration_s"] == pytest.approx(3 * 1.5 * 0.05)
    env.step(keep)
    assert not env.truncated.any()
    assert (env.reward == 0).all()
    assert list(env.episode) == [1, 1]


def test_environments_that_are_not_sent_to_stay_as_they_are() -> None:
    env = LogEnv(SMALL, SPEC, 3)
    env.reset()
    env.send(np.ones((3, 1, 1), dtype=np.float32), [1])
    assert list(env.obs[:, 0, 0] > 0.5) == [False, True, False]


def test_randomness_follows_from_seed_environment_and_episode(recorded: IntervalLog) -> None:
    def first_rates(seed: int, num_envs: int, episode: int) -> list[float]:
        env = LogEnv(recorded, SPEC, num_envs)
        env.reset(seed, episodes=[episode] * num_envs)
        return [float(x) for x in env.obs[:, 0, 0]]

    assert first_rates(5, 8, 3)[:4] == first_rates(5, 4, 3)
    assert first_rates(5, 8, 3) != first_rates(6, 8, 3)
    assert first_rates(5, 8, 3) != first_rates(5, 8, 4)


def test_agents_that_see_something_else_are_refused() -> None:
    with pytest.raises(AgentError, match="sees 3 numbers"):
        LogEnv(SMALL, SHOWN_CHOICE, 1)


# --------------------------------------------------------------------------------------------------- as a training


def offline(tmp_path: Path, mode: str = "offline_log") -> TrainingConfig:
    return TrainingConfig(
        agent="ddpg-mpcc",
        scenario=SCENARIO.read_text(encoding="utf-8"),
        overrides=("duration=10s", "warmup=0s"),
        options={"mode": mode, "log_networks": "scenario", "log_runs": 3},
        num_envs=4,
        steps=100,
        folder=str(tmp_path),
    )


def test_an_offline_training_learns_from_a_log_and_another_from_the_simulator(tmp_path: Path) -> None:
    info = agent("ddpg-mpcc")
    config = offline(tmp_path)
    env = make_environment(config, info, info.config(config.options))
    assert isinstance(env, LogEnv)
    env.reset(1)
    assert env.obs.shape == (4, 1, 3)
    config = offline(tmp_path, "closed_loop")
    assert isinstance(make_environment(config, info, info.config(config.options)), VecEnv)
