from __future__ import annotations

import numpy as np
import pytest

from subflow_agents.errors import CheckpointError
from subflow_agents.noise import OrnsteinUhlenbeck
from subflow_agents.replay import PrioritisedReplay, Replay, SumTree


def columns(first: int, count: int) -> dict[str, np.ndarray]:
    return {"number": np.arange(first, first + count), "pair": np.arange(2.0 * count).reshape(count, 2)}


def test_a_ring_keeps_the_last_transitions() -> None:
    replay = Replay(5)

    replay.add(columns(0, 3))
    replay.add(columns(3, 4))

    assert len(replay) == 5
    assert sorted(replay.columns["number"]) == [2, 3, 4, 5, 6]


def test_each_transition_is_as_likely_as_any_other() -> None:
    replay = Replay(10)
    replay.add(columns(0, 10))
    rng = np.random.default_rng(1)

    counts = np.bincount(replay.sample(20_000, rng).columns["number"], minlength=10)

    # Binomial with p = 0.1: standard deviation sqrt(20000 x 0.1 x 0.9) = 42.4
    assert np.abs(counts - 2000).max() < 4 * 42.4


def test_columns_grow_with_the_number_of_subflows() -> None:
    replay = Replay(4, {"acting": -1})
    replay.add({"rows": np.ones((1, 2, 3), np.float32), "acting": np.zeros((1, 1), np.int16)})
    replay.add({"rows": np.full((1, 4, 3), 2, np.float32), "acting": np.full((1, 2), 3, np.int16)})
    replay.add({"rows": np.full((1, 1, 3), 5, np.float32), "acting": np.zeros((1, 1), np.int16)})

    assert replay.columns["rows"].shape == (4, 4, 3)
    assert replay.columns["rows"][:3, :, 0].tolist() == [[1, 1, 0, 0], [2, 2, 2, 2], [5, 0, 0, 0]]
    assert replay.columns["acting"][:3].tolist() == [[0, -1], [3, 3], [0, -1]]


def test_what_a_wider_transition_left_is_gone_when_its_place_is_taken() -> None:
    replay = Replay(1)
    replay.add({"rows": np.full((1, 3), 7.0)})
    replay.add({"rows": np.full((1, 1), 1.0)})

    assert replay.columns["rows"].tolist() == [[1, 0, 0]]


def test_a_sum_tree_is_the_sum_of_its_leaves_and_finds_each_by_its_share() -> None:
    rng = np.random.default_rng(2)
    weights = rng.random(37)
    tree = SumTree(37)

    tree.set(np.arange(37), weights)
    tree.set(np.array([4, 4, 9]), np.array([1.0, 0.25, 0.5]))

    weights[[4, 9]] = 0.25, 0.5
    assert tree.total == pytest.approx(weights.sum(), rel=1e-12)
    edges = np.cumsum(weights)
    assert tree.find(edges - 1e-9).tolist() == list(range(37))
    assert tree.find(np.array([0.0, tree.total * (1 - 1e-16)])).tolist() == [0, 36]


def test_a_leaf_without_weight_is_never_found() -> None:
    tree = SumTree(8)
    tree.set(np.array([0, 3]), np.array([0.1, 0.2]))

    found = tree.find(np.linspace(0, tree.total, 1000))

    assert set(found.tolist()) == {0, 3}


def test_priorities_of_zero_exponent_draw_all_alike() -> None:
    replay = PrioritisedReplay(8, alpha=0)
    replay.add(columns(0, 8))
    replay.refresh(np.arange(8), np.linspace(0.1, 5, 8))

    assert replay.probabilities() == pytest.approx(np.full(8, 1 / 8))


