"""Trained policies: PyTorch and the core compute the same; files are written whole and read strictly."""

from __future__ import annotations

import json
import math
import struct
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.members import for_each
from tests.helpers.policies import Plan, plan_document, random_tensors

from subflow_sim.errors import PolicyError
from subflow_sim.policy import Policy, policy_bytes, write_policy

torch = pytest.importorskip("torch")

ENCODERS = ("none", "lstm", "pool")
INPUTS = ("slot", "target", "all")


PLANS = [Plan(*each) for each in product(("drl-cc", "dql-mptcp"), ENCODERS, INPUTS, ("none", "state", "action"))]


def _row_code(spec: dict[str, Any], weights: dict[str, Any], name: str, rows: Any) -> Any:
    """Code of the encoder for rows [S, W]: [H]."""
    encoder = spec["encoder"]
    if encoder["type"] == "none":
        return rows.new_zeros(0)
    if encoder["type"] == "lstm":
        lstm = torch.nn.LSTM(rows.shape[1], encoder["hidden"], batch_first=True)
        lstm.load_state_dict({key: weights[f"{name}.encoder.{key}"] for key in lstm.state_dict()})
        return lstm(rows[None])[1][0][0, 0]
    activation = {"relu": torch.relu, "tanh": torch.tanh}[encoder["activation"]]
    for index in range(len(encoder["layers"])):
        weight, bias = (weights[f"{name}.encoder.{index}.{part}"] for part in ("weight", "bias"))
        rows = activation(torch.nn.functional.linear(rows, weight, bias))
    pooled = {"mean": rows.mean(0), "max": rows.amax(0)}
    return torch.cat([pooled[part] for part in encoder["pool"]])


def _run(spec: dict[str, Any], weights: dict[str, Any], name: str, parts: list[Any]) -> Any:
    x = torch.cat(parts)
    for index, layer in enumerate(spec["layers"]):
        match layer["type"]:
            case "linear":
                weight, bias = (weights[f"{name}.layers.{index}.{part}"] for part in ("weight", "bias"))
                x = torch.nn.functional.linear(x, weight, bias)
            case "relu":
                x = torch.relu(x)
            case "tanh":
                x = torch.tanh(x)
    return x


def _padded(rows: Any, slots: int) -> Any:
    kept = rows[:slots]
    return torch.cat([kept, kept.new_zeros(slots - len(kept), rows.shape[1])]).flatten()


def _by_torch(document: dict[str, Any], tensors: dict[str, Any], rows: Any, acting: Any) -> tuple[Any, float]:
    """The action [S, A] within [-1, 1] and the value, computed by PyTorch."""
    weights = {name: torch.from_numpy(values) for name, values in tensors.items()}
    seen, places = torch.from_numpy(rows), np.flatnonzero(acting)
    count = len(document["action"]["names"])
    actor, critic = document["actor"], document["critic"]
    code = _row_code(actor, weights, "actor", seen)
    action = torch.zeros(len(rows), count)
    slots = actor["slots"]
    if actor["input"] == "slot":
        for place in places:
            action[place] = _run(actor, weights, "actor", [code, seen[place]])
    else:
        shown = seen[places] if actor["input"] == "target" else seen
        out = _run(actor, weights, "actor", [code, _padded(shown, slots)]).reshape(slots, count)
        for k, place in enumerate(places):
            at = k if actor["input"] == "target" else place
            if at < slots:
                action[place] = out[at]
    if critic is None:
        return action.numpy(), math.nan
    code = _row_code(critic, weights, "critic", seen)
    taken = [action] if critic["takes_action"] else []
    if critic["input"] == "slot":
        values = [
            _run(critic, weights, "critic", [code, seen[place], *(each[place] for each in taken)]) for place in places
        ]
        return action.numpy(), float(torch.cat(values).mean())
    chosen = places if critic["input"] == "target" else np.arange(len(rows))
    parts = [code, _padded(seen[chosen], slots), *(_padded(each[chosen], slots) for each in taken)]
    return action.numpy(), float(_run(critic, weights, "critic", parts))


