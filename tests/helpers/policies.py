"""Policy files for tests: small random networks for the learned controllers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subflow_sim.policy import write_policy
from subflow_sim.vec_env import learner_spec


@dataclass(frozen=True, slots=True)
class Plan:
    """Properties of a policy for a test.

    Attributes:
        controller: name of the controller.
        encoder: "none", "lstm" or "pool".
        input: "slot", "target" or "all".
        critic: "none", "state" (takes no action) or "action".
        history: number of past records that the policy sees.
        slots: number of slots for inputs "target" and "all".
    """

    controller: str
    encoder: str = "none"
    input: str = "slot"
    critic: str = "none"
    history: int = 1
    slots: int = 3

    def __str__(self) -> str:
        return "-".join((self.controller, self.encoder, self.input, self.critic))


def make_plan(controller: str, **wanted: Any) -> Plan:
    """A plan for that controller with its default history."""
    return Plan(controller, **{"history": learner_spec(controller).history, **wanted})


def plan_document(plan: Plan) -> dict[str, Any]:
    """The document of a policy with small layers."""
    spec = learner_spec(plan.controller)
    width = len(spec.features) * plan.history
    outputs = len(spec.choices) or len(spec.actions)
    answers = 1 if plan.input == "slot" else plan.slots
    encoder: dict[str, Any] = {"type": plan.encoder}
    code = 0
    if plan.encoder == "lstm":
        encoder["hidden"] = code = 10
    elif plan.encoder == "pool":
        encoder |= {"layers": [36, 7], "activation": "relu", "pool": ["mean", "max"]}
        code = 14

    def network(extra: int, out: int, *heads: str) -> dict[str, Any]:
        layers: list[dict[str, Any]] = [
            {"type": "linear", "in": code + answers * (width + extra), "out": 45},
            {"type": "relu"},
            {"type": "linear", "in": 45, "out": out},
            *({"type": head} for head in heads),
        ]
        return {"encoder": encoder, "input": plan.input, "slots": plan.slots, "layers": layers}

    critic = None
    if plan.critic != "none":
        takes_action = plan.critic == "action"
        critic = {**network(outputs if takes_action else 0, 1), "takes_action": takes_action}
    return {
        "format": 1,
        "controller": plan.controller,
        "name": plan.controller,
        "observation": {"features": [feature.name for feature in spec.features], "history": plan.history},
        "action": {"names": [action.name for action in spec.actions], "choices": list(spec.choices)},
        "options": {},
        "actor": network(0, answers * outputs, *(() if spec.choices else ("tanh",))),
        "critic": critic,
        "card": {},
    }


def random_tensors(document: dict[str, Any], seed: int) -> dict[str, NDArray[np.float32]]:
    """The tensors required by the document, with normally distributed weights."""
    rng = np.random.default_rng(seed)
    tensors: dict[str, NDArray[np.float32]] = {}

    def add(name: str, *shape: int) -> None:
        tensors[name] = rng.normal(0, 0.4, shape).astype(np.float32)

    width = len(document["observation"]["features"]) * document["observation"]["history"]
    for name in ("actor", "critic"):
        network = document[name]
        if network is None:
            continue
        encoder, inputs = network["encoder"], width
        if encoder["type"] == "lstm":
            gates = 4 * encoder["hidden"]
            add(f"{name}.encoder.weight_ih_l0", gates, width)
            add(f"{name}.encoder.weight_hh_l0", gates, encoder["hidden"])
            add(f"{name}.encoder.bias_ih_l0", gates)
            add(f"{name}.encoder.bias_hh_l0", gates)
        for index, out in enumerate(encoder.get("layers", ())):
            add(f"{name}.encoder.{index}.weight", out, inputs)
            add(f"{name}.encoder.{index}.bias", out)
            inputs = out
        for index, layer in enumerate(network["layers"]):
            if layer["type"] == "linear":
                add(f"{name}.layers.{index}.weight", layer["out"], layer["in"])
                add(f"{name}.layers.{index}.bias", layer["out"])
    return tensors


def write_random_policy(path: Path, plan: Plan, seed: int = 1, **more: Any) -> str:
    """Writes a random policy; `more` replaces parts of its document. Returns its content hash."""
    document = {**plan_document(plan), **more}
    return write_policy(path, document, random_tensors(document, seed))