def test_frequencies_and_weights_follow_the_priorities() -> None:
    replay = PrioritisedReplay(4, alpha=0.6, epsilon=1e-6)
    replay.add(columns(0, 4))
    errors = np.array([0.1, 0.5, 1.0, 4.0])
    replay.refresh(np.arange(4), errors)
    replay.beta = 0.5
    # Schaul et al. 2015 section 3.3: P(i) = p_i^alpha / sum
    expected = (errors + 1e-6) ** 0.6 / ((errors + 1e-6) ** 0.6).sum()

    assert replay.probabilities() == pytest.approx(expected, rel=1e-12)
    rng = np.random.default_rng(3)
    drawn = np.concatenate([replay.sample(64, rng).indices for _ in range(500)])
    counts = np.bincount(drawn, minlength=4)
    # Stratified draws vary less than these: sqrt(n p (1 - p))
    assert (np.abs(counts - 32_000 * expected) < 3 * np.sqrt(32_000 * expected * (1 - expected))).all()
    sample = replay.sample(64, rng)
    weights = (4 * expected[sample.indices]) ** -0.5
    assert sample.weights == pytest.approx(weights / weights.max(), rel=1e-6)


def test_new_transitions_get_the_largest_priority_there_was() -> None:
    replay = PrioritisedReplay(8)
    replay.add(columns(0, 2))
    replay.refresh(np.array([0]), np.array([9.0]))

    replay.add(columns(2, 1))

    probabilities = replay.probabilities()
    assert probabilities[2] == pytest.approx(probabilities[0])
    assert probabilities[2] > probabilities[1]


def test_deleting_after_sampling_draws_nothing_twice() -> None:
    replay = PrioritisedReplay(100, delete_after_sampling=True)
    replay.add(columns(0, 100))
    rng = np.random.default_rng(4)

    drawn: list[int] = []
    while replay.available >= 10:
        sample = replay.sample(10, rng)
        replay.refresh(sample.indices, np.ones(10))
        assert not set(drawn) & set(sample.indices.tolist())
        drawn += sample.indices.tolist()

    assert len(drawn) >= 90


@pytest.mark.parametrize("make", [lambda: Replay(6), lambda: PrioritisedReplay(6)])
def test_a_memory_is_the_same_after_saving_and_loading(make) -> None:
    before = make()
    before.add(columns(0, 9))
    before.refresh(np.array([0, 2]), np.array([3.0, 0.2]))
    after = make()

    after.load(*before.state())

    for memory in (before, after):
        memory.add(columns(9, 2))
    drawn = [memory.sample(32, np.random.default_rng(5)) for memory in (before, after)]
    first, second = ((each.indices.tolist(), each.weights.tolist(), each.columns["number"].tolist()) for each in drawn)
    assert first == second


def test_a_memory_without_priorities_is_no_prioritised_one() -> None:
    plain = Replay(6)
    plain.add(columns(0, 3))
    with pytest.raises(CheckpointError, match="no priorities"):
        PrioritisedReplay(6).load(*plain.state())


def test_noise_has_the_standard_deviation_that_its_equation_gives() -> None:
    noise = OrnsteinUhlenbeck((2,), theta=0.15, sigma=0.2, rng=np.random.default_rng(6))
    which = np.arange(500)
    for _ in range(60):  # 0.85^60 = 6e-5: the start is forgotten
        noise.draw(which)

    drawn = np.stack([noise.draw(which) for _ in range(40)])

    # sigma / sqrt(2 theta - theta^2) = 0.2 / sqrt(0.2775) = 0.37966; 1000 independent processes: +- 2 %
    assert drawn.std() == pytest.approx(0.3797, rel=0.02)
    # Lag-1 correlation 1 - theta
    assert np.corrcoef(drawn[:-1].ravel(), drawn[1:].ravel())[0, 1] == pytest.approx(0.85, abs=0.01)


def test_noise_of_an_agent_begins_at_zero_with_each_episode() -> None:
    noise = OrnsteinUhlenbeck((1,), theta=0.15, sigma=0.2, rng=np.random.default_rng(7))
    for _ in range(5):
        noise.draw(np.array([0, 3]))

    noise.reset(np.array([3]))

    assert noise.values[3] == 0
    assert noise.values[0] != 0