def random_policy(document: dict[str, Any], seed: int) -> Policy:
    return Policy(policy_bytes(document, random_tensors(document, seed)))


@for_each("plan", PLANS, ids=str)
def test_the_core_computes_what_pytorch_computes(plan: Plan) -> None:
    torch.set_num_threads(1)
    document = plan_document(plan)
    tensors = random_tensors(document, seed=1)
    policy = Policy(policy_bytes(document, tensors))
    rng = np.random.default_rng(2)
    for subflows in (1, 2, 3, 5):  # fewer than slots, as many, more
        rows = rng.normal(size=(subflows, policy.width)).astype(np.float32)
        acting = rng.random(subflows) < 0.6
        acting[rng.integers(subflows)] = True
        action, value = policy.act(rows, acting)
        with torch.no_grad():
            expected, worth = _by_torch(document, tensors, rows, acting)
        np.testing.assert_allclose(action, expected, atol=1e-5)
        np.testing.assert_allclose(value, worth, atol=1e-5)


def test_padding_between_rows_changes_nothing() -> None:
    document = plan_document(Plan("drl-cc", "lstm", "target", "action"))
    policy = random_policy(document, seed=3)
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(3, policy.width)).astype(np.float32)
    acting = np.array([True, False, True])
    action, value = policy.act(rows, acting)
    padded = rng.normal(size=(1, 6, policy.width)).astype(np.float32)
    mask = np.array([[False, True, False, True, True, False]])
    padded[mask] = rows
    acts = np.zeros((1, 6), dtype=bool)
    acts[mask] = acting
    actions, values = policy.act_many(padded, acts, mask)
    np.testing.assert_array_equal(actions[mask], action)
    assert not actions[~acts].any()
    assert values[0] == np.float32(value)


def test_many_observations_are_each_by_itself() -> None:
    policy = random_policy(plan_document(Plan("dql-mptcp", "pool", "slot", "action")), seed=5)
    rows = np.random.default_rng(6).normal(size=(50, 2, policy.width)).astype(np.float32)
    acting = np.ones((50, 2), dtype=bool)
    acting[7] = False
    actions, values = policy.act_many(rows, acting)
    assert actions.shape == (50, 2, 2)
    assert values.shape == (50,)
    assert np.isnan(values[7])
    assert not actions[7].any()
    for index in (0, 20, 49):
        action, value = policy.act(rows[index], acting[index])
        np.testing.assert_array_equal(action, actions[index])
        assert value == values[index]


@pytest.mark.parametrize("shape", [(2, 3), (4, 2, 2), (4, 3, 7)])
def test_rows_that_do_not_fit_are_refused(shape: tuple[int, ...]) -> None:
    policy = random_policy(plan_document(Plan("drl-cc", "none", "slot", "none")), seed=7)
    with pytest.raises(ValueError, match=r"rows|mask"):
        policy.act_many(np.zeros(shape, np.float32), np.ones((4, 2), bool))


def test_a_file_says_what_it_is(tmp_path: Path) -> None:
    document = plan_document(Plan("drl-cc", "lstm", "target", "action"))
    document |= {"options": {"epoch_time": 0.2}, "card": {"seed": 2**60 + 1, "note": 'Größe µ \u2713 "quoted"'}}
    path = tmp_path / "mine.safetensors"
    content_hash = write_policy(path, document, random_tensors(document, seed=8))
    policy = Policy.load(path)
    assert policy.document == document
    assert policy.card["seed"] == 2**60 + 1
    assert policy.options == {"epoch_time": 0.2}
    assert (policy.controller, policy.name, policy.history, policy.slots) == ("drl-cc", "drl-cc", 1, 3)
    assert policy.content_hash == content_hash
    assert Policy.load(path) is policy
    assert [file.name for file in tmp_path.iterdir()] == ["mine.safetensors"]


