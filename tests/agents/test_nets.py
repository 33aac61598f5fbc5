from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from subflow_agents.nets import EncoderSpec, NetSpec, SetEncoder, Trunk, network_document, network_tensors, to_rows

ENCODERS = [EncoderSpec("none"), EncoderSpec("lstm", 8), EncoderSpec("pool", 6)]


def rng(seed: int = 1) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def decisions(counts: list[int], features: int = 3, width: int | None = None, seed: int = 1):
    width = width or max(counts)
    rows = np.zeros((len(counts), width, features), dtype=np.float32)
    for index, count in enumerate(counts):
        rows[index, :count] = np.random.default_rng((seed, index)).normal(size=(count, features))
    acting = np.full((len(counts), 2), -1, dtype=np.int16)
    for index, count in enumerate(counts):
        acting[index, : min(2, count)] = np.arange(min(2, count)) + max(0, count - 2)
    return to_rows(rows, np.array(counts, dtype=np.int16), acting)


@pytest.mark.parametrize("spec", ENCODERS[1:], ids=lambda spec: spec.kind)
def test_a_padded_batch_is_summed_up_as_each_decision_by_itself(spec: EncoderSpec) -> None:
    encoder = SetEncoder(3, spec, rng())
    counts = [4, 1, 3, 2]

    together = encoder(decisions(counts, width=7))

    for index, count in enumerate(counts):
        rows = decisions(counts).rows[index : index + 1, :count].contiguous()
        alone = encoder(to_rows(rows.numpy(), np.array([count]), np.array([[0]])))
        torch.testing.assert_close(together[index], alone[0], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("spec", ENCODERS, ids=lambda spec: spec.kind)
def test_what_stands_behind_the_rows_changes_nothing(spec: EncoderSpec) -> None:
    for head, slots in (("slot", 1), ("target", 3), ("all", 5)):
        net = NetSpec(3, 2, head, slots, (8,), spec)
        encoder, trunk = SetEncoder(3, spec, rng()), Trunk(net, rng(2), outputs=None, takes_action=False)
        clean, dirty = decisions([2, 5]), decisions([2, 5])
        dirty.rows[0, 2:] = 77

        before, after = (trunk.by_row(batch, trunk(encoder(batch), batch)) for batch in (clean, dirty))

        torch.testing.assert_close(before, after)


def test_a_joint_head_sees_acting_rows_side_by_side_and_zeros_behind() -> None:
    spec = NetSpec(3, 1, "target", 3, (), EncoderSpec("none"))
    trunk = Trunk(spec, rng(), outputs=None, takes_action=False)
    batch = decisions([4, 1])
    seen = torch.zeros(2, 9)
    seen[0, :6] = batch.rows[0, 2:4].reshape(-1)
    seen[1, :3] = batch.rows[1, 0]

    torch.testing.assert_close(trunk(torch.zeros(2, 0), batch), trunk.last(seen))


def test_a_head_for_all_rows_answers_by_row_and_critics_see_actions_there() -> None:
    spec = NetSpec(3, 1, "all", 4, (), EncoderSpec("none"))
    actor = Trunk(spec, rng(), outputs=None, takes_action=False)
    critic = Trunk(spec, rng(3), outputs=1, takes_action=True)
    batch = decisions([4])  # rows 2 and 3 act
    h = torch.zeros(1, 0)
    action = torch.tensor([[[0.5], [-0.25]]])

    answer = actor(h, batch)
    torch.testing.assert_close(actor.by_row(batch, answer), answer.view(1, 4, 1)[:, 2:])
    seen = torch.cat((batch.rows.flatten(1), torch.tensor([[0, 0, 0.5, -0.25]])), 1)
    torch.testing.assert_close(critic(h, batch, action), critic.last(seen))


def test_last_layers_begin_close_to_zero_and_the_others_within_their_fan_in() -> None:
    spec = NetSpec(3, 2, "slot", 1, (32, 16), EncoderSpec("lstm", 8))
    trunk = Trunk(spec, rng(), outputs=None, takes_action=False)

    assert float(trunk.last.weight.detach().abs().max()) <= 3e-3
    first = trunk.hidden[0]
    assert isinstance(first, torch.nn.Linear)
    bound = (8 + 3) ** -0.5  # of [h | row]
    assert 0.8 * bound < float(first.weight.detach().abs().max()) <= bound


@pytest.mark.parametrize("encoder", ENCODERS, ids=lambda spec: spec.kind)
@pytest.mark.parametrize(("head", "slots"), [("slot", 1), ("target", 2), ("all", 4)])
def test_the_core_does_what_the_exported_network_says(tmp_path, encoder: EncoderSpec, head: str, slots: int) -> None:
    from safetensors.numpy import save_file

    from subflow_sim.policy import Policy
    from subflow_sim.vec_env import learner_spec

    agent = learner_spec("dql-mptcp")
    spec = NetSpec(agent.width, 2, head, slots, (16, 8), encoder)
    actor_encoder, actor = (
        SetEncoder(agent.width, encoder, rng()),
        Trunk(spec, rng(2), outputs=None, takes_action=False),
    )
    critic = Trunk(spec, rng(3), outputs=1, takes_action=True)
    with torch.no_grad():  # away from 0, where a wrong row would have no effect
        for trunk in (actor, critic):
            trunk.last.weight.mul_(300)
    document = {
        "format": 1,
        "controller": "dql-mptcp",
        "name": "test",
        "observation": {"features": [feature.name for feature in agent.features], "history": 1},
        "action": {"names": [action.name for action in agent.actions], "choices": []},
        "options": {},
        "actor": network_document(spec, actor, squashed=True),
        "critic": network_document(spec, critic, squashed=False),
        "card": {},
    }
    tensors = {**network_tensors("actor", actor_encoder, actor), **network_tensors("critic", actor_encoder, critic)}
    path = tmp_path / "test.safetensors"
    save_file(tensors, path, {"subflow_policy": json.dumps(document)})
    rows = np.random.default_rng(5).uniform(0, 1, (4, agent.width)).astype(np.float32)
    acting = np.array([1, 3])

    batch = to_rows(rows[None], np.array([4]), acting[None])
    with torch.no_grad():
        h = actor_encoder(batch)
        expected = torch.tanh(actor.by_row(batch, actor(h, batch)))
        worth = critic(h, batch, expected).mean()
    action, value = Policy.load(path).act(rows, np.isin(np.arange(4), acting))

    np.testing.assert_allclose(action[acting], expected[0].numpy(), atol=1e-5)
    if head != "slot":
        assert value == pytest.approx(float(worth), abs=1e-4)
