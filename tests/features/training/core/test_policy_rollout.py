"""A policy acts for a moment: the picture is drawn from its observations, for any grouping of subflows into agents."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.helpers.policies import make_plan, write_random_policy
from tests.helpers.window import TWO_PATHS

from subflow_app.features.training.core.policy_surface import MOST_OBSERVATIONS, observe_policy, policy_surface
from subflow_sim.errors import PolicyError, SimulationError

LONG = TWO_PATHS.replace('duration = "2s"', 'duration = "60s"')


@pytest.mark.parametrize(
    ("controller", "options", "slots"),
    [
        ("drl-cc", {"encoder": "lstm"}, 4),  # one agent of the host, both flows
        ("dql-mptcp", {"input": "target"}, 2),  # one agent for each connection
        ("clean-slate", {"input": "all", "encoder": "pool"}, 2),
    ],
)
def test_a_policy_is_seen_deciding(tmp_path: Path, controller: str, options: dict, slots: int) -> None:
    path = tmp_path / "policy.safetensors"
    write_random_policy(path, make_plan(controller, **options))
    two_flows = LONG.replace('controller = "lia"', 'controller = "lia"\ncount = 2')

    known = observe_policy(path, two_flows)

    assert 20 < len(known.seen) <= MOST_OBSERVATIONS
    assert known.seen.rows.shape[1] == slots
    assert known.seen.acting.any(axis=1).all()
    assert not (known.seen.acting & ~known.seen.mask).any()
    for number, feature in enumerate(known.features):
        values = known.seen.rows[known.seen.mask][:, number]
        assert feature.minimum <= values.min() <= values.max() <= feature.maximum
    surface = policy_surface(known.policy, known.features, known.seen, 0, 1, resolution=7)
    assert np.isfinite(surface.action).all()
    for low_high in known.outputs[:1]:
        assert low_high.minimum <= surface.action.min() <= surface.action.max() <= low_high.maximum


def test_a_distribution_is_drawn_from(tmp_path: Path) -> None:
    path = tmp_path / "policy.safetensors"
    write_random_policy(path, make_plan("drl-cc"))
    drawn = LONG + '\n[training.draws]\n"links.wifi.loss" = { uniform = ["0%", "5%"] }\n'
    assert len(observe_policy(path, drawn).seen) > 20


def test_the_same_policy_is_seen_alike_each_time(tmp_path: Path) -> None:
    path = tmp_path / "policy.safetensors"
    write_random_policy(path, make_plan("drl-cc"))
    first, second = observe_policy(path, TWO_PATHS).seen, observe_policy(path, TWO_PATHS).seen
    count = min(len(first), len(second))
    np.testing.assert_array_equal(first.rows[:count], second.rows[:count])


def test_what_cannot_act_says_why(tmp_path: Path) -> None:
    path = tmp_path / "policy.safetensors"
    path.write_bytes(b"nothing")
    with pytest.raises(PolicyError):
        observe_policy(path, TWO_PATHS)
    write_random_policy(path, make_plan("drl-cc"))
    with pytest.raises(SimulationError, match="no flow"):
        observe_policy(path, TWO_PATHS.replace('kind = "mptcp"', 'kind = "tcp"').replace(', ["lte"]', ""))
