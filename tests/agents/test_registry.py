from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from tests.helpers.members import for_each

from subflow_agents import ConfigError, agent, agent_names
from subflow_agents.learner import LearnerSetup
from subflow_sim.policy import Policy, policy_bytes
from subflow_sim.vec_env import agent_spec, learner_spec


def test_telling_what_agents_there_are_does_not_import_what_they_learn_with() -> None:
    program = (
        "import sys, subflow_agents\n"
        "print(*(info.name for info in subflow_agents.agents() if info.options() and info.config()))\n"
        "print(*sys.modules)\n"
    )
    told = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    names, modules = (line.split() for line in told.splitlines())
    assert names == list(agent_names())
    assert not {"torch", "safetensors", "gymnasium"} & set(modules)


def test_an_unknown_agent_is_refused_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match="unknown agent 'drlcc'; allowed: drl-cc, "):
        agent("drlcc")


@for_each("name", agent_names())
def test_an_agent_fits_its_controller(name: str) -> None:
    info = agent(name)
    config = info.config()

    spec = agent_spec(info.controller, info.controller_options(config))

    assert info.name == name
    assert spec is not None
    assert spec.scope == info.scope
    learner = info.make_learner(config, LearnerSetup(spec, num_envs=2, slots=4, seed=1))
    parts = learner.policy()
    assert parts.document["observation"]["features"] == [feature.name for feature in spec.features]
    assert all(option.source for option in info.options())


@pytest.mark.parametrize("name", ["drl-cc", "dql-mptcp", "clean-slate"])
def test_a_policy_of_windows_acts_on_any_number_of_subflows(name: str) -> None:
    info = agent(name)
    config = info.config({"head": "each"})
    spec = learner_spec(info.controller, info.controller_options(config))
    parts = info.make_learner(config, LearnerSetup(spec, 1, 8, 1)).policy()
    document = {"format": 1, "controller": info.controller, "name": name, **parts.document, "card": {}}
    policy = Policy.from_bytes(policy_bytes({**document, "options": {}}, parts.tensors))

    assert policy.slots is None
    for count in range(1, 9):
        rows = np.random.default_rng(count).random((count, spec.width), dtype=np.float32)
        actions, _ = policy.act(rows, np.ones(count, dtype=np.bool_))
        assert actions.shape == (count, spec.action_width)
        assert np.isfinite(actions).all()
        # Only an LSTM reads the other subflows one by one; elsewhere their order changes nothing.
        if config.encoder == "pool":
            turned, _ = policy.act(rows[::-1], np.ones(count, dtype=np.bool_))
            assert np.allclose(turned[::-1], actions, atol=1e-6)