def test_safetensors_reads_what_is_written(tmp_path: Path) -> None:
    safetensors = pytest.importorskip("safetensors")
    numpy_api = pytest.importorskip("safetensors.numpy")
    document = plan_document(Plan("drl-cc", "pool", "all", "state"))
    tensors = random_tensors(document, seed=9)
    path = tmp_path / "mine.safetensors"
    write_policy(path, document, tensors)
    loaded = numpy_api.load_file(path)
    assert loaded.keys() == tensors.keys()
    for name, values in tensors.items():
        np.testing.assert_array_equal(loaded[name], values)
    with safetensors.safe_open(path, "np") as file:
        assert json.loads(file.metadata()["subflow_policy"]) == document
    # and the other way round
    other = tmp_path / "theirs.safetensors"
    numpy_api.save_file(tensors, other, {"subflow_policy": json.dumps(document), "by": "someone"})
    assert Policy.load(other).document == document


def test_what_pytorch_saves_is_never_opened(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    torch.save({"weight": torch.zeros(3)}, path)
    with pytest.raises(PolicyError, match=r"model\.safetensors: .*zip archive, as torch\.save writes.*never opened"):
        Policy.load(path)


def test_an_unusable_policy_is_not_written(tmp_path: Path) -> None:
    document = plan_document(Plan("drl-cc", "none", "slot", "none"))
    tensors = random_tensors(document, seed=10)
    path = tmp_path / "mine.safetensors"
    write_policy(path, document, tensors)
    before = path.read_bytes()
    tensors["actor.layers.0.bias"][3] = np.nan
    with pytest.raises(PolicyError, match=r'tensor "actor\.layers\.0\.bias": NaN as element 3'):
        write_policy(path, document, tensors)
    with pytest.raises(PolicyError, match="not JSON"):
        write_policy(path, {**document, "card": {"loss": math.nan}}, random_tensors(document, seed=10))
    assert path.read_bytes() == before
    with pytest.raises(PolicyError, match="cannot be written"):
        write_policy(tmp_path / "nowhere" / "mine.safetensors", document, random_tensors(document, seed=10))
    assert [file.name for file in tmp_path.iterdir()] == ["mine.safetensors"]


def test_a_policy_for_another_controller_or_other_features_is_refused() -> None:
    document = plan_document(Plan("drl-cc", "none", "slot", "none"))
    tensors = random_tensors(document, seed=11)
    for controller in ("cubic", "dlr-cc"):
        with pytest.raises(PolicyError, match=f'no learned controller "{controller}"'):
            policy_bytes({**document, "controller": controller}, tensors)
    features = list(document["observation"]["features"])
    features[0], features[1] = features[1], features[0]
    with pytest.raises(PolicyError, match=r"observation\.features\[0\]"):
        policy_bytes({**document, "observation": {"features": features, "history": 1}}, tensors)


_GOOD_DOCUMENT = plan_document(Plan("drl-cc", "lstm", "slot", "action", history=2))
_GOOD = policy_bytes(_GOOD_DOCUMENT, random_tensors(_GOOD_DOCUMENT, seed=12))
_HEADER_END = 8 + struct.unpack("<Q", _GOOD[:8])[0]


@settings(max_examples=300, deadline=None)
@given(
    at=st.integers(0, _HEADER_END + 16),
    cut=st.integers(0, 40),
    put=st.one_of(
        st.binary(max_size=24),
        st.text('{}[]",:\\0123456789eE+-.', max_size=24).map(str.encode),
        st.sampled_from([b"null", b"true", b"1e999", b'"F64"', b"[[", b"__metadata__", b"\xff\xfe", b"\\ud800"]),
    ),
)
def test_a_changed_file_is_read_or_refused(at: int, cut: int, put: bytes) -> None:
    changed = _GOOD[:at] + put + _GOOD[at + cut :]
    try:
        policy = Policy(changed)
    except PolicyError as error:
        assert str(error)  # noqa: PT017 - whatever it is, there is a reason
    else:
        assert policy.act(np.zeros((2, policy.width), np.float32), [True, True])[0].shape[0] == 2
