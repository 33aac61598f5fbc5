from __future__ import annotations

from typing import Any

import numpy as np
from tests.helpers.toy_env import LevelEnv

from subflow_agents.transitions import LogsOf, TransitionBuilder, read_decisions


def test_a_decision_holds_the_rows_of_its_agent_and_which_of_them_act() -> None:
    env = begun(2, rows=3, agents=2)
    env.mask[0, 1] = False  # a subflow that does not exist
    env.acting[:] = False
    env.acting[0, [2, 5]] = True
    env.acting[1, 3] = True

    now = read_decisions(env)

    assert list(zip(now.env.tolist(), now.agent.tolist(), strict=True)) == [(0, 0), (0, 1), (1, 1)]
    assert now.count.tolist() == [2, 3, 3]
    assert now.acting.tolist() == [[1], [2], [0]]
    assert now.slots.tolist() == [[2], [5], [3]]
    np.testing.assert_array_equal(now.rows[0, :2], env.obs[0, [0, 2]])
    assert not now.rows[0, 2].any()
    np.testing.assert_array_equal(now.rows[2], env.obs[1, 3:6])


def test_a_slot_of_nobody_is_not_seen() -> None:
    env = begun(1, rows=2, agents=1)
    env.agent[0, 1] = -1
    env.acting[0, 1] = env.mask[0, 1] = False

    now = read_decisions(env)

    assert now.count.tolist() == [1]


def test_nobody_acting_is_no_decision() -> None:
    env = begun(2)
    env.acting[:] = False

    now = read_decisions(env)

    assert len(now) == 0
    assert TransitionBuilder().close(now, env.truncated) == {}


def test_rewards_are_the_agents_own() -> None:
    env = begun(1, rows=1, agents=2)
    env.reward[0] = 2, 3
    env.team_reward[0] = 9

    assert read_decisions(env).reward.tolist() == [2, 3]


def test_rewards_may_be_told_relative_to_fair_shares() -> None:
    env = begun(2, rows=4, agents=1)
    env.reward[:] = 3
    env.flow[:] = 0, 0, 1, 1
    env.fair_bps[0] = 4e6, 4e6, 8e6, 8e6
    env.fair_bps[1] = 2e6, 2e6, 0, 0  # a flow that cannot send counts with the lowest rate of a reward
    env.mask[1, 0] = env.acting[1, 0] = False

    expected: dict[LogsOf, list[float]] = {
        "flow": [3 - np.log(4) - np.log(8), 3 - np.log(2) - np.log(0.01)],
        "subflow": [3 - 2 * np.log(2) - 2 * np.log(4), 3 - np.log(2) - 2 * np.log(0.01)],
    }
    for share, rewards in expected.items():
        np.testing.assert_allclose(read_decisions(env, share).reward, rewards, rtol=1e-6)


def begun(*envs: int, **values: Any):
    """An environment after its reset."""
    env = LevelEnv(*envs, **values)
    env.reset(1)
    return env


def stitched(env: LevelEnv, stitcher: TransitionBuilder):
    now = read_decisions(env)
    ended = env.terminated | env.truncated
    closed = stitcher.close(now, ended)
    return now.take(~ended[now.env]), closed


def test_a_transition_leads_from_a_decision_of_an_agent_to_its_next() -> None:
    env = begun(1, rows=1, agents=2)
    stitcher = TransitionBuilder()
    first, closed = stitched(env, stitcher)
    assert closed == {}
    stitcher.open(first, np.array([[[0.1]], [[0.2]]], dtype=np.float32))

    # Only the second agent acts in between
    env.obs[0, 1, 0] = 0.7
    env.reward[0, 1] = 5
    env.acting[0] = False, True
    between, closed = stitched(env, stitcher)
    assert closed["action"].tolist() == [[[np.float32(0.2)]]]
    assert closed["reward"].tolist() == [5]
    assert closed["next_rows"][0, 0, 0] == np.float32(0.7)
    assert closed["rows"][0, 0].tolist() == first.rows[1, 0].tolist()
    stitcher.open(between, np.array([[[0.3]]], dtype=np.float32))

    env.acting[0] = True, True
    env.reward[0] = 7, 8
    _, closed = stitched(env, stitcher)
    assert closed["action"].ravel().tolist() == [np.float32(0.1), np.float32(0.3)]
    assert closed["reward"].tolist() == [7, 8]
    assert closed["ends"].tolist() == [0, 0]


def test_an_end_of_episode_closes_what_is_open_and_a_cut_off_is_bootstrapped() -> None:
    for terminated, ends in ((True, 1.0), (False, 0.0)):
        env = begun(2, rows=1, agents=1)
        stitcher = TransitionBuilder()
        first, _ = stitched(env, stitcher)
        stitcher.open(first, np.zeros((2, 1, 1), dtype=np.float32))
        (env.terminated if terminated else env.truncated)[1] = True

        left, closed = stitched(env, stitcher)

        assert closed["ends"].tolist() == [0, ends]
        assert left.env.tolist() == [0]  # no decisions after the end of an episode
        assert len(stitcher) == 0


def test_an_agent_that_went_leaves_nothing_in_the_next_episode() -> None:
    env = begun(1, rows=1, agents=2)
    stitcher = TransitionBuilder()
    first, _ = stitched(env, stitcher)
    stitcher.open(first, np.zeros((2, 1, 1), dtype=np.float32))
    env.truncated[0] = True
    env.acting[0] = True, False  # the second agent has ended

    _, closed = stitched(env, stitcher)

    assert len(closed["reward"]) == 1
    env.truncated[0] = False
    env.acting[0] = True
    _, closed = stitched(env, stitcher)
    assert closed == {}


def test_the_number_of_subflows_may_change_between_two_decisions() -> None:
    env = begun(1, rows=3, agents=1)
    env.mask[0, 2] = env.acting[0, 2] = False
    stitcher = TransitionBuilder()
    first, _ = stitched(env, stitcher)
    stitcher.open(first, np.array([[[0.1], [0.2]]], dtype=np.float32))
    env.mask[0, 2] = env.acting[0, 2] = True

    _, closed = stitched(env, stitcher)

    assert (closed["count"].tolist(), closed["next_count"].tolist()) == ([2], [3])
    assert closed["acting"].tolist() == [[0, 1]]
    assert closed["next_acting"].tolist() == [[0, 1, 2]]


def test_what_is_open_is_the_same_after_saving_and_loading() -> None:
    env = begun(2, rows=2, agents=1)
    before, after = TransitionBuilder(), TransitionBuilder()
    first, _ = stitched(env, before)
    before.open(first, np.arange(4, dtype=np.float32).reshape(2, 2, 1))

    after.load(before.state())

    closed = [stitched(env, stitcher)[1] for stitcher in (before, after)]
    assert closed[0].keys() == closed[1].keys()
    for name, column in closed[0].items():
        np.testing.assert_array_equal(column, closed[1][name])
