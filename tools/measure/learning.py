"""Speed of learning: decisions of policies, steps of environments, answers of a training, duration of recipes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np

from subflow_sim.bench_scale import DRL_CC_ENVIRONMENT, environment_rate
from subflow_sim.policy import Policy, policy_bytes
from subflow_sim.vec_env import learner_spec

_OBSERVATIONS = 500
_ROUNDS = 20
_ENVS = 16
_HIDDEN = 128
_CODE = 64


@dataclass(frozen=True, slots=True)
class LearningFigure:
    """One measured figure beside its target.

    Attributes:
        name: name of the figure.
        description: description of the measurement.
        value: measured value in `unit`.
        unit: e.g. "us".
        target: value to reach.
        is_limit: whether the target is an upper limit; otherwise a lower limit.
    """

    name: str
    description: str
    value: float
    unit: str
    target: float
    is_limit: bool

    @property
    def is_met(self) -> bool:
        """True if the value meets its target."""
        return self.value <= self.target if self.is_limit else self.value >= self.target


def document(*names: str) -> list[dict[str, Any]]:
    """Measures the named figures; without names all figures, with durations of recipes from policy cards."""
    from tools.measure import training

    known = (*FIGURES, *training.figure_names())
    if unknown := [name for name in names if name not in known]:
        raise SystemExit(f"unknown figures of learning: {', '.join(unknown)}; allowed: {', '.join(known)}")
    wanted = names or (*FIGURES, *training.ANSWERS)
    figures = [FIGURES[name]() if name in FIGURES else training.measure(name) for name in wanted]
    told = figures + ([] if names else training.recipes_on_cards())
    return [asdict(figure) | {"is_met": figure.is_met} for figure in told]


def decision_time_s(encoder: str, subflows: int, observations: int = _OBSERVATIONS, rounds: int = _ROUNDS) -> float:
    """CPU time in seconds of one decision of a policy in the core, best of some rounds.

    Args:
        encoder: "lstm" of 64 units or "none", before two layers of 128; rows of DRL-CC, two of which act.
        subflows: rows of an observation.
        observations: decisions per round.
        rounds: repetitions, because other load disturbs some of them.
    """
    policy = Policy.from_bytes(_content(encoder))
    rng = np.random.default_rng(1)
    rows = rng.random((observations, subflows, policy.width), dtype=np.float32)
    acting = np.zeros((observations, subflows), dtype=np.bool_)
    acting[:, :2] = True
    times = []
    for _ in range(rounds):
        started = time.process_time()
        policy.act_many(rows, acting)
        times.append(time.process_time() - started)
    return min(times) / observations


def _content(encoder: str) -> bytes:
    """A policy of DRL-CC's shape with random weights, as the bytes of a policy file."""
    spec = learner_spec("drl-cc")
    width, slots, actions = len(spec.features), 2, len(spec.actions)
    rng = np.random.default_rng(1)
    tensors: dict[str, Any] = {}

    def linear(name: str, inputs: int, outputs: int) -> None:
        tensors[f"{name}.weight"] = rng.normal(0, inputs**-0.5, (outputs, inputs))
        tensors[f"{name}.bias"] = np.zeros(outputs)

    code = _CODE if encoder == "lstm" else 0
    if code:
        for part, inputs in (("ih", width), ("hh", code)):
            tensors[f"actor.encoder.weight_{part}_l0"] = rng.normal(0, code**-0.5, (4 * code, inputs))
            tensors[f"actor.encoder.bias_{part}_l0"] = np.zeros(4 * code)
    layers: list[dict[str, Any]] = []
    widths = (code + slots * width, _HIDDEN, _HIDDEN, slots * actions)
    for inputs, outputs in pairwise(widths):
        linear(f"actor.layers.{len(layers)}", inputs, outputs)
        layers += [{"type": "linear", "in": inputs, "out": outputs}, {"type": "relu"}]
    layers[-1] = {"type": "tanh"}
    document = {
        "format": 1,
        "controller": "drl-cc",
        "name": "bench",
        "observation": {"features": [feature.name for feature in spec.features], "history": 1},
        "action": {"names": [action.name for action in spec.actions], "choices": []},
        "actor": {
            "encoder": {"type": "lstm", "hidden": code} if code else {"type": "none"},
            "input": "target",
            "slots": slots,
            "layers": layers,
        },
        "critic": None,
    }
    return policy_bytes(document, tensors)


def _policy_lstm() -> LearningFigure:
    text = "a decision in the core: LSTM of 64 over 10 subflows, two layers of 128"
    return LearningFigure("policy_lstm", text, decision_time_s("lstm", 10) * 1e6, "us", 15.0, is_limit=True)


def _policy_mlp() -> LearningFigure:
    text = "a decision in the core: two layers of 128"
    return LearningFigure("policy_mlp", text, decision_time_s("none", 2) * 1e6, "us", 2.0, is_limit=True)


def _environment() -> LearningFigure:
    text = "decisions of environments: DRL-CC's scenario 1, five flows of two subflows, one core"
    return LearningFigure(
        "environment",
        text,
        environment_rate(DRL_CC_ENVIRONMENT, "drl-cc", _ENVS),
        "per CPU s",
        20_000.0,
        is_limit=False,
    )


FIGURES: Mapping[str, Callable[[], LearningFigure]] = MappingProxyType(
    {"policy_lstm": _policy_lstm, "policy_mlp": _policy_mlp, "environment": _environment}
)
"""Measurements by name."""
